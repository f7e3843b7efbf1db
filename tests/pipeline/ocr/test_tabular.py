"""Tables of questions: rows as they were found."""

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
from hypothesis import given, strategies as st
from openpyxl import Workbook

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader, tabular
from build_dataset.pipeline.ocr.readers.encoding import decode
from build_dataset.pipeline.ocr.readers.header import tables
from build_dataset.schemas.errors import UnreadableDocument

Flips = Callable[[Callable[[int], object], Sequence[int]], list[object]]
HEADER = "Question,Options,Answer,Explanation"
ROW = '"下列哪项正确，请选择","A 甲\nB 乙",A,因为如此'


def rows(path: Path) -> list[dict]:
    return [json.loads(row.fields) for row in find_reader(path, OcrParams()).rows(path, OcrParams(), [])]


def refused(path: Path) -> UnreadableDocument:
    with pytest.raises(UnreadableDocument) as caught:
        rows(path)
    return caught.value


def write(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_csv_in_every_encoding_that_excel_writes(tmp_path, encoding):
    path = write(tmp_path / "a.csv", f"{HEADER}\r\n{ROW}\r\n", encoding)
    assert rows(path) == [
        {"Question": "下列哪项正确，请选择", "Options": "A 甲\nB 乙", "Answer": "A", "Explanation": "因为如此"}
    ]


@pytest.mark.parametrize("separator", [",", ", ", "\t", ";", "|"])
def test_delimiters(tmp_path, separator):
    path = write(
        tmp_path / "a.csv", f'"Question"{separator}"A"{separator}"Answer"\n"题干"{separator}"甲"{separator}"B"\n'
    )
    assert rows(path) == [{"Question": "题干", "A": "甲", "Answer": "B"}]


def test_letters_of_keys_are_no_headers(tmp_path):
    lines = ["题干\t选项\t答案", *["其中有\tA:甲|B:乙|C:丙|D:丁|E:戊\tA,B,C,D,E"] * 3]
    path = write(tmp_path / "a.tsv", "\n".join(lines))
    assert rows(path)[0]["答案"] == "A,B,C,D,E"


def test_empty_cells_are_null_and_cells_beyond_the_header_are_kept(tmp_path):
    path = write(tmp_path / "a.csv", "Question,Answer\n题干,\n\n另一题,A,多余\n")
    assert rows(path) == [
        {"Question": "题干", "Answer": None},
        {"Question": "另一题", "Answer": "A", "column_3": "多余"},
    ]


def test_a_table_without_questions_is_refused(tmp_path):
    assert refused(write(tmp_path / "a.csv", "name,age\nx,1\n")).reason == "unknown_columns"


def test_utf_16_without_its_mark_is_told_how_to_be_saved(tmp_path):
    found = refused(write(tmp_path / "a.csv", f"{HEADER}\n{ROW}\n", "utf-16-le"))
    assert (found.reason, "UTF-8" in found.detail) == ("wrong_encoding", True)


def test_two_columns_of_one_name_are_refused_rather_than_one_lost(tmp_path):
    assert refused(write(tmp_path / "a.csv", "Question,Question,Answer\n甲,乙,A\n")).reason == "duplicate_columns"


def test_one_bad_item_of_a_list_costs_itself_alone(tmp_path):
    found = rows(write(tmp_path / "a.json", '[{"question": "甲"}, null, {"question": "乙"}]'))
    assert found == [{"question": "甲"}, {"unparsed": None}, {"question": "乙"}]


@pytest.mark.parametrize("line", ["9" * 5000, '{"question": "\\ud83d"}'])
def test_numbers_and_characters_that_cannot_be_end_no_file(tmp_path, line):
    found = rows(write(tmp_path / "a.jsonl", '{"question": "甲"}\n' * 2 + line + "\n"))
    assert len(found) == 3
    json.dumps(found, ensure_ascii=False).encode()


def test_a_quote_that_never_ends_is_refused(tmp_path):
    assert refused(write(tmp_path / "a.csv", 'Question,Answer\n"题干,A\n')).reason == "broken_csv"


def workbook(path: Path, **sheets: list[list[str | float | None]]) -> Path:
    book = Workbook()
    book.remove(book.active)
    for name, lines in sheets.items():
        sheet = book.create_sheet(name)
        for line in lines:
            sheet.append(line)
    book.save(path)
    return path


def test_xlsx_reads_every_sheet_with_questions_as_text(tmp_path):
    questions = [["Question", "Options", "Answer"], ["题干一", "A 1.50", "A"], ["题干二", 2, None]]
    path = workbook(tmp_path / "a.xlsx", questions=questions, notes=[["note"], ["no question"]])
    assert rows(path) == [
        {"Question": "题干一", "Options": "A 1.50", "Answer": "A"},
        {"Question": "题干二", "Options": "2", "Answer": None},
    ]


def test_a_workbook_without_questions_is_refused(tmp_path):
    assert refused(workbook(tmp_path / "a.xlsx", notes=[["note"], ["x"]])).reason == "unknown_columns"


def test_cmb_json_rows_are_untouched(tmp_path):
    items = [{"exam_type": "医师考试", "question": "题干", "option": {"A": "甲", "B": ""}, "answer": "A", "x": 1.5}]
    path = write(tmp_path / "a.json", json.dumps(items, ensure_ascii=False))
    assert rows(path) == items


@pytest.mark.parametrize(
    ("text", "reason"),
    [('[{"question": ', "invalid_json"), ('{"a": 1}', "unknown_format"), ("[1, 2]", "unknown_format")],
)
def test_json_that_is_no_list_of_questions(tmp_path, text, reason):
    assert refused(write(tmp_path / "a.json", text)).reason == reason


ITEMS = [{"question": f"问{at}", "options": ["甲", "乙"], "answer": "A"} for at in range(4)]


@pytest.mark.parametrize(
    ("value", "kinds"),
    [
        (
            {"title": "书", "chapters": [{"title": "一", "questions": ITEMS[:2]}, {"questions": ITEMS[2:]}]},
            ["chapters"] * 4,
        ),
        ({"书": [{"名称": "一", "小节": ITEMS}]}, ["小节"] * 4),
        ({"单选题": ITEMS[:1], "判断题": ITEMS[1:]}, ["单选题", *["判断题"] * 3]),
        ([{"title": "一", "任意": {"deep": ITEMS}}], ["deep"] * 4),
    ],
)
def test_questions_are_found_in_sections_under_any_name(tmp_path, value, kinds):
    found = rows(write(tmp_path / "bank.json", json.dumps(value, ensure_ascii=False)))
    assert [(row["question"], row.get("type")) for row in found] == [(f"问{at}", kind) for at, kind in enumerate(kinds)]


@pytest.mark.parametrize("name", ["children", "questions", "小题"])
def test_a_case_under_the_name_of_a_stem_is_that_of_the_questions_below_it(tmp_path, name):
    bank = [{"question": "病例", "answer": None, name: ITEMS}, {"title": "卷一", name: ITEMS}]
    found = rows(write(tmp_path / "bank.json", json.dumps(bank, ensure_ascii=False)))
    assert [(row["question"], row.get("context")) for row in found] == [
        (item["question"], case) for case in ("病例", None) for item in ITEMS
    ]


def test_options_that_are_objects_are_no_questions(tmp_path):
    item = {"title": "问", "variants": [{"text": "甲", "correct": True}, {"text": "乙", "correct": False}]}
    assert rows(write(tmp_path / "bank.json", json.dumps([item], ensure_ascii=False))) == [item]


def test_a_broken_line_of_jsonl_goes_on_as_it_is(tmp_path):
    path = write(tmp_path / "a.jsonl", '{"question": "一"}\n{"question": \n{"question": "二\u2028"}\n')
    assert rows(path) == [{"question": "一"}, {"unparsed": '{"question":'}, {"question": "二\u2028"}]


LOST = st.sampled_from(["A", "", None, ["A"], {"A": 1}])


@given(st.sampled_from(["question", "answer", "option"]), LOST, LOST, st.booleans())
def test_a_value_under_a_repeated_key_is_never_lost_silently(key, one, other, inner):
    item = f'{{"{key}": {json.dumps(one)}, "id": 7, "{key}": {json.dumps(other)}}}'
    item = f'{{"data": {item}}}' if inner else item
    with TemporaryDirectory() as folder:
        lines = write(Path(folder) / "a.jsonl", f'{item}\n{{"question": "一"}}\n')
        whole = write(Path(folder) / "a.json", f'[{item}, {{"question": "一"}}]')
        if one == other:
            assert rows(lines)[0] == json.loads(item)
        else:
            for path in (lines, whole):
                assert f"'{key}'" in rows(path)[0]["why"]
                assert rows(path)[1] == {"question": "一"}


def test_jsonl_of_nothing_but_broken_lines_is_refused(tmp_path):
    assert refused(write(tmp_path / "a.jsonl", "not json\nat all\n")).reason == "invalid_json"


@given(st.text(alphabet="题干答案，。ABC123", min_size=1))
def test_utf8_text_decodes_to_itself(text):
    assert decode(text.encode()) == text


@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
def test_a_bank_called_txt_is_a_bank_by_its_header_and_a_paper_is_none(tmp_path, delimiter):
    lines = [["题目", "选项A", "选项B", "答案"], ["下列哪项正确", "甲", "乙", "A"]]
    bank = write(tmp_path / "bank.txt", "\n".join(delimiter.join(line) for line in lines))
    assert rows(bank)[0]["题目"] == "下列哪项正确"
    paper = write(tmp_path / "paper.txt", "题目与答案，供复习\n1. 下列哪项正确\nA. 甲\nB. 乙\n答案：A")
    assert find_reader(paper, OcrParams()).format == "text"


@pytest.mark.parametrize("name", ["saved.txt", "export.doc", "saved.html"])
def test_a_web_page_is_one_whatever_it_is_called(tmp_path, name):
    page = write(tmp_path / name, "\ufeff\n<!DOCTYPE html><html><body><p>1. 下列哪项正确</p></body></html>")
    assert find_reader(page, OcrParams()).format == "html"


def test_an_old_or_encrypted_workbook_called_xlsx_is_told_by_its_content(tmp_path):
    locked = tmp_path / "locked.xlsx"
    locked.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"))
    assert refused(locked).reason == "encrypted"


KEYED = ["1. 题", "甲", "乙", "A"]


def header_of(records: list[list[str]]) -> object:
    try:
        return [(row.fields, row.sheet) for row in tables(records, frozenset(), "s")]
    except UnreadableDocument as error:
        return error.reason


def test_the_header_is_among_the_first_thirty_rows(flips):
    header = ["题目", "A", "B", "答案"]
    assert flips(lambda above: header_of([["说明"]] * above + [header, KEYED]) == "unknown_columns", range(40)) == [30]


def test_three_known_names_are_a_header_of_another_table(flips):
    again = ["题干", "A", "B", "答案"]
    header = ["题目", "A", "B", "答案"]
    assert flips(lambda named: len(header_of([header, KEYED, again[:named], KEYED])), range(1, 5)) == [3]


@pytest.mark.parametrize(
    ("text", "sign"),
    [("题目,A,B,答案\n", ","), ("标题\n题目;A;B;答案\n", ";"), ("题目\tA\t答案", "\t"), ("a|b", "|"), ("", ",")],
)
def test_the_delimiter_is_that_of_the_header(text, sign):
    assert tabular.delimiter(text) == sign


OVER = ["题目", "选项", "", "答案"]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([OVER, ["", "A", "B", ""], KEYED], [dict(zip(["题目", "A", "B", "答案"], KEYED, strict=True))]),
        (
            [["题目", "选项", "", "备注"], ["", "A", "B", ""], KEYED],
            [{"题目": "1. 题", "A": "甲", "B": "乙", "备注": "A"}],
        ),
        # One known cell may be data: the key of a question that has no text.
        ([["题目", "甲", "", "答案"], ["", "x", "B", ""]], [{"题目": None, "甲": "x", "column_3": "B", "答案": None}]),
        # Nothing is filled in below an empty cell: a row of data.
        (
            [["题目", "甲", "乙", "答案"], ["", "A", "B", ""], KEYED],
            [
                {"题目": None, "甲": "A", "乙": "B", "答案": None},
                {"题目": "1. 题", "甲": "甲", "乙": "乙", "答案": "A"},
            ],
        ),
        # The second row is longer than the first.
        ([["题目"], ["", "A", "B", "答案"], KEYED], [dict(zip(["题目", "A", "B", "答案"], KEYED, strict=True))]),
        # The second row is no better.
        ([["题目", "", "答案"], ["题", "x", "A"]], [{"题目": "题", "column_2": "x", "答案": "A"}]),
    ],
)
def test_a_header_may_stand_in_two_rows(records, expected):
    assert [json.loads(fields) for fields, _ in header_of(records)] == expected


