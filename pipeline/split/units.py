"""Units, questions that stay together; strata and their quotas; splits of earlier releases."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path

import polars as pl

from build_dataset.pipeline.dedup.grams import components
from build_dataset.pipeline.releases import hashes_of, match_released, read_release
from build_dataset.pipeline.split.draw import TEST, TRAIN, VALIDATION
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import SPLITS

_MIN_SHARED_STEM = 20  # Characters from which equal shared stems are the same case; shorter ones may be boilerplate.
SplitUnit = tuple[int, ...]
"""Questions that go to one split together: row numbers in the table of questions, ascending."""


def find_units(questions: pl.DataFrame, clusters: pl.DataFrame, seed: int) -> list[SplitUnit]:
    """Return units in the order of their lots: one group, one cluster of duplicates, one case, or one content."""
    columns = questions.select(
        "group_id", "content_hash", case=pl.col("shared_stem").str.replace_all(r"\s+", "")
    ).with_columns(case=pl.when(pl.col("case").str.len_chars() >= _MIN_SHARED_STEM).then("case"))
    placed = questions.select("question_id").with_row_index("row").join(clusters, on="question_id")
    ties = columns.with_row_index("row").unpivot(index="row")
    ties = pl.concat([ties, placed.select("row", variable=pl.lit("cluster"), value="cluster_id")]).drop_nulls()
    pairs = ties.select("row", first=pl.col("row").first().over("variable", "value")).cast(pl.Int64)
    units = pl.DataFrame({"unit": components(pairs.to_numpy(), questions.height)}).with_row_index("row")
    hashes, ids = questions["content_hash"].to_list(), questions["question_id"].to_list()
    drawn = []
    for rows in units.group_by("unit").agg("row")["row"].to_list():
        # Of the member with the lowest content hash. (The lowest lot of all members would put groups before single
        # questions: they had 1.6 times their share of the test split.)
        lot = hashlib.sha256(f"{seed}:{min(hashes[row] for row in rows)}".encode()).digest()[:8]  # 64 bits: no ties
        drawn.append((lot, min(ids[row] for row in rows), tuple(rows)))
    return [rows for *_, rows in sorted(drawn)]


def twins_in_test(
    questions: pl.DataFrame, clusters: pl.DataFrame, splits: Mapping[int, str], known: Mapping[int, int]
) -> dict[int, int]:
    """The rows of test of which a twin stays there, and that twin's row: the one released before, else the first."""
    families, leaving = dict[str, int](), dict[int, int]()
    twins = questions.select("question_id").with_row_index("row").join(twins_of(clusters), on="question_id")
    rows = [(row not in known, row, family) for row, family in twins.select("row", "cluster_id").iter_rows()]
    for _, row, family in sorted(rows):
        if splits.get(row) == SPLITS[TEST] and families.setdefault(family, row) != row:
            leaving[row] = families[family]
    return leaving


def twins_of(clusters: pl.DataFrame) -> pl.DataFrame:
    """The clusters' rows that another member is a twin or variant of; a shared case alone makes no twins."""
    return clusters.filter(~pl.col("kind").is_in(["group", "survivor"]))


OTHER = "其他/other"  # pool of small strata
NONE = "无/none"  # stratum of questions without a value
Stratum = tuple[str, ...]
"""Values of the stratifying columns, first to last; pooled strata are shorter and end in ``OTHER``."""


def strata_of(questions: pl.DataFrame, labels: pl.DataFrame, names: Sequence[str]) -> list[Stratum]:
    """The values of every question in the stratifying columns, in the order of ``questions``."""
    if not names:
        return [()] * questions.height
    frame = questions.with_columns(folder=pl.col("document").str.extract(r"^(.*)/[^/]*$"))  # none of a file at the top
    for name in names:
        if name not in frame.columns:
            of_dimension = labels.filter(pl.col("dimension") == name)
            column = of_dimension.select("question_id", pl.col("label").alias(name)).unique("question_id")
            frame = frame.join(column, on="question_id", how="left", maintain_order="left")
    return list(frame.select(pl.col(*names).fill_null(NONE)).iter_rows())


