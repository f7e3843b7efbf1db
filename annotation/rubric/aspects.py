"""The aspects that are scored, from 1 to 5, by a model and by people alike (CMB, section 3.3)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict

LEAST, MOST = 1, 5
Scale = tuple[str, str, str, str, str]


class Aspect(BaseModel):
    """One thing that is scored."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    zh: str
    en: str
    scale: Scale
    """What 1, 2, 3, 4 and 5 mean, in Chinese."""
    scale_en: Scale


@cache
def aspects() -> tuple[Aspect, ...]:
    """The aspects, in the order of every table and screen."""
    text = (files("annotation.rubric") / "aspects.toml").read_text(encoding="utf-8")
    return tuple(Aspect.model_validate(item) for item in tomllib.loads(text)["aspects"])
