"""Lone numbers, labels and ends of lines (`）行。`) that detection overlooks, since it sees a page made small."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import cv2
import numpy as np

from build_dataset.pipeline.ocr.images import Corners
from build_dataset.pipeline.ocr.interfaces import OcrEngine, Pixels, Word
from build_dataset.pipeline.ocr.language.letters import plain

_INK = 160  # Grey level, 0..255, below which a pixel is ink: a thin 1 is blurred
_EM = 0.75  # Size of type as a share of the height of a word's box
_REACH = 5.0  # Distance in em from a number to its line, at most
_WIDE, _DIGIT = 2.2, 0.45  # Width in em of a number of three digits, and of a digit at least
_PAD = 0.15  # White or ink in em that is left on both sides of what is read by itself
_APART = 0.7  # White space in em after a number that stands by itself: between letters there is up to .3
_LONG = 6.0  # Width in em of what stands behind a line, at most: 　）行。
_MOST = 30  # Places of ink looked at on a page: each costs the reading of a few characters
_CONTEXT = 4  # Em of the line that are read with them, so that they are no longer alone
_SAME = 1  # First characters of the line that must be read as before; of one that begins with a digit twice as many
_BLANK, _THIN, _BESIDE, _FOOT = (1.5, 15.0), 0.3, 0.7, (0.25, 0.8)
"""Of a ruled blank, in em: its least and greatest width, height at most, distance from a word of its row at most, and
distance of its rule below the middle of the row."""
_SHARED = 0.3  # Em that two boxes share, from which one begins in the number that the other holds
_NUMBER = re.compile(r"\d{1,3}[.．、]?")
_LABEL = re.compile(r"\d{1,3}[.．、]?|[A-H][.．、]")
_TAIL, _LEGIBLE = re.compile("[)）]|.*[\u3400-\u9fff]"), 0.7
"""Texts behind a line that are taken, and their least confidence: no tick or speck, read as a letter or mark."""


def with_overlooked(engine: OcrEngine, pixels: Pixels, words: Sequence[Word]) -> list[Word]:
    """Return the words of an upright page, and those before and behind them that are not among them, none glued."""
    if not words:
        return []
    em = _EM * float(np.median([word.height for word in words]))
    printed = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY) < _INK, dtype=np.uint8)
    found = [_apart(word, pixels, em) for word in _once(words, printed, em)]
    ink = printed.copy()
    for word in words:
        cv2.fillConvexPoly(ink, np.array(word.corners, np.int32), (0,))
    before = (_before(engine, pixels, em, *one) for one in _candidates(ink, words, em)[:_MOST])
    behind = (_behind(engine, pixels, em, *one) for one in _candidates(ink, words, em, behind=True)[:_MOST])
    return [*found, *(word for word in (*before, *behind) if word), *_blanks(printed, ink, words, em)]


def _blanks(printed: Pixels, ink: Pixels, words: Sequence[Word], em: float) -> Iterator[Word]:
    """Yield the ruled blanks in ``ink`` beside words: thin, at the foot of a row, nothing on them, no table's rule."""
    whole = cv2.morphologyEx(cv2.dilate(ink, np.ones((3, 1))), cv2.MORPH_CLOSE, np.ones((3, round(_BESIDE * em))))
    lines = cv2.morphologyEx(whole, cv2.MORPH_OPEN, np.ones((1, round(_BLANK[0] * em))))
    for left, top, width, height, _ in cv2.connectedComponentsWithStats(lines)[2][1:].tolist():
        right, middle, side = left + width, top + height / 2, round(_BESIDE * em)
        row = [one for one in words if _FOOT[0] * em < middle - _level(one, left) < _FOOT[1] * em]
        near = [one for one in row if min(abs(left - one.box[2]), abs(one.box[0] - right)) < side]
        taken = any(min(one.box[2], right) - max(one.box[0], left) > side for one in row)
        taken |= bool(ink[max(0, round(middle - em)) : top, left + height : right - height].any())
        rule = printed[max(0, top - height) : top + 2 * height]  # A long one that leans goes on higher or lower
        ends = rule[:, max(0, left - side) : left], rule[:, right : right + side]
        on = any(end.size and end.any(axis=0).all() for end in ends)
        if near and not (taken or on) and height < _THIN * em and width < _BLANK[1] * em:
            yield Word("____", _in_row((left, top, right, top), near[0]), 1.0, ())


