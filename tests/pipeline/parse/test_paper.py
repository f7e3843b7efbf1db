"""Records of a paper: questions, items set aside, gaps, and the trace of every line."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.heads import GroupHead
from build_dataset.pipeline.parse.keys import Key, KeyEntry, KeyRun
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.outline import Block, Group, Outline, Role
from build_dataset.pipeline.parse.paper import (
    Gap,
    ParsedPaper,
    ParseOutcome,
    _titles,
    finish,
    left_over,
    trace_of_paper,
    waiting_item,
)
from build_dataset.schemas.documents import LineKind
from tests.pipeline.parse.short import DOCUMENT

HEAD = "abababab"


def line(text: str, order: int = 0, page: int = 1, **more: Any) -> ParsedLine:
    told = {"box": None, "confidence": None, "kind": LineKind.TEXT, "order": order, **more}
    return ParsedLine(text, page, **told)


def draft(number: int | None, order: int | None = None, **more: Any) -> Draft:
    pieces = [] if order is None else [line(f"{number}. 题", order)]
    told = {"stem": "首选的是", "section": 1, "options": [("A", "甲"), ("B", "乙")], "pieces": pieces, **more}
    return Draft(number, 0, block=told.pop("block", Block()), **told)


def paper_of(drafts: Sequence[Draft], pieces: Sequence[ParsedLine] = (), **more: Any) -> ParsedPaper:
    outline = more.pop("outline", Outline(roles=[Role.TEXT] * len(pieces)))
    return ParsedPaper("x.pdf", list(pieces), [], list(drafts), more.pop("key", Key()), None, "", outline, **more)


def test_questions_items_and_silent_ones_of_a_paper() -> None:
    drafts = [draft(1), draft(2, options=[]), draft(3, entry=True), draft(4, answer="A"), draft(5, accepted=["A"])]
    paper = paper_of([*drafts, draft(6, options=[], entry=True)])
    assert [one.number for one in paper.questions] == [1, 4, 5]
    assert [one.number for one in paper.items] == [1, 2, 4, 5]
    assert [one.number for one in paper.silent] == [1]


@pytest.mark.parametrize(
    ("answers", "drafts", "is_key"),
    [
        (0, [], False),
        (1, [], True),
        (2, [draft(1, options=[])], True),
        (2, [draft(1, options=[]), draft(2, options=[])], False),
        (2, [draft(1)], False),
        (2, [draft(1, entry=True)], True),
    ],
)
def test_a_paper_with_more_answers_than_items_and_no_question_is_a_key(
    answers: int, drafts: list[Draft], is_key: bool
) -> None:
    runs = [KeyRun({at: KeyEntry("A") for at in range(answers)})]
    assert paper_of(drafts, key=Key(runs)).is_key is is_key
    again = Key([KeyRun({1: KeyEntry("A")}), KeyRun({1: KeyEntry("A")})])
    assert paper_of([draft(1, options=[])], key=again).is_key


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["第二套", "题"], {1: 2}),
        (["第二套", "甲", "乙", "题"], {1: 2}),
        (["第二套", "甲", "乙", "丙", "题"], {1: 0}),
        (["第一套", "第二套", "题"], {1: 2}),
        (["A. 第二套", "题"], {1: 0}),
        (["题"], {1: 0}),
    ],
)
def test_the_title_of_a_section_stands_in_the_three_lines_above(texts: list[str], expected: object) -> None:
    pieces = [line(text, at) for at, text in enumerate(texts)]
    one = draft(1, len(texts) - 1)
    later = draft(2, None, pieces=[line("另", 90)])
    assert _titles(paper_of([one, later, draft(3)], pieces)) == expected


def test_titles_that_are_alike_count_nothing() -> None:
    pieces = [line(text, at) for at, text in enumerate(["第二套", "题", "第三套", "题", "第二套", "题"])]
    first, other, same = (draft(1, at, section=section) for section, at in ((1, 1), (2, 3), (3, 5)))
    assert _titles(paper_of([first, other], pieces)) == {1: 2, 2: 3}
    assert _titles(paper_of([first, same], pieces)) == {}
    shared = replace(other, shared_pieces=[pieces[1]])
    assert _titles(paper_of([shared], pieces)) == {2: 2}


def test_lines_of_no_item_are_left_over_unless_they_belong_to_a_form() -> None:
    preamble = [line("甲乙丙丁戊"), line("考试时间：120分钟", 1), line("标题", 2, centred=True)]
    preamble += [line("", 3, kind=LineKind.FIGURE), line("请填写在答题卡上", 4), line("2020年模拟试卷", 5)]
    own, other = line("病例", 6), line("备选", 7)
    outline = Outline(preamble=preamble, after_keys=[line("某段文字内容", 8), line("姓名", 9)])
    outline.groups = [Group(GroupHead(None, None, options=False, end=0), [own, other])]
    found = left_over(paper_of([draft(1, None, shared_pieces=[own])], outline=outline))
    assert {name: [one.order for one in pieces] for name, pieces in found.items()} == {
        "before_first": [0],
        "after_key": [8],
        "group_without_items": [7],
    }


def test_the_trace_of_a_paper_tells_of_every_line_that_is_part_of_no_item() -> None:
    letters = [Role.SECTION, Role.NUMBER, Role.HEADING, Role.GROUP, Role.KEY_HEAD, Role.ANSWERS, Role.TEXT]
    texts = ["一、单选题" + "，" * 50, "1. 题", "内科", "共用", "答" * 50, "1.A", "甲"]
    pieces = [line(text, at) for at, text in enumerate(texts)]
    outline = Outline(roles=letters, preamble=[line("标题", 20, centred=True)], instructions=[line("说", 21)])
    entry = draft(9, None, entry=True, pieces=[line("9. 解析", 22)])
    claimed = draft(1, None, pieces=[pieces[1]], shared_pieces=[pieces[3]])
    paper = paper_of([claimed, entry], pieces, outline=outline)
    paper.running = [line("", 30)]
    told = [
        (step.part.value, step.rule, step.detail, [(span.first, span.last) for span in step.spans])
        for step in trace_of_paper(paper).steps
    ]
    assert told == [
        ("head", "section", f"{texts[0][:40]} → single", [(0, 0)]),
        ("head", "heading", "内科 → unknown", [(2, 2)]),
        ("key", "key_head", "答" * 40, [(4, 4)]),
        ("key", "key_list", "1.A", [(5, 5)]),
        ("key", "key_entries", "9. 解析", [(22, 22)]),
        ("head", "instructions", "说", [(21, 21)]),
        ("cover", "before_first", "标题", [(20, 20)]),
        ("running", "running", None, [(30, 30)]),
    ]


def test_a_collision_of_ids_gets_letters_and_then_numbers() -> None:
    found = [question.question_id for question in finish(paper_of([draft(7) for _ in range(28)]), DOCUMENT).questions]
    name = f"{HEAD}-1-007"
    assert found[:3] + found[24:] == [name, f"{name}b", f"{name}c", f"{name}y", f"{name}z", f"{name}z25", f"{name}z26"]
    others = [draft(7), draft(7, suffix="a"), draft(7), draft(None, suffix="x")]
    assert [question.question_id for question in finish(paper_of(others), DOCUMENT).questions] == [
        f"{HEAD}-1-007", f"{HEAD}-1-007a", f"{HEAD}-1-007b", f"{HEAD}-1-00x",
    ]  # fmt: skip


def test_a_group_of_one_is_none_and_its_case_is_part_of_its_stem() -> None:
    one = draft(1, 0, group="g", shared_stem="男，45岁。")
    alone = draft(2, 1, group="h", shared_stem="女。", stem="")
    options = draft(3, 2, group="i", shared_stem="备选", shared_options=True)
    pair = [draft(at, at, group="j", shared_stem="儿。", stem="") for at in (4, 5)]
    drafts = [one, alone, options, *pair]
    found = finish(paper_of(drafts), DOCUMENT).questions
    assert [(each.stem, each.shared_stem, each.group_id) for each in found] == [
        ("男，45岁。\n首选的是", None, None),
        ("女。", None, None),
        ("首选的是", "备选", None),
        ("（4）", "儿。", f"{HEAD}-1-004-g"),
        ("（5）", "儿。", f"{HEAD}-1-004-g"),
    ]
    assert [each.question_type.value for each in found] == ["A1", "A1", "B1", "A3/A4", "A3/A4"]


def test_a_question_has_sorted_letters_pages_and_its_least_confidence() -> None:
    pieces = [line("1. 题", 3, 2, confidence=0.9), line("甲", 4, 2, confidence=0.7), line("乙", 0, 3)]
    one = draft(1, None, pieces=pieces, answer="BAB", accepted=["AB", "A"], explanation="因为", comment="易")
    (found,) = finish(paper_of([one]), DOCUMENT).questions
    assert (found.answer, found.accepted_answers, found.pages) == (["A", "B"], [["A", "B"], ["A"]], [2, 3])
    assert (found.confidence, found.explanation, found.comment) == (0.7, "因为", "易")
    (plain,) = finish(paper_of([draft(2, 0)]), DOCUMENT).questions
    assert (plain.answer, plain.accepted_answers, plain.confidence, plain.regions) == (None, None, None, None)
    assert [(option.label, option.text) for option in plain.options] == [("A", "甲"), ("B", "乙")]


def test_every_item_and_every_finding_has_one_record() -> None:
    aside = draft(2, 1, set_aside=("fill_in", "why"))
    doubtful = draft(3, 2, flags=[("no_answer", "first"), ("room_inside", "second")])
    paper = paper_of([draft(1, 0), aside, doubtful, draft(9, 8, entry=True)])
    paper.gaps = [Gap(1, 4, "why"), Gap(1, 3, "why"), Gap(1, 5, "end"), Gap(1, 6, "end"), Gap(1, 7, "end")]
    paper.mismatches = [("count_differs", "一、", "2 announced, 3 found"), ("key_not_read", "key", "none")]
    paper.outline.preamble = [line("甲乙丙丁戊", 20), line("甲乙丙丁戊", 21)]
    outcome, many = finish(paper, DOCUMENT), [f"{HEAD}-1-00{number}" for number in (5, 6, 7)]
    assert [one.question_id for one in outcome.questions] == [f"{HEAD}-1-001"]
    assert [(one.item_id, one.stage, one.reason, one.detail) for one in outcome.rejects] == [
        (f"{HEAD}-1-002", "parse", "fill_in", "why")
    ]
    assert [(one.item_id, one.question_ids, one.reason, one.detail) for one in outcome.review] == [
        (f"{HEAD}-1-003", [f"{HEAD}-1-003"], "no_answer", "no_answer: first; room_inside: second"),
        (f"{HEAD}-1-004", [f"{HEAD}-1-004"], "missing_number", "x.pdf: number 4 of section 1 was not found; why"),
        (f"{HEAD}-1-003b", [f"{HEAD}-1-003b"], "missing_number", "x.pdf: number 3 of section 1 was not found; why"),
        (f"{HEAD}-1-005", many, "missing_number", "x.pdf: number 5–7 of section 1 was not found; end"),
        (f"{HEAD}-head1", [], "count_differs", "x.pdf: 一、: 2 announced, 3 found"),
        (f"{HEAD}-head2", [], "key_not_read", "x.pdf: key: none"),
    ]
    assert [one.item_id for one in outcome.traces] == [*(f"{HEAD}-1-00{at}" for at in (1, 2, 3)), "x.pdf"]
    assert outcome.left_over == {"x.pdf": 2}
    assert finish(paper_of([]), DOCUMENT).left_over == {}


def test_outcomes_are_added_up() -> None:
    one = ParseOutcome(left_over={"a": 1}, notes=["x"], into=2, keys={"k": "p"})
    one.reject("i", "no_questions", "d", "item")
    other = ParseOutcome(left_over={"b": 2}, notes=["y"], into=3)
    other.review.append(waiting_item("w", "r", "d"))
    one.extend(other)
    assert (one.left_over, one.notes, one.into, one.keys) == ({"a": 1, "b": 2}, ["x", "y"], 5, {"k": "p"})
    assert [(row.item_id, row.item) for row in one.rejects] == [("i", "item")]
    assert [(row.item_id, row.question_ids, row.item) for row in one.review] == [("w", [], None)]
    assert Counter(map(type, one.questions)) == {}
