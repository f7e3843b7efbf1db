"""Papers that print answers, cases, notes and pages in odd places: no question with another's part is kept."""

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from tests.pipeline.parse.conftest import document_of, lines_of
from tests.pipeline.parse.short import FOUR, items, told

LETTERS = st.lists(st.sampled_from("ABCD"), min_size=3, max_size=9)
LONG = st.lists(st.sampled_from("ABCD"), min_size=7, max_size=9)
THREE = "A. 心\nB. 肝\nC. 脾"
TOPICS = (
    "心率的范围",
    "尿量的多少",
    "血糖何时升高",
    "胆汁的去处",
    "神经损伤的表现",
    "骨折如何固定",
    "疫苗的剂量",
    "发热的原因",
    "肝的大小",
)


def outcome(text: str) -> list[str]:
    paper = read_paper("paper.pdf", lines_of(text))
    check_gates(paper)
    return told(finish(paper, document_of()))


def kept(text: str) -> list[str]:
    """The questions that may be released; without an answer none is."""
    return [one for one in outcome(text) if one[0] not in "-?" and not one.endswith("-")]


@settings(max_examples=15, deadline=None)
@given(LETTERS)
def test_answers_before_their_questions_go_to_none(letters: list[str]) -> None:
    assert not kept("\n".join(f"答案：{letter}\n{items(at)}" for at, letter in enumerate(letters, 1)))


@settings(max_examples=15, deadline=None)
@given(LETTERS, st.data())
def test_an_explanation_that_holds_the_next_answers_waits(letters: list[str], data: st.DataObject) -> None:
    glued = data.draw(st.integers(1, len(letters) - 1))
    rows = [f"{at}. {letter} 因为如此。" for at, letter in enumerate(letters, 1)]
    key = "\n".join([*rows[: glued - 1], f"{rows[glued - 1]} {rows[glued]}", *rows[glued + 1 :]])
    found = kept(f"{items(*range(1, len(letters) + 1))}\n参考答案\n{key}")
    assert not {one for one in found if one[:-1] in (str(glued), str(glued + 1))}


@pytest.mark.parametrize("printed", ["内科学真题", "2"])
@pytest.mark.parametrize("at_end", [True, False])
def test_what_a_page_prints_once_inside_a_question_stops_it(printed: str, at_end: bool) -> None:
    edge = f"{printed}\f" if at_end else f"\f{printed}\n"
    paper = f"1. 甲\nA. 心\nB. 大{edge if not at_end else chr(10) + edge}肠\nC. 脾\nD. 肺\n{items(2)}\n答案\n1.A 2.B"
    assert kept(paper) == ["2B"]


@pytest.mark.parametrize("key", ["答案：A", "参考答案\n1. （1）A（2）C"])
def test_parts_below_a_number_that_was_not_taken_wait(key: str) -> None:
    parts = "".join(f"（{number}）首先考虑的是\n{THREE}\n" for number in (1, 2))
    assert not kept(f"1. 患者男，45岁，发热。\n{parts}{key}")


@pytest.mark.parametrize("note", ["更正：2.D", "【勘误】第2题答案应为D", "订正 2 选 D"])
def test_a_correction_that_is_not_understood_keeps_its_question_back(note: str) -> None:
    assert kept(f"{items(1, 2, 3)}\n答案\n1.A 2.C 3.B\n{note}") == ["1A", "3B"]


@pytest.mark.parametrize("said", ["考生作答：B\n标准答案：C", "你选择了：B  正确选项：C"])
def test_what_a_candidate_chose_is_no_stem(said: str) -> None:
    assert not kept(f"1. 甲\n{FOUR}\n{said}\n2. 乙\n{FOUR}\n{said}")


def test_letters_for_some_of_the_questions_above_are_no_answer_of_the_last() -> None:
    assert not {one for one in kept(f"{items(1, 2, 3, 4)}\n答案\nACD") if one.startswith("4")}


def test_options_before_the_first_question_may_be_shared_by_all() -> None:
    paper = f"{THREE}\n1. 甲\n2. 乙\nA. 肺\nB. 肾\nC. 胆\n3. 丙\n4. 丁\n答案 1.A 2.C 3.A 4.C"
    assert not kept(paper)


