"""Cuts, marks and cards of texts in exact pieces."""

import polars as pl
import pytest

from build_dataset.pipeline.report import texts
from build_dataset.pipeline.report.build import Build
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.pipeline.report.texts import key_letters
from build_dataset.schemas.dataset import DatasetParams

from .conftest import manifests, question, questions


@pytest.mark.parametrize(("given", "letters"), [(["A", "C"], "AC"), ([], ""), ("B", "B"), (None, ""), (["A", 1], "A1")])
def test_a_key_is_told_as_letters(given, letters) -> None:
    assert key_letters(given) == letters


def test_without_merges_there_are_no_duplicates() -> None:
    schema = {"question_id": pl.String, "survivor_id": pl.String, "kind": pl.String, "score": pl.Float64}
    tables = {"manifests": manifests(), "dedup/merges": pl.DataFrame(schema=schema | {"reason": pl.String})}
    for left in (tables, tables | {"clean/questions": questions(question("q00", "题"))}):
        assert texts.duplicates(Build(left, ReportParams(), DatasetParams(name="x"))) is None
