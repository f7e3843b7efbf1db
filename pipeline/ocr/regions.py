"""Figures and ruled tables of a page from its vector drawings and images. Pure, except for asking the page."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.ocr.model import PageRegion, Rect, TextRun, bounding_box, group_while
from build_dataset.schemas.documents import LineKind
from build_dataset.schemas.grouping import group_values

_THIN = 3.0  # A path thinner than this in points is a rule
MAX_RECTS = 4000
"""Drawings with more pieces than this are clustered by a sample of them: clusters cost the square of it."""
PROSE = 10
"""Least number of ideographs (letters count half) of one line inside a picture that lies under text: labels in
figures are shorter. A stamp over a page has ten and more from nearly every line that crosses it."""


@dataclass(slots=True)
class Drawing:
    """The drawings of a page, without its text."""

    across: list[Rect] = field(default_factory=list)  # Horizontal rules
    down: list[Rect] = field(default_factory=list)  # Vertical rules
    shapes: list[Rect] = field(default_factory=list)  # Everything else: curves, slanted lines, filled areas
    images: list[Rect] = field(default_factory=list)

    @property
    def pieces(self) -> int:
        """Return how many rules and shapes there are."""
        return len(self.across) + len(self.down) + len(self.shapes)


def read_drawing(page: Any, images: Sequence[dict[str, Any]]) -> Drawing:
    """Rules, shapes and images (of ``page.get_image_info()``) of a page without rotation, small dots left out."""
    frame = Rect(*page.rect)
    across, down, shapes = set[Rect](), set[Rect](), set[Rect]()
    for path in page.get_cdrawings():
        if path.get("fill") == (1.0, 1.0, 1.0) and path["type"] == "f":
            continue
        for box in _pieces(path):
            rect = Rect(*(round(edge, 1) for edge in box))
            if rect.height < _THIN and rect.width >= 2 * _THIN:
                across.add(rect)
            elif rect.width < _THIN and rect.height >= 2 * _THIN:
                down.add(rect)
            elif rect.area < 0.9 * frame.area and max(rect.width, rect.height) >= _THIN:
                shapes.add(rect)
    return Drawing(sorted(across), sorted(down), sorted(shapes), image_boxes(page, images))


def image_boxes(page: Any, images: Sequence[dict[str, Any]]) -> list[Rect]:
    """Return where images stand as displayed, dots and hairlines left out; arguments as of ``read_drawing``."""
    frame = Rect(*page.rect)
    large = (info for info in images if min(info["width"], info["height"]) > 4)  # pixels; smaller are dots
    boxes = (Rect(*info["bbox"]).within(frame) for info in large)
    return [box for box in boxes if min(box.width, box.height) >= 6]  # points: less is a hairline


def _pieces(path: dict[str, Any]) -> Iterable[Sequence[float]]:
    """Boxes of a path's items; a stroked rectangle gives its four sides."""
    for item in path["items"]:
        kind = item[0]
        if kind == "l":
            (x0, y0), (x1, y1) = item[1], item[2]
            yield min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)
        elif kind == "re":
            x0, y0, x1, y1 = item[1]
            if "s" in path["type"] and min(x1 - x0, y1 - y0) >= _THIN:
                yield from ((x0, y0, x1, y0), (x0, y1, x1, y1), (x0, y0, x0, y1), (x1, y0, x1, y1))
            else:
                yield x0, y0, x1, y1
        else:
            points = [point for point in item[1:] if isinstance(point, tuple)]  # one of a quad is four
            if len(corners := np.array(points, dtype=float).reshape(-1, 2)):
                yield (*corners.min(axis=0).tolist(), *corners.max(axis=0).tolist())


