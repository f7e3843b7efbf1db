"""The page of a paper shows what became of every line, asks for nothing and believes nothing."""

from __future__ import annotations

import html
import re

import polars as pl
import pytest

from build_dataset.pipeline.crop import find_paper
from build_dataset.pipeline.explain import StageEvent
from build_dataset.pipeline.inspect import page as module
from build_dataset.pipeline.inspect.page import (
    Fate,
    ItemCard,
    PageMark,
    PaperTables,
    _became,
    _boxes,
    _facts,
    _fate,
    _reading_order,
    _texts,
    draw_page,
    inspect_page,
    item_cards,
    page_views,
    view_paper,
)
from build_dataset.schemas.documents import Box, Document, Line, Page, Span, Step, Trace
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.wording import mark_places


@pytest.fixture
def view(built):
    return view_paper(built.build, built.raw, "paper.pdf")


def test_every_item_is_a_card_and_uncertain_ones_come_first(built, view):
    fates = [card.fate for card in view.cards]
    assert fates[0] in (Fate.WAITING, Fate.UNUSED)
    assert fates == sorted(fates, key=list(Fate).index)
    kept = pl.read_parquet(built.build / "parse" / "questions.parquet").filter(pl.col("document") == "paper.pdf")
    assert [card.name for card in view.cards if card.fate is Fate.KEPT] == kept["question_id"].to_list()


def test_a_question_read_with_doubt_stands_before_the_others(built):
    path = built.build / "parse" / "questions.parquet"
    mine = pl.col("document") == "paper.pdf"
    last = pl.read_parquet(path).filter(mine)["question_id"][-1]
    doubt = pl.when(pl.col("question_id") == last).then(0.8).when(mine).then(0.97)
    pl.read_parquet(path).with_columns(confidence=doubt).write_parquet(path)
    kept = [card for card in view_paper(built.build, built.raw, "paper.pdf").cards if card.question and not card.events]
    assert [card.fate for card in kept[:2]] == [Fate.DOUBTFUL, Fate.KEPT]
    assert kept[0].name == last


def test_what_waits_says_why(view):
    waiting = [card for card in view.cards if card.fate is Fate.WAITING]
    assert waiting
    assert all(event.reason and event.detail for card in waiting for event in card.events)


def test_every_line_of_text_lies_in_a_box(built, view):
    for sheet in view.sheets:
        for line in PaperTables(built.build, "paper.pdf").lines:
            if line.page == sheet.page.page and line.text:
                y = (line.box.y0 + line.box.y1) / 2
                assert any(
                    mark.box.x0 <= line.box.x0 <= mark.box.x1 and mark.box.y0 <= y <= mark.box.y1
                    for mark in sheet.marks
                ), line.text


def test_a_question_over_a_page_break_has_boxes_on_both_pages(view):
    over = next(card for card in view.cards if len(card.pages) == 2)
    for sheet in view.sheets:
        assert any(over.name in mark.cards for mark in sheet.marks)


def test_the_page_has_pictures_and_asks_for_nothing(built):
    name, content = inspect_page(built.build, built.raw, "paper")
    text = content.decode()
    assert name == "paper.pdf"
    assert text.count("data:image/jpeg;base64,") == 2
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert "default-src 'none'" in html.unescape(text)


def test_text_of_papers_is_escaped(built):
    _, content = inspect_page(built.build, built.raw, "paper")
    assert b"&lt;b&gt;&amp;" in content
    assert b"<b>&" not in content


def test_a_paper_without_pages_shows_its_lines(built):
    view = view_paper(built.build, built.raw, "notes.txt")
    assert [line.label for line in view.sheets[0].texts][1].startswith("1. ")
    styles = {line.style for line in view.sheets[0].texts}
    assert {Fate.KEPT.value, Fate.WAITING.value} <= styles


def test_a_paper_that_is_gone_or_changed_is_shown_without_pictures(built):
    (built.raw / "paper.pdf").write_bytes(b"%PDF-1.7 another")
    view = view_paper(built.build, built.raw, "paper.pdf")
    assert "has changed" in view.notes[0]
    assert view.sheets[0].marks
    assert view.sheets[0].picture is None


