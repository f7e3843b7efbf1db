"""The embedded engine: PP-OCRv6 small, whose models ship inside the rapidocr package, so nothing is downloaded."""

from __future__ import annotations

import math
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.ocr.engines.base import Word
from pipeline.ocr.params import RapidOcrParams
from schemas.errors import UserError

_WIDTH_STEP = 32
"""Line images are padded to multiples of this many pixels: OpenVINO compiles a program for each width it meets."""

_MIN_SCORE = 0.3
"""Lines below this confidence are noise from figures; rapidocr's own 0.5 drops faint but readable lines."""


def backend(params: RapidOcrParams) -> str:
    """The inference backend that will run: OpenVINO is three times as fast as onnxruntime where it is installed."""
    if params.backend != "auto":
        return params.backend
    return "openvino" if find_spec("openvino") else "onnxruntime"


class RapidEngine:
    """rapidocr with the settings that measured best for pages of Chinese text on CPU.

    No direction classifier (it loses whole lines of turned two-column scans: character error rate .93 % with
    it, .17 % without), detection on a bounded side, recognition line by line at its own width, one thread a
    process without pinning (pinned processes share one core).
    """

    def __init__(self, params: RapidOcrParams) -> None:
        import cv2
        from rapidocr import EngineType, RapidOCR

        cv2.setNumThreads(1)
        engine = EngineType.OPENVINO if backend(params) == "openvino" else EngineType.ONNXRUNTIME
        self._ocr = RapidOCR(
            params={
                "Global.use_cls": False,
                "Global.max_side_len": 4000,
                "Global.text_score": _MIN_SCORE,
                "Global.log_level": "critical",
                "Det.engine_type": engine,
                "Det.limit_type": "max",
                "Det.limit_side_len": params.detection_side,
                "Rec.engine_type": engine,
                "Rec.rec_batch_num": 1,
                "Rec.rec_img_shape": [3, 48, 64],
                "EngineConfig.openvino.inference_num_threads": 1,
                "EngineConfig.openvino.enable_cpu_pinning": False,
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            }
        )
        _round_widths(self._ocr)

    @staticmethod
    def check(params: RapidOcrParams) -> None:
        """Make sure that the backend is there.

        Raises:
            UserError: it is not.
        """
        name = backend(params)
        if find_spec(name) is None:
            raise UserError(f"[ocr.rapidocr] backend = {name!r}: not installed; pip install {name}")

    @staticmethod
    def models(params: RapidOcrParams) -> list[str]:  # noqa: ARG004 - every engine's form
        """None besides those that the package's version names."""
        return []

    def recognise(self, pixels: NDArray[np.uint8]) -> list[Word]:
        """The lines of an RGB image."""
        found: Any = self._ocr(np.ascontiguousarray(pixels[:, :, ::-1]))
        if found.boxes is None or found.txts is None:
            return []
        return [
            Word(text, tuple((float(x), float(y)) for x, y in box), float(score))
            for box, text, score in zip(found.boxes, found.txts, found.scores, strict=True)
            if text.strip()
        ]


def _round_widths(ocr: Any) -> None:
    """Make recognition pad line images to steps of width, so that compiled shapes are used again."""
    recogniser = ocr._load_rec_model()
    resize = recogniser.resize_norm_img
    height = recogniser.rec_image_shape[1]

    def rounded(image: NDArray[np.uint8], ratio: float) -> Any:
        width = math.ceil(height * ratio / _WIDTH_STEP) * _WIDTH_STEP
        return resize(image, (width + 0.5) / height)

    recogniser.resize_norm_img = rounded
