"""What became of one output: an answer, no answer, a refusal, or a text that was cut off."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pipeline.evaluate.extraction import Extraction, extract, shown
from schemas.evaluation import Outcome

_REFUSAL = re.compile(
    r"无法(?:回答|提供|协助|给出|帮助|满足)|不能(?:回答|提供|协助|给出)|拒绝回答|不便回答|抱歉|对不起|作为(?:一个|一名)?(?:AI|人工智能)"
    r"|I(?:'m| am) sorry|I can(?:no|')t (?:help|assist|answer|provide)|As an AI",
    re.IGNORECASE,
)
READABLE = (Outcome.ANSWERED, Outcome.TRUNCATED)
"""Free text that judges and experts score."""
_SURE = frozenset({"opening", "stated", "everything"})
"""Rules whose finding holds in a text that was cut off."""
_OPENING = 20
"""Characters within which a refusal of free text stands; further on, an apology may be a doctor's to a patient."""


def read(
    text: str,
    finish: str,
    options: Mapping[str, str],
    *,
    multiple: bool | None = None,
    answer_first: bool | None = None,
) -> tuple[Outcome, Extraction]:
    """Read an output and say what became of the question.

    Args:
        text: the raw output.
        finish: why it ended: ``stop``, ``length``, ``refusal``.
        options: option texts by label.
        multiple: see ``extract``.
        answer_first: see ``extract``; False also means that the opening of a text that was cut off is no answer.

    Returns:
        The outcome, and the extraction, which is empty unless the outcome is ``answered``.
    """
    if finish == "refusal":
        return Outcome.REFUSED, Extraction()
    extraction = extract(text, options, multiple, answer_first)
    if finish == "length" and not _holds(extraction, answer_first=answer_first):
        return Outcome.TRUNCATED, Extraction()
    if extraction.letters is not None:
        return Outcome.ANSWERED, extraction
    return (Outcome.REFUSED if _REFUSAL.search(text) else Outcome.NO_ANSWER), Extraction()


def read_text(text: str, finish: str) -> tuple[Outcome, str]:
    """What became of an output that was to be free text, and what a reader is meant to see of it."""
    said = shown(text)
    if finish == "refusal" or _REFUSAL.search(said, 0, _OPENING):
        return Outcome.REFUSED, said
    if finish == "length":
        return Outcome.TRUNCATED, said
    return (Outcome.ANSWERED if said else Outcome.NO_ANSWER), said


def _holds(extraction: Extraction, *, answer_first: bool | None) -> bool:
    """Whether a finding would stand whatever the rest of a cut-off text had said."""
    return extraction.rule in _SURE or (answer_first is not False and extraction.rule == "head")
