"""The answer stated in a model's output, the rule that read it, and where it stands.

A list of letters is no answer to a question that has one. Where the text opens with a single letter and ends with a
list, the opening is taken; where there is nothing but the list, the list stays, and is wrong. That is how people
judged 2,268 outputs of two models (10 of 10 right lists with such an opening, 5 of 6 without).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.claims import Text, fold, shown, spoken
from pipeline.evaluate.extraction.rules import (
    RULES,
    ReadingTask,
    contradicts_itself,
    opens_with,
    repeats_question,
)

__all__ = ["RULES", "Extraction", "answers_first", "extract", "shown"]

_STILL = ("head", "concluded", "verdicts", "odd_one_out", "first_listed")
"""Rules that may find a single answer even in a text that states several."""
_BEGINNING, _ENDING = 16_000, 48_000
"""Characters that are read of a longer text, thinking left out: nobody answers in the middle of a megabyte."""
_HABIT, _FEWEST = 0.75, 20
"""The share of outputs, and the fewest outputs, that make a habit."""


@dataclass(frozen=True)
class Extraction:
    """An answer that was read, and the rule that read it.

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
    found = _read(_text(text, options, multiple), multiple, answer_first)
    if found.letters is None and len(whole := spoken(text, turns=True)) > len(spoken(text)):
        said = _text(whole, options, multiple, turns=True)
        if (
            sum(mention.own for mention in said.mentions) > 1
        ):  # the question itself, repeated before its answer
            return _read(said, multiple, answer_first)
    return found


def _read(said: Text, multiple: bool | None, answer_first: bool | None) -> Extraction:
    if not said.options or not said.text.strip():
        return Extraction()
    task = ReadingTask(said, multiple, answer_first)
    if contradicts_itself(task) or repeats_question(task):
        return Extraction()
    several = None
    for name, rule in RULES.items():
        found = rule(task) if several is None or name in _STILL else None
        if found is None or not found.labels:
            continue
        extraction = Extraction(tuple(sorted(set(found.labels))), name, (found.start, found.end))
        if len(extraction.letters or ()) == 1 or _may_be_several(task, extraction):
            return extraction
        several = several or extraction
    return several or Extraction()


def _may_be_several(task: ReadingTask, found: Extraction) -> bool:
    """Return whether a list can be the answer; not in a text that goes through all and calls all right."""
    items = task.said.items
    all_named = len(found.letters or ()) == len(task.said.options) == len(items) and not items[0].first
    return task.multiple is not False and (task.multiple or not all_named)


def answers_first(outputs: Iterable[tuple[str, Iterable[str]]]) -> bool | None:
    """Return whether a run's outputs open with their answers as a habit: three in four, of 20 or more.

    One output alone does not show whether "A：…。B：…" is an answer with an explanation or the beginning of an
    analysis; how the model answers the other questions does.

    Args:
        outputs: texts with their questions' labels; empty texts do not count.

    Returns:
        True; None when there is no such habit, or are too few outputs to tell.
    """
    opens = []
    for text, labels in outputs:
        said = _text(text, dict.fromkeys(labels, ""), None)
        if said.options and said.text.strip():
            task = ReadingTask(said)
            opens.append(opens_with(task) is not None and len(said.items) <= 2)
    return True if len(opens) >= _FEWEST and sum(opens) >= _HABIT * len(opens) else None


def _text(text: str, options: Mapping[str, str], multiple: bool | None, *, turns: bool = False) -> Text:
    folded = {fold(label).upper(): fold(body) for label, body in options.items()}
    said = spoken(text, turns=turns)
    if len(said) > _BEGINNING + _ENDING:
        said = said[:_BEGINNING] + " " * (len(said) - _BEGINNING - _ENDING) + said[-_ENDING:]
    return Text(said, folded, multiple)
