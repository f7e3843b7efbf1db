"""The paddleocr engine: PaddleOCR 3.x on onnxruntime with local model folders, or on Paddle."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.ocr.engines.base import Word
from pipeline.ocr.params import PaddleOcrParams
from schemas.errors import UserError


class PaddleEngine:
    """PaddleOCR's detection and recognition, without its page and line direction models."""

    def __init__(self, params: PaddleOcrParams) -> None:
        from paddleocr import PaddleOCR

        options: dict[str, Any] = {
            "device": params.device,
            "text_detection_model_name": params.detection_model,
            "text_recognition_model_name": params.recognition_model,
            "use_doc_orientation_classify": False,
            "use_doc_unwarping": False,
            "use_textline_orientation": False,
            "text_det_limit_type": "max",
            "text_det_limit_side_len": params.detection_side,
            "text_recognition_batch_size": 1,
        }
        if params.detection_dir and params.recognition_dir:
            options["text_detection_model_dir"] = str(params.detection_dir)
            options["text_recognition_model_dir"] = str(params.recognition_dir)
        if params.inference == "onnxruntime":
            options |= {"engine": "onnxruntime", "engine_config": {"intra_op_num_threads": 1}}
        elif params.device == "cpu":
            # Without this Paddle 3 fails on CPUs whose oneDNN lacks an operator of these models.
            options["enable_mkldnn"] = False
        self._ocr = PaddleOCR(**options)

    @staticmethod
    def check(params: PaddleOcrParams) -> None:
        """Make sure that models and backend are there.

        Raises:
            UserError: they are not.
        """
        if params.inference == "paddle" and find_spec("paddle") is None:
            raise UserError(
                "[ocr.paddleocr] inference = 'paddle' needs paddlepaddle, which is not installed: "
                "pip install paddlepaddle, or set inference = 'onnxruntime' with local model folders"
            )
        if params.inference == "onnxruntime":
            for key in ("detection_dir", "recognition_dir"):
                _check_folder(key, getattr(params, key))

    def recognise(self, pixels: NDArray[np.uint8]) -> list[Word]:
        """The lines of an RGB image."""
        words: list[Word] = []
        for page in self._ocr.predict(np.ascontiguousarray(pixels[:, :, ::-1])):
            for polygon, text, score in zip(
                page["rec_polys"], page["rec_texts"], page["rec_scores"], strict=True
            ):
                if text.strip():
                    words.append(Word(text, tuple((float(x), float(y)) for x, y in polygon), float(score)))
        return words


def _check_folder(key: str, folder: Path | None) -> None:
    if folder is None:
        raise UserError(
            f"[ocr.paddleocr] {key} is not set: inference = 'onnxruntime' needs the model's folder with "
            "inference.onnx and inference.yml, or set inference = 'paddle'"
        )
    for name in ("inference.onnx", "inference.yml"):
        if not (folder / name).is_file():
            raise UserError(f"[ocr.paddleocr] {key} = {str(folder)!r}: there is no {name} in it")
