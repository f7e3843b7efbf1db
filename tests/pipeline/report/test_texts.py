"""Cuts, marks and cards of texts in exact pieces."""

from __future__ import annotations

import polars as pl
import pytest

from build_dataset.pipeline.report import texts
from build_dataset.pipeline.report.build import Build
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.pipeline.report.texts import key_letters
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.questions import Cluster, Question

from .conftest import manifests, question, questions


@pytest.mark.parametrize(("given", "letters"), [(["A", "C"], "AC"), ([], ""), ("B", "B"), (None, ""), (["A", 1], "A1")])
def test_a_key_is_told_as_letters(given, letters) -> None:
    assert key_letters(given) == letters


def twin(number: int, cluster: str = "c") -> Cluster:
    return Cluster(question_id=f"q{number:02}", cluster_id=cluster, kind="number")


@pytest.mark.parametrize(("merges", "clusters", "told"), [(0, 0, False), (0, 1, True)])
def test_without_merges_and_clusters_there_are_no_duplicates(merges, clusters, told) -> None:
    schema = {"question_id": pl.String, "survivor_id": pl.String, "kind": pl.String, "score": pl.Float64}
    tables = {
        "manifests": manifests(),
        "dedup/merges": pl.DataFrame(schema=schema | {"reason": pl.String}),
        "dedup/clusters": Cluster.to_frame([twin(0)] * clusters),
        "clean/questions": questions(question("q00", "题")),
    }
    made = Build(tables, ReportParams(), DatasetParams(name="x"))
    assert (texts.duplicates(made) is not None) is told
    assert Question.polars_schema() == tables["clean/questions"].schema
    for name in ("dedup/merges", "dedup/clusters", "clean/questions"):
        left = {other: table for other, table in tables.items() if other != name}
        assert texts.duplicates(Build(left, ReportParams(), DatasetParams(name="x"))) is None