def test_only_the_pages_asked_for_are_shown(built):
    view = view_paper(built.build, built.raw, "paper.pdf", range(2, 3))
    assert [sheet.page.page for sheet in view.sheets] == [2]
    assert all(2 in card.pages for card in view.cards if card.pages)


@pytest.mark.parametrize(("wanted", "told"), [("nothing", "no paper nothing"), ("", "could be 2 papers")])
def test_which_paper_is_meant_is_told(built, wanted, told):
    with pytest.raises(UserError, match=told):
        view_paper(built.build, built.raw, wanted)


def test_the_name_of_a_paper_is_enough_beside_its_key(built):
    documents = pl.read_parquet(built.build / "ocr/documents.parquet")
    key = documents.filter(document="paper.pdf").with_columns(document=pl.lit("paper_answers.pdf"))
    pl.concat([documents, key]).write_parquet(built.build / "ocr/documents.parquet")
    assert view_paper(built.build, built.raw, "paper").document == "paper.pdf"


def test_why_a_paper_was_rejected_is_told(built):
    row = {"item_id": "locked.pdf", "stage": "ocr", "reason": "encrypted", "detail": "needs a password"}
    pl.DataFrame([row]).write_parquet(built.build / "ocr/rejects.parquet")
    with pytest.raises(UserError, match=r"no paper locked\.pdf .*: it was rejected, encrypted: needs a password"):
        view_paper(built.build, built.raw, "locked.pdf")


def test_pages_that_are_not_there_are_told(built):
    with pytest.raises(UserError, match="has pages 1-2"):
        view_paper(built.build, built.raw, "paper.pdf", range(7, 9))


def test_what_later_stages_did_is_shown(built):
    name = item_cards(PaperTables(built.build, "paper.pdf"))[-1].name
    (built.build / "clean").mkdir()
    row = {"item_id": name, "stage": "clean", "reason": "figure_item", "detail": "asks about a figure", "item": None}
    pl.DataFrame([row], schema_overrides={"item": pl.String}).write_parquet(built.build / "clean" / "rejects.parquet")
    found = {card.name: card for card in item_cards(PaperTables(built.build, "paper.pdf"))}
    assert found[name].fate is Fate.REJECTED
    assert found[name].events[0].reason == "figure_item"


def test_a_picture_keeps_to_its_share_of_bytes(built):
    paper = find_paper(built.build, built.raw, "paper.pdf")
    large, small = (draw_page(paper, most, 1) for most in (10**6, 15_000))
    assert len(small) < len(large)
    assert len(small) <= 15_000


def test_each_finding_stands_on_its_line_and_the_place_that_it_quotes_is_marked():
    event = StageEvent("parse", "waiting", "empty_place", "empty_place: something is missing in stem: '1,2, ,n<'")
    card = ItemCard("x", Fate.WAITING, [event])
    assert mark_places("入栈序列为1,2, ,n<b>", card.doubted) == "入栈序列为<mark>1,2, ,n&lt;</mark>b&gt;"


@pytest.mark.parametrize(
    ("quoted", "marked"), [("甲" * 2, True), ("甲", False), ("甲" * 120, True), ("甲" * 121, False)]
)
def test_quotations_of_2_to_120_characters_are_marked(quoted, marked):
    card = ItemCard("x", Fate.WAITING, [StageEvent("parse", "waiting", "r", f"r: '{quoted}'")])
    assert ("<mark>" in mark_places(quoted, card.doubted)) is marked


@pytest.mark.parametrize(
    ("confidence", "outcomes", "fate"),
    [
        (None, [], Fate.KEPT),
        (0.9, [], Fate.KEPT),
        (0.89, [], Fate.DOUBTFUL),
        (0.5, ["merged"], Fate.MERGED),
        (1.0, ["merged", "rejected"], Fate.REJECTED),
        (1.0, ["rejected", "waiting"], Fate.WAITING),
    ],
)
def test_the_fate_of_an_item_is_the_one_to_look_at_first(confidence, outcomes, fate):
    events = [StageEvent("clean", outcome, "r", None) for outcome in outcomes]
    assert _fate(ItemCard("x", Fate.KEPT, events, {"confidence": confidence})) is fate


