"""Gates: what is unlike a sound paper waits, and from which share or number on."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.folding import without_digits
from build_dataset.pipeline.parse.judge import CHECKS, count_mismatches, find_gaps, unread_keys, unread_questions
from build_dataset.pipeline.parse.keys import Key
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.outline import Block, Outline
from build_dataset.pipeline.parse.paper import Gap, ParsedPaper, finish
from build_dataset.pipeline.parse.paper_checks import ANSWERS, COMPARED, set_aside_without_options
from build_dataset.pipeline.parse.question_checks import STRUCTURE, under_options
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import Box, LineKind, Part
from tests.pipeline.parse.conftest import lines_of
from tests.pipeline.parse.short import DOCUMENT, FOUR, check, items


def check_questions(paper):
    set_aside_without_options(paper)
    check(paper, [*STRUCTURE, *ANSWERS], *(one.reason for one in STRUCTURE[:-1]), "no_options", "duplicate_number")
    check(paper, STRUCTURE, "several_answers")


def check_answers(paper):
    check(paper, ANSWERS, "answer_in_text", "several_answers", "no_answer")


def check_shifts(paper):
    check(paper, ANSWERS, "answers_disagree")


def judged(text):
    """Return waiting items (number or end of the id) with their gates, and the reasons to set items aside."""
    paper = read_paper("x.pdf", lines_of(text))
    check_gates(paper)
    outcome = finish(paper, DOCUMENT)
    waits = {
        name.partition("-")[2]: [one.reason, *re.findall(r"; ([a-z_]+): ", one.detail)]
        for one in outcome.review
        for name in one.question_ids or [one.item_id]
    }
    return waits, [one.reason for one in outcome.rejects]


def waiting(text, reason):
    """The ends of the ids that wait for a reason."""
    return [name for name, reasons in judged(text)[0].items() if reason in reasons]


MORE = "5 options, 4 elsewhere in the paper: '第戊种' stands behind those"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (items(1, 2, 2, 3), ({"1-002": ["duplicate_number"], "1-002b": ["duplicate_number"]}, [])),
        (f"1. 甲是\nA. 甲\nC. 丙\n{items(2, 3)}", ({"1-001": ["no_options"]}, [])),
        (f"1. 甲是\nA. 甲\nB.\nC. 丙\nD. 丁\n{items(2, 3)}", ({"1-001": ["empty_option"]}, [])),
        (f"1. \n{FOUR}\n{items(2, 3)}", ({"1-001": ["no_stem"]}, [])),
        (f"1. 甲是\n{FOUR}\n答案：F\n{items(2, 3)}", ({"1-001": ["answer_not_in_options"]}, [])),
        (f"1. 甲是\n{FOUR}\n答案：AA\n{items(2, 3)}", ({"1-001": ["answer_not_in_options"]}, [])),
        (f"一、单选题\n1. 甲是\n{FOUR}\n答案：AB\n{items(2, 3)}", ({"1-001": ["several_answers"]}, [])),
        (
            f"{items(1, 2, 3, 4, 5, 5, 6)}\n参考答案\n" + " ".join(f"{at}.A" for at in range(1, 9)),
            (
                {
                    "1-005": ["duplicate_number"],
                    "1-005b": ["duplicate_number"],
                    "1-006": ["answers_disagree"],
                    "1-007": ["missing_number"],
                    "1-008": ["missing_number"],
                },
                [],
            ),
        ),
        (
            f"{items(1, 2, 4, 5)}\n参考答案\n1.A 2.A 3.A 4.A",
            ({"1-004": ["answers_disagree"], "1-005": ["no_answer"], "1-003": ["missing_number"]}, []),
        ),
        (
            f"{items(1, 2, 3)}\n答案：ABC",
            ({"1-001": ["joint_answer"], "1-002": ["joint_answer"], "1-003": ["joint_answer", "several_answers"]}, []),
        ),
        (
            f"3. 首选的是（ ）\n4. 首选的是（ ）\n参考答案\n{items(1, 2)}",
            ({"head1": ["key_not_read"]}, ["no_options", "no_options"]),
        ),
        (items(2, 3, 4), ({"1-001": ["missing_number"]}, [])),
        (f"{items(1, 2, 4, 5)}\n6. 第6项是\n{FOUR}", ({"1-003": ["missing_number"]}, [])),
        (f"一、单选题（1～4题）\n{items(1, 2, 3)}", ({"1-004": ["missing_number"]}, [])),
        (f"本试卷共5题\n{items(1, 2, 3)}", ({"1-004": ["missing_number"], "1-005": ["missing_number"]}, [])),
        (
            f"（1～3题共用题干）\n男，45岁。上腹痛3天，伴黄疸，发热2天。\n{items(2, 3)}",
            ({"1-002": ["may_hold_another"], "1-003": ["may_hold_another"], "1-001": ["missing_number"]}, []),
        ),
        (f"参考答案\n无\n{items(1, 2)}", ({"head1": ["key_not_read"]}, [])),
        (f"{items(1, 2)}\n参考答案\n3. 首选的是（ ）\n乙", ({"head1": ["key_not_read"]}, [])),
        (f"{items(1, 2)}\n某某行\n续行二\n{items(3)}", ({"1-002": ["text_left_over"]}, [])),
        (f"1. 甲是\nA. 甲\nB. 乙\nC. 丙\nD. 丁很长的一个选项一直写到这里\n第二套\n{items(2, 3)}", ({}, [])),
    ],
)
def test_gates_of_a_question_and_of_a_paper(text, expected):
    assert judged(text) == expected


HEAD = Block()
SIGNS = "甲乙丙丁戊己庚辛"


def line(text: str, end: float | None = None, order: int = 0, kind: LineKind = LineKind.TEXT) -> ParsedLine:
    box = None if end is None else Box(x0=0.0, y0=15.0 * order, x1=end, y1=15.0 * order + 10)
    return ParsedLine(text, 1, box, None, kind, order=order)


def drawn(*texts: str) -> list[ParsedLine]:
    return [line(text, order=order) for order, text in enumerate(texts)]


def draft(number: int | None, count: int = 4, block: Block = HEAD, **more: Any) -> Draft:
    options = [(chr(65 + at), f"第{SIGNS[at]}种") for at in range(count)]
    told = {"pieces": [], "stem": "首选的是", "section": 1, "options": options, **more}
    return Draft(number, 0, block=block, **told)


def key_step(*drafts: Draft) -> list[Draft]:
    for one in drafts:
        one.add_trace(Part.ANSWER, "key_list")
    return list(drafts)


def paper_of(drafts: Sequence[Draft], outline: Outline | None = None, **more: Any) -> ParsedPaper:
    count = more.pop("count", None)
    return ParsedPaper("x.pdf", [], [], list(drafts), Key(), count, "", outline or Outline(), **more)


def reasons(drafts: Sequence[Draft]) -> list[list[str]]:
    return [[reason for reason, _ in one.flags] for one in drafts]


def compared(own: Sequence[Draft], widest: int = 0) -> list[list[tuple[str, str]]]:
    check(replace(paper_of(own), pieces=drawn("甲" * widest)), COMPARED)
    return [one.flags for one in own]


@pytest.mark.parametrize(
    ("counts", "flagged"),
    [
        ([4, 4, 4, 0, 0, 0, 0], True),
        ([4, 4, 0, 0, 0], False),
        ([4, 4, 0, 0], True),
        ([4, 0], True),
        ([4, 0, 0], False),
        ([0], False),
    ],
)
def test_items_without_options_wait_or_are_set_aside(counts: list[int], flagged: bool) -> None:
    drafts = [draft(at, count) for at, count in enumerate(counts, 1)]
    check_questions(paper_of([*drafts, draft(1, section=2), draft(2, 4, section=2, entry=True)]))
    odd = ("no_options", "no options here, nor at any item of this section")
    told = [("no_options", "no run of options was found")]
    assert [one.set_aside for one in drafts] == [None if count or flagged else odd for count in counts]
    assert [one.flags for one in drafts] == [[] if count or not flagged else told for count in counts]


def test_an_item_that_is_set_aside_is_checked_for_its_number_alone() -> None:
    drafts = [draft(1, 1, set_aside=("fill_in", "")), draft(1), draft(1, suffix="a"), draft(1, section=2)]
    drafts += [draft(None), draft(None), draft(2), draft(2, entry=True)]
    check_questions(paper_of(drafts))
    twice = [("duplicate_number", "number 1 stands twice")]
    assert [one.flags for one in drafts] == [twice, twice, [], [], [], [], [], []]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([("A", "甲")], [("options_not_contiguous", "labels A")]),
        ([("A", "甲"), ("B", "乙")], []),
        ([("A", "甲"), ("C", "丙")], [("options_not_contiguous", "labels A C")]),
        ([("B", "乙"), ("C", "丙")], [("options_not_contiguous", "labels B C")]),
        ([("A", ""), ("B", "乙"), ("C", "")], [("empty_option", "no text at A C")]),
        (
            [("A", "甲 A.乙"), ("B", "丙")],
            [("label_inside_text", "what looks like an option's label stands inside a text: '甲 A.乙'")],
        ),
        ([("A", "甲 B.乙"), ("B", "丙")], []),
        (
            [("A", "甲C.乙"), ("B", "丙")],
            [("label_inside_text", "what looks like an option's label stands inside a text: '甲C.乙'")],
        ),
        (
            [("A", "甲" * 50 + " 1.A 2.B"), ("B", "丙")],
            [("text_left_over", f"{'甲' * 32 + ' 1.A 2.B'!r} may not belong to the question")],
        ),
    ],
)
def test_what_is_wrong_with_options(options: list[tuple[str, str]], expected: object) -> None:
    one = draft(1, options=options)
    check_questions(paper_of([one]))
    assert one.flags == expected


@pytest.mark.parametrize(
    ("stem", "shared", "expected"),
    [("（ ）", None, ["no_stem"]), ("", None, ["no_stem"]), ("（ ）", "男，45岁", []), ("是（ ）", None, [])],
)
def test_a_question_without_words_has_no_stem(stem: str, shared: str | None, expected: list[str]) -> None:
    one = draft(1, stem=stem, shared_stem=shared)
    check_questions(paper_of([one]))
    assert reasons([one]) == [expected]


@pytest.mark.parametrize(
    ("head", "answer", "accepted", "expected"),
    [
        ("单选题", None, ["E"], []),
        ("单选题", "D", None, []),
        ("单选题", "E", None, [("answer_not_in_options", "answer E, options A B C D")]),
        ("多选题", "AA", None, [("answer_not_in_options", "answer AA, options A B C D")]),
        ("多选题", "ABCD", None, []),
        ("多选题", "AE", None, [("answer_not_in_options", "answer AE, options A B C D")]),
        ("", "AB", None, []),
        ("单选题", "AB", None, [("several_answers", "answer AB under a head for one answer")]),
        ("单选题", "A", ["AB", "B"], []),
        ("单选题", "A", ["ABCD"], []),
        ("单选题", "A", ["AE", "B", "F"], [("answer_not_in_options", "accepted AE F, options A B C D")]),
    ],
)
def test_what_is_wrong_with_an_answer(
    head: str, answer: str | None, accepted: list[str] | None, expected: object
) -> None:
    one = draft(1, block=Block([head]), answer=answer, accepted=accepted)
    check_questions(paper_of([one]))
    assert one.flags == expected


@pytest.mark.parametrize(
    ("numbers", "lost", "silent", "flagged"),
    [
        ([1, 2, 2, 3, 4], [5], [], [3, 4]),
        ([1, 2, 2, 3, 4], [], [], []),
        ([1, 2, 3, 4], [5], [], []),
        ([1, 2, 4, 5, 6], [3], [6], [4, 5]),
        ([1, 2, 4, 5, 6], [3], [5], []),
        ([1, 2, 4, 5, 6], [3], [], []),
        ([1, 2, 2, 4, 5], [3, 6], [5], [4]),
        ([1, 1, 2, 4, 5], [3, 6], [5], [2, 4]),
        ([1, 2, 3, 4], [5], [4], []),
        ([1, 3, 3], [2, 4], [], []),
        ([1, 2, 2, 2, 3], [4], [], [3]),
    ],
)
def test_answers_behind_a_number_twice_or_left_out_may_be_one_off(
    numbers: list[int], lost: list[int], silent: list[int], flagged: list[int]
) -> None:
    drafts = [draft(at, answer=None if at in silent else "A") for at in numbers]
    key_step(*(one for one in drafts if one.answer))
    paper = paper_of([*drafts, draft(9, section=2)], gaps=[*(Gap(1, at, "") for at in lost), Gap(3, 99, "")])
    check_shifts(paper)
    assert [one.number for one in drafts if one.flags] == flagged
    assert {reason for one in drafts for reason, _ in one.flags} <= {"answers_disagree"}


def test_answers_beside_the_key_and_parts_of_a_number_are_not_one_off() -> None:
    parts = key_step(draft(1), draft(2, suffix="a"), draft(2, suffix="b"), draft(3))
    check_shifts(paper_of(parts, gaps=[Gap(1, 4, "")]))
    own = [*key_step(draft(1), draft(2), draft(2)), draft(3), *key_step(draft(4))]
    check_shifts(paper_of(own, gaps=[Gap(1, 5, "")]))
    told = ("answers_disagree", "its key does not end at 4: behind 2 it may be one off")
    assert [one.flags for one in [*parts, *own]] == [[]] * 8 + [[told]]


def test_a_number_twice_at_the_end_is_silent_where_both_are() -> None:
    one, other = draft(4), draft(4, answer="A")
    drafts = [*key_step(draft(1, answer="A"), draft(3, answer="A")), one, other]
    check_shifts(paper_of(drafts, gaps=[Gap(1, 2, "")]))
    assert reasons(drafts) == [[]] * 4
    other.answer = None
    check_shifts(paper_of(drafts, gaps=[Gap(1, 2, "")]))
    assert reasons(drafts) == [[], ["answers_disagree"], [], []]


@pytest.mark.parametrize(
    ("blanks", "size", "others", "flagged"),
    [
        (1, 3, 0, 0), (1, 4, 0, 1), (2, 6, 0, 0), (2, 7, 0, 2), (9, 9, 40, 9), (10, 10, 40, 0), (10, 20, 40, 0),
        (10, 21, 40, 10), (12, 24, 40, 0), (12, 25, 40, 12),
    ],
)  # fmt: skip
def test_blanks_that_are_no_habit_may_be_part_of_the_text(blanks: int, size: int, others: int, flagged: int) -> None:
    drafts = [draft(at, answer="B" if at <= blanks else None, in_blank=at <= blanks) for at in range(1, size + 1)]
    check_answers(paper_of([*drafts, *(draft(at, section=2) for at in range(others))], gaps=[]))
    told = ("answer_in_text", "B without a mark may be its answer, or part of the text")
    assert [one.flags for one in drafts] == [[told]] * flagged + [[]] * (size - flagged)


@pytest.mark.parametrize(
    ("answers", "keyed", "expected"),
    [
        (["", "", "ABC"], set(), [("several_answers", "ABC may be the answers of all questions")]),
        (["", "", "ABC"], {1}, []),
        (["", "", "A"], set(), []),
        (["", "A", "ABC"], set(), []),
        (["ABC"], set(), []),
        (["", "AB"], set(), [("several_answers", "AB may be the answers of all questions")]),
    ],
)
def test_letters_of_the_last_question_may_be_the_answers_of_all(
    answers: list[str], keyed: set[int], expected: object
) -> None:
    drafts = [draft(at, answer=letters or None) for at, letters in enumerate(answers, 1)]
    check_answers(paper_of([*drafts, draft(1, section=2)], keyed=keyed))
    assert drafts[-1].flags == expected


def test_accepted_answers_are_answers() -> None:
    drafts = [draft(1, accepted=["A"]), draft(2, answer="AB")]
    check_answers(paper_of(drafts))
    assert reasons(drafts) == [[], []]


@pytest.mark.parametrize(("silent", "size", "flagged"), [(1, 2, 1), (2, 3, 0), (2, 4, 2), (3, 4, 0), (1, 9, 1)])
def test_a_question_without_an_answer_waits_where_half_have_one(silent: int, size: int, flagged: int) -> None:
    for keyed, told in ((set[int](), "most other questions have one"), ({1}, "the paper's key does not answer it")):
        drafts = [draft(at, answer=None if at <= silent else "A") for at in range(1, size + 1)]
        check_answers(paper_of(drafts, keyed=keyed))
        assert [one.flags for one in drafts] == [[("no_answer", told)]] * flagged + [[]] * (size - flagged)


def test_a_question_that_waits_or_is_set_aside_needs_no_answer() -> None:
    drafts = [draft(1, flags=[("no_stem", "")]), draft(2, set_aside=("C", "")), draft(3), draft(4, answer="A")]
    check_answers(paper_of([*drafts, *(draft(at, answer="A") for at in range(5, 9))]))
    assert reasons(drafts) == [["no_stem"], [], ["no_answer"], []]


def gaps(*sections: Sequence[int | None], **more: Any) -> list[tuple[int, int]]:
    drafts = [draft(at, section=where) for where, numbers in enumerate(sections, 1) for at in numbers]
    return [(gap.section, gap.number) for gap in find_gaps(paper_of(drafts, **more))]


@pytest.mark.parametrize(
    ("sections", "more", "expected"),
    [
        ([[1, 2, 4]], {}, [(1, 3)]),
        ([[2, 3]], {}, [(1, 1)]),
        ([[10, 12]], {}, [*((1, at) for at in range(1, 10)), (1, 11)]),
        ([[11, 13]], {}, [(1, 12)]),
        ([[None, None]], {}, []),
        ([[None, 2]], {}, []),
        ([[None, 3]], {}, [(1, 1), (1, 2)]),
        ([[None], [None, 3]], {}, [(2, 1), (2, 2)]),
        ([[1, 2, 3, 4, 5], [2, 3, 4, 9, 10]], {}, []),
        ([[1, 2, 3, 4, 5], [2, 3, 4, 10]], {}, [(2, 1), *((2, at) for at in range(5, 10))]),
        ([[1, 2, 3, 4, 5], [2, 3, 4, 8]], {}, [(2, 1), (2, 5), (2, 6), (2, 7)]),
        ([[1], [2, 3]], {}, [(2, 1)]),
        ([[1, 2], [3, 4]], {}, [(2, 1), (2, 2)]),
        ([[1, 2], [1, 2, 5, 6]], {}, []),
        ([[1, 2, 3]], {"count": 5}, [(1, 4), (1, 5)]),
        ([[1, 2, 3]], {"count": 3}, []),
        ([[1, 2, 3]], {"count": 2}, []),
        ([[1, 3]], {"count": 3}, [(1, 2)]),
        ([[3, 4]], {"count": 3}, [(1, 1), (1, 2), (1, 5)]),
        ([[11, 12]], {"count": 3}, [(1, 13)]),
        ([[1, 2], [1, 2]], {"count": 5}, []),
        ([[1, 2]], {"unmatched": {(1, 3), (1, 4), (1, 6), (2, 5)}}, [(1, 3), (1, 4)]),
        ([[1, 2]], {"count": 3, "unmatched": {(1, 3), (1, 4)}}, [(1, 3), (1, 4)]),
    ],
)
def test_numbers_that_are_missing(
    sections: list[list[int | None]], more: dict[str, Any], expected: list[tuple[int, int]]
) -> None:
    assert gaps(*sections, **more) == expected


def test_a_section_without_options_has_no_gaps_and_one_of_a_paper_is_counted_alone() -> None:
    drafts = [draft(1, 0), draft(3, 0), draft(1, section=2), draft(2, 0, section=2)]
    assert find_gaps(paper_of(drafts, count=4)) == [
        Gap(2, 3, "the paper announces 4"),
        Gap(2, 4, "the paper announces 4"),
    ]


def test_a_head_and_a_group_state_the_last_number() -> None:
    one = draft(2, block=Block(["一、单选题", "1～4题"]))
    assert find_gaps(paper_of([one])) == [Gap(1, at, "the paper announces 4") for at in (1, 3, 4)]
    assert find_gaps(paper_of([draft(1, group_last=2), draft(3, group_last=2)])) == [
        Gap(1, 2, "the numbers around it are there")
    ]
    assert find_gaps(paper_of([draft(1, group_last=3)], unmatched={(1, 4)})) == [
        Gap(1, at, "its key answers it") for at in (2, 3, 4)
    ]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9), st.booleans()), min_size=1, max_size=4))
def test_keys_between_the_items_of_a_section_hide_nothing_from_its_count(parts: list[tuple[int, int, bool]]) -> None:
    drafts = []
    for section, (announced, found, keyed) in enumerate(parts, 1):
        head = Block([f"单选题{section}（共{announced}题）"], is_key=section > 1)
        blocks = [head, *(Block(["答案解析："], is_key=True) if keyed else head for _ in range(found - 1))]
        drafts += [draft(at, section=section, block=block) for at, block in enumerate(blocks, 1)]
    assert [told for *_, told in count_mismatches(paper_of(drafts))] == [
        f"{announced} announced, {found} found" for announced, found, _ in parts if announced != found
    ]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("单选题（共4题）", []),
        ("单选题（共3题）", [("count_differs", "单选题（共3题）", "3 announced, 4 found")]),
        ("单选题\n共5题", [("count_differs", "单选题", "5 announced, 4 found")]),
        ("单选题", []),
        ("甲" * 50 + "共5题", [("count_differs", "甲" * 40, "5 announced, 4 found")]),
    ],
)
def test_a_head_counts_numbers_and_items_without_one(head: str, expected: object) -> None:
    block = Block([head])
    drafts = [draft(1, suffix=part, block=block) for part in "abc"] + [draft(2, block=block)]
    drafts += [draft(None, suffix="a", block=block), draft(None, suffix="b", block=block)]
    assert list(count_mismatches(paper_of([*drafts, draft(3), draft(3, block=block, entry=True)]))) == expected


@pytest.mark.parametrize(
    ("answered", "size", "keyed", "expected"),
    [
        (0, 0, {1}, []),
        (2, 4, {1}, []),
        (1, 4, {1}, [("key_not_read", "its key", "1 of 4 questions are answered")]),
        (2, 4, set(), []),
        (1, 4, set(), [("key_not_read", "答" * 40, "no answer was read under this head")]),
    ],
)
def test_a_key_was_read_where_half_of_the_questions_are_answered(
    answered: int, size: int, keyed: set[int], expected: object
) -> None:
    drafts = [draft(at, answer="A" if at < answered else None) for at in range(size)]
    outline = Outline(blocks=[Block(["单选题"]), Block(["答" * 50], is_key=True)])
    assert unread_keys(paper_of(drafts, outline, keyed=keyed)) == expected


ASKED = "3. 首选的是（ ）"
TOLD = "what looks like a question stands {} and was not read"


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([ASKED], [ASKED]),
        (["3. 首选的是"], []),
        (["首选的是（ ）"], []),
        (["3. 请填写在答题卡（ ）"], []),
        (["3. " + "甲" * 50 + "？"], ["3. " + "甲" * 37]),
        (["A.甲", "B.乙"], []),
        (["A.甲", "B.乙", "C.丙"], ["A.甲"]),
        (["", " 题", "A 甲", "B 乙", "C 丙"], ["题"]),
        (["A 甲 B 乙 C 丙"], []),
        (["例题", "A.甲", "B.乙", "C.丙"], []),
        (["例题", "A.甲", "B.乙", "C.丙", ASKED], [ASKED]),
    ],
)
def test_a_question_before_the_first_was_not_read(texts: list[str], expected: list[str]) -> None:
    figure = line(ASKED, kind=LineKind.FIGURE)
    outline = Outline(preamble=[*drawn(*texts), figure])
    told = TOLD.format("before the first question")
    assert list(unread_questions(paper_of([], outline))) == [("text_left_over", one, told) for one in expected]


OPTIONS = ["A.甲", "B.乙", "C.丙"]


@pytest.mark.parametrize(
    ("head", "is_key", "under", "expected"),
    [
        ("单选题", False, OPTIONS, ["A.甲"]),
        ("单选题", False, [ASKED], [ASKED]),
        ("单选题", True, OPTIONS, []),
        ("B1型题", False, OPTIONS, []),
        ("K型题", False, OPTIONS, []),
        ("甲" * 30, False, OPTIONS, ["A.甲"]),
        (ASKED, False, [], []),
    ],
)
def test_a_question_under_a_head_was_not_read(head: str, is_key: bool, under: list[str], expected: list[str]) -> None:
    outline = Outline(blocks=[Block([head, *under], is_key=is_key)])
    told = TOLD.format(f"under {head[:20]}")
    assert list(unread_questions(paper_of([], outline))) == [("text_left_over", one, told) for one in expected]


def test_a_question_after_a_key_is_known_by_its_number_not_by_options() -> None:
    assert list(unread_questions(paper_of([], Outline(after_keys=drawn(*OPTIONS))))) == []
    assert list(unread_questions(paper_of([], Outline(after_keys=drawn(*OPTIONS, ASKED))))) == [
        ("text_left_over", ASKED, TOLD.format("after the key"))
    ]


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([4, 4, 4, 5], {3: ("options_too_many", MORE)}),
        ([4, 4, 4, 3], {3: ("options_missing", "3 options, 4 elsewhere in the paper")}),
        ([4, 4, 5], {}),
        ([4] * 9 + [5, 5], {9: ("options_too_many", MORE),
                            10: ("options_too_many", MORE)}),
        ([4] * 8 + [5, 5], {}),
    ],
)  # fmt: skip
def test_the_usual_number_of_options_of_a_section(counts: list[int], expected: dict[int, tuple[str, str]]) -> None:
    found = compared([draft(at, count) for at, count in enumerate(counts)])
    assert {at: flags[0] for at, flags in enumerate(found) if flags} == expected


@pytest.mark.parametrize(
    ("size", "more", "flagged"),
    [
        (10, {}, True),
        (9, {}, False),
        (10, {"answer": "AB"}, False),
        (10, {"answer": "A"}, True),
        (10, {"block": Block(["多选题"])}, False),
        (10, {"shared_options": True}, False),
        (10, {"suffix": "a"}, False),
    ],
)
def test_the_usual_number_of_options_of_a_paper(size: int, more: dict[str, Any], flagged: bool) -> None:
    drafts = [draft(at, block=Block()) for at in range(size)]
    odd = draft(20, 5, **{"block": Block(), **more})
    assert compared([*drafts, odd])[-1] == ([("options_too_many", MORE)] if flagged else [])


@pytest.mark.parametrize(
    ("beyond", "size", "flagged"),
    [(1, 3, False), (2, 3, True), (1, 9, False), (2, 39, True), (2, 40, False), (3, 40, True)],
)
def test_answers_beyond_the_last_option_of_a_section_tell_of_lost_options(
    beyond: int, size: int, flagged: bool
) -> None:
    drafts = [draft(at, answer="E" if at < beyond else "D") for at in range(size)]
    told = [("options_missing", f"{beyond} answers of its section name options that were not read")]
    assert compared([*drafts, draft(90, section=2)]) == [told if flagged else []] * size + [[]]


def test_answers_beyond_the_last_option_say_nothing_of_questions_with_more() -> None:
    drafts = [draft(1, answer="E"), draft(2, 3, answer="D"), draft(3, answer="E"), draft(4, 5, answer="A")]
    told = "{} answers of its section name options that were not read"
    assert compared(drafts) == [
        [("options_missing", told.format(2))],
        [("options_missing", told.format(3))],
        [("options_missing", told.format(2))],
        [],
    ]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["题", "A.甲", "B.乙", "某网整理"], ["某网整理"]),
        (["题", "A.甲", "B.乙", "某网页"], []),
        (["题", "A.甲", "B.乙", "某 12 网页"], []),
        (["题", "A.甲", "某网整理", "B.乙"], []),
        (["题", "A.甲", "甲乙  B.乙", "某网整理"], ["某网整理"]),
        (["题", "A.甲", "B.乙", "①某网整理", "CABCD", "丙某网整理"], ["丙某网整理"]),
        (["题", "A.甲", "B.乙", "答案：A", "某网整理"], []),
        (["答案：A", "A.甲", "B.乙", "某网整理"], ["某网整理"]),
        (["题某网整理", "第二行文字"], ["第二行文字"]),
        ([], []),
    ],
)
def test_lines_under_the_options_of_an_item(texts: list[str], expected: list[str]) -> None:
    assert under_options(draft(1, pieces=drawn(*texts))) == expected


@pytest.mark.parametrize(
    ("foot", "times", "flagged"),
    [("某网整理发布", 2, False), ("某网整理发布", 3, True), ("某网整理发布甲", 2, False), ("某网整理发布甲乙", 2, True),
     ("某网整理发布甲乙", 1, False), ("某网整理发布1234", 2, False)],
)  # fmt: skip
def test_a_line_under_the_options_of_several_items_is_a_foot(foot: str, times: int, flagged: bool) -> None:
    own = [draft(at, stem=f"题{at}", pieces=drawn("题", "A.甲", "B.乙", f"{foot}{at}")) for at in range(times)]
    aside = draft(9, suffix="a", pieces=drawn("题", "A.甲", "B.乙", foot))
    told = [("foot_inside", f"{without_digits(foot)!r} stands in {times} items")]
    assert compared([*own, aside]) == [told if flagged else []] * times + [[]]


@pytest.mark.parametrize(
    ("numbers", "first", "told"),
    [
        ([1, 2], 1, None),
        ([2, 3], 1, "what is shared may hold it; its head names number 1, the first found is 2"),
        ([3, 2], 2, None),
        ([None, 2], 1, "what is shared may hold it; its head names number 1, the first found is 0"),
        ([1, 2], None, None),
    ],
)
def test_the_first_number_of_a_shared_text_has_to_be_found(
    numbers: list[int | None], first: int | None, told: str | None
) -> None:
    drafts = [draft(at, group="g", group_first=first) for at in numbers]
    expected = [("may_hold_another", told)] if told else []
    assert compared([*drafts, draft(9, group_first=1)]) == [expected, expected, []]


UNDER = ["题", "A.甲", "B.乙", "C.丙", "D.丁"]


@pytest.mark.parametrize(
    ("texts", "more", "told"),
    [
        ([*UNDER, "第二套"], {}, "第二套"),
        ([*UNDER, "第" * 40], {}, "第" * 30),
        ([*UNDER, "a套"], {}, None),
        ([*UNDER[:4], "D.丁的", "第二套"], {}, None),
        ([*UNDER[:4], "D." + "丁" * 10, "第二套"], {}, "第二套"),
        ([*UNDER[:4], "D." + "丁" * 11, "第二套"], {}, None),
        ([*UNDER[:4], "D." + "丁" * 12, "第二套"], {}, None),
        ([*UNDER, "答案：A", "第二套"], {}, None),
        ([*UNDER, "第二套"], {"shared_options": True}, None),
        ([*UNDER, "第二套"], {"suffix": "a"}, None),
        ([*UNDER[:4], "D." + "丁" * 13, "甲" * 10, "第二套"], {}, "第二套"),
        (["题", "A.甲 B.乙 C.丙", "D.丁 E.戊", "第二套"], {}, None),
        (["题", "甲  A.甲 B.乙", "第二套"], {}, "第二套"),
        (["题", "甲甲甲甲甲  A.甲", "乙  B.乙", "第二套"], {}, None),
        (["题", "甲甲甲甲甲甲  A.甲", "乙  B.乙", "第二套"], {}, "第二套"),
        (["题", "甲 A.甲", "乙  B.乙", "第二套"], {}, None),
        (["题", "甲甲甲甲  A.甲", "乙乙  B.乙", "第二套"], {}, None),
        (["题", "甲甲甲甲甲  A.甲", "乙乙  B.乙", "第二套"], {}, None),
        (["题", "甲甲甲甲甲甲甲  A.甲", "乙  B.乙", "第二套"], {}, "第二套"),
    ],
)
def test_a_line_under_the_last_option_that_ends_short(texts: list[str], more: dict[str, Any], told: str | None) -> None:
    one = draft(1, pieces=drawn(*texts), **more)
    expected = [("text_left_over", f"{told!r} stands under the last option")] if told else []
    assert compared([one], 20) == [expected]


def test_a_region_or_a_cell_under_an_option_in_a_cell_is_no_line_of_text() -> None:
    pieces = drawn(*UNDER)
    cell = replace(line("第二套", order=5), in_table=True)
    assert compared([draft(1, pieces=[*(replace(one, in_table=True) for one in pieces), cell])], 20) == [[]]
    assert compared([draft(1, pieces=[*pieces, cell])], 20) == [
        [("text_left_over", "'第二套' stands under the last option")]
    ]
    assert compared([draft(1, pieces=[*pieces, line("第二套", kind=LineKind.FIGURE)])], 20) == [[]]
    assert compared([draft(1, pieces=pieces, flags=[("no_stem", "")])], 20) == [[("no_stem", "")]]


def test_a_line_under_the_last_option_may_be_told_of_the_next_questions_of_its_group() -> None:
    pieces = drawn(*UNDER, "第二套")
    drafts = [draft(3, group="g", pieces=pieces), draft(4, group="g"), draft(5, group="h"), draft(6)]
    drafts += [draft(7, pieces=pieces), draft(8)]
    left = [("text_left_over", "'第二套' stands under the last option")]
    case = [("case_missing", "what stands under number 3 may be told of it too")]
    assert compared(drafts, 20) == [left, case, [], [], left, []]


def test_every_check_has_a_reason_and_an_example() -> None:
    assert all(re.fullmatch(r"[a-z_]+", one.reason) and one.example for one in CHECKS)
    assert len({one.function for one in CHECKS}) == len(CHECKS)
