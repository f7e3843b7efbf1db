"""Tables for the split: a question is a short dict, everything else is filled in."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from build_dataset.schemas.annotations import Label
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Cluster, Merge, Question

OPTIONS = [{"label": label, "text": f"选项{label}"} for label in "ABCDE"]


def question_row(question_id: str, **more: Any) -> dict[str, Any]:
    stem = more.pop("stem", f"题干 {question_id}")
    row = {
        "question_id": question_id,
        "document": "paper.pdf",
        "section": 1,
        "number": 1,
        "question_type": "A1",
        "stem": stem,
        "options": OPTIONS,
        "answer": ["A"],
        **more,
    }
    row.setdefault("content_hash", content_hash(stem, (option["text"] for option in OPTIONS), row.get("shared_stem")))
    return row


def split_tables(
    questions: Iterable[Mapping[str, Any]],
    clusters: Mapping[str, str] | None = None,
    labels: Iterable[tuple[str, str, str | None]] = (),
    merges: Iterable[tuple[str, str]] = (),
) -> dict[str, pl.DataFrame]:
    rows = [question_row(**question) for question in questions]
    label_rows = [
        {"question_id": name, "dimension": dimension, "label": label, "status": "unreviewed"}
        for name, dimension, label in labels
    ]
    return {
        "questions": pl.DataFrame(rows, schema=Question.polars_schema()),
        "clusters": pl.DataFrame(
            [
                {"question_id": name, "cluster_id": cluster, "kind": "variant"}
                for name, cluster in (clusters or {}).items()
            ],
            schema=Cluster.polars_schema(),
        ),
        "labels": pl.DataFrame(label_rows, schema=Label.polars_schema()),
        "merges": pl.DataFrame(
            [
                {"question_id": name, "survivor_id": survivor, "kind": "exact", "score": 1.0, "reason": "same"}
                for name, survivor in merges
            ],
            schema=Merge.polars_schema(),
        ),
    }


@dataclass
class SplitRun:
    """The facts of a run that tests look at."""

    result: Any

    @property
    def of(self) -> dict[str, str]:
        return dict(self.result.tables["assignments"].select("question_id", "split").iter_rows())

    def sizes(self) -> tuple[int, int, int]:
        found = list(self.of.values())
        return found.count("train"), found.count("validation"), found.count("test")


@pytest.fixture(scope="session")
def tables() -> Callable[..., dict[str, pl.DataFrame]]:
    return split_tables


@pytest.fixture(scope="session")
def split() -> Callable[..., SplitRun]:
    from build_dataset.pipeline.split.params import SplitParams
    from build_dataset.pipeline.split.stage import run

    def call(tables: dict[str, pl.DataFrame], releases: Path = Path("no releases"), **params: Any) -> SplitRun:
        dataset = DatasetParams(name="test", seed=7, releases=releases)
        result = run(tables, SplitParams(**params), SimpleNamespace(seed=7, dataset=dataset))
        assert result.counts.balanced()
        return SplitRun(result)

    return call


@pytest.fixture(scope="session")
def release() -> Callable[..., Path]:
    """Writes questions and their splits as a release into a folder of releases, and returns that folder."""

    def write(releases: Path, version: str, questions: pl.DataFrame, of: Mapping[str, str]) -> Path:
        folder = releases / version
        folder.mkdir(parents=True)
        for name in ("train", "validation", "test"):
            ids = [question for question, split in of.items() if split == name]
            questions.filter(pl.col("question_id").is_in(ids)).write_parquet(folder / f"{name}.parquet")
        return releases

    return write
