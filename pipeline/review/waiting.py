"""The waiting room as a workbook: what waits, with its page and the reason, and what a person decides of it.

A row is a question. Decisions come back like a verifier's from Label Studio: corrections that the clean stage applies.
Nothing hidden travels with the workbook, so that it may be saved as CSV or by any program: what a row says is compared
with what the question says in this build.
"""

import io
from base64 import b64decode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import xlsxwriter

from build_dataset.annotation.label_studio import editable, tasks
from build_dataset.pipeline.crop import crops
from build_dataset.pipeline.review import folder, sheets
from build_dataset.pipeline.review.stage import waiting_questions
from build_dataset.pipeline.review.workbook import AS_TEXT, begin_sheet, legal, row_pixels
from build_dataset.pipeline.runtime.publish import find_table, read_manifest
from build_dataset.pipeline.set_aside import settled_questions
from build_dataset.pipeline.stage import Context
from build_dataset.schemas import grouping, places, questions, wording
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.identity import file_sha256, sha256

FILE = "waiting.xlsx"
CONFLICT = "conflicting_answers"  # reason of an item of several questions: copies with different keys
FORM = shipped_toml("build_dataset.pipeline.review", "waiting.toml")
COLUMNS: dict[str, tuple[str, int]] = {name: (each["head"], each["width"]) for name, each in FORM["columns"].items()}
WORDS: dict[str, str] = {word: kind for kind, words in FORM["words"].items() for word in words}  # √ → keep
DECISIONS: dict[str, str] = {kind: words[0] for kind, words in FORM["words"].items() if kind != "like"}
SHEET = "等待 waiting"
_PICTURE = (520, 300)  # pixels of a cut-out in its cell, at most
_CROP_BYTES = 60_000
TAKE = "take"  # Decision to correct as the second reader proposes.


@dataclass
class Waiting:
    """A question that waits, with every reason."""

    question: questions.Question
    items: list[questions.ReviewItem]
    proposals: list[questions.DoubtedPlace] = field(default_factory=list)

    @property
    def proposed(self) -> editable.BaseText:
        """Its texts with the second reader's proposals; raise ``UnreadableTextError`` where the text has no parts."""
        return editable.replaced(self.base, [(each.field, each.quote, each.proposal or "") for each in self.proposals])

    @property
    def base(self) -> editable.BaseText:
        """Its text and key as a person edits them."""
        return editable.whole_text(self.question)

    @property
    def version(self) -> str:
        """A mark that changes with the text: no spreadsheet takes it for a number."""
        return f"v{sha256(self.question.content_hash, self.base.key)[:7]}"

    @property
    def found(self) -> list[tuple[str, str]]:
        """Its reasons with their evidence, each once."""
        return list(dict.fromkeys([pair for item in self.items for pair in wording.findings(item.reason, item.detail)]))


def waiting_rows(build: Path) -> tuple[list[Waiting], int]:
    """Return what waits, the worst file first; and how many items hold no question to decide on."""
    pairs, without = waiting_questions(build)
    pairs.sort(key=lambda pair: pair[1].question_id)
    doubts = find_table(build, "proofread/doubts")
    named = questions.DoubtedPlace.from_frame(doubts.drop_nulls("proposal")) if doubts is not None else ()
    proposals = grouping.group_values((each.question_id, each) for each in named)
    copies = [list(group) for _, group in groupby(pairs, key=lambda pair: pair[1].question_id)]
    rows = [Waiting(same[0][1], [i for i, _ in same], proposals.get(same[0][1].question_id, [])) for same in copies]
    worst = Counter(each.question.document for each in rows)
    files = {each.question.question_id: each.question.document for each in rows}

    def place(each: Waiting) -> tuple[int, str, str, str]:
        name = each.question.question_id
        first = next((item.question_ids[0] for item in each.items if item.reason == CONFLICT), name)  # copies together
        file = files.get(first, each.question.document)
        return -worst[file], file, first, name

    return sorted(rows, key=place), without


def workbook(context: Context) -> tuple[bytes, int, int]:
    """Return the workbook, and the numbers of its questions and of items that hold no question."""
    rows, without = waiting_rows(context.build)
    settled = settled_questions(partial(find_table, context.build))  # a changed mind still counts, nobody is asked
    rows = [each for each in rows if each.question.question_id not in settled]
    pictures = crops([each.question for each in rows], context, _CROP_BYTES, marked=True)
    content = io.BytesIO()
    with xlsxwriter.Workbook(content, AS_TEXT) as book:
        book.set_properties({"created": datetime(2000, 1, 1, tzinfo=UTC)})  # the same rows give the same bytes
        _write(book, rows, pictures)
    return content.getvalue(), len(rows), without


