"""Options of the parse stage."""

from __future__ import annotations

from schemas.params import Params


class ParseParams(Params):
    """The ``[parse]`` section of ``dataset.toml``."""
