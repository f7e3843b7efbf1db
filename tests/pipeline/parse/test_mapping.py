"""Banks of many headers and shapes are read right, or the file is stopped with one line."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.ocr.readers.header import tables
from pipeline.parse.columns import Unclear
from pipeline.parse.rows import RowError, SourceTable, questions_of
from schemas.dataset import SourceParams
from schemas.documents import Document, SourceRow

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
WORDS = [
    "肺炎",
    "心力衰竭",
    "阿司匹林 肠溶片",
    "B超",
    "维生素C",
    "5 mg",
    "以上都对",
    "aspirin",
    "甲状腺",
    "1.5 g/L",
]
SHAPES = (
    "columns",
    "numbered",
    "list",
    "labelled_list",
    "dict",
    "objects",
    "lines",
    "literal",
    "brackets",
    "one_line",
    "pandas",
    "flags",
)
ANSWERS = (
    "header",
    "letter",
    "lower",
    "bracket",
    "op",
    "word",
    "text",
    "letter_text",
    "list",
    "index0",
    "index1",
)
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
            (
                f"关于第{number}例患者的诊断，下列正确的是",
                list(options),
                draw(st.integers(0, len(options) - 1)),
            )
        )
    return rows


def row_of(
    item: tuple[str, list[str], int], names: tuple[str, ...], shape: str, answer: str
) -> dict[str, Any]:
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
def test_columns_of_other_things_are_never_taken_for_keys_or_options(
    bank, names, shape, answer, foreign, hidden, data
):
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
        {"题干": f"关于第{at}例的说法正确的是", "选项": list("甲乙丙丁"), "答案": key}
        for at, key in enumerate(keys)
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
        {
            "question": f"问题{at}",
            "choices": ["甲", "乙", "丙", "丁"],
            "answer": at % 4,
            "correct_answer": None,
        }
        for at in range(8)
    ]
    rows[2]["correct_answer"] = "3"
    assert "correct_answer = '3' is D" in parse(rows).columns.detail
    rows[2]["correct_answer"] = "2"
    assert not isinstance(parse(rows).columns, Unclear)


@pytest.mark.parametrize(
    ("answer", "read"),
    [("B（乙）", ["B"]), ("(B)乙", ["B"]), ("B（甲）", None), ("B、甲", None), ("A（B也可）", None)],
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


def test_explanations_that_conclude_a_letter_settle_the_base():
    rows = [
        {
            "question": f"问题{at}",
            "options": ["甲", "乙", "丙", "丁"],
            "answer": at % 2 + 1,
            "explanation": f"……，故选{'BC'[at % 2]}",
        }
        for at in range(6)
    ]
    assert parse(rows).columns.encoding == "index_from_0"


def test_two_columns_that_may_be_the_key_stop_the_file_where_they_differ():
    rows = [{"question": "问", "A": "甲", "B": "乙", "答案": "A", "正确答案": "B"}]
    found = parse(rows).columns
    assert isinstance(found, Unclear)
    assert "答案 = 'A' is A" in found.detail
    same = parse([{"question": "问", "options": {"A": "甲", "B": "乙"}, "answer": "乙", "answer_idx": "B"}])
    assert same.rows[0][1][0].answer == ["B"]


def test_a_column_is_named_in_the_configuration():
    rows = [{"内容一": "下列正确的是", "甲": "心", "乙": "肺", "钥匙": "A"}]
    told = SourceParams(stem="内容一", options=["甲", "乙"], answer="钥匙")
    question, doubts = parse(rows, told).rows[0][1]
    assert (question.stem, question.answer, doubts) == ("下列正确的是", ["A"], [])
    wrong = parse(rows, SourceParams(stem="内容二")).columns
    assert isinstance(wrong, Unclear)
    assert "内容二" in wrong.detail


def test_a_column_of_difficulties_is_never_a_key():
    rows = [
        {"题目": f"题{at}", "选项A": "甲", "选项B": "乙", "选项C": "丙", "难度": "ABC"[at % 3]}
        for at in range(9)
    ]
    assert all(found[0].answer is None for _, found in parse(rows).rows)


def test_columns_that_no_vocabulary_knows_are_read_by_what_stands_in_them():
    bank = [
        (f"关于第{at}个问题的说法哪一项是正确的", [f"说法{at}{one}" for one in "甲乙丙丁"], at % 4)
        for at in range(12)
    ]
    rows = [
        {"x1": stem, "x2": a, "x3": b, "x4": c, "x5": d, "x6": "ABCD"[right]}
        for stem, (a, b, c, d), right in bank
    ]
    assert check(parse(rows), bank)
    texts = [
        {**row, "x6": (row["x2"], row["x3"], row["x4"], row["x5"])["ABCD".index(row["x6"])]} for row in rows
    ]
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
    assert [(option.label, option.text) for option in question.options] == list(
        zip(labels, "甲乙丙丁", strict=True)
    )
    assert doubts[0][0] == "options_not_contiguous"


def test_a_key_that_the_explanation_denies_is_told_where_labels_are_in_doubt():
    row = {"question": "问题", "options": "B.甲\nC.乙\nD.丙", "answer": "C", "explanation": "……，故选D"}
    _, doubts = parse([row]).rows[0][1]
    assert [reason for reason, _ in doubts] == ["options_not_contiguous", "answer_disputed"]


def test_everybody_gets_the_mark_of_a_void_question():
    rows = [
        {"題目": "問題", "選項A": "甲", "選項B": "乙", "正確答案": answer}
        for answer in ("A", "B", "送分(原:B)", "A或B")
    ]
    void, either = (found[0] for _, found in parse(rows).rows[2:])
    assert (void.answer, void.accepted_answers) == (["B"], [["A"], ["B"]])
    assert (either.accepted_answers, either.question_type) == ([["A"], ["B"]], "A1")


def test_options_at_the_end_of_the_stem_are_cut_from_it():
    rows = [{"题目": f"第{at}例首选的药物是\nA. 甲\nB. 乙\nC. 丙", "答案": "ABC"[at]} for at in range(3)]
    question, _ = parse(rows).rows[1][1]
    assert (question.stem, [one.text for one in question.options]) == (
        "第1例首选的药物是",
        ["甲", "乙", "丙"],
    )


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
OTHER_WORDS = [
    *WORDS,
    "C-反应蛋白",
    "维生素A、D",
    "IL-2",
    "A型血",
    "B族维生素",
    "甲、乙两型",
    "10/L",
    "a、b两种",
]


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


@pytest.mark.parametrize("name", ["is_correct_{}", "option_{}_correct", "选项{}是否正确", "{}_is_right"])
@pytest.mark.parametrize("flags", [("1", "0"), ("TRUE", "FALSE"), ("√", None)])
def test_a_column_for_each_option_may_tell_whether_it_is_right(name, flags):
    rows = [
        {"question": stem}
        | {f"option_{label}": text for label, text in zip("ABCD", texts, strict=True)}
        | {name.format(label): flags[at != right] for at, label in enumerate("ABCD")}
        for stem, texts, right in BANK
    ]
    assert check(parse(rows), BANK)
    assert all(found[0].answer for _, found in parse(rows).rows)


def test_a_list_of_wrong_answers_stands_with_the_right_one():
    rows = [
        {
            "question": stem,
            "correct_answer": texts[right],
            "incorrect_answers": texts[:right] + texts[right + 1 :],
        }
        for stem, texts, right in BANK
    ]
    for (_, (question, doubts)), (_, texts, right) in zip(parse(rows).rows, BANK, strict=True):
        assert {option.label: option.text for option in question.options}[question.answer[0]] == texts[right]
        assert (sorted(option.text for option in question.options), doubts) == (sorted(texts), [])


@pytest.mark.parametrize("comma", [",", "，", "、"])
def test_commas_part_options_where_every_key_is_one_of_the_parts(comma):
    rows = [{"题目": stem, "选项": comma.join(texts), "答案": texts[right]} for stem, texts, right in BANK]
    assert check(parse(rows), BANK)
    assert all(found[0].answer and not found[1] for _, found in parse(rows).rows)
    rows[3]["答案"] = "甲"  # nothing proves the cut any more
    assert all(isinstance(found, RowError) for _, found in parse(rows).rows)


@pytest.mark.parametrize("absent", ["无此选项", "N/A", "（原始題庫未提供此選項）", "未提供。"])
def test_an_option_that_stands_for_none_is_left_out_unless_it_is_the_key(absent):
    rows = [
        {"题目": "题一", "A": "甲", "B": "乙", "C": "丙", "D": absent, "答案": answer}
        for answer in ("B", "D")
    ]
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
