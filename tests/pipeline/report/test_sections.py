"""Sections of the report, value by value: what is counted, what is shown of it, and from where a notice stands."""

from __future__ import annotations

import polars as pl
import pytest

from build_dataset.pipeline.report import content, evaluation, flow, texts
from build_dataset.pipeline.report.build import Build, Section
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.schemas.annotations import Agreement, Label
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.documents import Page
from build_dataset.schemas.evaluation import Score
from build_dataset.schemas.questions import Cluster, Merge, ReviewItem
from build_dataset.schemas.release import BenchmarkFile, Leak
from build_dataset.schemas.taxonomy import dimensions

from .conftest import manifest, manifests, question, questions, released, splits


def build(tables, *ran, **params) -> Build:
    return Build({"manifests": manifests(*ran), **tables}, ReportParams(**params), DatasetParams(name="x"))


def english(section: Section | None) -> list[str]:
    return [notice.english for notice in section.notices]


def exported(**rows) -> dict[str, pl.DataFrame]:
    return {f"export/{name}": frame for name, frame in splits(**rows).items()}


def read(page: int, confidence: float | None) -> Page:
    return Page(
        document="a.pdf",
        page=page,
        width=1,
        height=1,
        method="ocr",
        reason=None,
        engine="e",
        engine_version="1",
        confidence=confidence,
        lines=1,
    )


def test_pages_below_0_9_are_doubtful_and_30_of_them_listed():
    rows = [read(page, page / 100) for page in range(50, 96)]
    section = texts.reading(build({"ocr/pages": Page.to_frame(rows)}, manifest("ocr", 1, facts={"pages_lost": [1, 2]})))
    assert section.values["doubtful_count"] == 40
    assert [row["page"] for row in section.values["doubtful"]] == [*range(50, 80)]
    assert section.values["ways"][0] | {"mean": 0} == {
        "method": "ocr",
        "engine": "e",
        "reason": None,
        "pages": 46,
        "documents": 1,
        "mean": 0,
        "lowest": 0.5,
    }
    assert len(section.notices) == 2
    sure = texts.reading(build({"ocr/pages": Page.to_frame([read(1, 0.9)])}))
    assert (sure.values["doubtful_count"], english(sure)) == (0, [])
    assert texts.reading(build({})) is None


@pytest.mark.parametrize(
    ("rows", "shown"), [(0, []), (1, [0]), (3, [0, 1, 2]), (4, [0, 2, 3]), (7, [0, 3, 5]), (10, [0, 4, 7])]
)
def test_rows_are_spread_evenly(rows, shown):
    frame = pl.DataFrame({"n": range(rows)}, schema={"n": pl.Int64})
    assert texts.spread_evenly(frame, 3)["n"].to_list() == shown
    assert texts.spread_evenly(frame, 0).is_empty()


def test_values_are_counted_the_most_frequent_first():
    assert texts.tally(pl.Series("n", ["b", "a", None, "c", "c"])) == [("c", 2), ("a", 1), ("b", 1)]


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


def test_merges_and_twins_are_shown_by_kind():
    stems = {39: "甲" * 9 + "乙", 40: "甲" * 10, 0: "甲" * 10}
    rows = [question(f"q{n:02}", stems.get(n, f"第{n}题")) for n in range(45)]
    merges = [Merge(question_id=f"q0{n}", survivor_id="q00", kind="exact", score=n / 10, reason="r") for n in (1, 2, 3)]
    clusters = [Cluster(question_id=f"q{n:02}", cluster_id="c", kind="number") for n in range(45)]
    tables = {
        "clean/questions": questions(*rows),
        "dedup/merges": Merge.to_frame(merges),
        "dedup/clusters": Cluster.to_frame(clusters),
    }
    section = texts.duplicates(build(tables, pairs=1))
    [merged], [twins] = section.values["merged"], section.values["twins"]
    assert [pair["said"] for pair in merged["pairs"]] == ["score 0.100 · r"]
    assert (merged["kind"], merged["count"], twins["kind"], twins["count"]) == ("exact", 3, "number", 45)
    [pair] = twins["pairs"]
    assert [card.question_id for card in pair["cards"]] == ["q00", "q39"], "the first 40 of a cluster are compared"
    assert section.values["clusters"] == 1
    assert texts.duplicates(build({**tables, "dedup/merges": Merge.to_frame([])})).values["merged"] == []


