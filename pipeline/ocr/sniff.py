"""Which reader a file belongs to, by its content first and its name second."""

from __future__ import annotations

from pathlib import Path

from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers import readers
from pipeline.ocr.readers.base import PagedReader, RowReader
from schemas.errors import UnreadableDocument

HEAD = 65536
"""Bytes at the start of a file that readers see."""

_CONTAINERS = (
    (b"E-SafeNet", "an E-SafeNet DRM container"),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "an old Microsoft Office file (.doc, .xls, .ppt); save it as DOCX, XLSX or PDF",
    ),
    (b"<## NASCA DRM FILE", "a NASCA DRM container"),
    (b"DRMONE", "a Fasoo DRM container"),
    (b"SCDSA", "a SoftCamp DRM container"),
    (b"<!doctype html", "an HTML page, perhaps a download that failed"),
    (b"<html", "an HTML page, perhaps a download that failed"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"\x1f\x8b", "a gzip archive"),
)

_NOT_WHAT_IT_SAYS = {
    ".pdf": "not_a_pdf",
    ".docx": "not_a_docx",
    ".xlsx": "not_an_xlsx",
    ".png": "not_an_image",
    ".jpg": "not_an_image",
    ".jpeg": "not_an_image",
    ".tif": "not_an_image",
    ".tiff": "not_an_image",
}

_TEXT = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".md"})


def find_reader(path: Path, params: OcrParams) -> PagedReader | RowReader:
    """The reader of a file.

    Raises:
        UnreadableDocument: ``empty_file``, ``too_large``, ``not_a_pdf`` (also ``not_a_docx`` …) when the
            content belies the name, ``wrong_encoding``, ``unknown_format``.
    """
    size = path.stat().st_size
    if size == 0:
        raise UnreadableDocument("empty_file", "the file is empty")
    if size > params.max_file_mb * 1_000_000:
        raise UnreadableDocument(
            "too_large", f"{size / 1e6:.0f} MB, more than max_file_mb = {params.max_file_mb}"
        )
    with path.open("rb") as file:
        head = file.read(HEAD)
    suffix = path.suffix.lower()
    for reader in readers():
        if reader.recognises(head, suffix):
            return reader
    if suffix in _TEXT and b"\x00" in head:
        detail = f"a {suffix} file in UTF-16 without its mark, or no text: save it as UTF-8"
        raise UnreadableDocument("wrong_encoding", detail)
    reason = _NOT_WHAT_IT_SAYS.get(suffix, "unknown_format")
    raise UnreadableDocument(reason, _describe(head, suffix))


def _describe(head: bytes, suffix: str) -> str:
    start = head[:64].lower().lstrip()
    for magic, name in _CONTAINERS:
        if magic.lower() in start:
            return f"the file is {name}"
    if suffix in _NOT_WHAT_IT_SAYS:
        return f"the content is not that of a {suffix} file"
    return f"no reader knows {suffix or 'files without a suffix'}"
