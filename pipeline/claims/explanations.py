"""The answer that an explanation argues for, whatever the key says: the reader of the audit and of the gates of parse.

Measured on CMExam's half with 2,795 explanations (``benchmarks/audit``, ``--reader``): it speaks against 8 of the
printed keys, most of them errors of the source, and against 2,423 of replaced keys; its ``SURE`` rules against
5 and 2,379.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from build_dataset.pipeline.claims.folding import fold
from build_dataset.pipeline.claims.grammar import Text
from build_dataset.pipeline.claims.mentions import may_name
from build_dataset.pipeline.dedup.keys import meaning
from build_dataset.pipeline.patterns import Patterns, is_latin

Letters = frozenset[str]
_P = Patterns(__name__)
GLANCES = _PATH, _LISTED = _P.glance("path"), _P.glance("listed")  # for explanations
SURE = ("all judged", "marked", "stated")
"""Rules of which 99 % argue for the right answer; ``slipped`` marks stand behind another option's text."""
_ENDS = 60
"""Characters of a stem's end that say whether it asks for what is wrong: a case before them may hold 不 anywhere."""
_SHOWN = 60  # characters of an explanation that are shown as evidence


class Stated(NamedTuple):
    """The answer of an explanation."""

    answer: Letters | None
    """The letters that it argues for; None where it calls several options right of which one is asked for."""
    rule: str  # the way in which it was read: one of ``SURE``, ``slipped`` or ``several``
    detail: str  # the words


def read_explanation(
    explanation: str | None, stem: str, options: Mapping[str, str], *, several: bool, key: Sequence[str] = ()
) -> Stated | None:
    """Read the answer that an explanation argues for, or None; where the wrong one is asked for, verdicts turn.

    Beside a ``key`` of one letter nothing is read of a text that names no other option, or whose last line states it.
    """
    if not explanation or not options:
        return None
    if "が" in explanation and not asks_for_wrong(stem):
        explanation = _P.kana.sub(lambda said: f"正解は{chr(ord('A') + 'アイウエオカ'.index(said[1]))}", explanation)
    text = fold(_P.path.sub(" ", explanation) if _PATH.search(explanation) else explanation)
    lines = _P.listed.findall(text) if not several and _LISTED.search(text) else ()
    if len(lines) > 1 or (lines and _P.list_of_wrong.search(text)):
        text = _P.listed.sub("", text)  # lines about options, of which none states the answer
    bodies = {label: fold(body) for label, body in options.items()}
    marks = _marks(text, bodies)
    stated = _decided(marks, options, stem, several=several)
    agrees = len(key) != 1 or (stated and stated.answer == frozenset(key))
    if not agrees and not all(may_name(whole, bodies, key[0]) for whole in dict.fromkeys((text, fold(explanation)))):
        return None
    tail = _P.last_line.search(text, max(0, text.rfind("\n", 0, len(text.rstrip())) - 2)) if len(key) == 1 else None
    if stated is not None or (tail and Text(tail[1], bodies, several).answer == tuple(key)):
        return stated
    read = Text(text, bodies, several)
    if len(key) == 1 and len(options) > 2 and all({*mention.labels} == {*key} for mention in read.mentions):
        return None  # beside more options than two no claim about the key alone argues for another
    if read.answer:
        last = [claim for claim in read.claims if claim.kind in ("stated", "called")][-1]
        return Stated(frozenset(read.answer), "stated", text[last.start : last.end][:_SHOWN].strip())
    if marks.right or marks.wrong:
        return None
    right, bad, start, end = read.judged
    if len(right) == 1 and not bad and asks_for_wrong(stem):
        return None  # B正确 where the wrong one is asked for: the answer, or a sound statement
    verdicts = _Marks(frozenset(right), frozenset(bad), detail=text[start:end][:_SHOWN].strip())
    return _decided(verdicts, options, stem, several=several)


def contradiction(explanation: str | None, stem: str, options: Mapping[str, str], answer: Sequence[str]) -> str | None:
    """Tell how an explanation speaks against an answer; None where it does not, or not surely."""
    stated = read_explanation(explanation, stem, options, several=len(answer) > 1, key=answer) if answer else None
    if stated is None or stated.rule not in SURE or stated.answer == frozenset(answer):
        return None
    return f"answer {''.join(answer)}, but the explanation says {stated.detail!r}"


