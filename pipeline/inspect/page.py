"""The page of a paper: what became of every line, from the tables of a build folder; pages with boxes and pictures."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property, partial
from itertools import accumulate, groupby, islice
from pathlib import Path

import polars as pl

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.crop import TIMEOUT, Paper, as_picture, find_paper, jpeg, page_image, page_strips
from build_dataset.pipeline.explain import line_places, set_aside
from build_dataset.pipeline.inspect.cards import LOW_CONFIDENCE, NAMES, Fate, ItemCard
from build_dataset.pipeline.rendering.markup import data_uri, html_page
from build_dataset.pipeline.runtime.executor import LocalExecutor
from build_dataset.pipeline.runtime.publish import built, find_rows, find_table, read_manifest
from build_dataset.pipeline.set_aside import LOSING, settled_questions
from build_dataset.pipeline.stage import Failure
from build_dataset.schemas import grouping, questions
from build_dataset.schemas.documents import Box, Document, Line, LineKind, Page, Trace
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.wording import counted, findings, in_both_languages, look_at, settling

MAX_PAGES = 120  # of the paper on one HTML page: more are neither legible in its size nor quick to load
_BUDGET = 9_000_000  # bytes of all pictures of a page together; as text they take a third more
_MAX_BYTES = 260_000  # of one picture: a scan of 1,000 pixels across at good quality

Place = tuple[int, int]  # page and ``Line.order``


class PaperTables:
    """The rows of a build folder that speak of one document."""

    def __init__(self, build: Path, wanted: str) -> None:
        """Find the document whose name is, or alone contains, ``wanted``; a ``UserError`` says why there is none."""
        self.build = build
        known = {document.document: document for document in Document.from_frame(built(build, "ocr/documents"))}
        # raw/paper.pdf is paper.pdf, and so is "paper", though it is a part of paper_answers.pdf too
        whole = max((name for name in known if f"/{wanted}".endswith(f"/{name}")), key=len, default=None)
        same = [whole] if whole else sorted(name for name in known if Path(name).stem == wanted)
        names = same or sorted(name for name in known if wanted in name)
        if len(names) > 1:
            raise UserError(f"{wanted} could be {len(names)} papers: {', '.join(names[:5])}")
        if not names:
            near = ", ".join(get_close_matches(wanted, known, n=3))  # a typing error
            hint = f"; did you mean {near}?" if near else "; `build-dataset status` counts what was read"
            for row in find_rows(build, "ocr/rejects", pl.col("item_id").str.contains(wanted, literal=True)):
                hint = f": {row['item_id']} was rejected, {row['reason']}: {row['detail']}"
            raise UserError(f"no paper {wanted} in {build}{hint}")
        if known[names[0]].pages is None:
            raise UserError(f"{names[0]} is a table: `build-dataset explain ID` shows its questions")
        self.document = known[names[0]]
        name = pl.col("document") == self.document.document
        self.pages = list(Page.from_frame(built(build, "ocr/pages").filter(name)))
        self.lines = list(Line.from_frame(built(build, "ocr/lines").filter(name)))
        self.traces = [Trace.model_validate(row) for row in find_rows(build, "parse/traces", name)]
        facts = (read_manifest(build / "parse") or {}).get("facts", {})  # none before the first run
        self.keys: dict[str, str] = facts.get("keys", {})  # Papers by the documents that hold their answers.

    def is_mine(self, name: pl.Expr) -> pl.Expr:
        """Return the condition that an id is the document's or one of its items'."""
        return (name == self.document.document) | name.str.starts_with(f"{self.document.sha256[:8]}-")

    @cached_property
    def items(self) -> dict[Place, list[str]]:
        """The items that each line belongs to."""
        traces = [trace for trace in self.traces if trace.item_id != trace.document]
        return grouping.group_values((place, trace.item_id) for trace in traces for place in line_places(trace.spans))

    @cached_property
    def fates(self) -> dict[Place, Fate]:
        """The fates of lines that belong to no item; those of a key file are key."""
        fates: dict[Place, Fate] = {}
        for trace in self.traces:
            for step in trace.steps if trace.item_id == trace.document else ():  # heads, covers
                fates |= dict.fromkeys(line_places(step.spans), Fate(NAMES["steps"].get(step.part, Fate.UNUSED)))
        for line in self.lines:
            place = _place(line)
            if place in self.items:
                fates.pop(place, None)  # an item's lines have the fates of its card
            elif line.kind in ("header", "footer"):
                fates[place] = Fate.RUNNING
            elif line.kind in ("text", "heading"):
                fates.setdefault(place, Fate.KEY if self.document.document in self.keys else Fate.UNUSED)
        return fates

    @cached_property
    def unused(self) -> dict[str, list[Line]]:
        """Lines of text one after the other on a page that became nothing, by the name of their card."""

        def key(line: Line) -> tuple[int, bool]:
            return line.page, bool(line.text) and self.fates.get(_place(line)) is Fate.UNUSED

        runs = [list(run) for (_, unused), run in groupby(sorted(self.lines, key=_place), key) if unused]
        return {f"unused-{run[0].page}-{run[0].order}": run for run in runs}


def item_cards(tables: PaperTables) -> list[ItemCard]:
    """The paper's items, and its unused text, in the order in which a person should look at them."""
    cards: dict[str, ItemCard] = {}
    mine = tables.is_mine(pl.col("question_id"))
    for name in (stage.name for stage in STAGES if "questions" in stage.writes):  # the last one counts
        for row in find_rows(tables.build, f"{name}/questions", mine):
            cards[row["question_id"]] = ItemCard(row["question_id"], Fate.KEPT, question=row)
    settled = settled_questions(partial(find_table, tables.build))
    for stage in STAGES:
        for name, event, item in set_aside(tables.build, stage.name, tables.is_mine):
            if (stage.name, event.outcome) == ("parse", Fate.WAITING) and name in settled:
                event = replace(event, outcome="settled")
            card = cards.setdefault(name, ItemCard(name, Fate.KEPT))
            card.events.append(event)
            content = json.loads(item) if item else None
            if not card.question and isinstance(content, dict) and "stem" in content:
                card.question = content
    for trace in tables.traces:
        if trace.item_id in cards:
            cards[trace.item_id].steps = trace.steps
            cards[trace.item_id].pages = sorted({span.page for span in trace.spans})
    for card in cards.values():
        # As `status` counts it; waiting wins, because a person has to look at it.
        outcomes = {event.outcome for event in card.events if event.stage in LOSING}
        doubtful = card.confidence is not None and card.confidence < LOW_CONFIDENCE
        ended = (fate for fate in (Fate.WAITING, Fate.REJECTED, Fate.MERGED) if fate.value in outcomes)
        card.fate = next(ended, Fate.DOUBTFUL if doubtful else Fate.KEPT)
        card.pages = card.pages or list((card.question or {}).get("pages") or ())
    texts = ((name, [line.text for line in run], run[0].page) for name, run in tables.unused.items())
    unused = [ItemCard(name, Fate.UNUSED, texts=lines, pages=[page]) for name, lines, page in texts]
    in_order = [cards[name] for name in _reading_order(tables.traces, cards)]
    return sorted([*unused, *in_order], key=lambda card: list(Fate).index(card.fate))