def edited_workbooks(made: Path) -> dict[str, Path]:
    """Return workbooks in the report's folder ``made`` that people saved and did not import, by the names to keep.

    The workbook that the last report wrote is none of them; edited, it is ``waiting-edited-1a2b3c4d.xlsx``.
    """
    written, kept = (read_manifest(made) or {}).get("outputs", {}).get(FILE, {}).get("sha256"), dict[str, Path]()
    for path in sorted(made.glob("waiting*.[cx][sl]*")):  # also saved as CSV
        mark = file_sha256(path)
        if mark != written and mark not in folder.imported(made.parent):
            kept[f"waiting-edited-{mark[:8]}.xlsx" if path.name == FILE else path.name] = path
    return kept


def _write(book: Any, rows: Sequence[Waiting], pictures: Mapping[str, str]) -> None:
    from PIL import Image

    proposed = any(each.proposals for each in rows)
    names = [name for name in COLUMNS if proposed or name != "proposal"]
    at = {name: place for place, name in enumerate(names)}
    sheet, fixed, free = begin_sheet(book, SHEET, dict(COLUMNS[name] for name in names))
    doubted = book.add_format({"bold": True, "font_color": "#C00000"})
    red = book.add_format({"text_wrap": True, "valign": "top", "locked": False, "bold": True, "bg_color": "#FFD9D9"})
    unsure = book.add_format({"bold": True, "font_color": "#E06000", "underline": 1})
    for number, each in enumerate(rows, start=1):
        for name in ("decision", "scope", "note"):
            sheet.write(number, at[name], "", free)
        doubted_key = any(wording.doubts_key(code) for code, _ in each.found) or places.unsure_of_key(each.question)
        sheet.write(number, at["key"], each.base.key, red if doubted_key else free)
        for name, text in _edited(each).items():
            _write_marked(sheet, (number, at[name]), each, legal(text)[: sheets.LONGEST], (doubted, unsure, free))
        for name, text in _fixed(each).items():
            if name in at:
                sheet.write(number, at[name], legal(text)[: sheets.LONGEST], fixed)
        tall = 0  # pixels that its picture needs
        if picture := pictures.get(each.question.question_id):
            data = b64decode(picture.partition(",")[2])
            width, height = Image.open(io.BytesIO(data)).size
            scale = min(_PICTURE[0] / width, _PICTURE[1] / height, 1.0)
            options = {"image_data": io.BytesIO(data), "x_scale": scale, "y_scale": scale, "object_position": 1}
            sheet.insert_image(number, at["page"], "page", options)
            tall = round(height * scale) + 8
        texts = ((text, COLUMNS[name][1]) for name, text in {**_fixed(each), **_edited(each)}.items())
        sheet.set_row_pixels(number, max(tall, row_pixels(texts)))
    last = max(len(rows), 1)
    offered = [word for kind, word in DECISIONS.items() if proposed or kind != TAKE]
    sheet.data_validation(1, at["decision"], last, at["decision"], {"validate": "list", "source": offered})
    sheet.data_validation(1, at["scope"], last, at["scope"], {"validate": "list", "source": FORM["words"]["like"][:1]})
    sheet.freeze_panes(1, at["text"])
    sheet.set_landscape()
    sheet.fit_to_pages(1, 0)  # all columns on a page, where somebody prints it
    sheet.autofilter(0, 0, len(rows), len(at) - 1)
    sheets.put_rows(book, "说明 guide", [[line] for line in FORM["guide"].splitlines()], 120)
    sheet.activate()


def _edited(each: Waiting) -> dict[str, str]:
    """Return the long cells that people read and edit."""
    return {"text": each.base.text, "explanation": each.base.explanation or ""}


def _fixed(each: Waiting) -> dict[str, str]:
    """Return the cells that nobody needs to change."""
    todo = [line for code in dict.fromkeys(code for code, _ in each.found) for line in wording.look_at(code)]
    place = f" p. {', '.join(map(str, each.question.pages))}" if each.question.pages else ""
    return {
        "why": tasks.waiting_reasons(each.found),
        "todo": "\n".join(todo),
        "proposal": "\n".join(f"{places.field_name(d.field)[0]}：{d.quote} → {d.proposal}" for d in each.proposals),
        "file": f"{each.question.document}{place}",
        "id": each.question.question_id,
        "version": each.version,
    }


def _write_marked(sheet: Any, cell: tuple[int, int], each: Waiting, text: str, formats: Sequence[Any]) -> None:
    """Write a text to edit, what the reasons quote in red, characters that may be misread orange and underlined."""
    *styles, free = formats
    quotes = [mark for _, evidence in each.found for mark in wording.quoted(evidence)]
    pieces = list(places.marked_pieces(text, quotes, places.places_in(text, each.question.unsure)))
    if len(pieces) < 2:  # a rich text has two at least
        sheet.write(*cell, text, styles[pieces[0][1].unsure] if pieces and pieces[0][1] else free)
        return
    rich = [item for piece, mark in pieces for item in ((styles[mark.unsure], piece) if mark else (piece,))]
    sheet.write_rich_string(*cell, *rich, free)
