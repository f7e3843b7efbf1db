"""The waiting room as a workbook: what waits, with its page and the reason, and what a person decides of it.

A row is a question. Decisions come back like a verifier's from Label Studio: corrections that the clean stage applies.
Nothing hidden travels with the workbook, so that it may be saved as CSV or by any program: what a row says is compared
with what the question says in this build.
"""

import csv
import io
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Any

import xlsxwriter
from python_calamine import CalamineError, CalamineWorkbook
from rapidfuzz import fuzz

from build_dataset.annotation.label_studio import editable, screen
from build_dataset.annotation.label_studio.read import DROP, UNSURE, PulledRows, read_task
from build_dataset.annotation.label_studio.tasks import QUESTION_ID, choice
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.crop import crops
from build_dataset.pipeline.review import folder, sheets
from build_dataset.pipeline.review.settled import CORRECT, KEEP, remember
from build_dataset.pipeline.review.stage import waiting_questions
from build_dataset.pipeline.review.workbook import as_text, csv_rows, legal
from build_dataset.pipeline.runtime.publish import find_table
from build_dataset.pipeline.stage import Context
from build_dataset.schemas.annotations import SettledDoubt
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.errors import UnreadableDocument, UserError
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.questions import Doubt, Question, ReviewItem
from build_dataset.schemas.wording import findings, in_both_languages, look_at, quoted

FILE = "waiting.xlsx"
_FORM = shipped_toml("build_dataset.pipeline.review", "waiting.toml")
_COLUMNS: dict[str, tuple[str, int]] = {name: (each["head"], each["width"]) for name, each in _FORM["columns"].items()}
_WORDS: dict[str, str] = {word: kind for kind, words in _FORM["words"].items() for word in words}  # √ → keep
_DECISIONS = [words[0] for kind, words in _FORM["words"].items() if kind != "like"]
_SHEET = "等待 waiting"
_AS_TEXT = {"strings_to_formulas": False, "strings_to_urls": False}  # a text that begins with = is no formula
_PICTURE = (520, 300)  # pixels of a cut-out in its cell, at most
_TALLEST = 545  # pixels: Excel allows 409 points
_CROP_BYTES = 60_000
_ALIKE = 60  # of 100: a text less like its question than that was moved to another row
TAKE = "take"
"""Decision to correct as the second reader proposes."""


@dataclass
class Waiting:
    """A question that waits, with every reason."""

    question: Question
    items: list[ReviewItem]
    proposals: list[Doubt] = field(default_factory=list)

    @property
    def proposed(self) -> str:
        """Its text with the second reader's proposals; raise ``UnreadableTextError`` where the text has no parts."""
        changes = [(each.field, each.quote, each.proposal or "") for each in self.proposals]
        return editable.replaced(self.base.text, changes)

    @property
    def base(self) -> editable.BaseText:
        """Its text and key as a person edits them."""
        return editable.base_text(self.question)

    @property
    def version(self) -> str:
        """A mark that changes with the text: no spreadsheet takes it for a number."""
        return f"v{sha256(self.question.content_hash, self.base.key)[:7]}"

    @property
    def found(self) -> list[tuple[str, str]]:
        """Its reasons with their evidence, each once."""
        pairs = [pair for item in self.items for pair in findings(item.reason, item.detail)]
        return list(dict.fromkeys(pairs))


@dataclass
class Decided:
    """The effect of an imported workbook."""

    decided: Counter[str] = field(default_factory=Counter)
    """Questions by decision; ``open``: rows without one."""
    told: list[str] = field(default_factory=list)
    """A line on each row that was not taken."""


def waiting_rows(build: Path) -> tuple[list[Waiting], int]:
    """Return what waits, the worst file first; and how many items hold no question to decide on."""
    pairs, without = waiting_questions(build)
    pairs.sort(key=lambda pair: pair[1].question_id)
    doubts = find_table(build, "proofread/doubts")
    named = Doubt.from_frame(doubts.drop_nulls("proposal")) if doubts is not None else ()
    proposals = group_values((each.question_id, each) for each in named)
    found = [
        Waiting(own[0][1], [item for item, _ in own], proposals.get(own[0][1].question_id, []))
        for own in (list(group) for _, group in groupby(pairs, key=lambda pair: pair[1].question_id))
    ]
    worst = Counter(each.question.document for each in found)
    found.sort(key=lambda each: (-worst[each.question.document], each.question.document, each.question.question_id))
    return found, without


