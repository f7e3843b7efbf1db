"""Split the text of an item into head, answers and explanation; and the ways in which an answer is told."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache
from itertools import starmap, zip_longest
from typing import NamedTuple

from build_dataset.pipeline.parse.folding import READ, join_lines, unpunctuated
from build_dataset.pipeline.parse.labels import LABEL, LABELS, are_labels, ascend, labels_in
from build_dataset.pipeline.parse.options import find_run
from build_dataset.pipeline.patterns import Patterns, is_latin

_P = Patterns(__name__)
_LETTERS = frozenset(LABELS + LABELS.lower())
_NEAR = 400  # characters before the end of a stem within which a filled blank at its end begins


_OPENING = (f"(?P<{row['opens']}_{place}>{row['pattern']})" for place, row in enumerate(_P.rows("forms")))
_MARK = re.compile("|".join(_OPENING), re.MULTILINE)
"""Marks open an answer, an explanation, a conclusion (故选C on a line of its own: an answer if no other mark comes
before it), or a guess (the answer that a candidate gave, 考生答案：A, which is dropped)."""


class MarkerPlace(NamedTuple):
    """The place at which an answer or an explanation begins."""

    words: str
    line: int  # of the item's text, from 0
    answer: bool


class Fields(NamedTuple):
    """The parts of an item's text."""

    head: str  # stem and options, lines apart
    answers: tuple[str, ...]  # letters as printed without separators; of parts one each
    answer_texts: tuple[str, ...]  # the text after each answer marker, letters and explanation included
    explanation: str | None
    verdict: bool  # an answer is right / wrong, as true/false items have it
    opened: tuple[MarkerPlace, ...] = ()  # the words that open answers and explanations, in order

    @property
    def answered(self) -> bool:
        """Return whether any answer mark was there."""
        return bool(self.answer_texts)


def opens_explanation(line: str) -> bool:
    """Return whether a line begins an explanation."""
    match = _MARK.match(line.strip())
    return match is not None and _kind(match) == "explanation"


def opens_field(text: str) -> bool:
    """Return whether a line opens an answer, a guess or an explanation; 答案 and 解析 alone open what is below."""
    below = f"{text}\nA"  # 答案 alone counts with what stands under it
    return _MARK.match(below.strip()) is not None or split_fields(below).answered


def stated_answers(segment: str) -> tuple[list[str], str]:
    """The letters a segment begins with, of every part where it has parts, and the explanation after them."""
    match = _P.parts.match(segment)  # （1）A （2）CD
    if match:
        parts, rest = _P.part.findall(match[0]), segment[match.end() :].lstrip(" \t\n")
    else:
        letters, rest = leading_letters(segment)
        parts = [letters] if letters else []
    mark = _P.explained_after.match(rest) if parts else None
    return parts, rest[mark.end() :] if mark else rest


@lru_cache(READ)
def split_fields(text: str) -> Fields:
    """Split an item's text (lines apart) at its marks: 答案：, 【解析】, 试题分析 and their like."""
    marks = _marks(text)
    if marks and _P.platform.search(text, marks[0].start()):
        text = text[: marks[0].start()] + _P.platform.sub("", text[marks[0].start() :])
        marks = _marks(text)
    head = text[: marks[0].start()].rstrip("(（") if marks else text
    answers, texts, explanations = list[str](), list[str](), list[str]()
    verdict = False
    for mark, after in zip_longest(marks, marks[1:]):
        end = after.start() if after else len(text)
        segment = text[mark.end() : end]
        if _answers(mark):  # 答案：C 因为…
            texts.append(join_lines(segment))
            letters, rest = stated_answers(segment)
            if letters:
                answers.extend(letters)
                head, rest = _options_to(head, rest, text.count("\n", 0, end))
            else:
                verdict = verdict or _P.verdict.match(segment) is not None
            explanations.append(rest)
        elif _kind(mark) == "explanation":
            named = mark[0].lstrip(" \t\n【[").startswith("答案")  # 答案解析：B。…
            stop = r"[。．.，,；;\n]|\Z|(?=本[题題])" if named else r"。|\Z"  # 解答：B; not 解析：A．错误
            first = re.match(rf"\s*({LABEL}{{1,11}}|[a-k])\s*(?:{stop})\s*", segment)
            answers.extend([first[1].upper()] if first else [])
            explanations.append(segment[first.end() :] if first else segment)
    explanation = "\n".join(part for part in map(join_lines, explanations) if part)
    breaks = [match.start() for match in re.finditer("\n", text)]
    places = ((mark[0].strip(), bisect_left(breaks, mark.end()), _answers(mark)) for mark in marks)
    opened = tuple(starmap(MarkerPlace, places))
    return Fields(head, tuple(answers), tuple(texts), explanation or None, verdict, opened)


def _options_to(head: str, rest: str, last: int) -> tuple[str, str]:
    """Return a head with the options that open what follows its answer, 答案：B / A. 甲 …, and what is left of that.

    The options keep their line: ``last`` is the line, from 0, on which ``rest`` ends.
    """
    run = None if find_run(head) else find_run(rest)
    if run is None or len(run.options) < 3 or run.start:  # not a list in it
        return head, rest
    return head + "\n" * max(1, last - rest.count("\n") - head.count("\n")) + rest, ""


def _marks(text: str) -> list[re.Match[str]]:
    marks = enumerate(_MARK.finditer(text))
    return [mark for at, mark in marks if at == 0 or _kind(mark) != "conclusion"]


def _kind(mark: re.Match[str]) -> str:
    return (mark.lastgroup or "").partition("_")[0]


def _answers(mark: re.Match[str]) -> bool:
    return _kind(mark) in ("answer", "conclusion")


