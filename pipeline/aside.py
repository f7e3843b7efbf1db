"""Items that were rejected, merged or wait for a person: rows for the terminal, and workbooks."""

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline.catalogue import STAGES
from pipeline.losses import Documents, content_of
from pipeline.runtime.publish import find_table
from schemas.questions import Rejection, ReviewItem
from schemas.wording import in_both_languages

TABLES = {"rejected": "rejects", "waiting": "review", "merged": "merges"}
"""Table of each outcome."""
_HEAD = ("编号 ID", "文件 file", "阶段 stage", "原因 reason", "说明 detail", "内容 text")
_CELL = 32_767
"""Characters that a cell of a workbook holds; Excel's own limit."""
_ROWS = 100_000
"""Rows of a workbook: more take seconds to write, and nobody reads them there."""


@dataclass(frozen=True)
class AsideRow:
    """An item that was not kept."""

    item_id: str
    document: str
    stage: str
    reason: str
    detail: str
    text: str


def aside_rows(items: Iterable[Rejection | ReviewItem], documents: Documents) -> Iterator[AsideRow]:
    """Yield the rows of a stage's rejects or review."""
    for item in items:
        content = content_of(item.item)
        found = item.item_id if item.stage == "ocr" else documents.of(item.item_id)
        document = content.get("document") or found or ""
        yield AsideRow(item.item_id, document, item.stage, item.reason, item.detail, _text(content))


def documents_of(build: Path) -> Documents:
    """Return the documents that a build's first stage read."""
    return Documents(find_table(build, "ocr/documents"))


def items(build: Path, outcome: str, file: str | None = None, reason: str | None = None) -> list[AsideRow]:
    """Return what ended so in any stage, in the catalogue's order: ``rejected``, ``waiting`` or ``merged``.

    ``file`` is a part of the document's name, ``reason`` a code.
    """
    found = _merged(build) if outcome == "merged" else _set_aside(build, TABLES[outcome])
    wanted = (file or "").casefold()
    return [row for row in found if wanted in row.document.casefold() and reason in (None, row.reason)]


def _set_aside(build: Path, table: str) -> Iterator[AsideRow]:
    record: type[Rejection] | type[ReviewItem] = Rejection if table == "rejects" else ReviewItem
    documents = documents_of(build)
    for stage in STAGES:
        if (found := find_table(build, f"{stage.name}/{table}")) is not None:
            yield from aside_rows(record.from_frame(found), documents)


def _merged(build: Path) -> Iterator[AsideRow]:
    merges = find_table(build, "dedup/merges")
    questions = find_table(build, "clean/questions", ["question_id", "document", "stem"])
    if merges is None or questions is None:
        return
    frame = merges.join(questions, on="question_id", how="left", maintain_order="left")
    for row in frame.iter_rows(named=True):
        detail, document = f"into {row['survivor_id']}: {row['reason']}", row["document"] or ""
        yield AsideRow(row["question_id"], document, "dedup", row["kind"], detail, row["stem"] or "")


def _text(content: dict[str, Any]) -> str:
    """Return a question as text, an option a line; another thing as JSON."""
    if "reviewer" in content:
        return "专家已作答，见说明 experts answered, see detail"
    if not {"stem", "content_hash"} <= content.keys():
        return json.dumps(content, ensure_ascii=False) if content else ""
    options = (f"{option['label']}. {option['text']}" for option in content.get("options") or ())
    return "\n".join([*filter(None, (content.get("shared_stem"), content["stem"])), *options])


def aside_workbook(rows: Iterable[AsideRow]) -> bytes:
    """Return a workbook for people, with the reasons in both languages."""
    shown = ((*astuple(row)[:3], in_both_languages(row.reason), row.detail, row.text) for row in rows)
    return workbook("aside", [_HEAD, *list(shown)[:_ROWS]])


def workbook(sheet: str, rows: Iterable[Iterable[str | float | None]]) -> bytes:
    """Return rows as a workbook: all texts are texts, none is a formula; equal rows give equal bytes."""
    import xlsxwriter

    target = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    book = xlsxwriter.Workbook(target, options)
    book.set_properties({"created": datetime(1980, 1, 1, tzinfo=UTC)})
    written = book.add_worksheet(sheet)
    for at, line in enumerate(rows):
        for column, value in enumerate(line):
            if isinstance(value, str):
                written.write_string(at, column, value[:_CELL])
            elif value is not None:
                written.write_number(at, column, value)
    book.close()
    return target.getvalue()
