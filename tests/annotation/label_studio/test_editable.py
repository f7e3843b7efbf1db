"""A question as text that can be edited comes back whole."""

import pytest
from hypothesis import given, strategies as st

from build_dataset.annotation.label_studio.editable import (
    BaseText,
    UnreadableTextError,
    base_text,
    changed_fields,
    changed_part,
    fields_of,
    key_letters,
    text_of,
    with_proposals,
)
from build_dataset.schemas.questions import Option, Question
from tests.annotation import records

words = st.text("肝胆甲乙 1+-()。，mmHg", min_size=1).filter(lambda text: text.strip() == text)


def question(stem: str, options: list[str], shared: str | None = None) -> Question:
    made = [Option(label=chr(65 + place), text=text) for place, text in enumerate(options)]
    return records.question(stem=stem, shared_stem=shared, options=made, content_hash="h")


@given(st.lists(words, min_size=1, max_size=3), st.lists(words, min_size=2, max_size=8), st.none() | words)
def test_what_was_not_edited_has_not_changed(stem, options, shared):
    whole = question("\n".join(stem), options, shared)
    found = fields_of(text_of(whole))
    expected = {"shared_stem": shared} if shared else {}
    expected |= {"stem": whole.stem} | {f"option:{option.label}": option.text for option in whole.options}
    assert found == expected
    assert changed_fields(found, expected) == {}


def test_changes_name_the_field_and_leave_white_space_aside():
    before = fields_of("题 干\nA. 甲\nB. 乙")
    after = fields_of("题干\nA、甲\nB. 丙\nC：丁\n还有")
    assert changed_fields(before, after) == {"option:B": ("乙", "丙"), "option:C": (None, "丁\n还有")}
    assert changed_fields(after, before) == {"option:B": ("丙", "乙"), "option:C": ("丁\n还有", None)}


@pytest.mark.parametrize("text", ["", "题干", "A. 甲\nB. 乙", "题干\nA. 甲\nB. ", "【共用题干】病例\nA. 甲\nB. 乙"[9:]])
def test_what_is_no_question_is_told(text):
    with pytest.raises(UnreadableTextError):
        fields_of(text)


@pytest.mark.parametrize(("text", "key"), [("b", "B"), (" A、C,D ", "ACD"), ("ＤＢ", "BD"), ("AA", "A")])
def test_a_key_is_read_however_it_is_typed(text, key):
    assert key_letters(text) == key


@given(st.text(), st.text())
def test_what_the_person_saw_comes_back_as_it_went(text, key):
    base = BaseText("h", text, key)
    assert BaseText.loads(base.dumps()) == base


@given(st.text())
def test_anything_else_is_not_what_the_person_saw(line):
    found = BaseText.loads(line)
    assert found is None or isinstance(found.text, str)


def proposal(field: str, after: str | None, by: str = "a", **fields):
    return records.correction(by, after, field=field, **fields)


def test_what_was_proposed_is_filled_in_unless_two_propose_different_things():
    base = base_text(question("题干", ["甲", "乙", "丙"]))
    proposals = [
        proposal("stem", "新题干"),
        proposal("stem", "新题干", "b"),
        proposal("option:A", "甲一"),
        proposal("option:A", "甲二", "b"),
        proposal("option:C", None),
        proposal("answer", "A"),
        proposal("option:B", "旧", content_hash="of an older text"),
    ]
    found = with_proposals(base, proposals)
    assert (found.text, found.key) == ("新题干\nA. 甲\nB. 乙", "A")
    assert found.content_hash == base.content_hash
    assert with_proposals(base, []) == base


def test_a_question_without_options_stays_as_it_is():
    base = BaseText("h", "没有选项", "A")
    assert with_proposals(base, [proposal("stem", "x"), proposal("answer", "B")]) == BaseText("h", "没有选项", "B")


@given(words, st.lists(words, min_size=2, max_size=4), st.none() | words, words)
def test_what_is_filled_in_changes_what_was_proposed_and_nothing_else(stem, options, shared, new):
    base = base_text(question(stem, options, shared))
    found = with_proposals(base, [proposal("option:B", new)])
    assert set(changed_fields(fields_of(base.text), fields_of(found.text))) <= {"option:B"}
    assert fields_of(found.text)["option:B"] == new


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("A", "B", "A → B"),
        (None, "丁", "（无） → 丁"),
        ("丁", None, "丁 → （删）"),
        ("一二三四五六七八九十甲一二三四五六七八九十", "一二三四五六七八九十乙一二三四五六七八九十",
         "…三四五六七八九十甲一二三四五六七八… → …三四五六七八九十乙一二三四五六七八…"),
        ("最易检出", "最易检出的", "最易检出 → 最易检出的"),
    ],
)  # fmt: skip
def test_a_change_is_told_without_what_is_the_same_around_it(before, after, expected):
    assert changed_part(before, after) == expected


@pytest.mark.parametrize(("before", "after"), [("frictionrub", "friction rub"), ("3 4mg", "34mg")])
def test_a_space_that_separates_words_is_a_change(before, after):
    assert changed_fields({"stem": before}, {"stem": after}) == {"stem": (before, after)}
