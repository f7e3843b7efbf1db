"""Numbered blanks and their options."""

from __future__ import annotations

import pytest

from pipeline.parse.cloze import option_lines, own_answers, read_blanks, read_parts, run_on
from pipeline.parse.lines import ParsedLine
from schemas.documents import LineKind


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
        (f"试题（1）（2）\n{TWO}", ({2: (1, 1), 3: (1, 2), 7: (6, 1)}, [4, 5, 8])),
    ],
)
def test_lines_of_blanks_and_of_their_answers(text, expected):
    assert (
        option_lines(lines(text)),
        sorted(own_answers(lines(text), option_lines(lines(text)))),
    ) == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (
            "甲（1）乙（2）\n（1）A. 一 B. 二\n（2）A. 三 B. 四",
            (
                "甲（1）乙（2）",
                [(1, (("A", "一"), ("B", "二"))), (2, (("A", "三"), ("B", "四")))],
                True,
                True,
            ),
        ),
        (
            "甲（1）乙（2）\nA. 一 B. 二\nA. 三 B. 四",
            (
                "甲（1）乙（2）",
                [(1, (("A", "一"), ("B", "二"))), (2, (("A", "三"), ("B", "四")))],
                False,
                True,
            ),
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
