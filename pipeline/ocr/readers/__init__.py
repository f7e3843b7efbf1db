"""The readers, and which one a file belongs to: by its content first, by its name second."""

from functools import cache
from pathlib import Path

from build_dataset.pipeline.ocr.interfaces import PagedReader, RowReader
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.errors import UnreadableDocument

HEAD = 65536  # Bytes at the start of a file that readers see
_TEXT = frozenset({".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".md", ".markdown"})


@cache
def readers() -> tuple[PagedReader | RowReader, ...]:
    """Every reader; imported here so that the command line starts without their libraries."""
    from build_dataset.pipeline.ocr.readers import tabular
    from build_dataset.pipeline.ocr.readers.databases import DatabaseReader, SqlReader
    from build_dataset.pipeline.ocr.readers.docx import DocxReader
    from build_dataset.pipeline.ocr.readers.docx_tables import DocxTableReader
    from build_dataset.pipeline.ocr.readers.encoding import TextReader
    from build_dataset.pipeline.ocr.readers.exchange import BlockReader, GiftReader, XmlReader
    from build_dataset.pipeline.ocr.readers.image import ImageReader
    from build_dataset.pipeline.ocr.readers.key_sheets import KeySheetReader
    from build_dataset.pipeline.ocr.readers.pdf import PdfReader
    from build_dataset.pipeline.ocr.readers.scripts import ScriptReader
    from build_dataset.pipeline.ocr.readers.webpage import PageTableReader, WebPageReader
    from build_dataset.pipeline.ocr.readers.workbook import XlsxReader

    return (
        PdfReader(),
        ImageReader(),
        DocxReader(),
        DocxTableReader(),
        KeySheetReader(),
        DatabaseReader(),
        XlsxReader(),
        tabular.ParquetReader(),
        ScriptReader(),
        PageTableReader(),
        tabular.JsonlReader(),
        tabular.CmbJsonReader(),
        tabular.CsvReader(),
        tabular.YamlReader(),
        XmlReader(),
        SqlReader(),
        GiftReader(),
        BlockReader(),
        TextReader(),
        WebPageReader(),
    )


def reader(file_format: str) -> PagedReader | RowReader:
    """The reader of a format of the documents table."""
    return {reader.format: reader for reader in readers()}[file_format]


def find_reader(path: Path, params: OcrParams) -> PagedReader | RowReader:
    """The reader of a file.

    ``UnreadableDocument``: ``empty_file``, ``too_large``, ``not_a_pdf`` (also ``not_a_docx`` …) when the content belies
    the name, ``wrong_encoding``, ``unknown_format``.
    """
    size = path.stat().st_size
    if size == 0:
        raise UnreadableDocument("empty_file", "the file is empty")
    if size > params.max_file_mb * 1_000_000:
        detail = f"{size / 1e6:.0f} MB, more than max_file_mb = {params.max_file_mb}"
        raise UnreadableDocument("too_large", detail)
    with path.open("rb") as file:
        head = file.read(HEAD)
    suffix = path.suffix.lower()
    for reader in readers():
        if reader.recognises(head, suffix):
            return reader
    if suffix in _TEXT and b"\x00" in head:
        detail = f"a {suffix} file in UTF-16 without its mark, or no text: save it as UTF-8"
        raise UnreadableDocument("wrong_encoding", detail)
    known = shipped_toml("build_dataset.pipeline.ocr", "formats.toml")  # formats without a reader
    raise UnreadableDocument(known["rejected"].get(suffix, "unknown_format"), _describe(head, suffix, known))


def _describe(head: bytes, suffix: str, known: dict[str, dict[str, str]]) -> str:
    if suffix in known["names"]:
        return f"the file is {known['names'][suffix]}"
    start = head[:64].lower().lstrip().decode("latin-1")
    for magic, name in known["containers"].items():
        if magic in start:
            return f"the file is {name}"
    if suffix in known["rejected"]:
        return f"the content is not that of a {suffix} file"
    return f"no reader knows {suffix or 'files without a suffix'}"
