"""Numbered blanks and their options."""

from __future__ import annotations

import pytest

from build_dataset.pipeline.parse.cloze import option_lines, own_answers, read_blanks, read_parts, run_on, share_leads
from build_dataset.pipeline.parse.heads import GroupHead, number_candidate
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.outline import Cutting, Role
from build_dataset.schemas.documents import LineKind


def lines(text):
    return [ParsedLine(line, 1, None, None, LineKind.TEXT) for line in text.split("\n")]


def told(found):
    return found and (
        found.lead,
        [(blank.number, blank.run.options) for blank in found.blanks],
        found.labelled,
        found.sure,
    )


ONE = "1. 甲（1）乙（2）丙\n（1）A. 一 B. 二\n（2）A. 三 B. 四\n答案\n（1）A（2）B"
TWO = f"{ONE}\n2. 丁（1）戊\n（1）A. 一 B. 二\n（1）B"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (TWO, ({1: (0, 1), 2: (0, 2), 6: (5, 1)}, [3, 4, 7])),
        (ONE, ({}, [])),
        (TWO.replace("2. 丁", "1. 丁"), ({}, [])),
        (TWO.replace("乙（2）", "乙"), ({1: (0, 1), 6: (5, 1)}, [7])),
        (TWO.replace("（1）A（2）B", "（1）A"), ({1: (0, 1), 2: (0, 2), 6: (5, 1)}, [7])),
        (TWO.replace("答案\n", "甲\n"), ({1: (0, 1), 2: (0, 2), 6: (5, 1)}, [4, 7])),
        (TWO.replace("1. ", "第1问：").replace("2. ", "第2问："), ({1: (0, 1), 2: (0, 2), 6: (5, 1)}, [3, 4, 7])),
        (TWO.replace("2. ", "2) "), ({}, [])),
        (f"试题（1）（2）\n{TWO}", ({2: (1, 1), 3: (1, 2), 7: (6, 1)}, [4, 5, 8])),
    ],
)
def test_lines_of_blanks_and_of_their_answers(text, expected):
    assert (option_lines(lines(text)), sorted(own_answers(lines(text), option_lines(lines(text))))) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            "甲（1）乙（2）\n（1）A. 一 B. 二\n（2）A. 三 B. 四",
            ("甲（1）乙（2）", [(1, (("A", "一"), ("B", "二"))), (2, (("A", "三"), ("B", "四")))], True, True),
        ),
        (
            "甲（1）乙（2）\nA. 一 B. 二\nA. 三 B. 四",
            ("甲（1）乙（2）", [(1, (("A", "一"), ("B", "二"))), (2, (("A", "三"), ("B", "四")))], False, True),
        ),
        ("甲（1）乙\nA. 一 B. 二", ("甲（1）乙", [(1, (("A", "一"), ("B", "二")))], False, False)),
        ("甲（1）乙（2）\nA. 一 B. 二", None),
        ("甲乙\nA. 一 B. 二", None),
        ("甲（2）乙（1）\n（1）A. 一 B. 二\n（2）A. 三 B. 四", None),
    ],
)
def test_the_blanks_of_an_item(head, expected):
    assert told(read_blanks(head)) == expected


@pytest.mark.parametrize(
    ("head", "numbers", "expected"),
    [
        (
            "甲\n（1）A. 一 B. 二\n（2）A. 三 B. 四",
            [4, 5],
            ("甲", [(1, (("A", "一"), ("B", "二"))), (2, (("A", "三"), ("B", "四")))], True, True),
        ),
        (
            "甲\n（4）A. 一 B. 二\n（5）A. 三 B. 四",
            [4, 5],
            ("甲", [(4, (("A", "一"), ("B", "二"))), (5, (("A", "三"), ("B", "四")))], True, True),
        ),
        (
            "甲\n问题1：A. 一 B. 二\n问题2：A. 三 B. 四",
            [4, 5],
            ("甲", [(1, (("A", "一"), ("B", "二"))), (2, (("A", "三"), ("B", "四")))], True, True),
        ),
        ("甲\n（2）A. 一 B. 二\n（3）A. 三 B. 四", [4, 5], None),
        ("甲\n（1）A. 一\n（2）A. 三 B. 四", [4, 5], None),
    ],
)
def test_the_options_of_the_parts_of_an_item(head, numbers, expected):
    assert told(read_parts(head, numbers)) == expected


