"""Texts that many questions of a source share at their edges, and that are no part of them.

A site prints its words, marks, dates or points before or behind stems, options and explanations: 2分 before each stem,
（2.0） behind it, 难度：易 or 难度：难. Digits count as any digits, what a colon announces as any word; a few texts
may take turns. Texts of questions share edges too, so an edge counts only where most of what is left is whole
without it, or where all options of a question have it, or the last or the right one alone.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from build_dataset.pipeline.patterns import Patterns, is_latin
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import Question

_P = Patterns(__name__)
LONGEST, LONG = 40, 30  # characters of an edge that is looked for; of one that no two Latin stems share
SAMPLE = 600  # questions that are looked at, evenly spread
SHARED, ALL = 0.25, 0.5  # share of the questions whose edges tell of furniture; from which on rests need not be whole
LEAST, EACH, EACH_SHARE = 8, 3, 0.03  # least number of questions for that; of those with each of several texts
GOES_ON, APART = 0.2, 0.75  # share of the rests that may begin as no text does, 项目|的; that must differ
AS_OFTEN = 0.3  # times the share of other texts that are whole: the least share of rests that are
MOSTLY = 0.8  # share of the times of an edge from which on the longer one that has it counts in its place
ELSEWHERE = 0.1  # share of its times up to which an edge of last options, or of right ones, may stand at the others


def repetition(questions: Sequence[Question]) -> dict[str, str]:
    """Return the doubt about what many questions share at a place, digits as 0, words behind a colon as a star."""
    chosen = [question for question in questions if question.options and len(questions) >= LEAST]
    chosen = chosen[:: len(chosen) // SAMPLE + 1]
    told = [[(option.label in (one.answer or ()), _counted(option.text)) for option in one.options] for one in chosen]
    runs = [[text for _, text in run] for run in told]
    most = [run[: max(2, len(run) - 1)] for run in runs if len(run) > 2]  # the last may have lost what is known
    texts: dict[str, Sequence[Any]] = {
        "stems": [_counted(question.stem) for question in chosen],
        "options": [run for run in most if not all(map(is_latin, run)) and len({*run}) == len(run)],
        "last options": [run[-1] for run in runs if len(run) > 1],
        "right options alone": [text for run in told for right, text in run if right],
        "explanations": [_counted(question.explanation) for question in chosen if question.explanation],
    }
    beside = {"last options": most, "right options alone": [[text for right, text in run if not right] for run in told]}
    found = filter(None, (_edge(row, texts, beside.get(row["of"], ()), len(chosen)) for row in _P.rows("places")))
    return {"repeated_text": shared} if (shared := "; ".join(found)) else {}


def _counted(text: str) -> str:
    return _P.counted.sub("0", _P.markup.sub("", text).strip())


def _edges(text: str, at: str) -> Iterator[tuple[str, str]]:
    """Yield every edge of a text with its rest."""
    for size in range(1, min(LONGEST, len(text) - 1) + 1):
        yield (text[-size:], text[:-size]) if at == "ends" else (text[:size], text[size:])


def _edge(row: dict[str, Any], places: Mapping[str, Sequence[Any]], beside: Sequence[Any], of: int) -> str | None:
    at, known, texts = row["at"], re.compile(row["pattern"]), places[row["of"]]
    others = Counter(edge for run in beside for text in run for edge, _ in _edges(text, at))
    if row["of"] == "options":  # what all options of a question have stands before or behind a sign for the rest
        texts = [_common(run, chr(0xE000 + place), at) for place, run in enumerate(texts)]
    elif at == "ends":
        texts = [_P.named.sub("*", text) for text in texts]
    times = Counter(edge for text in texts for edge, _ in _edges(text, at))
    least = max(EACH, EACH_SHARE * len(texts))
    often = {edge for edge, count in times.items() if count >= least and _P.content.search(edge)}
    own = {edge for edge in often if known.search(edge.strip())}
    shorter = [(edge, edge[1:] if at == "ends" else edge[:-1]) for edge in sorted(own, key=len, reverse=True)]
    own |= {short for edge, short in shorter if times[edge] >= MOSTLY * times[short]}  # 本 is a piece of 本题
    rests = group_values(pair for text in texts for pair in _edges(text, at) if pair[0] in often - own)
    apart = [(edge, rest) for edge, rest in rests.items() if len({*rest}) >= APART * len(rest)]
    rare = [(edge, rest) for edge, rest in apart if others[edge] <= ELSEWHERE * len(rest)]
    good = {edge for edge, rest in rare if _fits(row, edge, rest, texts)}
    found = ([edge for edge, _ in _edges(text, at) if edge in good] for text in texts)
    told = Counter(edges[-1] for edges in found if edges)  # the longest
    names = ", ".join(repr(edge) for edge, _ in told.most_common(3))
    return (
        f"{names} at {told.total()} {at} of {row['of']}"
        if told.total() >= max(LEAST, row.get("share", SHARED) * of)
        else None
    )


def _common(run: Sequence[str], rest: str, at: str) -> str:
    turned = [text[::-1] if at == "ends" else text for text in run]
    first, last = min(turned), max(turned)
    size = next((place for place, char in enumerate(first) if last[place : place + 1] != char), len(first))
    shared = first[:size] if size < min(map(len, run)) else ""  # not 图1, 图2
    return rest + shared[::-1] if at == "ends" else shared + rest


def _fits(row: dict[str, Any], edge: str, rests: Sequence[str], texts: Sequence[str]) -> bool:
    """Return whether what is left is whole: 2分|下列, 首选的是|难度：易, not 项目|经理, 最可能的|诊断.

    Where most texts share the edge it need not be whole, but whole as often as other texts are: not 甲|向乙借款 among
    下列 and 关于.
    """
    share, whole = len(rests) / len(texts), re.compile(row.get("whole", ""))
    word = (_P.word_behind, _P.word_before) if row["at"] == "ends" else (_P.word_before, _P.word_behind)
    if any(edge.count(left) != edge.count(right) for left, right in ("()", "（）", "[]", "【】")):
        return False
    if word[1].search(edge) and _share(word[0], rests) > GOES_ON:  # Assertio|n (A)
        return False
    if "whole" not in row or (share >= SHARED / 2 and re.fullmatch(_P.whole(row.get("alone", "(?!)")), edge.strip())):
        return _P.says.search(edge) is not None
    if is_latin(edge + rests[0]) or len(edge) >= LONG:
        asked = row.get("asks", False) and _share(_P.asked, rests) >= ALL
        return share >= ALL and (len(edge) >= LONG or asked)
    if row["at"] == "beginnings" and _share(_P.goes_on, rests) > GOES_ON:
        return False
    told = _share(whole, rests)
    if told >= row["enough"]:
        return True
    if share < ALL or not _P.chinese.match(edge.strip()):
        return False
    others = [text for text in texts if edge not in (text[: len(edge)], text[-len(edge) :])]
    return told >= AS_OFTEN * _share(whole, others or rests)


def _share(form: re.Pattern[str], texts: Sequence[str]) -> float:
    return sum(form.search(text) is not None for text in texts) / len(texts)
