"""Small files that unfold into huge ones: archives, entities, pictures, nesting, cells."""

import csv
import io
import json
import struct
import zipfile
import zlib
from pathlib import Path

import docx
import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.tasks import FileTask, PageTask, inspect_file, read_pages
from build_dataset.schemas.errors import UnreadableDocument

PARAMS = OcrParams(max_file_mb=20)


def reason(path: Path, params: OcrParams = PARAMS) -> str | None:
    """Why a file is refused; None when it is read."""
    try:
        facts = inspect_file(FileTask(path.name, path, params))
        if facts.pages:
            read_pages(PageTask(path.name, path, facts.format, (1,), params))
    except UnreadableDocument as error:
        return error.reason
    return None


def word(tmp_path: Path, body: bytes) -> Path:
    """A Word file with this document.xml."""
    plain = io.BytesIO()
    docx.Document().save(plain)
    path = tmp_path / "a.docx"
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, body if name == "word/document.xml" else old.read(name))
    return path


W = b'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def test_a_word_file_that_unpacks_to_hundreds_of_megabytes_is_refused(tmp_path):
    assert reason(word(tmp_path, b"<w:document " + W + b">" + b" " * 100_000_000)) == "too_large"


def test_entities_that_multiply_are_not_resolved(tmp_path):
    entities = b"".join(b'<!ENTITY e%d "%s">' % (level, b"&e%d;" % (level - 1) * 10) for level in range(1, 12))
    head = b'<!DOCTYPE x [<!ENTITY e0 "laughs">' + entities + b"]>"
    body = head + b"<w:document " + W + b"><w:body><w:p><w:r><w:t>&e11;</w:t></w:r></w:p></w:body></w:document>"
    assert reason(word(tmp_path, body)) in (None, "broken")


def test_entities_that_name_files_are_not_read(tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("hidden words", encoding="utf-8")
    head = b'<!DOCTYPE x [<!ENTITY f SYSTEM "' + secret.as_uri().encode() + b'">]>'
    body = head + b"<w:document " + W + b"><w:body><w:p><w:r><w:t>1. &f;</w:t></w:r></w:p></w:body></w:document>"
    path = word(tmp_path, body)
    if reason(path) is None:
        (page,) = read_pages(PageTask("a", path, "docx", (1,), PARAMS))
        assert "hidden" not in json.dumps(page)


@pytest.mark.parametrize("depth", [300, 5_000, 100_000])
def test_word_files_nested_thousands_deep_are_read_or_refused(tmp_path, depth):
    inside = b"<w:tbl><w:tr><w:tc>" * depth + b"<w:p/>" + b"</w:tc></w:tr></w:tbl>" * depth
    path = word(tmp_path, b"<w:document " + W + b"><w:body>" + inside + b"</w:body></w:document>")
    assert reason(path) in (None, "broken", "too_deep")


def test_a_picture_of_two_gigapixels_is_refused_before_it_is_decoded(tmp_path):
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 50_000, 40_000, 8, 2, 0, 0, 0)
    body = chunk(b"IDAT", zlib.compress(b"\x00" * 1_000_000))
    path = tmp_path / "a.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + body + chunk(b"IEND", b""))
    assert reason(path) == "too_large"


def test_a_workbook_that_unpacks_to_hundreds_of_megabytes_is_refused(tmp_path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", b"<c>" * 40_000_000)
    assert reason(path) == "too_large"


@pytest.mark.parametrize("text", ["[" * 200_000, '[{"question":' * 60_000, '[{"a":' + "[" * 100_000])
def test_json_nested_thousands_deep_is_refused(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    assert reason(path) == "invalid_json"


@pytest.mark.parametrize("limit", [131_072, 1_000_000_000], ids=["python's own", "set by another part"])
def test_a_cell_of_megabytes_is_read_and_one_beyond_the_bound_refused(tmp_path, limit):
    csv.field_size_limit(limit)
    path = tmp_path / "a.csv"
    for size, expected in ((2_000_000, None), (12_000_000, "broken_csv")):
        path.write_text(f'Question,Answer\n"{"x" * size}",A\n', encoding="utf-8")
        assert reason(path) == expected
