"""Every item says why it was cut as it was, and every line of a paper stands in a trace."""

from __future__ import annotations

from benchmarks.papers.check import lines_of, read_lines
from benchmarks.papers.layouts import LAYOUTS
from benchmarks.papers.render import render
from schemas.trace import Part, Trace


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
    assert (rules[Part.OPTIONS, "dotted"].spans[0].first, rules[Part.OPTIONS, "dotted"].spans[0].last) == (
        2,
        3,
    )
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
