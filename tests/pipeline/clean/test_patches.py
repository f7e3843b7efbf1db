"""Corrections are patches: applied on the text they were made on, never on another."""

import polars as pl
from hypothesis import given, strategies as st

from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.clean.stage import run
from build_dataset.schemas.annotations import Correction
from build_dataset.schemas.identity import content_hash
from build_dataset.schemas.questions import Question, ReviewItem
from tests.making import Silent, make_question


def correction(base: Question, field: str, before: str | None, after: str | None, **fields) -> Correction:
    values = {
        "question_id": base.question_id,
        "content_hash": base.content_hash,
        "field": field,
        "before": before,
        "after": after,
        "by": "zhang@example.org",
        "origin": "review",
        "note": None,
        "annotation_id": 1,
        "updated_at": "2026-01-01T00:00:00.000000Z",
        "status": "accepted",
    }
    return Correction(**(values | fields))


def clean(questions: list[Question], corrections: list[Correction], waiting: list[ReviewItem] = ()):  # type: ignore[assignment]
    tables = {
        "questions": Question.to_frame(questions),
        "review": ReviewItem.to_frame(waiting),
        "corrections": Correction.to_frame(corrections),
    }
    result = run(tables, CleanParams(), Silent())
    assert result.counts.balanced()
    return result


def kept(result) -> list[Question]:
    return list(Question.from_frame(result.tables["questions"]))


def test_an_accepted_correction_changes_its_field_and_nothing_else():
    base, other = make_question(), make_question(number=2)
    result = clean([base, other], [correction(base, "answer", "A", "B")])
    assert kept(result) == [base.model_copy(update={"answer": ["B"]}), other]
    assert result.tables["corrections"]["by"].to_list() == ["zhang@example.org"]


def test_who_wrote_an_accepted_correction_is_named_each():
    base = make_question()
    both = [correction(base, "answer", "A", "B", by=who) for who in ("li", "zhang", "zhang")]
    assert clean([base], both).tables["corrections"].select("after", "by").rows() == [("B", "li, zhang")]


def test_corrected_texts_have_the_hash_of_what_they_say():
    base = make_question()
    patches = [correction(base, "stem", "肺炎首选", "肺炎的首选药"), correction(base, "option:B", "乙药", "丙药")]
    [found] = kept(clean([base], patches))
    assert (found.stem, [option.text for option in found.options]) == ("肺炎的首选药", ["甲药", "丙药"])
    assert found.content_hash == content_hash("肺炎的首选药", ["甲药", "丙药"])


def test_proposed_and_declined_corrections_change_nothing():
    base = make_question()
    patches = [correction(base, "answer", "A", "B", status=status) for status in ("proposed", "declined")]
    result = clean([base], patches)
    assert kept(result) == [base]
    assert result.tables["corrections"].is_empty()


def test_a_correction_of_another_text_waits_for_a_person():
    before, now = make_question("旧题干是这样的"), make_question("新题干是这样的")
    result = clean([now], [correction(before, "stem", before.stem, "改过的题干")])
    assert kept(result) == []
    [item] = result.review
    assert (item.item_id, item.reason) == (now.question_id, "correction_outdated")
    assert "zhang@example.org changed stem" in item.detail


def test_a_correction_that_better_ocr_has_made_itself_is_done():
    before, now = make_question("月市炎首选"), make_question("肺炎首选")
    assert kept(clean([now], [correction(before, "stem", before.stem, "肺炎首选")])) == [now]