def test_tables_below_each_other_are_numbered():
    header, other = ["题目", "A", "B", "答案"], ["题干", "A", "B", "答案"]
    found = list(tables([header, KEYED, header, KEYED, other, KEYED, header, KEYED], frozenset()))
    assert [row.sheet for row in found] == [None, None, "table (2)", "table (3)"]


def test_columns_without_names_or_of_one_name_are_numbered():
    (row,) = tables([["题目", "", "其他", "其他", "OTHER", "other"], [*"12345678"]], frozenset())
    names = ["题目", "column_2", "其他", "其他 (2)", "OTHER", "other (2)", "column_7", "column_8"]
    assert json.loads(row.fields) == dict(zip(names, "12345678", strict=True))


def test_at_least_half_of_the_items_of_a_list_and_of_the_lines_of_a_file_are_objects(flips, tmp_path):
    def refused(name: str, text: str) -> bool:
        try:
            rows(write(tmp_path / name, text))
        except UnreadableDocument:
            return True
        return False

    def items(bad: int) -> bool:
        return refused("a.json", json.dumps([1] * bad + [{"question": "甲"}] * (8 - bad), ensure_ascii=False))

    assert flips(items, range(9)) == [5]
    line = '{"question": "甲"}'
    assert flips(lambda bad: refused("a.jsonl", "\n".join(["x"] * bad + [line] * (8 - bad))), range(9)) == [5]
    assert flips(lambda bad: refused("a.jsonl", "\n".join(["x"] * bad + [line] * (7 - bad))), range(8)) == [4]


