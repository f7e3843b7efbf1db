"""The crop of a question shows what stands in its boxes, however the page lies in its file."""

import base64
import hashlib
import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pymupdf
import pytest
from PIL import Image

from build_dataset.pipeline import crop as module
from build_dataset.pipeline.crop import MARGIN, CropTask, Paper, crop, crop_in_worker, cut_out, find_paper, page_strips
from build_dataset.pipeline.rendering.markup import data_uri
from build_dataset.schemas.documents import Box, Document, Page
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Region

INK = (0.1, 0.2, 0.7)
"""Blue: no text, shadow or margin has it."""


def region(x0: float, y0: float, x1: float, y1: float, page: int = 1) -> Region:
    return Region(page=page, box=Box(x0=x0, y0=y0, x1=x1, y1=y1))


def pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), dtype=int)


def blue(png: bytes) -> float:
    """Share of the picture that is the marked rectangle."""
    seen = pixels(png)
    return float(((seen[:, :, 2] - seen[:, :, 0]) > 100).mean())


@pytest.fixture
def paper(tmp_path) -> Paper:
    """Two pages; on each a blue rectangle at (100, 200)–(300, 240)."""
    document = pymupdf.open()
    for _ in range(2):
        page = document.new_page(width=400, height=600)
        page.draw_rect(pymupdf.Rect(100, 200, 300, 240), color=None, fill=INK)
    path = tmp_path / "paper.pdf"
    document.save(path)
    return Paper("paper.pdf", path, "pdf")


MARKED = region(100, 200, 300, 240)
EXPECTED = 200 * 40 / ((200 + 2 * MARGIN) * (40 + 2 * MARGIN))
"""The rectangle's share of a crop with its margin."""


