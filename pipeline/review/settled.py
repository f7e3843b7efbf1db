"""Decisions of people on questions that waited, counted by reason: a doubt that is nearly always wrong shows."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import polars as pl

from build_dataset.annotation.label_studio.read import DROP
from build_dataset.pipeline.review import folder
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.pipeline.runtime.sources import SETTLED
from build_dataset.schemas.annotations import SettledDoubt
from build_dataset.schemas.grouping import group_values

KEEP, CORRECT = "keep", "correct"


def remember(build: Path, settled: Sequence[SettledDoubt]) -> None:
    """Keep the decisions, the latest on each question and reason."""
    if settled:
        before = SettledDoubt.from_frame(read_table(build / SETTLED)) if (build / SETTLED).exists() else ()
        in_time = sorted([*before, *settled], key=lambda each: datetime.fromisoformat(each.at))
        latest = {(each.question_id, each.reason): each for each in in_time}
        folder.replace_table(build / SETTLED, SettledDoubt.to_frame(latest[key] for key in sorted(latest)))


@dataclass(frozen=True)
class ReasonCount:
    """Decisions on questions that waited for one reason."""

    reason: str
    settled: int
    kept: int  # as they were
    corrected: int
    rejected: int

    @property
    def is_false_alarm(self) -> bool:
        """True where 19 of 20 were right as they stood, of 20 at least."""
        return self.settled >= 20 and self.kept >= 0.95 * self.settled


def count_by_reason(settled: pl.DataFrame) -> list[ReasonCount]:
    """Return the decisions by reason, the commonest first; ``settled`` is a ``SettledDoubt`` table."""
    grouped: dict[str, list[str]] = group_values(settled.select("reason", "decision").iter_rows())
    counts = {reason: Counter(decisions) for reason, decisions in grouped.items()}
    rows = [ReasonCount(reason, each.total(), each[KEEP], each[CORRECT], each[DROP]) for reason, each in counts.items()]
    return sorted(rows, key=lambda row: (-row.settled, row.reason))
