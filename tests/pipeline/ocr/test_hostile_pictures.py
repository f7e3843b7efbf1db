"""Pictures of every form, and damaged ones, are read or refused with a reason, recognition included."""

import importlib.util
import sys
from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image

from build_dataset.pipeline.ocr import engines
from build_dataset.pipeline.ocr.interfaces import Word
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.scanpage import to_page
from build_dataset.pipeline.ocr.tasks import FileTask, PageTask, inspect_file, read_pages, recognise_page
from build_dataset.schemas.errors import UnreadableDocument

ROOT = Path(__file__).parents[3]
PARAMS = OcrParams(max_pixels=2_000_000)


def made(name: str):
    """A module of the benchmark, which is no package that tests import."""
    spec = importlib.util.spec_from_file_location(
        f"benchmarks.{name}", ROOT / "benchmarks" / f"{name.replace('.', '/')}.py"
    )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


made("pdf.mutants")
making = made("ocr.pictures")
LARGE = {"huge", "huge_photo", "banner", "screenshot"}
"""Megapixels: left to the benchmark."""
MAKERS = [maker for maker in making.MAKERS if maker.__name__ not in LARGE]


class Middle:
    """An engine that finds a word in the middle of whatever it is given, and notes what that was."""

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []

    def recognise(self, pixels):
        self.shapes.append(pixels.shape)
        height, width = pixels.shape[:2]
        box = ((0, height / 2), (width, height / 2), (width, height / 2 + 1), (0, height / 2 + 1))
        return [Word("题干", box, 0.9)]


@pytest.fixture
def engine(monkeypatch):
    middle = Middle()
    monkeypatch.setattr(engines, "load", lambda params: middle)
    return middle


def read(path: Path, content: bytes) -> list[str]:
    """The method or the need of each page, all of them recognised that need it; the reason where it is refused."""
    path.write_bytes(content)
    try:
        facts = inspect_file(FileTask("a", path, PARAMS))
        assert facts.pages
        pages = tuple(range(1, facts.pages + 1))
        values = read_pages(PageTask("a", path, facts.format, pages, PARAMS))
        for number, value in zip(pages, values, strict=True):
            if "needs_ocr" in value:
                found = recognise_page(PageTask("a", path, facts.format, (number,), PARAMS))
                to_page(found, "image", "e", "v")
        return [value.get("needs_ocr") or value["method"] for value in values]
    except UnreadableDocument as error:
        return [error.reason if error.detail else ""]


@pytest.mark.slow
@pytest.mark.parametrize("maker", MAKERS)
@pytest.mark.parametrize("seed", range(2))
def test_pictures_of_every_form_are_recognised(engine, tmp_path, maker, seed):
    suffix, content = maker(Random(seed))
    assert set(read(tmp_path / f"a{suffix}", content)) <= {"image", "no_text_layer", "blank", "broken"}
    assert all(min(shape[:2]) >= 1 and shape[2] == 3 for shape in engine.shapes)


@pytest.mark.slow
def test_damaged_pictures_are_recognised_or_refused(engine, tmp_path):
    for mutant in making.pictures(2 * len(MAKERS), 5, MAKERS):
        assert all(read(tmp_path / f"a{mutant.suffix}", mutant.content)), mutant.kind


def test_the_same_seed_makes_the_same_pictures():
    first, second = (list(making.pictures(len(MAKERS), 1, MAKERS)) for _ in range(2))
    assert first == second


def test_a_long_screenshot_is_read_in_parts_that_stand_below_each_other(engine, tmp_path):
    path = tmp_path / "a.png"
    Image.new("L", (300, 6000), 255).save(path)
    page = to_page(recognise_page(PageTask("p", path, "image", (1,), OcrParams())), "image", "e", "v")
    assert len(engine.shapes) == 14
    assert sum(shape[0] for shape in engine.shapes) == 6000
    tops = [line.box.y0 for line in page.lines]
    assert len(tops) == 14
    assert tops == sorted(tops)
    assert page.width == 595
    assert tops[-1] < page.height == 11_900


def test_the_embedded_engine_takes_images_of_any_shape(tmp_path):
    pytest.importorskip("rapidocr")
    found = engines.load(OcrParams())
    for shape in [(1, 1), (1, 2000), (2000, 1), (40, 29_000)]:
        found.recognise(np.zeros((*shape, 3), dtype=np.uint8))
    noise = np.random.default_rng(0).integers(0, 256, (300, 400, 3), dtype=np.uint8)
    assert all(word.text for word in found.recognise(noise))
