"""Recognise lines that are heads: of a section, of a shared text, of a key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from pipeline.parse.text import CJK
from pipeline.patterns import Patterns

_P = Patterns("heads")

CHINESE = _P.whole("@chinese@")


_SECTIONS = [re.compile(row["pattern"]) for row in _P.rows("sections")]


_GROUPS = [re.compile(row["pattern"]) for row in _P.rows("groups")]
CASE_LINES = 15
"""The most lines that such a case may have."""


def split_heads(text: str) -> list[str]:
    """Return the parts of a line that has heads behind other text: each head begins a part.

    Text behind the head of a shared text is that text.
    """
    section = _P.glued_section.search(text) if "题" in text or "題" in text else None
    cuts = [section.start()] if section else []
    if re.search("共用|共享|公用", text):
        cuts += [found.start() for found in _P.glued_group.finditer(text)]
    edges = [0, *sorted(cuts), len(text)]
    return [text[start:end].strip(" ") for start, end in pairwise(edges)]


def is_section_head(text: str, *, centred: bool = False) -> bool:
    """Return whether a line opens a section or is a heading between questions."""
    bare = text.strip()
    if any(form.match(bare) for form in _SECTIONS):
        return (
            len(bare) <= 24
            or re.search(r"^(?:Part|Section)\b.{0,60}$|[题題]|共\s*\d+", bare, re.IGNORECASE) is not None
        )
    return (
        centred
        and len(bare) <= 20
        and re.search(rf"[{CJK}]{{2}}", bare) is not None
        and re.search(r"[。？?！；;:：]$", bare) is None
    )


def is_type_head(text: str) -> bool:
    """Return whether a head names items or a part of a paper: 一、单项选择题, 第一部分, not 一、二线药物."""
    return re.search(r"[题題]|型|部分|[章节節篇卷]|[选選][择擇]", text) is not None or len(text.strip()) <= 4


def is_key_head(text: str) -> bool:
    """Return whether a line opens a key: 参考答案, 答案与解析 … without an answer of its own."""
    bare = text.strip()
    return len(bare) <= 40 and _P.key_head.search(bare) is not None and _P.gives_answer.search(bare) is None


def numeral_value(text: str) -> int | None:
    """The number of a head such as 二、, （三） or 试题四; None without one."""
    found = re.match(rf"\s*(?:[试試][题題]|[(（])?\s*([{CHINESE}]{{1,3}})\s*(?:[)）、.．,，(（]|$)", text)
    if not found:
        return None
    tens, _, ones = found[1].rpartition("十")
    if "十" not in found[1]:
        return CHINESE.index(ones[-1]) + 1
    return 10 * (CHINESE.index(tens) + 1 if tens else 1) + (CHINESE.index(ones) + 1 if ones else 0)


def may_be_key_head(text: str) -> bool:
    """Return whether a line opens a key if answers stand under it: 习题答案, 【参考答案】, 答 案, Answers."""
    if len(text) > 60:
        return False
    bare = re.sub(r"[【】\[\]《》〈〉]|(?<![A-Za-z])\s+|\s+(?![A-Za-z])", "", text)
    return _P.may_be_key_head.fullmatch(bare) is not None and _P.no_key_head.search(bare) is None


def numeral(text: str) -> bool:
    """Return whether a line is a section's numeral and nothing else, as in 一、 alone."""
    return _P.numeral.match(text) is not None


@dataclass(frozen=True, slots=True)
class GroupHead:
    """A head such as (1~3题共用题干) or (4~6题共用备选答案)."""

    first: int | None
    last: int | None
    options: bool
    """True if options are shared; otherwise a case is."""
    end: int
    """The place at which the rest of the line begins."""


def group_head(text: str) -> GroupHead | None:
    """The head of shared text that a line is, if it is one."""
    found = next((found for form in _GROUPS if (found := form.match(text))), None)
    if found and int(found[1]) < int(found[2]) <= int(found[1]) + 30:
        closing = re.compile(r"[^。:：)）】\]]*[)）】\]]?\s*[。:：]?").match(text, found.end())
        end = closing.end() if closing else len(text)
        return GroupHead(int(found[1]), int(found[2]), _about_options(text[:end]), end)
    case = _P.case.match(text)
    if case:
        return GroupHead(None, None, options=False, end=case.end())
    shared = _P.shared.search(text) and re.search(r"题干|題幹|备选答案|选项|選項", text)
    if shared and len(text.strip()) <= 24 and not _P.span_later.search(text):
        return GroupHead(None, None, _about_options(text), len(text))
    return None


def case_end(text: str) -> tuple[int, int, int] | None:
    """The questions a case names at its end, and where its words for that begin; None where it names none."""
    found = _P.asks_for.search(text)
    numbers = [int(number) for number in found.groups() if number] if found else []
    if not found or not numbers[0] < numbers[1] <= numbers[0] + 30:
        return None
    return numbers[0], numbers[1], found.start()


def opens_case(text: str, *, named: bool) -> int | None:
    """Return the place at which a line opens a case, by a word (情況：) or without (一位60歲…); else None.

    Args:
        text: the line.
        named: whether only a word counts.
    """
    found = _P.opens_case.match(text)
    if found:
        return found.end()
    return 0 if not named and _P.tells.match(text) else None


def span_head(text: str) -> GroupHead | None:
    """A line that is nothing but a span of numbers: [71-75], （3～4题）."""
    found = _P.span_alone.match(text)
    if not found or not int(found[1]) < int(found[2]) <= int(found[1]) + 30:
        return None
    return GroupHead(int(found[1]), int(found[2]), options=False, end=len(text))


def _about_options(text: str) -> bool:
    return re.search(r"备选|備選|选项|選項|答案", text) is not None
