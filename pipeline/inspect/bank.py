"""Read a question bank without a run: how it is read, for people; its questions that carry labels, for annotators."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from build_dataset.annotation.adjudication import Reviewed
from build_dataset.pipeline.archives import is_archive
from build_dataset.pipeline.ocr import interfaces, tasks
from build_dataset.pipeline.ocr.assemble import DocumentState, Exam, document_of, rows_of
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers import docx, find_reader
from build_dataset.pipeline.parse.columns import Columns, Unclear
from build_dataset.pipeline.parse.rows import RowError, SourceTable, sources_of
from build_dataset.pipeline.runtime.sources import papers
from build_dataset.schemas import documents, identity, questions, taxonomy
from build_dataset.schemas.columns import plain_header
from build_dataset.schemas.dataset import DatasetParams, SourceParams
from build_dataset.schemas.errors import UnreadableDocument, UserError


@dataclass(frozen=True)
class Sample:
    """A row of the file, and its question."""

    row: int
    fields: dict[str, Any]
    question: questions.Question | None
    doubt: str | None  # why it waits or is rejected; None when it is kept


@dataclass(frozen=True)
class TableView:
    """A table of a bank: the file itself, or a sheet of it."""

    name: str
    columns: dict[str, Any]  # `Columns.facts`; empty where the table is stopped
    told: list[str]  # why it is stopped, or that it has no key
    ends: Counter[str]  # rows by outcome: `kept`, or the reason
    samples: list[Sample]


def find_bank(dataset: DatasetParams, wanted: str) -> tuple[str, Path] | None:
    """A tabular file by its name in the tables, its path, or a part of the name that no other has; None for others."""
    named = papers(dataset) if dataset.raw.is_dir() else {}  # members of archives included
    path = Path(wanted)
    if wanted not in named and path.is_file() and not is_archive(path):  # a file outside the dataset
        raw = dataset.raw.resolve()
        return path.resolve().relative_to(raw).as_posix() if path.resolve().is_relative_to(raw) else path.name, path
    names = [wanted] if wanted in named else [name for name in named if wanted in name]
    return (names[0], named[names[0]]) if len(names) == 1 else None  # several: no guess


def view_bank(
    document: str, path: Path, params: OcrParams, declared: Mapping[str | None, SourceParams], most: int = 3
) -> tuple[list[TableView], Sequence[str]] | None:
    """Read a bank as ``read_bank`` does, with up to ``most`` samples of each end in each table."""
    bank = read_bank(document, path, params, declared)
    return bank and ([_view(source, most) for source in bank[0]], bank[1])


def read_bank(
    document: str, path: Path, params: OcrParams, declared: Mapping[str | None, SourceParams]
) -> tuple[list[SourceTable], Sequence[str]] | None:
    """Return the tables of a bank, read as ``declared`` by sheet, and what was left out; None when it is no table."""
    try:
        if not isinstance(find_reader(path, params), interfaces.RowReader | docx.DocxReader):
            return None
        facts = tasks.inspect_file(tasks.FileTask(document, path, params))  # limits of size hold here too
        if facts.rows is None:  # a Word document with text
            return None
    except UnreadableDocument as error:
        raise UserError(f"{document}: {error.reason}: {error.detail}") from None
    file = documents.RawFile(document=document, sha256=identity.file_sha256(path), bytes=path.stat().st_size)
    reading = DocumentState(file, path, facts)  # as the ocr stage makes it
    rows = documents.SourceRow.from_frame(rows_of(reading))
    return sources_of(rows, document_of(reading, Exam()), declared), facts.told


def _view(source: SourceTable, most: int) -> TableView:
    ends: Counter[str] = Counter()
    shown: list[Sample] = []
    caught = source.caught()
    of_source = [(item.question, [(doubt.reason, doubt.detail)]) for doubt in caught.doubts for item in doubt.readings]
    both = [*of_source, *((item.question, item.doubts) for item in caught.readings)]
    read = {item.question_id: (item, why) for item, why in both}
    for row, got in source.rows:
        question, doubts = (None, [(got.reason, got.detail)]) if isinstance(got, RowError) else read[got[0].question_id]
        if question and not question.answer:  # the parser keeps it, clean does not
            doubts = [*doubts, ("no_answer", "it has no key; the clean stage rejects it")]
        end = doubts[0][0] if doubts else "kept"  # the first reason counts
        ends[end] += 1
        if ends[end] <= most:
            why = f"{end}: {doubts[0][1]}" if doubts and isinstance(source.columns, Columns) else None
            shown.append(Sample(row.row, json.loads(row.fields), question, why))
    columns = source.columns.facts() if isinstance(source.columns, Columns) else {}
    told = [*(item.detail for item in caught.doubts), *caught.notes, *source.notices()]
    return TableView(source.name, columns, told, ends, shown)


_CMEXAM = {"areaofcompetency": "competency", "difficultylevel": "difficulty"}
"""CMExam's names of columns that are no dimension's own name in Chinese or English."""


def read_labelled(path: Path) -> list[Reviewed]:
    """The labelled questions of a file, in its order; rows without any label are passed over.

    Columns are found as in every bank, those of dimensions by their English or Chinese names or CMExam's. Raises
    ``UserError`` for no such file, no bank, no column of any dimension; a label outside the set or no question, by row.
    """
    if not path.is_file():
        raise UserError(f"no file {path}: correct [annotate] reviewed")
    bank = read_bank(str(path), path, OcrParams(), {})
    if bank is None:
        raise UserError(f"{path} is no table: reviewed questions are read from CSV, JSONL, Parquet and workbooks")
    labelled = []
    for table in bank[0]:
        if isinstance(table.columns, Unclear):  # two columns could be the key
            raise UserError(f"{path}: {table.columns.detail}")
        for row, read in table.rows:
            if not (labels := dict(_labels(path, row.row, json.loads(row.fields)))):  # a bank may be labelled in part
                continue
            if isinstance(read, RowError):
                raise UserError(f"{path}: {read.detail}: correct it")
            labelled.append(Reviewed(read[0], labels))
    if not labelled:
        raise UserError(f"{path} has no labelled question: it needs a column of {', '.join(taxonomy.dimensions())}")
    return labelled


def _labels(path: Path, number: int, fields: Mapping[str, object]) -> Iterator[tuple[str, taxonomy.LabelName]]:
    for header, value in fields.items():
        named = _CMEXAM.get(plain_header(header), plain_header(header))  # "Area of Competency": competency
        for name, dimension in taxonomy.dimensions().items():
            if named in map(plain_header, (name, dimension.zh, dimension.en)) and str(value or "").strip():
                label = dimension.find(str(value))
                if label is None:
                    raise UserError(f"{path}, row {number}: {str(value)[:40]!r} is no label of {name}: correct it")
                yield name, label
