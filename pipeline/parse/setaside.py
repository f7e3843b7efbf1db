"""Items that are no multiple-choice questions: recognised, and set aside with a reason."""

from __future__ import annotations

import re

from pipeline.parse.answers import is_coded
from pipeline.parse.draft import Draft
from pipeline.parse.fields import Fields
from pipeline.parse.kinds import SET_ASIDE

INSTRUCTION = re.compile(r"答题卡|答題卡|准考证|試卡|铅笔|鉛筆|填涂|作答|考试时间|监考|試題本|本试卷|填写在")
_MARKED = re.compile(r"[(（\[]\s*\d{1,2}\s*(?:marks?|points?|pts|分)\s*[)）\]]", re.IGNORECASE)
_BLANK = re.compile(r"_{3,}|＿{2,}|填空")
_TRUE_FALSE = re.compile(r"^[(（【]?判断(?:正误|题|对错)?[)）】:：]")
_WORTH = re.compile(r"^[(（]\s*[本共]?[题題]?\s*\d{1,2}\s*分\s*[)）]")
"""The mark an item earns, first of all, as essays have it."""
_FILL_IN = re.compile(r"^[(（【]?填空[)）】:：]")


def _letters_alone(fields: Fields) -> bool:
    """Whether an answer is nothing but letters in order: then options were there and were not read."""
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
    """What an item without options is: by its number, by its words, by its head, by its answer."""
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
