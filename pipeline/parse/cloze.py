"""Stems that stand before their number: …应选用（12）。 over 12. A. 甲 B. 乙."""

import re

from build_dataset.pipeline.parse.fields import opens_explanation
from build_dataset.pipeline.parse.heads import INSTRUCTION, PASSAGE, GroupHead
from build_dataset.pipeline.parse.lines import REGIONS
from build_dataset.pipeline.parse.outline import Cutting, Role
from build_dataset.pipeline.parse.running import is_title
from build_dataset.pipeline.patterns import Patterns

_P = Patterns(__name__)
SURE = 0.9  # least weight of a number that opens an item of its own; numbered blanks may follow it
FAR = 80  # the most lines that a lead may have
LONG = 60  # least number of characters of a passage's first line


def share_leads(cutting: Cutting) -> None:
    """Stems that stand before the number of their blank are shared texts of the items after them."""
    for index, mark in cutting.marks.items():
        if not _P.option_first.match(cutting.pieces[index].text, mark.end):
            continue
        if (start := _lead_start(cutting, index, mark.value)) is not None:
            bullet = _P.bullet.match(cutting.pieces[start].text)
            cutting.share(start, GroupHead(None, None, options=False, end=bullet.end() if bullet else 0))


def share_passages(cutting: Cutting) -> None:
    """The text between a head such as 阅读理解 and its first number is shared by its items."""
    opened = False
    for index, role in enumerate(cutting.roles):
        text = cutting.pieces[index].text
        if role is not Role.TEXT:
            opened = role is Role.SECTION and PASSAGE.search(text) is not None
        elif opened and len(text) >= LONG and not INSTRUCTION.search(text):
            cutting.share(index, GroupHead(None, None, options=False, end=0))
            opened = False


def _lead_start(cutting: Cutting, index: int, number: int) -> int | None:
    """The first line after the options of the item before, if it has a bullet or the text names the number.

    No lead reaches over a line that is known to be something else.
    """
    blank = re.compile(rf"[(（_]\s*{number}\s*[)）_]")  # the number stands as a blank in the lead: （12）, __12__
    start, named_at, named = None, None, False
    for place in range(index - 1, max(-1, index - FAR), -1):
        piece = cutting.pieces[place]
        if is_title(piece.text) and not any(line < place for line in cutting.marks):
            break
        has_option = piece.kind not in REGIONS and _P.has_option.search(piece.text)
        if cutting.roles[place] is not Role.TEXT or has_option:
            break
        if opens_explanation(piece.text):  # whose later lines cannot be told from the first ones of a lead
            return named_at
        if blank.search(piece.text):
            named, named_at = True, place
        start = place
        if _P.bullet.match(piece.text):
            return start
    return start if named else None