def _before(engine: OcrEngine, pixels: Pixels, em: float, box: Corners, word: Word) -> Word | None:
    """Return the number or label in ink before a word; None for something else."""
    beside = word.box[0] > box[2] + _PAD * em  # else the box of the line reaches into its number
    left, level = round(word.box[0] if beside else box[2] + _DIGIT * em), round(_level(word, word.box[0]))
    line = "".join(map(_alike, word.text))
    for context in (_CONTEXT, _CONTEXT / 2):
        read, text = _read_beside(engine, pixels, em, [box, (left, level, left + round(context * em), level)])
        at = text.find(line[: 2 * _SAME if line[:1].isdecimal() else _SAME], 1)
        number = "".join("".join(one.text for one in read).split())[: max(0, at)]
        room = 1 + (box[2] - box[0]) / (_DIGIT * em)  # A number of three digits is no 14, read as 144
        if _LABEL.fullmatch(number) and sum(map(str.isdecimal, number)) < room:
            own = read[0].doubts and tuple(doubt for doubt in read[0].doubts if doubt.at < len(number))
            return Word(number, _in_row(box, word), min(one.confidence for one in read), own)
    return None


def _behind(engine: OcrEngine, pixels: Pixels, em: float, box: Corners, word: Word) -> Word | None:
    """Return the end of a line in ink behind a word; None for something else."""
    right, level = round(word.box[2]), round(_level(word, word.box[2]))
    read, text = _read_beside(engine, pixels, em, [(right - round(_CONTEXT * em), level, right, level), box])
    _, same, tail = text.partition("".join(map(_alike, word.text))[-2:])
    start = len(read[-1].text) - len(tail) if read else -1
    if not same or start < 0 or not _TAIL.match(tail) or read[-1].confidence < _LEGIBLE:
        return None
    return replace(_from(read[-1], start), corners=_in_row(box, word))


def _alike(char: str) -> str:
    """Return the form that a character is compared in, "" for a space: 黄 for 黃, ( for （."""
    return plain(char)[:1].strip()


def _in_row(box: Corners, word: Word) -> tuple[tuple[float, float], ...]:
    """Return the corners of ink in the row of a word, as high as the word."""
    middle, half = _level(word, box[0]), word.height / 2
    left, right, low, high = float(box[0]), float(box[2]), middle - half, middle + half
    return ((left, low), (right, low), (right, high), (left, high))


def _once(words: Sequence[Word], printed: Pixels, em: float) -> list[Word]:
    """Return the words without what stands in the word whose box reaches into theirs: its last letter, its digits.

    A digit goes where the edge of the box cuts it; behind white space it is the text's own, the 4 of "11" and "40歲".
    """
    found = []
    for word in words:  # Of "(B)medullary carcinoma" and "a (C)ductal" the a is one; of "8" and "3 下列" the 8
        x, twice = word.box[0], re.match(r"([A-Za-z])\s+(?=\S)", word.text)
        row = [one for one in words if abs(_level(one, x) - _level(word, x)) < 0.5 * em]
        over = [one for one in row if one.box[0] < x < one.box[2] - 0.1 * em]
        shared = max(((one.box[2] - x) / em for one in over if _NUMBER.fullmatch(one.text)), default=0.0)
        left, high = max(1, round(x)), (max(0, round(_level(word, x) + side * em)) for side in (-0.45, 0.45))
        if shared > _SHARED and printed[slice(*high), left - 1 : left + 2].any():
            twice = re.match(rf"()\d{{{max(1, round(shared / 0.5))}}}\s*(?=\S)", word.text)
        found.append(_from(word, twice.end()) if twice and any(one.text.endswith(twice[1]) for one in over) else word)
    return found


def _from(word: Word, start: int) -> Word:
    own = word.doubts and tuple(one._replace(at=one.at - start) for one in word.doubts if one.at >= start)
    return replace(word, text=word.text[start:], doubts=own)


