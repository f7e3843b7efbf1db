"""Options of the dedup stage."""

from __future__ import annotations

from pydantic import Field

from schemas.params import Params


class DedupParams(Params):
    """The ``[dedup]`` section of ``dataset.toml``."""

    related: float = Field(
        0.8, ge=0.3, le=1, description="Least similarity of two stems for twins that share a cluster."
    )
    option: float = Field(
        0.75, ge=0.5, le=1, description="Least similarity of two options for one option in two readings."
    )
