"""Damaged files are read or refused with a reason; they never crash a reader."""

import io
import json
from pathlib import Path

import docx
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from PIL import Image

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.tasks import FileTask, PageTask, inspect_file, read_pages
from build_dataset.schemas.errors import UnreadableDocument

PARAMS = OcrParams(max_pixels=1_000_000)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("hostile")


@pytest.fixture(scope="module")
def samples(folder, cjk) -> dict[str, bytes]:
    import pymupdf

    document = pymupdf.open()
    writer = pymupdf.TextWriter(document.new_page().rect)
    writer.append((60, 100), "1. 题干 A.甲 B.乙", font=cjk)
    writer.write_text(document[0])
    document.subset_fonts()
    word, picture = io.BytesIO(), io.BytesIO()
    text = docx.Document()
    text.add_paragraph("1. 题干")
    text.save(word)
    Image.effect_noise((40, 40), 50).save(picture, "PNG")
    return {
        ".pdf": document.tobytes(garbage=3, deflate=True),
        ".docx": word.getvalue(),
        ".png": picture.getvalue(),
        ".json": json.dumps([{"question": "题干", "answer": "A"}]).encode(),
        ".csv": "Question,Answer\n题干,A\n".encode("gb18030"),
    }


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".png", ".json", ".csv"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_bytes_are_read_or_refused(folder, samples, suffix, data):
    mutated = bytearray(samples[suffix])
    for _ in range(data.draw(st.integers(1, 8))):
        start = data.draw(st.integers(0, len(mutated)))
        patch = data.draw(st.binary(max_size=30))
        mutated[start : start + data.draw(st.integers(0, 60))] = patch
    assert_read_or_refused(folder / f"a{suffix}", bytes(mutated))


@pytest.mark.parametrize("suffix", [".pdf", ".docx", ".xlsx", ".png", ".csv", ".json", ".jsonl", ".txt", ""])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=400))
def test_random_bytes_under_any_name(folder, suffix, content):
    assert_read_or_refused(folder / f"b{suffix}", content)


def assert_read_or_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    try:
        facts = inspect_file(FileTask("a", path, PARAMS))
        if facts.pages:
            read_pages(PageTask("a", path, facts.format, tuple(range(1, facts.pages + 1)), PARAMS))
    except UnreadableDocument as error:
        told = (error.reason, error.detail)
        if not all(told):
            pytest.fail(f"refused without saying why: {told}")
