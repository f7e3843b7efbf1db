"""Recognised words, decoded with what Chinese text is like: unsure ideographs, and how sure each character is then.

A recogniser keeps the likely characters of its unsure places. Which of them stands there is what fits both neighbours
and looks alike: 糞便 for 冀便. Digits, letters and marks stay as they were read. The confidence of a word is the
probability that all of its letters and digits are right, as measured (``benchmarks/ocr``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise, product
from math import exp, log, prod
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.characters import in_taiwan, is_traditional, script_of
from build_dataset.pipeline.ocr.glyphs import is_common
from build_dataset.pipeline.ocr.interfaces import Doubt, Word
from build_dataset.pipeline.ocr.language import counts, letters
from build_dataset.pipeline.ocr.language.context import Network
from build_dataset.pipeline.ocr.language.counts import BREAK, CIRCLED, Codes, Language, Values, codes_of, padded
from build_dataset.pipeline.ocr.language.letters import is_ideograph, odds_of_letter, plain
from build_dataset.pipeline.ocr.model import Unsure
from build_dataset.schemas.data import shipped_toml

_TOUCHING = 2  # Characters from an unsure place to the next from which both are decided together
_MOST, _MARKS, _TOGETHER = 6, 2, 3
"""Ideographs and others looked at in one place, and places that are decided together: 512 readings."""
_OF_SIGHT, _OF_LANGUAGE, _OF_CONTEXT, _OF_USE = 1.07, 0.3, 0.27, 0.6
"""Weights of the logarithms of what the recogniser says, what three characters in turn and what sixteen on either side
say and, taken off, how often a character is used at all, since the recogniser has learned that too. Fitted to 2,700
places whose truth is known; of 2,260 others all but 3 are right."""
_LIKELY, _UNLIKELY = -6.0, -9.0
"""Natural logarithm of a character's probability among what stands around it, from which this speaks for it, and below
which against it: the 峭 of 气管隆峭 (for 嵴) has -16, though no likely other fits better."""
_NEXT_LINE = 2.5  # Greatest distance of the next line of a column, in heights of a line
_SEEN = -0.005  # Natural logarithm of the probability by sight from which what stands around is not asked
_UNLEARNED = -12.0  # What the network would say of a character that it does not know, at most the least of the others
_RARE = -13.0  # Natural logarithm of the use below which the recogniser knows all characters alike: 夔, 麹
_BELIEVED, _DASH = 3.0, -2.3
"""Ratio of the logarithms of how probable a strange character and its look-alike are, from which both are improbable:
丙 and 內 before 購買 (3 of 118 read right are less, 51 of 76 misread). Logarithm of a dash's probability by sight."""
_MARGIN, _LEAST_SIGHT, _WRITTEN = 2.5, -4.5, 0.9
"""Log odds from which a character is changed, by both and by sight, never at a line end; and how sure it is then."""
_LEARNED = 0.99  # Probability of a character, in any form, from which a text is learned
_SURE_PART = 3  # Characters of a part from which it says what stands beside what
_UNKNOWN = 0.5  # The most that a character is sure of where a look-alike fits far better, or beside unclaimed ink
FEATURES = 9
Box: TypeAlias = tuple[float, float, float, float]  # Left, top, right, bottom
_LEAST_SHARE = 0.0005  # Probability of a character from which it is looked at
_CONFIDENCE = shipped_toml("build_dataset.pipeline.ocr.language", "confidence.toml")
_WEIGHTS: NDArray[np.float64] = np.array([_CONFIDENCE["other"], _CONFIDENCE["ideograph"]])
_AROUND = 6  # Characters beside one that are told
_MOST_UNSURE, _REST = 8, 0.99
"""Unsure characters of a word that are told at most, and how sure the rest together is once all are."""
_LEAST_OTHER = 0.005  # Probability of another character from which it is told


@dataclass(slots=True)
class WordDraft:
    """A word while it is decoded."""

    text: str
    doubts: Mapping[int, Doubt]
    strange: Mapping[int, str]  # Places that have a character which its neighbours make all but impossible: what fits
    sight: dict[int, float]  # Natural logarithm of the odds of the character of an unsure place, by the recogniser
    odds: dict[int, float]  # The same with the language
    changes: dict[int, str]  # What was seen in a changed place
    fits: dict[int, float]  # Natural logarithm of an unsure character's probability among what stands around it


