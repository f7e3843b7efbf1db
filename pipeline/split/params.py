"""Options of the split stage."""

from __future__ import annotations

from schemas.params import Params


class SplitParams(Params):
    """The ``[split]`` section of ``dataset.toml``."""
