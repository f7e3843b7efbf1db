"""CMB's format of answers, in and out."""

import json
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest

from build_dataset.pipeline.evaluate.submission import read_items, score_submission, submission
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Outcome, Prediction, Task

KEY = [
    {
        "id": number,
        "answer": answer,
        "question_type": "多项选择题" if len(answer) > 1 else "单项选择题",
        "exam_type": "医师考试",
        "exam_class": "执业医师" if number < 3 else "规培结业",
        "exam_subject": "",
    }
    for number, answer in enumerate(["A", "B", "AC", "D"], start=1)
]


@pytest.fixture
def write(tmp_path):
    def call(name, rows, lines=False):
        text = "\n".join(json.dumps(row) for row in rows) if lines else json.dumps(rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return call


def given(*answers):
    return [{"id": number, "model_answer": answer} for number, answer in enumerate(answers, start=1)]


def value(found, dimension, label, metric="accuracy"):
    return next(
        score.value
        for score in found.scores
        if (score.dimension, score.label, score.metric) == (dimension, label, metric)
    )


@pytest.mark.parametrize("lines", [False, True])
def test_outputs_are_read_and_scored_by_category_and_subcategory(write, lines):
    rows = given("A", "答案是B。", "A、C", "不知道")
    found = score_submission(write("m.json", rows, lines), write("key.jsonl", KEY, lines))
    assert [row["extracted"] for row in found.rows] == ["A", "B", "AC", None]
    assert [row["correct"] for row in found.rows] == [True, True, True, None]
    assert found.rows[1]["model_answer"] == "答案是B。"
    assert value(found, "overall", "全部") == 0.75
    assert value(found, "overall", "全部", "no_answer_rate") == 0.25
    assert value(found, "exam_class", "执业医师") == 1.0
    assert value(found, "exam_class", "规培结业") == 0.5
    assert {score.run for score in found.scores} == {"m"}


def test_a_question_that_the_submission_leaves_out_counts_as_not_answered(write):
    found = score_submission(write("m.json", given("A", "B")), write("key.json", KEY))
    assert found.missing == 2
    assert value(found, "overall", "全部") == 0.5
    assert found.rows[3] == {
        "model_answer": None,
        "id": 4,
        "answer": "D",
        "extracted": None,
        "rule": None,
        "sureness": None,
        "correct": None,
    }


def test_options_that_come_with_the_answers_are_read_by_their_text(write):
    rows = [{**row, "option": {"A": "青霉素", "B": "链霉素", "C": ""}} for row in given("正确的是链霉素。", "链霉素")]
    found = score_submission(write("m.json", rows), write("key.json", KEY))
    assert [row["extracted"] for row in found.rows[:2]] == ["B", "B"]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([{"id": 9, "model_answer": "A"}], "1 ids are not in"),
        ([*given("A"), *given("B")], "the id '1' stands twice"),
        ([{"id": 1}], "item 1: model_answer is missing"),
        ([{"id": 1, "model_answer": None}], "item 1"),
        (["A"], "item 1"),
        ([], "holds no rows"),
    ],
)
def test_what_is_wrong_with_a_submission_is_said(write, rows, told):
    with pytest.raises(UserError, match=told):
        score_submission(write("m.json", rows), write("key.json", KEY))


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"id": 1, "answer": ""}, "id '1': the answer '' names none of A, B, C"),
        ({"id": 1, "answer": "无"}, "id '1': the answer '无' names none of A, B, C"),
        ({"id": 1, "answer": "H"}, "id '1': the answer 'H' names none of A, B, C"),
        ({"id": 1.5, "answer": "A"}, "item 1: id: must be text or a whole number"),
        ({"id": None, "answer": "A"}, "item 1: id: must be text or a whole number"),
        ({"id": 1, "answer": "A", "exam_type": [1]}, "item 1: exam_type: "),
    ],
)
def test_what_is_wrong_with_a_key_is_said(write, row, told):
    with pytest.raises(UserError, match=told):
        score_submission(write("m.json", given("A")), write("key.json", [row]))


