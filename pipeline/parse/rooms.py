"""Gates of the layout: room on a page where lines may have stood that were not read, and what it may have held."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from math import inf
from statistics import median

from build_dataset.pipeline.parse.draft import Draft, text_of
from build_dataset.pipeline.parse.fields import split_fields
from build_dataset.pipeline.parse.heads import WITHOUT_CASE
from build_dataset.pipeline.parse.lines import REGIONS, ParsedLine, place_of
from build_dataset.pipeline.parse.options import find_labels, find_run, has_label
from build_dataset.pipeline.parse.outline import HEADS
from build_dataset.pipeline.parse.paper import Gap, ParsedPaper
from build_dataset.pipeline.parse.text import width
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.documents import Box
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
FAR, USUAL = 0.9, 0.95  # a line may be lost above so many line heights over the usual gap (95 % of gaps)
RAGGED = 0.1
"""Largest share of pages that may end higher, or begin lower, than the others because of lost lines; at least one
page."""
BEFORE_HEAD, BEFORE_KEY = 1.5, 2.5
"""The room, in lines, that may stand before a head, and before the first entry of a key without a head: 1、B."""
BEFORE_LABEL = 1.5  # the room, in lines, that may stand before the line of an option
HEADS_TELL = 4  # least number of heads that tell whether pages leave room before them
CASE_LINES = 2  # the room that the head of a shared text and its text take at least

WIDEST = 0.98  # share of lines without boxes that are within the paper's width: addresses are not
SHORT_OF = 0.6  # up to this part of its column a line ends: a long word that did not fit left 0.35 free

LinePair = tuple[ParsedLine, ParsedLine]
Place = tuple[int, int]


class ColumnEdges:
    """The right edges of the columns of a paper; of one without layout, the width of its widest lines."""

    def __init__(self, pieces: Sequence[ParsedLine]) -> None:
        widths = sorted(width(piece.text) for piece in pieces if piece.box is None)
        self.widest = widths[int(WIDEST * (len(widths) - 1))] if widths else 0
        boxes = sorted((piece.box.x0, piece.box.x1) for piece in pieces if piece.box)
        self.starts = [start for start, _ in boxes]
        self.ends = list(accumulate((end for _, end in boxes), max))

    def of(self, box: Box) -> float:
        """Return the farthest end of the lines that stand over or under a box."""
        return self.ends[bisect_left(self.starts, box.x1) - 1]

    def ends_short(self, piece: ParsedLine) -> bool:
        """Return whether a line has so much room left that the one under it does not go on from it."""
        if piece.box is None:
            return width(piece.text) < SHORT_OF * self.widest
        return piece.box.x1 - piece.box.x0 < SHORT_OF * (self.of(piece.box) - piece.box.x0)


def is_complete_line(piece: ParsedLine, edges: ColumnEdges, *, by_words: bool = True) -> bool:
    """Return whether a line ends what it says: by its words, or short of the edge of its column."""
    if piece.box is None or (by_words and _P.ends.search(piece.text.rstrip())):
        return True
    return piece.box.x1 < edges.of(piece.box) - 2 * (piece.box.y1 - piece.box.y0)


class Rooms:
    """The white between the lines of a paper, and where it holds lines that were not read."""

    def __init__(self, paper: ParsedPaper, edges: ColumnEdges) -> None:
        pieces, drafts, self.edges = paper.pieces, paper.drafts, edges
        self.heads = {place_of(piece) for piece, role in paper.roles() if role in HEADS}
        heights = [piece.box.y1 - piece.box.y0 for piece in pieces if piece.box]
        self.drawn = bool(heights)  # it is known where lines stand
        if not self.drawn:
            return
        self.height = median(heights)
        # a recognised line has a box of another height than the next
        self.far = FAR * self.height * (2 if any(piece.confidence is not None for piece in pieces) else 1)
        self.following = {place_of(one): other for one, other in pairwise(pieces)}
        self.before = {place_of(other): one for one, other in pairwise(pieces)}
        self.holes: dict[Place, float] = {}  # places of lines after which others were lost, and how many
        self.before_heads: dict[Place, float] = {}  # the same where the room may be that before a head
        # what fills room without being read: lines of pages and sites, and figures with the labels at their edges
        filled = [*paper.running, *(piece for piece in pieces if piece.kind in REGIONS)]
        self.filled = group_values((piece.page, piece.box) for piece in filled if piece.box)
        self.breaks = {place_of(one) for one, other in pairwise(pieces) if _breaks(one, other)}
        entries = (draft.pieces[0] for draft in drafts if draft.entry and draft.pieces)
        # The lines before which pages leave room, and how many lines it may hold.
        self.apart = dict.fromkeys(map(place_of, entries), BEFORE_KEY)
        over = [_white(pair) for pair in pairwise(pieces) if place_of(pair[1]) in self.heads]
        roomy = sum(white is not None and white > self.far for white in over)
        # where one head of many has room over it, a line was lost there
        self.apart |= dict.fromkeys(self.heads, BEFORE_HEAD if roomy != 1 or len(over) < HEADS_TELL else 0.0)
        inside = [pair for draft in paper.items for pair in self.inside(draft)]
        self.usual = median([white for pair in inside if (white := _white(pair)) is not None] or [0.0])
        self._note(inside)
        self._note([pair for draft in paper.items for pair in self.after(draft)])
        self._note_edges(pieces)

    def inside(self, draft: Draft) -> list[LinePair]:
        """Lines of a draft, or of what it shares, that follow each other; of a case its head is the first."""
        shared = draft.shared_pieces
        apart = [one for one in shared[:1] if place_of(one) not in self.heads]
        head = [self.before[place_of(one)] for one in apart if place_of(one) in self.before]
        return [*pairwise([*head, *shared]), *pairwise(draft.pieces)]

    def after(self, draft: Draft) -> list[LinePair]:
        """The last lines of a draft and of what it shares, with the lines after them."""
        lasts = (*draft.pieces[-1:], *draft.shared_pieces[-1:])
        return [(last, self.following[place_of(last)]) for last in lasts if place_of(last) in self.following]

    def _note(self, pairs: Sequence[LinePair]) -> None:
        """Note the pairs with more white between them than nearly all others of their kind."""
        once = {place_of(above): (above, below) for above, below in pairs}  # questions may share lines
        found = [(white, pair) for pair in once.values() if (white := _white(pair)) is not None]
        usual = sorted(white for white, _ in found)
        if len(usual) < 2:
            return
        most = max(usual[int(USUAL * (len(usual) - 1))], median(usual)) + self.far
        for white, (above, below) in found:
            lines = (white - self.usual) / (self.height + self.usual)  # how many lines would fit
            allowed = self.apart.get(place_of(below), 0.0) if is_complete_line(above, self.edges) else 0.0
            if white > most and not self._is_filled(above, below):
                (self.holes if lines >= allowed else self.before_heads)[place_of(above)] = lines

    def _is_filled(self, above: ParsedLine, below: ParsedLine) -> bool:
        """Return whether a line that was left out, or a figure, stands between two lines or beside the second."""
        if above.box is None or below.box is None:
            return False
        top, bottom = above.box.y1 - self.height / 2, below.box.y1
        return any(top < box.y1 and box.y0 < bottom and box.x0 < below.box.x1 for box in self.filled[above.page])

    def _note_edges(self, pieces: Sequence[ParsedLine]) -> None:
        """Note the ends of pages, and their beginnings, that stand back where nearly all others do not."""
        edges = [pair for pair in pairwise(pieces) if _breaks(*pair) and pair[0].box and pair[1].box]
        lowest = group_values((piece.page, piece.box.y1) for piece in pieces if piece.box)
        # columns of a last page may be balanced
        balanced = [max(lowest[one.page]) if one.page == other.page else inf for one, other in edges]
        ends = [one.box.y1 for one, _ in edges if one.box]
        starts = [other.box.y0 for _, other in edges if other.box]
        backs = (
            [min(_most(ends), low) - end for end, low in zip(ends, balanced, strict=True)],
            [start + _most([-start for start in starts]) for start in starts],
        )
        for back in backs:
            odd = sum(far > self.far for far in back)  # pages that stand back
            if len(back) < 3 or odd > max(1, RAGGED * len(back)):  # too few pages to tell, or ragged ones
                continue
            for far, (above, below) in zip(back, edges, strict=True):
                if far > self.far and not (back is backs[0] and place_of(below) in self.heads):
                    known = self.holes.get(place_of(above), 0.0)
                    self.holes[place_of(above)] = known + far / (self.height + self.usual)


def _most(places: Sequence[float]) -> float:
    """Return the 90th percentile of places: the usual end of pages or columns."""
    return sorted(places)[int(0.9 * (len(places) - 1))] if places else 0.0


def _breaks(above: ParsedLine, below: ParsedLine) -> bool:
    """Return whether a page or a column ends between two lines."""
    if above.page != below.page:
        return True
    return above.box is not None and below.box is not None and below.box.y1 < above.box.y0


def _white(pair: LinePair) -> float | None:
    """The white from a line down to the next of its column; None beside regions and over columns and pages."""
    above, below = pair
    if above.box is None or below.box is None or above.page != below.page:
        return None
    down = below.box.y0 > above.box.y0 and below.box.x0 < above.box.x1  # side by side is not below
    if not down or any(piece.kind in REGIONS or piece.in_table for piece in pair):
        return None
    return max(0.0, below.box.y0 - above.box.y1)


def check_rooms(paper: ParsedPaper, own: Sequence[Draft], edges: ColumnEdges) -> None:
    """Note as doubts where lines were lost, and what may have stood between a number and one that was not found."""
    rooms = Rooms(paper, edges)
    if rooms.drawn:
        lost = {(gap.section, gap.number) for gap in paper.gaps}
        fewest = _fewest_options(own)
        for draft in (one for one in own if not one.suffix):
            _check_inside(draft, rooms, next_lost=(draft.section, (draft.number or 0) + 1) in lost)
            fewer = _has_fewer_options(draft, fewest)
            if fewer and draft.pieces and place_of(draft.pieces[-1]) in rooms.before_heads:
                draft.flag("room_inside", f"{fewer}, and there is room for a line after it")
        _check_followers(rooms, paper.items, paper.gaps)
    _check_neighbours(paper.items, paper.gaps, rooms)


def _check_inside(draft: Draft, rooms: Rooms, *, next_lost: bool) -> None:
    for above, below in (*rooms.inside(draft), *rooms.after(draft)):
        at_edge, lost = place_of(above) in rooms.breaks, rooms.holes.get(place_of(above), 0.0)
        label = has_label(below.text) and not at_edge and not next_lost and lost < BEFORE_LABEL
        stops = above.text.rstrip().endswith("。")  # the end of a case may stand before the line that asks
        if lost and not (label and is_complete_line(above, rooms.edges, by_words=not stops)):
            draft.flag("room_inside", f"there is room for a line after {above.text[-20:]!r}")
            return
    for above, below in pairwise(draft.pieces):
        ends = has_label(below.text) and not has_label(above.text)
        if ends and place_of(above) in rooms.breaks and not is_complete_line(above, rooms.edges):
            draft.flag("room_inside", f"a page ends after {above.text[-20:]!r}, which may go on")
            return


def _check_followers(rooms: Rooms, items: Sequence[Draft], gaps: Sequence[Gap]) -> None:
    """Flag questions that follow room for a head and a case, up to the next head."""
    if not any(draft.group_headed for draft in items):
        return
    own = [draft for draft in items if draft.pieces]
    least = min((len(draft.pieces) for draft in own if draft.options), default=1)
    lost = Counter(gap.section for gap in gaps)
    places = [place_of(draft.pieces[0]) for draft in own]
    passed = 0  # the questions before this one follow an earlier hole
    for place, count in sorted(rooms.holes.items()):
        first = bisect_right(places, place)
        if not 0 < first < len(own) or own[first - 1].set_aside:
            continue
        if count < CASE_LINES + least * lost[own[first].section]:  # room for the lost questions alone
            continue
        for at in range(max(first, passed), len(own)):
            draft = own[at]
            if draft.group or draft.block is not own[first].block or draft.announced in WITHOUT_CASE:
                break
            draft.flag("case_missing", f"a head and a case may have stood before number {own[first].number}")
            passed = at + 1


def _check_neighbours(items: Sequence[Draft], gaps: Sequence[Gap], rooms: Rooms) -> None:
    """Flag the question before a number that was not found, or what is shared after it: it may hold its text."""
    lacking = {gap.section for gap in gaps}
    items = [one for one in items if one.section in lacking and one.number]
    by_number = group_values(((draft.section, draft.number or 0), draft) for draft in items)
    by_group = group_values(((draft.section, draft.group), draft) for draft in items)
    numbers = group_values(sorted(by_number))
    fewest, looked = _fewest_options(items), set[int]()
    for gap in gaps:
        at = bisect_left(numbers[gap.section], gap.number)
        below, above = numbers[gap.section][max(0, at - 1) : at], numbers[gap.section][at : at + 1]
        before = [draft for number in below for draft in by_number[gap.section, number]]
        after = [draft for number in above for draft in by_number[gap.section, number]]
        known = {draft.group for draft in before}
        grouped = (draft for draft in after if draft.group_headed or draft.shared_options)
        # The head of 8～9 stands behind number 7.
        opened = {draft.group for draft in grouped if (draft.group_first or 0) <= gap.number} - known
        fresh = [draft for draft in before if id(draft) not in looked]
        doubtful = [(one, _has_fewer_options(one, fewest) or _may_hold_more(one, rooms)) for one in fresh]
        looked.update(map(id, before))
        shared = (draft for group in opened for draft in by_group[gap.section, group])
        doubtful += [(draft, "what is shared may hold it") for draft in shared]
        for draft, why in doubtful:
            if why and not draft.is_flagged("may_hold_another"):
                draft.flag("may_hold_another", f"number {gap.number} was not found; {why}")


def _fewest_options(items: Iterable[Draft]) -> dict[int, list[int]]:
    """Return the two smallest counts of options in each section."""
    counts = group_values((draft.section, len(draft.options)) for draft in items if draft.options)
    return {section: sorted(found)[:2] for section, found in counts.items()}


def _has_fewer_options(draft: Draft, fewest: Mapping[int, Sequence[int]]) -> str | None:
    """Return why a question may end too early: all others of its section have more options."""
    least = fewest.get(draft.section, ())
    if not draft.options or len(least) < 2 or len(draft.options) >= least[1]:
        return None
    return f"it has {len(draft.options)} options, all others have {least[1]} or more"


def _may_hold_more(draft: Draft, rooms: Rooms) -> str | None:
    """Why the question before a lost number cannot be shown to be whole and alone; None where it can."""
    if any(piece.kind in REGIONS for piece in draft.pieces):
        return "a figure or table stands in it"
    if rooms.drawn and not all(is_complete_line(piece, rooms.edges) for piece in draft.pieces[-1:]):
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
    return _not_closed(draft, rooms)


def _not_closed(draft: Draft, rooms: Rooms) -> str | None:
    """Return why lost lines may have stood inside a question: room between its lines, or the end of a page."""
    if not any(piece.box for piece in draft.pieces):
        return None
    if any(place_of(above) in rooms.breaks for above in draft.pieces[:-1]):
        return "it crosses a column or a page"
    white = [white for pair in pairwise(draft.pieces) if (white := _white(pair)) is not None]
    most = min([rooms.usual, *white]) + FAR * rooms.height
    return "room stands between its lines" if white and max(white) > most else None


def check_rivals(rivals: Sequence[tuple[ParsedLine, int]], items: Sequence[Draft]) -> None:
    """Flag questions that hold a line which begins like another, and who has its number, with their group.

    The item with that number may belong to a section whose head was not read.
    """
    items = [draft for draft in items if draft.pieces] if rivals else []
    begins = [place_of(draft.pieces[0]) for draft in items]
    named = group_values(((draft.run, draft.number), draft) for draft in items)
    groups = group_values((draft.group, draft) for draft in items)
    holders = group_values((place_of(piece), draft) for draft in items for piece in draft.all_pieces)
    for piece, number in rivals:
        at = bisect_right(begins, place_of(piece))  # the item that holds the line
        same = named.get((items[at - 1].run, number), []) if at else []
        related = [one for group in {draft.group for draft in same if draft.group} for one in groups[group]]
        for draft in {id(one): one for one in (*holders[place_of(piece)], *same, *related)}.values():
            draft.flag("may_hold_another", f"a line begins like number {number}: {piece.text[:20]!r}")
