"""A paper, cut: every line goes where its role says, and heads of keys are the key's."""

import pytest

from build_dataset.pipeline.parse.heads import GroupHead, NumberCandidate, NumberStyle
from build_dataset.pipeline.parse.keylines import KeyLine, KeyPair
from build_dataset.pipeline.parse.lines import ParsedLine
from build_dataset.pipeline.parse.outline import Block, Builder, Cutting, Outline, Role
from build_dataset.schemas.documents import LineKind

ROLES = {
    ".": Role.TEXT,
    "N": Role.NUMBER,
    "S": Role.SECTION,
    "H": Role.HEADING,
    "K": Role.KEY_HEAD,
    "G": Role.GROUP,
    "A": Role.ANSWERS,
}


def line(text: str, order: int = 0) -> ParsedLine:
    return ParsedLine(text, 1, None, None, LineKind.TEXT, True, True, order)


def mark(at: int, value: int, last: int | None = None, end: int = 2) -> NumberCandidate:
    return NumberCandidate(at, value, NumberStyle.DOT, end, 1.0, last or value, given="C", worded=True)


def cutting(letters: str, texts: dict[int, str], values: list[int] | None = None) -> Cutting:
    """Lines with these roles; numbers count from 1 unless their values are given."""
    pieces = [line(texts.get(at, f"{letter}{at}"), at) for at, letter in enumerate(letters)]
    found = Cutting(pieces, [ROLES[letter] for letter in letters])
    numbers = iter(values or range(1, len(letters) + 1))
    found.marks = {at: mark(at, next(numbers)) for at, letter in enumerate(letters) if letter == "N"}
    found.groups = {
        at: GroupHead(None, None, options=False, end=1) for at, letter in enumerate(letters) if letter == "G"
    }
    found.answers = {at: KeyLine((KeyPair(1, "A"),)) for at, letter in enumerate(letters) if letter == "A"}
    return found


def built(letters: str, texts: dict[int, str] | None = None, values: list[int] | None = None) -> Outline:
    return Builder(cutting(letters, texts or {}, values)).build()


def orders(pieces: list[ParsedLine]) -> list[int]:
    return [piece.order for piece in pieces]


def test_every_line_goes_where_its_role_says() -> None:
    outline = built("..S.N.N.A.S.G.N")
    assert orders(outline.preamble) == [0, 1]
    assert orders(outline.instructions) == [3, 11]
    assert [orders(item.pieces) for item in outline.items] == [[4, 5], [6, 7], [14]]
    assert orders(outline.after_keys) == [9]
    assert [orders(group.pieces) for group in outline.groups] == [[12, 13]]
    assert [(one.item, one.head, one.title) for one in outline.keys] == [(2, "S2", "S2")]
    assert [block.heads for block in outline.blocks] == [["S2", ".3"], ["S10", ".11"]]
    assert outline.prose == [
        ".0",
        ".1", "S2", ".3", "N4", ".5", "N6", ".7", ".9", "S10", ".11", "G12", ".13", "N14",
    ]  # fmt: skip


def test_an_item_begins_behind_its_number() -> None:
    told = cutting("N", {0: "1.  甲"})
    (item,) = Builder(told).build().items
    (first,) = item.pieces
    assert (first.text, first.centred, first.in_table) == ("  甲", False, False)
    assert (item.number, item.last, item.run, item.given, item.worded) == (1, 1, 0, "C", True)
    assert (item.style, item.printed) == ("dot", "1.")


@pytest.mark.parametrize(
    ("letters", "values", "runs"),
    [
        ("NNN", [1, 2, 3], [0, 0, 0]),
        ("NNN", [1, 2, 2], [0, 0, 0]),
        ("NNN", [1, 2, 1], [0, 0, 1]),
        ("NNNN", [1, 2, 1, 1], [0, 0, 1, 1]),
        ("NSN", [2, 2], [0, 1]),
        ("NSN", [2, 3], [0, 0]),
        ("NSN", [2, 1], [0, 1]),
    ],
)
def test_a_run_of_the_numbering_ends_where_numbers_fall_back(letters: str, values: list[int], runs: list[int]) -> None:
    assert [item.run for item in built(letters, values=values).items] == runs


