"""The screen on which experts score answers, its tasks, and what comes back from it."""

from dataclasses import fields, replace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, strategies as st

from build_dataset.annotation.label_studio.read import read_task
from build_dataset.annotation.label_studio.screen import scoring_config
from build_dataset.annotation.label_studio.tasks import QUESTION_ID, choice, scoring_tasks
from build_dataset.annotation.rubric import ShownAnswer, aspects

SHOWN = ShownAnswer("男，34岁。", "问：诊断？\n答：肺炎。", "如何治疗？", "青霉素。", "首选青霉素G。")
PEOPLE = {1: "zhang@example.org", 2: "li@example.org"}
FULL = {"fluency": "5", "relevance": "4", "completeness": "3", "proficiency": "2"}


def annotation(number: int, scores: dict[str, str], who: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "completed_by": who,
        "updated_by": who,
        "updated_at": f"2026-11-22T03:00:{number:02}Z",
        "result": [choice(name, [score]) for name, score in scores.items()],
        "lead_time": 31.5,
    } | more


def read(*annotations: dict[str, Any]):
    return read_task({QUESTION_ID: SHOWN.id}, annotations, PEOPLE, "scoring")


def test_every_score_has_a_key_of_its_own_and_says_what_it_means_in_both_languages():
    view = ET.fromstring(scoring_config())
    controls = {control.get("name"): list(control) for control in view.iter("Choices")}
    assert list(controls) == [aspect.name for aspect in aspects()]
    keys = [step.get("hotkey") for steps in controls.values() for step in steps]
    assert len(set(keys)) == len(keys) == 20
    for aspect in aspects():
        steps = controls[aspect.name]
        assert [step.get("value") for step in steps] == list("12345")
        assert all(zh in str(step.get("html")) for zh, step in zip(aspect.scale, steps, strict=True))
        assert tuple(step.get("hint") for step in steps) == aspect.scale_en


def test_a_task_shows_the_answer_and_nothing_of_who_wrote_it():
    [task] = scoring_tasks([SHOWN], seed=0)
    shown = dict(task.data)
    assert task.question_id == shown.pop(QUESTION_ID) == SHOWN.id
    assert shown.pop("digest")
    assert shown == {field.name: getattr(SHOWN, field.name) for field in fields(SHOWN)}
    assert task.prediction is None


def test_the_screen_shows_every_part_of_a_task():
    [task] = scoring_tasks([SHOWN], seed=0)
    shown = {text.get("value") for text in ET.fromstring(scoring_config()).iter("Text")}
    assert shown == {f"${name}" for name in task.data if name not in (QUESTION_ID, "digest")}


def test_what_is_absent_is_said_to_be_so():
    [task] = scoring_tasks([replace(SHOWN, conversation="")], seed=0)
    assert task.data["conversation"] == "（无 none）"


def test_equal_answers_of_two_runs_are_one_task():
    assert len(scoring_tasks([SHOWN, replace(SHOWN)], seed=0)) == 1


@pytest.mark.parametrize("name", [field.name for field in fields(SHOWN)])
def test_another_text_is_another_answer(name):
    assert replace(SHOWN, **{name: "别的"}).id != SHOWN.id


@given(st.permutations(range(12)), st.integers(0, 2**32 - 1))
def test_the_order_is_drawn_by_lot_and_hangs_on_the_seed_alone(order, seed):
    answers = [replace(SHOWN, answer=f"回答{number}") for number in range(12)]
    drawn = [task.question_id for task in scoring_tasks(answers, seed=seed)]
    assert drawn == [task.question_id for task in scoring_tasks([answers[i] for i in order], seed=seed)]
    assert sorted(drawn) == sorted(answer.id for answer in answers)


def test_scores_are_read_aspect_by_aspect():
    reading = read(annotation(1, FULL), annotation(2, FULL | {"fluency": "1"}, who=2))
    assert not reading.rejects
    found = {(row.reviewer, row.dimension): (row.label, row.seconds) for row in reading.reviews}
    assert found["zhang@example.org", "fluency"] == ("5", 31.5)
    assert found["li@example.org", "fluency"] == ("1", 31.5)
    assert len(found) == 8
    assert not reading.corrections


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"result": [choice("fluency", ["6"])]}, "unknown_label"),
        ({"result": [choice("fluency", ["1", "2"])]}, "several_labels"),
        ({"was_cancelled": True}, "skipped"),
        ({"completed_by": 9}, "unknown_user"),
        ({"updated_by": 2}, "another_hand"),
    ],
)
def test_what_does_not_count_is_named(change, reason):
    reading = read(annotation(1, FULL, **change))
    assert reason in {reject.reason for reject in reading.rejects}
    assert not [row for row in reading.reviews if row.dimension == "fluency"]


def test_an_aspect_without_a_score_does_not_touch_the_others():
    reading = read(annotation(1, {"fluency": "5"}))
    assert [row.dimension for row in reading.reviews] == ["fluency"]
    assert {reject.reason for reject in reading.rejects} == {"missing_dimension"}
