"""Question numbers in every habit; what only looks like one is left in the text."""

import pytest

from tests.pipeline.parse.short import FOUR, items, told

OPTIONS = "A. 甲\tB. 乙\tC. 丙\tD. 丁"


def paper(*heads: str) -> str:
    return "\n".join(f"{head}下列哪项正确\n{OPTIONS}" for head in heads)


def numbers(outcome):
    return [(question.section, question.number) for question in outcome.questions]


@pytest.mark.parametrize(
    "form",
    [
        "{}.",
        "{}、",
        "{}．",
        "{}. ",
        "({})",
        "（{}）",
        "第{}题 ",
        "第{}題：",
        "【{}】",
        "[{}]",
        "{},",
        "{}) ",
        "{}\t",
        "{} ",
    ],
)
def test_numbers_in_a_habit_open_questions(parse, form):
    outcome = parse(paper(*(form.format(number) for number in range(1, 6))))
    assert numbers(outcome) == [(1, number) for number in range(1, 6)]
    assert {question.stem for question in outcome.questions} == {"下列哪项正确"}


def test_circled_numbers_open_questions_where_nothing_else_does(parse):
    assert numbers(parse(paper(*"①②③④⑤"))) == [(1, number) for number in range(1, 6)]


def test_full_width_digits_are_numbers(parse):
    assert numbers(parse(paper("１．", "２．", "３．"))) == [(1, 1), (1, 2), (1, 3)]


def test_a_number_alone_on_its_line_opens_a_question(parse):
    assert numbers(parse(paper("1\n", "2\n", "3\n"))) == [(1, 1), (1, 2), (1, 3)]


def test_a_dot_read_as_a_comma_or_lost_does_not_break_the_numbering(parse):
    assert numbers(parse(paper("1.", "2,", "3", "4.", "5、"))) == [(1, number) for number in range(1, 6)]


def test_a_stem_may_begin_with_a_number(parse):
    outcome = parse(paper("1.51岁男性，", "2.85岁的女性，", "3.某男，"))
    assert [question.stem[:3] for question in outcome.questions] == ["51岁", "85岁", "某男，"]


@pytest.mark.parametrize("age", ["26歲男性", "60岁，男，", "35 歲女性"])
@pytest.mark.parametrize("number", [2, 10, 15])
def test_a_number_whose_dot_was_lost_before_an_age_opens_a_question(parse, number, age):
    texts = [f"{each}.某男{each}例，" for each in range(1, 17)]
    texts[number - 1] = f"{number}{age}"
    outcome = parse(paper(*texts))
    assert numbers(outcome) == [(1, each) for each in range(1, 17)]
    assert outcome.questions[number - 1].stem.startswith(age[:3])
    assert not outcome.review


@pytest.mark.parametrize(
    ("number", "age"), [(10, "3個月大男嬰"), (12, "6个月大婴儿"), (15, "18個月大女嬰"), (10, "5歲男童")]
)
def test_so_does_one_before_months_or_the_age_of_a_child(parse, number, age):
    texts = [f"{each}.某男{each}例，" for each in range(1, 17)]
    texts[number - 1] = f"{number}{age}，"
    outcome = parse(paper(*texts))
    assert numbers(outcome) == [(1, each) for each in range(1, 17)]
    assert outcome.questions[number - 1].stem.startswith(age)


@pytest.mark.parametrize(
    "line",
    [
        "2.5 mg口服，每日3次，",
        "30 mmHg以上时，",
        "1.73 m²校正后，",
        "2012年以来，",
        "3次/日，",
        "15岁以后，",
        "100岁以后，",
        "26個月大時，",
        "65歲男性，",
    ],
)
def test_a_dose_a_date_or_a_decimal_at_a_line_start_is_text(parse, line):
    text = f"1. 某药的用法为\n{line}下列哪项正确\n{OPTIONS}\n2. 下列哪项错误\n{OPTIONS}"
    outcome = parse(text)
    assert numbers(outcome) == [(1, 1), (1, 2)]
    assert line.replace(" ", "")[:4] in outcome.questions[0].stem.replace(" ", "")


def test_a_list_inside_an_explanation_is_no_numbering(parse):
    text = "".join(
        f"{number}. 下列哪项正确\n{OPTIONS}\n答案：A\n解析：\n1. 因为如此\n2. 又因如此\n3. 所以如此\n"
        for number in range(1, 7)
    )
    outcome = parse(text)
    assert numbers(outcome) == [(1, number) for number in range(1, 7)]
    assert "所以如此" in outcome.questions[0].explanation


def test_numbering_that_restarts_under_a_head_makes_a_section(parse):
    text = f"一、A1型题\n{paper('1.', '2.')}\n二、A2型题\n{paper('1.', '2.')}"
    outcome = parse(text)
    assert numbers(outcome) == [(1, 1), (1, 2), (2, 1), (2, 2)]
    assert len({question.question_id for question in outcome.questions}) == 4


def test_numbering_that_runs_on_under_heads_stays_one_section(parse):
    text = f"一、A1型题\n{paper('1.', '2.')}\n二、A2型题\n{paper('3.', '4.')}"
    assert numbers(parse(text)) == [(1, 1), (1, 2), (1, 3), (1, 4)]


def test_a_list_of_instructions_before_the_questions_is_set_aside_not_mixed_in(parse):
    text = f"1. 在答题卡上填写准考证号\n2. 用2B铅笔填涂\n一、选择题\n{paper('1.', '2.', '3.')}"
    outcome = parse(text)
    assert [question.stem for question in outcome.questions] == ["下列哪项正确"] * 3
    assert {reject.reason for reject in outcome.rejects} <= {"instruction"}