def test_the_first_broken_line_is_named(tmp_path):
    found = refused(write(tmp_path / "a.jsonl", '{"question": "甲"}\n\nx\n[1]\n'))
    assert found.detail == "2 of 3 lines are not JSON objects, first line 2"


def test_questions_are_looked_for_nine_objects_deep(flips):
    question = {"question": "甲", "options": ["x", "y"], "answer": "A"}

    def found(depth: int, name: str) -> bool:
        value: object = [question]
        for _ in range(depth):
            value = {name: value, "title": "t"}
        return [row.get("question") for row in tabular.questions(value)] == ["甲"]

    assert flips(lambda depth: found(depth, "questions"), range(1, 14)) == [10]
    assert flips(lambda depth: found(depth, "任意"), range(1, 14)) == [10]
    assert flips(lambda depth: tabular._holds_question([question], depth), range(12)) == [9]


@pytest.mark.parametrize("kind", ["parquet", "ipc", "ipc_stream"])
def test_tables_of_dataset_hubs_are_read_by_their_first_bytes(tmp_path, kind):
    path = tmp_path / "bank.arrow"
    frame = pl.DataFrame({"question": ["甲", "乙"], "options": [["x", "y"], None]})
    getattr(frame, f"write_{kind}")(path)
    assert find_reader(path, OcrParams()).format == "parquet"
    assert rows(path) == [{"question": "甲", "options": ["x", "y"]}, {"question": "乙", "options": None}]


