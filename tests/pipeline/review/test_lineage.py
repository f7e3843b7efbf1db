"""A question whose wording changed a little keeps its reviews; one that asks something else is asked anew, and told."""

import polars as pl
import pytest

from build_dataset.annotation.adjudication import State
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import stage as review
from build_dataset.pipeline.review.lineage import asked_questions, trace, word_difference
from build_dataset.schemas.annotations import Annotation, AskedQuestion, Correction, ExpertReview, LabelStatus
from build_dataset.schemas.questions import Question
from build_dataset.schemas.taxonomy import dimensions
from tests.annotation import records
from tests.making import make_question

PARAMS = ReviewParams(bootstrap=100)
FIRST = {name: dimension.zh_names()[0] for name, dimension in dimensions().items()}
STEM = "男，65岁，反复咳嗽咳痰10年，加重伴发热3天，最可能的诊断是"
OPTIONS = ["慢性支气管炎", "支气管扩张", "肺结核", "肺癌", "肺炎"]
OLD = make_question(STEM, OPTIONS, "A", question_id="old-1-001")


def changed(stem=STEM, options=OPTIONS, answer="A", question_id="new-1-001"):
    return make_question(stem, options, answer, question_id=question_id)


def tables(after, reviewers=("zhang", "li"), **more):
    """The old question was reviewed; its dataset holds another wording now."""
    asked = asked_questions(Question.to_frame([OLD]), "2026-01-01T00:00:00.000000Z")
    rows = [
        records.review(who, label, question_id=OLD.question_id, dimension=name, asked=asked["version"][0], at=5)
        for who in reviewers
        for name, label in FIRST.items()
    ]
    labelled = [records.annotation(n, label, question_id=q.question_id) for q in after for n, label in FIRST.items()]
    return {
        "questions": Question.to_frame(after),
        "annotations": Annotation.to_frame(labelled),
        "pulled": ExpertReview.to_frame(rows),
        "asked": asked,
        "corrections": Correction.to_frame([]),
        **more,
    }


def states(found):
    return {each.question_id: each.state for each in review.settle_questions(found, PARAMS).statuses}


TYPOGRAPHY = [STEM.replace("，", "、", 1), STEM + "（ ）", STEM + "："]
WORDS = [
    STEM.replace("最可能的诊断是", "最可能的疾病是"),
    STEM.replace("反复", "长期反复"),
    STEM.replace("加重", "加剧"),
]
MEANING = [
    (changed(STEM.replace("65", "56")), "age"),
    (changed(STEM.replace("10年", "20年")), "number"),
    (changed(STEM.replace("最可能的诊断是", "最不可能的诊断是")), "negation"),
    (changed(STEM.replace("男", "女")), "sex"),
    (changed(answer="B"), "key"),
    (changed(options=[*OPTIONS[:4], "肺脓肿"]), "option E"),
    (changed(options=OPTIONS[:4]), "option E"),
]


@pytest.mark.parametrize("stem", TYPOGRAPHY)
@pytest.mark.parametrize("question_id", ["old-1-001", "new-1-001"])
def test_reviews_stand_where_only_typography_changed(stem, question_id):
    found = tables([changed(stem, question_id=question_id)])
    assert states(found) == {question_id: State.DONE}
    [change] = trace(found).changes
    assert (change.kind, change.after, change.reviewers) == ("typography", question_id, ("li", "zhang"))


@pytest.mark.parametrize("stem", WORDS)
@pytest.mark.parametrize("question_id", ["old-1-001", "new-1-001"])
def test_one_expert_confirms_where_words_changed(stem, question_id):
    found = tables([changed(stem, question_id=question_id)])
    settled = review.settle_questions(found, PARAMS)
    assert [each.state for each in settled.statuses] == [State.CHANGED]
    assert {each.status for each in settled.labels} == {LabelStatus.SINGLE}
    assert {each.dimension: each.label for each in settled.labels} == FIRST
    assert "{+" in settled.statuses[0].detail()


@pytest.mark.parametrize("stem", WORDS)
def test_after_the_confirmation_all_reviews_count(stem):
    new = changed(stem)
    version = asked_questions(Question.to_frame([new]), "2026-01-01T10:00:00.000000Z")
    found = tables([new])
    rows = [
        records.review("wang", label, question_id="new-1-001", dimension=name, asked=version["version"][0], at=80000)
        for name, label in FIRST.items()
    ]
    found["pulled"] = pl.concat([found["pulled"], ExpertReview.to_frame(rows)])
    found["asked"] = pl.concat([found["asked"], version])
    settled = review.settle_questions(found, PARAMS)
    assert [each.state for each in settled.statuses] == [State.DONE]
    assert {(each.status, len(each.reviewers)) for each in settled.labels} == {(LabelStatus.AGREED, 3)}


