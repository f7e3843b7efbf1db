"""Habits that the items of a paper share: from how many items on they are habits."""

from collections.abc import Sequence
from typing import Any

import pytest

from build_dataset.pipeline.parse.draft import Draft, Habits, ItemText, set_aside, strip_item_type, take_marks, text_of
from build_dataset.pipeline.parse.fields import split_fields
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.outline import Block, NumberedItem
from build_dataset.pipeline.parse.paper import finish
from build_dataset.pipeline.parse.stage import check_gates, read_paper
from build_dataset.schemas.documents import Box, LineKind
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
    filled = [f"{at}. （B）是第{at}项首选\n{FOUR}\n答案：{'C' if at <= others else 'B'}" for at in range(1, shown + 1)]
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
    (first, *_) = finish(judged(*questions), DOCUMENT).questions
    assert (first.options[-1].text, first.comment) == (("丙", note) if noted >= 3 else (f"丙{note}", None))


def piece(text: str, **more: Any) -> ParsedLine:
    told = {"box": None, "confidence": None, "kind": LineKind.TEXT, **more}
    return ParsedLine(text, told.pop("page", 1), **told)


def draft(stem: str = "", head: str = "", **more: Any) -> Draft:
    return Draft(1, 0, more.pop("pieces", []), Block([head] if head else []), stem=stem, **more)


TWO = [("A", "甲"), ("B", "乙")]


def habits(*texts: str) -> tuple[bool, bool]:
    found = Habits(texts, [split_fields(text) for text in texts])
    return found.single_letters, found.blanks_inside


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["题\nB"], (True, False)),
        (["题"], (False, False)),
        (["题\nB", "题"], (False, False)),
        (["题\nB", "题\nA"], (True, False)),
        (["题\nB"] * 2 + ["题"] * 4, (True, False)),
        (["题\nB"] * 2 + ["题"] * 5, (False, False)),
        (["是（C）的"] * 3 + ["题"] * 2, (False, False)),
        (["是（C）的"] * 4 + ["题"] * 2, (False, True)),
        (["是（C）的\n答案：C"] * 2 + ["题"] * 9, (False, False)),
        (["是（C）的\n答案：C"] * 3 + ["题"] * 9, (False, True)),
        (["是（C）的\n答案：C"] * 3 + ["是（C）的\n答案：B"] * 2 + ["题"] * 9, (False, False)),
        (["是（C）的\n答案：C"] * 4 + ["是（C）的\n答案：B"] * 2 + ["题"] * 9, (False, True)),
    ],
)
def test_habits_of_a_paper_by_their_shares(texts: list[str], expected: tuple[bool, bool]) -> None:
    assert habits(*texts) == expected


def item_text(text: str, others: Sequence[str] = (), **more: Any) -> ItemText:
    texts = [text, *others]
    fields = [split_fields(one) for one in texts]
    item = NumberedItem(1, 1, 0, [piece(text)], Block(), **more)
    return ItemText(item, item.pieces, fields[0], Habits(texts, fields))


@pytest.mark.parametrize(
    ("text", "more", "head", "beside"),
    [
        ("题\nA.甲\nB.乙\nAB", {}, "题\nA.甲\nB.乙", "AB"),
        ("题\nA.甲\nB.乙\nAB\n答案：A", {}, "题\nA.甲\nB.乙\nAB\n", None),
        ("题\nA.甲\nB.乙\nAB", {"given": "C"}, "题\nA.甲\nB.乙\nAB", "C"),
        ("题\nAB", {}, "题", None),
        ("题\nA.甲\nB.乙\nB", {}, "题\nA.甲\nB.乙", "B"),
        ("标题\n题目：题\nA.甲\nB.乙", {}, "\n题目：题\nA.甲\nB.乙", None),
    ],
)
def test_the_head_of_an_item_is_read_once(text: str, more: dict[str, Any], head: str, beside: str | None) -> None:
    found = item_text(text, **more)
    assert (found.head, found.beside) == (head, beside)


def test_an_item_answered_in_words_has_no_options() -> None:
    run = item_text("题\nA.甲\nB.乙").run
    assert run is not None
    assert run.options == tuple(TWO)
    assert item_text("题\nA.甲\nB.乙", worded=True).run is None


def test_rows_of_a_table_and_labels_of_a_figure_are_no_text_unless_they_are_options() -> None:
    row = piece("甲\t乙", in_table=True)
    cell = piece("甲", in_table=True)
    loose = piece("甲\t乙")
    figure = piece("A", kind=LineKind.FIGURE)
    assert text_of([piece("题"), row, cell, loose, figure]) == "题\n\n甲\n甲\t乙\n"
    options = [piece("A.甲\tB.乙", in_table=True), piece("C.丙\tD.丁", in_table=True)]
    assert text_of([piece("题"), *options]) == "题\nA.甲\tB.乙\nC.丙\tD.丁"
    lower = [piece("a.甲\tb.乙", in_table=True)]
    assert text_of([piece("题"), *lower]) == "题\na.甲\tb.乙"
    weak = [piece("A 甲\tB 乙", in_table=True)]
    assert text_of([piece("题"), *weak]) == "题\n"