@pytest.mark.parametrize(
    ("heads", "expected"),
    [
        (["甲（1）乙（2）\nA. 一 B. 二\nA. 三 B. 四", "甲（3）\nA. 一 B. 二"], True),
        (["甲（1）\nA. 一 B. 二", "甲（2）\nA. 一 B. 二"], False),
        (["甲（1）乙（2）\nA. 一 B. 二\nA. 三 B. 四", "甲（2）\nA. 一 B. 二"], False),
        (["甲（1）乙（2）\nA. 一 B. 二\nA. 三 B. 四"], False),
        (["甲（1）乙（2）\nA. 一 B. 二\nA. 三 B. 四", "甲（3）\nA. 一 B. 二", "甲"], True),
        (["甲（1）乙（2）\nA. 一 B. 二\nA. 三 B. 四", "甲（3）\nA. 一 B. 二", "甲", "甲"], False),
    ],
)
def test_blanks_that_number_the_questions(heads, expected):
    assert run_on([read_blanks(head) for head in heads]) == expected


def leads(text, kinds=None, roles=None):
    """The shared texts that are found in a text whose lines with a number and a dot begin items."""
    pieces = [ParsedLine(line, 1, None, None, LineKind.TEXT) for line in text.split("\n")]
    for place, kind in (kinds or {}).items():
        pieces[place] = ParsedLine(pieces[place].text, 1, None, None, kind)
    cutting = Cutting(pieces, [Role.TEXT] * len(pieces))
    for index, piece in enumerate(pieces):
        mark = number_candidate(index, piece.text)
        if mark and piece.text[:1].isdigit():
            cutting.number(mark)
    for place, role in (roles or {}).items():
        cutting.roles[place] = role
    share_leads(cutting)
    return {place: (head, cutting.roles[place]) for place, head in cutting.groups.items()}


LEAD = (GroupHead(None, None, options=False, end=0), Role.GROUP)
BULLET = (GroupHead(None, None, options=False, end=2), Role.GROUP)
ITEM = "12. A. 一 B. 二"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"甲（12）乙\n{ITEM}", {0: LEAD}),
        (f"甲（12）乙\n丙\n丁\n{ITEM}", {0: LEAD}),
        (f"戊\n甲（12）乙\n{ITEM}", {0: LEAD}),
        (f"甲（11）乙\n{ITEM}", {}),
        (f"● 甲\n乙\n{ITEM}", {0: BULLET}),
        (f"戊\n● 甲\n{ITEM}", {1: BULLET}),
        ("● 甲（12）\n12. 丙 A. 一 B. 二", {}),
        (f"甲（12）乙\n{ITEM}\n● 尾", {0: LEAD}),
        (f"甲（12）\n模拟考试试卷\n乙\n{ITEM}", {}),
        (f"1. 甲\n考试（12）\n{ITEM}", {1: LEAD}),
        (f"1. 甲\nA. 乙\n丙（12）\n{ITEM}", {2: LEAD}),
        (f"甲（12）\nA. 一\n{ITEM}", {}),
        (f"甲\n解析：乙\n丙（12）\n丁\n{ITEM}", {2: LEAD}),
        (f"甲（12）\n解析：乙\n丙\n{ITEM}", {}),
        (f"甲\n解析：乙\n丙（12）\n丁（12）\n{ITEM}", {2: LEAD}),
        ("甲（1）乙（2）\n1. A. 一 B. 二\n2. A. 三 B. 四", {0: LEAD}),
    ],
)
def test_a_text_before_the_number_of_its_blank_is_shared(text, expected):
    assert leads(text) == expected


def test_a_lead_runs_over_a_table_and_never_over_a_head():
    text = f"甲（12）\nA. 一\n{ITEM}"
    assert leads(text, kinds={1: LineKind.TABLE}) == {0: LEAD}
    assert leads(f"甲（12）\n乙\n{ITEM}", roles={1: Role.SECTION}) == {}
    assert leads(f"甲\n乙（12）\n{ITEM}", roles={0: Role.SECTION}) == {1: LEAD}


@pytest.mark.parametrize(("between", "expected"), [(0, {0: LEAD}), (78, {0: LEAD}), (79, {}), (80, {})])
def test_a_lead_begins_less_than_eighty_lines_above_its_number(between, expected):
    assert leads("甲（12）\n" + "乙\n" * between + ITEM) == expected
