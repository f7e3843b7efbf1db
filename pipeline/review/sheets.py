"""Review in a workbook: for experts without a login or a network. Answers are read like those of the server.

A row is a question as the server's screen shows it, with the same labels filled in. It counts when the expert has
confirmed it: a label that nobody looked at reads like one that was accepted.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

import polars as pl
import xlsxwriter
from python_calamine import CalamineError, CalamineWorkbook
from xlsxwriter.utility import xl_col_to_name

from build_dataset.annotation.label_studio import screen
from build_dataset.annotation.label_studio.projects import Owner
from build_dataset.annotation.label_studio.pull import Pulled
from build_dataset.annotation.label_studio.read import PulledRows, read_task
from build_dataset.annotation.label_studio.tasks import ARM, BATCH, QUESTION_ID, ReviewTask, choice
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import folder
from build_dataset.pipeline.review.exchange import review_tasks
from build_dataset.pipeline.review.progress import assignment
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.pipeline.stage import Context, Tables
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import sha256

_MAIN, _GUIDE, _LABELS, _DATA = "复核 review", "说明 guide", "labels", "data"
_YES = "是"  # confirms a row, sets a flag
_OUT = "workbooks.parquet"  # table of the questions that went to each expert in workbooks
_LONGEST = 32_000  # characters: Excel takes 32,767 in a cell
_FORM = shipped_toml("build_dataset.pipeline.review", "workbook.toml")
_FIXED, _WRITTEN = _FORM["fixed"], _FORM["written"]
_ID, _DONE = next(iter(_FIXED)), [*_WRITTEN][-1]
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # characters that no cell may hold
_SAVED = re.compile(rb"<dcterms:modified[^>]*>([^<]+)<")
"""Time at which a workbook was saved: `<dcterms:modified xsi:type="dcterms:W3CDTF">2026-11-22T08:00:00Z<`."""


class Sheet(NamedTuple):
    """A workbook that came back."""

    expert: str
    answers: Sequence[tuple[int, Mapping[str, Any], Mapping[str, Any]]]
    """The row's number, data of the task and the annotation, as the server would send them, of confirmed rows."""
    unconfirmed: int  # rows in which a label was changed or something written, and which are not confirmed
    open: int  # all other rows that are not confirmed


def write(path: Path, tasks: Sequence[ReviewTask], expert: str, owner: Owner) -> None:
    """Write the workbook of an expert."""
    content = BytesIO()
    # What the answers are read with: the expert, and the text and the proposal of each question.
    data = [[expert, owner.dataset, owner.token]]
    for task in tasks:
        shown = {name: task.data.get(name, "") for name in (QUESTION_ID, ARM, BATCH, screen.BASE)}
        data.append([task.question_id, json.dumps(shown, ensure_ascii=False), json.dumps(_proposed(task))])
    columns = (dimension.zh_names() for _, dimension in screen.numbered_dimensions())
    labels = zip_longest(*columns, fillvalue="")
    # Text is written as text: one that begins with = is no formula.
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with xlsxwriter.Workbook(content, options) as book:
        _put_rows(book, _GUIDE, [[line] for line in _FORM["guide"].splitlines()]).set_column(0, 0, 120)
        _write_main(book, tasks)
        _put_rows(book, _LABELS, labels).very_hidden()
        _put_rows(book, _DATA, data).very_hidden()
    try:
        path.write_bytes(content.getvalue())
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def read(path: Path, owner: Owner) -> Sheet:
    """Read a workbook that came back; raise ``UserError`` where it is of another folder, or its form was changed."""
    main, stored, saved = _opened(path)
    expert, dataset, token = stored[0][0].lower(), *stored[0][1:3]
    if (dataset, token) != (owner.dataset, owner.token):
        raise UserError(f"{path} is of dataset {dataset} of another folder: import it there")
    known = {row[0]: (json.loads(row[1]), json.loads(row[2])) for row in stored[1:]}
    names = list(_columns())
    if main[:1] != [names]:
        raise UserError(f"{path}: the columns of {_MAIN!r} were changed: copy the answers into a new export")
    # Whole seconds, rounded down: what was saved in the second in which it was written is later all the same.
    moment = saved + timedelta(seconds=1)
    answers, unconfirmed, untouched, seen = [], 0, 0, set()
    for number, row in enumerate(main[1:], start=2):
        cells = dict(zip(names, row, strict=False))
        question_id = cells[_ID]
        if not question_id:
            continue
        if question_id not in known or question_id in seen:
            told = "is no question of this workbook, or stands there twice"
            raise UserError(f"{path}, row {number}: {question_id!r} {told}")
        seen.add(question_id)
        data, proposed = known[question_id]
        result = list(_result(cells, proposed))
        if cells[_DONE] == _YES:
            # The id is none of the server's; the same for the same expert and question.
            number_of = -int(sha256("sheet", expert, question_id)[:12], 16)
            said = {"id": number_of, "updated_at": moment.isoformat(), "result": result}
            answers.append((number, data, {"completed_by": 0, **said}))
        elif any(item.get("origin") != "prediction" for item in result):
            unconfirmed += 1
        else:
            untouched += 1
    return Sheet(expert, answers, unconfirmed, untouched)


