"""The role of every line of small papers."""

from __future__ import annotations

import pytest

from pipeline.parse.cut import cut
from pipeline.parse.keylines import answers_apart
from pipeline.parse.lines import parsed_lines
from tests.pipeline.parse.conftest import lines_of
from tests.pipeline.parse.short import CASE, FOUR, items

LETTER = {
    "text": ".",
    "number": "N",
    "section": "S",
    "heading": "H",
    "key_head": "K",
    "group": "G",
    "answers": "A",
}


def roles(text):
    """A letter for the role of each line, the numbers of the items, and those that may be items."""
    outline = cut(answers_apart(parsed_lines(lines_of(text))))
    numbers = [(item.number, item.last, item.run) for item in outline.items]
    return "".join(LETTER[role] for role in outline.roles), numbers, [value for _, value in outline.rivals]


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
        (
            "试题一（共15分）\n甲说明\n1. 问题\n试题二（共10分）\n乙说明",
            ("N..N.", [(1, 1, 0), (2, 2, 0)], []),
        ),
        (f"试题一（共15分）\n{items(1)}", ("SN....", [(1, 1, 0)], [])),
        ("一、名词解释\n一、试述甲\n二、试述乙", ("SNN", [(1, 1, 0), (2, 2, 0)], [])),
        (f"1~2. {CASE}\n{items(1, 2)}", ("GN....N....", [(1, 1, 0), (2, 2, 0)], [])),
        (f"试题1-2 甲（1）乙（2）丙\n{FOUR}\n{FOUR}\n{items(3)}", (".........N....", [(3, 3, 0)], [])),
        (f"{items(1)}\n● 甲乙（2）丙\n2. A. 甲 B. 乙 C. 丙 D. 丁", ("N....GN", [(1, 1, 0), (2, 2, 0)], [])),
        (f"{items(1)}\n甲乙（2）丙\n2. A. 甲 B. 乙 C. 丙 D. 丁", ("N....GN", [(1, 1, 0), (2, 2, 0)], [])),
        (f"{items(1)}\n甲乙丙\n2. A. 甲 B. 乙 C. 丙 D. 丁", ("N.....N", [(1, 1, 0), (2, 2, 0)], [])),
        (f"1. 甲\n（1）乙\n（2）丙\n{FOUR}\n{items(2)}", ("N......N....", [(1, 1, 0), (2, 2, 0)], [])),
        (
            f"（1）甲\n{FOUR}\n（3）乙\n{FOUR}\n（2）丙\n{FOUR}",
            ("N.........N....", [(1, 1, 0), (2, 2, 0)], [3]),
        ),
        (f"1. 甲\n既往38.5℃\n{FOUR}\n{items(2)}", ("N.....N....", [(1, 1, 0), (2, 2, 0)], [])),
        (
            f"{items(1, 2)}\n5. 丙\n{FOUR}\n{items(3)}",
            ("N....N.........N....", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], [5]),
        ),
        (
            "\n".join(f"第{at}题 甲\n{FOUR}\n解析：\n1. 乙\n2. 丙" for at in range(1, 6)),
            (
                "N.......N.......N.......N.......N.......",
                [(1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0), (5, 5, 0)],
                [],
            ),
        ),
        (
            "\n".join(f"第{at}题 甲\n{FOUR}\n解析：\n1. 乙\n2. 丙" for at in range(1, 5)),
            ("N.......N.......N.......N.......", [(1, 1, 0), (2, 2, 0), (3, 3, 0), (4, 4, 0)], []),
        ),
        (
            f"第4-5题 甲\n（4）A. 甲 B. 乙\n（5）A. 丙 B. 丁\n{items(6)}",
            (".NN.....", [(4, 4, 0), (5, 5, 0)], [6]),
        ),
        (f"{items(1)}\n第二单元\n{items(2)}", ("N....SN....", [(1, 1, 0), (2, 2, 0)], [])),
        (f"2. 甲\n{FOUR}\n{items(3, 4)}", ("N....N....N....", [(2, 2, 0), (3, 3, 0), (4, 4, 0)], [])),
        (
            f"{items(1, 2, 3)}\n10. 甲\n{FOUR}",
            ("N....N....N.........", [(1, 1, 0), (2, 2, 0), (3, 3, 0)], [10]),
        ),
        (f"D. 丁 8～9题共用备选答案\n{items(1)}", (".N....", [(1, 1, 0)], [])),
    ],
)
def test_the_roles_of_lines(text, expected):
    assert roles(text) == expected
