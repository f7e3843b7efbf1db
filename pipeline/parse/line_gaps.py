"""White between the lines of a page in which lines may have stood that were not read."""

from collections.abc import Sequence
from itertools import pairwise
from math import inf
from statistics import median

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.labels import has_label
from build_dataset.pipeline.parse.lines import REGIONS, ColumnEdges, ParsedLine, is_complete_line, place_of
from build_dataset.pipeline.parse.outline import HEADS
from build_dataset.pipeline.parse.paper import ParsedPaper
from build_dataset.schemas.grouping import group_values

MIN_LOST, USUAL = 0.9, 0.95  # a line may be lost above so many line heights over the usual gap (95 % of gaps)
LATE = 5.0  # Line heights from which a recognised line that goes on may have lost its beginning
RAGGED = 0.1  # largest share of pages, at least one, that may end higher, or begin lower, because of lost lines
BEFORE_HEAD, BEFORE_KEY = 1.5, 2.5  # lines of room before a head, and before a key's first entry without one: 1、B
HEADS_TELL = 4  # least number of heads that tell whether pages leave room before them

LinePair = tuple[ParsedLine, ParsedLine]
Place = tuple[int, int]


class LineGaps:
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
        self.far = MIN_LOST * self.height * (2 if any(piece.confidence is not None for piece in pieces) else 1)
        self.following = {place_of(before): after for before, after in pairwise(pieces)}
        self.before = {place_of(after): before for before, after in pairwise(pieces)}
        self.holes: dict[Place, float] = {}  # places of lines after which others were lost, and how many
        # what fills room without being read: lines of pages and sites, and figures with the labels at their edges
        filled = [*paper.running, *(piece for piece in pieces if piece.kind in REGIONS)]
        self.filled = group_values((piece.page, piece.box) for piece in filled if piece.box)
        self.breaks = {place_of(before) for before, after in pairwise(pieces) if _breaks(before, after)}
        entries = (draft.pieces[0] for draft in drafts if draft.entry and draft.pieces)
        self.apart = dict.fromkeys(map(place_of, entries), BEFORE_KEY)
        over = [white_between(pair) for pair in pairwise(pieces) if place_of(pair[1]) in self.heads]
        roomy = sum(white is not None and white > self.far for white in over)
        # where one head of many has room over it, a line was lost there
        self.apart |= dict.fromkeys(self.heads, BEFORE_HEAD if roomy != 1 or len(over) < HEADS_TELL else 0.0)
        inside = [pair for draft in paper.items for pair in self.inside(draft)]
        self.usual = median([white for pair in inside if (white := white_between(pair)) is not None] or [0.0])
        self._note(inside)
        self._note([pair for draft in paper.items for pair in self.after(draft)])
        self._note_edges(pieces)

    def inside(self, draft: Draft) -> list[LinePair]:
        """Lines of a draft, or of what it shares, that follow each other; of a case its head is the first."""
        shared = draft.shared_pieces
        apart = [piece for piece in shared[:1] if place_of(piece) not in self.heads]
        head = [self.before[place_of(piece)] for piece in apart if place_of(piece) in self.before]
        return [*pairwise([*head, *shared]), *pairwise(draft.pieces)]

    def after(self, draft: Draft) -> list[LinePair]:
        """The last lines of a draft and of what it shares, with the lines after them."""
        lasts = (*draft.pieces[-1:], *draft.shared_pieces[-1:])
        return [(last, self.following[place_of(last)]) for last in lasts if place_of(last) in self.following]

    def _note(self, pairs: Sequence[LinePair]) -> None:
        """Note the pairs with more white between them than nearly all others of their kind."""
        once = {place_of(above): (above, below) for above, below in pairs}  # questions may share lines
        gaps = [(white, pair) for pair in once.values() if (white := white_between(pair)) is not None]
        usual = sorted(white for white, _ in gaps)
        if len(usual) < 2:
            return
        most = max(usual[int(USUAL * (len(usual) - 1))], median(usual)) + self.far
        for white, (above, below) in gaps:
            lines = (white - self.usual) / (self.height + self.usual)  # how many lines would fit
            allowed = self.apart.get(place_of(below), 0.0) if is_complete_line(above, self.edges) else 0.0
            if white > most and lines >= allowed and not self._is_filled(above, below):
                self.holes[place_of(above)] = lines
            indent = below.box.x0 - above.box.x0 if above.box and below.box else 0.0
            late = indent > LATE * self.height and below.confidence is not None and not has_label(below.text)
            if late and not is_complete_line(above, self.edges):
                self.holes[place_of(above)] = 1.0

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
        balanced = [max(lowest[above.page]) if above.page == below.page else inf for above, below in edges]
        ends = [above.box.y1 for above, _ in edges if above.box]
        starts = [below.box.y0 for _, below in edges if below.box]
        above_edge = [min(_most(ends), low) - end for end, low in zip(ends, balanced, strict=True)]
        for back in (above_edge, [start + _most([-start for start in starts]) for start in starts]):
            odd = sum(far > self.far for far in back)  # pages that stand back
            if len(back) < 3 or odd > max(1, RAGGED * len(back)):  # too few pages to tell, or ragged ones
                continue
            for far, (above, below) in zip(back, edges, strict=True):
                if far > self.far and not (back is above_edge and place_of(below) in self.heads):
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


def white_between(pair: LinePair) -> float | None:
    """The white from a line down to the next of its column; None beside regions and over columns and pages."""
    above, below = pair
    if above.box is None or below.box is None or above.page != below.page:
        return None
    down = below.box.y0 > above.box.y0 and below.box.x0 < above.box.x1  # side by side is not below
    if not down or any(piece.kind in REGIONS or piece.in_table for piece in pair):
        return None
    return max(0.0, below.box.y0 - above.box.y1)
