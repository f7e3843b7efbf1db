from __future__ import annotations

import json

import polars as pl
import pytest

from pipeline.audit.answers import gather_answers
from schemas.errors import UserError
from schemas.evaluation import Outcome, Prediction
from schemas.questions import Option, Question, QuestionType

TEXTS = ["心房", "心室", "瓣膜", "心包"]


def questions() -> pl.DataFrame:
    return Question.to_frame(
        Question(
            question_id=name, document="d", section=None, number=1, question_type=QuestionType.A1, stem=stem,
            options=[Option(label=label, text=text) for label, text in zip("ABCD", TEXTS, strict=True)],
            answer=["A"], content_hash="h",
        )
        for name, stem in (("q1", "包裹心脏的是"), ("q2", "分隔心腔的是"))
    )  # fmt: skip


def read(tmp_path, *rows: dict):
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
    return gather_answers([path], questions())


def test_answers_are_matched_by_id(tmp_path):
    found = read(tmp_path, {"id": "q2", "model": "m", "answer": "C"})
    assert found.answers == {"q2": {"m": frozenset("C")}}


def test_answers_are_matched_by_text_and_translated_where_options_stand_in_another_order(tmp_path):
    row = {"question": "包裹 心脏的是：", "options": TEXTS[::-1], "model": "m", "answer": "A"}
    assert read(tmp_path, row).answers == {"q1": {"m": frozenset("D")}}


def test_raw_outputs_are_read(tmp_path):
    options = dict(zip("ABCD", TEXTS, strict=True))
    row = {"question": "包裹心脏的是", "options": options, "model": "m", "answer": "经过分析，答案是D。"}
    assert read(tmp_path, row).answers["q1"] == {"m": frozenset("D")}


def test_what_has_no_place_or_no_answer_is_counted(tmp_path):
    found = read(
        tmp_path,
        {"id": "q9", "model": "m", "answer": "A"},
        {"question": "包裹心脏的是", "options": ["另", "外"], "model": "m", "answer": "A"},
        {"id": "q1", "model": "m", "answer": "不知道"},
    )
    assert (found.answers, found.unknown, found.unread) == ({}, 2, 1)


@pytest.mark.parametrize("line", ["{", "[]", '{"id": 1}', '{"id": 1, "model": "m", "options": "A"}'])
def test_a_row_that_cannot_be_read_is_one_line(tmp_path, line):
    path = tmp_path / "answers.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(UserError, match="line 2"):
        gather_answers([path], questions())


def prediction(letter: str, name: str = "q1", repeat: int = 0, variant: str | None = None) -> Prediction:
    return Prediction(
        run="r", question_id=name, repeat=repeat, variant=variant, raw_output=letter, extracted=[letter],
        rule="head", outcome=Outcome.ANSWERED, correct=True,
    )  # fmt: skip


def test_of_our_runs_the_first_answer_to_the_printed_question_counts():
    rows = [prediction("B", repeat=1), prediction("C", variant="order 1"), prediction("A")]
    assert gather_answers([], questions(), Prediction.to_frame(rows)).answers == {"q1": {"r": frozenset("A")}}


def test_a_run_that_asked_a_merged_question_counts_for_the_survivor_in_its_letters():
    first = Question.from_frame(questions())
    kept = next(iter(first))
    turned = [Option(label=label, text=text) for label, text in zip("ABCD", TEXTS[::-1], strict=True)]
    cleaned = Question.to_frame([kept, kept.model_copy(update={"question_id": "q0", "options": turned})])
    runs = Prediction.to_frame([prediction("A", "q0")])
    here = questions().filter(pl.col("question_id") == "q1")
    assert gather_answers([], here, runs, {"q0": "q1"}, cleaned).answers == {"q1": {"r": frozenset("D")}}
    both = Prediction.to_frame([prediction("A", "q0"), prediction("B")])
    assert gather_answers([], here, both, {"q0": "q1"}, cleaned).answers == {"q1": {"r": frozenset("B")}}
