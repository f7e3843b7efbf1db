"""A page is read by its text layer where that says what is printed, by OCR otherwise, and the reason is told."""

from __future__ import annotations

import io

import numpy as np
import pymupdf
import pytest
from PIL import Image

from pipeline.ocr.interfaces import NeedsOcr
from pipeline.ocr.model import PageRead
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.pdf import PdfReader

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