def test_a_key_that_changed_since_it_was_corrected_waits_and_one_that_was_lost_is_set():
    base = make_question()
    patch = correction(base, "answer", "A", "B")
    changed = clean([make_question(options=("甲药", "乙药", "丙药"), answer="C")], [patch])
    assert [item.reason for item in changed.review] == ["correction_outdated"]
    three = make_question(options=("甲药", "乙药", "丙药"))
    rekeyed = clean([three.model_copy(update={"answer": ["C"]})], [correction(three, "answer", "A", "B")])
    assert [item.reason for item in rekeyed.review] == ["correction_outdated"]
    other_key = base.model_copy(update={"options": base.options, "answer": ["B"]})
    assert kept(clean([other_key], [patch])) == [other_key]
    assert kept(clean([base.model_copy(update={"answer": None})], [patch]))[0].answer == ["B"]


def test_a_second_correction_goes_onto_what_the_first_one_made():
    base = make_question()
    first = correction(base, "stem", "肺炎首选", "肺炎的首选")
    between = make_question("肺炎的首选")
    second = correction(between, "option:A", "甲药", "青霉素", by="li@example.org")
    [found] = kept(clean([base], [second, first]))
    assert (found.stem, found.options[0].text) == ("肺炎的首选", "青霉素")


def test_who_drops_a_question_is_named_with_the_reason():
    base = make_question()
    result = clean([base], [correction(base, "verdict", None, "drop", origin="adjudication", note="与医学无关")])
    [reject] = result.rejects
    assert (reject.reason, reject.detail) == ("dropped_by_expert", "dropped by zhang@example.org: 与医学无关")


def test_a_question_that_waited_in_parse_goes_on_once_it_was_verified():
    base = make_question(answer=None)
    item = ReviewItem(
        item_id=base.question_id,
        question_ids=[base.question_id],
        stage="parse",
        reason="no_answer",
        detail="no key",
        item=base.model_dump_json(exclude_none=True),
    )
    assert kept(clean([], [], [item])) == []
    patches = [
        correction(base, "answer", None, "B", origin="verification"),
        correction(base, "verdict", None, "keep", origin="verification"),
    ]
    result = clean([], patches, [item])
    assert kept(result)[0].answer == ["B"]
    assert result.counts.n_input == 1
    assert result.facts["verified_since_parse"] == 1


def test_doubts_that_a_person_answered_do_not_stop_a_question_and_faults_still_do():
    doubtful = make_question(comment="本题有误")
    assert [item.reason for item in clean([doubtful], []).review] == ["erratum"]
    keep = correction(doubtful, "verdict", None, "keep", origin="verification")
    assert kept(clean([doubtful], [keep])) == [doubtful]
    faulty = make_question("如图所示，病变位于")
    keep = correction(faulty, "verdict", None, "keep", origin="verification")
    assert clean([faulty], [keep]).rejects


def test_a_shared_case_is_corrected_at_all_questions_that_share_it():
    group = {"shared_stem": "男，50岁，胸通。", "group_id": "g"}
    first, second = make_question(number=1, **group), make_question("其治疗是", number=2, **group)
    patch = correction(first, "shared_stem", group["shared_stem"], "男，50岁，胸痛。")
    assert {found.shared_stem for found in kept(clean([first, second], [patch]))} == {"男，50岁，胸痛。"}


texts = st.text("肺炎首选药物 \n", min_size=4, max_size=12).filter(str.strip)


@given(texts, texts, texts)
def test_no_correction_is_ever_applied_to_another_text_and_none_is_lost(made_on, says, wanted):
    base, now = make_question(made_on.strip()), make_question(says.strip())
    result = clean([now], [correction(base, "stem", base.stem, wanted.strip())])
    if result.tables["corrections"].height:
        assert base.content_hash == content_hash(says, [option.text for option in now.options])
    assert result.counts.n_input == 1


def test_applying_corrections_again_gives_the_same_tables():
    base = make_question()
    patches = [correction(base, "answer", "A", "B"), correction(base, "stem", "肺炎首选", "肺炎的首选")]
    once, again = clean([base], patches), clean([base], patches[::-1])
    assert all(once.tables[name].equals(again.tables[name]) for name in ("questions", "changes"))
    assert isinstance(once.tables["corrections"], pl.DataFrame)
