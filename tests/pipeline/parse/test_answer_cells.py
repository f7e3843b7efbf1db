"""Answers in cells: letters, numbers, texts, lists, several that earn the mark."""

import pytest

from build_dataset.pipeline.parse.answer_cells import (
    AnswerEncoding,
    Given,
    accepted_of,
    answer_numbers,
    encoding_of,
    is_number,
    letters_of,
    quoted_of,
    read_answer,
    readable_share,
)
from build_dataset.pipeline.parse.cells import Options, read_options

PAIRS = [("A", "甲"), ("B", "乙"), ("C", "丙"), ("D", "AB")]
PLAIN = Options(PAIRS)
PRINTED = Options(PAIRS, {"1": "A", "2": "B", "3": "C", "4": "D"})
NAMED = Options(PAIRS, named={"选1": "A", "选2": "B", "选3": "C", "选4": "D"})
LETTERS, TEXTS, UNKNOWN = AnswerEncoding.LETTERS, AnswerEncoding.TEXTS, AnswerEncoding.UNKNOWN
ZERO, ONE = AnswerEncoding.FROM_0, AnswerEncoding.FROM_1
NEITHER = "neither 0 nor the number of options occurs"


def given(*values):
    return [Given(value, PLAIN) for value in values]


def encoding(answers, printed):
    found = encoding_of(answers, printed=printed)
    return found if isinstance(found, AnswerEncoding) else found.partition("; write answer_as = ")[0]


@pytest.mark.parametrize("encoding", AnswerEncoding)
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["A", "a", "Ａ", "甲", "甲。", " 甲 "], ["A"]),
        (["opb", "B. 乙", "B(乙)", "答案：B", [0, 1, 0, 0]], ["B"]),
        (["(D)"], ["D"]),
        (["E"], ["E"]),
        (["A,C", "甲;丙", "甲\n丙", [1, 0, 1, 0], ["A", "C"]], ["A", "C"]),
        (["ABD"], ["A", "B", "D"]),
        (["A/C", "B. 丙", "甲；戊", 5, -1, "-1", ["A", "戊"], [], None, "", "选项3", "option2"], None),
    ],
)
def test_an_answer_that_reads_alike_in_every_encoding(values, encoding, expected):
    assert [read_answer(value, PLAIN, encoding) for value in values] == [expected] * len(values)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("AB", [None, ["A", "B"], ["D"], None, None]),
        (2, [None, None, None, ["C"], ["B"]]),
        ("2", [None, None, None, ["C"], ["B"]]),
        ("2.0", [None, None, None, ["C"], ["B"]]),
        ("1,3", [None, None, None, ["B", "D"], ["A", "C"]]),
        ("0", [None, None, None, ["A"], None]),
        (4, [None, None, None, None, ["D"]]),
        ([0, 2], [None, None, None, ["A", "C"], None]),
        ("26", [None, None, None, [], []]),
    ],
)
def test_an_answer_that_depends_on_the_encoding(value, expected):
    assert [read_answer(value, PLAIN, one) for one in (UNKNOWN, LETTERS, TEXTS, ZERO, ONE)] == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2", (["B"], None)),
        ("1,3", (["A", "C"], None)),
        ("5", (None, None)),
        ("选项3", (["C"], None)),
        ("选2", (["B"], ["B"])),
        ("选1;选4", (None, ["A", "D"])),
        ("选2(乙)", (None, None)),
        ("B(甲)", (None, None)),
        ("选9", (None, None)),
        ("0", (None, None)),
    ],
)
def test_an_answer_beside_printed_labels_and_named_columns(value, expected):
    assert (read_answer(value, PRINTED), read_answer(value, NAMED)) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (2, (True, [2])),
        ("2", (True, [2])),
        ("2.0", (True, [2])),
        ("2.5", (False, [])),
        ("1,3", (True, [1, 3])),
        ("1、3|4", (True, [1, 3, 4])),
        ("123", (False, [123])),
        (True, (False, [])),
        ([0, 2], (True, [0, 2])),
        ([0, 1, 0], (False, [0, 1, 0])),
        ([], (False, [])),
        (["1", "甲"], (False, [1])),
        ("-1", (False, [])),
        ("甲", (False, [])),
        (-1, (True, [])),
        ("A", (False, [])),
    ],
)
def test_numbers_of_an_answer(value, expected):
    assert (is_number(value), answer_numbers(value)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("C A", (["A", "C"], None)),
        ("A+B", (["A", "B"], None)),
        ("ABL", (None, None)),
        ("B.乙", (["B"], None)),
        ("B 乙", (["B"], None)),
        ("B(乙)", (["B"], None)),
        ("B.丙", (None, None)),
        ("甲|乙", (None, ["A", "B"])),
        ("甲|", (None, None)),
        ("AB", (["A", "B"], ["D"])),
        ("选项C", (["C"], None)),
        ("Option D", (["D"], None)),
        ("b", (["B"], None)),
        ("、", (None, None)),
    ],
)
def test_letters_and_texts_of_an_answer(text, expected):
    assert (letters_of(text, PAIRS), quoted_of(text, PAIRS)) == expected


