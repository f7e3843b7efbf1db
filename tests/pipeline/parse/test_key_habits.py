"""Habits of keys in the wild: heads, lists, rows, grids, entries; what they leave open waits."""

import pytest

from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import pair_keys
from tests.pipeline.parse.short import DOCUMENT, FIVE, THREE, items, judged, texts, told


@pytest.mark.parametrize(
    "head",
    ["习题答案", "【参考答案】", "答案速查表", "参 考 答 案", "附答案", "Answer Key", "单项选择题答案",
    "模拟试卷（一）答案", "参考解析"],
)  # fmt: skip
@pytest.mark.parametrize("key", ["1.C 2.B 3.D", "1.C 解析：丙\n2.B 解析：乙\n3.D 解析：丁", "1.C\n2.B\n3.D"])
def test_a_key_is_found_under_any_head(parse, head, key):
    outcome = parse(f"{THREE}\n{head}\n{key}")
    assert told(outcome) == ["1C", "2B", "3D"]
    assert texts(outcome.questions[2])[-1] == "丁"


@pytest.mark.parametrize(
    "key",
    ["参考答案：1-3 CBD", "【参考答案】1.C 2.B 3.D", "答案：1.C；2.B；3.D", "答案\n1（C）2（B）3（D）",
    "答案\n1.c 2.b 3.d", "答案\n【1-3】CBD",
     "答案\n1/C 2/B 3/D", "答案\n1=C 2=B 3=D", "答案\nl.C 2,B 3 D", "答案\n1. 丙\n2. 乙\n3. 丁",
     "1.C\n2.B\n3.D",
     "参考答案\n1.C、2.B\n、3.D",
     "答案\n题号\n1\n2\n3\n答案\nC\nB\nD", "答案\n题号\t答案\n1\tC\n2\tB\n3\tD",
     "答案\n題號\t第1題\t第2題\t第3題\n答案\tＣ\tＢ\tＤ"],
)  # fmt: skip
def test_more_layouts_of_keys(parse, key):
    assert told(parse(f"{THREE}\n{key}")) == ["1C", "2B", "3D"]


def test_a_row_of_a_grid_without_an_answer_for_a_question_tells_none_of_them(parse):
    grid = "答案\n题号\t1\t2\t3\t4\n答案\tC\tB\tD"
    outcome = parse(f"{items(1, 2, 3, 4)}\n{grid}")
    assert {question.number: question.answer for question in outcome.questions} == {4: None}
    assert [item.reason for item in outcome.review] == ["key_not_read"] * len(outcome.review)
    assert len(outcome.review) >= 3
    assert told(parse(f"{THREE}\n{grid}")) == ["1C", "2B", "3D"], "a form with more rows than the paper has questions"


def test_explanations_need_no_mark(parse):
    outcome = parse(f"{THREE}\n答案解析\n1. C\n丙是因为甲不是。\n2. B\n乙最常见，\n其余少见。\n3. D\n丁。")
    assert told(outcome) == ["1C", "2B", "3D"]
    assert [question.explanation for question in outcome.questions] == [
        "丙是因为甲不是。", "乙最常见，其余少见。", "丁。",
    ]  # fmt: skip


def test_entries_of_several_questions_at_once_are_shared_out(parse):
    outcome = parse(f"{THREE}\n参考答案与解析\n1.【答案】C\n【解析】丙。\n2～3．【答案】BD【解析】见教材。")
    assert told(outcome) == ["1C", "2B", "3D"]
    assert [question.explanation for question in outcome.questions] == ["丙。", "见教材。", "见教材。"]


def test_keys_of_sections_may_stand_behind_their_heads(parse):
    text = f"一、单选题\n{THREE}\n二、多选题\n{items(1, 2, options=FIVE)}\n参考答案\n"
    for key in ("单选题：1-3 ABC\n多选题：1.ABC 2.ADE", "一、1.A 2.B 3.C\n二、1.ABC 2.ADE"):
        assert told(parse(text + key)) == ["1A", "2B", "3C", "1ABC", "2ADE"]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("1.A 2.B/C 3.D", ["1A", "3D", "?2 note_not_read"]),
        ("1.A 2.送分 3.D", ["1A", "3D", "?2 note_not_read"]),
        ("1-3 AB", ["1-", "2-", "3-", "? key_not_read"]),
        ("1.A", ["1A", "2-", "3-", "? key_not_read"]),
        ("题号\t1\t2\n答案\tA\n题号\t3\t4\n答案\tC\tD", ["1-", "2-", "3C", "? missing_number", "? key_not_read"]),
        ("1-5 CBDAA", ["1C", "2B", "3D", "? missing_number", "? missing_number"]),
    ],
)
def test_what_a_key_leaves_open_waits(parse, key, expected):
    assert told(parse(f"{THREE}\n参考答案\n{key}")) == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("\nCDABD BDCAD BA", "CDABDBDCADBA"),
        ("：CDABD BDCAD BA", "CDABDBDCADBA"),
        ("\nCDABD\nBDCAD\nBA", "CDABDBDCADBA"),
        ("：C\tD\tA\tB\tD\tB\tD\tC\tA\tD\tB\tA", "CDABDBDCADBA"),
        ("\n一、单选题\nCDABDBDCAD BA", "CDABDBDCADBA"),
        ("\nCDABD BDCAD B", ""),  # one letter too few: all behind it may be shifted
        ("：CDABD BDCAD BAC", ""),
        ("\nCD AB DB DC AD BA", ""),  # six answers, or twelve
    ],
)
def test_letters_in_turn_are_a_key_where_each_question_has_one(parse, key, expected):
    outcome = parse(f"{items(*range(1, 13))}\n参考答案{key}")
    assert "".join(letter for one in outcome.questions for letter in one.answer or ()) == expected


