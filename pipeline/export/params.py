"""Options of the export stage."""

from __future__ import annotations

from pydantic import Field

from schemas.params import Params


class ExportParams(Params):
    """The ``[export]`` section of ``dataset.toml``."""

    cmb_json: bool = Field(True, description="Write cmb/SPLIT.json as well, for tools that read CMB")
    cmexam_csv: bool = Field(True, description="Write cmexam/SPLIT.csv as well, for tools that read CMExam")
