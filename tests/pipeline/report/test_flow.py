"""Figures at a glance, sources, what waits and from what the report was made, in exact numbers."""

from collections import Counter
from typing import Any

import polars as pl
import pytest

from build_dataset.pipeline.report import flow
from build_dataset.pipeline.report.build import Build
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.pipeline.set_aside import SourceLoss
from build_dataset.schemas.annotations import Label
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.documents import Page

from .conftest import manifest, manifests


def build(*ran: dict[str, Any], tables: dict[str, pl.DataFrame] | None = None, **params: Any) -> Build:
    given = {"manifests": manifests(*ran), **(tables or {})}
    return Build(given, ReportParams(**params), DatasetParams(name="x"))


def rows(**sizes: int | None) -> dict[str, Any]:
    return {"outputs": {f"{name}.parquet": {"rows": size} for name, size in sizes.items()}}


def label(number: int, status: str) -> Label:
    return Label(
        question_id=f"q{number}", dimension="difficulty", label="易", label_en="e", status=status, annotator=None,
        estimate=False, reviewers=[],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("sizes", "released"),
    [
        ({"train": 3, "validation": 1, "test": 1}, True),
        ({"train": 3, "validation": 2, "test": 0}, True),
        ({"train": 3, "validation": 1, "test": 2}, False),
        ({"train": 3, "validation": 1, "test": 0}, False),
        ({"train": 5}, False),
    ],
)
def test_the_splits_are_the_release_where_they_hold_all_that_is_kept(monkeypatch, sizes, released) -> None:
    losses = [SourceLoss("a", kept=3, merged=2, rejected=1), SourceLoss("b", kept=2, merged=1, waiting=4)]
    monkeypatch.setattr(flow, "source_losses", lambda find: losses)
    found = flow.overview(
        build(
            manifest("ocr", 2, facts={"pages_by_method": {"ocr": 7, "text_layer": 2}}, **rows(pages=9)),
            manifest("parse", 5, facts={"keys": {"k": "a", "l": "b"}}),
            manifest("export", 5, **rows(**sizes)),
            tables={"review/labels": Label.to_frame([label(1, "agreed"), label(2, "unreviewed"), label(3, "single")])},
        )
    ).values
    assert found["parts"] == {"kept": 5, "merged": 3, "rejected": 1, "waiting": 4}
    assert (found["total"], found["released"]) == (13, released)
    assert found["sizes"] == [sizes.get(name) for name in ("train", "validation", "test")]
    assert (found["keys"], found["pages"], found["by_ocr"]) == (2, 9, 7)
    assert (found["labels"], found["seen"]) == (3, 2)
    assert found["files"]["kept"] == 2


@pytest.mark.parametrize(
    ("sizes", "assigned", "found"),
    [
        ({"train": 1, "validation": 2, "test": 3}, {}, {"train": 1, "validation": 2, "test": 3}),
        ({"train": 1, "validation": 2}, {"test": 5, "train": 4}, {"train": 4, "test": 5}),
        ({}, {}, {}),
    ],
)
def test_splits_are_those_of_the_export_where_all_three_are_there(sizes, assigned, found) -> None:
    stages = [manifest("export", 1, **rows(**sizes)), manifest("split", 1, facts={"splits": assigned})]
    told = flow.funnel(build(*stages))
    assert told.values["splits"] == found
    assert [*told.values["splits"]] == [*found]


def test_a_source_that_lost_more_than_the_limit_is_told_the_largest_loss_first() -> None:
    few = SourceLoss("few.pdf", kept=1, rejected=1, reasons=Counter({"no_answer": 1}))
    many = SourceLoss("many.pdf", kept=6, rejected=2, waiting=2, reasons=Counter({"no_answer": 3, "truncated": 1}))
    refused = SourceLoss("x.pdf", refused="encrypted", detail='save "FILE" anew')
    found = flow.loss_notices([few, many, refused], 0.3)
    assert [each.lost for each in found] == [4, 1, 0]
    assert [each.lost for each in flow.loss_notices([few, many], 0.4)] == [1]
    assert [each.lost for each in flow.loss_notices([few, many], 0.5)] == []
    assert "4 of 10 (40%) rejected or waiting, 3 as no_answer: put the key" in found[0].english
    assert "因没有答案：把答案放在试卷旁边" in found[0].chinese
    assert found[2].english == 'x.pdf: not read at all, encrypted: save "x.pdf" anew', "the file's own remedy"


def test_pages_that_were_read_with_little_confidence_are_named_the_worst_first() -> None:
    page = Page(
        document="a.pdf", page=1, width=1, height=1, method="ocr", reason=None, engine="e", engine_version="2",
        confidence=0.95, lines=1,
    )  # fmt: skip
    pages = [page, *(page.model_copy(update={"page": at, "confidence": sure}) for at, sure in ((2, 0.8), (3, 0.2)))]
    stage = manifest("ocr", 1, facts={"pages_lost": ["b.pdf 1"]})
    told = [each.english for each in flow.overview(build(stage, tables={"ocr/pages": Page.to_frame(pages)})).notices]
    assert "2 pages. Questions there may be misread; the worst: a.pdf p. 3, a.pdf p. 2." in told[0]
    assert "1 page" in told[1]
