"""Labels of Word lists: where they start, what they repeat, what follows them."""

import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from build_dataset.pipeline.ocr.readers.docx_numbering import Numbering, integer


def level(depth: object, inside: str) -> str:
    return f'<w:lvl w:ilvl="{depth}">{inside}</w:lvl>'


def numbering(levels: str, lists: str = '<w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num>') -> Numbering:
    abstract = f'<w:abstractNum w:abstractNumId="1">{levels}</w:abstractNum>'
    return Numbering.read(parse_xml(f"<w:numbering {nsdecls('w')}>{abstract}{lists}</w:numbering>"))


def test_a_number_is_decimal_unless_another_base_is_named() -> None:
    def stated(text: str, *base: int) -> int | None:
        return integer(parse_xml(f'<w:start {nsdecls("w")} w:val="{text}"/>'), "val", *base)

    assert [stated("11"), stated("a"), stated("11", 16), stated("a", 16)] == [11, None, 17, 10]


@pytest.mark.parametrize(
    ("start", "labels"),
    [
        ("", ["1、 ", "2、 ", "3、 "]),
        ('<w:start w:val="0"/>', ["0、 ", "1、 ", "2、 "]),
        ('<w:start w:val="1"/>', ["1、 ", "2、 ", "3、 "]),
        ('<w:start w:val="9"/>', ["9、 ", "10、 ", "11、 "]),
        ('<w:start w:val="x"/>', ["1、 ", "2、 ", "3、 "]),
    ],
)
def test_a_list_counts_from_its_start_and_from_one_without(start: str, labels: list[str]) -> None:
    found = numbering(level(0, f'{start}<w:lvlText w:val="%1、"/>'))
    assert [found.label("7", 0) for _ in range(3)] == labels


def test_a_level_or_a_list_that_is_not_defined_has_no_labels() -> None:
    found = numbering(level(0, '<w:lvlText w:val="%1."/>') + level("x", '<w:lvlText w:val="%2."/>'))
    assert [found.label(name, depth) for name, depth in (("7", 1), ("8", 0), ("", 0), ("7", 0))] == [
        *("", "", "", "1. ")
    ]
    assert Numbering.read(None).label("7", 0) == ""


@pytest.mark.parametrize(
    ("inside", "label"),
    [
        ('<w:lvlText w:val="%1."/>', "1. "),
        ('<w:suff w:val="tab"/><w:lvlText w:val="%1."/>', "1. "),
        ('<w:suff w:val="space"/><w:lvlText w:val="%1."/>', "1. "),
        ('<w:suff w:val="nothing"/><w:lvlText w:val="%1."/>', "1."),
        ('<w:lvlText w:val=""/>', ""),
        ("", ""),
        ('<w:numFmt w:val="none"/><w:lvlText w:val="甲"/>', ""),
        ('<w:numFmt w:val="bullet"/><w:lvlText w:val="x"/>', "• "),
        ('<w:numFmt/><w:lvlText w:val="(%1)"/>', "(1) "),
        ('<w:numFmt w:val="upperLetter"/><w:lvlText w:val="%0%1"/>', "%0A "),
    ],
)
def test_what_stands_before_a_paragraph(inside: str, label: str) -> None:
    assert numbering(level(0, inside)).label("7", 0) == label


LEVELS = (
    level(0, '<w:numFmt w:val="upperRoman"/><w:lvlText w:val="%1."/>')
    + level(1, '<w:numFmt w:val="upperLetter"/><w:lvlText w:val="%1-%2-%3"/>')
    + level(2, '<w:numFmt w:val="chineseCounting"/><w:lvlText w:val="%1.%2.%3"/>')
)


def test_deeper_levels_start_anew_below_the_next_number_and_name_those_above() -> None:
    found = numbering(LEVELS)
    assert [found.label("7", depth) for depth in (0, 1, 1, 2, 2, 1, 2, 0, 1, 2)] == [
        *("I. ", "I-A-1 ", "I-B-1 ", "I.B.一 ", "I.B.二 ", "I-C-1 ", "I.C.一 "),
        *("II. ", "II-A-1 ", "II.A.一 "),
    ]


def test_a_level_without_those_above_shows_where_they_start() -> None:
    assert numbering(LEVELS).label("7", 2) == "I.A.一 "


def test_a_level_that_is_not_defined_is_numbered_as_the_one_that_names_it() -> None:
    assert numbering(level(1, '<w:start w:val="3"/><w:lvlText w:val="%1.%2"/>')).label("7", 1) == "3.3 "


@pytest.mark.parametrize(
    ("override", "labels"),
    [
        ('<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>', ["5. ", "6. "]),
        ('<w:lvlOverride w:ilvl="0"><w:startOverride w:val="0"/></w:lvlOverride>', ["0. ", "1. "]),
        ('<w:lvlOverride w:ilvl="0"/>', ["3. ", "4. "]),
        ('<w:lvlOverride w:ilvl="0"><w:startOverride w:val="x"/></w:lvlOverride>', ["3. ", "4. "]),
        ('<w:lvlOverride w:ilvl="x"><w:startOverride w:val="5"/></w:lvlOverride>', ["3. ", "4. "]),
        ('<w:lvlOverride w:ilvl="1"><w:startOverride w:val="5"/></w:lvlOverride>', ["3. ", "4. "]),
    ],
)
def test_a_list_starts_anew_once_where_it_says_so(override: str, labels: list[str]) -> None:
    other = '<w:num w:numId="7"><w:abstractNumId w:val="1"/></w:num>'
    again = f'<w:num w:numId="8"><w:abstractNumId w:val="1"/>{override}</w:num>'
    found = numbering(level(0, '<w:lvlText w:val="%1."/>'), other + again)
    assert [found.label("7", 0), found.label("7", 0)] == ["1. ", "2. "]
    assert [found.label("8", 0), found.label("8", 0)] == labels


def test_only_whole_overrides_are_kept() -> None:
    lists = (
        '<w:num w:numId="7"><w:abstractNumId w:val="1"/><w:lvlOverride w:ilvl="0"/>'
        '<w:lvlOverride w:ilvl="2"><w:startOverride w:val="4"/></w:lvlOverride>'
        '<w:lvlOverride><w:startOverride w:val="4"/></w:lvlOverride></w:num>'
    )
    found = numbering(LEVELS, lists)
    assert (found.starts, found.lists) == ({("7", 2): 4}, {"7": "1"})
