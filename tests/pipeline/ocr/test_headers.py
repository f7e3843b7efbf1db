"""Running heads, footers and page numbers."""

import pytest

from build_dataset.pipeline.ocr import assemble
from build_dataset.pipeline.ocr.assemble import mark_running_lines
from build_dataset.pipeline.ocr.model import PageLine, PageRead, Rect
from build_dataset.schemas.documents import LineKind, ReadMethod


def line(y: float, text: str) -> PageLine:
    return PageLine(text, Rect(50, y, 300, y + 10))


def page(*lines: PageLine) -> PageRead:
    return PageRead(595, 842, ReadMethod.TEXT_LAYER, "e", "v", None, list(lines))


def kinds(read: PageRead) -> list[LineKind]:
    return [found.kind for found in read.lines]


def test_lines_that_repeat_at_the_edges_are_running_lines_also_with_other_numbers():
    pages = [
        page(line(20, "医师考试模拟卷"), line(400, "1.题干"), line(810, f"第{number}页 共9页")) for number in (1, 2, 3)
    ]
    mark_running_lines(pages)
    assert all(kinds(read) == [LineKind.HEADER, LineKind.TEXT, LineKind.FOOTER] for read in pages)


def test_a_title_on_the_first_page_alone_is_text():
    pages = [page(line(20, "期末考试"), line(400, "1.题干")), page(line(20, "9.另一题"), line(400, "10.题干"))]
    mark_running_lines(pages)
    assert kinds(pages[0]) == [LineKind.TEXT, LineKind.TEXT]


def test_what_repeats_in_the_middle_of_pages_is_text():
    pages = [page(line(300, "答案：A"), line(400, "解析")) for _ in range(4)]
    mark_running_lines(pages)
    assert kinds(pages[0]) == [LineKind.TEXT, LineKind.TEXT]


def test_a_lone_number_at_the_edge_of_a_single_page_is_a_page_number():
    single = page(line(300, "1.题干"), line(320, "A.甲"), line(815, "- 12 -"))
    mark_running_lines([single])
    assert kinds(single)[-1] is LineKind.FOOTER


def test_an_option_at_the_edge_is_no_page_number():
    single = page(line(300, "1.题干"), line(780, "A.12"), line(815, "D.15"))
    mark_running_lines([single])
    assert LineKind.FOOTER not in kinds(single)


def test_numbers_of_questions_alone_at_the_top_are_no_running_lines():
    pages = [page(line(60, number), line(80, "题干"), line(400, "A.甲")) for number in ("1.", "10.", "19.")]
    mark_running_lines(pages)
    assert all(LineKind.HEADER not in kinds(read) for read in pages)


def test_heads_of_sections_at_the_top_are_no_running_lines():
    heads = ("一、A1型题（共8题）", "二、A2型题（共8题）", "三、A3型题（共8题）")
    pages = [page(line(60, head), line(80, "1.题干"), line(400, "A.甲")) for head in heads]
    mark_running_lines(pages)
    assert all(LineKind.HEADER not in kinds(read) for read in pages)


def test_an_option_that_repeats_at_the_bottom_is_no_running_line():
    pages = [page(line(300, "1.题干"), line(780, "C.甲"), line(815, "D.以上都不是")) for _ in range(3)]
    mark_running_lines(pages)
    assert all(LineKind.FOOTER not in kinds(read) for read in pages)


def test_pages_counted_in_chinese_are_running_lines():
    pages = [page(line(400, "1.题干"), line(815, f"第{number}页")) for number in ("九", "十", "十一")]
    mark_running_lines(pages)
    assert all(kinds(read)[-1] is LineKind.FOOTER for read in pages)


def test_running_lines_stand_at_the_edges_of_half_of_the_pages(flips):
    def kind(y: float, pages=4, having=4) -> LineKind:
        read = [page(*([line(y, "模拟卷")] if at < having else []), line(400, "1.题干")) for at in range(pages)]
        for one in read:
            one.height = 1000
        mark_running_lines(read)
        return read[0].lines[0].kind

    assert flips(kind, range(1000)) == [91, 900]
    assert flips(lambda having: kind(20, 2, having), range(1, 3)) == [2]
    assert flips(lambda having: kind(20, 6, having), range(1, 7)) == [3]


def test_a_page_number_is_outermost(flips):
    def kind(y: float, other: float) -> LineKind:
        one = page(line(y, "12"), line(other, "甲"), line(500, "乙"))
        mark_running_lines([one])
        return one.lines[0].kind

    halves = [step / 2 - 10 for step in range(60)]
    assert flips(lambda below: kind(50, 50 + below), halves) == [-2.0]
    assert flips(lambda above: kind(815, 815 - above), halves) == [-2.0]


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("7", 7),
        ("12", 12),
        ("一", 1),
        ("九", 9),
        ("十", 10),
        ("十一", 11),
        ("二十", 20),
        ("二十三", 23),
        ("九十九", 99),
    ],
)
def test_numbers_of_pages_in_digits_and_in_chinese(number, value):
    assert assemble.chinese_number(number) == value


def test_a_running_line_may_have_one_number_that_counts_the_pages():
    assert assemble._shapes(line(9, "模拟卷 5 共 9 页"), 4) == {"模拟卷5共9页", "模拟卷#1共9页", "模拟卷5共#5页"}
    assert assemble._shapes(line(9, "第十页"), 9) == {"第十页", "第#1页"}
    assert assemble._shapes(line(9, "1. 题干"), 0) == set()


def test_a_page_number_needs_two_other_lines():
    for others in range(4):
        one = page(*(line(300 + 20 * at, "甲乙") for at in range(others)), line(815, "12"))
        mark_running_lines([one])
        assert (kinds(one)[-1] is LineKind.FOOTER) == (others > 1)


def test_lines_of_a_page_as_records():
    one = page(PageLine("甲", Rect(1, 2, 3, 4), confidence=0.123456), PageLine("乙", None))
    found = [(each.order, each.text, each.confidence, each.box is None) for each in assemble.lines_of("d", 3, one)]
    assert found == [(0, "甲", 0.1235, False), (1, "乙", None, True)]