def test_a_page_break_inside_a_question_does_not_cut_it(parse):
    outcome = parse("1. 下列哪\f项正确\nA. 甲\nB. 乙\fC. 丙\nD. 丁")
    (question,) = outcome.questions
    assert question.stem == "下列哪项正确"
    assert question.pages == [1, 2, 3]


def test_an_item_of_several_numbers_has_a_run_of_options_for_each(parse):
    text = (
        f"1. 甲乙\n{OPTIONS}\n2.3. 数据（ ）与信息（ ）\nA. 一 B. 二 C. 三 D. 四\n"
        f"A. 五 B. 六 C. 七 D. 八\n4. 丙丁\n{OPTIONS}"
    )
    outcome = parse(text)
    second, third = outcome.questions[1:3]
    assert [question.number for question in outcome.questions] == [1, 2, 3, 4]
    assert second.shared_stem == third.shared_stem == "数据（ ）与信息（ ）"
    assert second.group_id == third.group_id is not None
    assert third.options[0].text == "五"


def test_a_stem_before_its_number_is_found_by_the_blank_that_names_it(parse):
    text = "\n".join(f"●第{n}个概念是（{n}）。\n（{n}）A.甲{n}\tB.乙\tC.丙\tD.丁" for n in range(1, 5))
    outcome = parse(text)
    assert [question.stem for question in outcome.questions] == [f"第{n}个概念是（{n}）。" for n in range(1, 5)]
    assert outcome.questions[2].options[0].text == "甲3"


@pytest.mark.parametrize("number", ["1. ", "87. ", "1 "])
@pytest.mark.parametrize("statement", ["①②③④", "1.|2.|3.|4."])
def test_statements_of_a_single_item_are_no_questions_when_its_options_are_their_codes(parse, number, statement):
    if statement.startswith("1.") and number == "1 ":
        pytest.skip("two lists of one habit")
    labels = statement.split("|") if "|" in statement else list(statement)
    stem = "".join(f"{label}症状\n" for label in labels)
    codes = ("①②", "①③", "②④") if labels[0] == "①" else ("1、2", "1、3", "2、4")
    options = "\n".join(f"{letter}. {code}" for letter, code in zip("ABC", codes, strict=True))
    outcome = parse(f"{number}关于肺炎的叙述，正确的是\n{stem}{options}")
    assert numbers(outcome) == [(1, int(number.strip(" .")))]
    assert outcome.rejects == outcome.review == []


def test_items_before_one_whose_options_are_numbers_are_no_statements(parse):
    essays = "".join(f"{number}. 试述肺炎的病因\n" for number in (1, 2, 3))
    outcome = parse(f"{essays}4. 正常心率为\nA. 60\tB. 120\tC. 240\tD. 480")
    assert numbers(outcome)[-1] == (1, 4)
    assert {item.item_id.split("-")[-1] for item in outcome.rejects} == {"001", "002", "003"}


@pytest.mark.parametrize("start", [1, 45, 301])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_papers_of_few_questions_begin_anywhere(parse, start, size):
    outcome = parse(paper(*(f"{number}. " for number in range(start, start + size))))
    assert numbers(outcome) == [(1, number) for number in range(start, start + size)]


def test_the_end_of_one_option_in_a_short_paper_is_no_answer(parse):
    whole = paper("1. ", "2. ")
    outcome = parse(f"{whole}\n3. 下列哪项正确\nA. 甲\nB. 乙\nC. 丙\nD. 维生素\nC")
    assert outcome.questions[-1].options[-1].text == "维生素C"
    assert outcome.questions[-1].answer is None


def stray(then):
    """Items 1–12, then stray numbers 2–14, then twelve from the one that is told."""
    more = (*range(2, 15), *range(then, then + 12))
    return items(*range(1, 13)) + "".join(
        f"\n{number}. 另有一问，其中不符的是{place}号\n{OPTIONS}" for place, number in enumerate(more)
    )


def test_a_numbering_that_goes_on_as_if_stray_numbers_had_been_its_own_lacks_none(parse):
    assert told(parse(stray(26))) == [f"{number}-" for number in (*range(1, 13), *range(2, 15), *range(26, 38))]
    assert "? missing_number" in told(parse(stray(28)))


def plain_items(count, explanation="解析：见教材。"):
    return "\n".join(
        f"没有编号的第{at}项对的是\n{FOUR}\n正确答案：{'ABCD'[at % 4]}\n{explanation}" for at in range(count)
    )


def test_items_without_numbers_are_read_where_one_line_alone_stands_between_them(parse):
    outcome = parse(plain_items(5))
    assert told(outcome) == ["1A", "2B", "3C", "4D", "5A"]
    assert outcome.questions[1].stem == "没有编号的第1项对的是"
    assert outcome.questions[1].explanation == "见教材。"


def test_items_without_numbers_wait_with_the_one_above_where_their_stem_has_more_lines(parse):
    outcome = parse(f"{plain_items(12)}\n题干的第一行，\n第二行对的是\n{FOUR}\n正确答案：A")
    assert len(outcome.questions) == 11
    assert [one.reason for one in outcome.review] == ["answers_disagree"]
    assert not parse(plain_items(5, "解析：见教材。\n第二行")).questions


def test_answers_in_blanks_may_be_the_habit_of_one_section(parse):
    blanks = "\n".join(f"{at}. 换一问，{at}号中不符的是（{'ABCD'[at % 4]}）\n{OPTIONS}" for at in range(1, 11))
    marked = "\n".join(f"{at}. 第{at}项对的是\n{FOUR}\n答案：A" for at in range(1, 31))
    found = told(parse(f"一、单选题\n{marked}\n二、单选题\n{blanks}"))
    assert found[30:] == [f"{at}{'ABCD'[at % 4]}" for at in range(1, 11)]
