"""What the parser knows about a question before it is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.parse.kinds import announcement
from pipeline.parse.lines import REGIONS, Piece, spans
from pipeline.parse.outline import Block
from schemas.documents import Box, LineKind
from schemas.questions import Region
from schemas.trace import Part, Step


@dataclass(slots=True)
class Draft:
    """A candidate question, an item that is set aside, or an entry of a key."""

    number: int | None
    run: int
    pieces: list[Piece]
    block: Block
    stem: str = ""
    suffix: str = ""
    """a, b … for parts of a numbered item."""
    options: list[tuple[str, str]] = field(default_factory=list)
    answer: str | None = None
    """Letters without separators, as printed."""
    accepted: list[str] | None = None
    comment: str | None = None
    explanation: str | None = None
    shared_stem: str | None = None
    group: str | None = None
    """Name of its group within the paper."""
    group_headed: bool = False
    """Whether a head opens its group."""
    group_first: int | None = None
    group_last: int | None = None
    """The first and the last number that the head of its group names."""
    options_in_cells: bool = False
    """Whether every table in it begins with one of its options' labels."""
    shared_options: bool = False
    carries: bool = False
    """Whether options follow it that are taken for those of the next questions."""
    shared_pieces: list[Piece] = field(default_factory=list)
    """The pieces of its shared stem or options."""
    section: int = 0
    entry: bool = False
    """Whether it is an entry of a key: an answer or explanation without a stem."""
    answered: bool = False
    key_head: str = ""
    """The head that its answer stands under in a key."""
    in_blank: bool = False
    """Whether its answer was read from a blank in its stem."""
    tag: str = ""
    """The item type printed at its stem: [多选题]."""
    verdict: bool = False
    set_aside: tuple[str, str] | None = None
    """Reason and detail, for items that are no multiple-choice questions."""
    doubts: list[tuple[str, str]] = field(default_factory=list)
    """Reasons and details for a person to look at it."""
    steps: list[Step] = field(default_factory=list)
    """Why it was cut as it was."""

    def doubt(self, reason: str, detail: str) -> None:
        """Send it to review."""
        self.doubts.append((reason, detail))

    def because(self, part: Part, rule: str, detail: str | None = None, pieces: Sequence[Piece] = ()) -> None:
        """Note why it was cut as it was, and where."""
        self.steps.append(Step(part=part, rule=rule, detail=detail, spans=spans(pieces)))

    def take_answer(self, letters: str | None, rule: str) -> None:
        """Set its answer, if there is one, and note by which rule it was found."""
        if letters:
            self.answer = letters
            self.because(Part.ANSWER, rule, letters)

    @property
    def announced(self) -> str | None:
        """What its tag or its head says it is."""
        return announcement(self.tag or self.block.text).kind

    @property
    def all_pieces(self) -> list[Piece]:
        """Its own pieces after the shared ones."""
        return [*self.shared_pieces, *self.pieces]

    @property
    def pages(self) -> list[int]:
        """Pages it stands on, in order."""
        return sorted({piece.page for piece in self.all_pieces})

    @property
    def regions(self) -> list[Region] | None:
        """One box around its lines on every page; None without layout."""
        boxes: dict[int, Box] = {}
        for piece in self.all_pieces:
            if piece.box is not None:
                known = boxes.get(piece.page)
                boxes[piece.page] = _around(known, piece.box) if known else piece.box
        return [Region(page=page, box=boxes[page]) for page in sorted(boxes)] or None

    @property
    def attachments(self) -> list[str] | None:
        """Kinds of regions inside it; a table whose cells are its options is read, so it is none."""
        kinds = {piece.kind for piece in self.all_pieces if piece.kind in REGIONS}
        if self.options_in_cells:
            kinds.discard(LineKind.TABLE)
        return sorted(kind.value for kind in kinds) or None

    @property
    def confidence(self) -> float | None:
        """Lowest confidence of its lines."""
        known = [piece.confidence for piece in self.all_pieces if piece.confidence is not None]
        return min(known) if known else None


def _around(one: Box, other: Box) -> Box:
    return Box(
        x0=min(one.x0, other.x0),
        y0=min(one.y0, other.y0),
        x1=max(one.x1, other.x1),
        y1=max(one.y1, other.y1),
    )
