"""Room on a page where lines may have stood that were not read: how much of it makes a question wait."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from build_dataset.pipeline.parse.draft import Draft
from build_dataset.pipeline.parse.keys import Key
from build_dataset.pipeline.parse.layout_checks import BESIDE, INSIDE, _may_hold_more, _not_closed
from build_dataset.pipeline.parse.line_gaps import LineGaps, white_between
from build_dataset.pipeline.parse.lines import ColumnEdges, ParsedLine, is_complete_line
from build_dataset.pipeline.parse.outline import Block, Outline, Role
from build_dataset.pipeline.parse.paper import Gap, ParsedPaper
from build_dataset.schemas.documents import Box, LineKind
from tests.pipeline.parse.short import check


def spot(
    text: str, top: float, order: int = 0, page: int = 1, left: float = 0.0, end: float = 50.0, **more: Any
) -> ParsedLine:
    box = Box(x0=left, y0=top, x1=end, y1=top + 10)
    return ParsedLine(text, page, box, more.pop("confidence", None), LineKind.TEXT, order=order, **more)


def lay(*whites: float, page: int = 1, top: float = 0.0, first: int = 0, **more: Any) -> list[ParsedLine]:
    """Lines ten high, one more than there are whites, with these between them; the first is full."""
    tops = [top, *(top + sum(whites[: at + 1]) + 10 * (at + 1) for at in range(len(whites)))]
    return [
        spot(f"第{first + at}行", one, first + at, page, end=50 if at else 100, **more) for at, one in enumerate(tops)
    ]


def own_draft(number: int, pieces: Sequence[ParsedLine], count: int = 2, **more: Any) -> Draft:
    options = [(chr(65 + at), "甲") for at in range(count)]
    return Draft(number, 0, list(pieces), more.pop("block", HEAD_BLOCK), section=1, options=options, **more)


def sheet(
    pieces: Sequence[ParsedLine], drafts: Sequence[Draft], heads: Sequence[int] = (), gaps: Sequence[Gap] = ()
) -> ParsedPaper:
    roles = [Role.SECTION if at in heads else Role.TEXT for at in range(len(pieces))]
    paper = ParsedPaper("x.pdf", list(pieces), [], list(drafts), Key(), None, "", Outline(roles=roles))
    paper.gaps = list(gaps)
    return paper


def rooms_of(pieces: Sequence[ParsedLine], drafts: Sequence[Draft], heads: Sequence[int] = ()) -> LineGaps:
    return LineGaps(sheet(pieces, drafts, heads), ColumnEdges(pieces))


def holes(rooms: LineGaps) -> dict[tuple[int, int], float]:
    return {place: round(lines, 3) for place, lines in rooms.holes.items()}


HEAD_BLOCK = Block()


@pytest.mark.parametrize("tilt", [0.0, 12.0, 25.0])
def test_a_tilted_line_is_complete_as_a_level_one(tilt: float) -> None:
    """The box of a long line on a photograph is higher than its type."""
    tall = spot("(A)甲\t(D)丁", 30, end=75)
    assert tall.box is not None
    tall = replace(tall, box=tall.box.model_copy(update={"y1": tall.box.y1 + tilt}))
    others = [spot("甲", 15 * at, end=end) for at, end in enumerate((100, 40, 40, 40, 40))]
    assert is_complete_line(tall, ColumnEdges([*others, tall]))


@pytest.mark.parametrize(
    ("left", "end", "edge"), [(0.0, 90.0, 100.0), (0.0, 110.0, 100.0), (0.0, 111.0, 200.0), (110.0, 150.0, 200.0)]
)
def test_the_edge_of_a_column_is_the_farthest_end_of_what_starts_before_the_end_of_a_line(
    left: float, end: float, edge: float
) -> None:
    columns = [
        spot("甲", 0, end=100),
        spot("乙", 15, end=90),
        spot("丙", 0, left=110, end=200),
        spot("丁", 15, left=110, end=150),
    ]
    assert ColumnEdges(columns).of(Box(x0=left, y0=0, x1=end, y1=10)) == edge


@pytest.mark.parametrize(("end", "short"), [(67.9, True), (68.0, False)])
def test_a_line_is_short_by_its_share_of_its_column(end: float, short: bool) -> None:
    edges = ColumnEdges([spot("甲", 0, left=20, end=100)])
    assert edges.ends_short(spot("甲", 5, left=20, end=end)) is short


@pytest.mark.parametrize(
    ("text", "end", "by_words", "complete"),
    [("甲", 79.9, True, True), ("甲", 80.0, True, False), ("甲。 ", 99.0, True, True), ("甲。", 99.0, False, False)],
)
def test_a_line_that_stands_lower_is_complete_two_heights_before_the_edge(
    text: str, end: float, by_words: bool, complete: bool
) -> None:
    edges = ColumnEdges([spot("甲", 0, end=100)])
    assert is_complete_line(spot(text, 30, end=end), edges, by_words=by_words) is complete
    assert is_complete_line(ParsedLine(text, 1, None, None, LineKind.TEXT), edges, by_words=by_words)


@pytest.mark.parametrize(
    ("below", "white"),
    [
        (spot("乙", 15), 5.0),
        (spot("乙", 8), 0.0),
        (spot("乙", 0.5), 0.0),
        (spot("乙", 0), None),
        (spot("乙", 15, left=49.9, end=90), 5.0),
        (spot("乙", 15, left=50, end=90), None),
        (spot("乙", 15, page=2), None),
        (replace(spot("乙", 15), box=None), None),
        (replace(spot("乙", 15), in_table=True), None),
        (replace(spot("乙", 15), kind=LineKind.FIGURE), None),
    ],
)
def test_the_white_between_a_line_and_the_next_of_its_column(below: ParsedLine, white: float | None) -> None:
    assert white_between((spot("甲", 0), below)) == white


def test_no_white_is_known_under_a_line_without_a_box() -> None:
    assert white_between((replace(spot("甲", 0), box=None), spot("乙", 15))) is None


@pytest.mark.parametrize(
    ("whites", "confidence", "expected"),
    [
        ((5, 5, 5, 14), None, {}),
        ((5, 5, 5, 14.5), None, {(1, 3): 0.633}),
        ((5, 5, 14.5, 5), None, {(1, 2): 0.633}),
        ((5, 5, 5, 23), 0.9, {}),
        ((5, 5, 5, 23.5), 0.9, {(1, 3): 1.233}),
        ((5, 23), None, {}),
        ((5, 23.5), None, {(1, 1): 0.381}),
        ((100,), None, {}),
        ((5, 5, 5, 50, 50), None, {}),
        ((*[5] * 39, 50, 50), None, {(1, 39): 3.0, (1, 40): 3.0}),
        ((*[5] * 38, 50, 50, 50), None, {}),
    ],
)  # fmt: skip
def test_more_white_than_usual_inside_a_question_is_a_hole(
    whites: tuple[float, ...], confidence: float | None, expected: object
) -> None:
    pieces = lay(*whites, confidence=confidence)
    rooms = rooms_of(pieces, [own_draft(1, pieces)])
    assert holes(rooms) == expected


def test_one_recognised_line_makes_all_boxes_uncertain() -> None:
    pieces = lay(5, 5, 5, 23)
    assert holes(rooms_of([replace(pieces[0], confidence=0.9), *pieces[1:]], [own_draft(1, pieces)])) == {}
    bare = [replace(one, box=None) for one in pieces]
    assert rooms_of(bare, [own_draft(1, bare)]).drawn is False


def in_threes(*after: float) -> list[ParsedLine]:
    """Questions of three lines each, with these whites after them."""
    return lay(*(white for one in after for white in (5, 5, one)), 5, 5)


@pytest.mark.parametrize(("white", "expected"), [(14, {}), (14.5, {(1, 8): 0.633}), (100, {(1, 8): 6.333})])
def test_more_white_than_usual_after_a_question_is_a_hole(white: float, expected: object) -> None:
    pieces = in_threes(5, 5, white, 5)
    drafts = [own_draft(at, pieces[3 * at : 3 * at + 3]) for at in range(5)]
    assert holes(rooms_of(pieces, drafts)) == expected


@pytest.mark.parametrize(
    ("white", "end", "expected"),
    [(14, 50.0, {}), (27.4, 50.0, {}), (27.5, 50.0, {(1, 8): 1.5}), (27.4, 100.0, {(1, 8): 1.493})],
)
def test_a_page_leaves_room_for_a_line_and_a_half_before_a_head(white: float, end: float, expected: object) -> None:
    pieces = in_threes(5, 5, white, 5)
    pieces[1:] = [replace(one, box=Box(x0=0, y0=one.box.y0, x1=end, y1=one.box.y1)) for one in pieces[1:] if one.box]
    drafts = [own_draft(at, pieces[3 * at : 3 * at + 3]) for at in range(5) if at != 3]
    assert holes(rooms_of(pieces, drafts, heads=[9])) == expected


@pytest.mark.parametrize(("white", "expected"), [(42.4, {}), (42.5, {(1, 8): 2.5})])
def test_a_page_leaves_room_for_two_lines_and_a_half_before_a_key(white: float, expected: object) -> None:
    pieces = in_threes(5, 5, white, 5)
    drafts = [own_draft(at, pieces[3 * at : 3 * at + 3], entry=at > 2) for at in range(5)]
    assert holes(rooms_of(pieces, [*drafts, own_draft(9, [], entry=True)])) == expected


def test_the_head_of_a_case_is_the_first_of_its_lines() -> None:
    pieces = lay(5, 5, 5, 5, 5)
    case = own_draft(1, pieces[3:5], shared_pieces=pieces[1:3])
    rooms = rooms_of(pieces, [case])
    assert [(one.order, other.order) for one, other in rooms.inside(case)] == [(0, 1), (1, 2), (3, 4)]
    assert [(one.order, other.order) for one, other in rooms.after(case)] == [(4, 5), (2, 3)]
    headed = rooms_of(pieces, [case], heads=[1])
    assert [(one.order, other.order) for one, other in headed.inside(case)] == [(1, 2), (3, 4)]
    first = own_draft(1, pieces[3:], shared_pieces=pieces[:3])
    assert [(one.order, other.order) for one, other in rooms.inside(first)] == [(0, 1), (1, 2), (3, 4), (4, 5)]
    assert [(one.order, other.order) for one, other in rooms.after(first)] == [(2, 3)]


def on_pages(
    count: int, short: Mapping[int, float] = {}, low: Mapping[int, float] = {}
) -> tuple[list[ParsedLine], list[Draft]]:
    """Pages of three lines; some end so much higher, or begin so much lower."""
    pieces: list[ParsedLine] = []
    drafts: list[Draft] = []
    for page in range(1, count + 1):
        less, more = short.get(page, 0.0), low.get(page, 0.0)
        own = lay(5, 5, page=page, top=50 + more)
        own.append(spot("末", 150 - less, 3, page))
        drafts.append(own_draft(page, own))
        pieces += own
    return pieces, drafts


@pytest.mark.parametrize(
    ("count", "short", "low", "expected"),
    [
        (4, {}, {}, {}),
        (4, {2: 9}, {}, {}),
        (4, {2: 9.5}, {}, {(2, 3): 0.633}),
        (4, {2: 15}, {}, {(2, 3): 1.0}),
        (3, {2: 15}, {}, {}),
        (4, {4: 15}, {}, {}),
        (4, {2: 15, 3: 15}, {}, {}),
        (4, {}, {3: 9}, {}),
        (4, {}, {3: 9.5}, {(2, 3): 0.633}),
        (4, {}, {3: 15}, {(2, 3): 1.0}),
        (4, {}, {1: 15}, {}),
        (3, {}, {3: 15}, {}),
        (4, {2: 15}, {3: 30}, {(2, 3): 3.0}),
        (12, {2: 9, 5: 15}, {}, {(5, 3): 1.0}),
        (12, {2: 15, 5: 15}, {}, {}),
        (12, {}, {2: 9, 5: 15}, {(4, 3): 1.0}),
        (21, {2: 15, 9: 15}, {}, {(2, 3): 1.0, (9, 3): 1.0}),
        (21, {2: 15, 5: 15, 9: 15}, {}, {}),
        (26, {2: 15, 5: 15, 9: 15}, {}, {}),
        (31, {2: 15, 5: 15, 9: 15}, {}, {(2, 3): 1.0, (5, 3): 1.0, (9, 3): 1.0}),
    ],
)
def test_pages_that_stand_back_from_nearly_all_others(
    count: int, short: dict[int, float], low: dict[int, float], expected: object
) -> None:
    pieces, drafts = on_pages(count, short, low)
    rooms = rooms_of(pieces, drafts)
    assert {place: lines for place, lines in holes(rooms).items() if place[1] == 3} == expected
    assert rooms.breaks == {(page, 3) for page in range(1, count)}


@pytest.mark.parametrize(
    ("other", "expected"), [(50.0, {}), (59.0, {}), (59.5, {(5, 1): 0.633}), (100.0, {(5, 1): 3.333})]
)
def test_columns_of_a_last_page_may_be_balanced(other: float, expected: object) -> None:
    pieces, drafts = on_pages(4)
    last = [spot("甲", 0, 0, 5), spot("乙", 50, 1, 5), spot("丙", 0, 2, 5, 60, 90), spot("丁", other, 3, 5, 60, 90)]
    rooms = rooms_of([*pieces, *last], [*drafts, own_draft(9, last)])
    assert {place: lines for place, lines in holes(rooms).items() if place == (5, 1)} == expected


def checked(
    pieces: Sequence[ParsedLine], drafts: Sequence[Draft], gaps: Sequence[Gap] = (), heads: Sequence[int] = ()
) -> list[list[tuple[str, str]]]:
    check(sheet(pieces, drafts, heads, gaps), [*INSIDE, *BESIDE])
    return [one.flags for one in drafts]


def worded(pieces: Sequence[ParsedLine], texts: Mapping[int, str]) -> list[ParsedLine]:
    return [replace(one, text=texts.get(one.order, one.text)) for one in pieces]


@pytest.mark.parametrize(
    ("white", "texts", "gaps", "told"),
    [
        (14.5, {}, [], "第1行"),
        (14.5, {1: "甲" * 30}, [], "甲" * 20),
        (14.5, {2: "A.甲"}, [], None),
        (27.4, {2: "A.甲"}, [], None),
        (27.5, {2: "A.甲"}, [], "第1行"),
        (14.5, {2: "A.甲"}, [Gap(1, 2, "")], "第1行"),
        (14.5, {2: "A.甲"}, [Gap(1, 3, "")], None),
        (14.5, {1: "说完。", 2: "A.甲"}, [], None),
        (5, {2: "A.甲"}, [], None),
    ],
)
def test_room_inside_a_question(white: float, texts: dict[int, str], gaps: list[Gap], told: str | None) -> None:
    pieces = worded(lay(5, white, 5, 5), texts)
    found = checked(pieces, [own_draft(1, pieces)], gaps)[0]
    expected = [("room_inside", f"there is room for a line after {told!r}")] if told else []
    assert [one for one in found if one[0] == "room_inside"] == expected


@pytest.mark.parametrize(
    ("left", "text", "read", "told"),
    [(51, "续", 0.99, True), (50, "续", 0.99, False), (51, "A.甲", 0.99, False), (51, "续", None, False)],
)
def test_a_recognised_line_that_goes_on_far_right_may_have_lost_its_beginning(
    left: float, text: str, read: float | None, told: bool
) -> None:
    pieces = [replace(one, confidence=read) for one in worded(lay(5, 5, 5, 5), {2: text})]
    full = replace(pieces[1], box=Box(x0=0, y0=15, x1=100, y1=25))
    late = replace(pieces[2], box=Box(x0=left, y0=30, x1=100, y1=40))
    mine = [pieces[0], full, late, *pieces[3:]]
    expected = [("room_inside", "there is room for a line after '第1行'")] if told else []
    assert checked(mine, [own_draft(1, mine)]) == [expected]
    complete = [pieces[0], replace(full, text="已经说完。"), late, *pieces[3:]]
    assert checked(complete, [own_draft(1, complete)]) == [[]]


def test_room_before_an_option_belongs_to_a_line_that_is_full() -> None:
    pieces = worded(lay(5, 14.5, 5, 5), {2: "A.甲"})
    full = replace(pieces[1], box=Box(x0=0, y0=15, x1=100, y1=25))
    asks = replace(full, text="首选的是？")
    ends = replace(full, text="已经说完。")
    told = "there is room for a line after {!r}"
    for line, expected in (
        (full, [("room_inside", told.format("第1行"))]),
        (asks, []),
        (ends, [("room_inside", told.format("已经说完。"))]),
    ):
        mine = [pieces[0], line, *pieces[2:]]
        assert checked(mine, [own_draft(1, mine)]) == [expected]


@pytest.mark.parametrize(
    ("last", "next_text", "told"),
    [("第1行", "A.甲", True), ("第1行", "续", False), ("A.甲", "B.乙", False), ("首选的是？", "A.甲", False)],
)
def test_a_stem_that_is_full_at_the_end_of_a_page_may_go_on(last: str, next_text: str, told: bool) -> None:
    one, other = lay(5), lay(5, page=2)
    full = replace(one[1], text=last, box=Box(x0=0, y0=15, x1=100, y1=25))
    pieces = [one[0], full, replace(other[0], text=next_text), other[1]]
    expected = [("room_inside", f"a page ends after {last!r}, which may go on")] if told else []
    assert checked(pieces, [own_draft(1, pieces)]) == [expected]
    together = [one[0], full, replace(lay(5, 5)[2], text=next_text)]
    assert checked(together, [own_draft(1, together)]) == [[]]


def test_a_part_of_an_item_has_no_room_of_its_own() -> None:
    pieces = lay(5, 50, 5, 5)
    assert checked(pieces, [own_draft(1, pieces, suffix="a")]) == [[]]


@pytest.mark.parametrize(
    ("texts", "count", "more", "told"),
    [
        (["题", "A.甲 B.乙 C.丙"], 3, {}, None),
        (["题", "A.甲 B.乙 C.丙"], 3, {"full": 1}, "its last line is full, and nothing shows where it ends"),
        (["题", "A.甲 B.乙 C.丙"], 3, {"full": 0}, None),
        (["题", "A.甲 B.乙 C.丙", "续行"], 3, {}, "lines follow its last option"),
        (["题 A 甲", "A.甲 B.乙 C.丙"], 3, {}, None),
        (["题", "A.甲 B.乙 A.丙 B.丁"], 2, {}, "options may begin twice"),
        (["题"], 2, {}, "options may begin twice"),
        (["题"], 0, {}, None),
        (["题", "续行"], 0, {}, "it has several lines"),
        (["题"], 2, {"suffix": "a"}, None),
        (["题", "续行"], 2, {"suffix": "a"}, "it has several lines"),
        (["题", "续行"], 2, {"shared_options": True}, "it has several lines"),
        (["题"], 2, {"shared_options": True}, None),
        (["题", "A.甲 B.乙", "答案：A", "甲 A.丙 B.丁 C.戊"], 3, {}, "options stand after its answer"),
        (["题", "A.甲 B.乙", "答案：A", "甲 A.丙 B.丁"], 2, {}, "options stand after its answer"),
        (["题", "A.甲 B.乙 C.丙", "答案：A", "甲 A.丙 B.丁"], 3, {}, None),
        (["题", "A.甲 B.乙 C.丙 D.丁", "答案：A", "甲 A.丙 B.丁 C.戊"], 4, {}, "options stand after its answer"),
        (["题", "A.甲 B.乙 C.丙 D.丁", "答案：A", "甲 A.丙 B.丁"], 4, {}, None),
    ],
)
def test_why_a_question_before_a_lost_number_may_hold_more(
    texts: list[str], count: int, more: dict[str, Any], told: str | None
) -> None:
    full = more.pop("full", None)
    pieces = [spot(text, 15 * at, at, end=100 if at == full else 50) for at, text in enumerate(texts)]
    wide = spot("宽", 600, 99, end=100)
    one = own_draft(1, pieces, count, **more)
    assert _may_hold_more(one, rooms_of([*pieces, wide], [one])) == told
    bare = [replace(piece, box=None) for piece in pieces]
    other = own_draft(1, bare, count, **more)
    expected = None if told and told.startswith("its last line") else told
    assert _may_hold_more(other, rooms_of(bare, [other])) == expected


def test_a_figure_in_a_question_before_a_lost_number_may_hide_more() -> None:
    pieces = [spot("题", 0), replace(spot("", 15, 1), kind=LineKind.FIGURE), spot("A.甲 B.乙", 30, 2)]
    one = own_draft(1, pieces)
    assert _may_hold_more(one, rooms_of(pieces, [one])) == "a figure or table stands in it"


ROOM = "room stands between its lines"


CLOSED, OPEN = ((5, 5, 5), (5, 5, 14), (3, 5, 12), (8, 8, 8), ()), ((5, 5, 14.5), (3, 5, 12.5), (16, 16, 16))


@pytest.mark.parametrize(("whites", "told"), [*((one, None) for one in CLOSED), *((one, ROOM) for one in OPEN)])
def test_room_between_the_lines_of_a_question_before_a_lost_number(whites: tuple[float, ...], told: str | None) -> None:
    pieces = lay(*whites)
    other = lay(5, 5, 5, 5, 5, top=500.0, first=20)
    one = own_draft(1, pieces)
    rooms = rooms_of([*pieces, *other], [one, own_draft(2, other)])
    assert _not_closed(one, rooms) == told


def test_a_question_over_two_pages_is_not_closed() -> None:
    pieces = [*lay(5), *lay(5, page=2)]
    for mine, told in (
        (pieces, "it crosses a column or a page"),
        (pieces[:3], "it crosses a column or a page"),
        (pieces[:2], None),
        (pieces[2:], None),
    ):
        one = own_draft(1, mine)
        assert _not_closed(one, rooms_of(pieces, [one])) == told
    bare = own_draft(1, [replace(piece, box=None) for piece in pieces])
    assert _not_closed(bare, rooms_of(pieces, [own_draft(1, pieces)])) is None


def neighbours(numbers: Sequence[int], lost: Sequence[int], **more: dict[str, Any]) -> list[tuple[int | None, str]]:
    """The questions that may hold a lost number, and why; of a full last line."""
    drafts = [own_draft(at, [spot("甲", 20 * at, at, end=100)], **more.get(f"_{at}", {})) for at in numbers]
    pieces = [piece for one in drafts for piece in one.pieces]
    checked(pieces, drafts, [Gap(1, at, "") for at in lost])
    return [(one.number, detail) for one in drafts for reason, detail in one.flags if reason == "may_hold_another"]


FULL = "its last line is full, and nothing shows where it ends"


def test_the_question_before_a_lost_number_may_hold_it() -> None:
    assert neighbours([1, 2, 4, 5], [3]) == [(2, f"number 3 was not found; {FULL}")]
    assert neighbours([1, 2, 5], [3, 4]) == [(2, f"number 3 was not found; {FULL}")]
    assert neighbours([1, 3, 5], [2, 4]) == [
        (1, f"number 2 was not found; {FULL}"),
        (3, f"number 4 was not found; {FULL}"),
    ]
    assert neighbours([2, 3], [1]) == []
    assert neighbours([1, 2], [3]) == [(2, f"number 3 was not found; {FULL}")]
    assert neighbours([1, 2], []) == []


def test_what_is_shared_after_a_lost_number_may_hold_it() -> None:
    shared = "number {} was not found; what is shared may hold it"
    head: dict[str, Any] = {"group": "g", "group_headed": True}
    for first, expected in ((3, True), (2, True), (4, False)):
        told = neighbours([2, 4, 5], [3], _4={**head, "group_first": first}, _5=head)
        both = [(4, shared.format(3)), (5, shared.format(3))] if expected else []
        assert told == [(2, f"number 3 was not found; {FULL}"), *both]
    loose = {"group": "g"}
    assert neighbours([2, 4, 5], [3], _4=loose, _5=loose) == [(2, f"number 3 was not found; {FULL}")]
    options = {"group": "g", "shared_options": True}
    assert [at for at, _ in neighbours([2, 4, 5], [3], _4=options, _5=options)] == [2, 4, 5]
    same = {**head, "group_first": 2}
    assert [at for at, _ in neighbours([2, 4, 5], [3], _2=same, _4=same, _5=same)] == [2]


def unchosen(numbers: list[tuple[ParsedLine, int]], drafts: list[Draft]) -> None:
    paper = sheet([], drafts)
    paper.outline.unchosen_numbers = numbers
    check(paper, [*INSIDE, *BESIDE])


def test_a_line_that_begins_like_another_question_makes_all_concerned_wait() -> None:
    pieces = lay(*[5.0] * 9)
    drafts = [own_draft(at, pieces[2 * at : 2 * at + 2]) for at in range(5)]
    drafts[3].group = drafts[4].group = "g"
    drafts[0].run = 1
    other = replace(own_draft(3, []), run=1)
    rival = replace(pieces[3], text="3. " + "甲" * 30)
    unchosen([(rival, 3)], [*drafts, other])
    told = [("may_hold_another", f"a line begins like number 3: {'3. ' + '甲' * 17!r}")]
    assert [one.flags for one in [*drafts, other]] == [[], told, [], told, told, []]


def test_a_rival_before_the_first_question_names_none() -> None:
    pieces = lay(*[5.0] * 3)
    drafts = [own_draft(1, pieces[1:2]), own_draft(2, pieces[2:])]
    unchosen([(pieces[0], 2)], drafts)
    assert [one.flags for one in drafts] == [[], []]
    unchosen([(pieces[1], 2)], drafts)
    assert [len(one.flags) for one in drafts] == [1, 1]
    unchosen([], drafts)
    assert [len(one.flags) for one in drafts] == [1, 1]


def test_the_end_of_a_page_without_a_box_tells_nothing() -> None:
    pieces, drafts = on_pages(5, {2: 15})
    pieces[11] = replace(pieces[11], box=None)
    drafts[2].pieces[3] = pieces[11]
    assert {place for place in holes(rooms_of(pieces, drafts)) if place[1] == 3} == {(2, 3)}


def test_questions_of_one_line_have_no_usual_white() -> None:
    pieces = lay(5, 5)
    assert rooms_of(pieces, [own_draft(at, [piece]) for at, piece in enumerate(pieces)]).usual == 0.0
    assert not ColumnEdges([]).ends_short(ParsedLine("", 1, None, None, LineKind.TEXT))


def test_a_question_that_is_whole_and_alone_holds_no_lost_number() -> None:
    pieces = [spot("题", 0, 0, end=100), spot("A.甲 B.乙 C.丙", 15, 1), spot("宽", 30, 2, end=100)]
    drafts = [own_draft(1, pieces[:2], 3), own_draft(3, pieces[2:], 3)]
    drafts[1].section = 1
    assert checked(pieces, drafts, [Gap(1, 2, "")]) == [[], []]
    other = [replace(one, section=2) for one in drafts]
    assert checked(pieces, other, [Gap(1, 2, "")]) == [[], []]