def test_lengths_fall_into_bins_whose_upper_edge_belongs_to_them():
    lengths = [1, 10, 11, 20, 21, 60, 61, 80, 81, 100, 101, 150, 151, 200, 201, 300, 301, 500, 501, 900]
    rows = [released(f"q{n}", "题" * n) for n in lengths]
    values = content.lengths(build(exported(train=rows, test=rows[:1]))).values
    shares = dict(zip(values["bins"], values["shares"]["train"], strict=True))
    assert {name: round(share * 20) for name, share in shares.items()} == {
        "1–10": 2,
        "11–20": 2,
        "21–30": 1,
        "31–40": 0,
        "41–50": 0,
        "51–60": 1,
        "61–80": 2,
        "81–100": 2,
        "101–150": 2,
        "151–200": 2,
        "201–300": 2,
        "301–500": 2,
        "> 500": 2,
    }
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
    assert set(section.files) == {f"tables/labels.{kind}" for kind in ("parquet", "csv", "md", "tex")}


def test_leaks_are_shown_by_kind_the_worst_first():
    leaks = [
        Leak(question_id=f"q{n}", split="test", kind="near", score=n / 10, other_id="o", other_split="train")
        for n in (3, 9, 5)
    ]
    leaks += [Leak(question_id="q1", split="test", kind="copy", score=1.0, file="b", line=1, span="题" * 99)] * 2
    section = content.leaking(build({"leaks/leaks": Leak.to_frame(leaks)}, examples=2, characters=40))
    assert {name: section.values[name] for name in ("across", "published", "files")} == {
        "across": 3,
        "published": 1,
        "files": 0,
    }
    copy, near = section.values["kinds"]
    assert [row["question_id"] for row in near["rows"]] == ["q9", "q5"]
    assert (near["kind"], near["count"], copy["kind"], copy["count"]) == ("near", 3, "copy", 2)
    assert copy["rows"][0]["span"] == texts.CutText([("题" * 40, False)], 59)
    assert len(section.notices) == 3
    file = BenchmarkFile(file="b", sha256="0" * 64, records=5, overlaps=0, copies=0, test_overlaps=0, test_copies=0)
    tables = {"leaks/leaks": Leak.to_frame([]), "leaks/benchmarks": BenchmarkFile.to_frame([file])}
    quiet = content.leaking(build(tables))
    assert (quiet.values["files"], quiet.values["across"], english(quiet)) == (1, 0, [])
    assert content.leaking(build({})) is None


def test_the_split_is_told_with_what_missed_its_share():
    stage = manifest("split", 9, facts={"pooled_strata_count": 2, "retired": 0}, params={"seed": 1})
    section = content.splitting(build({}, stage))
    assert (section.values["most"], section.values["params"], len(section.notices)) == (60, {"seed": 1}, 1)
    assert content.splitting(build({})) is None


def agreed(**more) -> Agreement:
    plain = {"dimension": "competency", "reviewers": "all", "items": 9, "raw": 0.5, "alpha": 0.667}
    return Agreement(**{**dict.fromkeys(Agreement.model_fields), **plain, **more})


def agreement(*rows) -> Section | None:
    return content.agreement(build({"review/agreement": Agreement.to_frame(rows)}))


def test_agreement_below_0_667_of_all_experts_is_weak():
    assert english(agreement(agreed())) == []
    assert english(agreement(agreed(reviewers="a & b", alpha=0.1))) == []
    assert english(agreement(agreed(alpha=None))) == []
    [told] = english(agreement(agreed(alpha=0.666), agreed(dimension="other", alpha=0.1)))
    assert "0.67, other 0.10" in told
    assert agreement(agreed(items=0)) is None
    assert len(agreement(agreed(), agreed(dimension="other", items=1)).values["rows"]) == 2
    assert len(agreement(agreed(), agreed(dimension="other", items=0)).values["rows"]) == 1
    assert content.agreement(build({})) is None