@pytest.mark.parametrize(
    ("head", "suffix", "read"),
    [
        (b"PAR1", "", True),
        (b"PAR", ".parquet", False),
        (b"ARROW1", "", True),
        (b"ARROW", ".arrow", False),
        (b"\xff\xff\xff\xff", ".arrow", True),
        (b"\xff\xff\xff\xff", ".bin", False),
        (b"\xff\xff\xff\x00", ".arrow", False),
    ],
)
def test_parquet_and_arrow_begin_with_a_mark(head, suffix, read):
    assert tabular.ParquetReader().recognises(head, suffix) == read


@pytest.mark.parametrize(
    ("head", "suffix", "json_lines", "cmb"),
    [
        (b'{"a": 1}\n', ".txt", True, False),
        (b'{"a": 1}\n', ".md", False, False),
        (b'{"a": 1}\n', ".json", False, True),
        (b'{"a": 1}\n{"a": 2}\n', ".json", True, True),
        (b'{"a"}\n', ".txt", False, False),
        (b'"a": 1}\n', ".txt", False, False),
        (b'{"a": 1\n', ".txt", False, False),
        (b"x", ".jsonl", True, False),
        (b"x", ".ndjson", True, False),
        (b"x\0", ".jsonl", False, False),
        (b"[ {", ".txt", False, True),
        (b"[ {", ".jsonl", True, False),
        (b"[1]", ".txt", False, False),
        (b"[" + b" " * 99 + b"{", ".txt", False, True),
        (b"[" + b" " * 100 + b"{", ".txt", False, False),
        (b"x", ".json", False, True),
        (b"x\0", ".json", False, False),
        (b" \r\n\t\xef\xbb\xbf[{", ".txt", False, True),
        (b" \r\n\t\xef\xbb\xbf[{", ".ndjson", True, False),
    ],
)
def test_json_is_told_by_its_beginning_and_its_name(head, suffix, json_lines, cmb):
    found = tabular.JsonlReader().recognises(head, suffix), tabular.CmbJsonReader().recognises(head, suffix)
    assert found == (json_lines, cmb)


