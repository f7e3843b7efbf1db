"""Banks of many headers and shapes are read right, or the file is stopped with one line."""

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.ocr.readers.header import tables
from build_dataset.pipeline.parse.columns import Unclear
from build_dataset.pipeline.parse.mapping import find_mapping
from build_dataset.pipeline.parse.rows import RowError, SourceTable, questions_of
from build_dataset.schemas.dataset import SourceParams
from build_dataset.schemas.documents import Document, SourceRow

HEADERS = [  # stem, all options, answer, explanation, one option
    ("题干", "选项", "正确答案", "解析", "选项{}"),
    ("试题内容（必填）", "备选答案", "标准答案", "答案解析", "{}选项"),
    ("題目", "選項", "正確答案", "詳解", "選項{}"),
    ("Question", "Options", "Answer", "Explanation", "Option {}"),
    ("questionText", "choices", "correctAnswer", "rationale", "option_{}"),
    ("question", "options", "cop", "exp", "op{}"),
    ("Pregunta", "Opciones", "Respuesta correcta", "Justificación", "Opción {}"),
    ("問題文", "選択肢", "正解", "解説", "選択肢{}"),
    ("문제", "보기", "정답", "해설", "보기{}"),
    ("stem", "endings", "label", "feedback", "ending{}"),
]
WORDS = ["肺炎", "心力衰竭", "阿司匹林 肠溶片", "B超", "维生素C", "5 mg", "以上都对", "aspirin", "甲状腺", "1.5 g/L"]
SHAPES = (
    "columns", "numbered", "list", "labelled_list", "dict", "objects", "lines", "literal", "brackets",
    "one_line", "pandas", "flags", "records",
)  # fmt: skip
ANSWERS = ("header", "letter", "lower", "bracket", "op", "word", "text", "letter_text", "list", "index0", "index1")
Bank = list[tuple[str, list[str], int]]
"""Stem, options, place of the right one."""


def document(rows: int) -> Document:
    return Document(document="bank.x", sha256="ab" * 32, format="x", pages=None, rows=rows)


def parse(rows: list[dict[str, Any]], declared: SourceParams | None = None) -> SourceTable:
    sources = [
        SourceRow(document="bank.x", row=number, fields=json.dumps(row, ensure_ascii=False))
        for number, row in enumerate(rows, 1)
    ]
    return questions_of(sources, document(len(rows)), declared)


@st.composite
def banks(draw: st.DrawFn) -> Bank:
    size = draw(st.integers(4, 12))
    rows = []
    for number in range(draw(st.integers(1, 30))):
        options = draw(st.permutations(WORDS))[: draw(st.sampled_from([4, 5])) if size > 8 else 4]
        rows.append(
            (f"关于第{number}例患者的诊断，下列正确的是", list(options), draw(st.integers(0, len(options) - 1)))
        )
    return rows


def row_of(item: tuple[str, list[str], int], names: tuple[str, ...], shape: str, answer: str) -> dict[str, Any]:
    stem, texts, right = item
    one_stem, whole, key, exp, single = names
    letters = "ABCDE"[: len(texts)]
    row: dict[str, Any] = {"序号": "7", one_stem: stem}
    pairs = list(zip(letters, texts, strict=True))
    row |= {
        "columns": {single.format(letter): text for letter, text in pairs},
        "numbered": {single.format(at): text for at, text in enumerate(texts, 1)},
        "list": {whole: texts},
        "labelled_list": {whole: [f"{letter}. {text}" for letter, text in pairs]},
        "dict": {whole: dict(sorted(pairs, key=lambda pair: pair[1][::-1]))},  # in any order
        "objects": {whole: [{"key": letter, "value": text} for letter, text in pairs]},
        "lines": {whole: "\n".join(f"{letter}、{text}" for letter, text in pairs)},
        "literal": {whole: r"\n".join(f"{letter} {text}" for letter, text in pairs)},
        "brackets": {whole: "\n".join(f"({letter}) {text}" for letter, text in pairs)},
        "one_line": {whole: "  ".join(f"{letter}.{text}" for letter, text in pairs)},
        "pandas": {whole: str(texts)},
        "records": {whole: ",".join(f"{letter}|{text}|{int(at == right)}" for at, (letter, text) in enumerate(pairs))},
        "flags": {whole: [{"text": text, "is_correct": at == right} for at, text in enumerate(texts)]},
    }[shape]
    letter = letters[right]
    if answer == "header":  # the name of the option's column; elsewhere there is none
        header = {"columns": single.format(letter), "numbered": single.format(right + 1)}
        row |= {} if shape == "flags" else {key: header.get(shape, letter)}
    elif shape != "flags":
        row[key] = {
            "letter": letter, "lower": letter.lower(), "bracket": f"({letter})", "op": f"op{letter.lower()}",
            "word": f"答案：{letter}", "text": texts[right], "letter_text": f"{letter}. {texts[right]}",
            "list": [letter], "index0": right, "index1": str(right + 1),
        }[answer]  # fmt: skip
    row[exp] = "见教材。"
    return row


def check(source: SourceTable, bank: Bank, *, keyed: bool = True) -> bool:
    """Return whether all was read; fail where something is wrong or missing without a message."""
    if isinstance(source.columns, Unclear):
        assert source.columns.detail
        assert "dataset.toml" in source.columns.detail
        return False
    for (_, found), (stem, texts, right) in zip(source.rows, bank, strict=True):
        assert not isinstance(found, RowError), found
        question, doubts = found
        assert question.stem == stem
        assert [option.text for option in question.options] == texts
        if question.answer is None:
            assert doubts or not keyed, "an answer was dropped without a word"
        elif not doubts:
            assert question.answer == ["ABCDE"[right]]
    return True


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(banks(), st.sampled_from(HEADERS), st.sampled_from(SHAPES), st.sampled_from(ANSWERS))
def test_a_bank_of_any_shape_is_right_or_refused(bank, names, shape, answer):
    source = parse([row_of(item, names, shape, answer) for item in bank])
    whole = check(source, bank)
    assert whole or answer in ("index0", "index1") or (shape == "numbered" and answer == "text")


