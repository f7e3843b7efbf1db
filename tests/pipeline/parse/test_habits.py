"""Habits of papers in the wild, each with what must come out: nothing silently wrong, nothing lost."""

import pytest

from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import read_paper
from build_dataset.schemas.documents import Line
from tests.pipeline.parse.short import CASE, DOCUMENT, FIVE, FOUR, THREE, items, judged, texts, told


@pytest.mark.parametrize(
    "mark",
    ["题{}：", "Q{}. ", "Question {}: ", "No.{} ", "{}：", "*{}. ", "{:03d}. ", "单选题{}、", "问题{} ",
    "（  ）{}. "],
)  # fmt: skip
def test_more_ways_to_number(parse, mark):
    outcome = parse(items(1, 2, 3, mark=mark))
    assert told(outcome) == ["1-", "2-", "3-"]
    assert [question.stem for question in outcome.questions] == [f"第{n}项对的是" for n in (1, 2, 3)]


@pytest.mark.parametrize("first", ["1O. ", "lO. ", "l0，"])
def test_digits_read_as_letters_still_number(parse, first):
    text = f"{items(*range(1, 10))}\n{items(10, mark=first)}\nl1. 末项\n{FOUR}"
    assert told(parse(text)) == [f"{number}-" for number in range(1, 12)]


@pytest.mark.parametrize(
    "stem", ["首选（ C ）", "（C）是首选", "以下（ C ）不对？", "首选 C ）", "首选[ C ]", "首选__C__",
    "首选（c）", "首选（ C ）（2分）", "首选（ C\n）"]
)  # fmt: skip
def test_an_answer_anywhere_in_the_blank_leaves_the_blank(parse, stem):
    (question,) = parse(f"1. {stem}\n{FOUR}").questions
    assert question.answer == ["C"]
    assert "（ ）" in question.stem


@pytest.mark.parametrize("mark", ["（C）{}. ", "(C){}.", "C\t{}.", "[正確答案: C] {}. ", "C\t{} ", "C {} "])
def test_an_answer_before_the_number_is_read(parse, mark):
    assert told(parse(items(1, 2, mark=mark))) == ["1C", "2C"]


@pytest.mark.parametrize("printed", ["  C", "C。", "\tC"])
def test_letters_behind_most_stems_are_their_answers(parse, printed):
    found = parse(items(*range(1, 13)).replace("对的是", f"对的是{printed}"))
    assert told(found) == [f"{number}C" for number in range(1, 13)]
    assert {question.stem[-3:] for question in found.questions} == {"对的是"}


def test_letters_in_a_stem_that_are_no_answer_stay(parse):
    outcome = parse(f"{THREE}\n4. 血型为（A）者\n{FOUR}\n5. 缺乏维生素（A）\n{FOUR}")
    assert told(outcome) == ["1-", "2-", "3-", "4-", "?5 answer_in_text"]
    assert outcome.questions[3].stem == "血型为（A）者"


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("【答 案】C", "C"), ("答案∶c", "C"), ("答案．C", "C"), ("答案:【C】", "C"), ("答案（C）", "C"),
        ("Answer: C", "C"),
        ("選(C)", "C"), ("本题选C。", "C"), ("答案解析：C。丙对", "C"), ("解析：丙对，故选C。", "C"),
        ("我的答案：B\n正确答案：C", "C"),
        ("答案：C  A项错误", "C"), ("答案：D A、B均错", "D"), ("答案： A、C 和 D", "ACD"),
        ("答案：A B D", "ABD"),
    ],
)  # fmt: skip
def test_more_ways_to_state_an_answer(parse, printed, expected):
    (question,) = parse(f"1. 首选\n{FOUR}\n{printed}").questions
    assert "".join(question.answer) == expected
    assert texts(question) == ["甲", "乙", "丙", "丁"]


@pytest.mark.parametrize("printed", ["答案：B或C", "答案：B/C"])
def test_an_answer_with_a_choice_waits(parse, printed):
    assert told(parse(f"1. 首选\n{FOUR}\n{printed}")) == ["?1 answer_not_read"]


def test_an_answer_in_a_bracket_behind_the_stem_is_no_part_of_it(parse):
    (question,) = parse(f"1. 首选（答案：C）\n{FOUR}").questions
    assert (question.stem, question.answer, len(question.options)) == ("首选", ["C"], 4)


