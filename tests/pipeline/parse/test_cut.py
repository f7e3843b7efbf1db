"""The role of every line of small papers."""

from dataclasses import replace

import pytest

from build_dataset.pipeline.parse.cut import _runs_over, cut
from build_dataset.pipeline.parse.keylines import split_answer_lines
from build_dataset.pipeline.parse.lines import ParsedLine, parsed_lines
from build_dataset.schemas.documents import Box, LineKind
from tests.pipeline.parse.conftest import lines_of
from tests.pipeline.parse.short import CASE, FOUR, items

LETTER = {"text": ".", "number": "N", "section": "S", "heading": "H", "key_head": "K", "group": "G", "answers": "A"}


def roles(text):
    """A letter for the role of each line, the numbers of the items, and those that may be items."""
    outline = cut(split_answer_lines(parsed_lines(lines_of(text))))
    numbers = [(item.number, item.last, item.run) for item in outline.items]
    return "".join(LETTER[role] for role in outline.roles), numbers, [value for _, value in outline.unchosen_numbers]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (items(1, 2), ("N....N....", [(1, 1, 0), (2, 2, 0)], [])),
        (
            f"一、单选题\n{items(1, 2)}\n二、多选题\n{items(3)}",
            ("SN....N....SN....", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], []),
        ),
        (
            f"一、单选题\n{items(1, 2)}\n二、多选题\n{items(1, 2)}",
            ("SN....N....SN....N....", [(1, 1, 0), (2, 2, 0), (1, 1, 1), (2, 2, 1)], []),
        ),
        (f"{items(1, 2)}\n参考答案\n1.A 2.B", ("N....N....KA", [(1, 1, 0), (2, 2, 0)], [])),
        (
            f"{items(1, 2)}\n参考答案\n1.A\n解析：甲\n2.B\n解析：乙",
            ("N....N....KN.N.", [(1, 1, 0), (2, 2, 0), (1, 1, 1), (2, 2, 1)], []),
        ),
        (f"（1～2题共用题干）\n{CASE}\n{items(1, 2)}", ("G.N....N....", [(1, 1, 0), (2, 2, 0)], [])),
        (
            f"{items(1)}\n情況：{CASE}依此回答第2题至第3题\n{items(2, 3)}",
            ("N....GN....N....", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], []),
        ),
        (
            f"{items(1)}\n{CASE}\n伴发热。依此回答第2题至第\n3题\n{items(2, 3)}",
            ("N....G..N....N....", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], []),
        ),
        (f"[1-2]\n{CASE}\n{items(1, 2)}", ("G.N....N....", [(1, 1, 0), (2, 2, 0)], [])),
        (f"（一）\n{CASE}\n{items(1, 2)}", ("G.N....N....", [(1, 1, 0), (2, 2, 0)], [])),
        ("试题一（共15分）\n甲说明\n1. 问题\n试题二（共10分）\n乙说明", ("N..N.", [(1, 1, 0), (2, 2, 0)], [])),
        (f"试题一（共15分）\n{items(1)}", ("SN....", [(1, 1, 0)], [])),
        ("一、名词解释\n一、试述甲\n二、试述乙", ("SNN", [(1, 1, 0), (2, 2, 0)], [])),
        (f"1~2. {CASE}\n{items(1, 2)}", ("GN....N....", [(1, 1, 0), (2, 2, 0)], [])),
        (f"试题1-2 甲（1）乙（2）丙\n{FOUR}\n{FOUR}\n{items(3)}", (".........N....", [(3, 3, 0)], [])),
        (f"{items(1)}\n● 甲乙（2）丙\n2. A. 甲 B. 乙 C. 丙 D. 丁", ("N....GN", [(1, 1, 0), (2, 2, 0)], [])),
        (f"{items(1)}\n甲乙（2）丙\n2. A. 甲 B. 乙 C. 丙 D. 丁", ("N....GN", [(1, 1, 0), (2, 2, 0)], [])),
        (f"{items(1)}\n甲乙丙\n2. A. 甲 B. 乙 C. 丙 D. 丁", ("N.....N", [(1, 1, 0), (2, 2, 0)], [])),
        (f"1. 甲\n（1）乙\n（2）丙\n{FOUR}\n{items(2)}", ("N......N....", [(1, 1, 0), (2, 2, 0)], [])),
        (f"（1）甲\n{FOUR}\n（3）乙\n{FOUR}\n（2）丙\n{FOUR}", ("N.........N....", [(1, 1, 0), (2, 2, 0)], [3])),
        (f"1. 甲\n既往38.5℃\n{FOUR}\n{items(2)}", ("N.....N....", [(1, 1, 0), (2, 2, 0)], [])),
        (f"{items(1, 2)}\n5. 丙\n{FOUR}\n{items(3)}", ("N....N.........N....", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], [5])),
        (
            "\n".join(f"第{at}题 甲\n{FOUR}\n解析：\n1. 乙\n2. 丙" for at in range(1, 6)),
            ("N.......N.......N.......N.......N.......", [(1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 5, 0)], []),
        ),
        (
            "\n".join(f"第{at}题 甲\n{FOUR}\n解析：\n1. 乙\n2. 丙" for at in range(1, 5)),
            ("N.......N.......N.......N.......", [(1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0)], []),
        ),
        (f"第4-5题 甲\n（4）A. 甲 B. 乙\n（5）A. 丙 B. 丁\n{items(6)}", (".NN.....", [(4, 4, 0), (5, 5, 0)], [6])),
        (f"{items(1)}\n第二单元\n{items(2)}", ("N....SN....", [(1, 1, 0), (2, 2, 0)], [])),
        (f"2. 甲\n{FOUR}\n{items(3, 4)}", ("N....N....N....", [(2, 2, 0), (3, 3, 0), (4, 4, 0)], [])),
        (f"{items(1, 2, 3)}\n10. 甲\n{FOUR}", ("N....N....N.........", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], [10])),
        (f"D. 丁 8～9题共用备选答案\n{items(1)}", (".N....", [(1, 1, 0)], [])),
    ],
)
def test_the_roles_of_lines(text, expected):
    assert roles(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("（1）甲\n（2）乙\n*\n（3）丙\n*", ("NN....N....", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], [])),
        ("1. 甲\n（2）乙\n（3）丙\n*\n2. 丁\n*", ("N......N....", [(1, 1, 0), (2, 2, 0)], [])),
        ("（4）甲\n*\n答案：A\n（6）乙\n（5）丙\n*", ("N......N....", [(4, 4, 0), (5, 5, 0)], [])),
        ("（4）甲\n（7）乙\n*\n（5）丙\n*", ("N.....N....", [(4, 4, 0), (5, 5, 0)], [])),
        ("（4）甲\n*\n（7）乙\n（5）丙\n*", ("N.....N....", [(4, 4, 0), (5, 5, 0)], [7])),
        ("（4）甲\n（7）乙\n（8）乙\n（5）丙\n*", ("N..N....", [(4, 4, 0), (5, 5, 0)], [7])),
        ("（4）甲\n（1）乙\n（2）乙\n（5）丙\n*", ("N..N....", [(4, 4, 0), (5, 5, 0)], [])),
        (
            "1. 第1项对的是\n*\n2. 第2项对的是\n*\n38.5 mg\n*\n3. 第3项对的是\n*",
            ("N....N.........N....", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], []),
        ),
        ("一，可用于甲\n1. 第1项对的是\n*", ("SN....", [(1, 1, 0)], [])),
        ("1. 第1项对的是\n*\n一，可用于甲\n2. 第2项对的是\n*", ("N.....N....", [(1, 1, 0), (2, 2, 0)], [])),
        ("1. 第1项对的是\n*\n一，多选题\n2. 第2项对的是\n*", ("N....SN....", [(1, 1, 0), (2, 2, 0)], [])),
        ("1. 第1项对的是\n*\n一、甲\n2. 第2项对的是\n*", ("N....SN....", [(1, 1, 0), (2, 2, 0)], [])),
        ("1. 第1项对的是\n*\n一，甲\n2. 第2项对的是\n*", ("N....SN....", [(1, 1, 0), (2, 2, 0)], [])),
        ("试题一（共15分）\n甲\n*", ("S.....", [], [])),
        ("试题一（共15分）\n甲\nA. 甲\nB. 乙\n试题二（共10分）", ("N...N", [(1, 1, 0), (2, 2, 0)], [])),
        ("试题一（共15分）\na. 甲\nb. 乙\nc. 丙\n试题二（共10分）", ("N...N", [(1, 1, 0), (2, 2, 0)], [])),
        ("试题三（共15分）\n甲\n答案\n1.A 2.B\n试题四（共5分）", ("N...N", [(3, 3, 0), (4, 4, 0)], [])),
        ("试题1-2 甲（1）乙（2）丙\n*\n*\n3. 第3项对的是\n*", (".........N....", [(3, 3, 0)], [])),
        ("试题1-2题共用题干\n甲\n*\n*\n3. 第3项对的是\n*", ("N.........N....", [(1, 2, 0), (3, 3, 0)], [])),
        (
            "1. 第1项对的是\n*\n2～3题共用题干\n甲\n*\n*\n4. 第4项对的是\n*",
            ("N....N.........N....", [(1, 1, 0), (2, 3, 0), (4, 4, 0)], []),
        ),
        (
            "1. 第1项对的是\n*\n2～3题共用题干\n甲\n*\n4. 第4项对的是\n*",
            ("N....G.....N....", [(1, 1, 0), (4, 4, 0)], []),
        ),
        ("1. 第1项对的是\n*\n2～3题共用题干\n甲\n*\n*", ("N....N.........", [(1, 1, 0), (2, 3, 0)], [])),
        ("1. 第1项对的是\n*\n3～4题共用题干\n甲\n*\n*\n5. 第5项对的是\n*", ("N....G..............", [(1, 1, 0)], [5])),
        (
            "1. 第1项对的是\n*\n2～3题共用题干\n甲\n*\n*\n3. 第3项对的是\n*",
            ("N....G.........N....", [(1, 1, 0), (3, 3, 0)], []),
        ),
        (
            "1. 第1项对的是\n*\n2～3题共用题干\n甲\n*\n*\n2. 第2项对的是\n*",
            ("N....G.........N....", [(1, 1, 0), (2, 2, 0)], []),
        ),
        (
            "1. 第1项对的是\n*\n2～3题共用备选答案\n*\n*\n4. 第4项对的是\n*",
            ("N....G........N....", [(1, 1, 0), (4, 4, 0)], []),
        ),
        (
            "[1-2]\n男，45岁。上腹痛3天，伴黄疸。\n1. 第1项对的是\n*\n2. 第2项对的是\n*",
            ("G.N....N....", [(1, 1, 0), (2, 2, 0)], []),
        ),
        (
            "[2-3]\n男，45岁。上腹痛3天，伴黄疸。\n1. 第1项对的是\n*\n2. 第2项对的是\n*",
            ("..N....N....", [(1, 1, 0), (2, 2, 0)], []),
        ),
        (
            "1. 第1项对的是\n*\n[2-3]\n男，45岁。上腹痛3天，伴黄疸。\n2. 第2项对的是\n*\n3. 第3项对的是\n*",
            ("N....G.N....N....", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], []),
        ),
        ("（一）\n1. 第1项对的是\n*\n2. 第2项对的是\n*", ("SN....N....", [(1, 1, 0), (2, 2, 0)], [])),
        ("1. 第1项对的是\n*\n（二）", ("N....S", [(1, 1, 0)], [])),
        ("（一）\n（二）\n男，45岁。上腹痛3天，伴黄疸。\n1. 第1项对的是\n*", ("SG.N....", [(1, 1, 0)], [])),
        (
            "1~2. 男，45岁。上腹痛3天，伴黄疸。\n1. 第1项对的是\n*\n2. 第2项对的是\n*",
            ("GN....N....", [(1, 1, 0), (2, 2, 0)], []),
        ),
        (
            "1~2. 男，45岁。上腹痛3天，伴黄疸。\n3. 第3项对的是\n*\n4. 第4项对的是\n*",
            ("NN....N....", [(1, 2, 0), (3, 3, 0), (4, 4, 0)], []),
        ),
        ("2.3. 甲\n2. 第2项对的是\n*\n3. 第3项对的是\n*", ("GN....N....", [(2, 2, 0), (3, 3, 0)], [])),
        (
            "1. 第1项对的是\n*\n2.3. 甲\n*\n4. 第4项对的是\n*",
            ("N....N....N....", [(1, 1, 0), (2, 3, 0), (4, 4, 0)], []),
        ),
        ("一、名词解释\n一、试述甲\n二、试述乙\n参考答案\n三、试述", ("SNNKS", [(1, 1, 0), (2, 2, 0)], [])),
        ("一、单选题\n二、试述甲\n1. 第1项对的是\n*", ("SSN....", [(1, 1, 0)], [])),
        ("一、名词解释\n一、\n1. 第1项对的是\n*", ("SSN....", [(1, 1, 0)], [])),
        ("一、简答题\n第一部分\n一、试述", ("SSS", [], [])),
        ("一、简答题\n二、多选题\n三、试述", ("SSS", [], [])),
        (
            "第4-5题 甲\n（4）A. 甲 B. 乙\n（5）A. 丙 B. 丁\n6. 第6项对的是\n*",
            (".NN.....", [(4, 4, 0), (5, 5, 0)], [6]),
        ),
        ("第4-5题\n（1）A. 甲 B. 乙\n（2）A. 丙 B. 丁\n第6题 甲\n*", ("N..N....", [(4, 5, 0), (6, 6, 0)], [])),
        ("第4-5题\n（1）A. 甲 B. 乙\n（3）A. 丙 B. 丁\n第6题 甲\n*", ("N..N....", [(4, 5, 0), (6, 6, 0)], [3])),
        ("第4题\n（1）A. 甲 B. 乙\n（2）A. 丙 B. 丁\n第6题 甲\n*", (".NN.....", [(1, 1, 0), (2, 2, 0)], [6])),
        (
            "甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A\n甲\nA. 乙\n答案：A\n",
            ("N..N..N..", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], []),
        ),
        (
            "1. 第1项对的是\n*\n2. 第2项对的是\n*\n参考答案\n1.A\n2.B\n3.C",
            ("N....N....KAAA", [(1, 1, 0), (2, 2, 0)], []),
        ),
    ],
)
def test_every_pass_of_the_cut(text: str, expected: object) -> None:
    """A star stands for four options."""
    assert roles(text.replace("*", FOUR)) == expected


