"""A question is found where it stands, and cut out of its pages."""

import io

import pytest
from PIL import Image
from typer.testing import CliRunner

from build_dataset.pipeline.cli.app import app
from build_dataset.pipeline.cli.inspect import _file_name
from build_dataset.pipeline.explain import explain, question_place
from build_dataset.pipeline.inspect.page import Fate, PaperTables, item_cards
from build_dataset.schemas.errors import UserError

cli = CliRunner()


def named(built, fate: Fate, document: str = "paper.pdf"):
    return next(card for card in item_cards(PaperTables(built.build, document)) if card.fate is fate)


@pytest.fixture
def command(built, tmp_path):
    config = tmp_path / "dataset.toml"
    config.write_text(f'[dataset]\nname = "test"\nraw = "{built.raw}"\nbuild = "{built.build}"\n', encoding="utf-8")
    return lambda *words: cli.invoke(app, [*words, "--config", str(config)])


def test_a_kept_question_stands_where_its_record_says(built):
    card = named(built, Fate.KEPT)
    document, regions = question_place(built.build, explain(built.build, card.name))
    assert document == "paper.pdf"
    assert {region.page for region in regions} == set(card.pages)


def test_a_question_that_waits_stands_where_the_parser_cut_it(built):
    document, regions = question_place(built.build, explain(built.build, named(built, Fate.WAITING).name))
    assert document == "paper.pdf"
    assert regions


def test_a_question_that_waits_is_shown_with_its_file_text_and_page(built, command):
    waiting = named(built, Fate.WAITING)
    question = explain(built.build, waiting.name).question
    assert (question["document"], question["pages"]) == ("paper.pdf", list(waiting.pages))
    shown = command("explain", waiting.name).output
    assert f"paper.pdf, page {waiting.pages[0]}" in shown
    assert question["stem"].split("\n")[0] in shown
    assert "never became a question" not in shown


def test_crop_writes_a_picture_of_it(built, command):
    name = named(built, Fate.WAITING).name
    shown = command("explain", name, "--crop")
    assert shown.exit_code == 0
    picture = Image.open(io.BytesIO((built.build / "crops" / f"{name}.png").read_bytes()))
    assert picture.format == "PNG"
    assert picture.width > 100


def test_a_source_without_pages_is_told(built, command):
    shown = command("explain", named(built, Fate.KEPT, "notes.txt").name, "--crop")
    assert isinstance(shown.exception, UserError)
    assert "notes.txt" in str(shown.exception)


def test_a_paper_is_no_question(built):
    story = explain(built.build, named(built, Fate.KEPT).name)
    story.question_id, story.question = "paper.pdf", None
    with pytest.raises(UserError, match="no box is known"):
        question_place(built.build, story)


@pytest.mark.slow
def test_inspect_writes_the_page_of_a_paper(built, command):
    shown = command("inspect", "paper", "--pages", "1-2")
    assert shown.exit_code == 0
    assert (built.build / "inspect" / "paper.pdf.html").stat().st_size > 10_000


@pytest.mark.parametrize("pages", ["x", "3-1", "0", "1-2-3"])
def test_pages_are_asked_for_as_a_range(command, pages):
    shown = command("inspect", "paper", "--pages", pages)
    assert "FIRST-LAST" in str(shown.exception)


def test_papers_whose_names_differ_in_what_files_cannot_hold_have_pages_of_their_own():
    names = ["a/b.pdf", "a_b.pdf", "a b.pdf", "内科/卷一.pdf", "x" * 100 + "/b.pdf", "y" + "x" * 99 + "/b.pdf"]
    files = [_file_name(name) for name in names]
    assert len(set(files)) == len(names)
    assert files[1] == "a_b.pdf"
    assert all(len(name) <= 70 and "/" not in name for name in files)
