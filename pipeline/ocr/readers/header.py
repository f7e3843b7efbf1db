"""Where the header of a table is: below titles, above data, in one row or two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from itertools import chain, islice

from schemas.columns import option_of, roles_of
from schemas.errors import UnreadableDocument

HEADER_WITHIN = 30
"""Rows among which the header is looked for: titles, notes on how to fill the form in."""
MAX_COLUMNS = 1000
"""More than any bank has; a sheet with 16,384 columns is filled by accident or malice."""
_LONGEST = 60
"""Characters of a header; a longer cell is text."""
_LETTERS = frozenset("ABCDEFGHIJK")

Record = Sequence[str]


def table(records: Iterable[Record], declared: Set[str]) -> Iterator[dict[str, str | None]]:
    """The rows of a table of questions by the names of its columns; empty cells are null.

    Args:
        records: all rows as text, titles and header included.
        declared: columns that ``dataset.toml`` names.

    Raises:
        UnreadableDocument: ``unknown_columns`` when nothing in it looks like questions, ``duplicate_columns``,
            ``too_many_columns``.
    """
    records = iter(records)
    top = [list(record) for record in islice(records, HEADER_WITHIN)]
    for head in top:
        _require_width(head)
    names, start = _header(top, declared)
    for record in chain(top[start:], records):
        _require_width(record)
        if any(cell.strip() for cell in record):
            yield _row(names, record)


def _require_width(record: Record) -> None:
    width = next((at for at in range(len(record), 0, -1) if record[at - 1].strip()), 0)
    if width > MAX_COLUMNS:
        detail = f"{width:,} columns, more than {MAX_COLUMNS:,}: delete what stands right of the questions"
        raise UnreadableDocument("too_many_columns", detail)


def _header(top: list[list[str]], declared: Set[str]) -> tuple[list[str], int]:
    """The names of the columns and the row below them."""
    known = [_known(record, declared) for record in top]
    if best := max((len(hits) for hits in known), default=0):
        at = next(at for at, hits in enumerate(known) if len(hits) == best)
        if _names_stem(top[at], declared):
            return _below(top, at, declared)
    if any(map(_names_stem, top, [declared] * len(top))):
        at = next(at for at, record in enumerate(top) if _names_stem(record, declared))
        return _below(top, at, declared)
    return _by_content(top)


def _below(top: list[list[str]], at: int, declared: Set[str]) -> tuple[list[str], int]:
    """The header at a row, joined with the row below where that names what the first leaves open."""
    names = top[at]
    if at + 1 < len(top):
        below = top[at + 1]
        joined = [low if low.strip() else high for high, low in _pairs(names, below)]
        extra = [low for high, low in _pairs(names, below) if low.strip() and not high.strip()]
        named = len(_known(below, declared))
        if extra and named > 1 and len(_known(joined, declared)) > len(_known(names, declared)):
            return _unique(joined), at + 2
    return _unique(names), at + 1


def _pairs(one: Record, other: Record) -> Iterator[tuple[str, str]]:
    width = max(len(one), len(other))
    return zip([*one, *[""] * (width - len(one))], [*other, *[""] * (width - len(other))], strict=True)


def _known(record: Record, declared: Set[str]) -> set[int]:
    """The cells of a row that are headers by the vocabulary or by ``dataset.toml``."""
    return {
        at
        for at, cell in enumerate(record)
        if cell.strip() in declared or (len(cell) <= _LONGEST and (roles_of(cell) or option_of(cell)))
    }


def _names_stem(record: Record, declared: Set[str]) -> bool:
    return any(
        cell.strip() in declared or (len(cell) <= _LONGEST and "stem" in roles_of(cell)) for cell in record
    )


def _by_content(top: list[list[str]]) -> tuple[list[str], int]:
    """A header that no vocabulary knows, or none at all: the table must look like questions with their keys.

    Raises:
        UnreadableDocument: it does not.
    """
    width = max(map(len, top), default=0)
    wide = [at for at, record in enumerate(top) if 2 * sum(bool(cell.strip()) for cell in record) > width]
    for column in range(width if width > 3 else 0):
        cells = [top[at][column].strip().upper() if column < len(top[at]) else "" for at in wide]
        body = cells[1:]
        if len(body) > 1 and all(cell and set(cell) <= _LETTERS for cell in body) and len(set(cells)) > 1:
            if cells[0] and set(cells[0]) <= _LETTERS:
                return [f"column_{at}" for at in range(1, width + 1)], wide[0]
            return _unique(top[wide[0]]), wide[0] + 1
    found = ", ".join(cell.strip() for record in top[:3] for cell in record if cell.strip())[:200] or "none"
    raise UnreadableDocument(
        "unknown_columns",
        f"no column is known to hold the stem (Question, 题目, 题干 …); found: {found}; name it in dataset.toml: "
        '[sources."FILE"] stem = "…"',
    )


def _unique(header: Record) -> list[str]:
    """The names of columns, each once.

    Raises:
        UnreadableDocument: ``duplicate_columns``: two of one name that is a part of a question.
    """
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


def _row(header: Sequence[str], record: Record) -> dict[str, str | None]:
    """A record by column; cells beyond the header are named by their position."""
    names = [*header, *(f"column_{index}" for index in range(len(header) + 1, len(record) + 1))]
    cells = [*record, *[""] * (len(names) - len(record))]
    return {name: cell if cell.strip() else None for name, cell in zip(names, cells, strict=True)}
