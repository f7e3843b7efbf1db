"""PyMuPDF without two unused packages that it would import: its layout model and its Markdown writer.

PyMuPDF 2.0 imports ``pymupdf.layout`` and ``pymupdf4llm`` when they are installed, and with them ONNX Runtime, networkx
and psutil: most of a second of processor time and 60 MB for every worker.
"""

import sys
from typing import Any

_modules: dict[str, Any] = sys.modules
_hidden = {name: None for name in ("pymupdf.layout", "pymupdf4llm") if name not in _modules}
_modules.update(_hidden)

import pymupdf  # noqa: E402 -- after these are hidden

for _name in _hidden:
    del _modules[_name]

pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)

__all__ = ["pymupdf"]
