"""The page of a paper, put together: pages with boxes and pictures, items beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from pipeline.crop import TIMEOUT, Paper, as_picture, find_paper, jpeg, page_image, strips
from pipeline.inspect.collect import (
    NAMES,
    REGION_NAMES,
    Fate,
    ItemCard,
    PageMark,
    PageView,
    PaperTables,
    PaperView,
    Place,
    TextLine,
    cards,
    key_of,
    keys_for,
    line_fates,
    line_items,
    percent,
    unused_runs,
)
from pipeline.rendering.html import data_uri, render
from pipeline.runtime.executor import LocalExecutor
from pipeline.stage import Failure
from schemas.documents import Line, LineKind, Page
from schemas.errors import UserError
from schemas.questions import Region
from schemas.wording import counted, findings, in_both_languages

MAX_PAGES = 120
"""Pages on one HTML page: more are neither legible in its size nor quick to load."""


def inspect_page(build: Path, raw: Path, wanted: str, pages: range | None = None) -> tuple[str, bytes]:
    """The paper's name and its HTML page.

    Args:
        build: the build folder.
        raw: the folder with the papers.
        wanted: the paper's name, or a part of it that no other has.
        pages: which pages to show, from 1; None for the first ``MAX_PAGES``.

    Raises:
        UserError: there is no such paper, or no such pages.
    """
    view = look(build, raw, wanted, pages)
    return view.document, render(
        "pipeline.inspect:paper.html",
        view=view,
        names=NAMES,
        regions={kind.value: names for kind, names in REGION_NAMES.items()},
        findings=findings,
        in_both_languages=in_both_languages,
        marked=_marked,
        uncertain=(Fate.WAITING, Fate.UNUSED, Fate.DOUBTFUL),
    )


_QUOTED = re.compile(r"'([^']{4,120})'")
"""The place that a finding names: something is missing in stem: '1,2,3, ,n，其出栈序列'."""


def _marked(card: ItemCard, text: str) -> Markup:
    """Return a text in which the places that the card's findings quote are marked."""
    shown = escape(text)
    for quoted in {found for event in card.events for found in _QUOTED.findall(event.detail or "")}:
        place = escape(quoted.replace("\\n", "\n"))
        shown = shown.replace(place, Markup("<mark>{}</mark>").format(place))
    return shown


def look(build: Path, raw: Path, wanted: str, pages: range | None = None) -> PaperView:
    """Return the content of the page; see ``inspect_page``."""
    tables = PaperTables(build, wanted)
    count = max((page.page for page in tables.pages), default=0)
    shown = pages or range(1, min(count, MAX_PAGES) + 1)
    if len(shown) > MAX_PAGES or shown.start > count:
        raise UserError(
            f"{tables.document.document} has pages 1-{count}; ask for {MAX_PAGES} of them at most"
        )
    notes = []
    if len(shown) < count:
        notes.append(
            f"Pages {shown.start}–{min(shown.stop - 1, count)} of {count}; --pages FIRST-LAST shows others."
        )
    found = [card for card in cards(tables) if not card.pages or set(card.pages) & set(shown)]
    view = PaperView(
        tables.document.document,
        tables.document.format,
        _facts(tables),
        sheets(tables, found, shown),
        found,
        {fate: count for fate in Fate if (count := sum(card.fate is fate for card in found))},
        notes,
    )
    view.notes += _draw(build, raw, view)
    return view


def _facts(tables: PaperTables) -> list[tuple[str, str]]:
    document = tables.document
    methods = Counter(_method(page) for page in tables.pages)
    facts = [
        ("format 格式", f"{document.format}, {counted(document.pages or 0, 'page')}"),
        ("read by 读取", ", ".join(f"{method} {count}" for method, count in sorted(methods.items()))),
    ]
    exam = [name for name in (document.exam_type, document.exam_class, document.exam_subject) if name]
    if exam:
        facts.append(("exam 考试", " · ".join(exam)))
    if key := key_of(tables):
        facts.append(("answers of 所答试卷", key))
    if keys := keys_for(tables):
        facts.append(("answers from 答案来自", ", ".join(keys)))
    return [*facts, ("sha256", document.sha256[:16])]


def _method(page: Page) -> str:
    """Return the way in which a page was read, and the reason."""
    reason = (page.reason or "").partition(":")[0]
    return f"{page.method.value} ({reason})" if reason else page.method.value


def _draw(build: Path, raw: Path, view: PaperView) -> list[str]:
    """Put pictures behind the boxes; what stands in the way is returned as notes."""
    boxed = [sheet for sheet in view.sheets if not sheet.texts and sheet.page.width > 0]
    if not boxed:
        return ["This format has no pages to show: its lines stand on the left."] if view.sheets else []
    try:
        paper = find_paper(build, raw, view.document)
    except UserError as error:
        return [f"No pictures: {error}"]
    drawn, failed = pictures(paper, [sheet.page.page for sheet in boxed])
    for sheet in boxed:
        sheet.picture = drawn.get(sheet.page.page)
    return [f"Page {page} cannot be shown: {why}" for page, why in sorted(failed.items())]


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


@dataclass(frozen=True)
class _MarkBuilder:
    """Makes the marks of pages."""

    cards: Mapping[str, ItemCard]
    items: Mapping[Place, list[str]]
    fates: Mapping[Place, tuple[Fate, tuple[str, ...]]]

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
    tasks = [PictureTask(paper, page, most) for page in pages]
    with closing(LocalExecutor()) as executor:
        for task, content in executor.map(draw, tasks, TIMEOUT):
            if isinstance(content, Failure):
                failed[task.page] = f"{content.reason}: {content.detail}"
            else:
                drawn[task.page] = data_uri(content, "image/jpeg")
    return drawn, failed


def draw(task: PictureTask) -> bytes:
    """The page as JPEG."""
    return jpeg(as_picture(page_image(task.paper, task.page)[0]), task.most)
