"""Answers and explanations: at the question, in lists, in grids, after appeals."""

import pytest

from build_dataset.pipeline.parse.fields import filled_blank
from tests.pipeline.parse.short import FOUR

OPTIONS = "A. 甲\nB. 乙\nC. 丙\nD. 丁\nE. 戊"


def one(outcome):
    (question,) = outcome.questions
    return question


@pytest.mark.parametrize(
    ("printed", "letters"),
    [
        ("答案：C", "C"),
        ("答案:C", "C"),
        ("答案 C", "C"),
        ("正确答案　C", "C"),
        ("正确答案：C。", "C"),
        ("参考答案：C", "C"),
        ("【答案】C", "C"),
        ("[答案] C", "C"),
        ("答：ABCE", "ABCE"),
        ("答CD", "CD"),
        ("答案：A、B、D", "ABD"),
        ("答案：A,B,D", "ABD"),
        ("答案：A.B.D.", "ABD"),
        ("答案：A．B", "AB"),
        ("答案：A. B. D。", "ABD"),
        ("答案是Ｃ", "C"),
        ("標準答案：C", "C"),
        ("答案：丙", "C"),
    ],
)
def test_an_answer_at_the_question_is_read(parse, printed, letters):
    question = one(parse(f"1. 下列哪项正确\n{OPTIONS}\n{printed}"))
    assert "".join(question.answer) == letters
    assert question.options[-1].text == "戊"


@pytest.mark.parametrize("mark", ["(正确答案)", "（正確答案）", " (correct answer)"])
def test_an_option_that_is_marked_as_the_right_one_is_the_answer(parse, mark):
    question = one(parse(f"1. 下列哪项正确[单选题] *\n{OPTIONS}".replace("丙", f"丙{mark}")))
    assert (question.stem, question.answer, question.options[2].text) == ("下列哪项正确", ["C"], "丙")


def test_a_marked_option_that_is_not_the_stated_answer_waits(parse):
    outcome = parse(f"1. 下列哪项正确\n{OPTIONS}\n答案：B".replace("丙", "丙(正确答案)"))
    assert [item.reason for item in outcome.review] == ["answers_disagree"]


@pytest.mark.parametrize("word", ["ANSWER: ", "Answer: ", "Ans. ", "Correct answer: "])
@pytest.mark.parametrize("number", ["", "{}. "])
def test_lines_of_answers_in_english_are_no_refrain(parse, word, number):
    items = [
        f"{number.format(at)}Which sign belongs to disease {at}?\nA. fever\nB. cough\nC. rash\n{word}{'ABC'[at % 3]}"
        for at in range(1, 9)
    ]
    assert ["".join(one.answer) for one in parse("\n".join(items)).questions] == [*"BCABCABC"]


@pytest.mark.parametrize(
    "mark", ["解析：", "【解析】", "试题分析：", "【答案解析】", "分析：", "【详解】", "解析:", "詳解："]
)
def test_an_explanation_is_attached(parse, mark):
    question = one(parse(f"1. 下列哪项正确\n{OPTIONS}\n答案：C\n{mark}因为丙对，\n甲不对。"))
    assert (question.answer, question.explanation) == (["C"], "因为丙对，甲不对。")


def test_what_follows_the_letters_is_the_explanation(parse):
    question = one(parse(f"1. 下列哪项正确\n{OPTIONS}\n答：ABCE。丁不属于此类。"))
    assert (question.answer, question.explanation) == (list("ABCE"), "丁不属于此类。")


def test_an_abbreviation_after_the_answer_mark_is_no_answer(parse):
    outcome = parse(f"1. 下列哪项正确\n{OPTIONS}\n答：DIC是此病的并发症")
    assert not outcome.questions
    assert outcome.review[0].reason == "answer_not_in_options"


def test_two_different_answers_wait_for_a_person(parse):
    outcome = parse(f"1. 下列哪项正确\n{OPTIONS}\n答案：C\n2. 下列哪项错误\n{OPTIONS}\n答案：D\n参考答案\n1.C 2.E")
    assert [question.number for question in outcome.questions] == [1]
    assert outcome.review[0].reason == "answers_disagree"


@pytest.mark.parametrize(
    "key",
    [
        "1.A 2.B 3.CD",
        "1．A\t2．B\t3．CD",
        "1、A 2、B 3、CD",
        "1-3 A B CD",
        "1～3：A B CD",
        "(1)A (2)B (3)CD",
        "1A 2B 3CD",
        "1.A\n2.B\n3.CD",
        "1-2 AB\n3.CD",
        "题号\t1\t2\t3\n答案\tA\tB\tCD",
        "題號\t01\t02\t03\n答案\tＡ\tＢ\tＣＤ",
        "1\t2\t3\nA\tB\tCD",
        "1. A\n解析：甲对\n2. B\n3. CD",
        "1.【答案】A【解析】甲对\n2.【答案】B\n3.【答案】CD",
    ],
)
def test_a_key_at_the_end_answers_the_questions(parse, key):
    text = "\n".join(f"{number}. 下列哪项正确\n{OPTIONS}" for number in (1, 2, 3))
    outcome = parse(f"{text}\n参考答案\n{key}")
    assert ["".join(question.answer) for question in outcome.questions] == ["A", "B", "CD"]
    assert outcome.questions[2].options[-1].text == "戊"
    if "甲对" in key:
        assert outcome.questions[0].explanation == "甲对"


def test_keys_of_sections_whose_numbers_restart_find_their_sections(parse):
    body = "\n".join(f"{number}. 下列哪项正确\n{OPTIONS}" for number in (1, 2))
    outcome = parse(f"一、A1型题\n{body}\n二、A2型题\n{body}\n参考答案\n一、A1型题\n1.A 2.B\n二、A2型题\n1.C 2.D")
    assert ["".join(question.answer) for question in outcome.questions] == ["A", "B", "C", "D"]


