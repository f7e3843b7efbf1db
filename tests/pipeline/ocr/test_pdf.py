"""PDF files: text layers, figures, tables, and what is refused."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pymupdf
import pytest

from build_dataset.pipeline.ocr.interfaces import NeedsOcr
from build_dataset.pipeline.ocr.model import PageRead
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import pdf
from build_dataset.pipeline.ocr.readers.pdf import PdfReader
from build_dataset.pipeline.ocr.tasks import FileTask, inspect_file
from build_dataset.schemas.documents import LineKind, ReadMethod
from build_dataset.schemas.errors import UnreadableDocument

PROSE = "下列关于急性胃炎的叙述哪一项是正确的"


def reason(path, **params) -> str:
    with pytest.raises(UnreadableDocument) as caught:
        inspect_file(FileTask("a.pdf", path, OcrParams(**params)))
    return caught.value.reason


def test_a_text_layer_is_read_with_boxes_as_displayed(make_pdf, read_page):
    page = read_page(make_pdf([[(60, 100, "1. 题干（　）"), (60, 120, "A.甲"), (260, 120, "B.乙")]]))
    assert page.method is ReadMethod.TEXT_LAYER
    assert page.reason is None
    assert [line.text for line in page.lines][1] == "A.甲\tB.乙"
    box = page.lines[0].box
    assert 58 < box.x0 < 62
    assert 88 < box.y0 < 100 < box.y1 < 105


@pytest.mark.parametrize("rotation", [90, 180, 270])
def test_a_page_turned_by_its_rotation_entry_is_read_as_displayed(make_pdf, read_page, rotation, tmp_path):
    plain = make_pdf([[(60, 100, "1. 题干在此"), (60, 130, "A.甲"), (260, 130, "B.乙")]])
    # Content turned one way and the page the other, as scanners and print drivers do.
    turned = pymupdf.open()
    size = (842, 595) if rotation % 180 else (595, 842)
    sheet = turned.new_page(width=size[0], height=size[1])
    sheet.show_pdf_page(sheet.rect, pymupdf.open(plain), 0, rotate=rotation)
    sheet.set_rotation(rotation)
    path = tmp_path / "turned.pdf"
    turned.save(path)
    found = read_page(path)
    assert (found.width, found.height) == (595, 842)
    assert [line.text for line in found.lines] == [line.text for line in read_page(plain).lines]
    assert abs(found.lines[0].box.x0 - 60) < 2


def test_watermarks_are_left_out(make_pdf, read_page):
    def decorate(page, number):
        page.insert_text((100, 600), "CONFIDENTIAL", fontsize=60, color=(0.85, 0.85, 0.85))
        page.insert_text((200, 400), "sold by x", fontsize=20, morph=(pymupdf.Point(200, 400), pymupdf.Matrix(45)))

    page = read_page(make_pdf([[(60, 100, PROSE)]], decorate=decorate))
    assert [line.text for line in page.lines] == [PROSE]


def test_glyphs_too_small_to_be_seen_are_not_read(make_pdf, read_page):
    def decorate(page, number):
        page.insert_text((62, 99), "B", fontsize=1)

    page = read_page(make_pdf([[(60, 100, PROSE)]], decorate=decorate))
    assert [line.text for line in page.lines] == [PROSE]


def test_fake_bold_is_read_once(make_pdf, read_page):
    copies = [(60 + shift, 100 + shift, PROSE) for shift in (0, 0.2, 0.4)]
    assert [line.text for line in read_page(make_pdf([copies])).lines] == [PROSE]


@pytest.mark.parametrize("second", [(100, 100.0), (100.3, 100.2), (80, 100.0)])
def test_a_part_printed_over_the_end_of_another_is_read_once(make_pdf, read_page, second):
    text = "下列心理分析的方法"
    x, y = second
    parts = [(60, 100, text[:5]), (x, y, text[round((x - 60) / 10) :])]
    assert [line.text for line in read_page(make_pdf([parts])).lines] == [text]


def test_doubled_letters_are_not_taken_for_fake_bold(make_pdf, read_page):
    assert read_page(make_pdf([[(60, 100, "aaa 111 人人人")]])).lines[0].text == "aaa 111 人人人"


def test_images_and_drawings_are_figures_and_grids_are_tables(make_pdf, read_page):
    def decorate(page, number):
        picture = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 50, 50))
        picture.clear_with(90)
        page.insert_image(pymupdf.Rect(60, 120, 160, 200), pixmap=picture)
        for shift in range(3):
            page.draw_circle((100 + 30 * shift, 300), 20)
        for x in (60, 120, 180):
            page.draw_line((x, 400), (x, 440))
        for y in (400, 420, 440):
            page.draw_line((60, y), (180, y))
        page.draw_line((60, 520), (140, 520))  # an underline is no region

    texts = [(60, 100, PROSE), (70, 415, "题号"), (130, 415, "1"), (60, 515, "答案")]
    page = read_page(make_pdf([texts], decorate=decorate))
    assert [(line.kind, line.text) for line in page.lines] == [
        (LineKind.TEXT, PROSE),
        (LineKind.FIGURE, ""),
        (LineKind.FIGURE, ""),
        (LineKind.TABLE, ""),
        (LineKind.TEXT, "题号\t1"),
        (LineKind.TEXT, "答案"),
    ]


def test_a_shaded_box_around_a_question_is_no_figure(make_pdf, read_page):
    def decorate(page, number):
        for inset in range(4):
            page.draw_rect(pymupdf.Rect(50 + inset, 80 + inset, 400, 160), fill=(0.9, 0.9, 1), overlay=False)

    page = read_page(make_pdf([[(60, 100, PROSE), (60, 120, PROSE)]], decorate=decorate))
    assert [line.kind for line in page.lines].count(LineKind.FIGURE) == 0
    assert len([line for line in page.lines if line.text]) == 2


def test_highlighted_answers_are_no_figure(make_pdf, read_page):
    texts = [(60, 100 + 15 * row, f"时间最短的时期是：{letter}") for row, letter in enumerate("BABEAAF")]

    def highlight(page, number):
        for x, y, _ in texts:
            page.draw_rect((x + 60, y - 9, x + 96, y + 2), color=None, fill=(1, 1, 0))

    found = read_page(make_pdf([texts], decorate=highlight))
    assert [line.kind for line in found.lines] == ["text"] * 7


def test_an_empty_page_is_blank(make_pdf, read_page):
    page = read_page(make_pdf([[], [(60, 100, PROSE)]]))
    assert (page.method, page.reason) == (ReadMethod.BLANK, "no_content")


def test_an_image_only_page_needs_ocr_and_gives_its_own_image(tmp_path):
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, 850, 1203))
    pixmap.clear_with(200)
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    page.insert_image(page.rect, pixmap=pixmap, keep_proportion=False)
    path = tmp_path / "scan.pdf"
    document.save(path)
    assert PdfReader().read(path, [1], OcrParams()) == [NeedsOcr("no_text_layer")]
    assert PdfReader().image(path, 1, OcrParams()).pixels.shape == (1203, 850, 3)


def stencil_page(path: Path) -> Path:
    """A page that is one image of a bit a point, black where a bit is 0: the left half."""
    document = pymupdf.open()
    page = document.new_page(width=100, height=100)
    page.insert_image(page.rect, pixmap=pymupdf.Pixmap(pymupdf.csGRAY, pymupdf.IRect(0, 0, 80, 80), False))
    [(xref, *_)] = page.get_images()
    document.update_stream(xref, (b"\x00" * 5 + b"\xff" * 5) * 80)
    for name, value in [("ColorSpace", "null"), ("BitsPerComponent", "1"), ("ImageMask", "true")]:
        document.xref_set_key(xref, name, value)
    document.save(path)
    return path


def test_a_scan_stored_as_a_stencil_is_drawn(tmp_path):
    path = stencil_page(tmp_path / "fax.pdf")
    image = PdfReader().image(path, 1, OcrParams())
    row = image.pixels[len(image.pixels) // 2, :, 0]
    assert (row[len(row) // 4], row[3 * len(row) // 4]) == (0, 255)


def test_every_page_is_recognised_when_that_is_asked_for(make_pdf):
    path = make_pdf([[(60, 100, PROSE)]])
    assert PdfReader().read(path, [1], OcrParams(force_ocr=True)) == [NeedsOcr("forced")]


def test_a_password_is_a_reason(make_pdf, tmp_path):
    document = pymupdf.open(make_pdf([[(60, 100, PROSE)]]))
    locked = tmp_path / "locked.pdf"
    document.save(locked, encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="secret", owner_pw="other")
    assert reason(locked) == "encrypted"


def test_a_document_without_pages_is_refused(tmp_path):
    path = tmp_path / "empty.pdf"
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\n"
        b"trailer<</Root 1 0 R>>\n%%EOF\n"
    )
    assert reason(path) in ("no_pages", "broken")


def test_too_many_pages_are_refused(make_pdf):
    assert reason(make_pdf([[], [], []]), max_pages=2) == "too_large"


def test_a_table_keeps_its_cells_apart_although_they_stand_close(make_pdf, read_page):
    def decorate(page, number):
        for column in range(6):
            page.draw_line((50 + 16 * column, 90), (50 + 16 * column, 130))
        for y in (90, 110, 130):
            page.draw_line((50, y), (130, y))

    letters = [(53 + 16 * column, 104, char) for column, char in enumerate("ＡＢＣＤＥ")]
    page = read_page(make_pdf([letters], decorate=decorate))
    assert [line.text for line in page.lines if line.text] == ["Ａ\tＢ\tＣ\tＤ\tＥ"]


def test_content_on_its_side_is_left_to_ocr(tmp_path):
    document = pymupdf.open()
    page = document.new_page()
    for row in range(20):
        page.insert_text((100 + 20 * row, 700), "a line of text that runs upwards", rotate=90)
    path = tmp_path / "side.pdf"
    document.save(path)
    assert PdfReader().read(path, [1], OcrParams()) == [NeedsOcr("turned_text")]


def stamp(width=300, height=200, shade=230):
    pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, width, height))
    pixmap.set_rect(pixmap.irect, (shade, shade, 250))
    return pixmap


LINES = [(60, 100 + 20 * row, f"{row + 1}. 关于第{row + 1}种药物的叙述何者最不适当") for row in range(12)]


@pytest.mark.parametrize("place", [(100, 120, 400, 300), (40, 150, 560, 250), (90, 60, 240, 400), (90, 120, 150, 180)])
def test_lines_that_run_through_a_picture_are_text_and_the_picture_is_none(make_pdf, read_page, place):
    def decorate(page, number):
        page.insert_image(place, pixmap=stamp(), keep_proportion=False)

    page = read_page(make_pdf([LINES], decorate=decorate))
    assert [line.kind for line in page.lines] == [LineKind.TEXT] * len(LINES)


def test_a_picture_in_strips_under_text_is_none(make_pdf, read_page):
    def decorate(page, number):
        for top in range(90, 330, 8):
            page.insert_image((60, top, 500, top + 8), pixmap=stamp(440, 8), keep_proportion=False)

    page = read_page(make_pdf([LINES], decorate=decorate))
    assert [line.kind for line in page.lines] == [LineKind.TEXT] * len(LINES)


def test_a_figure_with_labels_beside_a_stamp_stays_a_figure(make_pdf, read_page):
    def decorate(page, number):
        page.insert_image((100, 120, 400, 300), pixmap=stamp())
        page.insert_image((100, 400, 300, 500), pixmap=stamp(200, 100), keep_proportion=False)

    page = read_page(make_pdf([[*LINES, (140, 430, "左心室"), (200, 460, "主动脉")]], decorate=decorate))
    assert [line.text for line in page.lines if line.kind is LineKind.FIGURE] == ["", "左心室", "主动脉"]


def test_a_picture_at_one_place_of_several_pages_is_no_figure(make_pdf, read_page):
    short = [(60, 100, "1. 何者正确"), (120, 200, "A.甲"), (120, 220, "B.乙")]

    def decorate(page, number):
        page.insert_image((100, 120, 400, 300), pixmap=stamp())
        if number == 2:
            page.insert_image((100, 400, 300, 500), pixmap=stamp(200, 100), keep_proportion=False)

    path = make_pdf([short, short, short], decorate=decorate)
    assert [LineKind.FIGURE in [line.kind for line in read_page(path, n).lines] for n in (1, 2, 3)] == [
        False,
        True,
        False,
    ]


@pytest.mark.parametrize("rotation", [0, 90])
@pytest.mark.parametrize(
    ("apart", "width", "figure"), [(1, 300, False), (2, 300, False), (3, 300, True), (1, 20, True)]
)
def test_only_large_pictures_of_pages_up_to_two_apart_are_furniture(
    make_pdf, read_page, tmp_path, apart, width, figure, rotation
):
    def decorate(page, number):
        if number in (1, 1 + apart):
            page.insert_image((100, 120, 100 + width, 300), pixmap=stamp(width, 180), keep_proportion=False)

    plain = pymupdf.open(make_pdf([[(60, 100, PROSE), (60, 400, PROSE)]] * 4, decorate=decorate))
    turned = pymupdf.open()
    for number in range(4):
        size = (842, 595) if rotation else (595, 842)
        page = turned.new_page(width=size[0], height=size[1])
        page.show_pdf_page(page.rect, plain, number, rotate=rotation)
        page.set_rotation(rotation)
    turned.save(tmp_path / "turned.pdf")
    found = [
        LineKind.FIGURE in [line.kind for line in read_page(tmp_path / "turned.pdf", n).lines] for n in (1, 1 + apart)
    ]
    assert found == [figure] * 2


SCRIPTS = [("血小板 100×10", "9", "⁹", "/L"), ("共有 2", "10", "¹⁰", "个地址"), ("系数 10", "-6", "⁻⁶", "时")]


@pytest.mark.parametrize("share", [0.5, 0.65, 0.83, 0.9, 1.0])
@pytest.mark.parametrize("rise", [0.2, 0.35, 0.5])
def test_exponents_are_told_by_their_height_whatever_their_size(tmp_path, cjk, read_page, share, rise):
    document = pymupdf.open()
    page = document.new_page(width=595, height=842)
    writer = pymupdf.TextWriter(page.rect)
    for row, (base, script, _, rest) in enumerate(SCRIPTS):
        x, y = 60.0, 100.0 + 16 * row
        for text, size, up in ((base, 10.5, 0), (script, 10.5 * share, rise), (rest, 10.5, 0)):
            writer.append((x, y - 10.5 * up), text, font=cjk, fontsize=size)
            x += cjk.text_length(text, fontsize=size)
    writer.write_text(page)
    document.save(tmp_path / "scripts.pdf")
    found = [line.text.replace(" ", "") for line in read_page(tmp_path / "scripts.pdf").lines]
    assert found == [f"{base}{raised}{rest}".replace(" ", "") for base, _, raised, rest in SCRIPTS]


def test_the_image_that_makes_up_a_page_is_upright_whole_and_not_stretched(flips, monkeypatch):
    monkeypatch.setattr(pdf.pymupdf, "Pixmap", lambda *of: of)
    monkeypatch.setattr(pdf, "_pixels", lambda pixmap: pixmap)

    def taken(**more) -> bool:
        info = {
            "width": 100,
            "height": 200,
            "colorspace": 3,
            "transform": (100, 0, 0, 200, 0, 0),
            "bbox": (0, 0, 100, 200),
            "xref": 5,
        }
        page = SimpleNamespace(
            rotation=0, rect=(0, 0, 100, 200), get_text=lambda kind: [], get_image_info=lambda xrefs: [info | more]
        )
        return pdf._embedded(None, page, OcrParams(max_pixels=1_000_000)) is not None

    assert taken()
    assert flips(lambda b: taken(transform=(100, b / 10, 0, 200, 0, 0)), range(30)) == [10]
    assert flips(lambda c: taken(transform=(100, 0, c / 10, 200, 0, 0)), range(40)) == [20]
    assert flips(lambda right: taken(bbox=(0, 0, right, 200)), range(80, 130)) == [95, 111]
    assert flips(lambda width: taken(width=width), range(80, 120)) == [96, 106]
    refused = (
        {"transform": (-100, 0, 0, 200, 0, 0)},
        {"transform": (100, 0, 0, -200, 0, 0)},
        {"xref": 0},
        {"colorspace": 0},
    )
    assert not any(taken(**more) for more in refused)
    assert (taken(width=1000, height=2000), taken(width=700, height=1400)) == (False, True)


def test_the_end_of_a_file_is_looked_for_in_its_last_two_thousand_bytes(tmp_path, flips):
    path = tmp_path / "a.pdf"

    document = pymupdf.open()
    document.new_page()
    whole = document.tobytes().replace(b"startxref", b"startxxxx").rstrip()  # which has to be repaired

    def cut(tail: bytes) -> bool:
        path.write_bytes(whole + tail)
        try:
            return PdfReader().count_pages(path, OcrParams()) != 1
        except UnreadableDocument as error:
            return error.reason == "truncated"

    assert flips(lambda more: cut(b"x" * more), range(2030, 2060)) == [2044]
    assert flips(lambda more: cut(b"\0\r\n\t " * 13_106 + b"\0" * more), range(6)) == [2]


def test_a_page_is_drawn_at_the_resolution_asked_for_unless_it_has_too_many_pixels(tmp_path):
    document = pymupdf.open()
    document.new_page(width=72, height=144)
    document.save(tmp_path / "a.pdf")

    def shape(dpi: int, most: int) -> tuple[int, ...]:
        params = OcrParams().model_copy(update={"dpi": dpi, "max_pixels": most})
        return PdfReader().image(tmp_path / "a.pdf", 1, params).pixels.shape

    assert [shape(100, 10**6), shape(100, 20_000), shape(100, 5_000)] == [(200, 100, 3), (200, 100, 3), (100, 50, 3)]


def test_an_image_that_alone_makes_up_a_page_is_taken_as_it_is_stored(flips):
    def taken(x0=0.0, y0=0.0, x1=200.0, y1=100.0, width=100, height=50, most=10**6, more="") -> bool:
        document = pymupdf.open()
        page = document.new_page(width=200, height=100)
        pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.IRect(0, 0, width, height), False)
        page.insert_image(pymupdf.Rect(x0, y0, x1, y1), pixmap=pixmap, keep_proportion=False)
        if more:
            page.insert_text((20, 20), more)
        params = OcrParams().model_copy(update={"max_pixels": most})
        found = pdf._embedded(document, page, params)
        assert found is None or found.shape == (height, width, 3)
        return found is not None

    assert (taken(), taken(more="1")) == (True, False)
    assert flips(lambda edge: taken(x0=edge / 10, y0=edge / 20), range(200)) == [51]
    assert flips(lambda edge: taken(x1=200 + edge / 10, y1=100 + edge / 20), range(300)) == [98]
    assert flips(lambda most: taken(most=most), range(4990, 5010)) == [5000]
    assert flips(lambda width: taken(width=width), range(80, 120)) == [96, 106]


@pytest.mark.parametrize(("before", "read"), [(0, True), (1019, True), (1020, False)])
def test_the_header_of_a_pdf_stands_among_its_first_bytes(before: int, read: bool) -> None:
    assert PdfReader().recognises(b"x" * before + b"%PDF-1.4", ".txt") == read


def test_the_whole_of_a_small_file_is_looked_at_for_its_end(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%%EOF")
    assert not pdf._is_cut_short(tmp_path / "a.pdf")
    (tmp_path / "a.pdf").write_bytes(b"%EOF")
    assert pdf._is_cut_short(tmp_path / "a.pdf")


def test_a_file_with_a_damaged_table_and_its_end_is_read(make_pdf: Callable[..., Path]) -> None:
    path = make_pdf([[(60, 100, PROSE)], [(60, 100, PROSE)]])
    whole = path.read_bytes()
    at = whole.rindex(b"startxref")
    path.write_bytes(whole[:at] + b"startxref\n7\n%%EOF\n")
    assert PdfReader().count_pages(path, OcrParams()) == 2
    path.write_bytes(whole[:at])
    with pytest.raises(UnreadableDocument, match="truncated"):
        PdfReader().count_pages(path, OcrParams())


def test_a_file_whose_password_is_empty_is_read(make_pdf: Callable[..., Path], tmp_path: Path) -> None:
    document = pymupdf.open(make_pdf([[(60, 100, PROSE)]]))
    document.save(tmp_path / "open.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="", owner_pw="other")
    assert PdfReader().count_pages(tmp_path / "open.pdf", OcrParams()) == 1


def test_a_page_is_drawn_in_six_seconds(make_pdf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_pdf([[(60, 100, "甲")], []], name="two.pdf")
    asked: list[tuple[Path, float]] = []

    @contextmanager
    def limit(path: Path, seconds: float) -> Iterator[None]:
        asked.append((path, seconds))
        yield

    monkeypatch.setattr(pdf, "limit_resources", limit)
    first, second = (PdfReader().image(path, page, OcrParams(dpi=72)) for page in (1, 2))
    assert asked == [(path, 6.0)] * 2
    assert (first.width, first.height, first.pixels.shape) == (595, 842, (842, 595, 3))
    assert (first.pixels.min() < 128, int(second.pixels.min())) == (True, 255)


@pytest.mark.parametrize(
    ("glyphs", "images", "pieces", "blank"),
    [(0, 0, 0, True), (0, 0, 19, True), (0, 0, 20, False), (1, 0, 19, False), (0, 1, 19, False)],
)
def test_a_page_without_glyphs_images_and_drawings_is_blank(
    make_pdf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, glyphs: int, images: int, pieces: int, blank: bool
) -> None:
    layer = SimpleNamespace(glyphs=glyphs, runs=[])
    drawing = SimpleNamespace(images=[1] * images, pieces=pieces)
    monkeypatch.setattr(pdf, "read_text_layer", lambda page: ([], layer))
    monkeypatch.setattr(pdf, "read_drawing", lambda page, images: drawing)
    monkeypatch.setattr(pdf.routing, "why_ocr", lambda *_: "asked")
    (found,) = PdfReader().read(make_pdf([[]]), [1], OcrParams())
    assert found == (
        PageRead(595.0, 842.0, ReadMethod.BLANK, "pymupdf", pdf.VERSION, "no_content") if blank else NeedsOcr("asked")
    )


def test_a_page_that_cannot_be_read_says_why_and_costs_no_other(
    make_pdf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_pdf([[(60, 100, "甲乙丙")], [(60, 100, "甲乙丙")]])
    read = pdf.read_text_layer

    def fails(page: Any) -> Any:
        if page.number == 0:
            raise RuntimeError("x" * 250)
        return read(page)

    monkeypatch.setattr(pdf, "read_text_layer", fails)
    first, second = PdfReader().read(path, [1, 2], OcrParams())
    reason = f"broken_page: {'x' * 200}"
    assert first == PageRead(0.0, 0.0, ReadMethod.BLANK, "pymupdf", pdf.VERSION, reason)
    assert isinstance(second, PageRead)
    assert [line.text for line in second.lines] == ["甲乙丙"]


@pytest.mark.parametrize("alpha", [False, True])
@pytest.mark.parametrize("kind", ["csGRAY", "csRGB", "csCMYK"])
def test_an_image_of_any_kind_has_three_channels(kind: str, alpha: bool) -> None:
    pixmap = pymupdf.Pixmap(getattr(pymupdf, kind), pymupdf.IRect(0, 0, 3, 2), alpha)
    pixmap.clear_with(255)
    assert pdf._pixels(pixmap).shape == (2, 3, 3)
