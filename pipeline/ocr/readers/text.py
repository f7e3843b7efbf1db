"""Plain text: one page, a line each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pipeline.ocr.glyphs import tabs_for_gaps
from pipeline.ocr.model import PageLine, PageRead
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.base import NeedsOcr
from pipeline.ocr.readers.encoding import begins_as_html, decode, looks_like_text
from schemas.documents import ReadMethod
from schemas.errors import UnreadableDocument


class TextReader:
    """Reads .txt."""

    format = "text"
    version = "2"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is called .txt and is text; a web page that is called so is none."""
        return suffix == ".txt" and looks_like_text(head) and not begins_as_html(head)

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
        lines = [PageLine(tabs_for_gaps(line.strip()), None) for line in text.splitlines() if line.strip()]
        return [PageRead(0.0, 0.0, ReadMethod.TEXT_LAYER, "text", self.version, None, lines) for _ in pages]