def pool_small(counts: Mapping[Stratum, int], minimum: int, keep: int = 0) -> dict[Stratum, Stratum]:
    """Pool strata below ``minimum`` with neighbours, giving up values from the last to the one after ``keep``."""
    final = {stratum: stratum for stratum in counts}
    for length in range(max(map(len, counts), default=0), keep, -1):  # the last value goes first
        sizes: Counter[Stratum] = Counter()
        for stratum, count in counts.items():
            sizes[final[stratum]] += count
        for stratum, pooled in final.items():
            if sizes[pooled] < minimum:
                final[stratum] = (*pooled[: length - 1], OTHER)
    return final


def stratum_name(stratum: Stratum) -> str:
    """A stratum's name in tables."""
    return " · ".join(stratum) or "全部/all"


_COLUMNS = ("question_id", "stem", "shared_stem", "options")
_KEEPS = (TEST, VALIDATION, TRAIN)
"""Order of splits: if questions of two splits prove to belong together, those of the earlier split here stay."""


def read_splits(releases: Sequence[Path]) -> pl.DataFrame:
    """Return the questions of earlier releases with their splits, each once, as the last release has it."""
    parts = []
    for folder in reversed(releases):
        rows = read_release(folder, _COLUMNS)
        if repeated := sorted(rows.filter(rows["question_id"].is_duplicated())["question_id"]):
            raise UserError(f"the earlier release {folder}: question {repeated[0]} is there more than once")
        parts.append(rows)
    return pl.concat(parts).unique("question_id", keep="first", maintain_order=True)


def find_splits(questions: pl.DataFrame, merges: pl.DataFrame, previous: pl.DataFrame) -> dict[int, int]:
    """Return the earlier split of every question that is known again (``releases.match_released``), by row number."""
    numbers = {name: number for number, name in enumerate(SPLITS)}
    by_id = dict(previous.select("question_id", "split").iter_rows())
    rows = {name: row for row, name in enumerate(questions["question_id"].to_list())}
    pairs = match_released(previous, questions, merges).select("old", "new")
    known = pl.col("question_id").is_in(pairs["old"].to_list())
    merged = merges.filter(~known).select("question_id", "survivor_id")
    earlier: dict[int, set[int]] = {}
    for name, survivor in [*pairs.rows(), *merged.rows()]:
        if name in by_id and survivor in rows:
            earlier.setdefault(rows[survivor], set()).add(numbers[by_id[name]])
    # Copies beyond the first, and what an older release calls by another id, say the same as one that is known.
    gone = previous.filter(~known)
    there = gone.select("split", content=hashes_of(gone))
    same = questions.with_row_index("row").select("row", content=hashes_of(questions)).join(there, on="content")
    for row, split in same.select("row", "split").iter_rows():
        earlier.setdefault(row, {numbers[split]})
    return {row: next(split for split in _KEEPS if split in splits) for row, splits in earlier.items()}


def keep_released(units: list[SplitUnit], known: dict[int, int]) -> tuple[list[SplitUnit], dict[int, int], list[int]]:
    """Return units without rows that another split released, their given splits (test first), and those rows."""
    kept, given, retired = list[SplitUnit](), dict[int, int](), list[int]()
    for number, unit in enumerate(units):
        if not (splits := {known[row] for row in unit if row in known}):
            kept.append(unit)
            continue
        given[number] = next(split for split in _KEEPS if split in splits)
        leaving = [row for row in unit if known.get(row, given[number]) != given[number]]
        retired += leaving
        kept.append(tuple(row for row in unit if row not in leaving))
    return kept, given, sorted(retired)


Row = list[int]  # questions by split


