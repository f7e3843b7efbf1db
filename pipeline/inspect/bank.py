"""How a question bank is read, without a run: the mapping of its columns, and rows beside the questions they became."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.archives import is_archive
from pipeline.ocr.params import OcrParams
from pipeline.ocr.readers.base import RowReader
from pipeline.ocr.sniff import find_reader
from pipeline.parse.mapping import Unclear
from pipeline.parse.rows import RowError, questions_of
from pipeline.runtime.sources import papers
from schemas.dataset import DatasetParams
from schemas.documents import Document, SourceRow
from schemas.errors import UnreadableDocument, UserError
from schemas.questions import Question
from schemas.sources import SourceParams


@dataclass(frozen=True)
class Sample:
    """A row as it stands in the file, and what it became."""

    row: int
    fields: dict[str, Any]
    question: Question | None
    doubt: str | None
    """Why it waits or is rejected; None when it is kept."""


@dataclass(frozen=True)
class BankView:
    """What people are shown of a bank."""

    document: str
    format: str
    rows: int
    columns: dict[str, Any]
    """``Columns.facts``; empty where the file is stopped."""
    stopped: str | None
    ends: Counter[str]
    """Rows by what becomes of them: ``kept``, or the reason."""
    samples: list[Sample]
    told: list[str]


def find_bank(dataset: DatasetParams, wanted: str) -> tuple[str, Path] | None:
    """A tabular file by its name in the tables, its path, or a part of the name that no other has; None for others."""
    named = papers(dataset) if dataset.raw.is_dir() else {}
    path = Path(wanted)
    if wanted not in named and path.is_file() and not is_archive(path):
        raw = dataset.raw.resolve()
        inside = path.resolve().is_relative_to(raw)
        return path.resolve().relative_to(raw).as_posix() if inside else path.name, path
    found = [wanted] if wanted in named else [name for name in named if wanted in name]
    return (found[0], named[found[0]]) if len(found) == 1 else None


def look(
    document: str, path: Path, params: OcrParams, declared: SourceParams | None, most: int = 3
) -> BankView | None:
    """Read a bank; None when the file is no table.

    Args:
        document: its name, as ``[sources]`` calls it.
        path: of the file.
        params: of the ocr stage.
        declared: what ``[sources]`` says of it.
        most: samples of each end.

    Raises:
        UserError: it cannot be read.
    """
    told: list[str] = []
    try:
        reader = find_reader(path, params)
        if not isinstance(reader, RowReader):
            return None
        fields = [*reader.rows(path, params, told)]
    except UnreadableDocument as error:
        raise UserError(f"{document}: {error.reason}: {error.detail}") from None
    about = Document(
        document=document,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        format=reader.format,
        pages=None,
        rows=len(fields),
    )
    rows = [SourceRow(document=document, row=number, fields=one) for number, one in enumerate(fields, 1)]
    source = questions_of(rows, about, declared)
    if isinstance(source.columns, Unclear):
        samples = [Sample(row.row, json.loads(row.fields), None, None) for row in rows[:most]]
        return BankView(
            document, reader.format, len(rows), {}, source.columns.detail, Counter(), samples, told
        )
    ends: Counter[str] = Counter()
    shown: list[Sample] = []
    for row, found in source.rows:
        question, doubts = (None, [(found.reason, found.detail)]) if isinstance(found, RowError) else found
        end = doubts[0][0] if doubts else "kept"
        ends[end] += 1
        if ends[end] <= most:
            why = f"{end}: {doubts[0][1]}" if doubts else None
            shown.append(Sample(row.row, json.loads(row.fields), question, why))
    return BankView(document, reader.format, len(rows), source.columns.facts(), None, ends, shown, told)
