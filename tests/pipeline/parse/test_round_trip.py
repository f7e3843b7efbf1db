"""The property of the parser: what a paper prints, in whatever habits, is what is read."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.papers.check import WAITS, differences
from benchmarks.papers.content import sections
from benchmarks.papers.layouts import LAYOUTS
from benchmarks.papers.model import Kind, Paper, Style
from benchmarks.papers.render import KEYS, truths

NUMBERS = (
    "{}. ",
    "{}.",
    "{}、",
    "{}．",
    "（{}）",
    "({})",
    "第{}题 ",
    "第{}题：",
    "【{}】",
    "[{}]",
    "{} ",
    "{}）",
    "题{} ",
)
LABELS = ("{}. ", "{}.", "{}．", "{}、", "({})", "（{}）", "【{}】", "{c}", "{l}.", "{})", "{}:")
HEADS = (
    "{numeral}、{name}（本题共{count}题，每题1分）",
    "【{name}】",
    "{name}",
    "({numeral}){name}",
    "第{numeral}部分 {name}",
    "{numeral}、{name}：以下每题有若干备选答案，请选出最佳的（共{count}题）",
)
GROUP_HEADS = (
    "（{first}～{last}题共用{what}）",
    "({first}~{last}题共用{what})",
    "[{first}-{last}题共用{what}]",
    "{first}～{last}题共用{what}",
    "（第{first}至{last}题共用{what}）",
)
MARKS = (
    "答案：{}",
    "正确答案：{}",
    "【答案】{}",
    "答：{}",
    "参考答案：{}",
    "正确答案 {}",
    "[答案] {}",
    "答案:{}。",
)
EXPLAINED = ("解析：{}", "【解析】{}", "试题分析：{}", "[解析] {}", "【答案解析】{}")
KINDS = tuple(kind for kind in Kind if kind is not Kind.K)


@st.composite
def styles(draw):
    """Habits in every combination, but for those that leave two readings.

    A bare number after a letter in brackets may be an option's text; explanations that stand alone at the end, of an
    excerpt or with numbers in brackets, may be lists.
    """
    key = draw(st.sampled_from(KEYS))
    unclear = {"before": ("{} ",), "explained_at_end": ("（{}）", "({})", "{}）", "{} ")}.get(key, ())
    numbers = [number for number in NUMBERS if number not in unclear]
    start = 1 if key == "explained_at_end" else draw(st.sampled_from((1, 1, 1, 31, 81)))
    return Style(
        number=draw(st.sampled_from(numbers)),
        restart=start == 1 and draw(st.booleans()),
        start=start,
        head=draw(st.sampled_from(HEADS)),
        group_head=draw(st.sampled_from(GROUP_HEADS)),
        label=draw(st.sampled_from(LABELS)),
        layout=draw(st.sampled_from(("one", "two", "four", "inline", "double"))),
        key=key,
        mark=draw(st.sampled_from(MARKS)),
        explain=draw(st.sampled_from(EXPLAINED)),
        width=draw(st.integers(24, 60)),
        page_lines=draw(st.integers(6, 45)),
        running=draw(st.booleans()),
    )


@st.composite
def papers(draw):
    kinds = draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=3, unique=True))
    drawn = sections(
        draw(st.integers(0, 10_000)),
        tuple(kinds),
        draw(st.integers(3, 10)),
        draw(st.integers(4, 7)),
        explained=draw(st.booleans()),
    )
    paper = Paper(drawn, draw(styles()))
    if paper.style.key == "explained_at_end":  # a list of few explanations may be a list inside the last one
        explained = [item.explanation is not None for section in drawn for item in section.items]
        assume(explained[0] and sum(explained) > 0.6 * len(explained))
    return paper


@settings(max_examples=150, deadline=None)
@given(papers())
def test_what_is_printed_in_any_habit_is_read_and_hardly_anything_waits(paper):
    found = differences(paper)
    waiting = [line for line in found if line.startswith(WAITS)]
    assert [line for line in found if line not in waiting] == [], str(paper.style)
    assert len(waiting) <= max(1, 0.1 * len(truths(paper))), f"{waiting}, {paper.style}"


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_real_papers_are_read(name):
    assert differences(LAYOUTS[name]) == []
