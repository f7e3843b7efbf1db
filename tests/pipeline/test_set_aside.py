"""Items that were not kept: in rows, in a workbook, by source file."""

import io
import json

import openpyxl
import polars as pl
import pytest
from typer.testing import CliRunner

from build_dataset.pipeline import set_aside
from build_dataset.pipeline.cli.app import app
from build_dataset.pipeline.report.flow import doubt_notices, loss_notices
from build_dataset.pipeline.runtime.publish import find_table
from build_dataset.pipeline.set_aside import (
    AsideRow,
    Documents,
    SourceLoss,
    aside_rows,
    aside_workbook,
    content_of,
    items,
    source_losses,
)
from build_dataset.schemas.documents import Document
from build_dataset.schemas.questions import Cluster, Merge, Question, Rejection, ReviewItem
from build_dataset.schemas.wording import in_both_languages, reason_names
from tests.conftest import ROOT
from tests.making import make_question


def test_every_item_that_was_not_kept_is_listed_with_its_file_and_text(sample_build):
    counts = {
        outcome: sum(json.loads(path.read_text())["counts"][outcome] for path in sample_build.glob("*/manifest.json"))
        for outcome in ("rejected", "merged")
    }
    rejected, merged = (items(sample_build, outcome) for outcome in counts)
    assert len(rejected) == counts["rejected"]
    duplicates = pl.read_parquet(sample_build / "dedup" / "merges.parquet").height
    assert len(merged) == duplicates <= counts["merged"]
    for row in (*rejected, *merged, *items(sample_build, "waiting")):
        assert row.document, row
        assert row.text or row.item_id == row.document, row


def test_families_of_twins_are_listed_side_by_side_with_keys_and_splits(monkeypatch, tmp_path):
    names = ["q1", "q2", "q3", "q4"]
    rows = [make_question(f"第{n}种药物", ["甲", "乙"], "A", question_id=n, document=f"{n}.pdf") for n in names]
    kinds = [("q1", "c1", "number"), ("q2", "c1", "number"), ("q3", "c2", "group"), ("q4", "c2", "group")]
    tables = {
        "dedup/questions": Question.to_frame(rows),
        "dedup/clusters": pl.DataFrame(kinds, Cluster.polars_schema(), orient="row"),
        "split/assignments": pl.DataFrame({"question_id": ["q1"], "split": ["test"]}),
    }
    monkeypatch.setattr(set_aside, "find_table", lambda _, name, *__: tables.get(name))
    found = items(tmp_path, "twins")
    assert [(row.item_id, row.reason, row.detail) for row in found] == [("q1", "number", "c1"), ("q2", "number", "c1")]
    assert found[0].text == "第q1种药物\nA. 甲\nB. 乙\n答案 key A · test"
    assert found[1].text.endswith("key A · –")
    assert [row.item_id for row in items(tmp_path, "twins", file="Q2")] == ["q2"]


def test_items_are_chosen_by_part_of_the_file_name_and_by_reason(sample_build):
    assert {row.document for row in items(sample_build, "rejected", "INTERNAL-MED")} == {"internal-medicine.pdf"}
    (row,) = items(sample_build, "rejected", reason="needs_table")
    assert row.reason == "needs_table"


def test_every_reason_of_the_sample_has_a_chinese_name(sample_build):
    rows = [*items(sample_build, "rejected"), *items(sample_build, "waiting")]
    assert {row.reason for row in rows} <= reason_names().keys()
    assert in_both_languages("our_own_rule") == "our_own_rule"


@pytest.mark.parametrize("text", ["=1+1", "@SUM(1)", "+x", "-x", "http://example.org", "x\x07y", "甲" * 40_000])
def test_no_cell_of_the_workbook_is_a_formula_or_a_link(text):
    content = aside_workbook([AsideRow("q", "a.csv", "clean", "no_answer", text, text)])
    sheet = openpyxl.load_workbook(io.BytesIO(content)).active
    cells = [cell for row in sheet.iter_rows(min_row=2) for cell in row]
    assert all(cell.data_type == "s" and cell.hyperlink is None for cell in cells)
    assert (cells[3].value, sheet.freeze_panes) == ("没有答案 no_answer", "A2")
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


