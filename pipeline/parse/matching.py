"""Items that hold several questions: parts ①②③ with options of their own, options shared by several stems."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pipeline.parse.numbers import CIRCLED_DIGITS
from pipeline.parse.options import Run, find_run
from pipeline.parse.text import CJK, join_lines

_PART = re.compile(rf"(?:^|(?<=\n))[ \t]*([{CIRCLED_DIGITS}]|[(（]\s*(\d{{1,2}})\s*[)）])")
_ANSWERED_STEM = re.compile(
    rf"^(?P<stem>.*[{CJK}].*?)(?:[:：]\s*|\t\s*| {{2,}}|[（(]\s*(?=[A-K]+\s*[)）]))"
    r"(?P<letters>[A-K]{1,11})\s*(?:[)）]|(?P<rest>[（(].*))?$"
)
_CIRCLED_STEM = re.compile(rf"[{CIRCLED_DIGITS}]\s*([^{CIRCLED_DIGITS}]+)")
_LETTERS_ONLY = re.compile(r"^[ \t]*[A-K]{1,11}(?:[ \t]+[A-K]{1,11})*[ \t]*$")


@dataclass(frozen=True, slots=True)
class SubItem:
    """A question inside an item."""

    stem: str
    options: tuple[tuple[str, str], ...]
    answer: str | None
    explanation: str | None = None


@dataclass(frozen=True, slots=True)
class Parts:
    """The questions inside an item."""

    lead: str
    """What stands before them: a case, or the words over the options."""
    parts: tuple[SubItem, ...]
    shared_options: bool
    doubt: str | None = None
    """Why a person should look at them."""


def parts_with_options(head: str, answers: Sequence[str]) -> Parts | None:
    """A case followed by parts ① ② ③, each with its own options; ``answers`` hold one letter a part."""
    starts = list(_PART.finditer(head))
    if len(starts) < 2:
        return None
    edges = [match.start() for match in starts] + [len(head)]
    runs = [find_run(head[a:b]) for a, b in pairwise(edges)]
    if any(run is None for run in runs):
        return None
    letters: Sequence[str | None] = list(answers[0]) if len(answers) == 1 else list(answers)
    doubt = None
    if letters and len(letters) != len(starts):
        doubt, letters = f"{len(starts)} parts, {len(letters)} answers", []
    parts = []
    for index, (match, run) in enumerate(zip(starts, runs, strict=True)):
        if run is None:
            continue
        stem = join_lines(head[match.end() : edges[index] + run.start])
        parts.append(SubItem(stem, run.options, letters[index] if letters else None))
    return Parts(join_lines(head[: edges[0]]), tuple(parts), shared_options=False, doubt=doubt)


def stems_after_options(head: str, run: Run) -> Parts | None:
    """Options followed by several stems, each with its answer beside it, or ① ② ③ with the answers below."""
    lines = head[run.last :].split("\n")
    labels = {label for label, _ in run.options}
    circled = _circled_parts(lines, run, labels)
    if circled:
        return Parts(join_lines(head[: run.start]), *circled)
    first = next((i for i, line in enumerate(lines) if i and _answers(line, labels)), None)
    if first is None:
        return None
    options = _with_last(run, lines[:first])
    parts: list[SubItem] = []
    for line in lines[first:]:
        found = _answers(line, labels)
        if found:
            parts.append(SubItem(found["stem"].strip(" :："), options, found["letters"], found["rest"]))
        else:
            last = parts[-1]
            parts[-1] = SubItem(
                last.stem, options, last.answer, join_lines(f"{last.explanation or ''}\n{line}")
            )
    return Parts(join_lines(head[: run.start]), tuple(parts), shared_options=True)


def _answers(line: str, labels: set[str]) -> re.Match[str] | None:
    found = _ANSWERED_STEM.match(line.strip())
    if (
        not found
        or _MARK_ALONE.fullmatch(found["stem"].strip())
        or not set(found["letters"]) <= labels
        or len(set(found["letters"])) < len(found["letters"])
    ):
        return None
    return found


def _circled_parts(
    lines: list[str], run: Run, labels: set[str]
) -> tuple[tuple[SubItem, ...], bool, str | None] | None:
    first = next((i for i, line in enumerate(lines) if i and line.strip()[:1] in set(CIRCLED_DIGITS)), None)
    if first is None:
        return None
    stems: list[str] = []
    letters: list[str] = []
    for line in lines[first:]:
        if _LETTERS_ONLY.match(line):
            letters.extend(line.split())
        else:
            stems.extend(join_lines(stem) for stem in _CIRCLED_STEM.findall(line))
    if len(stems) < 2:
        return None
    doubt = None
    if letters and (len(letters) != len(stems) or not set("".join(letters)) <= labels):
        doubt, letters = f"{len(stems)} stems, answers {' '.join(letters)}", []
    answers: list[str | None] = [*letters] if letters else [None] * len(stems)
    options = _with_last(run, lines[:first])
    parts = tuple(SubItem(stem, options, answer) for stem, answer in zip(stems, answers, strict=True))
    return parts, True, doubt


def _with_last(run: Run, lines: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The options, the text of the one that stands last cut where the stems begin."""
    text = join_lines("\n".join(lines))
    return tuple(
        (label, text if index == len(run.options) - 1 else option)
        for index, (label, option) in enumerate(run.options)
    )


_MARK_ALONE = re.compile(r"[【\[]?(?:正确|参考|标准)?答案?[】\]]?")
_ANSWERED = re.compile(r"(?:^|\n)[^\S\n]*+(?:[【\[]\s*+)?(?:正确答案|参考答案|答案|答)\s*+[】\]]?\s*+[:：]")


def split_off(text: str) -> tuple[str, str | None]:
    """An item that runs on, after its answer, into options with stems and answers: the item, and that rest."""
    answer = _ANSWERED.search(text)
    if answer is None:
        return text, None
    run = find_run(text, answer.end())
    if run is None or len(run.options) < 3 or text[run.start - 1] != "\n":
        return text, None
    if stems_after_options(text, run) is None:
        return text, None
    return text[: run.start - 1], text[run.start :]
