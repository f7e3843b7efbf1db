"""Item types: the one table of what a head announces, and what an item is or why it is set aside."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pipeline.parse.answers import is_coded
from schemas.questions import QuestionType

if TYPE_CHECKING:
    from pipeline.parse.draft import Draft
    from pipeline.parse.fields import Fields

_ANNOUNCED: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("A3/A4", re.compile(r"A\s*[34]\s*(?:[/／、]\s*A?\s*4)?\s*型|共用题干|共用題幹")),
    ("A2", re.compile(r"A\s*2\s*型|病例摘要型|病历摘要型")),
    ("B1", re.compile(r"B\s*1?\s*型|配伍[选題题]|标准配伍|共用备选|匹配题")),
    ("C", re.compile(r"(?<![A-Z])C\s*型|比较选择")),
    ("K", re.compile(r"(?<![A-Z])K\s*型")),
    ("X", re.compile(r"X\s*型|多项?选择?题|多項|多选|複選題|不定项|多选题")),
    (
        "true_false",
        re.compile(
            r"判断(?:[题改正]|\s*$)|是非[题題]|判断正误|\btrue\s?(?:/|or|_)\s?false\b|^\s*(?:boolean|judge)\s*$",
            re.IGNORECASE,
        ),
    ),
    ("fill_in", re.compile(r"填空")),
    (
        "short_answer",
        re.compile(
            r"非选择题|非選擇題|简答|簡答|问答|問答|论述|論述|名词解释|名詞解釋|病例分析|案例分析|综合应用|计算题|综合题|申論"
        ),
    ),
    ("A1", re.compile(r"A\s*1\s*型|单句型")),
    ("single", re.compile(r"单项?选择?|單一選擇|單選|单选|最佳选择|[选選](?:择|擇)[题題]")),
)
SET_ASIDE = {
    "true_false": "a true/false item",
    "fill_in": "an item with blanks to fill in",
    "short_answer": "an item to be answered in words",
    "coded_answer": "an item whose blanks are answered by codes (A：③ B：④), not by options",
    "instruction": "an instruction to candidates",
    "C": "a C-type item whose shared options were not found",
    "K": "a K-type item whose codes (A = ①②③ …) are not printed",
}

_AGE = r"\d+(?:\.\d+)?\s*(?:岁|歲|个月|個月)"
_PATIENT = re.compile(
    r"(?:患者|病人|患儿|患兒)[，,、：:]?\s*(?:[男女]|\d)"
    rf"|[男女](?:性|婴|嬰|孩|童|子)?\s*[，,、。]?\s*(?:患者)?[，,]?\s*(?:{_AGE}|\d+\s*[天日周週])"
    rf"|{_AGE}\s*(?:的|之)?\s*[男女](?:性|婴|嬰|童|孩|士|生)?(?:患者|病人|病患|患儿|患兒)?"
    r"\s*(?:[，,、。（(A-Za-z因主有來来被於于最近出突發发接受罹患就至常自在無无平以過过從从抱送持感訴诉於昨今兩两三一]|\d)"
    rf"|{_AGE}\s*(?:的|之)?\S{{0,4}}(?:患者|病人|病患|患儿|患兒|先生|小姐|女士|太太|婆|伯|婦|妇|老人|農|工人)"
    rf"|{_AGE}(?!以[上下内內])\S{{0,3}}[男女]性|(?:一|1)\s*[位名]\s*(?:約|约)?{_AGE}(?!以[上下内內])"
    r"|(?:先生|小姐|女士|太太|婆婆|病患|男童|女童|孕婦|孕妇|婦人)[，,]?\s*\d+\s*[岁歲]"
)
_COUNT = re.compile(
    r"共(?:有)?\s*(\d{1,3})\s*(?:小|道)?[题題](?!.{0,2}空)|[题題]\s*[数數]\s*[:：]\s*(\d{1,3})"
)
_TOTAL = re.compile(r"[题題]\s*[数數]\s*[:：]\s*(\d{1,3})|共\s*(\d{1,3})\s*[题題]")
"""Without 小题, which a head says of its section."""
_SPAN = re.compile(r"(?:第)?\s*(\d{1,3})\s*[~～\-—–至]\s*(?:第)?\s*(\d{1,3})\s*(?:小)?[题題]")


@dataclass(frozen=True, slots=True)
class Announcement:
    """The statement of a head about the items under it."""

    kind: str | None
    """A question type, ``single``, or a reason to set items aside."""
    count: int | None
    span: tuple[int, int] | None


def stated_total(text: str) -> int | None:
    """Return the number of questions that a paper states: 題數：80題, 本科目共80題."""
    return _number(_TOTAL.search(text))


def announcement(head: str) -> Announcement:
    """Read a head with its instructions, e.g. 一、单项选择题：1～40小题，每小题2分."""
    first = head.split("\n", 1)[0]
    kind = _kind(first) or _kind(head)
    span = _SPAN.search(head)
    numbers = (int(span[1]), int(span[2])) if span else None
    if numbers and not numbers[0] < numbers[1]:
        numbers = None
    return Announcement(kind, _number(_COUNT.search(head)), numbers)


def _number(found: re.Match[str] | None) -> int | None:
    return int(found[1] or found[2]) if found else None


def _kind(head: str) -> str | None:
    """The kind that is named first: instructions may name others (多选不得分)."""
    found = [
        (match.start(), place) for place, (_, form) in enumerate(_ANNOUNCED) if (match := form.search(head))
    ]
    return _ANNOUNCED[min(found)[1]][0] if found else None


def is_case(stem: str) -> bool:
    """Return whether a stem tells of a patient."""
    return len(stem) >= 20 and _PATIENT.search(stem) is not None


def question_type(
    announced: str | None, stem: str, answer: str | None, *, shared_case: bool, shared_options: bool
) -> QuestionType:
    """The type of a question: several answers first, then what it shares, then what it says."""
    if (answer and len(answer) > 1) or announced == "X":
        return QuestionType.X
    if shared_options:
        return QuestionType.B1
    if shared_case:
        return QuestionType.A3_A4
    if announced in ("A1", "A2"):
        return QuestionType(announced)
    return QuestionType.A2 if is_case(stem) else QuestionType.A1


INSTRUCTION = re.compile(r"答题卡|答題卡|准考证|試卡|铅笔|鉛筆|填涂|作答|考试时间|监考|試題本|本试卷|填写在")
_MARKED = re.compile(r"[(（\[]\s*\d{1,2}\s*(?:marks?|points?|pts|分)\s*[)）\]]", re.IGNORECASE)
_BLANK = re.compile(r"_{3,}|＿{2,}|填空")
_TRUE_FALSE = re.compile(r"^[(（【]?判断(?:正误|题|对错)?[)）】:：]")
_WORTH = re.compile(r"^[(（]\s*[本共]?[题題]?\s*\d{1,2}\s*分\s*[)）]")
"""The mark an item earns, first of all, as essays have it."""
_FILL_IN = re.compile(r"^[(（【]?填空[)）】:：]")


def _letters_alone(fields: Fields) -> bool:
    """Return whether an answer is nothing but letters in order: then options were there and were not read."""
    return any(
        re.fullmatch(r"[A-K]{1,6}[.。]?", text) and list(text) == sorted(set(text))
        for text in fields.answer_texts
    )


def set_aside(draft: Draft, fields: Fields, *, worded: bool) -> None:
    """Give items that are no multiple-choice questions their reason, in place."""
    announced = draft.announced
    if announced in ("C", "K") and not draft.options:
        draft.set_aside = (f"{announced.lower()}_type", SET_ASIDE[announced])
        return
    if any(map(is_coded, fields.answer_texts)):
        draft.set_aside = ("coded_answer", SET_ASIDE["coded_answer"])
        return
    if draft.options:
        if any(_MARKED.match(text) for _, text in draft.options):
            draft.set_aside = ("short_answer", "its parts earn marks of their own, so they are no options")
        return
    reason = _kind_in_words(draft, fields, worded=worded)
    if reason:
        draft.set_aside = (reason, SET_ASIDE[reason])


def _kind_in_words(draft: Draft, fields: Fields, *, worded: bool) -> str | None:
    """Return the kind of an item without options, by its number, words, head or answer."""
    if worded:
        return "short_answer"
    if _TRUE_FALSE.match(draft.stem) or fields.verdict:
        return "true_false"
    if _FILL_IN.match(draft.stem) or _BLANK.search(draft.stem):
        return "fill_in"
    if draft.announced in ("true_false", "fill_in", "short_answer"):
        return draft.announced
    if INSTRUCTION.search(draft.stem):
        return "instruction"
    explained = fields.answered and not _letters_alone(fields)
    return "short_answer" if explained or _WORTH.match(draft.stem) else None
