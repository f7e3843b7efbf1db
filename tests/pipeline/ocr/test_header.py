"""Headers of tables of questions: which row they are, how many rows, how wide, and what they are named."""

import json
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.ocr.readers.header import every_table, row_of, tables
from build_dataset.schemas.errors import UnreadableDocument

Fields = dict[str, str | None]


def read(records: list[list[str]], *declared: str) -> list[Fields]:
    return [json.loads(row.fields) for row in tables(records, frozenset(declared))]


def refused(records: list[list[str]]) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        read(records)
    return caught.value


def row(names: Sequence[str], cells: Sequence[str]) -> Fields:
    return dict(zip(names, cells, strict=True))


HEADER = ["题目", "A", "B", "答案"]
KEYED = ["1. 题", "甲", "乙", "A"]


@pytest.mark.parametrize(
    ("more", "wide"),
    [
        (["x"] * 996, False),
        (["x"] * 997, True),
        ([""] * 995 + ["x"], False),
        ([""] * 996 + ["x"], True),
        (["x"] * 996 + [""], False),
        (["x"] * 996 + [" "] * 9, False),
        (["x"] * 997 + [""], True),
        (["x"] * 997 + [""] * 2, True),
        ([""] * 2000, False),
    ],
)
@pytest.mark.parametrize("far", [0, 40])
def test_a_row_has_a_thousand_cells_at_most(more: list[str], wide: bool, far: int) -> None:
    records = [HEADER, *[KEYED] * far, [*KEYED, *more]]
    if wide:
        assert refused(records).detail == "1,001 columns, more than 1,000: delete what stands right of the questions"
    else:
        assert len(read(records)) == far + 1


def test_a_row_with_three_known_names_is_the_header_although_another_has_more() -> None:
    three = ["题目", "A", "B"]
    assert read([three, ["问", "甲", "乙"], ["题干", "A", "B", "C", "答案"], ["x", *"abcA"]]) == [
        row(three, ["问", "甲", "乙"]),
        row(["题干", "A", "B", "C", "答案"], ["x", *"abcA"]),
    ]


@pytest.mark.parametrize(
    "data",
    [
        ["与形式相对的是", "内容", "形式", "材料", "A"],
        ["题目", "M", "B", "A", "B"],
        ["text", "A", "B", "C", "c"],
        ["Which is none?", "item", "prompt", "A", "AB"],
    ],
)
def test_a_row_with_a_key_is_data_though_its_options_are_words_or_letters_of_headers(data) -> None:
    names = ["题干", "选项一", "选项二", "选项三", "答案"]
    assert read([names, data, ["x", "甲", "乙", "丙", "A"]]) == [row(names, data), row(names, ["x", *"甲乙丙A"])]


def test_options_that_are_letters_below_headers_without_names_are_data() -> None:
    names, data = ["题目", "选项", "", "", "", "答案"], ["元素碳的符号是", "A", "B", "C", "D", "C"]
    assert read([names, data]) == [row(["题目", "选项", "column_3", "column_4", "column_5", "答案"], data)]


def test_of_rows_with_fewer_known_names_the_first_with_most_is_the_header() -> None:
    assert read([["题目"], ["题目", "答案"], ["题干", "答案"], ["x", "A"]]) == [
        {"题目": "题干", "答案": "答案"},
        {"题目": "x", "答案": "A"},
    ]


def test_a_header_in_two_rows_may_be_all_there_is() -> None:
    assert read([["题目", "选项", "", "答案"], ["", "A", "B", ""]]) == []


def test_a_second_row_is_of_the_header_only_where_more_is_known_with_it() -> None:
    names = ["题目", "A", "B", "答案", ""]
    below = ["A", "B", "", "", "x"]
    assert read([names, below]) == [row([*names[:4], "column_5"], ["A", "B", None, None, "x"])]


@pytest.mark.parametrize(("length", "known"), [(59, True), (60, True), (61, False)])
def test_a_name_of_a_column_has_sixty_characters_at_most(length: int, known: bool) -> None:
    name = "题目" + "　" * (length - 2)
    if known:
        assert read([[name, "A", "答案"], ["x", "甲", "A"]]) == [{"题目": "x", "A": "甲", "答案": "A"}]
    else:
        assert refused([[name, "A", "答案"], ["x", "甲", "A"]]).reason == "unknown_columns"