class _Marks(NamedTuple):
    """Verdicts on options."""

    right: Letters
    wrong: Letters
    key: Letters = frozenset()  # options that the explanation calls the answer
    quoted: bool = True  # a mark stands behind the text of its option
    slipped: bool = False  # a mark stands behind the text of another option: 大豆素（A对） where 大豆素 is D
    detail: str = ""


_VERDICTS = frozenset("对错正√×答")  # a sign of each mark


def _marks(text: str, options: Mapping[str, str]) -> _Marks:
    """The verdicts in brackets."""
    brackets = [bracket for bracket in _P.bracket.finditer(text) if not _VERDICTS.isdisjoint(bracket[0])]
    if not brackets:
        return _Marks(frozenset(), frozenset(), quoted=False)
    texts = [("".join(body.split()), label) for label, body in options.items()]
    longest = sorted(texts, key=lambda it: (len(it[0]), it[1]), reverse=True)
    right, wrong, key = set[str](), set[str](), set[str]()
    verdicts: list[str] = []
    quoted = slipped = False
    for bracket in brackets:
        last: set[str] = set()
        for mark in _P.mark.finditer(bracket[0]):
            last = {*mark["labels"]} & options.keys()  # （D对ABCE错）
            (wrong if mark["verdict"] in ("错", "错误", "×") else right).update(last)
            verdicts.append(mark[0])
            if len(last) == 1:  # behind the text of an option, the longest: 大豆素（A对）; one character ends any word
                before = "".join(text[max(0, bracket.start() - 80) : bracket.start()].split())  # of 80 characters
                named = next((of for it, of in longest if len(it) > 1 and before.endswith(it)), None)
                quoted, slipped = quoted or {named} == last, slipped or {named} not in (last, {None})
        if "答" in bracket[0] and (called := _P.is_key.search(bracket[0])):
            key |= set(called["letters"] or last) & set(options)
    return _Marks(frozenset(right), frozenset(wrong), frozenset(key), quoted, slipped, " ".join(verdicts)[:_SHOWN])


def _decided(marks: _Marks, options: Mapping[str, str], stem: str, *, several: bool) -> Stated | None:
    """Return the answer that follows from the verdicts on options."""
    # an option that is called both says nothing
    right, bad = marks.right - marks.wrong, marks.wrong - marks.right
    complete = right | bad == set(options)
    rule = "slipped" if marks.slipped else "all judged" if marks.quoted and complete else "marked"
    rest = set(options) - right - bad
    chosen: Letters | None = None
    if marks.key and (several or len(marks.key) == 1):
        chosen = marks.key
    elif several:
        chosen = (bad if asks_for_wrong(stem) else right) if complete and right and bad else None
    elif len(rest) == 1 and not (right and bad) and (_P.all.search(options[min(rest)]) or asks_for_wrong(stem)):
        chosen = frozenset(rest)  # A对 B对 C对 D对, and E says 以上都是, or the wrong one is asked for
    elif len(right) == 1 and not (len(bad) == 1 and asks_for_wrong(stem)):
        chosen = right  # the only one that is called right
    elif len(bad) == 1 and (len(right) > 1 or asks_for_wrong(stem)):
        chosen = bad  # the odd one out
    elif not right and len(bad) == len(options) - 1:
        chosen = frozenset(options) - bad
    elif len(right) > 1 and not asks_for_wrong(stem):
        return Stated(None, "several", marks.detail)
    return Stated(chosen, rule, marks.detail) if chosen else None


@lru_cache(1)
def asks_for_wrong(stem: str) -> bool:
    """Return whether a stem asks for what is wrong: 错误的是, 除…外, EXCEPT."""
    folded = fold(stem)
    # 除休息外，还应选用 asks for what is right
    asked = _P.inclusive.sub("", "".join(folded.split())[-_ENDS:])
    # two negations, 不正确 and 除外, cancel out
    form = _P.asks_for_wrong_latin if is_latin(folded) else _P.asks_for_wrong
    return meaning(asked).asks_for_wrong % 2 == 1 or form.search(folded) is not None


def asks_for_several(stem: str) -> bool | None:
    """Return whether a stem says that it has several answers: (多选题), Select all, 2つ選べ; None if it is silent."""
    folded = fold(stem)
    return True if _P.several.search(folded) else False if _P.one.search(folded) else None