def _reading_order(traces: Iterable[Trace], names: Iterable[str]) -> list[str]:
    """Items as they stand in the paper; those that stand nowhere (a missing number) by their ids among them."""
    places = {trace.item_id: min(line_places(trace.spans), default=(0, 0)) for trace in traces}
    by_id = sorted(names)
    followed = accumulate(by_id, lambda last, name: places.get(name, last), initial=(0, 0))  # the neighbour's by id
    return [name for _, name in sorted(zip(islice(followed, 1, None), by_id, strict=True))]


def _place(line: Line) -> Place:
    return line.page, line.order


@dataclass(frozen=True)
class PageMark:
    """A box on a page, or a line of a page that has no layout."""

    style: str  # a ``Fate`` or a region's kind
    cards: tuple[str, ...]
    label: str  # the numbers of its questions; a region's name; the text of a line
    box: Box | None = None


@dataclass
class PageView:
    """A page of the paper."""

    page: Page
    marks: list[PageMark] = field(default_factory=list)
    texts: list[PageMark] = field(default_factory=list)  # its lines, where there is no picture of it
    picture: str | None = None  # a data URI


@dataclass
class PaperView:
    """Content of the page."""

    document: str
    facts: list[tuple[str, str]]  # facts of the paper, by name
    sheets: list[PageView]
    cards: list[ItemCard]
    notes: list[str]
    unsure: list[str]  # characters that may be others, or that the language decided


