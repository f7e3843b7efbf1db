"""Tables as LaTeX that fits its page: packed where it is wide, turned where that helps, broken where it is long."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING
from unicodedata import east_asian_width

if TYPE_CHECKING:
    from pipeline.rendering.tables import Table

_WIDTH, _HEIGHT = 34.5, 52.0
"""Of the text of an article's page (10 pt, one column), in em, a caption left out."""
_GAP = 1.2
"""Between columns."""
_LINE = 1.2
"""From line to line."""
_TEXT = 13.0
"""A column of text that would be wider is set in lines of this width."""
_NAME = 5.0
"""Heads are not set narrower than that."""
_LEGIBLE = 0.7
"""No smaller than so much of the page's type: 7 of 10 pt."""
_SLACK = 1.06
"""Widths are estimates: XeLaTeX set rows 4 % wider, and no box scales a long table."""
_GOOD = 0.8
"""A table of that size is not turned to make it larger."""
_SIZES = {"normalsize": 1.0, "small": 0.9, "footnotesize": 0.8, "scriptsize": 0.7}

_NEEDS = (
    "% XeLaTeX or LuaLaTeX with ctex or xeCJK;\n"
    "% \\usepackage{adjustbox, array, booktabs, longtable, makecell, pdflscape, rotating}"
)

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        # After \\ these two would be its arguments.
        "[": "{[}",
        "*": "{*}",
        # xeCJK takes these for Chinese punctuation, and Latin fonts lack the Greek.
        "–": "--",
        "—": "---",
        "…": r"\ldots{}",
        "“": "``",
        "”": "''",
        "‘": "`",
        "’": "'",
        "·": r"\textperiodcentered{}",
        "−": "$-$",
        "±": r"$\pm$",
        "×": r"$\times$",
        "≤": r"$\leq$",
        "≥": r"$\geq$",
        "α": r"$\alpha$",
        "κ": r"$\kappa$",
        "ρ": r"$\rho$",
        **{chr(code): " " for code in (*range(0x20), 0x7F)},
    }
)
_MINUS = re.compile(r"(?<!\w)-(?=\d)")
_INTERVAL = re.compile(r"(?<=\S) (?=[\[(])")
_LATIN_AFTER_CHINESE = re.compile(r"(?<=[\u3007-\u9fff）]) (?=[\x21-\x7e])")
_BREAKS = re.compile(r"(?<=[ :/_+-])")
"""Where names of runs may be broken."""


@dataclass(frozen=True)
class _Grid:
    """A table, or some of its columns, as lines of plain text a cell."""

    columns: Sequence[int]
    """Their places in the whole table."""
    left: int
    head: Sequence[Sequence[str]]
    rows: Sequence[Sequence[Sequence[str]]]

    def widths(self) -> list[float]:
        """Of each column, in em."""
        found = [_widest(row[place] for row in (self.head, *self.rows)) for place in range(len(self.head))]
        return [min(widest, _TEXT) if place < self.left else widest for place, widest in enumerate(found)]

    @property
    def width(self) -> float:
        """Of the whole, in em."""
        return sum(self.widths()) + _GAP * len(self.head)

    @property
    def height(self) -> float:
        """Of the whole, in em."""
        return _LINE * (2 + sum(self._lines(row) for row in (self.head, *self.rows)))

    def _lines(self, row: Sequence[Sequence[str]]) -> int:
        text = (sum(ceil(_width(line) / _TEXT) for line in cell) for cell in row[: self.left])
        return max(1, *text, *(len(cell) for cell in row[self.left :]))

    def of(self, numbers: Sequence[int]) -> _Grid:
        """The columns of text and these columns of numbers, by their places here."""
        kept = [*range(self.left), *numbers]
        return _Grid(
            [self.columns[place] for place in kept],
            self.left,
            [self.head[place] for place in kept],
            [[row[place] for place in kept] for row in self.rows],
        )


def latex(table: Table) -> str:
    """The table for an article of one column.

    Where it is wider than the page, values stand above their intervals and Chinese above English; then it is scaled
    down, on its side if that is better. What would be smaller than 7 pt is broken: into pages if it is long, into
    tables of fewer columns if it is wide.
    """
    grid = _grid(table, packed=False)
    if grid.width > _WIDTH:
        grid = _grid(table, packed=True)
    panels = list(_panels(grid))
    made = []
    for number, panel in enumerate(panels, start=1):
        which = f" ({number}/{len(panels)})" if len(panels) > 1 else ""
        label = f"\\label{{tab:{table.name}}}" if number == 1 else ""
        made.append(_placed(table, panel, f"\\caption{{{_escape(table.caption + which)}}}{label}"))
    return "\n".join([_NEEDS, *made]) + "\n"


