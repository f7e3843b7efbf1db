"""A page is read by its text layer where that says what is printed, by OCR otherwise, and the reason is told."""

import io
from types import SimpleNamespace

import numpy as np
import pymupdf
import pytest
from PIL import Image

from build_dataset.pipeline.ocr import routing
from build_dataset.pipeline.ocr.interfaces import NeedsOcr
from build_dataset.pipeline.ocr.model import PageRead, Rect
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.pdf import PdfReader
from build_dataset.pipeline.ocr.regions import Drawing

PROSE = "下列关于急性胃炎的叙述哪一项是正确的并说明理由"
A4 = pymupdf.Rect(0, 0, 595, 842)


def text_page(font: pymupdf.Font, page: pymupdf.Page, rows: range, render_mode: int = 0) -> None:
    """Lines of prose at ``rows``, 20 points each."""
    page.insert_font(fontname="cjk", fontbuffer=font.buffer)
    for row in rows:
        page.insert_text((60, 60 + 20 * row), f"{row}. {PROSE}", fontname="cjk", render_mode=render_mode)


@pytest.fixture(scope="module")
def scan(cjk) -> bytes:
    """A page of 35 lines as a picture, JPEG."""
    document = pymupdf.open()
    text_page(cjk, document.new_page(), range(35))
    return document[0].get_pixmap(dpi=120).tobytes("jpeg")


@pytest.fixture
def document() -> pymupdf.Document:
    return pymupdf.open()


@pytest.fixture
def page(document) -> pymupdf.Page:
    return document.new_page()


@pytest.fixture
def why(tmp_path, document):
    """Why the page is recognised; None where its text layer is taken."""

    def told(**params) -> str | None:
        path = tmp_path / "page.pdf"
        document.subset_fonts()
        document.save(path, garbage=3, deflate=True)
        (found,) = PdfReader().read(path, [1], OcrParams(**params))
        assert isinstance(found, NeedsOcr) or (isinstance(found, PageRead) and found.lines)
        return found.reason

    return told


def test_digital_text_is_taken_as_it_is(cjk, page, why):
    text_page(cjk, page, range(30))
    assert why() is None


def test_a_scan_under_a_long_digital_head_is_recognised(cjk, page, scan, why):
    page.insert_image(A4, stream=scan, keep_proportion=False)
    text_page(cjk, page, range(36, 39))
    page.insert_text((60, 30), "downloaded by a user of a library; not to be passed on to others " * 2)
    assert why() == "text_in_image"


def test_a_page_half_of_which_is_a_picture_of_text_is_recognised(cjk, page, scan, why):
    text_page(cjk, page, range(15))
    page.insert_image(pymupdf.Rect(0, 380, 595, 842), stream=scan, keep_proportion=False)
    assert why() == "text_in_image"


def test_a_hidden_layer_of_a_former_ocr_run_is_not_trusted(cjk, page, scan, why):
    page.insert_image(A4, stream=scan, keep_proportion=False)
    text_page(cjk, page, range(35), render_mode=3)
    assert why() == "hidden_text_layer"


def test_text_behind_the_picture_of_a_scan_is_not_trusted(cjk, page, scan, why):
    text_page(cjk, page, range(35))
    page.insert_image(A4, stream=scan, keep_proportion=False)
    assert why() == "text_under_image"


def test_text_under_two_pictures_counts_once(cjk, page, why):
    white = _png(Image.new("L", (595, 842), 250))
    text_page(cjk, page, range(12))
    page.insert_image(A4, stream=white)
    page.insert_image(A4, stream=white)
    text_page(cjk, page, range(12, 35))
    assert why() is None


def test_text_on_a_picture_of_paper_is_taken_as_it_is(cjk, page, why):
    grain = np.random.default_rng(0).normal(235, 4, (842, 595)).clip(0, 255).astype(np.uint8)
    page.insert_image(A4, stream=_png(Image.fromarray(grain)))
    text_page(cjk, page, range(30))
    assert why() is None