def test_keys_that_follow_each_chapter_find_their_chapters(parse):
    body = "\n".join(f"{number}. 下列哪项正确\n{OPTIONS}" for number in (1, 2, 3))
    outcome = parse(f"第一章\n{body}\n参考答案\n1.A 2.B 3.C\n第二章\n{body}\n参考答案\n1.C 2.D 3.E")
    assert ["".join(question.answer) for question in outcome.questions] == list("ABCCDE")


def test_a_paper_without_a_key_keeps_its_questions_unanswered(parse):
    outcome = parse("\n".join(f"{number}. 下列哪项正确\n{OPTIONS}" for number in (1, 2, 3)))
    assert [question.answer for question in outcome.questions] == [None] * 3


@pytest.mark.parametrize(
    ("told", "letters"),
    [
        ("【考点】甲\n【解答】解：A．错误；\nC．正确；\n故选：C。\n【点评】本题考查基础。", "C"),
        ("解答：C。丙最常见。", "C"),
        ("解析：C。丙最常见。", "C"),
    ],
)
def test_an_answer_told_in_the_explanation_is_read(parse, told, letters):
    assert one(parse(f"1. 下列哪项正确\n{OPTIONS}\n{told}")).answer == [letters]


def test_answers_inside_stems_are_read_where_that_is_the_habit_of_the_paper(parse):
    stems = ("（A）是基础", "必须以（C）为中心", "最重要的是（B）", "坚持（ D ）原则")
    outcome = parse("\n".join(f"{place}. {stem}\n{OPTIONS}" for place, stem in enumerate(stems, 1)))
    assert [question.answer for question in outcome.questions] == [["A"], ["C"], ["B"], ["D"]]
    assert outcome.questions[1].stem == "必须以（ ）为中心"


def test_a_letter_in_brackets_elsewhere_is_text(parse):
    stems = ("血型为（A）者第一问", "第二问", "第三问")
    outcome = parse("\n".join(f"{n}. {stem}\n{OPTIONS}\n答案：B" for n, stem in enumerate(stems, 1)))
    assert outcome.questions[0].stem.startswith("血型为（A）者")


@pytest.mark.parametrize("printed", ["A：③ B：④", "A③；B④", "（A）②"])
def test_answers_that_are_codes_of_blanks_are_set_aside(parse, printed):
    outcome = parse(f"1. 甲为（A），乙为（B）\n{OPTIONS}\n答案：{printed}")
    assert [item.reason for item in outcome.rejects] == ["coded_answer"]


@pytest.mark.parametrize("unit", ["_", " ", "A ", "A、", "_A", "（A", "（ ", " 。", "字A "])
@pytest.mark.timeout(20)  # a pattern that is not linear takes minutes
def test_a_blank_is_looked_for_in_linear_time(unit):
    stem = "题（" + unit * (100_000 // len(unit)) + "x"
    assert [filled_blank(stem, list("ABCDE"), anywhere=anywhere)[1] for anywhere in (False, True)] == [None, None]


@pytest.mark.parametrize(
    ("printed", "letters", "explanation"),
    [
        ("我的答案:正确答案:B\n答案解析：\n知识点：\n0.0分", ["B"], None),
        ("学生答案：A 正确答案：B\n难易程度：易\n解析：乙最多", ["B"], "乙最多"),
        ("我的答案：A", None, None),
        ("正确答案：B:乙; 0.6分AI讲解", ["B"], None),
        ("答案：B 乙", ["B"], None),
        ("答案：B\n----------", ["B"], None),
        ("答案：B //因为甲", ["B"], "因为甲"),
    ],
)
def test_what_a_platform_prints_around_an_answer_is_left_out(parse, printed, letters, explanation):
    (question,) = parse(f"1. (单选题, 1.0 分) (1分)首选的是\n{FOUR}\n{printed}").questions
    assert (question.stem, question.answer, question.explanation) == ("首选的是", letters, explanation)


def test_an_answer_behind_a_gap_in_the_line_of_options_is_no_text_without_a_label(parse):
    outcome = parse("1. 首选的是\nA、甲\tB、乙\tC、丙\tD、丁\t答案： B")
    assert [(question.answer, question.options[-1].text) for question in outcome.questions] == [(["B"], "丁")]


@pytest.mark.parametrize("letters", ["B", "BC", "B、C"])
def test_an_answer_glued_to_the_last_option_is_read(parse, letters):
    (question,) = parse(f"1. 首选的是\n{FOUR}答案：{letters}").questions
    assert (question.answer, question.options[-1].text) == ([*letters.replace("、", "")], "丁")


def test_an_answer_whose_option_begins_like_a_verdict_is_read(parse):
    (question,) = parse("1. 布局是\nA. 分散\nB. 对称与中心\nC. 随机\n正确答案：\nB 对称与中心").questions
    assert (question.answer, question.explanation) == (["B"], None)


@pytest.mark.parametrize("earned", ["2分", "1.5 分"])
def test_what_an_item_earns_on_a_line_of_its_own_is_no_stem(parse, earned):
    (question,) = parse(f"1\n{earned}\n首选的是\n{FOUR}\n答案：B").questions
    assert question.stem == "首选的是"


def test_a_title_before_the_stem_is_no_stem_and_code_keeps_its_lines(parse):
    (question,) = parse(
        f"1. 列表\n题目：下列程序输出的是\nnums = [1, 2]\nfor n in nums:\nprint(n)\n{FOUR}\n答案：B"
    ).questions
    assert question.stem == "下列程序输出的是\nnums = [1, 2]\nfor n in nums:\nprint(n)"
