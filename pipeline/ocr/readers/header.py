"""Find the header of a table: below titles, above data, in one row or two; several tables may follow one another."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain, islice, permutations, zip_longest
from typing import Any

from build_dataset.pipeline.characters import valid_unicode
from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.schemas.columns import option_of, roles_of
from build_dataset.schemas.errors import UnreadableDocument

HEADER_WITHIN = 30  # Rows among which the header is looked for: titles, notes on how to fill the form in
MAX_COLUMNS = 1000  # More than any bank has; a sheet with 16,384 columns is filled by accident or malice
TWICE = "a key stands twice"  # the key under which an object of JSON tells of it
_TOLD = re.compile(rf'"{TWICE}": "((?:[^"\\]|\\.)*)"')
PICTURE = "<img>"  # Stands in a cell that shows a picture; the parser lets such a row wait
_LONGEST = 60  # Characters of a header; a longer cell is text
_NEW_HEADER = 3
"""Known headers from which a row is a header without doubt, also of another table below: 题目 | A | B | 答案."""
_OF_KEY = 3  # columns of a key alone: the number, the answer, a remark
_LETTERS = frozenset("ABCDEFGHIJK")
_OUTSIDE = 200  # Characters outside of tables from which people are told: a title and a date are fewer
_ENCODER = json.JSONEncoder(ensure_ascii=False, default=lambda it: PICTURE if isinstance(it, bytes) else str(it))
Record = Sequence[str]
Grid = list[list[str]]


def is_bank(grids: Sequence[Grid], outside: int, declared: Set[str] = frozenset()) -> bool:
    """Return whether a document is little else than tables, one of which has the header of a bank or declared names."""
    inside = sum(len(cell) for grid in grids for record in grid for cell in record)
    heads = [grid[0] for grid in grids if grid]
    named = [{role for one in head for role in (*roles_of(one), *["options"] * bool(option_of(one)))} for head in heads]
    known = any({"stem", "options", "answer"} <= roles for roles in named)
    return inside > outside and (known or any(len({*map(str.strip, head)} & declared) > 1 for head in heads))


def tables(records: Iterable[Record], declared: Set[str], sheet: str | None = None) -> Iterator[TableRow]:
    """Return the rows of a sheet of questions by the names of its columns; empty cells are null.

    A second header begins a table of its own, unless it repeats the first, as printed pages do. ``declared`` are
    columns that ``dataset.toml`` names. ``UnreadableDocument``: ``unknown_columns`` when nothing in it looks like
    questions, ``duplicate_columns``, ``too_many_columns``.
    """
    records = map(_bounded, records)
    top = [list(record) for record in islice(records, HEADER_WITHIN)]
    names, start = _header(top, declared)
    table, number, headed = sheet, 1, not all(name.startswith("column_") for name in names)
    for record in chain(top[start:], records):
        known = headed and len(_known(record, declared)) >= _NEW_HEADER and _names_stem(record, declared)
        if known and not _has_key(names, record):
            if (new := _unique(record)) != names:
                names, number = new, number + 1
                table = f"{sheet or 'table'} ({number})"
        elif any(cell.strip() for cell in record):
            cells = enumerate(zip_longest(names, record, fillvalue=""), 1)  # those beyond the header by their position
            yield row_of({name or f"column_{at}": cell if cell.strip() else None for at, (name, cell) in cells}, table)


def row_of(value: Any, sheet: str | None = None) -> TableRow:
    """A row with a value as its fields; what JSON does not have, of a Parquet file, as text, bytes as a picture."""
    fields = _ENCODER.encode(value)
    if f'"{TWICE}": ' in fields:
        fields = json.dumps({"unparsed": fields, "why": _TOLD.findall(fields)[0]}, ensure_ascii=False)
    return TableRow(valid_unicode(fields), sheet)


def every_table(grids: Mapping[str, Iterable[Record]], declared: Set[str], told: list[str]) -> Iterator[TableRow]:
    """Return the rows of several tables, by name; one without questions is noted in ``told``, or refused if all are."""
    read, refused = 0, UnreadableDocument("unknown_columns", "there is no table in it")
    for name, grid in grids.items():
        try:
            for row in tables(grid, declared, name):
                read += 1
                yield row
        except UnreadableDocument as error:
            refused = error
            told.append(f"{name} was left out: {error.detail}")
    if not read:
        raise refused


def with_keys(grids: dict[str, Grid], told: list[str]) -> dict[str, Grid]:
    """Return sheets with the key that another one gives by ids: ``ID | Answer`` beside ``ID | Question | A | B``."""
    for (name, (head, *keys)), (other, (names, *rows)) in permutations(grids.items(), 2):
        if [*map(roles_of, head)] == [("id",), ("answer",)] and head[0] in names and not _names_key(names):
            key, ids = {row[0]: row[1:] for row in keys}, [row[names.index(head[0])] for row in rows]
            once = len(key) == len(keys) and len({*ids}) == len(ids)
            if once and {*key} <= {*ids} and 2 * len(key) >= len(ids):
                told.append(f"sheet {name} is the key of sheet {other}")
                joined = [[*row, *key.get(one, [""])] for row, one in zip(rows, ids, strict=True)]
                return {one: grid for one, grid in grids.items() if one != name} | {other: [[*names, head[1]], *joined]}
    return grids


def _names_key(record: Record) -> bool:
    return any("answer" in roles_of(cell) for cell in record)


def tables_of_document(grids: Sequence[Grid], outside: int, declared: Set[str], told: list[str]) -> Iterator[TableRow]:
    """Return the rows of the tables of a document, by number; text outside of them that is left out is told."""
    yield from every_table({f"table {number}": grid for number, grid in enumerate(grids, 1)}, declared, told)
    if outside > _OUTSIDE:
        told.append(f"{outside:,} characters outside of its tables were left out")


def _bounded(record: Record) -> Record:
    width = next((at for at in range(len(record), 0, -1) if record[at - 1].strip()), 0)
    if width > MAX_COLUMNS:
        detail = f"{width:,} columns, more than {MAX_COLUMNS:,}: delete what stands right of the questions"
        raise UnreadableDocument("too_many_columns", detail)
    return record


def _header(top: list[list[str]], declared: Set[str]) -> tuple[list[str], int]:
    stems = [at for at, record in enumerate(top) if _names_stem(record, declared) and not _is_keyed(top, at)]
    if not stems:
        return _by_content(top)
    known = {at: len(_known(top[at], declared)) for at in stems}
    at = next((at for at in stems if known[at] >= _NEW_HEADER), max(stems, key=lambda at: known[at]))
    names = top[at]
    below = top[at + 1] if at + 1 < len(top) else []
    # 题目 | 选项 |   | 答案 over    |  A  | B |      is one header in two rows.
    joined = [low if low.strip() else high for high, low in zip_longest(names, below, fillvalue="")]
    fills = any(low.strip() and not high.strip() for high, low in zip_longest(names, below, fillvalue=""))
    more = len(_known(joined, declared)) > len(_known(names, declared))
    if fills and more and len(_known(below, declared)) > 1 and _names_stem(joined, declared):  # one may be data: A
        return _unique(joined), at + 2
    return _unique(names), at + 1


def _known(record: Record, declared: Set[str]) -> list[str]:
    """The cells of a row that are headers by the vocabulary or by ``dataset.toml``."""
    short = (cell for cell in record if len(cell) <= _LONGEST or cell.strip() in declared)
    return [cell for cell in short if cell.strip() in declared or roles_of(cell) or option_of(cell)]


def _names_stem(record: Record, declared: Set[str]) -> bool:
    """Return whether a row names the stem, or a column of ``dataset.toml``; A, an option of one file, is none."""
    # Of another file it may be a key: 1 | A.
    declared = {name for name in declared if not option_of(name)}
    return any(cell.strip() in declared or "stem" in roles_of(cell) for cell in _known(record, declared))


def _is_keyed(top: list[list[str]], at: int) -> bool:
    """Return whether a row has a letter where the rows around it have one: 显示器的 | 背面 | 正面 | C is a question."""
    rows = [record for record in top if len(record) == len(top[at]) and any(map(str.strip, record))]
    letters = [all(one.strip().upper() in _LETTERS for one in column) for column in zip(*rows, strict=True)]
    return len(rows) > 2 and any(cell.strip() and own for cell, own in zip(top[at], letters, strict=True))


def _has_key(names: Sequence[str], record: Record) -> bool:
    """Return whether a row has letters under the header of the key and names no key: it is no header then."""
    # 与形式相对的是 | 内容 | 材料 | A, whatever words its options are
    keys = (cell.strip().upper() for name, cell in zip(names, record, strict=False) if "answer" in roles_of(name))
    letters = {sign for cell in record for _, sign in [option_of(cell) or ("", "")]}
    named = {"A", "B"} <= letters and _names_key(record)  # 背面 alone is an option too
    return any(key and set(key) <= _LETTERS for key in keys) and not named


def _by_content(top: list[list[str]]) -> tuple[list[str], int]:
    """A header that no vocabulary knows, or none: the table must look like questions with keys, or is refused."""
    width = max(map(len, top), default=0)
    wide = [at for at, record in enumerate(top) if 2 * sum(bool(cell.strip()) for cell in record) > width]
    for column in range(width if width > 3 else 0):  # stem, options and key at least
        cells = [top[at][column].strip().upper() if column < len(top[at]) else "" for at in wide]
        body = cells[1:]
        if len(body) > 1 and all(cell and set(cell) <= _LETTERS for cell in body) and len(set(cells)) > 1:
            if cells[0] and set(cells[0]) <= _LETTERS:
                return [f"column_{at}" for at in range(1, width + 1)], wide[0]
            return _unique(top[wide[0]]), wide[0] + 1
    first = [cell.strip()[:_LONGEST] for cell in (top[wide[0]] if wide else ["none"]) if cell.strip()]
    told = f"no header names the stem (Question, 题目, 题干 …); the first row has: {', '.join(first)[:200]}"
    how = 'name the column in dataset.toml: [sources."FILE"] stem = "…"'
    if width <= _OF_KEY and any(map(_names_key, top)):
        how = "as the key of a paper it needs a row for each number, 1 | A, and nothing else but explanations"
    raise UnreadableDocument("unknown_columns", f"{told}; {how}")


def _unique(header: Record) -> list[str]:
    """The names of columns, each once; ``duplicate_columns`` where two of one name are a part of a question."""
    names = [name.strip() or f"column_{index}" for index, name in enumerate(header, 1)]
    seen: dict[str, int] = {}
    for at, name in enumerate(names):
        key = name.casefold()
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > 1:
            if roles_of(name) or option_of(name):
                raise UnreadableDocument("duplicate_columns", f"several columns are named {name[:200]}")
            names[at] = f"{name} ({seen[key]})"
    return names
