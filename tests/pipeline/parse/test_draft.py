"""Habits that the items of a paper share: from how many items on they are habits."""

from __future__ import annotations

import pytest

from pipeline.parse.paper import finish
from pipeline.parse.stage import check_gates, read_paper
from tests.pipeline.parse.conftest import lines_of
from tests.pipeline.parse.short import DOCUMENT, FOUR, told


def judged(*questions):
    paper = read_paper("x.pdf", lines_of("\n".join(questions)))
    check_gates(paper)
    return paper


@pytest.mark.parametrize(
    ("shown", "others", "habit"),
    [(3, 1, False), (4, 1, True), (5, 1, True), (5, 2, False), (6, 2, True), (8, 3, True), (7, 3, False)],
)
def test_blanks_show_answers_where_three_and_more_than_three_fifths_repeat_them(shown, others, habit):
    """A blank with another letter than the answer behind its mark is an error then."""
    filled = [
        f"{at}. （B）是第{at}项首选\n{FOUR}\n答案：{'C' if at <= others else 'B'}"
        for at in range(1, shown + 1)
    ]
    plain = [f"{at}. 第{at}项首选\n{FOUR}\n答案：A" for at in range(shown + 1, 2 * shown + 1)]
    found = told(finish(judged(*filled, *plain), DOCUMENT))
    assert ("?1 answers_disagree" in found) is habit


@pytest.mark.parametrize(
    ("items", "ends", "read"),
    [(1, 1, True), (2, 1, False), (2, 2, True), (3, 1, False), (6, 2, True), (9, 2, False), (9, 3, True)],
)
def test_letters_on_lines_of_their_own_are_answers_where_a_third_of_the_items_end_so(items, ends, read):
    questions = [f"{at}. 第{at}项首选\n{FOUR}" + "\nB" * (at <= ends) for at in range(1, items + 1)]
    assert (judged(*questions).questions[0].answer == "B") is read


@pytest.mark.parametrize("noted", range(1, 6))
def test_a_note_behind_the_last_options_of_three_items_is_no_part_of_them(noted):
    note = "（难度系数B）"
    questions = [f"{at}. 第{at}项是\nA. 甲\nB. 乙\nC. 丙{note * (at <= noted)}" for at in range(1, 7)]
    (first, *_) = judged(*questions).questions
    assert (first.options[-1][1], first.comment) == (("丙", note) if noted >= 3 else (f"丙{note}", None))
