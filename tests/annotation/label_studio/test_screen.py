"""The reviewer's screen is made from the taxonomy, and tasks fit it."""

from __future__ import annotations

from collections import Counter
from xml.etree import ElementTree as ET

import pytest
from label_studio_sdk.label_interface import LabelInterface

from annotation.label_studio.screen import FLAG_NAMES, labeling_config
from annotation.label_studio.tasks import model_version, tasks_of
from schemas.annotations import Annotation
from schemas.identity import content_hash
from schemas.questions import Option, Question, QuestionType
from schemas.taxonomy import dimensions


@pytest.fixture(scope="module")
def screen() -> ET.Element:
    return ET.fromstring(labeling_config())


def choices(screen: ET.Element, name: str) -> list[ET.Element]:
    [control] = [element for element in screen.iter("Choices") if element.get("name") == name]
    return list(control)


def test_label_studio_accepts_the_screen():
    interface = LabelInterface(labeling_config())
    interface.validate()  # raises where Label Studio would refuse
    assert [control.name for control in interface.controls] == [*dimensions(), "flags", "note"]


@pytest.mark.parametrize("name", dimensions())
def test_every_dimension_offers_exactly_its_labels_with_english_on_hover(screen, name):
    found = {element.get("value"): element.get("hint") for element in choices(screen, name)}
    assert found == {label.zh: label.en for label in dimensions()[name].labels}


def test_every_dimension_is_required_and_flags_are_not(screen):
    required = {element.get("name"): element.get("required") for element in screen.iter("Choices")}
    assert required == {**dict.fromkeys(dimensions(), "true"), "flags": "false"}


def test_no_choice_is_left_without_a_key_and_no_reachable_key_selects_two(screen):
    keys = Counter(element.get("hotkey") for element in screen.iter("Choice"))
    assert None not in keys
    reachable = {key: count for key, count in keys.items() if "f19" not in key}
    assert set(reachable.values()) == {1}
    assert [element.get("hotkey") for element in choices(screen, "difficulty")] == list("12345")
    assert {element.get("hotkey") for element in choices(screen, "disease_group")} == {"ctrl+alt+shift+f19"}


def test_flags_have_their_names_in_tables(screen):
    assert [element.get("value") for element in choices(screen, "flags")] == [
        "题干有误",
        "答案有误",
        "超出范围",
    ]
    assert [flag.kind for flag in FLAG_NAMES] == ["wrong_stem", "wrong_key", "out_of_scope"]


def question(**changes) -> Question:
    fields = {
        "question_id": "0a1b2c3d-1-001",
        "document": "a.pdf",
        "section": 1,
        "number": 1,
        "question_type": QuestionType.A1,
        "stem": "题干",
        "options": [Option(label="A", text="甲"), Option(label="B", text="乙")],
        "answer": ["B"],
        "content_hash": content_hash("题干", ["甲", "乙"]),
    }
    return Question(**(fields | changes))


def annotation(
    dimension: str, label: str, annotator: str = "lexicon", confidence: float | None = 0.5
) -> Annotation:
    return Annotation(
        question_id="0a1b2c3d-1-001",
        dimension=dimension,
        label=label,
        annotator=annotator,
        confidence=confidence,
        estimate=False,
    )


def test_a_task_has_everything_that_the_screen_shows(screen):
    shown = {
        value.removeprefix("$")
        for element in screen.iter()
        if (value := element.get("value", "")).startswith("$")
    }
    [task] = tasks_of([question()], [])
    assert shown <= task.data.keys()
    assert all(task.data.values()), "Label Studio shows nothing for an empty value"
    assert task.data["answer"].endswith("B")
    assert task.prediction is None


def test_a_task_is_prefilled_with_the_measured_difficulty_rather_than_an_estimate():
    said = [
        annotation("difficulty", "易"),
        annotation("difficulty", "极难", "human_accuracy", None),
        annotation("competency", "疾病治疗", confidence=0.25),
    ]
    [task] = tasks_of([question()], said)
    assert [item["value"]["choices"] for item in task.prediction["result"]] == [["疾病治疗"], ["极难"]]
    assert task.prediction["score"] == 0.25
    assert task.prediction["model_version"] == model_version(said) == "lexicon + human_accuracy"


def test_predictions_fit_the_screen_and_wrong_ones_are_noticed():
    interface = LabelInterface(labeling_config())
    [good] = tasks_of([question()], [annotation(n, d.zh_names()[-1]) for n, d in dimensions().items()])
    [bad] = tasks_of([question()], [annotation("competency", "内科")])
    assert interface.validate_prediction(good.prediction, return_errors=True) == []
    assert interface.validate_prediction(bad.prediction, return_errors=True)


@pytest.mark.parametrize(
    "changes",
    [{"stem": "改"}, {"answer": ["A"]}, {"explanation": "解析"}, {"shared_stem": "病例"}, {"number": 2}],
)
def test_the_digest_changes_with_what_the_expert_sees(changes):
    [before], [after] = tasks_of([question()], []), tasks_of([question(**changes)], [])
    assert before.data["digest"] != after.data["digest"]


def test_the_digest_changes_with_the_prefilled_labels_alone():
    [one] = tasks_of([question()], [annotation("competency", "疾病治疗")])
    [two] = tasks_of([question()], [annotation("competency", "不符合")])
    [again] = tasks_of([question()], [annotation("competency", "疾病治疗")])
    assert one.data["digest"] != two.data["digest"]
    assert one == again