LETTERS = st.sampled_from("ABCD")
FOREIGN: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(("易错答案", "GPT4", "组", "考生答案", "my_choice", "上次答案", "chapter"), LETTERS),
    **{name: st.integers(1, 4) for name in ("难度", "分值", "answer_count", "type", "正确次数")},
    **{name: st.sampled_from(WORDS) for name in ("知识点", "同类题", "诊断", "关键词")},
    "pA": st.floats(0, 1),
    "章节": st.sampled_from(["第一章", "第二章"]),
    "tags": st.lists(st.sampled_from(WORDS), min_size=2, max_size=2),
}
"""Columns of a bank that are no part of a question, though their cells may look so."""


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(
    banks(),
    st.sampled_from(HEADERS),
    st.sampled_from(SHAPES),
    st.sampled_from(ANSWERS),
    st.lists(st.sampled_from(sorted(FOREIGN)), unique=True, max_size=5),
    st.booleans(),
    st.data(),
)
def test_columns_of_other_things_are_never_taken_for_keys_or_options(bank, names, shape, answer, foreign, hidden, data):
    rows = [row_of(item, names, shape, answer) for item in bank]
    rows = [row | {name: data.draw(FOREIGN[name]) for name in foreign} for row in rows]
    if hidden:  # the key stands under a header that nobody knows
        rows = [{{names[2]: "结果"}.get(name, name): cell for name, cell in row.items()} for row in rows]
    check(parse(rows), bank, keyed=not hidden)


@pytest.mark.parametrize("answer", ["index0", "index1"])
def test_numbers_are_read_where_the_file_shows_how_they_count(answer):
    bank = [("下列正确的是", ["甲乙", "丙丁", "戊己", "庚辛"], right) for right in (0, 1, 2, 3, 1)]
    source = parse([row_of(item, HEADERS[3], "list", answer) for item in bank])
    assert check(source, bank)
    assert [found[0].answer for _, found in source.rows] == [["A"], ["B"], ["C"], ["D"], ["B"]]


def test_numbers_that_may_count_from_0_or_1_stop_the_file_with_both_readings():
    found = parse([{"question": "问题一", "options": ["甲", "乙", "丙"], "correctAnswer": 1}]).columns
    assert isinstance(found, Unclear)
    assert "B counted from 0 or A counted from 1" in found.detail
    told = parse(
        [{"question": "问题一", "options": ["甲", "乙", "丙"], "correctAnswer": 1}],
        SourceParams(answer_as="index_from_1"),
    )
    assert told.rows[0][1][0].answer == ["A"]


def number_keyed(keys: list[int]) -> list[dict[str, Any]]:
    return [
        {"题干": f"关于第{at}例的说法正确的是", "选项": list("甲乙丙丁"), "答案": key} for at, key in enumerate(keys)
    ]


@pytest.mark.parametrize("keys", [[1, 2, 4, 4, 8], [1, 2, 4, 2, 1] * 5, [2, 3, 9, 4, 1], [1, 4] * 12])
def test_numbers_that_count_no_options_stop_the_file(keys):
    columns = parse(number_keyed(keys)).columns
    assert isinstance(columns, Unclear)
    assert "answer_as" in columns.detail


def test_one_number_beyond_the_options_among_many_is_a_typing_error():
    found = parse(number_keyed([1, 2, 3, 4] * 6 + [9])).rows
    assert [question.answer for _, (question, _) in found[:4]] == [["A"], ["B"], ["C"], ["D"]]
    assert found[-1][1][0].answer is None


@pytest.mark.parametrize(("name", "stops"), [("更正答案", True), ("final_answer", True), ("考生答案", False)])
def test_a_column_that_may_correct_the_key_stops_the_file_where_they_differ(name, stops):
    rows = [
        {"题干": f"关于第{at}例的说法正确的是", **dict(zip("ABCD", "甲乙丙丁", strict=True)), "答案": "A"}
        for at in range(8)
    ]
    rows[3][name] = "B"
    assert isinstance(parse(rows).columns, Unclear) == stops
    rows[3][name] = "A"
    assert not isinstance(parse(rows).columns, Unclear)


def test_a_few_corrections_in_the_numbers_of_the_key_stop_the_file_where_they_differ():
    rows = [
        {"question": f"问题{at}", "choices": ["甲", "乙", "丙", "丁"], "answer": at % 4, "correct_answer": None}
        for at in range(8)
    ]
    rows[2]["correct_answer"] = "3"
    assert "correct_answer = '3' is D" in parse(rows).columns.detail
    rows[2]["correct_answer"] = "2"
    assert not isinstance(parse(rows).columns, Unclear)


@pytest.mark.parametrize(
    ("answer", "read"), [("B（乙）", ["B"]), ("(B)乙", ["B"]), ("B（甲）", None), ("B、甲", None), ("A（B也可）", None)]
)
def test_a_letter_with_a_text_is_read_where_the_text_is_its_own(answer, read):
    row = dict(zip("ABCD", "甲乙丙丁", strict=True))
    rows = [{"题干": f"关于第{at}例的说法正确的是", **row, "答案": "A"} for at in range(6)]
    rows[3]["答案"] = answer
    assert parse(rows).rows[3][1][0].answer == read


def test_an_answer_of_a_reader_is_no_option():
    row = {"question": "下列说法正确的是", "optionA": "甲", "optionB": "乙", "optionC": "丙", "myAnswer": "A"}
    (_, (question, doubts)), *_ = parse([{**row, "rightAnswer": "A"}, {**row, "rightAnswer": "B"}]).rows
    assert [option.text for option in question.options] == ["甲", "乙", "丙"]
    assert (question.answer, doubts) == (["A"], [])


def test_of_two_columns_that_may_be_the_key_and_differ_in_few_rows_those_wait():
    same = parse([{"question": "问", "options": {"A": "甲", "B": "乙"}, "answer": "乙", "answer_idx": "B"}])
    assert same.rows[0][1][0].answer == ["B"]
    few = [{"A": "甲", "B": "乙", "question": f"问{at}", "答案": "A", "正确答案": "AB"[at == 7]} for at in range(60)]
    doubted = [(row.row, [why for why, _ in found[1]]) for row, found in parse(few).rows if found[1]]
    assert doubted == [(8, ["answers_disagree"])]


def test_a_column_is_named_in_the_configuration():
    rows = [{"内容一": "下列正确的是", "甲": "心", "乙": "肺", "钥匙": "A"}]
    told = SourceParams(stem="内容一", options=["甲", "乙"], answer="钥匙")
    question, doubts = parse(rows, told).rows[0][1]
    assert (question.stem, question.answer, doubts) == ("下列正确的是", ["A"], [])
    wrong = parse(rows, SourceParams(stem="内容二")).columns
    assert isinstance(wrong, Unclear)
    assert "内容二" in wrong.detail


