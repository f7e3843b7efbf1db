"""Pictures: upright, bounded, cleaned before recognition."""

from __future__ import annotations

import io
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageOps

from pipeline.ocr.images import (
    clean_page,
    even_background,
    fit_opencv,
    legibility,
    remove_coloured_watermark,
    remove_flat_watermark,
)
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers import find_reader, image
from pipeline.ocr.readers.image import ImageReader
from schemas.errors import UnreadableDocument

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


def test_a_picture_that_was_taken_sideways_is_turned_upright(tmp_path):
    picture = Image.new("RGB", (60, 40), "white")
    picture.putpixel((0, 0), (255, 0, 0))
    exif = picture.getexif()
    exif[0x0112] = 6  # turn by 90 degrees clockwise to see it upright
    path = tmp_path / "a.png"
    picture.save(path, exif=exif)
    image = ImageReader().image(path, 1, PARAMS)
    assert image.pixels.shape == (60, 40, 3)
    assert image.height > image.width
    assert tuple(image.pixels[0, -1]) == (255, 0, 0)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photograph_is_upright_however_the_telephone_was_held(tmp_path, orientation):
    upright = Image.effect_noise((40, 60), 90).convert("RGB")
    exif = Image.Exif()
    exif[0x0112] = orientation
    taken = next(
        picture
        for turn in [None, *Image.Transpose]
        if (picture := upright if turn is None else upright.transpose(turn))
        and ImageOps.exif_transpose(with_exif(picture, exif)).tobytes() == upright.tobytes()
    )
    taken.save(tmp_path / "a.png", exif=exif)
    image = ImageReader().image(tmp_path / "a.png", 1, PARAMS)
    assert (image.pixels == np.asarray(upright)).all()
    assert image.height > image.width


def with_exif(picture: Image.Image, exif: Image.Exif) -> Image.Image:
    buffer = io.BytesIO()
    picture.save(buffer, "PNG", exif=exif)
    return Image.open(buffer)


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


def test_what_is_converted_in_strips_is_what_is_converted_at_once(tmp_path):
    picture = Image.effect_noise((50, 1700), 90).convert("P")
    picture.save(tmp_path / "a.png")
    whole = np.asarray(picture.convert("RGB"))
    assert (ImageReader().image(tmp_path / "a.png", 1, PARAMS).pixels == whole).all()
    small = ImageReader().image(tmp_path / "a.png", 1, OcrParams(max_pixels=1_000_000)).pixels
    assert (small == whole).all()


@pytest.mark.parametrize(
    ("values", "expected"), [((0.0, 0.5, 1.0), (0, 127, 255)), ((0, 9, 255), (0, 9, 255))]
)
def test_white_is_what_the_brightest_pixel_says(tmp_path, values, expected):
    Image.fromarray(np.array([values], dtype=np.float32)).save(tmp_path / "a.tif")
    assert tuple(ImageReader().image(tmp_path / "a.tif", 1, PARAMS).pixels[0, :, 0]) == expected


def test_every_frame_of_a_tiff_is_a_page(tmp_path):
    path = tmp_path / "a.tiff"
    frames = [Image.new("L", (30 + 10 * index, 40), 255) for index in range(3)]
    frames[0].save(path, save_all=True, append_images=frames[1:])
    assert ImageReader().count_pages(path, PARAMS) == 3
    assert ImageReader().image(path, 3, PARAMS).pixels.shape == (40, 50, 3)


def test_transparent_pictures_stand_on_white_and_16_bit_ones_keep_their_contrast(tmp_path):
    Image.new("RGBA", (4, 4), (0, 0, 0, 0)).save(tmp_path / "a.png")
    assert ImageReader().image(tmp_path / "a.png", 1, PARAMS).pixels.min() == 255
    deep = Image.fromarray(np.array([[0, 65535], [32768, 65535]], dtype=np.uint16))
    deep.save(tmp_path / "b.png")
    assert sorted(ImageReader().image(tmp_path / "b.png", 1, PARAMS).pixels[:, :, 0].ravel()) == [
        0,
        127,
        255,
        255,
    ]


def test_large_pictures_are_scaled_down_and_huge_ones_refused(tmp_path):
    path = tmp_path / "a.png"
    Image.new("1", (2000, 1500)).save(path)
    small = OcrParams(max_pixels=1_000_000)
    assert ImageReader().image(path, 1, small).pixels.shape == (866, 1154, 3)
    Image.new("1", (4000, 3000)).save(path)
    with pytest.raises(UnreadableDocument, match="too_large"):
        ImageReader().count_pages(path, small)


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


def test_dark_paper_lowers_how_far_confidence_is_believed():
    page = np.asarray(sheet())
    assert legibility(page) == 1.0
    assert legibility((page * 0.6).astype(np.uint8)) < 0.85


def test_pale_words_of_a_watermark_that_stand_apart_go_with_it_and_level_colour_stays():
    def slanted(
        page: Image.Image, middle: tuple[int, int], length: int, colour: tuple[int, int, int]
    ) -> None:
        ends = [(middle[0] - length, middle[1] + length // 2), (middle[0] + length, middle[1] - length // 2)]
        ImageDraw.Draw(page).line(ends, fill=colour, width=14)

    page = Image.new("RGB", (850, 1200), "white")
    slanted(page, (500, 300), 200, (255, 110, 110))
    slanted(page, (300, 700), 60, (255, 205, 205))
    ImageDraw.Draw(page).rectangle((100, 1000, 400, 1030), fill=(255, 0, 0))
    cleaned = remove_coloured_watermark(np.asarray(page))
    assert cleaned[:900].min() == 255
    assert tuple(cleaned[1015, 200]) == (255, 0, 0)


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


def test_pages_wider_than_opencv_takes_are_made_smaller():
    assert fit_opencv(np.zeros((4, 60_000, 3), dtype=np.uint8)).shape == (2, 30_000, 3)
    page = np.zeros((40, 30, 3), dtype=np.uint8)
    assert fit_opencv(page) is page


@pytest.mark.parametrize("shape", [(1, 1), (1, 9_000), (9_000, 1), (2, 3)])
def test_pictures_of_hardly_any_pixels_are_cleaned_like_any(shape):
    for value in (0, 255):
        page = np.full((*shape, 3), value, dtype=np.uint8)
        assert clean_page(page).shape == page.shape
        assert 0.5 <= legibility(page) <= 1
