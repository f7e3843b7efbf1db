"""What changed is fetched, and everything where changes leave no trace. The real server is met in tests/services."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotation.label_studio.client import Project
from annotation.label_studio.kinds import REVIEW
from annotation.label_studio.pull import Pulled, pull
from annotation.label_studio.tasks import choice
from schemas.taxonomy import dimensions

PEOPLE = {1: "a@example.org", 2: "b@example.org", 3: "c@example.org"}
RESULT = [choice(name, [dimension.zh_names()[0]]) for name, dimension in dimensions().items()]


@dataclass
class Studio:
    """A project in memory, with tasks by the second in which they changed."""

    stored: dict[int, dict[str, Any]] = field(default_factory=dict)
    url: str = "http://studio"
    meanwhile: Callable[[], None] | None = None
    """What people do between the first and the second request."""

    def answered(self, number: int, *people: int, second: int) -> None:
        moment = f"2026-01-01T00:00:{second:02}.000000Z"
        annotations = [
            {
                "id": 10 * number + person,
                "completed_by": person,
                "updated_by": person,
                "was_cancelled": False,
                "updated_at": moment,
                "lead_time": 5.0,
                "result": RESULT,
            }
            for person in people
        ]
        self.stored[number] = {
            "data": {"question_id": f"q{number}"},
            "updated_at": moment,
            "annotations": annotations,
        }

    def find_project(self, marker: str) -> Project:
        count = sum(len(task["annotations"]) for task in self.stored.values())
        return Project(1, "t", "now", "", None, len(self.stored), count)

    def project(self, project_id: int) -> Project:
        return self.find_project("")

    def reviewers(self) -> dict[int, str]:
        return PEOPLE

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
    first, report = pull(studio, REVIEW, "demo", Pulled())
    assert (report.full, report.new, report.questions) == (True, 4, 4)
    studio.answered(2, 1, 2, second=24)  # became visible after a later change was seen
    second, report = pull(studio, REVIEW, "demo", first)
    assert (report.full, report.new, report.deleted, report.third_experts) == (False, 1, 0, ())
    assert second.since == first.since
    assert second.reviews.height == first.reviews.height + len(RESULT)


def test_where_annotations_are_missing_without_a_trace_everything_is_read():
    studio = Studio()
    studio.answered(1, 1, second=0)
    studio.answered(2, 1, 2, second=40)
    before, _ = pull(studio, REVIEW, "demo", Pulled())
    del studio.stored[1]
    after, report = pull(studio, REVIEW, "demo", before)
    assert (report.full, report.deleted) == (True, 1)
    assert set(after.reviews["question_id"]) == {"q2"}


def test_what_people_answer_during_a_pull_is_no_reason_to_read_everything():
    studio = Studio()
    studio.answered(1, 1, second=0)
    before, _ = pull(studio, REVIEW, "demo", Pulled())
    studio.meanwhile = lambda: studio.answered(2, 1, second=30)
    after, report = pull(studio, REVIEW, "demo", before)
    assert (report.full, report.new) == (False, 1)
    assert set(after.reviews["question_id"]) == {"q1", "q2"}


def test_questions_that_a_third_person_answered_are_named():
    studio = Studio()
    studio.answered(1, 1, 2, second=0)
    studio.answered(2, 1, 2, 3, second=0)
    assert pull(studio, REVIEW, "demo", Pulled())[1].third_experts == ("q2",)