def leading_letters(segment: str) -> tuple[str | None, str]:
    """The letters a segment begins with, without separators, and what follows them."""
    match = None if is_coded(segment) else _P.letters.match(segment)
    if not match:
        return None, segment
    said = _P.and_word.sub("、", match[1])  # A and C
    apart = re.split(r"[\s、,，;；和及|&.．]+", said.upper() if len(said) > 1 else said)
    if not ascend(apart):  # C B D: the first is the answer, the rest is not its own
        return apart[0].upper(), segment[match.start(1) + len(apart[0]) :].lstrip(" \t、,，;；.．")
    rest = segment[match.end() :].lstrip(" \t。．.，,；;、:：\n")
    return "".join(labels_in(said.upper())), rest


def is_coded(segment: str) -> bool:
    """Return whether an answer names codes of choices, A：③ B：④, and no options."""
    return _P.coded.match(segment) is not None


def letter_line(head: str, *, single: bool) -> tuple[str, str | None]:
    """A head without the letters alone on its last line, and these; one is enough if ``single``, unlike 青霉素 / G."""
    match = _P.letter_line.search(head)
    if not match or not ascend(match[1]) or (len(match[1]) == 1 and not single):
        return head, None
    return head[: match.start()], match[1]


def letters_inside(text: str) -> str:
    """The letters in the only bracket of a text that holds any, as in papers with answers in their stems."""
    named = _P.ends_name if is_latin(text) else _P.never  # Rho(D), PDC-01(B)
    brackets = [mark[1] for mark in _P.inside.finditer(text) if not named.search(text, 0, mark.start())]
    return "".join(labels_in(brackets[0])) if len(brackets) == 1 else ""


def filled_blank(stem: str, labels: Sequence[str], *, anywhere: bool, behind: bool = False) -> tuple[str, str | None]:
    """A stem whose blank is filled in, 首选的是（ B ）: the stem with the blank, and the letters, if there are any.

    ``anywhere``: the paper's blanks stand inside stems too, 以（C）为中心; ``behind``: letters behind, 首选的是 C.
    """
    if _LETTERS.isdisjoint(stem):
        return stem, None
    inside = list((_P.inside if anywhere else _P.padded).finditer(stem))
    at_end = _P.at_end.search(stem, max(0, len(stem) - _NEAR))  # 首选的是（ B ）
    blank = at_end or (inside[0] if len(inside) == 1 else None)
    shown = "（ ）" if blank or not behind else ""
    if (blank := blank or (_P.letters_behind.search(stem) if behind else None)) is None:
        return stem, None
    if len({*map(str.upper, _P.lettered.findall(stem))}) > 1:  # (a)分类(b)焚烧；按顺序是
        return stem, None
    letters = labels_in(next(group for group in blank.groups() if group).upper())
    if not set(letters) <= set(labels) or not ascend(letters):
        return stem, None
    return f"{stem[: blank.start()]}{shown}{stem[blank.end() :]}", "".join(letters)


def by_text(answer_texts: Sequence[str], options: Sequence[tuple[str, str]]) -> str | None:
    """The letter of the option whose text an answer repeats, if there is exactly one."""
    for text in answer_texts:
        answer = unpunctuated(text)
        if are_labels(answer):
            continue
        # 答案：青霉素, 答案：B 青霉素
        texts = [(label, unpunctuated(option)) for label, option in options]
        hits = [label for label, option in texts if option and answer in (option, f"{label}{option}")]
        # 答案：B超 with other text behind it is no letter B
        latin = [(label, unpunctuated(option)) for label, option in options if _P.latin_first.match(option)]
        hits = hits or [label for label, option in latin if answer.startswith(option)]  # B超检查
        if len(hits) == 1:
            return hits[0]
        rest, said = answer, ""
        for label, option in texts:  # Answer: A) Aspirin, C) Warfarin; A) Aspirin and C) Warfarin
            mark = re.match(rf"(?:and|und|et|[yeи])?[(（]?{label}[)）.．:：]?", rest)
            if option and mark and rest.startswith(option, mark.end()):
                rest, said = rest[mark.end() + len(option) :], said + label
        if said and not rest:
            return said
        parts = [unpunctuated(part) for part in re.split("[,，;；、\n]", text)]
        named = [label for part in parts for label, option in texts if part == option]
        if len({*named}) == len(parts) > 1:  # 答案：青霉素，红霉素
            return "".join(sorted(named))
    return None


def without_text(explanation: str | None, key_texts: Sequence[str], options: Sequence[tuple[str, str]]) -> str | None:
    """The explanation without the option's text that an answer repeats; its first letter may be read as a label."""
    known = {unpunctuated(text) for _, text in options}
    answers = tuple(text for text in map(unpunctuated, key_texts) if text in known or text[1:] in known)
    lines = (explanation or "").split("\n")
    return "\n".join(line for line in lines if not any(text.endswith(unpunctuated(line)) for text in answers)) or None


def repeats_answer(explanation: str, answer: str, options: Sequence[tuple[str, str]]) -> bool:
    """Return whether an explanation is the text of the answer again, as in 答案：A 青霉素."""
    texts = [unpunctuated(text) for label, text in options if label in answer]
    return unpunctuated(explanation) in (*texts, "".join(texts))


def concluded_answer(explanation: str | None) -> str | None:
    """The letters an explanation concludes with, as in …，故选C or 故选：C。; None where two differ."""
    if not explanation or not any(word in explanation for word in ("选", "選", "答案")):  # as one of them says it
        return None
    conclusions = (labels_in(match[1]) for match in _P.concludes.finditer(explanation))
    letters = {"".join(sorted(set(conclusion))) for conclusion in conclusions}
    return letters.pop() if len(letters) == 1 else None