def totals_by_share(size: int, units: int, shares: Sequence[Fraction]) -> Row:
    """Questions by split: shares of ``size``, the largest remainders rounded up (Hamilton's method)."""
    ideal = [size * share for share in shares]
    rows = [int(value) for value in ideal]
    by_remainder = sorted(range(len(shares)), key=lambda split: (rows[split] - ideal[split], -split))
    for split in by_remainder[: size - sum(rows)]:
        rows[split] += 1
    # A split with a share above 0 gets a question as long as there are units, later splits first: test is not empty.
    for split in reversed([split for split, share in enumerate(shares) if share > 0 and rows[split] == 0]):
        largest = rows.index(max(rows))
        if sum(count > 0 for count in rows) < units and rows[largest] > 1:  # no more splits than units
            rows[largest] -= 1
            rows[split] += 1
    return rows


def totals_by_number(size: int, units: int, validation: int, test: int) -> Row:
    """Return fixed numbers for validation and test, the rest train (CMB, table 2); half, where there are too few."""
    asked = validation + test
    if asked <= size:
        return [size - asked, validation, test]
    half = Fraction(size // 2, asked * size)  # share of the whole for each question asked for
    return totals_by_share(size, units, [1 - asked * half, validation * half, test * half])


def round_cells(sizes: Sequence[int], keys: Sequence[tuple[str, ...]], totals: Sequence[int]) -> list[Row]:
    """Return ideal numbers of questions by stratum and split, rounded down or up, with exact totals.

    Such a rounding always exists (controlled rounding: Cox, JASA 82, 1987). Among the possible ones this
    prefers those that keep the single dimensions of the strata in proportion too.

    Args:
        sizes: questions by stratum.
        keys: values by stratum, e.g. ``("执业医师", "临床医学", "A1")``.
        totals: questions by split; sums to the sum of ``sizes``.

    Returns:
        a row by stratum; each row sums to the stratum's size, each column to the split's total.
    """
    everything = sum(sizes)
    if everything == 0:
        return [[0] * len(totals) for _ in sizes]
    ups: list[list[bool | None]] = []
    debts: dict[tuple[int, str], list[int]] = defaultdict(lambda: [0] * len(totals))
    for size, key in zip(sizes, keys, strict=True):
        rest = [size * total % everything for total in totals]
        owed = [debts[margin] for margin in [(-1, ""), *enumerate(key)]]
        for debt, (split, part) in product(owed, enumerate(rest)):
            debt[split] += part
        sums = {split: sum(debt[split] for debt in owed) for split, part in enumerate(rest) if part}
        chosen = sorted(sums, key=lambda split: (-sums[split], -rest[split], -split))[: sum(rest) // everything]
        for debt, split in product(owed, chosen):
            debt[split] -= everything
        ups.append([split in chosen if part else None for split, part in enumerate(rest)])
    floors = [[size * total // everything for total in totals] for size in sizes]
    _settle(ups, [total - sum(column) for total, column in zip(totals, zip(*floors, strict=True), strict=True)])
    return [[down + bool(up) for down, up in zip(*row, strict=True)] for row in zip(floors, ups, strict=True)]


def _settle(ups: list[list[bool | None]], missing: Sequence[int]) -> None:
    """Bring columns to their totals by moving roundings up (None: nothing to round), also through a third split."""
    while True:
        off = [sum(map(bool, column)) - few for column, few in zip(zip(*ups, strict=True), missing, strict=True)]
        if not any(off):
            return
        start, end = off.index(max(off)), off.index(min(off))  # most above and most below its total
        others = (split for split in range(len(missing)) if split not in (start, end))
        ways = [[(start, end)], *([(start, split), (split, end)] for split in others)]
        for giver, taker in next(way for way in ways if all(_giving(ups, *step) for step in way)):
            row = _giving(ups, giver, taker)[-1]
            row[giver], row[taker] = False, True


def _giving(ups: list[list[bool | None]], giver: int, taker: int) -> list[list[bool | None]]:
    """The strata whose rounding up can move from ``giver`` to ``taker``."""
    return [row for row in ups if row[giver] and row[taker] is False]