def test_a_note_on_a_number_that_stands_in_two_sections_is_applied_to_neither(read):
    paper = read(f"一、单选题\n{items(1, 2)}\n二、多选题\n{items(1, 2)}", "x.pdf")
    key = read(
        "更正答案\n一、单选题\n题号\t1\t2\n答案\tA\tB\n二、多选题\n题号\t1\t2\n答案\tAB\tCD\n第2題答D給分", "x_mod.pdf"
    )
    pair_keys([paper, key])
    assert told(finish(judged(paper), DOCUMENT)) == ["1A", "1AB", "?2 note_not_read", "?2 note_not_read"]


def test_a_mark_whose_note_is_missing_or_not_understood_waits(read):
    grid = "題號\t1\t2\t3\n答案\t{}\n備註：{}"
    paper, key = read(THREE, "x.pdf"), read(grid.format("A\tB\tC", ""), "x_ans.pdf")
    changed = read(grid.format("A\t#\t#", "第3題該題不計分"), "x_mod.pdf")
    pair_keys([paper, key, changed])
    assert told(finish(judged(paper), DOCUMENT)) == ["1A", "?2 note_not_read", "?3 note_not_read"]


def test_explanations_behind_a_key_belong_to_the_questions_they_number(parse):
    key = "参考答案\n一、选择题（后附有解析）\n1. B\t2. C\t3. D\n二、综合题\n4．解答：略。\n"
    outcome = parse(
        f"{THREE}\n二、综合题\n4. （10分）说明理由。\n{key}一、选择题\n1. 乙最多。\n2. 丙最少。\n3. 丁居中。"
    )
    assert told(outcome)[:3] == ["1B", "2C", "3D"]
    assert [question.explanation for question in outcome.questions] == ["乙最多。", "丙最少。", "丁居中。"]


def test_questions_printed_again_with_their_answers_are_no_other_questions(parse):
    again = "\n".join(f"{items(n)}\n故选：{letter}。" for n, letter in ((1, "B"), (2, "C"), (3, "D")))
    assert told(parse(f"{THREE}\n参考答案与试题解析\n{again}")) == ["1B", "2C", "3D"]
    misread = again.replace("第2项", "第2顶")
    assert told(parse(f"{THREE}\n参考答案与试题解析\n{misread}")) == ["1B", "3D", "?2 copies_differ"]


def test_a_key_whose_explanations_follow_its_letters_needs_no_head(parse):
    forms = ("{}、B\n解析：乙对。", "{}.C丙是常见的一种", "{}. D\n丁是这样的", "{}.A甲与此有关")
    key = "\n".join(forms[place % 4].format(place + 1) for place in range(28))
    outcome = parse(f"{items(*range(1, 29))}\n{key}")
    told = [(question.answer, question.explanation) for question in outcome.questions]
    assert told == [(["B"], "乙对。"), (["C"], "丙是常见的一种"), (["D"], "丁是这样的"), (["A"], "甲与此有关")] * 7


@pytest.mark.parametrize(
    "key",
    [
        "1 - 5：ABCDA；6 - 9：BC\nDA；1\n0：B",
        "1-5 ABCDA 6-9 BC\nDA 10.B",
        "1.：A 2.;B 3C4D 5.A\n6.B 7：C；8：D；9：A；1\n0：B",
    ],
)
def test_entries_of_a_key_that_lines_break_are_whole(parse, key):
    asked = "\n".join(f"{at}. 第{at}项首选的是\nA. 甲{at}\nB. 乙{at}\nC. 丙{at}\nD. 丁{at}" for at in range(1, 11))
    assert "".join(told(parse(f"{asked}\n参考答案\n{key}"))) == "1A2B3C4D5A6B7C8D9A10B"


@pytest.mark.parametrize("said", ["题型：单选题", "【难度】易", "（2019年真题）", "考点：心脏", "1.0分", "收藏 纠错"])
def test_what_a_site_says_over_each_item_is_no_part_of_any(parse, said):
    asked = [
        f"{said}\n{at}. 首选{at}的是\nA. 甲{at}\nB. 乙{at}\n{at}.【答案】B\n【解析】见{at}。" for at in range(1, 9)
    ]
    assert [(*one.answer, one.explanation) for one in parse("\n".join(asked)).questions] == [
        ("B", f"见{at}。") for at in range(1, 9)
    ]
