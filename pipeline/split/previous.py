"""An earlier release: its questions keep their splits for ever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from pipeline.split.draw import SPLITS, TEST, TRAIN, VALIDATION
from pipeline.split.units import Unit
from schemas.errors import UserError
from schemas.identity import content_hash

_TEXT = ("stem", "shared_stem", "options")
_KEEPS = (TEST, VALIDATION, TRAIN)
"""Which questions stay when those of two splits turn out to belong together: the first split's."""


def read_splits(path: Path) -> pl.DataFrame:
    """The questions of an earlier release and their splits.

    Args:
        path: a folder with ``train/validation/test.parquet`` or ``assignments.parquet``, or the latter itself.

    Returns:
        ``question_id, split`` and, of a release, ``stem, shared_stem, options``.

    Raises:
        UserError: nothing is there, or it is something else.
    """
    single = path / "assignments.parquet" if path.is_dir() else path
    if single.is_file():
        return _checked(_read(single, ["question_id", "split"]), path)
    files = {split: path / f"{split}.parquet" for split in SPLITS}
    if not all(file.is_file() for file in files.values()):
        raise UserError(
            f"split.previous = {path}: no earlier release there; name a folder with train.parquet, "
            "validation.parquet and test.parquet, or an assignments.parquet"
        )
    columns = ["question_id", *_TEXT]
    parts = [_read(file, columns).with_columns(split=pl.lit(split)) for split, file in files.items()]
    return _checked(pl.concat(parts), path)


def find_splits(questions: pl.DataFrame, merges: pl.DataFrame, previous: pl.DataFrame) -> dict[int, int]:
    """The earlier split of every question that has one, by row number.

    A question is known again by its id; a survivor also by the ids of the questions that were merged into it;
    and, where the earlier release has texts, by what it says: ids change when a question's file does.

    Args:
        questions: with ``question_id, stem, shared_stem, options``.
        merges: with ``question_id, survivor_id``.
        previous: see ``read_splits``.
    """
    numbers = {name: number for number, name in enumerate(SPLITS)}
    by_id = dict(previous.select("question_id", "split").iter_rows())
    rows = {name: row for row, name in enumerate(questions["question_id"].to_list())}
    found: dict[int, set[int]] = {}
    merged = merges.select("question_id", "survivor_id").iter_rows()
    for name, survivor in [*((name, name) for name in rows), *merged]:
        if name in by_id and survivor in rows:
            found.setdefault(rows[survivor], set()).add(numbers[by_id[name]])
    if "stem" in previous.columns:
        new = questions.with_row_index("row").filter(~pl.col("row").is_in(list(found)))
        gone = previous.filter(~pl.col("question_id").is_in([*rows, *merges["question_id"]]))
        same = _with_content(new, "row").join(_with_content(gone, "split"), on="content")
        for row, split in same.select("row", "split").iter_rows():
            found.setdefault(row, set()).add(numbers[split])
    return {row: next(split for split in _KEEPS if split in splits) for row, splits in found.items()}


def settle(units: Sequence[Unit], known: Mapping[int, int]) -> tuple[list[Unit], dict[int, int], list[int]]:
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
    kept: list[Unit] = []
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
        kept.append(Unit(tuple(row for row in unit.rows if row not in leaving), unit.rank))
    return kept, given, sorted(retired)


def _read(file: Path, columns: list[str]) -> pl.DataFrame:
    try:
        return pl.read_parquet(file, columns=columns, glob=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(
            f"split.previous: {file} cannot be used ({reason}); it needs the columns {', '.join(columns)}"
        ) from None


def _checked(frame: pl.DataFrame, path: Path) -> pl.DataFrame:
    unknown = frame.filter(~pl.col("split").is_in(SPLITS))["split"].unique().sort().to_list()
    if unknown:
        raise UserError(f"split.previous = {path}: unknown splits {unknown}; known are {', '.join(SPLITS)}")
    repeated = frame["question_id"].is_duplicated()
    if repeated.any():
        first = frame.filter(repeated)["question_id"].sort()[0]
        raise UserError(f"split.previous = {path}: question {first} is there more than once")
    return frame


def _with_content(frame: pl.DataFrame, keep: str) -> pl.DataFrame:
    """A column of ``frame`` with a hash of what each question says."""
    hashes = [
        content_hash(row["stem"], (option["text"] for option in row["options"]), row["shared_stem"])
        for row in frame.select(_TEXT).iter_rows(named=True)
    ]
    return frame.select(keep, content=pl.Series(hashes, dtype=pl.String))
