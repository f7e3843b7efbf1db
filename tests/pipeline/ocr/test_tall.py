"""Long screenshots are read page by page, and no line is cut in two."""

import numpy as np
from hypothesis import given, strategies as st
from PIL import Image

from build_dataset.pipeline.ocr.readers import image as tall


@given(st.integers(1, 60_000), st.integers(1, 60_000))
def test_pages_follow_each_other_and_are_not_many(width, height):
    count = tall.page_count(width, height)
    assert 1 <= count <= 100
    if height <= tall.TALL * width:
        assert count == 1


@given(st.integers(1, 40), st.integers(1, 3000))
def test_every_row_is_on_one_page(width, height):
    pages = tall.page_breaks(np.zeros((height, width, 3), dtype=np.uint8))
    rows = [row for top, bottom in pages for row in range(top, bottom)]
    assert rows == list(range(height))


@given(st.integers(30, 90), st.integers(6, 20))
def test_breaks_stand_between_lines(pitch, type_height):
    height, width = 6000, 400
    pixels = np.full((height, width, 3), 255, dtype=np.uint8)
    for top in range(10, height, pitch):
        pixels[top : top + type_height, 20:380:3] = 0
    pages = tall.page_breaks(pixels)
    assert len(pages) == 10
    for _, bottom in pages[:-1]:
        assert pixels[bottom - 1 : bottom + 1].min() == 255


def test_a_page_of_a_telephone_is_one_page():
    assert tall.page_count(1080, 2340) == 1
    assert tall.page_count(1080, 20_000) == 13


def test_the_number_of_pages_follows_the_height(flips):
    assert flips(lambda height: tall.page_count(600, height), range(1400, 4000, 10)) == [1510, 1810, 2710, 3610]
    assert flips(lambda height: tall.page_count(100, height), range(200, 2001, 10)) == [800, 1200, 1600, 2000]
    assert (tall.page_count(10, 200), tall.page_count(100, 999_999)) == (1, 100)


def test_a_break_stands_in_the_widest_white_space_before_its_place():
    noise = np.random.default_rng(0).integers(0, 255, (1500, 500, 3)).astype(np.uint8)
    for first, last in ((500, 505), (620, 640), (700, 730), (760, 800)):
        noise[first:last] = 255
    assert tall.page_breaks(noise) == [(0, 715), (715, 1500)]


def test_the_resolution_that_a_file_states_is_believed_where_it_makes_a_page(flips):
    def points(dpi: object, width=1000, height=1400) -> float:
        picture = Image.new("1", (1, 1))
        picture.info["dpi"] = dpi
        return round(tall._points(picture, width, height), 4)

    as_a4 = round(842 / 1400, 4)
    assert [points(dpi) for dpi in ("x", (), (0, 0), (80, 80))] == [as_a4] * 4
    assert points((200, 200)) == 0.36
    believed = [points((dpi, dpi)) == round(72 / dpi, 4) for dpi in range(1, 1300)]
    assert flips(lambda dpi: believed[dpi - 1], range(1, 1300)) == [81, 1201]
    small = [points((dpi, dpi), 100, 140) == round(72 / dpi, 4) for dpi in range(1, 100)]
    assert flips(lambda dpi: small[dpi - 1], range(1, 100)) == [50]
