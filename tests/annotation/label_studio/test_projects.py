"""A folder's own project is found, or made exactly once."""

from types import SimpleNamespace

import pytest

from build_dataset.annotation.label_studio import projects
from build_dataset.annotation.label_studio.client import Project
from build_dataset.annotation.label_studio.projects import (
    ADJUDICATION,
    KINDS,
    REVIEW,
    SCORING,
    VERIFICATION,
    Owner,
    of_expert,
)
from build_dataset.schemas.errors import UserError

OWNER = Owner("demo", "0123")
MADE = Project(1, "t", "now", "", None, 0, 0, description=REVIEW.description(OWNER))


class Server:
    """Projects, by their descriptions."""

    url = "http://x"

    def __init__(self, *there: Project) -> None:
        self.there = list(there)

    def projects(self, words: str) -> list[Project]:
        return [each for each in self.there if words in each.description]


def test_kinds_have_their_people_and_prune_what_is_not_wanted():
    facts = {kind.name: (kind.experts, kind.prune) for kind in (REVIEW, ADJUDICATION, VERIFICATION, SCORING)}
    assert facts == {"review": (2, False), "adjudication": (1, True), "verification": (1, True), "scoring": (3, True)}
    assert KINDS == (REVIEW, ADJUDICATION, VERIFICATION)
    assert len({kind.marker(OWNER) for kind in (*KINDS, SCORING)}) == 4
    one = of_expert("zhang li@x.org")
    assert (one.experts, one.prune, one.key) == (1, True, "review of zhang%20li@x.org")
    assert REVIEW.key == "review"
    assert REVIEW.marker(OWNER) == "[build-dataset review: demo #0123]"
    assert REVIEW.description(OWNER) == f"{REVIEW.purpose} [build-dataset review: demo #0123]"


@pytest.mark.parametrize(
    ("counts", "chosen"),
    [([(0, 0), (0, 0)], 1), ([(0, 0), (0, 5)], 2), ([(0, 9), (1, 5)], 2), ([(3, 5), (3, 5)], 1), ([(1, 1), (0, 9)], 1)],
)
def test_of_several_projects_the_one_with_most_answers_is_meant(counts, chosen):
    there = [MADE._replace(id=n, annotations=a, tasks=t) for n, (a, t) in enumerate(counts, start=1)]
    found = projects.find(Server(*there), REVIEW, OWNER)
    assert found is not None
    assert found.id == chosen


def test_a_folder_s_project_is_its_own_whatever_the_dataset_is_called_and_another_folder_s_is_refused():
    assert projects.find(Server(MADE), REVIEW, Owner("other", "0123")) == MADE
    with pytest.raises(UserError, match=r"review project 1 of dataset demo at http://x belongs to another folder"):
        projects.find(Server(MADE), REVIEW, Owner("demo", "4567"))


def test_projects_of_nobody_here_are_left_alone():
    stranger = MADE._replace(description=REVIEW.description(Owner("x", "y")))
    assert projects.find(Server(stranger), REVIEW, OWNER) is None
    assert projects.find(Server(MADE), ADJUDICATION, OWNER) is None
    assert projects.find(Server(), REVIEW, OWNER, listed=[MADE]) == MADE


def test_a_wait_ends_when_enough_is_there_and_stays_or_after_ten_seconds(monkeypatch):
    clock = [100.0]
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(projects, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    counts = iter([0, 3, 5, 5])
    assert projects.wait_until(lambda: next(counts), 5) == 5
    assert slept == [0.5] * 3
    slept.clear()
    assert projects.wait_until(lambda: 4, 5) == 4
    assert slept == [0.5] * 20
    slept.clear()
    projects.pause(3)
    projects.pause(1000)
    assert slept == [1.5, 10.0]


def test_a_title_is_cut_to_what_label_studio_allows():
    made: dict[str, object] = {}

    class Making(Server):
        def create_project(self, **settings: object) -> int:
            made.update(settings)
            self.there.append(MADE._replace(description=str(settings["description"])))
            return 1

    projects.create(Making(), REVIEW, OWNER._replace(dataset="标" * 60), wanted=True, maximum_annotations=2)
    assert made["title"] == "标" * 50
    assert (made["enable_empty_annotation"], made["maximum_annotations"]) == (False, 2)
    projects.create(Making(), REVIEW, OWNER, wanted=True)
    assert made["title"] == "demo 双专家复核 review"
    with pytest.raises(projects.NothingToSendError, match="nothing to send for review: there are no questions"):
        projects.create(Making(), REVIEW, OWNER, wanted=False)
