"""Review in a workbook: for experts without a login or a network. Answers are read like those of the server.

A row is a question as the server's screen shows it, with the same labels filled in. It counts when the expert has
confirmed it: a label that nobody looked at reads like one that was accepted.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl
import xlsxwriter
from xlsxwriter.utility import xl_col_to_name

from build_dataset.annotation.adjudication import ADJUDICATION
from build_dataset.annotation.label_studio import projects, pull, read, screen
from build_dataset.annotation.label_studio.tasks import ARM, BATCH, QUESTION_ID, ReviewTask
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import folder, lineage, workbook
from build_dataset.pipeline.review.exchange import HEADS, Ruling, cases, review_tasks, rulings_of
from build_dataset.pipeline.review.progress import assignment
from build_dataset.pipeline.runtime.publish import read_table
from build_dataset.pipeline.stage import Context, Tables
from build_dataset.schemas.errors import UserError

_GUIDE, _RULINGS = "说明 guide", "仲裁 rulings"  # names of sheets
_YES = workbook.FORM["yes"][0]  # confirms a row, sets a flag
_OUT = "workbooks.parquet"  # table of the questions that went to each expert in workbooks, as they were shown
LONGEST = 32_000  # characters: Excel takes 32,767 in a cell


def write(
    path: Path, tasks: Sequence[ReviewTask], expert: str, owner: projects.Owner, rulings: Sequence[Ruling] = ()
) -> None:
    """Write the workbook of an expert, with rulings that differ from earlier answers."""
    content = BytesIO()
    # What the answers are read with: the expert, and the text and the proposal of each question.
    data = [[expert, owner.dataset, owner.token], *([task.question_id, *_sent(task)] for task in tasks)]
    marks = [workbook.row_mark(owner, expert, task.question_id) for task in tasks]
    guide = workbook.FORM["ruling"] * any(screen.OPINIONS in task.data for task in tasks) + workbook.FORM["guide"]
    labels = zip_longest(*(dimension.zh_names() for _, dimension in screen.numbered_dimensions()), fillvalue="")
    with xlsxwriter.Workbook(content, workbook.AS_TEXT) as book:
        put_rows(book, _GUIDE, [[line] for line in guide.splitlines()], 120)
        _write_main(book, tasks, marks)
        if rulings:
            put_rows(book, _RULINGS, [HEADS, *(row.cells() for row in rulings)])
        put_rows(book, workbook.LABELS, labels).very_hidden()
        put_rows(book, workbook.DATA, data).very_hidden()
    try:
        path.write_bytes(content.getvalue())
    except OSError as error:
        raise UserError(f"{path} cannot be written: {error.strerror}") from None


def export(
    tables: Tables, params: ReviewParams, context: Context, *, expert: str, path: Path, count: int | None
) -> int:
    """Write a workbook with the questions that wait for an expert; return their number.

    Left out is what the expert has answered, what enough people have, and what workbooks that are out hold for them;
    with ``assign``, what is assigned to others. Raises ``UserError`` where nothing waits for the expert.
    """
    _refuse_uncounted(expert, params)
    _refuse_path_or_name(path, expert, context)
    rulings = rulings_of(tables, params).get(expert, [])
    tables = {**tables, "pulled": lineage.trace(tables).pulled}  # what asks something else now is asked anew
    pulled, before = _answered(tables["pulled"], context.build), _out(context.build)
    asked = pl.concat([pulled, before.select(pulled.columns)]).unique()
    theirs = pl.col("reviewer") == expert
    answered = set(pulled.filter(theirs)["question_id"])
    held = set(before.filter(theirs)["question_id"]) - answered  # out and not back: written again
    full = set(asked.group_by("question_id").len().filter(pl.col("len") >= params.experts)["question_id"])
    tasks = [task for task in review_tasks(tables, params, context, crops=False) if fits_cells(task)]
    if params.assign:
        mine = assignment(tables, params).questions.get(expert, set())
        full = set(tables["questions"]["question_id"]) - mine  # gold questions are everybody's
    wanted = [task for task in tasks if task.question_id in held or task.question_id not in answered | full][:count]
    if not wanted:
        others = ", ".join(f"{who} holds {count}" for who, count in held_by(tables["pulled"], context.build).items())
        problem = f"; of workbooks that are out, {others} (a lost one: `review sheet cancel`)" if others else ""
        raise UserError(
            f"nothing waits for {expert}: every question is with others already, or answered "
            f"(what they dispute: --adjudicate){problem}"
        )
    sent = [task.sent() for task in wanted]
    rows = [(each.question_id, expert, *_sent(each)) for each in sent]
    both = pl.concat([before, pl.DataFrame(rows, before.schema, orient="row")])
    latest = both.unique(["question_id", "reviewer"], keep="last").sort("reviewer", "question_id")
    folder.replace_table(context.build / folder.FOLDER / _OUT, latest)
    write(path, sent, expert, folder.owner_of(context), rulings)
    return len(wanted)


def export_cases(
    tables: Tables, params: ReviewParams, context: Context, *, expert: str, path: Path, count: int | None = None
) -> int:
    """Write a workbook with what waits for a third expert, who sees both opinions and no names; return their number.

    Left out is what that expert has labelled. Raises ``UserError`` where nothing waits, or no ruling would count.
    """
    _refuse_uncounted(expert, params, ruling=True)
    _refuse_path_or_name(path, expert, context)
    tasks, labelled = cases(tables, params, context, crops=False)
    free = [each for each in tasks if expert not in labelled[each.question_id] and fits_cells(each)]
    wanted = []
    for each in free[:count]:
        # The question as it stands: what was proposed for it is told among the opinions.
        _, text, key, *_ = json.loads(each.data[screen.BASE])
        wanted.append(replace(each, data={**each.data, "text": text, "key": key}).sent())
    if not wanted:
        raise UserError(f"nothing waits for a ruling by {expert}")
    write(path, wanted, expert, folder.owner_of(context))
    return len(wanted)


def _refuse_path_or_name(path: Path, expert: str, context: Context) -> None:
    known = {address for pulled in folder.read_all(context.build) for address in pulled.people.values()}
    logins = sorted(each for each in known if each.partition("@")[0] == expert)
    if logins and "@" not in expert:
        raise UserError(f"{expert} has the login {logins[0]}: use that name, or both count as two people who agree")
    if path.exists():
        raise UserError(f"{path} is there already, maybe filled in: import it, then move it away, or give --out")


def _answered(pulled: pl.DataFrame, build: Path) -> pl.DataFrame:
    """Return who has answered which question, gold questions too."""
    reviews = pulled.filter(pl.col("project") == "review").select("question_id", "reviewer")
    return pl.concat([reviews, folder.read_control(build).select(reviews.columns)])


def held_by(pulled: pl.DataFrame, build: Path) -> dict[str, int]:
    """Return how many questions each expert holds in workbooks without having answered them."""
    waiting = _out(build).join(_answered(pulled, build), on=["question_id", "reviewer"], how="anti")
    return dict(waiting.group_by("reviewer").len().sort("reviewer").iter_rows())


def cancel(pulled: pl.DataFrame, build: Path, expert: str) -> int:
    """Let go of what a lost workbook holds, so that others get it; return how many. What comes back counts."""
    held = held_by(pulled, build)
    if expert not in held:
        others = ", ".join(f"{who} {count}" for who, count in held.items()) or "nobody"
        whose = f"{expert} holds no question in a workbook" if expert else "--expert says whose workbook is lost"
        raise UserError(f"{whose}; open questions are held by: {others}")
    staying = pl.col("reviewer") != expert
    answered = _out(build).join(_answered(pulled, build), on=["question_id", "reviewer"], how="semi")
    kept = pl.concat([_out(build).filter(staying), answered.filter(~staying)]).sort("reviewer", "question_id")
    folder.replace_table(build / folder.FOLDER / _OUT, kept)
    return held[expert]


def import_sheets(
    paths: Sequence[Path], params: ReviewParams, context: Context
) -> list[tuple[Path, workbook.Sheet, list[str]]]:
    """Read workbooks that came back; return each with what it holds, and a line on each answer that does not count.

    Their answers count like those from the server. The same workbook again changes nothing; a later one of the
    same expert replaces what it answers anew. Rows that are not confirmed take nothing back. Where one is none of
    ours, or its expert's answers would not count, a ``UserError`` says so and none is taken in.
    """
    owner, sent = folder.owner_of(context), defaultdict[str, dict[str, Any]](dict)  # as it was last sent, by expert
    for question_id, expert, *parts in _out(context.build).iter_rows():
        sent[expert][question_id] = tuple(map(json.loads, parts))
    sheets = [(path, workbook.read(path, owner, sent)) for path in paths]
    for _, sheet in sheets:
        _refuse_uncounted(sheet.expert, params, ruling=any(screen.OPINIONS in data for _, data, _ in sheet.answers))
    taken, imported = list[read.PulledRows](), []
    for path, sheet in sheets:
        rows, faults = read.PulledRows(), [*sheet.refused.items()]
        for place, data, annotation in sheet.answers:
            project = ADJUDICATION if screen.OPINIONS in data else "review"
            answer = read.read_task(data, [annotation], {0: sheet.expert}, project)
            faults += [(place, f"{each.reason} ({each.detail}); the rest of the row counts") for each in answer.rejects]
            rows.extend(answer)
        taken.append(rows)
        lines = [f"sheet {workbook.MAIN!r}, row {place}: {why}" for place, why in sorted(faults)]
        imported.append((path, sheet, lines))
    take_in(taken, params, context)
    return imported


def take_in(parts: Iterable[read.PulledRows], params: ReviewParams, context: Context) -> None:
    """Add what came back in workbooks, one after the other, to what had come before."""
    pulled = folder.read_pulled(context.build, folder.SHEETS)
    for rows in parts:
        pulled = with_rows(pulled, rows)
    folder.write_pulled(context.build, folder.SHEETS, replace(pulled, project="workbooks"))
    folder.combine(context.build, params)


def fits_cells(task: ReviewTask) -> bool:
    """Return whether its texts fit into cells."""
    return all(len(task.data.get(name, "")) < LONGEST // 2 for name in ("text", "explanation", screen.BASE))


def _out(build: Path) -> pl.DataFrame:
    """Return what is out, or was."""
    path = build / folder.FOLDER / _OUT
    names = dict.fromkeys(("question_id", "reviewer", "shown", "proposed"), pl.String)
    return read_table(path) if path.exists() else pl.DataFrame(schema=names)


def _sent(task: ReviewTask) -> tuple[str, str]:
    """Return what answers are read with: the text and the proposal of a question, as JSON."""
    names = (QUESTION_ID, ARM, BATCH, screen.BASE, *({screen.OPINIONS} & {*task.data}))
    shown = {name: task.data.get(name, "") for name in names}
    return json.dumps(shown, ensure_ascii=False), json.dumps(_proposed(task), ensure_ascii=False)


def _write_main(book: Any, tasks: Sequence[ReviewTask], marks: Sequence[str]) -> None:
    sheet, grey, unlocked = workbook.begin_sheet(book, workbook.MAIN, heads := workbook.columns())
    listed = [dimension for _, dimension in screen.numbered_dimensions()]
    for number, (task, mark) in enumerate(zip(tasks, marks, strict=True), start=1):
        proposed = _proposed(task)
        labels = [proposed.get(dimension.name, "") for dimension in listed]
        shown = [task.question_id, *(task.data[name] for name in ("text", "key", "explanation"))]
        told = task.data.get(screen.OPINIONS) or "\n".join(filter(None, labels))
        sheet.write_row(number, 0, map(workbook.legal, [*shown, told]), grey)
        sheet.set_row_pixels(number, workbook.row_pixels(zip([*shown, told], workbook.FIXED.values(), strict=True)))
        sheet.write_row(number, len(workbook.FIXED), labels, unlocked)
        sheet.write(number, len(workbook.FIXED) + len(labels), mark, grey)
        empty = [""] * (len(screen.FLAG_NAMES) + len(workbook.WRITTEN))
        sheet.write_row(number, len(workbook.FIXED) + len(labels) + 1, empty, unlocked)
    # Lists to choose from, in the columns of labels, of flags and of what is done.
    offers: list[str | list[str] | None] = [
        f"={workbook.LABELS}!${(letter := xl_col_to_name(place))}$1:${letter}${len(dimension.labels)}"
        for place, dimension in enumerate(listed)
    ]
    offers += [None, *[[_YES] for _ in screen.FLAG_NAMES], *[None] * (len(workbook.WRITTEN) - 1), [_YES]]
    warning = {"error_title": "请从列表中选择", "error_message": "Choose from the list"}
    for place, offer in enumerate(offers, start=len(workbook.FIXED)):
        if offer is not None:
            rule = {"validate": "list", "source": offer, "error_type": "warning", **warning}
            sheet.data_validation(1, place, max(len(tasks), 1), place, rule)
    sheet.freeze_panes(1, 2)
    sheet.autofilter(0, 0, len(tasks), len(heads) - 1)
    # No sorting: Excel would sort the columns that can be written and leave the others where they are.
    sheet.protect("", dict.fromkeys(("autofilter", "format_columns", "format_rows"), True))
    sheet.activate()


def put_rows(book: Any, name: str, rows: Iterable[Sequence[str]], width: int = 30) -> Any:
    """Write a sheet of texts in columns so wide and return it."""
    sheet, wrapped = book.add_worksheet(name), book.add_format({"text_wrap": True, "valign": "top"})
    sheet.set_column(0, len(HEADS) - 1, width)
    for number, row in enumerate(rows):
        sheet.set_row_pixels(number, workbook.row_pixels((text, width) for text in row))
        sheet.write_row(number, 0, map(workbook.legal, row), wrapped)
    return sheet


def _proposed(task: ReviewTask) -> dict[str, str]:
    return {item["from_name"]: item["value"]["choices"][0] for item in (task.prediction or {}).get("result", ())}


def _refuse_uncounted(expert: str, params: ReviewParams, *, ruling: bool = False) -> None:
    if ruling and params.adjudicators and expert not in params.adjudicators:
        raise UserError(f"{expert} is none of review.adjudicators, so that no ruling of theirs would count")
    if not params.invites(expert):
        raise UserError(f"{expert} is none of review.reviewers, so the answers would not count: add the name there")
    if expert in params.adjudicators and not ruling:
        problem = "is an adjudicator (review.adjudicators), who would rule on their own labels"
        raise UserError(f"{expert} {problem}: ask another expert")


def with_rows(pulled: pull.Pulled, rows: read.PulledRows) -> pull.Pulled:
    """Return what came back in workbooks with more of it: a later answer takes the place of an earlier one."""
    # An expert's annotation of a question has the same id in every workbook. What was there already keeps its time:
    # saving a workbook once more makes no old answer later than one that was given on the server meanwhile.
    known = pulled.annotations.select("annotation_id", "updated_at", "answer")
    there = {name: (updated_at, answer) for name, updated_at, answer in known.iter_rows()}
    pairs = ((row, there.get(row.annotation_id, ("", None))) for row in rows.annotations)
    taken = {row.annotation_id for row, (at, answer) in pairs if at <= row.updated_at and answer != row.answer}
    stale = dict.fromkeys(("annotations", "reviews", "corrections"), pl.col("annotation_id").is_in(taken))
    new: dict[str, Any] = {name: [row for row in getattr(rows, name) if row.annotation_id in taken] for name in stale}
    stale["rejects"] = pl.col("item").str.json_path_match("$.annotation_id").cast(pl.Int64).is_in(taken)
    new["rejects"] = [row for row in rows.rejects if json.loads(row.item or "{}").get("annotation_id") in taken]
    return pulled.with_rows(read.PulledRows(**new), stale)
