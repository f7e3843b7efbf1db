"""An answer said last and outright counts; nothing is invented; every reading says how sure it is."""

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.claims.explanations import asks_for_several
from build_dataset.pipeline.evaluate.extraction import RULES, SURENESS, extract
from build_dataset.schemas.evaluation import Sureness

DRUGS = {"A": "青霉素", "B": "红霉素", "C": "链霉素", "D": "氯霉素", "E": "庆大霉素"}
GROUPS = {"A": "AB", "B": "A", "C": "O", "D": "B"}
PLAIN = {"A": "Metformin", "B": "Insulin", "C": "Glyburide", "D": "Acarbose", "E": "Observation"}


def read(text, options=DRUGS, multiple=False, stem=None):
    return "".join(extract(text, options, multiple, stem=stem).letters or ())


VERDICTS = st.lists(
    st.tuples(st.sampled_from("ABCDE"), st.sampled_from(["正确", "错误", "不符合题意", "是合理的", "也可能成立"])),
    min_size=1,
    max_size=5,
    unique_by=lambda pair: pair[0],
)
MARKS = st.sampled_from(["【答案】", "【答案】: ", "答案：", "正确答案是", "The answer is ", "Answer: "])
TAILS = st.sampled_from(["", "。", " <eoa>", "<end_of_answer>", "\n</output>", "<|eom|>", " </s>"])


@given(
    VERDICTS, MARKS, st.sets(st.sampled_from("ABCDE"), min_size=1, max_size=4), st.sampled_from(["、", ", ", ""]), TAILS
)
def test_an_answer_mark_at_the_end_is_never_overruled_by_verdicts(verdicts, mark, letters, joint, tail):
    reasoning = "，".join(f"选项{letter}{said}" for letter, said in verdicts)
    concluded = f"所以选项{verdicts[-1][0]}{verdicts[-1][1]}"
    text = f"【解析】{reasoning}。{concluded}。<eoe>\n{mark}{joint.join(sorted(letters))}{tail}"
    assert read(text) == "".join(sorted(letters))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("【答案】: ABD", "ABD"), ("the answer is A, C and E", "ACE"), ("A错误。\n【答案】: C, D <eoa>", "CD")],
)
def test_a_list_stays_a_list_where_one_answer_is_asked_for(text, expected):
    assert read(text) == expected


@pytest.mark.parametrize(
    "text", ["The answer is B.", "Answer: B", "B. A", "**B. A**\n\nOnly the A antigen is present."]
)
def test_an_option_whose_text_is_a_letter_never_covers_the_letter_that_is_asked_for(text):
    assert read(text, GROUPS) == "B"


@pytest.mark.parametrize(
    "text",
    [
        "Proteins C and D have short half-lives.",
        "E = ½CV². With C = 2 and V = 50 we still need",
        "$A \\cap B=\\{1,2\\}$",
        "电荷量约为4.5×10^-9 C",
        "无A、B抗原",
        "本题题目有误，没有正确答案。",
        "无正确答案",
        "Could be A, B, C or D?",
        "All of the options are wrong.",
        "我觉得A和B都有可能，拿不准。",
    ],
)
def test_no_letter_is_invented(text):
    assert read(text) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The best answer would be:\n\n**A. Metformin**", "A"),
        ("Not B. E.", "E"),
        ("Ans. (a) Metformin", "A"),
        ("I'd go with A here.", "A"),
        ("Definitely B.", "B"),
    ],
)
def test_english_closings_are_read_and_small_words_are_no_letters(text, expected):
    assert read(text, PLAIN) == expected


@pytest.mark.parametrize(
    ("stem", "expected"),
    [
        ("(多选题) 下列正确的有", True),
        ("Which are right? Select all that apply.", True),
        ("Which TWO of the following are right?", True),
        ("正しいのはどれか。2つ選べ。", True),
        ("옳은 것을 모두 고르시오.", True),
        ("(单选题) 下列正确的是", False),
        ("正しいのはどれか。", False),
        ("Which of the following is right?", False),
        ("下列叙述正确的是", None),
    ],
)
def test_a_stem_says_whether_it_has_several_answers(stem, expected):
    assert asks_for_several(stem) is expected


@pytest.mark.parametrize(
    ("text", "multiple", "stem", "expected"),
    [
        ("A √ B √ C × D √ E √", None, "多选题：正确的有", "ABDE"),
        ("除了C以外其余都是。", False, "下列哪项不是抗生素", "C"),
        ("其余都是，只有C不是。", False, "下列哪项不是抗生素", "C"),
        ("只有C不属于。", False, "下列哪项不属于抗生素", "C"),
        ("第二个。", False, None, "B"),
        ("正解は **d** と **e** です", None, "正しいのはどれか。2つ選べ。", "DE"),
        ("b\n\n解説\n正しい。", False, None, "B"),
        ("Aは誤り。正しいのはB", False, None, "B"),
        ("정답은 B입니다.", False, None, "B"),
        ("B가 아니라 C입니다.", False, None, "C"),
        ("A와 C가 정답입니다.", None, "모두 고르시오.", "AC"),
    ],
)
def test_four_languages_and_odd_forms_are_read(text, multiple, stem, expected):
    assert read(text, multiple=multiple, stem=stem) == expected


def test_a_blood_group_is_read_by_its_own_words():
    assert read("O型血。红细胞上无A、B抗原。", {"A": "A型", "B": "B型", "C": "AB型", "D": "O型"}) == "D"


def test_every_rule_has_a_class_and_every_reading_says_it():
    assert set(SURENESS) == set(RULES)
    assert extract("【答案】B", DRUGS).sureness is Sureness.EXPLICIT
    assert extract("B. 红霉素对大多数菌有效", DRUGS).sureness is Sureness.CONCLUDED
    assert extract("A错，B错，C对，D错，E错。", DRUGS, False).sureness is Sureness.INFERRED
    assert (
        extract("在一些情况下会提到B这种药物的用法，具体要看情况而论。还需结合临床。", DRUGS).sureness is Sureness.WEAK
    )
    assert extract("不知道", DRUGS).sureness is None