def test_headers_far_to_the_right_and_far_below_choose_no_delimiter(flips):
    assert flips(lambda far: tabular.delimiter("y|z\n" + "x" * far + ",题目"), range(1985, 2010)) == [1998]
    below = flips(lambda far: tabular.delimiter("y|z" + "x" * far + "\n题目,"), range(19_985, 20_010))
    assert below == [19_995]
    assert flips(lambda above: tabular.delimiter("a|b\n" * above + "题目;答案"), range(40)) == [30]


@pytest.mark.parametrize(
    ("encoding", "letter", "needed"), [("cp1252", "é ", 13), ("cp932", "の", 4), ("cp949", "이", 6)]
)
def test_an_encoding_is_told_by_a_share_of_its_own_characters(encoding, letter, needed, flips):
    other = {"cp1252": "é", "cp932": "亜", "cp949": "뷁"}[encoding]

    def right(count: int) -> bool:
        text = letter * count + other * (20 - count) + ("é" if encoding == "cp1252" else "")
        try:
            return decode(text.encode(encoding)) == text
        except UnreadableDocument:
            return False

    found = flips(right, range(21))
    assert found == [needed]


def test_chinese_text_is_mostly_common_characters(flips):
    def text(common: int) -> str:
        try:
            return decode(("的" * common + "鱻" * (20 - common)).encode("gb18030"))[:1]
        except UnreadableDocument as error:
            return error.reason

    assert flips(lambda common: text(common) == "wrong_encoding", range(21)) == [12]


