"""Items that were not kept, in rows and in a workbook."""

import io
import json

import openpyxl
import polars as pl
import pytest
from typer.testing import CliRunner

from pipeline.aside import AsideRow, aside_workbook, items
from pipeline.cli.app import app
from schemas.wording import in_both_languages, reason_names
from tests.conftest import ROOT


def test_every_item_that_was_not_kept_is_listed_with_its_file_and_text(sample_build):
    counts = {
        outcome: sum(
            json.loads(path.read_text())["counts"][outcome] for path in sample_build.glob("*/manifest.json")
        )
        for outcome in ("rejected", "merged")
    }
    rejected, merged = (items(sample_build, outcome) for outcome in counts)
    assert len(rejected) == counts["rejected"]
    duplicates = pl.read_parquet(sample_build / "dedup" / "merges.parquet").height
    assert len(merged) == duplicates <= counts["merged"]
    for row in (*rejected, *merged, *items(sample_build, "waiting")):
        assert row.document, row
        assert row.text or row.item_id == row.document, row


def test_items_are_chosen_by_part_of_the_file_name_and_by_reason(sample_build):
    assert {row.document for row in items(sample_build, "rejected", "INTERNAL-MED")} == {
        "internal-medicine.pdf"
    }
    (row,) = items(sample_build, "rejected", reason="needs_table")
    assert row.reason == "needs_table"


def test_every_reason_of_the_sample_has_a_chinese_name(sample_build):
    rows = [*items(sample_build, "rejected"), *items(sample_build, "waiting")]
    assert {row.reason for row in rows} <= reason_names().keys()
    assert in_both_languages("our_own_rule") == "our_own_rule"


@pytest.mark.parametrize(
    "text", ["=1+1", "@SUM(1)", "+x", "-x", "http://example.org", "x\x07y", "甲" * 40_000]
)
def test_no_cell_of_the_workbook_is_a_formula_or_a_link(text):
    content = aside_workbook([AsideRow("q", "a.csv", "clean", "no_answer", text, text)])
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    cells = [cell for row in sheet.iter_rows(min_row=2) for cell in row]
    assert all(cell.data_type == "s" and cell.hyperlink is None for cell in cells)
    assert cells[3].value == "没有答案 no_answer"
    assert content == aside_workbook([AsideRow("q", "a.csv", "clean", "no_answer", text, text)])


def test_the_workbooks_stand_beside_the_tables_where_they_have_rows(sample_build):
    for stage in ("ocr", "clean", "split"):
        for table in ("rejects", "review"):
            rows = pl.read_parquet(sample_build / stage / f"{table}.parquet").height
            assert (sample_build / stage / f"{table}.xlsx").exists() is bool(rows)


def test_the_list_on_the_terminal_names_reasons_in_both_languages(sample_build):
    words = ["--config", str(ROOT / "dataset.toml"), "--set", f"dataset.build={sample_build}"]
    done = CliRunner().invoke(app, ["list", "rejected", "--limit", "2", *words], env={"COLUMNS": "200"})
    assert done.exit_code == 0
    assert "items rejected" in done.output
    assert "of them not shown (--limit)" in done.output
    found = CliRunner().invoke(app, ["list", "rejected", "--reason", "needs_table", "--json", *words])
    assert [row["reason"] for row in json.loads(found.output)] == ["needs_table"]
