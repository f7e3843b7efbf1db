"""The page of a paper shows what became of every line, asks for nothing and believes nothing."""

import html
import re

import polars as pl
import pytest

from build_dataset.pipeline.crop import find_paper
from build_dataset.pipeline.explain import StageEvent
from build_dataset.pipeline.inspect.page import (
    Fate,
    ItemCard,
    PaperTables,
    draw_page,
    inspect_page,
    item_cards,
    page_views,
    view_paper,
)
from build_dataset.schemas.documents import Box, Document, Line, Page, Span, Trace, UnsureCharacter
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.places import mark_places
from build_dataset.schemas.questions import Question, ReviewItem


@pytest.fixture
def view(built):
    return view_paper(built.build, built.raw, "paper.pdf")


@pytest.mark.slow
def test_every_item_is_a_card_uncertain_ones_come_first_and_what_waits_says_why(built, view):
    fates = [card.fate for card in view.cards]
    assert fates[0] in (Fate.WAITING, Fate.UNUSED)
    assert fates == sorted(fates, key=list(Fate).index)
    kept = pl.read_parquet(built.build / "parse" / "questions.parquet").filter(pl.col("document") == "paper.pdf")
    assert [card.name for card in view.cards if card.fate is Fate.KEPT] == kept["question_id"].to_list()
    waiting = [card for card in view.cards if card.fate is Fate.WAITING]
    assert waiting
    assert all(event.reason and event.detail for card in waiting for event in card.events)


@pytest.mark.slow
def test_a_question_read_with_doubt_stands_before_the_others(built):
    path = built.build / "parse" / "questions.parquet"
    mine = pl.col("document") == "paper.pdf"
    last = pl.read_parquet(path).filter(mine)["question_id"][-1]
    doubt = pl.when(pl.col("question_id") == last).then(0.8).when(mine).then(0.97)
    pl.read_parquet(path).with_columns(confidence=doubt).write_parquet(path)
    kept = [card for card in view_paper(built.build, built.raw, "paper.pdf").cards if card.question and not card.events]
    assert [card.fate for card in kept[:2]] == [Fate.DOUBTFUL, Fate.KEPT]
    assert kept[0].name == last


@pytest.mark.slow
def test_every_line_of_text_lies_in_a_box(built, view):
    for sheet in view.sheets:
        for line in PaperTables(built.build, "paper.pdf").lines:
            if line.page == sheet.page.page and line.text:
                y = (line.box.y0 + line.box.y1) / 2
                assert any(
                    mark.box.x0 <= line.box.x0 <= mark.box.x1 and mark.box.y0 <= y <= mark.box.y1
                    for mark in sheet.marks
                ), line.text


@pytest.mark.slow
def test_a_question_over_a_page_break_has_boxes_on_both_pages(view):
    over = next(card for card in view.cards if len(card.pages) == 2)
    for sheet in view.sheets:
        assert any(over.name in mark.cards for mark in sheet.marks)


@pytest.mark.slow
def test_the_page_has_pictures_asks_for_nothing_and_escapes_the_text_of_papers(built):
    name, content = inspect_page(built.build, built.raw, "paper")
    text = content.decode()
    assert name == "paper.pdf"
    assert text.count("data:image/jpeg;base64,") == 2
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert "default-src 'none'" in html.unescape(text)
    assert ("&lt;b&gt;&amp;" in text, "<b>&" in text) == (True, False)


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


@pytest.mark.slow
@pytest.mark.parametrize("wanted", ["paper", "paper.pdf", "raw/paper.pdf", "/home/li/exams/raw/paper.pdf"])
def test_the_name_of_a_paper_or_the_path_that_a_shell_completes_is_enough_beside_its_key(built, wanted):
    documents = pl.read_parquet(built.build / "ocr/documents.parquet")
    key = documents.filter(document="paper.pdf").with_columns(document=pl.lit("paper_answers.pdf"))
    pl.concat([documents, key]).write_parquet(built.build / "ocr/documents.parquet")
    assert view_paper(built.build, built.raw, wanted).document == "paper.pdf"


@pytest.mark.parametrize("wanted", ["locked.pdf", "lock"])
def test_why_a_paper_was_rejected_is_told_by_its_name_or_a_part_of_it(built, wanted):
    row = {"item_id": "locked.pdf", "stage": "ocr", "reason": "encrypted", "detail": "needs a password"}
    pl.DataFrame([row]).write_parquet(built.build / "ocr/rejects.parquet")
    with pytest.raises(
        UserError, match=rf"no paper {wanted} .*: locked\.pdf was rejected, encrypted: needs a password"
    ):
        view_paper(built.build, built.raw, wanted)


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


