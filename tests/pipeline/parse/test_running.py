"""Text that a site or a form prints again and again leaves; phrases of questions that come again stay."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings, strategies as st

from benchmarks.papers.habits import random_paper
from benchmarks.papers.render import render
from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.running import is_title, without_running
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import Box, Line, LineKind
from tests.pipeline.parse.conftest import document_of, lines_of


def make(texts: list[str], *, a_page: int = 1000, width: float | None = None) -> list[Line]:
    """Lines of a document; with a width, each ends where its characters of 10 pt do."""
    lines = []
    for index, text in enumerate(texts):
        end = 50 + min(width or 0, 10 * len(text))
        box = None if width is None else Box(x0=50, y0=10 * index, x1=end, y1=10 * index + 10)
        place = {"page": index // a_page + 1, "order": index % a_page, "text": text, "box": box}
        lines.append(Line(document="d", confidence=None, column=0, kind=LineKind.TEXT, **place))
    return lines


def item(number: int, tail: str = "最可能的诊断是") -> list[str]:
    return [
        f"{number}．第{number}位患者因腹痛就诊，查体可见腹部压痛，{'化验正常，' * (number % 3)}",
        tail,
        f"A．胃炎{number}",
        f"B．肠炎{number}",
    ]


FEET = st.lists(
    st.sampled_from(["本站题目归某某网所有", "上一题", "返回目录", "下一题", "上一页\t目录\t下一页", "某某论坛 www"]),
    min_size=1,
    max_size=3,
    unique=True,
).filter(lambda feet: any(len(foot.replace("\t", "")) >= 4 for foot in feet))


@given(FEET, st.integers(4, 12), st.sampled_from([(9, 400.0), (25, 400.0), (1000, 400.0), (1000, None)]))
def test_a_foot_after_every_item_leaves_and_nothing_else(feet, count, form):
    a_page, width = form
    items = [item(number) for number in range(1, count + 1)]
    with_feet = make([line for one in items for line in (*one, *feet)], a_page=a_page, width=width)
    kept = [line.text for line in without_running(with_feet)]
    assert kept == [line for one in items for line in one]


def test_a_foot_of_every_page_in_the_middle_of_an_item_leaves():
    texts = [line for number in range(1, 13) for line in item(number)]
    texts = [line for index, text in enumerate(texts) for line in ([text] if index % 7 else [text, "某某题库整理发布"])]
    kept = [line.text for line in without_running(make(texts, a_page=8))]
    assert "某某题库整理发布" not in kept


@pytest.mark.parametrize(
    "phrase",
    ["最可能的诊断是", "以下何者正确？", "【问题1】", "参考答案：略", "A型题", "1. 甲", "题号 一 二", "综合征。"],
)
def test_phrases_of_questions_stay_however_often_they_come(phrase):
    texts = [line for number in range(1, 13) for line in item(number, phrase)]
    kept = [line.text for line in without_running(make(texts))]
    assert kept.count(phrase) == 12


def test_the_rest_of_a_full_line_stays():
    texts = []
    for number in range(1, 10):
        stem = f"{number}．第{number}位患者的情形如下列各选项所述者为"
        texts += [stem, f"A．胃炎{number}", f"B．{'因' * 32}导致的", "急性呼吸综合征"]
    kept = [line.text for line in without_running(make(texts, width=340))]
    assert kept.count("急性呼吸综合征") == 9


@pytest.mark.parametrize("line", ["试卷第2页", "试卷第2页，共8页", "生物试题 第 2 页（共 6 页）", "- 3 -", "第2页"])
def test_a_line_that_numbers_the_page_leaves_wherever_it_stands(line):
    texts = [*item(1)[:3], line, *item(1)[3:]]
    assert [one.text for one in without_running(make(texts))] == item(1)


def test_a_sentence_about_pages_stays():
    text = "下列关于内存第2页共3页的说法"
    assert [line.text for line in without_running(make([text]))] == [text]


@pytest.mark.parametrize("label", ["A:", "a.", "(a)", "Ⓐ", "A "])
def test_lines_of_options_and_what_stands_before_them_stay_however_labelled(label):
    texts = [
        line for number in range(1, 9) for line in (f"{number}．第{number}位，最", "可能的诊断是", f"{label}青霉素")
    ]
    assert [line.text for line in without_running(make(texts))] == texts


@settings(max_examples=25, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(7, 25), st.booleans())
def test_a_running_line_anywhere_in_a_text_without_pages_is_in_no_question(random, every, two):
    """Lines of a running head, in three spellings, every so many lines of a paper as plain text; or two lines."""
    paper = replace_style(random_paper(random))
    printed = [line for page in render(paper).pages for line in page]
    running = [
        "某省技能等级认定（C3类）第6批题库",
        "某省技能等级认定（C3 类）第6批题库",
        "某省技能等级认定（C类）第6批题库",
    ]
    texts = list(printed)
    for place in range(len(printed) - every, 0, -every):
        texts[place:place] = [running[place % 3], *(["本资料由某某学习网免费提供下载"] if two else [])]
    outcome = parsed(texts)
    if len(texts) - len(printed) < 12 * (1 + two):
        return
    held = [one for one in outcome.questions if re.search("技能等级|学习网", one.model_dump_json())]
    assert held == []
    assert len(outcome.questions) >= 0.95 * len(parsed(printed).questions)


def replace_style(paper):
    return replace(paper, style=replace(paper.style, running=False, page_lines=10**6))


def parsed(texts):
    paper = read_paper("x.txt", lines_of("\n".join(texts)))
    check_gates(paper)
    return finish(paper, document_of("x.txt"))


def test_a_running_line_glued_to_others_is_cut_off():
    texts = []
    for number in range(1, 9):
        texts += item(number, f"第{number}种说法里")
        texts[-1 - number % 4] += "某省技能等级认定第6批题库"
        texts.insert(len(texts) - number % 5, "某省技能等级认定第6批题库")
    kept = [line.text for line in without_running(make(texts))]
    assert not any("技能" in text for text in kept)


FOOT = "本站题目归某网所有"


def leaves(texts: list[str], foot: str = FOOT, **form: int) -> bool:
    return foot not in [line.text for line in without_running(make(texts, **form))]


def behind(count: int, items: int, foot: str = FOOT) -> list[str]:
    """Items, the first of which have a foot."""
    return [line for number in range(1, items + 1) for line in (*item(number), *[foot][: number <= count])]


@pytest.mark.parametrize(("items", "least"), [(12, 3), (40, 4), (50, 5)])
def test_a_foot_comes_three_times_and_with_a_tenth_of_the_items(items, least):
    assert [count for count in range(1, 8) if leaves(behind(count, items))] == [*range(least, 8)]


@given(
    pages=st.integers(6, 12),
    phrase=st.sampled_from(["最可能的诊断是", "该患者首选的检查是", "请选出最合适的一项"]),
    unit=st.sampled_from(["天", "", " mg"]),
)
def test_what_asks_once_on_every_page_stays_and_so_do_the_last_options(pages, phrase, unit):
    """One question a page, as in slides; numbers of last options may follow those of pages."""
    texts = []
    for page in range(1, pages + 1):
        stem = f"{page}．患者{20 + page}岁，突发腹痛{page}小时，查体可见肠型"
        texts += [stem, phrase, "A．甲", "B．乙", "C．丙", f"D．{page}{unit}"]
    assert [line.text for line in without_running(make(texts, a_page=6))] == texts


@pytest.mark.parametrize("count", range(11))
def test_a_short_line_leaves_where_it_stands_beside_a_foot_in_four_fifths_of_its_places(count):
    texts = []
    for number in range(1, 11):
        apart = [] if number <= count else [f"第{number}的别的行文字"]
        texts += [*item(number), FOOT, *apart, "下一"]
    assert leaves(texts, "下一") is (count >= 8)


def stamped(pages: int, at: int, name: str = "天天学医网", confidence: float | None = 0.9) -> list[tuple[int, int]]:
    """Page and place of the lines that keep a name which stands beside one line of each of the first pages."""
    places = [(page, order) for page in range(1, 5) for order in range(12)]
    beside = {place: f"\t{name}" for place in places if place[0] <= pages and place[1] == at}
    lines = make([f"第{page}页情形{order}的文字{beside.get((page, order), '')}" for page, order in places], a_page=12)
    kept = without_running([line.model_copy(update={"confidence": confidence}) for line in lines])
    return [(line.page, line.order) for line in kept if "\t" in line.text]


@pytest.mark.parametrize("at", range(12))
def test_a_name_is_stamped_beside_the_first_or_last_four_lines_of_a_page(at):
    assert (not stamped(4, at)) is (at < 4 or at >= 8)


@pytest.mark.parametrize("pages", [1, 2, 3, 4])
def test_a_stamp_stands_on_three_pages(pages):
    kept = [(page, 2) for page in range(1, pages + 1)] if pages < 3 else []
    assert stamped(pages, 2) == kept
    assert stamped(pages, 5, "www.site.com", None) == [(page, 5) for page, _ in kept]
    assert stamped(pages, 2, confidence=None) == [(page, 2) for page in range(1, pages + 1)]


NUMERALS = "一二三四五六七八九十甲乙"
TITLE = "内科学模拟试卷"


@pytest.mark.parametrize(
    ("line", "opens"),
    [
        ("1. 甲", True),
        ("1 甲", True),
        ("5. 甲", True),
        ("5，甲", True),
        ("（5）甲", True),
        ("5 甲", False),
        ("2000. 甲", False),
        ("甲", False),
    ],
)
def test_a_title_is_said_again_behind_the_line_that_opens_the_questions(line, opens):
    lines = make([TITLE, line, TITLE, *item(1)])
    later = [replace_page(one, one.page + 4) for one in lines]
    for found in (lines, later):
        assert [one.text for one in without_running(found)].count(TITLE) == (1 if opens else 2)


def replace_page(line: Line, page: int, kind: LineKind = LineKind.TEXT) -> Line:
    return line.model_copy(update={"page": page, "kind": kind})


def test_the_questions_are_open_on_the_second_page_and_not_in_a_figure():
    lines = make([TITLE, "甲", TITLE, "乙"])
    turned = [*lines[:2], *(replace_page(line, 2) for line in lines[2:])]
    drawn = make([TITLE, "1. 甲", TITLE, *item(1)])
    drawn[1] = replace_page(drawn[1], 1, LineKind.FIGURE)
    counts = [[one.text for one in without_running(found)].count(TITLE) for found in (lines, turned, drawn)]
    assert counts == [2, 1, 2]


@pytest.mark.parametrize(("times", "left"), [(1, 1), (2, 0), (3, 0)])
def test_a_title_at_the_edges_of_two_pages_leaves(times, left):
    texts = []
    for number in range(1, 5):
        texts += [*item(number), "综合测试题" if number <= times else f"第{NUMERALS[number]}段"]
    assert [line.text for line in without_running(make(texts, a_page=5))].count("综合测试题") == left


@pytest.mark.parametrize("misread", [1, 2])
def test_titles_at_the_edges_of_two_pages_may_differ_in_a_character(misread):
    feet = ["2017年下半年系统架构设计师考试试题 第1页", "2017年下半年系统架构设汁师考试试题 第2页"]
    texts = [line for number, foot in enumerate(feet[::misread][:2] * 2, 1) for line in (*item(number), foot)]
    assert [line.text for line in without_running(make(texts[:10], a_page=5))] == [*item(1), *item(2)]


@pytest.mark.parametrize("ordinals", ["一二", "上下", "AB", "甲乙"])
def test_titles_of_two_tests_of_a_collection_stay(ordinals):
    titles = [f"护士执业资格考试模拟试卷（{ordinal}）" for ordinal in ordinals]
    texts = [line for number, title in enumerate(titles, 1) for line in (*item(number), title)]
    assert [line.text for line in without_running(make(texts, a_page=5))] == texts


def test_the_first_title_stays_where_a_later_page_repeats_it_with_a_character_misread():
    head, again = "2017年下半年系统架构设计师考试试题", "2017年下半年系统架构设汁师考试试题"
    kept = [line.text for line in without_running(make([head, *item(1), again, *item(2)], a_page=5))]
    assert kept == [head, *item(1), *item(2)]


@given(st.integers(1000, 99999), st.integers(1, 20), st.sampled_from("：:"), st.booleans(), st.sampled_from("號号"))
def test_the_code_of_an_exam_at_the_head_of_a_later_page_leaves(number, page, colon, one_line, sign):
    """代號：1102 above 頁次：12－2: a page that was photographed alone repeats no other."""
    head = [f"代{sign}{colon}{number}", f"頁次{colon}{page}－{page}"]
    head = [" ".join(head)] if one_line else head
    texts = [f"類科{colon}醫師\t代號{colon}{number}", *item(1), *head, *item(2)]
    assert [line.text for line in without_running(make(texts, a_page=5))] == [texts[0], *item(1), *item(2)]


def test_the_code_of_an_exam_leaves_though_its_digits_were_read_as_raised():
    assert [line.text for line in without_running(make([*item(1), "代號：2¹0¹", *item(2)], a_page=4))] == [
        *item(1),
        *item(2),
    ]


@pytest.mark.parametrize("text", ["代號：甲", "代碼：12", "下列何者的代號：1102", "A. 代號：1102"])
def test_a_line_that_names_a_code_within_a_question_stays(text):
    texts = [*item(1)[:3], text, *item(1)[3:]]
    assert [line.text for line in without_running(make(texts))] == texts


def test_a_title_in_the_middle_of_later_pages_stays():
    texts = [line for number in range(1, 4) for line in (*item(number)[:2], "综合测试题", *item(number)[2:])]
    assert [line.text for line in without_running(make(texts, a_page=5))] == texts


def test_a_line_beside_a_short_one_beside_a_foot_leaves():
    texts = [line for number in range(1, 11) for line in (*item(number), FOOT, "下一", "回到")]
    assert [line.text for line in without_running(make(texts))] == [
        line for number in range(1, 11) for line in item(number)
    ]


@pytest.mark.parametrize("foot", ["以下何者正确？", "某某题库何者整理？", "AABBCCDD", "ABCD ABCD", "12. 某某题库整理"])
def test_what_asks_or_is_letters_or_has_a_number_is_no_foot(foot):
    assert not leaves(behind(6, 6, foot), foot)


@pytest.mark.parametrize(
    "line", ["【解析】2020年某某资格考试试题", "解析:2020年某某资格考试试题", "一、2020年某某资格考试试题"]
)
def test_an_explanation_or_a_head_is_no_title(line):
    assert is_title("2020年某某资格考试试题")
    assert not is_title(line)


@given(st.integers(5, 12))
def test_what_numbers_the_items_of_a_review_page_is_no_running_line(size):
    items = [
        f"What is part {at}?\nQuestion {at}\nSelect one:\n"
        + "\n".join(f"{label}.\n{label}{at}" for label in "abcd")
        + f"\nFeedback\nYour answer is correct.\nThe correct answer is: b{at}"
        for at in range(1, size + 1)
    ]
    kept = [line.text for line in without_running(make("\n".join(items).split("\n")))]
    assert [text for text in kept if text.startswith(("Question", "The correct", "What"))] == [
        text for item in items for text in item.split("\n") if text.startswith(("Question", "The correct", "What"))
    ]