def test_a_declared_name_of_a_column_may_be_as_long_as_it_is() -> None:
    name = "这" * 61
    assert read([[name, "x"], ["问", "y"]], name) == [{name: "问", "x": "y"}]
    assert read([["问句", "x"], ["问", "y"]], "问句", "其他") == [{"问句": "问", "x": "y"}]


def keyed(keys: Sequence[str], columns: int = 4) -> list[list[str]]:
    return [[*"甲xyzw"[: columns - 1], key] for key in keys]


COLUMNS = ["column_1", "column_2", "column_3", "column_4"]


@pytest.mark.parametrize("keys", ["AAB", "ABAB", "ABC", "KJA", ["AB", "B", "C"], [" a ", "b", "A"]])
def test_a_table_of_keys_without_a_header_has_numbered_columns(keys: Sequence[str]) -> None:
    assert read(keyed(keys)) == [row(COLUMNS, [*"甲xy", key]) for key in keys]


def test_a_key_of_all_letters_is_a_key() -> None:
    every = "ABCDEFGHIJK"
    for keys in ([every, "A", "B"], ["A", every, "B"]):
        assert read(keyed(keys)) == [row(COLUMNS, [*"甲xy", key]) for key in keys]


@pytest.mark.parametrize("keys", ["A", "AA", "AAA", "AL", ["A", "B", ""], ["A", "", "B"], ["x", "A"]])
def test_a_table_with_few_keys_or_one_alone_is_no_bank(keys: Sequence[str]) -> None:
    assert refused(keyed(keys)).reason == "unknown_columns"


def test_columns_that_no_vocabulary_knows_are_named_by_the_row_above_the_keys() -> None:
    assert read([["a", "b", "c", "键"], *keyed("AB")]) == [row(["a", "b", "c", "键"], [*"甲xy", key]) for key in "AB"]
    assert read([["a", "b", "c", ""], *keyed("AB")]) == [
        row(["a", "b", "c", "column_4"], [*"甲xy", key]) for key in "AB"
    ]
    assert read([["a", "b", "c", "d"], *keyed("AB", 5)]) == [
        row(["a", "b", "c", "d", "column_5"], [*"甲xyzw"[:4], key]) for key in "AB"
    ]


def test_a_title_fills_no_more_than_half_of_its_row() -> None:
    names = ["a", "b", "c", "键"]
    for title in (["t", "", "", ""], ["t", "u", "", ""]):
        assert read([title, names, *keyed("AB")]) == [row(names, [*"甲xy", key]) for key in "AB"]
    assert read([["t", "u", "v", ""], *keyed("AB")]) == [
        row(["t", "u", "v", "column_4"], [*"甲xy", key]) for key in "AB"
    ]


@pytest.mark.parametrize(("columns", "bank"), [(2, False), (3, False), (4, True), (5, True)])
def test_a_bank_without_a_known_header_has_four_columns_at_least(columns: int, bank: bool) -> None:
    records = [[*"prstu"[:columns]], *keyed("AB", columns)]
    assert (len(read(records)) == 2) if bank else refused(records)
    assert refused([[*"a甲乙"], [*"A甲乙"], [*"B甲乙"]]).reason == "unknown_columns"


def test_a_short_row_has_no_key() -> None:
    assert refused([*keyed("ABC", 5), [*"甲xyz"]]).reason == "unknown_columns"


def test_a_refusal_shows_the_beginning_of_the_first_row() -> None:
    long = ["x" * 70, "y" * 60, " ", "z" * 60, "w" * 60]
    shown = f"{'x' * 60}, {'y' * 60}, {'z' * 60}, {'w' * 14}"
    assert len(shown) == 200
    how = 'name the column in dataset.toml: [sources."FILE"] stem = "…"'
    said = "no header names the stem (Question, 题目, 题干 …); the first row has: "
    assert refused([long, ["a"] * 5]).detail == f"{said}{shown}; {how}"
    assert refused([]).detail == f"{said}none; {how}"
    assert refused([["", ""], ["a", "b"]]).detail == f"{said}a, b; {how}"


