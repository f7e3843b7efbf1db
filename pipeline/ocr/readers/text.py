"""Plain text and Markdown: one page, a line each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pipeline.ocr.model import PageLine, PageRead
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.base import NeedsOcr, PageImage
from pipeline.ocr.readers.encoding import decode, looks_like_text
from pipeline.ocr.spacing import tabs_for_gaps
from schemas.documents import ReadMethod
from schemas.errors import UnreadableDocument


class TextReader:
    """Reads .txt and .md."""

    format = "text"
    version = "2"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it is called .txt or .md and is text."""
        return suffix in (".txt", ".md") and looks_like_text(head)

    def count_pages(self, path: Path, params: OcrParams) -> int:  # noqa: ARG002
        """One.

        Raises:
            UnreadableDocument: ``wrong_encoding``, ``no_text``.
        """
        if not decode(path.read_bytes()).strip():
            raise UnreadableDocument("no_text", "there is nothing but white space in the file")
        return 1

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:  # noqa: ARG002
        """The one page."""
        text = decode(path.read_bytes())
        if path.suffix.lower() == ".md":
            text = _without_marks(text)
        lines = [PageLine(tabs_for_gaps(line.strip()), None) for line in text.splitlines() if line.strip()]
        return [PageRead(0.0, 0.0, ReadMethod.TEXT_LAYER, "text", self.version, None, lines) for _ in pages]

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:  # noqa: ARG002
        """Never asked for: text needs no OCR."""
        raise UnreadableDocument("no_image", f"page {page} of a text file has no image")


_MARKS = (
    (re.compile(r"(\*\*|__)(?=\S)(.{1,2000}?)(?<=\S)\1"), r"\2"),  # **1.** 题干, **答案：A**
    (re.compile(r"^[ \t]{0,12}[-*+][ \t]{1,4}(?=[(（]?[A-K][)）.．、:：])", re.MULTILINE), ""),  # - A. 选项
    (re.compile(r"^([ \t]{0,12}(?:\d{1,4}|[A-K]))\\(?=[.)])", re.MULTILINE), r"\1"),  # 1\. 题干
    (re.compile(r"^[ \t]{0,3}#{1,6}[ \t]+", re.MULTILINE), ""),  # ## 一、单选题
    (re.compile(r"^[ \t]{0,3}>[ \t]?", re.MULTILINE), ""),  # > 解析：
)
"""Marks of Markdown that stand around numbers, options and answers, and what is left of them."""


def _without_marks(text: str) -> str:
    for mark, left in _MARKS:
        text = mark.sub(left, text)
    return text
