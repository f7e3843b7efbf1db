"""Options of the dedup stage."""

from __future__ import annotations

from schemas.params import Params


class DedupParams(Params):
    """The ``[dedup]`` section of ``dataset.toml``."""
