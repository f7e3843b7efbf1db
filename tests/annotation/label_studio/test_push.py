"""Every question arrives once, whatever is lost on the way. The real server is met in tests/services."""

import contextlib
import itertools
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.annotation.label_studio import projects, push as pushing
from build_dataset.annotation.label_studio.client import Project, ReplyLostError
from build_dataset.annotation.label_studio.projects import ADJUDICATION, REVIEW, Owner
from build_dataset.annotation.label_studio.tasks import ReviewTask, choice, prediction_of
from build_dataset.schemas.errors import UserError

OWNER = Owner("demo", "0123456789ab")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(projects, "SETTLE_SECONDS", 0.0)


@dataclass
class LossyStudio:
    """A Label Studio in memory, whose imports meet the faults of a script."""

    faults: list[str] = field(default_factory=list)
    """For each import: ``ok``, ``done`` (added, reply lost), ``not done`` (request lost), ``no labels``."""
    keeps_predictions: bool = True
    copies: int = 0
    """Empty projects that the server makes beside the wanted one, as when it runs a request again."""
    create: str = "ok"
    extra: list[int] = field(default_factory=list)
    stored: dict[int, dict[str, Any]] = field(default_factory=dict)
    settings: dict[str, Any] | None = None
    url: str = "http://studio"
    _ids: Any = field(default_factory=lambda: itertools.count(1))

    def projects(self, words: str) -> list[Project]:
        if not self.settings or words not in self.settings["description"]:
            return []
        empty = self.project(1)._replace(tasks=0, predictions=0)
        return [*(empty._replace(id=each) for each in self.extra), self.project(1)]

    def delete_project(self, project_id: int) -> None:
        self.extra.remove(project_id)

    def project(self, project_id: int) -> Project:
        known = self.settings or {}
        labels = sum(len(task["predictions"]) for task in self.stored.values())
        texts = {"description": known.get("description", ""), "instruction": known.get("expert_instruction", "")}
        config, version = known["label_config"], known["model_version"]
        return Project(1, "t", "now", config, version, len(self.stored), 0, labels, **texts)

    def create_project(self, **settings: Any) -> int:
        self.settings = settings
        self.extra = [-number for number in range(self.copies)]
        if self.create == "lost":
            raise ReplyLostError
        return 1

    def update_project(self, project_id: int, **settings: Any) -> None:
        version = settings.get("model_version")
        there = {each["model_version"] for task in self.stored.values() for each in task["predictions"]}
        assert version is None or version in there, "Label Studio refuses it"
        self.settings = {**(self.settings or {}), **settings}

    def import_tasks(self, project_id: int, payloads: list[dict[str, Any]]) -> None:
        fault = self.faults.pop(0) if self.faults else "ok"
        if fault != "not done":
            for payload in payloads:
                task = {"data": payload["data"], "predictions": [], "annotations": 0}
                if fault != "no labels":
                    told = payload.get("annotations", ())
                    task |= {"predictions": list(payload["predictions"]), "annotations": len(told)}
                self.stored[next(self._ids)] = task
        if fault in ("done", "not done"):
            raise ReplyLostError

    def tasks(self, project_id, *filters, answers=False):
        assert not filters
        for task_id, task in list(self.stored.items()):
            yield {"id": task_id, "data": task["data"], "total_annotations": task["annotations"]}

    def predictions(self, project_id):
        return {task_id: task.get("predictions", []) for task_id, task in self.stored.items()}

    def add_predictions(self, project_id, predictions):
        for task_id, prediction in predictions.items() if self.keeps_predictions else ():
            self.stored[task_id]["predictions"].append(prediction)

    def delete_predictions(self, project_id, task_ids):
        for task_id in task_ids:
            self.stored[task_id]["predictions"] = []

    def update_task(self, task_id, data, *, served=None):
        self.stored[task_id]["data"] = dict(data)

    def delete_unanswered(self, project_id, task_ids):
        gone = [task_id for task_id in task_ids if self.stored[task_id]["annotations"] == 0]
        for task_id in gone:
            del self.stored[task_id]
        return len(gone)

    def ids(self) -> list[str]:
        return sorted(task["data"]["question_id"] for task in self.stored.values())


