"""Patients' cases: their file, their prompts and answers of others to them."""

from __future__ import annotations

import json

import pytest

from build_dataset.pipeline.evaluate.clinical import Case, conversation, item_id, load_cases, score_cases
from build_dataset.pipeline.evaluate.prompting import Template
from build_dataset.schemas.errors import UserError

PAIRS = [{"question": f"问{number}", "answer": f"答{number}"} for number in range(3)]


def case(name="7", pairs=None, **more):
    return {"id": name, "title": "题目", "description": "病史", "QA_pairs": PAIRS if pairs is None else pairs, **more}


@pytest.fixture
def write(tmp_path):
    def call(rows):
        (tmp_path / "cases.json").write_text(json.dumps(rows), encoding="utf-8")
        return tmp_path / "cases.json"

    return call


def test_cases_are_read_with_numbers_as_ids(write):
    first, second = load_cases(write([case(7), case("8", PAIRS[:1], odd=1)]))
    assert (first.id, first.title, first.description, len(first.turns)) == ("7", "题目", "病史", 3)
    assert (second.turns[0].question, second.turns[0].solution) == ("问0", "答0")
    assert [item_id(first, number) for number in range(2)] == ["clin-7-1", "clin-7-2"]


@pytest.mark.parametrize("follow_up", ["又问{question}", None])
def test_a_later_question_comes_after_the_earlier_ones_with_their_solutions(follow_up):
    template = Template(
        question="\n{title}{description}{question}\n", answer="{solution}", system="你是医生", follow_up=follow_up
    )
    asked = [f"又问问{number}" if follow_up else f"题目病史问{number}" for number in range(3)]
    asked[0] = "题目病史问0"
    found = conversation(template, Case.model_validate(case()), 2)
    assert [(one["role"], one["content"]) for one in found] == [
        ("system", "你是医生"),
        ("user", asked[0]),
        ("assistant", "答0"),
        ("user", asked[1]),
        ("assistant", "答1"),
        ("user", asked[2]),
    ]
    assert [one["content"] for one in conversation(template, Case.model_validate(case()), 0)][1:] == asked[:1]


def answered(*texts):
    pairs = [{"question": "问", "answer": "甲乙丁", **more} for more in texts]
    return case(pairs=pairs)


def test_answers_are_scored_by_the_references_beside_them(tmp_path):
    rows = [answered({"model_answer": "甲乙丙丁"}, {"model_answer_0": "甲乙丁", "model_answer_1": ""}, {})]
    told, scores = score_cases(tmp_path / "m.json", rows)
    about = {"question": "问", "reference": "甲乙丁"}
    assert [row["id"] for row in told] == ["clin-7-1", "clin-7-2", "clin-7-2"]
    assert told[0] == {
        "id": "clin-7-1",
        **about,
        "model_answer": "甲乙丙丁",
        "outcome": "answered",
        "rouge_1": pytest.approx(6 / 7),
        "rouge_2": pytest.approx(2 / 5),
        "rouge_l": pytest.approx(6 / 7),
    }
    assert [(row["outcome"], row["rouge_1"]) for row in told[1:]] == [("answered", 1.0), ("no_answer", 0.0)]
    found = {score.metric: score for score in scores}
    assert (found["rouge_1"].run, found["rouge_1"].questions, found["rouge_1"].repeats) == ("m", 2, 2)
    assert found["no_answer_rate"].value == 0.5


def test_a_refusal_shares_nothing_with_its_reference(tmp_path):
    told, _ = score_cases(tmp_path / "m.json", [answered({"model_answer": "抱歉，甲乙丁"})])
    assert (told[0]["outcome"], told[0]["rouge_1"]) == ("refused", 0.0)


def test_a_file_without_answers_and_one_with_two_of_a_case_are_told_whole(tmp_path):
    path = tmp_path / "m.json"
    with pytest.raises(UserError) as caught:
        score_cases(path, [answered({}, {"model_answer": None})])
    assert str(caught.value) == f"{path}: no question of a case holds model_answer"
    with pytest.raises(UserError) as caught:
        score_cases(path, [answered({"model_answer": "甲"})] * 2)
    assert str(caught.value) == f"{path}: clin-7-1 is answered twice"
