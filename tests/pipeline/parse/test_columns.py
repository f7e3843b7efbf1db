"""Columns of options: which belong to them, which are missing, what they are called."""

from dataclasses import replace

import pytest

from build_dataset.pipeline.parse.cells import Options
from build_dataset.pipeline.parse.columns import (
    Columns,
    looks_like,
    options_of,
    own_labels,
    side_by_side,
    unheld_option,
)

TWO = {"A": "甲", "B": "乙"}
TWO_PAIRS = [("A", "甲"), ("B", "乙")]
NAMED_TWO = Options(TWO_PAIRS, named={"甲": "A", "乙": "B"})


@pytest.mark.parametrize(
    ("texts", "alike"),
    [
        (["甲药", "乙药", "丙药", "丁药"], True),
        (["甲药", "甲药", "丙药", "丙药"], True),
        (["甲药", "甲药", "甲药", "甲药"], False),
        (["A", "B", "C", "D"], False),
        (["甲药六个字了", "乙药六个字了", "丙药六个字了", "丁药六个字了"], False),
        (["甲药五个字", "乙药五个字", "丙药五个字", "丁药五个字"], True),
        (["", "", "", "丁药"], False),
    ],
)
def test_cells_that_look_like_options(texts, alike):
    table = [{"x": text, "A": "两字"} for text in texts]
    assert looks_like("x", table, ["A"]) is alike


@pytest.mark.parametrize(("labelled", "own"), [(19, True), (18, False)])
def test_nineteen_of_twenty_cells_repeat_the_label_of_their_column(labelled, own):
    table = [{"甲": "A、一" if at < labelled else "一"} for at in range(20)]
    assert own_labels(table, {"A": "甲"}) is own
    assert own_labels([], {"A": "甲"}) is False


@pytest.mark.parametrize(
    ("columns", "size", "stem", "expected"),
    [
        (["a", "b", "c"], 3, None, ["a", "b", "c"]),
        (["a", "b", "d"], 2, None, ["a", "b"]),
        (["a", "b", "c"], 2, "a", ["b", "c"]),
        (["a", "b", "c"], 2, "b", []),
        (["a", "b", "c"], 2, None, []),
        (["a", "b", "d", "e"], 2, None, []),
        (["a", "b", "c", "d"], 2, "a", []),
    ],
)
def test_columns_side_by_side(columns, size, stem, expected):
    assert (
        side_by_side(
            columns, ["a", "b", "c", "d", "e", "f"], size, (lambda name: 9 if name == stem else 1) if stem else None
        )
        == expected
    )


@pytest.mark.parametrize(
    ("columns", "facts", "has_options"),
    [
        (Columns(), {"found_by": {}}, False),
        (
            Columns(roles={"stem": ["题", "干"], "answer": ["键"]}, found_by={"stem": "name", "answer": "content"}),
            {
                "answer": "键",
                "stem": "题 / 干",
                "answers_as": "unknown",
                "found_by": {"answer": "content", "stem": "name"},
            },
            False,
        ),
        (
            Columns(options={"A": "甲", "B": "乙"}, unused={"x": "", "y": ""}),
            {"options": "A=甲 B=乙", "found_by": {}, "unused": "x, y"},
            True,
        ),
        (Columns(options_in_stem=True), {"options": "in the stem", "found_by": {}}, True),
        (Columns(roles={"options": ["选"]}), {"options": "选", "found_by": {}}, True),
        (Columns(roles={"wrong": ["误"]}), {"wrong": "误", "found_by": {}}, True),
    ],
)
def test_what_is_told_of_a_mapping(columns, facts, has_options):
    assert (columns.facts(), columns.has_options()) == (facts, has_options)


WHOLE = {"options": ["选"]}


