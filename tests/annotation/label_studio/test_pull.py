"""A pull fetches what changed, and everything where changes leave no trace. tests/services asks a real server."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from build_dataset.annotation.label_studio.client import Project
from build_dataset.annotation.label_studio.projects import REVIEW, Owner
from build_dataset.annotation.label_studio.pull import Pulled, pull
from build_dataset.annotation.label_studio.tasks import choice
from build_dataset.schemas.taxonomy import dimensions

PEOPLE = {1: "a@example.org", 2: "b@example.org", 3: "c@example.org"}
OWNER = Owner("demo", "0123456789ab")
NAMES = [dimension.zh_names() for dimension in dimensions().values()]
RESULT, OTHER = (
    [choice(name, [labels[place]]) for name, labels in zip(dimensions(), NAMES, strict=True)] for place in (0, 1)
)


@dataclass
class Studio:
    """A project in memory, with tasks by the second in which they changed."""

    stored: dict[int, dict[str, Any]] = field(default_factory=dict)
    url: str = "http://studio"
    description: str = REVIEW.marker(OWNER)
    people: dict[int, str] = field(default_factory=lambda: PEOPLE)
    made: str = "Monday"
    meanwhile: Callable[[], None] | None = None
    """People's work between the first and the second request."""

    def answered(self, number: int, *people: int, second: int) -> None:
        moment = f"2026-01-01T00:00:{second:02}.000000Z"
        same = {"was_cancelled": False, "updated_at": moment, "lead_time": 5.0, "result": RESULT}
        annotations = [{"id": 10 * number + who, "completed_by": who, "updated_by": who, **same} for who in people]
        self.stored[number] = {"data": {"question_id": f"q{number}"}, "updated_at": moment, "annotations": annotations}

    def projects(self, words: str) -> list[Project]:
        return [self.project(1)] if words in self.description else []

    def update_project(self, project_id: int, *, description: str) -> None:
        self.description = description

    def project(self, project_id: int) -> Project:
        count = sum(len(task["annotations"]) for task in self.stored.values())
        return Project(1, "t", "now", "", None, len(self.stored), count, 0, self.description)

    @property
    def reviewers(self) -> dict[int, str]:
        return self.people

    @property
    def accounts(self) -> dict[str, str]:
        return {f"{number} since {self.made}": email for number, email in self.people.items()}

    def tasks(self, project_id, *filters, answers=False):
        assert answers
        if self.meanwhile is not None:
            self.meanwhile()
        for task in self.stored.values():
            known = {
                "updated_at": task["updated_at"],
                "total_annotations": sum(not own["was_cancelled"] for own in task["annotations"]),
                "cancelled_annotations": sum(own["was_cancelled"] for own in task["annotations"]),
            }
            if all(_fits(known[each["filter"].rpartition(":")[2]], each) for each in filters):
                yield task


def _fits(value, one) -> bool:
    if one["operator"] == "equal":
        return value == one["value"]
    return _moment(value) > _moment(one["value"]) if one["type"] == "Datetime" else value > one["value"]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_a_pull_reads_what_changed_and_a_while_before():
    studio = Studio()
    for number, second in enumerate((0, 20, 25, 30)):
        studio.answered(number, 1, second=second)
    first, report = pull(studio, REVIEW, OWNER, Pulled())
    assert (report.full, report.new, report.questions) == (True, 4, 4)
    studio.answered(2, 1, 2, second=24)  # became visible after a later change was seen
    second, report = pull(studio, REVIEW, OWNER, first)
    assert (report.full, report.new, report.deleted, report.third_experts) == (False, 1, 0, ())
    assert second.since == first.since
    assert second.reviews.height == first.reviews.height + len(RESULT)


def test_where_annotations_are_missing_without_a_trace_everything_is_read():
    studio = Studio()
    studio.answered(1, 1, second=0)
    studio.answered(2, 1, 2, second=40)
    before, _ = pull(studio, REVIEW, OWNER, Pulled())
    del studio.stored[1]
    after, report = pull(studio, REVIEW, OWNER, before)
    assert (report.full, report.deleted, report.newly_gone, report.kept) == (True, 1, 1, 1)
    assert set(after.reviews["question_id"]) == {"q1", "q2"}
    again, report = pull(studio, REVIEW, OWNER, after)
    assert (report.full, report.newly_gone, report.kept) == (False, 0, 1)
    assert again.reviews.equals(after.reviews)
    let_go, report = pull(studio, REVIEW, OWNER, again, force=True)
    assert report.kept == 0
    assert set(let_go.reviews["question_id"]) == {"q2"}


def test_an_answer_given_anew_takes_the_place_of_the_deleted_one():
    studio = Studio()
    studio.answered(1, 1, 2, second=0)
    before, _ = pull(studio, REVIEW, OWNER, Pulled())
    studio.answered(1, 1, 2, second=20)
    studio.stored[1]["annotations"][0]["id"] = 99
    after, report = pull(studio, REVIEW, OWNER, before)
    assert (report.kept, after.annotations.height) == (0, 2)
    assert after.reviews.height == before.reviews.height
    assert set(after.reviews["annotation_id"]) == {99, 12}


