"""Earlier releases: their questions keep their splits for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from pipeline.releases import SPLITS, content_of, known_again, read_release
from pipeline.split.draw import TEST, TRAIN, VALIDATION
from pipeline.split.units import SplitUnit
from schemas.errors import UserError

_COLUMNS = ("question_id", "stem", "shared_stem", "options")
_KEEPS = (TEST, VALIDATION, TRAIN)
"""Order of splits: where questions of two turn out to belong together, those of the first one stay."""


def read_splits(releases: Sequence[Path]) -> pl.DataFrame:
    """The questions of earlier releases and their splits.

    A question that was left out of a release and comes back is known from the one before.

    Args:
        releases: folders with ``train/validation/test.parquet``, the latest last; its word counts.

    Returns:
        ``question_id, stem, shared_stem, options, split``, each question once.

    Raises:
        UserError: a file cannot be read, or a question is in two splits of a release.
    """
    parts = [_read(folder) for folder in reversed(releases)]
    return pl.concat(parts).unique("question_id", keep="first", maintain_order=True)


def find_splits(questions: pl.DataFrame, merges: pl.DataFrame, previous: pl.DataFrame) -> dict[int, int]:
    """The earlier split of every question that has one, by row number.

    A question is known again by what it says, also after a correction, or by its id (``releases.known_again``); a
    survivor also by the questions that were merged into it.

    Args:
        questions: with ``question_id, stem, shared_stem, options``.
        merges: with ``question_id, survivor_id``.
        previous: see ``read_splits``.
    """
    numbers = {name: number for number, name in enumerate(SPLITS)}
    by_id = dict(previous.select("question_id", "split").iter_rows())
    rows = {name: row for row, name in enumerate(questions["question_id"].to_list())}
    pairs = [(pair.old, pair.new) for pair in known_again(previous, questions, merges)]
    known = {old for old, _ in pairs}
    merged = (
        merges.filter(~pl.col("question_id").is_in(known)).select("question_id", "survivor_id").iter_rows()
    )
    found: dict[int, set[int]] = {}
    for name, survivor in [*pairs, *merged]:
        if name in by_id and survivor in rows:
            found.setdefault(rows[survivor], set()).add(numbers[by_id[name]])
    # Copies beyond the first, and what an older release calls by another id, say the same as one that is known.
    gone = previous.filter(~pl.col("question_id").is_in(known))
    same = (
        questions.with_row_index("row")
        .select("row", content=content_of(questions))
        .join(gone.select("split", content=content_of(gone)), on="content")
    )
    for row, split in same.select("row", "split").iter_rows():
        if row not in found:
            found[row] = {numbers[split]}
    return {row: next(split for split in _KEEPS if split in splits) for row, splits in found.items()}


def settle(
    units: Sequence[SplitUnit], known: Mapping[int, int]
) -> tuple[list[SplitUnit], dict[int, int], list[int]]:
    """Give units the split that their members had before.

    Where members of one unit were released in different splits (a new question links them, or a better
    comparison found them alike), the unit goes to the split that must not leak: test before validation before
    train. Members released in another split are retired from this release; they are never moved.

    Args:
        units: in the order of lots.
        known: earlier split by row.

    Returns:
        the units without the retired rows, the given split by unit number, and the retired rows.
    """
    kept: list[SplitUnit] = []
    given: dict[int, int] = {}
    retired: list[int] = []
    for number, unit in enumerate(units):
        splits = {known[row] for row in unit.rows if row in known}
        if not splits:
            kept.append(unit)
            continue
        given[number] = next(split for split in _KEEPS if split in splits)
        leaving = [row for row in unit.rows if known.get(row, given[number]) != given[number]]
        retired += leaving
        kept.append(SplitUnit(tuple(row for row in unit.rows if row not in leaving), unit.rank))
    return kept, given, sorted(retired)


def _read(folder: Path) -> pl.DataFrame:
    rows = read_release(folder, _COLUMNS)
    repeated = rows["question_id"].is_duplicated()
    if repeated.any():
        first = rows.filter(repeated)["question_id"].sort()[0]
        raise UserError(f"the earlier release {folder}: question {first} is there more than once")
    return rows