def test_a_see_through_stamp_over_the_page_does_not_hide_its_text(cjk, page, why):
    stamp = np.zeros((842, 595, 4), dtype=np.uint8)
    stamp[300:500, 200:400] = (255, 0, 0, 60)
    text_page(cjk, page, range(30))
    page.insert_image(A4, stream=_png(Image.fromarray(stamp)))
    assert why() is None


def test_a_page_most_of_which_is_letters_drawn_as_outlines_is_recognised(cjk, page, why):
    typed = pymupdf.open()
    text_page(cjk, typed.new_page(), range(14, 38))
    outlines = pymupdf.open("svg", typed[0].get_svg_image(text_as_path=True).encode())
    text_page(cjk, page, range(12))
    page.show_pdf_page(A4, pymupdf.open("pdf", outlines.convert_to_pdf()), 0)
    assert why() == "text_in_image"


@pytest.mark.parametrize("kind", ["photograph", "diagram"])
def test_a_large_figure_among_text_is_no_scan(cjk, page, why, kind):
    canvas = np.full((700, 900), 255, dtype=np.uint8)
    if kind == "photograph":
        noise = np.random.default_rng(1).normal(120, 60, (70, 90)).clip(0, 255).astype(np.uint8)
        canvas = np.asarray(Image.fromarray(noise).resize((900, 700), Image.Resampling.BICUBIC))
    else:
        for step in range(6):
            canvas[100 * step : 100 * step + 4] = canvas[:, 150 * step : 150 * step + 4] = 0
    text_page(cjk, page, range(15))
    page.insert_image(pymupdf.Rect(50, 400, 550, 800), stream=_png(Image.fromarray(canvas)))
    assert why() is None


def test_pictures_of_more_pixels_than_allowed_are_not_decoded_for_a_look(cjk, page, scan, why):
    text_page(cjk, page, range(15))
    page.insert_image(pymupdf.Rect(0, 380, 595, 842), stream=scan, keep_proportion=False)
    assert why(max_pixels=1_000_000) is None


def _png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


def test_images_that_overlap_cover_a_page_once(flips):
    def cover(*boxes: tuple[float, ...]) -> float:
        return routing.image_cover(Drawing([], [], [], [Rect(*box) for box in boxes]), Rect(0, 0, 100, 100))

    assert cover() == 0.0
    assert cover((0, 0, 50, 50)) == 0.25
    assert cover((0, 0, 50, 50), (60, 60, 70, 70)) == pytest.approx(0.26)
    assert cover((0, 0, 50, 50), (0, 0, 50, 50)) == 0.25
    assert cover((0, 0, 50, 50), (40, 40, 60, 60)) == pytest.approx(0.29)
    assert cover((-50, -50, 150, 150)) == 1.0


def test_why_a_text_layer_is_unsound(flips):
    def why(text="", cover=0.0, pieces=0, **more) -> str | None:
        return routing.why_unsound(SimpleNamespace(**{"text": text, "turned": 0, "hidden": 0} | more), cover, pieces)

    assert why() == "no_text_layer"
    assert why("a") is None
    assert flips(lambda turned: why("a", turned=turned) == "turned_text", range(300)) == [101]
    assert flips(lambda turned: why("a" * 200, turned=turned) == "turned_text", range(300)) == [201]
    assert flips(lambda hidden: why("a", hidden=hidden) == "hidden_text_layer", range(300)) == [101]
    assert flips(lambda hidden: why("a" * 200, hidden=hidden) == "hidden_text_layer", range(300)) == [201]
    assert why("a", cover=0.35) == "sparse_text_over_image"
    assert flips(lambda cover: why("a", cover=cover / 100), range(100)) == [35]
    assert flips(lambda length: why("a" * length, cover=0.5), range(1, 200)) == [100]
    assert why("a", pieces=2001) == "outlined_text"
    assert flips(lambda pieces: why("a", pieces=pieces), range(1990, 2010)) == [2001]
    assert flips(lambda length: why("a" * length, pieces=9999), range(1, 200)) == [100]
    assert flips(lambda count: why("\ufffd" * count + "a" * (100 - count)), range(100)) == [11]
    assert why("\ufffd" * 11 + "a" * 89) == "garbled"


