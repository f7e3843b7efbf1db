"""Rules, shapes and images of a page become tables and figures; every measure is met in fine steps."""

from itertools import pairwise
from types import SimpleNamespace

import pytest

from build_dataset.pipeline.ocr.model import PageRegion, Rect, TextRun
from build_dataset.pipeline.ocr.regions import (
    Drawing,
    cell_rules,
    cluster_boxes,
    find_regions,
    find_scan_regions,
    image_boxes,
    lies_under_text,
    read_drawing,
)
from build_dataset.schemas.documents import LineKind

PAGE = Rect(0, 0, 600, 800)
HALVES = [half / 2 for half in range(200)]
TENTHS = [tenth / 10 for tenth in range(1, 300)]


def page_of(*paths):
    return SimpleNamespace(rect=PAGE, get_cdrawings=lambda: list(paths))


def stroke(*items):
    return {"type": "s", "items": items}


def line(x0, y0, x1, y1):
    return stroke(("l", (x0, y0), (x1, y1)))


def kind_of(width: float, height: float) -> str:
    """The list in which a filled rectangle of this size stands."""
    drawing = read_drawing(page_of({"type": "f", "items": [("re", (10, 10, 10 + width, 10 + height))]}), [])
    return next((name for name in ("across", "down", "shapes") if getattr(drawing, name)), "nothing")


def test_every_kind_of_path_stands_in_its_list_where_it_is_displayed():
    quad = ((10.04, 300), (60, 310), (10, 350), (60, 350))
    paths = [
        line(90, 20, 10, 20),
        line(10, 90, 10, 20),
        line(30, 60, 80, 40),
        stroke(("re", (100, 100, 150, 130))),
        {"type": "f", "items": [("re", (200, 100, 250, 130))]},
        {"type": "f", "fill": (1.0, 1.0, 1.0), "items": [("re", (300, 100, 350, 130))]},
        {"type": "fs", "fill": (1.0, 1.0, 1.0), "items": [("re", (400, 100, 450, 102))]},
        stroke(("c", (10, 200), (20, 190), (30, 210), (40, 200))),
        stroke(("qu", quad)),
        stroke(("re", (9, 9, 10, 10))),
    ]
    drawing = read_drawing(page_of(*paths), [])
    assert drawing.across == [(10, 20, 90, 20), (100, 100, 150, 100), (100, 130, 150, 130), (400, 100, 450, 102)]
    assert drawing.down == [(10, 20, 10, 90), (100, 100, 100, 130), (150, 100, 150, 130)]
    assert drawing.shapes == [(10, 190, 40, 210), (10, 300, 60, 350), (30, 40, 80, 60), (200, 100, 250, 130)]
    assert drawing.pieces == 11


def test_rules_are_thin_and_long_and_dots_and_backgrounds_are_nothing(flips):
    assert flips(lambda height: kind_of(50, height), TENTHS) == [3.0]
    assert flips(lambda width: kind_of(width, 50), TENTHS) == [3.0]
    assert flips(lambda width: kind_of(width, 0.5), TENTHS) == [3.0, 6.0]
    assert flips(lambda height: kind_of(0.5, height), TENTHS) == [3.0, 6.0]
    assert flips(lambda height: kind_of(600, height), range(700, 760)) == [720]


def test_a_stroked_rectangle_of_some_width_is_its_four_sides(flips):
    def rules(height):
        drawing = read_drawing(page_of(stroke(("re", (10, 10, 90, 10 + height)))), [])
        return len(drawing.across)

    assert flips(rules, TENTHS) == [3.0]


def test_images_of_some_pixels_and_points_count_as_far_as_they_stand_on_the_page(flips):
    def boxes(pixels=9, points=9.0, left=10.0):
        info = {"width": pixels, "height": 99, "bbox": (left, 20, left + points, 50)}
        return image_boxes(page_of(), [info])

    assert flips(lambda pixels: len(boxes(pixels)), range(1, 12)) == [5]
    assert flips(lambda points: len(boxes(points=points)), HALVES) == [6.0]
    assert boxes(points=50.0, left=-20.0) == [(0, 20, 30, 50)]


