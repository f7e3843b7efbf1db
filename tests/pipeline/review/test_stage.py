"""The review stage: from questions, annotations and reviews to labels and agreement."""

import polars as pl
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.annotation.adjudication import State
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import stage as review
from build_dataset.pipeline.review.folder import read_control
from build_dataset.pipeline.review.stage import waiting_questions
from build_dataset.schemas.annotations import Annotation, Correction, CorrectionStatus, ExpertReview
from build_dataset.schemas.questions import Question, ReviewItem
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation import records

FIRST = {name: dimension.zh_names()[0] for name, dimension in dimensions().items()}
PARAMS = ReviewParams(bootstrap=100)


def questions(count: int) -> pl.DataFrame:
    return Question.to_frame(records.question(f"q{n}", number=n) for n in range(count))


def annotations(count: int) -> pl.DataFrame:
    return Annotation.to_frame(
        records.annotation(name, label, question_id=f"q{n}", estimate=name == "difficulty")
        for n in range(count)
        for name, label in FIRST.items()
    )


def said(reviewer: str, number: int, at: int = 0, **labels: str) -> list[ExpertReview]:
    same = {"question_id": f"q{number}", "origin": "prediction", "annotation_id": 100 * at + number, "at": at}
    return [records.review(reviewer, labels.get(name, label), dimension=name, **same) for name, label in FIRST.items()]


def tables(count: int, *reviews: list[ExpertReview]) -> dict[str, pl.DataFrame]:
    rows = [row for group in reviews for row in group]
    return {"questions": questions(count), "annotations": annotations(count), "pulled": ExpertReview.to_frame(rows)}


def test_before_any_review_every_label_is_the_annotators_and_marked_unreviewed(context):
    result = review.run(tables(3), PARAMS, context)
    labels = result.tables["labels"]
    assert labels.height == 3 * len(FIRST)
    assert set(labels["status"]) == {"unreviewed"}
    assert set(labels["annotator"]) == {"lexicon"}
    assert set(labels.filter(pl.col("estimate"))["dimension"]) == {"difficulty"}
    assert labels["label_en"].null_count() == 0
    assert (result.counts.n_input, result.counts.kept, result.counts.waiting) == (3, 3, 0)
    assert result.tables["agreement"]["items"].to_list() == [0] * 5
    assert "no expert has reviewed yet" in result.notes[0]


def test_disputed_and_half_reviewed_questions_wait_with_who_said_what(context):
    found = tables(4, said("a", 0), said("b", 0, competency="疾病治疗"), said("a", 1), said("a", 2), said("b", 2))
    result = review.run(found, PARAMS, context)
    assert [(item.item_id, item.reason) for item in result.review] == [("q0", "disputed"), ("q1", "one_of_two")]
    assert result.review[0].question_ids == ["q0"]
    assert "competency: a = 疾病诊断和鉴别诊断 / b = 疾病治疗" in result.review[0].detail
    assert (result.counts.kept, result.counts.waiting) == (2, 2)
    assert result.counts.balanced()
    states = {"disputed": 1, "flagged": 0, "one_of_two": 1, "changed": 0, "unreviewed": 1, "done": 1}
    assert result.facts["states"] == states


def test_only_invited_reviewers_and_known_questions_and_labels_count(context):
    wrong = [row.model_copy(update={"label": "内科"}) for row in said("a", 1) if row.dimension == "competency"]
    found = tables(2, said("a", 0), said("admin", 0), said("a", 7), wrong)
    result = review.run(found, PARAMS.model_copy(update={"reviewers": ["a"]}), context)
    assert result.facts["ignored_reviews"] == {"other_question": 5, "other_reviewer": 5, "unknown_label": 1}
    assert result.facts["experts"] == {"a": 1}
    told = [note for note in result.notes if "without effect" in note]
    assert [note.partition(" ")[0] for note in told] == ["5", "5", "1"]
    assert "went, `review status` lists those that left since: q7" in told[0]
    assert all("review." in note or "label set" in note or "explain" in note for note in told), "what to do is told"


def test_of_two_reviews_by_one_expert_the_latest_counts(context):
    found = tables(1, said("a", 0, at=2, difficulty="极难"), said("a", 0, at=1), said("b", 0, difficulty="极难"))
    result = review.run(found, PARAMS, context)
    assert result.counts.waiting == 0
    assert result.facts["ignored_reviews"] == {"superseded": 5}


def ruling(reviewer: str, number: int, **labels: str) -> list[ExpertReview]:
    own = said(reviewer, number, at=9, **labels)
    return [review.model_copy(update={"project": "adjudication"}) for review in own]


