"""Keys of stored page results: a hash of everything that can change them."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any

from schemas.identity import sha256

_TEXT_MODULES = (
    "model.py",
    "mupdf.py",
    "textlayer.py",
    "routing.py",
    "coverage.py",
    "glyphs.py",
    "layout.py",
    "columns.py",
    "regions.py",
    "soundness.py",
    "spacing.py",
    "tasks.py",
    "weight.py",
    "readers/pdf.py",
    "readers/docx.py",
    "readers/docx_numbering.py",
    "readers/encoding.py",
    "readers/omml.py",
    "readers/image.py",
    "readers/text.py",
    "readers/webpage.py",
)
_IMAGE_MODULES = (
    "images.py",
    "scanmarks.py",
    "recognise.py",
    "tall.py",
    "mending.py",
    "readers/pdf.py",
    "readers/image.py",
    "readers/pixels.py",
)
"""And all engines, see ``_engines``."""


@cache
def _engines() -> tuple[str, ...]:
    """Modules of engines, those included that somebody adds."""
    names = sorted(item.name for item in (files("pipeline.ocr") / "engines").iterdir())
    return tuple(f"engines/{name}" for name in names if name.endswith(".py") and name != "__init__.py")


@cache
def _sources(names: tuple[str, ...]) -> str:
    folder = files("pipeline.ocr")
    return sha256(*(folder.joinpath(name).read_bytes() for name in names))


def text_key(file_sha256: str, page: int, force_ocr: bool, max_pixels: int, version: str) -> str:
    """Key of a page's text layer (or of the verdict that it needs OCR).

    Args:
        file_sha256: of the document.
        page: from 1.
        force_ocr: the parameter of that name.
        max_pixels: the parameter of that name; larger pictures are not looked at for unread text.
        version: of the reading library.
    """
    return sha256(
        "text", file_sha256, str(page), str(force_ocr), str(max_pixels), version, _sources(_TEXT_MODULES)
    )


def ocr_key(file_sha256: str, page: int, semantic: dict[str, Any], engine_version: str) -> str:
    """Key of what an engine recognised on a page; layout comes after it and is not part of it.

    Args:
        file_sha256: of the document.
        page: from 1.
        semantic: ``engines.semantic``: engine, resolution, image cleaning, the engine's own options.
        engine_version: versions of the engine, its backend and its models.
    """
    options = json.dumps(semantic, sort_keys=True, ensure_ascii=False)
    return sha256(
        "ocr", file_sha256, str(page), options, engine_version, _sources(_IMAGE_MODULES + _engines())
    )
