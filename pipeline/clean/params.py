"""Options of the clean stage."""

from __future__ import annotations

from schemas.params import Params


class CleanParams(Params):
    """The ``[clean]`` section of ``dataset.toml``."""
