"""The page tells what the manifests tell, whatever has run, and nothing that a paper says can do harm in it."""

import json
import re
from itertools import pairwise

import polars as pl
import pytest

from build_dataset.pipeline.catalogue import stage as stage_named
from build_dataset.pipeline.config import load
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.pipeline.runtime.runner import Runner
from build_dataset.schemas.annotations import Agreement, Label
from build_dataset.schemas.documents import Page
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import Score
from build_dataset.schemas.questions import Rejection, ReviewItem
from build_dataset.schemas.release import BenchmarkFile, Change, Leak
from tests.conftest import ROOT

from .conftest import (
    STAGES,
    conflicting,
    deduplicated,
    manifest,
    manifests,
    question,
    questions,
    read,
    rejection,
    released,
    splits,
)

HOSTILE = '<script>alert("x")</script><img src=x onerror=alert(1)>\'"&amp;\u202e倒\x00'

HANDED_ON = {"questions.parquet": {"rows": 5, "sha256": "x"}}  # by a stage that hands questions on


SCORED = {"run": "m", "dimension": "overall", "label": "全部", "label_en": "all", "questions": 50}


def label_of(question_id: str, dimension: str, label: str, status: str, annotator: str | None) -> Label:
    told = {"label_en": None, "estimate": False, "reviewers": []}
    return Label(question_id=question_id, dimension=dimension, label=label, status=status, annotator=annotator, **told)


@pytest.fixture(scope="module")
def tables(sample_build):
    """The inputs that the runner gives the stage for the sample."""
    runner = Runner(load(ROOT / "dataset.toml", {"dataset.build": str(sample_build)}))
    return runner.tables(stage_named("report"))


def exported(rows):
    outputs = {f"{name}.parquet": {"rows": frame.height, "sha256": name} for name, frame in rows.items()}
    size = sum(frame.height for frame in rows.values())
    return manifest("export", size, outputs=outputs), {f"export/{name}": frame for name, frame in rows.items()}


def test_every_number_of_the_funnel_is_the_manifests(sample_build):
    page = read((sample_build / "report" / "index.html").read_bytes())
    shown = set()
    for name in STAGES:
        said = json.loads((sample_build / name / "manifest.json").read_text())
        counts = {outcome: count for outcome, count in said["counts"].items() if outcome != "unit"}
        for outcome, count in counts.items():
            shown.add(f"{name}/{outcome}")
            assert page.counted.get(f"{name}/{outcome}", 0) == count, (name, outcome)
        for outcome, reasons in said["reasons"].items():
            for reason, count in reasons.items():
                shown.add(f"{name}/{outcome}/{reason}")
                assert page.counted[f"{name}/{outcome}/{reason}"] == count
        if name == "export":
            for split in ("train", "validation", "test"):
                shown.add(f"split/{split}")
                assert page.counted[f"split/{split}"] == said["outputs"][f"{split}.parquet"]["rows"]
    assert set(page.counted) <= shown


def test_the_stages_of_questions_hand_on_what_they_keep(sample_build):
    counted = read((sample_build / "report" / "index.html").read_bytes()).counted
    for one, other in pairwise(("parse", "clean", "dedup", "split", "export")):
        assert counted[f"{one}/kept"] == counted[f"{other}/in"]
    assert counted["export/kept"] == sum(counted[f"split/{name}"] for name in ("train", "validation", "test"))


def test_the_page_of_the_sample_has_its_sections(sample_build):
    page = read((sample_build / "report" / "index.html").read_bytes())
    told = "overview funnel sources rejected waiting duplicates exams lengths labels splitting leaking evaluation"
    assert page.sections == told.split()


def test_the_page_names_nothing_outside_its_folder(sample_build):
    folder = sample_build / "report"
    page = read((folder / "index.html").read_bytes())
    targets = [found[name] for _, found in page.tags for name in ("src", "href", "action", "data") if name in found]
    assert targets
    for target in targets:
        assert (target or "").startswith("#") or (folder / (target or "")).is_file(), target
    tags = [tag for tag, _ in page.tags]
    assert not {"iframe", "object", "embed", "link", "base"} & set(tags)
    assert tags.count("script") == 1, "the search"


def test_the_same_build_gives_the_same_bytes(tables, report):
    assert report(tables, figures=False).files == report(tables, figures=False).files