def test_options_after_the_answer_are_options(parse):
    (question,) = parse(f"1. 首选\n答案：C\n{FOUR}").questions
    assert (question.answer, texts(question)) == (["C"], ["甲", "乙", "丙", "丁"])


def test_a_question_without_an_answer_among_answered_ones_waits(parse):
    assert told(parse(f"{items(1)}\n答案：A\n{items(2)}\n{items(3)}\n答案：B")) == ["1A", "3B", "?2 no_answer"]


@pytest.mark.parametrize("tag", ["（2分）", "(单选题)(每题 1.00 分)", "【单选题】（1.0分）", "(每题0.50分)"])
def test_what_an_item_earns_is_no_part_of_its_stem(parse, tag):
    (question,) = parse(f"1. {tag}首选\n{FOUR}").questions
    assert question.stem == "首选"


def test_questions_of_a_case_may_be_numbered_as_such(parse):
    outcome = parse(f"案例分析题\n【案例一】\n{CASE}\n第1问：首选\n{FOUR}\n第2问：次选\n{FOUR}")
    assert [(question.stem, question.shared_stem) for question in outcome.questions] == [
        ("首选", CASE), ("次选", CASE),
    ]  # fmt: skip


def test_sections_of_bare_numbers_from_a_high_one_are_found_by_the_heads_that_name_them(parse):
    group = "【B1型题】\n（31～33题共用备选答案）\n" + FOUR + "\n31 甲见于\n32 1型乙见于\n33 丙见于"
    assert told(parse(f"{group}\n【A1型题】\n{items(1, 2, 3, mark='{} ')}")) == [
        "31-", "32-", "33-", "1-", "2-", "3-",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("A.xB.yC.zD.w", ["x", "y", "z", "w"]),
        ("A.IL-2B.IL-4C.IL-6D.IL-10", ["IL-2", "IL-4", "IL-6", "IL-10"]),
        ("A.10mgB.20mgC.30mgD.40mg", ["10mg", "20mg", "30mg", "40mg"]),
        ("A甲甲 B乙乙\nC丙丙 D丁丁", ["甲甲", "乙乙", "丙丙", "丁丁"]),
        ("A.A\nB.B\nC.C\nD.E", ["A", "B", "C", "E"]),
        ("A.①②\nB.③④\nC.①②③\nD.①②③④", ["①②", "③④", "①②③", "①②③④"]),
    ],
)
def test_more_layouts_of_options(parse, options, expected):
    (question,) = parse(f"1. 首选\n{options}").questions
    assert (question.stem, texts(question)) == ("首选", expected)


@pytest.mark.parametrize("first", [1, 2, 3])
def test_a_numbered_list_in_a_stem_is_no_question(parse, first):
    before, after = (items(*numbers) for numbers in (range(1, first), range(first + 1, 7)))
    outcome = parse(f"{before}\n{first}. 组合\n1.甲\n2.乙\n3.丙\nA.1+2\nB.1+3\nC.2+3\nD.1+2+3\n{after}")
    assert told(outcome) == [f"{number}-" for number in range(1, 7)]
    assert outcome.questions[first - 1].stem == "组合\n1.甲\n2.乙\n3.丙"


def test_a_numbered_list_in_an_explanation_is_no_question(parse):
    text = f"{items(1)}\n答案：C\n解析：\n1. 甲错\n2. 乙错\n3. 丙对\n{items(2)}\n答案：B\n{items(3)}\n答案：A"
    assert told(parse(text)) == ["1C", "2B", "3A"]


def test_the_kind_is_the_one_a_head_names_first(parse):
    heads = ("一、单项选择题（错选、多选均无分）", "二、多项选择题（至少两个）")
    outcome = parse(f"{heads[0]}\n{THREE}\n{heads[1]}\n{items(4, 5)}\n6. [单选题]末项\n{FOUR}")
    assert [question.question_type for question in outcome.questions] == ["A1"] * 3 + ["X"] * 2 + ["A1"]
    assert outcome.questions[5].stem == "末项"


@pytest.mark.parametrize(
    "head",
    ["[1-2]", "（1～2题）", "1-2题", "依下列敘述回答第1題至第2題：", "Questions 1-2 refer to:", "案例1：",
    "（一）", "下列第1~2題，請依據下表作答：", "（共用题干 1-2题）", "共用题干（1～2题）：",
    "根据以下材料，回答1～2题。", "问题1～2"],
)  # fmt: skip
def test_a_shared_case_opens_without_saying_so(parse, head):
    outcome = parse(f"三、综合题\n{head}\n{CASE}\n{items(1, 2)}")
    assert [question.shared_stem for question in outcome.questions] == [CASE] * 2


