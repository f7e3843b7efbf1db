import json

import polars as pl
import pytest

from build_dataset.pipeline.audit.answers import gather_answers
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Likelihood, Outcome, Prediction
from build_dataset.schemas.questions import Option, Question, QuestionType

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


def prediction(letter: str, name: str = "q1", repeat: int = 0) -> Prediction:
    return Prediction(
        run="r", question_id=name, repeat=repeat, raw_output=letter, extracted=[letter],
        rule="head", outcome=Outcome.ANSWERED, correct=True,
    )  # fmt: skip


def test_of_our_runs_the_first_answer_counts():
    rows = [prediction("B", repeat=1), prediction("A")]
    assert gather_answers([], questions(), Prediction.to_frame(rows)).answers == {"q1": {"r": frozenset("A")}}


def test_letters_that_no_model_thought_of_are_no_evidence():
    drawn = prediction("B").model_copy(update={"run": "random", "rule": "chosen"})
    likely = drawn.model_copy(update={"run": "local", "likelihoods": [Likelihood(label="B", value=-1.0)]})
    assert gather_answers([], questions(), Prediction.to_frame([drawn, likely])).answers == {
        "q1": {"local": frozenset("B")}
    }


@pytest.mark.parametrize(
    ("key", "answer", "letters"),
    [
        ("A", "", None),
        ("A", "  ", None),
        ("A", "ca", "AC"),
        ("A", "ABCD", "ABCD"),
        ("A", "答案：A\nC", "A"),
        ("AC", "答案：A\nC", "AC"),
        ("", "答案：A\nC", "AC"),
        ("A", "A\nC", None),
        ("AC", "A\nC", "AC"),
        ("", "A\nC", "AC"),
    ],
)
def test_an_answer_is_read_by_how_many_letters_the_key_has(tmp_path, key, answer, letters) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"id": "q1", "model": 7, "answer": answer}), encoding="utf-8")
    keyed = questions().with_columns(pl.lit(list(key) or None, pl.List(pl.String)).alias("answer"))
    found = gather_answers([path], keyed)
    assert found.answers == ({"q1": {"7": frozenset(letters)}} if letters else {})
    assert (found.unknown, found.unread) == (0, 0 if letters else 1)


@pytest.mark.parametrize(("letter", "ours"), [("A", "D"), ("B", "C"), ("C", "B"), ("D", "A"), ("BD", "AC")])
def test_answers_are_matched_by_text_and_translated_to_our_order_of_options(tmp_path, letter, ours) -> None:
    row = {"question": "包裹 心脏的是：", "options": TEXTS[::-1], "model": "m", "answer": letter}
    assert read(tmp_path, row).answers == {"q1": {"m": frozenset(ours)}}


def test_a_letter_that_the_other_question_alone_has_is_not_read(tmp_path) -> None:
    options = [*TEXTS[::-1], "肺"]
    row = {"question": "包裹心脏的是", "options": options, "model": "m", "answer": "AE"}
    assert read(tmp_path, row).answers == {}


def test_a_question_without_options_is_found_by_its_id_alone(tmp_path) -> None:
    found = read(tmp_path, {"question": "包裹心脏的是", "model": "m", "answer": "A"})
    assert (found.answers, found.unknown, found.unread) == ({}, 1, 0)


def test_a_run_that_asked_a_question_that_is_gone_is_left_out() -> None:
    found = gather_answers([], questions(), Prediction.to_frame([prediction("A", "q0")]))
    assert (found.answers, found.unknown, found.unread) == ({}, 0, 0)
