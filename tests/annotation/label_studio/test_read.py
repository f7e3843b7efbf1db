"""What counts of experts' annotations, and why the rest does not."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.label_studio.read import read_annotations, timestamp
from annotation.label_studio.tasks import choice
from schemas.taxonomy import dimensions

PEOPLE = {1: "zhang@example.org", 2: "li@example.org"}
FIRST = {name: dimension.zh_names()[0] for name, dimension in dimensions().items()}


def annotation(number=1, user=1, labels=FIRST, *, minute=0, skipped=False, more=()):
    return {
        "id": number,
        "completed_by": user,
        "was_cancelled": skipped,
        "updated_at": f"2026-01-01T00:{minute:02}:00.000000Z",
        "result": [choice(name, [label]) for name, label in labels.items()] + list(more),
    }


def read(*annotations):
    reading = read_annotations("q", annotations, PEOPLE)
    return reading, [(reject.reason, reject.detail) for reject in reading.rejects]


def test_an_annotation_is_one_review_in_each_dimension():
    note = {"from_name": "note", "type": "textarea", "value": {"text": [" 应为 B ", "见教材"]}}
    reading, rejects = read(annotation(7, more=[choice("flags", ["答案有误", "题干有误"]), note]))
    assert rejects == []
    assert [(review.dimension, review.label) for review in reading.reviews] == list(FIRST.items())
    assert {review.reviewer for review in reading.reviews} == {"zhang@example.org"}
    assert reading.reviews[0].flags == ["wrong_key", "wrong_stem"]
    assert reading.reviews[0].note == "应为 B\n见教材"
    assert reading.reviews[0].annotation_id == 7


def test_the_origin_says_whether_the_prefilled_label_was_changed():
    given_labels = annotation()
    given_labels["result"][0]["origin"] = "prediction-changed"
    reading, _ = read(given_labels)
    assert [review.origin for review in reading.reviews[:2]] == ["prediction-changed", None]


def test_of_two_annotations_by_one_expert_the_later_counts():
    changed = FIRST | {"difficulty": "极难"}
    reading, rejects = read(annotation(2, labels=changed, minute=5), annotation(1), annotation(3, user=2))
    assert rejects == [("superseded", "zhang@example.org submitted it again; the later one counts")]
    assert '"annotation_id": 1' in reading.rejects[0].item
    mine = [r.label for r in reading.reviews if r.dimension == "difficulty" and r.reviewer == PEOPLE[1]]
    assert mine == ["极难"]


def test_a_skipped_annotation_does_not_replace_an_earlier_one():
    reading, rejects = read(annotation(1), annotation(2, labels={}, minute=5, skipped=True))
    assert rejects == [("skipped", "zhang@example.org skipped it")]
    assert len(reading.reviews) == len(FIRST)


def test_one_bad_dimension_does_not_touch_the_others():
    bad = annotation(labels=FIRST | {"competency": "内科"})
    bad["result"] = [item for item in bad["result"] if item["from_name"] != "difficulty"]
    bad["result"][0] = choice("disease_group", ["肿瘤", "皮肤疾病"])
    reading, rejects = read(bad)
    assert [review.dimension for review in reading.reviews] == ["clinical_department", "medical_discipline"]
    assert [reason for reason, _ in rejects] == ["several_labels", "unknown_label", "missing_dimension"]
    assert rejects[1][1] == "zhang@example.org, competency: no label '内科' in the taxonomy"


def test_reviewers_are_known_by_e_mail_or_by_number():
    reading, _ = read(annotation(1, user={"id": 2}), annotation(2, user=9), annotation(3, user=None))
    assert {review.reviewer for review in reading.reviews} == {"li@example.org", "user 9", "unknown"}


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["choices", "text"]), inner),
    max_leaves=6,
)


@settings(deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries({"from_name": st.sampled_from([*FIRST, "flags", "note", "x"]), "value": junk})
    )
)
def test_no_result_that_the_api_lets_in_stops_the_reading(result):
    reading, _ = read(annotation(labels={}, more=result))
    accepted = {review.dimension for review in reading.reviews}
    assert all(review.label in dimensions()[review.dimension].zh_names() for review in reading.reviews)
    assert len(accepted) == len(reading.reviews)
    rejected = [
        r for r in reading.rejects if r.reason in ("missing_dimension", "several_labels", "unknown_label")
    ]
    assert len(accepted) + len(rejected) == len(FIRST), "each dimension is accepted or rejected"


def test_moments_sort_as_text():
    assert timestamp(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00.000000Z"
    assert timestamp("2026-01-02T08:00:00+08:00") == "2026-01-02T00:00:00.000000Z"
