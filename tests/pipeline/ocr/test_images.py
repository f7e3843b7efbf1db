"""Pictures: upright, bounded, cleaned before recognition."""

from pathlib import Path

import cv2
import numpy as np
import pymupdf
import pytest
from PIL import Image, ImageDraw

from build_dataset.pipeline.ocr import images
from build_dataset.pipeline.ocr.images import (
    clean_page,
    even_background,
    find_figures,
    find_marks,
    fit_opencv,
    legibility,
    remove_coloured_watermark,
    remove_flat_watermark,
    remove_large_print,
    shrink,
)
from build_dataset.pipeline.ocr.interfaces import Word
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader, image
from build_dataset.pipeline.ocr.readers.image import ImageReader
from build_dataset.schemas.errors import UnreadableDocument

PARAMS = OcrParams()


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "bmp", "webp", "gif"])
def test_formats(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    Image.new("RGB", (60, 40), "white").save(path)
    assert ImageReader().recognises(path.read_bytes()[:64], path.suffix)
    assert ImageReader().count_pages(path, PARAMS) == 1
    assert ImageReader().image(path, 1, PARAMS).pixels.shape == (40, 60, 3)


PHOTO = Path(__file__).parent / "photo.heic"
"""64 x 96 pixels, red at the top left, as our own program wrote it."""


def test_a_photograph_of_an_iphone_is_read():
    pytest.importorskip("pi_heif")
    assert find_reader(PHOTO, PARAMS).format == "image"
    assert ImageReader().count_pages(PHOTO, PARAMS) == 1
    pixels = ImageReader().image(PHOTO, 1, PARAMS).pixels
    assert pixels.shape == (96, 64, 3)
    assert pixels[5, 5, 0] > 180 > 60 > pixels[5, 5, 1]
    with pytest.raises(UnreadableDocument, match="max_pixels"):
        ImageReader().image(PHOTO, 1, PARAMS.model_copy(update={"max_pixels": 2000}))


def test_a_photograph_of_an_iphone_says_what_to_install(monkeypatch):
    monkeypatch.setattr(image, "_reads_heif", lambda: False)
    with pytest.raises(UnreadableDocument, match="pip install pi-heif"):
        find_reader(PHOTO, PARAMS)


@pytest.mark.parametrize(
    ("dpi", "size", "height"),
    [
        (200, (1654, 2339), 842.0),
        (300, (3508, 4961), 1190.6),
        (72, (3000, 4000), 842.0),
        (None, (3000, 4000), 842.0),
        (96, (1080, 20_000), 595.0 * 20_000 / 1080),
    ],
    ids=["scan", "A3", "telephone", "unknown", "screenshot"],
)
def test_a_page_is_as_large_as_paper_whatever_resolution_the_file_claims(tmp_path, dpi, size, height):
    Image.new("1", size).save(tmp_path / "a.png", **({"dpi": (dpi, dpi)} if dpi else {}))
    assert ImageReader().image(tmp_path / "a.png", 1, PARAMS).height == pytest.approx(height, rel=1e-3)


def test_a_picture_that_was_cut_short_is_refused(tmp_path):
    path = tmp_path / "a.png"
    Image.effect_noise((200, 200), 80).save(path)
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(UnreadableDocument, match="broken"):
        ImageReader().count_pages(path, PARAMS)


def sheet() -> Image.Image:
    picture = Image.new("RGB", (600, 800), "white")
    draw = ImageDraw.Draw(picture)
    for y in range(50, 760, 40):
        draw.rectangle((50, y, 550, y + 6), fill="black")
    return picture


def test_slanted_colour_goes_and_black_stays():
    picture = sheet()
    draw = ImageDraw.Draw(picture)
    draw.line((80, 700, 520, 100), fill=(230, 20, 20), width=8)
    before = np.asarray(picture)
    after = remove_coloured_watermark(before)
    red = (before[:, :, 0] > 200) & (before[:, :, 1] < 60)
    assert (after[red] >= 200).all(), "the watermark is as light as its strongest channel"
    assert (after[before.max(axis=2) == 0] == 0).all(), "print is untouched"


def test_level_colour_stays_because_answers_are_printed_in_it():
    picture = sheet()
    ImageDraw.Draw(picture).rectangle((60, 70, 300, 76), fill=(220, 20, 20))
    before = np.asarray(picture)
    assert (remove_coloured_watermark(before) == before).all()


def test_a_shadow_is_divided_out_and_a_clean_page_is_left_alone():
    before = np.asarray(sheet())
    assert (clean_page(before) == before).all()
    shadow = np.linspace(0.4, 1.0, 600)[None, :, None]
    dim = (before * shadow).astype(np.uint8)
    after = even_background(dim)
    paper = before.min(axis=2) == 255
    assert dim[paper].min() < 110
    assert np.percentile(after[paper], 2) > 225
    assert after[before.max(axis=2) == 0].max() < 60


def test_pale_words_of_a_watermark_that_stand_apart_go_with_it_and_level_colour_stays():
    def slanted(page: Image.Image, middle: tuple[int, int], length: int, colour: tuple[int, int, int]) -> None:
        ends = [(middle[0] - length, middle[1] + length // 2), (middle[0] + length, middle[1] - length // 2)]
        ImageDraw.Draw(page).line(ends, fill=colour, width=14)

    page = Image.new("RGB", (850, 1200), "white")
    slanted(page, (500, 300), 200, (255, 110, 110))
    slanted(page, (300, 700), 60, (255, 205, 205))
    ImageDraw.Draw(page).rectangle((100, 1000, 400, 1030), fill=(255, 0, 0))
    cleaned = remove_coloured_watermark(np.asarray(page))
    assert cleaned[:900].min() == 255
    assert tuple(cleaned[1015, 200]) == (255, 0, 0)


def stamped(font: pymupdf.Font, colour: tuple[float, ...], size: float = 80, *, text: bool = True) -> np.ndarray:
    """A page of text, 120 dpi, a large level word across it."""
    page = pymupdf.open().new_page(width=420, height=600)
    lines, stamp = pymupdf.TextWriter(page.rect), pymupdf.TextWriter(page.rect)
    for row in range(30):
        lines.append((40, 40 + 18 * row), "下列關於藥物的敘述，何者錯誤？血中濃度" if text else "圖", font, 12)
    stamp.append((60, 320), "公告試題"[: round(320 / size)], font, size)
    stamp.write_text(page, color=colour)
    lines.write_text(page, color=(0, 0, 0))
    pixmap = page.get_pixmap(dpi=120)
    return np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.h, pixmap.w, 3).copy()


@pytest.mark.parametrize("colour", [(1, 0, 0), (0.9, 0.2, 0.3), (0.2, 0.3, 1), (1, 0.6, 0.6), (0.75, 0.75, 0.75)])
def test_a_large_level_word_across_the_text_goes_whatever_its_colour_and_the_text_stays(cjk, colour):
    before, plain = stamped(cjk, colour), stamped(cjk, (1, 1, 1))
    after = clean_page(before)
    dark = plain.max(axis=2) < 90
    assert (after[dark].max(axis=1) < 128).mean() > 0.99
    paper = cv2.erode((plain.min(axis=2) > 250).astype(np.uint8), np.ones((3, 3))) > 0
    assert (before[paper].min(axis=1) < 240).mean() > 0.03
    assert (after[paper].min(axis=1) < 200).mean() < 0.005


@pytest.mark.parametrize(("size", "text"), [(30, True), (80, False)])
def test_coloured_print_that_is_no_larger_than_a_heading_or_stands_apart_from_text_stays(cjk, size, text):
    before = stamped(cjk, (1, 0, 0), size, text=text)
    assert (remove_coloured_watermark(before) == before).all()


def scanned(page: np.ndarray) -> np.ndarray:
    """A page as a grey scan: a little blurred and noisy."""
    soft = cv2.GaussianBlur(cv2.cvtColor(page, cv2.COLOR_RGB2GRAY).astype(np.float32), (0, 0), 0.6)
    noisy = 14 + 0.92 * soft + np.random.default_rng(0).normal(0, 5, soft.shape)
    return cv2.cvtColor(np.clip(noisy, 0, 255).astype(np.uint8), cv2.COLOR_GRAY2RGB)


@pytest.mark.parametrize("grey", [0.4, 0.55, 0.7])
def test_a_large_grey_word_goes_from_scans_and_the_text_through_it_stays(cjk, grey):
    plain, before = scanned(stamped(cjk, (1, 1, 1))), scanned(stamped(cjk, (grey,) * 3))
    after = remove_large_print(before)
    under = before.max(axis=2).astype(int) < plain.max(axis=2).astype(int) - 40
    text, paper = plain.max(axis=2) < 80, under & (plain.max(axis=2) > 220)
    assert (after[text].max(axis=1) < 140).mean() > 0.98
    assert (after[paper].max(axis=1) > 170).mean() > 0.9
    assert paper.mean() > 0.01


@pytest.mark.parametrize(("size", "text", "grey"), [(30, True, 0.5), (80, False, 0.5), (80, True, 1)])
def test_headings_and_large_print_apart_from_text_stay_on_scans(cjk, size, text, grey):
    page = scanned(stamped(cjk, (grey,) * 3, size, text=text))
    assert (remove_large_print(page) == page).all()


def test_a_grey_picture_under_text_stays_on_scans(cjk):
    page = stamped(cjk, (1, 1, 1))
    shades = np.tile(np.linspace(90, 220, page.shape[1])[None, :, None], (page.shape[0], 1, 3)).astype(np.uint8)
    page[300:600] = np.minimum(page, shades)[300:600]
    scan = scanned(page)
    assert (remove_large_print(scan) == scan).all()


def watermarked(grey: int) -> np.ndarray:
    picture = sheet()
    under = Image.new("RGB", picture.size, "white")
    ImageDraw.Draw(under).line((80, 700, 520, 100), fill=(grey, grey, grey), width=14)
    return np.minimum(np.asarray(picture), np.asarray(under))


@pytest.mark.parametrize("grey", [150, 190, 225])
def test_slanted_print_of_one_grey_goes_from_digital_pages_and_black_stays(grey):
    before = watermarked(grey)
    assert (remove_flat_watermark(before) == np.asarray(sheet())).all()


def test_level_grey_stays_because_headings_and_cells_are_printed_in_it():
    picture = sheet()
    ImageDraw.Draw(picture).rectangle((60, 70, 300, 84), fill=(190, 190, 190))
    before = np.asarray(picture)
    assert (remove_flat_watermark(before) == before).all()


def test_scans_keep_their_grey_for_it_is_also_that_of_blurred_strokes():
    page = cv2.GaussianBlur(watermarked(190), (0, 0), 0.7)
    noisy = page + np.random.default_rng(0).normal(0, 8, page.shape)
    grey_paper = (40 + page * (200 / 255)).astype(np.uint8)
    for scan in (np.clip(noisy, 0, 255).astype(np.uint8), grey_paper):
        assert (remove_flat_watermark(scan) == scan).all()


@pytest.mark.parametrize("shape", [(1, 1), (1, 9_000), (9_000, 1), (2, 3)])
def test_pictures_of_hardly_any_pixels_are_cleaned_like_any(shape):
    for value in (0, 255):
        page = np.full((*shape, 3), value, dtype=np.uint8)
        assert clean_page(page).shape == page.shape
        assert 0.5 <= legibility(page) <= 1


def bar(length: int, thick: int = 2, ink: int = 0, size: tuple[int, int] = (600, 800)) -> np.ndarray:
    page = np.full((size[1], size[0], 3), 255, np.uint8)
    page[50 : 50 + thick, 10 : 10 + length] = ink
    return page


def test_rules_are_long_and_thin_and_dark(flips):
    def across(*of) -> int:
        return len(find_marks(bar(*of), [])["across"])

    def down(*of) -> int:
        return len(find_marks(bar(*of).transpose(1, 0, 2), [])["down"])

    assert flips(across, range(10, 60)) == [30], "a twentieth of the width"
    assert flips(lambda length: down(length, 2, 0, (800, 600)), range(10, 60)) == [20], "a fortieth of the height"
    assert flips(lambda length: across(length, 2, 0, (100, 100)), range(5, 60)) == [20]
    assert flips(lambda thick: across(100, thick), range(1, 40)) == [6]
    assert flips(lambda thick: across(1500, thick, 0, (2000, 900)), range(1, 40)) == [12]
    assert flips(lambda ink: across(100, 2, ink), range(100, 256)) == [170]
    assert find_marks(bar(40), []) == {"across": [(11, 50, 51, 53)], "down": [], "figures": []}


def test_of_very_many_rules_the_longest_are_kept():
    page = np.full((2600, 300, 3), 255, np.uint8)
    for row in range(401):
        page[6 * row + 6, 10 : 60 + row % 200] = 0
    assert len(find_marks(page, [])["across"]) == 400


def test_figures_are_ink_of_some_size_outside_of_words(flips):
    def figures(height: int, words: tuple[Word, ...] = ()) -> list[tuple[int, ...]]:
        page = np.full((800, 600, 3), 255, np.uint8)
        for x in range(50, 150, 6):
            page[100 : 100 + height, x : x + 3] = 0
        return find_marks(page, words)["figures"]

    assert flips(lambda height: len(figures(height)), range(20, 80)) == [45]
    assert figures(60) == [(51, 101, 150, 161)]
    word = Word("字", ((60.5, 90), (160, 90), (160, 190.5), (60.5, 190.5)), 1.0)
    assert figures(60, (word,)) == []


def ink_at(*boxes: tuple[int, int, int, int]) -> np.ndarray:
    mask = np.zeros((900, 600), np.uint8)
    for left, top, right, bottom in boxes:
        mask[top:bottom, left:right] = 1
    return mask


def test_ink_is_joined_over_small_gaps_and_a_whole_page_of_it_is_no_figure(flips):
    def count(gap: int) -> int:
        return len(find_figures(ink_at((50, 100, 150, 200), (150 + gap, 100, 250 + gap, 200)), []))

    assert flips(count, range(1, 40)) == [10]
    assert flips(lambda height: len(find_figures(ink_at((0, 0, 600, height)), [])), range(600, 800)) == [719]
    assert find_figures(ink_at((0, 10, 100, 110)), [(-5, -5, 50, 60)]) == [(0, 11, 101, 111)]


def stroke(angle=45.0, length=200, width=8, colour=(230, 20, 20), size=(600, 800), middle=(300, 400)):
    x, y = np.cos(np.radians(angle)) * length / 2, np.sin(np.radians(angle)) * length / 2
    page = Image.new("RGB", size, "white")
    ends = (middle[0] - x, middle[1] + y, middle[0] + x, middle[1] - y)
    ImageDraw.Draw(page).line(ends, fill=colour, width=width)
    return np.asarray(page)


def changed_by(remove, page) -> bool:
    return bool((remove(page) != page).any())


def test_what_is_a_coloured_watermark_is_slanted_strong_and_large(flips):
    def gone(**of) -> bool:
        return changed_by(remove_coloured_watermark, stroke(**of))

    assert flips(lambda angle: gone(angle=angle), range(180)) == [16, 82, 99, 165]
    assert flips(lambda pale: gone(colour=(200, 200 - pale, 200 - pale)), range(1, 60)) == [37]
    assert flips(lambda length: gone(length=length, width=4), range(10, 100)) == [68]
    in_small = flips(lambda n: gone(length=n, width=9, size=(400, 600), middle=(200, 300)), range(10, 100))
    assert in_small == [29]
    assert flips(lambda width: gone(width=width), range(4, 200, 2)) == [102], "twice as long as wide"


def test_smaller_words_parallel_to_a_watermark_go_with_it(flips):
    def stays(angle: float, length: int = 40) -> bool:
        small = stroke(angle, length, 4, middle=(300, 700))
        return bool((remove_coloured_watermark(np.minimum(stroke(), small))[600:, :, 1] < 200).any())

    assert flips(stays, range(16, 75)) == [37, 57]
    assert flips(lambda length: stays(45, length), range(6, 40)) == [12]


def test_a_grey_watermark_is_of_one_grey_on_white_paper(flips):
    assert flips(lambda grey: changed_by(remove_flat_watermark, stroke(colour=(grey,) * 3)), range(100, 256)) == [
        130,
        246,
    ]
    page = stroke(colour=(200, 200, 200))
    paper = flips(
        lambda white: changed_by(remove_flat_watermark, np.where(page == 255, white, page).astype(np.uint8)),
        range(240, 256),
    )
    assert paper == [250]


def test_a_cloud_of_few_points_has_no_slant(flips):
    def slant(count: int, down: int = 1) -> float | None:
        return images._slant(np.array([[at, down * at] for at in range(count)], np.float32))

    assert flips(lambda count: slant(count) is None, range(2, 40)) == [20]
    assert slant(40) == pytest.approx(45.0, abs=1e-3)
    assert slant(40, -2) == pytest.approx(116.565, abs=1e-3)


def test_paper_is_divided_out_where_it_is_dark(flips):
    def page(value: int) -> np.ndarray:
        return np.full((200, 150, 3), value, np.uint8)

    assert flips(lambda value: changed_by(even_background, page(value)), range(180, 256)) == [226]

    def shaded(value: int) -> bool:
        paper = page(250)
        paper[:40] = value
        return changed_by(even_background, paper)

    assert flips(shaded, range(150, 256)) == [201]
    assert [even_background(page(value))[0, 0, 0] for value in (100, 20)] == [255, 159]
    found = [legibility(page(value)) for value in (255, 195, 160, 100, 97)]
    assert found == [1.0, 1.0, pytest.approx(160 / 195), pytest.approx(100 / 195), 0.5]

    def corner(rows: int) -> float:
        paper = np.full((200, 200, 3), 255, np.uint8)
        paper[:rows] = 150
        return legibility(paper)

    assert flips(corner, range(60)) == [6]


def diagonal(count: int, size: int = 400, first: int = 100, thick: int = 3) -> np.ndarray:
    """A mask with so many marked pixels in a slanted band from the given row on."""
    mask = np.zeros((size, size), np.uint8)
    band = ((row, row + across - 1) for row in range(first, size) for across in range(thick))
    for _, (row, column) in zip(range(count), band, strict=False):
        mask[row, column] = 1
    return mask


def marks(mask: np.ndarray) -> np.ndarray | None:
    """The pixels of a page that are a watermark's, where the mask's are coloured."""
    return images._watermark(mask, np.full((*mask.shape, 3), 255, np.uint8))


def on_white(mask: np.ndarray, grey: int = 200) -> np.ndarray:
    return np.repeat(np.where(mask > 0, grey, 255).astype(np.uint8)[:, :, None], 3, axis=2)


def test_a_watermark_takes_one_pixel_of_two_thousand(flips) -> None:
    assert flips(lambda count: marks(diagonal(count)) is None, range(74, 100)) == [80]
    assert flips(lambda count: marks(diagonal(count, 600)) is None, range(174, 200)) == [180]
    group = marks(diagonal(300, 600))
    assert group is not None
    rows, columns = np.nonzero(group)
    assert (group.shape, rows.size) == ((600, 600), 2028)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (94, 205, 93, 206)


def test_the_grey_of_a_watermark_is_twelve_times_as_frequent_as_others(flips) -> None:
    def goes(count: int) -> bool:
        page = on_white(diagonal(count - 10))
        page[-3:] = np.append(np.repeat(np.arange(130, 246), 10), [255] * 40).reshape(3, 400, 1)
        return changed_by(remove_flat_watermark, page)

    def goes_alone(count: int) -> bool:
        return changed_by(remove_flat_watermark, on_white(diagonal(count, 150, 40, 1), 150))

    assert flips(goes, range(100, 140)) == [121]
    assert flips(goes_alone, range(2, 40)) == [13]


def test_half_of_a_page_is_white_where_a_grey_watermark_is_taken_off(flips) -> None:
    def goes(white: int) -> bool:
        page = np.full((400, 400, 3), 100, np.uint8)
        page[:white] = 255
        page[diagonal(300, first=20) > 0] = 200
        return changed_by(remove_flat_watermark, page)

    assert flips(goes, range(190, 210)) == [201], "300 pixels of the white are the watermark's"


def test_greys_close_to_that_of_a_watermark_go_with_it_and_so_do_paler_ones() -> None:
    rows, columns = (at[::4] for at in diagonal(450).nonzero())

    def left(other: int) -> int:
        page = on_white(diagonal(450))
        page[rows, columns] = other
        return int(remove_flat_watermark(page)[rows, columns, 0].min())

    assert [left(other) for other in range(194, 206)] == [194, 195, 196, 197, *[255] * 8]


def test_a_cloud_that_is_twice_as_long_as_wide_has_a_slant(flips) -> None:
    turn = np.radians(30)

    def slant(length: int) -> float | None:
        down, across = np.mgrid[0:10, 0:length].reshape(2, -1)
        level = np.column_stack([across, down])
        turned = level @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        return images._slant(turned.astype(np.float32))

    assert flips(lambda length: slant(length) is None, range(2, 60)) == [6, 20]
    assert slant(60) == pytest.approx(30.0, abs=1e-3)


def test_paper_is_as_light_as_its_median_and_its_darkest_twentieth(flips) -> None:
    def divided(rows: int, value: int) -> bool:
        page = np.full((400, 400, 3), 255, np.uint8)
        page[:rows] = value
        return changed_by(even_background, page)

    assert flips(lambda rows: divided(rows, 150), range(18, 30)) == [24], "ink's neighbours reach in by three"
    assert flips(lambda rows: divided(rows, 210), range(198, 210)) == [204]
    black = [even_background(np.full((40, 40, 3), value, np.uint8)) for value in (30, 31, 32, 33)]
    assert [int(page[0, 0, 0]) for page in black] == [239, 247, 255, 255]


def test_the_paper_is_looked_at_on_a_copy_of_five_hundred_pixels() -> None:
    page = np.full((1200, 900, 3), 250, np.uint8)
    page[:, :450] = 190
    assert images.paper_lightness(page).shape == (500, 375)
    assert images.paper_lightness(page[:300, :200]).shape == (300, 200)
    assert images.paper_lightness(page)[100, ::20].tolist() == [190] * 10 + [250] * 9
    ramp = np.linspace(100, 255, 600).astype(np.uint8)[None, :, None].repeat(800, 0).repeat(3, 2)
    assert images.paper_lightness(ramp)[200, ::40].tolist() == pytest.approx(
        [101, 117, 134, 150, 167, 184, 200, 217, 233, 250], abs=1
    )
    assert even_background(ramp)[400, ::50, 0].tolist() == pytest.approx(
        [252, 251, 253, 253, 252, 253, 254, 254, 254, 254, 254, 254], abs=1
    )


def test_smaller_copies_keep_the_shape_of_a_page_and_are_never_without_a_row_or_a_column() -> None:
    def made(*size: int) -> tuple[int, ...]:
        return shrink(np.zeros(size, np.uint8), 100).shape

    assert [made(1000, width)[1] for width in (1, 4, 15, 24, 25, 1000)] == [1, 1, 2, 2, 2, 100]
    assert [made(height, 1000)[0] for height in (1, 15, 26)] == [1, 2, 3]
    assert (made(5, 10), made(10, 2000, 3)) == ((50, 100), (1, 100, 3))


def test_only_pages_longer_or_wider_than_opencv_takes_are_made_smaller(flips) -> None:
    def kept(*size: int) -> bool:
        page = np.zeros(size, np.uint8)
        return fit_opencv(page) is page

    assert flips(lambda side: kept(side, 2), range(29_990, 30_010)) == [30_001]
    assert flips(lambda side: kept(2, side), range(29_990, 30_010)) == [30_001]
    assert fit_opencv(np.zeros((4, 60_000, 3), dtype=np.uint8)).shape == (2, 30_000, 3)


def test_ink_of_a_small_page_is_joined_over_two_pixels_and_of_a_large_one_over_more(flips) -> None:
    def joined(gap: int, height: int) -> bool:
        mask = np.zeros((height, 300), np.uint8)
        mask[50:150, 50:150] = mask[50:150, 150 + gap : 250 + gap] = 1
        return len(find_figures(mask, [])) == 1

    assert flips(lambda gap: joined(gap, 200), range(1, 40)) == [3]
    assert flips(lambda gap: joined(gap, 449), range(1, 40)) == [4]
    assert flips(lambda gap: joined(gap, 450), range(1, 40)) == [5]


def test_a_figure_is_as_high_and_as_wide_as_three_lines(flips) -> None:
    assert flips(lambda side: bool(find_figures(ink_at((50, 50, 50 + side, 250)), [])), range(30, 80)) == [50]
    assert flips(lambda side: bool(find_figures(ink_at((50, 50, 250, 50 + side)), [])), range(30, 80)) == [50]


def test_dust_is_no_figure(flips) -> None:
    """A frame of one pixel has 4 n - 4 pixels of ink in its n x n."""

    def found(side: int) -> bool:
        mask = np.zeros((850, 850), np.uint8)
        mask[20 : 20 + side, 20 : 20 + side] = 1
        mask[21 : 19 + side, 21 : 19 + side] = 0
        return bool(find_figures(mask, []))

    assert flips(found, range(390, 410)) == [399]


def test_ink_under_what_is_known_is_no_figure() -> None:
    mask = ink_at((100, 100, 200, 200))[:850]
    assert find_figures(mask, [(100, 100, 200, 200)]) == []
    assert find_figures(mask, [(100, 100, 150, 200)]) == [(150, 100, 200, 200)]
    assert find_figures(mask, [(100, 150, 200, 200)]) == [(100, 100, 200, 150)]
    assert find_figures(mask, [(-20, 120, 99, 180), (120, -20, 180, 99)]) == [(100, 100, 200, 200)]
    assert mask.sum() == 10_000, "the mask itself stays"


def test_a_slightly_turned_rule_is_one() -> None:
    page = np.full((840, 620, 3), 255, np.uint8)
    for step in range(4):
        page[50 + step, 40 + 40 * step : 80 + 40 * step] = 0
        page[200 + 40 * step : 240 + 40 * step, 300 + step] = 0
    assert find_marks(page, []) == {"across": [(40, 50, 200, 55)], "down": [(300, 200, 305, 360)], "figures": []}