@pytest.mark.parametrize(
    ("value", "rows"),
    [
        ({"question": ["甲", "乙"], "answer": ["A", "B"]}, [("甲", "A"), ("乙", "B")]),
        ({"question": {"0": "甲", "1": "乙"}, "answer": {"0": "A", "1": "B"}}, [("甲", "A"), ("乙", "B")]),
        ({"question": ["甲"], "answer": ["A"]}, [("甲", "A")]),
        ({"question": {"0": "甲", "1": "乙"}, "answer": {"1": "A", "0": "B"}}, []),
        ({"question": {"0": "甲", "1": "乙"}, "answer": {"0": "A", "2": "B"}}, []),
        ({"question": ["甲", "乙"], "answer": {"0": "A", "1": "B"}}, []),
        ({"question": ["甲", "乙"], "answer": ["A"]}, []),
        ({"question": ["甲", "乙"], "answer": ["A", "B"], "year": 2020}, []),
        ({"name": ["甲", "乙"], "answer": ["A", "B"]}, []),
        ({}, []),
    ],
)
def test_a_table_may_be_kept_by_column(value: dict[str, object], rows: list[tuple[str, str]]) -> None:
    found = [(row["question"], row["answer"]) for row in tabular._columns(value)]  # type: ignore[arg-type]
    assert found == rows


def test_objects_by_id_are_questions_with_that_id() -> None:
    value = {"q1": {"question": "甲", "answer": "A"}, "q2": {"id": "x", "question": "乙"}}
    assert [*tabular.questions(value)] == [{"id": "q1", "question": "甲", "answer": "A"}, {"id": "x", "question": "乙"}]
    numbered = {"Q": "甲", "A": "B", "1": "子", "2": "丑"}
    assert [*tabular.questions({"name": "一", "1": numbered, "2": numbered})] == [
        {"id": "1", **numbered},
        {"id": "2", **numbered},
    ]
    assert [*tabular.questions({"q1": {"a": 1}, "q2": 5})] == []
    assert [*tabular.questions({"question": "甲", "year": 5})] == [{"question": "甲", "year": 5}]
    assert [*tabular.questions({"question": ["甲"], "year": 5})] == []
    assert [*tabular.questions({})] == []
    assert [*tabular.questions("甲")] == []


def test_types_that_a_database_writes_around_values_are_none_of_them(tmp_path):
    item = {"question": {"S": "甲"}, "answers": {"L": [{"S": "子"}, {"S": "丑"}]}, "correct": {"N": "1"}}
    found = rows(write(tmp_path / "bank.json", json.dumps({"Items": [item, item]})))
    assert found == [{"question": "甲", "answers": [{"S": "子"}, {"S": "丑"}], "correct": "1"}] * 2


def test_questions_have_the_case_of_the_object_that_they_are_in() -> None:
    asked = [{"question": "甲", "answer": "A"}, "x"]
    assert [*tabular.questions([{"case": "例", "group_id": 7, "title": "t", "items": asked}])] == [
        {"case": "例", "question": "甲", "answer": "A"},
        "x",
    ]
    assert [*tabular.questions([{"case": "例", "第一章": asked[:1]}])] == [
        {"type": "第一章", "case": "例", "question": "甲", "answer": "A"}
    ]
    # Options are of the question that they stand in, and true is an option's.
    item = {"question": "甲", "options": [{"question": "乙", "answer": "A"}]}
    assert [*tabular.questions([item])] == [item]
    flagged = {"text": "甲", "correct": True, "items": [{"question": "乙", "answer": "A"}]}
    assert [*tabular.questions([flagged])] == [{"question": "乙", "answer": "A"}]
    assert [*tabular.questions([{"items": [], "a": 1}])] == [{"items": [], "a": 1}]
    assert [*tabular.questions([{"items": ["x"], "a": 1}])] == [{"items": ["x"], "a": 1}]
    assert [*tabular.questions([{"items": {"a": [asked[0]]}}])] == [{"type": "a", **asked[0]}]  # type: ignore[dict-item]


