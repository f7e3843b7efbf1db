"""The paddleocr engine: PaddleOCR 3.7 on onnxruntime, with models that are here already, or on Paddle."""

import json
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from importlib import import_module, metadata
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from build_dataset.pipeline.ocr.engines.network import in_package
from build_dataset.pipeline.ocr.interfaces import OcrEngine, Pixels, Word
from build_dataset.pipeline.ocr.params import PaddleOcrParams
from build_dataset.schemas.errors import UserError

_PACKAGED = {"PP-OCRv6_small_det": "PP-OCRv6_det_small.onnx", "PP-OCRv6_small_rec": "PP-OCRv6_rec_small.onnx"}
"""Models of PaddleOCR whose ONNX files ship inside the rapidocr package."""
_MIN_SCORE = 0.3  # The embedded engine has the same: lines below are noise from figures
_BOX_SCORE = 0.5
"""Mean score of a detected box, below which it is none: PaddleOCR's own 0.6 loses lines of a watermarked scan of 8
pages (12.1 % of the characters missing or wrong, 11.4 % with this) and gains nothing on cleaner ones."""
_MODELS = files("build_dataset.pipeline.ocr.engines.models")
_DESCRIPTIONS: dict[str, dict[str, Any]] = json.loads((_MODELS / "inference.json").read_bytes())
"""The settings of PP-OCRv6 in ``inference.yml`` of PaddleX 3.7 (inference_meta), without the list of characters."""
_NAMED = re.compile(r"""^\s+model_name:\s*["']?([^\s"']+)""", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Model:
    """One of the two models, as configured."""

    part: str  # ``detection`` or ``recognition``
    name: str
    folder: Path | None

    @property
    def packaged(self) -> Path | None:
        """The ONNX file in the rapidocr package; None when it has none of this name."""
        return in_package("rapidocr", "models", _PACKAGED[self.name]) if self.name in _PACKAGED else None


def _models(params: PaddleOcrParams) -> tuple[_Model, _Model]:
    detection = _Model("detection", params.detection_model, params.detection_dir)
    return detection, _Model("recognition", params.recognition_model, params.recognition_dir)


class PaddleEngine(OcrEngine):
    """PaddleOCR's detection and recognition, without its page and line direction models."""

    packages = ("paddleocr", "paddlex", "paddlepaddle", "onnxruntime")
    requirement = "'paddleocr>=3.7' (docs/ocr.md says how)"

    def __init__(self, params: PaddleOcrParams) -> None:
        # Nothing is looked for on the network unless Paddle itself has to load a model by its name.
        os.environ.setdefault("PADDLE_PDX_DISABLE_MODEL_SOURCE_CHECK", "True")
        from paddleocr import PaddleOCR

        logging.getLogger("paddlex").setLevel(logging.ERROR)
        options: dict[str, Any] = {
            "device": params.device,
            "use_doc_orientation_classify": False,
            "use_doc_unwarping": False,
            "use_textline_orientation": False,
            "text_det_limit_type": "max",
            "text_det_limit_side_len": params.detection_side,
            "text_det_box_thresh": _BOX_SCORE,
            "text_recognition_batch_size": 1,
            "text_rec_score_thresh": _MIN_SCORE,
        }
        if params.inference == "onnxruntime":
            options |= {"engine": "onnxruntime", "engine_config": {"intra_op_num_threads": 1}}
        else:
            import_module("paddle").disable_signal_handler()  # it prints a crash report when a worker is told to end
            # Paddle 3 fails on CPUs whose oneDNN lacks an operator of these models.
            options |= {"enable_mkldnn": False} if params.device == "cpu" else {}
        with ExitStack() as folders:
            for model in _models(params):
                options[f"text_{model.part}_model_name"] = model.name
                if (folder := model.folder) is None and params.inference == "onnxruntime":
                    folder = folders.enter_context(_unpacked(model))
                if folder is not None:
                    options[f"text_{model.part}_model_dir"] = str(folder)
            self._ocr = PaddleOCR(**options)

    @staticmethod
    def check(params: PaddleOcrParams) -> None:
        """Make sure that all is there and the user's models start; Paddle loads models here, once for all processes."""
        check_options(params)
        if params.inference == "onnxruntime" and not (params.detection_dir or params.recognition_dir):
            return
        try:
            PaddleEngine(params)
        except Exception as error:  # whatever PaddleOCR, Paddle, onnxruntime or the network raise
            told = " ".join(str(error).split())[:300] or type(error).__name__
            raise UserError(f"[ocr.paddleocr] PaddleOCR does not start: {told}") from error

    @staticmethod
    def models(params: PaddleOcrParams) -> list[str]:
        """Return what names the models that read: the package they ship in, or a hash of what their folder holds."""
        named = []
        for model in _models(params):
            found = sha256()
            for path in sorted(model.folder.glob("inference.*")) if model.folder else ():
                found.update(path.name.encode() + path.read_bytes())
            packaged = f" of rapidocr {metadata.version('rapidocr')}" if params.inference == "onnxruntime" else ""
            named.append(f"{model.name} {found.hexdigest()[:12]}" if model.folder else f"{model.name}{packaged}")
        return named

    def recognise(self, pixels: Pixels) -> list[Word]:
        """The lines of an RGB image."""
        pages = self._ocr.predict(np.ascontiguousarray(pixels[:, :, ::-1]))
        parts = (zip(page["rec_polys"], page["rec_texts"], page["rec_scores"], strict=True) for page in pages)
        words = ((box, text, float(score)) for page in parts for box, text, score in page if text.strip())
        return [Word(text, tuple((float(x), float(y)) for x, y in box), score) for box, text, score in words]


@contextmanager
def _unpacked(model: _Model) -> Iterator[Path]:
    """A folder as PaddleOCR wants it, made from the packaged model; needed only until it is loaded."""
    source = model.packaged
    assert source is not None, "check looked"
    with TemporaryDirectory(prefix="build-dataset-paddleocr-") as name:
        folder = Path(name)
        shutil.copyfile(source, folder / "inference.onnx")
        told = {"Global": {"model_name": model.name}} | _DESCRIPTIONS[model.part[:3]]
        if model.part == "recognition":  # its characters stand in the ONNX file's metadata
            import onnxruntime

            session = onnxruntime.InferenceSession(str(source), providers=["CPUExecutionProvider"])
            characters = session.get_modelmeta().custom_metadata_map["character"].split("\n")
            told["PostProcess"] = told["PostProcess"] | {"character_dict": characters}
        # JSON is YAML; PyYAML takes 18,708 characters on one line.
        (folder / "inference.yml").write_text(json.dumps(told, ensure_ascii=False), encoding="utf-8")
        yield folder


def check_options(params: PaddleOcrParams) -> None:
    """Make sure that what the options name is there."""
    if params.inference == "paddle" and find_spec("paddle") is None:
        raise UserError(
            "[ocr.paddleocr] inference = 'paddle' needs paddlepaddle, which is not installed: "
            "pip install paddlepaddle, or set inference = 'onnxruntime'"
        )
    if params.inference == "onnxruntime" and params.device.startswith("gpu"):
        import onnxruntime

        if "CUDAExecutionProvider" not in onnxruntime.get_available_providers():
            raise UserError(
                f"[ocr.paddleocr] device = {params.device!r}: the installed onnxruntime has no CUDA; "
                "pip install onnxruntime-gpu, or set device = 'cpu'"
            )
    for model in _models(params):
        if model.folder is not None:
            key = f"[ocr.paddleocr] {model.part}_dir = {str(model.folder)!r}"
            for name in ("inference.yml", *["inference.onnx"] * (params.inference == "onnxruntime")):
                if not (model.folder / name).is_file():
                    raise UserError(f"{key}: there is no {name} in it")
            named = _NAMED.search((model.folder / "inference.yml").read_text(encoding="utf-8", errors="replace"))
            if named and named[1] != model.name:
                raise UserError(f"{key} holds {named[1]}: set {model.part}_model = {named[1]!r}")
        elif params.inference == "onnxruntime" and model.packaged is None:
            raise UserError(
                f"[ocr.paddleocr] {model.part}_model = {model.name!r} does not ship inside the rapidocr package: "
                f"set {model.part}_dir to its folder with inference.onnx and inference.yml, or choose "
                f"{' or '.join(name for name in _PACKAGED if name.endswith(model.part[:3]))}"
            )
