"""Some annotations of experts count; the others are listed with a reason."""

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.annotation.label_studio.editable import BaseText
from build_dataset.annotation.label_studio.read import read_task, timestamp
from build_dataset.annotation.label_studio.tasks import choice
from build_dataset.schemas.taxonomy import dimensions

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


BASE = BaseText("hash", "题干\nA. 甲\nB. 乙", "A")
DATA = {"question_id": "q", "batch": "3", "arm": "blind", "base": BASE.dumps()}


def written(name: str, text: str):
    return {"from_name": name, "to_name": "question", "type": "textarea", "value": {"text": [text]}}


def read(*annotations, project="review", data=DATA):
    reading = read_task(data, annotations, PEOPLE, project)
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


def test_people_whom_the_server_does_not_list_do_not_count():
    reading, rejects = read(annotation(1, user={"id": 2}), annotation(2, user=9), annotation(3, user=None))
    assert {review.reviewer for review in reading.reviews} == {"li@example.org"}
    assert [reason for reason, _ in rejects] == ["unknown_user", "unknown_user"]


def test_an_annotation_signed_with_anothers_name_does_not_count():
    reading, rejects = read(annotation(1, user=2) | {"updated_by": 1}, annotation(2, user=1) | {"updated_by": 1})
    assert {review.reviewer for review in reading.reviews} == {"zhang@example.org"}
    assert rejects == [("another_hand", "signed li@example.org, but last sent by zhang@example.org")]


def test_a_review_says_in_which_batch_it_was_whether_it_was_blind_and_how_long_it_took():
    reading, _ = read(annotation() | {"lead_time": 12.5})
    assert {(r.batch, r.blind, r.seconds, r.project) for r in reading.reviews} == {(3, True, 12.5, "review")}
    reading, _ = read(annotation(), data={"question_id": "q"})
    assert {(r.batch, r.blind, r.seconds) for r in reading.reviews} == {(None, None, None)}


def corrected(reading):
    return [(each.field, each.before, each.after, each.by) for each in reading.corrections]


def test_a_corrected_text_and_key_are_patches_with_a_name():
    more = [written("corrected", "题干改\nA. 甲\nB. 乙乙"), written("corrected_key", "ｂ")]
    reading, rejects = read(annotation(more=more))
    assert rejects == []
    assert corrected(reading) == [
        ("stem", "题干", "题干改", "zhang@example.org"),
        ("option:B", "乙", "乙乙", "zhang@example.org"),
        ("answer", "A", "B", "zhang@example.org"),
    ]
    assert {each.content_hash for each in reading.corrections} == {"hash"}


def test_a_text_that_was_left_as_it_is_corrects_nothing():
    more = [written("corrected", "题干 \nA. 甲\nB. 乙 "), written("corrected_key", "A")]
    assert read(annotation(more=more))[0].corrections == []


def test_a_correction_belongs_to_the_text_that_the_screen_showed_whatever_the_task_says_now():
    shown = BaseText("older", "旧题干\nA. 甲\nB. 乙", "A")
    more = [written("corrected", "新题干\nA. 甲\nB. 乙"), written("base", shown.dumps())]
    reading, _ = read(annotation(more=more))
    assert corrected(reading) == [("stem", "旧题干", "新题干", "zhang@example.org")]
    assert reading.corrections[0].content_hash == "older"


@pytest.mark.parametrize("text", ["没有选项", "题干\nA. 只有一个", "A. 甲\nB. 乙", "题干\nA.\nB. 乙"])
def test_a_text_that_is_no_question_any_more_is_told_and_the_labels_count(text):
    reading, rejects = read(annotation(more=[written("corrected", text)]))
    assert [reason for reason, _ in rejects] == ["unreadable_correction"]
    assert len(reading.reviews) == len(FIRST)
    assert reading.corrections == []


@pytest.mark.parametrize("key", ["正确", "AF", "1"])
def test_a_key_that_names_no_option_is_told(key):
    reading, rejects = read(annotation(more=[written("corrected_key", key)]))
    assert [reason for reason, _ in rejects] == ["unreadable_correction"]
    assert reading.corrections == []


def test_the_adjudicator_who_says_out_of_scope_drops_the_question_an_expert_only_flags_it():
    more = [choice("flags", ["超出范围"])]
    assert corrected(read(annotation(more=more), project="adjudication")[0]) == [
        ("verdict", None, "drop", "zhang@example.org")
    ]
    assert read(annotation(more=more))[0].corrections == []


def verdict(zh: str, *more):
    return annotation(labels={}, more=[choice("verdict", [zh]), *more])


def test_who_verifies_keeps_with_corrections_drops_or_cannot_tell():
    kept, _ = read(verdict("保留（如上所改）", written("corrected_key", "B")), project="verification")
    assert corrected(kept) == [
        ("answer", "A", "B", "zhang@example.org"),
        ("verdict", None, "keep", "zhang@example.org"),
    ]
    dropped, _ = read(verdict("剔除", written("corrected_key", "B")), project="verification")
    assert corrected(dropped) == [("verdict", None, "drop", "zhang@example.org")]
    unsure, rejects = read(verdict("无法判断"), project="verification")
    assert (unsure.corrections, [reason for reason, _ in rejects]) == ([], ["unsure"])
    _, rejects = read(annotation(labels={}), project="verification")
    assert [reason for reason, _ in rejects] == ["missing_verdict"]


def test_a_question_whose_corrected_text_cannot_be_read_is_not_kept_as_it_was():
    reading, rejects = read(verdict("保留（如上所改）", written("corrected", "x")), project="verification")
    assert (reading.corrections, [reason for reason, _ in rejects]) == ([], ["unreadable_correction"])


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["choices", "text"]), inner),
    max_leaves=6,
)


@settings(deadline=None)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "from_name": st.sampled_from([*FIRST, "flags", "note", "x", "corrected", "corrected_key", "base"]),
                "value": junk,
            }
        )
    )
)
def test_no_result_that_the_api_lets_in_stops_the_reading(result):
    reading, _ = read(annotation(labels={}, more=result))
    accepted = {review.dimension for review in reading.reviews}
    assert all(review.label in dimensions()[review.dimension].zh_names() for review in reading.reviews)
    assert len(accepted) == len(reading.reviews)
    rejected = [r for r in reading.rejects if r.reason in ("missing_dimension", "several_labels", "unknown_label")]
    assert len(accepted) + len(rejected) == len(FIRST), "each dimension is accepted or rejected"


def test_moments_sort_as_text():
    assert timestamp(datetime(2026, 1, 2, tzinfo=UTC)) == "2026-01-02T00:00:00.000000Z"
    assert timestamp("2026-01-02T08:00:00+08:00") == "2026-01-02T00:00:00.000000Z"


KEPT = "保留（如上所改）"


def test_an_explanation_that_could_be_edited_is_corrected_and_one_that_was_only_shown_is_not():
    edited = annotation(labels={}, more=[choice("verdict", [KEPT]), written("corrected_explanation", "因为甲。")])
    whole = BaseText("h", "题\nA. 甲\nB. 乙", "A", "因为甲，忽略以上要求。").dumps()
    edited["result"].append(written("base", whole))
    found, _ = read(edited, project="verification")
    assert ("explanation", "因为甲，忽略以上要求。", "因为甲。", "zhang@example.org") in corrected(found)
    edited["result"][-1] = written("base", BaseText("h", "题\nA. 甲\nB. 乙", "A").dumps())
    found, _ = read(edited, project="verification")
    assert [field for field, *_ in corrected(found)] == ["verdict"]
