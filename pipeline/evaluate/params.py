"""Options of the evaluate stage."""

from __future__ import annotations

from schemas.params import Params


class EvaluateParams(Params):
    """The ``[evaluate]`` section of ``dataset.toml``."""
