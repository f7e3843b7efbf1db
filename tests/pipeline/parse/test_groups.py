"""Shared cases, shared options, items of several parts, and what is set aside."""

import pytest

OPTIONS = "A. 甲\nB. 乙\nC. 丙\nD. 丁\nE. 戊"
CASE = "男，45岁。上腹痛3天，伴黄疸。查体：Murphy征阳性。"


@pytest.mark.parametrize(
    "head",
    [
        "（1～3题共用题干）",
        "(1-3题共用题干)",
        "（第1~3题共用题干）",
        "【1—3题共用题干】",
        "1～3题共用题干：",
        "（1至3题基于以下病例）",
    ],
)
def test_a_shared_case_goes_to_the_questions_it_names(parse, head):
    questions = "\n".join(f"{number}. 第{number}问\n{OPTIONS}" for number in (1, 2, 3, 4))
    outcome = parse(f"{head}\n{CASE}\n{questions}")
    assert [question.shared_stem for question in outcome.questions] == [CASE] * 3 + [None]
    assert [question.question_type for question in outcome.questions] == ["A3/A4"] * 3 + ["A1"]
    assert len({question.group_id for question in outcome.questions[:3]}) == 1
    assert outcome.questions[0].group_id is not None
    assert outcome.questions[3].group_id is None


def test_two_shared_cases_do_not_run_into_each_other(parse):
    text = "".join(
        f"（{first}～{first + 1}题共用题干）\n{CASE}{first}\n"
        + "".join(f"{number}. 第{number}问\n{OPTIONS}\n" for number in (first, first + 1))
        for first in (1, 3)
    )
    outcome = parse(text)
    assert [question.shared_stem for question in outcome.questions] == [f"{CASE}1"] * 2 + [f"{CASE}3"] * 2
    assert outcome.questions[1].options[-1].text == "戊"


@pytest.mark.parametrize("head", ["（1～3题共用备选答案）", "(1-3题共用选项)", "（1～3题共用備選答案）"])
def test_shared_options_go_to_the_questions_they_are_for(parse, head):
    outcome = parse(f"{head}\n{OPTIONS}\n1. 首选药\n2. 次选药\n3. 禁用药\n参考答案\n1.A 2.B 3.C")
    assert [question.question_type for question in outcome.questions] == ["B1"] * 3
    assert [question.stem for question in outcome.questions] == ["首选药", "次选药", "禁用药"]
    assert all(len(question.options) == 5 for question in outcome.questions)
    assert len({question.group_id for question in outcome.questions}) == 1


def test_shared_options_without_a_head_are_found_in_a_section_of_that_type(parse):
    outcome = parse(
        f"B1型题\n{OPTIONS}\n1. 首选药\n2. 次选药\nA. 一\nB. 二\nC. 三\nD. 四\nE. 五\n3. 首选检查\n4. 次选检查"
    )
    texts = [question.options[0].text for question in outcome.questions]
    assert texts == ["甲", "甲", "一", "一"]
    assert [question.stem for question in outcome.questions] == ["首选药", "次选药", "首选检查", "次选检查"]
    groups = [question.group_id for question in outcome.questions]
    assert groups[0] == groups[1] != groups[2] == groups[3]


def test_parts_with_options_of_their_own_share_the_case(parse):
    parts = "\n".join(f"{mark}第{mark}问\nA.甲{mark}\nB.乙\nC.丙\nD.丁" for mark in "①②③")
    outcome = parse(f"1. {CASE}\n{parts}\n答：ACD\n2. 下列哪项正确\n{OPTIONS}\n答：B")
    assert ["".join(question.answer) for question in outcome.questions] == ["A", "C", "D", "B"]
    assert [question.shared_stem for question in outcome.questions] == [CASE] * 3 + [None]
    assert len({question.question_id for question in outcome.questions}) == 4


def test_parts_and_answers_of_different_number_wait(parse):
    parts = "\n".join(f"{mark}第{mark}问\nA.甲\nB.乙\nC.丙\nD.丁" for mark in "①②③")
    others = "\n".join(f"{number}. 第{number}问\n{OPTIONS}\n答：A" for number in (2, 3, 4))
    outcome = parse(f"1. {CASE}\n{parts}\n答：AC\n{others}")
    assert [question.number for question in outcome.questions] == [2, 3, 4]
    assert [item.reason for item in outcome.review] == ["parts_and_answers_differ"] * 3


