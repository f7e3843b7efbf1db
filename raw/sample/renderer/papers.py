"""Files of a paper by its layout."""

from __future__ import annotations

from collections.abc import Callable

import pymupdf

from renderer import scan
from renderer.blocks import Style, end_key, grid_key, paper_blocks
from renderer.model import Paper
from renderer.office import docx
from renderer.tabular import cmb_json, cmexam_csv, manifest_csv
from renderer.typeset import Sheet, furnish, to_bytes

Files = dict[str, bytes]

ONE_COLUMN = Style(answer="【答案】{}")
TWO_COLUMNS = Style(number="{}. ", label="{}. ", size=9.5, measure=223.0)
SCAN = Style(number="{}、", label="{}. ", size=12.5)
NOTE = Style(number="{}. ", label="{}. ", size=12.0, answer="答案：{}", explanation="解析：{}")
SCAN_DPI = 170
NOTE_DPI = 130


def one_column(paper: Paper) -> Files:
    """A born-digital paper in one column, answers inline."""
    sheet = Sheet(columns=1)
    sheet.set(paper_blocks(paper, ONE_COLUMN))
    furnish(sheet.document, paper.header, paper.footer)
    return {paper.file: to_bytes(sheet.document, paper.title)}


def two_columns(paper: Paper) -> Files:
    """A born-digital paper in two columns of small print, its key at the end."""
    sheet = Sheet(columns=2)
    sheet.set(paper_blocks(paper, TWO_COLUMNS))
    sheet.set(end_key(paper, TWO_COLUMNS.size))
    furnish(sheet.document, paper.header, paper.footer)
    return {paper.file: to_bytes(sheet.document, paper.title)}


def scanned(paper: Paper) -> Files:
    """A scanned paper of images alone, and its key in a born-digital file of its own."""
    sheet = Sheet(columns=1)
    sheet.set(paper_blocks(paper, SCAN))
    furnish(sheet.document, paper.header, paper.footer)
    images = scan.scanned(sheet.document, dpi=SCAN_DPI, seed=2024)
    key = Sheet(columns=1)
    key.set(grid_key(paper))
    assert paper.key_file is not None
    return {paper.file: to_bytes(images, ""), paper.key_file: to_bytes(key.document, f"{paper.title}参考答案")}


def image(paper: Paper) -> Files:
    """A picture of the upper part of one page."""
    sheet = Sheet(columns=1)
    sheet.set(paper_blocks(paper, NOTE))
    page = sheet.document[0]
    bottom = max(block[3] for block in page.get_text("blocks"))
    page.set_cropbox(pymupdf.Rect(30, 50, page.rect.width - 30, bottom + 24))
    return {paper.file: scan.png(scan.raster(page, NOTE_DPI), NOTE_DPI)}


LAYOUTS: dict[str, Callable[[Paper], Files]] = {
    "one_column": one_column,
    "two_columns": two_columns,
    "scan": scanned,
    "image": image,
    "docx": lambda paper: {paper.file: docx(paper)},
    "cmb_json": lambda paper: {paper.file: cmb_json(paper)},
    "cmexam_csv": lambda paper: {paper.file: cmexam_csv(paper)},
}

BROKEN_FILE = "truncated.pdf"


def render(papers: list[Paper]) -> Files:
    """All files of the sample by name, a PDF among them that was cut off while it was copied."""
    files: Files = {}
    for paper in papers:
        files |= LAYOUTS[paper.layout](paper)
    files[BROKEN_FILE] = files["internal-medicine.pdf"][:700]
    files["manifest.csv"] = manifest_csv(papers)
    return files