def find_regions(drawing: Drawing, runs: Sequence[TextRun], page: Rect) -> list[PageRegion]:
    """Tables (rules that form a grid) and figures (images, clusters of shapes), top to bottom.

    Small images are formulas, in a corner of a page pieces of its frame. A cluster of shapes around prose decorates.
    """
    tables, loose = _tables(drawing)
    regions = [PageRegion(LineKind.TABLE, box) for box in tables]
    drawn = _without_shading(drawing.shapes, runs) + loose
    vectors = [box for box in _figures(drawn) if not _inside_any(box, tables)]
    regions += [PageRegion(LineKind.FIGURE, box) for box in vectors if not _holds_prose(box, runs)]
    size = float(np.median([run.size for run in runs])) if runs else 10.0
    # A stamp or a watermark lies under lines. Producers cut images in strips, as wide as each other, that touch.
    images = sorted(drawing.images, key=lambda box: (box.x0, box.y0))
    strips = group_while(
        images,
        lambda own, box: max(map(abs, np.subtract(own[-1][::2], box[::2]))) < 1 and abs(own[-1].y1 - box.y0) < 1.5,
    )
    pictures = [box for box in map(bounding_box, strips) if not (runs and lies_under_text(box, runs))]
    for box in map(bounding_box, cluster_boxes(pictures, 1.5)):
        if box.area < 0.85 * page.area and not _inside_any(box, vectors):
            small = box.height < 1.8 * size
            if not small or max(min(box.x0, page.x1 - box.x1), min(box.y0, page.y1 - box.y1)) >= 1:
                regions.append(PageRegion(LineKind.FORMULA if small else LineKind.FIGURE, box))
    return sorted(regions, key=lambda region: (region.box.y0, region.box.x0))


def find_scan_regions(drawing: Drawing, runs: Sequence[TextRun], page: Rect) -> list[PageRegion]:
    """Tables and figures of a scanned page, top to bottom; the drawing has boxes of other ink as its images."""
    tables, loose = _tables(drawing)
    pieces = [box for box in [*drawing.images, *_figures(loose)] if not _inside_any(box, tables)]
    whole = [box for box in map(bounding_box, cluster_boxes(pieces, 4.0)) if box.area < 0.7 * page.area]
    figures = [box for box in whole if not _holds_prose(box, runs)]
    regions = [PageRegion(LineKind.TABLE, box) for box in tables if not _inside_any(box, figures)]
    regions += [PageRegion(LineKind.FIGURE, box) for box in figures]
    return sorted(regions, key=lambda region: (region.box.y0, region.box.x0))


def cell_rules(drawing: Drawing, regions: Sequence[PageRegion]) -> list[Rect]:
    """The vertical rules inside tables: what stands on two sides of one are two cells."""
    tables = [region.box for region in regions if region.kind is LineKind.TABLE]
    return [rule for rule in drawing.down if any(rule.touches(table, 1.0) for table in tables)]


def _tables(drawing: Drawing) -> tuple[list[Rect], list[Rect]]:
    """Boxes of ruled tables, and the rules that belong to none."""
    tables, loose = list[Rect](), list[Rect]()
    for members in cluster_boxes(drawing.across + drawing.down, 2.5):  # points: rules that nearly meet
        box = bounding_box(members)
        if _is_grid(members) and sum(shape.touches(box, 0.0) for shape in drawing.shapes) < 4:
            tables.append(box)
        elif len(members) > 2 and box.width > 12 and box.height > 12:
            loose += members
    return tables, loose


def _is_grid(rules: Sequence[Rect]) -> bool:
    """Return whether rules form at least two cells of a table: 3 x 2 or 2 x 3 rules that run through it.

    Pieces of a rule in one line count together: borders of cells. Those of a flow chart meet, but do not run through.
    """
    box = bounding_box(rules)
    if box.width < 40 or box.height < 14:  # points: two narrow cells, one line of text
        return False
    rows: dict[int, float] = defaultdict(float)
    columns: dict[int, float] = defaultdict(float)
    for rule in rules:
        if rule.width >= rule.height:
            rows[round(rule.y0 / 4)] += rule.width  # 4 points: borders of cells drawn one by one
        else:
            columns[round(rule.x0 / 4)] += rule.height
    through = sum(length >= 0.7 * box.width for length in rows.values())
    upright = sum(length >= 0.5 * box.height for length in columns.values())
    return through >= 2 and upright >= 2 and through + upright >= 5  # 3 x 2 or 2 x 3


def _figures(pieces: Sequence[Rect]) -> list[Rect]:
    boxes = [bounding_box(group) for group in cluster_boxes(pieces, 12.0) if len(group) >= 3]
    return [box for box in boxes if min(box.width, box.height) >= 20 and max(box.width, box.height) >= 30]


