"""OCR engines: which one reads, and which version of it. A further engine is a module and a row."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from typing import Any

from pipeline.ocr.engines.base import OcrEngine
from pipeline.ocr.params import EngineName, OcrParams
from schemas.dataset import DatasetParams
from schemas.errors import UserError


@dataclass(frozen=True, slots=True)
class EngineRow:
    """An engine of the catalogue."""

    name: EngineName
    target: str
    """``module:class``, an ``OcrEngine`` that workers make with its options. Of the vision engine, whose pages the main
    process asks for, an ``EngineSetup``."""
    options: str
    """The field of ``OcrParams`` with its options."""
    packages: tuple[str, ...] = ()
    """Distributions whose versions can change what is recognised."""
    needs: tuple[str, ...] = ()
    """Modules that must be there."""
    remedy: str = ""
    calibrated: bool = False
    """True where of lines at confidence c a share c is right, on photographs as on scans."""


ENGINES = (
    EngineRow(
        EngineName.RAPIDOCR,
        "pipeline.ocr.engines.rapid:RapidEngine",
        "rapidocr",
        ("rapidocr", "openvino", "onnxruntime"),
        ("rapidocr",),
        "pip install rapidocr",
        calibrated=True,
    ),
    EngineRow(
        EngineName.PADDLEOCR,
        "pipeline.ocr.engines.paddle:PaddleEngine",
        "paddleocr",
        ("paddleocr", "paddlex", "paddlepaddle", "onnxruntime"),
        ("paddleocr",),
        "pip install 'paddleocr>=3.7' (docs/ocr.md says how)",
    ),
    EngineRow(EngineName.VISION, "pipeline.ocr.engines.vision:VisionEngine", "vision"),
    EngineRow(EngineName.TESSERACT, "pipeline.ocr.engines.tesseract:TesseractEngine", "tesseract"),
)


def chosen(params: OcrParams) -> EngineRow:
    """The engine that ``params.engine`` names; ``auto`` is the embedded one."""
    name = EngineName.RAPIDOCR if params.engine is EngineName.AUTO else params.engine
    return next(row for row in ENGINES if row.name is name)


def check(params: OcrParams) -> None:
    """Make sure that the chosen engine can start, before any page is given to it."""
    row = chosen(params)
    missing = _missing(row)
    if missing:
        raise UserError(
            f"[ocr] engine = {row.name.value!r} needs the package {missing[0]}, which is not installed: "
            f"{row.remedy}, or set engine = 'auto'"
        )
    _class(row).check(getattr(params, row.options))


def problems(params: OcrParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """Return what stands in the way of the chosen engine; empty when nothing does."""
    second = [params.model_copy(update={"engine": params.second})] if params.second else []
    found = []
    for one in [params, *second]:
        try:
            check(one)
        except UserError as error:
            found.append(str(error))
    return found


def version(params: OcrParams) -> str:
    """Versions of the chosen engine, of what it runs on, and of models that do not ship inside it."""
    row = chosen(params)
    packages = [f"{name} {found}" for name in row.packages if (found := _version(name))]
    models = [] if _missing(row) else _class(row).models(getattr(params, row.options))
    return ", ".join([*packages, *models])


def _missing(row: EngineRow) -> list[str]:
    """Return what the engine needs and is not installed."""
    return [name for name in row.needs if find_spec(name) is None]


def _class(row: EngineRow) -> Any:
    module, _, name = row.target.partition(":")
    return getattr(import_module(module), name)


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def semantic(params: OcrParams) -> dict[str, Any]:
    """The parameters that can change what is recognised."""
    row = chosen(params)
    return {
        "engine": row.name.value,
        "dpi": params.dpi,
        "clean_images": params.clean_images,
        "max_pixels": params.max_pixels,
        "options": getattr(params, row.options).semantic(),
    }


_made: dict[str, OcrEngine] = {}
"""Engines of this process, by their name and options."""


def load(params: OcrParams) -> OcrEngine:
    """Return the chosen engine, made once a process: loading its models takes seconds."""
    row = chosen(params)
    options = getattr(params, row.options)
    key = f"{row.name} {options.model_dump_json()}"
    if key not in _made:
        _made[key] = _class(row)(options)
    return _made[key]