@pytest.mark.parametrize(("between", "whole"), [(0, True), (13, True), (14, False)])
def test_a_case_that_names_its_questions_has_fifteen_lines(between: int, whole: bool) -> None:
    case = "情况：老人来诊\n" + "伴发热\n" * between + "伴黄疸。依此回答第2题至第3题"
    found, numbers, _ = roles(f"{items(1)}\n{case}\n{items(2, 3)}")
    head = "G" + "." * (between + 1) if whole else "." * (between + 2)
    assert found == f"N....{head}N....N...."
    assert [number for number, _, _ in numbers] == [1, 2, 3]


def test_a_case_begins_after_a_full_stop_with_somebody() -> None:
    for above, expected in (("甲乙。", ".G.."), ("甲乙？", ".G.."), ("甲乙", "G...")):
        text = f"男，30岁\n{above}\n男，45岁，腹痛\n伴黄疸。依此回答第1题至第2题\n{items(1, 2)}"
        found = roles(text)[0]
        assert (above, found[:4]) == (above, {"甲乙": "G...", "甲乙。": "..G.", "甲乙？": "..G."}[above]), expected


@pytest.mark.parametrize(("length", "joined"), [(23, True), (24, False)])
def test_a_short_line_ends_the_words_before_it(length: int, joined: bool) -> None:
    text = f"男，45岁，腹痛。依此回答第1题至第\n2{' ' * (length - 2)}题\n{items(1, 2)}"
    assert roles(text)[0][0] == ("G" if joined else ".")


