"""Outcomes of every source file."""

from __future__ import annotations

import json

import polars as pl

from pipeline.losses import loss_notices, shared_questions, source_losses
from schemas.documents import Document
from schemas.questions import Merge, Question, Rejection, ReviewItem


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
        "ocr/rejects": Rejection.to_frame(
            [rejection("bad.rar", "unknown_format", detail="a RAR archive; unpack it")]
        ),
        "parse/questions": Question.to_frame(
            [
                question("r-1", "a.csv"),
                question("bbbbbbbb-1-001", "b.pdf"),
                question("bbbbbbbb-1-002", "b.pdf"),
            ]
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
        "clean/rejects": Rejection.to_frame(
            [rejection("bbbbbbbb-1-002", "needs_figure", json.dumps({"stem": "x"}))]
        ),
        "dedup/merges": Merge.to_frame(
            [Merge(question_id="r-1", survivor_id="bbbbbbbb-1-001", kind="exact", score=1, reason="same")]
        ),
    }


def test_every_item_of_every_source_is_counted_once():
    found = {loss.document: loss for loss in source_losses(tables().get)}
    counted = {
        name: (loss.n_input, loss.kept, loss.merged, loss.rejected, loss.waiting)
        for name, loss in found.items()
    }
    assert counted == {
        "a.csv": (3, 0, 1, 1, 1),
        "b.pdf": (2, 1, 0, 1, 0),
        "c.xlsx": (50, 0, 0, 50, 0),
        "bad.rar": (0, 0, 0, 0, 0),
    }
    assert found["a.csv"].merged_into == {"b.pdf": 1}


def test_the_alarm_names_the_file_the_reason_and_the_remedy():
    found = source_losses(tables().get)
    first, *_, last = loss_notices(found, 0.2)
    assert first.english.startswith(
        "c.xlsx: 50 of 50 (100%) rejected or waiting, 50 as columns_unclear: write which"
    )
    assert "50 题因列的含义有歧义" in first.chinese
    assert last.english == "bad.rar: not read at all, unknown_format: a RAR archive; unpack it", (
        "the file's own remedy"
    )
    assert "压缩包请先解压" in last.chinese
    assert [loss.document for loss in found if loss.share > 0.7] == ["c.xlsx", "bad.rar"]
    assert not [line for line in loss_notices(found, 0.5) if line.english.startswith("b.pdf")]


def test_questions_that_two_sources_share_are_counted_by_pairs():
    assert shared_questions(tables().get) == {("a.csv", "b.pdf"): 1}


def test_before_a_run_nothing_is_lost():
    assert source_losses(lambda reference: None) == []