def test_a_crop_holds_the_box_and_a_margin(paper):
    assert abs(blue(crop(paper, [MARKED])) - EXPECTED) < 0.03


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_boxes_are_those_of_the_page_as_displayed(paper, rotation, tmp_path):
    document = pymupdf.open(paper.path)
    document[0].set_rotation(rotation)
    turned = tmp_path / "turned.pdf"
    document.save(turned)
    box = pymupdf.Rect(100, 200, 300, 240) * document[0].rotation_matrix
    assert abs(blue(crop(replace(paper, path=turned), [region(*box)])) - EXPECTED) < 0.03


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_a_scan_is_cut_as_its_page_is_displayed(tmp_path, rotation):
    picture = np.full((400, 400, 3), 255, dtype=np.uint8)
    picture[50:100, 50:350] = (20, 50, 180)
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "PNG")
    document = pymupdf.open()
    page = document.new_page(width=400, height=400)
    page.insert_image(page.rect, stream=buffer.getvalue())
    page.set_rotation(rotation)
    document.save(tmp_path / "scan.pdf")
    box = pymupdf.Rect(50, 50, 350, 100) * page.rotation_matrix
    seen = blue(crop(Paper("scan.pdf", tmp_path / "scan.pdf", "pdf"), [region(*box)]))
    assert abs(seen - 300 * 50 / ((300 + 2 * MARGIN) * (50 + 2 * MARGIN))) < 0.03


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_a_page_that_was_turned_to_be_read_is_cut_turned(tmp_path, turned):
    upright = np.full((600, 400, 3), 255, dtype=np.uint8)
    upright[200:240, 100:300] = (20, 50, 180)
    path = tmp_path / "lying.png"
    Image.fromarray(np.rot90(upright, -turned // 90)).save(path, dpi=(72, 72))
    lying = Paper("lying.png", path, "image", {1: turned})
    assert abs(blue(crop(lying, [MARKED])) - EXPECTED) < 0.03


def test_a_page_with_a_crop_box_is_cut_where_it_is_shown(paper, tmp_path):
    document = pymupdf.open(paper.path)
    document[0].set_cropbox(pymupdf.Rect(50, 100, 400, 600))
    cut = tmp_path / "cut.pdf"
    document.save(cut)
    assert abs(blue(crop(replace(paper, path=cut), [region(50, 100, 250, 140)])) - EXPECTED) < 0.03


def test_a_question_over_a_page_break_shows_both_pages(paper):
    one, both = crop(paper, [MARKED]), crop(paper, [MARKED, region(100, 200, 300, 240, page=2)])
    assert abs(blue(both) - EXPECTED) < 0.06
    assert pixels(both).shape[0] > 1.9 * pixels(one).shape[0]


def test_lines_of_a_column_are_one_strip_and_another_column_begins_a_new_one():
    left = [region(50, 700 + 20 * row, 280, 715 + 20 * row) for row in range(3)]
    right = [region(310, 60 + 20 * row, 540, 75 + 20 * row) for row in range(2)]
    assert page_strips([*left, *right]) == [region(50, 700, 280, 755), region(310, 60, 540, 95)]


def test_a_figure_beside_the_stem_stays_with_it():
    assert page_strips([region(50, 100, 250, 200), region(300, 95, 500, 220)]) == [region(50, 95, 500, 220)]


def test_no_box_is_told():
    with pytest.raises(UserError, match="no box"):
        crop(Paper("a.pdf", Path("a.pdf"), "pdf"), [])


def test_a_page_that_cannot_be_shown_is_told(paper):
    paper.path.write_bytes(b"%PDF-1.4\nnothing")
    with pytest.raises(UserError, match=r"paper.pdf page 1: "):
        crop(paper, [MARKED])


def test_a_box_outside_of_the_page_is_told(paper):
    with pytest.raises(UserError, match="outside"):
        crop(paper, [region(900, 900, 950, 950)])


@pytest.fixture
def noisy(tmp_path) -> Paper:
    """A page of colour noise, as large as PNG as a phone's photograph of a page."""
    path = tmp_path / "noisy.png"
    noise = np.random.default_rng(0).integers(0, 255, (800, 600, 3), dtype=np.uint8)
    Image.fromarray(noise).save(path, dpi=(72, 72))
    return Paper("noisy.png", path, "image")


def test_a_cut_out_that_is_too_large_as_png_is_a_jpeg_that_fits(noisy):
    regions = (region(50, 50, 550, 700),)
    assert len(crop(noisy, regions)) > 300_000
    kind, _, content = cut_out(CropTask(noisy, (("q", regions),), 300_000))["q"].partition(",")
    assert kind == "data:image/jpeg;base64"
    picture = base64.b64decode(content)
    assert len(picture) <= 300_000
    assert Image.open(io.BytesIO(picture)).width >= 500


def test_of_the_questions_of_a_page_those_that_can_be_shown_are_cut_out(paper):
    places = (("a", (MARKED,)), ("b", (region(900, 900, 950, 950),)), ("c", ()))
    assert cut_out(CropTask(paper, places, 400_000)) == {"a": data_uri(crop(paper, [MARKED]), "image/png")}


def test_a_crop_from_a_worker_is_the_same_and_its_errors_are_told(paper):
    assert crop_in_worker(paper, [MARKED]) == crop(paper, [MARKED])
    with pytest.raises(UserError, match=r"^paper.pdf page 7: "):
        crop_in_worker(paper, [region(100, 200, 300, 240, page=7)])


@pytest.fixture
def built(tmp_path, paper):
    """A build folder that read the paper, a Word file and a table; the raw folder is ``tmp_path``."""
    build = tmp_path / "build"
    (build / "ocr").mkdir(parents=True)
    sha = hashlib.sha256(paper.path.read_bytes()).hexdigest()
    Document.to_frame(
        [
            Document(document="paper.pdf", sha256=sha, format="pdf", pages=2, rows=None),
            Document(document="a.docx", sha256=sha, format="docx", pages=1, rows=None),
            Document(document="a.csv", sha256=sha, format="cmexam_csv", pages=None, rows=3),
        ]
    ).write_parquet(build / "ocr" / "documents.parquet")
    shared = {"width": 400, "height": 600, "method": "ocr", "reason": "image", "engine": "e"}
    Page.to_frame(
        Page(document="paper.pdf", page=number, engine_version="1", confidence=1, turned=turned, lines=1, **shared)
        for number, turned in ((1, 0), (2, 180))
    ).write_parquet(build / "ocr" / "pages.parquet")
    return build


def test_the_paper_of_a_document_is_found_with_how_its_pages_were_turned(built, tmp_path, paper):
    assert find_paper(built, tmp_path, "paper.pdf") == replace(paper, turned={2: 180})


@pytest.mark.parametrize(
    ("document", "told"), [("a.docx", "no pages to cut"), ("a.csv", "no pages to cut"), ("b.pdf", "is not in")]
)
def test_what_has_no_page_is_told(built, tmp_path, document, told):
    with pytest.raises(UserError, match=told):
        find_paper(built, tmp_path, document)


def test_a_file_that_is_gone_or_another_one_now_is_told(built, tmp_path, paper):
    paper.path.write_bytes(paper.path.read_bytes() + b"\n")
    with pytest.raises(UserError, match="has changed"):
        find_paper(built, tmp_path, "paper.pdf")
    paper.path.unlink()
    with pytest.raises(UserError, match="is gone"):
        find_paper(built, tmp_path, "paper.pdf")


@pytest.mark.parametrize(
    ("box", "strips"),
    [((0, 120, 90, 130), 1), ((100, 95, 190, 130), 1), ((100, 60, 190, 130), 2), ((0, 60, 90, 90), 2)],
)
def test_a_region_goes_on_in_its_column(box, strips):
    first = region(0, 100, 90, 110)
    assert len(page_strips([first, region(*box)])) == strips
    assert len(page_strips([first, region(*box, page=2)])) == 2


def test_what_may_be_misread_is_underlined_in_the_cut_out(paper):
    place = region(120, 200, 140, 240)
    made = cut_out(CropTask(paper, (("a", (MARKED,)), ("b", (MARKED,))), 10**6, {"a": [place]}))
    red = {
        name: int(((seen[:, :, 0] > 200) & (seen[:, :, 1] < 60)).sum())
        for name, uri in made.items()
        for seen in [pixels(base64.b64decode(uri.partition(",")[2]))]
    }
    assert (red["a"] > 50, red["b"]) == (True, 0)


@pytest.mark.parametrize(("spread", "mode"), [(10, "L"), (60, "RGB")])
def test_a_page_without_colour_is_grey(spread, mode):
    page = np.full((2, 3, 3), 200, np.uint8)
    page[1, 1, 0] -= spread
    assert module.as_picture(page).mode == mode
