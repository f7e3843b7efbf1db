"""Runs against each other: tests of pairs, correlations of orders, and a table of all builds on the same questions."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl

from build_dataset.pipeline.evaluate.metrics import metric, shown_in
from build_dataset.pipeline.evaluate.results.view import (
    REFERENCES,
    Rival,
    View,
    cell,
    mean,
    p_value,
    ranked_table,
    run_name,
)
from build_dataset.pipeline.evaluate.scoring import Graded
from build_dataset.pipeline.rendering.markdown import number
from build_dataset.pipeline.rendering.tables import Table
from build_dataset.pipeline.runtime.publish import read_manifest, read_table
from build_dataset.pipeline.stats.intervals import Floats, Unit, interval_of_mean
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Comparison, Prediction, Score, Task

FEWEST = 3  # models whose order says something: two are in the same order half of the time


def compare_runs(runs: Mapping[str, Sequence[Graded]]) -> list[Comparison]:
    """Every pair of runs on the questions that both were asked, with p-values corrected for the number of pairs.

    The test looks at the first answer of each run alone. Test and interval keep the questions of a case together.
    """
    firsts = {run: {item.item_id: item for item in items if item.repeat == 0} for run, items in runs.items()}
    found = [_compare(one, other, firsts) for one, other in combinations(firsts, 2)]
    compared = [comparison for comparison in found if comparison is not None]
    adjusted = holm([comparison.p_value for comparison in compared])
    return [each.model_copy(update={"p_adjusted": p}) for each, p in zip(compared, adjusted, strict=True)]


def _compare(one: str, other: str, firsts: Mapping[str, Mapping[str, Graded]]) -> Comparison | None:
    pairs = [(item, firsts[other][key]) for key, item in firsts[one].items() if key in firsts[other]]
    if not pairs:
        return None
    tally = Counter((a.correct, b.correct) for a, b in pairs)
    only_one, only_other = tally[True, False], tally[False, True]
    spread = interval_of_mean(Unit(a.cluster, a.correct - b.correct) for a, b in pairs)
    return Comparison(
        run_a=one,
        run_b=other,
        questions=len(pairs),
        both_right=tally[True, True],
        only_a_right=only_one,
        only_b_right=only_other,
        neither_right=tally[False, False],
        difference=(only_one - only_other) / len(pairs),
        low=spread.low if spread else None,
        high=spread.high if spread else None,
        p_value=paired_p((a.cluster, a.correct - b.correct) for a, b in pairs),
        p_adjusted=1.0,
    )


def paired_p(differences: Iterable[tuple[str, int]]) -> float:
    """The two-sided exact p-value of the sign-flip test (Fisher 1935), of pairs of a cluster and a difference.

    If two runs are equally good, the sum of a case's differences is as likely with the other sign. Where no questions
    share a case, this is McNemar's exact test.
    """
    from scipy.stats import binom

    sums = Counter[str]()
    for cluster, difference in differences:
        sums[cluster] += difference
    spread: Floats = np.ones(1)  # probabilities of a total of -(size - 1) / 2 …, of all signs
    for step, count in Counter(map(abs, sums.values())).items():
        part = np.zeros(2 * step * count + 1)
        part[:: 2 * step or 1] = binom.pmf(range(count + 1), count, 0.5) if step else 1.0
        spread = np.asarray(np.convolve(spread, part), dtype=float)
    total, middle = abs(sums.total()), len(spread) // 2
    return min(1.0, float(2 * spread[middle + total :].sum())) if total else 1.0


def holm(values: Sequence[float]) -> list[float]:
    """P-values corrected for their number by the step-down method (Holm 1979)."""
    order = np.argsort(values, kind="stable")
    raised = np.minimum(1.0, np.arange(len(values), 0, -1) * np.array(values)[order])
    adjusted = np.empty(len(values))
    adjusted[order] = np.maximum.accumulate(raised)  # never below a smaller p
    return [float(value) for value in adjusted]


def correlation(one: Sequence[float], other: Sequence[float], *, ranks: bool = False) -> float | None:
    """Pearson's, or of ranks, ties sharing their mean, which is Spearman's; None where either does not vary."""
    from scipy.stats import pearsonr, rankdata

    if len(set(one)) < 2 or len(set(other)) < 2:
        return None
    return float(pearsonr(*map(rankdata, (one, other)) if ranks else (one, other)).statistic)


def ranking(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's correlation of two orders of models (CMB, section 5.3 and table 7); None for fewer than three."""
    return correlation(one, other, ranks=True) if len(one) >= FEWEST else None


