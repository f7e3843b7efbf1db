"""Options of the ocr stage."""

from __future__ import annotations

from schemas.params import Params


class OcrParams(Params):
    """The ``[ocr]`` section of ``dataset.toml``."""
