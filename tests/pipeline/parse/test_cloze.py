"""Stems that stand before the number of their blank."""

import pytest

from build_dataset.pipeline.parse.cut import share_leads
from build_dataset.pipeline.parse.heads import GroupHead, number_candidate
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.outline import Cutting, Role
from build_dataset.schemas.documents import LineKind


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
