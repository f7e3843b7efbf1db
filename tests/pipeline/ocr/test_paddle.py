"""Faults of the paddleocr engine before it reads; tests/services/test_paddleocr.py reads with it."""

import hashlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnxruntime
import pytest
import yaml

from build_dataset.pipeline.ocr import engines
from build_dataset.pipeline.ocr.engines import paddle
from build_dataset.pipeline.ocr.engines.paddle import PaddleEngine, check_options
from build_dataset.pipeline.ocr.params import EngineName, OcrParams, PaddleOcrParams
from build_dataset.schemas.errors import UserError


def folder(path: Path, name: str = "PP-OCRv6_medium_det", weights: bytes = b"weights") -> Path:
    path.mkdir()
    (path / "inference.onnx").write_bytes(weights)
    (path / "inference.yml").write_text(f"Global:\n  model_name: {name}\nPreProcess: {{}}\n", encoding="utf-8")
    return path


def test_an_engine_that_is_not_installed_is_named_with_its_remedy(monkeypatch):
    monkeypatch.setattr(engines, "find_spec", lambda name: None)
    with pytest.raises(UserError, match=r"paddleocr.*not installed.*pip install"):
        engines.ChosenEngine(OcrParams(engine=EngineName.PADDLEOCR)).check()
    assert len(engines.problems(OcrParams(engine=EngineName.PADDLEOCR), None)) == 1


def test_without_folders_the_models_inside_rapidocr_are_read():
    check_options(PaddleOcrParams())


@pytest.mark.parametrize("part", ["detection", "recognition"])
def test_a_packaged_model_is_unpacked_as_paddleocr_wants_it_and_leaves_nothing(part):
    model = next(model for model in paddle._models(PaddleOcrParams()) if model.part == part)
    with paddle._unpacked(model) as found:
        described = yaml.safe_load((found / "inference.yml").read_text(encoding="utf-8"))
        session = onnxruntime.InferenceSession(str(found / "inference.onnx"))
    assert described["Global"]["model_name"] == model.name
    if part == "recognition":
        characters = described["PostProcess"]["character_dict"]
        assert {"药", "髂", "A", "．"} <= set(characters)
        # The blank of CTC and the space are added by PaddleOCR.
        assert session.get_outputs()[0].shape[-1] == len(characters) + 2
    assert not found.exists()


def test_a_model_that_is_not_packaged_needs_its_folder():
    with pytest.raises(UserError, match=r"PP-OCRv6_medium_rec.*set recognition_dir.*choose PP-OCRv6_small_rec"):
        check_options(PaddleOcrParams(recognition_model="PP-OCRv6_medium_rec"))


def test_a_rapidocr_without_the_model_is_told_like_a_model_that_is_not_packaged(monkeypatch):
    monkeypatch.setattr(paddle, "in_package", lambda *path: None)
    with pytest.raises(UserError, match="set detection_dir"):
        check_options(PaddleOcrParams())


@pytest.mark.parametrize("missing", ["inference.onnx", "inference.yml"])
def test_a_folder_that_lacks_a_file_is_named(tmp_path, missing):
    path = folder(tmp_path / "det")
    (path / missing).unlink()
    with pytest.raises(UserError, match=rf"detection_dir.*no {missing} in it"):
        check_options(PaddleOcrParams(detection_model="PP-OCRv6_medium_det", detection_dir=path))


def test_a_folder_of_another_model_is_told_with_the_name_to_set(tmp_path):
    path = folder(tmp_path / "det")
    with pytest.raises(UserError, match=r"holds PP-OCRv6_medium_det: set detection_model = 'PP-OCRv6_medium_det'"):
        check_options(PaddleOcrParams(detection_dir=path))
    check_options(PaddleOcrParams(detection_model="PP-OCRv6_medium_det", detection_dir=path))


def test_paddle_that_is_not_installed_and_a_gpu_that_is_not_there_are_told(monkeypatch):
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(UserError, match="onnxruntime has no CUDA"):
        check_options(PaddleOcrParams(device="gpu:0"))
    monkeypatch.setattr(paddle, "find_spec", lambda name: None)
    with pytest.raises(UserError, match="needs paddlepaddle"):
        check_options(PaddleOcrParams(inference="paddle"))


def test_other_weights_in_the_same_folder_are_another_model(tmp_path):
    params = PaddleOcrParams(detection_dir=folder(tmp_path / "det"))
    before = PaddleEngine.models(params)
    assert before == PaddleEngine.models(params)
    (tmp_path / "det/inference.onnx").write_bytes(b"other weights")
    after = PaddleEngine.models(params)
    assert before[0] != after[0]
    assert before[1] == after[1]
    assert "of rapidocr" in after[1]


def test_the_options_that_paddleocr_is_started_with(monkeypatch, tmp_path):
    started: list[dict[str, object]] = []
    module = SimpleNamespace(PaddleOCR=lambda **options: started.append(options))
    monkeypatch.setitem(sys.modules, "paddleocr", module)
    monkeypatch.setitem(sys.modules, "paddle", SimpleNamespace(disable_signal_handler=lambda: None))
    for options in (
        {"inference": "paddle"},
        {"inference": "paddle", "device": "gpu"},
        {"detection_dir": tmp_path, "recognition_dir": tmp_path},
    ):
        PaddleEngine(PaddleOcrParams(**options))
    shared = {
        "use_doc_orientation_classify": False,
        "use_doc_unwarping": False,
        "use_textline_orientation": False,
        "text_det_limit_type": "max",
        "text_det_limit_side_len": 1280,
        "text_det_box_thresh": 0.5,
        "text_recognition_batch_size": 1,
        "text_rec_score_thresh": 0.3,
        "text_detection_model_name": "PP-OCRv6_small_det",
        "text_recognition_model_name": "PP-OCRv6_small_rec",
    }
    folders = {"text_detection_model_dir": str(tmp_path), "text_recognition_model_dir": str(tmp_path)}
    onnx = {"engine": "onnxruntime", "engine_config": {"intra_op_num_threads": 1}}
    assert started == [
        {"device": "cpu", "enable_mkldnn": False, **shared},
        {"device": "gpu", **shared},
        {"device": "cpu", **onnx, **shared, **folders},
    ]


