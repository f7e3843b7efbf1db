"""Questions that were labelled elsewhere, read like any question bank."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from annotation.reviewed import Reviewed
from pipeline.inspect.bank import read_bank
from pipeline.ocr.params import OcrParams
from pipeline.parse.columns import Unclear
from pipeline.parse.rows import RowError
from schemas.columns import plain_header
from schemas.errors import UserError
from schemas.taxonomy import LabelName, dimensions

_CMEXAM = {"areaofcompetency": "competency", "difficultylevel": "difficulty"}
"""CMExam's names of columns that are no dimension's own name in Chinese or English."""


def read_labelled(path: Path) -> list[Reviewed]:
    """The labelled questions of a file, in its order; rows without any label are passed over.

    Columns are found as in every bank, those of dimensions by their English or Chinese names or CMExam's.

    Raises:
        UserError: no such file, no bank, no column of any dimension, or a label outside the set or no question, with
            the row's number.
    """
    if not path.is_file():
        raise UserError(f"no file {path}: correct [annotate] reviewed")
    tables = read_bank(str(path), path, OcrParams(), {})
    if tables is None:
        raise UserError(
            f"{path} is no table: reviewed questions are read from CSV, JSONL, Parquet and workbooks"
        )
    found = []
    for table in tables:
        if isinstance(table.columns, Unclear):
            raise UserError(f"{path}: {table.columns.detail}")
        for row, read in table.rows:
            labels = dict(_labels(path, row.row, json.loads(row.fields)))
            if labels and isinstance(read, RowError):
                raise UserError(f"{path}: {read.detail}: correct it")
            if labels and not isinstance(read, RowError):
                found.append(Reviewed(read[0], labels))
    if not found:
        raise UserError(f"{path} has no labelled question: it needs a column of {', '.join(dimensions())}")
    return found


def _labels(path: Path, number: int, fields: Mapping[str, object]) -> Iterator[tuple[str, LabelName]]:
    for header, value in fields.items():
        named = _CMEXAM.get(plain_header(header), plain_header(header))
        for name, dimension in dimensions().items():
            if named in map(plain_header, (name, dimension.zh, dimension.en)) and str(value or "").strip():
                label = dimension.find(str(value))
                if label is None:
                    said = repr(str(value)[:40])
                    raise UserError(f"{path}, row {number}: {said} is no label of {name}: correct it")
                yield name, label
