"""Dumps of SQL: the rows of INSERT under the names of their columns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.databases import SqlReader
from build_dataset.schemas.errors import UnreadableDocument

HEAD = "INSERT INTO questions (content, options, answer, tags, year) VALUES\n"


def read(tmp_path: Path, text: str) -> list[dict[str, str]]:
    path = tmp_path / "dump.sql"
    path.write_text(text, encoding="utf-8")
    return [json.loads(row.fields) for row in SqlReader().rows(path, OcrParams(), [])]


@pytest.mark.parametrize("options", ["""'["甲", "乙"]'""", """'["甲", "乙"]'::json""", """E'["甲", "乙"]'::jsonb"""])
@pytest.mark.parametrize("tags", ["'内科'", "ARRAY['内科', '急诊']", "ARRAY['内科']::text[]", "NULL"])
def test_casts_and_arrays_of_postgresql_are_one_value(tmp_path, options, tags):
    (row,) = read(tmp_path, f"{HEAD}('首选的是', {options}, 'B', {tags}, 2024);")
    assert (row["content"], row["options"], row["answer"], row["year"]) == ("首选的是", '["甲", "乙"]', "B", "2024")


def test_values_that_do_not_fit_the_columns_are_refused_and_never_shifted(tmp_path):
    with pytest.raises(UnreadableDocument) as found:
        read(tmp_path, f"{HEAD}('首选的是', '[]', 'B', 'x', 2024), ('次选的是', '[]', 'B', 2024);")
    assert "row 2 of questions has 4 values under 5 columns" in found.value.detail