def test_a_column_of_difficulties_is_never_a_key():
    rows = [{"题目": f"题{at}", "选项A": "甲", "选项B": "乙", "选项C": "丙", "难度": "ABC"[at % 3]} for at in range(9)]
    assert all(found[0].answer is None for _, found in parse(rows).rows)


def test_columns_that_no_vocabulary_knows_are_read_by_what_stands_in_them():
    bank = [
        (f"关于第{at}个问题的说法哪一项是正确的", [f"说法{at}{one}" for one in "甲乙丙丁"], at % 4) for at in range(12)
    ]
    rows = [{"x1": stem, "x2": a, "x3": b, "x4": c, "x5": d, "x6": "ABCD"[right]} for stem, (a, b, c, d), right in bank]
    assert check(parse(rows), bank)
    texts = [{**row, "x6": (row["x2"], row["x3"], row["x4"], row["x5"])["ABCD".index(row["x6"])]} for row in rows]
    assert isinstance(parse(texts).columns, Unclear)  # letters could be told from texts, texts from nothing


@pytest.mark.parametrize(
    "option",
    [
        lambda letter, text: {"ans": letter, "item": text},
        lambda letter, text: {"option": letter, "description": text},
        lambda letter, text: {"label": f"{letter}、{text}", "value": letter, "checked": False},
        lambda letter, text: {"id": 3021 + ord(letter), "questionId": 7, "content": f"{letter}、{text}"},
        lambda letter, text: {letter: text},
    ],
)
@pytest.mark.parametrize("name", ["options", "data", "ansItem"])
def test_letters_and_texts_of_options_are_known_by_their_form_under_any_name(option, name):
    bank = [(f"关于第{at}个问题的说法哪一项是正确的", ["甲", "乙说", "丙", "丁"], at % 4) for at in range(12)]
    rows = [
        {
            "name": stem,
            name: [option(letter, text) for letter, text in zip("ABCD", texts, strict=True)],
            "da_an": "ABCD"[right],
            "tags": ["内科", "心脏"],
            "books": [{"name": "内科学"}, {"name": "诊断学"}],
        }
        for stem, texts, right in bank
    ]
    assert check(parse(rows), bank)


def test_two_columns_of_options_that_differ_stop_the_file():
    row = {"题干": "下列说法正确的是", "a1": {"A": "甲", "B": "乙"}, "a2": ["A、甲", "B、乙"], "答案": "A"}
    assert check(parse([row]), [("下列说法正确的是", ["甲", "乙"], 0)])
    assert not check(parse([{**row, "a2": ["A、甲", "B、丙"]}]), [])


@pytest.mark.parametrize(
    ("options", "labels"),
    [
        ("B.甲\nC.乙\nD.丙\nE.丁", "BCDE"),
        ("A.甲\nB.乙\nD.丙\nE.丁", "ABDE"),
        ("A.甲 B.乙 D.丙 E.丁", "ABDE"),
        (["B. 甲", "C. 乙", "D. 丙", "E. 丁"], "BCDE"),
        (["A、甲", "B、乙", "D、丙", "E、丁"], "ABDE"),
        ({"B": "甲", "C": "乙", "D": "丙", "E": "丁"}, "BCDE"),
    ],
)
def test_printed_labels_are_kept_and_no_option_swallows_another(options, labels):
    question, doubts = parse([{"question": "问题", "options": options, "answer": "D"}]).rows[0][1]
    assert [(option.label, option.text) for option in question.options] == list(zip(labels, "甲乙丙丁", strict=True))
    assert doubts[0][0] == "options_not_contiguous"


@pytest.mark.parametrize(
    "explanation", ["……，故选B", "A错，B对，C错", "肺炎（A错），哮喘（B对），肺癌（C错）", "答案是哮喘"]
)
def test_a_row_whose_explanation_argues_for_another_answer_waits(explanation):
    row = {"question": "问题", "options": "A.肺炎\nB.哮喘\nC.肺癌", "explanation": explanation}
    doubts = [parse([row | {"answer": key}]).rows[0][1][1] for key in "AB"]
    assert [[reason for reason, _ in one] for one in doubts] == [["explanation_disagrees"], []]


def test_an_explanation_of_another_question_is_seen_with_labels_in_doubt_too():
    row = {"question": "问题", "options": "B.甲\nC.乙\nD.丙", "answer": "C", "explanation": "……，故选D"}
    _, doubts = parse([row]).rows[0][1]
    assert [reason for reason, _ in doubts] == ["options_not_contiguous", "explanation_disagrees"]


def test_everybody_gets_the_mark_of_a_void_question():
    rows = [
        {"題目": "問題", "選項A": "甲", "選項B": "乙", "正確答案": answer}
        for answer in ("A", "B", "送分(原:B)", "A或B")
    ]
    void, either = (found[0] for _, found in parse(rows).rows[2:])
    assert (void.answer, void.accepted_answers) == (["B"], [["A"], ["B"]])
    assert (either.accepted_answers, either.question_type) == ([["A"], ["B"]], "A1")


def written(rows: list[list[str]]) -> list[dict[str, str | None]]:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return [json.loads(row.fields) for row in tables(csv.reader(io.StringIO(text.getvalue())), frozenset())]


DATA = [["1", "题一", "甲", "乙", "A"], ["2", "题二", "丙", "丁", "B"], ["3", "题三", "戊", "己", "B"]]


@pytest.mark.parametrize(
    "above",
    [
        [["序号", "题目", "A", "B", "答案"]],
        [["2024年题库"], [], ["序号", "题目", "A", "B", "答案"]],
        [["说明：题目请按格式填写", "", "", "", ""], ["序号", "题目", "A", "B", "答案"]],
        [["序号", "题目", "选项", "", "答案"], ["", "", "A", "B", ""]],
    ],
)
def test_the_header_is_found_below_titles_and_over_two_rows(above):
    rows = written([*above, *DATA])
    assert rows[0] == {"序号": "1", "题目": "题一", "A": "甲", "B": "乙", "答案": "A"}
    assert len(rows) == 3


def test_a_table_without_a_header_names_its_columns_by_their_place():
    rows = written(DATA)
    assert rows[0] == {f"column_{at}": cell for at, cell in enumerate(DATA[0], 1)}


