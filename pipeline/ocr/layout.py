"""From runs of text to lines in reading order: rows, gaps, columns, regions. Pure."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from statistics import median

from build_dataset.pipeline.ocr import glyphs
from build_dataset.pipeline.ocr.columns import find_gutter
from build_dataset.pipeline.ocr.model import EDGE, PageLine, PageRegion, Rect, TextRun, bounding_box, group_while
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import LineKind

_P = Patterns(__name__)
TAB_GAP = 1.5  # Gap between words, in em, above which a tab stands between them: options side by side, cells of a grid
SPACE_GAP = 0.2  # Gap in em above which a space stands between Latin words whose space was not a character
OCR_MARGIN = 0.4
"""Em by which the gap between two recognised words exceeds that of their boxes: detection grows them at both ends."""
SCRIPT_SIZE = 0.9
"""Letters smaller than this share of the line's, off its baseline, are its scripts: at .58 to .67, in Taiwan at .83."""
SMALL_SCRIPT = 0.75
"""Letters of at most this share of the line's size are subscripts however little they are lowered: Na₂O by .05 em."""
LEAST_SHIFT = 0.15
"""Share of the line's size by which digits as large as the line (word processors raise text without making it smaller)
stand off its baseline at least to be its super- and subscripts: 10⁹. Fonts of one line differ by .05."""
_OPENING = "（([【〔［《〈「『“‘"
_CLOSING = "）)]】〕］》〉」』”’"
CLOSE = 0.6
"""White space in em up to which text goes on: words of a line stand apart by .25 to .5, a label and a text by more."""
OVER_TEXT = 2
"""Least number of rows that cross a figure's edge, or open options in it, for it to lie over text: one may touch it."""
APART = 0.05
"""Least white space in em around a rule between two cells; the frame of a seal cuts through 10⁹ without any."""
GUTTER_GAP = 0.5
"""White space in em that parts two columns at the gutter: narrow gutters are no wider than gaps between words."""
_SPANNING = -1  # column of a line across the gutter


def arrange(
    runs: Sequence[TextRun], regions: Sequence[PageRegion], page: Rect, rules: Sequence[Rect] = ()
) -> list[PageLine]:
    """Lines of a page in reading order.

    Words on one baseline in one column are one line, with a tab where the gap is wider than ``TAB_GAP`` em or one of
    ``rules`` stands in it. Lines that span both columns split the page into bands; in a band the left column comes
    first. Regions stand where their top edge falls in their column; labels inside a figure are lines of kind figure.
    """
    figures = [region.box for region in regions if region.kind is LineKind.FIGURE]
    labels = _labels(runs, figures) if figures else []
    body = [run for run in runs if run not in labels] if labels else list(runs)
    rows = [split_row(_mark_cells(row, rules)) for row in group_rows(body)]
    running = _running_rows(rows, page)
    parts = [segment for index, row in enumerate(rows) if index not in running for segment in row]
    gutter = find_gutter([(segment_box(part), segment_text(part)) for part in parts], page.width)
    cuts = [None if index in running else gutter for index in range(len(rows))]
    joined = [part for row, cut in zip(rows, cuts, strict=True) for part in _columns(row, cut)]
    lines = [_line(row, gutter) for row in joined]
    lines += [replace(_line(row, gutter), kind=LineKind.FIGURE) for row in group_rows(labels)]
    lines += [PageLine("", region.box, region.kind, _column(region.box, gutter)) for region in regions]
    return reading_order(lines, gutter)


def _labels(runs: Sequence[TextRun], figures: Sequence[Rect]) -> list[TextRun]:
    """The runs that are labels of figures. A seal over lines has none, and nothing that goes on outside is one."""
    parts = [part for row in group_rows(runs) for part in split_row(row, CLOSE)]
    found: list[TextRun] = []
    for figure in figures:
        inside = [[run for run in part if _within(run, figure)] for part in parts]
        whole = [part for part, own in zip(parts, inside, strict=True) if len(own) == len(part)]
        across = sum(0 < len(own) < len(part) for part, own in zip(parts, inside, strict=True))
        if across + sum(bool(_P.opens.match(segment_text(part))) for part in whole) < OVER_TEXT:
            found += [run for part in whole for run in part]
    return found


