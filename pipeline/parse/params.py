"""Options of the parse stage."""

from __future__ import annotations

from pydantic import Field

from schemas.params import Params
from schemas.sources import SourceParams


class ParseParams(Params):
    """The ``[parse]`` section of ``dataset.toml``."""

    sources: dict[str, SourceParams] = Field(
        {}, description="What [sources] says of tabular files; write it there"
    )