def test_the_lines_of_paddleocr_are_words():
    engine = PaddleEngine.__new__(PaddleEngine)
    corners = [[0, 1], [2, 1], [2, 3], [0, 3]]
    page = {"rec_polys": [corners] * 2, "rec_texts": ["甲", " "], "rec_scores": [0.5, 0.6]}
    engine._ocr = SimpleNamespace(predict=lambda pixels: [page])
    (word,) = engine.recognise(np.zeros((3, 3, 3), np.uint8))
    assert (word.text, word.box, word.confidence) == ("甲", (0.0, 1.0, 2.0, 3.0), 0.5)


@pytest.mark.parametrize(
    ("options", "starts"),
    [
        ({}, False),
        ({"detection_dir": "det"}, True),
        ({"recognition_dir": "rec"}, True),
        ({"detection_dir": "det", "recognition_dir": "rec"}, True),
        ({"inference": "paddle"}, True),
        ({"inference": "paddle", "detection_dir": "det"}, True),
    ],
)
def test_an_engine_is_started_beforehand_where_the_user_s_models_or_paddle_may_fail(
    monkeypatch, options, starts
) -> None:
    started: list[PaddleOcrParams] = []
    monkeypatch.setattr(paddle, "check_options", lambda params: None)
    monkeypatch.setattr(paddle, "PaddleEngine", started.append)
    PaddleEngine.check(PaddleOcrParams(**options))
    assert started == ([PaddleOcrParams(**options)] if starts else [])


@pytest.mark.parametrize(
    ("error", "told"),
    [(ValueError("no\n  such   model"), "no such model"), (ValueError("x" * 301), "x" * 300), (KeyError(), "KeyError")],
)
def test_why_paddleocr_does_not_start_is_one_short_line(monkeypatch, error: Exception, told: str) -> None:
    def failing(params: PaddleOcrParams) -> None:
        raise error

    monkeypatch.setattr(paddle, "check_options", lambda params: None)
    monkeypatch.setattr(paddle, "PaddleEngine", failing)
    with pytest.raises(UserError) as found:
        PaddleEngine.check(PaddleOcrParams(inference="paddle"))
    assert str(found.value) == f"[ocr.paddleocr] PaddleOCR does not start: {told}"


def test_characters_are_written_as_they_are_for_the_recogniser_alone(tmp_path, monkeypatch) -> None:
    source = tmp_path / "model.onnx"
    source.write_bytes(b"weights")
    meta = SimpleNamespace(custom_metadata_map={"character": "甲\n乙"})
    session = SimpleNamespace(get_modelmeta=lambda: meta)
    made: list[tuple[str, list[str]]] = []

    def load(path: str, providers: list[str]) -> object:
        made.append((path, providers))
        return session

    monkeypatch.setitem(sys.modules, "onnxruntime", SimpleNamespace(InferenceSession=load))
    monkeypatch.setattr(paddle, "in_package", lambda *path: source)
    found = []
    for model in paddle._models(PaddleOcrParams()):
        with paddle._unpacked(model) as folder:
            assert (folder / "inference.onnx").read_bytes() == b"weights"
            found.append((folder / "inference.yml").read_text(encoding="utf-8"))
        assert not folder.exists()
    assert ['"character_dict": ["甲", "乙"]' in text for text in found] == [False, True]
    names = ["PP-OCRv6_small_det", "PP-OCRv6_small_rec"]
    assert [yaml.safe_load(text)["Global"] for text in found] == [{"model_name": name} for name in names]
    assert made == [(str(source), ["CPUExecutionProvider"])]


def test_paddleocr_is_given_blue_first() -> None:
    seen: list[np.ndarray] = []
    engine = PaddleEngine.__new__(PaddleEngine)
    engine._ocr = SimpleNamespace(predict=lambda pixels: seen.append(pixels) or [])
    assert engine.recognise(np.array([[[1, 2, 3], [4, 5, 6]]], np.uint8)) == []
    assert seen[0].tolist() == [[[3, 2, 1], [6, 5, 4]]]


def test_a_model_in_a_folder_is_named_with_twelve_digits_of_its_hash(tmp_path) -> None:
    path = folder(tmp_path / "det")
    (path / "notes.txt").write_text("of no matter")
    (name,) = PaddleEngine.models(PaddleOcrParams(detection_dir=path, inference="paddle"))[:1]
    digest = hashlib.sha256()
    for file in ("inference.onnx", "inference.yml"):
        digest.update(file.encode() + (path / file).read_bytes())
    assert name == f"PP-OCRv6_small_det {digest.hexdigest()[:12]}"
    assert PaddleEngine.models(PaddleOcrParams(inference="paddle")) == ["PP-OCRv6_small_det", "PP-OCRv6_small_rec"]
