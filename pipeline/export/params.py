"""Options of the export stage."""

from __future__ import annotations

from schemas.params import Params


class ExportParams(Params):
    """The ``[export]`` section of ``dataset.toml``."""
