"""Pictures are given to networks in the form they want, and digits are raised where their ink is."""

import sys
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
import pymupdf
import pytest

from build_dataset.pipeline.ocr.engines import network
from build_dataset.pipeline.ocr.engines.ctc import Glyph
from build_dataset.pipeline.ocr.engines.network import (
    Detector,
    grown,
    in_package,
    load_network,
    mark_lost,
    padded_width,
    raise_digits,
)

Ink = tuple[int, int] | None
"""First row of a character's ink and the one below its last; None: it has none."""
TALL, RAISED, HIGH = (10, 40), (10, 28), (0, 30)
"""A letter on the line, a raised digit, and a letter that stands higher than its neighbours."""


def read(text: str, *ink: Ink) -> str:
    """Return the text after raising; characters stand 24 pixels apart, those without rows of their own are tall."""
    image = np.full((48, 24 * len(text) + 24, 3), 255, np.uint8)
    glyphs = []
    for place, (char, rows) in enumerate(zip(text, [*ink, *[TALL] * (len(text) - len(ink))], strict=True)):
        if rows:
            image[rows[0] : rows[1], 24 * place + 10 : 24 * place + 18] = 0
        glyphs.append(Glyph(char, 0.9, (24 * place + 14) / network.STEP))
    raise_digits(image, glyphs)
    return "".join(glyph.char for glyph in glyphs)


@pytest.mark.parametrize(
    ("text", "ink", "found"),
    [
        ("L9x", (TALL, RAISED), "L⁹x"),
        ("L9x", (TALL, RAISED, None), "L⁹x"),
        ("L9", (TALL, RAISED), "L⁹"),
        ("Lox", (TALL, RAISED), "Lox"),
        ("L9Lo", (TALL, TALL, TALL, RAISED), "L9Lo"),
        ("L９x", (TALL, RAISED), "L９x"),
        ("病9x", (TALL, RAISED), "病9x"),
        ("L病9x2", (TALL, TALL, RAISED), "L病9x2"),
        (".9x", (TALL, RAISED), ".9x"),
        ("L0x", (TALL, RAISED), "L0x"),
        ("L10x", (TALL, RAISED, RAISED), "L¹⁰x"),
        ("L123x", (TALL, RAISED, RAISED, RAISED), "L¹²³x"),
        ("L19x", (TALL, RAISED, TALL), "L¹9x"),
        ("L12", (TALL, RAISED, HIGH), "L¹2"),
        ("ab9L", (TALL, None, RAISED), "ab9L"),
        ("a9bL", (TALL, RAISED, None), "a⁹bL"),
    ],
)
def test_digits_are_raised_behind_letters_and_digits_that_stand_on_the_line(
    text: str, ink: Sequence[Ink], found: str
) -> None:
    assert read(text, *ink) == found


@pytest.mark.parametrize(
    ("text", "ink", "unsure"),
    [
        ("231x", [TALL, RAISED], "1"),
        ("231x", [TALL, TALL, RAISED], "23"),
        ("x10¹²", [], ""),
        ("4×109x", [TALL, TALL, TALL, TALL, RAISED], ""),
        ("x29x", [TALL, TALL, RAISED], ""),
        ("x29x", [], ""),
    ],
)
def test_digits_beside_raised_ones_that_may_be_raised_too_are_unsure(text: str, ink: list[Ink], unsure: str) -> None:
    image = np.full((48, 24 * len(text) + 24, 3), 255, np.uint8)
    for place, (top, end) in enumerate([*ink, *[TALL] * (len(text) - len(ink))]):
        image[top:end, 24 * place + 10 : 24 * place + 18] = 0
    glyphs = [Glyph(char, 0.99, (24 * at + 14) / network.STEP) for at, char in enumerate(text)]
    raise_digits(image, glyphs)
    assert "".join(glyph.char for glyph in glyphs if glyph.confidence == 0.5) == unsure


def test_a_digit_beside_a_small_letter_stays(flips: Any) -> None:
    """Letters are 30 rows high; four fifths of that are 24."""
    assert flips(lambda high: read("xxxxxa9xx", *[TALL] * 5, (40 - high, 40), (10, 12)), range(4, 30)) == [24]


@pytest.mark.parametrize("away", [1, 2, 3, 4])
@pytest.mark.parametrize("between", [None, (20, 25)])
def test_a_digit_stays_where_one_of_the_next_three_characters_stands_as_high(away: int, between: Ink) -> None:
    text, behind = "xxxxxxL9aaaa", [*[between] * (away - 1), HIGH]
    found = read(text, *[TALL] * 7, RAISED, *behind)
    assert found == ("xxxxxxL⁹aaaa" if away == 4 else text)