@pytest.mark.parametrize("last", range(1, len(STAGES)))
def test_stages_that_have_not_run_are_named_and_missed_by_nobody(tables, report, last):
    absent = STAGES[last:]
    kept = {name: frame for name, frame in tables.items() if name.partition("/")[0] not in absent}
    kept["manifests"] = tables["manifests"].with_columns(
        manifest=tables["manifests"]["manifest"].zip_with(
            ~tables["manifests"]["stage"].is_in(absent), tables["manifests"]["manifest"].clear(len(STAGES))
        )
    )
    result = report(kept, figures=False)
    assert result.counts.n_input == last
    assert any(warning.endswith(f"{', '.join(absent)}.") for warning in result.facts["warnings"])
    assert result.page.text.count("not run") == len(absent)


def test_an_empty_build_says_what_to_run(report):
    with pytest.raises(UserError, match="build-dataset run"):
        report({"manifests": manifests()})


def test_a_result_that_was_made_from_an_earlier_one_is_named(report):
    dedup = manifest("dedup", 5, outputs={"questions.parquet": {"rows": 5, "sha256": "new"}})
    split = manifest("split", 5, inputs={"dedup/questions": "old", "raw/files": "x"})
    warnings = report({"manifests": manifests(dedup, split)}).facts["warnings"]
    assert any(warning.startswith("split was made from an earlier result of dedup") for warning in warnings)


def test_an_unfinished_stage_is_named(report):
    warnings = report({"manifests": manifests(manifest("ocr", 5, complete=False))}).facts["warnings"]
    assert any(warning.startswith("ocr is not complete") for warning in warnings)


def test_what_a_paper_says_is_text_wherever_it_stands(report):
    one, other = question("q1", HOSTILE + "甲"), question("q2", HOSTILE + "乙", answer=["B"])
    one["options"][0]["text"] = HOSTILE
    rows = splits(train=[released("q1", HOSTILE, exam_type=HOSTILE, exam_class=HOSTILE, disease_group=HOSTILE)])
    export, tables = exported(rows)
    label = label_of("q1", "disease_group", HOSTILE, "unreviewed", HOSTILE)
    score = Score(**{**SCORED, "run": HOSTILE}, metric="accuracy", value=0.5, low=0.1, high=0.9)
    size = {"page": 1, "width": 1, "height": 1, "lines": 1, "confidence": 0.1}
    engine = {"method": "ocr", "engine": "e", "engine_version": HOSTILE}
    page_read = Page(document=HOSTILE, reason=HOSTILE, **size, **engine)
    clean = manifest("clean", 1, rejected={HOSTILE: 1}, waiting={}, params={"title": HOSTILE})
    result = report(
        {
            "manifests": manifests(manifest("ocr", 1), clean, manifest("dedup", 1), export),
            "clean/rejects": Rejection.to_frame([rejection(HOSTILE, HOSTILE, HOSTILE)]),
            "dedup/review": conflicting(one, other),
            **deduplicated(one, other),
            **tables,
            "review/labels": Label.to_frame([label]),
            "evaluate/scores": Score.to_frame([score]),
            "ocr/pages": Page.to_frame([page_read]),
        },
        figures=False,
    )
    tags = [tag for tag, _ in result.page.tags]
    assert "img" not in tags
    assert tags.count("script") == 1, "the search"
    assert not [name for _, found in result.page.tags for name in found if name.startswith("on")]
    assert result.page.text.count("alert(1)") > 10
    assert "\x00" not in result.page.text


def test_long_texts_and_many_items_leave_the_page_small(report):
    rejects = [rejection(f"q{number:05d}", "too_long", "长" * 5000) for number in range(2000)]
    clean = manifest("clean", 1, rejected={"too_long": 2000})
    result = report({"manifests": manifests(clean), "clean/rejects": Rejection.to_frame(rejects)}, examples=4)
    assert len(result.files["index.html"]) < 60_000
    assert "4,600 more characters" in result.page.text
    shown = [f"q{number:05d}" for number in range(2000) if f"q{number:05d}" in result.page.text]
    assert shown == ["q00000", "q00500", "q01000", "q01500"], "evenly spread"


def test_examples_are_fewer_where_there_are_fewer_and_none_where_none_are_wanted(report):
    tables = {
        "manifests": manifests(manifest("clean", 1, rejected={"a": 2})),
        "clean/rejects": Rejection.to_frame([rejection(f"q{number}", "a", "题") for number in range(2)]),
    }
    assert all(f"q{number}" in report(tables).page.text for number in range(2))
    assert "q0" not in report(tables, examples=0).page.text