STYLES = ("{}.", "{}．", "{}、", "{}:", "{}：", "{})", "（{}）", "({})", "【{}】", "{} ", "{} - ")
BETWEEN = ("、", "；", ";", "，", ",", "/", "|", "||", "\t", "  ", " ", "\n", "<br>", "")
LABELLED = [
    *(("ABCDEF", style) for style in STYLES if style != "{} "),
    *(("abcdef", style) for style in STYLES if style != "{} "),
    *(("123456", style) for style in STYLES[:9]),
    *(("①②③④⑤⑥", style) for style in ("{}", "{} ", "{}.")),
]
OTHER_WORDS = [*WORDS, "C-反应蛋白", "维生素A、D", "IL-2", "A型血", "B族维生素", "甲、乙两型", "10/L", "a、b两种"]


@pytest.mark.slow
@settings(deadline=None, max_examples=500)
@given(
    st.permutations(OTHER_WORDS),
    st.integers(2, 6),
    st.sampled_from(LABELLED),
    st.lists(st.sampled_from(BETWEEN), min_size=1, max_size=2),
)
def test_options_in_one_cell_are_cut_at_any_mark_or_wait(words, size, labelled, marks):
    labels, style = labelled
    if labels[0] == "1":  # nobody can tell 1.5 mg from the first option "5 mg"
        words = [word for word in words if not word[0].isdigit()]
    cell = "".join(
        f"{marks[at % len(marks)] if at else ''}{style.format(label)}{word}"
        for at, (label, word) in enumerate(zip(labels, words[:size], strict=False))
    )
    source = parse([{"question": "下列正确的是", "options": cell, "answer": "B"}])
    _, found = source.rows[0]
    if isinstance(found, RowError) or found[1] or len(found[0].options) < 2:
        return
    # A mark of another kind than the others may stay at an end.
    assert [option.text.rstrip("、；;，,/| ") for option in found[0].options] == words[:size], cell


@pytest.mark.parametrize("between", BETWEEN)
@pytest.mark.parametrize("style", [style for style in STYLES if style != "{} "])
def test_plain_options_in_one_cell_are_cut_at_any_mark(style, between):
    texts = ["肺炎球菌", "大肠埃希菌", "结核分枝杆菌", "葡萄球菌"]
    cell = between.join(style.format(label) + text for label, text in zip("ABCD", texts, strict=True))
    _, (question, doubts) = parse([{"question": "下列正确的是", "options": cell, "answer": "B"}]).rows[0]
    assert ([option.text for option in question.options], doubts) == (texts, [])


def four_options(at: int) -> tuple[str, list[str], int]:
    return f"关于第{at}例患者的诊断，下列正确的是", [f"诊断{at}{one}" for one in "子丑寅卯"], at * 7 % 4


BANK = [four_options(at) for at in range(24)]


@pytest.mark.parametrize("signs", ["①②③④", "甲乙丙丁", "1234"])
@pytest.mark.parametrize("letters", [True, False])
def test_columns_named_by_signs_alone_are_options_where_the_keys_show_it(signs, letters):
    rows = [
        {"题目": stem, **dict(zip(signs, texts, strict=True)), "答案": ("ABCD" if letters else signs)[right]}
        for stem, texts, right in BANK
    ]
    assert check(parse(rows), BANK)


def test_a_list_of_wrong_answers_stands_with_the_right_one():
    rows = [
        {"question": stem, "correct_answer": texts[right], "incorrect_answers": texts[:right] + texts[right + 1 :]}
        for stem, texts, right in BANK
    ]
    for (_, (question, doubts)), (_, texts, right) in zip(parse(rows).rows, BANK, strict=True):
        assert {option.label: option.text for option in question.options}[question.answer[0]] == texts[right]
        assert (sorted(option.text for option in question.options), doubts) == (sorted(texts), [])


@pytest.mark.parametrize("absent", ["无此选项", "N/A", "（原始題庫未提供此選項）", "未提供。"])
def test_an_option_that_stands_for_none_is_left_out_unless_it_is_the_key(absent):
    rows = [{"题目": "题一", "A": "甲", "B": "乙", "C": "丙", "D": absent, "答案": answer} for answer in ("B", "D")]
    read = [[option.text for option in found[0].options] for _, found in parse(rows).rows]
    assert read == [["甲", "乙", "丙"], ["甲", "乙", "丙", absent]]
    sodium = parse([{"题目": "题一", "A": "K", "B": "Na", "答案": "A"}]).rows[0][1][0]
    assert sodium.options[1].text == "Na"


def test_keys_far_beyond_the_columns_of_options_stop_the_sheet():
    rows = [
        {"题目": stem, **dict(zip("ABCD", texts, strict=True)), "答案": "ABF" if at % 5 else "A"}
        for at, (stem, texts, _) in enumerate(BANK)
    ]
    found = parse(rows).columns
    assert isinstance(found, Unclear)
    assert "keys name F, and no column holds option F" in found.detail
    assert found.detail.endswith("write options = ['A', 'B', 'C', 'D'] in dataset.toml"), "a line to copy"


@pytest.mark.parametrize("pair", [("对", "错"), ("正确", "错误"), ("√", "×"), ("T", "F"), ("true", "false")])
@pytest.mark.parametrize("others", [True, False])
def test_statements_to_judge_are_the_true_false_type(pair, others):
    rows = [{"题目": f"说法{at}", "答案": pair[at % 2]} for at in range(4)]
    if others:
        rows += [{"题目": "题", "A": "甲", "B": "乙", "答案": "AB"[at % 2]} for at in range(4)]
    found = parse(rows).rows
    assert [one.reason for _, one in found[:4]] == ["true_false"] * 4
    assert all(not isinstance(one, RowError) for _, one in found[4:])


@pytest.mark.parametrize(("kind", "reason"), [("判断题", "true_false"), (None, "no_options")])
def test_a_number_tells_true_from_false_only_where_the_type_does(kind, reason):
    rows = [{"题型": kind, "题目": f"说法{at}", "答案": str(at % 2)} for at in range(4)]
    assert {one.reason for _, one in parse(rows).rows} == {reason}


@pytest.mark.parametrize("signs", ["甲乙丙丁", "কখগঘ", "абвг", "가나다라"])
def test_labels_of_other_scripts_are_letters(signs):
    rows = [
        {"question": stem, "options": dict(zip(signs, texts, strict=True)), "answer": signs[right]}
        for stem, texts, right in BANK
    ]
    assert check(parse(rows), BANK)
    assert all(found[0].answer and not found[1] for _, found in parse(rows).rows)


