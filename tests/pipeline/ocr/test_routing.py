"""A page is read by its text layer where that says what is printed, by OCR otherwise, and the reason is told."""

from __future__ import annotations

import io
from types import SimpleNamespace

import numpy as np
import pymupdf
import pytest
from PIL import Image

from pipeline.ocr import routing
from pipeline.ocr.interfaces import NeedsOcr
from pipeline.ocr.model import PageRead, Rect
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.pdf import PdfReader
from pipeline.ocr.regions import Drawing

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
def why(tmp_path):
    def told(document: pymupdf.Document, **params) -> str | None:
        path = tmp_path / "page.pdf"
        document.subset_fonts()
        document.save(path, garbage=3, deflate=True)
        (found,) = PdfReader().read(path, [1], OcrParams(**params))
        assert isinstance(found, NeedsOcr) or (isinstance(found, PageRead) and found.lines)
        return found.reason

    return told


def test_digital_text_is_taken_as_it_is(cjk, why):
    document = pymupdf.open()
    text_page(cjk, document.new_page(), range(30))
    assert why(document) is None


def test_a_scan_under_a_long_digital_head_is_recognised(cjk, scan, why):
    document = pymupdf.open()
    page = document.new_page()
    page.insert_image(A4, stream=scan, keep_proportion=False)
    text_page(cjk, page, range(36, 39))
    page.insert_text((60, 30), "downloaded by a user of a library; not to be passed on to others " * 2)
    assert why(document) == "text_in_image"


def test_a_page_half_of_which_is_a_picture_of_text_is_recognised(cjk, scan, why):
    document = pymupdf.open()
    page = document.new_page()
    text_page(cjk, page, range(15))
    page.insert_image(pymupdf.Rect(0, 380, 595, 842), stream=scan, keep_proportion=False)
    assert why(document) == "text_in_image"


def test_a_hidden_layer_of_a_former_ocr_run_is_not_trusted(cjk, scan, why):
    document = pymupdf.open()
    page = document.new_page()
    page.insert_image(A4, stream=scan, keep_proportion=False)
    text_page(cjk, page, range(35), render_mode=3)
    assert why(document) == "hidden_text_layer"


def test_text_behind_the_picture_of_a_scan_is_not_trusted(cjk, scan, why):
    document = pymupdf.open()
    page = document.new_page()
    text_page(cjk, page, range(35))
    page.insert_image(A4, stream=scan, keep_proportion=False)
    assert why(document) == "text_under_image"


def test_text_under_two_pictures_counts_once(cjk, why):
    white = _png(Image.new("L", (595, 842), 250))
    document = pymupdf.open()
    page = document.new_page()
    text_page(cjk, page, range(12))
    page.insert_image(A4, stream=white)
    page.insert_image(A4, stream=white)
    text_page(cjk, page, range(12, 35))
    assert why(document) is None


def test_text_on_a_picture_of_paper_is_taken_as_it_is(cjk, why):
    grain = np.random.default_rng(0).normal(235, 4, (842, 595)).clip(0, 255).astype(np.uint8)
    document = pymupdf.open()
    page = document.new_page()
    page.insert_image(A4, stream=_png(Image.fromarray(grain)))
    text_page(cjk, page, range(30))
    assert why(document) is None


def test_a_see_through_stamp_over_the_page_does_not_hide_its_text(cjk, why):
    stamp = np.zeros((842, 595, 4), dtype=np.uint8)
    stamp[300:500, 200:400] = (255, 0, 0, 60)
    document = pymupdf.open()
    page = document.new_page()
    text_page(cjk, page, range(30))
    page.insert_image(A4, stream=_png(Image.fromarray(stamp)))
    assert why(document) is None


def test_a_page_most_of_which_is_letters_drawn_as_outlines_is_recognised(cjk, why):
    typed = pymupdf.open()
    text_page(cjk, typed.new_page(), range(14, 38))
    outlines = pymupdf.open("svg", typed[0].get_svg_image(text_as_path=True).encode())
    document = pymupdf.open()
    page = document.new_page()
    text_page(cjk, page, range(12))
    page.show_pdf_page(A4, pymupdf.open("pdf", outlines.convert_to_pdf()), 0)
    assert why(document) == "text_in_image"


