"""Split the text of an item into its head (stem and options), its answers and its explanation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.parse.text import join_lines

_ANSWER_WORDS = r"(?:正确答案|正確答案|参考答案|參考答案|标准答案|標準答案|本题答案|答案要点|答案|答)"
_EXPLANATION_WORDS = (
    r"(?:答案解析|试题分析|試題分析|试题解析|题目解析|解题思路|考点分析"
    r"|解析|解答|分析|详解|詳解|点评|考点|評析|讲解)"
)
_MARK = re.compile(
    rf"[【\[]\s*(?P<answer1>{_ANSWER_WORDS})\s*[】\]]\s*[:：]?"
    rf"|[【\[]\s*(?P<explanation1>{_EXPLANATION_WORDS})\s*[】\]]\s*[:：]?"
    rf"|(?:^|(?<=[\s。；;)）.]))(?P<answer2>{_ANSWER_WORDS})\s*(?:[:：]|[是为為](?=\s*[A-K](?![A-Za-z]))|(?=\s*[A-K]+\s*(?:$|[\n。（(，,【\[])))"
    rf"|(?:^|(?<=\n))\s*(?P<explanation2>{_EXPLANATION_WORDS})\s*[:：]"
    rf"|(?:^|(?<=\n))\s*(?P<explanation4>{_EXPLANATION_WORDS})\s*(?=\n)"
    r"|(?:^|(?<=\n))\s*(?P<explanation3>试题\s*[(（]\d+[)）](?:\s*[~～、，,\-—]+\s*[(（]\d+[)）])*\s*分析)\s*(?=\n|$)"
)
_LETTERS = re.compile(
    r"\s*[(（]?\s*([A-K](?:[\s、,，;；/和及]*[A-K])*)\s*[)）]?"
    r"(?=$|[\s。，,；;．.（(【\[、:：\u4e00-\u9fff])"
)
_TRAILING_LETTERS = re.compile(r"[（(]\s*([A-K](?:\s*[、,，]?\s*[A-K])*)\s*[)）](?=\s*[。．.？?：:]?\s*$)")
_LETTER_LINE = re.compile(r"\n[ \t]*([A-K]{1,11})[ \t]*$")
_VERDICT = re.compile(
    r"\s*[(（]?\s*(正确|正確|错误|錯誤|对|對|错|錯|是|否|√|×|✓|✗)\s*[)）]?(?=$|[\s。，,；;（(])"
)


def opens_explanation(line: str) -> bool:
    """Whether a line begins an explanation."""
    found = _MARK.match(line.strip())
    return found is not None and not (found["answer1"] or found["answer2"])


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

    @property
    def answered(self) -> bool:
        """Whether any answer mark was there."""
        return bool(self.answer_texts)


def split_fields(text: str) -> Fields:
    """Split an item's text (lines apart) at its marks: 答案：, 【解析】, 试题分析 and their like."""
    marks = list(_MARK.finditer(text))
    head = text[: marks[0].start()] if marks else text
    answers: list[str] = []
    texts: list[str] = []
    explanations: list[str] = []
    verdict = False
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    for mark, end in zip(marks, ends, strict=False):
        segment = text[mark.end() : end]
        if mark["answer1"] or mark["answer2"]:
            texts.append(join_lines(segment))
            letters, rest = leading_letters(segment)
            if letters:
                answers.append(letters)
            else:
                verdict = verdict or _VERDICT.match(segment) is not None
                rest = segment
            explanations.append(rest)
        else:
            explanations.append(segment)
    explanation = "\n".join(part for part in map(join_lines, explanations) if part)
    return Fields(head, tuple(answers), tuple(texts), explanation or None, verdict)


def leading_letters(segment: str) -> tuple[str | None, str]:
    """The letters a segment begins with, without separators, and what follows them."""
    found = _LETTERS.match(segment)
    if not found:
        return None, segment
    rest = segment[found.end() :].lstrip(" \t。．.，,；;、:：\n")
    return "".join(re.findall(r"[A-K]", found[1])), rest


def trailing_answer(stem: str, labels: Sequence[str]) -> tuple[str, str | None]:
    """A stem whose final blank is filled in, as in 首选的是（ B ）: the stem with the blank, and the letters."""
    found = _TRAILING_LETTERS.search(stem)
    if not found:
        return stem, None
    letters = "".join(re.findall(r"[A-K]", found[1]))
    if not set(letters) <= set(labels) or len(set(letters)) != len(letters):
        return stem, None
    return f"{stem[: found.start()]}（ ）{stem[found.end() :]}", letters


def letter_line(head: str) -> tuple[str, str | None]:
    """A head that ends with a line of letters alone: the head without it, and the letters."""
    found = _LETTER_LINE.search(head)
    if not found or list(found[1]) != sorted(set(found[1])):
        return head, None
    return head[: found.start()], found[1]


def by_text(answer_texts: Sequence[str], options: Sequence[tuple[str, str]]) -> str | None:
    """The letter of the option whose text an answer repeats, if there is exactly one."""
    for text in answer_texts:
        said = _bare(text)
        hits = [label for label, option in options if _bare(option) and said == _bare(option)]
        if len(hits) == 1:
            return hits[0]
    return None


def _bare(text: str) -> str:
    return re.sub(r"[\s。．.，,；;：:]+", "", text)
