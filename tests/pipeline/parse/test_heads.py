"""The beginning of a line: numbers in every style, heads, and how long each may be."""

import pytest

from build_dataset.pipeline.parse.heads import (
    announcement,
    case_end,
    group_head,
    is_case,
    is_heading,
    is_key_head,
    is_likely_key_head,
    is_section_head,
    may_be_key_head,
    number_candidate,
    numeral_value,
    opens_case,
    question_type,
    span_head,
    split_heads,
    stated_total,
    tells_of_patient,
)


def number(text):
    """Value, style, place of the rest, last number, and the answer before the number."""
    mark = number_candidate(7, text)
    return mark and (mark.value, mark.style.value, mark.end, mark.last, mark.given)


def group(head):
    return head and (head.first, head.last, head.options, head.end)


def longest(question, text, fill="甲"):
    """The length of the longest text that a question is answered with yes for, with more and more filling."""
    found = [len(text.format(fill * size)) for size in range(1, 80) if question(text.format(fill * size))]
    return max(found), min(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. 甲", (1, "dot", 3, 1, None)),
        ("12、甲", (12, "dot", 3, 12, None)),
        ("（3）甲", (3, "paren", 3, 3, None)),
        ("(12)甲", (12, "paren", 4, 12, None)),
        ("第5题 甲", (5, "title", 4, 5, None)),
        ("【6】甲", (6, "bracket", 3, 6, None)),
        ("③甲", (3, "circled", 1, 3, None)),
        (" ③ 甲", (3, "circled", 2, 3, None)),
        ("7 甲", (7, "bare", 2, 7, None)),
        ("1992. 年", (1992, "dot", 6, 1992, None)),
        ("5000. 甲", (5000, "dot", 6, 5000, None)),
        ("10000. 甲", None),
        ("0. 甲", None),
        ("2.3. 甲", (2, "dot", 5, 3, None)),
        ("18~21. 甲", (18, "dot", 7, 21, None)),
        ("18～18. 甲", None),
        ("第4-5题", (4, "title", 5, 5, None)),
        ("（C）1. 甲", (1, "dot", 6, 1, "C")),
        ("（ A、C ）2. 甲", (2, "dot", 10, 2, "AC")),
        ("B  3. 甲", (3, "dot", 6, 3, "B")),
        ("*4. 甲", (4, "dot", 4, 4, None)),
        ("l2. 甲", (12, "dot", 4, 12, None)),
        ("Q5. what", (5, "title", 4, 5, None)),
        ("题6 甲", (6, "title", 3, 6, None)),
        ("甲. 乙", None),
        ("1.5 mg", (1, "dot", 2, 1, None)),
        ("38.5℃", (38, "dot", 3, 38, None)),
        ("1.51岁男性", (1, "dot", 2, 1, None)),
        ("2,甲", (2, "dot", 2, 2, None)),
        ("（ ）8. 甲", (8, "dot", 6, 8, None)),
        ("2.4. 甲", (2, "dot", 2, 2, None)),
        ("3.2. 甲", (3, "dot", 2, 3, None)),
        ("18~27. 甲", (18, "dot", 7, 27, None)),
        ("18~28. 甲", None),
        ("第4-13题", (4, "title", 6, 13, None)),
        ("第4-14题", None),
        ("15-19在甲", (15, "dot", 5, 19, None)),
        ("15-20在甲", None),
        ("3-5岁", None),
        ("[1500]甲", (1500, "bracket", 6, 1500, None)),
        ("第1500题 甲", (1500, "title", 7, 1500, None)),
        ("（ABC）5. 甲", (5, "dot", 8, 5, "ABC")),
        ("*12. 甲", (12, "dot", 5, 12, None)),
        ("★ 7、甲", (7, "dot", 4, 7, None)),
        ("（ ）第3题", (3, "title", 6, 3, None)),
        ("No.3 甲", (3, "title", 5, 3, None)),
        ("单选题4 甲", (4, "title", 5, 4, None)),
        ("多选题5 甲", (5, "title", 5, 5, None)),
        ("判断题6 甲", (6, "title", 5, 6, None)),
        ("问题7 甲", (7, "title", 4, 7, None)),
        ("試題8 甲", (8, "title", 4, 8, None)),
        ("01. 甲", (1, "dot", 4, 1, None)),
    ],
)
def test_a_number_is_read_in_every_style(text, expected):
    assert number(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("一、", 1),
        ("九 ", 9),
        ("十、", 10),
        ("十一、", 11),
        ("二十、", 20),
        ("二十三、", 23),
        ("三十", 30),
        ("（三）", 3),
        ("试题四", 4),
        ("甲、", None),
        ("一", 1),
        ("二、甲", 2),
        ("十九、", 19),
        ("九十九、", 99),
        ("四十", 40),
        ("试题十二", 12),
        ("（十）", 10),
        ("(二)", 2),
        ("一二、", None),
        ("十二十、", None),
        ("三五十、", None),
        ("十", 10),
        ("二十", 20),
        ("十三", 13),
    ],
)
def test_the_number_of_a_numeral(text, expected):
    assert numeral_value(text) == expected