def test_what_a_draft_tells_of_itself() -> None:
    one = draft(head="单选题", shared_pieces=[piece("例", page=2)], pieces=[piece("题")])
    assert [found.text for found in one.all_pieces] == ["例", "题"]
    assert (one.announced, one.regions, one.attachments) == ("single", None, None)
    one.tag = "多选题"
    assert one.announced == "X"
    one.take_answer(None, "rule")
    one.take_answer("", "rule")
    assert (one.answer, one.steps) == (None, [])
    one.take_answer("AB", "rule")
    assert (one.answer, [(step.part.value, step.rule, step.detail) for step in one.steps]) == (
        "AB", [("answer", "rule", "AB")],
    )  # fmt: skip
    one.flag("odd", "why")
    assert one.flags == [("odd", "why")]


def test_the_regions_of_a_draft_are_a_box_on_every_page() -> None:
    boxes = [Box(x0=5, y0=10, x1=50, y1=20), Box(x0=0, y0=20, x1=40, y1=30), Box(x0=1, y0=2, x1=3, y1=4)]
    pieces = [piece("题", box=box, page=page) for box, page in zip(boxes, (2, 2, 1), strict=True)]
    found = draft(pieces=[*pieces, piece("续")]).regions
    assert found is not None
    assert [(one.page, one.box) for one in found] == [(1, boxes[2]), (2, Box(x0=0, y0=10, x1=50, y1=30))]


def test_a_table_of_options_is_no_attachment() -> None:
    pieces = [piece("", kind=kind) for kind in (LineKind.TABLE, LineKind.FIGURE)]
    one = draft(pieces=pieces)
    assert one.attachments == ["figure", "table"]
    one.options_in_cells = True
    assert one.attachments == ["figure"]
    assert draft(pieces=pieces[:1], options_in_cells=True).attachments is None


@pytest.mark.parametrize(
    ("stem", "options", "tag", "expected"),
    [
        ("[多选题]首选的是", TWO, "多选题", "首选的是"),
        ("[多选题]首选的是", [], "多选题", "首选的是"),
        ("首选的是[单选题] *", TWO, "单选题", "首选的是"),
        ("首选的是[单选题] *", [], "", "首选的是[单选题] *"),
        ("（2分）首选的是", TWO, "", "首选的是"),
        ("（2分）首选的是", [], "", "（2分）首选的是"),
        ("题目：首选的是（ ）。选项：", TWO, "", "首选的是（ ）。"),
        ("首选的是（ ）[选项]", TWO, "", "首选的是（ ）"),
        ("题目：首选的是（ ）。选项：", [], "", "题目：首选的是（ ）。选项："),
        ("[多选题]（2分）首选的是", TWO, "多选题", "首选的是"),
    ],
)
def test_the_tag_of_a_stem(stem: str, options: list[tuple[str, str]], tag: str, expected: str) -> None:
    one = draft(stem, options=options)
    strip_item_type(one)
    assert (one.tag, one.stem) == (tag, expected)


def test_a_mark_at_the_right_option_is_its_answer() -> None:
    one = draft(options=[("A", "甲(正确答案)"), ("B", "乙"), ("C", "丙 （正确选项）")])
    assert take_marks(one, habit=False) == "AC"
    assert one.options == [("A", "甲"), ("B", "乙"), ("C", "丙")]
    assert take_marks(one, habit=False) == ""


@pytest.mark.parametrize(
    ("stem", "head", "text", "options", "worded", "reason"),
    [
        ("题", "C型题", "题", [], False, "c_type"),
        ("题", "K型题", "题", [], False, "k_type"),
        ("题", "C型题", "题", TWO, False, None),
        ("题", "", "题\n答案：A：③ B：④", TWO, False, "coded_answer"),
        ("题", "", "题", [("A", "（5分）甲"), ("B", "乙")], False, "short_answer"),
        ("题", "", "题", TWO, True, None),
        ("题", "", "题", [], True, "short_answer"),
        ("判断：甲", "", "题", [], False, "true_false"),
        ("题", "", "题\n答案：√", [], False, "true_false"),
        ("填空：甲", "", "题", [], False, "fill_in"),
        ("甲___乙", "", "题", [], False, "fill_in"),
        ("甲__乙", "", "题", [], False, None),
        ("题", "判断题", "题", [], False, "true_false"),
        ("题", "单选题", "题", [], False, None),
        ("请填写在答题卡上", "", "题", [], False, "instruction"),
        ("题", "", "题\n答案：因为甲", [], False, "short_answer"),
        ("题", "", "题\n答案：A", [], False, None),
        ("题", "", "题\n答案：BA", [], False, "short_answer"),
        ("题", "", "题\n答案：ABCDEFG", [], False, "short_answer"),
        ("题", "", "题\n答案：ABCDEF", [], False, None),
        ("（5分）题", "", "题", [], False, "short_answer"),
        ("题", "", "题", [], False, None),
    ],
)
def test_why_an_item_is_no_question(
    stem: str, head: str, text: str, options: list[tuple[str, str]], worded: bool, reason: str | None
) -> None:
    one = draft(stem, head, options=options)
    found = set_aside(one, split_fields(text), worded=worded)
    assert (found and found[0]) == reason
