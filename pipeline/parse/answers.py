"""The ways an answer is told: letters after a mark, on a line, in a blank; an option's text; a conclusion."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pipeline.parse.numbers import CIRCLED_DIGITS
from pipeline.parse.text import CJK

_NOT_OF_ANSWER = r"(?!\s*(?:[项項錯错均不對对或/]|选项|選項))"
"""Not an answer: the letter of an option that an explanation speaks of (C  A项错误), one of two (B或C)."""
# White space before an optional mark and after it is possessive, ``\s*+``: two repeats that meet take quadratic time.
_LETTERS = re.compile(
    r"\s*+(?:[(（【\[]\s*+)?"
    rf"([A-K]+{_NOT_OF_ANSWER}"
    rf"(?:(?:[ \t]*[、,，;；和及][ \t]*[A-K]{_NOT_OF_ANSWER})+|(?:[ \t]+[A-K](?![A-K、,，]){_NOT_OF_ANSWER})+)?"
    r"|[a-k](?!\s*[或/])(?=\s*(?:$|[\n。)）】])))\s*[)）】\]]?"
    r"(?=$|[\s。，,；;．.（(【\[、:：\u4e00-\u9fff])(?!\s*(?:或|/))"
)
_PART = (
    rf"(?:[(（]\s*\d{{1,3}}\s*[)）]|[{CIRCLED_DIGITS}]|(?:问题|問題)\s?\d{{1,2}})\s*+[.．、:：]?\s*+([A-K]{{1,11}})"
    rf"(?=$|[\s。.，,；;、(（【问問{CIRCLED_DIGITS}])"
)
_PARTS = re.compile(rf"\s*+{_PART}(?:\s*+[,，;；、。.]?\s*+{_PART})*\s*+[。.;；]?")
_LETTER_LINE = re.compile(r"\n[ \t]*([A-K]{1,11})[ \t]*$")
_CODED = re.compile(rf"\s*+[(（]?[A-K][)）]?\s*+[:：.．、=]?\s*+[(（]?[{CIRCLED_DIGITS}]")
"""An answer that gives blanks A, B … a code each: A：③ B：④."""

_GAP = r"\s{0,20}"
"""White space within a blank; bounded, as two repeats that meet take quadratic time."""
_BLANK = r"([A-K](?:\s{0,2}[、,，]?\s{0,2}[A-K]){0,10}|[a-k])"
_OPEN, _CLOSE = r"[（(\[【]", r"[）)\]】]"
_STOP = rf"{_GAP}[。．.？?：:]?{_GAP}"
_AT_END = re.compile(
    rf"(?:{_OPEN}{_GAP}{_BLANK}{_GAP}{_CLOSE}|(?<!_)_+{_GAP}{_BLANK}{_GAP}_+"
    rf"|(?<=[{CJK}]){_GAP}{_BLANK}{_GAP}[）)]|[（(]{_GAP}{_BLANK})"
    rf"(?={_STOP}(?:[（(]{_GAP}\d{{1,4}}(?:\.\d{{1,4}})?{_GAP}分{_GAP}[）)])?{_STOP}$)"
)
"""At the end, before a full stop and the mark it earns; the bracket may have lost one side."""
_PADDED = re.compile(rf"[（(]\s{{1,20}}{_BLANK}\s{{1,20}}[）)]|^[（(]{_GAP}{_BLANK}{_GAP}[）)](?=[{CJK}])")
"""Inside the text only with space around the letters, or first of all: 血型为（A）者 is no blank."""
_INSIDE = re.compile(
    rf"(?:^|(?<=\S)){_OPEN}{_GAP}[?？]?{_GAP}([A-K](?:\s{{0,2}}[、,，]?\s{{0,2}}[A-K]){{0,10}}){_GAP}{_CLOSE}"
)
"""以（C）为中心, where it is the paper's habit."""


def leading_letters(segment: str) -> tuple[str | None, str]:
    """The letters a segment begins with, without separators, and what follows them."""
    found = None if is_coded(segment) else _LETTERS.match(segment)
    if not found:
        return None, segment
    apart = re.split(r"[\s、,，;；和及]+", found[1])
    if apart != sorted(set(apart)):
        return apart[0].upper(), segment[found.start(1) + len(apart[0]) :].lstrip(" \t、,，;；")
    rest = segment[found.end() :].lstrip(" \t。．.，,；;、:：\n")
    return "".join(re.findall(r"[A-K]", found[1].upper())), rest


