"""What many questions of a source share at the edges of their texts, and what no text of their own would have there.

A site prints its words, marks, dates or points before or behind stems, options and explanations: 2分 before each stem,
（2.0） behind it, 难度：易 or 难度：难, the name of whoever wrote it. Digits count as any digits, what stands behind a
colon as any words, and a few texts may take turns.

Texts of questions share edges too. So an edge of stems and explanations counts only where what is left of most is whole
without it; one of options where all options of a question have it, or the last option alone.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from build_dataset.pipeline.patterns import Patterns, is_latin
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import Question

_P = Patterns(__name__)
LONGEST, LONG = 40, 30  # characters of an edge that is looked for; of one that no two Latin stems share
SAMPLE = 600  # questions that are looked at, evenly spread: what stands at a quarter of all stands at some of these
SHARED, OF_OPTIONS = 0.25, 0.2  # share of the questions whose edges tell of furniture; sound sources have less
SHOWN = 3  # texts of an edge that are named
LEAST, EACH = 8, 3  # least number of questions for that, and of those with each of several texts
EACH_SHARE = 0.03  # the same as a share
WHOLE, OPENS = 0.4, 0.1  # share of the rests that must end as stems end; that must begin as few but stems begin
GOES_ON = 0.2  # share of the rests that may begin as no text does: 项目|的, 项目|中
ALL = 0.5  # share of questions from which on no rest needs to begin as stems do
APART = 0.75  # share of the rests that must differ from each other
MOSTLY = 0.8  # share of the times of an edge from which on the longer one that has it counts in its place
ELSEWHERE = 0.1  # share of its times at which the end of last options may end another option, for each of these
Known = Callable[[str], bool]  # whether an edge is one that such texts may have
Rule = Callable[[str, Sequence[str], float], bool]  # an edge, what is left of the texts that have it, their share


class Edge(NamedTuple):
    """Texts that stand at one place of many questions."""

    place: str
    texts: list[str]  # the commonest first, digits as 0
    times: int


def shared_edges(questions: Sequence[Question]) -> list[Edge]:
    """Return what many questions share at an edge of their texts, and what is no part of these."""
    chosen = [question for question in questions if question.options and len(questions) >= LEAST]
    chosen = chosen[:: len(chosen) // SAMPLE + 1]
    texts = [[_counted(option.text) for option in question.options] for question in chosen]
    last = [_P.named.sub("*", run[-1]) for run in texts if len(run) > 1]
    stems = [_counted(question.stem) for question in chosen]
    told = [_counted(question.explanation) for question in chosen if question.explanation]
    ends, tells = ([_P.named.sub("*", text) for text in values] for values in (stems, told))
    heads, tails = _common(texts, heads=True), _common(texts, heads=False)
    places: list[tuple[str, Sequence[str], Known, Rule, float]] = [
        ("beginnings of stems", stems, _opens_stem, _before_stem, SHARED),
        ("ends of stems", ends, _ends_stem, _behind_stem, SHARED),
        ("beginnings of options", heads, _says_nothing, lambda *_: True, OF_OPTIONS),
        ("ends of options", tails, _says_nothing, lambda *_: True, OF_OPTIONS),
        ("ends of last options", last, _says_nothing, _of_last(texts), OF_OPTIONS),
        ("beginnings of explanations", told, _explains, _before_explanation, SHARED),
        ("ends of explanations", tells, _explains, _behind_explanation, SHARED),
    ]
    found = (_edge(place, values, known, rule, share) for place, values, known, rule, share in places)
    return [edge for edge in found if edge]


def _counted(text: str) -> str:
    return _P.counted.sub("0", _P.markup.sub("", text).strip())


def _common(texts: Sequence[Sequence[str]], *, heads: bool) -> list[str]:
    """Return what all options of a question begin or end with, behind a sign that stands for the rest."""
    foreign = [run for run in texts if len(run) > 2 and not all(map(is_latin, run))]  # words of Latin ones repeat
    most = (run[: max(2, len(run) - 1)] for run in foreign)  # the last may have lost what is known
    ends = [(run, _prefix([text if heads else text[::-1] for text in run])) for run in most]
    shared = [edge for run, edge in ends if len({*run}) == len(run) and len(edge) < min(map(len, run))]  # not 图1, 图2
    rests = (chr(0xE000 + at) for at in range(len(shared)))
    return [edge + rest if heads else rest + edge[::-1] for edge, rest in zip(shared, rests, strict=True)]


def _prefix(texts: Sequence[str]) -> str:
    first, last = min(texts), max(texts)
    return first[: next((at for at, char in enumerate(first) if last[at : at + 1] != char), len(first))]


def _edges(text: str, *, heads: bool) -> Iterator[tuple[str, str]]:
    """Yield every edge of a text with its rest."""
    for size in range(1, min(LONGEST, len(text) - 1) + 1):
        yield (text[:size], text[size:]) if heads else (text[-size:], text[:-size])


def _edge(place: str, texts: Sequence[str], known: Known, rule: Rule, share: float) -> Edge | None:
    heads = place.startswith("beginnings")
    times = Counter(edge for text in texts for edge, _ in _edges(text, heads=heads))
    least = max(EACH, EACH_SHARE * len(texts))
    often = {edge for edge, count in times.items() if count >= least and _P.content.search(edge)}
    own = {edge for edge in often if known(edge.strip())}
    longer = ((edge, edge[:-1] if heads else edge[1:]) for edge in sorted(own, key=len, reverse=True))
    own |= {shorter for edge, shorter in longer if times[edge] >= MOSTLY * times[shorter]}  # 本 is a piece of 本题
    rests = group_values(pair for text in texts for pair in _edges(text, heads=heads) if pair[0] in often - own)
    apart = {edge: rest for edge, rest in rests.items() if len({*rest}) >= APART * len(rest) and _balanced(edge)}
    whole = {edge: rest for edge, rest in apart.items() if not _within_word(edge, rest, heads=heads)}
    good = {edge for edge, rest in whole.items() if rule(edge.strip(), rest, len(rest) / len(texts))}
    found = ([edge for edge, _ in _edges(text, heads=heads) if edge in good] for text in texts)
    told = Counter(edges[-1] for edges in found if edges)  # the longest
    if (covered := sum(told.values())) < max(LEAST, share * len(texts)):
        return None
    return Edge(place, [edge for edge, _ in told.most_common(SHOWN)], covered)


def _balanced(edge: str) -> bool:
    return all(edge.count(left) == edge.count(right) for left, right in ("()", "（）", "[]", "【】"))


def _within_word(edge: str, rests: Sequence[str], *, heads: bool) -> bool:
    """Return whether an edge is a piece of words of letters: Assertio|n (A)."""
    if heads:
        return _P.word_behind.search(edge) is not None and _share(_P.word_before, rests) > GOES_ON
    return _P.word_before.search(edge) is not None and _share(_P.word_behind, rests) > GOES_ON


def _share(form: re.Pattern[str], texts: Sequence[str]) -> float:
    return sum(form.search(text) is not None for text in texts) / len(texts)


def _opens_stem(edge: str) -> bool:
    return bool(_P.opens_stem.match(edge) or _P.conditions.search(edge))


def _before_stem(edge: str, rests: Sequence[str], share: float) -> bool:
    """Return whether stems begin behind an edge: 2分|下列, 【掌握】|首选, not 项目|经理."""
    if _P.bracketed.fullmatch(edge) or (share >= ALL and _P.heading.fullmatch(edge)):
        return True
    if is_latin(edge + rests[0]):
        return share >= ALL and len(edge) >= LONG
    opens, goes_on = _share(_P.opens_only, rests), _share(_P.goes_on, rests)
    return goes_on <= GOES_ON and (opens >= OPENS or share >= ALL)


def _ends_stem(edge: str) -> bool:
    return bool(_P.asks.search(edge) or _P.conditions.search(edge))


def _behind_stem(edge: str, rests: Sequence[str], share: float) -> bool:
    """Return whether an edge stands behind whole stems: 首选的是|难度：易, not 最可能的|诊断."""
    alone = _P.bracketed.fullmatch(edge) or (share >= ALL and _P.chinese.match(edge))
    return (alone is not None and share >= SHARED) or _share(_P.ends_stem, rests) >= WHOLE


def _says_nothing(edge: str) -> bool:
    return len(edge) == 1 and _P.says.search(edge) is None


def _of_last(texts: Sequence[Sequence[str]]) -> Rule:
    """Return the rule for ends of last options that the other options lack; a unit ends these too."""
    others = Counter(edge for run in texts for text in run[:-1] for edge, _ in _edges(text, heads=False))
    each = max(1, sum(len(run) - 1 for run in texts) / max(1, len(texts)))

    def of_last(edge: str, rests: Sequence[str], _: float) -> bool:
        return others[edge] <= ELSEWHERE * len(rests) * each and _P.says.search(edge) is not None

    return of_last


def _explains(edge: str) -> bool:
    return _P.explains.search(edge) is not None


def _before_explanation(edge: str, rests: Sequence[str], share: float) -> bool:
    opens = (share >= ALL and _P.chinese.match(edge)) or _share(_P.opens_explanation, rests) >= OPENS
    return bool(opens) and not is_latin(edge + rests[0]) and _share(_P.goes_on, rests) <= GOES_ON


def _behind_explanation(edge: str, rests: Sequence[str], _: float) -> bool:  # noqa: ARG001 -- as other rules
    return _share(_P.ends_sentence, rests) >= WHOLE
