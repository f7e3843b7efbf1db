"""A page's content is weighed before it is read: what unpacks or multiplies beyond bounds is not taken apart."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from pathlib import Path

import pymupdf
import pytest
from hypothesis import given
from hypothesis import strategies as st

from build_dataset.pipeline.ocr.interfaces import NeedsOcr
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import pdf as reader
from build_dataset.pipeline.ocr.readers.pdf import PdfReader
from build_dataset.schemas.errors import UnreadableDocument

FLATE = b"/Filter/FlateDecode"


def pdf(contents: bytes, forms: Sequence[bytes] = (), entries: bytes = b"", pages: int = 1) -> bytes:
    """A PDF with these contents on each page; form number N is called /FN everywhere and in itself."""
    names = b"/Resources<</XObject<<%s>>>>" % b"".join(
        b"/F%d %d 0 R " % (number, 6 + number) for number in range(len(forms))
    )
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 500 500]/Contents 4 0 R" + names + b">>"
    kind = b"/Type/XObject/Subtype/Form/BBox[0 0 500 500]" + names
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count %d/Kids[%s]>>" % (pages, b"3 0 R " * pages),
        page,
        stream(contents, entries),
        b"null",
        *(stream(form, kind) for form in forms),
    ]
    written = [b"%d 0 obj\n%s\nendobj\n" % (number, body) for number, body in enumerate(objects, 1)]
    offsets, at = [], 9
    for body in written:
        offsets.append(b"%010d 00000 n \n" % at)
        at += len(body)
    table = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, b"".join(offsets))
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, at)
    return b"%PDF-1.7\n" + b"".join(written) + table + trailer


def stream(data: bytes, entries: bytes) -> bytes:
    return b"<</Length %d%s>>stream\n%s\nendstream" % (len(data), entries, data)


def weigh(content: bytes) -> int:
    with pymupdf.open(stream=content, filetype="pdf") as document:
        return reader.content_bytes(document, document[0])


def read(tmp_path: Path, content: bytes) -> object:
    path = tmp_path / "a.pdf"
    path.write_bytes(content)
    return PdfReader().read(path, [1], OcrParams())[0]


STROKES = b"0 0 m 9 9 l S "


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_content_weighs_what_it_unpacks_to(layers):
    data, plain = STROKES * 1000, STROKES * 1000
    for _ in range(layers):
        data = zlib.compress(data)
    assert weigh(pdf(data, entries=b"/Filter[" + b"/FlateDecode" * layers + b"]")) == len(plain)


def test_unpacking_stops_at_the_bound(monkeypatch):
    monkeypatch.setattr(reader, "HOSTILE", 12_000_000)
    bomb = zlib.compress(zlib.compress(b" " * (3 * reader.HOSTILE), 9), 9)
    assert weigh(pdf(bomb, entries=b"/Filter[/FlateDecode/FlateDecode]")) == reader.HOSTILE


@given(st.binary(max_size=200))
def test_damaged_streams_are_weighed_without_an_error(data):
    assert 0 <= weigh(pdf(data, entries=FLATE)) <= max(len(data), 1032 * len(data))


@given(fan=st.integers(1, 6), levels=st.integers(1, 6))
def test_forms_weigh_as_often_as_they_are_drawn(fan, levels):
    forms = [b"/F%d Do " % (level + 1) * fan for level in range(levels - 1)] + [STROKES]
    expected = len(b"/F0 Do") + sum(len(forms[level]) * fan**level for level in range(levels))
    assert weigh(pdf(b"/F0 Do", forms)) == expected


def test_forms_that_multiply_weigh_the_bound_and_no_more():
    forms = [b"/F%d Do " % (level + 1) * 12 for level in range(20)] + [STROKES]
    assert weigh(pdf(b"/F0 Do", forms)) == reader.HOSTILE


def test_forms_that_draw_themselves_are_weighed_once():
    assert weigh(pdf(b"/F0 Do", [b"/F0 Do /F1 Do", b"/F0 Do"])) < 100


def test_a_page_that_is_too_heavy_to_be_taken_apart_is_read_as_an_image(tmp_path):
    heavy = zlib.compress(b" " * (reader.HEAVY + 1))
    assert read(tmp_path, pdf(heavy, entries=FLATE)) == NeedsOcr("heavy_content")
    light = zlib.compress(b" " * (reader.HEAVY // 2))
    assert not isinstance(read(tmp_path, pdf(light, entries=FLATE)), NeedsOcr)


def test_a_page_made_to_hurt_is_neither_read_nor_drawn(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "HOSTILE", 12_000_000)
    content = pdf(zlib.compress(b" " * reader.HOSTILE), entries=FLATE)
    with pytest.raises(UnreadableDocument) as refused:
        read(tmp_path, content)
    assert refused.value.reason == "too_large"
    with pytest.raises(UnreadableDocument) as refused:
        PdfReader().image(tmp_path / "a.pdf", 1, OcrParams())
    assert refused.value.reason == "too_large"