def test_the_next_character_is_that_behind_all_the_digits_of_a_number() -> None:
    before = [TALL] * 7
    assert read("xxxxxxL12aaa", *before, RAISED, RAISED, None, None, HIGH) == "xxxxxxL12aaa"
    assert read("xxxxxxL12aaa", *before, RAISED, RAISED, HIGH) == "xxxxxxL12aaa"
    assert read("xxxxxxL123aaa", *before, RAISED, RAISED, RAISED, HIGH) == "xxxxxxL123aaa"


@pytest.mark.parametrize(("ink", "counts"), [((0, 24), True), ((1, 24), False), ((2, 22), False)])
def test_a_small_character_behind_a_digit_says_nothing(ink: Ink, counts: bool) -> None:
    found = read("xxxxxxL9a", *[TALL] * 7, RAISED, ink)
    assert found == ("xxxxxxL9a" if counts else "xxxxxxL⁹a")


LINES = (
    "B.口服避孕藥會增加潰瘍性結腸炎的發生",
    "長出一個直徑3公分之壓瘡，如此持續一",
    "关于 CRP 与血沉10项的说法，①②均正确（ ）",
    "(C)某甲向某乙借款，屆期未還，何者正確？",
)


def printed(text: str, font: pymupdf.Font) -> tuple[np.ndarray, list[Glyph]]:
    """Return the picture of a line and its characters where they stand."""
    edges = [20 + font.text_length(text[:at], 34) for at in range(len(text) + 1)]
    page = pymupdf.open().new_page(width=edges[-1] + 20, height=48)
    writer = pymupdf.TextWriter(page.rect)
    writer.append((20, 36), text, font=font, fontsize=34)
    writer.write_text(page)
    pixmap = page.get_pixmap(alpha=False)
    image = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.h, pixmap.w, 3)
    middles = [(left + right) / 2 / network.STEP for left, right in pairwise(edges)]
    return image, [Glyph(char, 0.9, at) for char, at in zip(text, middles, strict=True)]


@pytest.mark.parametrize("text", LINES)
def test_the_ink_of_a_lost_ideograph_is_noted_wherever_it_stands(text: str, cjk: pymupdf.Font) -> None:
    for lost in (at for at, char in enumerate(text) if char.isalnum() and not char.isascii()):
        image, glyphs = printed(text, cjk)
        del glyphs[lost]
        assert mark_lost(image, glyphs), text[lost]
        assert [at for at, glyph in enumerate(glyphs) if glyph.gap] == [max(0, lost - 1)]


@pytest.mark.parametrize("text", LINES)
def test_every_ink_of_a_line_that_is_read_whole_is_claimed(text: str, cjk: pymupdf.Font) -> None:
    image, glyphs = printed(text, cjk)
    assert not mark_lost(image, glyphs)
    assert not any(glyph.gap for glyph in glyphs)


def test_the_ink_that_a_letter_stands_on_is_its_own_however_wide_but_not_that_of_two(flips) -> None:
    def lost(width: int, *middles: float) -> bool:
        image = np.full((48, 200, 3), 255, np.uint8)
        image[12:38, 20 : 20 + width] = 0
        return mark_lost(image, [Glyph("m", 0.9, at / network.STEP) for at in middles])

    assert flips(lambda width: lost(width, 34), range(39, 60)) == [42]
    assert lost(41, 24, 34), "a letter and what stands behind it"


def test_ink_of_the_lines_above_and_below_is_no_lost_character(cjk: pymupdf.Font) -> None:
    image, glyphs = printed("病人\u3000\u3000發熱", cjk)
    spoiled = image.copy()
    spoiled[:8, 105:135] = spoiled[40:, 105:135] = 0
    assert not mark_lost(spoiled, glyphs)
    spoiled[20:30, 105:135] = 0
    assert mark_lost(spoiled, glyphs)


@pytest.mark.parametrize(("text", "at", "down"), [("之PGE1合成", 4, 7), ("維生素B1", 4, 7), ("每mm3、血", 3, -8)])
def test_a_lowered_or_raised_character_that_was_not_read_is_noted(text: str, at: int, down: int, cjk) -> None:
    image, glyphs = printed(text, cjk)
    left = round((glyphs[at - 1].at + glyphs[at].at) / 2 * network.STEP)
    image = image.copy()
    image[:, left : left + 19] = np.roll(image[:, left : left + 19], down, axis=0)
    assert not mark_lost(image, glyphs)
    del glyphs[at]
    assert mark_lost(image, glyphs)
    assert [place for place, glyph in enumerate(glyphs) if glyph.gap] == [at - 1]