def grid(columns=3, rows=3, width=30.0, height=20.0, x=100.0, y=100.0, **more) -> Drawing:
    """So many rules each way, ``width`` and ``height`` apart."""
    right, end = x + (columns - 1) * width, y + (rows - 1) * height
    across = [Rect(x, y + row * height, right, y + row * height) for row in range(rows)]
    down = [Rect(x + column * width, y, x + column * width, end) for column in range(columns)]
    return Drawing(across, down, **more)


def kinds(drawing, runs=(), find=find_regions):
    return [region.kind.value for region in find(drawing, runs, PAGE)]


def test_a_grid_has_rules_enough_and_is_large_enough(flips):
    found = [kinds(grid(*size, 50)) for size in ((2, 2), (2, 3), (3, 2), (3, 3))]
    assert found == [["figure"], ["table"], ["table"], ["table"]]
    assert flips(lambda width: kinds(grid(3, 3, width, 30)) == ["table"], HALVES[2:]) == [20.0]
    assert flips(lambda height: kinds(grid(3, 3, 60, height)) == ["table"], HALVES[2:]) == [7.0]
    assert find_regions(grid(), (), PAGE) == [PageRegion(LineKind.TABLE, Rect(100, 100, 160, 140))]


def test_rules_of_a_grid_run_through_it(flips):
    def with_middle(share, upright):
        drawing = grid(2, 2, 100, 100)
        if upright:
            drawing.down.append(Rect(150, 100, 150, 100 + share))
        else:
            drawing.across.append(Rect(100, 150, 100 + share, 150))
        return kinds(drawing) == ["table"]

    assert flips(lambda share: with_middle(share, False), range(6, 100)) == [70]
    assert flips(lambda share: with_middle(share, True), range(6, 100)) == [50]


def test_the_borders_of_cells_that_stand_in_one_line_count_together():
    drawing = Drawing()
    for y in (100, 120, 140):
        drawing.across += [Rect(x, y, x + 29, y) for x in (100, 130)]
    drawing.down = [Rect(x, 100, x, 140) for x in (100, 159)]
    assert kinds(drawing) == ["table"]


def test_tables_with_much_drawn_in_them_are_figures(flips):
    def drawn(count):
        shapes = [Rect(102 + 5 * at, 102, 106 + 5 * at, 106) for at in range(count)]
        return kinds(grid(shapes=shapes)) == ["table"]

    assert flips(drawn, range(1, 9)) == [4]


def test_rules_that_nearly_meet_belong_together(flips):
    def tables(gap):
        first, second = grid(), grid(x=160 + gap)
        return len(find_regions(Drawing(first.across + second.across, first.down + second.down), (), PAGE))

    assert flips(tables, HALVES) == [3.0]


@pytest.mark.parametrize(("size", "found"), [((12, 60), []), ((60, 12), []), ((31, 21), ["figure"])])
def test_loose_rules_are_a_figure_where_they_take_room(size, found):
    width, height = size
    rules = [Rect(100, 100, 100 + width, 100), Rect(100, 100 + height, 100 + width, 100 + height)]
    assert kinds(Drawing(rules, [Rect(100, 100, 100, 100 + height)])) == found


def shapes(width=60.0, height=60.0, count=3, gap=0.0):
    """A figure of so many shapes beside each other."""
    wide = (width - (count - 1) * gap) / count
    return [Rect(100 + at * (wide + gap), 100, 100 + at * (wide + gap) + wide, 100 + height) for at in range(count)]


def test_shapes_are_a_figure_from_a_size_and_a_number_on(flips):
    assert flips(lambda height: kinds(Drawing(shapes=shapes(60, height))), HALVES[2:]) == [20.0]
    assert flips(lambda side: kinds(Drawing(shapes=shapes(side, 20))), HALVES[2:]) == [30.0]
    assert flips(lambda count: kinds(Drawing(shapes=shapes(count=count))), range(1, 9)) == [3]
    assert flips(lambda gap: kinds(Drawing(shapes=shapes(200, gap=gap))), HALVES[:60]) == [12.5]


def run(x: float, y: float, text: str, size: float = 10.0) -> TextRun:
    width = sum(size if char > "\u2e80" else size / 2 for char in text)
    return TextRun(text, Rect(x, y - 0.8 * size, x + width, y + 0.2 * size), y, size)


