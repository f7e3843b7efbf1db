"""The left side: pages with boxes and pictures, or lines of text where a page has no picture."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.crop import TIMEOUT, Paper, as_picture, jpeg, page_image, strips
from pipeline.inspect.collect import PaperTables, Place, line_fates, line_items, unused_runs
from pipeline.inspect.model import REGION_NAMES, Fate, ItemCard, PageMark, PageView, TextLine, percent
from pipeline.rendering.html import data_uri
from pipeline.runtime.executor import LocalExecutor
from pipeline.stage import Failure
from schemas.documents import Line, LineKind, Page
from schemas.questions import Region

BUDGET = 9_000_000
"""Bytes of all pictures of a page together; as text they take a third more."""

MAX_BYTES = 260_000
"""Of one picture: a scan of 1,000 pixels across at good quality."""


def sheets(tables: PaperTables, cards: Sequence[ItemCard], shown: range) -> list[PageView]:
    """Pages ``shown``, each with its boxes; pages without boxes have lines of text."""
    styles = {card.name: card for card in cards}
    lines = [line for line in tables.lines if line.page in shown]
    made = _MarkBuilder(styles, line_items(tables), _fates_by_line(tables))
    found = []
    for page in tables.pages:
        if page.page in shown:
            mine = [line for line in lines if line.page == page.page]
            boxed = page.width > 0 and all(line.box for line in mine) and tables.document.format != "docx"
            sheet = PageView(page, texts=[] if boxed else made.texts(mine))
            sheet.marks = made.marks(page, mine) if boxed else []
            found.append(sheet)
    return found


def _fates_by_line(tables: PaperTables) -> dict[Place, tuple[Fate, tuple[str, ...]]]:
    """Return the fates of lines of no item, and the card of unused text they belong to."""
    cards = {place: (name,) for name, run in unused_runs(tables).items() for place in run}
    return {place: (fate, cards.get(place, ())) for place, fate in line_fates(tables).items()}


class _MarkBuilder:
    """Makes the marks of pages."""

    def __init__(
        self,
        cards: Mapping[str, ItemCard],
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

    def marks(self, page: Page, lines: Iterable[Line]) -> list[PageMark]:
        """Blocks of lines of the same items, one after the other, and regions on top of them."""
        blocks: list[tuple[str, tuple[str, ...], list[Region]]] = []
        regions: list[PageMark] = []
        for line in lines:
            style, names = self._became(line)
            assert line.box is not None
            here = Region(page=line.page, box=line.box)
            if line.kind in REGION_NAMES and not line.text:
                label = " ".join(reversed(REGION_NAMES[line.kind]))
                regions.append(PageMark(*percent(line.box, page), line.kind.value, names, label))
            if style == "none":
                continue
            if blocks and blocks[-1][:2] == (style, names):
                blocks[-1][2].append(here)
            else:
                blocks.append((style, names, [here]))
        marks = [
            PageMark(*percent(strip.box, page), style, names, _label(self.cards, names))
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


def _label(cards: Mapping[str, ItemCard], names: Sequence[str]) -> str:
    numbers = [(cards[name].question or {}).get("number") for name in names if name in cards]
    known = list(dict.fromkeys(str(number) for number in numbers if number is not None))
    return f"{known[0]}–{known[-1]}" if len(known) > 1 else "".join(known)


@dataclass(frozen=True)
class PictureTask:
    """A page to draw."""

    paper: Paper
    page: int
    most: int
    """Bytes it may take."""


def pictures(paper: Paper, pages: Sequence[int]) -> tuple[dict[int, str], dict[int, str]]:
    """Data URIs of pages, and why others have none. Drawn in worker processes: a hostile page costs itself alone."""
    most = min(MAX_BYTES, BUDGET // max(1, len(pages)))
    drawn: dict[int, str] = {}
    failed: dict[int, str] = {}
    executor = LocalExecutor()
    try:
        tasks = [PictureTask(paper, page, most) for page in pages]
        for task, content in executor.map(draw, tasks, TIMEOUT):
            if isinstance(content, Failure):
                failed[task.page] = f"{content.reason}: {content.detail}"
            else:
                drawn[task.page] = data_uri(content, "image/jpeg")
    finally:
        executor.close()
    return drawn, failed


def draw(task: PictureTask) -> bytes:
    """The page as JPEG."""
    return jpeg(as_picture(page_image(task.paper, task.page)[0]), task.most)