@pytest.mark.parametrize("stem", ["1、10岁儿童的血压为", "1、24小时尿量为", "1、2型糖尿病根据"])
def test_a_number_before_a_quantity_names_no_group(parse, stem):
    (question,) = parse(f"{stem}\n{FOUR}").questions
    assert (question.number, question.stem) == (1, stem[2:])


def test_shared_options_open_with_their_span_alone(parse):
    other = "A.一\nB.二\nC.三\nD.四\nE.五"
    outcome = parse(f"配伍选择题\n[1-2]\n{FIVE}\n1.首选\n2.次选\n[3-4]\n{other}\n3.甲是\n4.乙是")
    assert [(question.stem, texts(question)[0]) for question in outcome.questions] == [
        ("首选", "甲"), ("次选", "甲"), ("甲是", "一"), ("乙是", "一"),
    ]  # fmt: skip


def test_a_question_may_continue_one_that_it_names(parse):
    outcome = parse(f"1. {CASE}诊断？\n{FOUR}\n{items(2)}\n3. 承第1題，首選？\n{FOUR}\n4. 承上，禁用？\n{FOUR}")
    stem = f"{CASE}诊断？"
    assert [question.shared_stem for question in outcome.questions] == [None, None, stem, stem]


def test_running_titles_and_page_numbers_leave_the_text(parse):
    page = "内科学试卷 A卷\n{}\n代號：1101\n{}"
    pages = [
        page.format(body, foot)
        for body, foot in (
            ("1. 首选\nA. 甲\nB. 乙", "頁次：4－2"),
            ("C. 丙\nD. 丁\n2. 次选\n" + FOUR, "第 2 页（共 4 页）"),
            (items(3) + "\n內科", "- 3 -"),
            (items(4) + "\n※试题结束※", "Page 4 of 4"),
        )
    ]
    outcome = parse("内科学试卷 A卷\n代號：1101\n" + "\f".join(pages).replace("\n內科", ""))
    assert told(outcome) == ["1-", "2-", "3-", "4-"]
    assert [texts(question) for question in outcome.questions] == [["甲", "乙", "丙", "丁"]] * 4


def test_what_a_site_stamps_on_pages_leaves_the_text():
    lines = [
        Line(document="x", page=page, order=order, text=text, box=None, confidence=0.98, column=0, kind="text")
        for page in (1, 2, 3)
        for order, text in enumerate(
            (f"{page}. 首选\t某某题库", "A. 甲", "B. 乙", "C. 丙", "D. 丁\tsite.com", "www.site.com")
        )
    ]
    outcome = finish(judged(read_paper("x", lines)), DOCUMENT)
    assert told(outcome) == ["1-", "2-", "3-"]
    assert [(question.stem, texts(question)[-1]) for question in outcome.questions] == [("首选", "丁")] * 3


def test_essays_beside_choice_items_are_set_aside_each(parse):
    text = f"甲、申論題部分：（50分）\n一、試述病因。（25分）\n二、試述治療。（25分）\n乙、測驗題部分\n{THREE}"
    assert told(parse(text)) == ["1-", "2-", "3-", "-1 short_answer", "-2 short_answer"]


def test_parts_that_earn_marks_are_no_options(parse):
    assert told(parse("1. Explain.\n(a) (6 marks) Why?\n(b) (4 marks) How?\n(c) (2 marks) When?")) == [
        "-1 short_answer"
    ]


def test_what_does_not_belong_to_a_question_waits(parse):
    assert told(parse(f"{items(1)}\n答题卡 1.A 2.B")) == ["?1 text_left_over"]
    assert told(parse("1. 首选\nA. 甲 A. 一\nB. 乙 B. 二\nC. 丙 C. 三")) == ["?1 label_inside_text"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "1. x\n答" + " " * 5000 + "案",
        "12 " * 5000,
        "1" + " " * 5000 + "~",
        "第1" + " " * 5000 + "题",
        "1. x\n答案：（1）A" + "\t" * 5000 + "x",
        "1. （" + " " * 5000,
        "1. " + "A." * 5000,
        "1.A " * 5000,
        "1. x\n" * 2000,
    ],
)
@pytest.mark.timeout(30)  # an expression that is not linear takes minutes
def test_hostile_lines_cost_no_time(read, text):
    assert read(text) is not None