@pytest.mark.parametrize("patient", ["女，20岁，停经40天。", "男孩，3岁，发热。", "患者，男，70岁。"])
def test_a_short_case_behind_the_last_option_stops_the_question_and_those_on_the_case(patient: str) -> None:
    after = f"2. 考虑\n{THREE}\n3. 检查\n{THREE}\n4. 男，30岁，咳嗽。首先考虑\n{THREE}"
    assert kept(f"1. 甲\n{THREE}\n{patient}\n{after}\n答案 1.A 2.C 3.A 4.B") == ["4B"]


@pytest.mark.parametrize("before", ["", "某某医院考试\n", "一、病例题\n"])
def test_questions_under_a_case_that_no_head_announces_wait(before: str) -> None:
    asked = f"1. 考虑\n{THREE}\n2. 检查\n{THREE}\n二、单选题\n3. 关于心的是\n{THREE}"
    assert kept(f"{before}男，45岁，腹痛3天。\n{asked}\n答案 1.A 2.B 3.C") == ["3C"]


def test_the_answers_of_all_questions_under_the_last_are_not_its_answer() -> None:
    asked = "\n".join(f"{at}. 关于第{at}项的是\n{FOUR}" for at in (1, 3, 4))
    assert not [one for one in kept(f"{asked}\n参考答案：ABCD") if "-" not in one]


@given(
    count=st.integers(2, 6),
    letters=st.lists(st.sampled_from("ABCD"), min_size=2, max_size=9).filter(lambda row: len({*row}) > 1),
    head=st.sampled_from(["答案：", "答案\n", "参考答案 ", "参考答案：\n", "【答案】", "标准答案："]),
    sign=st.sampled_from([" ", "  ", "\t", "、", ",", "，", "；"]),
)
@settings(max_examples=60)
def test_a_row_of_letters_without_numbers_is_no_answer_of_the_last_question(
    count: int, letters: list[str], head: str, sign: str
) -> None:
    asked = "\n".join(f"{at}. 关于{TOPICS[at]}的是\n{FOUR}" for at in range(1, count + 1))
    assert kept(f"{asked}\n{head}{sign.join(letters)}") == []


@pytest.mark.parametrize("behind", ["A、B均不是", "A、B不对", "B"])
def test_letters_behind_an_answer_that_explain_it_or_repeat_it_are_no_others(behind: str) -> None:
    assert kept(f"1. 关于心的是\n{FOUR}\n答案：B {behind}\n2. 关于肝的是\n{FOUR}\n答案：C") == ["1B", "2C"]


@pytest.mark.parametrize("key", ["参考答案 ABDCA BCDAB", "参考答案ABCD ACD"])
def test_a_key_that_the_last_option_runs_into_is_no_part_of_it(key: str) -> None:
    asked = "\n".join(f"{at}. 关于{at}的是 A. 胸 B. 腹 C. 盆 D. 颅" for at in range(1, 4))
    assert [one for one in outcome(f"{asked}\n{key}") if "3" in one] == ["?3 text_left_over"]


def test_a_key_behind_options_with_small_labels_is_no_part_of_the_last() -> None:
    asked = "\n".join(f"{at}. 关于{at}的是\na. 胸 b. 腹 c. 盆 d. 颅" for at in (1, 2))
    assert outcome(f"{asked}\n答案 1.a 2.b") == ["1-", "?2 text_left_over"]


@pytest.mark.parametrize(
    "case", ["甲地有多人腹痛3天，伴发热。", "某厂连续三年有多人发热。", "资料：某地1990年的患病率为3%。"]
)
@pytest.mark.parametrize(
    "head", ["（2～3题共用题干）", "(2-3题共用题干)", "依此回答第2题至第3题", "根据以上资料回答2～3题"]
)
def test_questions_under_a_head_whose_case_stands_above_it_wait(case: str, head: str) -> None:
    asked = f"1. 关于心的是\n{FOUR}\n{case}\n{head}\n2. 首先考虑\n{FOUR}\n3. 首选的检查是\n{FOUR}"
    assert kept(f"{asked}\n答案 1.A 2.B 3.C") == []


