"""Two readings of the same lines: one restores characters that the other lost, and relevant differences are kept."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any

from rapidfuzz.distance import Levenshtein

from build_dataset.pipeline.characters import UNREADABLE
from build_dataset.pipeline.ocr.model import PageLine, PageRead, Rect
from build_dataset.pipeline.ocr.recognise import LineReading
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import LineKind

_LOST = re.compile(f"(?:{UNREADABLE})+")
_P = Patterns(__name__)
_CONTEXT = 3  # Characters on each side of a lost one by which its place is found
_SCRIPTS = frozenset("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻")


def lost_lines(lines: Sequence[PageLine]) -> list[int]:
    """Indices of lines of text in which characters are lost."""
    texts = [(at, one) for at, one in enumerate(lines) if one.kind is LineKind.TEXT and one.box is not None]
    return [at for at, one in texts if _LOST.search(_P.bare.sub("", one.text))]


def lost_boxes(value: dict[str, Any]) -> tuple[Rect, ...]:
    """Return where characters are lost on a stored page with a text layer."""
    if not any(_LOST.search(line[0]) for line in value.get("lines", ())):
        return ()
    lines = PageRead.from_json(value).lines
    return tuple(box for index in lost_lines(lines) if (box := lines[index].box) is not None)


def mend_page(page: PageRead, readings: Sequence[LineReading]) -> PageRead:
    """The page, lost characters taken from what was read in the pictures of their lines, in place.

    A line that was mended has the confidence of the characters that were taken: one of 20 characters of a line that was
    read with .8 is right with .99. What is still lost is U+FFFD: a question with one waits. So does one whose picture
    says other digits, negations, units or labels; superscripts are digits here, since recognition lowers some.
    """
    for index, (seen, confidence) in zip(lost_lines(page.lines), readings, strict=True):
        line = page.lines[index]
        text = mend_line(line.text, seen)
        if text != line.text:
            taken = sum(map(len, _LOST.findall(line.text)))
            line.confidence = round(1 - (1 - confidence) * taken / len(line.text), 4)
        line.text = _LOST.sub(lambda lost: re.sub(r"[\x00-\x1f\x7f-\x9f]", "\ufffd", lost[0]), text)
        if seen and readings_differ(unicodedata.normalize("NFKC", text), unicodedata.normalize("NFKC", seen)):
            line.other = seen
    return page


def mend_line(text: str, seen: str) -> str:
    """A line, its lost characters replaced by what stands between the same neighbours in a reading of its picture.

    Nothing is replaced where these are not found, or found twice. Control characters may stand for nothing, or a space.
    """
    return _LOST.sub(lambda found: _replacement(found, _flat(seen)), text)


def _replacement(found: re.Match[str], flat: str) -> str:
    text, lost = found.string, found[0]
    before = _flat(text[: found.start()])[-_CONTEXT:]
    after = _flat(text[found.end() :])[:_CONTEXT]
    least = 0 if all(unicodedata.category(char) == "Cc" for char in lost) else 1
    if _LOST.search(before + after) or len(before + after) < 2:
        return lost
    between = rf"(.{{{least},{3 * len(lost)}}}?)"
    ends = re.escape(after) if after else "$"
    places = re.findall(f"{re.escape(before) if before else '^'}(?={between}{ends})", flat)
    return places[0] if len(places) == 1 and not _LOST.search(places[0]) else lost


def _flat(text: str) -> str:
    """Characters without width and spaces, one for one, so that print and recognition compare; scripts stay."""
    chars = [char for char in text if not char.isspace()]
    plain = [char if char in _SCRIPTS else unicodedata.normalize("NFKC", char) for char in chars]
    return "".join(new if len(new) == 1 else old for old, new in zip(chars, plain, strict=True))


def readings_differ(text: str, other: str) -> bool:
    """Return whether two readings of a line have other digits, negations, signs, option labels or units."""
    found, others = (_P.matters.findall(_flat(one).upper()) for one in (text, other))
    return bool(found != others)


def compare_readings(page: PageRead, second: PageRead) -> PageRead:
    """The page with a second reading of it, in place.

    A line that both read alike is as sure as both together. One that differs in what matters has the other beside it.
    """
    lines = [line for line in page.lines if line.kind is LineKind.TEXT and line.text]
    for line, other in zip(lines, _counterparts(lines, second), strict=True):
        if readings_differ(line.text, other):
            line.other = other
        elif line.confidence is not None and _flat(line.text) == other:
            line.confidence, line.unsure = 1 - (1 - line.confidence) * (1 - (second.confidence or 0.0)), ()
    return page


def _counterparts(lines: Sequence[PageLine], second: PageRead) -> Iterator[str]:
    """The second reading in place of each line, without spaces: pages may be broken into other lines."""
    texts = [_flat(line.text) for line in lines]
    other = "".join(_flat(line.text) for line in second.lines if line.kind is LineKind.TEXT)
    places = dict[int, int]()  # in the second reading, by index in the first
    for step in Levenshtein.opcodes("".join(texts), other):
        equal = step.tag == "equal"
        for index in range(step.src_start, step.src_end):
            places[index] = step.dest_start + (index - step.src_start) * equal
        places[step.src_end] = step.dest_end
    places[0] = 0  # what only the second reading begins with belongs to the first line
    for start, end in pairwise(accumulate(map(len, texts), initial=0)):
        yield other[places[start] : places[end]]
