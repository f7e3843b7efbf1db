"""A model file on OpenVINO or onnxruntime: arrays in, arrays out."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float32]


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
        """What a recogniser's file says of its characters; empty when it says nothing."""
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