def _grid(table: Table, *, packed: bool) -> _Grid:
    rows = [
        [
            _INTERVAL.split(cell, maxsplit=1) if packed and place >= table.left else [cell]
            for place, cell in enumerate(row)
        ]
        for row in table.rows
    ]
    cells = [_widest(row[place] for row in rows) for place in range(len(table.head))]
    head = [
        _wrapped(text, max(widest, _NAME)) if packed else [text]
        for text, widest in zip(table.head, cells, strict=True)
    ]
    return _Grid(range(len(table.head)), table.left, head, rows)


def _wrapped(text: str, width: float) -> list[str]:
    """A head in lines of that width, English below Chinese; a part that cannot be broken may be wider."""
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


def _panels(grid: _Grid) -> Iterator[_Grid]:
    """As many columns of numbers at a time as can be read on a page's longer side."""
    widths = grid.widths()
    room = _HEIGHT / _LEGIBLE / _SLACK - sum(widths[: grid.left]) - _GAP * grid.left
    numbers: list[int] = []
    taken = 0.0
    for place in range(grid.left, len(widths)):
        if numbers and taken + widths[place] + _GAP > room:
            yield grid.of(numbers)
            numbers, taken = [], 0.0
        numbers.append(place)
        taken += widths[place] + _GAP
    yield grid.of(numbers)


def _placed(table: Table, grid: _Grid, caption: str) -> str:
    upright = min(1.0, _WIDTH / grid.width, _HEIGHT / grid.height)
    turned = min(1.0, _HEIGHT / grid.width, _WIDTH / grid.height)
    if max(upright, turned) < _LEGIBLE:
        return _long(table, grid, caption)
    kind = "table" if upright >= min(turned, _GOOD) else "sidewaystable"
    return "\n".join(
        [
            f"\\begin{{{kind}}}",
            "\\centering",
            caption,
            "\\begin{adjustbox}{max width=\\linewidth, max totalheight=0.9\\textheight}",
            f"\\begin{{tabular}}{{{_columns(grid)}}}",
            "\\toprule",
            _head(grid),
            "\\midrule",
            *_rows(table, grid),
            "\\bottomrule",
            "\\end{tabular}",
            "\\end{adjustbox}",
            f"\\end{{{kind}}}",
        ]
    )


def _long(table: Table, grid: _Grid, caption: str) -> str:
    """A table that goes on over pages, which nothing can scale: so in smaller type."""
    turned = grid.width > _WIDTH
    room = _HEIGHT if turned else _WIDTH
    size = next(
        (name for name, factor in _SIZES.items() if _SLACK * grid.width * factor <= room), "scriptsize"
    )
    head = [_head(grid), "\\midrule"]
    lines = [
        f"{{\\{size}",
        f"\\begin{{longtable}}{{{_columns(grid)}}}",
        f"{caption} \\\\",
        "\\toprule",
        *head,
        "\\endfirsthead",
        "\\toprule",
        *head,
        "\\endhead",
        "\\bottomrule",
        "\\endfoot",
        *_rows(table, grid),
        "\\end{longtable}}",
    ]
    return "\n".join(["\\begin{landscape}", *lines, "\\end{landscape}"] if turned else lines)


def _columns(grid: _Grid) -> str:
    text = [
        f">{{\\raggedright\\arraybackslash}}p{{{_TEXT:g}em}}" if width >= _TEXT else "l"
        for width in grid.widths()[: grid.left]
    ]
    return "".join(text) + "r" * (len(grid.head) - grid.left)


def _head(grid: _Grid) -> str:
    cells = (_stack(list(map(_escape, cell)), place, grid) for place, cell in enumerate(grid.head))
    return " & ".join(cells) + r" \\"


def _rows(table: Table, grid: _Grid) -> Iterator[str]:
    for at, row in enumerate(grid.rows):
        cells = []
        for place, cell in enumerate(row):
            first, *below = map(_escape, cell) if place < grid.left else map(_number, cell)
            if (at, grid.columns[place]) in table.best:
                first = rf"\textbf{{{first}}}"
            elif (at, grid.columns[place]) in table.second:
                first = rf"\underline{{{first}}}"
            cells.append(_stack([first, *below], place, grid))
        yield " & ".join(cells) + r" \\"


def _stack(lines: Sequence[str], place: int, grid: _Grid) -> str:
    if len(lines) == 1:
        return lines[0]
    side, broken = "l" if place < grid.left else "r", r" \\ ".join(lines)
    return f"\\makecell[t{side}]{{{broken}}}"


def _number(text: str) -> str:
    return _MINUS.sub("$-$", _escape(text))


def _escape(text: str) -> str:
    return text.translate(_ESCAPES)


def _widest(cells: Iterable[Sequence[str]]) -> float:
    return max((_width(line) for cell in cells for line in cell), default=0.0)


def _width(text: str) -> float:
    return sum(1.0 if east_asian_width(character) in "WF" else 0.5 for character in text)