def test_a_number_of_five_thousand_digits_is_not_json(write, tmp_path):
    (tmp_path / "key.json").write_text(f'[{{"id": {"9" * 5000}, "answer": "A"}}]')
    with pytest.raises(UserError, match="is not JSON"):
        score_submission(write("m.json", given("A")), tmp_path / "key.json")


def prediction(number, letters=None, raw="x", **more):
    outcome = Outcome.ANSWERED if letters else Outcome.NO_ANSWER
    plain = {
        "run": "m",
        "question_id": f"q{number}",
        "raw_output": raw,
        "extracted": letters and list(letters),
        "rule": None,
        "sureness": None,
        "outcome": outcome,
        "correct": None,
    }
    return Prediction(**(plain | more))


def test_a_run_goes_out_as_ids_and_letters_and_comes_back_the_same(write, tmp_path):
    rows = [
        prediction(1, "AC"),
        prediction(2, raw="不知道\ud83d"),
        prediction(1, "B", repeat=1),
        prediction(1, "B", run="other"),
        prediction(3, raw="text", task=Task.EXPLANATION),
        prediction(4, raw=None),
    ]
    content = submission(rows, "m")
    assert json.loads(content)[0] == {"id": "q1", "model_answer": "AC"}
    assert [row["id"] for row in json.loads(content)] == ["q1", "q2", "q4"]
    (tmp_path / "out.json").write_bytes(content)
    key = write("key.json", [{"id": "q1", "answer": "AC"}, {"id": "q2", "answer": "A"}, {"id": "q4", "answer": "A"}])
    assert [row["correct"] for row in score_submission(tmp_path / "out.json", key).rows] == [True, None, None]


def test_an_unknown_run_names_those_there_are():
    with pytest.raises(UserError, match="no run 'x' answered questions; there are m"):
        submission([prediction(1, "A")], "x")


@pytest.mark.slow
@pytest.mark.parametrize("pattern", ["all_a", "half_right"])
def test_cmbs_own_answer_file_gives_its_averages(shared_data, write, pattern):
    path = shared_data / "cmb" / "CMB-test-choice-answer.jsonl"
    keys = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [
        {"id": row["id"], "model_answer": row["answer"] if pattern == "half_right" and row["id"] % 2 else "A"}
        for row in keys
    ]
    found = score_submission(write("m.json", rows), path)
    right: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for key, row in zip(keys, rows, strict=True):
        for dimension in ("exam_type", "exam_class"):
            right[dimension, key[dimension]].append(key["answer"] == row["model_answer"])
    assert len(right) == 6 + 28
    for (dimension, label), hits in right.items():
        assert value(found, dimension, label) == pytest.approx(mean(hits)), label
    categories = [mean(hits) for (dimension, _), hits in right.items() if dimension == "exam_type"]
    from build_dataset.pipeline.evaluate.results.build import Evaluated, tables

    table = {table.name: table for _, table in tables(Evaluated(found.scores))}["cmb_table3"]
    assert table.rows[0][-2] == f"{100 * mean(categories):.2f}"


@pytest.mark.parametrize("text", ['[{"id": 1}, {"id": 2}]', ' [{"id": 1},\n{"id": 2}]', '{"id": 1}\n\n{"id": 2}\n'])
def test_items_are_those_of_an_array_or_of_lines(tmp_path: Path, text: str) -> None:
    path = tmp_path / "f.json"
    path.write_text(text, encoding="utf-8")
    assert list(read_items(path)) == [{"id": 1}, {"id": 2}]


@pytest.mark.parametrize(
    ("text", "line"), [("{", 1), ('{"id": 1}\n\n{', 3), ('[\n{"id": 1},\n}]', 3), ('{"id": 1}\nx', 2)]
)
def test_text_that_is_no_json_is_told_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "f.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=rf"f.json, line {line}: is not JSON"):
        list(read_items(path))
