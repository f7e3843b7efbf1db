"""The answer stated in a model's output, the rule that read it, and where it stands.

A list of letters is no answer to a question that has one. Where the text opens with a single letter and ends with a
list, the opening is taken; where there is nothing but the list, the list stays, and is wrong. That is how people
judged 2,268 outputs of two models (10 of 10 right lists with such an opening, 5 of 6 without).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.evaluate.extraction.folding import fold, spoken
from pipeline.evaluate.extraction.letters import Reader
from pipeline.evaluate.extraction.rules import RULES

_OPENINGS = ("head", "first_listed")
"""Rules that may still find the one answer of a text that states several."""


@dataclass(frozen=True)
class Extraction:
    """What was read, and why.

    Attributes:
        letters: the answer's labels in order; None when the text states no answer.
        rule: name of the rule that fired, a key of ``RULES``; None when none did.
        span: offsets of the words it was read from, in the text as given.
    """

    letters: tuple[str, ...] | None = None
    rule: str | None = None
    span: tuple[int, int] | None = None


def extract(
    text: str, options: Mapping[str, str], multiple: bool | None = None, answer_first: bool | None = None
) -> Extraction:
    """Read the answer that ``text`` states.

    The rules of ``RULES`` are tried from the surest to the weakest; the first that finds something decides.
    Within a rule the last finding counts: people, and models, end with what they mean.

    Args:
        text: the model's output as it came.
        options: option texts by label; labels are single capital letters. Texts may be empty.
        multiple: whether the question has several answers; None when its type is not known.
        answer_first: whether the answer comes before any explanation (then the opening counts), or after the
            reasoning (then the conclusion counts); None to decide from the text itself.

    Returns:
        The extraction; never raises on any text.
    """
    folded = {fold(label).upper(): body for label, body in options.items()}
    reader = Reader(spoken(text), folded, multiple, answer_first)
    if not folded or not reader.text.strip():
        return Extraction()
    several = None
    for name, rule in RULES.items():
        found = rule(reader) if several is None or name in _OPENINGS else None
        if found is None or not found.letters:
            continue
        extraction = Extraction(tuple(sorted(found.letters)), name, (found.start, found.end))
        if multiple is not False or len(found.letters) == 1:
            return extraction
        several = several or extraction
    return several or Extraction()
