"""Sections of the report, value by value: what is counted, what is shown of it, and from where a notice stands."""

import polars as pl
import pytest

from build_dataset.pipeline.report import content, flow, texts
from build_dataset.pipeline.report.build import Build, Section
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.taxonomy import dimensions

from .conftest import manifest, manifests, released, splits


def build(tables, *ran, **params) -> Build:
    return Build({"manifests": manifests(*ran), **tables}, ReportParams(**params), DatasetParams(name="x"))


def english(section: Section | None) -> list[str]:
    return [notice.english for notice in section.notices]


def exported(**rows) -> dict[str, pl.DataFrame]:
    return {f"export/{name}": frame for name, frame in splits(**rows).items()}


@pytest.mark.parametrize(
    ("rows", "shown"), [(0, []), (1, [0]), (3, [0, 1, 2]), (4, [0, 2, 3]), (7, [0, 3, 5]), (10, [0, 4, 7])]
)
def test_rows_are_spread_evenly(rows, shown):
    frame = pl.DataFrame({"n": range(rows)}, schema={"n": pl.Int64})
    assert texts.spread_evenly(frame, 3)["n"].to_list() == shown
    assert texts.spread_evenly(frame, 0).is_empty()


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        ({"document": "a.pdf", "pages": [1, 2], "number": 0}, "a.pdf · p. 1, 2 · no. 0"),
        ({"document": "a.pdf", "pages": [], "number": None}, "a.pdf"),
        ({"pages": 3}, ""),
    ],
)
def test_the_place_of_a_question_is_told_as_far_as_it_is_known(found, shown):
    assert texts.source_place(found) == shown


def test_a_marked_line_break_is_made_visible_and_an_empty_text_stays():
    assert texts.mark_differences("甲乙丙丁\n", "甲乙丙丁", 9)[0].pieces[-1] == ("⏎\n", True)
    assert texts.clip(None, 5) == texts.CutText([], 0)


@pytest.mark.parametrize(("length", "name"), [(1, "1–10"), (10, "1–10"), (11, "11–20"), (501, "> 500")])
def test_a_length_falls_into_the_bin_whose_upper_edge_it_may_be(length: int, name: str):
    rows = [released("q1", "题" * length)]
    values = content.lengths(build(exported(train=rows, test=rows))).values
    assert [at for at, share in zip(values["bins"], values["shares"]["train"], strict=True) if share] == [name]
    assert values["largest"] == 1.0
    assert set(values["shares"]) == {"train", "test"}


def test_labels_are_counted_by_split_with_shares_and_those_that_are_settled():
    train = [
        released("q1", difficulty="易", difficulty_status="agreed"),
        released("q2", difficulty="易", difficulty_status="adjudicated"),
        released("q3", difficulty="易", difficulty_status="unreviewed"),
        released("q4"),
    ]
    section = content.labels(build(exported(train=train, test=[released("q5", difficulty="难")]), figures=False))
    shown = next(item for item in section.values["dimensions"] if item["name"] == "difficulty")
    easy = next(row for row in shown["rows"] if row["chinese"] == "易")
    assert easy == {
        "chinese": "易",
        "english": dimensions()["difficulty"].english("易"),
        "counts": {"train": 3, "validation": 0, "test": 0},
        "shares": {"train": 0.75, "validation": 0.0, "test": 0.0},
        "total": 3,
        "settled": 2,
    }
    none = next(row for row in shown["rows"] if row["english"] == "no label")
    assert (none["chinese"], none["total"], none["settled"]) == ("无标签", 1, 0)
    assert (shown["largest"], shown["unused"], shown["few"]) == (1.0, 4, 1)
    assert section.values["splits"] == {"train": 4, "validation": 0, "test": 1}
    assert len(section.notices) == 1
    empty = next(item for item in section.values["dimensions"] if item["name"] == "competency")
    assert (empty["largest"], empty["few"]) == (1.0, 1)
    assert not section.files, "the figure is off"


def test_the_split_is_told_with_what_missed_its_share():
    stage = manifest("split", 9, facts={"pooled_strata_count": 2, "retired": 0}, params={"seed": 1})
    section = content.splitting(build({}, stage))
    assert (section.values["most"], section.values["params"], len(section.notices)) == (60, {"seed": 1}, 1)
    assert content.splitting(build({})) is None


def test_the_funnel_is_drawn_on_one_scale_and_empty_splits_are_told():
    ocr = manifest("ocr", 900)
    export = manifest(
        "export",
        7,
        outputs={f"{name}.parquet": {"rows": size} for name, size in (("train", 7), ("validation", 0), ("test", 0))},
    )
    parse = manifest("parse", 12, facts={"keys": {"a": "b"}})
    section = flow.funnel(build({}, ocr, parse, export))
    assert (section.values["largest"], section.values["keys"]) == (12, 1)
    assert section.values["splits"] == {"train": 7, "validation": 0, "test": 0}
    assert any("validation, test" in told for told in english(section))
    assert flow.funnel(build({}, ocr)).values["largest"] == 0


def test_figures_at_a_glance_are_absent_where_nothing_ran():
    values = flow.overview(build({})).values
    assert values["parts"] == {"kept": 0, "merged": 0, "rejected": 0, "waiting": 0}
    assert (values["total"], values["keys"], values["by_ocr"], values["labels"], values["seen"]) == (0, 0, 0, 0, 0)
    assert (values["pages"], values["released"]) == (None, False)
