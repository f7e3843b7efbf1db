"""What a filter is: a question in, a detail for people out when the question fails it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from pipeline.clean.params import CleanParams
from schemas.questions import Question

Check = Callable[[Question, CleanParams], str | None]
"""One sentence for people when the question fails, None when it passes."""


@dataclass(frozen=True)
class Filter:
    """A check under the reason code that its failures are counted by."""

    reason: str
    check: Check
    action: Literal["reject", "review"] = "reject"


@dataclass(frozen=True)
class Verdict:
    """Why a question is not kept."""

    reason: str
    detail: str
    action: Literal["reject", "review"]
