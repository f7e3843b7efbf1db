"""Units, questions that stay together, in the order of their lots; their strata; their splits in earlier releases."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline.disjoint import DisjointSets
from pipeline.releases import content_of, known_again, read_release
from pipeline.split.draw import TEST, TRAIN, VALIDATION
from schemas.errors import UserError
from schemas.questions import SPLITS

_MIN_SHARED_STEM = 20
"""Characters from which equal shared stems are the same case; shorter ones may be boilerplate."""


@dataclass(frozen=True)
class SplitUnit:
    """Questions that go to one split together."""

    rows: tuple[int, ...]
    """Row numbers in the table of questions, ascending."""
    rank: int
    """Its lot: that of the member with the lowest content hash. (The lowest lot of all members would put
    groups before single questions: they had 1.6 times their share of the test split.)"""


def find_units(questions: pl.DataFrame, clusters: pl.DataFrame, seed: int) -> list[SplitUnit]:
    """The units of ``questions``, in the order of their lots.

    Joined are questions of one group, of one duplicate cluster, with one case text (a case printed in two
    papers has two group ids), and with one content.

    A question's lot is a hash of the seed and of what the question says; it depends on no other question.
    """
    columns = questions.select(
        "group_id", "content_hash", case=pl.col("shared_stem").str.replace_all(r"\s+", "")
    ).with_columns(case=pl.when(pl.col("case").str.len_chars() >= _MIN_SHARED_STEM).then("case"))
    joined = DisjointSets()
    for name in columns.columns:
        joined.union_equal(enumerate(columns[name].to_list()))
    placed = clusters.join(questions.select("question_id").with_row_index("row"), on="question_id")
    joined.union_equal(zip(placed["row"].to_list(), placed["cluster_id"].to_list(), strict=True))
    hashes, ids = questions["content_hash"].to_list(), questions["question_id"].to_list()
    found = [
        SplitUnit(tuple(rows), _lot(seed, min(hashes[row] for row in rows)))
        for rows in joined.sets(range(questions.height))
    ]
    return sorted(found, key=lambda unit: (unit.rank, min(ids[row] for row in unit.rows)))


def _lot(seed: int, content: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:{content}".encode()).digest()[:8])


OTHER = "其他/other"
NONE = "无/none"

Stratum = tuple[str, ...]
"""Values of the stratifying columns, first to last; pooled strata are shorter and end in ``OTHER``."""


def strata_of(questions: pl.DataFrame, labels: pl.DataFrame, names: Sequence[str]) -> list[Stratum]:
    """The values of every question in the stratifying columns, in the order of ``questions``."""
    if not names:
        return [()] * questions.height
    frame = questions
    for name in names:
        if name not in questions.columns:
            of_dimension = labels.filter(pl.col("dimension") == name)
            column = of_dimension.select("question_id", pl.col("label").alias(name)).unique("question_id")
            frame = frame.join(column, on="question_id", how="left", maintain_order="left")
    return list(frame.select(pl.col(*names).fill_null(NONE)).iter_rows())


def pool_small(counts: Mapping[Stratum, int], minimum: int, keep: int = 0) -> dict[Stratum, Stratum]:
    """Pool small strata, so that strata have at least ``minimum`` questions.

    A stratum that is too small gives up its last value and is pooled with its neighbours that are too small
    as well; if together they still are, they give up the value before, and so on up to one pool of all.

    Args:
        counts: questions by stratum.
        minimum: questions a stratum should have.
        keep: number of leading values that are never given up; pools inside them may stay smaller.

    Returns:
        the final stratum by original one.
    """
    final = {stratum: stratum for stratum in counts}
    depth = max((len(stratum) for stratum in counts), default=0)
    for length in range(depth, keep, -1):
        sizes: dict[Stratum, int] = {}
        for stratum, count in counts.items():
            sizes[final[stratum]] = sizes.get(final[stratum], 0) + count
        for stratum, pooled in final.items():
            if sizes[pooled] < minimum:
                final[stratum] = (*pooled[: length - 1], OTHER)
    return final


def stratum_name(stratum: Stratum) -> str:
    """A stratum's name in tables."""
    return " · ".join(stratum) or "全部/all"


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