def _apart(word: Word, pixels: Pixels, em: float) -> Word:
    """Return a word with a space after the number that begins it, where white space parts the two: 11 A向甲借款."""
    number = re.match(r"\d{1,3}(?=[^\W\d_])", word.text)
    left, middle = int(word.box[0]), _level(word, word.box[0])
    top, bottom = max(0, int(middle - 0.5 * em)), int(middle + 0.5 * em)
    part = pixels[top:bottom, max(0, left) : left + round(4 * em)]
    if not number or not part.size:
        return word
    inked = np.flatnonzero(part.min(axis=(0, 2)) < _INK)
    gaps = np.flatnonzero(np.diff(inked) > _APART * em)
    if not (gaps.size and inked[gaps[0]] - inked[0] < (0.3 + 0.6 * len(number[0])) * em):
        return word
    moved = tuple(doubt._replace(at=doubt.at + (doubt.at >= number.end())) for doubt in word.doubts or ())
    text = f"{number[0]} {word.text[number.end() :]}"
    return replace(word, text=text, doubts=None if word.doubts is None else moved)


def _level(word: Word, x: float) -> float:
    """Return the height of a word's middle line, which may be tilted, at a place beside it."""
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = word.corners[:4]
    slope = (y1 + y2 - y0 - y3) / max(1.0, x1 + x2 - x0 - x3)
    return (y0 + y3) / 2 + slope * (x - (x0 + x3) / 2)


def _candidates(ink: Pixels, words: Sequence[Word], em: float, *, behind: bool = False) -> list[tuple[Corners, Word]]:
    """Return ``ink`` that no word covers, each with the word that it stands before: the size of a number.

    Or with the word that it stands ``behind``, and then as wide as some characters.
    """
    join, least, most = (1.2, 0.6, _LONG) if behind else (0.4, 0.05, _WIDE)
    kernel = np.ones((round(0.3 * em) + 1, round(join * em) + 1), np.uint8)
    _, _, stats, _ = cv2.connectedComponentsWithStats(cv2.morphologyEx(ink, cv2.MORPH_CLOSE, kernel))  # 1, 2 of 12
    wide, high = stats[:, 2], stats[:, 3]
    sized = (high > 0.5 * em) & (high < 1.3 * em) & (wide < most * em) & (wide > least * em)
    found = []
    for left, top, width, height, _ in stats[sized].tolist():
        right = left + width
        row = [word for word in words if abs(_level(word, left) - top - height / 2) < 0.5 * em]
        near = [one for one in row if -0.3 * em < (left - one.box[2] if behind else one.box[0] - right) < _REACH * em]
        if near and (behind or not any(word.box[0] < left < word.box[2] + 2 * em for word in row)):
            own = max(near, key=lambda word: word.box[2]) if behind else min(near, key=lambda word: word.box[0])
            found.append(((left, top, right, top + height), own))
    return found


def _read_beside(engine: OcrEngine, pixels: Pixels, em: float, boxes: Sequence[Corners]) -> tuple[list[Word], str]:
    """Return what is read in parts of a row, moved close together: ink and an end of the word that it stands beside.

    The text is that of all words, in the forms in which it is compared.
    """
    half, pad, parts = (0.5 / _EM + 0.1) * em, round(_PAD * em), []
    for left, low, right, high in boxes:
        top = max(0, round((low + high) / 2 - half))
        parts.append(pixels[top : top + round(2 * half), max(0, round(left) - pad) : round(right) + pad])
    tall = max(part.shape[0] for part in parts)
    padded = [np.pad(part, ((0, tall - part.shape[0]), (0, pad), (0, 0)), constant_values=255) for part in parts]
    row = np.concatenate(padded, axis=1)
    picture = np.pad(row, ((pad * 6, pad * 6), (pad * 4, pad * 4), (0, 0)), constant_values=255)
    read = sorted(engine.recognise(np.ascontiguousarray(picture)), key=lambda one: one.box[0])
    return read, "".join(_alike(char) for one in read for char in one.text)
