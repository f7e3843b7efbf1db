"""The reviewer's screen is made from the taxonomy, and tasks fit it."""

from collections import Counter
from functools import partial
from xml.etree import ElementTree as ET

import pytest
from label_studio_sdk.label_interface import LabelInterface

from build_dataset.annotation.label_studio import tasks
from build_dataset.annotation.label_studio.screen import (
    FLAG_NAMES,
    adjudication_config,
    review_config,
    scoring_config,
    verification_config,
)
from build_dataset.annotation.label_studio.tasks import ReviewTask, by_uncertainty, model_version
from build_dataset.annotation.rubric import aspects
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import Dimension, LabelName, LabelSet, dimensions, use_label_set
from tests.annotation.records import annotation, question

tasks_of = partial(tasks.tasks_of, version="lexicon")


@pytest.fixture(scope="module")
def screen() -> ET.Element:
    return ET.fromstring(review_config())


def choices(screen: ET.Element, name: str) -> list[ET.Element]:
    [control] = [element for element in screen.iter("Choices") if element.get("name") == name]
    return list(control)


HIDDEN = ["corrected", "base", "corrected_key", "base_key"]


@pytest.mark.parametrize(
    ("config", "controls"),
    [
        (review_config, [*HIDDEN, *dimensions(), "flags", "note", "answered"]),
        (adjudication_config, [*HIDDEN, *dimensions(), "flags", "note", "answered"]),
        (
            verification_config,
            ["corrected", "corrected_key", "corrected_explanation", "base", "verdict", "note", "answered", "scope"],
        ),
        (scoring_config, [*(aspect.name for aspect in aspects()), "note", "answered"]),
    ],
)
def test_label_studio_accepts_the_screens(config, controls):
    interface = LabelInterface(config())
    interface.validate()  # raises where Label Studio would refuse
    assert [control.name for control in interface.controls] == controls


def test_fields_for_corrections_show_only_when_the_flag_is_set(screen):
    shown = {
        element.get("whenChoiceValue"): [area.get("name") for area in element.iter("TextArea")]
        for element in screen.iter("View")
        if element.get("visibleWhen")
    }
    assert shown == {"题干有误": ["corrected", "base"], "答案有误": ["corrected_key", "base_key"]}


def hotkeys(screen: ET.Element, name: str) -> list[str]:
    return [str(element.get("hotkey")) for element in choices(screen, name)]


@pytest.fixture
def law() -> LabelSet:
    """A label set of one's own."""
    sizes = {"area": 3, "level_of_court": 6, "paper": 12, "difficulty": 5}
    labels = {
        name: tuple(LabelName(zh=f"{name}{n}", en=f"{name} {n}") for n in range(count)) for name, count in sizes.items()
    }
    found = LabelSet(dimensions=[Dimension(name=n, zh=f"维度{n}", en=n, labels=own) for n, own in labels.items()])
    use_label_set(found)
    return found


def test_a_label_set_of_one_s_own_has_its_screen_and_its_keys_and_a_part_of_the_screen_is_no_name_in_it(law):
    LabelInterface(review_config()).validate()
    own = ET.fromstring(review_config())
    keys = {each.name: "".join(k for k in hotkeys(own, each.name) if len(k) == 1) for each in law.dimensions}
    assert keys == {"area": "asd", "level_of_court": "qwetyi", "paper": "", "difficulty": "12345"}
    note = law.dimensions[0].model_copy(update={"name": "note"})
    use_label_set(LabelSet(dimensions=(note,)))
    with pytest.raises(UserError, match="has a part 'note' already"):
        review_config()


def test_every_dimension_is_required_and_flags_are_not(screen):
    required = {element.get("name"): element.get("required") for element in screen.iter("Choices")}
    assert required == {**dict.fromkeys(dimensions(), "true"), "flags": "false"}


