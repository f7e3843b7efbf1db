"""Patients' cases: their file and their prompts."""

import json

import pytest

from build_dataset.pipeline.evaluate.prompting import Template
from build_dataset.pipeline.evaluate.tasks import Case, conversation, item_id, load_cases

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
