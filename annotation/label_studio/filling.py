"""Which labels a project fills in: predictions carry a version, and the project names one. Pure.

The server deletes predictions one by one, 5 ms each, and adds them in one step, 1.5 ms each (CPU; benchmarks/review).
So where more than a quarter of an annotator's labels changed, all are added as a further version, ``lexicon (2)``,
which the project then names; where fewer did, those are replaced. Until the project names another version, what it
names stays whole, so that an interrupted change is seen by nobody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Prediction = Mapping[str, Any]
_REPLACING = 4
"""What it takes to delete a prediction and add another, in additions."""


@dataclass(frozen=True)
class Filling:
    """What makes the labels of a version those that are wanted; predictions by task id."""

    version: str
    added: Mapping[int, Prediction] = field(default_factory=dict)
    replaced: Mapping[int, Prediction | None] = field(default_factory=dict)
    """Those to delete first; None where nothing comes in their place."""

    @property
    def cost(self) -> int:
        """Time that it takes, in additions."""
        return len(self.added) + _REPLACING * len(self.replaced)


def cheapest(
    annotator: str, wanted: Mapping[int, Prediction | None], present: Mapping[int, Sequence[Prediction]]
) -> Filling:
    """The least that has to be done for the wanted labels to be filled in.

    Args:
        annotator: whose labels they are.
        wanted: for each task its labels; None where nothing is to be filled in.
        present: all predictions that are there, of any version.
    """
    if not any(wanted.values()):  # a project can name no version without predictions
        return Filling(annotator, replaced={task_id: None for task_id in wanted if present.get(task_id)})
    versions = {str(each.get("model_version")) for own in present.values() for each in own}
    names = [annotator, *(f"{annotator} ({number})" for number in range(2, len(versions) + 2))]
    return min((_completed(name, wanted, present) for name in names), key=lambda each: each.cost)


def _completed(
    version: str, wanted: Mapping[int, Prediction | None], present: Mapping[int, Sequence[Prediction]]
) -> Filling:
    added: dict[int, Prediction] = {}
    replaced: dict[int, Prediction | None] = {}
    for task_id, labels in wanted.items():
        said = [_said(each) for each in present.get(task_id, ()) if str(each.get("model_version")) == version]
        own = None if labels is None else {**labels, "model_version": version}
        if own is not None and not said:
            added[task_id] = own
        elif said != ([] if own is None else [_said(own)]):
            replaced[task_id] = own
    return Filling(version, added, replaced)


def _said(prediction: Prediction) -> tuple[float | None, list[tuple[str, tuple[str, ...]]]]:
    """What a prediction says, whoever wrote it down."""
    score = prediction.get("score")
    return (
        None if score is None else round(float(score), 6),
        sorted((item["from_name"], tuple(item["value"]["choices"])) for item in prediction["result"]),
    )
