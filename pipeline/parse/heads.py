"""The beginning of a line: the number of a question, a head, the item types that a head announces."""

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from build_dataset.pipeline.parse.folding import CJK, structural
from build_dataset.pipeline.parse.labels import labels_in
from build_dataset.pipeline.patterns import Patterns, is_latin
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.questions import SEVERAL_ANSWERS, SHARING, QuestionType

_P = Patterns(__name__)
CHINESE = _P.whole("@chinese@")
_SECTIONS = [re.compile(row["pattern"]) for row in _P.rows("sections")]
_GROUPS = [re.compile(row["pattern"]) for row in _P.rows("groups")]
CASE_LINES = 15  # most lines of a case that names its questions at its end
INSTRUCTION = _P.instruction
NUMERAL = _P.numeral  # of a section, and nothing else: 一、 alone
PASSAGE = _P.passage_head
_ANNOUNCED = _P.table("announced")
_CHOICE = {"single", *QuestionType}  # kinds of multiple-choice items that a head announces
ONE_ANSWER = _CHOICE - SEVERAL_ANSWERS
WITHOUT_CASE = _CHOICE - SHARING
SHARED_OPTIONS = {"B1", "C"}  # kinds of items whose options may stand in the head of their section
SET_ASIDE = shipped_toml("build_dataset.pipeline.parse", "set_aside.toml")


class NumberStyle(StrEnum):
    """A style of printing question numbers."""

    DOT = "dot"
    PAREN = "paren"
    TITLE = "title"
    BRACKET = "bracket"
    CIRCLED = "circled"
    BARE = "bare"


class NumberCandidate(NamedTuple):
    """A place that may be the start of a question."""

    line: int  # index of its piece
    value: int
    style: NumberStyle
    end: int  # the place at which the rest of the line begins
    weight: float  # the likelihood of a question number by the place alone, about 0 to 1.2
    last: int  # the last number where it covers several (2.3. or 18~21.); otherwise its value
    supported: bool = False  # options or an answer follow it before the next number
    options: bool = False  # options do
    given: str | None = None  # the letters in the bracket before the number, as in （C）1
    worded: bool = False  # it numbers an item that is to be answered in words


CIRCLED_DIGITS = _P.whole("@circled_digits@")
_CIRCLED = {digit: value for value, digit in enumerate(CIRCLED_DIGITS, 1)}

_ROWS = [(row["style"], row["weight"], row.get("most", 0), row["pattern"]) for row in _P.rows("forms")]
_OPENS = "第试試问問题題【[〔(（QqNnCcIiBb单單多判PpFfВвПпSsDdOoVvÎîسا문例序#AaZzЗзΕεप"  # of Question 1, 例1
_FORMS = [(NumberStyle(style), weight, most, re.compile(pattern)) for style, weight, most, pattern in _ROWS]
"""Style, weight, and of forms of several numbers (2.3., 18~21.) the most that the last may be above the first."""


def number_candidate(line: int, text: str) -> NumberCandidate | None:
    """The likeliest question number at the start of ``text``, if it could be one."""
    given = _P.given.match(text)
    before = given or _P.starred.match(text)
    start = before.end() if before else 0
    mark = _mark(line, structural(text[start:]))
    if mark is None or not before:
        return mark
    letters = "".join(labels_in((given[1] or given[2] or "") if given else ""))
    return mark._replace(end=mark.end + start, given=letters or None)


def _mark(line: int, text: str) -> NumberCandidate | None:
    first = text.lstrip()[:1]  # most lines begin with none of these: no form is tried
    if first in _CIRCLED:
        end = text.index(first) + 1
        return NumberCandidate(line, _CIRCLED[first], NumberStyle.CIRCLED, end, 0.3, _CIRCLED[first])
    if not first.isdigit() and first not in _OPENS:
        return None
    for style, weight, most, form in _FORMS:
        match = form.match(text)
        value = int(match[1]) if match else 0
        last = int(match[2]) if match and most else value
        known = value < last <= value + most if most else 0 < value < 10_000  # 18~21 names four, 1~100 none
        if match and known:
            likely = weight if most or value < 1000 else weight / 2  # a year, as 1992. is
            return NumberCandidate(line, value, style, match.end(), likely, last)
    return None


