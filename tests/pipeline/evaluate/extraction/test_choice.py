"""Of what the rules find, one answer is taken, or none where the text contradicts itself."""

import pytest

from build_dataset.pipeline.evaluate.extraction import extract

FOUR = {"A": "心率加快", "B": "血压升高", "C": "瞳孔缩小", "D": "支气管扩张"}
CHOSEN = "A：心率加快，故选A。B：血压升高，故选B。C：瞳孔缩小，故选C。"
ALL = "A. 心率加快。B. 血压升高。C. 瞳孔缩小。D. 支气管扩张。"


def read(
    text: str, multiple: bool | None = None, first: bool | None = None, options: dict[str, str] = FOUR
) -> str | None:
    letters = extract(text, options, multiple, first).letters
    return None if letters is None else "".join(letters)


@pytest.mark.parametrize(
    ("multiple", "first", "answer"),
    [
        (None, None, None),
        (None, True, "A"),
        (None, False, None),
        (True, None, "C"),
        (True, True, "A"),
        (True, False, "C"),
        (False, None, None),
        (False, True, "A"),
    ],
)
def test_three_options_that_are_chosen_in_turn_are_no_answer_to_one(
    multiple: bool | None, first: bool | None, answer: str | None
) -> None:
    assert read(CHOSEN, multiple, first) == answer


def test_two_options_that_are_chosen_in_turn_leave_the_last() -> None:
    assert read("A：心率加快，故选A。B：血压升高，故选B。", multiple=False) == "B"


@pytest.mark.parametrize(
    ("text", "multiple", "answer"),
    [
        (f"{ALL}答案是ABCD。", None, "ABCD"),
        (f"{ALL}答案是ABCD。", True, "ABCD"),
        (f"本题：{ALL}答案是ABCD。", None, "ABCD"),
        (f"{ALL[:-8]}答案是ABC。", None, "ABC"),
    ],
)
def test_a_list_that_is_stated_is_the_answer_whatever_the_text_goes_through(
    text: str, multiple: bool | None, answer: str
) -> None:
    assert read(text, multiple) == answer


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("题目1：A；题目2：B。", None),
        ("题目1：A；题目2：B。故选C。", "A"),
        ("1. A\n2. C\n故选B。", "B"),
        ("1. 答案是A\n2. 答案是C", None),
        ("1：A。2：B。3：B。", None),
        ("2：A。3：B。", "A"),
        ("1：A。1：B。", "A"),
        ("1：A。2：A。", "A"),
    ],
)
def test_answers_numbered_from_one_that_differ_are_those_of_several_questions(text: str, answer: str | None) -> None:
    assert read(text, multiple=False) == answer


@pytest.mark.parametrize(
    ("printed", "answer"), [("A. 心率加快\nB. 血压升高\n", "B"), ("A. 心率加快\n", None), ("", None)]
)
def test_a_question_repeated_with_two_of_its_options_is_read_on(printed: str, answer: str | None) -> None:
    assert read(f"先看题目。\n题目：哪一项？\n{printed}答案：B", multiple=False) == answer


@pytest.mark.parametrize("options", [{"A": "对", "B": "错"}, {"A": "对", "B": "错", "C": "不定"}])
@pytest.mark.parametrize(("multiple", "answers"), [(False, False), (True, True)])
def test_options_printed_below_words_of_the_text_are_no_answer_to_one(
    options: dict[str, str], multiple: bool, answers: bool
) -> None:
    text = "这句话是\n" + "\n".join(f"{label}. {body}" for label, body in options.items())
    assert read(text, multiple, options=options) == ("".join(options) if answers else None)
    assert read(f"{text}\n答案是A。", multiple, options=options) == "A"


@pytest.mark.parametrize(("text", "options"), [("", FOUR), (" \n", FOUR), ("A", {})])
def test_nothing_is_read_without_text_or_without_options(text: str, options: dict[str, str]) -> None:
    assert extract(text, options).letters is None
