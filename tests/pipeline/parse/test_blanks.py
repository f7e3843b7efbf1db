"""Blanks to fill in, items of several numbers, and problems that are answered in words."""

import pytest

from tests.pipeline.parse.short import FOUR, items


def test_a_title_over_a_stem_that_stands_before_its_number_is_not_part_of_it(parse):
    text = "2019年下半年软件设计师上午试题\n" + "\n".join(
        f"概念{n}是（{n}）。\n（{n}）A. 甲\tB. 乙\tC. 丙\tD. 丁" for n in range(1, 5)
    )
    assert [question.stem for question in parse(text).questions] == [f"概念{n}是（{n}）。" for n in range(1, 5)]


def test_problems_of_an_afternoon_paper_are_one_item_each_whatever_stands_in_them(parse):
    problem = "阅读下列说明，回答问题。\n【说明】\n（1）登记：记录病人。\n（2）查询：返回记录。"
    problem += "\n【问题1】（5分）\n给出实体。\n参考答案\n（1）A （2）B"
    text = "\n".join(f"试题{n}（共15分）\n{problem}" for n in "一二三")
    outcome = parse(f"2018年下午试卷\n{text}")
    assert [(item.item_id.rsplit("-", 1)[1], item.reason) for item in outcome.rejects] == [
        ("001", "short_answer"), ("002", "short_answer"), ("003", "short_answer"),
    ]  # fmt: skip
    assert outcome.review == outcome.questions == []


SPANNED = "图中甲是()，乙是()。\nA. 一\tB. 二\tC. 三\nA. 四\tB. 五\tC. 六"


@pytest.mark.parametrize("head", ["2-3某图如下。", "2～3在图中，", "试题2-3\n"])
def test_an_item_of_several_numbers_has_a_run_of_options_for_each(parse, head):
    outcome = parse(f"{items(1)}\n{head}{SPANNED}\n{items(4)}")
    assert [(one.number, [option.text for option in one.options][:3]) for one in outcome.questions] == [
        (1, ["甲", "乙", "丙"]),
        (2, ["一", "二", "三"]),
        (3, ["四", "五", "六"]),
        (4, ["甲", "乙", "丙"]),
    ]


@pytest.mark.parametrize("line", ["3-5岁的儿童较多见", "2-3周后复查"])
def test_a_range_at_the_start_of_a_line_numbers_no_question(parse, line):
    outcome = parse(f"{items(1)}\n2. 第2项对的是\n{line}\n{FOUR}\n{items(3)}")
    assert [one.number for one in outcome.questions] == [1, 2, 3]


def test_parts_to_fill_in_after_the_options_of_one_part_have_no_options(parse):
    parts = "①甲是______。\n②下列叙述正确的有\nA. 一\nB. 二\nC. 三\nD. 四\n①乙的酶是______。\n②丙是______。"
    outcome = parse(f"{items(1)}\n2. 据图回答：\n{parts}\n{items(3)}")
    assert [one.number for one in outcome.questions] == [1, 3]


def test_blanks_that_run_on_by_numbers_of_their_own_make_their_questions_wait(parse):
    stems = ("甲由（1）构成。", "乙由（2）决定，丙由（3）决定。", "丁属于（4）。", "戊（5）、己（6）。")
    text = "\n".join(f"{number}．{stem}\n{FOUR}" for number, stem in enumerate(stems, 1))
    kept = [
        question.number for question in parse(f"{text}\n参考答案\n（1）A （2）B （3）C （4）D （5）A （6）B").questions
    ]
    assert kept in ([1], [1, 2])
    own = "\n".join(f"{number}．第{number}项属于（{number}）。\n{FOUR}\n答案：B" for number in range(1, 5))
    assert [question.number for question in parse(own).questions] == [1, 2, 3, 4]


def test_a_blank_whose_answer_stands_in_another_bracket_too_waits(parse):
    papers = [f"{number}. 由(A)得第{number}项（B）\nA. 甲\nB. 乙\nC. 丙" for number in range(1, 5)]
    outcome = parse("\n".join([*papers, "5. 经过（C）轮运算后，输出的是（C）\nA. 甲\nB. 乙\nC. 丙"]))
    assert len(outcome.questions) == 4
    assert [item.reason for item in outcome.review] == ["answer_in_text"]
