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
        "an old Microsoft Office or WPS file (.doc, .xls, .ppt, .wps); save it as DOCX, XLSX or PDF",
    ),
    (b"<## NASCA DRM FILE", "a NASCA DRM container"),
    (b"DRMONE", "a Fasoo DRM container"),
    (b"SCDSA", "a SoftCamp DRM container"),
    (b"<!doctype html", "an HTML page, perhaps a download that failed"),
    (b"<html", "an HTML page, perhaps a download that failed"),
    (b"PK\x03\x04", "a ZIP archive; unpack it into this folder"),
    (b"Rar!", "a RAR archive; unpack it into this folder"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it into this folder"),
    (b"\x1f\x8b", "a gzip archive; unpack it into this folder"),
)

_BY_NAME = {
    ".caj": "a CAJ file of CNKI; open it in CAJViewer and print it to PDF",
    ".kdh": "a KDH file of CNKI; open it in CAJViewer and print it to PDF",
    ".nh": "an NH file of CNKI; open it in CAJViewer and print it to PDF",
    ".djvu": "a DjVu scan; convert it to PDF (ddjvu -format=pdf)",
    ".djv": "a DjVu scan; convert it to PDF (ddjvu -format=pdf)",
    ".pptx": "a PowerPoint presentation; save it as PDF",
    ".ppt": "an old PowerPoint presentation; save it as PDF",
    ".dps": "a WPS presentation; save it as PDF",
    ".epub": "an EPUB book; convert it to PDF, DOCX or HTML (Calibre does)",
    ".mobi": "a MOBI book; convert it to PDF, DOCX or HTML (Calibre does)",
    ".azw3": "a Kindle book; convert it to PDF, DOCX or HTML (Calibre does)",
    ".apkg": "an Anki deck; export its notes as plain text and save that as CSV with a header",
    ".colpkg": "an Anki collection; export its notes as plain text and save that as CSV with a header",
    ".odt": "an OpenDocument text; save it as DOCX or PDF",
    ".ods": "an OpenDocument spreadsheet; save it as XLSX or CSV",
    ".odp": "an OpenDocument presentation; save it as PDF",
    ".rtf": "an RTF text; save it as DOCX or PDF",
    ".pages": "an Apple Pages document; export it as DOCX or PDF",
    ".numbers": "an Apple Numbers spreadsheet; export it as XLSX or CSV",
    ".key": "an Apple Keynote presentation; export it as PDF",
    ".doc": "an old Word document; save it as DOCX or PDF",
    ".xls": "an old Excel workbook; save it as XLSX or CSV",
    ".wps": "a WPS text; save it as DOCX or PDF",
    ".et": "a WPS spreadsheet; save it as XLSX or CSV",
    ".xlsb": "a binary Excel workbook; save it as XLSX or CSV",
    ".ofd": "an OFD document; convert it to PDF",
    ".xps": "an XPS document; print it to PDF",
    ".heic": "a HEIC photograph; save it as JPEG",
    ".heif": "a HEIF photograph; save it as JPEG",
    ".rar": "a RAR archive; unpack it into this folder",
    ".7z": "a 7-Zip archive; unpack it into this folder",
    ".zip": "a ZIP archive within another; unpack it into this folder",
    ".tar": "a tar archive; unpack it into this folder",
    ".gz": "a gzip archive; unpack it into this folder",
    ".parquet": "a Parquet table; save it as CSV or JSONL",
    ".db": "a database; export its questions as CSV or JSONL",
    ".sqlite": "a database; export its questions as CSV or JSONL",
    ".mdb": "an Access database; export its questions as CSV or XLSX",
    ".accdb": "an Access database; export its questions as CSV or XLSX",
    ".xml": "XML, of which there are many kinds; export the questions as CSV, XLSX or JSON",
}
"""What files of other formats are, by their suffix, and how they can be read; many of them are ZIP archives inside."""

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

_TEXT = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".md", ".markdown"})


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
    if suffix in _BY_NAME:
        return f"the file is {_BY_NAME[suffix]}"
    start = head[:64].lower().lstrip()
    for magic, name in _CONTAINERS:
        if magic.lower() in start:
            return f"the file is {name}"
    if suffix in _NOT_WHAT_IT_SAYS:
        return f"the content is not that of a {suffix} file"
    return f"no reader knows {suffix or 'files without a suffix'}"
