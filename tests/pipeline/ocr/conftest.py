"""Small files made on the spot: PDFs with Chinese text, pictures, tables of files."""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl
import pymupdf
import pytest

from build_dataset.pipeline.ocr.model import PageLine, PageRead
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.pdf import PdfReader
from build_dataset.schemas.documents import RawFile
from build_dataset.schemas.identity import is_ignored

Placed = tuple[float, float, str]
"""x, baseline, text."""


@pytest.fixture(scope="session")
def cjk() -> pymupdf.Font:
    return pymupdf.Font("cjk")


@pytest.fixture
def make_pdf(tmp_path: Path, cjk: pymupdf.Font) -> Callable[..., Path]:
    """Write a PDF: a list of placed texts for each page; ``decorate(page, number)`` draws more."""

    def write(pages: Sequence[Sequence[Placed]], name: str = "paper.pdf", size=10.0, decorate=None) -> Path:
        document = pymupdf.open()
        for number, texts in enumerate(pages, 1):
            page = document.new_page(width=595, height=842)
            writer = pymupdf.TextWriter(page.rect)
            for x, y, text in texts:
                writer.append((x, y), text, font=cjk, fontsize=size)
            if texts:
                writer.write_text(page)
            if decorate:
                decorate(page, number)
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        document.subset_fonts()
        document.save(path, garbage=3, deflate=True)
        return path

    return write


@pytest.fixture
def read_page() -> Callable[..., PageRead]:
    def read(path: Path, page: int = 1, **params: object) -> PageRead:
        (found,) = PdfReader().read(path, [page], OcrParams(**params))
        assert isinstance(found, PageRead), found
        return found

    return read


@pytest.fixture
def files_table() -> Callable[[Path], pl.DataFrame]:
    def table(raw: Path) -> pl.DataFrame:
        return RawFile.to_frame(
            RawFile(
                document=path.relative_to(raw).as_posix(),
                sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
                bytes=path.stat().st_size,
            )
            for path in sorted(raw.rglob("*"))
            if path.is_file() and not is_ignored(path.relative_to(raw).as_posix())
        )

    return table


@pytest.fixture
def texts() -> Callable[[Sequence[PageLine]], list[str]]:
    return lambda lines: [line.text for line in lines if line.text]
