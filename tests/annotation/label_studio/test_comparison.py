"""Which labels and tasks a push changes, at the least cost."""

import pytest

from build_dataset.annotation.label_studio.comparison import (
    SentTask,
    compare_tasks,
    duplicate_task_ids,
    obsolete_task_ids,
)
from build_dataset.annotation.label_studio.tasks import ReviewTask, choice, task


def prediction(label: str, version: str = "lexicon", score: float | None = 0.5) -> dict:
    return {"model_version": version, "score": score, "result": [choice("competency", [label])]}


@pytest.mark.parametrize(
    ("there", "wanted", "changes"),
    [
        ([prediction("疾病诊断")], prediction("疾病诊断"), False),
        ([prediction("疾病诊断")], prediction("疾病治疗"), True),
        ([prediction("疾病诊断")], prediction("疾病诊断", "llm:m"), True),
        ([prediction("疾病诊断")], prediction("疾病诊断", score=0.5000004), False),
        ([prediction("疾病诊断")], prediction("疾病诊断", score=0.500001), True),
        ([prediction("疾病诊断")] * 2, prediction("疾病诊断"), True),
        ([prediction("疾病诊断")], None, True),
        ([], None, False),
        ([], prediction("疾病诊断"), True),
    ],
)
def test_labels_are_filled_in_anew_where_they_differ_from_those_there(there, wanted, changes):
    own = task("q1", {}, wanted)
    found = compare_tasks([own], [sent(1, "q1", digest=own.data["digest"])], {1: there})
    assert found.labels == ({1: wanted} if changes else {})


def sent(task_id: int, question_id: str | None, annotations: int = 0, **fields) -> SentTask:
    made = {"digest": "d", "arm": "prefilled", "batch": 1, "batch_size": 2}
    return SentTask(task_id=task_id, question_id=question_id, annotations=annotations, **made | fields)


WANTED = [task(name, {}, None) for name in ("q1", "q2")]


def test_of_two_tasks_of_a_question_the_answered_one_stays_or_the_oldest():
    there = [sent(5, "q1"), sent(3, "q1"), sent(4, "q2", 1), sent(2, "q2"), sent(9, "other"), sent(8, "other")]
    assert duplicate_task_ids(WANTED, there) == [2, 5]
    assert duplicate_task_ids(WANTED, [sent(1, "q1", 1), sent(2, "q1", 1), sent(3, "q1")]) == [3]


def test_tasks_that_nobody_answered_go_when_nobody_wants_them():
    there = [sent(1, "q1"), sent(2, "gone"), sent(3, "gone too", 1), sent(4, None)]
    assert obsolete_task_ids(WANTED, there) == [2]


@pytest.mark.parametrize(("value", "number"), [("12", 12), (3, 3), ("", 0), (None, 0), ("x", 0), ("-1", 0)])
def test_a_task_is_read_as_the_server_has_it(value, number):
    data = {"question_id": "q", "digest": "d", "arm": "blind", "batch": value, "batch_size": value}
    found = SentTask.of({"id": 7, "data": data, "total_annotations": None})
    assert found == SentTask(7, "q", "d", "blind", number, number, 0)
    bare = SentTask.of({"id": 7, "data": {}, "total_annotations": 2, "is_labeled": True})
    assert bare == SentTask(7, None, None, None, 0, 0, 2, served=False)


def test_wanted_and_present_tasks_are_compared():
    own = [task(name, {"text": name}, prediction("疾病诊断")) for name in ("q1", "q2", "q3")]
    digests = {each.question_id: each.data["digest"] for each in own}
    there = [
        sent(1, "q1", digest=digests["q1"], batch=1, batch_size=3),
        sent(2, "q2", digest="old", batch=2, batch_size=4),
        sent(3, "q2", digest=digests["q2"], batch=2, batch_size=4),
        sent(4, "gone", batch=2, batch_size=4),
    ]
    present = {1: [prediction("疾病诊断")], 2: [], 3: [], 4: [prediction("疾病诊断")]}
    found = compare_tasks(own, there, present)
    assert [each.question_id for each in found.missing] == ["q3"]
    assert [(remote.task_id, each.question_id) for remote, each in found.texts] == [(2, "q2")]
    assert found.questions == {1: "q1", 2: "q2", 3: "q2"}
    assert (found.last_batch, found.sizes, dict(found.arrived)) == (2, {1: 3, 2: 4}, {1: 1, 2: 2})
    assert found.interrupted == 2
    assert list(found.labels) == [2, 3]
    assert found.updated() == {"q2"}
    assert found.predictions_after(found.missing) == 2 + 2 + 1
    assert found.predictions_after([ReviewTask("q3", {}, None)]) == 4
    found.labels = {1: prediction("疾病治疗"), 4: None}
    assert found.predictions_after([]) == 1


def test_a_batch_that_is_whole_was_not_interrupted():
    found = compare_tasks(WANTED, [sent(1, "q1"), sent(2, "q2"), sent(3, "q3")], {})
    assert found.interrupted == 0
    assert compare_tasks(WANTED, [], {}).last_batch == 0