def workbook(context: Context) -> tuple[bytes, int, int]:
    """Return the workbook, and the numbers of its questions and of items that hold no question."""
    rows, without = waiting_rows(context.build)
    pictures = crops([each.question for each in rows], context, _CROP_BYTES)
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, {"in_memory": True, **_AS_TEXT}) as book:
        book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})  # the same rows give the same bytes
        _write(book, rows, pictures)
    return content.getvalue(), len(rows), without


def _write(book: Any, rows: Sequence[Waiting], pictures: Mapping[str, str]) -> None:
    wrapped = {"text_wrap": True, "valign": "top"}
    fixed = book.add_format({**wrapped, "bg_color": "#F2F2F2"})
    head = book.add_format({**wrapped, "bg_color": "#F2F2F2", "bold": True})
    free = book.add_format({**wrapped, "locked": False})
    doubted = book.add_format({"bold": True, "font_color": "#C00000"})
    sheet = book.add_worksheet(_SHEET)
    proposed = any(each.proposals for each in rows)
    at = {name: place for place, name in enumerate(name for name in _COLUMNS if proposed or name != "proposal")}
    for name, place in at.items():
        title, width = _COLUMNS[name]
        sheet.write(0, place, title, head)
        sheet.set_column(place, place, width)
    for number, each in enumerate(rows, start=1):
        for name in ("decision", "scope", "key", "note"):
            sheet.write(number, at[name], each.base.key if name == "key" else "", free)
        _write_marked(sheet, (number, at["text"]), each, doubted, free)
        for name, text in _fixed(each).items():
            if name in at:
                sheet.write(number, at[name], legal(text)[: sheets.LONGEST], fixed)
        picture = pictures.get(each.question.question_id)
        tall = _place_picture(sheet, (number, at["page"]), picture) if picture else 0
        sheet.set_row_pixels(number, max(tall, _height({**_fixed(each), "text": each.base.text})))
    last = max(len(rows), 1)
    offered = [word for word in _DECISIONS if proposed or _WORDS[word.split()[0]] != TAKE]
    sheet.data_validation(1, at["decision"], last, at["decision"], {"validate": "list", "source": offered})
    sheet.data_validation(1, at["scope"], last, at["scope"], {"validate": "list", "source": _FORM["words"]["like"][:1]})
    sheet.freeze_panes(1, at["text"])
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)  # all columns on a page, where somebody prints it
    sheet.autofilter(0, 0, len(rows), len(at) - 1)
    sheets.put_rows(book, "说明 guide", [[line] for line in _FORM["guide"].splitlines()]).set_column(0, 0, 120)
    sheet.activate()


def _fixed(each: Waiting) -> dict[str, str]:
    """Return the cells that nobody needs to change."""
    why = [f"{in_both_languages(code)}：{evidence}".rstrip("：") for code, evidence in each.found]
    codes = dict.fromkeys(code for code, _ in each.found)
    todo = [line for code in codes for line in look_at(code)]
    place = f" p. {', '.join(map(str, each.question.pages))}" if each.question.pages else ""
    return {
        "why": "\n".join(why),
        "todo": "\n".join(todo),
        "proposal": "\n".join(f"{editable.field_title(d.field)}：{d.quote} → {d.proposal}" for d in each.proposals),
        "explanation": each.question.explanation or "",
        "file": f"{each.question.document}{place}",
        "id": each.question.question_id,
        "version": each.version,
    }


def _write_marked(sheet: Any, cell: tuple[int, int], each: Waiting, doubted: Any, free: Any) -> None:
    """Write the text to edit, what the reasons quote in red."""
    text = legal(each.base.text)[: sheets.LONGEST]
    places = {mark for _, evidence in each.found for mark in quoted(evidence) if mark in text}
    parts = re.split("|".join(f"({re.escape(mark)})" for mark in sorted(places, key=len, reverse=True)), text)
    pieces = [part for part in parts if part] if places else []
    if len(pieces) < 2:
        sheet.write(*cell, text, free)
        return
    rich = [item for piece in pieces for item in ((doubted, piece) if piece in places else (piece,))]
    sheet.write_rich_string(*cell, *rich, free)


