"""Tables of questions in databases: Anki's decks (APKG), SQLite files, and dumps of SQL."""

import html
import json
import re
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from build_dataset.pipeline.archives import check_archive
from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.encoding import decode, looks_like_text
from build_dataset.pipeline.ocr.readers.header import every_table
from build_dataset.pipeline.ocr.readers.webpage import plain_html
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import option_of, plain_header, roles_of, vocabulary
from build_dataset.schemas.errors import UnreadableDocument, refused_as
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
_SQLITE = b"SQLite format 3\x00"
_OLD = ("collection.anki21", "collection.anki2")  # in Anki's decks, the newer first
_ESCAPED = {"n": "\n", "r": "", "t": "\t"}
Grids = dict[str, list[list[str]]]


class DatabaseReader:
    """SQLite files and Anki's decks, a table of notes for each of their types."""

    format = "database"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it begins as SQLite does, or is an archive and called a deck."""
        return head.startswith(_SQLITE) or (head.startswith(b"PK") and suffix in (".apkg", ".colpkg"))

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """The rows of all tables that hold questions."""
        errors = (sqlite3.Error, zipfile.BadZipFile, KeyError, ValueError, OSError)
        with TemporaryDirectory() as folder, refused_as("broken", "no readable database", errors):
            if is_deck := not path.read_bytes()[:16].startswith(_SQLITE):
                check_archive(path, params.max_file_mb)
                with zipfile.ZipFile(path) as archive:
                    name = next((one for one in _OLD if one in archive.namelist()), None)
                    if name is None or ("collection.anki21b" in archive.namelist() and name == _OLD[1]):
                        detail = "a deck of a new kind: export it again with “Support older Anki versions”"
                        raise UnreadableDocument("unknown_format", detail)
                    path = Path(archive.extract(name, folder))
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
                grids = _notes(database) if is_deck else _tables(database)
        yield from every_table(with_options(grids), frozenset(params.columns), told)


def _notes(database: sqlite3.Connection) -> Grids:
    """The notes of a deck by type, under the names of its fields."""
    models = json.loads(database.execute("select models from col").fetchone()[0])
    fields_of = {number: sorted(model["flds"], key=lambda one: one["ord"]) for number, model in models.items()}
    grids = {str(number): [[one["name"] for one in own]] for number, own in fields_of.items()}
    for number, fields in database.execute("select mid, flds from notes order by id"):
        grids[str(number)].append([plain_html(one) for one in fields.split("\x1f")])
    return {f"{models[one]['name']}": grid for one, grid in grids.items() if len(grid) > 1}


def _tables(database: sqlite3.Connection) -> Grids:
    names = [name for (name,) in database.execute("select name from sqlite_master where type = 'table' order by name")]
    grids: Grids = {}
    for name in names:
        quoted = name.replace('"', '""')
        found = database.execute(f'select * from "{quoted}"')  # noqa: S608 -- the name is quoted
        rows = [["" if value is None else str(value) for value in row] for row in found]
        grids[name] = [[column for column, *_ in found.description], *rows]
    return {name: grid for name, grid in grids.items() if len(grid) > 1}


class SqlReader:
    """Dumps of SQL: the rows of ``INSERT``, under the columns of ``CREATE TABLE``. Nothing is executed."""

    format = "sql"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is called so."""
        return suffix == ".sql" and looks_like_text(head)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """The rows of all tables that hold questions."""
        text = decode(path.read_bytes())
        grids: Grids = {}
        broken: dict[str, str] = {}
        created = {_bare(one[1]): [*map(_bare, _P.column.findall(one[2]))] for one in _P.create.finditer(text)}
        for found in _P.insert.finditer(text):
            name = _bare(found[1])
            names = [_bare(one) for one in found[2].split(",")] if found[2] else created.get(name, [])
            grid = grids.setdefault(name, [names])
            row: list[str] = []
            for value in _P.value.finditer(text, found.end()):
                if value["end"]:
                    break
                if value["close"]:
                    if names and len(row) != len(names):
                        broken[name] = f"row {len(grid)} of {name} has {len(row)} values under {len(names)} columns"
                        break
                    grid.append(row)
                    row = []
                elif (said := value["string"] if value["wide"] is None else value["wide"]) is not None:
                    row.append(_P.escaped.sub(lambda one: _ESCAPED.get(one[1], one[1] or one[2] or one[3]), said))
                elif value["array"]:
                    row.append(json.dumps(_P.quoted.findall(value["array"]), ensure_ascii=False))
                elif said := value["bare"] or value["query"]:
                    row.append("" if said.upper() == "NULL" else said)
        told += [f"{name} was left out: {why}; export it as CSV" for name, why in broken.items()]
        grids = {name: grid for name, grid in grids.items() if name not in broken}
        if not grids:
            none = "the dump inserts no rows; export it with its data"
            raise UnreadableDocument("broken" if broken else "no_rows", "; ".join(told) or none)
        yield from every_table(with_options(grids), frozenset(params.columns), told)


