"""The answer that an explanation argues for, whatever the key says. Pure.

Of 2,886 explanations of CMExam 2,530 state one; 14 of these are not the key, most of them errors of the source.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.claims import fold
from pipeline.dedup.meaning import meaning
from pipeline.evaluate.extraction import extract
from schemas.questions import Question, QuestionType

_BRACKET = re.compile(r"\([^()]{1,40}\)")
_MARK = re.compile(
    r"(?P<labels>[A-Z](?:[、,]?[A-Z]){0,9})\s?(?:选?项)?[均都]?(?P<verdict>正确|错误|对|错|√|×)"
)
"""A verdict in brackets after what it is about: 青霉素（A对）, （B对ACDE错）, （A、C项错误）."""
_IS_KEY = re.compile(r"(?P<letters>[A-Z]{1,9})?\s?(?:为|是)?(?:本题|该题)的?(?:正确)?答案")
"""（E错，为本题正确答案）: the letter is what the question asks for, whatever the verdict."""
_ALL = re.compile(r"^(?:以上|上述)|[两二三四]者|[都均皆](?:是|对|不|可|正确|错)")
"""An option about the others: 以上都是, 两者均可, 都不对."""
_INCLUSIVE = re.compile(r"除[^,。]{1,24}外,?(?:还|也|尚|再)")
"""除取主穴外,还应选用 asks for what is right."""
_ENDS = 60
"""Characters of a stem's end that say whether it asks for what is wrong: a case before them may hold 不 anywhere."""


@dataclass(frozen=True)
class Stated:
    """What an explanation says.

    Attributes:
        answer: the letters that it argues for; None where it calls several options right of which one is asked for.
        rule: how it was read.
        detail: the words.
    """

    answer: frozenset[str] | None
    rule: str
    detail: str


def stated(question: Question) -> Stated | None:
    """The answer that a question's explanation argues for; None where it cannot be read."""
    if not question.explanation:
        return None
    options = {option.label: option.text for option in question.options}
    several = question.question_type is QuestionType.X or len(question.answer or ()) > 1
    marks = _marks(fold(question.explanation), options)
    found = _decided(marks, options, several=several, wrong=_asks_for_wrong(question.stem))
    if found is not None:
        return found
    read = extract(question.explanation, options, several, answer_first=False)
    marked = bool(marks.right or marks.wrong)
    if read.letters is None or read.span is None or (marked and read.rule != "stated"):
        return None
    rule = "stated" if read.rule == "stated" else "quoted"
    return Stated(frozenset(read.letters), rule, question.explanation[slice(*read.span)][:60].strip())


@dataclass(frozen=True)
class _Marks:
    right: frozenset[str]
    wrong: frozenset[str]
    key: frozenset[str]
    """What is called the answer."""
    quoted: bool
    """A mark stands behind the text of its option."""
    slipped: bool
    """A mark stands behind the text of another option: 大豆素（A对） where 大豆素 is D."""
    detail: str


def _marks(text: str, options: Mapping[str, str]) -> _Marks:
    """The verdicts in brackets."""
    right: set[str] = set()
    wrong: set[str] = set()
    key: set[str] = set()
    said: list[str] = []
    quoted = slipped = False
    for bracket in _BRACKET.finditer(text):
        before = "".join(text[max(0, bracket.start() - 80) : bracket.start()].split())
        last: set[str] = set()
        for mark in _MARK.finditer(bracket.group()):
            letters = set(mark["labels"]) & set(options)
            (wrong if mark["verdict"] in ("错", "错误", "×") else right).update(letters)
            last = letters
            said.append(mark.group())
            if len(letters) == 1 and (own := _named(before, options)):
                quoted, slipped = quoted or letters == {own}, slipped or letters != {own}
        if called := _IS_KEY.search(bracket.group()):
            key |= set(called["letters"] or last) & set(options)
    return _Marks(frozenset(right), frozenset(wrong), frozenset(key), quoted, slipped, " ".join(said)[:60])


def _named(before: str, options: Mapping[str, str]) -> str | None:
    """The option whose text a mark follows, the longest; None where it follows none."""
    texts = {label: "".join(fold(text).split()) for label, text in options.items()}
    found = [(len(text), label) for label, text in texts.items() if len(text) > 1 and before.endswith(text)]
    return max(found)[1] if found else None


def _decided(marks: _Marks, options: Mapping[str, str], *, several: bool, wrong: bool) -> Stated | None:
    """What verdicts on the options come to."""
    right, bad = marks.right - marks.wrong, marks.wrong - marks.right
    judged = marks.quoted and right | bad == set(options)
    rule = "slipped" if marks.slipped else "all judged" if judged else "marked"
    rest = set(options) - right - bad
    chosen: frozenset[str] | None = None
    if marks.key and (several or len(marks.key) == 1):
        chosen = marks.key
    elif several:
        complete = right | bad == set(options)
        chosen = (bad if wrong else right) if complete and right and bad else None
    elif len(rest) == 1 and _ALL.search(options[min(rest)]) and not (right and bad):
        chosen = frozenset(rest)  # A对 B对 C对 D对, and E says 以上都是
    elif len(right) == 1 and not (wrong and len(bad) == 1):
        chosen = right  # the only one that is called right
    elif len(bad) == 1 and (len(right) > 1 or wrong):
        chosen = bad  # the odd one out
    elif not right and len(bad) == len(options) - 1:
        chosen = frozenset(options) - bad
    elif len(right) > 1 and not wrong:
        return Stated(None, "several", marks.detail)
    return Stated(chosen, rule, marks.detail) if chosen else None


def _asks_for_wrong(stem: str) -> bool:
    asked = _INCLUSIVE.sub("", "".join(fold(stem).split())[-_ENDS:])
    return meaning(asked).asks_for_wrong % 2 == 1
