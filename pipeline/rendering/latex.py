"""Tables as LaTeX that fits its page: packed where it is wide, turned where that helps, broken where it is long."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import ceil
from typing import TYPE_CHECKING, Any
from unicodedata import east_asian_width

from pipeline.rendering.markdown import environment

if TYPE_CHECKING:
    from jinja2 import Template

    from pipeline.rendering.tables import Table

_WIDTH, _HEIGHT = 34.5, 52.0
"""Size of the text of an article's page (10 pt, one column), in em, a caption left out."""
_GAP = 1.2
"""Between columns."""
_LINE = 1.2
"""From line to line."""
_TEXT = 13.0
"""Largest width of a column of text, in em; longer texts are broken into lines."""
_NAME = 5.0
"""Least width of a head, in em."""
_LEGIBLE = 0.7
"""Least scale of a legible table: 7 pt in an article of 10 pt."""
_SLACK = 1.06
"""Safety factor on estimated widths: XeLaTeX set rows 4 % wider, and long tables cannot be scaled."""
_GOOD = 0.8
"""Scale from which a table is not turned to become larger."""
_SIZES = {"normalsize": 1.0, "small": 0.9, "footnotesize": 0.8, "scriptsize": 0.7}

_MINUS = re.compile(r"(?<!\w)-(?=\d)")
_INTERVAL = re.compile(r"(?<=\S) (?=[\[(])")
"""Between a value and its interval: ``61.6 [60.4, 62.8]``."""
_LATIN_AFTER_CHINESE = re.compile(r"(?<=[\u3007-\u9fff）]) (?=[\x21-\x7e])")
_BREAKS = re.compile(r"(?<=[ :/_+-])")
"""Places at which names of runs may be broken: ``openai:model-7b chain_of_thought``."""


@dataclass(frozen=True)
class _Column:
    """A column as lines of plain text a cell."""

    place: int
    """Its place in the table."""
    is_text: bool
    head: Sequence[str]
    cells: Sequence[Sequence[str]]

    @property
    def width(self) -> float:
        """In em."""
        widest = _widest((self.head, *self.cells))
        return min(widest, _TEXT) if self.is_text else widest

    @property
    def kind(self) -> str:
        """Specification of the column in the preamble of a tabular."""
        if not self.is_text:
            return "r"
        return f">{{\\raggedright\\arraybackslash}}p{{{_TEXT:g}em}}" if self.width >= _TEXT else "l"

    def lines(self, cell: Sequence[str]) -> int:
        """Lines that a cell takes."""
        return sum(ceil(_width(line) / _TEXT) for line in cell) if self.is_text else len(cell)


def latex(table: Table) -> str:
    """Return the table for an article of one column.

    Where it is wider than the page, values stand above their intervals and Chinese above English; then it is scaled
    down, on its side if that is better. What would be smaller than 7 pt is broken: into pages if it is long, into
    tables of fewer columns if it is wide.
    """
    columns = _columns(table, packed=False)
    if _total(columns) > _WIDTH:
        columns = _columns(table, packed=True)
    panels = [_panel(panel) for panel in _panels(columns, table.left)]
    return _template().render(table=table, panels=panels)


def _columns(table: Table, *, packed: bool) -> list[_Column]:
    found = []
    for place, text in enumerate(table.head):
        stacked = packed and place >= table.left
        cells = [_INTERVAL.split(row[place], maxsplit=1) if stacked else [row[place]] for row in table.rows]
        head = _wrapped(text, max(_widest(cells), _NAME)) if packed else [text]
        found.append(_Column(place, place < table.left, head, cells))
    return found


def _wrapped(text: str, width: float) -> list[str]:
    """Break a head into lines of that width, English below Chinese; an unbroken part may be wider."""
    lines: list[str] = []
    for language in _LATIN_AFTER_CHINESE.split(text, maxsplit=1):
        line = ""
        for part in _BREAKS.split(language):
            if line and _width(line + part.rstrip()) > width:
                lines.append(line.rstrip())
                line = ""
            line += part
        lines.append(line)
    return lines


def _panels(columns: Sequence[_Column], left: int) -> Iterator[list[_Column]]:
    """Yield as many columns of numbers as can be read on a page's longer side, each time behind those of text."""
    texts = list(columns[:left])
    room = _HEIGHT / _LEGIBLE / _SLACK - _total(texts)
    numbers: list[_Column] = []
    for column in columns[left:]:
        if numbers and _total([*numbers, column]) > room:
            yield texts + numbers
            numbers = []
        numbers.append(column)
    yield texts + numbers


def _panel(columns: Sequence[_Column]) -> dict[str, Any]:
    """Values of the template for one table: its environment, size and columns."""
    width = _total(columns)
    cells = [[column.head for column in columns], *zip(*(column.cells for column in columns), strict=True)]
    height = _LINE * (2 + sum(_lines(columns, row) for row in cells))
    upright = min(1.0, _WIDTH / width, _HEIGHT / height)
    turned = min(1.0, _HEIGHT / width, _WIDTH / height)
    room = _HEIGHT if width > _WIDTH else _WIDTH
    fitting = (name for name, factor in _SIZES.items() if _SLACK * width * factor <= room)
    return {
        "long": max(upright, turned) < _LEGIBLE,
        "kind": "table" if upright >= min(turned, _GOOD) else "sidewaystable",
        "landscape": width > _WIDTH,
        "size": next(fitting, "scriptsize"),
        "columns": columns,
    }


def _lines(columns: Sequence[_Column], row: Sequence[Sequence[str]]) -> int:
    """Lines that a row takes."""
    return max(1, *(column.lines(cell) for column, cell in zip(columns, row, strict=True)))


def _number(text: str) -> str:
    return _MINUS.sub("$-$", _escape(text))


def _escape(text: str) -> str:
    return text.translate(_escapes())


@cache
def _escapes() -> dict[int, str]:
    """Characters with a meaning in LaTeX, and control characters."""
    named = tomllib.loads((files("pipeline.rendering") / "templates" / "latex.toml").read_text("utf-8"))
    return {**dict.fromkeys((*range(0x20), 0x7F), " "), **{ord(key): text for key, text in named.items()}}


@cache
def _template() -> Template:
    made = environment(
        "pipeline.rendering",
        lstrip_blocks=False,
        block_start_string="<%",
        block_end_string="%>",
        variable_start_string="<<",
        variable_end_string=">>",
        comment_start_string="<#",
        comment_end_string="#>",
    )
    made.filters |= {"tex": _escape, "tex_number": _number}
    return made.get_template("table.tex")


def _total(columns: Sequence[_Column]) -> float:
    """Width of columns with the gaps between them, in em."""
    return sum(column.width + _GAP for column in columns)


def _widest(cells: Iterable[Sequence[str]]) -> float:
    return max((_width(line) for cell in cells for line in cell), default=0.0)


def _width(text: str) -> float:
    return sum(1.0 if east_asian_width(character) in "WF" else 0.5 for character in text)
