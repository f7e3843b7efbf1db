"""Questions as they are compared: their keys, their options, their answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from pipeline.dedup.meaning import Meaning, meaning

_UNSURE = 0.95
"""Recognition confidence of the worst line below which characters of it may be misread: clean scans have 0.97."""


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """A question as it is compared.

    Attributes:
        letters: the characters of its core, sorted: what two cores have in common in any order.
        labels: letters of its options.
        options: comparison keys of its options, as ``labels``.
        keys: every set of letters that earns the mark; empty when it has no key.
        group: what ties it to other questions of its document: they are different questions by construction.
        doubtful: whether recognition was unsure of a line of it; never for text layers and tables.
    """

    key: str
    core: str
    letters: str
    labels: tuple[str, ...]
    options: tuple[str, ...]
    keys: tuple[frozenset[str], ...]
    group: str | None
    doubtful: bool = False

    @property
    def meaning(self) -> Meaning:
        """The numbers, negations and the like of its stem."""
        return meaning(self.key)


def items(questions: pl.DataFrame, keys: pl.DataFrame, rows: Sequence[int]) -> dict[int, Item]:
    """The items of some ``rows`` of the questions, by row."""
    chosen = list(rows)
    columns = questions.select(
        pl.col("options").list.eval(pl.element().struct.field("label")).alias("labels"),
        "answer",
        "accepted_answers",
        pl.concat_str("document", "group_id", separator="\x1f").alias("group"),
        (pl.col("confidence") < _UNSURE).fill_null(False).alias("doubtful"),
    )[chosen]
    compared = keys.select("key", "core", "option_keys")[chosen]
    made = {}
    for row, (labels, answer, accepted, *known), (key, core, options) in zip(
        chosen, columns.iter_rows(), compared.iter_rows(), strict=True
    ):
        made[row] = Item(
            key,
            core,
            "".join(sorted(core)),
            tuple(labels),
            tuple(options[: len(labels)]),
            _keys(answer, accepted),
            *known,
        )
    return made


def _keys(answer: list[str] | None, accepted: list[list[str]] | None) -> tuple[frozenset[str], ...]:
    given = ([answer] if answer else []) + (accepted or [])
    return tuple(dict.fromkeys(frozenset(letters) for letters in given))