def test_who_labelled_is_counted_by_dimension():
    plain = {"label": "易", "label_en": "e", "reviewers": [], "estimate": False}
    rows = [
        Label(question_id="1", dimension="difficulty", status="unreviewed", annotator="lexicon", **plain),
        Label(question_id="2", dimension="difficulty", status="agreed", annotator=None, **plain),
        Label(question_id="3", dimension="difficulty", status="agreed", annotator="m", **plain | {"estimate": True}),
        Label(question_id="3", dimension="competency", status="agreed", annotator="m", **plain | {"estimate": True}),
    ]
    section = content.labelling(build({"review/labels": Label.to_frame(rows)}))
    assert section.values["totals"] == {"difficulty": 3, "competency": 1}
    assert section.values["by_status"] == {
        ("competency", "agreed"): 1,
        ("difficulty", "agreed"): 2,
        ("difficulty", "unreviewed"): 1,
    }
    assert section.values["annotators"] == ["lexicon", "m"]
    assert len(section.notices) == 3
    assert "25 %" in english(section)[0]


def score(metric="accuracy", value=0.5, run="m", **more) -> Score:
    plain = {"dimension": "overall", "label": "全部", "label_en": "all", "questions": 100, "low": 0.4, "high": 0.6}
    return Score(run=run, metric=metric, value=value, **plain | more)


def evaluated(*scores) -> Section:
    return evaluation.evaluation(build({"evaluate/scores": Score.to_frame(scores)}, figures=False))


def test_fewer_than_100_questions_and_more_than_5_percent_without_an_answer_are_told():
    assert len(english(evaluated(score()))) == 0
    assert "99 questions only" in english(evaluated(score(questions=99)))[0]
    unread = [score("no_answer_rate", 0.02), score("refused_rate", 0.02), score("truncated_rate", 0.01)]
    assert english(evaluated(score(), *unread)) == []
    [told] = english(evaluated(score(), *unread, score("truncated_rate", 0.02)))
    assert "m 6 %" in told


def test_a_run_is_a_row_with_its_accuracy_and_rates():
    section = evaluated(
        score(value=None, low=None, high=None, run="n"),
        score("mean_accuracy", 0.7),
        score("refused_rate", 0.1),
        score(dimension="length", value=0.1),
    )
    assert section.values["rows"] == [
        {
            "run": "m",
            "accuracy": 0.7,
            "rates": {"mean_accuracy": 0.7, "refused_rate": 0.1},
            "low": 0.4,
            "high": 0.6,
            "questions": 100,
        }
    ]


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
    assigned = manifest("split", 7, facts={"splits": {"test": 3, "train": 4}})
    assert flow.funnel(build({}, assigned)).values["splits"] == {"train": 4, "test": 3}
    assert flow.funnel(build({}, ocr)).values["largest"] == 0


def test_figures_at_a_glance_are_absent_where_nothing_ran():
    values = flow.overview(build({})).values
    assert values["parts"] == {"kept": 0, "merged": 0, "rejected": 0, "waiting": 0}
    assert (values["total"], values["keys"], values["by_ocr"], values["labels"], values["seen"]) == (0, 0, 0, 0, 0)
    assert (values["pages"], values["released"]) == (None, False)


@pytest.mark.parametrize(("items", "shown"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2]), (7, [0, 3, 5]), (10, [0, 4, 7])])
def test_examples_of_a_reason_are_spread_evenly(items, shown):
    rows = [
        ReviewItem(item_id=f"q{n}", question_ids=[], stage="parse", reason="r", detail="d" * 50) for n in range(items)
    ]
    tables = {"parse/review": ReviewItem.to_frame(rows)}
    ran = manifest("parse", 0, waiting={"r": items, "conflicting_answers": 1})
    group, apart = flow.waiting(build(tables, ran, characters=40)).values["groups"]
    assert [example["id"] for example in group["examples"]] == [f"q{n}" for n in shown]
    assert group["examples"][0]["detail"] == "d" * 40
    assert (apart["apart"], apart["examples"], group["apart"]) == (True, [], False)
    assert flow.waiting(build(tables, ran, examples=0)).values["groups"][0]["examples"] == []