@pytest.mark.parametrize(
    ("who", "adjudicators", "ignored"), [("b", [], "ruled_on_own_label"), ("c", ["judge"], "other_reviewer")]
)
def test_nobody_rules_on_labels_of_their_own_and_of_named_adjudicators_nobody_else(context, who, adjudicators, ignored):
    found = tables(1, said("a", 0), said("b", 0, difficulty="极难"), ruling(who, 0, difficulty="极难"))
    result = review.run(found, PARAMS.model_copy(update={"adjudicators": adjudicators}), context)
    assert result.facts["ignored_reviews"] == {ignored: 5}
    assert [item.reason for item in result.review] == ["disputed"]


def test_adjudicators_do_not_enter_agreement(context):
    found = tables(1, said("a", 0), said("b", 0, difficulty="极难"), said("judge", 0, difficulty="中等"))
    result = review.run(found, PARAMS.model_copy(update={"adjudicators": ["judge"]}), context)
    assert set(result.tables["agreement"]["reviewers"]) == {"all", "a & b", "experts & lexicon"}
    settled = result.tables["labels"].filter(pl.col("dimension") == "difficulty").row(0, named=True)
    assert (settled["label"], settled["status"], settled["reviewers"]) == ("中等", "adjudicated", ["a", "b", "judge"])


who = st.sampled_from(["a", "b", "c", "judge"])
reviews = st.lists(
    st.builds(
        lambda reviewer, number, at, level: said(reviewer, number, at, difficulty=level),
        who,
        st.integers(0, 5),
        st.integers(0, 9),
        st.sampled_from(dimensions()["difficulty"].zh_names()),
    ),
    max_size=25,
)


@settings(max_examples=40, deadline=None, suppress_health_check=["function_scoped_fixture"])
@given(reviews, st.randoms(use_true_random=False))
def test_counts_add_up_and_the_order_of_reviews_changes_nothing(context, groups, random):
    params = PARAMS.model_copy(update={"adjudicators": ["judge"]})
    result = review.run(tables(4, *groups), params, context)
    assert result.counts.balanced()
    assert result.counts.n_input == 4
    assert len(result.review) == result.counts.waiting
    assert result.tables["labels"].height == 4 * len(FIRST)
    unique = {(row.updated_at, row.annotation_id, row.reviewer, row.dimension) for g in groups for row in g}
    if len(unique) == sum(map(len, groups)):
        shuffled = review.run(tables(4, *random.sample(groups, len(groups))), params, context)
        assert result.tables["labels"].equals(shuffled.tables["labels"])
        assert result.tables["agreement"].equals(shuffled.tables["agreement"])
        assert result.review == shuffled.review


def test_the_status_is_that_of_the_last_pull(context):
    found = tables(3, said("a", 0), said("b", 0), said("a", 1))
    status, paces, rows, _ = review.status(found, PARAMS, read_control(context.build))
    assert [(pace.reviewer, pace.questions, pace.left) for pace in paces] == [("a", 2, 1), ("b", 1, 2)]
    assert [(row.items, row.raw) for row in rows] == [(1, 1.0)] * 5
    assert status.states[State.DONE] == status.states[State.ONE_OF_TWO] == status.states[State.UNREVIEWED] == 1
    assert status.experts == {"a": 2, "b": 1}


def test_what_the_adjudicator_flags_goes_to_verification_and_ends_there(context):
    found = tables(1, said("a", 0), said("b", 0), said("w", 0))
    ruling = (pl.col("reviewer") == "w").alias("ruling")
    found["pulled"] = found["pulled"].with_columns(
        project=pl.when(ruling).then(pl.lit("adjudication")).otherwise("project"),
        flags=pl.when(ruling).then(pl.lit(["wrong_stem"])).otherwise("flags"),
    )
    result = review.run(found, PARAMS, context)
    assert [item.reason for item in result.review] == ["flagged_by_adjudicator"]
    for stage, name, table in (
        ("parse", "review", ReviewItem.to_frame([])),
        ("clean", "questions", found["questions"]),
        ("review", "review", ReviewItem.to_frame(result.review)),
    ):
        (context.build / stage).mkdir(parents=True, exist_ok=True)
        table.write_parquet(context.build / stage / f"{name}.parquet")
    [(item, question)], without = waiting_questions(context.build)
    assert (item.reason, question.question_id, without) == ("flagged_by_adjudicator", "q0", 0)
    keep = records.correction("v", "keep", question_id="q0", field="verdict", origin="verification")
    found["corrections"] = Correction.to_frame([keep.model_copy(update={"status": CorrectionStatus.ACCEPTED})])
    assert review.run(found, PARAMS, context).review == []