def test_an_ideograph_that_was_read_twice_is_noted_and_two_are_not(cjk: pymupdf.Font) -> None:
    assert not mark_lost(*printed("應納稅款已繳繳納", cjk))
    for twice in "為爲":
        image, glyphs = printed("應納稅款已為納", cjk)
        glyphs.insert(6, replace(glyphs[5], char=twice, at=glyphs[5].at + 2))
        assert mark_lost(image, glyphs)


def test_a_line_without_characters_has_lost_none_of_them() -> None:
    assert not mark_lost(np.full((48, 96, 3), 255, np.uint8), [])


def test_a_second_look_sees_more_of_the_page_on_every_side() -> None:
    box = np.array([[10, 10], [110, 10], [110, 30], [10, 30]], np.float32)
    assert grown(box).tolist() == [[7, 7], [113, 7], [113, 33], [7, 33]]


def test_widths_of_padded_images_grow_by_a_tenth_to_the_next_sixteen() -> None:
    found = sorted({padded_width(width) for width in range(1, 401)})
    assert found == [48, 64, 80, 96, 112, 128, 144, 160, 176, 208, 240, 272, 304, 336, 384, 432]
    assert all(padded_width(width) == width for width in found)


class Told:
    """A network that keeps what it is given and answers with one map."""

    def __init__(self, answer: np.ndarray | None = None) -> None:
        self.answer = answer
        self.given: list[np.ndarray] = []

    def __call__(self, values: np.ndarray) -> np.ndarray:
        self.given.append(values.copy())
        height, width = values.shape[2:]
        return np.zeros((1, 1, height, width), np.float32) if self.answer is None else self.answer


def detector(monkeypatch: pytest.MonkeyPatch, side: int, answer: np.ndarray | None = None) -> tuple[Detector, Told]:
    told = Told(answer)
    monkeypatch.setattr(network, "load_network", lambda path, backend: (told, []))
    return Detector(Path("model.onnx"), "openvino", side), told


@pytest.mark.parametrize(
    ("height", "width", "side", "seen"),
    [
        (100, 60, 640, (96, 64)),
        (640, 640, 640, (640, 640)),
        (1000, 500, 320, (320, 160)),
        (500, 1000, 320, (160, 320)),
        (5, 420, 640, (32, 416)),
        (80, 112, 640, (64, 128)),
        (2000, 10, 320, (320, 32)),
    ],
)
def test_a_detector_sees_sides_of_whole_thirty_twos_and_no_page_enlarged(
    monkeypatch: pytest.MonkeyPatch, height: int, width: int, side: int, seen: tuple[int, int]
) -> None:
    found, told = detector(monkeypatch, side)
    assert found.find(np.zeros((height, width, 3), np.uint8)) == []
    assert [values.shape for values in told.given] == [(1, 3, *seen)]


def test_a_detector_sees_channels_from_minus_one_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    found, told = detector(monkeypatch, 640)
    page = np.zeros((32, 64, 3), np.uint8)
    page[:, :, 1], page[:, 32:, 2] = 255, 51
    found.find(page)
    values = told.given[0][0]
    assert values.dtype == np.float32
    assert np.unique(values[0]).tolist() == [-1.0]
    assert np.unique(values[1]).tolist() == [pytest.approx(1.0)]
    assert np.unique(values[2, :, :31]).tolist() == [-1.0]
    assert np.unique(values[2, :, 33:]).tolist() == [pytest.approx(-0.6)]


@pytest.mark.parametrize(("side", "way"), [(416, cv2.INTER_AREA), (448, cv2.INTER_LINEAR), (480, cv2.INTER_LINEAR)])
def test_pages_that_become_much_smaller_are_averaged(monkeypatch: pytest.MonkeyPatch, side: int, way: int) -> None:
    found, told = detector(monkeypatch, side)
    page = np.random.default_rng(1).integers(0, 256, (640, 640, 3), np.uint8)
    found.find(page)
    small = cv2.resize(page, (side, side), interpolation=way).transpose(2, 0, 1)
    assert np.abs(told.given[0][0] - (small / 127.5 - 1)).max() < 1e-5


BOX = [[[27.0, 47.0], [133.0, 47.0], [133.0, 93.0], [27.0, 93.0]]]