class _Choice(NamedTuple):
    """An unsure place: the characters that may stand there, as read first."""

    at: int
    chars: list[str]
    sight: list[float]  # Natural logarithm of each one's probability
    usable: int  # The first so many may be written; the others are no ideographs: a dash that reads as 一
    fits: list[float]  # Natural logarithm of each one's probability among what stands around it, where this was asked


def sure_parts(row: Sequence[Any]) -> Iterator[str]:
    """Yield the parts of a stored word between the places that are doubtful; none where no doubts are told."""
    if len(row) > 10:
        doubts = (Doubt(*doubt) for doubt in row[10])
        ends = [-1, *(one.at for one in doubts if letters.share_of(row[0], one) < _LEARNED), len(row[0])]
        yield from (row[0][start + 1 : end] for start, end in pairwise(ends) if end - start > _SURE_PART)


def decode(words: Sequence[Word], language: Language) -> list[Word]:
    """Return the words of a page as they are written, as sure as it is probable that all of a word is right."""
    drafts, found = drafts_of(words, language), []
    for word, draft, rows in zip(words, drafts, features(drafts, language), strict=True):
        labels = letters.labels(draft.text, draft.doubts)
        places = (at for at, char in enumerate(draft.text) if char.isalnum())
        told = dict(zip(places, probabilities(rows).tolist(), strict=True))
        changed = {at: draft.text[at] for at, seen in draft.changes.items() if plain(seen) != plain(draft.text[at])}
        left = {at: char for at, char in changed.items() if is_ideograph(char) and told[at] < _WRITTEN}
        told |= {at: min(1 - told[at], _UNKNOWN) for at in left}
        sure = {at: min(one, _UNKNOWN) if at in draft.strange else one for at, one in told.items() if at not in labels}
        sure |= letters.chances_of_marks(draft.text, draft.doubts)
        sure |= {at: min(sure.get(at, 1.0), _UNKNOWN) for at, doubt in draft.doubts.items() if doubt.gap >= 1}
        text = "".join(draft.changes[at] if at in left else char for at, char in enumerate(draft.text))
        unsure = tuple(_unsure_characters(text, sure, draft.doubts, {**draft.strange, **draft.changes, **left}))
        found.append(replace(word, text=text, confidence=prod(sure.values()), unsure=unsure))
    return found


def drafts_of(words: Sequence[Word], language: Language) -> list[WordDraft]:
    """Return the words of a page with their unsure characters decided."""
    texts = [word.text for word in words]
    script = "big5" if is_traditional(texts) else "gb2312"
    choices, strange = [list(_choices(word, script)) for word in words], counts.out_of_place(texts, language)
    _look_around(words, choices, strange)
    return [_draft(*own, language) for own in zip(words, choices, strange, strict=True)]


def _look_around(words: Sequence[Word], choices: Sequence[list[_Choice]], strange: Sequence[dict[int, str]]) -> None:
    """Note how likely what stands around makes the characters of unsure places, and forget what is strange no more."""
    unsure = [(row, at) for row, own in enumerate(choices) for at, one in enumerate(own) if one.sight[0] < _SEEN]
    pairs = [(row, at, other) for row, own in enumerate(strange) for at, other in own.items()]
    order = _downwards(words) if unsure or pairs else []
    place = {row: index for index, row in enumerate(order)}
    asked = [(place[row], choices[row][at].at, choices[row][at].chars) for row, at in unsure]
    asked += [(place[row], at, [words[row].text[at], other]) for row, at, other in pairs]
    told = Network.shipped().logs([words[row].text for row in order], asked)
    for (row, at), logs in zip(unsure, told, strict=False):
        one, fits = choices[row][at], np.nan_to_num(logs, nan=np.nanmin([*logs, _UNLEARNED])).tolist()
        if np.isnan(logs[0]):  # Of 腘动脉 the network says nothing, and counts little: it stays as it was read
            one, fits = one._replace(usable=1), [_LIKELY] * len(logs)
        elif fits[0] < _LIKELY and any(seen > _DASH for seen in one.sight[one.usable :]):
            strange[row][one.at] = one.chars[one.usable]  # 矢狀竇旁—大腦鐮, read as 一
        choices[row][at] = one._replace(fits=fits)
    for (row, at, _), (own, other) in zip(pairs, told[len(unsure) :], strict=True):
        if own > _BELIEVED * other:
            del strange[row][at]


def _downwards(words: Sequence[Word]) -> list[int]:
    """Return the places of words in an order in which each is followed by the one that goes on right below it."""
    boxes = [word.box if word.corners else (0.0, 0.0, 0.0, 0.0) for word in words]
    left, order = sorted(range(len(words)), key=lambda at: (boxes[at][1], boxes[at][0])), []
    while left:
        order.append(left.pop(0))
        while (below := next((at for at in left if _goes_on(boxes[order[-1]], boxes[at])), None)) is not None:
            order.append(below)
            left.remove(below)
    return order