def line(order: int, text: str = "题", kind: str = "text") -> Line:
    box = Box(x0=10, y0=20 * order, x1=100, y1=20 * order + 15)
    return Line(document="a", page=1, order=order, kind=kind, text=text, box=box, column=0, confidence=None)


def test_lines_become_blocks_of_the_same_items_and_regions_on_top():
    one = ItemCard("one", Fate.KEPT, question={"number": 3})
    two = ItemCard("two", Fate.WAITING, question={"number": 0})
    lines = [line(1), line(2), line(3, "", "figure"), line(4), line(5)]
    marks = [
        *[_became(each, [one], {}) for each in lines[:2]],
        _became(lines[2], [], {}),
        _became(lines[3], [one, two], {}),
        _became(lines[4], [], {(1, 5): Fate.COVER}),
    ]
    assert marks == [
        PageMark("kept", ("one",), "3"),
        PageMark("kept", ("one",), "3"),
        PageMark("none", (), ""),
        PageMark("waiting", ("one", "two"), "3–0"),
        PageMark("cover", (), ""),
    ]
    boxes = _boxes(lines, marks)
    assert [(mark.style, mark.label) for mark in boxes] == [
        ("kept", "3"),
        ("waiting", "3–0"),
        ("cover", ""),
        ("figure", "图 figure"),
    ]
    assert (boxes[0].box.y0, boxes[0].box.y1) == (20, 55)
    assert [mark.label for mark in _texts(lines, marks)] == ["题", "题", "［图 figure］", "题", "题"]


def test_items_that_stand_nowhere_follow_their_neighbour_by_id():
    def trace(name, page, first):
        return Trace(document="d", item_id=name, spans=[Span(page=page, first=first, last=first)], steps=[])

    traces = [trace("b", 1, 5), trace("a", 2, 0)]
    assert _reading_order(traces, ["c", "b", "a"]) == ["b", "c", "a"]
    assert _reading_order([], ["b", "a"]) == ["a", "b"]


def test_a_paper_of_more_pages_than_120_is_shown_in_part(built, monkeypatch):
    assert module.MAX_PAGES == 120
    monkeypatch.setattr(module, "MAX_PAGES", 1)
    first = view_paper(built.build, built.raw, "paper.pdf")
    assert [sheet.page.page for sheet in first.sheets] == [1]
    assert first.notes == ["Pages 1–1 of 2; --pages FIRST-LAST shows others."]
    with pytest.raises(UserError, match="has pages 1-2; ask for 1 of them at most"):
        view_paper(built.build, built.raw, "paper.pdf", range(1, 3))
    monkeypatch.setattr(module, "MAX_PAGES", 2)
    assert view_paper(built.build, built.raw, "paper.pdf", range(2, 3)).notes == [
        "Pages 2–2 of 2; --pages FIRST-LAST shows others."
    ]
    assert view_paper(built.build, built.raw, "paper.pdf").notes == []


def test_the_facts_of_a_paper_are_told(view, built):
    digest = PaperTables(built.build, "paper.pdf").document.sha256
    assert view.facts[0] == ("format 格式", "pdf, 2 pages")
    assert view.facts[-1] == ("sha256", digest[:16])