@pytest.mark.parametrize(
    ("first", "last", "grouped"),
    [
        (1, 2, [True, True, False, False]),
        (1, 3, [True, True, True, False]),
        (None, None, [True, True, True, True]),
        (3, 4, [True, True, True, True]),
        (0, 0, [False, False, False, False]),
    ],
)
def test_a_shared_text_is_that_of_items_up_to_its_last_number(
    first: int | None, last: int | None, grouped: list[bool]
) -> None:
    told = cutting("GNNNN", {0: "（共用题干）"})
    told.groups[0] = GroupHead(first, last, options=False, end=6)
    outline = Builder(told).build()
    assert [item.group is not None for item in outline.items] == grouped
    assert outline.groups[0].pieces == []
    told.groups[0] = told.groups[0]._replace(end=3)
    (rest,) = Builder(told).build().groups[0].pieces
    assert (rest.text, rest.centred, rest.in_table) == ("题干）", False, False)


def test_a_head_ends_a_shared_text() -> None:
    assert [item.group is not None for item in built("GNSN").items] == [True, False]


@pytest.mark.parametrize(
    ("letters", "texts", "blocks"),
    [
        ("SS", {}, [(["S0", "S1"], False)]),
        ("SNS", {}, [(["S0"], False), (["S2"], False)]),
        ("SAS", {}, [(["S0"], False), (["S2"], False)]),
        ("SKS", {}, [(["S0"], False), (["K1"], True), (["S2"], True)]),
        ("KKS", {}, [([], False), (["K0"], True), (["K1"], True), (["S2"], True)]),
        ("SNKAS", {4: "二、其他"}, [(["S0"], False), (["K2"], True), (["二、其他"], False)]),
        (
            "SNKASA",
            {0: "一、单选题（共2题）", 4: "一、单选题"},
            [(["一、单选题（共2题）"], False), (["K2"], True), (["一、单选题"], True)],
        ),
        (
            "SNKASAS",
            {0: "一、单选题", 4: "一、单选题", 6: "一、单选题"},
            [(["一、单选题"], False), (["K2"], True), (["一、单选题"], True), (["一、单选题"], False)],
        ),
        (
            "SNKASAKAS",
            {0: "一、单选题", 4: "一、单选题", 8: "一、单选题"},
            [(["一、单选题"], False), (["K2"], True), (["一、单选题"], True), (["K6"], True), (["一、单选题"], True)],
        ),
        ("SNK.S", {0: "甲", 4: "乙"}, [(["甲"], False), (["K2", ".3"], True), (["乙"], True)]),
    ],
)
def test_a_head_inside_a_key_is_the_keys_where_it_is_known(letters: str, texts: dict[int, str], blocks: object) -> None:
    assert [(block.heads, block.is_key) for block in built(letters, texts).blocks] == blocks


def test_only_the_head_of_a_key_opens_it() -> None:
    assert [block.opens_key for block in built("SNKSN").blocks] == [False, True, False]
    assert [block.answered for block in built("SNKA").blocks] == [False, True]


@pytest.mark.parametrize(
    ("head", "name"),
    [("一、单选题（共2题）", "一、单选题"), ("甲：乙", "甲"), (" 甲 乙", "甲"), ("（一）", "（一）"), ("甲。乙", "甲")],
)
def test_the_name_of_a_head_has_no_instructions(head: str, name: str) -> None:
    assert Block([head, "第二行"]).name == name
    assert Block([head, "第二行"]).text == f"{head}\n第二行"
    assert (Block().name, Block().text) == ("", "")


def test_texts_are_lines_without_a_role_and_no_regions() -> None:
    told = cutting("..N.", {})
    told.pieces = [
        *told.pieces[:1], ParsedLine("", 1, None, None, LineKind.FIGURE), *told.pieces[2:]
    ]  # fmt: skip
    assert [index for index, _ in told.texts()] == [0, 3]
    told.number(mark(3, 5))
    assert (told.roles[3], told.marks[3].value) == (Role.NUMBER, 5)
    told.share(0, GroupHead(1, 2, options=True, end=0))
    assert (told.roles[0], told.groups[0].last) == (Role.GROUP, 2)
    assert list(told.texts()) == []