def test_no_choice_is_left_without_a_key_and_no_reachable_key_selects_two(screen):
    keys = Counter(element.get("hotkey") for element in screen.iter("Choice"))
    assert None not in keys
    reachable = {key: count for key, count in keys.items() if "f19" not in key}
    assert set(reachable.values()) == {1}
    assert hotkeys(screen, "medical_discipline") == list("qwetyio")
    assert hotkeys(screen, "competency") == list("asdfg")
    assert hotkeys(screen, "difficulty") == list("12345")


def test_long_lists_have_codes_that_are_pressed_with_a_held_key(screen):
    codes = {each.get("value"): each.get("hotkey") for each in screen.iter("Choice")}
    assert (codes["某些感染性疾病或寄生虫病"], codes["补充章传统医学病证-模块1"]) == ("shift+a", "shift+z")
    assert (codes["预防保健科"], codes["中西医结合科"]) == ("alt+a", "alt+8")
    shown = [each.get("html", "") for each in choices(screen, "clinical_department")]
    assert shown[2] == "<b>C</b> 内科"
    held = [hotkeys(screen, name)[-1] for name in ("disease_group", "clinical_department")]
    assert held == ["shift+0", "alt+0"], "not applicable"


def test_departments_stand_as_hospitals_list_them(screen):
    names = [str(each.get("value")) for each in choices(screen, "clinical_department")]
    assert names[2:7] == ["内科", "外科", "妇产科", "妇女保健", "儿科"]
    assert names[-1] == "不符合"


def test_flags_have_their_names_in_tables(screen):
    assert [element.get("value") for element in choices(screen, "flags")] == ["题干有误", "答案有误", "超出范围"]
    assert [flag.kind for flag in FLAG_NAMES] == ["wrong_stem", "wrong_key", "out_of_scope"]


def test_a_task_has_everything_that_the_screen_shows(screen):
    shown = {
        value.removeprefix("$") for element in screen.iter() if (value := element.get("value", "")).startswith("$")
    }
    [task] = tasks_of([question()], [])
    assert shown <= task.data.keys()
    assert all(value for name, value in task.data.items() if name != "crop"), "nothing shows for an empty value"
    assert task.data["answer"].endswith("B")
    assert task.prediction is None


def test_a_task_is_prefilled_with_the_measured_difficulty_rather_than_an_estimate():
    said = [
        annotation("difficulty", "易"),
        annotation("difficulty", "极难", "human_accuracy", confidence=None),
        annotation("competency", "疾病治疗", confidence=0.25),
    ]
    version = model_version(each.annotator for each in said)
    [task] = tasks_of([question()], said, version=version)
    assert [item["value"]["choices"] for item in task.prediction["result"]] == [["疾病治疗"], ["极难"]]
    assert task.prediction["score"] == 0.25
    assert task.prediction["model_version"] == version == "lexicon + human_accuracy"


def test_predictions_fit_the_screen_and_wrong_ones_are_noticed():
    interface = LabelInterface(review_config())
    [good] = tasks_of([question()], [annotation(n, d.zh_names()[-1]) for n, d in dimensions().items()])
    [bad] = tasks_of([question()], [annotation("competency", "内科")])
    assert interface.validate_prediction(good.prediction, return_errors=True) == []
    assert interface.validate_prediction(bad.prediction, return_errors=True)


@pytest.mark.parametrize(
    "changes", [{"stem": "改"}, {"answer": ["A"]}, {"explanation": "解析"}, {"shared_stem": "病例"}]
)
def test_the_digest_changes_with_what_the_expert_sees(changes):
    [before], [after] = tasks_of([question()], []), tasks_of([question(**changes)], [])
    assert before.data["digest"] != after.data["digest"]


def test_another_place_of_a_question_is_no_change():
    [before], [after] = tasks_of([question()], []), tasks_of([question(number=2, pages=[9], document="b.pdf")], [])
    assert before.data["digest"] == after.data["digest"]


def test_labels_do_not_change_the_digest_since_they_are_compared_themselves():
    [one] = tasks_of([question()], [annotation("competency", "疾病治疗")])
    [two] = tasks_of([question()], [annotation("competency", "不符合")])
    assert one.data == two.data
    assert one.prediction != two.prediction


