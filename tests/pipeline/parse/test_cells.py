"""Scalars and options in cells, in every form that banks have."""

import pytest

from build_dataset.pipeline.parse.cells import (
    count,
    filled,
    first,
    names_letters,
    number,
    read_options,
    share,
    string,
    text_of,
    unpacked,
    without_label,
)


def told(value):
    """Options, and what is not empty of printed labels, right ones, a cut at marks, doubtful ones, names of labels."""
    found = read_options(value)
    more = {"printed": found.printed, "right": found.right, "cut": found.cut_at_marks}
    more |= {"inside": "".join(found.inside), "named": dict(found.named)}
    return found.pairs, {name: one for name, one in more.items() if one not in (None, False, {}, "")}


@pytest.mark.parametrize(
    ("value", "options", "more"),
    [
        ({"A": "甲", "B": "乙"}, {"A": "甲", "B": "乙"}, {}),
        ({"text": ["甲", "乙"], "label": ["A", "B"]}, {"A": "甲", "B": "乙"}, {}),
        ({"choices": ["甲", "乙"], "labels": [0, 1]}, {"A": "甲", "B": "乙"}, {"right": ["B"]}),
        ({"texts": ["甲", "乙"], "label": ["A"]}, {"A": "甲", "B": "乙"}, {}),
        ({"青霉素": True, "链霉素": False}, {"青霉素": "True", "链霉素": "False"}, {}),
        ({"A": 1, "B": 0}, {"A": "1", "B": "0"}, {}),
        ({"b": "乙", "a": "甲"}, {"A": "甲", "B": "乙"}, {}),
        ({"tip": 1, "A": "甲", "B": 5}, {"A": "甲", "B": "5"}, {}),
        ({"1": "甲", "2": "乙"}, {"A": "甲", "B": "乙"}, {"printed": {"1": "A", "2": "B"}}),
        ({"0": "甲", "1": "乙"}, {"A": "甲", "B": "乙"}, {"printed": {"0": "A", "1": "B"}}),
        ({"0": "甲", "26": "乙"}, {"0": "甲", "26": "乙"}, {}),
        ({"1": "甲", "26": "乙"}, {"A": "甲", "Z": "乙"}, {"printed": {"1": "A", "26": "Z"}}),
        ({"option1": "甲", "option2": "乙"}, {"A": "甲", "B": "乙"}, {"printed": {"1": "A", "2": "B"}}),
        (["甲", "乙", None], {"A": "甲", "B": "乙"}, {}),
        (["A.甲", "B.乙"], {"A": "甲", "B": "乙"}, {}),
        (["B. 甲", "C. 乙"], {"B": "甲", "C": "乙"}, {}),
        (["B 甲", "C 乙"], {"A": "B 甲", "B": "C 乙"}, {}),
        (["1.甲", "2.乙"], {"A": "甲", "B": "乙"}, {"printed": {"1": "A", "2": "B"}}),
        (["1.甲", "2.乙", "3.1.5 g"], {"A": "1.甲", "B": "2.乙", "C": "3.1.5 g"}, {"inside": "AB"}),
        (["(1) 甲, (2) 乙", "(1) 乙, (2) 甲"], {"A": "(1) 甲, (2) 乙", "B": "(1) 乙, (2) 甲"}, {}),
        ("A|甲|0,B|乙, 丙|1", {"A": "甲", "B": "乙, 丙"}, {"right": ["B"]}),
        (["A、甲", "B乙"], {"A": "A、甲", "B": "B乙"}, {}),
        ([["甲", True], ["乙", False]], {"A": "甲", "B": "乙"}, {"right": ["A"]}),
        (
            [{"key": "A", "value": "甲", "is_correct": True}, {"key": "B", "value": "乙", "is_correct": False}],
            {"A": "甲", "B": "乙"},
            {"right": ["A"]},
        ),
        ([{"A": "甲"}, {"B": "乙"}], {"A": "甲", "B": "乙"}, {}),
        ([{"content": "甲"}, {"content": "乙"}], {"A": "甲", "B": "乙"}, {}),
        ([{"label": "A、甲", "value": "A"}, {"label": "B、乙", "value": "B"}], {"A": "A、甲", "B": "B、乙"}, {}),
        ([{"choiceId": "c1", "choiceText": "甲"}, {"choiceId": "c2", "choiceText": "乙"}], {}, {}),
        (
            [{"id": 1, "content": "甲", "right": 1}, {"id": 2, "content": "乙", "right": 0}],
            {"A": "甲", "B": "乙"},
            {"printed": {"1": "A", "2": "B"}, "right": ["A"]},
        ),
        ("A.甲 B.乙", {"A": "甲", "B": "乙"}, {}),
        ("甲|乙|丙", {"A": "甲", "B": "乙", "C": "丙"}, {"cut": True}),
        ("甲；乙", {"A": "甲", "B": "乙"}, {"cut": True}),
        ("甲\n乙\n丙", {"A": "甲", "B": "乙", "C": "丙"}, {"cut": True}),
        ("1.甲\n2.乙", {"A": "甲", "B": "乙"}, {"printed": {"1": "A", "2": "B"}}),
        ("甲", {}, {}),
        ("A.甲", {"A": "甲"}, {}),
        ('["甲","乙"]', {"A": "甲", "B": "乙"}, {}),
        ("['甲', '乙']", {"A": "甲", "B": "乙"}, {}),
        ("甲||乙|丙", {"A": "甲", "B": "乙|丙"}, {"cut": True}),
        (3, {}, {}),
        (None, {}, {}),
        ("", {}, {}),
        ("ア.甲", {}, {}),
        ({"甲": "x", "乙": "y"}, {"A": "x", "B": "y"}, {"named": {"甲": "A", "乙": "B"}}),
        ({"①": "甲", "②": "乙"}, {"①": "甲", "②": "乙"}, {}),
        ({"ABCD": "甲", "B": "乙"}, {"ABCD": "甲", "B": "乙"}, {}),
        ([["A", "甲"], ["B"]], {}, {}),
        ({"A": "甲", "B": ""}, {"A": "甲"}, {}),
        (["甲"], {"A": "甲"}, {}),
        ([], {}, {}),
        ({"青霉素类": 1, "甲": 0}, {"A": "青霉素类", "B": "甲"}, {"right": ["A"]}),
        ({"青霉素类": False, "甲": False}, {"A": "青霉素类", "B": "甲"}, {}),
        ({"青霉素类": 1, "甲": 2}, {"青霉素类": "1", "甲": "2"}, {}),
        (["1.甲", "乙"], {"A": "1.甲", "B": "乙"}, {"inside": "A"}),
        (["1.甲", "乙", "丙"], {"A": "1.甲", "B": "乙", "C": "丙"}, {}),
        (["B. 甲"], {"A": "B. 甲"}, {}),
        (["C. 甲", "B. 乙"], {"A": "C. 甲", "B": "B. 乙"}, {}),
        (["B. 甲", "B. 乙"], {"A": "B. 甲", "B": "B. 乙"}, {}),
        (
            [{"text": "甲", "x": 1}, {"text": "乙", "x": 2}, {"text": "丙", "x": 2}],
            {"A": "甲", "B": "乙", "C": "丙"},
            {},
        ),
        ([{"id": "k001", "text": "甲"}, {"id": "k002", "text": "乙"}], {"A": "甲", "B": "乙"}, {}),
        ("A.甲\n乙", {"A": "A.甲", "B": "乙"}, {"cut": True}),
        ("问\nA.甲\nB.乙", {"A": "甲", "B": "乙"}, {}),
        ("问\nA.甲", {"A": "问", "B": "A.甲"}, {"cut": True}),
    ],
)
def test_options_are_read_in_every_form(value, options, more):
    assert told(value) == ([*options.items()], more)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, (None, False, None, None)),
        ("", (None, False, None, None)),
        (" 甲 ", ("甲", True, None, None)),
        ("nan", (None, False, None, None)),
        ("NaN", (None, False, None, None)),
        ("Na", ("Na", True, None, None)),
        ("无", (None, False, None, None)),
        ("None", (None, False, None, None)),
        ([], (None, False, None, None)),
        (["a"], (None, True, None, None)),
        ("[]", ("[]", False, None, None)),
        ("{}", ("{}", False, None, None)),
        (0, ("0", True, 0.0, 0)),
        (3, ("3", True, 3.0, 3)),
        (3.7, ("3.7", True, 3.7, 3)),
        ("12", ("12", True, 12.0, 12)),
        ("12%", ("12%", True, 12.0, 12)),
        ("1e400", ("1e400", True, None, None)),
        ("-1", ("-1", True, -1.0, None)),
        (True, ("True", True, None, None)),
        (2147483647, ("2147483647", True, 2147483647.0, 2147483647)),
        (2147483648, ("2147483648", True, 2147483648.0, None)),
        ("2,000", ("2,000", True, None, None)),
    ],
)
def test_scalars(value, expected):
    assert (string(value), filled(value), number(value), count(value)) == expected


