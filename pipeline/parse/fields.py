"""Split the text of an item into its head (stem and options), its answers and its explanation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.parse.options import find_run
from pipeline.parse.text import join_lines

_ANSWER_WORDS = (
    r"(?:(?:(?:正确|正確|参考|參考|标准|標準|本题|本題)\s{0,2})?答\s{0,2}案(?:要点)?"
    r"|(?i:correct\s+answer|answer|ans)|答)"
)
_EXPLANATION_WORDS = (
    r"(?:答案解析|试题分析|試題分析|试题解析|题目解析|解题思路|考点分析"
    r"|解析|解答|分析|详解|詳解|点评|考点|評析|讲解|(?i:explanation|rationale))"
)
_COLON = r"[:：∶;；]"
_MARK = re.compile(
    r"(?:^|(?<=\s))(?P<guess>(?:我的|您的|你的|考生|学生|學生)答案)\s*[:：]?[^\n\t ]*"
    rf"|[【\[]\s*(?P<answer1>{_ANSWER_WORDS})\s*[】\]]\s*{_COLON}?"
    rf"|[【\[]\s*(?P<explanation1>{_EXPLANATION_WORDS})\s*[】\]]\s*{_COLON}?"
    rf"|(?:^|(?<=[\s。；;)）.]))(?P<answer2>{_ANSWER_WORDS})\s*"
    rf"(?:{_COLON}|[.．](?=\s*[A-K]\s*$)|[是为為](?=\s*[A-K](?![A-Za-z]))"
    r"|(?=(?:[(（【\[]\s{0,3})?[A-K]+\s{0,3}[)）】\]]?\s{0,3}(?:$|[\n。（(，,【\[])))"
    r"|(?:^|(?<=\n))\s*(?P<answer3>(?:故|因此|所以)?(?:本题|本題|答案)?应?[选選为為])(?=\s*[(（]?[A-K]{1,11}[)）]?\s*[。.]?\s*(?:\n|$))"
    rf"|(?:^|(?<=\n))\s*(?P<explanation2>{_EXPLANATION_WORDS})\s*[:：]"
    rf"|(?:^|(?<=\n))\s*(?P<explanation4>{_EXPLANATION_WORDS})\s*(?=\n)"
    r"|(?:^|(?<=\n))\s*(?P<explanation3>试题\s*[(（]\d+[)）](?:\s*[~～、，,\-—]+\s*[(（]\d+[)）])*\s*分析)\s*(?=\n|$)",
    re.MULTILINE,
)
_EXPLAINED_AFTER = re.compile(rf"\s*[【\[(（]?\s*{_EXPLANATION_WORDS}\s*(?:[】\])）]\s*{_COLON}?|[:：])\s*")
"""The mark of an explanation right after letters: 答案：C 解析：…"""
_CONCLUDES = re.compile(
    r"(?:[故选選应]|答案[为為是])[选選为為]?\s*([A-K]{1,11})(?:项|選項|选项)?\s*[。.]?\s*$"
)
"""How an explanation ends that names the answer: …，故选C。"""
_NOT_OF_ANSWER = r"(?!\s*(?:[项項错錯均不对對或/]|选项|選項))"
"""What follows a letter that an explanation speaks of: C  A项错误; B或C is no answer for a machine."""
_LETTERS = re.compile(
    r"\s*(?:[(（【\[]\s*)?"
    rf"([A-K]+{_NOT_OF_ANSWER}"
    rf"(?:(?:[ \t]*[、,，;；和及][ \t]*[A-K]{_NOT_OF_ANSWER})+|(?:[ \t]+[A-K](?![A-K、,，]){_NOT_OF_ANSWER})+)?"
    r"|[a-k](?=\s*(?:$|[\n。)）】])))\s*[)）】\]]?"
    r"(?=$|[\s。，,；;．.（(【\[、:：\u4e00-\u9fff])(?!\s*(?:或|/))"
)
_LETTER_LINE = re.compile(r"\n[ \t]*([A-K]{1,11})[ \t]*$")
_VERDICT = re.compile(
    r"\s*[(（]?\s*(正确|正確|错误|錯誤|对|對|错|錯|是|否|√|×|✓|✗)\s*[)）]?(?=$|[\s。，,；;（(])"
)


def opens_explanation(line: str) -> bool:
    """Whether a line begins an explanation."""
    found = _MARK.match(line.strip())
    return found is not None and not _answer_mark(found) and not found["guess"]


def _answer_mark(found: re.Match[str]) -> bool:
    return bool(found["answer1"] or found["answer2"] or found["answer3"])


@dataclass(frozen=True, slots=True)
class Opened:
    """Where an answer or an explanation begins."""

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
    """Every answer it states in letters, as printed without separators."""
    answer_texts: tuple[str, ...]
    """What stands after an answer mark, letters and explanation included."""
    explanation: str | None
    verdict: bool
    """Whether an answer is right / wrong, as true/false items have it."""
    opened: tuple[Opened, ...] = ()
    """The words that open answers and explanations, in order."""

    @property
    def answered(self) -> bool:
        """Whether any answer mark was there."""
        return bool(self.answer_texts)


def split_fields(text: str) -> Fields:
    """Split an item's text (lines apart) at its marks: 答案：, 【解析】, 试题分析 and their like."""
    marks = _marks(text)
    head = text[: marks[0].start()] if marks else text
    answers: list[str] = []
    texts: list[str] = []
    explanations: list[str] = []
    verdict = False
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=False):
        segment = text[mark.end() : end]
        if _answer_mark(mark):
            texts.append(join_lines(segment))
            letters, rest = leading_letters(segment)
            if letters:
                answers.append(letters)
                head, rest = _options_back(head, rest)
            else:
                verdict = verdict or _VERDICT.match(segment) is not None
                rest = segment
            explanations.append(rest)
        elif not mark["guess"]:
            first, rest = _letters_first(mark, segment)
            answers.extend(first)
            explanations.append(rest)
    explanation = "\n".join(part for part in map(join_lines, explanations) if part)
    places = tuple(
        Opened(mark[0].strip(), text.count("\n", 0, mark.end()), answer=_answer_mark(mark)) for mark in marks
    )
    return Fields(head, tuple(answers), tuple(texts), explanation or None, verdict, places)


