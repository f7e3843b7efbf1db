"""A question as text that can be edited comes back whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.label_studio.editable import (
    Base,
    UnreadableTextError,
    base_of,
    changes,
    fields_of,
    key_of,
    text_of,
)
from schemas.questions import Option, Question, QuestionType

words = st.text("肝胆甲乙 1+-()。，mmHg", min_size=1).filter(lambda text: text.strip() == text)


def question(stem: str, options: list[str], shared: str | None = None) -> Question:
    return Question(
        question_id="q",
        document="d",
        section=1,
        number=1,
        question_type=QuestionType.A1,
        stem=stem,
        shared_stem=shared,
        options=[Option(label=chr(65 + place), text=text) for place, text in enumerate(options)],
        answer=["B"],
        content_hash="h",
    )


@given(st.lists(words, min_size=1, max_size=3), st.lists(words, min_size=2, max_size=8), st.none() | words)
def test_what_was_not_edited_has_not_changed(stem, options, shared):
    whole = question("\n".join(stem), options, shared)
    found = fields_of(text_of(whole))
    expected = {"shared_stem": shared} if shared else {}
    expected |= {"stem": whole.stem} | {f"option:{option.label}": option.text for option in whole.options}
    assert found == expected
    assert changes(found, expected) == {}


def test_changes_name_the_field_and_leave_white_space_aside():
    before = fields_of("题 干\nA. 甲\nB. 乙")
    after = fields_of("题干\nA、甲\nB. 丙\nC：丁\n还有")
    assert changes(before, after) == {"option:B": ("乙", "丙"), "option:C": (None, "丁\n还有")}
    assert changes(after, before) == {"option:B": ("丙", "乙"), "option:C": ("丁\n还有", None)}


@pytest.mark.parametrize(
    "text", ["", "题干", "A. 甲\nB. 乙", "题干\nA. 甲\nB. ", "【共用题干】病例\nA. 甲\nB. 乙"[9:]]
)
def test_what_is_no_question_is_told(text):
    with pytest.raises(UnreadableTextError):
        fields_of(text)


@pytest.mark.parametrize(("text", "key"), [("b", "B"), (" A、C,D ", "ACD"), ("ＤＢ", "BD"), ("AA", "A")])
def test_a_key_is_read_however_it_is_typed(text, key):
    assert key_of(text) == key


@given(st.text(), st.text())
def test_what_the_person_saw_comes_back_as_it_went(text, key):
    base = Base("h", text, key)
    assert Base.loads(base.dumps()) == base


@given(st.text())
def test_anything_else_is_not_what_the_person_saw(line):
    found = Base.loads(line)
    assert found is None or isinstance(found.text, str)


def test_the_key_is_shown_as_letters():
    assert base_of(question("题", ["甲", "乙"])).key == "B"
