from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.claims import Stance, blank_thinking, read_claims
from build_dataset.pipeline.evaluate.extraction import extract
from tests.growth import exponent

FOUR = {"A": "心率加快", "B": "血压升高", "C": "瞳孔缩小", "D": "支气管扩张"}
DRUGS = {"A": "Propranolol", "B": "Atropine", "C": "Digoxin", "D": "Lidocaine"}


def stands(text: str, options: dict[str, str] = FOUR) -> dict[str, str]:
    """The last stance that the text takes to each label."""
    return {
        label: claim.stance.value
        for claim in read_claims(text, options).claims
        for label in claim.labels
        if claim.kind != "called"
    }


@pytest.mark.parametrize(
    ("text", "answer", "right", "wrong"),
    [
        ("A错误，排除C。故选B。", "B", "", "AC"),
        ("A錯誤，C亦不正確。故選Ｂ。", "B", "", "AC"),
        ("We rule out A. The correct answer is option B.", "B", "", "A"),
        ("Option A is incorrect; D is correct.", "", "D", "A"),
        ("选B，A、C项均不符合题意，D项也不对。", "B", "", "ACD"),
        ("（A错）（B对）（CD错）", "", "B", "ACD"),
        ("A型血友病见维生素C缺乏，行B超检查。", "", "", ""),
        ("答案不是A，而是D。", "D", "", "A"),
        ("本题考查心脏。", "", "", ""),
    ],
)
def test_an_explanation_states_an_answer_and_judges_options(text, answer, right, wrong):
    said = read_claims(text, FOUR)
    assert "".join(said.answer or ()) == answer
    assert ("".join(said.judged.right), "".join(said.judged.wrong)) == (right, wrong)


@pytest.mark.parametrize(
    ("text", "wrong"), [("Digoxin is wrong.", "C"), ("Digoxins are wrong.", "C"), ("Digoxinase is wrong.", "")]
)
def test_an_english_option_is_named_by_its_whole_word_or_the_plural(text, wrong):
    assert "".join(read_claims(text, DRUGS).judged.wrong) == wrong


def test_a_few_words_may_stand_between_an_option_and_its_verdict():
    assert stands("D in fact is wrong.") == {"D": Stance.DENIED}
    assert stands("D, in the opinion of other people who wrote books, is wrong.") == {}


def test_what_is_only_supposed_or_other_peoples_is_not_asserted():
    assert read_claims("如果问心率，则答案是A。", FOUR).answer is None
    assert read_claims("很多人误选A。", FOUR).answer is None
    assert stands("可能是C") == {}


def test_offsets_hold_for_the_text_as_given():
    text = "【解析】心率加快（Ａ）为β作用，故選Ａ。"
    said = read_claims(text, FOUR)
    assert [text[claim.start : claim.end] for claim in said.claims if claim.kind == "stated"] == ["故選Ａ"]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>A?</think>B", "B"),
        ("A?</think>B", "B"),
        ("B<think>A", "B"),
        ("<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B<|return|>", "B"),
        ("[THINK]A[/THINK]B", "B"),
        ("<|START_THINKING|>A<|END_THINKING|>B", "B"),
    ],
)
def test_thinking_is_no_part_of_the_answer_whatever_its_marks(text, left):
    assert blank_thinking(text).strip() == left
    assert extract(text, FOUR).letters == ("B",)


@pytest.mark.parametrize("word", ["别名", "类别", "区别", "鉴别的要点"])
def test_words_that_hold_a_denying_character_deny_nothing(word):
    assert read_claims(f"它的{word}是甲乙丙。", {"A": "甲乙丙", "B": "丁戊己"}).judged.wrong == ()


UNITS = [
    "选项A：正确。\n",
    "答案是",
    "A、",
    "A,",
    "(A)",
    "是",
    "因此",
    "<think>",
    "</think>",
    "\n",
    " ",
    "_",
    "(",
    "“",
    "不",
    "A错误",
    "option A is ",
    "The answer is ",
    "most likely ",
    "心率加快",
    "心",
    "心 ",
    "|A|",
    "。",
    ",,",
    "\\boxed{",
    "可能是A",
    "而是",
    "the ",
    "a ",
    "Propranolol ",
    "故选A或",
    "A = ",
    "$A_",
    "aと",
    "<ab>",
    "proteins C and ",
    "A、B抗原",
    "a.b(",
]


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: repr(unit)[:24])
@pytest.mark.timeout(60)
def test_twice_the_text_takes_twice_the_time(unit):
    def work(length: int) -> None:
        said = read_claims((unit * (length // len(unit) + 1))[:length] + "答案", FOUR)
        assert said.judged is not None
        assert said.answer is None or set(said.answer) <= set(FOUR)

    assert exponent(work) <= 1.5  # linear is 1; a busy machine showed 1.34, quadratic time is 2


@pytest.mark.slow
@pytest.mark.parametrize("unit", ["A、", "_", "\n", "<think>", "答案是", "心 "], ids=repr)
def test_a_megabyte_is_read_within_seconds(unit):
    found = extract((unit * (1_000_000 // len(unit)))[:1_000_000], FOUR)
    assert set(found.letters or "") <= set(FOUR)


@given(st.text(alphabet="答案是选故不对错误因此ABCD、，。：(){}[]<>/| \nanswer is option not", max_size=200))
def test_no_text_is_too_odd_to_be_read(text):
    said = read_claims(text, FOUR)
    for claim in said.claims:
        assert set(claim.labels) <= set(FOUR)
        assert 0 <= claim.start < claim.end <= len(text)


def test_a_unit_after_a_number_is_no_label():
    drugs = dict(zip("ABCDEFG", ("甲药", "乙药", "丙药", "丁药", "戊药", "己药", "庚药"), strict=True))
    for amount in ("不超过1 g", "不超过1g", "0.5 g", "每次2 g"):
        assert "G" not in stands(f"每日用量{amount}是对的，故选B。", drugs), amount