@pytest.mark.parametrize(
    ("question", "text", "fill", "expected"),
    [
        (is_section_head, "一、{}", "甲", (24, 3)),
        (is_heading, "{}", "甲", (20, 2)),
        (is_key_head, "{}参考答案", "甲", (40, 5)),
        (may_be_key_head, "答案（{}）", "甲", (60, 5)),
        (group_head, "共用题干{}", "甲", (24, 5)),
        (is_case, "男，45岁。{}", "痛", (85, 20)),
    ],
)
def test_how_long_a_head_may_be_and_how_short_a_case(question, text, fill, expected):
    assert longest(question, text, fill) == expected


@pytest.mark.parametrize(("last", "is_head"), [(3, False), (4, True), (33, True), (34, False)])
def test_a_group_has_at_most_thirty_one_questions(last, is_head):
    assert (group_head(f"（3～{last}题共用题干）") is not None) is is_head


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("（1～3题共用题干）患者", (1, 3, False, 10)),
        ("(4-6题共用备选答案)", (4, 6, True, 12)),
        ("案例一：男", (None, None, False, 4)),
        ("（12～12题共用题干）", None),
        ("共用题干", (None, None, False, 4)),
        ("共用备选答案", (None, None, True, 6)),
        ("甲药4～5题共用题干", None),
        ("[71-75]", None),
        ("（3～4题）", None),
        ("（1～2题共用题干）", (1, 2, False, 10)),
        ("1～3题共用题干 甲", (1, 3, False, 10)),
        ("（1～3题共用备选答案）甲", (1, 3, True, 12)),
        ("下列1～3题基于以下病例：甲", (1, 3, False, 13)),
        ("（共用题干 1～3题）", (1, 3, False, 11)),
        ("试题（1）～（3）", (1, 3, False, 9)),
        ("请依下列叙述回答第1题至第3题", (1, 3, False, 15)),
        ("Questions 1-3 refer", (1, 3, False, 19)),
        ("共享选项", (None, None, True, 4)),
        ("本题共用 甲甲甲甲甲甲甲甲甲甲", None),
        ("以下共用题干甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲", (None, None, False, 24)),
        ("以下共用题干甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲", None),
        ("共用", None),
        ("题干", None),
        ("（3～33题共用题干）", (3, 33, False, 11)),
        ("（3～34题共用题干）", None),
        ("（3～3题共用题干）", None),
        ("1～3题共用题干，根据（甲）乙", (1, 3, False, 14)),
        ("1～3题共用选项）：乙", (1, 3, True, 10)),
        (" 病例1：女", (None, None, False, 5)),
    ],
)
def test_a_head_of_a_shared_text_ends_with_its_words(text, expected):
    assert group(group_head(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("[71-75]", (71, 75, False, 7)), ("（3～4题）", (3, 4, False, 6)), ("共用题干", None)]
)
def test_a_line_of_numbers_alone_is_a_head(text, expected):
    assert group(span_head(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("…依此回答第4题至第5题", (4, 5, 1)),
        ("（第4～6题）", (4, 6, 0)),
        ("甲乙丙", None),
        ("甲。依此回答第4题至第5题：", (4, 5, 2)),
        ("甲（第4～6题）", (4, 6, 1)),
        ("甲（4～4题）", None),
        ("回答第5～4题", None),
        ("甲（第4～34题）", (4, 34, 1)),
        ("甲（第4～35题）", None),
    ],
)
def test_a_case_names_at_most_thirty_one_questions_at_its_end(text, expected):
    assert case_end(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("情況：一位60歲", (3, 3)), ("一位60歲男性", (None, 0)), ("甲乙丙", (None, None))]
)
def test_a_case_opens_with_a_word(text, expected):
    assert (opens_case(text, named=True), opens_case(text, named=False)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("一、单项选择题：1～40小题，每小题2分", ("single", None, (1, 40))),
        ("二、X型题（共5题）", ("X", 5, None)),
        ("三、判断题", ("true_false", None, None)),
        ("A3/A4型题", ("A3/A4", None, None)),
        ("四、多选题\n单选不得分", ("X", None, None)),
        ("填空题 共10题", ("fill_in", 10, None)),
        ("第一部分\n二、多选题", ("X", None, None)),
        ("B1型题", ("B1", None, None)),
        ("5～3题", (None, None, None)),
        ("1～2题", (None, None, (1, 2))),
        ("甲", (None, None, None)),
        ("一、单选题（1～2题）", ("single", None, (1, 2))),
        ("一、单选题（2～2题）", ("single", None, None)),
        ("一、单选题\n多选不得分", ("single", None, None)),
        ("甲\n单选题", ("single", None, None)),
        ("题数：30", (None, 30, None)),
        ("共5题 1-5题", (None, 5, (1, 5))),
        ("A2型题 A1型题", ("A2", None, None)),
    ],
)
def test_the_first_line_and_the_first_word_of_a_head_announce_its_kind(text, expected):
    assert (announcement(text).kind, announcement(text).count, announcement(text).span) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("題數：80題", 80), ("本科目共80題", 80), ("共5小题", None), ("甲", None)]
)
def test_the_number_of_questions_that_a_paper_states(text, expected):
    assert stated_total(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("立即手术二、X型题（共5题）", ["立即手术", "二、X型题（共5题）"]),
        ("甲（1～3题共用题干）乙", ["甲", "（1～3题共用题干）乙"]),
        ("甲乙", ["甲乙"]),
        ("氯化钠注射液4～5题共用题干", ["氯化钠注射液", "4～5题共用题干"]),
        ("甲二、X型题（共5题）（1～3题共用题干）", ["甲", "二、X型题（共5题）", "（1～3题共用题干）"]),
        ("（1～3题共用题干）甲", ["（1～3题共用题干）甲"]),
        ("甲（1～3题共用题干）乙（4～6题共用题干）丙", ["甲", "（1～3题共用题干）乙", "（4～6题共用题干）丙"]),
        ("甲 二、单选题", ["甲 二、单选题"]),
        ("二、X型题", ["二、X型题"]),
        ("甲[1-3题共享题干]", ["甲", "[1-3题共享题干]"]),
        ("甲（1～3题公用题干）", ["甲", "（1～3题公用题干）"]),
        ("第二、X型题", ["第二、X型题"]),
        ("甲（1～3题共用题干）乙二、X型题", ["甲", "（1～3题共用题干）乙", "二、X型题"]),
    ],
)
def test_every_head_behind_text_begins_a_part(text, expected):
    assert split_heads(text) == expected


