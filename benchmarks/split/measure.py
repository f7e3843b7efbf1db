"""The things a split keeps: proportions, groups, and the splits of questions that were released before.

    python -m benchmarks.split.measure QUESTIONS.jsonl --size 20000

Questions come from ``benchmarks.dedup.generate``; exam, discipline and type are drawn for each, a third stands in
groups of 2 to 5. Prints a row a setting: sizes, strata, the largest distance of a stratum from its ideal share (in
questions, apart for strata without groups, and by how much it could be less: the best that groups allow is computed
in full), groups torn apart, seconds of processor time; then what moves when 1,000 questions are added before and
after a release.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl

from benchmarks.dedup.generate import generate, read_questions
from build_dataset.pipeline.split.params import SplitParams
from build_dataset.pipeline.split.stage import run
from build_dataset.schemas.annotations import Label
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.questions import Cluster, Merge, Question

SPLITS = ("train", "validation", "test")
ADDED = 1000
SETTINGS: dict[str, dict[str, Any]] = {
    "8:1:1": {},
    "8:1:1, single questions": {"groups": False},
    "7:2:1": {"ratios": "7:2:1"},
    "8:1:1, five dimensions": {
        "stratify_by": ["exam_class", "medical_discipline", "difficulty", "question_type", "exam_subject"]
    },
    "40 test + 10 development a subcategory": {
        "method": "per_subcategory",
        "test_per_subcategory": 40,
        "development_per_subcategory": 10,
    },
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--size", type=int, default=20_000)
    options = parser.parse_args()
    bases = read_questions(options.questions)
    frame = Question.to_frame(item.question for item in generate(bases, options.size + ADDED, 0))
    frame = frame.unique("content_hash", keep="first", maintain_order=True)
    print("| setting | train / validation / test | strata | off, no groups | off, groups | above the best | torn | s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, given in SETTINGS.items():
        params = dict(given)
        tables = dress(frame.head(frame.height - ADDED), groups=params.pop("groups", True))
        before = time.process_time()
        result = split(tables, None, **params)
        seconds = time.process_time() - before
        again = split(
            {key: table.sample(fraction=1, shuffle=True, seed=3) for key, table in tables.items()}, None, **params
        )
        assert digest(result) == digest(again), "another order of rows gave other splits"
        print(f"| {name} | {row(tables, result)} | {seconds:.2f} |")
    print()
    stability(frame)


def split(tables: dict[str, pl.DataFrame], releases: Path | None, **params: Any) -> Any:
    dataset = DatasetParams(name="benchmark", releases=releases or Path("/no releases"))
    return run(tables, SplitParams(**params), SimpleNamespace(seed=0, dataset=dataset))


def digest(result: Any) -> str:
    return hashlib.sha256(result.tables["assignments"].write_ndjson().encode()).hexdigest()


def dress(frame: pl.DataFrame, *, groups: bool) -> dict[str, pl.DataFrame]:
    """The tables that the stage reads; what is drawn for a question depends on the question alone."""
    rows = frame.to_dicts()
    labels, number, left, group = [], 0, 0, None
    for item in rows:
        lots = random.Random(item["content_hash"])
        if left == 0:
            number, left = number + 1, lots.choice((2, 3, 4, 5)) if lots.random() < 0.12 else 1
            group = (f"g{number}", lots.randrange(28), lots.randrange(4)) if left > 1 and groups else None
        left -= 1
        exam, subject = group[1:] if group else (int(28 * lots.random() ** 2), lots.randrange(4))
        item |= {
            "group_id": group[0] if group else None,
            "question_type": "A3/A4" if group else lots.choices(("A1", "A2", "X"), (6, 3, 1))[0],
            "exam_class": f"class {exam:02d}",
            "exam_subject": f"subject {subject}",
        }
        for dimension, names in (("medical_discipline", "临中药牙公"), ("difficulty", "一二三四五")):
            label = lots.choices(names, (5, 4, 3, 2, 1))[0]
            labels.append(
                {"question_id": item["question_id"], "dimension": dimension, "label": label, "status": "unreviewed"}
            )
    return {
        "questions": pl.DataFrame(rows, schema=Question.polars_schema()),
        "labels": pl.DataFrame(labels, schema=Label.polars_schema()),
        "clusters": pl.DataFrame(schema=Cluster.polars_schema()),
        "merges": pl.DataFrame(schema=Merge.polars_schema()),
    }


def row(tables: dict[str, pl.DataFrame], result: Any) -> str:
    assigned = result.tables["assignments"].join(
        tables["questions"].select("question_id", "group_id"), on="question_id"
    )
    sizes = Counter(assigned["split"].to_list())
    torn = assigned.drop_nulls("group_id").group_by("group_id").agg(pl.col("split").n_unique())
    grouped = set(assigned.drop_nulls("group_id")["stratum"].to_list())
    off, excess = {True: 0.0, False: 0.0}, 0.0
    per_class = result.facts["method"] == "per_subcategory"
    pots = assigned.with_columns(pot=pl.col("stratum").str.split(" · ").list.first() if per_class else pl.lit(""))
    for (_,), pot in pots.group_by("pot"):
        whole = Counter(pot["split"].to_list())
        for (stratum,), part in pot.group_by("stratum"):
            got = Counter(part["split"].to_list())
            ideal = {name: part.height * whole[name] / pot.height for name in SPLITS}
            away = max(abs(got[name] - ideal[name]) for name in SPLITS)
            off[stratum in grouped] = max(off[stratum in grouped], away)
            if stratum in grouped:
                excess = max(excess, away - best(part, ideal))
    told = " / ".join(f"{sizes[name]:,}" for name in SPLITS)
    return (
        f"{told} | {result.facts['strata']} | {off[False]:.2f} | {off[True]:.2f} | {excess:.2f} | "
        f"{torn.filter(pl.col('split') > 1).height}"
    )


def best(part: pl.DataFrame, ideal: dict[str, float]) -> float:
    """The least distance from the ideal that is possible when the groups of a stratum stay whole."""
    sizes = part.group_by(pl.coalesce("group_id", "question_id")).len()["len"].to_list()
    limit = {name: int(ideal[name]) + 6 for name in ("validation", "test")}
    reached = {(0, 0)}
    for size in sizes:
        reached |= {
            (validation + size * into, test + size * (1 - into))
            for validation, test in reached
            for into in (0, 1)
            if validation + size * into <= limit["validation"] and test + size * (1 - into) <= limit["test"]
        }

    def away(validation: int, test: int) -> float:
        train = part.height - validation - test
        got = {"train": train, "validation": validation, "test": test}
        return max(abs(got[name] - ideal[name]) for name in SPLITS)

    return min(away(*pair) for pair in reached)


def stability(frame: pl.DataFrame) -> None:
    """Prints what moves when questions are added."""
    old, new = dress(frame.head(frame.height - ADDED), groups=True), dress(frame, groups=True)
    first = dict(split(old, None).tables["assignments"].select("question_id", "split").iter_rows())
    drawn = dict(split(new, None).tables["assignments"].select("question_id", "split").iter_rows())
    with tempfile.TemporaryDirectory() as folder:
        release = Path(folder) / "1.0.0"
        release.mkdir()
        for name in SPLITS:
            ids = [question for question, its in first.items() if its == name]
            old["questions"].filter(pl.col("question_id").is_in(ids)).write_parquet(release / f"{name}.parquet")
        before = time.process_time()
        kept = split(new, Path(folder))
        seconds = time.process_time() - before
    after = dict(kept.tables["assignments"].select("question_id", "split").iter_rows())
    print(f"{ADDED:,} questions added to {len(first):,}:")
    print(f"  moved of a draft (no release): {sum(drawn[name] != first[name] for name in first):,}")
    moved = sum(after.get(name) != first[name] for name in first)
    print(f"  moved after a release: {moved:,}; sizes {Counter(after.values())}, {seconds:.2f} s")


if __name__ == "__main__":
    main()