def test_characters_that_cannot_be_printed_are_mojibake(flips):
    assert flips(lambda count: routing.is_mojibake("¼" * count), range(1, 30)) == [7]
    assert flips(lambda count: routing.is_mojibake("¼" * count + "a" * (100 - count)), range(100)) == [31]
    assert flips(lambda count: routing.is_mojibake("龘" * count), range(100)) == [30]
    assert flips(lambda count: routing.is_mojibake("龘" * count + "病" * (100 - count)), range(101)) == [41]


class Log:
    """A page that tells in which order it was drawn."""

    rect = Rect(0.0, 0.0, 100.0, 100.0)

    def __init__(self, *drawn: tuple[str, tuple[float, float, float, float]]) -> None:
        self.drawn = drawn

    def get_bboxlog(self) -> list[tuple[str, tuple[float, float, float, float]]]:
        return list(self.drawn)


def under(*drawn: tuple[str, tuple[float, float, float, float]]) -> bool:
    return routing.is_under_image(Log(*drawn), [{"has-mask": False}])


def test_text_is_under_an_image_that_was_drawn_over_more_than_nine_tenths_of_it(flips):
    text = ("fill-text", (0.0, 0.0, 100.0, 1.0))
    assert flips(lambda x: under(text, ("fill-image", (0, 0, x, 9))), range(80, 101)) == [91]
    assert not under(text, ("fill-path", (0, 0, 100, 9)))
    assert not under(("fill-image", (0, 0, 100, 9)), text)
    assert not under(("fill-image", (0, 0, 100, 9)))


def test_more_than_half_of_the_text_is_under_images(flips):
    cover = ("fill-image", (0.0, 0.0, 200.0, 10.0))

    def shares(length: float, high: float, rest: float) -> bool:
        lines = ("fill-text", (0.0, 0.0, length, high)), ("fill-text", (0.0, 50.0, rest, 50 + high))
        return under(*lines, cover)

    assert flips(lambda length: shares(length, 1.0, 100.0 - length), range(101)) == [51]
    tiny = [step / 100 for step in range(30, 80)]
    assert flips(lambda length: shares(length, 1.0, 0.1), tiny) == [0.51], "of a square point at least"


def test_images_with_holes_hide_no_text():
    drawn = Log(("fill-text", (0, 0, 100, 1)), ("fill-image", (0, 0, 100, 9)))
    masks = [[], [True], [True, False], [False, False]]
    found = [routing.is_under_image(drawn, [{"has-mask": mask} for mask in each]) for each in masks]
    assert found == [False, False, True, True]
    assert routing.is_under_image(drawn, [{}])


@pytest.fixture
def looked(monkeypatch):
    """The reason told of a page of a hundred characters, and the areas that are looked at."""

    def told(cover=0.0, pieces=0, under=False, partial=True, **params) -> tuple[str | None, list[Rect]]:
        seen: list[Rect] = []
        monkeypatch.setattr(routing, "is_under_image", lambda *_: under)
        monkeypatch.setattr(routing, "_is_partial", lambda page, layer, areas, *_: seen.extend(areas) or partial)
        layer = SimpleNamespace(text="a" * 100, turned=0, hidden=0, runs=[])
        drawing = Drawing([Rect(0, 0, 9, 1)] * pieces, [], [], [Rect(0, 0, 100, cover)] if cover else [])
        return routing.why_ocr(Log(), layer, drawing, [], OcrParams(**params)), seen

    return told


