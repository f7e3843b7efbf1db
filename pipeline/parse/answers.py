"""The ways an answer is told: letters after a mark, on a line, in a blank; an option's text; a conclusion."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.parse.numbers import CIRCLED_DIGITS
from pipeline.parse.text import CJK

_NOT_OF_ANSWER = r"(?!\s*(?:[项項錯错均不對对或/]|选项|選項))"
"""What follows a letter that an explanation speaks of: C  A项错误; B或C is no answer for a machine."""
_LETTERS = re.compile(
    r"\s*(?:[(（【\[]\s*)?"
    rf"([A-K]+{_NOT_OF_ANSWER}"
    rf"(?:(?:[ \t]*[、,，;；和及][ \t]*[A-K]{_NOT_OF_ANSWER})+|(?:[ \t]+[A-K](?![A-K、,，]){_NOT_OF_ANSWER})+)?"
    r"|[a-k](?=\s*(?:$|[\n。)）】])))\s*[)）】\]]?"
    r"(?=$|[\s。，,；;．.（(【\[、:：\u4e00-\u9fff])(?!\s*(?:或|/))"
)
_PART = (
    rf"(?:[(（]\s*\d{{1,3}}\s*[)）]|[{CIRCLED_DIGITS}])\s*[.．、:：]?\s*([A-K]{{1,11}})"
    rf"(?=$|[\s。.，,；;、(（【{CIRCLED_DIGITS}])"
)
_PARTS = re.compile(rf"\s*{_PART}(?:\s*[,，;；、。.]?\s*{_PART})*\s*[。.;；]?")
_LETTER_LINE = re.compile(r"\n[ \t]*([A-K]{1,11})[ \t]*$")
_CONCLUDES = re.compile(
    r"(?:[故选選应]|答案[为為是])[选選为為]?\s*([A-K]{1,11})(?:项|選項|选项)?\s*[。.]?\s*$"
)
"""How an explanation ends that names the answer: …，故选C。"""

_BLANK = r"([A-K](?:\s*[、,，]?\s*[A-K])*|[a-k])"
_OPEN, _CLOSE = r"[（(\[【]", r"[）)\]】]"
_STOP = r"\s*[。．.？?：:]?\s*"
_AT_END = re.compile(
    rf"(?:{_OPEN}\s*{_BLANK}\s*{_CLOSE}|_+\s*{_BLANK}\s*_+|(?<=[{CJK}])\s*{_BLANK}\s*[）)]|[（(]\s*{_BLANK})"
    rf"(?={_STOP}(?:[（(]\s*\d+(?:\.\d+)?\s*分\s*[）)])?{_STOP}$)"
)
"""At the end, before a full stop and the mark it earns; the bracket may have lost one side."""
_PADDED = re.compile(rf"[（(]\s+{_BLANK}\s+[）)]|^[（(]\s*{_BLANK}\s*[）)](?=[{CJK}])")
"""Inside the text only with space around the letters, or first of all: 血型为（A）者 is no blank."""


def leading_letters(segment: str) -> tuple[str | None, str]:
    """The letters a segment begins with, without separators, and what follows them."""
    found = _LETTERS.match(segment)
    if not found:
        return None, segment
    apart = re.split(r"[\s、,，;；和及]+", found[1])
    if apart != sorted(set(apart)):
        return apart[0].upper(), segment[found.start(1) + len(apart[0]) :].lstrip(" \t、,，;；")
    rest = segment[found.end() :].lstrip(" \t。．.，,；;、:：\n")
    return "".join(re.findall(r"[A-K]", found[1].upper())), rest


def answers_of_parts(segment: str) -> tuple[list[str], str]:
    """The letters of the parts that a segment begins with, as in （1）A （2）CD, and what follows them."""
    found = _PARTS.match(segment)
    if not found:
        return [], segment
    return re.findall(_PART, found[0]), segment[found.end() :].lstrip(" \t\n")


def letter_line(head: str, *, single: bool) -> tuple[str, str | None]:
    """A head that ends with a line of letters alone: the head without it, and the letters.

    Args:
        head: stem and options, lines apart.
        single: whether one letter is enough: elsewhere 青霉素 / G is an option's end.
    """
    found = _LETTER_LINE.search(head)
    if not found or list(found[1]) != sorted(set(found[1])) or (len(found[1]) == 1 and not single):
        return head, None
    return head[: found.start()], found[1]


def filled_blank(stem: str, labels: Sequence[str]) -> tuple[str, str | None]:
    """A stem whose blank is filled in, 首选的是（ B ）: the stem with the blank, and the letters, if there are any."""
    inside = list(_PADDED.finditer(stem))
    found = _AT_END.search(stem) or (inside[0] if len(inside) == 1 else None)
    if found is None:
        return stem, None
    printed = next(group for group in found.groups() if group)
    letters = re.findall(r"[A-K]", printed.upper())
    if not set(letters) <= set(labels) or letters != sorted(set(letters)):
        return stem, None
    return f"{stem[: found.start()]}（ ）{stem[found.end() :]}", "".join(letters)


def by_text(answer_texts: Sequence[str], options: Sequence[tuple[str, str]]) -> str | None:
    """The letter of the option whose text an answer repeats, if there is exactly one."""
    for text in answer_texts:
        said = _bare(text)
        if re.fullmatch(r"[A-K]{1,11}", said):
            continue
        hits = [label for label, option in options if _bare(option) and said == _bare(option)]
        if len(hits) == 1:
            return hits[0]
    return None


def without_text(
    explanation: str | None, answer_texts: Sequence[str], options: Sequence[tuple[str, str]]
) -> str | None:
    """The explanation without the option's text that an answer repeats; its first letter may be read as a label."""
    known = {_bare(text) for _, text in options}
    said = tuple(text for text in map(_bare, answer_texts) if text in known)
    lines = (explanation or "").split("\n")
    return "\n".join(line for line in lines if not any(text.endswith(_bare(line)) for text in said)) or None


def concluded(explanation: str | None) -> str | None:
    """The letters an explanation ends with, as in …，故选C."""
    found = _CONCLUDES.search(explanation or "")
    return found[1] if found else None


def _bare(text: str) -> str:
    return re.sub(r"[\s。．.，,；;：:]+", "", text)