def tasks(count: int, digest: str = "1") -> list[ReviewTask]:
    return [ReviewTask(f"q{n:03}", {"question_id": f"q{n:03}", "digest": digest}, None) for n in range(count)]


def push(studio: LossyStudio, wanted: list[ReviewTask], batch: int = 4, *, kind=REVIEW, version="v", **more):
    return pushing.push(studio, kind, OWNER, wanted, version=version, batch=batch, **more)


@pytest.mark.parametrize("fault", ["done", "not done"])
def test_an_import_whose_reply_is_lost_is_repeated_only_where_it_never_arrived(fault):
    studio = LossyStudio(faults=[fault])
    report = push(studio, tasks(4))
    assert (studio.settings or {})["maximum_annotations"] == 2, "experts for each question"
    assert studio.ids() == [task.question_id for task in tasks(4)]
    assert (report.added, report.replies_lost, report.duplicates_removed) == (4, 1, 0)


def test_a_server_that_never_confirms_is_told_and_the_next_push_goes_on():
    studio = LossyStudio(faults=["ok", *["not done"] * 4])
    with pytest.raises(UserError, match="run `build-dataset review push` again"):
        push(studio, tasks(8))
    report = push(studio, tasks(8))
    assert (report.added, report.unchanged) == (4, 4)


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.sampled_from(["ok", "done", "not done"]), max_size=12), st.integers(1, 9), st.integers(1, 5))
def test_whatever_is_lost_no_question_is_there_twice_and_pushing_on_completes(faults, count, batch):
    studio = LossyStudio(faults=list(faults))
    for _ in range(len(faults) + 1):
        try:
            push(studio, tasks(count), batch)
        except UserError:
            assert len(set(studio.ids())) == len(studio.ids())
    assert studio.ids() == [task.question_id for task in tasks(count)]


def test_only_what_changed_is_updated_and_reviewed_ones_are_named():
    studio = LossyStudio()
    push(studio, tasks(4))
    studio.stored[2]["annotations"] = 1
    changed = [*tasks(1), *tasks(4, digest="2")[1:3], *tasks(4)[3:]]
    report = push(studio, changed)
    assert (report.added, report.updated, report.unchanged) == (0, 2, 2)
    assert report.changed_after_review == ("q001",)
    assert studio.stored[2]["data"]["digest"] == "2"


@pytest.mark.parametrize(("answered", "staying"), [({4}, [2, 3, 4]), ({1, 4}, [1, 2, 3, 4])])
def test_a_second_task_of_a_question_is_removed_unless_it_was_reviewed(answered, staying):
    studio = LossyStudio()
    push(studio, tasks(3))
    studio.import_tasks(1, [task.payload() for task in tasks(2)])
    for task_id in answered:
        studio.stored[task_id]["annotations"] = 1
    assert push(studio, tasks(3)).duplicates_removed == 5 - len(staying)
    assert sorted(studio.stored) == staying


def test_where_there_is_nothing_to_send_no_project_is_made():
    studio = LossyStudio()
    with pytest.raises(UserError, match="nothing to send for adjudication: experts disagree on nothing"):
        push(studio, [], kind=ADJUDICATION)
    assert studio.settings is None
    push(studio, tasks(2), kind=ADJUDICATION)
    assert push(studio, [], kind=ADJUDICATION).withdrawn == 2


def test_a_prediction_outside_the_taxonomy_is_never_sent():
    wrong = {"model_version": "v", "score": None, "result": [choice("competency", ["内科"])]}
    studio = LossyStudio()
    with pytest.raises(UserError, match="question q000 do not fit the taxonomy"):
        push(studio, [ReviewTask("q000", {"question_id": "q000", "digest": "1"}, wrong)])
    assert studio.settings is None


def labelled(label: str, count: int = 3, version: str = "v") -> list[ReviewTask]:
    prediction = prediction_of({"competency": label}, version, 0.5)
    return [ReviewTask(task.question_id, task.data, prediction) for task in tasks(count)]


