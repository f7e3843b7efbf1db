"""Recognised words, decoded with what Chinese text is like: unsure ideographs, and how sure each character is then.

A recogniser keeps the likely characters of its unsure places. Which of them stands there is what fits both neighbours
and looks alike: 糞便 for 冀便. Digits, letters and marks stay as they were read. The confidence of a word is the
probability that all of its letters and digits are right, as measured (``benchmarks/ocr``).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from math import exp, log, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.characters import is_traditional, script_of, simple_forms
from build_dataset.pipeline.ocr.interfaces import Doubt, Word
from build_dataset.pipeline.ocr.language.counts import Codes, Language, codes_of
from build_dataset.pipeline.ocr.model import Unsure
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.documents import CharacterChange

Values = NDArray[np.float32]
_SURE = 0.9985  # Probability of a character of which nothing is noted: the mean of these
_TOUCHING = 2  # Characters from an unsure place to the next from which both are decided together
_MOST, _TOGETHER = 5, 3
"""Characters looked at in one place, and places that are decided together: 125 readings."""
_STRANGE = 10.0  # Mean surprise, in nats, at a character and the two behind it from which it is strange there
_OF_SIGHT, _OF_LANGUAGE = 1.5, 0.5  # Weights of the logarithms of what the recogniser and the language say
_MARGIN, _LEAST_SIGHT = 5.0, -2.5
"""Natural logarithm of the odds from which a character is changed, by both and by the recogniser alone. Never where a
line breaks off: 減刑 of 湮滅刑事證據."""
_LEARNED = 0.99  # Probability of a character, in any form, from which a text is learned
_SURE_PART = 3  # Characters of a part from which it says what stands beside what
_AROUND = 6  # Characters beside a changed one that are told
_UNSURE, _REST = 8, 0.99
"""Unsure characters of a word that are told at most, and how sure the rest together is once all are."""
_LEAST_OTHER = 0.005  # Probability of another character from which it is told
_LEAST_SECOND = 0.01
FEATURES = 8
_LEAST_SHARE = 0.002  # Probability of a character from which it is looked at
_FLOOR, _LETTER_SHARE = 1e-5, 0.05  # The latter: of a mark, from which it may be a letter or digit
_INDENT, _LEADING, _FULL = 3.0, 1.2, 1.5
"""In heights of a line: how far left or right the next one begins, how far below, and how far from the edge of its
column it ends at most if it goes on."""
_LATIN_L, _AS_L, _LEAST_L = re.compile("(?<![0-9A-Za-z.])[1lI](?!atm|inch)(?=[aeiouy][a-z]{2})"), "l1I|", 0.1
"""An l before a vowel and more small letters, which reads as a 1 (1oop) and may be one from this probability on."""
_SHAPES, _SHAPE_SHARE = (frozenset("1Il|Ⅰ∥ⅡⅢ"), frozenset("aα"), frozenset("yγ")), 0.008
"""Letters and digits of one shape that text cannot tell apart, and the probability of another from which it counts."""
_CONFIDENCE = shipped_toml("build_dataset.pipeline.ocr.language", "confidence.toml")
_WEIGHTS: NDArray[np.float64] = np.array([_CONFIDENCE["other"], _CONFIDENCE["ideograph"]])


def is_ideograph(char: str) -> bool:
    """Return whether a character is Chinese: no mark, letter or digit."""
    return "\u3400" <= char <= "\u9fff" or "\U00020000" <= char <= "\U0003ffff"


@dataclass(slots=True)
class WordDraft:
    """A word while it is decoded."""

    text: str
    beside: tuple[str, str]  # The ends of the lines that it goes on from and goes on in; "" for none
    doubts: Mapping[int, Doubt]
    sight: dict[int, float]  # Natural logarithm of the odds of the character of an unsure place, by the recogniser
    odds: dict[int, float]  # The same with the language
    changes: dict[int, tuple[str, float, float]]  # What was seen in a changed place; the gains by sight, by language


class Decoded(NamedTuple):
    """The words of a page as they are written, and the characters that were changed."""

    words: list[Word]
    changes: list[CharacterChange]


class _Choice(NamedTuple):
    """An unsure place: the characters that may stand there, as read first."""

    at: int
    chars: list[str]
    sight: list[float]  # Natural logarithm of each one's probability


class _Weighed(NamedTuple):
    """The characters found for the places of a group."""

    chosen: tuple[int, ...]  # Of each place, the index of its character
    shares: list[list[float]]  # Of each place, the probability of each character
    language: list[float]  # Of each place, what the language says for the chosen character against the first


def sure_parts(row: Sequence[Any]) -> Iterator[str]:
    """Yield the parts of a stored word between the places that are doubtful; none where no doubts are told."""
    doubts = [Doubt(*doubt) for doubt in row[10]] if len(row) > 10 else []
    unsure = (doubt.at for doubt in doubts if _share(row[0], doubt) < _LEARNED)
    ends = [-1, *unsure, len(row[0])] if len(row) > 10 else []
    yield from (row[0][start + 1 : end] for start, end in pairwise(ends) if end - start > _SURE_PART)


def decode(words: Sequence[Word], language: Language) -> Decoded:
    """Return the words of a page as they are written, as sure as it is probable that all of a word is right."""
    drafts = drafts_of(words, language)
    right = np.concatenate([*map(probabilities, features(drafts, language)), np.ones(0)])
    found, start = [], 0
    for word, draft in zip(words, drafts, strict=True):
        end = start + sum(map(str.isalnum, draft.text))
        marks = _marks(draft)
        sure = float(np.prod(right[start:end])) * prod(marks.values())
        unsure = tuple(_unsure(draft, right[start:end].tolist(), marks))
        found.append(replace(word, text=draft.text, confidence=sure, unsure=unsure))
        start = end
    return Decoded(found, [change for draft in drafts for change in _changes(draft)])


def drafts_of(words: Sequence[Word], language: Language) -> list[WordDraft]:
    """Return the words of a page with their unsure characters decided."""
    script = "big5" if is_traditional(word.text for word in words) else "gb2312"
    return [_draft(word, beside, language, script) for word, beside in zip(words, _beside(words), strict=True)]


def _beside(words: Sequence[Word]) -> Iterable[tuple[str, str]]:
    """Return the ends of the lines that each word goes on from and goes on in: 湮 / 滅刑事證據.

    A line goes on where it is full, an ideograph ends it, and one begins the line below.
    """
    before, after = [""] * len(words), [""] * len(words)
    begins = [at for at, word in enumerate(words) if word.corners and is_ideograph(word.text[0])]
    for at, word in enumerate(words):
        if not word.corners or not is_ideograph(word.text[-1]):
            continue
        (_, top), (right, _), _, (left, bottom) = word.corners
        high = bottom - top
        corners = [(other, words[other].corners[0]) for other in begins]
        near = ((other, x, y - bottom) for other, (x, y) in corners)
        below = [other for other, x, y in near if abs(x - left) < _INDENT * high and abs(y) < _LEADING * high]
        edge = max(box[2] for box in (one.box for one in words if one.corners) if box[0] < right and left < box[2])
        if len(below) == 1 and right > edge - _FULL * high:
            after[at], before[below[0]] = words[below[0]].text[:2], word.text[-2:]
    return zip(before, after, strict=True)


def _changes(draft: WordDraft) -> Iterator[CharacterChange]:
    for at, (seen, sight, gain) in draft.changes.items():
        around = draft.text[max(0, at - _AROUND) : at + _AROUND + 1]
        gains = {"sight": round(sight, 2), "language": round(gain, 2)}
        yield CharacterChange(line=around, seen=seen, written=draft.text[at], **gains)


def _codes(text: str, beside: tuple[str, str]) -> Codes:
    """Return the codes of a word between two of what stands on each side of it, 0 for none."""
    before, after = beside
    return np.pad(codes_of(before + text + after), (2 - len(before), 2 - len(after)))


def _draft(word: Word, beside: tuple[str, str], language: Language, script: str) -> WordDraft:
    doubts = {doubt.at: doubt for doubt in word.doubts or ()}
    codes, chars = _codes(word.text, beside), list(word.text)
    draft = WordDraft(word.text, beside, doubts, {}, {}, {})
    for group in _groups(_choices(word.text, doubts, script)):
        found = _weigh(group, codes, language)
        for choice, best, shares, gain in zip(group, found.chosen, found.shares, found.language, strict=True):
            sight = choice.sight[best] - choice.sight[0]
            likely = _stands_in_text(chars, choice.at, beside) and sight >= _LEAST_SIGHT
            at = best if likely and log(shares[best] / shares[0]) >= _MARGIN else 0
            draft.odds[choice.at] = _odds(shares[at])
            draft.sight[choice.at] = _odds(exp(choice.sight[at]))
            if at:
                chars[choice.at] = choice.chars[at]
                draft.changes[choice.at] = choice.chars[0], sight, gain
        codes = _codes("".join(chars), beside)
    for at, doubt in doubts.items():
        l_share = dict(doubt.others).get("l", 0.0) if _LATIN_L.match(word.text, at) else 0.0
        if l_share >= _LEAST_L and chars[at] != "l":
            draft.changes[at] = chars[at], log(l_share / doubt.sure), 0.0
            chars[at] = "l"
    draft.text = "".join(chars)
    return draft


def _stands_in_text(chars: Sequence[str], at: int, beside: tuple[str, str]) -> bool:
    """Return whether both neighbours are known, one of them an ideograph: not in D.僅④."""
    around = [*beside[0][-1:], *chars, *beside[1][:1]]
    at += len(beside[0][-1:])
    return 0 < at < len(around) - 1 and any(map(is_ideograph, (around[at - 1], around[at + 1])))


def _choices(text: str, doubts: Mapping[int, Doubt], script: str) -> Iterator[_Choice]:
    """Yield the places with ideographs that are unsure, with the characters of the page's script that may stand there.

    A form of the other script is no character of its own: 结 adds to 結 on a traditional page. Two of one script that
    have one simplified form, 復 and 複, are two.
    """
    for at, doubt in doubts.items():
        if not is_ideograph(text[at]):
            continue
        kinds: dict[str, float] = {}
        for char, value in ((text[at], doubt.sure), *doubt.others):
            if is_ideograph(char) and value >= _LEAST_SHARE:
                same = [one for one in kinds if _is_form(one, char, script)]
                if not same:
                    kinds[char] = value
                elif not _fits(same[0], script) and _fits(char, script):
                    kinds = {char if one == same[0] else one: share for one, share in kinds.items()}
                    kinds[char] += value
                else:
                    kinds[same[0]] += value
        first, *others = kinds
        some = [first, *(one for one in others if _fits(one, script))][:_MOST]
        yield _Choice(at, some, [log(max(kinds[one], _FLOOR)) for one in some])


def _fits(char: str, script: str) -> bool:
    return script_of(char) in (None, script)


def _is_form(one: str, other: str, script: str) -> bool:
    """Return whether two characters are forms of one, of which the script has one at most."""
    both = all(char.encode(script, "ignore") for char in (one, other))
    return not both and simple_forms().get(one, one) == simple_forms().get(other, other)


def _groups(choices: Iterable[_Choice]) -> Iterator[list[_Choice]]:
    """Yield the places that are decided together."""
    group: list[_Choice] = []
    for choice in choices:
        if group and (choice.at - group[-1].at > _TOUCHING or len(group) == _TOGETHER):
            yield group
            group = []
        group.append(choice)
    if group:
        yield group


def _weigh(group: Sequence[_Choice], codes: Codes, language: Language) -> _Weighed:
    """Weigh every reading of a group of places between its neighbours."""
    readings = list(product(*(range(len(choice.chars)) for choice in group)))
    first, last = group[0].at - 2, group[-1].at + 3
    padded = codes[first + 2 : last + 2]  # 0 where the text ends
    rows = np.repeat(padded[None], len(readings), axis=0)
    sight = np.zeros(len(readings), np.float32)
    picks = np.array(readings)
    for place, choice in enumerate(group):
        rows[:, choice.at - first] = codes_of("".join(choice.chars))[picks[:, place]]
        sight += np.array(choice.sight, np.float32)[picks[:, place]]
    told = (language.logs(rows[:, :-2], rows[:, 1:-1], rows[:, 2:]) * (rows[:, 2:] > 0)).sum(axis=1)
    total = _OF_SIGHT * sight + _OF_LANGUAGE * told
    best = readings[int(total.argmax())]
    share = np.exp(total - total.max())
    share /= share.sum()
    shares = []
    gains = []
    for place, choice in enumerate(group):
        shares.append(np.bincount(picks[:, place], share, len(choice.chars)).clip(_FLOOR).tolist())
        other = (*best[:place], 0, *best[place + 1 :])
        gains.append(float(told[readings.index(best)] - told[readings.index(other)]))
    return _Weighed(best, shares, gains)


def features(drafts: Sequence[WordDraft], language: Language) -> list[Values]:
    """Return what tells whether the letters and digits of each word are right, a row for each.

    The first column says whether it is an ideograph. Then, all the higher the surer: a constant, the odds by sight, the
    odds with the language, how well it fits its neighbours up to where it is strange and beyond, the second reading,
    and that no character was overlooked behind it.
    """
    codes = np.concatenate([_codes(draft.text, draft.beside) for draft in drafts] or [np.zeros(4, np.int64)])
    fit = language.logs(codes[:-2], codes[1:-1], codes[2:])  # Of the third, so two places behind
    fit[codes[2:] == 0] = np.nan  # Behind the text
    found: list[Values] = []
    start = 0
    for draft in drafts:
        places = [at for at, char in enumerate(draft.text) if char.isalnum()]
        rows = [_row(draft, at, fit[start + at : start + at + 3]) for at in places]
        found.append(np.array(rows, np.float32).reshape(-1, FEATURES))
        start += len(draft.text) + 4
    return found


def _row(draft: WordDraft, at: int, fit: Values) -> list[float]:
    doubt = draft.doubts.get(at) or Doubt(at, _SURE)
    sight = 0.0 if _may_be_another(draft.text, doubt) else draft.sight.get(at, _odds(_share(draft.text, doubt)))
    chinese = is_ideograph(draft.text[at])
    near = float(np.nanmean(fit)) + _STRANGE if chinese else 0.0
    second = log(max(doubt.seconded, _LEAST_SECOND))
    return [chinese, 1.0, sight, draft.odds.get(at, sight), max(near, 0.0), min(near, 0.0), second, -doubt.gap]


def _may_be_another(text: str, doubt: Doubt) -> bool:
    """Return whether a letter may be another of its shape: I型, read as 1型 with .95, a受体 for α; not the 1 of 15."""
    at = doubt.at
    beside = text[max(0, at - 1) : at] + text[at + 1 : at + 2]
    shape = next((shape for shape in _SHAPES if text[at] in shape), frozenset())
    digit = any(char.isdigit() or char in ".．" for char in beside) and text[at] in _SHAPES[0]
    if digit or _LATIN_L.match(text, at):
        return False
    return any(other in shape and share >= _SHAPE_SHARE for other, share in doubt.others)


def _marks(draft: WordDraft) -> dict[int, float]:
    """Return the probability that marks and spaces are no letters or digits, by place: B{ for B₁, " V" for IV."""
    marks = ((at, doubt.others) for at, doubt in draft.doubts.items() if not draft.text[at].isalnum())
    lost = ((at, sum(share for char, share in others if _is_letter(char))) for at, others in marks)
    return {at: max(0.0, 1 - share) for at, share in lost if share >= _LETTER_SHARE}


def _is_letter(char: str) -> bool:
    return char.isalnum() and not is_ideograph(char)


def _unsure(draft: WordDraft, right: Sequence[float], marks: Mapping[int, float]) -> Iterator[Unsure]:
    """Yield the characters that the language decided, and the least sure ones until those left are sure together."""
    text = draft.text
    places = (at for at, char in enumerate(text) if char.isalnum())
    sure = {**dict(zip(places, right, strict=True)), **marks}
    left, chosen = prod(sure.values()), set(draft.changes)
    for at in sorted(sure, key=lambda at: (sure[at], at))[:_UNSURE]:
        if left >= _REST:
            break
        chosen.add(at)
        left = prod(value for place, value in sure.items() if place not in chosen)
    for at in sorted(chosen):
        before, after = text[max(0, at - _AROUND) : at], text[at + 1 : at + _AROUND + 1]
        yield Unsure(before, text[at], after, _other(draft, at), round(sure.get(at, 1.0), 3), at)


def _other(draft: WordDraft, at: int) -> str | None:
    """Return what else may stand in a place: what was seen where the language changed it, else what is next likely."""
    if at in draft.changes:
        return draft.changes[at][0]
    others = draft.doubts[at].others if at in draft.doubts else ()
    own = _plain(draft.text[at])
    return next(
        (char for char, share in others if share >= _LEAST_OTHER and not char.isspace() and _plain(char) != own), None
    )


def _share(text: str, doubt: Doubt) -> float:
    """Return the probability of a character in any form: 结 counts for 結, ³ for 3, and 1 for the l of loop."""
    own = _plain(text[doubt.at])
    same = _AS_L if _LATIN_L.match(text, doubt.at) else ""
    return doubt.sure + sum(share for char, share in doubt.others if char in same or _plain(char) == own)


@cache
def _plain(char: str) -> str:
    """Return the form that a character is folded to: simplified, of half width, on the line."""
    plain = unicodedata.normalize("NFKC", char)
    return simple_forms().get(plain, plain)


def _odds(share: float) -> float:
    """Return the natural logarithm of the odds, at most those of a sure character."""
    share = min(max(share, _FLOOR), _SURE)
    return log(share / (1 - share))


def probabilities(rows: Values, weights: NDArray[np.float64] = _WEIGHTS) -> NDArray[np.float64]:
    """Return the probability that each character is right, by its features; ``weights``: of others, of ideographs."""
    told = (rows[:, 1:] * weights[rows[:, 0].astype(np.intp)]).sum(axis=1)
    return np.asarray(1 / (1 + np.exp(-told)))