def test_stems_after_options_with_their_answers_are_matching_questions(parse):
    outcome = parse(f"1. 下列血管中，\n{OPTIONS}\n容量最大的是：B\n阻力最大的是：C（微动脉）\n两者皆有的是：AD")
    assert ["".join(question.answer) for question in outcome.questions] == ["B", "C", "AD"]
    assert [question.question_type for question in outcome.questions] == ["B1", "B1", "X"]
    assert outcome.questions[0].options[-1].text == "戊"
    assert outcome.questions[1].explanation == "（微动脉）"


def test_circled_stems_with_their_answers_below_are_matching_questions(parse):
    outcome = parse(f"1. {OPTIONS}\n①大红肾 ②大白肾\t③瘢痕肾\nA\tBC\tDE")
    assert [(question.stem, "".join(question.answer)) for question in outcome.questions] == [
        ("大红肾", "A"),
        ("大白肾", "BC"),
        ("瘢痕肾", "DE"),
    ]


def test_a_question_that_refers_to_the_one_before_shares_its_case(parse):
    outcome = parse(f"1. {CASE}最可能的诊断是\n{OPTIONS}\n2. 承上题，首选的检查是\n{OPTIONS}")
    first, second = outcome.questions
    assert second.shared_stem == first.stem
    assert first.group_id == second.group_id is not None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1. 急性肾炎的别名？\n答：感染后肾炎", "short_answer"),
        ("1. 判断正误：甲属于乙。\n答：错误。不属于。", "true_false"),
        ("1. 甲属于乙。\n答案：√", "true_false"),
        ("1. 填空：前负荷=舒张末期容积。", "fill_in"),
        ("1. 前负荷等于______。", "fill_in"),
        ("三、简答题\n1. 简述休克的分期。", "short_answer"),
        ("二、判断题\n1. 甲属于乙。", "true_false"),
        ("1. 考生须将答案填涂在答题卡上。", "instruction"),
        ("C型题\n1. 下列哪项正确", "c_type"),
    ],
)
def test_what_is_no_multiple_choice_question_is_set_aside_with_its_reason(parse, text, reason):
    outcome = parse(text)
    assert not outcome.questions
    assert [reject.reason for reject in outcome.rejects] == [reason]


@pytest.mark.parametrize(
    ("head", "stem", "answer", "expected"),
    [
        ("一、A1型题", "下列哪项正确", "A", "A1"),
        ("二、A2型题", "下列哪项正确", "A", "A2"),
        ("五、X型题", "下列哪些正确", "A", "X"),
        ("二、多项选择题", "下列哪些正确", "AB", "X"),
        ("", "下列哪些正确", "AB", "X"),
        ("", CASE + "最可能的诊断是", "A", "A2"),
        ("", "51歲男性病患，因右上背酸痛就醫，最可能的診斷為何？", "A", "A2"),
        ("", "乳牙列中最后萌出的牙在几岁萌出", "A", "A1"),
        ("", "按体重估算公式推算，5岁男孩的标准体重约为多少千克", "A", "A1"),
        ("", "一位32歲男性主訴胸痛持續一週，最有可能之診斷為何？", "A", "A2"),
    ],
)
def test_types_come_from_the_head_or_from_the_question(parse, head, stem, answer, expected):
    (question,) = parse(f"{head}\n1. {stem}\n{OPTIONS}\n答案：{answer}").questions
    assert question.question_type == expected


def test_a_count_that_differs_from_the_announced_one_waits_and_holds_nothing_back(parse):
    questions = "\n".join(f"{number}. 第{number}问\n{OPTIONS}" for number in (1, 2, 3))
    outcome = parse(f"一、A1型题（本题共5小题，每小题1分）\n{questions}\n二、A2型题\n4. 第4问\n{OPTIONS}")
    assert len(outcome.questions) == 4
    assert [item.reason for item in outcome.review] == ["count_differs"]


def test_a_question_with_a_figure_or_a_table_says_so(parse):
    outcome = parse(
        f"1. 如图所示\n[figure]\n{OPTIONS}\n2. 下表中\n[table]\n甲\t1\n乙\t2\n{OPTIONS}\n3. 无图\n{OPTIONS}"
    )
    assert [question.attachments for question in outcome.questions] == [["figure"], ["table"], None]
    assert "甲 1\n乙 2" in outcome.questions[1].stem