def test_a_person_who_changed_address_or_left_counts_once_and_goes_on_counting():
    studio = Studio()
    studio.answered(1, 1, 2, second=0)
    studio.answered(2, 1, second=0)
    before, _ = pull(studio, REVIEW, OWNER, Pulled())
    studio.people = {**PEOPLE, 1: "new@example.org"}
    renamed, report = pull(studio, REVIEW, OWNER, before)
    assert (report.full, report.kept) == (True, 0)
    assert set(renamed.reviews["reviewer"]) == {"new@example.org", PEOPLE[2]}
    studio.people = {2: PEOPLE[2]}
    left, _ = pull(studio, REVIEW, OWNER, renamed, full=True)
    assert left.reviews.equals(renamed.reviews)


def test_a_server_that_was_restored_gives_lost_ids_to_others_and_nobody_loses_an_answer():
    studio = Studio()
    studio.answered(1, 1, second=20)
    studio.answered(2, 1, 2, second=20)
    before, _ = pull(studio, REVIEW, OWNER, Pulled())
    studio.answered(1, 2, second=40)
    studio.stored[1]["annotations"][0]["id"] = 11  # the lost answer's
    studio.answered(2, 1, second=0)  # as it was before it was changed
    studio.stored[2]["annotations"][0]["result"] = OTHER
    for full in (False, True, True):
        before, report = pull(studio, REVIEW, OWNER, before, full=full)
        assert report.rejects == {}
        answers = before.reviews.unique(["question_id", "reviewer"]).sort("question_id", "reviewer")
        assert answers.select("question_id", "reviewer").rows() == [
            (question, PEOPLE[who]) for question, who in (("q1", 1), ("q1", 2), ("q2", 1), ("q2", 2))
        ]
        assert set(before.reviews["label"]) == {labels[0] for labels in NAMES}, "the change is not taken back"
        assert report.kept == 2, "one answer to each question is no longer there"


def test_people_of_a_server_that_was_made_anew_keep_their_own_work():
    studio = Studio()
    studio.answered(1, 1, 2, second=0)
    before, _ = pull(studio, REVIEW, OWNER, Pulled())
    studio.made, studio.people, studio.stored = "Friday", {1: PEOPLE[2], 2: PEOPLE[1], 3: PEOPLE[3]}, {}
    after, _ = pull(studio, REVIEW, OWNER, before)
    assert after.reviews.equals(before.reviews)
    assert {each["completed_by"]["email"] for each in after.answers(studio.accounts)["q1"]} == {PEOPLE[1], PEOPLE[2]}


def test_an_answer_that_somebody_else_sends_anew_stays_as_its_author_gave_it():
    studio = Studio()
    studio.answered(1, 1, second=0)
    before, _ = pull(studio, REVIEW, OWNER, Pulled())
    studio.answered(1, 1, second=20)
    studio.stored[1]["annotations"][0] |= {"updated_by": 2, "result": [choice("difficulty", ["难"])]}
    after, report = pull(studio, REVIEW, OWNER, before)
    assert after.reviews.equals(before.reviews)
    assert (dict(report.rejects), report.kept) == ({"another_hand": 1}, 0)
    studio.answered(1, 1, second=40)
    again, report = pull(studio, REVIEW, OWNER, after)
    assert (again.reviews["updated_at"].max(), dict(report.rejects)) == ("2026-01-01T00:00:40.000000Z", {})


def test_answers_go_back_with_their_questions_one_a_person():
    studio = Studio()
    studio.answered(1, 1, 2, second=0)
    pulled, _ = pull(studio, REVIEW, OWNER, Pulled())
    back = pulled.answers(studio.accounts)
    assert [each["completed_by"]["email"] for each in back["q1"]] == [PEOPLE[1], PEOPLE[2]]
    assert all(each["result"][:-1] == RESULT for each in back["q1"])
    assert {each["result"][-1]["from_name"] for each in back["q1"]} == {"answered"}
    assert list(pulled.answers({"2": PEOPLE[2]})) == ["q1"]


def test_work_that_is_gone_from_the_server_follows_its_author_to_a_new_address():
    studio = Studio()
    studio.answered(1, 1, 2, second=0)
    before, _ = pull(studio, REVIEW, OWNER, Pulled())
    studio.stored.clear()
    studio.people = {**PEOPLE, 1: "new@example.org"}
    [_, moved] = before.answers(studio.accounts)["q1"]
    assert moved["completed_by"] == {"email": "new@example.org"}
    studio.answered(1, 1, second=5)
    after, _ = pull(studio, REVIEW, OWNER, before)
    assert sorted(set(after.reviews["reviewer"])) == [PEOPLE[2], "new@example.org"], "nobody counts twice"


def test_what_people_answer_during_a_pull_is_no_reason_to_read_everything():
    studio = Studio()
    studio.answered(1, 1, second=0)
    before, _ = pull(studio, REVIEW, OWNER, Pulled())
    studio.meanwhile = lambda: studio.answered(2, 1, second=30)
    after, report = pull(studio, REVIEW, OWNER, before)
    assert (report.full, report.new) == (False, 1)
    assert set(after.reviews["question_id"]) == {"q1", "q2"}


def test_questions_that_a_third_person_answered_are_named():
    studio = Studio()
    studio.answered(1, 1, 2, second=0)
    studio.answered(2, 1, 2, 3, second=0)
    assert pull(studio, REVIEW, OWNER, Pulled())[1].third_experts == ("q2",)
