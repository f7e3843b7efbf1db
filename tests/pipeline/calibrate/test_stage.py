import re

import polars as pl
import pytest

from build_dataset.annotation.params import CalibrateParams
from build_dataset.pipeline.calibrate.stage import run
from build_dataset.pipeline.catalogue import stage
from build_dataset.schemas.annotations import Annotation, AnnotationRequest, ExpertReview
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Question
from tests.annotation.records import annotation
from tests.annotation.test_learned_annotator import reviewed
from tests.annotation.test_reviewed import review

RIGHT = 45
"""Of the 60 labels that the model of these tests gives."""


def tables(count: int = 60, reviews: int = 60):
    items = reviewed(count)
    annotations, requests = [], []
    for number, item in enumerate(items):
        right = number % 4 != 0
        label = item.labels["disease_group"].zh if right else "肿瘤"
        asked = {"question_id": item.question.question_id, "annotator": "llm:m"}
        annotations.append(annotation("disease_group", label, **asked, confidence=0.9 if right else 0.3))
        paid = {"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.01}
        requests.append(AnnotationRequest(**asked, prompt_hash="h", model="m", **paid))
    said = [
        review(item.question.question_id, item.labels["disease_group"].zh, dimension="disease_group")
        for item in items[:reviews]
    ]
    return {
        "questions": Question.to_frame(item.question for item in items),
        "annotations": Annotation.to_frame(annotations),
        "requests": AnnotationRequest.to_frame(requests),
        "pulled": ExpertReview.to_frame(said),
    }


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    from build_dataset.schemas.dataset import DatasetParams
    from tests.conftest import FakeContext

    folder = tmp_path_factory.mktemp("x")
    given = FakeContext(folder, folder, DatasetParams(name="试卷", raw=folder, build=folder))
    return run(tables(), CalibrateParams(target=0.8), given)


def row(found, annotator, reference="experts"):
    return found.tables["calibration"].row(
        by_predicate=(pl.col("annotator") == annotator)
        & (pl.col("reference") == reference)
        & (pl.col("dimension") == "disease_group"),
        named=True,
    )


def test_an_annotator_is_measured_against_the_experts(found):
    model = row(found, "llm:m")
    assert (model["items"], model["same"], model["accuracy"]) == (60, RIGHT, 0.75)
    assert model["low"] < 0.75 < model["high"]
    assert 0 < model["kappa"] < 0.75
    assert model["calibration_error"] == pytest.approx(0.75 * 0.1 + 0.25 * 0.3, abs=1e-4)
    assert model["cost_per_correct"] == pytest.approx(0.01 / 5 / 0.75, abs=1e-8), "the wrong ones cost too"
    assert row(found, "lexicon")["cost_per_correct"] == 0
    accepted = (model["threshold"], model["accepted"])
    assert accepted == (pytest.approx(0.35), 0.75), "from the confidence at which enough are right"


def test_the_offline_annotators_are_compared_too_and_each_with_each(found):
    pairs = found.tables["calibration"].select("annotator", "reference").unique().rows()
    assert set(pairs) == {
        *((name, "experts") for name in ("llm:m", "lexicon", "learned")),
        ("llm:m", "lexicon"),
        ("llm:m", "learned"),
        ("lexicon", "learned"),
    }


def test_the_worst_confusions_are_named(found):
    own = found.tables["confusions"].filter(annotator="llm:m", reference="experts")
    assert set(own["said"]) == {"肿瘤"}
    assert own["items"].sum() == 60 - RIGHT


def test_the_page_speaks_both_languages_and_asks_nobody(found):
    page = found.files["index.html"].decode()
    assert not re.search(r"(src|href)=.http", page)
    for text in ("试卷", "0.75 [", "疾病组"):
        assert text in page


def test_everything_is_declared_and_nothing_depends_on_the_run(found, context):
    declared = stage("calibrate").writes
    assert {name: table.schema for name, table in found.tables.items()} == {
        name: record.polars_schema() for name, record in declared.items()
    }
    assert found.counts.balanced()
    first, second = (run(tables(), CalibrateParams(), context) for _ in range(2))
    assert first.files == second.files
    assert first.facts == second.facts


def test_before_any_review_annotators_are_compared_with_each_other(context):
    found = run(tables(reviews=0), CalibrateParams(), context)
    assert set(found.tables["calibration"]["reference"]) == {"lexicon"}
    assert "no expert has reviewed" in found.notes[0]
    assert b"No expert has reviewed yet; annotators are compared with each other" in found.files["index.html"]


def test_one_annotator_alone_is_compared_with_nothing(context):
    own = tables(reviews=0)
    alone = run(own | {"annotations": own["annotations"].clear()}, CalibrateParams(), context)
    page = alone.files["index.html"].decode()
    assert "nothing is compared" in page
    assert "暂无可比较的内容" in page


def test_no_questions_are_no_error(context):
    found = run(tables(count=0), CalibrateParams(), context)
    assert found.tables["calibration"].is_empty()


def test_annotations_of_other_builds_join_in(context, tmp_path):
    other = tables()["annotations"].with_columns(annotator=pl.lit("llm:<b>other"))
    other.write_parquet(tmp_path / "a.parquet")
    found = run(tables(), CalibrateParams(others=[tmp_path / "a.parquet"]), context)
    assert row(found, "llm:<b>other", "experts")["same"] == RIGHT
    assert row(found, "llm:m", "llm:<b>other")["accuracy"] == 1
    assert b"<b>other" not in found.files["index.html"]
    (tmp_path / "a.parquet").write_text("junk")
    with pytest.raises(UserError, match="no table of annotations"):
        run(tables(), CalibrateParams(others=[tmp_path / "a.parquet"]), context)


def test_an_unknown_question_in_reviews_is_passed_over(context):
    given = tables(count=30, reviews=30)
    stranger = review("stranger", "肿瘤", dimension="disease_group")
    given["pulled"] = pl.concat([given["pulled"], ExpertReview.to_frame([stranger])])
    assert run(given, CalibrateParams(), context).facts["compared"] == 30