def test_shapes_under_text_are_highlighting(flips):
    lines = [Rect(100, 92 + 12 * row, 200, 102 + 12 * row) for row in range(5)]

    def shaded(count):
        return kinds(Drawing(shapes=lines), [run(100, 100 + 12 * row, "急" * count) for row in range(5)])

    assert flips(shaded, range(1, 10)) == [5]


def test_a_box_around_prose_is_decoration_and_one_around_labels_a_figure(flips):
    box = Drawing(shapes=shapes(400, 100))
    assert flips(lambda count: kinds(box, [run(110, 150, "a" * count)]), range(1, 30)) == [15]
    assert flips(lambda count: kinds(box, [run(110, 150, "心" * count)]), range(1, 30)) == [10]
    small = Drawing(shapes=shapes(60, 40))
    labels = [[run(100, 108 + 10 * row, "心室" * 3) for row in range(rows)] for rows in range(5)]
    assert flips(lambda rows: kinds(small, labels[rows]), range(5)) == [2]
    beside = [kinds(box, [run(400 + right, 150, "a" * 40)]) for right in (-1, 1)]
    assert beside == [[], ["figure"]]
    assert flips(lambda x: kinds(box, [run(x, 150, "a" * 40)]), range(320, 480, 4)) == [400]


def test_pictures_are_figures_and_small_ones_on_a_line_formulas(flips):
    def kind(height, size=10.0):
        return kinds(Drawing(images=[Rect(100, 100, 150, 100 + height)]), [run(300, 300, "文字", size)])

    assert flips(kind, HALVES[14:80]) == [18.0]
    assert flips(lambda height: kind(height, 20.0), HALVES[14:90]) == [36.0]
    assert flips(lambda height: kinds(Drawing(images=[Rect(1, 1, 50, 1 + height)])), HALVES[14:90]) == [18.0]
    whole = [kinds(Drawing(images=[Rect(0, 0, 600, height)])) for height in range(660, 700)]
    assert flips(lambda at: bool(whole[at]), range(40)) == [20]


def test_pictures_close_together_are_one_and_those_of_a_drawing_belong_to_it(flips):
    def count(gap):
        return len(kinds(Drawing(images=[Rect(100, 100, 150, 150), Rect(150 + gap, 100, 250, 150)])))

    assert flips(count, HALVES[:20]) == [2.0]
    drawn = shapes(100, 100)
    inside = [kinds(Drawing(shapes=drawn, images=[Rect(x, 120, x + 50, 160)])) for x in range(140, 190)]
    assert flips(lambda at: len(inside[at]), range(50)) == [26]


def test_regions_stand_from_top_to_bottom_then_from_left_to_right():
    images = [Rect(300, 100, 350, 150), Rect(100, 400, 150, 450), Rect(100, 100, 150, 150)]
    found = [region.box for region in find_regions(Drawing(images=images), (), PAGE)]
    assert found == [images[2], images[0], images[1]]
    scanned = [region.box for region in find_scan_regions(Drawing(images=images), (), PAGE)]
    assert scanned == found


def test_ink_on_a_scan_is_a_figure_and_a_table_inside_one_is_part_of_it(flips):
    def count(gap):
        ink = [Rect(100, 100, 150, 150), Rect(150 + gap, 100, 250, 150)]
        return len(kinds(Drawing(images=ink), find=find_scan_regions))

    assert flips(count, HALVES[:20]) == [4.5]
    whole = [kinds(Drawing(images=[Rect(0, 0, 600, high)]), find=find_scan_regions) for high in range(540, 580)]
    assert flips(lambda at: bool(whole[at]), range(40)) == [20]
    prose = [run(110, 150, "心" * 10)]
    assert kinds(Drawing(images=[Rect(100, 100, 300, 200)]), prose, find_scan_regions) == []
    table = grid()
    table.images = [Rect(90, 90, 300, 300)]
    assert kinds(table, find=find_scan_regions) == ["figure"]
    table.images = [Rect(102, 102, 140, 138)]
    assert kinds(table, find=find_scan_regions) == ["table"]
    assert kinds(Drawing(down=shapes(60, 60)), find=find_scan_regions) == ["figure"]