def export(
    tables: Tables, params: ReviewParams, context: Context, *, expert: str, path: Path, count: int | None
) -> int:
    """Write a workbook with the questions that wait for an expert; return their number.

    Left out is what the expert has answered, what enough people have, and what workbooks that are out hold for them;
    with ``assign``, what is assigned to others. Raises ``UserError`` where nothing waits for the expert.
    """
    _refuse_uncounted(expert, params)
    known = {address for pulled in folder.read_all(context.build) for address in pulled.people.values()}
    logins = sorted(each for each in known if each.partition("@")[0] == expert)
    if logins and "@" not in expert:
        told = f"has the login {logins[0]}: use that name, or both count as two people who agree"
        raise UserError(f"{expert} {told}")
    if path.exists():
        told = "is there already, maybe filled in: import it, then move it away, or give --out"
        raise UserError(f"{path} {told}")
    pulled = tables["pulled"].filter(pl.col("project") == "review").select("question_id", "reviewer")
    pulled = pl.concat([pulled, folder.read_control(context.build).select(pulled.columns)])
    out = context.build / folder.FOLDER / _OUT
    before = read_table(out) if out.exists() else pulled.clear()
    asked = pl.concat([pulled, before]).unique()
    theirs = pl.col("reviewer") == expert
    answered = set(pulled.filter(theirs)["question_id"])
    held = set(before.filter(theirs)["question_id"]) - answered  # out and not back: written again
    full = set(asked.group_by("question_id").len().filter(pl.col("len") >= params.experts)["question_id"])
    tasks = [task for task in review_tasks(tables, params, context, crops=False) if fits_cells(task)]
    if params.assign:
        mine = assignment(tables, params).questions.get(expert, set())
        full = set(tables["questions"]["question_id"]) - mine  # gold questions are everybody's
    free = [task for task in tasks if task.question_id in held or task.question_id not in answered | full]
    wanted = free[:count]
    if not wanted:
        raise UserError(f"nothing waits for {expert}: every question is with others already, or answered")
    new = pl.DataFrame({"question_id": [t.question_id for t in wanted], "reviewer": expert}, before.schema)
    out.parent.mkdir(parents=True, exist_ok=True)
    folder.replace_table(out, pl.concat([before, new]).unique().sort("reviewer", "question_id"))
    write(path, [task.sent() for task in wanted], expert, folder.owner_of(context))
    return len(wanted)


def import_sheets(paths: Sequence[Path], params: ReviewParams, context: Context) -> list[tuple[Path, Sheet, list[str]]]:
    """Read workbooks that came back; return each with what it holds, and a line on each answer that does not count.

    Their answers count like those from the server. The same workbook again changes nothing; a later one of the
    same expert replaces what it answers anew. Rows that are not confirmed take nothing back. Where one is none of
    ours, or its expert's answers would not count, a ``UserError`` says so and none is taken in.
    """
    owner = folder.owner_of(context)
    sheets = [(path, read(path, owner)) for path in paths]
    for _, sheet in sheets:
        _refuse_uncounted(sheet.expert, params)
    pulled, found = folder.read_pulled(context.build, folder.SHEETS), []
    for path, sheet in sheets:
        rows, told = PulledRows(), list[str]()
        for place, data, annotation in sheet.answers:
            own = read_task(data, [annotation], {0: sheet.expert}, "review")
            told += [f"sheet {_MAIN!r}, row {place}: {each.reason} ({each.detail})" for each in own.rejects]
            rows.extend(own)
        pulled = _with(pulled, rows)
        found.append((path, sheet, told))
    folder.write_pulled(context.build, folder.SHEETS, replace(pulled, project="workbooks"))
    folder.combine(context.build, params)
    return found