def question(name, document):
    return Question(
        question_id=name,
        document=document,
        section=None,
        number=1,
        question_type="A1",
        stem="题",
        options=[],
        content_hash=name,
    )


def rejection(item, reason, item_json=None, detail="d"):
    return Rejection(item_id=item, stage="s", reason=reason, detail=detail, item=item_json)


def tables() -> dict[str, pl.DataFrame]:
    documents = [
        Document(document="a.csv", sha256="a" * 64, format="cmexam_csv", pages=None, rows=3),
        Document(document="b.pdf", sha256="b" * 64, format="pdf", pages=2, rows=None),
        Document(document="c.xlsx", sha256="c" * 64, format="cmexam_xlsx", pages=None, rows=50),
    ]
    waiting = question("r-3", "a.csv").model_dump_json()
    return {
        "ocr/documents": Document.to_frame(documents),
        "ocr/rejects": Rejection.to_frame([rejection("bad.rar", "unknown_format", detail="a RAR archive; unpack it")]),
        "parse/questions": Question.to_frame(
            [question("r-1", "a.csv"), question("bbbbbbbb-1-001", "b.pdf"), question("bbbbbbbb-1-002", "b.pdf")]
        ),
        "parse/rejects": Rejection.to_frame(
            [rejection("a.csv#2", "no_options"), rejection("c.xlsx", "columns_unclear")]
        ),
        "parse/review": ReviewItem.to_frame(
            [
                ReviewItem(
                    item_id="r-3",
                    question_ids=["r-3"],
                    stage="parse",
                    reason="answer_not_read",
                    detail="d",
                    item=waiting,
                )
            ]
        ),
        "clean/rejects": Rejection.to_frame([rejection("bbbbbbbb-1-002", "needs_figure", json.dumps({"stem": "x"}))]),
        "dedup/merges": Merge.to_frame(
            [Merge(question_id="r-1", survivor_id="bbbbbbbb-1-001", kind="exact", score=1, reason="same")]
        ),
    }


def test_every_item_of_every_source_is_counted_once():
    found = {loss.document: loss for loss in source_losses(tables().get)}
    counted = {
        name: (loss.n_input, loss.kept, loss.merged, loss.rejected, loss.waiting) for name, loss in found.items()
    }
    assert counted == {
        "a.csv": (3, 0, 1, 1, 1),
        "b.pdf": (2, 1, 0, 1, 0),
        "c.xlsx": (50, 0, 0, 50, 0),
        "bad.rar": (0, 0, 0, 0, 0),
    }
    assert found["a.csv"].merged_into == {"b.pdf": 1}


def test_before_a_run_nothing_is_lost():
    assert source_losses(lambda reference: None) == []


def test_files_that_lost_most_come_first_and_the_alarm_is_above_its_limit():
    found = source_losses(tables().get)
    assert [loss.document for loss in found] == ["c.xlsx", "bad.rar", "a.csv", "b.pdf"]
    assert [loss.mainly() for loss in found] == [
        f"{in_both_languages('columns_unclear')} 50",
        f"{in_both_languages('unknown_format')}: not read",
        f"{in_both_languages('no_options')} 1",
        f"{in_both_languages('needs_figure')} 1",
    ]
    assert [notice.lost for notice in loss_notices(found, 0.5)] == [50, 2, 0]
    assert len(loss_notices(found, 2 / 3)) == 2
    assert len(loss_notices(found, 0.49)) == 4
    assert SourceLoss("x").mainly() == ""


@pytest.mark.parametrize(
    ("item", "document"),
    [("a.csv", "a.csv"), ("a.csv#12", "a.csv"), ("bbbbbbbb-1-001", "b.pdf"), ("bbbbbbb", None), ("x.csv#1", None)],
)
def test_a_document_is_known_by_what_its_items_ids_begin_with(item, document):
    assert Documents(tables()["ocr/documents"]).of(item) == document
    assert Documents(None).of(item) is None


def test_the_document_of_a_bank_s_question_is_told_in_every_later_stage():
    found = Documents(tables()["ocr/documents"], tables()["parse/questions"])
    assert (found.of("r-1"), found.of("r-9"), found.of("bbbbbbbb-1-009")) == ("a.csv", None, "b.pdf")


