"""Where lines of text are on a page: PP-OCR's detection (Liao et al., Differentiable Binarization, AAAI 2020)."""

from __future__ import annotations

from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from pipeline.ocr.engines.network import Network

Pixels = NDArray[np.uint8]

_STEP = 32
"""The network wants sides that are multiples of this many pixels."""


class Detector:
    """Finds lines; rapidocr's post-processing makes boxes of the network's map."""

    def __init__(self, path: Path, backend: str, side: int) -> None:
        """Load the model at ``path``; ``side`` is the longer side of the image that it sees, in pixels."""
        from rapidocr.ch_ppocr_det.utils import DBPostProcess

        self._network = Network(path, backend)
        self._side = side
        self._boxes = DBPostProcess(
            thresh=0.3, box_thresh=0.5, max_candidates=3000, unclip_ratio=1.6, use_dilation=True
        )

    def find(self, page: Pixels) -> list[NDArray[np.float32]]:
        """Corners of lines in pixels, clockwise from the top left."""
        height, width = page.shape[:2]
        scale = min(1.0, self._side / max(height, width))
        size = (_rounded(width * scale), _rounded(height * scale))
        small = cv2.resize(page, size, interpolation=cv2.INTER_AREA if scale < 0.7 else cv2.INTER_LINEAR)
        values = np.multiply(small.transpose(2, 0, 1)[None], np.float32(1 / 127.5), dtype=np.float32)
        values -= 1
        boxes, _ = self._boxes(self._network(values), (height, width))
        return [np.asarray(box, dtype=np.float32) for box in boxes]


def _rounded(side: float) -> int:
    return max(_STEP, round(side / _STEP) * _STEP)