def filled_in(studio: LossyStudio) -> list[str]:
    """The labels that the screen fills in: those of the version that the project names, question by question."""
    assert studio.settings is not None
    return [
        item["value"]["choices"][0]
        for task in studio.stored.values()
        for prediction in task["predictions"]
        if prediction["model_version"] == studio.settings["model_version"]
        for item in prediction["result"]
    ]


def test_labels_that_changed_are_filled_in_and_the_texts_left_alone():
    studio = LossyStudio()
    push(studio, labelled("疾病治疗"))
    assert push(studio, labelled("疾病治疗")).unchanged == 3
    before = {task_id: task["data"] for task_id, task in studio.stored.items()}
    report = push(studio, labelled("医学基础知识"))
    assert (report.updated, report.changed_after_review) == (3, ())
    assert {task_id: task["data"] for task_id, task in studio.stored.items()} == before
    assert filled_in(studio) == ["医学基础知识"] * 3
    assert push(studio, labelled("医学基础知识")).unchanged == 3


def test_labels_of_another_annotator_take_the_place_of_the_first_ones():
    studio = LossyStudio()
    push(studio, labelled("疾病治疗"))
    other = labelled("疾病治疗", 5, version="w")
    assert push(studio, other, version="w").updated == 3
    assert [len(task["predictions"]) for task in studio.stored.values()] == [1] * 5
    assert filled_in(studio) == ["疾病治疗"] * 5
    assert push(studio, other, version="w").unchanged == 5


class KilledError(Exception):
    """The client is gone."""


@pytest.mark.slow
@settings(deadline=None)
@given(st.lists(st.sampled_from(["疾病治疗", "医学基础知识", "不符合"]), min_size=6, max_size=6), st.integers(0, 6))
def test_a_kill_while_labels_change_leaves_whole_labels_and_the_next_push_completes(other, survives):
    studio = LossyStudio()
    push(studio, labelled("疾病治疗", 6), 2)
    left = iter(range(survives))

    def fragile(method):
        def call(*arguments):
            if next(left, None) is None:
                raise KilledError
            method(*arguments)

        return call

    fragile_ones = ("add_predictions", "delete_predictions")
    for name in fragile_ones:
        setattr(studio, name, fragile(getattr(studio, name)))
    wanted = [labelled(label, number + 1)[number] for number, label in enumerate(other)]
    with contextlib.suppress(KilledError):
        push(studio, wanted, 2)
    for name in fragile_ones:
        delattr(studio, name)
    shown = Counter(filled_in(studio))
    assert shown <= Counter(other) + Counter({"疾病治疗": 6}), "what is shown was said by somebody"
    push(studio, wanted, 2)
    assert filled_in(studio) == other
    assert push(studio, wanted, 2).unchanged == 6


def test_predictions_that_arrived_twice_become_one_and_those_that_are_taken_back_none():
    studio = LossyStudio()
    push(studio, labelled("疾病治疗", 8))
    studio.stored[2]["predictions"] *= 2
    assert push(studio, labelled("疾病治疗", 8)).updated == 1
    assert [len(task["predictions"]) for task in studio.stored.values()] == [1] * 8
    assert push(studio, tasks(8)).updated == 8
    assert [task["predictions"] for task in studio.stored.values()] == [[]] * 8


def test_so_many_are_sent_as_are_wanted_in_batches_that_keep_their_numbers():
    studio = LossyStudio()
    report = push(studio, tasks(5), count=2)
    assert (report.batch, report.added, report.later, report.others, report.unchanged) == (1, 2, 3, 0, 0)
    assert [push(studio, tasks(5), count=2).batch for _ in range(2)] == [2, 3]
    assert push(studio, tasks(5), count=2).added == 0
    push(studio, tasks(5, digest="2"))
    batches = [task["data"]["batch"] for task in studio.stored.values()]
    assert batches == ["1", "1", "2", "2", "3"]


