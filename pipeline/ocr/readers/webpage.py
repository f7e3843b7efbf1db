"""Saved web pages: HTML and MHTML, as text, a line a block; pictures stand as figures where they stood."""

from __future__ import annotations

import email
import email.policy
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pipeline.ocr.model import PageLine, PageRead
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.base import NeedsOcr, PageImage
from pipeline.ocr.readers.encoding import decode, looks_like_text
from schemas.documents import LineKind, ReadMethod
from schemas.errors import UnreadableDocument

_SUFFIXES = (".html", ".htm", ".xhtml", ".mht", ".mhtml")
_SILENT = frozenset({"script", "style", "noscript", "template", "head", "nav", "button", "select", "svg"})
"""Elements whose text nobody reads on the page."""
_INLINE = frozenset(
    {
        "a",
        "abbr",
        "b",
        "bdi",
        "cite",
        "code",
        "em",
        "font",
        "i",
        "ins",
        "label",
        "mark",
        "q",
        "s",
        "small",
        "span",
    }
    | {"strong", "sub", "sup", "u", "var"}
)
"""Elements that do not begin a line."""
_CELLS = frozenset({"td", "th"})


class WebPageReader:
    """Reads .html and .mhtml as a browser saves them."""

    format = "html"
    version = "1"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Whether it is called so and is text."""
        return suffix in _SUFFIXES and looks_like_text(head)

    def count_pages(self, path: Path, params: OcrParams) -> int:  # noqa: ARG002
        """One.

        Raises:
            UnreadableDocument: ``wrong_encoding``, ``broken``, ``no_text``.
        """
        if not any(line.text for line in _lines(path)):
            raise UnreadableDocument("no_text", "there is no text on the page; perhaps a script loads it")
        return 1

    def read(self, path: Path, pages: Sequence[int], params: OcrParams) -> list[PageRead | NeedsOcr]:  # noqa: ARG002
        """The one page."""
        return [
            PageRead(0.0, 0.0, ReadMethod.TEXT_LAYER, "lxml", self.version, None, _lines(path)) for _ in pages
        ]

    def image(self, path: Path, page: int, params: OcrParams) -> PageImage:  # noqa: ARG002
        """Never asked for: text needs no OCR."""
        raise UnreadableDocument("no_image", f"page {page} of a web page has no image")


def _lines(path: Path) -> list[PageLine]:
    import lxml.etree
    import lxml.html

    try:
        root = lxml.html.document_fromstring(_html(path))
    except (lxml.etree.LxmlError, ValueError) as error:
        raise UnreadableDocument("broken", f"not a readable web page: {str(error)[:200]}") from error
    found: list[PageLine] = []
    text = ""
    for piece in _pieces(root):
        if piece is not None and piece != "\n":
            text += piece
            continue
        if line := "\t".join(" ".join(cell.split()) for cell in text.split("\t")).strip():
            found.append(PageLine(line, None))
        text = ""
        if piece is None:
            found.append(PageLine("", None, kind=LineKind.FIGURE))
    return found


def _html(path: Path) -> str:
    """The page itself; of MHTML the first part that is HTML."""
    data = path.read_bytes()
    if path.suffix.lower() in (".mht", ".mhtml"):
        message = email.message_from_bytes(data, policy=email.policy.default)
        part = next((part for part in message.walk() if part.get_content_type() == "text/html"), None)
        content = part.get_payload(decode=True) if part is not None else None
        if not isinstance(content, bytes):
            raise UnreadableDocument("broken", "the MHTML file holds no HTML page")
        data = content
    text = decode(data)
    return text.partition("?>")[2] if text.lstrip().startswith("<?xml") else text


def _pieces(root: Any) -> Iterator[str | None]:
    """Texts in their order; a line break where a block begins or ends, None for a picture. Without recursion."""
    stack: list[Any] = [root]
    while stack:
        item = stack.pop()
        if item is None or isinstance(item, str):
            yield item
            continue
        tail = [item.tail.replace("\n", " ").replace("\t", " ")] if item.tail else []
        if not isinstance(item.tag, str) or item.tag in _SILENT:
            stack += tail
            continue
        edge = [] if item.tag in _INLINE else ["\t"] if item.tag in _CELLS else ["\n"]
        own: list[Any] = [item.text.replace("\n", " ").replace("\t", " ")] if item.text else []
        inside = [None] if item.tag == "img" else [*(own if item.tag != "br" else []), *item]
        before = [] if item.tag in _CELLS else edge
        stack += reversed([*before, *inside, *edge, *tail])
