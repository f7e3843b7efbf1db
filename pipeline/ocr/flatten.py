"""Flatten the picture of a page: perspective and curl, by its lines of text. Pure.

Pieces of lines are found as ink that stands side by side. A smooth field of shifts (a coarse grid) is fitted so that
the middle of every piece becomes level, and a shear so that lines begin and end below each other. A page that is flat,
or only turned by a degree, is left as it is: layout straightens it without touching its pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

import cv2
import numpy as np
from numpy.typing import NDArray

from build_dataset.pipeline.ocr.interfaces import Pixels
from build_dataset.pipeline.ocr.model import Rect

Floats: TypeAlias = NDArray[np.float64]
NODES = (9, 15)
"""Rows and columns of the grid. Curl changes along lines: 15 columns follow a sine of a page's width to a tenth of a
line."""
_SIDE = 1400  # Longer side in pixels of the copy that lines are looked for in: 7 pt type is 12 pixels high on A4
_LETTER = (5, 60)  # Height in pixels of letters on the copy
_LONG = 7.0  # Length in heights of a letter from which a piece of a line counts
_ENOUGH = 6  # Pieces of lines, fewer say nothing about a page
_STIFF, _LEVEL = 1.5, 1e-3
"""Weights against bending between nodes and against any shift, beside a weight of one for each point of a line."""
_FLAT = 0.12
"""Largest distance of a line from a straight turned one, in heights of a letter, on a page that is left as it is: rows
are told apart at .45."""
_TURNED = 0.0175  # Slope of lines, 1 degree, up to which a page is left as it is
_BETTER = 0.5  # Share of the pieces' unevenness that may be left
_SHEARS = np.linspace(-0.08, 0.08, 33)  # Slopes of margins: .08 is 4.6 degrees
_CLEAR = 1.1  # Factor by which lines begin and end better below each other, for a shear to be believed


class Flat(NamedTuple):
    """A flattened page."""

    pixels: Pixels
    nodes: Floats | None
    """For nodes of a regular grid over the flat page, rows x columns, x and y on the page as it was, as shares of its
    width and height; None where it was flat."""


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
        return Flat(pixels, None)
    field, slope = found
    x, y = np.meshgrid(np.linspace(0, size[0], NODES[1]), np.linspace(0, size[1], NODES[0]))
    sheared = x + _shear(pieces, size, slope, x, y)
    places = np.column_stack([sheared.ravel(), np.broadcast_to(y, x.shape).ravel()])
    shift = (_weights(places, size) @ field).reshape(x.shape)
    nodes = np.stack([sheared / size[0], (y + shift) / size[1]], axis=2)
    return Flat(_moved(pixels, nodes), nodes)


def unflatten(box: Rect, nodes: Floats, width: float, height: float) -> Rect:
    """Return where a box of a flat page stands on the page as it was, of so many points."""
    corners = [(x, y) for x in (box.x0, (box.x0 + box.x1) / 2, box.x1) for y in (box.y0, box.y1)]
    xs, ys = zip(*(_was_at(nodes, x / width, y / height) for x, y in corners), strict=True)
    return Rect(min(xs) * width, min(ys) * height, max(xs) * width, max(ys) * height)


def _was_at(nodes: Floats, x: float, y: float) -> tuple[float, float]:
    rows, columns = nodes.shape[:2]
    across, down = min(max(x, 0.0), 1.0) * (columns - 1), min(max(y, 0.0), 1.0) * (rows - 1)
    left, top = min(int(across), columns - 2), min(int(down), rows - 2)
    a, b = across - left, down - top
    near = nodes[top : top + 2, left : left + 2]
    place = (1 - b) * ((1 - a) * near[0, 0] + a * near[0, 1]) + b * ((1 - a) * near[1, 0] + a * near[1, 1])
    return float(place[0]), float(place[1])


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
    reach = max(3, round(1.2 * letter))
    joined = cv2.morphologyEx(text, cv2.MORPH_CLOSE, np.ones((1, reach), np.uint8))
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
        rows = np.arange(height)[:, None]
        step = max(1, round(1.5 * letter))
        starts = np.arange(0, width, step)
        mass = np.add.reduceat(own.sum(axis=0), starts)
        lows = np.add.reduceat((own * rows).sum(axis=0), starts)
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
    matrix = _weights(np.column_stack([points[:, 0], level[owners]]), size)
    sums = np.zeros((len(count), matrix.shape[1]))
    np.add.at(sums, owners, matrix)
    matrix -= (sums / count[:, None])[owners]
    apart = points[:, 1] - level[owners]
    bend = _bending()
    trust: Floats = np.ones(len(apart))
    field: Floats = np.zeros(matrix.shape[1])
    for _ in range(4):
        normal = matrix.T @ (matrix * trust[:, None]) + bend
        field = np.linalg.solve(normal, matrix.T @ (apart * trust))
        left = np.abs(matrix @ field - apart)
        trust = 1 / np.maximum(1.0, left / (0.15 * pieces.height))  # Huber: few points far off count little
    x = points[:, 0] - np.bincount(owners, points[:, 0])[owners] / count[owners]
    slope = float(x @ (matrix @ field)) / max(float(x @ x), 1e-9)
    shifts = matrix @ field - slope * x
    unlevel = float(np.percentile(np.abs(shifts), 98))
    before = np.percentile(np.abs(apart - slope * x), 90)
    after = np.percentile(np.abs(apart - matrix @ field), 90)
    bent = unlevel > _FLAT * pieces.height and after < _BETTER * before
    return (field, slope) if bent or abs(slope) > _TURNED else None


def _bending() -> Floats:
    """Return the cost of a field that bends between its nodes, and a small one of any shift."""
    rows, columns = NODES
    second = [np.diff(np.eye(count), 2, axis=0) for count in NODES]
    along = np.kron(np.eye(rows), second[1])
    across = np.kron(second[0], np.eye(columns))
    twist = np.kron(np.diff(np.eye(rows), axis=0), np.diff(np.eye(columns), axis=0))
    cost = along.T @ along + 4 * across.T @ across + 0.5 * twist.T @ twist
    cost_of_all: Floats = _STIFF * cost + _LEVEL * np.eye(rows * columns)
    return cost_of_all


def _weights(points: Floats, size: tuple[int, int]) -> Floats:
    """Return the share of every node in the field at points: bilinear."""
    rows, columns = NODES
    across = np.clip(points[:, 0] / size[0], 0, 1) * (columns - 1)
    down = np.clip(points[:, 1] / size[1], 0, 1) * (rows - 1)
    left, top = np.minimum(across.astype(int), columns - 2), np.minimum(down.astype(int), rows - 2)
    a, b = across - left, down - top
    matrix = np.zeros((len(points), rows * columns))
    each = np.arange(len(points))
    for low, high, share in ((0, 0, (1 - a) * (1 - b)), (0, 1, a * (1 - b)), (1, 0, (1 - a) * b), (1, 1, a * b)):
        matrix[each, (top + low) * columns + left + high] += share
    return matrix


def _shear(pieces: _Pieces, size: tuple[int, int], slope: float, x: Floats, y: Floats) -> Floats:
    """Return how far right of a place of the flat page its ink stands: margins are slanted, left and right differently.

    The slopes are those with which most pieces begin, and end, at the same x; without such, as ``slope`` turns them.
    """
    left, right, height = pieces.ends.T
    down = height - size[1] / 2
    bins = pieces.height

    def aligned(slope: Floats, edge: Floats) -> float:
        counts = np.bincount(np.maximum(0, ((edge - slope * down) / bins + 20).astype(int)))
        return float((np.convolve(counts, [0.5, 1, 0.5]) ** 2).sum())

    def score(p: float, q: float) -> float:
        return sum(aligned(p + (q - p) * edge / size[0], edge) for edge in (left, right))

    best = max((score(p, q), -abs(p) - abs(q), p, q) for p in _SHEARS for q in _SHEARS if abs(p - q) < 0.09)
    p, q = best[2:] if best[0] > _CLEAR * score(-slope, -slope) else (-slope, -slope)
    shift: Floats = (p + (q - p) * x / size[0]) * (y - size[1] / 2)
    return shift


def _moved(pixels: Pixels, nodes: Floats) -> Pixels:
    """Return the page with every pixel taken from where the nodes say."""
    height, width = pixels.shape[:2]
    down, across = (_between(side, count) for side, count in zip((height, width), nodes.shape, strict=False))
    right, low = (
        (down @ nodes[:, :, axis] @ across.T * side - 0.5).astype(np.float32)
        for axis, side in enumerate((width, height))
    )
    moved = cv2.remap(pixels, right, low, cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, dtype=np.uint8)


def _between(side: int, count: int) -> Floats:
    """Return the share of each of ``count`` nodes at the middle of each of ``side`` pixels."""
    places = (np.arange(side) + 0.5) / side * (count - 1)
    shares: Floats = np.maximum(0.0, 1 - np.abs(places[:, None] - np.arange(count)))
    return shares