def _running_rows(rows: Sequence[Sequence[list[TextRun]]], page: Rect) -> set[int]:
    """The outermost rows at the edges that white space of a line parts from the rest: one line on any page.

    A footer with words left and right would otherwise be cut by the gutter of a page of two columns.
    """
    boxes = [segment_box([run for segment in row for run in segment]) for row in rows]
    if len(boxes) < 3:  # head, text and foot
        return set()
    by_top, by_end = sorted(boxes, key=lambda box: box.y0), sorted(boxes, key=lambda box: -box.y1)
    (first, second), (last, before) = by_top[:2], by_end[:2]
    head = first.y1 < page.y0 + EDGE * page.height and second.y0 - first.y1 > first.height
    foot = last.y0 > page.y1 - EDGE * page.height and last.y0 - before.y1 > last.height
    return {boxes.index(box) for box, running in ((first, head), (last, foot)) if running}


def _within(run: TextRun, figure: Rect) -> bool:
    """Return whether a run stands in a figure; axes have labels that stand out by a character or two."""
    out = max(figure.x0 - run.box.x0, run.box.x1 - figure.x1)  # by how much it stands out at a side
    return run.box.overlap(figure) > 0.6 * run.box.area and out < 2 * run.size


def _mark_cells(row: list[TextRun], rules: Sequence[Rect]) -> list[TextRun]:
    """The row, its runs marked that a vertical rule parts from the run before."""
    if not rules or len(row) < 2:
        return row
    edges = [rule.x0 for rule in rules if rule.y0 - 1 <= row[0].box.middle <= rule.y1 + 1]
    for last, run in pairwise(row):
        apart = run.box.x0 - last.box.x1 > APART * run.size
        run.new_cell = apart and any(last.box.x1 - 1.5 <= edge <= run.box.x0 + 1.5 for edge in edges)
    return row


