"""Stored pages are keyed by all code that can change them, found by its imports, and by nothing else."""

from __future__ import annotations

import pytest

from pipeline.ocr import engines
from pipeline.ocr.pages import Job, Recognition
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers import readers
from pipeline.runtime import fingerprint


def reached(module: str) -> set[str]:
    return set(fingerprint._closure(module))


def test_every_reader_reaches_what_makes_characters_valid():
    for reader in readers():
        if hasattr(reader, "count_pages"):
            assert "pipeline.characters" in reached(type(reader).__module__)


@pytest.mark.parametrize("name", [name for name in engines.ENGINES if name.value != "vision"])
def test_an_engine_reaches_its_own_code_and_no_other_engines(name):
    modules = {one: f"pipeline.ocr.engines.{row.partition(':')[0]}" for one, row in engines.ENGINES.items()}
    own = modules.pop(name)
    others = set(modules.values())
    assert own in reached(own)
    assert others < reached("pipeline.ocr.stage")
    assert not others & (reached(own) | reached("pipeline.ocr.recognise"))


def test_recognition_reaches_cleaning_and_not_layout():
    found = reached("pipeline.ocr.recognise")
    assert {"pipeline.ocr.images"} <= found
    assert "pipeline.ocr.layout" not in found


def test_models_and_the_confidence_table_are_part_of_the_embedded_engines_code():
    opened = [fingerprint._module(name).opens for name in reached("pipeline.ocr.engines.rapid")]
    assert any("pipeline.ocr.engines.models" in packages for packages in opened)


def test_another_code_hash_is_another_key(monkeypatch, context, files_table):
    from pipeline.ocr import pages
    from pipeline.ocr.stage import DocumentState, FileTask, inspect_file
    from schemas.documents import RawFile

    (context.raw / "a.txt").write_text("1. 题干", encoding="utf-8")
    (file,) = RawFile.from_frame(files_table(context.raw))
    path = context.raw / "a.txt"
    reading = DocumentState(file, path, inspect_file(FileTask("a.txt", path, OcrParams())))
    before = Recognition(OcrParams()).key(Job(reading, 1))
    assert Recognition(OcrParams()).key(Job(reading, 1)) == before
    monkeypatch.setattr(pages, "code_hash", lambda module: "changed")
    assert Recognition(OcrParams()).key(Job(reading, 1)) != before