def mapped(rows: list[dict[str, Any]], **declared: Any) -> str:
    """The mapping of a table in one line, or its objections without what to write."""
    found = find_mapping(rows, SourceParams(**declared) if declared else None)
    if isinstance(found, Unclear):
        return found.detail.partition("; write ")[0]
    return "; ".join(f"{name}: {told}" for name, told in found.facts().items() if name != "found_by")


@pytest.mark.parametrize(("count", "place", "seen"), [(3999, 1, "x, y"), (4000, 1, "x"), (4000, 2, "x, y")])
def test_a_table_of_twice_the_sample_is_judged_by_every_second_row(count, place, seen):
    rows: list[dict[str, Any]] = [{"x": "甲"}] * count
    rows[place] = {"y": "乙"}
    assert mapped(rows) == f"no column is the stem; there are {seen}"


def test_the_columns_that_there_are_take_two_hundred_characters():
    found = mapped([{f"第{at:03}栏": at for at in range(40)}])
    shown = found.removeprefix("no column is the stem; there are ")
    assert (len(shown), shown[-4:]) == (200, "第028")


def two_groups(*cells: tuple[str | None, str | None]) -> list[dict[str, Any]]:
    return [
        {"题干": f"问{at}", "选项A": f"甲{at}", "选项B": f"乙{at}", "备注": "注", "opA": one, "opB": other}
        | {"答案": "AB"[at % 2]}
        for at, (one, other) in enumerate(cells)
    ]


ONE_GROUP = "answer: 答案; comment: 备注; stem: 题干; options: A=选项A B=选项B; answers_as: letters"
EITHER = "the options may be 选项A, 选项B, or opA, opB"


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([("丙", None), (None, "丁")], f"{ONE_GROUP}; unused: opA, opB"),
        ([("丙", "戊"), (None, "丁")], EITHER),
        ([("丙", None), ("丙", None)], f"{ONE_GROUP}; unused: opA"),
        ([("丙", "丁")], EITHER),
    ],
)
def test_columns_of_options_half_as_full_as_others_are_no_rivals(cells, expected):
    assert mapped(two_groups(*cells)) == expected


def test_two_groups_of_options_are_told_by_five_columns_each():
    cells = {f"{word}{label}": f"{word}药{label}" for word in ("选项", "op", "choice") for label in "ABCDEF"}
    either = "the options may be 选项A, 选项B, 选项C, 选项D, 选项E, or opA, opB, opC, opD, opE"
    assert mapped([{"题干": "问", **cells, "答案": "A"}]) == either


ALONE = {"question": "问", "answer": "丙"}
NO_OPTIONS = "no column holds the options; there are "


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([{"题干": "问", "选项A": "甲", "选项B": None, "答案": "A"}], f"{NO_OPTIONS}题干, 选项A, 选项B, 答案"),
        (
            [{"题干": "问", "选项": ["甲", "乙"], "选项A": "丙", "选项B": "丁", "答案": "A"}],
            "answer: 答案; options: 选项; stem: 题干; answers_as: letters; unused: 选项A, 选项B",
        ),
        (
            [{"题干": "问", "选项": "甲", "选项A": "丙", "选项B": "丁", "答案": "A"}],
            "answer: 答案; stem: 题干; options: A=选项A B=选项B; answers_as: letters; unused: 选项",
        ),
        (
            [{"question": "问", "distractor1": "甲", "distractor2": "乙", "answer": "丙"}],
            "answer: answer; stem: question; options: A=distractor1 B=distractor2; answers_as: texts",
        ),
        (
            [{**ALONE, "distractors": ["甲", "乙"]}, {**ALONE, "distractors": ["丁"]}],
            "answer: answer; stem: question; wrong: distractors; answers_as: texts",
        ),
        (
            [{**ALONE, "distractors": one} for one in (["甲", "乙"], ["丁"], ["丁"])],
            f"{NO_OPTIONS}question, answer, distractors",
        ),
        (
            [{**ALONE, "distractors": ["甲", "乙"], "options": ["甲", "乙", "丙"]}],
            "answer: answer; options: options; stem: question; answers_as: texts; unused: distractors",
        ),
        (
            [{"question": "问", "distractors": ["甲", "乙"], "options": ["甲", "乙", "丙"]}],
            "options: options; stem: question; unused: distractors",
        ),
        ([{"题干": "问", "选项": "", "答案": "A"}], "选项 is empty in every row"),
        ([], ""),
        (
            [{"题干": "问", "A": "一", "B": "二", "答案": "A", "x": None, "y": "甲"}],
            "answer: 答案; stem: 题干; options: A=A B=B; answers_as: letters; unused: y",
        ),
    ],
)
def test_columns_of_options_are_told_by_their_headers(rows, expected):
    assert mapped(rows) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            {"answers": [{"aid": 1, "atext": "甲药"}, {"aid": 2, "atext": "乙药"}], "ra": 2},
            "answer: ra; options: answers; stem: question; answers_as: unknown",
        ),
        (
            {"answers": [{"aid": 1, "atext": "甲"}, {"aid": 2, "atext": "乙药"}], "ra": 2},
            "answer: ra; options: answers; stem: question; answers_as: unknown",
        ),
        (
            {"answers": [{"aid": 1, "atext": "甲"}, {"aid": 2, "atext": "乙"}], "ra": 2},
            f"{NO_OPTIONS}question, answers, ra",
        ),
        (
            {"answers": [{"text": "甲药", "correct": True}, {"text": "乙药", "correct": False}]},
            "options: answers; stem: question",
        ),
        ({"answers": [{"text": "甲药"}, {"text": "乙药"}]}, f"{NO_OPTIONS}question, answers"),
    ],
)
def test_options_under_a_name_of_the_key_are_texts_that_another_column_or_they_key(row, expected):
    assert mapped([{"question": "问", **row}]) == expected


def test_half_of_the_cells_under_a_name_of_the_key_hold_two_options_or_more():
    two, one = [{"aid": 1, "atext": "甲药"}, {"aid": 2, "atext": "乙药"}], [{"aid": 1, "atext": "甲药"}]
    rows = [{"question": f"问{at}", "answers": cell, "ra": 1} for at, cell in enumerate((two, one, one))]
    assert mapped(rows[:2]) == "answer: ra; options: answers; stem: question; answers_as: unknown"
    assert mapped(rows) == f"{NO_OPTIONS}question, answers, ra"