def _goes_on(box: Box, below: Box) -> bool:
    """Return whether a box stands in the next line of the same column."""
    (x0, y0, x1, y1), (left, top, right, _) = box, below
    return 0.5 < (top - y0) / max(y1 - y0, 1e-6) < _NEXT_LINE and min(x1, right) - max(x0, left) > (right - left) / 2


def _draft(word: Word, choices: Sequence[_Choice], strange: Mapping[int, str], language: Language) -> WordDraft:
    doubts = {doubt.at: doubt for doubt in word.doubts or ()}
    codes, chars = padded(word.text), list(word.text)
    draft = WordDraft(word.text, doubts, strange, {}, {}, {}, {})
    for group in _groups(choices):
        for choice, best, shares in zip(group, *_weigh(group, codes, language), strict=True):
            sight = choice.sight[best] - choice.sight[0]
            near = [*chars[choice.at - 1 : choice.at], *chars[choice.at + 1 : choice.at + 2]]
            in_text = len(near) > 1 and any(is_ideograph(one) or codes_of(one)[0] == CIRCLED for one in near)  # D.僅④
            likely = in_text and sight >= _LEAST_SIGHT
            at = best if likely and log(shares[best] / shares[0]) >= _MARGIN else 0
            draft.odds[choice.at] = letters.odds(shares[at])
            draft.sight[choice.at] = letters.odds(exp(choice.sight[at]))
            if choice.fits:
                draft.fits[choice.at] = choice.fits[at]
            if (seen := chars[choice.at]) != choice.chars[at]:  # Where it is the same, another form: 雜 for 雑
                chars[choice.at], draft.changes[choice.at] = choice.chars[at], seen
        codes = padded("".join(chars))
    for at, doubt in doubts.items():
        char, _ = letters.alone(word.text, doubt) or (chars[at], "")
        if char != chars[at]:
            draft.changes[at], chars[at] = chars[at], char
    draft.text = "".join(chars)
    draft.strange = {at: char for at, char in draft.strange.items() if at not in draft.changes}
    return draft


def _choices(word: Word, script: str) -> Iterator[_Choice]:
    """Yield the places with ideographs that are unsure, with the characters of the page's script that may stand there.

    A form of the other script is no character of its own: on a traditional page 结 adds to 結; 復 and 複 are two.
    """
    form: Callable[[str], str] = in_taiwan if script == "big5" else str  # 頦 for a 颏 in traditional text
    for doubt in (doubt for doubt in word.doubts or () if is_ideograph(word.text[doubt.at])):
        kinds: dict[str, float] = {}
        seen = [(form(c) if script_of(c) == "gb2312" else c, share) for c, share in doubt.others if len(c) == 1]
        marks = {char: share for char, share in seen if share >= _LEAST_SHARE and not is_ideograph(char)}
        for char, value in ((word.text[doubt.at], doubt.sure), *seen):
            if is_ideograph(char) and value >= _LEAST_SHARE:
                forms = [one for one in kinds if plain(one) == plain(char)]  # At most one of two is usual: 确 of 確
                own = is_common(char, script) and (script != "big5" or char != plain(char))  # 喂 is a form of 餵 there
                same = [one for one in forms if not (own and is_common(one, script))]
                if not same:
                    kinds[char] = kinds.get(char, 0.0) + value
                elif not _fits(same[0], script) and _fits(char, script):
                    kinds = {char if one == same[0] else one: share for one, share in kinds.items()}
                    kinds[char] += value
                else:
                    kinds[same[0]] += value
        first, *rest = kinds
        written = [first, *(one for one in rest if _fits(one, script))][:_MOST]
        some = {one: kinds[one] for one in written} | dict(list(marks.items())[:_MARKS])
        sight = [log(max(share, letters.FLOOR)) for share in some.values()]
        yield _Choice(doubt.at, [*some], sight, len(written), [])


@cache
def _fits(char: str, script: str) -> bool:
    """Return whether a character may stand in text of a script; 錬 is Japanese."""
    known = char.encode("gb2312", "ignore") or char.encode("big5", "ignore")
    return bool(known) and script_of(char) in (None, script)


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