def test_of_two_texts_alike_the_one_that_is_the_same_to_the_sign_is_meant():
    assert [quoted_of(text, [("A", "甲苯"), ("B", "甲苯。")]) for text in ("甲苯", "甲苯.")] == [["A"], None]
    assert letters_of("B.", [("B", "")]) == ["B"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("送分(原:C)", (["C"], [["A"], ["B"], ["C"]])),
        ("A或C", (["A", "C"], [["A"], ["C"]])),
        ("A or c", (["A", "C"], [["A"], ["C"]])),
        ("送分", (None, [["A"], ["B"], ["C"]])),
        ("一律给分", (None, [["A"], ["B"], ["C"]])),
        ("全部", None),
        ("A", None),
        ("原答案D送分", (None, [["A"], ["B"], ["C"]])),
        (3, None),
    ],
)
def test_several_accepted_answers(value, expected):
    assert accepted_of(value, ["A", "B", "C"]) == expected


@pytest.mark.parametrize("printed", [True, False])
@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (given("A", "B", "C"), LETTERS),
        (given("甲", "乙"), TEXTS),
        (given("A", "甲"), UNKNOWN),
        (given("AB"), UNKNOWN),
        (given(1, 2, 4, 3), ONE),
        (given(0, 1, 3), ZERO),
        (given(1, 2, 3), f"1 may be B counted from 0 or A counted from 1 ({NEITHER})"),
        (given(0, 4), "0 may be A counted from 0 (both 0 and the number of options occur, 1 and 1 times)"),
        (given(1, 4, 8, 2), "8 may be anything (of several numbers no option stands in that place)"),
        (given(1, "A"), LETTERS),
        (given(1, 4, "A"), ONE),
    ],
)
def test_the_encoding_of_a_column(answers, printed, expected):
    assert encoding(answers, printed) == expected


def test_the_share_of_answers_that_can_be_read():
    assert readable_share(given("A", "甲", "送分", "戊"), UNKNOWN) == 0.75


def told(values, texts="甲乙丙丁", printed=False):
    """The encoding of answers to questions with such options."""
    options = Options(list(zip("ABCD", texts, strict=True)))
    return encoding([Given(value, options) for value in values], printed)


def one_of(value, reading, why):
    return f"{value} may be {reading} ({why})"


BASES = "{} counted from 0 or {} counted from 1"
OF_TEXTS = ["2", "4", "6", "8"]
"""Texts of options that are numbers themselves."""


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["2", "4"], one_of("'2'", BASES.format("C", "B"), "or the text of an option")),
        (["4", "2"], one_of("'4'", "D counted from 1", "or the text of an option")),
        (["2"] * 18 + ["8"], TEXTS),
        (["2"] * 20 + ["8"], one_of("'2'", BASES.format("C", "B"), "or the text of an option")),
        (["2"] * 19 + ["3"], one_of("'2'", BASES.format("C", "B"), "or the text of an option")),
        (["2"] * 18 + ["3"] * 2, one_of("'2'", BASES.format("C", "B"), NEITHER)),
        (["6"] * 19 + ["3"], TEXTS),
    ],
)
def test_numbers_that_are_texts_of_options(values, expected):
    assert told(values, OF_TEXTS) == expected