def test_a_line_is_found_where_its_map_is_sure(monkeypatch: pytest.MonkeyPatch, flips: Any) -> None:
    def boxes(value: float, edge: float = 0.0, size: int = 160) -> list[list[list[float]]]:
        told = np.zeros((1, 1, 160, 160), np.float32)
        told[0, 0, 58:82, 38:122] = edge
        told[0, 0, 60:80, 40:120] = value
        found, _ = detector(monkeypatch, 160, told)
        return [box.tolist() for box in found.find(np.zeros((size, size, 3), np.uint8))]

    assert boxes(0.9) == BOX
    assert boxes(0.9, size=320) == [[[2 * x, 2 * y] for x, y in box] for box in BOX]
    assert flips(lambda value: len(boxes(value / 100)), range(40, 80)) == [54]
    assert flips(lambda edge: boxes(0.95, edge / 100) == BOX, range(20, 50)) == [31]


@pytest.mark.parametrize("places", [None, SimpleNamespace(submodule_search_locations=None)])
def test_a_package_that_is_not_there_or_is_one_file_holds_no_file(
    monkeypatch: pytest.MonkeyPatch, places: object
) -> None:
    monkeypatch.setattr(network, "find_spec", lambda name: places)
    assert in_package("some", "model.onnx") is None


def test_a_file_of_a_package_lies_in_its_first_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "models").mkdir(parents=True)
    (tmp_path / "one/models/a.onnx").touch()
    (tmp_path / "two/models/b.onnx").touch()
    folders = [str(tmp_path / name) for name in ("one", "two")]
    spec = SimpleNamespace(submodule_search_locations=folders)
    monkeypatch.setattr(network, "find_spec", lambda name: spec)
    found = [in_package("some", "models", name) for name in ("a.onnx", "b.onnx")]
    assert found == [tmp_path / "one/models/a.onnx", None]
    assert in_package("some", "models") is None


def test_models_run_on_one_thread_that_is_not_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Any] = []
    known = {("framework", "character"): SimpleNamespace(value="甲\n乙")}
    model = SimpleNamespace(has_rt_info=lambda name: tuple(name) in known, get_rt_info=lambda name: known[tuple(name)])
    request = SimpleNamespace(
        set_input_tensor=told.append,
        start_async=lambda: told.append("started"),
        wait=lambda: told.append("waited"),
        get_output_tensor=lambda: SimpleNamespace(data="output"),
    )

    def compiled(found: object, device: str, options: dict[str, object]) -> object:
        told.append((found is model, device, options))
        return SimpleNamespace(create_infer_request=lambda: request)

    core = SimpleNamespace(read_model=lambda path: model, compile_model=compiled)
    monkeypatch.setitem(sys.modules, "openvino", SimpleNamespace(Core=lambda: core, Tensor=lambda values, **how: how))
    run, characters = load_network(Path("a.onnx"), "openvino")
    assert (run(np.zeros(1, np.float32)), characters) == ("output", ["甲", "乙"])
    options = {"INFERENCE_NUM_THREADS": 1, "ENABLE_CPU_PINNING": False, "NUM_STREAMS": 1}
    assert told[0] == (True, "CPU", options)
    assert told[1:] == [{"shared_memory": True}, "started", "waited"], "what is given is not copied"
    known.clear()
    assert load_network(Path("a.onnx"), "openvino")[1] == []


def test_onnxruntime_keeps_no_memory_and_reads_the_first_input(monkeypatch: pytest.MonkeyPatch) -> None:
    options = SimpleNamespace()
    meta = {"character": "甲\n乙"}

    class Session:
        def __init__(self, path: str, given: object, providers: list[str]) -> None:
            assert (path, given, providers) == ("a.onnx", options, ["CPUExecutionProvider"])

        def get_modelmeta(self) -> object:
            return SimpleNamespace(custom_metadata_map=meta)

        def get_inputs(self) -> list[object]:
            return [SimpleNamespace(name="x"), SimpleNamespace(name="y")]

        def run(self, names: object, values: dict[str, object]) -> list[object]:
            return [list(values), "second"]

    module = SimpleNamespace(SessionOptions=lambda: options, InferenceSession=Session)
    monkeypatch.setitem(sys.modules, "onnxruntime", module)
    run, characters = load_network(Path("a.onnx"), "onnxruntime")
    assert (run(np.zeros(1, np.float32)), characters) == (["x"], ["甲", "乙"])
    assert vars(options) == {"intra_op_num_threads": 1, "inter_op_num_threads": 1, "enable_cpu_mem_arena": False}
