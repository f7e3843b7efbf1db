"""One table of all who evaluated models on the same released questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from pipeline.evaluate.comparing import holm, mcnemar
from pipeline.evaluate.metrics import metric, shown_in
from pipeline.evaluate.results.view import REFERENCES, View, cell, mean, p_value, ranked, run_name, value
from pipeline.rendering.tables import Table, number
from pipeline.runtime.publish import read_manifest, read_table
from schemas.errors import UserError
from schemas.evaluation import Prediction, Score, Task

_STAGE = "evaluate"


@dataclass(frozen=True)
class Entry:
    """A run of one of the builds."""

    run: str
    source: str
    """The build's folder, as given."""
    view: View
    right: Mapping[str, bool]
    """Whether each question's first answer was right."""

    @property
    def accuracy(self) -> float | None:
        """Over all questions."""
        return value(self.view.overall(self.run, "accuracy") or self.view.overall(self.run, "mean_accuracy"))


def gather(folders: Sequence[Path]) -> list[Entry]:
    """All runs of several builds, the best first.

    Baselines and people that give the same in several builds stand once.

    Args:
        folders: build folders (or their folder ``evaluate``).

    Raises:
        UserError: nothing was evaluated in one of them, or they asked different questions.
    """
    homes = [_home(folder) for folder in folders]
    asked = [_questions(home) for home in homes]
    for folder, home, questions in zip(folders, homes, asked, strict=True):
        if questions != asked[0]:
            raise UserError(
                f"{folders[0]} and {folder} asked different questions ({_differences(homes[0], home)}): "
                "their scores cannot stand in one table"
            )
    found = [
        entry for folder, home in zip(folders, homes, strict=True) for entry in _entries(home, str(folder))
    ]
    return _once(sorted(found, key=lambda entry: -(entry.accuracy or 0.0)))


def _home(folder: Path) -> Path:
    """The folder of the stage, of a build or itself."""
    return folder / _STAGE if (folder / _STAGE / "manifest.json").is_file() else folder


def _questions(home: Path) -> str:
    """What was asked there."""
    manifest = read_manifest(home)
    if manifest is None or manifest.get("stage") != _STAGE:
        raise UserError(f"{home}: nothing was evaluated there; name a build folder")
    found = manifest["facts"].get("questions")
    if found is None:
        raise UserError(
            f"{home}: does not say which questions were asked, as it was made by an earlier version: "
            "run `build-dataset evaluate` again, which asks no model twice"
        )
    return str(found)


def _differences(one: Path, other: Path) -> str:
    ids = [
        set(frame.filter(pl.col("task") == Task.ANSWER.value)["question_id"])
        for frame in (read_table(home / "predictions.parquet") for home in (one, other))
    ]
    if ids[0] == ids[1]:
        return "of the same names, with other texts or keys"
    return f"{len(ids[0] & ids[1])} in both, {len(ids[0] - ids[1])} and {len(ids[1] - ids[0])} in one alone"


def _entries(home: Path, source: str) -> list[Entry]:
    view = View(Score.from_frame(read_table(home / "scores.parquet")))
    right: dict[str, dict[str, bool]] = {}
    for row in Prediction.from_frame(read_table(home / "predictions.parquet")):
        if row.task is Task.ANSWER and row.repeat == 0 and row.shuffle == 0 and row.outcome != "failed":
            right.setdefault(row.run, {})[row.question_id] = bool(row.correct)
    return [
        Entry(run, source, view, right.get(run, {}))
        for run in view.runs
        if view.overall(run, "accuracy") or view.overall(run, "mean_accuracy")
    ]


def _once(entries: Sequence[Entry]) -> list[Entry]:
    kept: list[Entry] = []
    for entry in entries:
        same = entry.run in REFERENCES and any(
            other.run == entry.run and other.accuracy == entry.accuracy for other in kept
        )
        if not same:
            kept.append(entry)
    return kept


def leaderboard(entries: Sequence[Entry]) -> Table:
    """The table: rank, run, accuracy with its interval, and whether the first model is better by more than luck.

    The last column is McNemar's exact test against the best model on the questions both were asked, corrected for the
    number of models (Holm). Baselines and people have no rank.
    """
    models = [entry for entry in entries if entry.run not in REFERENCES]
    against = _against_best(models)
    several = {entry.run for entry in models if sum(other.run == entry.run for other in models) > 1}
    columns = shown_in("leaderboard")
    rows, records = [], []
    for entry in entries:
        rank = models.index(entry) + 1 if entry in models else None
        score = entry.view.overall(entry.run, "accuracy") or entry.view.overall(entry.run, "mean_accuracy")
        assert score is not None
        name = f"{entry.run} ({entry.source})" if entry.run in several else run_name(entry.run)
        told = [mean(entry.view.overall(entry.run, column.name)) for column in columns]
        rows.append(
            (
                name,
                entry.source,
                number(rank),
                number(score.questions),
                cell(score),
                *told,
                "–" if rank is None else against[rank - 1],
            )
        )
        records.append(score)
    best, second = ranked([[((at, 4), entry.run, entry.accuracy) for at, entry in enumerate(entries)]])
    return Table(
        "leaderboard",
        "Leaderboard 排行榜, in percent; brackets hold 95 % intervals. p: McNemar's exact test against the best model, "
        "corrected for the number of models (Holm).",
        Score.to_frame(records),
        (
            "模型 Model",
            "来源 Build",
            "名次 Rank",
            "题数 n",
            metric("accuracy").title,
            *(column.title for column in columns),
            "p",
        ),
        rows,
        left=2,
        best=best,
        second=second,
    )


def _against_best(models: Sequence[Entry]) -> list[str]:
    """P-values of the models against the first."""
    if not models:
        return []
    first = models[0].right
    raw = []
    for entry in models[1:]:
        shared = first.keys() & entry.right.keys()
        only_first = sum(first[key] and not entry.right[key] for key in shared)
        only_entry = sum(entry.right[key] and not first[key] for key in shared)
        raw.append(mcnemar(only_first, only_entry))
    return ["–", *map(p_value, holm(raw))]
