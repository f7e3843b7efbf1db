"""Lists of questions in programs are read as they are written out; nothing is executed or guessed."""

import json
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader
from build_dataset.schemas.errors import UnreadableDocument

QUESTION = {"question": "脾的功能是", "options": ["统血", "藏血"], "answer": 0}
WRITTEN = "{question: '脾的功能是', options: ['统血', '藏血'], answer: 0}"


def read(path: Path, text: str) -> list[dict]:
    path.write_text(text, encoding="utf-8")
    return [json.loads(row.fields) for row in find_reader(path, OcrParams()).rows(path, OcrParams(), [])]


PROGRAMS = {
    "list.js": f"// the bank\nvar size = 2;\nconst bank = [{WRITTEN},];\n\nfunction show(i) {{ return bank[i]; }}",
    "typed.ts": f"interface Q {{ question: string; answer: number }}\n"
    f"export const bank: Q[] = [\n {WRITTEN} as Q, // why\n]",
    "method.tsx": f"export default {{ title: `内科`, questions: [{WRITTEN}], render() {{ return 'x' }} }}",
    "page.js": f"Page({{ data: {{ questions: [{WRITTEN}] }}, onLoad: function (o) {{ this.set({{ n: 1 }}) }} }})",
    "bank.py": "bank = [\n  # 中医\n  "
    "{'question': '脾的' \"功能是\", 'options': ['统血', '藏血'], 'answer': 0},\n]\nprint(bank)",
    "bank.dart": "List<Map> bank = [{'question': '脾的功能是', 'options': ['统血', '藏血'], 'answer': 0}];",
    "bank.php": "<?php $q = array(array('question' => '脾的功能是', 'options' => ['统血', '藏血'], 'answer' => 0),);",
    "bank.kt": 'val bank = listOf(Question(question = "脾的功能是", options = listOf("统血", "藏血"), answer = 0))',
    "written.js": f"q = [{WRITTEN.replace('[', 'JSON.stringify([').replace(']', '])')}]",
    "call.js": f"shuffle([{WRITTEN}]);",
    "escaped.js": "x = [{question: 'x\\x80'.length ? 1 : 2}]\nvar q = [" + WRITTEN.replace("功", "\\u529f") + "]",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_questions_of_a_program_are_those_that_it_writes_out(tmp_path, name):
    assert read(tmp_path / name, PROGRAMS[name]) == [QUESTION]


def test_what_a_program_computes_is_absent(tmp_path):
    text = "q = [{id: next(), question: `第${n}题`, answer: 1 + 1, options: ['甲', '乙'], hint: a ? 'b' : 'c'}]"
    absent = {"id": None, "question": None, "answer": None, "hint": None}
    assert read(tmp_path / "a.js", text) == [{**absent, "options": ["甲", "乙"]}]


def test_texts_in_parts_and_over_several_lines_are_one_text(tmp_path):
    text = "q = [{question: '甲' +\n  \"乙'丙\" + `丁\n戊`, answer: 'it\\'s \\\"A\\\"'}]"
    assert read(tmp_path / "a.js", text) == [{"question": "甲乙'丙丁\n戊", "answer": 'it\'s "A"'}]


def test_lists_with_headers_of_their_own_are_read_together(tmp_path):
    lists = "\n".join(
        f"const part{at} = [{{frage1: '{at}甲', wahl: ['x', 'y']}}, {{frage1: '{at}乙'}}]" for at in (1, 2)
    )
    found = read(tmp_path / "a.js", f"const colours = ['red', 'blue'];\n{lists}")
    assert [row["frage1"] for row in found[:1]] == ["1甲"]
    assert len(found) == 4


PAGE = "<!doctype html><title>it's a quiz</title><body><p>1. 甲 A. 乙</p><script>\nvar q = [{}]\n</script></body>"


def test_a_web_page_whose_scripts_hold_questions_is_a_bank_and_others_are_papers(tmp_path):
    assert read(tmp_path / "a.html", PAGE.format(",".join([WRITTEN] * 3))) == [QUESTION] * 3
    (tmp_path / "b.html").write_text(PAGE.format("{id: 1, url: '/a'}"), encoding="utf-8")
    assert find_reader(tmp_path / "b.html", OcrParams()).format != "script"


@pytest.mark.parametrize("text", ["let a = 1;", "const c = ['red'];", "type Q = { question: string, answer: number }"])
def test_a_program_without_questions_is_refused_with_that_reason(tmp_path, text):
    with pytest.raises(UnreadableDocument, match="writes out no list of questions"):
        read(tmp_path / "a.ts", text)


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n\t\"'`\\{}[]#/"), max_size=20)
VALUES = st.recursive(
    TEXTS | st.booleans() | st.integers(-999, 999) | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@given(st.lists(st.fixed_dictionaries({"question": TEXTS.filter(str.strip), "more": VALUES}), min_size=1, max_size=4))
def test_json_in_a_program_is_read_as_json(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("bank") / "a.js"
    found = read(path, f"window.bank = {json.dumps(rows, ensure_ascii=False)};\nrun(bank)")
    assert [row["question"] for row in found] == [row["question"] for row in rows]
    assert [row["more"] for row in found] == [row["more"] for row in rows]


@pytest.mark.parametrize("said", ["TRUE", "True", "true"])
def test_truth_is_read_in_small_letters_and_capitals(tmp_path, said):
    text = f"<?php $q = [['question' => '甲', 'options' => [['text' => '乙', 'richtig' => {said}]]]];"
    assert read(tmp_path / "a.php", text)[0]["options"] == [{"text": "乙", "richtig": True}]


def test_lists_that_are_left_out_are_told(tmp_path):
    path, told = tmp_path / "a.js", list[str]()
    path.write_text(
        f"const menu = [{{href: '/a'}}, {{href: '/b'}}];\nconst q = [{WRITTEN}, {WRITTEN}];", encoding="utf-8"
    )
    assert len([*find_reader(path, OcrParams()).rows(path, OcrParams(), told)]) == 2
    assert told == ["1 lists of the program hold no questions by their names and were left out"]
