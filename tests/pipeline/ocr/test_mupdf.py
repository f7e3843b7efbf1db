"""PyMuPDF as it is imported here."""

import sys

from build_dataset.pipeline.ocr.mupdf import pymupdf


def test_damage_of_files_is_told_by_exceptions_and_not_on_the_terminal() -> None:
    assert (pymupdf.TOOLS.mupdf_display_errors(), pymupdf.TOOLS.mupdf_display_warnings()) == (False, False)


def test_packages_that_were_hidden_for_the_import_are_hidden_no_longer() -> None:
    hidden = [name for name in ("pymupdf.layout", "pymupdf4llm") if name in sys.modules]
    assert all(sys.modules[name] is not None for name in hidden)
