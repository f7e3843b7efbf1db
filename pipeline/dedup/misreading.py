"""Differences of two texts that are proven misreadings; every other difference makes another question.

In a mixed bank the same options stand under many stems, so that they vouch for nothing: 泼尼松 and 泼尼松龙 under one
list of features are two questions. A text layer and a table do not misread. A scan may, where recognition was unsure;
whatever typed a bank exchanges characters that look alike (己 / 已) and drops single ones in long texts.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise
from typing import NamedTuple, cast

import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont
from rapidfuzz.distance import Levenshtein
from scipy.ndimage import gaussian_filter

from build_dataset.pipeline.dedup.grams import Vocabulary
from build_dataset.pipeline.dedup.keys import ASKED, CLASSES, FILLER, FUNCTION, MODIFIERS, OPPOSITES, SUFFIXES
from build_dataset.pipeline.ocr.language.counts import Language, codes_of

_CLASS_OF = {char: name for name, chars in CLASSES.items() for char in chars + chars.upper()}  # 左 → side
_LETTERS = frozenset(CLASSES["letter"] + CLASSES["letter"].upper())  # Latin and Greek
TELLING = _LETTERS.union(*(chars for name, chars in CLASSES.items() if name not in ("chemical", "colour")))
"""Characters that questions turn on."""
_DROPPED = _LETTERS | frozenset("0123456789·−不无未非没否勿莫除男女")
"""Characters that are added or dropped on purpose too: 属于 / 不属于, 2.5 / 25."""
_OPPOSITE = frozenset(pair for two in OPPOSITES for pair in (two, two[::-1]))
_MEANT = TELLING | _DROPPED | MODIFIERS | frozenset("".join(OPPOSITES))
_SET = [word for word in (*FILLER.replace("?", "").split("|"), *ASKED) if "[" not in word]
_PHRASES = frozenset(pair for word in _SET for pair in pairwise(word))
"""Pairs of characters inside the set phrases of exams."""
_STRAY = 0.02
"""Share of a pair of characters that misprints of it make up: 亏湿 is 1 of 200 of 亏虚; 湿证, 1 of 13, is a term."""
_KNOWN = 20  # least count of a pair of characters from which its misprint can be told from a rare word
_UNLIKELY = 13.5
"""Least logarithm of how much likelier, in all text, a printed reading is than the recognised one: 幽门梗 / 幽内梗 14,
诊断糖尿病 / 诊断糖尿疲 21. Of 40 pairs of terms that look alike none has more than 13 (髋关节 / 髌关节)."""
_FRAME = "\x1f"  # stands around a text, so that its first and last characters have neighbours


class Edit(NamedTuple):
    """A place where two texts differ."""

    old: str  # what the first says there; empty for an insertion
    new: str  # what the second says there; empty for a deletion
    old_place: str  # the same with the characters beside it
    new_place: str  # the same with the characters beside it

    @property
    def is_deliberate(self) -> bool:
        """Return whether it exchanges, adds or drops decisive words (numbers, negations), as another question does."""
        if any(old + new in _OPPOSITE for old in self.old for new in self.new):
            return True
        if not self.old or not self.new:
            return not _DROPPED.isdisjoint(self.old + self.new)
        return any(_CLASS_OF[char] in map(_CLASS_OF.get, self.new) for char in self.old if char in _CLASS_OF)


@dataclass(frozen=True, slots=True)
class TextPair:
    """Two texts as they were read, and what is known of how."""

    first: str  # a comparison key
    second: str  # the other
    vocabulary: Vocabulary  # of the collection
    doubtful: tuple[bool, bool] = (False, False)  # True where recognition was unsure of the first, and of the second
    agreed: bool = False  # whether all options and the answers are the same
    recognised: tuple[bool, bool] = (False, False)  # which of both was read from an image

    def looks_misread(self, edit: Edit) -> bool:
        """Return whether a difference is shown to be a misreading or a misprint.

        An unsure recognition reads one or two characters as something that nobody else writes. Elsewhere one
        character was taken for another that looks like it, and nobody else writes it there: on both sides of it, as
        胃痛 and 骨痛 are two terms, or on one side where options and answers agree. There it may look rather like the
        other, or stand in a set phrase (治疗 typed 治辽). Without enough of a collection nothing looks misread but what
        was read from an image, beside a text that was not, and says what hardly any text says (幽内 for 幽门).
        """
        if edit.is_deliberate or max(len(edit.old), len(edit.new)) > 2:
            return False
        if self._is_unlikely(edit):
            return True
        if not self.vocabulary.is_evidence:
            return False
        if any(unsure and self._is_strange(edit, side) for side, unsure in enumerate(self.doubtful)):
            return True
        if len(edit.old) != 1 or len(edit.new) != 1:  # a typist exchanges single characters
            return False
        strays = any(self._strays(edit, side) for side in (0, 1))
        if look_alike(edit.old, edit.new):
            # Or nobody else writes what one side says, and others write what the other says. Both neighbours count:
            # 腰部 beside 腹部 is a word whatever stands before it. 额叶 and 颞叶 look alike; in a collection that has
            # neither twice, both are terms. Where a side has no neighbours to go by, nothing is shown.
            rare = [self._rare(edit, side) for side in (0, 1)]
            return strays or (all(rare) and all(rare[0]) != all(rare[1]))
        # one side has a set phrase where the other has none: 治疗 / 治辽, 首选 / 首迭
        broken = _PHRASES.isdisjoint(pairwise(edit.old_place)) != _PHRASES.isdisjoint(pairwise(edit.new_place))
        return self.agreed and strays and (broken or look_alike(edit.old, edit.new, least=_RATHER_ALIKE))

    def _is_unlikely(self, edit: Edit) -> bool:
        """Return whether the one of both that was read from an image has an unlikely character for a likely one."""
        if self.recognised[0] is self.recognised[1] or len(edit.old) != 1 or len(edit.new) != 1:
            return False
        side = self.recognised.index(True)
        if not look_alike(edit.old, edit.new, least=_BLURRED):
            return False
        if self.vocabulary.is_evidence and not self._is_strange(edit, side):  # a term of the collection
            return False
        places = zip((self.first, self.second), (edit.old_place, edit.new_place), strict=True)
        read, printed = [_with_neighbours(place, text) for text, place in places][:: 1 - 2 * side]
        return bool(read and printed) and _likelihood(printed) - _likelihood(read) >= _UNLIKELY

    def _strays(self, edit: Edit, side: int) -> bool:
        """Return whether a whole reading can be a misprint of the other one, which is frequent in the collection."""
        strange, known = (edit.old_place, edit.new_place)[:: 1 - 2 * side]
        pairs = [pair for pair in zip(pairwise(strange), pairwise(known), strict=True) if _FRAME not in pair[0]]
        counts = [(self.vocabulary.count(*one), self.vocabulary.count(*other)) for one, other in pairs]
        frequent = max((count for _, count in counts), default=0) >= _KNOWN
        return frequent and all(strange_count <= 1 + count * _STRAY for strange_count, count in counts)

    def is_slip(self, edit: Edit) -> bool:
        """Return whether a scan that recognition was unsure of dropped one character, and none that makes a term."""
        dropped = len(edit.old + edit.new) == 1 and _MEANT.isdisjoint(edit.old + edit.new)
        return any(self.doubtful) and dropped and not edit.is_deliberate

    def _is_strange(self, edit: Edit, side: int) -> bool:
        """Return whether no other text has a reading; a word of two characters (工会 for 卫生) is another term."""
        reading = (edit.old, edit.new)[side]
        is_word = len(reading) == 2 and self.vocabulary.count(*reading) > 1 and not self.vocabulary.by_chance(*reading)
        return any(self._rare(edit, side)) and not is_word

    def _rare(self, edit: Edit, side: int) -> list[bool]:
        """Return whether each bigram of a reading is met there alone or, where a character changed, by chance."""
        text = _FRAME + (self.first, self.second)[side] + _FRAME
        # Bigrams that stand in a core but not in the key, because a set phrase stood between, say nothing.
        around = [pair for pair in pairwise((edit.old_place, edit.new_place)[side]) if "".join(pair) in text]
        rare = [self.vocabulary.count(a, b) <= 1 for a, b in around]
        if any(rare) or not (edit.old, edit.new)[side]:
            return rare
        return [all(self.vocabulary.by_chance(a, b) for a, b in around)] * len(around)


@lru_cache(1 << 14)
def edits(first: str, second: str) -> Sequence[Edit]:
    """The places where two texts differ; what changes side by side is one place."""
    spans = cast("list[tuple[str, int, int, int, int]]", Levenshtein.opcodes(first, second).as_list())
    places: list[tuple[int, int, int, int]] = []
    for tag, i, j, k, m in spans:
        if tag == "equal":
            continue
        if places and places[-1][1] == i and places[-1][3] == k:
            i, _, k, _ = places.pop()
        places.append((i, j, k, m))
    around = ((first[max(0, i - 1) : j + 1], second[max(0, k - 1) : m + 1]) for i, j, k, m in places)
    return [Edit(first[i:j], second[k:m], *both) for (i, j, k, m), both in zip(places, around, strict=True)]


def framed_edits(first: str, second: str) -> Sequence[Edit]:
    """The places where two texts differ, which begin and end with a break."""
    return edits(_FRAME + first + _FRAME, _FRAME + second + _FRAME)


def content_edits(first: str, second: str) -> list[Edit]:
    """The places where two texts differ in more than particles (的, 可) and like suffixes (喷射性 / 喷射状)."""
    found = [(edit, edit.old + edit.new) for edit in framed_edits(first, second)]
    suffixes = [said for _, said in found if len(said) <= 2 and any(like.issuperset(said) for like in SUFFIXES)]
    return [edit for edit, said in found if not FUNCTION.issuperset(said) and said not in suffixes]


_language = cache(Language)  # read from its file when it is first asked
_font = cache(lambda size: ImageFont.truetype(io.BytesIO(pymupdf.Font("cjk").buffer), size))


def _with_neighbours(place: str, text: str) -> str:
    """A place with one character more of a text on both sides; nothing where it is only in the text's core."""
    framed = _FRAME + text + _FRAME
    at = framed.find(place)
    return framed[max(0, at - 1) : at + len(place) + 1] if at >= 0 else ""


