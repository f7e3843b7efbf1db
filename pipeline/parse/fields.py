"""Split the text of an item into its head (stem and options), its answers and its explanation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from pipeline.parse.answers import answers_of_parts, leading_letters
from pipeline.parse.options import find_run
from pipeline.parse.text import join_lines
from pipeline.patterns import Patterns

_P = Patterns("fields")


class FieldMarker(StrEnum):
    """The part of an item that a marker opens."""

    ANSWER = "answer"
    CONCLUSION = "conclusion"
    """故选C on a line of its own: an answer where no other mark stands before it."""
    EXPLANATION = "explanation"
    GUESS = "guess"
    """The answer of a candidate: neither kept nor believed."""


_MARK = re.compile(
    "|".join(f"(?P<{row['opens']}_{place}>{row['pattern']})" for place, row in enumerate(_P.rows("forms"))),
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class MarkerPlace:
    """The place at which an answer or an explanation begins."""

    words: str
    line: int
    """Of the item's text, from 0."""
    answer: bool


@dataclass(frozen=True, slots=True)
class Fields:
    """The parts of an item's text."""

    head: str
    """Stem and options, lines apart."""
    answers: tuple[str, ...]
    """Every answer it states in letters, as printed without separators; of parts one each."""
    answer_texts: tuple[str, ...]
    """The text after each answer marker, letters and explanation included."""
    explanation: str | None
    verdict: bool
    """True if an answer is right / wrong, as true/false items have it."""
    opened: tuple[MarkerPlace, ...] = ()
    """The words that open answers and explanations, in order."""

    @property
    def answered(self) -> bool:
        """Return whether any answer mark was there."""
        return bool(self.answer_texts)


def opens_explanation(line: str) -> bool:
    """Return whether a line begins an explanation."""
    found = _MARK.match(line.strip())
    return found is not None and _kind(found) is FieldMarker.EXPLANATION


def opens_field(text: str) -> bool:
    """Return whether a line opens an answer or an explanation; 答案 and 解析 alone open what stands under them."""
    below = f"{text}\nA"
    return opens_explanation(below) or split_fields(below).answered


def stated_answers(segment: str) -> tuple[list[str], str]:
    """The letters a segment begins with, of every part where it has parts, and the explanation after them."""
    parts, rest = answers_of_parts(segment)
    if not parts:
        letters, rest = leading_letters(segment)
        parts = [letters] if letters else []
    mark = _P.explained_after.match(rest) if parts else None
    return parts, rest[mark.end() :] if mark else rest


def split_fields(text: str) -> Fields:
    """Split an item's text (lines apart) at its marks: 答案：, 【解析】, 试题分析 and their like."""
    marks = _marks(text)
    if marks and _P.platform.search(text, marks[0].start()):
        text = text[: marks[0].start()] + _P.platform.sub("", text[marks[0].start() :])
        marks = _marks(text)
    head = text[: marks[0].start()].rstrip("(（") if marks else text
    answers: list[str] = []
    texts: list[str] = []
    explanations: list[str] = []
    verdict = False
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=False):
        segment = text[mark.end() : end]
        if _answers(mark):
            texts.append(join_lines(segment))
            letters, rest = stated_answers(segment)
            if letters:
                answers.extend(letters)
                head, rest = _options_back(head, rest)
            else:
                verdict = verdict or _P.verdict.match(segment) is not None
            explanations.append(rest)
        elif _kind(mark) is FieldMarker.EXPLANATION:
            first, rest = _letters_first(mark, segment)
            answers.extend(first)
            explanations.append(rest)
    explanation = "\n".join(part for part in map(join_lines, explanations) if part)
    places = tuple(
        MarkerPlace(mark[0].strip(), text.count("\n", 0, mark.end()), answer=_answers(mark)) for mark in marks
    )
    return Fields(head, tuple(answers), tuple(texts), explanation or None, verdict, places)


def _marks(text: str) -> list[re.Match[str]]:
    marks = list(_MARK.finditer(text))
    return [
        mark for index, mark in enumerate(marks) if index == 0 or _kind(mark) is not FieldMarker.CONCLUSION
    ]


def _kind(mark: re.Match[str]) -> FieldMarker:
    return FieldMarker((mark.lastgroup or "").partition("_")[0])


def _answers(mark: re.Match[str]) -> bool:
    return _kind(mark) in (FieldMarker.ANSWER, FieldMarker.CONCLUSION)


def _options_back(head: str, rest: str) -> tuple[str, str]:
    """A head whose options stand after its answer, with them; and what is left after the answer."""
    run = None if find_run(head) else find_run(rest)
    if run is None or len(run.options) < 3 or run.start > 0:
        return head, rest
    return f"{head.rstrip()}\n{rest}", ""


def _letters_first(mark: re.Match[str], segment: str) -> tuple[list[str], str]:
    """Return the letters that 答案解析 gives before it explains, if any, and the explanation."""
    named = mark[0].lstrip(" \t\n【[").startswith("答案")
    stop = "。．，,；;" if named else "。"  # 解答：A。…; 解析：A．错误 speaks of option A
    found = re.match(rf"\s*([A-K]{{1,11}})\s*[{stop}]\s*", segment)
    return ([found[1]], segment[found.end() :]) if found else ([], segment)