@pytest.mark.parametrize(
    ("zeros", "lasts", "expected"),
    [
        (1, 48, one_of("0", "A counted from 0", "both 0 and the number of options occur, 1 and 48 times")),
        (1, 49, ONE),
        (49, 1, ZERO),
        (48, 1, one_of("0", "A counted from 0", "both 0 and the number of options occur, 48 and 1 times")),
        (2, 97, one_of("0", "A counted from 0", "both 0 and the number of options occur, 2 and 97 times")),
        (1, 0, ZERO),
        (0, 1, ONE),
    ],
)
def test_one_of_fifty_numbers_may_be_a_typing_error(zeros, lasts, expected):
    assert told([0] * zeros + [4] * lasts) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 4] * 4 + [1, 2, 3, 9], ONE),
        ([1, 2, 3, 4] * 4 + [1, 2, 9], one_of("9", "anything", "of several numbers no option stands in that place")),
        ([1, 2, 4] * 6 + [4], ONE),
        ([1, 2, 4] * 6 + [1, 2], one_of("1", BASES.format("B", "A"), "3 is never a key, and 4 is")),
        ([2, 1, 4] * 6 + [1, 2], one_of("2", BASES.format("C", "B"), "3 is never a key, and 4 is")),
        ([1, 4] * 10, one_of("1", BASES.format("B", "A"), "2 is never a key, and 4 is")),
        ([2, 3, 4] * 7, ONE),
        ([0, 1, 2] * 7, ZERO),
        ([1, 2] * 2, one_of("1", BASES.format("B", "A"), NEITHER)),
    ],
)
def test_numbers_that_are_no_places_of_options(values, expected):
    assert told(values) == expected


@pytest.mark.parametrize(
    ("values", "texts", "expected"),
    [
        (["A", None, "B"], "甲乙丙丁", LETTERS),
        ([1, "A", "B"], "甲乙丙1", LETTERS),
        ([1, 2, "A"], "甲乙丙丁", one_of("1", BASES.format("B", "A"), NEITHER)),
        ([1, "A"], "甲乙丙丁", LETTERS),
        (["甲", "乙"], "甲乙丙丁", TEXTS),
        (["甲", "B"], "甲乙丙丁", UNKNOWN),
        (["甲", "丁A"], ["甲", "A", "B", "丁A"], TEXTS),
    ],
)
def test_the_encoding_is_that_of_answers_with_one_reading(values, texts, expected):
    assert told(values, texts) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("10", ["A"]), ("3", None), ("0", None), ("4", None), ("5", ["D"]), ("20", None)]
)
def test_a_number_that_is_no_place_may_be_the_text_of_an_option(value, expected):
    options = Options(list(zip("ABCD", ["10", "3", "0", "5"], strict=True)))
    assert read_answer(value, options) == expected


def test_all_options_may_be_right():
    assert read_answer("1,2,3,4", PLAIN, ONE) == ["A", "B", "C", "D"]
    assert read_answer([0, 1, 2, 3], PLAIN, ZERO) == ["A", "B", "C", "D"]
    assert read_answer([1, 1, 1, 1], PLAIN) == ["A", "B", "C", "D"]
    assert read_answer([0, 0, 0, 0], PLAIN) is None


def test_every_header_that_an_answer_names_is_that_of_an_option():
    assert [read_answer(value, NAMED) for value in ("选1;选9", "选9;选1", "选4,选1")] == [None, None, ["A", "D"]]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("均给分", (None, [["A"], ["B"], ["C"]])),
        ("A均给分", None),
        ("原A均给分", (["A"], [["A"], ["B"], ["C"]])),
        ("A一律给分", (["A"], [["A"], ["B"], ["C"]])),
    ],
)
def test_everybody_gets_the_mark_where_no_letter_or_the_former_key_is_named(value, expected):
    assert accepted_of(value, ["A", "B", "C"]) == expected


def test_a_letter_beyond_the_usual_ones_is_an_answer_where_an_option_has_it():
    bank = Options([(chr(65 + at), f"word{at}") for at in range(15)])
    assert (read_answer("N", bank), read_answer("N", PLAIN)) == (["N"], None)


def test_labels_of_objects_in_another_script_are_named_by_keys():
    options = read_options([{"label": label, "text": text} for label, text in zip("কখগঘ", "甲乙丙丁", strict=True)])
    assert (options.pairs[3], read_answer("ঘ", options)) == (("D", "丁"), ["D"])


@pytest.mark.parametrize(
    ("key", "texts", "read"),
    [
        ("错", ["正确", "错误"], ["B"]),
        ("True", ["√", "×"], ["A"]),
        ("F", ["Vero", "Falso"], ["B"]),
        ("错", ["正确", "错误", "不确定"], None),
        ("错", ["甲", "乙"], None),
        ("对", ["是", "对"], ["B"]),
    ],
)
def test_a_verdict_names_the_option_that_says_it_in_other_words(key, texts, read):
    assert read_answer(key, Options(list(zip("ABC", texts, strict=False)))) == read


def test_true_and_false_as_labels_are_letters():
    options = read_options({"T": "√", "F": "×"})
    assert (options.pairs, read_answer("False", options)) == ([("A", "√"), ("B", "×")], ["B"])