def two_stems(*stems: tuple[str | None, str | None], first: str = "题目") -> list[dict[str, Any]]:
    return [{first: one, "题干": other, "A": "甲", "B": "乙", "答案": "A"} for one, other in stems]


TWO = "answer: 答案; stem: 题目 / 题干; options: A=A B=B; answers_as: letters"
SECOND = "answer: 答案; stem: 题干; options: A=A B=B; answers_as: letters; unused: 题目"
DIFFER = "the stem may be 题目 or 题干 (题目 = '{}'; 题干 = '问二')"


@pytest.mark.parametrize(
    ("stems", "expected"),
    [
        ([("问一", "问二")], DIFFER.format("问一")),
        ([("问一", "问二"), ("问三", "问三")], TWO),
        ([("问一", "问二"), ("问三", "问三"), ("问四", "问五")], DIFFER.format("问一")),
        ([("问一", "问一"), ("问三", "问三"), ("问四", "问五")], TWO),
        ([("问一", None), (None, "问二")], TWO),
        ([("1", "问二"), ("2", "问四")], SECOND),
        ([("同", "问二"), ("同", "问四"), ("同", "问五")], SECOND),
        ([("同", "问二"), ("同", "问四")], DIFFER.format("同")),
    ],
)
def test_two_columns_may_be_the_stem_where_they_differ_in_most_rows(stems, expected):
    assert mapped(two_stems(*stems)) == expected


def test_a_weak_name_of_the_stem_gives_way():
    weak = "answer: 答案; stem: 题干; options: A=A B=B; answers_as: letters; unused: title"
    assert mapped(two_stems(("问一", "问二"), ("问三", "问四"), first="title")) == weak


@pytest.mark.parametrize(
    ("stems", "in_stem"),
    [
        (["问 A.甲 B.乙 C.丙"], True),
        (["问 A.甲 B.乙"], False),
        (["问 B.甲 C.乙 D.丙"], False),
        (["问 A.甲 B.乙 C.丙", "问"], False),
        (["问 A.甲 B.乙 C.丙", "问丁 A.甲 B.乙 C.丙", "问"], True),
    ],
)
def test_three_options_from_a_on_in_most_stems_are_those_of_the_table(stems, in_stem):
    inside = "answer: 答案; stem: 题目; options: in the stem; answers_as: letters"
    found = mapped([{"题目": stem, "答案": "A"} for stem in stems])
    assert found == (inside if in_stem else f"{NO_OPTIONS}题目, 答案")


def two_keys(first: list[str], second: list[str]) -> list[dict[str, Any]]:
    pairs = zip(first, second, strict=True)
    return [
        {"题目": f"问{at}", "A": "甲药", "B": "乙药", "答案": one, "正确答案": other}
        for at, (one, other) in enumerate(pairs)
    ]


FIRST_KEY = "answer: 答案; stem: 题目; options: A=A B=B; answers_as: letters; unused: 正确答案"
SECOND_KEY = "answer: 正确答案; stem: 题目; options: A=A B=B; answers_as: letters; unused: 答案"
BOTH_KEYS = "answer: 答案 / 正确答案; stem: 题目; options: A=A B=B; answers_as: letters"


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (["A"] * 19 + ["??"], ["A"] * 20, BOTH_KEYS),
        (["A"] * 18 + ["??"], ["A"] * 19, SECOND_KEY),
        (["A", "??"], ["A", "??"], BOTH_KEYS),
        (["A", "??"], ["??", "??"], FIRST_KEY),
        (["A", "??", "?"], ["A", "A", "??"], SECOND_KEY),
        (["A"], ["B"], "two columns may be the key and differ: 答案 = 'A' is A, 正确答案 = 'B' is B"),
        (["??"], ["B"], SECOND_KEY),
    ],
)
def test_the_key_is_the_column_that_can_be_read(first, second, expected):
    assert mapped(two_keys(first, second)) == expected


def test_three_keys_are_compared_row_by_row():
    rows = [{"题目": "问", "A": "甲药", "B": "乙药", "答案": "A", "标准答案": one, "正确答案": "A"} for one in "AB"]
    assert mapped(rows[:1]) == "answer: 答案 / 正确答案 / 标准答案; stem: 题目; options: A=A B=B; answers_as: letters"
    assert mapped(rows) == "two columns may be the key and differ: 正确答案 = 'A' is A, 标准答案 = 'B' is B"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (
            {"correct": 3, "total": 5},
            "answer: 答案; right: correct; stem: 题目; total: total; options: A=A B=B; answers_as: letters",
        ),
        ({"更正答案": "B"}, "two columns may be the key and differ: 答案 = 'A' is A, 更正答案 = 'B' is B"),
        ({"更正答案": "A"}, "answer: 答案; stem: 题目; options: A=A B=B; answers_as: letters; unused: 更正答案"),
        ({"更正答案": "乙药"}, "answer: 答案; stem: 题目; options: A=A B=B; answers_as: letters; unused: 更正答案"),
        ({"我的答案": "B"}, "answer: 答案; stem: 题目; options: A=A B=B; answers_as: letters; unused: 我的答案"),
    ],
)
def test_columns_beside_the_key(more, expected):
    assert mapped([{"题目": "问", "A": "甲药", "B": "乙药", "答案": "A", **more}]) == expected


def test_a_column_that_is_the_key_counts_no_people():
    found = find_mapping([{"题目": "问", "A": "甲药", "B": "乙药", "correct": "A", "答案": "A"}])
    assert not isinstance(found, Unclear)
    assert (found.roles["answer"], found.roles["right"]) == (["correct", "答案"], [])


def test_one_objection_is_told_of_two_keys_in_numbers():
    rows = [{"题目": f"问{at}", "选项": list("甲乙丙"), "答案": 1, "正确答案": 1} for at in range(3)]
    readings = "1 may be B counted from 0 or A counted from 1 (neither 0 nor the number of options occurs)"
    assert mapped(rows) == f"答案 = {readings}"
    assert mapped(rows, answer_as="index_from_0").endswith("answers_as: index_from_0")


def unnamed(count: int, keys: str = "ABCD", size: int = 4, stem: str = "x1") -> list[dict[str, Any]]:
    return [
        {stem: f"关于第{at}个问题的说法哪一项是正确的"}
        | {f"x{place}": f"说法{at}{sign}" for place, sign in enumerate("甲乙丙丁戊"[:size], 2)}
        | {"k": keys[at % len(keys)]}
        for at in range(count)
    ]