@pytest.mark.slow
@pytest.mark.parametrize(("after", "reason"), MEANING, ids=[reason for _, reason in MEANING])
@pytest.mark.parametrize("question_id", ["old-1-001", "new-1-001"])
def test_a_question_that_asks_something_else_is_asked_anew_and_told(after, reason, question_id):
    after = after.model_copy(update={"question_id": question_id})
    found = tables([after])
    settled = review.settle_questions(found, PARAMS)
    assert [each.state for each in settled.statuses] == [State.UNREVIEWED]
    assert settled.ignored == {"changed_question": 2 * len(FIRST)}
    [change] = trace(found).changes
    assert change.kind == "meaning"
    assert reason in change.reason


CORRECTED = [
    (changed(answer="B", question_id="old-1-001"), "answer", "B"),
    (changed(STEM.replace("65", "56"), question_id="old-1-001"), "stem", STEM.replace("65", "56")),
    (changed(STEM.replace("反复", "长期反复"), question_id="old-1-001"), "stem", STEM.replace("反复", "长期反复")),
    (changed(options=[*OPTIONS[:4], "肺脓肿"], question_id="old-1-001"), "option:E", "肺脓肿"),
    (changed(options=[*OPTIONS, "肺脓肿"], question_id="old-1-001"), "option:F", "肺脓肿"),
]


def wrote(field, after, *people, status="accepted", **more):
    made = {"question_id": OLD.question_id, "field": field, "annotation_id": 1, "status": status} | more
    return Correction.to_frame([records.correction(who, after, **made) for who in people])


@pytest.mark.parametrize(("after", "field", "text"), CORRECTED, ids=[field for _, field, _ in CORRECTED])
def test_labels_of_experts_who_wrote_the_correction_themselves_count_for_the_corrected_question(after, field, text):
    found = tables([after], corrections=wrote(field, text, "zhang", "li"))
    settled = review.settle_questions(found, PARAMS)
    assert [each.state for each in settled.statuses] == [State.DONE]
    assert {each.status for each in settled.labels} == {LabelStatus.AGREED}
    assert (settled.ignored, settled.lineage.anew) == ({}, frozenset())
    assert [(each.kind, each.reviewers) for each in settled.lineage.changes] == [("corrected", ("li", "zhang"))]


@pytest.mark.parametrize(
    "corrections",
    [
        wrote("answer", "B", "zhang", status="proposed"),  # the source has another key since
        wrote("answer", "C", "zhang", "li"),  # and it changed again
        wrote("answer", "B", "zhang", "li", annotation_id=2),  # at another time than they gave the labels
    ],
    ids=["one", "other", "later"],
)
def test_a_key_that_its_reviewers_did_not_write_together_with_their_labels_is_asked_anew(corrections):
    found = tables([changed(answer="B", question_id="old-1-001")], corrections=corrections)
    assert states(found) == {"old-1-001": State.UNREVIEWED}
    assert trace(found).anew == {"old-1-001"}


def test_who_did_not_write_the_correction_is_asked_anew_and_who_ruled_with_it_is_not():
    found = tables([changed(answer="B", question_id="old-1-001")], reviewers=("zhang", "li", "wang"))
    ruling = pl.when(pl.col("reviewer") == "wang").then(pl.lit("adjudication")).otherwise("project")
    found["pulled"] = found["pulled"].with_columns(project=ruling)
    found["corrections"] = wrote("answer", "B", "wang", origin="adjudication")
    settled = review.settle_questions(found, PARAMS)
    assert [each.state for each in settled.statuses] == [State.DONE]
    assert {(each.status, *each.reviewers) for each in settled.labels} == {(LabelStatus.ADJUDICATED, "wang")}
    assert settled.ignored == {"changed_question": 2 * len(FIRST)}


def test_a_reviewed_question_that_left_the_dataset_is_told():
    other = make_question("孕妇贫血的首选治疗", ["铁剂", "叶酸", "输血", "观察", "激素"], question_id="x-1-001")
    found = tables([other])
    [change] = trace(found).changes
    assert (change.before, change.after, change.kind) == (OLD.question_id, None, "gone")
    assert review.settle_questions(found, PARAMS).ignored == {"other_question": 2 * len(FIRST)}


def test_what_did_not_change_is_not_listed():
    assert trace(tables([OLD])).changes == ()
    assert trace(tables([changed(STEM.replace("65岁，", "６５岁, "), question_id=OLD.question_id)])).changes == ()
    moved = tables([OLD.model_copy(update={"question_id": "moved"})])
    assert states(moved) == {"moved": State.DONE}
    assert [each.kind for each in trace(moved).changes] == ["moved"]


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ("最可能的诊断是", "最可能的疾病是", "最可能的[-诊断-]{+疾病+}是"),
        ("血压160/100mmHg", "血压150/100mmHg", "血压[-160-]{+150+}/100mmHg"),
        ("甲，乙", "甲乙", "甲[-，-]乙"),
    ],
)
def test_a_difference_is_shown_word_by_word(before, after, shown):
    assert word_difference(before, after) == shown


def test_versions_are_kept_once_each():
    first = asked_questions(Question.to_frame([OLD]), "2026-01-01T00:00:00.000000Z")
    assert first.schema == AskedQuestion.polars_schema()
    spaced = asked_questions(Question.to_frame([OLD.model_copy(update={"stem": STEM + " "})]), "2026-02-01T00:00:00Z")
    assert first["version"].equals(spaced["version"])
