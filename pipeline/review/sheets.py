"""Review in a workbook: for experts without a login or a network. What comes back is read as what the server sends.

A row is a question as the server's screen shows it, with the same labels filled in. It counts when the expert has
confirmed it: a label that nobody looked at reads like one that was accepted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import polars as pl

from annotation.label_studio.kinds import Owner
from annotation.label_studio.pull import Pulled, SeenAnnotation
from annotation.label_studio.read import Reading, read_task, timestamp
from annotation.label_studio.screen import CORRECTED, CORRECTED_KEY, FLAG_NAMES, FLAGS, numbered_dimensions
from annotation.label_studio.tasks import ARM, BATCH, QUESTION_ID, Task, choice
from annotation.label_studio.widgets import BASE, NOTE, TEXT
from annotation.params import ReviewParams
from annotation.progress import EXPERTS
from pipeline.review.folder import (
    FOLDER,
    SHEETS,
    combine,
    owner_of,
    read_all,
    read_pulled,
    remember_shown,
    replace_table,
    write_pulled,
)
from pipeline.runtime.publish import read_table
from pipeline.stage import Context, Tables
from schemas.base import Record
from schemas.errors import UserError
from schemas.identity import sha256

if TYPE_CHECKING:
    from openpyxl.cell.cell import Cell
    from openpyxl.workbook.workbook import Workbook
    from openpyxl.worksheet.worksheet import Worksheet

_MAIN, _GUIDE, _LABELS, _DATA = "复核 review", "说明 guide", "labels", "data"
_YES = "是"
_OUT = "workbooks.parquet"
"""Which questions went to whom in workbooks."""
_LONGEST = 32_000  # characters: Excel takes 32,767 in a cell
_FIXED = (
    ("题目编号 ID", 14),
    ("题干与选项 question", 60),
    ("答案 key", 8),
    ("解析 explanation", 40),
    ("机器建议 proposal", 24),
)
_WRITTEN = (
    ("改正题干与选项 corrected text", 40),
    ("改正答案 corrected key", 10),
    ("备注 note", 24),
    ("完成 done", 8),
)
_SAID = (
    "每行一道题：左边是题目，“机器建议”已填入右边各维度；不对的请在下拉列表中改选。",
    f"看完一行后，请在最后一列“完成 done”选“{_YES}”；没有选的行不计入。",
    f"题目本身有问题时，在“题干有误”“答案有误”“超出范围”中选“{_YES}”；可写出改正后的全文（请从“题干与选项”复制后修改，"
    "选项每行一个，保留字母）或改正后的答案。",
    "灰色的列不能修改；可以排序、筛选和调整列宽。请勿改文件中的题目编号。保存后发回即可，可以分几次发回。",
    "A row is a question. The proposal is filled in on the right: choose another label where it is wrong. Choose "
    f"{_YES} in the last column when you have looked at a row: other rows do not count.",
    "Where the question itself is wrong, say so in the three columns of flags; write the corrected text (copy it from "
    "the question's column, one option a line, with its letter) or the corrected key. Send the file back.",
)


@dataclass(frozen=True)
class Sheet:
    """What came back."""

    expert: str
    answers: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]
    """Data of the task and the annotation, as the server would send them, of each confirmed row."""
    unconfirmed: int
    """Rows in which a label was changed or something written, and which are not confirmed."""
    open: int
    """All other rows that are not confirmed."""


def write(path: Path, tasks: Sequence[Task], expert: str, owner: Owner) -> None:
    """Write the workbook of an expert.

    Raises:
        UserError: it cannot be written there.
    """
    from openpyxl import Workbook

    book = Workbook()
    guide, sheet = book.active, book.create_sheet(_MAIN)
    assert guide is not None
    guide.title = _GUIDE
    for place, line in enumerate(_SAID, start=1):
        _put(guide.cell(place, 1), line)
    guide.column_dimensions["A"].width = 120
    _write_labels(book)
    _write_rows(sheet, tasks)
    _write_data(book.create_sheet(_DATA), tasks, expert, owner)
    book[_LABELS].sheet_state = book[_DATA].sheet_state = "veryHidden"
    book.active = 1
    try:
        book.save(path)
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def read(path: Path, owner: Owner) -> Sheet:
    """Read a workbook that came back.

    Raises:
        UserError: it is none of ours, of another folder, or its columns were changed.
    """
    book = _opened(path)
    stored = [[cell.value for cell in row] for row in book[_DATA].iter_rows()]
    expert, dataset, token = (str(value) for value in stored[0][:3])
    if (dataset, token) != (owner.dataset, owner.token):
        raise UserError(f"{path} is of dataset {dataset} of another folder: import it there")
    known = {str(row[0]): (json.loads(str(row[1])), json.loads(str(row[2]))) for row in stored[1:]}
    rows = book[_MAIN].iter_rows(values_only=True)
    if [str(name) for name in next(rows, ())] != [name for name, _ in _columns()]:
        raise UserError(f"{path}: the columns of {_MAIN!r} were changed: copy the answers into a new export")
    # Whole seconds, rounded down: what was saved in the second in which it was written is later all the same.
    moment = (book.properties.modified or datetime.now(UTC)).replace(tzinfo=UTC) + timedelta(seconds=1)
    answers, unconfirmed, untouched, seen = [], 0, 0, set()
    for number, row in enumerate(rows, start=2):
        cells = dict(zip((name for name, _ in _columns()), map(_text, row), strict=False))
        question_id = cells[_FIXED[0][0]]
        if not question_id:
            continue
        if question_id not in known or question_id in seen:
            raise UserError(
                f"{path}, row {number}: {question_id!r} is no question of this workbook, or stands there twice"
            )
        seen.add(question_id)
        data, proposed = known[question_id]
        annotation = _annotation(cells, data, proposed, expert, moment)
        if cells[_WRITTEN[-1][0]] == _YES:
            answers.append((data, annotation))
        elif any(item.get("origin") != "prediction" for item in annotation["result"]):
            unconfirmed += 1
        else:
            untouched += 1
    return Sheet(expert, answers, unconfirmed, untouched)


def _columns() -> list[tuple[str, int]]:
    labels = [(f"{numeral} {dimension.zh}", 18) for numeral, dimension in numbered_dimensions()]
    return [*_FIXED, *labels, *((flag.zh, 10) for flag in FLAG_NAMES), *_WRITTEN]


def _write_rows(sheet: Worksheet, tasks: Iterable[Task]) -> None:
    from openpyxl.styles import Alignment, Font, PatternFill, Protection

    grey = PatternFill("solid", fgColor="F2F2F2")
    wrapped = Alignment(wrap_text=True, vertical="top")
    for place, (name, width) in enumerate(_columns(), start=1):
        head = sheet.cell(1, place)
        _put(head, name)
        head.font, head.alignment, head.fill = Font(bold=True), wrapped, grey
        sheet.column_dimensions[head.column_letter].width = width
    count = 1
    for count, task in enumerate(tasks, start=2):
        for place, text in enumerate(_cells(task), start=1):
            cell = sheet.cell(count, place)
            _put(cell, text)
            cell.alignment = wrapped
            if place <= len(_FIXED):
                cell.fill = grey
            else:
                cell.protection = Protection(locked=False)
    _offer(sheet, count)
    sheet.freeze_panes = "C2"
    sheet.auto_filter.ref = sheet.dimensions
    protection = sheet.protection
    protection.sheet = True
    protection.sort = protection.autoFilter = protection.formatColumns = protection.formatRows = False


def _cells(task: Task) -> list[str]:
    said = _proposed(task)
    names = [dimension.name for _, dimension in numbered_dimensions()]
    shown = [task.question_id, task.data["text"], task.data["key"], task.data["explanation"]]
    proposal = "\n".join(said[name] for name in names if name in said)
    blank = [""] * (len(FLAG_NAMES) + len(_WRITTEN))
    return [*shown, proposal, *(said.get(name, "") for name in names), *blank]


def _offer(sheet: Worksheet, rows: int) -> None:
    """Lists to choose from, in the columns of labels, of flags and of what is done."""
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    first = len(_FIXED) + 1
    offers = [
        f"={_LABELS}!${get_column_letter(place)}$1:${get_column_letter(place)}${len(dimension.labels)}"
        for place, (_, dimension) in enumerate(numbered_dimensions(), start=1)
    ]
    yes = f'"{_YES}"'
    columns = [*offers, *[yes for _ in FLAG_NAMES], *[None] * (len(_WRITTEN) - 1), yes]
    for place, formula in enumerate(columns, start=first):
        if formula is not None:
            offer = DataValidation(type="list", formula1=formula, allow_blank=True, showErrorMessage=True)
            offer.errorTitle, offer.error = "请从列表中选择", "Choose from the list"
            letter = get_column_letter(place)
            offer.add(f"{letter}2:{letter}{max(rows, 2)}")
            sheet.add_data_validation(offer)


def _write_labels(book: Workbook) -> None:
    sheet = book.create_sheet(_LABELS)
    for place, (_, dimension) in enumerate(numbered_dimensions(), start=1):
        for row, name in enumerate(dimension.zh_names(), start=1):
            _put(sheet.cell(row, place), name)


def _write_data(sheet: Worksheet, tasks: Iterable[Task], expert: str, owner: Owner) -> None:
    """What the answers are read with: who is asked, and of each question what was shown and proposed."""
    rows: list[Sequence[str]] = [(expert, owner.dataset, owner.token)]
    for task in tasks:
        data = {name: task.data.get(name, "") for name in (QUESTION_ID, ARM, BATCH, BASE)}
        rows.append((task.question_id, json.dumps(data, ensure_ascii=False), json.dumps(_proposed(task))))
    for number, row in enumerate(rows, start=1):
        for place, text in enumerate(row, start=1):
            _put(sheet.cell(number, place), text)


def fits(task: Task) -> bool:
    """Whether its texts fit into cells."""
    return all(len(task.data.get(name, "")) < _LONGEST // 2 for name in ("text", "explanation", BASE))


def _proposed(task: Task) -> dict[str, str]:
    result = (task.prediction or {}).get("result", ())
    return {item["from_name"]: item["value"]["choices"][0] for item in result}


def _put(cell: Cell | Any, text: str) -> None:
    """Write text as text: one that begins with = is no formula."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell.value = ILLEGAL_CHARACTERS_RE.sub("", text)
    cell.data_type = "s"