def _without_shading(shapes: Sequence[Rect], runs: Sequence[TextRun]) -> list[Rect]:
    """The shapes but for highlighting: areas mostly covered by the text that stands on them."""
    if not shapes or not runs or len(shapes) > MAX_RECTS:
        return list(shapes)
    areas = np.array(shapes, dtype=np.float32)
    texts = np.array([run.box for run in runs], dtype=np.float32)
    wide = np.minimum(areas[:, None, 2], texts[:, 2]) - np.maximum(areas[:, None, 0], texts[:, 0])
    high = np.minimum(areas[:, None, 3], texts[:, 3]) - np.maximum(areas[:, None, 1], texts[:, 1])
    covered = (wide.clip(0) * high.clip(0)).sum(axis=1)
    size = (areas[:, 2] - areas[:, 0]) * (areas[:, 3] - areas[:, 1])
    return [shapes[index] for index in np.flatnonzero(covered < 0.5 * size.clip(1e-6)).tolist()]


def _holds_prose(box: Rect, runs: Sequence[TextRun]) -> bool:
    """Return whether text inside a box is sentences rather than labels: one long run, or runs that fill it."""
    inside = [run for run in runs if run.box.overlap(box) > 0.5 * run.box.area]  # half of it stands there
    if any(len(run.text) >= 15 or sum(map(glyphs.is_cjk, run.text)) >= 10 for run in inside):
        return True
    return sum(run.box.area for run in inside) > 0.4 * box.area  # text fills it: a frame around a note


def lies_under_text(box: Rect, runs: Sequence[TextRun]) -> bool:
    """Return whether lines of prose run through a picture: several, or one from side to side. One may be a caption.

    The text of a line counts together however many runs it is printed in, and only as far as it stands in the
    picture: white space at a picture's edges may reach into a line above, below or beside it.
    """
    inner = Rect(box.x0, box.y0 + 2, box.x1, box.y1 - 2)
    rows: dict[int, list[TextRun]] = {}
    for run in runs:
        if run.box.x0 < inner.x1 and run.box.x1 > inner.x0 and inner.y0 < run.box.middle < inner.y1:
            rows.setdefault(round(run.baseline / 3), []).append(run)  # 3 points: one line
    prose = [row[0] for row in rows.values() if _inside_length(row, inner) >= PROSE]
    lines = [run.baseline for run in prose]
    several = bool(lines) and max(lines) - min(lines) > 0.8 * prose[0].size
    return several or any(_crosses(row, inner) for row in rows.values())


def _crosses(row: list[TextRun], box: Rect) -> bool:
    """Return whether a line runs through the middle of a box, from one side to the other."""
    level = box.y0 + 0.15 * box.height < row[0].box.middle < box.y1 - 0.15 * box.height
    row = sorted(row, key=lambda run: run.box.x0)
    whole = all(after.box.x0 - before.box.x1 < 2 * after.size for before, after in pairwise(row))
    return level and whole and row[0].box.x0 < box.x0 - row[0].size and row[-1].box.x1 > box.x1 + row[-1].size


def _inside_length(row: list[TextRun], box: Rect) -> float:
    """Ideographs, letters as halves, of the longest text without a wide gap that stands in a box."""
    longest = length = 0.0
    end = box.x0
    for run in sorted(row, key=lambda run: run.box.x0):
        if run.box.x0 - end > 2 * run.size:  # two em: another column or cell begins
            length = 0.0
        ideographs = sum(map(glyphs.is_cjk, run.text))
        share = (min(run.box.x1, box.x1) - max(run.box.x0, box.x0)) / max(run.box.width, 0.1)
        length += min(1.0, share) * (ideographs + 0.5 * (len(run.text) - ideographs))
        longest, end = max(longest, length), max(end, run.box.x1)
    return longest


def _inside_any(box: Rect, others: Sequence[Rect]) -> bool:
    return any(box.overlap(other) > 0.7 * box.area for other in others)  # most of it, frames may stand out


def cluster_boxes(rects: Sequence[Rect], reach: float) -> list[list[Rect]]:
    """Groups of rectangles that touch, directly or through others, within ``reach`` points."""
    if not rects:
        return []
    chosen = rects[:: -(-len(rects) // MAX_RECTS)]  # every n-th, n rounded up
    x0, y0, x1, y1 = np.array(chosen, dtype=np.float32).T[:, :, None]
    meets = (x1 + reach >= x0.T) & (x0 - reach <= x1.T) & (y1 + reach >= y0.T) & (y0 - reach <= y1.T)
    _, labels = connected_components(csr_array(meets), directed=False)
    return list(group_values(zip(labels.tolist(), chosen, strict=True)).values())