@pytest.mark.parametrize(
    ("item", "content"),
    [(None, {}), ("", {}), ("[]", {}), ("5", {}), ('[{"a": 1}, {"a": 2}]', {"a": 1}), ('{"a": 1}', {"a": 1})],
)
def test_what_a_row_holds_is_the_first_of_several(item, content):
    assert content_of(item) == content


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({}, ""),
        ({"row": 1}, '{"row": 1}'),
        ({"stem": "题"}, '{"stem": "题"}'),
        ({"stem": "题", "content_hash": "h"}, "题"),
        (
            {"stem": "题", "content_hash": "h", "shared_stem": "例", "options": [{"label": "A", "text": "甲"}]},
            "例\n题\nA. 甲",
        ),
        ({"reviewer": "a"}, "专家已作答，见说明 experts answered, see detail"),
    ],
)
def test_an_item_is_shown_as_text(content, text):
    said = json.dumps(content, ensure_ascii=False) if content else None
    [row] = aside_rows([rejection("bbbbbbbb-1-001", "r", said)], Documents(tables()["ocr/documents"]))
    assert row == AsideRow("bbbbbbbb-1-001", "b.pdf", "s", "r", "d", text)


@pytest.mark.slow
def test_a_doubt_about_a_source_comes_first_in_run_status_and_report(tmp_path):
    nouns = "肝胆脾胃肺心肾脑骨皮眼耳鼻喉齿舌肌腱血脉"
    items = "\n".join(
        f"{at}. 首选{noun}项的是\nA. {noun}甲\nB. {noun}乙\nC. {noun}丙某站会员专享\n答案：{'ABC'[at % 3]}"
        for at, noun in enumerate(nouns, 1)
    )
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "paper.txt").write_text(items, encoding="utf-8")
    config = tmp_path / "dataset.toml"
    config.write_text('[dataset]\nname = "one"\nraw = "raw"\nbuild = "build"\n', encoding="utf-8")
    for command in (["run", "--to", "clean"], ["status"]):
        told = CliRunner().invoke(app, [*command, "--config", str(config)], catch_exceptions=False).output
        place = told.index("first: 20 questions wait for one doubt about their source: paper.txt: ")
        assert place < told.index("mainly" if command[0] == "run" else "stage")
    (doubt,) = set_aside.source_doubts(lambda name: find_table(tmp_path / "build", name))
    assert (doubt.reason, doubt.questions, 'furniture = ["…"]' in doubt.detail) == ("repeated_text", 20, True)
    assert "许多题的同一处印有相同文字" in doubt_notices([doubt])[0].chinese


def test_a_question_that_people_settled_no_longer_waits():
    given = tables()
    given["clean/questions"] = Question.to_frame([question("r-3", "a.csv"), question("r-1", "a.csv")])
    (loss,) = [one for one in source_losses(given.get) if one.document == "a.csv"]
    assert (loss.n_input, loss.kept, loss.merged, loss.waiting) == (3, 1, 1, 0)
    given["clean/questions"] = None
    given["clean/rejects"] = Rejection.to_frame([rejection("r-3", "no_question")])
    (loss,) = [one for one in source_losses(given.get) if one.document == "a.csv"]
    assert (loss.rejected, loss.waiting) == (2, 0), "people dropped it"


def test_every_copy_of_a_question_with_two_keys_is_a_row_of_its_own_file():
    copies = [question("r-1", "a.csv"), question("r-2", "b.csv")]
    held = f"[{','.join(copy.model_dump_json() for copy in copies)}]"
    names = [copy.question_id for copy in copies]
    conflict = ReviewItem(
        item_id="r-1", question_ids=names, stage="dedup", reason="conflicting_answers", detail="d", item=held
    )
    rows = aside_rows([conflict], Documents(None))
    assert [(row.item_id, row.document) for row in rows] == [("r-1", "a.csv"), ("r-2", "b.csv")]
    doubt = conflict.model_copy(update={"item_id": "a.csv#repeated_text", "stage": "parse"})
    assert len(list(aside_rows([doubt], Documents(None)))) == 1, "a doubt about a source is one"