def fits_cells(task: ReviewTask) -> bool:
    """Return whether its texts fit into cells."""
    return all(len(task.data.get(name, "")) < _LONGEST // 2 for name in ("text", "explanation", screen.BASE))


def _columns() -> dict[str, int]:
    labels = {f"{numeral} {dimension.zh}": 18 for numeral, dimension in screen.numbered_dimensions()}
    return {**_FIXED, **labels, **{flag.zh: 10 for flag in screen.FLAG_NAMES}, **_WRITTEN}


def _write_main(book: Any, tasks: Sequence[ReviewTask]) -> None:
    wrapped = {"text_wrap": True, "valign": "top"}
    grey = book.add_format({**wrapped, "bg_color": "#F2F2F2"})
    head = book.add_format({**wrapped, "bg_color": "#F2F2F2", "bold": True})
    unlocked = book.add_format({**wrapped, "locked": False})
    sheet, columns = book.add_worksheet(_MAIN), _columns()
    sheet.write_row(0, 0, columns, head)
    for place, width in enumerate(columns.values()):
        sheet.set_column(place, place, width)
    listed = [dimension for _, dimension in screen.numbered_dimensions()]
    for number, task in enumerate(tasks, start=1):
        said = _proposed(task)
        own = [said.get(dimension.name, "") for dimension in listed]
        shown = [task.question_id, *(task.data[name] for name in ("text", "key", "explanation"))]
        sheet.write_row(number, 0, map(_legal, [*shown, "\n".join(filter(None, own))]), grey)
        empty = [""] * (len(screen.FLAG_NAMES) + len(_WRITTEN))
        sheet.write_row(number, len(_FIXED), [*own, *empty], unlocked)
    # Lists to choose from, in the columns of labels, of flags and of what is done.
    offers: list[str | list[str] | None] = [
        f"={_LABELS}!${(letter := xl_col_to_name(place))}$1:${letter}${len(dimension.labels)}"
        for place, dimension in enumerate(listed)
    ]
    offers += [*[[_YES] for _ in screen.FLAG_NAMES], *[None] * (len(_WRITTEN) - 1), [_YES]]
    told = {"error_title": "请从列表中选择", "error_message": "Choose from the list"}
    for place, offer in enumerate(offers, start=len(_FIXED)):
        if offer is not None:
            rule = {"validate": "list", "source": offer, **told}
            sheet.data_validation(1, place, max(len(tasks), 1), place, rule)
    sheet.freeze_panes(1, 2)
    sheet.autofilter(0, 0, len(tasks), len(columns) - 1)
    sheet.protect("", dict.fromkeys(("sort", "autofilter", "format_columns", "format_rows"), True))
    sheet.activate()


def _put_rows(book: Any, name: str, rows: Iterable[Sequence[str]]) -> Any:
    sheet, wrapped = book.add_worksheet(name), book.add_format({"text_wrap": True, "valign": "top"})
    for number, row in enumerate(rows):
        sheet.write_row(number, 0, map(_legal, row), wrapped)
    return sheet


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)


def _proposed(task: ReviewTask) -> dict[str, str]:
    result = (task.prediction or {}).get("result", ())
    return {item["from_name"]: item["value"]["choices"][0] for item in result}


def _result(cells: Mapping[str, str], proposed: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield a row as the items of an annotation that the server would send."""
    for numeral, dimension in screen.numbered_dimensions():
        label, offered = cells[f"{numeral} {dimension.zh}"], proposed.get(dimension.name)
        if label:
            origin = "prediction" if label == offered else "prediction-changed" if offered else "manual"
            yield choice(dimension.name, [label]) | {"origin": origin}
    if flags := [flag.zh for flag in screen.FLAG_NAMES if cells[flag.zh] == _YES]:
        yield choice(screen.FLAGS, flags) | {"origin": "manual"}
    for name, column in zip((screen.CORRECTED, screen.CORRECTED_KEY, screen.NOTE), _WRITTEN, strict=False):
        if cells[column]:
            value = {"text": [cells[column]]}
            yield {"from_name": name, "to_name": screen.TEXT, "type": "textarea", "value": value}


def _opened(path: Path) -> tuple[list[list[str]], list[list[str]], datetime]:
    """Return the rows of answers and of data, cells as text, and the time of saving."""
    try:
        book = CalamineWorkbook.from_path(path)
        if not {_MAIN, _DATA} <= set(book.sheet_names):
            told = "is no workbook of `review sheet export`, or its hidden sheets were removed"
            raise UserError(f"{path} {told}")
        sheets = (book.get_sheet_by_name(name) for name in (_MAIN, _DATA))
        main, data = (_as_text(sheet.to_python(skip_empty_area=False)) for sheet in sheets)
        with ZipFile(path) as archive:
            saved = _SAVED.search(archive.read("docProps/core.xml"))
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
    except (CalamineError, BadZipFile, KeyError, ValueError) as error:
        raise UserError(f"{path} is no workbook ({type(error).__name__}): save it as .xlsx") from None
    moment = datetime.fromisoformat(saved[1].decode()) if saved else datetime.now(UTC)
    return main, data, moment.replace(microsecond=0)


def _as_text(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """Return cells as text: the number 2.0 is 2."""
    return [[str(int(v)) if isinstance(v, float) and v.is_integer() else str(v).strip() for v in row] for row in rows]


def _refuse_uncounted(expert: str, params: ReviewParams) -> None:
    if not params.invites(expert):
        told = "is none of review.reviewers, so that the answers would not count: add the name there"
        raise UserError(f"{expert} {told}")
    if expert in params.adjudicators:
        told = "is an adjudicator (review.adjudicators), who would rule on their own labels"
        raise UserError(f"{expert} {told}: ask another expert")


def _with(pulled: Pulled, rows: PulledRows) -> Pulled:
    # An expert's annotation of a question has the same id in every workbook.
    there = dict(pulled.annotations.select("annotation_id", "updated_at").iter_rows())
    pairs = ((row.annotation_id, row.updated_at) for row in rows.annotations)
    taken = {name for name, updated_at in pairs if there.get(name, "") <= updated_at}
    stale = dict.fromkeys(("annotations", "reviews", "corrections"), pl.col("annotation_id").is_in(taken))
    new = {name: [row for row in getattr(rows, name) if row.annotation_id in taken] for name in stale}
    return pulled.with_rows(PulledRows(**new), stale)