@pytest.mark.parametrize(
    ("announced", "expected"),
    [
        ("X", ["X", "X", "X", "X", "X"]),
        ("A2", ["A2", "X", "A3/A4", "B1", "X"]),
        ("single", ["A1", "X", "A3/A4", "B1", "X"]),
        (None, ["A1", "X", "A3/A4", "B1", "X"]),
        ("B1", ["A1", "X", "A3/A4", "B1", "X"]),
        ("C", ["A1", "X", "A3/A4", "B1", "X"]),
    ],
)
def test_the_type_of_a_question(announced, expected):
    """For one answer, two, one on a case, one of shared options, and two with both."""
    forms = [("A", False, False), ("AB", False, False), ("A", True, False), ("A", False, True), ("AB", True, True)]
    assert [
        question_type(announced, "首选的是", answer, shared_case=case, shared_options=options).value
        for answer, case, options in forms
    ] == expected


@pytest.mark.parametrize(
    ("line", "expected"), [("女，20岁，停经40天", True), (" 患者，男，3岁", True), ("20岁", False), ("甲乙", False)]
)
def test_a_line_tells_of_a_patient(line, expected):
    assert tells_of_patient(line) == expected


def test_a_number_knows_its_line() -> None:
    assert [mark and mark.line for mark in map(number_candidate, (3, 4), ("①甲", "5. 甲"))] == [3, 4]


def test_a_year_and_a_quantity_are_less_likely_a_number_than_a_short_one_with_a_mark() -> None:
    likely = [mark.weight for text in ("38.5℃", "1992. 年", "7. 甲") if (mark := number_candidate(0, text))]
    assert likely == sorted({*likely})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Part I aaaaaaaaaaaaaaaaaaaa", True),
        ("part ii", True),
        ("Section 2 bbbbbbbbbb", True),
        ("一、甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲题", True),
        ("一、甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲共 5", True),
        ("一、甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲", False),
        ("第一部分 甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲甲", False),
        ("甲", False),
        ("1. 题", False),
    ],
)
def test_a_long_section_head_says_so(text: str, expected: bool) -> None:
    assert is_section_head(text) is expected


def test_an_english_section_head_may_be_long() -> None:
    assert is_section_head("PART II " + "a" * 50)
    assert is_section_head("section 3 " + "a" * 50)
    assert not is_section_head("PART II " + "a" * 70)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("甲乙", True),
        ("甲", False),
        ("甲a乙", False),
        ("甲乙。", False),
        ("甲乙：", False),
        (" 甲乙 ", True),
        ("甲乙！", False),
        ("甲乙、", True),
    ],
)
def test_a_heading_has_words_and_no_end_of_a_sentence(text: str, expected: bool) -> None:
    assert is_heading(text) is expected


@pytest.mark.parametrize(
    ("text", "own", "likely"),
    [
        ("参考答案", (True, True), True),
        ("参考答案：A", (False, False), False),
        ("答案与解析", (True, True), True),
        ("答案：A", (False, False), False),
        ("答案：", (True, True), True),
        ("习题答案", (False, True), True),
        ("【参考答案】", (False, True), True),
        ("答 案", (False, True), True),
        ("Answers", (False, True), True),
        ("answer key", (False, True), True),
        ("最佳答案", (False, False), False),
        ("正确答案", (False, False), False),
        ("以上答案", (False, False), False),
        ("甲", (False, False), False),
        ("以下答案解析速查表", (False, True), True),
    ],
)
def test_the_words_of_a_head_of_a_key(text: str, own: tuple[bool, bool], likely: bool) -> None:
    assert (is_key_head(text), may_be_key_head(text)) == own
    assert is_likely_key_head(text) is likely
