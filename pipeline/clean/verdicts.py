"""What a filter is: a question in, a detail for people out when the question fails it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import polars as pl

from pipeline.clean.params import CleanParams
from schemas.questions import Question

Screen = Callable[[CleanParams], pl.Expr]
"""Which rows of a ``Question`` table may fail: true for all that do, and for few others."""


def everything(_: CleanParams) -> pl.Expr:
    """No glance can tell: every question is looked at."""
    return pl.lit(value=True)


Check = Callable[[Question, CleanParams], str | None]
"""One sentence for people when the question fails, None when it passes."""


@dataclass(frozen=True)
class Filter:
    """A check under the reason code that its failures are counted by."""

    reason: str
    check: Check
    action: Literal["reject", "review"] = "reject"
    screen: Screen = everything
    """Spares looking at every question; without one the filter works the same, only slower."""


@dataclass(frozen=True)
class Verdict:
    """Why a question is not kept."""

    reason: str
    detail: str
    action: Literal["reject", "review"]