@pytest.mark.parametrize("answer", ["A（B也可）", "A，B亦可", "A（或B）", "A/B"])
def test_an_answer_beside_which_another_earns_the_mark_waits(answer: str) -> None:
    assert kept(f"1. 关于心的是\n{FOUR}\n答案：{answer}\n2. 关于肝的是\n{FOUR}\n答案：B") == ["2B"]


@pytest.mark.parametrize(("before", "after"), [("", " √"), ("√", ""), ("*", ""), ("", "★"), ("★", "")])
def test_a_mark_at_the_right_option_is_no_part_of_a_text(before: str, after: str) -> None:
    plain, marked = (
        f"{{}}. 关于心的是\nA. 心\n{option}\nC. 脾\nD. 肺" for option in ("B. 肝", f"{before}B. 肝{after}")
    )
    key = "答案\n1.B 2.B 3.B 4.B"
    habit = "\n".join(marked.format(at) for at in (1, 2, 3, 4))
    assert kept(f"{habit}\n{key}") == ["1B", "2B", "3B", "4B"]
    assert kept(f"{habit}\n{key.replace('2.B', '2.C')}") == ["1B", "3B", "4B"]
    once = "\n".join([marked.format(1), *map(plain.format, (2, 3, 4))])
    assert kept(f"{once}\n{key}") == ["2B", "3B", "4B"]


def test_a_starred_label_of_another_form_is_no_part_of_a_text() -> None:
    assert not kept("1) 关于心的是\na) 心\n*b) 肝\nc) 脾\nd) 肺\n答案\n1.B")


@settings(max_examples=15, deadline=None)
@given(LETTERS, st.data(), st.sampled_from(["（除外）", "第二套", "内科学模拟卷", "本套题共九题"]))
def test_a_line_under_the_last_option_that_does_not_go_on_from_it_stops_the_question(
    letters: list[str], data: st.DataObject, line: str
) -> None:
    at = data.draw(st.integers(1, len(letters)))
    asked = [f"{items(number)}\n{line}" if number == at else items(number) for number in range(1, len(letters) + 1)]
    key = " ".join(f"{number}.{letter}" for number, letter in enumerate(letters, 1))
    found = kept("\n".join([*asked, "参考答案", key]))
    assert found == [f"{number}{letter}" for number, letter in enumerate(letters, 1) if number != at]


@settings(max_examples=15, deadline=None)
@given(
    st.lists(LONG, min_size=2, max_size=4), st.randoms(use_true_random=False), st.sampled_from(["第{}套", "模拟试卷{}"])
)
def test_keys_of_several_papers_go_to_the_paper_that_their_heads_count(
    papers: list[list[str]], random: Random, head: str
) -> None:
    names = [head.format(numeral) for numeral in "一二三四"[: len(papers)]]
    asked = [
        "\n".join([name, *(f"{at}. {topic}在{name}中指的是\n{FOUR}" for at, topic in enumerate(TOPICS[: len(key)], 1))])
        for name, key in zip(names, papers, strict=True)
    ]
    rows = [" ".join(f"{at}.{letter}" for at, letter in enumerate(key, 1)) for key in papers]
    keys = [f"{name}答案\n{row}" for name, row in zip(names, rows, strict=True)]
    random.shuffle(keys)
    # The title of the next paper stands under the last option of each but the last.
    sure = [key[:-1] for key in papers[:-1]] + [papers[-1]]
    right = [f"{at}{letter}" for key in sure for at, letter in enumerate(key, 1)]
    assert kept("\n".join([*asked, *keys])) == right


@settings(max_examples=15, deadline=None)
@given(LETTERS, st.data(), st.booleans())
def test_a_key_that_counts_on_where_a_number_comes_twice_or_not_at_all_answers_none_behind_it(
    letters: list[str], data: st.DataObject, twice: bool
) -> None:
    at = data.draw(st.integers(2, len(letters) - 1))
    numbers = [number - 1 if twice and number > at else number for number in range(1, len(letters) + 1)]
    numbers = numbers if twice else [number + (number > at) for number in numbers]
    key = " ".join(f"{number}.{letter}" for number, letter in enumerate(letters, 1))
    found = kept("\n".join([*(items(number) for number in numbers), "参考答案", key]))
    assert found == [f"{number}{letter}" for number, letter in enumerate(letters, 1) if number < at + (not twice)]


