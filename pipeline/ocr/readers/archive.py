"""Files that are ZIP archives: DOCX, XLSX."""

from __future__ import annotations

import zipfile
from pathlib import Path

from pipeline.ocr.params import OcrParams
from schemas.errors import UnreadableDocument

_EXPANSION = 4
"""How many times ``max_file_mb`` the contents may take; XML of a Word file takes about ten times its archive."""


def check_archive(path: Path, params: OcrParams) -> None:
    """Make sure that an archive is whole and unpacks to a bearable size.

    Raises:
        UnreadableDocument: ``broken``, ``encrypted``, ``too_large``.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        raise UnreadableDocument("broken", f"the archive is cut short or damaged: {error}") from error
    if any(info.flag_bits & 1 for info in infos):
        raise UnreadableDocument("encrypted", "needs a password to be opened; save it without one")
    size = sum(info.file_size for info in infos)
    if size > _EXPANSION * params.max_file_mb * 1_000_000:
        raise UnreadableDocument("too_large", f"unpacks to {size / 1e6:.0f} MB")
