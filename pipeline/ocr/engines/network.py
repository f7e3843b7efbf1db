"""A model file on OpenVINO or onnxruntime, and PP-OCR's detection of lines (Liao et al., AAAI 2020)."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]
Pixels = NDArray[np.uint8]


class Network:
    """An ONNX model with one input and one output, on one thread: processes read pages side by side."""

    def __init__(self, path: Path, backend: str) -> None:
        """Load the model at ``path`` on ``backend``, ``openvino`` or ``onnxruntime``."""
        self._run, self._characters = _on_openvino(path) if backend == "openvino" else _on_onnxruntime(path)

    def __call__(self, values: Values) -> Values:
        """The output for a batch; valid until the next call."""
        found: Values = self._run(values)
        return found

    @property
    def characters(self) -> list[str]:
        """Return what a recogniser's file says of its characters; empty when it says nothing."""
        return self._characters.split("\n") if self._characters else []


def _on_openvino(path: Path) -> tuple[Any, str]:
    # Hinted for latency OpenVINO computes in bfloat16 where the processor can: 1.7 times as fast, same errors.
    # Processes that pin their threads share one core.
    options = {"INFERENCE_NUM_THREADS": 1, "ENABLE_CPU_PINNING": False, "NUM_STREAMS": 1}
    model = _core().read_model(path)
    told = ["framework", "character"]
    characters = str(model.get_rt_info(told).value) if model.has_rt_info(told) else ""
    request = _core().compile_model(model, "CPU", options).create_infer_request()

    def run(values: Values) -> Any:
        request.infer([values], share_inputs=True)
        return request.get_output_tensor().data

    return run, characters


@cache
def _core() -> Any:
    from openvino import Core

    return Core()


def _on_onnxruntime(path: Path) -> tuple[Any, str]:
    session = _session(path)
    known = session.get_modelmeta().custom_metadata_map.get("character", "")
    name = session.get_inputs()[0].name
    return lambda values: session.run(None, {name: values})[0], known


def _session(path: Path) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # it keeps the most that any width of line ever took
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def in_package(package: str, *names: str) -> Path | None:
    """A file that ships inside an installed package, which is not imported; None when it is not there."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]).joinpath(*names)
    return path if path.is_file() else None


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
