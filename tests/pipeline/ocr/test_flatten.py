"""A photographed page is flattened by its lines; a flat one is left as it is."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from build_dataset.pipeline.ocr.flatten import flatten, unflatten
from build_dataset.pipeline.ocr.model import Rect

WIDE, HIGH, LEADING = 1240, 1754, 40


def page(lines: int = 36, columns: int = 1) -> np.ndarray:
    """Return a page of lines of small boxes, as wide and high as ideographs."""
    pixels = np.full((HIGH, WIDE, 3), 255, np.uint8)
    width = (WIDE - 200 - 60 * (columns - 1)) // columns
    rng = np.random.default_rng(7)
    for row in range(lines):
        for column in range(columns):
            left = 100 + column * (width + 60)
            for x in range(left, left + width - 30 * int(rng.integers(0, 5)), 26):
                y = 150 + LEADING * row
                cv2.rectangle(pixels, (x, y), (x + 18, y + 18), (0, 0, 0), 3)
    return pixels


def photographed(pixels: np.ndarray, curl: float, tilt: float) -> np.ndarray:
    """Return the page bent by ``curl`` of its height and its right side moved down by ``tilt`` of it."""
    corners = np.array([[0, 0], [WIDE, 0], [WIDE, HIGH], [0, HIGH]], np.float32)
    moved = corners + np.array([[0, 0], [0, tilt * HIGH], [-tilt * WIDE, 0], [0, 0]], np.float32)
    seen = cv2.warpPerspective(
        pixels, cv2.getPerspectiveTransform(corners, moved), (WIDE, HIGH), borderValue=(255,) * 3
    )
    x, y = np.meshgrid(np.arange(WIDE, dtype=np.float32), np.arange(HIGH, dtype=np.float32))
    bend = (curl * HIGH * np.sin(2 * np.pi * 0.7 * x / WIDE)).astype(np.float32)
    return cv2.remap(seen, x, y + bend, cv2.INTER_LINEAR, borderValue=(255,) * 3)


def level_rows(pixels: np.ndarray) -> int:
    """Return how many rows of pixels are white between the first and the last ink: lines that are level."""
    inked = (pixels.min(axis=2) < 128).any(axis=1)
    first, last = np.flatnonzero(inked)[[0, -1]]
    return int((~inked[first:last]).sum())


def test_a_flat_page_keeps_its_pixels():
    pixels = page()
    flat = flatten(pixels)
    assert flat.nodes is None
    assert flat.pixels is pixels


def test_a_page_turned_by_less_than_a_degree_keeps_its_pixels():
    turn = cv2.getRotationMatrix2D((WIDE / 2, HIGH / 2), 0.8, 1)
    pixels = cv2.warpAffine(page(), turn, (WIDE, HIGH), borderValue=(255,) * 3)
    assert flatten(pixels).nodes is None


@pytest.mark.parametrize("lines", [0, 3])
def test_a_page_with_too_few_lines_keeps_its_pixels(lines):
    assert flatten(photographed(page(lines), 0.006, 0.03)).nodes is None


@pytest.mark.slow
@pytest.mark.parametrize("columns", [1, 2])
@settings(max_examples=8, deadline=None)
@given(curl=st.floats(0.004, 0.012), tilt=st.floats(-0.03, 0.03))
def test_lines_of_a_photograph_become_level(columns, curl, tilt):
    seen = photographed(page(columns=columns), curl, tilt)
    flat = flatten(seen)
    assert flat.nodes is not None
    assert level_rows(flat.pixels) > max(300, level_rows(seen))


def test_a_box_of_the_flat_page_is_found_on_the_photograph():
    seen = photographed(page(), 0.01, 0.02)
    flat = flatten(seen)
    assert flat.nodes is not None
    inked = np.flatnonzero((flat.pixels.min(axis=2) < 128).any(axis=1))
    top, left, right = int(inked[0]), 400, 800
    box = unflatten(Rect(left, top - 4, right, top + 24), flat.nodes, WIDE, HIGH)
    inside = seen[int(box.y0) : int(box.y1), int(box.x0) : int(box.x1)].min(axis=2) < 128
    assert inside.any()
    assert box.height < 28 + 0.02 * HIGH


@given(st.floats(0, 600), st.floats(0, 800), st.floats(1, 90), st.floats(1, 20))
def test_where_nothing_was_moved_boxes_stay(left, top, wide, high):
    x, y = np.meshgrid(np.linspace(0, 1, 15), np.linspace(0, 1, 9))
    box = Rect(left, top, left + wide, top + high)
    assert unflatten(box, np.stack([x, y], axis=2), 700.0, 900.0) == pytest.approx(box)