def _height(cells: Mapping[str, str]) -> int:
    """Return the pixels that the longest of wrapped texts takes: not every program fits rows to their text."""
    lines = [
        sum(1 + sum(2 - char.isascii() for char in line) // _COLUMNS[name][1] for line in text.split("\n"))
        for name, text in cells.items()
    ]
    return min(_TALLEST, 20 * max(lines) + 6)


def _place_picture(sheet: Any, cell: tuple[int, int], uri: str) -> int:
    """Put a picture into its cell; return the pixels of height that it needs."""
    from PIL import Image

    data = b64decode(uri.partition(",")[2])
    width, height = Image.open(io.BytesIO(data)).size
    scale = min(_PICTURE[0] / width, _PICTURE[1] / height, 1.0)
    options = {"image_data": io.BytesIO(data), "x_scale": scale, "y_scale": scale, "object_position": 1}
    sheet.insert_image(*cell, "page", options)
    return round(height * scale) + 8


def import_decisions(paths: Sequence[Path], by: str, params: ReviewParams, context: Context) -> Decided:
    """Take in decisions of a person; the same workbook again changes nothing.

    A row counts where its question still waits, says what the workbook was written from, and was decided. What is not
    taken is told by row. Raises ``UserError`` for a file that cannot be read or is no such workbook.
    """
    known = {each.question.question_id: each for each in waiting_rows(context.build)[0]}
    outcome, rows, settled = Decided(), PulledRows(), list[SettledDoubt]()
    for path in paths:
        cells = read_cells(path)
        moment = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        for row in _judged(path, cells, known, outcome):
            annotation = _annotation(row, by, moment)
            own = read_task({QUESTION_ID: row.waiting.question.question_id}, [annotation], {0: by}, "verification")
            refused = [each for each in own.rejects if each.reason != UNSURE]
            outcome.told += [f"{path}, row {row.number}: {each.detail}" for each in refused]
            rows.extend(own)
            if not refused:
                outcome.decided[row.decision] += 1
                settled += row.settled(by, moment.isoformat())
    pulled = sheets.with_rows(folder.read_pulled(context.build, folder.SHEETS), rows)
    folder.write_pulled(context.build, folder.SHEETS, replace(pulled, project="workbooks"))
    folder.combine(context.build, params)
    remember(context.build, settled)
    return outcome


@dataclass
class _DecidedRow:
    """A row that was decided."""

    number: int
    waiting: Waiting
    decision: str
    text: str
    key: str
    note: str

    def settled(self, by: str, at: str) -> list[SettledDoubt]:
        """Return what is remembered of it, a row for each reason."""
        own = self.waiting.question
        place = {"question_id": own.question_id, "document": own.document, "by": by, "at": at}
        codes = dict.fromkeys(code for code, _ in self.waiting.found)
        return [SettledDoubt(**place, reason=code, decision=self.decision) for code in codes if self.decision != UNSURE]


def _judged(
    path: Path, cells: Sequence[Mapping[str, str]], known: Mapping[str, Waiting], outcome: Decided
) -> Iterator[_DecidedRow]:
    """Yield the rows that are decided, by themselves or by one of the same kind; tell what cannot be taken."""
    open_rows: list[_DecidedRow] = []
    alike: dict[tuple[str, tuple[str, ...]], str] = {}
    seen: set[str] = set()
    for number, row in enumerate(cells, start=2):
        if not any(row.values()):
            continue
        problem, decided = _read_row(number, row, known, seen)
        if problem:
            outcome.told.append(f"{path}, row {number}: {problem}")
        elif decided and decided.decision:
            if _word(row["scope"]) == "like":
                alike[_kind(decided.waiting)] = decided.decision
            yield decided
        elif decided:
            open_rows.append(decided)
    for each in open_rows:
        each.decision = alike.get(_kind(each.waiting), "")
        if each.decision in (KEEP, DROP):
            yield each
        else:
            outcome.decided["open"] += 1


def _kind(waiting: Waiting) -> tuple[str, tuple[str, ...]]:
    """Return what makes two rows of one kind: the file and the reasons."""
    return waiting.question.document, tuple(sorted({code for code, _ in waiting.found}))


def _read_row(
    number: int, row: Mapping[str, str], known: Mapping[str, Waiting], seen: set[str]
) -> tuple[str | None, _DecidedRow | None]:
    """Return why a row cannot be taken, or the row; its decision is empty where nobody decided."""
    name, word = row["id"], row["decision"]
    waiting = known.get(name)
    if waiting is None:
        return f"{name or 'no ID'}: no question that waits in this build (settled already, or another dataset's)", None
    if name in seen:
        return f"{name} stands twice: the first row counts", None
    seen.add(name)
    if row["version"] != waiting.version:
        return f"{name} has changed since the workbook was written: export it again", None
    decision = _word(word)
    if word and decision not in (*_FORM["words"], ""):
        return f"{name}: the decision {word!r} is none of {', '.join(_DECISIONS)}", None
    base, text, key = waiting.base, row["text"], row["key"]
    owner = next((each for each in known.values() if each is not waiting and _same(each.base.text, text)), None)
    if not _same(base.text, text) and (owner or fuzz.ratio(base.text, text) < _ALIKE):
        whose = f"is that of {owner.question.question_id}" if owner else "has little of the question's"
        return f"{name}: the text beside it {whose}; were single columns sorted? Not applied", None
    if decision == TAKE:
        problem, text = _taken(waiting, text)
        if problem:
            return problem, None
        decision = CORRECT
    changed = not _same(base.text, text) or not _same(base.key, key)
    if changed and not decision:
        return f"{name} was changed, but not decided: choose {_FORM['words'][CORRECT][0]}", None
    if decision == CORRECT and not changed:
        return f"{name}: to be corrected, but text and key are as they were", None
    decision = CORRECT if decision == KEEP and changed else decision
    return None, _DecidedRow(number, waiting, decision, text, key, row["note"])


def _taken(waiting: Waiting, text: str) -> tuple[str | None, str]:
    """Return why the second reader's proposal cannot be taken, or the text with it."""
    name = waiting.question.question_id
    if not waiting.proposals:
        return f"{name}: there is no proposal to take; edit the text and choose {_FORM['words'][CORRECT][0]}", text
    if not _same(waiting.base.text, text):
        return f"{name}: the text was edited, too: choose {_FORM['words'][CORRECT][0]}", text
    return None, waiting.proposed


def _word(text: str) -> str:
    """Return the kind of a decision or scope; ``?`` where the word is unknown, nothing where there is none."""
    first = text.split(maxsplit=1)[0].casefold() if text.strip() else ""
    return _WORDS.get(first, "?") if first else ""


def _same(one: str, other: str) -> bool:
    return one.split() == other.split()


def _annotation(row: _DecidedRow, by: str, moment: datetime) -> dict[str, Any]:
    """Return a decision as an annotation that the server would send."""
    own, base = row.waiting.question.question_id, row.waiting.base
    kind = KEEP if row.decision == CORRECT else row.decision
    verdict = next(offer.zh for offer in screen.VERDICTS if offer.kind == kind)
    texts = {screen.BASE: base.dumps(), screen.NOTE: row.note}
    if row.decision == CORRECT:
        texts |= {screen.CORRECTED: row.text, screen.CORRECTED_KEY: row.key}
    written = [
        {"from_name": name, "to_name": screen.TEXT, "type": "textarea", "value": {"text": [text]}}
        for name, text in texts.items()
        if text
    ]
    number = -int(sha256("waiting", by, own)[:12], 16)  # none of the server's
    result = [choice(editable.VERDICT, [verdict]), *written]
    return {"id": number, "completed_by": 0, "updated_at": moment.isoformat(), "result": result}


def read_cells(path: Path) -> list[dict[str, str]]:
    """Return the rows of a workbook or CSV file by the names of columns; empty cells are empty text."""
    try:
        rows = csv_rows(path.read_bytes()) if path.suffix.lower() == ".csv" else _sheet_rows(path)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from None
    except (CalamineError, UnreadableDocument, csv.Error) as error:
        raise UserError(f"{path} is no workbook ({error}): save it as .xlsx or as CSV in UTF-8") from None
    heads = {title: name for name, (title, _) in _COLUMNS.items()}
    names = [heads.get(title.strip(), "") for title in (rows[0] if rows else [])]
    needed = {"decision", "text", "key", "id", "version"}
    if missing := sorted(needed - set(names)):
        told = ", ".join(repr(_COLUMNS[name][0]) for name in missing)
        raise UserError(f"{path} has no column {told}: it is no workbook of `review sheet export --waiting`")
    empty = dict.fromkeys(_COLUMNS, "")
    return [empty | {name: cell for name, cell in zip(names, row, strict=False) if name} for row in rows[1:]]


def is_waiting(path: Path) -> bool:
    """Return whether a file is a workbook of this kind, and not an expert's."""
    try:
        read_cells(path)
    except UserError:
        return False
    return True


def _sheet_rows(path: Path) -> list[list[str]]:
    book = CalamineWorkbook.from_path(path)
    name = _SHEET if _SHEET in book.sheet_names else book.sheet_names[0]
    return as_text(book.get_sheet_by_name(name).to_python(skip_empty_area=False))
