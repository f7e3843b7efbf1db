"""Reading workbooks that came back: xlsx, ods or csv, however people wrote into them. Nothing is matched by its place.

A row counts where its id, its text and its mark belong together. What cannot be read safely is named with its row.
"""

import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from python_calamine import CalamineError, CalamineWorkbook
from rich.cells import cell_len

from build_dataset.annotation.label_studio import editable, projects, screen, tasks
from build_dataset.annotation.lexicon_annotator import fold
from build_dataset.schemas import grouping, identity
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.errors import UserError

AS_TEXT = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
"""Options of workbooks that are written: a text that begins with = is no formula."""
MAIN, LABELS, DATA = "复核 review", "labels", "data"  # names of sheets
FORM = shipped_toml("build_dataset.pipeline.review", "workbook.toml")
FIXED, WRITTEN = FORM["fixed"], FORM["written"]
_ID, _SHOWN, _ROW, DONE = *[*FIXED][:2], FORM["row"], [*WRITTEN][-1]
_ILLEGAL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # characters that no cell may hold
_SAVED = re.compile(rb"<(?:dcterms:modified|dc:date)[^>]*>([^<]+)<")
"""Time at which a workbook was saved: `<dcterms:modified xsi:type="dcterms:W3CDTF">2026-11-22T08:00:00Z<`."""
_MOVED, _BY_CHANCE, _MANY = 6, 0.2, 8
"""Least number of changed labels to look for a sort in, agreement with the proposals (kappa) that is chance, and the
number of different labels among which changes do not cancel out by chance."""
Known = Mapping[str, tuple[Mapping[str, Any], Mapping[str, str]]]  # data and proposal of each question


class Sheet(NamedTuple):
    """A workbook that came back."""

    expert: str
    answers: Sequence[tuple[int, Mapping[str, Any], Mapping[str, Any]]]
    """The row's number, data of the task and the annotation, as the server would send them, of confirmed rows."""
    unconfirmed: int  # rows in which a label was changed or something written, and which are not confirmed
    open: int  # all other rows that are not confirmed
    refused: Mapping[int, str]  # by the row's number, why a row is not taken


class _Row(NamedTuple):
    number: int
    question_id: str
    confirmed: bool
    result: list[dict[str, Any]]


def columns() -> dict[str, int]:
    """Return the columns with their widths."""
    labels = dict.fromkeys(label_columns().values(), 18)
    return {**FIXED, **labels, _ROW: 9, **{flag.zh: 10 for flag in screen.FLAG_NAMES}, **WRITTEN}


def label_columns() -> dict[str, str]:
    """Return the head of each dimension's column: ``① 疾病组``."""
    return {each.name: f"{numeral} {each.zh}" for numeral, each in screen.numbered_dimensions()}


def row_mark(owner: projects.Owner, expert: str, question_id: str) -> str:
    """Return what stands beside a row's labels and goes with them wherever they are moved: ``r3f9a1c2``."""
    return f"r{identity.sha256('row', owner.token, expert, question_id)[:7]}"


def begin_sheet(book: Any, name: str, widths: Mapping[str, int]) -> tuple[Any, Any, Any]:
    """Add a sheet with its heads; return it and the formats of cells that nobody writes into, and of those they do."""
    wrapped = {"text_wrap": True, "valign": "top"}
    fixed = book.add_format({**wrapped, "bg_color": "#F2F2F2"})
    head = book.add_format({**wrapped, "bg_color": "#F2F2F2", "bold": True})
    sheet = book.add_worksheet(name)
    for place, (title, width) in enumerate(widths.items()):
        sheet.write(0, place, title, head)
        sheet.set_column(place, place, width)
    return sheet, fixed, book.add_format({**wrapped, "locked": False})


