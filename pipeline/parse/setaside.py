"""Items that are no multiple-choice questions: recognised, and set aside with a reason."""

from __future__ import annotations

import re

from pipeline.parse.draft import Draft
from pipeline.parse.fields import Fields
from pipeline.parse.kinds import SET_ASIDE

INSTRUCTION = re.compile(r"答题卡|答題卡|准考证|試卡|铅笔|鉛筆|填涂|作答|考试时间|监考|試題本|本试卷|填写在")
_MARKED = re.compile(r"[(（\[]\s*\d{1,2}\s*(?:marks?|points?|pts|分)\s*[)）\]]", re.IGNORECASE)
_BLANK = re.compile(r"_{3,}|＿{2,}|填空")
_TRUE_FALSE = re.compile(r"^[(（【]?判断(?:正误|题|对错)?[)）】:：]")
_FILL_IN = re.compile(r"^[(（【]?填空[)）】:：]")


def _letters_alone(fields: Fields) -> bool:
    """Whether an answer is nothing but letters in order: then options were there and were not read."""
    return any(
        re.fullmatch(r"[A-K]{1,6}[.。]?", text) and list(text) == sorted(set(text))
        for text in fields.answer_texts
    )


def set_aside(draft: Draft, fields: Fields) -> None:
    """Give items that are no multiple-choice questions their reason, in place."""
    announced = draft.announced
    if announced in ("C", "K") and not draft.options:
        draft.set_aside = (f"{announced.lower()}_type", SET_ASIDE[announced])
        return
    if draft.options:
        if any(_MARKED.match(text) for _, text in draft.options):
            draft.set_aside = ("short_answer", "its parts earn marks of their own, so they are no options")
        return
    reason = None
    if _TRUE_FALSE.match(draft.stem) or fields.verdict:
        reason = "true_false"
    elif _FILL_IN.match(draft.stem) or _BLANK.search(draft.stem):
        reason = "fill_in"
    elif announced in ("true_false", "fill_in", "short_answer"):
        reason = announced
    elif INSTRUCTION.search(draft.stem):
        draft.set_aside = ("instruction", "an instruction to candidates")
        return
    elif fields.answered and not _letters_alone(fields):
        reason = "short_answer"
    if reason:
        draft.set_aside = (reason, SET_ASIDE[reason])
