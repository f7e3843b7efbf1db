"""Reading order, tabs, columns and scripts, on runs alone."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.ocr import layout
from build_dataset.pipeline.ocr.layout import arrange
from build_dataset.pipeline.ocr.model import PageLine, PageRegion, Rect, TextRun
from build_dataset.schemas.documents import LineKind

PAGE = Rect(0, 0, 595, 842)


def run(x: float, y: float, text: str, size: float = 10.0, **more) -> TextRun:
    width = sum(size if char > "\u2e80" else size / 2 for char in text)
    return TextRun(text, Rect(x, y - 0.88 * size, x + width, y + 0.18 * size), y, size, **more)


def lines(runs, regions=(), rules=()):
    return [line.text for line in arrange(runs, regions, PAGE, rules) if line.text]


def test_words_on_one_baseline_are_one_line_with_tabs_where_the_gap_is_wide():
    assert lines([run(50, 100, "A.胃炎"), run(150, 100, "B.肝炎"), run(250, 100.3, "C.肾炎")]) == [
        "A.胃炎\tB.肝炎\tC.肾炎"
    ]


def test_a_narrow_gap_is_a_space_between_latin_words_and_nothing_between_ideographs():
    assert lines([run(50, 100, "acute"), run(78, 100, "pain")]) == ["acute pain"]
    assert lines([run(50, 100, "急性"), run(73, 100, "胃炎")]) == ["急性胃炎"]


def test_a_wide_blank_inside_brackets_is_no_tab():
    assert lines([run(50, 100, "正确的是（"), run(130, 100, "）。")]) == ["正确的是（  ）。"]


def test_two_columns_are_read_one_after_the_other_and_spanning_lines_part_bands():
    left = [run(50, 150 + 20 * row, f"左栏第{row}行是一段普通的文字") for row in range(8)]
    right = [run(320, 150 + 20 * row, f"右栏第{row}行是一段普通的文字") for row in range(8)]
    title = run(150, 100, "这是一个横跨左右两栏的标题而且很长很长")
    found = arrange([*right, title, *left], [], PAGE)
    assert [line.text for line in found][:2] == [title.text, left[0].text]
    assert [line.text for line in found][-8:] == [line.text for line in right]
    assert {line.column for line in found[1:9]} == {0}
    assert {line.column for line in found[9:]} == {1}


def test_options_side_by_side_are_not_columns():
    runs = []
    for number in range(8):
        y = 100 + 60 * number
        runs.append(run(50, y, f"{number}.短题干说明如下"))
        runs += [run(50, y + 20, "A.第一个选项内容"), run(320, y + 20, "B.第二个选项内容")]
        runs += [run(50, y + 40, "C.第三个选项内容"), run(320, y + 40, "D.第四个选项内容")]
    assert lines(runs)[1] == "A.第一个选项内容\tB.第二个选项内容"


def test_an_answer_grid_is_not_columns():
    runs = [run(50 + 55 * column, 100 + 20 * row, f"{row * 10 + column}") for row in range(10) for column in range(9)]
    assert lines(runs)[0] == "\t".join(str(number) for number in range(9))


def test_a_footer_with_words_left_and_right_is_one_line_on_a_page_of_two_columns():
    left = [run(50, 150 + 20 * row, "左栏是一段普通的文字内容") for row in range(8)]
    right = [run(320, 150 + 20 * row, "右栏是一段普通的文字内容") for row in range(8)]
    assert lines([*left, *right, run(50, 810, "样卷"), run(500, 810, "第1页")])[-1] == "样卷\t第1页"


def test_a_vertical_rule_between_words_makes_a_tab_however_narrow_the_gap():
    rule = Rect(64.0, 80.0, 64.0, 120.0)
    assert lines([run(50, 100, "Ａ"), run(68, 100, "Ｂ")], rules=[rule]) == ["Ａ\tＢ"]


@pytest.mark.parametrize("size", [6, 8.3])
def test_raised_and_lowered_characters_become_superscripts_and_subscripts(size):
    raised = run(65, 96, "9", size=size)
    lowered = run(90, 103, "2", size=size)
    assert lines([run(50, 100, "×10"), raised, run(80, 100, "CO"), lowered]) == ["×10⁹ CO₂"]


@pytest.mark.parametrize(
    ("script", "shift", "size", "text"),
    [
        ("N", -4, 6, "O2^N"),
        ("N/2", -4, 6, "O2^(N/2)"),
        ("i,j", 2, 6, "O2_(i,j)"),
        ("2", 0.5, 6, "O2₂"),
        ("1c", 2, 6, "O21c"),
        ("st", -4, 6, "O2st"),
        ("B.", -3.2, 8.2, "O2B."),
        ("mm", 0.1, 6, "O2mm"),
    ],
)
def test_scripts_that_unicode_does_not_have_are_marked_and_small_print_is_none(script, shift, size, text):
    assert lines([run(50, 100, "O2"), run(60, 100 + shift, script, size=size), run(90, 100, "分子式")])[0].startswith(
        text
    )


def test_a_figure_stands_at_its_place_and_keeps_its_labels_apart():
    figure = PageRegion(LineKind.FIGURE, Rect(50, 120, 200, 220))
    found = arrange([run(50, 100, "如图所示的是"), run(100, 150, "心房"), run(50, 250, "A.左心室")], [figure], PAGE)
    assert [(line.kind, line.text) for line in found] == [
        (LineKind.TEXT, "如图所示的是"),
        (LineKind.FIGURE, ""),
        (LineKind.FIGURE, "心房"),
        (LineKind.TEXT, "A.左心室"),
    ]


SHORT = [run(50, y, text) for y, text in ((100, "1. 何者正确"), (132, "2. 何者错误"))]
SHORT += [
    run(50 + 120 * column, y, f"{label}. {text}")
    for y in (116, 148)
    for column, (label, text) in enumerate(zip("ABCD", ("甲", "乙", "丙", "丁"), strict=True))
]


@pytest.mark.parametrize("box", [(40, 108, 110, 152), (160, 104, 330, 160), (60, 90, 100, 150)])
def test_short_lines_under_a_seal_stay_text(box):
    arranged = arrange(SHORT, [PageRegion(LineKind.FIGURE, Rect(*box))], PAGE)
    texts = [line.text for line in arranged if line.kind is LineKind.TEXT]
    assert texts == ["1. 何者正确", "A. 甲\tB. 乙\tC. 丙\tD. 丁", "2. 何者错误", "A. 甲\tB. 乙\tC. 丙\tD. 丁"]


def test_text_that_goes_on_outside_of_a_figure_stays_whole():
    line = [run(50, 100, "最可能"), run(80, 100, "的诊断"), run(110, 100, "是哪一项")]
    figure = PageRegion(LineKind.FIGURE, Rect(78, 80, 112, 130))
    assert lines([*line, run(85, 115, "心")], [figure]) == ["最可能的诊断是哪一项", "心"]


def test_a_frame_that_cuts_a_word_makes_no_cell():
    rule = Rect(70, 80, 70.5, 130)
    assert lines([run(50, 100, "血小"), run(70, 100, "板")], rules=[rule]) == ["血小板"]


def test_recognised_words_are_parted_by_a_space_where_detection_saw_a_gap():
    first = run(50, 100, "A.知识", confidence=0.9)
    assert lines([first, run(first.box.x1 + 3, 100, "B.需求", confidence=0.9)]) == ["A.知识 B.需求"]
    assert lines([first, run(first.box.x1 + 13, 100, "B.需求", confidence=0.9)]) == ["A.知识\tB.需求"]
    number = run(50, 100, "11", confidence=0.9)
    assert lines([number, run(number.box.x1 + 1, 100, "A向甲借款", confidence=0.9)]) == ["11 A向甲借款"]


@given(st.floats(-0.01, 0.01), st.floats(0, 13), st.lists(st.sampled_from([8.4, 9.0, 9.6]), min_size=9, max_size=9))
def test_rows_of_recognised_words_may_lean_beside_those_of_another_column(lean, lower, sizes):
    """Options of the left column stand between the rows of the right one, whose words are near them too."""

    def column(x: float, y: float, first: int) -> Iterator[TextRun]:
        for row in range(12):
            stem = f"{first + row // 3}.下列说法中正确而且完整的是哪项"
            for at, text in enumerate([[stem], ["A.甲项", "B.乙项", "C.丙项"], ["D.丁项", "E.戊项"]][row % 3]):
                place, size = x + 80 * at, sizes[(row + at) % 9]
                yield run(place, y + 13 * row + lean * place, text, size, confidence=0.9)

    found = lines([*column(50, 100, 1), *column(330, 100 + lower, 5)])
    assert "".join(word[0] for line in found for word in line.split("\t")) == "".join(f"{n}ABCDE" for n in range(1, 9))


placed = st.builds(
    run,
    st.floats(0, 560),
    st.floats(20, 830),
    st.text("题干选项ABCabc123", min_size=1, max_size=20),
    st.sampled_from([6.0, 9.0, 10.0, 18.0]),
)


@given(st.lists(placed, max_size=40))
def test_no_character_is_lost_or_invented(runs):
    before = sorted("".join(item.text for item in runs))
    text = "".join(line.text for line in arrange(runs, [], PAGE))
    raised = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹₀₁₂₃₄₅₆₇₈₉ₐ", "01234567890123456789a")
    assert sorted(text.translate(raised).replace("\t", "").replace(" ", "")) == before


@given(st.lists(placed, max_size=20), st.randoms())
def test_the_order_of_runs_in_the_file_does_not_matter_where_none_overlap(runs, random):
    apart = [item for index, item in enumerate(runs) if all(_apart(item, other) for other in runs[:index])]
    shuffled = list(apart)
    random.shuffle(shuffled)
    assert lines(apart) == lines(shuffled)


def _apart(first: TextRun, second: TextRun) -> bool:
    return abs(first.baseline - second.baseline) > 30


def words(first: TextRun, second: TextRun, between: float) -> str:
    """The line of two runs with so much white space between them."""
    x0 = first.box.x1 + between
    width = second.box.width
    placed = replace(second, box=Rect(x0, second.box.y0, x0 + width, second.box.y1))
    return lines([first, placed])[0]


GAPS = [step / 4 for step in range(120)]


@pytest.mark.parametrize(
    ("first", "second", "more", "expected"),
    [
        ("甲", "乙", {}, [15.25]),  # a tab from 1.5 em on
        ("ab", "cd", {}, [2.25, 15.25]),  # a space between Latin words from .2 em on
        ("ab", "乙", {}, [15.25]),
        ("（", "）", {}, [15.25]),  # a blank to fill in
        ("甲", "乙", {"confidence": 0.9}, [0.25, 11.25]),  # detection grows boxes by .4 em
    ],
)
def test_white_space_becomes_a_space_or_a_tab(first, second, more, expected, flips):
    found = flips(lambda gap: words(run(50, 100, first, **more), run(50, 100, second, **more), gap), GAPS)
    assert found == expected


def test_a_space_of_the_file_counts_from_a_sixth_of_an_em_on(flips):
    first = run(50, 100, "甲", space_after=True)
    assert flips(lambda gap: words(first, run(50, 100, "乙"), gap), GAPS) == [1.75, 15.25]


def test_the_white_space_of_a_line_is_measured_by_its_larger_run(flips):
    found = flips(lambda gap: words(run(50, 100, "甲", 10.0), run(50, 100, "乙", 12.0), gap), GAPS)
    assert found == [18.25]


def beside(script: TextRun) -> str:
    return lines([run(50, 100, "O2"), script, run(90, 100, "分子式")])[0].removesuffix("分子式").strip("\t ")


SHIFTS = [step / 20 for step in range(-160, 161)]


@pytest.mark.parametrize(("size", "lowered"), [(6.0, 0.35), (8.0, 0.85), (10.0, 1.55)])
def test_a_script_is_raised_or_lowered_by_a_share_of_the_size(size, lowered, flips):
    found = flips(lambda shift: beside(run(60.2, 100 + shift, "3", size)), SHIFTS)
    assert found == [pytest.approx(-6.0, abs=0.06), -1.5, lowered, pytest.approx(6.0, abs=0.06)]
    assert [beside(run(60.2, 100 + shift, "3", size)) for shift in (-4, 0, 4)] == ["O2³", "O23", "O2₃"]


def test_small_print_joins_a_row_only_beside_one_of_its_words(flips):
    def rows(x: float, shift: float, size: float) -> int:
        return len(lines([run(50, 100, "甲乙丙"), run(x, 100 + shift, "注释", size)]))

    assert flips(lambda x: rows(x, 3.0, 6.0), [60 + step / 4 for step in range(200)]) == [86.0]
    assert flips(lambda shift: rows(84.0, shift, 6.0), SHIFTS) == [-6.0, 6.05]
    assert flips(lambda shift: rows(200.0, shift, 6.0), SHIFTS) == [-1.5, 1.55]
    assert flips(lambda size: rows(84.0, 3.2, size), [4 + step / 20 for step in range(140)]) == [9.0, 9.15]


@pytest.mark.parametrize(("sure", "size", "apart"), [(None, 10.0, [-3.5, 3.55]), (0.9, 8.0, [-4.3, 3.65])])
def test_words_of_one_row_stand_on_nearly_one_baseline_or_recognised_ones_at_one_middle(sure, size, apart, flips):
    first = run(50, 100, "甲", confidence=sure)
    found = flips(lambda shift: len(lines([first, run(70, 100 + shift, "乙", size, confidence=sure)])), SHIFTS)
    assert found == apart


def test_an_exponent_as_large_as_its_line_follows_a_letter_a_digit_or_a_bracket_closely(flips):
    def blood_count(x: float, y: float) -> list[str]:
        return lines([run(50, 100, "10"), run(x, y, "9"), run(75, 100, "/L")])

    assert flips(lambda shift: blood_count(60.1, 100 + shift), SHIFTS) == [-5.95, -1.5, 1.55, 6.0]
    assert flips(lambda gap: blood_count(60 + gap, 96), [step / 20 - 3 for step in range(120)]) == [-1.45, 1.5]
    bases = [("10", 60.1), ("酸）", 70.1), ("、，", 70.1)]
    found = [lines([run(50, 100, base), run(x, 96, "9"), run(75, 100, "/L")]) for base, x in bases]
    assert found == [["10⁹ /L"], ["酸）⁹/L"], ["9", "、，/L"]]


def test_labels_of_a_figure_stand_in_it_but_for_a_character_or_two(flips):
    def labels(*runs: TextRun) -> list[str]:
        found = arrange(list(runs), [PageRegion(LineKind.FIGURE, Rect(100, 100, 200, 200))], PAGE)
        return [line.text for line in found if line.kind is LineKind.FIGURE and line.text]

    assert flips(lambda x: labels(run(x, 150, "心房心室")), range(60, 220)) == [85, 176]
    assert flips(lambda y: labels(run(120, y, "心房")), [90 + step / 2 for step in range(260)]) == [105.0, 202.5]
    beside = [labels(run(150, 150, "心房"), run(170 + gap / 2, 150, "心室" * 3)) for gap in range(40)]
    assert flips(lambda at: bool(beside[at]), range(40)) == [13], "text goes on up to .6 em"
    options = [["A.心房", "心室"], ["A.心房", "B.心室"]]
    found = [labels(*(run(110, 115 + 20 * at, text) for at, text in enumerate(texts))) for texts in options]
    assert found == [["A.心房", "心室"], []], "two options or lines that go on outside: a seal over text"


COLUMNS = [run(50, 150 + 20 * row, f"左栏第{row}行是一段普通的文字内") for row in range(8)]
COLUMNS += [run(320, 150 + 20 * row, f"右栏第{row}行是一段普通的文字内") for row in range(8)]


def test_outermost_rows_that_stand_apart_at_the_edges_are_one_line(flips):
    def rows(y: float) -> list[str]:
        return lines([*COLUMNS, run(50, y, "样卷"), run(500, y, "第1页")])

    assert flips(lambda y: rows(y)[0], [40 + step / 2 for step in range(200)]) == [82.5]
    assert flips(lambda y: rows(y)[-1], [300 + step / 2 for step in range(1000)]) == [767.0]


def test_a_rule_parts_cells_where_it_stands_between_them(flips):
    def cells(edge=64.0, gap=8.0, top=80.0, end=120.0) -> str:
        return lines([run(50, 100, "甲"), run(60 + gap, 100, "乙")], rules=[Rect(edge, top, edge, end)])[0]

    quarters = [step / 4 for step in range(100)]
    assert flips(lambda edge: cells(50 + edge), quarters) == [8.5, 19.75]
    assert flips(lambda gap: cells(60.0, gap), [step / 20 for step in range(60)]) == [0.55]
    assert flips(lambda top: cells(top=90 + top), quarters) == [7.75]
    assert flips(lambda end: cells(end=90 + end), quarters) == [5.5]


def test_white_space_of_half_an_em_in_the_gutter_parts_columns(flips):
    def last(end: float, start: float) -> list[str]:
        across = [run(end - 100, 330, "左" * 10), run(start, 330, "右" * 10)]
        return [line.text for line in arrange([*COLUMNS, *across], [], PAGE)][-9:]

    assert flips(lambda gap: last(318 - gap, 320), [step / 4 for step in range(60)]) == [5.25]
    assert flips(lambda start: last(300, start), [310 + step / 4 for step in range(60)]) == [315.25]


def test_a_run_between_two_rows_is_of_the_nearer_one(flips):
    def below(y: float) -> list[str]:
        rows = [run(50, 100, "甲"), run(50, 106, "乙"), run(62, y, "丙", 9.0)]
        return lines(rows)

    assert flips(below, [step / 20 + 100 for step in range(130)]) == [103.05]
    assert below(103.1) == ["甲", "乙丙"]


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        ("ab", "cd", "ab cd"),
        ("甲", "cd", "甲cd"),
        ("ab", "乙", "ab乙"),
        ("甲b", "c乙", "甲b c乙"),
        ("b甲", "乙c", "b甲乙c"),
    ],
)
def test_a_space_stands_between_latin_characters_alone(first, second, joined):
    assert words(run(50, 100, first), run(50, 100, second), 5) == joined


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [("甲（", "乙", "甲（  乙"), ("甲", "）乙", "甲  ）乙"), ("（甲", "乙）", "（甲\t乙）")],
)
def test_a_blank_to_fill_in_has_a_bracket_right_beside_it(first, second, joined):
    assert words(run(50, 100, first), run(50, 100, second), 30) == joined


def test_lines_across_the_gutter_part_bands_and_come_first_in_them():
    def line(text: str, x0: float, x1: float, y: float) -> PageLine:
        return PageLine(text, Rect(x0, y, x1, y + 10), column=1 if x0 > 300 else 0)

    placed = [line("右", 310, 500, 90), line("左", 0, 290, 100), line("题", 0, 500, 150)]
    placed += [line("右二", 310, 500, 200), line("左二", 0, 290, 210), line(" ", 0, 9, 300)]
    found = layout.reading_order(placed, 300.0)
    assert [(one.text, one.column) for one in found] == [
        ("左", 0), ("右", 1), ("题", 0), ("左二", 0), ("右二", 1),
    ]  # fmt: skip


def test_one_run_in_a_figure_of_a_line_that_goes_on_outside_tells_of_a_seal():
    figure = PageRegion(LineKind.FIGURE, Rect(100, 100, 200, 200))

    def labels(*crossing: TextRun) -> list[str]:
        found = arrange([*crossing, run(150, 190, "心房")], [figure], PAGE)
        return [line.text for line in found if line.kind is LineKind.FIGURE and line.text]

    lines_of_text = [[run(50, y, "甲乙丙丁戊"), run(101, y, "己")] for y in (120, 150)]
    assert labels(*lines_of_text[0]) == ["心房"]
    assert labels(*lines_of_text[0], *lines_of_text[1]) == []


def test_a_line_is_as_sure_as_the_least_sure_of_its_words():
    first = run(50, 100, "甲", confidence=0.8)
    (line,) = arrange([first, run(61, 100, "乙", confidence=0.7)], [], PAGE)
    assert line.confidence == 0.7
    assert arrange([run(50, 100, "甲")], [], PAGE)[0].confidence is None