def _weigh(group: Sequence[_Choice], codes: Codes, language: Language) -> tuple[tuple[int, ...], list[list[float]]]:
    """Return of each place of a group the index of its character and each one's probability between its neighbours."""
    readings = list(product(*(range(len(choice.chars)) for choice in group)))
    first, last = group[0].at - 2, group[-1].at + 3
    padded = codes[first + 2 : last + 2]  # 0 where the text ends
    rows = np.repeat(padded[None], len(readings), axis=0)
    sight = np.zeros(len(readings), np.float32)
    picks = np.array(readings)
    for place, choice in enumerate(group):
        own = codes_of("".join(choice.chars))
        rows[:, choice.at - first] = own[picks[:, place]]
        seen = _OF_SIGHT * np.array(choice.sight, np.float32) - _OF_USE * np.maximum(language.use(own), _RARE)
        seen += _OF_CONTEXT * np.array(choice.fits or 0.0, np.float32)
        sight += seen[picks[:, place]]
    total = sight + _OF_LANGUAGE * language.of_rows(rows, besides=0).sum(axis=1)
    usable = (picks < [choice.usable for choice in group]).all(axis=1)
    best = readings[int(np.where(usable, total, -np.inf).argmax())]
    share = np.exp(total - total.max())
    share /= share.sum()
    counted = (np.bincount(picks[:, at], share, len(choice.chars)) for at, choice in enumerate(group))
    return best, [values.clip(letters.FLOOR).tolist() for values in counted]


def features(drafts: Sequence[WordDraft], language: Language) -> list[Values]:
    """Return what tells whether the letters and digits of each word are right, a row for each.

    The first column says whether it is an ideograph. Then, all the higher the surer: a constant, the odds by sight and
    with the language, how much likelier its neighbours make it, above and below 0, and that none was overlooked.
    """
    codes = np.concatenate([padded(draft.text) for draft in drafts] or [np.zeros(4, np.int64)])
    codes[codes == CIRCLED] = BREAK
    gain = language.logs(codes[:-2], codes[1:-1], codes[2:], besides=1) - language.use(codes[2:])
    gain[codes[2:] == 0] = np.nan  # Behind the text
    found: list[Values] = []
    start = 0
    for draft in drafts:
        places = [at for at, char in enumerate(draft.text) if char.isalnum()]
        rows = [_row(draft, at, gain[start + at : start + at + 3]) for at in places]
        found.append(np.array(rows, np.float32).reshape(-1, FEATURES))
        start += len(draft.text) + 4
    return found


def _row(draft: WordDraft, at: int, gain: Values) -> list[float]:
    doubt = draft.doubts.get(at) or Doubt(at, letters.SURE)
    chinese = is_ideograph(draft.text[at])
    seen = letters.odds(letters.share_of(draft.text, doubt)) if chinese else odds_of_letter(draft.text, doubt)
    sight = draft.sight.get(at, seen) if chinese else seen
    near = float(np.nanmean(gain)) if chinese else 0.0
    odds, fits = draft.odds.get(at, sight), draft.fits.get(at, 0.0)
    around = max(fits - _LIKELY, 0.0), min(fits - _UNLIKELY, 0.0)
    return [chinese, 1.0, sight, odds, max(near, 0.0), min(near, 0.0), -doubt.gap, *around]


def probabilities(rows: Values, weights: NDArray[np.float64] = _WEIGHTS) -> NDArray[np.float64]:
    """Return the probability that each character is right, by its features; ``weights``: of others, of ideographs."""
    told = (rows[:, 1:] * weights[rows[:, 0].astype(np.intp)]).sum(axis=1)
    return np.asarray(1 / (1 + np.exp(-told)))


def _unsure_characters(
    text: str, sure: Mapping[int, float], doubts: Mapping[int, Doubt], seen: Mapping[int, str]
) -> Iterator[Unsure]:
    """Yield the characters that the language decided, ``seen`` before, and the least sure until the rest are sure."""
    left, chosen = prod(sure.values()), set(seen)
    for at in sorted(sure, key=lambda at: (sure[at], at))[:_MOST_UNSURE]:
        if left >= _REST:
            break
        chosen.add(at)
        left = prod(value for place, value in sure.items() if place not in chosen)
    for at in sorted(chosen):
        before, after = text[max(0, at - _AROUND) : at], text[at + 1 : at + _AROUND + 1]
        likely = (char for char, share in doubts[at].others if share >= _LEAST_OTHER) if at in doubts else ()
        others = (char for char in likely if not char.isspace() and plain(char) != plain(text[at]))
        other = seen[at] if at in seen else next(others, None)
        yield Unsure(before, text[at], after, other, round(sure.get(at, 1.0), 3), at)
