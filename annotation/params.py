"""Options of the annotate and review stages."""

from __future__ import annotations

from schemas.params import Params


class AnnotateParams(Params):
    """The ``[annotate]`` section of ``dataset.toml``."""


class ReviewParams(Params):
    """The ``[review]`` section of ``dataset.toml``."""
