"""Which of all the numbers at the starts of lines number the questions: those that run contiguously."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pipeline.parse.numbers import Habit, Mark

GAP = 10
"""Numbers that may be missing in a row before a jump counts as a restart."""
RESTART = 8.0
"""What a restart without any head costs, in questions: lists inside explanations are shorter than this."""
LATE = 1.2
"""What it costs at most to begin late: one question with options (1.4) still is found in an excerpt."""
HABIT_CHANGE = 1.5
LOST_DOT = 0.4
DUPLICATE = 0.6
_NEAR = {frozenset((Habit.DOT, Habit.BARE))}


@dataclass
class _Search:
    """State of the search: for every mark the best chain that ends there."""

    score: list[float] = field(default_factory=list)
    back: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    """The number with which its chain begins."""
    ends: dict[tuple[Habit, int], int] = field(default_factory=dict)
    best: int = -1
    restart_score: float = float("-inf")
    restart_from: int = -1
    in_key: bool = False
    """Whether the head of a key has been passed."""

    def best_score(self) -> float:
        return self.score[self.best] if self.best >= 0 else 0.0


@dataclass(frozen=True, slots=True)
class Boundary:
    """A line that opens something."""

    cost: float
    """Of a restart of the numbering after it."""
    key: bool = False
    """Whether a key stands under it: its entries may begin at any number of the paper, and leave some out."""


def choose(marks: Sequence[Mark], boundaries: Mapping[int, Boundary]) -> list[Mark]:
    """The marks that number questions, in order.

    The chain with the most evidence: each mark adds its weight, each irregularity (a gap, a restart, a change of
    habit) costs. Linear in the number of marks.

    Args:
        marks: all candidates, in the order of their lines.
        boundaries: lines that open something.
    """
    search = _Search()
    opened = sorted(boundaries)
    passed = 0
    for index, mark in enumerate(marks):
        while passed < len(opened) and opened[passed] <= mark.line:
            _pass_boundary(search, boundaries[opened[passed]])
            passed += 1
        score, origin = max(_origins(search, marks, index), key=lambda found: found[0])
        search.score.append(score + mark.weight)
        search.back.append(origin)
        search.first.append(search.first[origin] if origin >= 0 else mark.value)
        known = search.ends.get((mark.habit, mark.last), -1)
        if known < 0 or search.score[index] > search.score[known]:
            search.ends[mark.habit, mark.last] = index
        if search.score[index] > search.best_score():
            search.best = index
    return _walk(search, marks)


def _pass_boundary(search: _Search, boundary: Boundary) -> None:
    score = search.best_score() - boundary.cost
    search.in_key = search.in_key or boundary.key
    if score >= search.restart_score:
        search.restart_score, search.restart_from = score, search.best


def _origins(search: _Search, marks: Sequence[Mark], index: int) -> list[tuple[float, int]]:
    mark = marks[index]
    late = 0.0 if mark.value == 1 else 2.0 + min(3.0, 0.1 * (mark.value - 1))
    origins = [(-min(LATE, 0.05 * (mark.value - 1)), -1)]
    if search.best >= 0:
        origins.append((search.best_score() - RESTART - late, search.best))
    if search.restart_from >= 0:
        first, last = search.first[search.restart_from], marks[search.restart_from].last
        again = mark.value == first or (search.in_key and first < mark.value <= last)
        origins.append((search.restart_score - (0.0 if again else late), search.restart_from))
    for gap in range(1, GAP + 1):
        for habit in Habit:
            known = search.ends.get((habit, mark.value - gap))
            if known is not None:
                origins.append(
                    (search.score[known] - _step_cost(marks[known], mark, gap, in_key=search.in_key), known)
                )
    previous = marks[index - 1] if index else None
    same = previous and (previous.habit, previous.value) == (mark.habit, mark.value)
    announced = previous is not None and (previous.supported or previous.last > previous.value)
    if previous and same and announced and (mark.options or (mark.supported and not previous.options)):
        origins.append((search.score[index - 1] - DUPLICATE, index - 1))
    return origins


def _step_cost(before: Mark, after: Mark, gap: int, *, in_key: bool) -> float:
    missing = gap - 1
    cost = 0.0 if not missing else 0.1 + 0.1 * missing if in_key else 0.3 + 0.5 * missing
    if before.habit is not after.habit:
        cost += LOST_DOT if frozenset((before.habit, after.habit)) in _NEAR else HABIT_CHANGE
    return cost + 1e-4 * min(after.line - before.line, 1000)


def _walk(search: _Search, marks: Sequence[Mark]) -> list[Mark]:
    chain: list[Mark] = []
    index = search.best
    while index >= 0:
        chain.append(marks[index])
        index = search.back[index]
    return chain[::-1]
