"""Measure how much a PDF page draws, before MuPDF is asked to: content that unpacks, and forms that draw forms.

MuPDF holds what it reads of a page in memory, some 80 bytes for each byte of strokes, and aborts the process where
memory is refused. A kilobyte can unpack to a megabyte, twelve forms that draw each other to 10^12 letters.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

HEAVY = 10_000_000
"""Bytes of content from which a page's text and drawings are not taken apart but its image is read: they would take a
gigabyte. Pages of outlined letters have 3 MB."""

HOSTILE = 100_000_000
"""Bytes of content from which a page is refused: drawing them takes minutes."""

_DO = re.compile(rb"/([^\s/<>\[\](){}%]++)\s++Do\b")

_FLATE = re.compile(r"/(FlateDecode|Fl)\b")
_FILTER = re.compile(r"/\w+")

Forms = Mapping[tuple[int, str], int]
"""The owner of a form (a form's xref, 0 for the page) under which name → its xref."""


def content_bytes(document: Any, page: Any) -> int:
    """Bytes of content that drawing a page runs through, forms as often as they are drawn; counted to ``HOSTILE``.

    What annotations, patterns and fonts draw is not counted, and filters other than Flate count as stored: the
    limits of ``bounds`` hold for them.

    Args:
        document: a PyMuPDF document.
        page: one of its pages.
    """
    forms: dict[tuple[int, str], int] = {}
    for xref, name, invoker, *_ in document.get_page_xobjects(page.number):
        forms[invoker, name] = xref
    weigher = _Weigher(document, forms)
    total = 0
    for xref in page.get_contents():
        total += weigher.weigh(xref, 0)
        if total >= HOSTILE:
            return HOSTILE
    return total


@dataclass(slots=True)
class _Weigher:
    document: Any
    forms: Forms
    known: dict[int, int] = field(default_factory=dict)
    """Bytes by form."""

    def weigh(self, xref: int, owner: int) -> int:
        """Bytes of a stream and of the forms that it draws, at most ``HOSTILE``."""
        content = inflated(self.document, xref, HOSTILE)
        total = len(content)
        if self.forms and total < HOSTILE:
            for found in re.finditer(_DO, content):
                total += self._form(self.forms.get((owner, found[1].decode("latin-1"))))
                if total >= HOSTILE:
                    break
        return min(total, HOSTILE)

    def _form(self, xref: int | None) -> int:
        if xref is None:
            return 0
        if xref not in self.known:
            self.known[xref] = 0  # of a form that draws itself: MuPDF does not go round
            self.known[xref] = self.weigh(xref, xref)
        return self.known[xref]


def inflated(document: Any, xref: int, most: int) -> bytes:
    """A stream of a PyMuPDF document, unpacked while its filters are Flate; no more than ``most`` bytes of it."""
    content: bytes = document.xref_stream_raw(xref) or b""
    for name in re.findall(_FILTER, document.xref_get_key(xref, "Filter")[1]):
        if not _FLATE.fullmatch(name):
            break
        try:
            content = zlib.decompressobj().decompress(content, most)
        except zlib.error:
            break
    return content[:most]
