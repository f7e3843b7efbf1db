"""Names, ranges and cells as ``inspect`` and ``list`` show them."""

from __future__ import annotations

import pytest

from pipeline.cli.inspect import _fields, _file_name, _page_range, _read
from pipeline.cli.options import configure, examples
from pipeline.inspect.bank import Sample
from schemas.errors import UserError
from schemas.questions import Question


@pytest.mark.parametrize(
    ("text", "pages"), [(None, None), ("3", range(3, 4)), (" 1-20 ", range(1, 21)), ("1-1", range(1, 2))]
)
def test_pages_are_named_by_the_first_and_the_last(text, pages):
    assert _page_range(text) == pages


@pytest.mark.parametrize("text", ["0-3", "9-2", "", "x", "1-", "1234567"])
def test_other_ranges_are_refused(text):
    with pytest.raises(UserError, match="write it as FIRST-LAST"):
        _page_range(text)


def test_a_name_that_had_to_change_ends_in_a_digest():
    assert _file_name("paper-1.pdf") == "paper-1.pdf"
    assert _file_name("题目.pdf") == "题目.pdf"
    assert _file_name("a/b.pdf") == "a_b.pdf-e0633290"
    assert _file_name("x" * 60) == "x" * 60
    assert len(_file_name("x" * 61)) == 60 + 1 + 8


def test_cells_are_cut_after_120_characters_and_empty_ones_left_out():
    assert _fields({"a": 1, "b": None, "c": "x" * 117}) == "a: 1\nc: " + "x" * 117
    assert _fields({"c": "x" * 118}) == "c: " + "x" * 117 + "…"


def test_a_row_is_shown_as_the_question_that_it_became():
    given = {
        "question_id": "q",
        "document": "d",
        "section": None,
        "number": 1,
        "question_type": "A1",
        "stem": "[b]题",
        "options": [{"label": "A", "text": "甲"}, {"label": "B", "text": "乙"}],
        "content_hash": "h",
    }
    question = Question(**given)
    assert _read(Sample(1, {}, question, None)) == "\\[b]题\nA. 甲\nB. 乙\n答案 answer: —"
    keyed = question.model_copy(update={"answer": ["A", "B"]})
    assert _read(Sample(1, {}, keyed, "x: y")).splitlines() == [
        "[yellow]x: y[/yellow]",
        "\\[b]题",
        "A. 甲",
        "B. 乙",
        "答案 answer: AB",
    ]
    assert _read(Sample(1, {}, None, None)) == "—"


def test_examples_end_the_help():
    assert examples([]) is None
    assert examples(["run"]) == "Example: [cyan]build-dataset run[/cyan]"
    assert examples(["a", "b"]) == (
        "Examples:\n\n[cyan]build-dataset a[/cyan]\n\n[cyan]build-dataset b[/cyan]"
    )


def test_pairs_and_options_override_the_file(tmp_path):
    path = tmp_path / "dataset.toml"
    path.write_text('[dataset]\nname = "x"\n')
    config = configure(
        path, ["dataset.seed = 7", "dataset.title=a=b"], {"split.ratios": "6:2:2", "ocr.dpi": None}
    )
    assert (config.dataset.seed, config.dataset.title) == (7, "a=b")
    assert config.params("split").ratios == "6:2:2"