def test_parts_under_a_case_that_has_the_number_of_the_item_wait() -> None:
    parts = "".join(f"（{number}）首先考虑的是（ A ）\n{THREE}\n" for number in (1, 2))
    assert not kept(f"案例分析题\n1. 男，45岁，发热3天。\n{parts}2. 女，30岁，腹痛。\n{parts}")


@pytest.mark.parametrize(
    "line",
    [
        "版权所有 © 2020",
        "✂-----------------",
        "更多资料请关注公众号：某某",
        "加QQ群 12345678 获取",
        "关注公众号领取资料",
    ],
)
def test_what_a_site_prints_under_an_explanation_is_no_part_of_it(line: str) -> None:
    paper = read_paper("paper.pdf", lines_of(f"{items(1)}\n答案：A\n解析：因为如此。\n{line}\n{items(2)}\n答案：B"))
    check_gates(paper)
    assert [draft.explanation for draft in paper.questions] == ["因为如此。", None]


def test_the_rest_of_a_case_under_the_last_option_stops_the_questions_below() -> None:
    case = "（1～3题共用题干）\n男，45岁，发热3天。\n"
    hint = "提示：第3天出现皮疹。\n"
    paper = f"{case}{items(1, 2)}\n{hint}{items(3)}\n4. 另问心率\n{FOUR}\n答案 1.A 2.B 3.C 4.D"
    assert kept(paper) == ["1A", "4D"]


def test_a_label_at_the_beginning_of_an_option_stops_the_question() -> None:
    assert kept(f"1. 甲\nA. 心脏\nB. 肝脏\nB. 脾脏\nD. 肺脏\n{items(2)}\n答案 1.A 2.B") == ["2B"]


def test_answers_beyond_the_options_stop_all_questions_of_few_options() -> None:
    """The options C and D stand in a column of their own, behind the last question of a page."""
    asked = "\n".join(f"{at}. {topic}\nA. 甲\nB. 乙" for at, topic in enumerate(TOPICS, 1))
    assert not kept(f"{asked}\n答案\n1.A 2.C 3.B 4.D 5.A 6.C 7.B 8.D 9.A")


@pytest.mark.parametrize(
    ("titles", "heads", "right"),
    [
        (("练习一", "练习二", "练习三"), ("练习一答案", "练习三答案"), "AAAAAAA CCCCCCCC"),
        (("", "", ""), ("练习一答案", "练习三答案"), "AAAAAAAA CCCCCCCC"),
        (("", "", ""), ("第二套答案", "第四套答案"), ""),
        (("（B卷）", "（A卷）"), ("参考答案（A卷）", "参考答案（B卷）"), "BBBBBBB AAAAAAAA"),
    ],
)
def test_a_key_goes_to_the_section_of_its_title(titles: tuple[str, ...], heads: tuple[str, ...], right: str) -> None:
    """Every head holds eight times the letter of its paper."""
    letter = {"一": "A", "二": "B", "三": "C", "四": "D", "A": "A", "B": "B"}
    asked = [
        "\n".join([title, *(f"{at}. {part}组问{topic}\n{FOUR}" for at, topic in enumerate(TOPICS[:8], 1))])
        for part, title in enumerate(titles)
    ]
    keys = [
        f"{head}\n" + " ".join(f"{at}.{letter[next(sign for sign in head if sign in letter)]}" for at in range(1, 9))
        for head in heads
    ]
    found = [one[-1] for one in kept("\n".join([*asked, *keys]))]
    assert "".join(found) == right.replace(" ", "")


def test_a_key_whose_head_names_other_numbers_is_not_applied() -> None:
    rows = " ".join(f"{at}.A" for at in range(1, 6))
    assert not kept(f"{items(*range(1, 11))}\n答案（11～15题）\n{rows}")


@pytest.mark.parametrize("answer", ["B（甲）", "B.丙", "A\nC", "B（丁）\n因为如此"])
def test_an_answer_beside_which_the_text_of_another_option_stands_waits(answer: str) -> None:
    right = f"2. 关于肝的是\n{FOUR}\n答案：B（乙）\n3. 关于脾的是\n{FOUR}\n答案：B\n解析：（甲）不对"
    assert kept(f"1. 关于心的是\n{FOUR}\n答案：{answer}\n{right}")[0] == "2B"