def inspect_page(build: Path, raw: Path, wanted: str, pages: range | None = None) -> tuple[str, bytes]:
    """Return a paper's name and its HTML page, with the pages that are wanted, else the first ``MAX_PAGES``.

    A ``UserError`` says that no paper, or several, have that name or that part of it, or that there are no such pages.
    """
    view = view_paper(build, raw, wanted, pages)
    helpers = {helper.__name__: helper for helper in (findings, in_both_languages, look_at, settling)}
    uncertain = (Fate.WAITING, Fate.UNUSED, Fate.DOUBTFUL)
    values = {"view": view, "uncertain": uncertain, "names": NAMES["fates"], "regions": NAMES["regions"]}
    return view.document, html_page("build_dataset.pipeline.inspect:paper.html", **values, **helpers)


def view_paper(build: Path, raw: Path, wanted: str, pages: range | None = None) -> PaperView:
    """Return the content of the page; see ``inspect_page``."""
    tables = PaperTables(build, wanted)
    document = tables.document
    count = max((page.page for page in tables.pages), default=0)
    shown = pages or range(1, min(count, MAX_PAGES) + 1)  # the first pages when none are named
    if len(shown) > MAX_PAGES or shown.start > count:
        raise UserError(f"{document.document} has pages 1-{count}; ask for {MAX_PAGES} of them at most")
    notes = [f"Pages {shown.start}–{min(shown.stop - 1, count)} of {count}; --pages FIRST-LAST shows others."]
    cards = [card for card in item_cards(tables) if not card.pages or set(card.pages) & set(shown)]
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
    unsure = []  # what a character may be else: 糞 (or 冀; sure 0.98) in 告知其糞便呈
    for line in (line for line in tables.lines if line.page in shown):
        for sign in line.unsure or ():
            other = f"or 或 {sign.other}; " if sign.other else ""
            around = f"{sign.before}{sign.text}{sign.after}"
            unsure.append(f"p. {line.page} {sign.text} ({other}sure 把握 {sign.sure:.2f}) in 于 {around}")
    facts.append(("sha256", document.sha256[:16]))
    sheets = list(page_views(tables, cards, shown))
    view = PaperView(document.document, facts, sheets, cards, notes if len(shown) < count else [], unsure)
    view.notes += _draw(build, raw, view)
    return view


