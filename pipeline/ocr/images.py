"""Images of pages: cleaning before recognition; ink that is no text."""

from collections.abc import Iterable, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.ocr.interfaces import Pixels, Word

_SATURATION = 36  # Least difference between the strongest and weakest channel, 0..255, of a coloured pixel
_SLANT = (15.0, 75.0)
"""Angles in degrees between which coloured print is a watermark: answers printed in colour stand level."""
_MAX_SIDE = 30_000  # Pixels: OpenCV cuts lines out of no image with a side of 32,767 or more
_GREYS = slice(130, 246)  # Lightness, 0..255, of grey watermarks
_WHITE = 250  # Lightness of most of a page that was never on paper
_PEAK = 12
"""Least ratio of the watermark's grey to the median grey in the histogram; noisy or blurred pages have no such peak."""
_LARGE, _SMALL = 40, 14
"""Shorter side, on a copy of 600 pixels, of a group that is a watermark by itself, and of one beside such a group."""
_PARALLEL = 10.0  # Degrees between groups of one watermark
_CORE, _THICK, _THROUGH, _WIDE = 128, 0.02, (0.03, 0.5), 0.5
"""Of a large level group: how much of a pixel of the copy is marked in strokes three of them thick (4 points, as in no
text); the strokes' least share of the group; the dark text through them, more is a picture; share of a page's width."""
_COPY, _STROKE, _TALL, _SEVERAL = 1200, 5, 36, 6
"""Longer side of the copy on which grey characters of a watermark are looked for; on it the thickness of their strokes,
3.5 points of A4, the height of a character or a part of one, 25 points, and how many there are, at least."""
_PALE, _FAINT, _DARKEST, _APART, _FILLED = 230, 200, 0.001, 20, 0.7
"""Lightness of such strokes, and of text through them, at most; per cent of the page's pixels that are as dark as its
text; how much lighter than it a watermark is; and the strokes' share of the boxes around them, more is a picture."""
_LEAST = 0.0005  # Share of a page that a watermark's pixels take at least
_LIT = 195.0
"""Lightness, 0..255, of the darkest paper on scans: 255 clean, 199 grey; on two pages of a photograph 167 and 151."""
Corners = tuple[int, int, int, int]  # Left, top, right, bottom in pixels
_INK = 170  # Grey level, 0..255, below which a pixel is ink on a cleaned page
_ACROSS, _DOWN = 1 / 20, 1 / 40
"""Shortest rule as a share of the page's width or height: longer than the strokes of any character."""
_MIN_FIGURE = 1 / 18  # Shortest side of a figure as a share of the page's height: 47 points of A4, three lines of text
MAX_MARKS = 400  # Rules of each direction that are kept, longest first: a grid of 400 cells has about 60


def fit_opencv(pixels: Pixels) -> Pixels:
    """The image, smaller where a side is longer than OpenCV takes."""
    return shrink(pixels, _MAX_SIDE) if max(pixels.shape) > _MAX_SIDE else pixels


def shrink(pixels: Pixels, side: int) -> Pixels:
    """A copy of an image whose longer side has so many pixels, the shorter one at least one."""
    height, width = pixels.shape[:2]
    scale = side / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)


def clean_page(pixels: Pixels) -> Pixels:
    """A copy of the page, RGB, without large watermarks and with an even white background."""
    return remove_large_print(even_background(remove_flat_watermark(remove_coloured_watermark(pixels))))


def remove_coloured_watermark(pixels: Pixels) -> Pixels:
    """Turn slanted or large coloured print white by keeping each pixel's strongest channel there.

    Black print under or over the watermark keeps its darkness, because all of its channels are weak.
    """
    red, green, blue = cv2.split(pixels)
    strongest = cv2.max(cv2.max(red, green), blue)
    weakest = cv2.min(cv2.min(red, green), blue)
    _, coloured = cv2.threshold(cv2.subtract(strongest, weakest), _SATURATION, 1, cv2.THRESH_BINARY)
    mask = _watermark(coloured, pixels)
    if mask is None:
        return pixels
    cleaned = pixels.copy()
    cleaned[mask] = strongest[mask][:, None]
    return cleaned


def remove_flat_watermark(pixels: Pixels) -> Pixels:
    """Turn slanted or large print of one grey white, on pages that are as digital as that: white paper, no noise.

    On scans grey is also what blur makes of strokes; taking slanted grey off those cost three questions in a hundred.
    """
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    counts = cv2.calcHist([grey], [0], None, [256], [0, 256]).ravel()
    level = _GREYS.start + int(counts[_GREYS].argmax())
    flat = counts[level] > _PEAK * max(1.0, float(np.median(counts[_GREYS])))
    if not flat or counts[_WHITE:].sum() < grey.size / 2:
        return pixels
    mask = _watermark(cv2.inRange(grey, level - 2, level + 2) & 1, pixels)
    if mask is None:
        return pixels
    cleaned = pixels.copy()
    cleaned[mask & (grey >= level - 2)] = 255
    return cleaned