def _text(value: object) -> str:
    return "" if value is None else str(value).strip()


def _annotation(
    cells: Mapping[str, str],
    data: Mapping[str, Any],
    proposed: Mapping[str, str],
    expert: str,
    moment: datetime,
) -> dict[str, Any]:
    """A row as the annotation that the server would send."""
    number = int(sha256("sheet", expert, str(data[QUESTION_ID]))[:12], 16)
    return {
        "id": -number,  # no id of the server's
        "completed_by": 0,
        "updated_at": moment.isoformat(),
        "result": list(_result(cells, proposed)),
    }


def _result(cells: Mapping[str, str], proposed: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    for numeral, dimension in numbered_dimensions():
        label, offered = cells[f"{numeral} {dimension.zh}"], proposed.get(dimension.name)
        if label:
            origin = "prediction" if label == offered else "prediction-changed" if offered else "manual"
            yield choice(dimension.name, [label]) | {"origin": origin}
    if flags := [flag.zh for flag in FLAG_NAMES if cells[flag.zh] == _YES]:
        yield choice(FLAGS, flags) | {"origin": "manual"}
    for name, (column, _) in zip((CORRECTED, CORRECTED_KEY, NOTE), _WRITTEN, strict=False):
        if cells[column]:
            yield _written(name, cells[column])


def _written(name: str, text: str) -> dict[str, Any]:
    return {"from_name": name, "to_name": TEXT, "type": "textarea", "value": {"text": [text]}}


def _opened(path: Path) -> Workbook:
    from openpyxl import load_workbook
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        book = load_workbook(path)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
    except (InvalidFileException, BadZipFile, KeyError, ValueError, TypeError) as error:
        raise UserError(f"{path} is no workbook ({type(error).__name__}): save it as .xlsx") from None
    if not {_MAIN, _DATA} <= set(book.sheetnames):
        raise UserError(f"{path} is no workbook of `review sheet export`, or its hidden sheets were removed")
    return book


def export(
    tables: Tables, params: ReviewParams, context: Context, *, expert: str, path: Path, count: int | None
) -> int:
    """Write a workbook with the questions that wait for an expert; how many.

    Left out is what the expert has answered, what two people have, and what other workbooks that are out hold for two.

    Raises:
        UserError: nothing waits for the expert, or the file cannot be written.
    """
    from pipeline.review.sending import review_tasks

    pulled = tables["pulled"].filter(pl.col("project") == "review").select("question_id", "reviewer")
    out = context.build / FOLDER / _OUT
    before = read_table(out) if out.exists() else pulled.clear()
    asked = pl.concat([pulled, before]).unique()
    own = set(asked.filter(pl.col("reviewer") == expert)["question_id"])
    full = set(asked.group_by("question_id").len().filter(pl.col("len") >= EXPERTS)["question_id"])
    again = set(before.filter(pl.col("reviewer") == expert)["question_id"]) - set(
        pulled.filter(pl.col("reviewer") == expert)["question_id"]
    )
    wanted = [
        task
        for task in review_tasks(tables, params, context, crops=False)
        if fits(task) and (task.question_id in again or task.question_id not in own | full)
    ][:count]
    if not wanted:
        raise UserError(f"nothing waits for {expert}: every question is with two people already, or answered")
    remember_shown(context.build, tables["annotations"])
    new = pl.DataFrame(
        {"question_id": [task.question_id for task in wanted], "reviewer": expert}, before.schema
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    replace_table(out, pl.concat([before, new]).unique().sort("reviewer", "question_id"))
    write(path, [task.sent() for task in wanted], expert, owner_of(context))
    return len(wanted)


def take_in(
    paths: Sequence[Path], params: ReviewParams, context: Context
) -> list[tuple[Path, Sheet, Counter[str]]]:
    """Read workbooks that came back; what they say counts like what comes from the server.

    The same workbook again changes nothing; a later one of the same expert replaces what it answers anew. Rows that
    are not confirmed take nothing back.

    Returns:
        Each with what it holds, and what does not count by reason.

    Raises:
        UserError: one is none of ours; then none is taken in.
    """
    owner = owner_of(context)
    sheets = [(path, read(path, owner)) for path in paths]
    pulled, found = read_pulled(context.build, SHEETS), []
    for path, sheet in sheets:
        reading = Reading()
        for data, annotation in sheet.answers:
            reading.extend(read_task(data, [annotation], {0: sheet.expert}, "review"))
        pulled = _with(pulled, reading, sheet)
        found.append((path, sheet, Counter(each.reason for each in reading.rejects)))
    write_pulled(context.build, SHEETS, replace(pulled, project="workbooks"))
    combine(context.build, read_all(context.build), params)
    return found


def _with(pulled: Pulled, reading: Reading, sheet: Sheet) -> Pulled:
    """What was taken in with what a workbook says, where that is later."""
    fresh: dict[str, pl.DataFrame] = {}
    seen = [
        SeenAnnotation(
            question_id=str(data[QUESTION_ID]),
            annotation_id=annotation["id"],
            updated_at=timestamp(annotation["updated_at"]),
            skipped=False,
            reviewer=sheet.expert,
            answer=json.dumps(annotation["result"], ensure_ascii=False),
        )
        for data, annotation in sheet.answers
    ]
    rows: dict[str, Sequence[Record]] = {
        "annotations": seen,
        "reviews": reading.reviews,
        "corrections": reading.corrections,
    }
    mine = pulled.annotations.filter(pl.col("reviewer") == sheet.expert)
    later = {
        row["question_id"]
        for row in mine.iter_rows(named=True)
        if any(
            each.question_id == row["question_id"] and each.updated_at < row["updated_at"] for each in seen
        )
    }
    answered = {each.question_id for each in seen} - later
    for name, own in rows.items():
        frame: pl.DataFrame = getattr(pulled, name)
        who = "by" if name == "corrections" else "reviewer"
        kept = frame.filter(~(pl.col("question_id").is_in(answered) & (pl.col(who) == sheet.expert)))
        new = [each.model_dump(mode="json") for each in own if each.question_id in answered]  # type: ignore[attr-defined]
        fresh[name] = pl.concat([kept, pl.DataFrame(new, schema=frame.schema)]).sort(
            "question_id", who, "updated_at"
        )
    return replace(pulled, **fresh)  # type: ignore[arg-type]