@pytest.mark.parametrize(
    ("value", "percent", "expected"),
    [
        (0.5, False, 0.5),
        (1, False, 1.0),
        (1, True, 0.01),
        (1.01, False, None),
        (100, True, 1.0),
        (101, True, None),
        ("50%", False, 0.5),
        ("50％", False, 0.5),
        ("50％", True, 0.5),
        (0, False, 0.0),
        (-0.1, False, None),
        (None, True, None),
        ("甲", False, None),
    ],
)
def test_shares(value, percent, expected):
    assert share(value, percent=percent) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("[1, 2]", [1, 2]),
        ("['a']", ["a"]),
        ('{"a": 1}', {"a": 1}),
        ("[1", "[1"),
        ("(1)", "(1)"),
        (" [1] ", [1]),
        (5, 5),
    ],
)
def test_json_and_python_lists_are_unpacked(value, expected):
    assert unpacked(value) == expected


@pytest.mark.parametrize(
    ("value", "label", "expected"),
    [
        ("B、乙", "B", "乙"),
        ("B", "B", None),
        ("(B) 乙", "B", "乙"),
        ("B乙", "B", "B乙"),
        ("B 乙", "B", "乙"),
        ("A、乙", "B", "A、乙"),
        (5, "B", 5),
    ],
)
def test_a_label_of_its_own_before_a_text(value, label, expected):
    assert without_label(value, label) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"A": "甲", "B": "乙"}, True),
        ({"A": "甲"}, False),
        ([{"ans": "A", "item": "甲"}, {"ans": "B", "item": "乙"}], True),
        (["A、甲", "B、乙"], True),
        (["甲", "乙"], False),
        ("A.甲 B.乙", False),
        (["A、甲", "乙"], False),
        ([{"x": "甲"}, {"x": "乙"}], False),
    ],
)
def test_cells_that_name_the_letter_of_each_option(value, expected):
    assert names_letters(value) == expected


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"a": None, "b": "甲", "c": "乙"}, ("甲", "甲")),
        ({"a": "nan", "b": "甲"}, ("甲", "nan")),
        ({"a": ["丙"], "b": "甲"}, ("甲", ["丙"])),
        ({"a": 0, "b": "甲"}, ("0", 0)),
        ({}, (None, None)),
    ],
)
def test_the_first_text_and_the_first_value_under_some_names(fields, expected):
    assert (text_of(fields, ["a", "b"]), first(fields, ["a", "b"])) == expected
