"""Banks exactly as others published them, against converters of a few lines."""

import csv
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import find_reader
from build_dataset.pipeline.parse.rows import RowError, SourceTable, questions_of
from build_dataset.schemas.documents import Document, SourceRow

Expected = tuple[str, list[str], str]
"""Stem, texts of options, letters of the key."""


def read(path: Path) -> SourceTable:
    fields = [*find_reader(path, OcrParams()).rows(path, OcrParams(), [])]
    document = Document(document=path.name, sha256="ab" * 32, format="x", pages=None, rows=len(fields))
    rows = [SourceRow(document=path.name, row=at, fields=one.fields) for at, one in enumerate(fields, 1)]
    return questions_of(rows, document)


def cmexam(path: Path) -> Iterator[Expected]:
    from openpyxl import load_workbook

    header, *rows = load_workbook(path, read_only=True).worksheets[0].iter_rows(values_only=True)
    places = [header.index(name) for name in ("Question", "Options", "Answer")]
    for stem, options, answer in ([row[at] for at in places] for row in rows):
        yield stem, [line[2:] for line in options.split("\\n")], answer


def apollo(path: Path) -> Iterator[Expected]:
    for row in json.loads(path.read_text(encoding="utf-8")):
        texts = re.split(r"(?:^|\n)\([A-E]\) ", row["options"])[1:]
        yield row["question"], texts, row["answer"].strip("()")


def cnmleqa(path: Path) -> Iterator[Expected]:
    for row in json.loads(path.read_text(encoding="utf-8")):
        yield row["question"], [row[f"op{letter}"] for letter in "abcde"], row["answer"][2:].upper()


def explaincpe(path: Path) -> Iterator[Expected]:
    for row in json.loads(path.read_text(encoding="utf-8")):
        yield row["question"], row["options"], row["answer"]


def taiwan(path: Path) -> Iterator[Expected]:
    with path.open(encoding="utf-8-sig", newline="") as stream:
        for row in csv.DictReader(stream):
            answer = "".join(re.findall("[A-D]", row["正確答案"]))
            yield row["題目"], [row[f"選項{letter}"] for letter in "ABCD"], answer


BANKS: list[tuple[str, Callable[[Path], Iterator[Expected]]]] = [
    ("cmexam_val_400.xlsx", cmexam),
    ("apollo_zh_200.json", apollo),
    ("cnmleqa_200.json", cnmleqa),
    ("explaincpe_200.json", explaincpe),
    ("taiwan_questions_200.csv", taiwan),
]


@pytest.mark.parametrize(("name", "converter"), BANKS)
def test_a_published_bank_is_read_field_by_field(shared_data, name, converter):
    path = shared_data / "banks_as_published" / name
    source = read(path)
    expected = list(converter(path))
    assert len(source.rows) == len(expected)
    for (_, found), (stem, texts, answer) in zip(source.rows, expected, strict=True):
        assert not isinstance(found, RowError)
        question, doubts = found
        assert question.stem == stem.strip()
        assert [option.text for option in question.options] == [text.strip() for text in texts if text]
        assert "".join(question.answer) == answer
        # An option that the source itself left empty (A, B, D) is for a person to look at; nothing else waits.
        reasons = [reason for reason, _ in doubts if reason != "case_missing"]  # some cases were not published
        assert reasons == (["options_not_contiguous"] if "" in texts else [])


def facts(source: SourceTable) -> dict[str, Any]:
    return source.columns.facts()