def is_coded(segment: str) -> bool:
    """Return whether an answer names codes of choices, A：③ B：④, and no options."""
    return _CODED.match(segment) is not None


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


def fills_blank(text: str) -> bool:
    """Return whether exactly one bracket of a text holds letters, as in papers with answers in their stems."""
    return len(_INSIDE.findall(text)) == 1


def letters_inside(text: str) -> str:
    """The letters in the first bracket of a text that holds any."""
    found = _INSIDE.search(text)
    return "".join(re.findall("[A-K]", found[1])) if found else ""


def filled_blank(stem: str, labels: Sequence[str], *, anywhere: bool) -> tuple[str, str | None]:
    """A stem whose blank is filled in, 首选的是（ B ）: the stem with the blank, and the letters, if there are any.

    Args:
        stem: of a question without another answer.
        labels: of its options.
        anywhere: whether the paper's blanks stand inside stems too, 以（C）为中心.
    """
    inside = list((_INSIDE if anywhere else _PADDED).finditer(stem))
    found = _AT_END.search(stem) or (inside[0] if len(inside) == 1 else None)
    if found is None:
        return stem, None
    printed = next(group for group in found.groups() if group)
    letters = re.findall(r"[A-K]", printed.upper())
    if not set(letters) <= set(labels) or letters != sorted(set(letters)):
        return stem, None
    return f"{stem[: found.start()]}（ ）{stem[found.end() :]}", "".join(letters)


_LATIN_FIRST = re.compile(r"[A-K]\S")


def by_text(answer_texts: Sequence[str], options: Sequence[tuple[str, str]]) -> str | None:
    """The letter of the option whose text an answer repeats, if there is exactly one."""
    for text in answer_texts:
        said = _bare(text)
        if re.fullmatch(r"[A-K]{1,11}", said):
            continue
        # 答案：青霉素, 答案：B 青霉素
        texts = [(label, _bare(option)) for label, option in options]
        hits = [label for label, option in texts if option and said in (option, f"{label}{option}")]
        # 答案：B超 with other text behind it is no letter B
        hits = hits or [
            label
            for label, option in options
            if _LATIN_FIRST.match(option) and said.startswith(_bare(option))
        ]
        if len(hits) == 1:
            return hits[0]
    return None


def without_text(
    explanation: str | None, answer_texts: Sequence[str], options: Sequence[tuple[str, str]]
) -> str | None:
    """The explanation without the option's text that an answer repeats; its first letter may be read as a label."""
    known = {_bare(text) for _, text in options}
    said = tuple(text for text in map(_bare, answer_texts) if text in known or text[1:] in known)
    lines = (explanation or "").split("\n")
    return "\n".join(line for line in lines if not any(text.endswith(_bare(line)) for text in said)) or None


def repeats_answer(explanation: str, answer: str, options: Sequence[tuple[str, str]]) -> bool:
    """Return whether an explanation is the text of the answer again, as in 答案：A 青霉素."""
    texts = [_bare(text) for label, text in options if label in answer]
    return _bare(explanation) in (*texts, "".join(texts))


def _bare(text: str) -> str:
    return re.sub(r"[\s。．.，,；;：:]+", "", text)


_SAID = r"[A-K](?:\s*+[、,，和及与與]?\s*+[A-K])*"
_NOT_WORD = r"(?![A-Za-z0-9])"
_CONCLUDES = re.compile(
    rf"(?:(?:故|所以|因此|综上|綜上|因而|应|應)[^。\n不]{{0,8}}?(?:选择|選擇|选|選|答案[为為是])|答案(?:应|應)?[选選为為是]|答案[:：]"
    r"|(?:^|[\n。，,；;])[本该]?[题題]?[选選])"
    rf"\s*+[:：]?\s*+[(（]?\s*+({_SAID}){_NOT_WORD}(?!\s*(?:错|錯|项?[错錯]误|不正?[确確]))"
)
"""故选B, 答案为AB; 故不选B names none."""


def concluded(explanation: str | None) -> str | None:
    """The letters an explanation concludes with, as in …，故选C or 故选：C。; None where two differ."""
    letters = {"".join(_sorted(found[1])) for found in _CONCLUDES.finditer(explanation or "")}
    return letters.pop() if len(letters) == 1 else None


def _sorted(text: str) -> list[str]:
    return sorted(set(re.findall("[A-K]", text)))
