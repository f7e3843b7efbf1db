"""Every item says why it was cut as it was, and every line of a paper stands in a trace."""

import pytest

from benchmarks.papers.check import lines_of, read_lines
from benchmarks.papers.layouts import LAYOUTS
from benchmarks.papers.render import render
from build_dataset.schemas.documents import Part, Trace


def places(trace: Trace) -> set[tuple[int, int]]:
    return {(span.page, order) for span in trace.spans for order in range(span.first, span.last + 1)}


def test_every_line_stands_in_a_trace():
    for name, paper in LAYOUTS.items():
        lines = lines_of(render(paper).pages, "exam.pdf")
        traces = read_lines(lines).traces
        traced = set().union(*map(places, traces))
        assert traced == {(line.page, line.order) for line in lines}, name


def test_an_item_names_its_number_options_and_answer(parse):
    outcome = parse("一、单选题\n7. 首选\nA. 甲\nB. 乙\n答案：B\n解析：因为乙。")
    trace = next(trace for trace in outcome.traces if trace.item_id == outcome.questions[0].question_id)
    rules = {(step.part, step.rule): step for step in trace.steps}
    assert rules[Part.NUMBER, "dot"].detail == "7."
    assert rules[Part.HEAD, "single"].detail == "一、单选题"
    assert (rules[Part.OPTIONS, "dotted"].spans[0].first, rules[Part.OPTIONS, "dotted"].spans[0].last) == (2, 3)
    assert rules[Part.ANSWER, "inline"].detail == "B"
    assert rules[Part.EXPLANATION, "mark"].spans[0].first == 5


def test_text_that_belongs_to_nothing_is_recorded(parse):
    outcome = parse("这一段文字不属于任何题目，也不是标题\n1. 首选\nA. 甲\nB. 乙\n答案：B")
    paper = next(trace for trace in outcome.traces if trace.item_id == "paper.pdf")
    assert [(step.part, step.rule) for step in paper.steps] == [(Part.LEFT_OVER, "before_first")]
    assert outcome.left_over == {"paper.pdf": 1}


def test_a_title_and_instructions_are_a_cover(parse):
    outcome = parse("2024年度模拟试卷\n考试时间120分钟\n1. 首选\nA. 甲\nB. 乙\n答案：B")
    paper = next(trace for trace in outcome.traces if trace.item_id == "paper.pdf")
    assert [step.part for step in paper.steps] == [Part.COVER]
    assert outcome.left_over == {}


def told(outcome) -> list[str]:
    return [item.reason for item in outcome.review]


QUESTIONS = "\n".join(f"{number}. 下列哪项正确\nA. 甲\tB. 乙\tC. 丙\tD. 丁" for number in (1, 2, 3))


@pytest.mark.parametrize("before", ["A. 甲\nB. 乙\nC. 丙\nD. 丁", "一、单项选择题\nA. 甲\nB. 乙\nC. 丙\nD. 丁"])
def test_options_that_belong_to_no_item_wait_for_a_person(parse, before):
    assert "text_left_over" in told(parse(f"{before}\n{QUESTIONS}"))


@pytest.mark.parametrize(
    "before",
    [
        "二〇二四年度模拟考试\n注意事项：请将答案填涂在答题卡上。\n本试卷共3题。",
        "一、单项选择题（共3题）\n以下每题有A、B、C、D四个备选答案，请选出最佳的一个。",
        "一、B1型题\nA. 甲\nB. 乙\nC. 丙\nD. 丁",
        "考生须知\n例题：中国的首都是（ ）\nA. 北京\nB. 上海\nC. 广州\nD. 天津",
    ],
)
def test_covers_instructions_and_shared_options_are_no_questions(parse, before):
    assert "text_left_over" not in told(parse(f"{before}\n{QUESTIONS}"))