def _bare(name: str) -> str:
    return re.sub(r"[`\"\[\]\s]", "", name).rpartition(".")[2]


def with_options(grids: Grids) -> Grids:
    """Return the tables, with options that have a table of their own in the rows of their questions."""
    # ``choice (title_id, content, is_correct)`` of ``title (id, name)``; ``answers (question_id, A, B, C, key)``; both.
    found = {name: _without_markup(grid) for name, grid in grids.items()}
    for name, grid in [*found.items()]:
        for header in grid[0]:
            base = plain_header(re.sub("^id_", "", header, flags=re.IGNORECASE)).removesuffix("id")
            parent = _parent(found, name, header, base) if base not in ("", plain_header(header)) else None
            if parent and (joined := _joined(found, parent, name, header)):
                found[parent] = joined
                del found[name]
                break
    return found


def _without_markup(grid: list[list[str]]) -> list[list[str]]:
    """Return a table with the text of its columns of escaped HTML: &lt;p&gt;甲&lt;/p&gt; is 甲."""
    marks = [[bool(_P.markup.match(cell)) for cell in column] for column in zip(*grid[1:], strict=False)]
    marked = {at for at, column in enumerate(marks) if 2 * sum(column) > sum(bool(row[at]) for row in grid[1:])}
    text = [[plain_html(html.unescape(one)) if at in marked else one for at, one in enumerate(row)] for row in grid]
    return [grid[0], *text[1:]]


def _parent(grids: Grids, name: str, header: str, base: str) -> str | None:
    """Return the table of questions that a column names: by its name, question_id, or as both have it, qid."""
    named = next((it for it in grids if it != name and plain_header(it).rstrip("s").endswith(base.rstrip("s"))), None)
    if named or (_keyed_by(grids[name], header) and not _lists_options(grids[name][0])):
        return named
    both = {one: grid for one, grid in grids.items() if one != name and header in grid[0] and _keyed_by(grid, header)}
    return max(both, key=lambda one: len(str(both[one])), default=None)


def _lists_options(columns: list[str]) -> bool:
    return sum(map(bool, map(option_of, columns))) > 1


def _keyed_by(grid: list[list[str]], header: str) -> dict[str, list[str]]:
    """Return the rows of a table by a column in which each value stands once; nothing where one comes again."""
    at = grid[0].index(header)
    rows = {row[at]: row for row in grid[1:]}
    return rows if len(rows) == len(grid) - 1 else {}


def _joined(grids: Grids, parent: str, child: str, header: str) -> list[list[str]]:
    """Return the table of questions with their options, or nothing where these tables are none such."""
    (head, *rows), (columns, *options) = grids[parent], grids[child]
    names, foreign = [plain_header(one) for one in head], columns.index(header)
    own = next((names.index(one) for one in (plain_header(header), "id") if one in names), None)
    ids = [str(number) if own is None else row[own] for number, row in enumerate(rows, 1)]
    if _lists_options(columns) and (beside := _keyed_by(grids[child], header)):
        kept = [at for at, one in enumerate(columns) if at != foreign and plain_header(one) not in names]
        more, held = [columns[at] for at in kept], {one: [row[at] for at in kept] for one, row in beside.items()}
    elif not _lists_options(columns) and (marks := _marks(grids[child])):
        texts = [at for at, one in enumerate(columns) if at != foreign and not plain_header(one).endswith("id")]
        apart = {*vocabulary()["words"]["of_answer"]} - {"answer", "答案"}  # answer_explanation, longer than answer
        short = [at for at in texts if not any(word in plain_header(columns[at]) for word in apart)]
        text = max(short or texts, key=lambda at: _size(grids[child], at))
        said = group_values((row[foreign], (row[text], mark)) for row, mark in zip(options, marks, strict=True))
        more = ["choices" if "options" in names else "options"]
        held = {one: [json.dumps(told, ensure_ascii=False)] for one, told in said.items()}
    else:
        return []
    if not any("stem" in roles_of(one) for one in head):
        head = [*head]
        head[max(range(len(head)), key=lambda at: _size(grids[parent], at))] = "question"
    joined = [[*row, *held.get(one, [""] * len(more))] for one, row in zip(ids, rows, strict=True)]
    return [[*head, *more], *joined] if 2 * sum(one in held for one in ids) >= len(ids) else []


def _marks(options: list[list[str]]) -> list[bool]:
    """Return of each row of a table of options whether it is right, by the one column that says so."""
    words = vocabulary()["words"]
    columns = {one: [row[at].casefold() for row in options[1:]] for at, one in enumerate(options[0])}
    says = (*vocabulary()["options"]["parts"]["right"], "checked")
    saying = [cells for one, cells in columns.items() if any(word in plain_header(one) for word in says)]
    flags = [cells for cells in saying if {*cells} <= {*words["right"], *words["wrong"]}]
    return [cell in words["right"] for cell in flags[0]] if len(flags) == 1 else []


def _size(grid: list[list[str]], at: int) -> int:
    return sum(len(row[at]) for row in grid[1:])