def test_a_cell_has_ten_million_characters_at_most() -> None:
    cell = "x" * 10_000_000
    assert [*tabular._bounded(iter([["a", cell], []]))] == [["a", cell], []]
    with pytest.raises(csv.Error, match="more than 10000000 characters"):
        next(tabular._bounded(iter([[cell + "x", "a"]])))


def test_a_broken_line_of_csv_is_named(tmp_path: Path) -> None:
    found = refused(write(tmp_path / "a.csv", 'Question,Answer\n甲,A\n"乙"x,B\n'))
    assert (found.reason, found.detail.partition(":")[0]) == ("broken_csv", "line 3")


def test_the_limit_of_cells_that_another_program_raised_stays(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "Question,Answer\n甲,A\n")
    before = csv.field_size_limit()
    try:
        limits = []
        for limit in (99, 20_000_000):
            csv.field_size_limit(limit)
            assert len(rows(path)) == 1
            limits.append(csv.field_size_limit())
    finally:
        csv.field_size_limit(before)
    assert limits == [10_000_000, 20_000_000]


@pytest.mark.parametrize(
    ("text", "suffix", "read"),
    [
        ("题目,答案\n甲,A", ".txt", True),
        ("\ufeff题目;答案\n甲;A", ".txt", True),
        ("题目,选项\n甲,A", ".txt", False),
        ("选项\t答案\n甲\tA", ".txt", False),
        ("说明\n题目,答案", ".txt", False),
        ("题目,答案\0", ".txt", False),
        ("x", ".csv", True),
        ("x", ".tsv", True),
        ("x", ".xls", True),
        ("x", ".md", False),
        ("x\0", ".csv", False),
    ],
)
def test_a_csv_file_is_told_by_its_name_or_its_header(text: str, suffix: str, read: bool) -> None:
    assert tabular.CsvReader().recognises(text.encode(), suffix) == read


def test_the_header_of_a_bank_called_txt_stands_among_its_first_characters(flips: Flips) -> None:
    def read(far: int) -> bool:
        return tabular.CsvReader().recognises(("答案," + "x" * far + ",题目").encode(), ".txt")

    assert flips(read, range(1985, 2010)) == [1995]