def test_a_settled_question_and_a_disputed_label_keep_nothing_out(built):
    tables = PaperTables(built.build, "paper.pdf")
    cards = item_cards(tables)
    settled = next(card for card in cards if card.fate is Fate.WAITING and card.question)
    [disputed] = [card for card in cards if card.fate is Fate.KEPT][-1:]
    (built.build / "review").mkdir()
    row = ReviewItem(item_id=disputed.name, stage="review", reason="disputed", detail="two labels")
    ReviewItem.to_frame([row]).write_parquet(built.build / "review" / "review.parquet")
    (built.build / "clean").mkdir()
    taken = Question.to_frame([Question.model_validate(settled.question)])
    taken.write_parquet(built.build / "clean" / "questions.parquet")
    found = {card.name: card for card in item_cards(tables)}
    assert found[settled.name].fate in (Fate.KEPT, Fate.DOUBTFUL)
    assert found[disputed.name].fate is Fate.KEPT
    assert found[disputed.name].events, "it is told all the same"
    _, page = inspect_page(built.build, built.raw, "paper.pdf")
    assert f"→ {settled.name}" not in page.decode()
    assert f"→ {disputed.name}" not in page.decode()


def test_a_picture_keeps_to_its_share_of_bytes(built):
    paper = find_paper(built.build, built.raw, "paper.pdf")
    large, small = (draw_page(paper, most, 1) for most in (10**6, 15_000))
    assert len(small) < len(large)
    assert len(small) <= 15_000


def test_each_finding_stands_on_its_line_and_the_place_that_it_quotes_is_marked():
    event = StageEvent("parse", "waiting", "empty_place", "empty_place: something is missing in stem: '1,2, ,n<'")
    card = ItemCard("x", Fate.WAITING, [event])
    assert mark_places("入栈序列为1,2, ,n<b>", card.doubted) == "入栈序列为<mark>1,2, ,n&lt;</mark>b&gt;"


def test_what_to_do_about_a_reason_is_told_once_however_often_it_was_found(built):
    path = built.build / "parse" / "review.parquet"
    mine = PaperTables(built.build, "paper.pdf").is_mine(pl.col("item_id"))
    items = ReviewItem.from_frame(pl.read_parquet(path).filter(mine & pl.col("item").is_not_null()))
    item = next(iter(items)).model_copy(update={"reason": "text_left_over", "detail": "here; text_left_over: there"})
    ReviewItem.to_frame([item]).write_parquet(path)
    page = inspect_page(built.build, built.raw, "paper.pdf")[1].decode()
    assert page.count("text_left_over</b>") == 2
    assert page.count("Text of another place may be in it") == page.count(f"→ {item.item_id}") == 1


def line(order: int, text: str = "题", kind: str = "text") -> Line:
    box = Box(x0=10, y0=20 * order, x1=100, y1=20 * order + 15)
    return Line(document="a", page=1, order=order, kind=kind, text=text, box=box, column=0, confidence=None)


@pytest.mark.slow
def test_the_facts_of_a_paper_are_told(view, built):
    digest = PaperTables(built.build, "paper.pdf").document.sha256
    assert view.facts[0] == ("format 格式", "pdf, 2 pages")
    assert view.facts[-1] == ("sha256", digest[:16])


def paper(lines, traces=(), keys=None, sheets=(), **about) -> PaperTables:
    """The tables of a paper, without a build."""
    made = object.__new__(PaperTables)
    plain = {"document": "a", "sha256": "0123456789abcdef" * 4, "format": "pdf", "pages": 2, "rows": None}
    made.document = Document(**plain | about)
    made.lines, made.traces, made.keys, made.pages = list(lines), list(traces), keys or {}, list(sheets)
    return made


def spans(page: int, first: int, last: int) -> list[Span]:
    return [Span(page=page, first=first, last=last)]


def on(page: int, order: int, text: str = "题", kind: str = "text", *, boxed: bool = True) -> Line:
    one = line(order, text, kind)
    return one.model_copy(update={"page": page} | ({} if boxed else {"box": None}))


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


def test_characters_that_may_be_misread_are_marked_in_the_text_and_on_the_page() -> None:
    place = Box(x0=40, y0=20, x1=50, y1=35)
    unsure = UnsureCharacter(before="皮肤", text="瘪", after="痒", other="痹", sure=0.4, page=1, box=place)
    own = on(1, 0, "1. 皮肤瘪痒").model_copy(update={"unsure": [unsure]})
    made = paper([own], [Trace(document="a", item_id="q", spans=spans(1, 0, 0), steps=[])], sheets=[sheet(1)])
    row = {"stem": "皮肤瘪痒", "options": [], "unsure": [unsure.model_dump()]}
    waiting, kept = (ItemCard("q", fate, question=row) for fate in (Fate.WAITING, Fate.KEPT))
    assert waiting.marked("stem") == '皮肤<mark class="unsure" title="或 or 痹">瘪</mark>痒'
    assert kept.marked("stem") == "皮肤瘪痒"
    [view] = page_views(made, [waiting], range(1, 2))
    assert [mark.box for mark in view.marks if mark.style == "unsure-place"] == [place]


def test_a_key_that_a_reason_doubts_is_marked() -> None:
    card = ItemCard("q", Fate.WAITING, [StageEvent("parse", "waiting", "no_answer", "no_answer: none")])
    other = ItemCard("q", Fate.WAITING, [StageEvent("parse", "waiting", "empty_place", "empty_place: 'x y'")])
    assert (card.doubts_key, other.doubts_key) == (True, False)
