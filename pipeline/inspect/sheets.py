"""The left side: pages with boxes, or lines of text where a page has no picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pipeline.crop import strips
from pipeline.inspect.collect import Place, Tables, line_fates, line_items, unused_runs
from pipeline.inspect.model import REGION_NAMES, Card, Fate, Mark, Sheet, TextLine, percent
from schemas.documents import Line, LineKind, Page
from schemas.questions import Region


def sheets(tables: Tables, cards: Sequence[Card], shown: range) -> list[Sheet]:
    """Pages ``shown``, each with its boxes; pages without boxes have lines of text."""
    styles = {card.name: card for card in cards}
    lines = [line for line in tables.lines if line.page in shown]
    made = _Marks(styles, line_items(tables), _fates_by_line(tables))
    found = []
    for page in tables.pages:
        if page.page in shown:
            mine = [line for line in lines if line.page == page.page]
            boxed = page.width > 0 and all(line.box for line in mine) and tables.document.format != "docx"
            sheet = Sheet(page, texts=[] if boxed else made.texts(mine))
            sheet.marks = made.marks(page, mine) if boxed else []
            found.append(sheet)
    return found


def _fates_by_line(tables: Tables) -> dict[Place, tuple[Fate, tuple[str, ...]]]:
    """What became of lines of no item, and the card of unused text they belong to."""
    cards = {place: (name,) for name, run in unused_runs(tables).items() for place in run}
    return {place: (fate, cards.get(place, ())) for place, fate in line_fates(tables).items()}


class _Marks:
    """Makes the marks of pages."""

    def __init__(
        self,
        cards: Mapping[str, Card],
        items: Mapping[Place, list[str]],
        fates: Mapping[Place, tuple[Fate, tuple[str, ...]]],
    ) -> None:
        self.cards = cards
        self.items = items
        self.fates = fates

    def _became(self, line: Line) -> tuple[str, tuple[str, ...]]:
        """Style and cards of a line."""
        place = (line.page, line.order)
        names = tuple(name for name in self.items.get(place, ()) if name in self.cards)
        if names:
            return min((self.cards[name].fate for name in names), key=list(Fate).index).value, names
        fate, unused = self.fates.get(place, (None, ()))
        return (fate.value if fate else "none"), unused

    def marks(self, page: Page, lines: Iterable[Line]) -> list[Mark]:
        """Blocks of lines of the same items, one after the other, and regions on top of them."""
        blocks: list[tuple[str, tuple[str, ...], list[Region]]] = []
        regions: list[Mark] = []
        for line in lines:
            style, names = self._became(line)
            assert line.box is not None
            here = Region(page=line.page, box=line.box)
            if line.kind in REGION_NAMES and not line.text:
                label = " ".join(reversed(REGION_NAMES[line.kind]))
                regions.append(Mark(*percent(line.box, page), line.kind.value, names, label))
            if style == "none":
                continue
            if blocks and blocks[-1][:2] == (style, names):
                blocks[-1][2].append(here)
            else:
                blocks.append((style, names, [here]))
        marks = [
            Mark(*percent(strip.box, page), style, names, _label(self.cards, names))
            for style, names, parts in blocks
            for strip in strips(parts)
        ]
        return marks + regions

    def texts(self, lines: Iterable[Line]) -> list[TextLine]:
        """Lines as text; a region without text is named."""
        found = []
        for line in lines:
            style, names = self._became(line)
            found.append(TextLine(line.text or f"［{_region(line.kind)}］", style, names))
        return found


def _region(kind: LineKind) -> str:
    return " ".join(reversed(REGION_NAMES.get(kind, (kind.value, ""))))


def _label(cards: Mapping[str, Card], names: Sequence[str]) -> str:
    numbers = [(cards[name].question or {}).get("number") for name in names if name in cards]
    known = list(dict.fromkeys(str(number) for number in numbers if number is not None))
    return f"{known[0]}–{known[-1]}" if len(known) > 1 else "".join(known)