def test_a_page_is_looked_at_where_images_or_drawings_may_hold_text(looked):
    assert looked() == (None, [])
    assert looked(force_ocr=True) == ("forced", [])
    image, frame = [Rect(0, 0, 100, 35)], [Rect(0, 0, 100, 100)]
    assert looked(34.5) == (None, [])
    assert looked(35) == ("text_in_image", image)
    assert looked(35, partial=False) == (None, image)
    assert looked(34.5, under=True) == (None, [])
    assert looked(35, under=True) == ("text_under_image", [])
    assert [looked(pieces=count) for count in (2000, 2001)] == [(None, []), ("text_in_image", frame)]
    assert [looked(35, 2000)[1], looked(35, 2001)[1]] == [image, frame]


def test_images_beside_each_other_are_counted_apart():
    boxes = [Rect(0, 0, 50, 50), Rect(0, 0, 50, 50), Rect(50.05, 0, 100.05, 50)]
    assert routing.image_cover(Drawing([], [], [], boxes), Rect(0, 0, 100, 100)) == pytest.approx(0.5)
    tiny = Drawing([], [], [], [Rect(0, 0, 0.5, 1)])
    assert [routing.image_cover(tiny, Rect(0, 0, side, 1)) for side in (1.0, 2.0, 0.0)] == [0.5, 0.25, 0.5]


def blocks(shape: tuple[int, int], *boxes: tuple[int, int, int, int]) -> routing.Mask:
    """Ink in boxes (left, top, width, height)."""
    ink = np.zeros(shape, np.uint8)
    for left, top, wide, high in boxes:
        ink[top : top + high, left : left + wide] = 1
    return ink


def row(count: int, wide: int, high: int, gap: int, top: int = 20, *, down: int = 0, more: int = 0):
    """Boxes beside each other, every second lower, the last ``more`` pixels wider."""
    widths = [wide] * (count - 1) + [wide + more]
    return [(30 + at * (wide + gap), top + down * (at % 2), width, high) for at, width in enumerate(widths)]


ALL = Rect(0, 0, 288, 86.4)


def unread(*boxes: tuple[int, int, int, int], read=(), areas=(ALL,), paper=255, ink=0) -> float:
    """Length told of a page of 400 x 120 pixels, and 3 more at the end of each row in memory."""
    grey = np.full((120, 403), paper, np.uint8)
    grey[:, :400][blocks((120, 400), *boxes) > 0] = ink
    pixmap = SimpleNamespace(samples=grey.tobytes(), height=120, width=400, stride=403)
    page = SimpleNamespace(get_pixmap=lambda **_: pixmap)
    return routing.unread_lines(page, read, areas)


def test_lines_that_the_text_layer_does_not_hold_are_measured_in_points():
    line = row(20, 8, 10, 4)  # from pixel 30 to 266
    assert unread(*line) == pytest.approx(252 * 0.72)
    assert unread(*line, *row(20, 8, 10, 4, 60)) == pytest.approx(2 * 252 * 0.72)
    assert unread(*line, areas=[]) == 0
    assert unread(*line, read=[ALL]) == 0
    assert unread(*line, areas=[Rect(0, 0, 111.55, 86.4)]) == pytest.approx(141 * 0.72)
    assert unread(*line, areas=[Rect(0, 0, 111.65, 86.4)]) == pytest.approx(142 * 0.72)
    beside = [unread(*line, read=[Rect(0, 0, edge, 86.4)]) for edge in (111.5, 111.6)]
    assert beside == pytest.approx([(266 - start + 16) * 0.72 for start in (157, 162)])


def test_print_is_darker_than_the_paper_around_it(flips):
    def read(darker: int) -> bool:
        return unread(*row(20, 8, 10, 4), paper=200, ink=200 - darker) > 0

    assert flips(read, range(100)) == [41]


def test_a_page_of_pictures_is_looked_at_in_a_hundred_dots_an_inch():
    asked: dict[str, object] = {}

    class Asked:
        def get_pixmap(self, **options: object) -> SimpleNamespace:
            asked.update(options)
            return SimpleNamespace(samples=bytes([255]) * 100, height=10, width=10, stride=10)

    assert routing.unread_lines(Asked(), [], []) == 0
    assert (asked["dpi"], asked["alpha"]) == (100, False)