def boxed(text: str, top: float, end: float, page: int = 1, left: float = 0.0) -> ParsedLine:
    box = Box(x0=left, y0=top, x1=end, y1=top + 10)
    return ParsedLine(text, page, box, None, LineKind.TEXT, order=int(top))


@pytest.mark.parametrize(
    ("text", "end", "page", "top", "goes_on"),
    [
        ("一、甲乙丙", 100.0, 1, 15.0, True),
        ("一、甲乙丙", 90.1, 1, 15.0, True),
        ("一、甲乙丙", 90.0, 1, 15.0, False),
        ("一、甲乙丙", 100.0, 2, 15.0, False),
        ("一、甲乙丙", 100.0, 1, -15.0, False),
        ("一、甲乙丙", 100.0, 1, 0.0, True),
        ("一、甲乙", 100.0, 1, 15.0, False),
        ("一、甲乙题", 100.0, 1, 15.0, False),
        ("一，甲乙丙", 50.0, 2, 15.0, True),
        ("一，甲乙题", 100.0, 1, 15.0, False),
    ],
)
def test_a_line_that_begins_like_a_head_goes_on_from_a_full_line(
    text: str, end: float, page: int, top: float, goes_on: bool
) -> None:
    wide, beside = boxed("甲", 60, 100), boxed("乙", 60, 300, left=110)
    pieces = [boxed("题", 0, end), boxed(text, top, 60, page), wide, beside]
    assert _runs_over(pieces, 1) is goes_on
    assert not _runs_over(pieces[1:], 0)
    bare = [replace(pieces[0], box=None), *pieces[1:]]
    assert _runs_over(bare, 1) is (goes_on and "，" in text)
    lost = [pieces[0], replace(pieces[1], box=None), *pieces[2:]]
    assert _runs_over(lost, 1) is (goes_on and "，" in text)