def test_two_columns_of_one_part_are_refused_with_the_beginning_of_their_name() -> None:
    name = "题目" + "（必填必填必填）" * 30
    assert len(name) > 201
    found = refused([["题目", "A", "答案", name, name], [*"甲乙A丙丁"]])
    assert (found.reason, found.detail) == ("duplicate_columns", f"several columns are named {name[:200]}")
    assert refused([["题目", "A", "a", "答案"], [*"甲乙丙A"]]).reason == "duplicate_columns"


def test_a_row_of_white_space_is_none_and_cells_of_white_space_are_null() -> None:
    assert read([HEADER, ["", " ", "\t", ""], ["x", " ", "乙", "A"]]) == [row(HEADER, ["x", None, "乙", "A"])]  # type: ignore[list-item]


def test_a_header_that_comes_again_is_left_out_and_another_one_begins_a_table() -> None:
    other = ["题干", "A", "B", "答案"]
    found = tables([HEADER, KEYED, HEADER, KEYED, other, KEYED, other, KEYED, HEADER], frozenset(), "s")
    assert [(one.sheet, next(iter(json.loads(one.fields)))) for one in found] == [
        ("s", "题目"),
        ("s", "题目"),
        ("s (2)", "题干"),
        ("s (2)", "题干"),
    ]


def test_a_row_with_three_known_names_and_no_stem_is_data() -> None:
    assert [one["A"] for one in read([HEADER, ["x", "A", "B", "C"], KEYED])] == ["A", "甲"]


def test_bytes_in_a_row_are_a_picture_and_other_things_texts() -> None:
    found = row_of({"a": b"\x89PNG", "b": {1}, "c": "中\ud83d"}, "s")
    assert (found.sheet, found.fields) == ("s", '{"a": "<img>", "b": "{1}", "c": "中\ufffd"}')


def test_a_table_without_questions_is_told_of_and_all_of_them_are_refused() -> None:
    told: list[str] = []
    rows = [*every_table({"a": [["x"]], "b": [HEADER, KEYED], "c": []}, frozenset(), told)]
    assert [one.sheet for one in rows] == ["b"]
    assert [note.partition(":")[0] for note in told] == ["a was left out", "c was left out"]
    with pytest.raises(UnreadableDocument, match="there is no table in it"):
        next(every_table({}, frozenset(), told))
    with pytest.raises(UnreadableDocument, match="the first row has: y"):
        next(every_table({"a": [["x"]], "b": [["y"]]}, frozenset(), told))
    assert [*every_table({"a": [HEADER, KEYED], "b": [["y"]]}, frozenset(), told)] != []


def test_the_columns_of_options_of_one_file_make_no_header_of_the_keys_of_another() -> None:
    with pytest.raises(UnreadableDocument, match="no header names the stem"):
        read([["题号", "答案"], ["1", "A"], ["2", "B"], ["3", "C"]], "A", "B", "C", "D")


@pytest.mark.parametrize("head", [["题号", "答案"], ["No.", "Answer"], ["序号", "正确答案", "备注"]])
def test_a_sheet_of_keys_alone_is_told_how_to_become_a_key(head: list[str]) -> None:
    keys = [[str(at), told, ""][: len(head)] for at, told in enumerate(["A", "见教材"], 1)]
    assert "as the key of a paper it needs a row for each number" in refused([head, *keys]).detail
    assert "PAPER_answers.txt" not in refused([["a", "b"], ["c", "d"]]).detail


@given(
    st.lists(st.sampled_from(["背面", "正面", "题目", "选项", "A", "text", "肺炎"]), min_size=3, max_size=3),
    st.integers(0, 4),
)
def test_no_question_of_a_table_without_a_header_is_taken_for_one(options, at):
    rows = [[f"第{one}项是", "甲", "乙", "丙", "ABC"[one % 3]] for one in range(5)]
    rows[at][1:4] = options
    assert [list(row.values()) for row in read(rows)] == rows