@pytest.mark.parametrize("kind", ["photograph", "diagram"])
def test_a_large_figure_among_text_is_no_scan(cjk, why, kind):
    canvas = np.full((700, 900), 255, dtype=np.uint8)
    if kind == "photograph":
        noise = np.random.default_rng(1).normal(120, 60, (70, 90)).clip(0, 255).astype(np.uint8)
        canvas = np.asarray(Image.fromarray(noise).resize((900, 700), Image.Resampling.BICUBIC))
    else:
        for step in range(6):
            canvas[100 * step : 100 * step + 4] = canvas[:, 150 * step : 150 * step + 4] = 0
    document = pymupdf.open()
    page = document.new_page()
    text_page(cjk, page, range(15))
    page.insert_image(pymupdf.Rect(50, 400, 550, 800), stream=_png(Image.fromarray(canvas)))
    assert why(document) is None


def test_pictures_of_more_pixels_than_allowed_are_not_decoded_for_a_look(cjk, scan, why):
    document = pymupdf.open()
    page = document.new_page()
    text_page(cjk, page, range(15))
    page.insert_image(pymupdf.Rect(0, 380, 595, 842), stream=scan, keep_proportion=False)
    assert why(document, max_pixels=1_000_000) is None


def _png(picture: Image.Image) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("digits", "enclosed"),
    [("12357", {0}), ("0", {1, 2}), ("4", {0, 1}), ("69", {1}), ("8", {2})],
)
def test_a_digit_is_one_that_encloses_as_many_white_areas(digits, enclosed, monkeypatch):
    """Any of its places is enough; a font that is sound once is not looked at again."""
    page = pymupdf.open().new_page()
    for digit in digits:
        layer = SimpleNamespace(digits={("font", digit): [Rect(0, 0, 5, 9), Rect(9, 0, 14, 9)]})
        seen = []
        for first in range(4):
            holes = iter([3 if first else 4, first])
            monkeypatch.setattr(routing, "_holes", lambda *_, told=holes: next(told))
            shapes = routing.DigitShapes()
            seen += [] if shapes.lie(page, layer, Drawing([], [], [], [])) else [first]
            assert shapes.lie(page, layer, Drawing([], [], [], [])) == (first not in enclosed)
        assert set(seen) == enclosed


def test_digits_on_images_do_not_count(monkeypatch):
    monkeypatch.setattr(routing, "_holes", lambda *_: 9)
    page = pymupdf.open().new_page()
    layer = SimpleNamespace(digits={("font", "1"): [Rect(0, 0, 5, 9)]})
    image = Drawing([], [], [], [Rect(4, 8, 50, 50)])
    assert not routing.DigitShapes().lie(page, layer, image)
    assert routing.DigitShapes().lie(page, layer, Drawing([], [], [], [Rect(5, 9, 50, 50)]))


def test_white_areas_of_some_size_are_counted_in_the_ink_of_a_character(flips):
    def holes(*boxes: tuple[float, ...], grey=1.0) -> int:
        page = pymupdf.open().new_page(width=64, height=64)
        page.draw_rect(pymupdf.Rect(8, 8, 56, 56), color=None, fill=(0, 0, 0))
        for box in boxes:
            page.draw_rect(pymupdf.Rect(box), color=None, fill=(grey,) * 3)
        return routing._holes(page.get_displaylist(), Rect(0, 0, 64, 64))

    assert [holes(), holes((20, 20, 30, 30)), holes((20, 20, 30, 30), (40, 40, 50, 50))] == [0, 1, 2]
    sizes = [(1, 2), (1, 3), (2, 1), (3, 1), (2, 2)]
    assert [holes((20, 20, 20 + wide, 20 + high)) for wide, high in sizes] == [0, 1, 0, 1, 1]
    shades = [grey / 255 for grey in range(256)]
    assert flips(lambda grey: holes((20, 20, 30, 30), grey=grey), shades) == [193 / 255], (
        "three quarters white"
    )


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
        return routing.why_unsound(
            SimpleNamespace(**{"text": text, "turned": 0, "hidden": 0} | more), cover, pieces
        )

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