@pytest.mark.parametrize(("away", "goes_on"), [(39, False), (40, True)])
def test_the_edge_of_a_column_is_that_of_forty_lines_around(away: int, goes_on: bool) -> None:
    narrow = [boxed("甲", 20 + at, 50) for at in range(80)]
    pieces = [boxed("题", 0, 100), boxed("一、甲乙丙", 15, 60), *narrow]
    pieces[1 + away] = boxed("宽", 20, 200)
    assert _runs_over(pieces, 1) is goes_on
    above = [boxed("甲", at, 50) for at in range(80)]
    above[79 - away] = boxed("宽", 20, 200)
    found = [*above, boxed("题", 90, 100), boxed("一、甲乙丙", 105, 60)]
    assert _runs_over(found, 81) is (away + 2 > 40)


def test_a_centred_line_is_a_heading_before_a_head_or_a_number() -> None:
    texts = ["基础知识", "1. 甲", "A. 乙", "内科", "续行", "儿科", "2. 丙", "3. 丁题"]
    centred = {0, 3, 5, 7}
    pieces = [
        ParsedLine(text, 1, None, None, LineKind.TEXT, centred=at in centred, order=at) for at, text in enumerate(texts)
    ]
    assert "".join(LETTER[role] for role in cut(pieces).roles) == "HN...HNN"
    last = [replace(pieces[0], text="1. 甲", centred=False), replace(pieces[0], order=1)]
    assert "".join(LETTER[role] for role in cut(last).roles) == "NH"
