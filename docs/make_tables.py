"""Write docs/tables.md from the catalogue and the records, and docs/gates.md from the parser's gates."""

from __future__ import annotations

import ast
import inspect
import textwrap
import tomllib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.parse.judge import CHECKS
from build_dataset.schemas.annotations import ExpertReview
from build_dataset.schemas.base import Record
from build_dataset.schemas.documents import RawFile, StageManifest
from build_dataset.schemas.questions import Rejection, ReviewItem
from build_dataset.schemas.wording import reason_names

TARGET = Path(__file__).with_name("tables.md")
GATES = Path(__file__).with_name("gates.md")
GATES_INTRODUCTION = """# Gates of the parser

Written by `make docs` from `docs/gates.toml` and the table of checks; do not edit.

A question waits for a person when one of these is found, in the order in which they are checked. `build-dataset
review verify` shows it beside its page. Each stands as its code in `pipeline/parse/`.

| reason | | stops | example |
| --- | --- | --- | --- |
"""
INTRODUCTION = """# Tables

Written by `make docs` from `pipeline/catalogue/stages.toml` and the records in `schemas/`; do not edit.

Every stage writes a folder of Parquet tables under `build/`, with `rejects.parquet` (what was taken out, and why),
`review.parquet` (what waits for a person, and why) and `manifest.json`; where the two have rows, also as `.xlsx`.
Absent values are null.
"""

_LABEL = "of the label set ([labels.md](labels.md)), here CMExam's"


def text() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_stages(), *_common()]).rstrip() + "\n"


def gates() -> str:
    """The page of the parser's gates."""
    rows = tomllib.loads(GATES.with_suffix(".toml").read_text(encoding="utf-8"))["gates"]
    examples = {check.reason: check.example for check in reversed(CHECKS)}  # the first check of each reason
    rows = [{"example": examples.get(row["reason"])} | row for row in rows]
    return GATES_INTRODUCTION + "".join(
        f"| `{row['reason']}` | {reason_names()[row['reason']]} | {row['for']} | {row['example']} |\n" for row in rows
    )


def _stages() -> Iterator[str]:
    for stage in STAGES:
        yield f"## {stage.name}\n\n{stage.title}\n"
        yield f"Reads {', '.join(f'`{name}`' for name in stage.reads)}; counts {stage.unit}.\n"
        if stage.optional:
            yield f"Where they are there, also {', '.join(f'`{name}`' for name in stage.optional)}.\n"
        shown: set[type[Record]] = set()
        for table, record in stage.writes.items():
            yield f"### `build/{stage.name}/{table}.parquet`\n"
            yield "Columns as above.\n" if record in shown else _columns(record)
            shown.add(record)


def _common() -> Iterator[str]:
    yield "## In every stage's folder\n"
    for name, record in (("rejects.parquet", Rejection), ("review.parquet", ReviewItem)):
        yield f"### `{name}`\n\n{_columns(record)}"
    yield "## From outside\n"
    yield f"### `raw/files` (computed)\n\n{_columns(RawFile)}"
    yield f"### `build/reviews/pulled.parquet`\n\n{_columns(ExpertReview)}"
    yield f"### `build/manifests` (computed)\n\n{_columns(StageManifest)}"


def _columns(record: type[Record]) -> str:
    said = _docstrings(record)
    lines = ["| column | type | |", "| --- | --- | --- |"]
    for name, kind in record.polars_schema().items():
        told = said.get(name, "") if name in record.model_fields else _LABEL
        told = " ".join(told.split()).replace("|", "\\|")
        lines.append(f"| `{name}` | `{_type(kind)}` | {told.replace('``', '`')} |")
    return "\n".join(lines) + "\n"


def _docstrings(record: type[Record]) -> dict[str, str]:
    """Return the notes beside a record's fields, or below them; the program does without, as reading takes 0.2 s."""
    source = textwrap.dedent(inspect.getsource(record))
    lines, body = source.splitlines(), ast.parse(source).body[0].body
    notes = {}
    for field, below in zip_longest(body, body[1:]):
        if isinstance(field, ast.AnnAssign):
            beside = lines[field.end_lineno - 1][field.end_col_offset :].strip().removeprefix("# ")
            notes[field.target.id] = below.value.value if isinstance(below, ast.Expr) else beside
    return notes


def _type(kind: object) -> str:
    return str(kind).replace("String", "str").replace("Int64", "int").replace("Float64", "float")


if __name__ == "__main__":
    TARGET.write_text(text(), encoding="utf-8")
    GATES.write_text(gates(), encoding="utf-8")