@pytest.mark.parametrize("item", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_lacks_are_null(tmp_path, item):
    assert rows(write(tmp_path / "a.jsonl", f'{{"a": {item}}}\n[1]\n')) == [{"a": None}, {"unparsed": "[1]"}]
    assert rows(write(tmp_path / "a.json", f'[{{"question": {item}}}]')) == [{"question": None}]


def test_empty_tables_hold_no_list_of_questions(tmp_path: Path) -> None:
    assert refused(write(tmp_path / "a.json", "[]")).reason == "unknown_format"
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    assert refused(tmp_path / "a.parquet").reason == "broken"


def test_the_delimiter_stands_most_often_in_the_line_with_most_known_names() -> None:
    assert tabular.delimiter("a|b|c|d\n题目;A;B\n题目,答案;x,y\nA,B,C,D,E") == ","
    assert tabular.delimiter("x;y;z\nA|B|C|D|E") == "|"


QUESTION = {"question": "甲", "options": ["x", "y"], "answer": "A"}


def test_a_question_is_looked_for_under_any_names_nine_objects_deep(flips: Flips) -> None:
    def found(depth: int) -> bool:
        value: object = QUESTION
        for _ in range(depth):
            value = {"任意": value}
        return tabular._holds_question(value, 0)

    assert flips(found, range(13)) == [1, 10]


@pytest.mark.parametrize(("depth", "opened"), [(0, True), (7, True), (8, False)])
def test_objects_by_id_are_one_object_deeper(depth: int, opened: bool) -> None:
    inner = [{"question": "甲"}]
    found = [*tabular.questions({"k": {"items": inner}}, depth)]
    assert found == (inner if opened else [{"id": "k", "items": inner}])


def test_what_is_told_of_a_chapter_is_no_text_of_its_questions(tmp_path):
    chapters = [
        {
            "id": "c1",
            "title": "第一章",
            "subtitle": "这一章讲的是呼吸系统常见疾病的诊断与治疗，以及它们的预防和护理，共四十二页，八节",
        }
    ]
    asked = {"chapterId": "c1", "question": "首选的是", "options": ["甲", "乙"], "answer": "A"}
    text = json.dumps({"chapters": chapters, "questions": [asked, asked]}, ensure_ascii=False)
    assert rows(write(tmp_path / "a.json", text)) == [asked, asked]


@pytest.mark.parametrize("broken", [0, 1])
def test_a_line_with_a_quote_inside_its_quotes_is_told_and_left_out(tmp_path, broken):
    lines = [f'"第{at}题","A 甲\nB 乙",A,"因为如此"' for at in range(3)]
    lines[broken] = '"第x题","A 甲",A,"the "stones, bones" triad"'
    told: list[str] = []
    path = write(tmp_path / "a.csv", "\n".join([HEADER, lines[broken], *lines]))
    found = [json.loads(row.fields) for row in find_reader(path, OcrParams()).rows(path, OcrParams(), told)]
    assert [row["Question"] for row in found] == [f"第{at}题" for at in range(3) if at != broken]
    assert len(told) == 2


@pytest.mark.parametrize("between", ["", "\n", "\n\n"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_values_of_json_that_follow_each_other_are_read_one_by_one(tmp_path, between, size):
    lists = [
        [{"question": f"第{at}.{one}题", "options": ["甲", "乙"], "answer": "A"} for one in range(2)]
        for at in range(size)
    ]
    path = write(tmp_path / "a.json", between.join(json.dumps(one, ensure_ascii=False) for one in lists))
    assert [row["question"] for row in rows(path)] == [f"第{at}.{one}题" for at in range(size) for one in range(2)]


def test_a_line_break_inside_a_text_of_json_is_a_part_of_it(tmp_path):
    path = write(tmp_path / "a.json", '[{"question": "首选\n的是", "options": ["甲", "乙"], "answer": "A"}]')
    assert rows(path)[0]["question"] == "首选\n的是"


def test_of_json_that_ends_too_early_nothing_is_read(tmp_path):
    assert refused(write(tmp_path / "a.json", '[{"question": "首选"}] [{"question": ')).reason == "invalid_json"


def test_cells_of_csv_may_stand_in_single_quotes(tmp_path):
    path = write(tmp_path / "a.csv", "question,A,B,answer\n" + "'首选, 通常','甲','乙','A'\n" * 3)
    assert rows(path)[0] == {"question": "首选, 通常", "A": "甲", "B": "乙", "answer": "A"}


def test_a_long_heading_over_questions_is_no_passage(tmp_path):
    heading = "2. İlk Türk-İslam Devletleri ve Beylikleri Dönemi"
    path = write(
        tmp_path / "a.json", json.dumps({heading: [{"question": "首选", "options": ["甲", "乙"], "answer": "A"}]})
    )
    assert rows(path)[0]["type"] == heading


def test_the_name_of_a_file_beside_questions_is_no_passage(tmp_path):
    asked = [{"question": "首选", "options": ["甲", "乙"], "answer": "A"}]
    path = write(tmp_path / "a.json", json.dumps([["某学校公共课程期末考试复习题库（2026年秋季）.txt"], asked]))
    assert "context" not in rows(path)[0]