def remove_large_print(pixels: Pixels) -> Pixels:
    """Turn the large characters of a grey watermark white, on scans and photographs with an even background.

    They are told from text by their strokes, thicker than those of type, their even grey, and the darker text that runs
    through them. That stays: its darkness is measured from the watermark's and not from the paper's.
    """
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    small = shrink(grey, _COPY)
    thick = cv2.morphologyEx(small, cv2.MORPH_CLOSE, np.ones((_STROKE, _STROKE), np.uint8))
    _, labels, stats, _ = cv2.connectedComponentsWithStats((thick < _PALE).astype(np.uint8))
    tall = (stats[:, 3] >= _TALL) & (stats[:, 2:4].max(axis=1) <= _COPY / 2)
    tall[0] = False
    strokes = np.asarray(tall[labels], dtype=np.uint8)
    core = cv2.erode(strokes, np.ones((_STROKE, _STROKE), np.uint8)) > 0
    if tall.sum() < _SEVERAL or not core.any():
        return pixels
    level, black = float(np.median(thick[core])), float(np.percentile(grey, _DARKEST))
    left, _, width, _, area = stats[tall].T
    wide = (left + width).max() - left.min() >= _WIDE * small.shape[1]
    drawn = area.sum() <= _FILLED * (width * stats[tall, 3]).sum()  # strokes, no grey boxes
    through = float((small[core] < level - (level - black) / 3).mean())
    uneven = float(np.median(np.abs(thick[core] - level)))
    if not (wide and drawn and _THROUGH[0] <= through <= _THROUGH[1] and level - black >= _APART > 2 * uneven):
        return pixels
    side = round(max(grey.shape) / _COPY * _STROKE / 2) | 1  # finer than at first, for the ends of strokes
    behind = cv2.morphologyEx(grey, cv2.MORPH_CLOSE, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)))
    near = cv2.resize(cv2.dilate(strokes, np.ones((_TALL, _TALL), np.uint8)), grey.shape[::-1]) > 0
    marked = ((behind < level + _APART) & near).astype(np.uint8)
    where = cv2.dilate(marked, np.ones((2 * side, 2 * side), np.uint8)) > 0
    paper = np.maximum(behind, level)[where]
    made = black + (grey[where] - black) * (255 - black) / (paper - black)
    grey[where] = np.clip(np.where(made > _FAINT, 255, made), 0, 255)
    return np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2RGB), dtype=np.uint8)


def _watermark(marked: Pixels, page: Pixels) -> NDArray[np.bool_] | None:
    """Return the pixels of slanted groups of marked ones, else of level ones; None for none."""
    if cv2.countNonZero(marked) < _LEAST * marked.size:
        return None
    slanted = _slanted(marked)
    found = _large(marked, page) if slanted is None else slanted
    mask = cv2.resize(found.astype(np.uint8), marked.shape[::-1], interpolation=cv2.INTER_NEAREST)
    return np.asarray(mask, dtype=bool) if found.any() else None


def _large(marked: Pixels, page: Pixels) -> NDArray[np.bool_]:
    """Return, on a copy, large level groups of marked pixels with thick strokes through which dark text runs."""
    thick = cv2.erode((shrink(marked * np.uint8(255), 600) > _CORE).astype(np.uint8), np.ones((3, 3), np.uint8))
    strokes = cv2.dilate(thick, np.ones((5, 5), np.uint8)) > 0
    dark = shrink(page, 600).max(axis=2) < _INK
    count, labels, stats, _ = cv2.connectedComponentsWithStats(cv2.dilate(thick, np.ones((25, 25), np.uint8)))
    chosen = np.zeros(count, dtype=bool)
    for label in (label for label in range(1, count) if stats[label, 2:4].min() >= _LARGE):
        own = labels == label
        wide = stats[label, 2] >= _WIDE * thick.shape[1] and strokes[own].mean() >= _THICK
        chosen[label] = wide and _THROUGH[0] <= dark[own & strokes].mean() <= _THROUGH[1]
    return chosen[labels]


def _slanted(marked: Pixels) -> NDArray[np.bool_] | None:
    """Return, on a copy, the pixels of a large slanted group and of smaller ones parallel to it; None for none."""
    small = ((shrink(marked, 600) > 0) * 255).astype(np.uint8)
    joined = cv2.dilate(small, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (13, 13)))  # letters of one word
    count, labels, stats, _ = cv2.connectedComponentsWithStats(joined)
    sides = stats[:, 2:4].min(axis=1)
    angles: dict[int, float] = {}
    for label in (label for label in range(1, count) if sides[label] >= _SMALL):
        points = np.column_stack(np.nonzero((labels == label) & (small > 0))[::-1]).astype(np.float32)
        if (angle := _slant(points)) is not None:
            angles[label] = angle
    large = [angle for label, angle in angles.items() if sides[label] >= _LARGE]
    if not large:
        return None
    chosen = np.zeros(count, dtype=bool)
    for label, angle in angles.items():
        chosen[label] = any(abs(angle - other) <= _PARALLEL for other in large)
    return chosen[labels]