def split_heads(text: str) -> list[str]:
    """Return the parts of a line that has heads behind other text: each head begins a part."""
    section = _P.glued_section.search(text) if "题" in text or "題" in text else None
    cuts = [section.start()] if section else []  # …手术二、X型题
    if re.search("共用|共享|公用", text):
        found = (match.start() for match in _P.glued_group.finditer(structural(text)))
        cuts += [start for start in found if not _P.before_span.fullmatch(text[:start])]
    return [text[start:end].strip(" ") for start, end in pairwise([0, *sorted(cuts), len(text)])]


def is_section_head(text: str) -> bool:
    """Return whether a line opens a section."""
    bare = text.strip()
    named = r"^\w{2,9}\s(?:\d{1,2}|[A-Z]{1,4})\b.{0,60}$|[题題]|共\s*\d+"
    short = len(bare) <= 24 or re.search(named, bare, re.I)
    return bool(short) and any(form.match(bare) for form in _SECTIONS)


def is_heading(text: str, *, called: bool = False) -> bool:
    """Return whether a centred line, or one that its file ``called`` a heading, stands between questions."""
    bare = text.strip()
    words, ends = re.search(rf"[{CJK}]{{2}}", bare), re.search(r"[。？?！；;:：]$", bare)
    return len(bare) <= (60 if called else 20) and (called or words is not None) and ends is None


def is_likely_key_head(text: str) -> bool:
    """Return whether a line opens a key, or does where answers stand under it."""
    return is_key_head(text) or may_be_key_head(text)


def is_key_head(text: str) -> bool:
    """Return whether a line opens a key: 参考答案, 答案与解析 … without an answer of its own."""
    bare = text.strip()
    return len(bare) <= 40 and _P.key_head.search(bare) is not None and _P.gives_answer.search(bare) is None


def numeral_value(text: str) -> int | None:
    """The number of a head such as 二、, （三） or 试题四; None without one."""
    digit = f"[{CHINESE[:9]}]"  # 十二十 and 三五 are none
    number = rf"(?:({digit}?)十({digit}?)|({digit}))"
    match = re.match(rf"\s*(?:[试試][题題]|[(（])?\s*{number}\s*(?:[)）、.．,，(（]|$)", text)
    if not match:
        return None
    tens, ones, alone = ((CHINESE.index(part) + 1 if part else None) for part in match.groups())
    return alone or 10 * (tens or 1) + (ones or 0)


def may_be_key_head(text: str) -> bool:
    """Return whether a line opens a key if answers stand under it: 习题答案, 【参考答案】, 答 案, Answers."""
    if len(text) > 60:
        return False
    bare = re.sub(r"[【】\[\]《》〈〉]|(?<![A-Za-z])\s+|\s+(?![A-Za-z])", "", text)  # 【参考答案】, 答 案
    return _P.may_be_key_head.fullmatch(bare) is not None and _P.no_key_head.search(bare) is None


class GroupHead(NamedTuple):
    """A head such as (1~3题共用题干) or (4~6题共用备选答案)."""

    first: int | None
    last: int | None
    options: bool  # options are shared; otherwise a case is
    end: int  # the place at which the rest of the line begins
    titled: bool = True  # a head says so; else it is known by what it is


def _group_span(span: re.Match[str] | None) -> tuple[int, int] | None:
    """Return the first and the last number that a head names, if these may be of one group."""
    first, last = (int(number) for number in span.groups() if number) if span else (0, 0)
    return (first, last) if first < last <= first + 30 else None


