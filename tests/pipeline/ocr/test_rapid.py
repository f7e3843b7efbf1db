"""Models lie where they are looked for, unchanged, and run on what suits the processor."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pymupdf
import pytest

from build_dataset.pipeline.ocr import engines
from build_dataset.pipeline.ocr.engines import network, rapid
from build_dataset.pipeline.ocr.engines.ctc import Glyph
from build_dataset.pipeline.ocr.engines.rapid import RapidEngine
from build_dataset.pipeline.ocr.interfaces import Doubt, Word
from build_dataset.pipeline.ocr.params import OcrParams, RapidOcrParams
from build_dataset.schemas.errors import UserError


def test_absent_small_models_are_told_before_a_page_is_read(monkeypatch):
    monkeypatch.setattr(rapid, "in_package", lambda *path: None)
    with pytest.raises(UserError, match="no PP-OCRv6 models"):
        RapidEngine.check(RapidOcrParams())


def test_tiny_models_are_those_that_their_readme_names():
    told = re.findall(r"^\| (\S+) \| \S+ \| (\w{64}) \|$", (rapid._MODELS / "README.md").read_text(), re.MULTILINE)
    assert len(told) == 3
    for name, digest in told:
        assert hashlib.sha256((rapid._MODELS / name).read_bytes()).hexdigest() == digest


@pytest.mark.parametrize(
    ("flags", "installed", "chosen"),
    [
        ("sse avx2 fma", ("openvino", "onnxruntime"), "onnxruntime"),
        ("sse avx2 fma", ("openvino",), "openvino"),
        ("avx2 avx512f avx512_bf16 arat", ("openvino", "onnxruntime"), "openvino"),
        ("avx2 amx_bf16", ("openvino", "onnxruntime"), "openvino"),
        ("avx2 amx_bf16", ("onnxruntime",), "onnxruntime"),
        (None, ("openvino", "onnxruntime"), "openvino"),
    ],
)
def test_the_backend_is_the_faster_one_on_this_processor(tmp_path, monkeypatch, flags, installed, chosen):
    cpuinfo = tmp_path / "cpuinfo"
    if flags is not None:
        cpuinfo.write_text(f"model name\t: X\nflags\t\t: {flags}\nbugs\t\t:\n")
    monkeypatch.setattr(rapid, "_CPUINFO", cpuinfo)
    monkeypatch.setattr(rapid, "find_spec", lambda name: name in installed or None)
    assert rapid.backend(RapidOcrParams()) == chosen
    assert rapid.backend(RapidOcrParams(backend="onnxruntime")) == "onnxruntime"
    assert RapidEngine.models(RapidOcrParams())[0].endswith(f"on {chosen}")


def test_an_engine_is_made_once_whatever_else_is_configured():
    assert engines.load(OcrParams(columns=("stem",), dpi=300)) is engines.load(OcrParams())


@pytest.mark.parametrize(("printed", "read"), [("WBC 13×10⁹/L", 1), ("共有2¹⁶个", 2), ("PaO₂53，120 cm", 0)])
def test_raised_digits_stay_raised(printed, read, cjk):
    document = pymupdf.open()
    page = document.new_page(width=300, height=60)
    writer = pymupdf.TextWriter(page.rect)
    writer.append((20, 30), printed, font=cjk, fontsize=14)
    writer.write_text(page)
    pixmap = page.get_pixmap(dpi=200)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width, 3)
    text = "".join(word.text for word in engines.load(OcrParams()).recognise(pixels))
    assert sum(char in "⁰¹²³⁴⁵⁶⁷⁸⁹" for char in text) == read


CORNERS = np.array([[0, 0], [9, 0], [9, 5], [0, 5]], np.float32)


def test_a_line_is_a_word_from_a_confidence_on_that_its_letters_tell(flips):
    assert flips(lambda sure: rapid._word(CORNERS, [Glyph("甲", sure / 100, 0)]) is None, range(101)) == [30]
    assert rapid._word(CORNERS, [Glyph(" ", 0.9, 0)]) is None
    assert rapid._word(CORNERS, [Glyph("，", 0.9, 0), Glyph("乙", 0.9, 0)]).confidence == 0.9


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("4×109/L", "4×10⁹/L"),
        ("4×10°/L", "4×10⁹/L"),
        ("4x1012/L", "4x10¹²/L"),
        ("4×109", "4×109"),
        ("4×108/L", "4×108/L"),
        ("109/L", "109/L"),
    ],
)
def test_the_power_of_a_blood_count_is_raised(read, written):
    assert rapid._word(CORNERS, [Glyph(char, 0.9, 0) for char in read]).text == written


@pytest.mark.parametrize(
    ("read", "written"),
    [
        ("HBsAg（一）", "HBsAg（－）"),
        ("尿糖(一)，蛋白(+)", "尿糖(－)，蛋白(+)"),
        ("（一）HBsAg", "（一）HBsAg"),
        ("甲法（一）和（二）", "甲法（一）和（二）"),
    ],
)
def test_a_stroke_in_brackets_behind_a_test_is_its_negative_result(read, written):
    assert rapid._word(CORNERS, [Glyph(char, 0.9, 0) for char in read]).text == written


def test_the_confidence_of_a_line_is_the_mean_of_its_characters(flips):
    def told(sure: float) -> bool:
        return rapid._word(CORNERS, [Glyph("甲", sure / 100, 0), Glyph("乙", 0.1, 0)]) is None

    assert flips(told, range(101)) == [50]
    word = rapid._word(CORNERS, [Glyph("甲", 0.9, 0), Glyph("乙", 0.8, 0)])
    doubts = (Doubt(0, 0.9), Doubt(1, 0.8))
    assert word == Word("甲乙", ((0, 0), (9, 0), (9, 5), (0, 5)), 0.72, doubts)


def test_both_backends_give_a_network_s_output_and_its_characters():
    """The tiny detector on a small grey picture; 32 pixels are its least side."""
    model = rapid._MODELS / "PP-OCRv6_det_tiny.onnx"
    values = np.linspace(-1, 1, 3 * 32 * 32, dtype=np.float32).reshape(1, 3, 32, 32)
    found = []
    for backend in ("openvino", "onnxruntime"):
        run, characters = network.load_network(model, backend)
        found.append(np.array(run(values)))
        assert (found[-1].shape, characters) == ((1, 1, 32, 32), [])
    assert np.allclose(*found, atol=1e-2)
    path = rapid.model_file("small", "rec")
    small = [network.load_network(path, backend)[1] for backend in ("openvino", "onnxruntime")]
    assert small[0] == small[1]
    assert len(small[0]) > 1000


def test_a_line_is_cut_level_at_the_height_that_recognisers_want(flips):
    page = np.full((120, 200, 3), 255, np.uint8)
    page[40:60, 50:150] = 0

    def cut(width: float, height: float) -> tuple[int, ...] | None:
        box = np.array([[50, 40], [50 + width, 40], [50 + width, 40 + height], [50, 40 + height]], np.float32)
        found = network.cut_line(page, box)
        return None if found is None else found.shape

    assert cut(100, 20) == (48, 240, 3)
    assert cut(2, 20) == (48, 480, 3), "laid down"
    assert flips(lambda height: cut(20, height) and cut(20, height)[1] > 48, range(20, 50)) == [30]
    assert flips(lambda half: cut(100, half / 2) is None, range(1, 10)) == [4]
    box = np.array([[50, 40], [150, 40], [150, 60], [50, 60]], np.float32)
    assert int(network.cut_line(page, box).max()) == 0


class FakeDetector:
    def __init__(self, *given: object) -> None:
        self.given = given

    def find(self, page: np.ndarray) -> list[np.ndarray]:
        assert page.flags["C_CONTIGUOUS"]
        self.page = page
        return [CORNERS, CORNERS + 20, CORNERS + 40]


def test_lines_are_cut_at_full_width_and_given_to_both_models(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []
    cut: list[float] = []

    class Loaded(tuple[str, str, str | None]):
        alphabet = SimpleNamespace()

    def load(path: Path, backend: str, known: Path | None = None) -> Loaded:
        return Loaded((path.name, backend, known and known.name))

    class FakeCascade:
        def __init__(self, *given: object) -> None:
            self.given = given

    def cut_line(page: np.ndarray, box: np.ndarray) -> np.ndarray | None:
        cut.append(float(box[0, 0]))
        return None if box[0, 0] == 20 else np.full((48, 60, 3), 255, np.uint8)

    monkeypatch.setattr("cv2.setNumThreads", threads.append)
    monkeypatch.setattr(rapid, "Detector", FakeDetector)
    monkeypatch.setattr(rapid, "Cascade", FakeCascade)
    monkeypatch.setattr(rapid.Recogniser, "load", load)
    monkeypatch.setattr(rapid, "cut_line", cut_line)
    engine = RapidEngine(RapidOcrParams(backend="onnxruntime"))
    assert threads == [1]
    side = RapidOcrParams().detection_side
    detector: Any = engine._detector
    assert detector.given == (rapid.model_file("tiny", "det"), "onnxruntime", side)
    good = ("PP-OCRv6_rec_small.onnx", "onnxruntime", None)
    tiny = ("PP-OCRv6_rec_tiny.onnx", "onnxruntime", "PP-OCRv6_rec_tiny.txt")
    reading: Any = engine._lines
    assert reading.given == (tiny, good, 0.8)

    class Reads:
        def read(self, images: list[np.ndarray]) -> list[list[Glyph]]:
            assert len(images) == 2
            return [[Glyph("甲", 0.99, 0)], [Glyph("乙", 0.1, 0)]]

    monkeypatch.setattr(engine, "_lines", Reads())
    coloured = np.zeros((60, 80, 3), np.uint8)
    coloured[:, :, 0] = 200
    words = engine.recognise(coloured)
    assert cut == [0.0, 20.0, 40.0]
    assert [(word.text, word.corners[0]) for word in words] == [("甲", (0.0, 0.0))]
    assert detector.page[0, 0].tolist() == [0, 0, 200], "networks want blue first"


class Line:
    """Stands for the models: all see one line of five characters, 4 steps apart, of which the third is unsure."""

    def __init__(self, *glyphs: Glyph) -> None:
        self.glyphs, self.images = glyphs, list[np.ndarray]()

    def find(self, page: np.ndarray) -> list[np.ndarray]:
        return [np.array([[0, 0], [200, 0], [200, 48], [0, 48]], np.float32)]

    def read(self, images: list[np.ndarray], starts: object = None) -> list[list[Glyph]]:
        self.images += images
        return [[replace(glyph) for glyph in self.glyphs]]


def seen_twice(monkeypatch: pytest.MonkeyPatch, first: Glyph, *again: Glyph) -> tuple[Doubt | None, int]:
    engine: Any = engines.load(OcrParams())
    others = [Glyph(char, 0.999, 2.5 + 4 * at) for at, char in enumerate("病人用药")]
    once = Line(*others[:2], first, *(replace(one, at=one.at + 4) for one in others[2:]))
    twice = Line(*again)
    for name, fake in (("_detector", once), ("_lines", once), ("_good", twice)):
        monkeypatch.setattr(engine, name, fake)
    (word,) = engine.recognise(np.full((48, 200, 3), 255, np.uint8))
    return next((one for one in word.doubts or () if one.at == 2), None), len(twice.images)


def test_a_character_that_is_less_sure_is_looked_at_again_and_has_the_mean_of_both_looks(monkeypatch):
    first = Glyph("服", 0.9, 10.5, others=(("眼", 0.1),))
    found, looks = seen_twice(monkeypatch, first, Glyph("服", 0.99, 12.6, others=(("眼", 0.01),)))
    assert looks == 2
    assert found is not None
    assert 0.96 < found.sure < 0.98
    sure, looks = seen_twice(monkeypatch, replace(first, confidence=0.98, others=()), Glyph("眼", 0.9, 12.6))
    assert (sure and sure.sure, looks) == (0.98, 0)


def test_what_stays_unsure_in_a_wider_picture_is_looked_at_in_a_narrower_one_that_counts_as_much(monkeypatch):
    first = Glyph("服", 0.6, 10.5, others=(("眼", 0.4),))
    wider = Glyph("服", 0.6, 10.5 * 1.2, others=(("眼", 0.4),))
    found, looks = seen_twice(monkeypatch, first, wider, Glyph("服", 0.01, 10.5 * 0.85, others=(("眼", 0.99),)))
    assert (looks, found and dict(found.others)["眼"] > 0.85) == (2, True)
    sure = Glyph("服", 0.9999, 10.5 * 1.2)
    assert seen_twice(monkeypatch, replace(first, confidence=0.96, others=()), sure)[1] == 1


def test_the_letter_of_a_label_is_not_looked_at_again(monkeypatch):
    engine: Any = engines.load(OcrParams())
    once, twice = Line(Glyph("A", 0.9, 4.5), Glyph(".", 0.99, 7), Glyph("病", 0.999, 10.5)), Line()
    for name, fake in (("_detector", once), ("_lines", once), ("_good", twice)):
        monkeypatch.setattr(engine, name, fake)
    assert [word.text for word in engine.recognise(np.full((48, 200, 3), 255, np.uint8))] == ["A.病"]
    assert not twice.images


def test_another_character_at_the_second_look_makes_a_place_less_sure_and_one_elsewhere_says_nothing(monkeypatch):
    first = Glyph("服", 0.9, 10.5, others=(("眼", 0.1),))
    found, _ = seen_twice(monkeypatch, first, Glyph("眼", 0.99, 12.6))
    assert found is not None
    assert found.sure < 0.1
    assert dict(found.others)["眼"] > 0.9
    for elsewhere in (Glyph("眼", 0.99, 17.4), Glyph(" ", 0.99, 12.6)):
        assert seen_twice(monkeypatch, first, elsewhere)[0] == Doubt(2, 0.9, 0.0, (("眼", 0.1),))


def test_forms_of_one_character_are_one_at_the_second_look(monkeypatch):
    first = Glyph("查", 0.8, 10.5, others=(("盖", 0.19),))
    found, _ = seen_twice(monkeypatch, first, Glyph("査", 0.99, 12.6))
    assert found is not None
    assert found.sure > 0.98


@pytest.mark.parametrize(("flags", "told"), [("avx2", "onnxruntime"), ("avx2 amx_bf16", "openvino")])
def test_with_no_backend_installed_the_one_to_install_is_the_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: str, told: str
) -> None:
    (tmp_path / "cpuinfo").write_text(f"flags\t\t: fpu {flags}\n")
    monkeypatch.setattr(rapid, "_CPUINFO", tmp_path / "cpuinfo")
    monkeypatch.setattr(rapid, "find_spec", lambda name: None)
    assert rapid.backend(RapidOcrParams()) == told
    with pytest.raises(UserError, match=f"'{told}': not installed; pip install {told}"):
        RapidEngine.check(RapidOcrParams())


def test_the_confidence_of_a_word_is_kept_to_the_millionth() -> None:
    sure = [0.911 + at / 9000 for at in range(9)]
    found = [rapid._word(CORNERS, [Glyph("甲", score, 0)]) for score in sure]
    assert [word and word.confidence for word in found] == [round(at, 6) for at in sure]
    assert any(round(at, 6) != round(at, 7) for at in sure)
