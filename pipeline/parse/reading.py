"""The text of an item, read once: where its answers stand, its options, its blanks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.parse.answers import fills_blank, letter_line, letters_inside
from pipeline.parse.cloze import read_blanks, run_on
from pipeline.parse.fields import Fields
from pipeline.parse.lines import REGIONS, Piece
from pipeline.parse.options import find_run
from pipeline.parse.outline import Item

BLANKS = 0.6
"""Of how many items the stem must hold one bracket with letters to be where the paper prints its answers."""
SHOWN = 3
"""In how many stems the bracket must hold the letter that stands behind the mark of the answer too."""
LABELLED = 2.3
"""The mean strength of labels with a mark of their own at the starts of lines or columns."""
_LETTER_END = re.compile(r"\n[ \t]*[A-K][ \t]*$")


@dataclass(frozen=True, slots=True)
class Habits:
    """What the items of a paper tell of one another."""

    single_letters: bool
    """Answers are printed as single letters on lines of their own."""
    by_blanks: bool
    """The numbers of blanks, not of items, are those of the questions."""

    blanks_inside: bool
    """Answers stand in the blanks of stems, wherever these are."""

    @classmethod
    def of(cls, texts: Sequence[str], fields: Sequence[Fields]) -> Habits:
        """The habits of a paper, from its items' texts and what stands in them."""
        heads = [found.head for found in fields]
        shown = [
            letters_inside(head) in found.answers
            for head, found in zip(heads, fields, strict=True)
            if fills_blank(head) and found.answers
        ]
        ends = sum(_LETTER_END.search(text) is not None for text in texts)
        return cls(
            3 * ends >= len(texts) and (ends > 1 or len(texts) == 1),
            run_on([read_blanks(head) for head in heads]),
            sum(map(fills_blank, heads)) > BLANKS * len(heads)
            or (sum(shown) >= SHOWN and sum(shown) > BLANKS * len(shown)),
        )


class Reading:
    """An item's text, read once: its head, options, blanks."""

    def __init__(self, item: Item, pieces: list[Piece], fields: Fields, habits: Habits) -> None:
        self.item, self.pieces, self.fields, self.habits = item, pieces, fields, habits
        self.head, letters = fields.head, None
        if not fields.answers and not item.given:
            self.head, letters = letter_line(fields.head, single=habits.single_letters)
        self.run = None if item.worded else find_run(self.head)
        self.beside = item.given or (letters if self.run is not None else None)
        cloze = None if item.worded else read_blanks(self.head)
        self.cloze = cloze if cloze and (cloze.sure or habits.by_blanks) else None


def text_of(pieces: list[Piece]) -> str:
    """An item's text, a line a piece.

    Rows of a table and labels in a figure are the attachment's, unless options stand in them.
    """
    drawn = [bool(piece.in_table and "\t" in piece.text) or piece.kind in REGIONS for piece in pieces]
    if any(drawn):
        run = find_run("\n".join(piece.text for piece, inside in zip(pieces, drawn, strict=True) if inside))
        if run is not None and run.strength >= LABELLED:
            drawn = [False] * len(pieces)
    return "\n".join("" if inside else piece.text for piece, inside in zip(pieces, drawn, strict=True))