def test_superscripts_units_and_blanks_stay_as_they_are_printed(parse):
    stem = "血小板80×10⁹/L，PaO₂ 60 mmHg，体温38.5℃，属于（　　）型"
    (question,) = parse(f"1. {stem}\n{OPTIONS}").questions
    assert question.stem == stem.replace("　", " ")


def test_traditional_chinese_with_english_terms_keeps_its_spaces(parse):
    (question,) = parse(
        "1. 下列何者為 major criteria of\nDuke classification？\n(A)fever\n(B)two sets of blood\nculture"
    ).questions
    assert question.stem == "下列何者為 major criteria of Duke classification？"
    assert question.options[1].text == "two sets of blood culture"


@pytest.mark.parametrize("speck", ["", "·", "• ", ".", "'"])
def test_a_speck_after_a_blanks_number_hides_no_stem(parse, speck):
    text = (
        "试题（1）\n存放指令地址的是（1）。\n（1）A. 甲\tB. 乙\tC. 丙\tD. 丁\n参考答案\n（1）C\n"
        f"试题（2）\n采用补码可以（2）。\n（2）{speck}A. 子\tB. 丑\tC. 寅\tD. 卯\n参考答案\n（2）B\n"
    )
    outcome = parse(text)
    assert [(one.number, one.stem, one.answer) for one in outcome.questions] == [
        (1, "存放指令地址的是（1）。", ["C"]),
        (2, "采用补码可以（2）。", ["B"]),
    ]
    assert outcome.review == []


@pytest.mark.parametrize(
    ("printed", "case"),
    [
        (
            "情況：一位60歲男性，兩年前開始\n右腿疼痛。依此回答下列第3題至第\n4題：",
            "一位60歲男性，兩年前開始右腿疼痛。",
        ),
        ("根据以下材料，回答第3～4题。\n某厂12人腹泻。", "某厂12人腹泻。"),
        ("某厂12人腹泻。回答3-4题。", "某厂12人腹泻。"),
        ("患者，男，45岁。腹痛。（第3～4题）", "患者，男，45岁。腹痛。"),
        ("案例：女，30岁，发热。请据此完成3-4题", "女，30岁，发热。"),
        ("下列第3題至第4題為題組\n女，30歲，發熱。", "女，30歲，發熱。"),
        ("Questions 3–4 refer to this case.\nA 60-year-old man has pain.", "A 60-year-old man has pain."),
        ("Use this to answer questions 3 to 4:\nA man has pain.", "A man has pain."),
    ],
)
def test_a_case_in_any_wording_goes_to_its_questions_and_never_to_the_option_before(parse, printed, case):
    asked = [f"{number}. 第{number}问\n{OPTIONS}" for number in range(1, 6)]
    outcome = parse("\n".join([*asked[:2], printed, *asked[2:]]))
    assert [question.shared_stem for question in outcome.questions] == [None, None, case, case, None]
    assert outcome.questions[1].options[-1].text == "戊"


@pytest.mark.parametrize("title", ["", "备选答案：\n", "第2组\n", "（2～3题选项）\n", "**（2～3题共用备选答案）**\n"])
def test_options_behind_an_answer_are_those_of_the_next_items_without_any(parse, title):
    shared = f"{title}A. 心\nB. 肝\nC. 脾\n2. 属于丁\n答案：B\n3. 属于戊\n答案：C"
    outcome = parse(f"1. 甲的首选是\n{OPTIONS}\n答案：A\n解析：见教材。\n{shared}")
    assert [("".join(one.answer), len(one.options)) for one in outcome.questions] == [("A", 5), ("B", 3), ("C", 3)]
    assert outcome.questions[0].explanation == "见教材。"


@pytest.mark.parametrize(
    "title", ["", "题干：", "【病例】", "（二）", "2-3 ", "以下2～3题共用题干\n", "◎2～3题共用题干\n"]
)
def test_a_case_behind_an_item_goes_to_the_next_ones_that_rest_on_it(parse, title):
    asked = f"2. 该患者首选的检查是\n{OPTIONS}\n3. 最可能的诊断是\n{OPTIONS}\n4. 男，30岁，咳嗽3天。首选\n{OPTIONS}"
    outcome = parse(f"1. 甲的首选是\n{OPTIONS}\n{title}{CASE}\n{asked}")
    assert [one.shared_stem for one in outcome.questions] == [None, CASE, CASE, None]