def _options_back(head: str, rest: str) -> tuple[str, str]:
    """A head whose options stand after its answer, with them; and what is left after the answer."""
    run = None if find_run(head) else find_run(rest)
    if run is None or len(run.options) < 3 or run.start > 0:
        return head, rest
    return f"{head.rstrip()}\n{rest}", ""


def _marks(text: str) -> list[re.Match[str]]:
    """The marks of a text. 故选C on a line of its own is an answer only before any other mark."""
    marks = list(_MARK.finditer(text))
    return [mark for index, mark in enumerate(marks) if index == 0 or not mark["answer3"]]


def _letters_first(mark: re.Match[str], segment: str) -> tuple[list[str], str]:
    """What 答案解析 gives before it explains: its letters, if any, and the explanation."""
    words = mark["explanation1"] or mark["explanation2"] or mark["explanation4"] or ""
    found = re.match(r"\s*([A-K]{1,11})\s*[。．，,；;]\s*", segment) if words.startswith("答案") else None
    return ([found[1]], segment[found.end() :]) if found else ([], segment)


def leading_letters(segment: str) -> tuple[str | None, str]:
    """The letters a segment begins with, without separators, and what follows them."""
    found = _LETTERS.match(segment)
    if not found:
        return None, segment
    apart = re.split(r"[\s、,，;；和及]+", found[1])
    if apart != sorted(set(apart)):
        return apart[0].upper(), segment[found.start(1) + len(apart[0]) :].lstrip(" \t、,，;；")
    rest = segment[found.end() :].lstrip(" \t。．.，,；;、:：\n")
    return "".join(re.findall(r"[A-K]", found[1].upper())), _EXPLAINED_AFTER.sub("", rest, count=1)


def concluded(explanation: str | None) -> str | None:
    """The letters an explanation ends with, as in …，故选C."""
    found = _CONCLUDES.search(explanation or "")
    return found[1] if found else None


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


def without_answer(fields: Fields, options: Sequence[tuple[str, str]]) -> str | None:
    """The explanation without the option's text that an answer repeats; its first letter may be read as a label."""
    said = {_bare(text) for _, text in options}
    answers = tuple(text for text in map(_bare, fields.answer_texts) if text in said)
    lines = (fields.explanation or "").split("\n")
    return "\n".join(line for line in lines if not any(map(str.endswith, answers, [_bare(line)] * 9))) or None


def _bare(text: str) -> str:
    return re.sub(r"[\s。．.，,；;：:]+", "", text)
