"""Numbers in sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

SPECIAL_TOKENS = (
    r"<[|｜][\w▁ -]{1,40}[|｜]>|</?(?:think|tool_call|start_of_turn|end_of_turn)>|<(?:start|end)_of_turn>"
    r"|\[/?INST\]|<</?SYS>>"
)
"""Marks of turns in chat templates (``<|im_start|>``, ``[INST]``): a tokenizer may read it as such in a question."""


@dataclass(frozen=True)
class Notice:
    """A sentence for readers of a result, in both languages."""

    english: str
    chinese: str
    lost: int = 0
    """Questions that are missing for it."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """``1 question``, ``2,000 questions``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def tallied(failures: Iterable[tuple[str, str]]) -> str:
    """``connection 25: no connection to http://…; timeout 1: no answer within 60 s``.

    Args:
        failures: reason and detail of each; of a reason's details the most frequent is told.
    """
    details: dict[str, Counter[str]] = {}
    for reason, detail in failures:
        details.setdefault(reason, Counter())[detail] += 1
    return "; ".join(
        f"{reason} {found.total()}: {found.most_common(1)[0][0]}" for reason, found in sorted(details.items())
    )
