"""PyMuPDF without its layout model, which it would load on import and which is not asked here.

PyMuPDF 2.0 imports ``pymupdf.layout`` when that is installed, and with it ONNX Runtime and networkx: half a second
of processor time and 60 MB for every worker.
"""

from __future__ import annotations

import sys
from typing import Any

_LAYOUT = "pymupdf.layout"

_modules: dict[str, Any] = sys.modules
_hidden = _LAYOUT not in _modules
if _hidden:
    _modules[_LAYOUT] = None

import pymupdf  # noqa: E402 -- after its layout model is hidden

if _hidden and _modules.get(_LAYOUT) is None:
    _modules.pop(_LAYOUT, None)

pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)

__all__ = ["pymupdf"]