@pytest.mark.parametrize(
    ("fields", "columns", "expected"),
    [
        ({"选": "A.甲 B.乙"}, Columns(roles=WHOLE), Options(TWO_PAIRS, inside=[])),
        ({"选": None, "甲": "甲", "乙": "乙"}, Columns(roles=WHOLE, options=TWO), NAMED_TWO),
        ({"选": "", "甲": "甲", "乙": "乙"}, Columns(roles=WHOLE, options=TWO), NAMED_TWO),
        (
            {"甲": "A、甲", "乙": "B、乙"}, Columns(options=TWO),
            replace(NAMED_TWO, pairs=[("A", "A、甲"), ("B", "B、乙")]),
        ),
        ({"甲": "A、甲", "乙": "B、乙"}, Columns(options=TWO, own_labels=True), NAMED_TWO),
        (
            {"甲": "丁", "乙": "乙", "键": "丙"},
            Columns(roles={"answer": ["键"]}, options=TWO, key_is_an_option=True),
            Options([("A", "丁"), ("B", "丙"), ("C", "乙")]),
        ),
        (
            {"误": ["丁", "乙"], "键": "丙"},
            Columns(roles={"answer": ["键"], "wrong": ["误"]}, key_is_an_option=True),
            Options([("A", "丁"), ("B", "丙"), ("C", "乙")]),
        ),
        (
            {"误": ["丁", "乙"]},
            Columns(roles={"answer": ["键"], "wrong": ["误"]}, key_is_an_option=True),
            Options([("A", "丁"), ("B", "乙")]),
        ),
        ({"题": "问 A.甲 B.乙"}, Columns(roles={"stem": ["题"]}, options_in_stem=True), Options(TWO_PAIRS, inside=[])),
        ({"题": None}, Columns(roles={"stem": ["题"]}, options_in_stem=True), Options([], inside=[])),
        ({"题": "问 A.甲 B.乙"}, Columns(roles={"stem": ["题"]}), Options([])),
    ],
)  # fmt: skip
def test_the_options_of_a_row(fields, columns, expected):
    assert options_of(fields, columns) == expected


@pytest.mark.parametrize(
    ("cell", "option", "alike"),
    [(2, 6, False), (3, 6, True), (3, 8, True), (2, 7, False), (17, 6, True), (18, 6, False), (7, 2, False)],
)
def test_options_are_more_than_a_third_and_less_than_three_times_as_long(cell, option, alike):
    table = [{"x": chr(0x4E00 + at) * cell, "A": "项" * option} for at in range(4)]
    assert looks_like("x", table, ["A"]) is alike


def test_of_columns_side_by_side_as_many_as_asked_for_the_longest_is_no_stem():
    assert side_by_side(["a", "b"], ["a", "b", "c"], 2, len) == ["a", "b"]


@pytest.mark.parametrize(
    ("keys", "options", "more", "told"),
    [
        ("ABCD" * 5, "ABCD", {}, ""),
        ("A" * 49 + "E", "ABCD", {}, ""),
        ("A" * 48 + "EE", "ABCD", {}, "2 of 50 keys name E, and no column holds option E"),
        ("A" * 20 + "E", "ABCD", {}, ""),
        ("A" * 8 + "E", "ABCD", {}, "1 of 9 keys name E, and no column holds option E"),
        ("A" * 8 + "F", "ABCD", {}, ""),
        ("AAAFF", "ABCDE", {}, "2 of 5 keys name F, and no column holds option F"),
        ("AC" * 10, "ACD", {}, ""),
        ("ABCD" * 5, "ABC", {}, "5 of 20 keys name D, and no column holds option D"),
        (["甲药", None] * 10, "ABCD", {}, ""),
        ("ABC", "ABC", {"D项目": "丁药"}, "D项目 may be option D, or not"),
        ("ABC", "ABC", {"备注": "见教材第三章的说明和附图"}, ""),
        ("ABC" * 7, "ABC", {"D项目": "丁药"}, ""),
    ],
)
def test_keys_that_name_an_option_without_a_column_are_more_than_typing_errors(keys, options, more, told):
    rows = [{label: f"{label}药{at}" for label in options} | more | {"答案": key} for at, key in enumerate(keys)]
    names = [*options, *more, "答案"]
    rows = [
        {name: f"{text}{at}" if name in more else text for name, text in row.items()} for at, row in enumerate(rows)
    ]
    assert unheld_option(rows, names, [*more], {label: label for label in options}, ["答案"]) == told
