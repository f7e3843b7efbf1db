"""Faults of the paddleocr engine before it reads; tests/services/test_paddleocr.py reads with it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import onnxruntime
import pytest
import yaml

from pipeline.ocr import engines
from pipeline.ocr.engines import paddle
from pipeline.ocr.engines.paddle import PaddleEngine, check_options
from pipeline.ocr.params import EngineName, OcrParams, PaddleOcrParams
from schemas.errors import UserError


def folder(path: Path, name: str = "PP-OCRv6_medium_det", weights: bytes = b"weights") -> Path:
    path.mkdir()
    (path / "inference.onnx").write_bytes(weights)
    (path / "inference.yml").write_text(
        f"Global:\n  model_name: {name}\nPreProcess: {{}}\n", encoding="utf-8"
    )
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
    with pytest.raises(
        UserError, match=r"PP-OCRv6_medium_rec.*set recognition_dir.*choose PP-OCRv6_small_rec"
    ):
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
    with pytest.raises(
        UserError, match=r"holds PP-OCRv6_medium_det: set detection_model = 'PP-OCRv6_medium_det'"
    ):
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
