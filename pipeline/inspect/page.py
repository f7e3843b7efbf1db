"""The page of a paper, put together: pages with boxes and pictures, items beside them."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from markupsafe import Markup, escape

from pipeline.crop import TIMEOUT, Paper, as_picture, find_paper, jpeg, page_image, page_strips
from pipeline.inspect.collect import NAMES, Fate, ItemCard, PaperTables, item_cards
from pipeline.rendering.html import data_uri, render
from pipeline.runtime.executor import LocalExecutor
from pipeline.stage import Failure
from schemas.documents import Box, Line, LineKind, Page
from schemas.errors import UserError
from schemas.questions import Region
from schemas.wording import counted, findings, in_both_languages

MAX_PAGES = 120
"""Pages on one HTML page: more are neither legible in its size nor quick to load."""


@dataclass(frozen=True)
class PageMark:
    """A box on a page, or a line of a page that has no layout."""

    style: str
    """A ``Fate`` or a region's kind."""
    cards: tuple[str, ...]
    label: str
    """The numbers of its questions; a region's name; the text of a line."""
    box: Box | None = None


@dataclass
class PageView:
    """A page of the paper."""

    page: Page
    marks: list[PageMark] = field(default_factory=list)
    texts: list[PageMark] = field(default_factory=list)
    """Its lines, where there is no picture of it."""
    picture: str | None = None
    """A data URI."""


@dataclass
class PaperView:
    """Content of the page."""

    document: str
    facts: list[tuple[str, str]]
    """Facts of the paper, by name."""
    sheets: list[PageView]
    cards: list[ItemCard]
    counts: dict[Fate, int]
    """Cards by fate."""
    notes: list[str]