def test_a_question_that_was_sent_blind_stays_blind():
    studio = LossyStudio()
    blind = [ReviewTask(task.question_id, task.data, task.prediction, arm="blind") for task in labelled("疾病治疗")]
    push(studio, blind)
    assert [task["predictions"] for task in studio.stored.values()] == [[], [], []]
    assert push(studio, labelled("疾病治疗")).unchanged == 3
    assert {task["data"]["arm"] for task in studio.stored.values()} == {"blind"}


def test_cases_that_need_no_ruling_any_more_are_withdrawn_unless_somebody_ruled():
    studio = LossyStudio()
    push(studio, tasks(4), kind=ADJUDICATION)
    studio.stored[4]["annotations"] = 1
    report = push(studio, tasks(1), kind=ADJUDICATION)
    assert report.withdrawn == 2
    assert studio.ids() == ["q000", "q003"]
    assert studio.settings is not None
    assert studio.settings["maximum_annotations"] == 1


def test_labels_that_the_server_drops_without_a_word_are_sent_again():
    studio = LossyStudio(faults=["no labels", "ok", "no labels"])
    report = push(studio, labelled("疾病治疗", 8))
    assert report.mended == 1
    assert all(len(task["predictions"]) == 1 for task in studio.stored.values())
    assert push(studio, labelled("疾病治疗", 8)).mended == 0


def test_a_server_that_keeps_nothing_of_labels_is_told():
    studio = LossyStudio(faults=["no labels"] * 9, keeps_predictions=False)
    with pytest.raises(UserError, match="does not keep what it is sent"):
        push(studio, labelled("疾病治疗", 4))


@pytest.mark.parametrize("reply", ["ok", "lost"])
def test_a_project_that_the_server_made_three_times_is_one_in_the_end(reply):
    studio = LossyStudio(copies=2, create=reply)
    report = push(studio, labelled("疾病治疗", 4))
    assert (report.created, report.added, report.project) == (True, 4, 1)
    assert studio.extra == []


def test_the_rest_of_an_interrupted_batch_belongs_to_it():
    studio = LossyStudio(faults=["ok", *["not done"] * 4])
    with pytest.raises(UserError):
        push(studio, tasks(8))
    assert (report := push(studio, tasks(8))).batch == 1
    assert (report.added, push(studio, tasks(12), count=3).batch) == (4, 2)
    sent = Counter(task["data"]["batch"] for task in studio.stored.values())
    assert sent == {"1": 8, "2": 3}


def test_questions_that_are_gone_come_back_with_their_answers():
    studio = LossyStudio()
    answers = {"q001": [{"result": [], "completed_by": {"email": "a@example.org"}}]}
    report = push(studio, tasks(3), answers=answers)
    assert report.restored == 1
    assert [task["annotations"] for task in studio.stored.values()] == [0, 1, 0]
    lossy = LossyStudio(faults=["no labels"])
    assert push(lossy, tasks(3), answers=answers).duplicates_removed == 1
    assert sorted(task["annotations"] for task in lossy.stored.values()) == [0, 0, 1]
    assert lossy.ids() == ["q000", "q001", "q002"]


def test_rulings_are_shown_once_take_the_place_of_earlier_ones_and_leave_what_somebody_else_wrote():
    studio = LossyStudio()
    push(studio, tasks(2))
    studio.settings["expert_instruction"] = "<p>by the coordinator</p>"
    first, second = (f'<section class="bd-rulings">{text}</section>' for text in ("one &#34;x&#34;", "two"))
    assert push(studio, tasks(2), rulings=first).rulings_shown
    assert studio.settings["expert_instruction"] == "<p>by the coordinator</p>" + first
    studio.settings["expert_instruction"] = studio.settings["expert_instruction"].replace("&#34;", '"')
    assert not push(studio, tasks(2), rulings=first).rulings_shown, "the server writes quotes its own way"
    assert push(studio, tasks(2), rulings=second).rulings_shown
    assert studio.settings["expert_instruction"] == "<p>by the coordinator</p>" + second
    assert not push(studio, tasks(2)).rulings_shown, "a project without rulings is left as it is"
    assert not push(studio, tasks(2), rulings="").rulings_shown
    assert studio.settings["expert_instruction"] == "<p>by the coordinator</p>"