def test_the_least_alike_merges_are_shown_and_their_differences_marked(report):
    one, other = question("q1", "下列叙述正确的是"), question("q2", "下列叙述不正确的是")
    tables = deduplicated(one, other)
    alike = tables["dedup/merges"].with_columns(question_id=pl.lit("q0"), score=0.99)
    tables["dedup/merges"] = pl.concat([alike, tables["dedup/merges"]])
    tables["clean/questions"] = pl.concat([tables["clean/questions"], questions(question("q0", "叙述"))])
    result = report({"manifests": manifests(manifest("dedup", 1, merged=2)), **tables}, pairs=1)
    assert "score 0.900 · reworded" in result.page.text
    assert "score 0.990" not in result.page.text
    assert "不" in result.page.marked


def test_what_waits_is_counted_over_all_and_shown_in_part(report):
    items = [
        ReviewItem(item_id=f"q{n}", question_ids=[f"q{n}"], stage="parse", reason="no_answer", detail="d")
        for n in range(10)
    ]
    parse = manifest("parse", 0, waiting={"no_answer": 10})
    result = report({"manifests": manifests(parse), "parse/review": ReviewItem.to_frame(items)}, examples=1)
    assert result.page.counted["parse/waiting/no_answer"] == 10
    assert "q0" in result.page.text
    assert "q5" not in result.page.text


def test_what_people_settled_waits_no_more(report):
    items = [
        ReviewItem(item_id=f"q{n}", question_ids=[f"q{n}"], stage="parse", reason=reason, detail="d")
        for n, reason in enumerate(("no_answer", "no_answer", "empty_option"))
    ]
    parse = manifest("parse", 5, waiting={"no_answer": 2, "empty_option": 1}, outputs=HANDED_ON)
    tables = {"manifests": manifests(parse), "parse/review": ReviewItem.to_frame(items)}
    assert "in no split: 3 items." in " ".join(report(tables).facts["warnings"])
    tables |= {"parse/questions": questions(), "clean/questions": questions(question("q0", "题干"))}
    tables["clean/rejects"] = Rejection.to_frame([rejection("q2", "dropped_by_expert", "题干")])
    result = report(tables)
    assert "in no split: 1 item." in " ".join(result.facts["warnings"])
    assert [name in result.page.text for name in ("q0", "q1", "q2")] == [False, True, False]


def test_what_waits_before_the_split_is_told_apart_from_what_is_not_settled_after_it(report):
    parse = manifest("parse", 5, waiting={"no_answer": 2}, outputs=HANDED_ON)
    review = manifest("review", 1, waiting={"disputed": 3, "flagged": 1})
    warnings = " ".join(report({"manifests": manifests(parse, review)}).facts["warnings"])
    assert "in no split: 2 items." in warnings
    assert "Not settled in review: 4 questions." in warnings


def test_weak_agreement_warns_and_unknown_agreement_is_no_zero(report):
    base = {"dimension": "competency", "items": 40, "raw": 0.6, "kappa": None, "alpha_low": 0.2, "alpha_high": 0.5}
    fields = dict.fromkeys(Agreement.model_fields) | base
    rows = [
        Agreement(**{**fields, "reviewers": "all", "alpha": 0.4}),
        Agreement(**{**fields, "reviewers": "a & b", "alpha": None, "alpha_low": None, "alpha_high": None}),
    ]
    result = report({"manifests": manifests(manifest("review", 40)), "review/agreement": Agreement.to_frame(rows)})
    assert "Area of competency 0.40" in " ".join(result.facts["warnings"])
    assert "0.40 [0.20, 0.50]" in result.page.text
    assert "0.00" not in result.page.text


def test_unreviewed_labels_are_counted_apart_with_their_annotator(report):
    statuses = ["unreviewed", "agreed", "agreed", "unreviewed"]
    labels = [
        label_of(f"q{number}", "competency", "疾病治疗", status, "lexicon" if status == "unreviewed" else None)
        for number, status in enumerate(statuses)
    ]
    result = report({"manifests": manifests(manifest("review", 4)), "review/labels": Label.to_frame(labels)})
    warnings = " ".join(result.facts["warnings"])
    assert "50 % of all labels were seen by no expert (2 of 4)" in warnings
    assert "offline lexicon, which counts key words: 2 labels" in warnings