CONTENT = "answer: k; stem: x1; options: A=x2 B=x3 C=x4 D=x5; answers_as: letters"
MAYBE = "no column is named as the key; k may be it (it holds A, B, C, D), or not"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (unnamed(9), MAYBE),
        (unnamed(10), CONTENT),
        (unnamed(12, stem="题干"), MAYBE),
        (unnamed(12, keys="ABC"), "no column is the stem; there are x1, x2, x3, x4, x5, k"),
        (unnamed(12, size=5), "no column is the stem; there are x1, x2, x3, x4, x5, x6, k"),
        (unnamed(12, keys="D"), "no column is the stem; there are x1, x2, x3, x4, x5, k"),
        (
            [row | {"l": row["k"]} for row in unnamed(12)],
            "answer: k; stem: x1; options: A=x2 B=x3 C=x4 D=x5; answers_as: letters; unused: l",
        ),
        (
            [row | {"l": "A" if row["k"] == "B" else "B"} for row in unnamed(12)],
            "two columns may be the key and differ: k = 'A' is A, l = 'B' is B",
        ),
    ],
)
def test_ten_rows_of_letters_under_headers_that_say_nothing_are_a_key(rows, expected):
    assert mapped(rows) == expected


def test_a_column_of_a_reader_is_never_looked_at_as_the_key():
    rows = [{"题干": f"问{at}", "选项": ["甲", "乙"], "我的": "AB"[at % 2]} for at in range(12)]
    assert mapped(rows) == "options: 选项; stem: 题干; unused: 我的"


LABELLED_LIST = ["A、甲", "B、乙"]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (
            [{"题干": "问", "a": LABELLED_LIST, "答案": "A"}],
            "answer: 答案; options: a; stem: 题干; answers_as: letters",
        ),
        (
            [{"题干": "问", "x": LABELLED_LIST, "答案": "A"}, {"题干": "问二", "x": ["甲", "乙"], "答案": "A"}],
            f"{NO_OPTIONS}题干, x, 答案",
        ),
        ([{"题干": "问", "备注": LABELLED_LIST, "答案": "A"}], f"{NO_OPTIONS}题干, 备注, 答案"),
        (
            [{"题干": "问", "x": {"A": "甲", "B": "乙"}, "答案": key} for key in (0, 1)],
            "answer: 答案; options: x; stem: 题干; answers_as: index_from_0",
        ),
        (
            [{"题干": "问", "x": {"A": "甲", "B": "乙", "C": "丙"}, "答案": 1}] * 2,
            "答案 = 1 may be B counted from 0 or A counted from 1 (neither 0 nor the number of options occurs)",
        ),
    ],
)
def test_a_list_that_names_its_letters_in_every_row_holds_the_options(rows, expected):
    assert mapped(rows) == expected


def unnamed_options(keys: str, *, texts: bool = False, **more: str) -> list[dict[str, Any]]:
    drugs = ("甲药", "乙药", "丙药")[: len(set(keys))]
    return [
        {"题目": f"问{at}", **{name: f"{drug}{at}" for name, drug in zip("xyz", drugs, strict=False)}, **more}
        | {"答案": f"{drugs['ABC'.index(key)]}{at}" if texts else key}
        for at, key in enumerate(keys)
    ]


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (unnamed_options("ABC", texts=True), f"{NO_OPTIONS}题目, x, y, z, 答案"),
        (unnamed_options("ABC"), "answer: 答案; stem: 题目; options: A=x B=y C=z; answers_as: letters"),
        (unnamed_options("AB"), "answer: 答案; stem: 题目; options: A=x B=y; answers_as: letters"),
        (unnamed_options("AA"), f"{NO_OPTIONS}题目, x, 答案"),
        (unnamed_options("ABC", z="很长很长很长很长很长的说明"), f"{NO_OPTIONS}题目, x, y, z, 答案"),
        (
            [{("s" if name == "题目" else name): cell for name, cell in row.items()} | {"s": f"很长的问题{at}"}
             for at, row in enumerate(unnamed_options("ABC"))],
            "answer: 答案; stem: s; options: A=x B=y C=z; answers_as: letters",
        ),
    ],
)  # fmt: skip
def test_columns_side_by_side_are_options_where_the_key_counts_them(rows, expected):
    assert mapped(rows) == expected


def two_texts(one: int, other: int) -> list[dict[str, Any]]:
    return [
        {"u": f"{at}" + "问" * (one - 1), "v": f"{at}" + "注" * (other - 1), "A": "甲", "B": "乙"}
        | {"答案": "AB"[at % 2]}
        for at in range(4)
    ]


LONGEST = "answer: 答案; stem: {}; options: A=A B=B; answers_as: letters; unused: {}"


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (8, 4, LONGEST.format("u", "v")),
        (7, 4, "the stem may be u or v"),
        (4, 8, LONGEST.format("v", "u")),
        (4, 7, "the stem may be v or u"),
    ],
)
def test_a_column_of_texts_twice_as_long_as_all_others_is_the_stem(one, other, expected):
    assert mapped(two_texts(one, other)) == expected


@pytest.mark.parametrize(
    ("cells", "is_stem"),
    [
        (["一"], True),
        (["一", "一"], True),
        (["一", "一", "二"], True),
        (["一", "一", "一"], False),
        (["一", "一", "一", "一", "二"], True),
        (["1", "2", "3"], False),
        (["1", "2", "三"], True),
    ],
)
def test_two_texts_among_three_cells_make_a_column_of_texts(cells, is_stem):
    rows = [{"u": cell, "A": "甲", "B": "乙", "答案": "AB"[at % 2]} for at, cell in enumerate(cells)]
    stem = "answer: 答案; stem: u; options: A=A B=B; answers_as: letters"
    assert mapped(rows) == (stem if is_stem else "no column is the stem; there are u, A, B, 答案")


def test_a_header_of_another_part_is_never_the_stem():
    rows = [{"备注": f"问{at}", "A": "甲", "B": "乙", "答案": "AB"[at % 2]} for at in range(4)]
    assert mapped(rows) == "no column is the stem; there are 备注, A, B, 答案"


PLAIN = {"甲": "问", "乙": "一", "丙": "二", "丁": "A"}


