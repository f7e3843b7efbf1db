"""Waiting for a server: how long, how often, and the kinds of projects it is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from build_dataset.annotation.label_studio import projects
from build_dataset.annotation.label_studio.projects import Owner, of_expert


@pytest.fixture
def slept(monkeypatch) -> list[float]:
    """Pauses, on a clock that nothing else moves."""
    pauses: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: sum(pauses), sleep=pauses.append)
    monkeypatch.setattr(projects, "time", clock)
    return pauses


@pytest.mark.parametrize(
    ("seen", "least", "found", "looks"),
    [
        ([5, 5], 5, 5, 2),  # it stays the same
        ([4, 4, 5, 5], 5, 5, 4),
        ([0, 1, 2, 3, 3], 1, 3, 5),
        ([7, 8, 8], 5, 8, 3),
        ([4] * 30, 5, 4, 21),  # 10 seconds, half a second between two looks
    ],
)
def test_a_number_is_looked_at_every_half_second_until_it_stays_for_ten_seconds_at_most(
    slept, seen, least, found, looks
):
    told: Iterator[int] = iter(seen)
    assert projects.wait_until(lambda: next(told), least) == found
    assert slept == [0.5] * (looks - 1)


@pytest.mark.parametrize(("times", "seconds"), [(1, 0.5), (2, 1.0), (20, 10.0), (21, 10.0)])
def test_a_pause_grows_up_to_ten_seconds(slept, times, seconds):
    projects.pause(times)
    assert slept == [seconds]


def test_an_expert_of_their_own_project_is_the_only_one_asked():
    kind = of_expert("zhang li/x@example.org")
    assert (kind.key, kind.experts, kind.prune) == ("review of zhang%20li%2Fx@example.org", 1, True)
    assert kind.marker(Owner("demo", "f0")) == f"[build-dataset {kind.key}: demo #f0]"


def test_two_experts_review_and_three_score_and_what_nobody_answered_leaves_but_a_review():
    kinds = {each.name: (each.experts, each.prune) for each in (*projects.KINDS, projects.SCORING)}
    assert kinds == {"review": (2, False), "adjudication": (1, True), "verification": (1, True), "scoring": (3, True)}
