"""Flatten the picture of a page: perspective and curl, by its lines of text. Pure.

Pieces of lines are found as ink that stands side by side. A smooth field of shifts (a coarse grid) is fitted so that
the middle of every piece becomes level, and a shear so that lines begin and end below each other. A page that is flat,
or only turned by a degree, is left as it is: layout straightens it without touching its pixels.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.ocr.interfaces import Pixels
from build_dataset.pipeline.ocr.model import Rect

Floats: TypeAlias = NDArray[np.float64]
NODES = (9, 15)
"""Rows and columns of the grid. Curl changes along lines: 15 columns follow a page-wide sine to a tenth of a line."""
_SIDE = 1400  # Longer side in pixels of the copy that lines are looked for in: 7 pt type is 12 pixels high on A4
_LETTER = (5, 60)  # Height in pixels of letters on the copy
_LONG = 7.0  # Length in heights of a letter from which a piece of a line counts
_ENOUGH = 6  # Pieces of lines, fewer say nothing about a page
_STIFF, _LEVEL = 1.5, 1e-3
"""Weights against bending between nodes and against any shift, beside a weight of one for each point of a line."""
_FLAT = 0.12
"""Largest distance of a line from a straight turned one, in heights of a letter, on a flat page: rows part at .45."""
_TURNED = 0.0175  # Slope of lines, 1 degree, up to which a page is left as it is
_BETTER = 0.5  # Share of the pieces' unevenness that may be left
_SHEARS = np.linspace(-0.08, 0.08, 33)  # Slopes of margins: .08 is 4.6 degrees
_CLEAR = 1.1  # Factor by which lines begin and end better below each other, for a shear to be believed


class Flat(NamedTuple):
    """A flattened page."""

    pixels: Pixels
    nodes: Floats | None = None
    """Of a grid of nodes over the flat page, rows x columns, x and y on the page as it was, 0..1; None where flat."""


class _Pieces(NamedTuple):
    """Points on the middle of pieces of lines, in pixels of the small copy."""

    points: Floats  # x and y
    owners: NDArray[np.int64]  # Index of the piece of each point
    ends: Floats  # Left, right and middle height of each piece
    height: float  # Of a letter


def flatten(pixels: Pixels) -> Flat:
    """Return a page, RGB, with level lines and upright margins; the same pixels where it is flat."""
    scale = _SIDE / max(pixels.shape[:2])
    size = (max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale)))
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, size, interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR)
    pieces = _pieces(np.asarray(small, dtype=np.uint8))
    if pieces is None or (found := _field(pieces, size)) is None:
        return Flat(pixels)
    field, slope = found
    x, y = np.meshgrid(np.linspace(0, size[0], NODES[1]), np.linspace(0, size[1], NODES[0]))
    places = np.stack([x + _shear(pieces, size, slope, x, y), y], axis=2) / size
    places[:, :, 1] += (_weights(places.reshape(-1, 2), NODES) @ field).reshape(NODES) / size[1]
    middles = ((np.arange(side) + 0.5) / side for side in pixels.shape[:2])
    down, across = map(_tents, middles, NODES)
    shape = enumerate((pixels.shape[1], pixels.shape[0]))
    right, below = ((down @ places[:, :, axis] @ across.T * side - 0.5).astype(np.float32) for axis, side in shape)
    moved = cv2.remap(
        pixels, right, below, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )  # Each pixel from where it was
    return Flat(np.asarray(moved, dtype=np.uint8), places)


def unflatten(box: Rect, nodes: Floats, width: float, height: float) -> Rect:
    """Return where a box of a flat page stands on the page as it was, of so many points."""
    places = [(x / width, y / height) for x in (box.x0, (box.x0 + box.x1) / 2, box.x1) for y in (box.y0, box.y1)]
    found = _weights(np.array(places), nodes.shape) @ nodes.reshape(-1, 2) * (width, height)
    return Rect(*found.min(axis=0).tolist(), *found.max(axis=0).tolist())


def _pieces(grey: Pixels) -> _Pieces | None:
    """Return the pieces of lines on a grey page; None for fewer than say something."""
    ink = cv2.adaptiveThreshold(grey, 1, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY_INV, 31, 18)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(ink)
    width, height = stats[:, 2], stats[:, 3]
    letters = (height >= _LETTER[0]) & (height <= _LETTER[1]) & (width <= 3 * _LETTER[1])
    letters[0] = False
    large = np.sort(height[letters & (width >= 0.5 * height)])
    if len(large) < 10 * _ENOUGH:
        return None
    letter = float(large[int(0.7 * len(large))])  # parts of ideographs are components too: whole ones are higher
    letters &= (height <= 2.2 * letter) & (width <= 8 * letter)
    text = np.asarray(letters[labels], dtype=np.uint8)
    joined = cv2.morphologyEx(text, cv2.MORPH_CLOSE, np.ones((1, max(3, round(1.2 * letter))), np.uint8))
    found = list(_middles(joined, text, letter))
    if len(found) < _ENOUGH:
        return None
    owners = np.repeat(np.arange(len(found)), [len(points) for points, _ in found])
    ends = np.array([[*end, points[:, 1].mean()] for points, end in found])
    return _Pieces(np.concatenate([points for points, _ in found]), owners, ends, letter)


def _middles(joined: Pixels, text: Pixels, letter: float) -> Iterator[tuple[Floats, tuple[float, float]]]:
    """Yield points on the middle of each long thin group of letters, and its ends."""
    _, labels, stats, _ = cv2.connectedComponentsWithStats(joined)
    for label, (left, top, width, height, _) in enumerate(stats.tolist()):
        if label == 0 or width < _LONG * letter or not 0.5 * letter <= height <= 1.8 * letter + 0.12 * width:
            continue
        box = np.s_[top : top + height, left : left + width]
        own = (labels[box] == label) & (text[box] > 0)
        step = max(1, round(1.5 * letter))
        starts = np.arange(0, width, step)
        mass = np.add.reduceat(own.sum(axis=0), starts)
        lows = np.add.reduceat((own * np.arange(height)[:, None]).sum(axis=0), starts)
        dense = mass > 0.1 * step * letter
        if dense.sum() < 4:
            continue
        middle = lows[dense] / mass[dense] + top
        x = left + starts[dense] + step / 2
        if np.abs(np.diff(middle)).max() < letter:  # else two lines grew together
            yield np.column_stack([x, middle]).astype(np.float64), (float(left), float(left + width))


def _field(pieces: _Pieces, size: tuple[int, int]) -> tuple[Floats, float] | None:
    """Return the shift down of every node that makes the pieces level, and their mean slope; None for a flat page."""
    points, owners = pieces.points, pieces.owners
    count = np.bincount(owners)
    level = np.bincount(owners, points[:, 1]) / count
    matrix = _weights(np.column_stack([points[:, 0], level[owners]]) / size, NODES)
    sums = np.zeros((len(count), matrix.shape[1]))
    np.add.at(sums, owners, matrix)
    matrix = np.asarray(matrix - (sums / count[:, None])[owners], np.float64)
    apart = points[:, 1] - level[owners]
    rows, columns = NODES
    second = [np.diff(np.eye(count), 2, axis=0) for count in NODES]
    along, across = np.kron(np.eye(rows), second[1]), np.kron(second[0], np.eye(columns))
    twist = np.kron(np.diff(np.eye(rows), axis=0), np.diff(np.eye(columns), axis=0))
    bend = _STIFF * (along.T @ along + 4 * across.T @ across + 0.5 * twist.T @ twist) + _LEVEL * np.eye(rows * columns)
    trust: Floats = np.ones(len(apart))
    field: Floats = np.zeros(matrix.shape[1])
    for _ in range(4):
        normal = matrix.T @ (matrix * trust[:, None]) + bend
        field = np.asarray(np.linalg.solve(normal, matrix.T @ (apart * trust)), dtype=np.float64)
        left = np.abs(matrix @ field - apart)
        trust = 1 / np.maximum(1.0, left / (0.15 * pieces.height))  # few points far off count little
    x = points[:, 0] - np.bincount(owners, points[:, 0])[owners] / count[owners]
    slope = float(x @ (matrix @ field)) / max(float(x @ x), 1e-9)
    unlevel = np.percentile(np.abs(matrix @ field - slope * x), 98)
    before = np.percentile(np.abs(apart - slope * x), 90)
    after = np.percentile(np.abs(apart - matrix @ field), 90)
    bent = unlevel > _FLAT * pieces.height and after < _BETTER * before
    return (field, slope) if bent or abs(slope) > _TURNED else None


def _weights(places: Floats, shape: Sequence[int]) -> Floats:
    """Return the share of every node of a grid, rows x columns, at places x, y from 0 to 1: bilinear."""
    down, across = _tents(places[:, 1], shape[0]), _tents(places[:, 0], shape[1])
    return (down[:, :, None] * across[:, None, :]).reshape(len(places), -1)


def _tents(places: Floats, count: int) -> Floats:
    """Return the share of each of ``count`` nodes in a row at places from 0 to 1."""
    shares: Floats = np.maximum(0.0, 1 - np.abs(np.clip(places, 0, 1)[:, None] * (count - 1) - np.arange(count)))
    return shares


def _shear(pieces: _Pieces, size: tuple[int, int], slope: float, x: Floats, y: Floats) -> Floats:
    """Return how far right of a place of the flat page its ink stands: margins are slanted, left and right differently.

    The slopes are those with which most pieces begin, and end, at the same x; without such, as ``slope`` turns them.
    """
    left, right, height = pieces.ends.T
    down = height - size[1] / 2

    def aligned(slope: Floats, edge: Floats) -> float:
        counts = np.bincount(np.maximum(0, ((edge - slope * down) / pieces.height + 20).astype(int)))
        return float((np.convolve(counts, [0.5, 1, 0.5]) ** 2).sum())

    def score(p: float, q: float) -> float:
        return sum(aligned(p + (q - p) * edge / size[0], edge) for edge in (left, right))

    best = max((score(p, q), -abs(p) - abs(q), p, q) for p in _SHEARS for q in _SHEARS if abs(p - q) < 0.09)
    p, q = best[2:] if best[0] > _CLEAR * score(-slope, -slope) else (-slope, -slope)
    return np.asarray((p + (q - p) * x / size[0]) * (y - size[1] / 2), dtype=np.float64)