def group_rows(runs: Iterable[TextRun]) -> list[list[TextRun]]:
    """Runs that share a baseline, each group sorted from left to right.

    Larger runs are placed first; a smaller one (a superscript, an index) joins the row it stands in.
    """
    rows, leads = list[list[TextRun]](), list[TextRun]()
    buckets: dict[int, list[int]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (-round(run.size), run.box.y0, run.box.x0)):
        found = ((_row_distance(run, leads[index], rows[index]), index) for index in _near(run, buckets))
        near = [(distance, index) for distance, index in found if distance is not None]
        index = min(near, key=lambda pair: pair[0])[1] if near else len(rows)
        if index == len(rows):
            rows.append([])
            leads.append(run)
            buckets[int(run.baseline // 8)].append(index)
        rows[index].append(run)
    # Digits that are raised or lowered at the size of their line stand in its row: the 9 of 10⁹.
    for row in rows:
        if len(row) == 1 and row[0].confidence is None and _P.signs.fullmatch(row[0].text.strip()):
            others = (rows[index] for index in _near(row[0], buckets))
            base = next((other for other in others if any(_carries(one, row[0]) for one in other)), None)
            if base is not None:
                base.append(row.pop())
    return [sorted(row, key=lambda run: (run.box.x0, run.box.x1)) for row in rows if row]


def _carries(base: TextRun, run: TextRun) -> bool:
    """Return whether a run follows a letter, a digit or a bracket closely, at the same size and off its baseline."""
    shift, gap = abs(run.baseline - base.baseline), run.box.x0 - base.box.x1
    off = LEAST_SHIFT * base.size < shift < 0.6 * base.size and abs(gap) < 0.15 * base.size
    return off and base.confidence is None and re.search(r"[\w)）]$", base.text) is not None


def _near(run: TextRun, buckets: dict[int, list[int]]) -> Iterator[int]:
    """Indices of rows whose first run stands at nearly the height of a run."""
    bucket = int(run.baseline // 8)
    for key in range(bucket - 3, bucket + 4):  # 24 points up and down: a raised 9 beside large type
        yield from buckets.get(key, ())


def _row_distance(run: TextRun, lead: TextRun, row: list[TextRun]) -> float | None:
    """Return how far a run is from a row's baseline in points, None where it does not belong."""
    if run.confidence is not None:  # boxes of words differ: that of a number ends above or below its stem's
        found = (
            (min(abs(run.baseline - one.baseline), abs(run.box.middle - one.box.middle)), one.size)
            for one in _beside(run, row)
        )
        distance, size = min(found)
        return distance if distance <= 0.45 * min(run.size, size) else None
    distance = abs(run.baseline - lead.baseline)
    if run.size >= SCRIPT_SIZE * lead.size:
        return distance if distance <= 0.35 * run.size else None
    # A small run belongs to a row as its super- or subscript only beside one of its words: other small
    # print (a footnote, a label in a figure) at the same height is a row of its own.
    box, reach = run.box, 0.6 * lead.size
    beside = any(max(box.x0 - other.box.x1, other.box.x0 - box.x1) < reach for other in row)
    return distance if distance <= 0.15 * lead.size or (beside and distance <= reach) else None


def _beside(run: TextRun, row: Sequence[TextRun]) -> list[TextRun]:
    """Return the words of a row right before and behind a run, since a row may lean; one that it overlaps is both."""
    gaps = [(max(one.box.x0 - run.box.x1, run.box.x0 - one.box.x1), at) for at, one in enumerate(row)]
    sides = [[gap for gap in gaps if (row[gap[1]].box.x0 < run.box.x0) is left] for left in (True, False)]
    nearest = sorted(min(side) for side in sides if side)
    return [row[at] for gap, at in nearest if gap >= 0 or gap == nearest[0][0]]


def split_row(row: list[TextRun], gap: float = TAB_GAP) -> list[list[TextRun]]:
    """A row cut where the white space is wider than ``gap`` em."""
    return group_while(row, lambda part, run: not run.new_cell and _white(part[-1], run) <= gap * _em(part[-1], run))


def _white(last: TextRun, run: TextRun) -> float:
    return run.box.x0 - last.box.x1 + (OCR_MARGIN * _em(last, run) if run.confidence is not None else 0.0)


def _em(first: TextRun, second: TextRun) -> float:
    return max(first.size, second.size)


def segment_box(segment: Sequence[TextRun]) -> Rect:
    """The box around all runs of a segment."""
    return bounding_box([run.box for run in segment])


def segment_text(segment: Sequence[TextRun]) -> str:
    """The text of runs that stand beside each other, with spaces and tabs where the gaps say so."""
    if len(segment) == 1:
        return segment[0].text.strip(" ")
    lengths: dict[int, int] = defaultdict(int)  # Characters by size in points; a question's number may be the largest
    for run in segment:
        lengths[round(run.size)] += len(run.text)
    size = max(lengths, key=lambda size: (lengths[size], size))
    main = max((run for run in segment if round(run.size) == size), key=lambda run: len(run.text))
    parts = [_script(segment[0], main, None)]
    for last, run in pairwise(segment):
        text = _script(run, main, last)
        parts += [_joint(last, run, parts[-1], text), text]
    return "".join(parts).strip(" ")


def _script(run: TextRun, main: TextRun, last: TextRun | None) -> str:
    text = run.text
    large = run.size >= SCRIPT_SIZE * main.size
    if run.confidence is not None or (large and not (last and _carries(last, run))):
        return text
    shift = run.baseline - main.baseline
    small = run.size <= SMALL_SCRIPT * main.size
    if not (small or _P.signs.fullmatch(text.strip())) or (large and abs(shift) < LEAST_SHIFT * main.size):
        return text
    if shift < -0.15 * main.size:  # above the line: ⁹
        return glyphs.superscript(text.strip())
    if shift > (0.03 if small else 0.08) * main.size:  # below it: the 2 of Na₂O by .05
        return glyphs.subscript(text.strip())
    return text


def _joint(last: TextRun, run: TextRun, before: str, after: str) -> str:
    """Return what stands between two runs: a tab, a space or nothing; a gap inside brackets is a blank to fill in."""
    if run.new_cell:
        return "\t"
    em = _em(last, run)
    gap = _white(last, run)
    inside = before[-1:] in _OPENING or after[:1] in _CLOSING
    if gap > TAB_GAP * em:  # A.胃炎      B.肝炎
        return "  " if inside else "\t"
    if last.space_after:  # as the file says: Helicobacter pylori
        return " " if gap > 0.15 * em else ""  # justified text: spaces that are no gap
    if run.confidence is not None:  # detection parts words only where it sees a gap, as between 11 and A向甲借款
        return " " if gap > OCR_MARGIN * em or before.isdecimal() else ""
    latin = not (glyphs.is_cjk(before[-1:]) or glyphs.is_cjk(after[:1]))
    return " " if latin and gap > SPACE_GAP * em else ""


def _columns(row: list[list[TextRun]], gutter: float | None) -> list[list[TextRun]]:
    """The segments of one row, cut at the gutter, those of the same column put together again."""
    joined: list[list[TextRun]] = []
    for segment in row if gutter is None else [part for one in row for part in _cut(one, gutter)]:
        column = _column(segment_box(segment), gutter)
        if joined and _column(segment_box(joined[-1]), gutter) == column:
            joined[-1].extend(segment)
        else:
            joined.append(list(segment))
    return joined


def _cut(segment: list[TextRun], gutter: float) -> list[list[TextRun]]:
    """A segment in two where white space stands in the gutter; whole where text runs through it."""
    for place in range(1, len(segment)):
        last, run = segment[place - 1], segment[place]
        if last.box.x1 <= gutter + 1 and run.box.x0 >= gutter - 1:
            wide = _white(last, run) >= GUTTER_GAP * _em(last, run)
            return [segment[:place], segment[place:]] if wide else [segment]
    return [segment]


def _line(row: list[TextRun], gutter: float | None) -> PageLine:
    """The line of a row, as sure as the least sure of its runs."""
    box = segment_box(row)
    confidence = min((run.confidence for run in row if run.confidence is not None), default=None)
    unsure = tuple(one for run in row for one in run.unsure)
    return PageLine(segment_text(row), box, column=max(0, _column(box, gutter)), confidence=confidence, unsure=unsure)


def _column(box: Rect, gutter: float | None) -> int:
    """0 left, 1 right, ``_SPANNING`` across the gutter."""
    if gutter is None or box.x1 <= gutter + 1:  # a point for edges that touch the gutter
        return 0
    return 1 if box.x0 >= gutter - 1 else _SPANNING


def reading_order(lines: list[PageLine], gutter: float | None) -> list[PageLine]:
    """Lines sorted top to bottom, column by column within the bands that spanning lines cut."""
    lines = [line for line in lines if line.text.strip() or line.kind is not LineKind.TEXT]
    typical = median([line.box.height for line in lines if line.box and line.text] or [10.0])

    def top(line: PageLine) -> tuple[float, float]:
        assert line.box is not None
        return (line.box.y0 + (0.3 * typical if line.text else 0.0), line.box.x0)

    bands, placed = 0, []
    for line in sorted(lines, key=top):
        spans = line.box is not None and _column(line.box, gutter) == _SPANNING
        bands, line.column = bands + spans, 0 if spans else line.column
        placed.append(((bands, not spans, line.column, *top(line)), line))
    return [line for _, line in sorted(placed, key=lambda found: found[0])]