def _draw(build: Path, raw: Path, view: PaperView) -> list[str]:
    """Put pictures behind the boxes; return notes on pages without one."""
    boxed = [sheet for sheet in view.sheets if not sheet.texts and sheet.page.width > 0]  # DOCX has none
    if not boxed:
        return ["This format has no pages to show: its lines stand on the left."] if view.sheets else []
    try:
        paper = find_paper(build, raw, view.document)
    except UserError as error:
        return [f"No pictures: {error}"]
    sheets = {sheet.page.page: sheet for sheet in boxed}
    most = min(_MAX_BYTES, _BUDGET // len(boxed))  # all pictures share the budget
    failed: dict[int, str] = {}
    with closing(LocalExecutor()) as executor:  # in worker processes: a hostile page costs itself alone
        for page, content in executor.map(partial(draw_page, paper, most), sheets, TIMEOUT):
            if isinstance(content, Failure):
                failed[page] = f"{content.reason}: {content.detail}"
            else:
                sheets[page].picture = data_uri(content, "image/jpeg")
    return [f"Page {page} cannot be shown: {why}" for page, why in sorted(failed.items())]


def page_views(tables: PaperTables, cards: Sequence[ItemCard], shown: range) -> Iterator[PageView]:
    """Yield pages ``shown``, each with its boxes; pages without boxes have lines of text."""
    known = {card.name: card for card in cards}
    at = {place: [known[name] for name in names if name in known] for place, names in tables.items.items()}
    at |= {_place(line): [known[name]] for name, run in tables.unused.items() if name in known for line in run}
    for page in tables.pages:
        if page.page in shown:
            lines = [line for line in tables.lines if line.page == page.page]
            boxed = page.width > 0 and all(line.box for line in lines) and tables.document.format != "docx"
            owners = [at.get(_place(line), []) for line in lines]
            became = []  # a mark without a box: the cards of a line, their numbers and the fate to look at first
            for line, here in zip(lines, owners, strict=True):
                style = min((card.fate for card in here), key=list(Fate).index, default=tables.fates.get(_place(line)))
                numbers = [(card.question or {}).get("number") for card in here]
                told = list(dict.fromkeys(str(number) for number in numbers if number is not None))
                label = f"{told[0]}–{told[-1]}" if len(told) > 1 else "".join(told)
                became.append(PageMark(style or "none", tuple(card.name for card in here), label))
            texts = [line.text or f"［{_region(line.kind)}］" for line in lines]  # a region without text is named
            plain = [replace(mark, label=text) for mark, text in zip(became, texts, strict=True)]
            marks = _boxes(lines, became) if boxed else []
            yield PageView(page, [*marks, *_doubted_lines(lines, owners)], [] if boxed else plain)


def _doubted_lines(lines: Sequence[Line], owners: Iterable[Sequence[ItemCard]]) -> Iterator[PageMark]:
    """Yield a mark for each line of which a finding quotes something, or which stands in a quotation."""
    for line, cards in zip(lines, owners, strict=True):
        places, text = ("".join(mark.split()) for card in cards for mark in card.doubted), "".join(line.text.split())
        if line.box and any(mark in text or (len(text) > 3 and text in mark) for mark in places if mark):
            yield PageMark("doubted-place", tuple(card.name for card in cards), "", line.box)
        doubted = ((card.name, sign) for card in cards for sign in card.unsure if sign in (line.unsure or ()))
        yield from (PageMark("unsure-place", (name,), "", sign.box) for name, sign in doubted if sign.box)


def _boxes(lines: Sequence[Line], became: Sequence[PageMark]) -> list[PageMark]:
    """Return blocks of lines of the same items, one after the other, and regions on top of them."""
    pairs = list(zip(lines, became, strict=True))
    bare = ((line, mark) for line, mark in pairs if line.kind in NAMES["regions"] and not line.text)
    regions = [PageMark(line.kind, mark.cards, _region(line.kind), line.box) for line, mark in bare]
    blocks = groupby((pair for pair in pairs if pair[1].style != "none"), lambda pair: pair[1])
    marks = []
    for mark, block in blocks:
        parts = [questions.Region(page=line.page, box=line.box) for line, _ in block if line.box]
        marks += [replace(mark, box=strip.box) for strip in page_strips(parts)]
    return marks + regions


def _region(kind: LineKind) -> str:
    return " ".join(reversed(NAMES["regions"].get(kind, (kind.value, ""))))


def draw_page(paper: Paper, most: int, page: int) -> bytes:
    """The page as JPEG of at most so many bytes."""
    return jpeg(as_picture(page_image(paper, page)[0]), most)