@pytest.mark.parametrize(("pages", "most"), [(1, 260_000), (34, 260_000), (35, 257_142), (120, 75_000)])
def test_pictures_share_9_million_bytes(pages, most):
    assert min(module._MAX_BYTES, module._BUDGET // pages) == most


def paper(lines, traces=(), keys=None, sheets=(), **about) -> PaperTables:
    """The tables of a paper, without a build."""
    made = object.__new__(PaperTables)
    plain = {"document": "a", "sha256": "0123456789abcdef" * 4, "format": "pdf", "pages": 2, "rows": None}
    made.document = Document(**plain | about)
    made.lines, made.traces, made.keys, made.pages = list(lines), list(traces), keys or {}, list(sheets)
    return made


def spans(page: int, first: int, last: int) -> list[Span]:
    return [Span(page=page, first=first, last=last)]


def step(part: str, first: int, last: int) -> Step:
    return Step(part=part, rule="r", detail=None, spans=spans(1, first, last))


def on(page: int, order: int, text: str = "题", kind: str = "text", *, boxed: bool = True) -> Line:
    one = line(order, text, kind)
    return one.model_copy(update={"page": page} | ({} if boxed else {"box": None}))


LINES = [
    *(on(1, 0, kind="header"), on(1, 1), on(1, 2), on(1, 3), on(1, 4, "", "figure"), on(1, 5), on(1, 6)),
    *(on(1, 7, ""), on(2, 0), on(2, 1), on(2, 2, kind="footer"), on(2, 3)),
]
OWN = Trace(document="a", item_id="a", spans=spans(1, 1, 3), steps=[step("head", 1, 2), step("key", 3, 3)])
ITEM = Trace(document="a", item_id="q", spans=[*spans(1, 2, 2), *spans(2, 1, 1)], steps=[])


@pytest.mark.parametrize("keys", [{}, {"a": "paper"}, {"other": "a"}])
def test_every_line_of_text_has_the_fate_of_its_step_or_none(keys) -> None:
    made = paper(LINES, [OWN, ITEM], keys)
    rest = Fate.KEY if "a" in keys else Fate.UNUSED
    assert made.items == {(1, 2): ["q"], (2, 1): ["q"]}
    assert made.fates == {
        (1, 0): Fate.RUNNING,
        (1, 1): Fate.HEAD,
        (1, 3): Fate.KEY,
        (1, 5): rest,
        (1, 6): rest,
        (1, 7): rest,
        (2, 0): rest,
        (2, 2): Fate.RUNNING,
        (2, 3): rest,
    }
    runs = {name: [(one.page, one.order) for one in run] for name, run in made.unused.items()}
    unused = {"unused-1-5": [(1, 5), (1, 6)], "unused-2-0": [(2, 0)], "unused-2-3": [(2, 3)]}
    assert runs == ({} if "a" in keys else unused)


def sheet(number: int, width: float = 100.0, method: str = "ocr", reason: str | None = None) -> Page:
    return Page(
        document="a", page=number, width=width, height=1, method=method, reason=reason, engine="e",
        engine_version="1", confidence=None, lines=1,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("about", "width", "boxed", "shows"),
    [
        ({}, 100.0, True, "boxes"),
        ({}, 0.0, True, "texts"),
        ({}, 0.5, True, "boxes"),
        ({}, 100.0, False, "texts"),
        ({"format": "docx"}, 100.0, True, "texts"),
    ],
)
def test_a_page_without_layout_shows_its_lines(about, width, boxed, shows) -> None:
    lines = [on(1, 0), on(1, 1, boxed=boxed), on(2, 0)]
    item = Trace(document="a", item_id="q", spans=spans(1, 0, 0), steps=[])
    made = paper(lines, [item], sheets=[sheet(number, width) for number in (1, 2)], **about)
    cards = [ItemCard("q", Fate.KEPT), ItemCard("unused-1-1", Fate.UNUSED)]
    [first] = page_views(made, cards, range(1, 2))
    marks = {"boxes": first.marks, "texts": first.texts}
    assert [(mark.style, mark.cards) for mark in marks.pop(shows)] == [("kept", ("q",)), ("unused", ("unused-1-1",))]
    assert [*marks.values()] == [[]]
    assert [view.page.page for view in page_views(made, cards, range(1, 3))] == [1, 2]
    assert [view.page.page for view in page_views(made, cards, range(2, 3))] == [2]


def test_the_facts_name_ways_of_reading_the_exam_and_keys() -> None:
    pages = [sheet(1), sheet(2, reason="garbled: x"), sheet(3, reason="garbled: y"), sheet(4, method="text_layer")]
    plain = paper([], sheets=pages)
    assert _facts(plain) == [
        ("format 格式", "pdf, 2 pages"),
        ("read by 读取", "ocr 1, ocr (garbled) 2, text_layer 1"),
        ("sha256", "0123456789abcdef"),
    ]
    told = paper([], keys={"a": "p", "k2": "a", "k1": "a"}, exam_type="医师", exam_subject="内科", pages=1)
    assert _facts(told)[0] == ("format 格式", "pdf, 1 page")
    assert _facts(told)[2:5] == [
        ("exam 考试", "医师 · 内科"),
        ("answers of 所答试卷", "p"),
        ("answers from 答案来自", "k1, k2"),
    ]
