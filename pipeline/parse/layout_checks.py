"""Checks of the layout: what lines may have held that were not read, by the room that they left."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import pairwise

from build_dataset.pipeline.parse.checks import Checks, Judged
from build_dataset.pipeline.parse.draft import Draft, text_of
from build_dataset.pipeline.parse.fields import split_fields
from build_dataset.pipeline.parse.labels import find_labels, has_label
from build_dataset.pipeline.parse.line_gaps import MIN_LOST, LineGaps, white_between
from build_dataset.pipeline.parse.lines import REGIONS, is_complete_line, place_of
from build_dataset.pipeline.parse.options import find_run
from build_dataset.schemas.grouping import group_values

BEFORE_LABEL = 1.5  # the room, in lines, that may stand before the line of an option
INSIDE, BESIDE = Checks("question"), Checks("paper")
Findings = Iterable[tuple[Draft, str]]


@INSIDE("room_inside", "1. 首选的是 / (a line that was not read) / A. 甲")
def _room_inside(draft: Draft, judged: Judged) -> Iterable[str]:
    gaps = judged.gaps
    if not gaps.drawn or draft.suffix:
        return
    next_lost = any((gap.section, gap.number) == (draft.section, (draft.number or 0) + 1) for gap in judged.paper.gaps)
    for above, below in (*gaps.inside(draft), *gaps.after(draft)):
        at_edge, lost = place_of(above) in gaps.breaks, gaps.holes.get(place_of(above), 0.0)
        label = has_label(below.text) and not at_edge and not next_lost and lost < BEFORE_LABEL
        stops = above.text.rstrip().endswith("。")  # the end of a case may stand before the line that asks
        if lost and not (label and is_complete_line(above, judged.edges, by_words=not stops)):
            yield f"there is room for a line after {above.text[-20:]!r}"
            return
    for above, below in pairwise(draft.pieces):
        ends = has_label(below.text) and not has_label(above.text)
        if ends and place_of(above) in gaps.breaks and not is_complete_line(above, judged.edges):
            yield f"a page ends after {above.text[-20:]!r}, which may go on"
            return


@BESIDE("may_hold_another", "5. 首选的是 … / (6 was not read) 乙的首选是 … / 7. …")
def _beside_lost_number(judged: Judged) -> Findings:
    """Find the question before a number that was not found, and what is shared after it: it may hold its text."""
    lacking = {gap.section for gap in judged.paper.gaps}
    items = [item for item in judged.paper.items if item.section in lacking and item.number]
    by_number = group_values(((draft.section, draft.number or 0), draft) for draft in items)
    by_group = group_values(((draft.section, draft.group), draft) for draft in items)
    numbers = group_values(sorted(by_number))
    looked = set[int]()
    for gap in judged.paper.gaps:
        at = bisect_left(numbers[gap.section], gap.number)
        below, above = numbers[gap.section][max(0, at - 1) : at], numbers[gap.section][at : at + 1]
        before = [draft for number in below for draft in by_number[gap.section, number]]
        after = [draft for number in above for draft in by_number[gap.section, number]]
        known = {draft.group for draft in before}
        grouped = (draft for draft in after if draft.group_headed or draft.shared_options)
        opened = {draft.group for draft in grouped if (draft.group_first or 0) <= gap.number} - known
        fresh = [draft for draft in before if id(draft) not in looked]
        doubtful = [(draft, _may_hold_more(draft, judged.gaps)) for draft in fresh]
        looked.update(map(id, before))
        shared = (draft for group in opened for draft in by_group[gap.section, group])
        doubtful += [(draft, "what is shared may hold it") for draft in shared]
        for draft, why in doubtful:
            if why and "may_hold_another" not in dict(draft.flags):
                yield draft, f"number {gap.number} was not found; {why}"


def _may_hold_more(draft: Draft, gaps: LineGaps) -> str | None:
    """Why the question before a lost number cannot be shown to be whole and alone; None where it can."""
    if any(piece.kind in REGIONS for piece in draft.pieces):
        return "a figure or table stands in it"
    if gaps.drawn and not all(is_complete_line(piece, gaps.edges) for piece in draft.pieces[-1:]):
        return "its last line is full, and nothing shows where it ends"
    if draft.shared_options or draft.suffix or not draft.options:
        return "it has several lines" if len(draft.pieces) > 1 else None
    text = text_of(draft.pieces)
    head = split_fields(text).head
    first = [label for label in find_labels(head) if label.letter == "A" and label.strength > 1]
    run = find_run(head)
    if len(first) != 1 or run is None:  # A. 甲 B. 乙 A. 丙 B. 丁
        return "options may begin twice"
    if "\n" in head[run.last :].strip():  # D. 丁 / 5 首选的是
        return "lines follow its last option"
    behind = find_run(text[len(head) :])
    if behind is not None and len(behind.options) >= min(3, len(draft.options)):
        return "options stand after its answer"
    return _not_closed(draft, gaps)


def _not_closed(draft: Draft, gaps: LineGaps) -> str | None:
    """Return why lost lines may have stood inside a question: room between its lines, or the end of a page."""
    if not any(piece.box for piece in draft.pieces):
        return None
    if any(place_of(above) in gaps.breaks for above in draft.pieces[:-1]):
        return "it crosses a column or a page"
    white = [white for pair in pairwise(draft.pieces) if (white := white_between(pair)) is not None]
    most = min([gaps.usual, *white]) + MIN_LOST * gaps.height
    return "room stands between its lines" if white and max(white) > most else None


@BESIDE("may_hold_another", "（4）甲… holds a line （5）乙… that was not taken for a number")
def _unchosen_numbers(judged: Judged) -> Findings:
    """Find questions that hold a line which begins like another, and who has its number, with their group."""
    # The item with that number may belong to a section whose head was not read.
    unchosen = judged.paper.outline.unchosen_numbers
    items = [draft for draft in judged.paper.items if draft.pieces] if unchosen else []
    begins = [place_of(draft.pieces[0]) for draft in items]
    named = group_values(((draft.run, draft.number), draft) for draft in items)
    groups = group_values((draft.group, draft) for draft in items)
    holders = group_values((place_of(piece), draft) for draft in items for piece in draft.all_pieces)
    for piece, number in unchosen:
        at = bisect_right(begins, place_of(piece))  # the item that holds the line
        same = named.get((items[at - 1].run, number), []) if at else []
        related = [draft for group in {draft.group for draft in same if draft.group} for draft in groups[group]]
        for draft in {id(member): member for member in (*holders[place_of(piece)], *same, *related)}.values():
            yield draft, f"a line begins like number {number}: {piece.text[:20]!r}"