_STAGE = "evaluate"


@dataclass(frozen=True)
class Entry:
    """A run of one of the builds."""

    run: str
    source: str  # the build's folder, as given
    view: View
    score: Score  # its accuracy over all questions
    right: Mapping[str, tuple[str, bool]]  # True if each question's first answer was right


def gather_entries(folders: Sequence[Path]) -> list[Entry]:
    """Return all runs of builds that asked the same questions, the best first; equal baselines stand once."""
    own = ((folder, folder / _STAGE) for folder in folders)
    homes = {folder: home if (home / "manifest.json").is_file() else folder for folder, home in own}
    asked = {folder: _questions(home) for folder, home in homes.items()}
    for folder, home in homes.items():
        if asked[folder] != asked[folders[0]]:
            told = f"{folders[0]} and {folder} asked different questions ({_differences(homes[folders[0]], home)})"
            raise UserError(f"{told}: their scores cannot stand in one table")
    found = [entry for folder, home in homes.items() for entry in _entries(home, str(folder))]
    kept: dict[tuple[str, object], Entry] = {}
    for entry in sorted(found, key=lambda entry: -(entry.score.value or 0.0)):
        same = entry.score.value if entry.run in REFERENCES else id(entry)  # models of one name are two
        kept.setdefault((entry.run, same), entry)
    return list(kept.values())


def _questions(home: Path) -> str:
    """Return the fingerprint of the questions that were asked."""
    manifest = read_manifest(home)
    if manifest is None or manifest.get("stage") != _STAGE:
        raise UserError(f"{home}: nothing was evaluated there; name a build folder")
    found = manifest["facts"].get("questions")
    if found is None:
        told = "does not say which questions were asked, as it was made by an earlier version"
        raise UserError(f"{home}: {told}: run `build-dataset evaluate` again, which asks no model twice")
    return str(found)


def _differences(one: Path, other: Path) -> str:
    frames = (read_table(home / "predictions.parquet") for home in (one, other))
    a, b = (set(frame.filter(pl.col("task") == Task.ANSWER.value)["question_id"]) for frame in frames)
    if a == b:
        return "of the same names, with other texts or keys"
    return f"{len(a & b)} in both, {len(a - b)} and {len(b - a)} in one alone"


def _entries(home: Path, source: str) -> list[Entry]:
    view = View(Score.from_frame(read_table(home / "scores.parquet")))
    right: dict[str, dict[str, tuple[str, bool]]] = {}
    for row in Prediction.from_frame(read_table(home / "predictions.parquet")):
        if row.task is Task.ANSWER and row.repeat == 0 and row.variant is None and row.outcome != "failed":
            right.setdefault(row.run, {})[row.question_id] = (row.cluster or row.question_id, bool(row.correct))
    scored = ((run, score) for run in view.runs if (score := view.accuracy(run)))
    return [Entry(run, source, view, score, right.get(run, {})) for run, score in scored]


def leaderboard(entries: Sequence[Entry]) -> Table:
    """Return rank, run, accuracy with its interval, and the paired test against the best model (Holm)."""
    models = [entry for entry in entries if entry.run not in REFERENCES]
    against = _against_best(models)
    # then the folder is part of the name
    several = {entry.run for entry in models if sum(other.run == entry.run for other in models) > 1}
    columns = shown_in("leaderboard")
    rows: list[list[str | Rival]] = []
    for entry in entries:
        rank = models.index(entry) + 1 if entry in models else None
        score = entry.score
        name = f"{entry.run} ({entry.source})" if entry.run in several else run_name(entry.run)
        told = [mean(entry.view.overall(entry.run, column.name)) for column in columns]
        accuracy = Rival(cell(score), "accuracy", entry.run, score.value)
        p = "–" if rank is None else against[rank - 1]  # baselines and people are not tested
        rows.append([name, entry.source, number(rank), number(score.questions), accuracy, *told, p])
    head = [metric("accuracy").title, *(column.title for column in columns), "p"]
    return ranked_table("leaderboard", Score.to_frame(entry.score for entry in entries), head, rows, left=2)


def _against_best(models: Sequence[Entry]) -> list[str]:
    """P-values of the models against the first."""
    if not models:
        return []
    first = models[0].right
    others = [entry.right for entry in models[1:]]
    pairs = [[(first[key][0], first[key][1] - own[key][1]) for key in first.keys() & own.keys()] for own in others]
    return ["–", *map(p_value, holm([paired_p(each) for each in pairs]))]