def test_options_of_the_stage_have_sane_bounds():
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        ReportParams(examples=-1)


def test_a_question_that_moved_into_training_warns(report):
    rows = [
        Change(question_id="q1", change="changed", split="train", previous_split="train", columns=["stem", "answer"]),
        Change(question_id="q2", change="moved", split="train", previous_split="test", columns=[]),
    ]
    ran = manifests(manifest("split", 2), manifest("export", 2))
    warnings = report({"manifests": ran, "export/changes": Change.to_frame(rows)}).facts["warnings"]
    assert "1 question moved from test to train" in " ".join(warnings)


def test_leaks_are_counted_by_kind_and_warn(report):
    rows = [
        Leak(question_id="q1", split="test", kind="near", score=0.9, other_id="q2", other_split="train"),
        Leak(question_id="q3", split="test", kind="overlap", score=0.4, file="b.jsonl", line=3, span="<b>题干"),
    ]
    result = report({"manifests": manifests(manifest("leaks", 3)), "leaks/leaks": Leak.to_frame(rows)})
    warnings = " ".join(result.facts["warnings"])
    assert "1 question of one split found again in another" in warnings
    assert "1 question overlapping with public benchmarks" in warnings
    assert "No public benchmark was compared with" in warnings
    assert "overlap 1" in result.page.text


def test_a_benchmark_that_was_compared_is_counted_and_does_not_warn(report):
    compared = BenchmarkFile(
        file="b.jsonl", sha256="0" * 64, records=5, overlaps=0, copies=0, test_overlaps=0, test_copies=0
    )
    tables = {"leaks/leaks": Leak.to_frame([]), "leaks/benchmarks": BenchmarkFile.to_frame([compared])}
    result = report({"manifests": manifests(manifest("leaks", 3)), **tables})
    assert "No public benchmark was compared with" not in " ".join(result.facts["warnings"])
    assert "Compared with 1 file of public benchmarks" in result.page.text


def test_scores_stand_with_their_intervals(report):
    scores = [
        Score(**SCORED, metric="accuracy", value=0.5, low=0.36, high=0.64),
        Score(**SCORED, metric="no_answer_rate", value=0.04, low=0.01, high=0.13),
    ]
    ran = manifest("evaluate", 50, params={"split": "test"})
    result = report({"manifests": manifests(ran), "evaluate/scores": Score.to_frame(scores)})
    assert "50.0 [36.0, 64.0]" in result.page.text
    assert "Models were asked 50 questions only" in " ".join(result.facts["warnings"])


def test_the_figures_at_a_glance_add_up_and_files_are_no_questions(sample_build):
    page = (sample_build / "report" / "index.html").read_text(encoding="utf-8")
    tiles = re.findall(r'<div class="tile"><b>([\d,]+)</b>', page)
    total, *parts = (int(tile.replace(",", "")) for tile in tiles[:5])
    assert total == sum(parts) > 0
    files = json.loads((sample_build / "ocr" / "manifest.json").read_text())["counts"]["in"]
    assert int(tiles[5]) == files


def test_the_largest_loss_is_told_first_and_notices_and_introductions_are_in_both_languages(sample_build):
    page = (sample_build / "report" / "index.html").read_text(encoding="utf-8")
    notices = re.findall(r'<li>([^<]*) <span lang="zh">([^<]*)</span></li>', page)
    assert notices[0][0] == "Waiting for a person to decide, and in no split: 5 items."
    assert notices[1][0].startswith("public-health-tcm.json: 4 of 15 (27%) rejected or waiting")
    leads = re.findall('<p class="lead">(.*?)</p>', page, re.DOTALL)
    assert len(leads) > 6
    assert [text for text in (*(notice[1] for notice in notices), *leads) if not re.search("[一-鿿]{4}", text)] == []


def test_a_page_of_many_files_stays_small_and_counts_the_files_it_does_not_name(report):
    rows = [rejection(f"{number}.pdf", "truncated", "") for number in range(3000)]
    result = report(
        {
            "manifests": manifests(manifest("ocr", 1, merged=2, rejected={"truncated": 3000})),
            "ocr/rejects": Rejection.to_frame(rows),
        }
    )
    assert "1 with questions 试题 + 2 as further pages 同卷其他页 + 3,000 not read 未读出" in result.page.text
    assert any(warning == "Losses in 2,988 more files: see Source files." for warning in result.facts["warnings"])
    assert len(result.files["index.html"]) < 200_000