def _slant(points: NDArray[np.float32]) -> float | None:
    """Angle in degrees, 0..180, of a long slanted cloud of points; None for other clouds."""
    if len(points) < 20:  # pixels of the small copy
        return None
    spread = np.sqrt(np.maximum(np.linalg.eigvalsh(np.cov(points.T)), 1e-6))
    if spread[-1] / spread[0] <= 2:  # its length over its width
        return None
    vx, vy, _, _ = cv2.fitLine(points, cv2.DIST_L2, 0, 0.01, 0.01).ravel()
    angle = float(np.degrees(np.arctan2(vy, vx))) % 180
    return angle if _SLANT[0] < angle < 180 - _SLANT[0] else None


def even_background(pixels: Pixels) -> Pixels:
    """Divide the page by its own background where that is uneven or dark: photographs, grey scans.

    The background is the median of the brightest neighbours, estimated on a small copy.
    """
    background = paper_lightness(pixels)
    low, middle = np.percentile(background, (5, 50))
    if middle > 225 and low > 200:  # white paper without shadow
        return pixels
    height, width = pixels.shape[:2]
    full = cv2.resize(background, (width, height), interpolation=cv2.INTER_LINEAR)
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    divided = cv2.divide(grey, np.maximum(full, 32), scale=255)  # 32: black corners stay black
    return np.asarray(cv2.cvtColor(divided, cv2.COLOR_GRAY2RGB), dtype=np.uint8)


def paper_lightness(pixels: Pixels) -> Pixels:
    """Return how light the paper is, on a small grey copy of the page."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    small = shrink(grey, min(500, max(grey.shape)))
    return np.asarray(cv2.medianBlur(cv2.dilate(small, np.ones((7, 7), np.uint8)), 41), dtype=np.uint8)


def legibility(pixels: Pixels) -> float:
    """Return the factor by which an engine's confidence on this page is reduced, 0.5..1.

    Engines are as sure of photographs, known by their dark paper, as of scans (mean 0.98 and 0.97 on a photograph in
    which words are misread), because they rate what they found, not what shadow or blur hid.
    """
    return float(np.clip(np.percentile(paper_lightness(pixels), 1) / _LIT, 0.5, 1.0))


def find_marks(pixels: Pixels, words: Sequence[Word]) -> dict[str, list[Corners]]:
    """Rules ``across`` and ``down`` and other large ink (``figures``) of a cleaned, upright page, in pixels."""
    mask = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY) < _INK, dtype=np.uint8)
    height, width = mask.shape
    across = _lines(mask, (max(20, int(width * _ACROSS)), 1))
    down = _lines(mask, (1, max(20, int(height * _DOWN))))
    boxes = [(int(x0), int(y0), int(x1) + 1, int(y1) + 1) for x0, y0, x1, y1 in (word.box for word in words)]
    return {"across": across, "down": down, "figures": find_figures(mask, [*boxes, *across, *down])}


def _lines(mask: Pixels, kernel: tuple[int, int]) -> list[Corners]:
    # A rule that is slightly turned is a staircase: one pixel of thickness more joins its steps.
    thick = cv2.dilate(mask, np.ones((2, 1) if kernel[1] == 1 else (1, 2), np.uint8))
    opened = cv2.morphologyEx(thick, cv2.MORPH_OPEN, np.ones(kernel[::-1], np.uint8))
    opened = cv2.morphologyEx(opened, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    limit = max(6, int(0.006 * max(mask.shape)))  # pixels of thickness: 14 of a page of 2,339
    found = [box for box in _components(opened) if min(box[2] - box[0], box[3] - box[1]) <= limit]
    found.sort(key=lambda box: -max(box[2] - box[0], box[3] - box[1]))
    return sorted(found[:MAX_MARKS])


def _components(mask: Pixels) -> Iterable[Corners]:
    """Boxes of connected parts of a mask."""
    _, _, stats, _ = cv2.connectedComponentsWithStats(mask)
    for left, top, width, height, _ in stats[1:].tolist():
        yield left, top, left + width, top + height


def find_figures(mask: Pixels, known: Sequence[Corners]) -> list[Corners]:
    """Boxes of drawings and pictures: ink outside of what is ``known``, words and rules, joined over small gaps."""
    height, width = mask.shape
    rest = mask.copy()
    for left, top, right, bottom in known:
        rest[max(0, top) : bottom, max(0, left) : right] = 0
    reach = max(3, height // 90)  # 9 points of A4, the gaps of a dashed line
    joined = cv2.morphologyEx(rest, cv2.MORPH_CLOSE, np.ones((reach, reach), np.uint8))
    least = height * _MIN_FIGURE
    found = []
    for left, top, right, bottom in _components(joined):
        wide, high = right - left, bottom - top
        big = min(wide, high) >= least and wide * high < 0.8 * height * width
        if big and rest[top:bottom, left:right].mean() > 0.01:  # less is dust
            found.append((left, top, right, bottom))
    return sorted(found)