def inspect_page(build: Path, raw: Path, wanted: str, pages: range | None = None) -> tuple[str, bytes]:
    """Return a paper's name and its HTML page, with the pages that are wanted, else the first ``MAX_PAGES``.

    Raises:
        UserError: no paper, or several, have that name or that part of it; or there are no such pages.
    """
    view = view_paper(build, raw, wanted, pages)
    helpers = {"findings": findings, "in_both_languages": in_both_languages, "marked": _marked}
    uncertain = (Fate.WAITING, Fate.UNUSED, Fate.DOUBTFUL)
    names = {"names": NAMES["fates"], "regions": NAMES["regions"]}
    return view.document, render(
        "pipeline.inspect:paper.html", view=view, uncertain=uncertain, **names, **helpers
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


def view_paper(build: Path, raw: Path, wanted: str, pages: range | None = None) -> PaperView:
    """Return the content of the page; see ``inspect_page``."""
    tables = PaperTables(build, wanted)
    count = max((page.page for page in tables.pages), default=0)
    shown = pages or range(1, min(count, MAX_PAGES) + 1)
    if len(shown) > MAX_PAGES or shown.start > count:
        name = tables.document.document
        raise UserError(f"{name} has pages 1-{count}; ask for {MAX_PAGES} of them at most")
    last = min(shown.stop - 1, count)
    notes = [f"Pages {shown.start}–{last} of {count}; --pages FIRST-LAST shows others."]
    found = [card for card in item_cards(tables) if not card.pages or set(card.pages) & set(shown)]
    view = PaperView(
        tables.document.document,
        _facts(tables),
        page_views(tables, found, shown),
        found,
        {fate: count for fate in Fate if (count := sum(card.fate is fate for card in found))},
        notes if len(shown) < count else [],
    )
    view.notes += _draw(build, raw, view)
    return view


def _facts(tables: PaperTables) -> list[tuple[str, str]]:
    document = tables.document
    reasons = ((page.method.value, (page.reason or "").partition(":")[0]) for page in tables.pages)
    methods = Counter(f"{method} ({reason})" if reason else method for method, reason in reasons)
    facts = [
        ("format 格式", f"{document.format}, {counted(document.pages or 0, 'page')}"),
        ("read by 读取", ", ".join(f"{method} {count}" for method, count in sorted(methods.items()))),
    ]
    exam = [name for name in (document.exam_type, document.exam_class, document.exam_subject) if name]
    if exam:
        facts.append(("exam 考试", " · ".join(exam)))
    if key := tables.keys.get(document.document):
        facts.append(("answers of 所答试卷", key))
    if keys := sorted(name for name, paper in tables.keys.items() if paper == document.document):
        facts.append(("answers from 答案来自", ", ".join(keys)))
    return [*facts, ("sha256", document.sha256[:16])]


def _draw(build: Path, raw: Path, view: PaperView) -> list[str]:
    """Put pictures behind the boxes; return notes on pages without one."""
    boxed = [sheet for sheet in view.sheets if not sheet.texts and sheet.page.width > 0]
    if not boxed:
        return ["This format has no pages to show: its lines stand on the left."] if view.sheets else []
    try:
        paper = find_paper(build, raw, view.document)
    except UserError as error:
        return [f"No pictures: {error}"]
    sheets = {sheet.page.page: sheet for sheet in boxed}
    most = min(MAX_BYTES, BUDGET // len(boxed))
    failed: dict[int, str] = {}
    with closing(LocalExecutor()) as executor:  # in worker processes: a hostile page costs itself alone
        for page, content in executor.map(partial(draw_page, paper, most), sheets, TIMEOUT):
            if isinstance(content, Failure):
                failed[page] = f"{content.reason}: {content.detail}"
            else:
                sheets[page].picture = data_uri(content, "image/jpeg")
    return [f"Page {page} cannot be shown: {why}" for page, why in sorted(failed.items())]


BUDGET = 9_000_000
"""Bytes of all pictures of a page together; as text they take a third more."""

MAX_BYTES = 260_000
"""Of one picture: a scan of 1,000 pixels across at good quality."""


def page_views(tables: PaperTables, cards: Sequence[ItemCard], shown: range) -> list[PageView]:
    """Pages ``shown``, each with its boxes; pages without boxes have lines of text."""
    made = _MarkBuilder(tables, cards)
    found = []
    for page in tables.pages:
        if page.page in shown:
            mine = [line for line in tables.lines if line.page == page.page]
            boxed = page.width > 0 and all(line.box for line in mine) and tables.document.format != "docx"
            found.append(PageView(page, made.marks(mine)) if boxed else PageView(page, [], made.texts(mine)))
    return found


class _MarkBuilder:
    """Makes the marks of pages."""

    def __init__(self, tables: PaperTables, cards: Sequence[ItemCard]) -> None:
        self._tables = tables
        self._cards = {card.name: card for card in cards}
        self._unused = {(line.page, line.order): name for name, run in tables.unused.items() for line in run}

    def _became(self, line: Line) -> tuple[str, tuple[str, ...]]:
        """Style and cards of a line."""
        place = (line.page, line.order)
        if names := tuple(name for name in self._tables.items.get(place, ()) if name in self._cards):
            return min((self._cards[name].fate for name in names), key=list(Fate).index).value, names
        name = self._unused.get(place)
        return str(self._tables.fates.get(place, "none")), (name,) if name else ()

    def marks(self, lines: Iterable[Line]) -> list[PageMark]:
        """Blocks of lines of the same items, one after the other, and regions on top of them."""
        blocks: list[tuple[str, tuple[str, ...], list[Region]]] = []
        regions: list[PageMark] = []
        for line in lines:
            style, names = self._became(line)
            assert line.box is not None
            if line.kind in NAMES["regions"] and not line.text:
                regions.append(PageMark(line.kind.value, names, _region(line.kind), line.box))
            if style == "none":
                continue
            if not blocks or blocks[-1][:2] != (style, names):
                blocks.append((style, names, []))
            blocks[-1][2].append(Region(page=line.page, box=line.box))
        marks = [
            PageMark(style, names, self._label(names), strip.box)
            for style, names, parts in blocks
            for strip in page_strips(parts)
        ]
        return marks + regions

    def texts(self, lines: Iterable[Line]) -> list[PageMark]:
        """Lines as text; a region without text is named."""
        return [PageMark(*self._became(line), line.text or f"［{_region(line.kind)}］") for line in lines]

    def _label(self, names: Sequence[str]) -> str:
        numbers = [(self._cards[name].question or {}).get("number") for name in names if name in self._cards]
        known = list(dict.fromkeys(str(number) for number in numbers if number is not None))
        return f"{known[0]}–{known[-1]}" if len(known) > 1 else "".join(known)


def _region(kind: LineKind) -> str:
    return " ".join(reversed(NAMES["regions"].get(kind, (kind.value, ""))))


def draw_page(paper: Paper, most: int, page: int) -> bytes:
    """The page as JPEG of at most so many bytes."""
    return jpeg(as_picture(page_image(paper, page)[0]), most)
