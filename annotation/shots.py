"""Which reviewed questions are shown to a model as examples."""

from __future__ import annotations

from collections.abc import Sequence

from annotation.prompt import Shot, render
from annotation.reviewed import Reviewed
from schemas.taxonomy import dimensions

_LONGEST = 400
"""Characters of an example; a long one costs tokens with every question."""


def choose_shots(reviewed: Sequence[Reviewed], count: int) -> list[Shot]:
    """``count`` examples and one in reserve, for questions that are examples themselves.

    Each next one shows the most labels that no earlier one shows; of equals, the first by content hash. Fewer when
    fewer questions are labelled in every dimension. The same for the same reviewed questions in any order.

    Args:
        reviewed: to choose from.
        count: wanted; 0 for none.
    """
    complete = [item for item in reviewed if set(item.labels) == set(dimensions())]
    short = [item for item in complete if len(render(item.question)) <= _LONGEST]
    waiting = sorted(short, key=lambda item: item.question.content_hash)
    shown: set[tuple[str, str]] = set()
    chosen: list[Shot] = []
    while waiting and len(chosen) < count + (count > 0):
        best = max(waiting, key=lambda item: len(_labels(item) - shown))
        waiting.remove(best)
        shown |= _labels(best)
        chosen.append(Shot(best.question, best.labels))
    return chosen


def _labels(item: Reviewed) -> set[tuple[str, str]]:
    return {(name, label.zh) for name, label in item.labels.items()}