def test_rules_inside_tables_part_cells(flips):
    def inside(x):
        drawing = Drawing(down=[Rect(x, 100, x, 140)])
        return len(cell_rules(drawing, [PageRegion(LineKind.TABLE, Rect(100, 100, 200, 140))]))

    assert flips(inside, [90 + half for half in HALVES] + [190 + half for half in HALVES]) == [99.0, 201.5]
    assert cell_rules(Drawing(down=[Rect(1, 1, 1, 9)]), [PageRegion(LineKind.FIGURE, Rect(0, 0, 9, 9))]) == []


LINES = "下列关于急性胃炎的叙述正确的是"


STAMP = Rect(100, 100, 300, 200)


def under(*runs, box=STAMP):
    return lies_under_text(box, runs)


def test_a_picture_under_several_lines_of_prose_is_a_stamp(flips):
    first = run(110, 130, LINES)
    assert not under(first)
    assert flips(lambda y: under(first, run(110, y, LINES)), range(131, 200)) == [139]
    assert flips(lambda count: under(first, run(110, 160, "胃" * count)), range(1, 15)) == [10]
    assert flips(lambda count: under(first, run(110, 160, "a" * count)), range(1, 30)) == [20]


def test_prose_counts_as_far_as_it_stands_in_the_picture(flips):
    first = run(110, 130, LINES)
    shifted = flips(lambda x: under(first, run(x, 160, "胃" * 12)), range(20, 300))
    assert shifted == [80, 201]
    parts = [run(110, 160, "胃" * 5), run(160, 160, "炎" * 5)]
    assert under(first, *parts)
    gaps = flips(lambda gap: under(first, parts[0], run(160 + gap, 160, "炎" * 5)), range(40))
    assert gaps == [21]


def test_one_line_from_side_to_side_runs_through_a_picture(flips):
    def through(x, end, y=150.0):
        return under(run(x, y, "a" * int((end - x) / 5)), box=Rect(100, 100, 180, 200))

    assert flips(lambda x: through(x, 210), range(70, 110)) == [90]
    assert flips(lambda end: through(60, end), range(160, 220, 5)) == [195]
    assert flips(lambda y: through(60, 300, y), range(100, 210)) == [120, 187]

    def parted(gap):
        after = TextRun("b", Rect(105 + gap, 142, 250, 152), 150, 10.0)
        return under(run(60, 150, "a" * 9), after, box=Rect(100, 100, 180, 200))

    assert flips(parted, range(1, 40)) == [20]


def test_images_in_strips_are_looked_at_as_one(flips):
    prose = [run(110, 116, LINES), run(110, 146, LINES)]

    def pieces(gap=0.0, wider=0.0, shifted=0.0):
        strips = [Rect(100, 100, 290, 130), Rect(100 + shifted, 130 + gap, 290 + wider, 160)]
        return len(find_regions(Drawing(images=strips), prose, PAGE))

    assert pieces() == 0
    assert flips(lambda gap: pieces(gap), HALVES[:12]) == [1.5, 2.0]
    assert flips(lambda wider: pieces(wider=wider), HALVES[:12]) == [1.0]
    assert flips(lambda shifted: pieces(shifted=shifted), HALVES[:12]) == [1.0]


def test_boxes_that_touch_through_others_are_one_group():
    boxes = [Rect(10 * at, 0, 10 * at + 8, 8) for at in range(6)]
    assert [len(group) for group in cluster_boxes(boxes, 2.0)] == [6]
    assert [len(group) for group in cluster_boxes(boxes, 1.9)] == [1] * 6
    assert cluster_boxes([], 1.0) == []
    many = [Rect(20.0 * at, 0, 20 * at + 1, 1) for at in range(4001)]
    assert len(cluster_boxes(many[:4000], 1.0)) == 4000
    sampled = cluster_boxes(many, 1.0)
    assert [group[0] for group in sampled] == many[::2]
    assert all(after[0].x0 - before[0].x0 == 40 for before, after in pairwise(sampled))


def test_a_piece_of_the_frame_in_a_corner_of_a_page_is_no_formula():
    def found(x, y):
        return [region.kind for region in find_regions(Drawing(images=[Rect(x, y, x + 8, y + 8)]), (), PAGE)]

    assert [found(x, y) for x, y in ((0, 792), (592, 0), (0, 400), (300, 792))] == [[], [], *[[LineKind.FORMULA]] * 2]