def many(count: int, group: str | None = None) -> list[Question]:
    return [question(question_id=f"q{n:04}", group_id=group and f"{group}{n // 2}") for n in range(count)]


def test_the_blind_share_is_drawn_by_lot_and_a_question_keeps_its_lot():
    first = {task.question_id: task.arm for task in tasks_of(many(2000), [], blind=0.2, seed=1)}
    share = sum(arm == "blind" for arm in first.values()) / len(first)
    assert 0.17 < share < 0.23
    fewer = {task.question_id: task.arm for task in tasks_of(many(100), [], blind=0.2, seed=1)}
    assert fewer == {name: first[name] for name in fewer}
    assert first != {task.question_id: task.arm for task in tasks_of(many(2000), [], blind=0.2, seed=2)}
    assert {task.arm for task in tasks_of(many(50), [])} == {"prefilled"}


def test_questions_of_a_group_are_blind_together():
    arms = [task.arm for task in tasks_of(many(100, "g"), [], blind=0.5, seed=3)]
    assert arms[::2] == arms[1::2]
    assert len(set(arms)) == 2


def test_the_least_certain_come_first_and_groups_stay_together():
    scores = {"q0000": 0.9, "q0001": 0.3, "q0002": 0.5, "q0003": None}
    tasks = [
        ReviewTask(name, {}, {"score": score, "result": []} if score is not None else None)
        for name, score in scores.items()
    ]
    order = [task.question_id for task in by_uncertainty(tasks, {})]
    assert order == ["q0003", "q0001", "q0002", "q0000"]
    grouped = by_uncertainty(tasks, {"q0000": "g", "q0001": "g"})
    assert [task.question_id for task in grouped] == ["q0003", "q0000", "q0001", "q0002"]


def test_a_task_shows_a_question_with_where_it_is_from():
    asked = question(
        pages=[3, 4], number=7, shared_stem="病例", explanation="解析", accepted_answers=[["A"], ["A", "B"]]
    )
    [task] = tasks_of([asked], [], crops={"q": "data:x"})
    shown = {name: text for name, text in task.data.items() if name not in ("base", "digest")}
    assert shown == {
        "question_id": "q",
        "meta": "A1 · a.pdf · p. 3, 4 · No. 7 · q",
        "question": "病例\n题干",
        "options": "A. 甲\nB. 乙",
        "answer": "答案 Answer：A / AB",
        "explanation": "解析",
        "text": "【共用题干】病例\n【题干】题干\nA. 甲\nB. 乙",
        "key": "B",
        "crop": "data:x",
    }
    bare = tasks.shown_fields(question(number=None, options=[], answer=None, document="b.csv"))
    assert bare["meta"] == "A1 · b.csv · q"
    assert (bare["options"], bare["answer"], bare["explanation"]) == (
        "（无选项 no options）",
        "答案 Answer：（无 none）",
        "（无解析 no explanation）",
    )


def test_a_task_is_sent_with_its_batch_and_a_blind_one_without_labels():
    [own] = tasks_of([question()], [annotation("competency", "疾病治疗")])
    sent = own.sent(batch="3", of=9)
    assert (sent.batch, sent.data["batch"], sent.data["batch_size"], sent.data["arm"]) == ("3", "3", "9", "prefilled")
    assert sent.payload() == {"data": sent.data, "predictions": [sent.prediction]}
    blind = own.sent(arm="blind")
    assert (blind.prediction, blind.batch, blind.data["batch_size"]) == (None, "1", "")
    assert blind.payload() == {"data": blind.data, "predictions": []}
    assert own.sent().prediction == own.prediction


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ([], "none"),
        (["lexicon", "lexicon"], "lexicon"),
        (["human_accuracy", "z", "a"], "a + z + human_accuracy"),
        (["x" * 300], "x" * 256),
    ],
)
def test_annotators_are_named_together_measurements_last(names, told):
    assert model_version(names) == told
