"""The readers, in the order in which they are asked whether a file is theirs: content first, then suffix."""

from __future__ import annotations

from functools import cache

from pipeline.ocr.readers.base import PagedReader, RowReader


@cache
def readers() -> tuple[PagedReader | RowReader, ...]:
    """Every reader; imported here so that the command line starts without their libraries."""
    from pipeline.ocr.readers.docx import DocxReader
    from pipeline.ocr.readers.image import ImageReader
    from pipeline.ocr.readers.page_tables import PageTableReader
    from pipeline.ocr.readers.pdf import PdfReader
    from pipeline.ocr.readers.tabular import CmbJsonReader, CsvReader, JsonlReader, ParquetReader
    from pipeline.ocr.readers.text import TextReader
    from pipeline.ocr.readers.webpage import WebPageReader
    from pipeline.ocr.readers.workbook import XlsxReader

    return (
        PdfReader(),
        ImageReader(),
        DocxReader(),
        XlsxReader(),
        ParquetReader(),
        PageTableReader(),
        JsonlReader(),
        CmbJsonReader(),
        CsvReader(),
        TextReader(),
        WebPageReader(),
    )


def reader(file_format: str) -> PagedReader | RowReader:
    """The reader of a format of the documents table.

    Raises:
        KeyError: there is none.
    """
    return {reader.format: reader for reader in readers()}[file_format]
