"""Columns of options: which belong to them, which are missing, what they are called."""

from __future__ import annotations

import pytest

from pipeline.parse.columns import (
    around_key,
    flags_beside,
    looks_like,
    missing_options,
    own_labels,
    side_by_side,
)

NAMES = ["题", "A", "B", "C", "D", "备注", "答案"]


def missing(first, times, others, options="ABCD", remark="戊药"):
    """The columns, or the objection, for a bank with a column of remarks behind its options."""
    rows = [
        {
            "题": f"第{at}题",
            "A": f"甲药{at}",
            "B": f"乙药{at}",
            "C": f"丙药{at}",
            "D": f"丁药{at}",
            "备注": remark * (at % 9 + 1),
        }
        | {"答案": key}
        for at, key in enumerate(first * times + others)
    ]
    labels = {label: label for label in options}
    free = [name for name in NAMES if name not in {*labels, "题", "答案"}]
    return missing_options(rows, NAMES, free, labels, ["答案"])


@pytest.mark.parametrize(
    ("first", "times", "others", "options", "expected"),
    [
        ("ABCD", 4, "AB", "ABCD", "备注 may be option E, or not"),
        ("ABCD", 4, "ABC", "ABCD", {}),
        ("ABCD", 5, "", "ABCD", {}),
        ("ABCD", 5, "E", "ABCD", {"E": "备注"}),
        ("ABCD", 5, "", "ABC", {"D": "D"}),
        ("A", 49, "F", "ABCD", {}),
        ("A", 98, "FF", "ABCD", {}),
        ("A", 99, "FF", "ABCD", {}),
        ("A", 147, "FFF", "ABCD", {}),
        ("A", 146, "FFF", "ABCD", "3 of 149 keys name F, and no column holds option F"),
        ("ABCD", 5, "", "BCD", {"A": "A"}),
        ("A", 0, "", "ABCD", {}),
    ],
)
def test_columns_of_options_that_keys_name(first, times, others, options, expected):
    assert missing(first, times, others, options) == expected


@pytest.mark.parametrize(
    ("column", "options", "expected"),
    [
        ("D项目", ("A项", "B项", "C项"), {"D": "D项目"}),
        ("备注", ("A项", "B项", "C项"), {}),
        ("Opción D", ("Opción A", "Opción B", "Opción C"), {"D": "Opción D"}),
        ("选项4", ("选项1", "选项2", "选项3"), {"D": "选项4"}),
        ("difficulty", ("A项", "B项", "C项"), {}),
    ],
)
def test_a_header_that_is_nearly_the_next_one(column, options, expected):
    table = [dict(zip((*options, column), "甲乙丙丁", strict=True)) | {"答案": "A"} for _ in range(30)]
    labels = dict(zip("ABC", options, strict=True))
    assert missing_options(table, [*options, column, "答案"], [column], labels, ["答案"]) == expected


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
            columns,
            ["a", "b", "c", "d", "e", "f"],
            size,
            (lambda name: 9 if name == stem else 1) if stem else None,
        )
        == expected
    )


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (
            [
                {"a": "一项", "b": "二项", "c": "三项", "d": "", "k": "一项"},
                {"a": "四项", "b": "五项", "c": "六项", "d": "", "k": "五项"},
            ],
            [],
        ),
        (
            [
                {"a": "一项", "b": "二项", "c": "三项", "d": "七项", "k": "一项"},
                {"a": "四项", "b": "五项", "c": "六项", "d": "八项", "k": "五项"},
            ],
            [],
        ),
        ([{"a": "一项", "b": "二项", "k": "一项"}], []),
        ([{"a": "一项", "b": "二项", "k": "a"}, {"a": "一项", "b": "二项", "k": "b"}], ["a", "b"]),
        ([{"a": "一项", "b": "一项", "k": "一项"}], []),
    ],
)
def test_the_columns_that_the_key_repeats(table, expected):
    assert around_key(table, ["a", "b", "c", "d"], ["k"]) == expected


@pytest.mark.parametrize(
    ("names", "values", "expected"),
    [
        (["is_correct_A", "is_correct_B"], ["1", "0"], {"A": "is_correct_A", "B": "is_correct_B"}),
        (["is_correct_A", "is_correct_B"], ["1", "5"], {}),
        (["is_correct_A"], ["1"], {}),
    ],
)
def test_flags_beside_options(names, values, expected):
    assert flags_beside([dict(zip(names, values, strict=True))], names, {"A": "a", "B": "b"}) == expected