def row_pixels(cells: Iterable[tuple[str, int]]) -> int:
    """Return the height of a row of wrapped texts in columns so wide: not every program fits rows to their text."""
    lines = [sum(1 + cell_len(line) // width for line in text.split("\n")) for text, width in cells]
    return min(545, 20 * max(lines, default=1) + 6)  # Excel allows 409 points


def legal(text: str) -> str:
    """Return a text as a cell can hold it."""
    return _ILLEGAL.sub("", text)


def read(path: Path, owner: projects.Owner, sent: Mapping[str, Known]) -> Sheet:
    """Read a workbook; raise ``UserError`` where it is of another folder, or its labels were moved.

    ``sent`` is what went to each expert, for workbooks that came back without their hidden sheets.
    """
    sheets, saved = open_sheets(path)
    if (main := sheets.get(MAIN, sheets.get(""))) is None:
        raise UserError(f"{path} is no workbook of `review sheet export`: it has no sheet {MAIN!r}")
    begin = next((place for place, row in enumerate(main) if _ID in row), None)
    heads = main[begin] if begin is not None else []
    if missing := [name for name in columns() if heads.count(name) != 1 and name != _ROW]:
        fault = f"the columns of {MAIN!r} were changed: {missing[0]!r} is missing, or there twice"
        raise UserError(f"{path}: {fault}: copy the answers into a new export")
    rows = [(at, dict(zip(heads, row, strict=False))) for at, row in enumerate(main, 1) if at - 1 > (begin or 0)]
    expert, known = _sender(path, owner, sheets.get(DATA, []), rows, sent)
    answered: list[_Row] = []
    refused: dict[int, str] = {}
    for number, cells in rows:
        if not any(cells.get(name) for name in columns()):
            continue
        problem = _problem(cells, known, row_mark(owner, expert, cells[_ID]))
        if problem is None:
            result = list(result_of(cells, known[cells[_ID]][1]))
            answered.append(_Row(number, cells[_ID], _marked(cells[DONE]) is True, result))
        elif cells[_ID] or any(cells[name] for name in (*label_columns().values(), *WRITTEN)):
            refused[number] = problem
    read_rows, answered = grouping.group_values((row.question_id, row) for row in answered), []
    for question_id, same in read_rows.items():  # each question once; where several say different things, none
        if all(row[2:] == same[0][2:] for row in same):
            answered.append(same[0])
        else:
            refused.update({row.number: f"{question_id} stands there twice, with two answers" for row in same})
    _refuse_moved(path, answered, known)
    # Whole seconds, rounded down: what was saved in the second in which it was written is later all the same.
    moment = (saved.replace(microsecond=0) + timedelta(seconds=1)).isoformat()
    touched = [any(item.get("origin") != "prediction" for item in row.result) for row in answered if not row.confirmed]
    answers: list[tuple[int, Mapping[str, Any], Mapping[str, Any]]] = []
    for row in (row for row in answered if row.confirmed):
        # The id is none of the server's; the same for the same expert and question. What was seen goes with it.
        name, data = -int(identity.sha256("sheet", expert, row.question_id)[:12], 16), known[row.question_id][0]
        result = [*row.result, tasks.written(screen.BASE, data.get(screen.BASE, ""))]
        answers.append((row.number, data, {"completed_by": 0, "id": name, "updated_at": moment, "result": result}))
    return Sheet(expert, answers, sum(touched), len(touched) - sum(touched), dict(sorted(refused.items())))


def _sender(
    path: Path,
    owner: projects.Owner,
    stored: Sequence[Sequence[str]],
    rows: Iterable[tuple[int, Mapping[str, str]]],
    sent: Mapping[str, Known],
) -> tuple[str, Known]:
    """Return whose workbook it is, and what was sent in it: as its hidden sheet says, otherwise as its marks do."""
    if stored:
        expert, dataset, token = stored[0][0].lower(), *stored[0][1:3]
        if (dataset, token) != (owner.dataset, owner.token):
            raise UserError(f"{path} is of dataset {dataset} of another folder: import it there")
        return expert, {row[0]: (json.loads(row[1]), json.loads(row[2])) for row in stored[1:]}
    marks = {cells.get(_ROW) for _, cells in rows}
    for expert, known in sent.items():
        if any(row_mark(owner, expert, name) in marks for name in known):
            return expert, known
    raise UserError(f"{path} is of another folder, or its hidden sheets and the column {_ROW!r} were removed")


def _problem(cells: Mapping[str, str], known: Known, mark: str) -> str | None:
    """Return why a row is not taken; None where its id, text and mark belong together and its marks are understood."""
    if cells[_ID] not in known:
        return f"{cells[_ID]!r} is no question of this workbook" if cells[_ID] else "it has no question's id"
    base = editable.BaseText.loads(known[cells[_ID]][0].get(screen.BASE, ""))
    if base is not None and "".join(cells[_SHOWN].split()) != "".join(legal(base.text).split()):
        return f"its text is not that of {cells[_ID]}: sorted apart, or edited there and not in {next(iter(WRITTEN))!r}"
    if cells.get(_ROW, mark) != mark:
        return f"its labels belong to another row than {cells[_ID]}: some columns were sorted or moved alone"
    for head in (*(flag.zh for flag in screen.FLAG_NAMES), DONE):
        if _marked(cells[head]) is None:
            return f"{cells[head]!r} in {head!r} is neither yes nor no"
    return None


def _refuse_moved(path: Path, rows: Sequence[_Row], known: Known) -> None:
    """Raise ``UserError`` where a column holds the proposed labels, but in other rows: sorted alone, or a row off."""
    for name, head in label_columns().items():
        chosen = ((known[row.question_id][1], item) for row in rows for item in row.result if item["from_name"] == name)
        pairs = [(offer[name], item["value"]["choices"][0]) for offer, item in chosen if name in offer]
        moved = [(old, new) for old, new in pairs if old != new]
        before, after = Counter(old for old, _ in pairs), Counter(new for _, new in pairs)
        chance = sum(before[each] * after[each] for each in before) / max(1, len(pairs)) ** 2
        kappa = (1 - len(moved) / max(1, len(pairs)) - chance) / (1 - chance) if chance < 1 else 1.0
        balanced = (before - after).total() * 4 <= len(moved)  # an expert's changes seldom cancel out
        if len(moved) >= _MOVED and balanced and (kappa <= _BY_CHANCE or len({*map(min, moved)}) >= _MANY):
            problem = f"labels stand in other rows than they were filled in: {len(moved)} in column {head!r}"
            raise UserError(f"{path}: {problem}, sorted alone or pasted a row off: undo that and import it again")


def result_of(cells: Mapping[str, str], proposed: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """Yield a row as the items of an annotation that the server would send."""
    for name, head in label_columns().items():
        # The Chinese name of the label that a cell names; the cell itself where it names none, or two.
        text = cells[head]
        labels = {label.zh for label, names in screen.spellings(name) if fold(text) in map(fold, names)}
        label, offered = (labels.pop() if len(labels) == 1 else text), proposed.get(name)
        if label:
            origin = "prediction" if label == offered else "prediction-changed" if offered else "manual"
            yield tasks.choice(name, [label]) | {"origin": origin}
    if flags := [flag.zh for flag in screen.FLAG_NAMES if _marked(cells[flag.zh])]:
        yield tasks.choice(screen.FLAGS, flags) | {"origin": "manual"}
    for name, column in zip((screen.CORRECTED, screen.CORRECTED_KEY, screen.NOTE), WRITTEN, strict=False):
        if cells[column]:
            yield tasks.written(name, cells[column])


def _marked(text: str) -> bool | None:
    """Return whether a mark says yes; None where nobody can tell."""
    return True if fold(text) in FORM["yes"] else False if fold(text) in FORM["no"] else None


def open_sheets(path: Path) -> tuple[dict[str, list[list[str]]], datetime]:
    """Return a workbook's sheets by name, cells as text, and the time of saving; of a CSV file one without a name."""
    try:
        saved = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        if path.suffix.lower() == ".csv":
            # In UTF-8, or in the GB 18030 of a Chinese Excel, whatever stands between its cells.
            content = path.read_bytes()
            try:
                text = content.decode("utf-8-sig")
            except UnicodeDecodeError:
                text = content.decode("gb18030")
            between = max(",;\t", key=text.partition("\n")[0].count)
            return {"": _as_text(list(csv.reader(StringIO(text, newline=""), delimiter=between)))}, saved
        book = CalamineWorkbook.from_path(path)
        pages = ((name, book.get_sheet_by_name(name).to_python(skip_empty_area=False)) for name in book.sheet_names)
        sheets = {name: _as_text(rows) for name, rows in pages}
        with ZipFile(path) as archive:
            facts = {"docProps/core.xml", "meta.xml"} & {*archive.namelist()}
            if facts and (stamp := _SAVED.search(archive.read(facts.pop()))):
                saved = datetime.fromisoformat(stamp[1].decode()).astimezone(UTC)  # an ods has no zone: the machine's
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
    except (CalamineError, BadZipFile, ValueError, csv.Error) as error:
        raise UserError(f"{path} is no workbook ({type(error).__name__}): save it as .xlsx, .ods or .csv") from None
    return sheets, saved


def _as_text(rows: Sequence[Sequence[object]]) -> list[list[str]]:
    """Return cells as text: the number 2.0 is 2."""
    return [[str(int(v)) if isinstance(v, float) and v.is_integer() else str(v).strip() for v in row] for row in rows]