@pytest.mark.parametrize(
    ("row", "declared", "expected"),
    [
        (
            PLAIN,
            {"stem": "甲", "options": ["乙", "丙"], "answer": "丁"},
            "answer: 丁; stem: 甲; options: A=乙 B=丙; answers_as: letters",
        ),
        (
            {**PLAIN, "乙": ["一", "二"]},
            {"stem": "甲", "options": "乙", "answer": "丁"},
            "answer: 丁; options: 乙; stem: 甲; answers_as: letters; unused: 丙",
        ),
        (
            PLAIN,
            {"stem": "甲", "options": ["乙", "戊"], "answer": "己"},
            "answer = '己' is no column of it; there are 甲, 乙, 丙, 丁; "
            "options = '戊' is no column of it; there are 甲, 乙, 丙, 丁",
        ),
        (
            {"题干": "问", "A": "一药", "B": "二药", "C": "三药", "答案": "A"},
            {"options": ["A", "B"]},
            "answer: 答案; stem: 题干; options: A=A B=B; answers_as: letters; unused: C",
        ),
    ],
)
def test_declared_columns_win(row, declared, expected):
    assert mapped([row], **declared) == expected


@pytest.mark.parametrize(
    ("rows", "found_by"),
    [
        (unnamed(10), {"answer": "content", "options": "content", "stem": "content"}),
        (unnamed_options("ABC"), {"answer": "name", "options": "content", "stem": "name"}),
        (two_texts(8, 4), {"answer": "name", "options": "name", "stem": "content"}),
    ],
)
def test_it_is_told_by_what_a_column_was_found(rows, found_by):
    found = find_mapping(rows)
    assert not isinstance(found, Unclear)
    assert found.found_by == found_by


TWO = [(f"关于第{at}个问题的说法哪一项是正确的", [f"说法{at}{one}" for one in "甲乙丙丁"], at % 4) for at in range(12)]


@pytest.mark.parametrize("first", ["de", "zh"])
@pytest.mark.parametrize(
    ("stems", "options"), [("question_", "options_"), ("question_", "answers_"), ("question", "options")]
)
def test_of_questions_in_two_languages_the_first_is_read(first, stems, options):
    def named(word, language):  # question_de, questionDe
        return word + (language if word.endswith("_") else language.capitalize())

    def told(language, stem, texts):
        texts = texts if language == "zh" else [f"{text} auf Deutsch" for text in texts]
        return {named(stems, language): f"{stem} {language}", named(options, language): texts}

    other = {"de": "zh", "zh": "de"}[first]
    rows = [
        told(first, stem, texts) | told(other, stem, texts) | {"correct_index": right} for stem, texts, right in TWO
    ]
    bank = [
        (row[named(stems, first)], row[named(options, first)], right)
        for row, (*_, right) in zip(rows, TWO, strict=True)
    ]
    assert check(parse(rows), bank)


def test_what_an_object_beside_the_question_says_is_read_by_its_own_name():
    rows = [
        {
            "question": stem,
            "options": texts,
            "label": "ABCD"[right],
            "other": {"solution": f"第{at}题的教材说得很清楚，逐项读一遍便知道。"},
        }
        for at, (stem, texts, right) in enumerate(TWO)
    ]
    source = parse(rows)
    assert check(source, TWO)
    assert [found[0].explanation for _, found in source.rows] == [row["other"]["solution"] for row in rows]


def test_chinese_headers_are_known_by_their_last_word():
    rows = [
        {"试题正文": stem, "多选项": texts, "试题答案": "ABCD"[right], "AI 解析": f"根据教材，第{at}项为正确的说法"}
        for at, (stem, texts, right) in enumerate(TWO)
    ]
    assert check(parse(rows), TWO)


def test_options_by_letter_under_a_name_of_the_key_are_options_without_a_key():
    parsed = parse([{"question": stem, "answers": dict(zip("abcd", texts, strict=True))} for stem, texts, _ in TWO])
    assert [[option.text for option in found[0].options] for _, found in parsed.rows] == [texts for _, texts, _ in TWO]
    assert not any(found[0].answer for _, found in parsed.rows)


@pytest.mark.parametrize("key", ["a", "k"])
def test_a_list_of_options_is_none_of_the_columns_that_letters_name(key):
    other = "o" if key == "a" else "a"
    rows = [{"q": f"第{n}例患者首选的治疗是", other: ["手术", "化疗", "放疗"], key: n % 3} for n in range(12)]
    table = parse(rows)
    assert [found[0].answer for _, found in table.rows[:3]] == [["A"], ["B"], ["C"]]


def test_the_form_of_a_cell_is_no_part_of_its_header():
    rows = [
        {"questionText": f"第{n}例的治疗是", "optionsJson": '["手术", "化疗"]', "correctAnswersJson": f"[{n % 2}]"}
        for n in range(12)
    ]
    assert [found[0].answer for _, found in parse(rows).rows[:2]] == [["A"], ["B"]]


@pytest.mark.parametrize(("unmarked", "read"), [(1, True), (10, False)])
def test_a_few_lists_that_mark_none_as_right_are_options_too(unmarked, read):
    rows = [
        {
            "question": f"第{n}例患者首选",
            "answers": [{"text": "手术", "correct": n >= unmarked}, {"text": "化疗", "correct": False}],
        }
        for n in range(40)
    ]
    assert isinstance(parse(rows).columns, Unclear) is not read


@pytest.mark.parametrize(("header", "shown"), [("source_image", False), ("image", True)])
def test_the_picture_of_the_page_that_a_question_is_from_is_no_figure_of_it(header, shown):
    rows = [
        {**row_of((f"第{n}例首选", WORDS[:4], n % 4), HEADERS[3], "columns", "letter"), header: f"p{n // 5}.jpg"}
        for n in range(40)
    ]
    found = [result for _, result in parse(rows).rows]
    assert all(bool(result[0].attachments) is shown for result in found)


def test_pictures_beside_the_options_are_no_option():
    rows = [
        {
            "content": f"第{n}个标志是",
            **dict(zip("abcd", WORDS, strict=False)),
            "pic": f"{n}.jpg",
            "answer": "abcd"[n % 4],
        }
        for n in range(6)
    ]
    assert [len(found[0].options) for _, found in parse(rows).rows] == [4] * 6


@pytest.mark.parametrize("word", ["p", "txt_", "文"])
def test_columns_of_texts_under_one_word_and_numbers_are_the_options(word):
    rows = [
        {"tigan": stem, "answer": right + 1}
        | {
            name: text
            for at, one in enumerate(texts, 1)
            for name, text in ((f"o{at}", f"({at})"), (f"{word}{at}", one))
        }
        for stem, texts, right in TWO
    ]
    assert check(parse(rows), TWO)