@lru_cache(1 << 10)
def _likelihood(place: str) -> float:
    """Logarithm of the probability of a few characters in a row, in all text."""
    codes = codes_of(_FRAME + place + _FRAME)
    return float(_language().logs(codes[:-2], codes[1:-1], codes[2:]).sum())


_SIZE, _MARGIN = 32, 4  # pixels of a character, and of the paper around it
_EDGES, _PLACES = 1.0, 1.5
"""Blur, in pixels, of a picture before its strokes are looked at, and of where a stroke may stand."""
_DIRECTIONS = 4  # directions of strokes: — / | and the other diagonal
_ALIKE = 0.75
"""Least correlation of two characters that look alike: three in a thousand pairs of common characters reach it
(菌 / 茵 .95, 诊 / 珍 .86; 栓 / 膜 .52, 雷 / 依 .27). Of 80 pairs that are often confused, four in five do."""
_RATHER_ALIKE = 0.62
"""The same where other evidence supports that both are one question: three pairs in a hundred reach it."""
_BLURRED = 0.55  # the same of a photograph, where the reading is no word: 门 / 内 .61, 状 / 伏 .57
_TYPED = frozenset(["0oO", "1lI|", "一—─-", "5S"])  # signs that keyboards and recognition exchange


def look_alike(first: str, second: str, *, least: float = _ALIKE) -> bool:
    """Return whether two characters are easily taken for each other."""
    if any(first in signs and second in signs for signs in _TYPED):
        return True
    return float((_strokes(first) * _strokes(second)).sum()) >= least


@cache
def _strokes(char: str) -> NDArray[np.float32]:
    """The strokes of a character by direction and place, so that the sum of products of two is their correlation."""
    edge = _SIZE + 2 * _MARGIN
    drawn = Image.new("L", (edge, edge))
    ImageDraw.Draw(drawn).text((_MARGIN, 0), char, font=_font(_SIZE), fill=255)
    rise, run = np.gradient(gaussian_filter(np.asarray(drawn, np.float32), _EDGES))  # across the strokes
    direction = np.arctan2(rise, run) % np.pi / np.pi * _DIRECTIONS
    planes = []
    for number in range(_DIRECTIONS):
        apart = np.abs(direction - number)
        share = np.maximum(0, 1 - np.minimum(apart, _DIRECTIONS - apart))
        planes.append(gaussian_filter(share * np.hypot(rise, run), _PLACES)[::2, ::2])
    strokes: NDArray[np.float32] = np.stack(planes)
    strokes = strokes - strokes.mean()  # white paper is no likeness
    return strokes / max(float(np.linalg.norm(strokes)), 1e-9)  # 1e-9: a space has no strokes