def group_head(text: str) -> GroupHead | None:
    """The head of shared text that a line is, if it is one."""
    text = structural(text)
    span = next((span for form in _GROUPS if (span := form.match(text))), None)
    named = _group_span(span)
    if span and named:
        closing = re.compile(r"[^。:：)）】\]]*[)）】\]]?\s*[。:：]?[*＊]{0,2}").match(text, span.end())
        begins = tells_of_patient(text[span.end() :])  # 1-3 患者，女，45岁
        end = span.end() if begins else closing.end() if closing else len(text)
        return GroupHead(*named, _P.about_options.search(text[:end]) is not None, end)
    if case := _P.case.match(text):
        return GroupHead(None, None, options=False, end=case.end())
    shared = _P.shared.search(text) and re.search(r"题干|題幹|备选答案|选项|選項", text)
    if shared and len(text.strip()) <= 24 and not _P.span_later.search(text):
        label = _P.first_label.search(text)  # 共用选项：A. 甲
        return GroupHead(None, None, _P.about_options.search(text) is not None, label.start() if label else len(text))
    return None


def case_end(text: str) -> tuple[int, int, int] | None:
    """The questions a case names at its end, and where its words for that begin; None where it names none."""
    match = _P.asks_for.search(structural(text))
    named = _group_span(match)
    return (*named, match.start()) if match and named else None


def opens_case(text: str, *, named: bool) -> int | None:
    """Return the place at which a line opens a case, by a word (情況：) or, unless ``named``, without (一位60歲…)."""
    if match := _P.opens_case.match(text):
        return match.end()
    return 0 if not named and _P.tells.match(text) else None


def counted_questions(text: str) -> int:
    """Return how many of the next questions a line says its case is for: applies to the next 2 items; 0 without."""
    match = _P.next_items.search(text)
    count = match["count"].lower() if match else "0"
    return int(count) if count.isdecimal() else 2 + ["two", "three", "four", "five"].index(count)


def span_head(text: str) -> GroupHead | None:
    """A line that is nothing but a span of numbers: [71-75], （3～4题）."""
    named = _group_span(_P.span_alone.match(structural(text)))
    return GroupHead(*named, options=False, end=len(text)) if named else None


@dataclass(frozen=True, slots=True)
class Announcement:
    """The statement of a head about the items under it."""

    kind: str | None  # a question type, `single`, or a reason to set items aside
    count: int | None
    span: tuple[int, int] | None


def stated_total(text: str) -> int | None:
    """Return the number of questions that a paper states: 題數：80題, 本科目共80題."""
    return _number(_P.total.search(text))


@lru_cache
def announcement(head: str) -> Announcement:
    """Read a head with its instructions, e.g. 一、单项选择题：1～40小题，每小题2分."""
    kind = _kind(head.split("\n", 1)[0]) or _kind(head)  # the head's own line first, then its instructions
    span = _P.span.search(structural(head))  # 1～40小题
    first, last = (int(span[1]), int(span[2])) if span else (0, 0)
    return Announcement(kind, _number(_P.count.search(head)), (first, last) if first < last else None)


def _number(match: re.Match[str] | None) -> int | None:
    return int(match[1] or match[2]) if match else None


def _kind(head: str) -> str | None:
    """The kind that is named first: instructions may name others (多选不得分)."""
    kinds = [(match.start(), kind) for kind, form in _ANNOUNCED.items() if (match := form.search(head))]
    return min(kinds, key=lambda kind: kind[0])[1] if kinds else None


def tells_of_patient(line: str) -> bool:
    """Return whether a line begins with a patient: 女，20岁，停经40天."""
    return _P.patient.match(line.strip()) is not None


@lru_cache(1 << 14)  # asked again by the nets
def is_case(stem: str) -> bool:
    """Return whether a stem tells of a patient, in Chinese words."""
    return len(stem) >= 20 and not is_latin(stem) and _P.patient.search(stem) is not None


def question_type(
    announced: str | None, stem: str, answer: str | None, *, shared_case: bool, shared_options: bool
) -> QuestionType:
    """The type of a question: several answers first, then what it shares, then what it says."""
    if announced in SEVERAL_ANSWERS:
        return QuestionType(announced)
    if answer and len(answer) > 1:
        return QuestionType.X
    if shared_options:
        return QuestionType.B1
    if shared_case:
        return QuestionType.A3_A4
    if announced and announced in {*QuestionType} & WITHOUT_CASE:
        return QuestionType(announced)
    return QuestionType.A2 if is_case(stem) else QuestionType.A1
