"""Tables of results: Parquet and CSV for programs, Markdown and LaTeX for papers."""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from unicodedata import east_asian_width

import polars as pl
from jinja2 import Template

from build_dataset.pipeline.rendering import markdown
from build_dataset.schemas.data import shipped_toml

Cell = tuple[int, int]  # row and column, from 0


@dataclass(frozen=True)
class Table:
    """A table twice: as numbers, and as people read it."""

    name: str  # name of its files
    caption: str
    data: pl.DataFrame  # tidy, for programs
    head: Sequence[str]
    rows: Sequence[Sequence[str]]  # the cells as shown; each row is as long as ``head``
    left: int = 1  # leading columns of text; the others are numbers
    best: frozenset[Cell] = frozenset()  # cells in bold: the best of what they are compared with
    second: frozenset[Cell] = frozenset()  # cells underlined, where that can be: the second best

    def files(self) -> Mapping[str, bytes]:
        """``tables/<name>.parquet``, ``.csv``, ``.md`` and ``.tex``."""
        parquet = io.BytesIO()
        self.data.write_parquet(parquet, compression="zstd", use_pyarrow=True)
        base = f"tables/{self.name}"
        return {
            f"{base}.parquet": parquet.getvalue(),
            f"{base}.csv": self.data.write_csv().encode(),
            f"{base}.md": f"{markdown.text(self.caption)}\n\n{self.markdown()}\n".encode(),
            f"{base}.tex": latex(self).encode(),
        }

    def markdown(self) -> str:
        """The table alone, without its caption."""
        cells = [[*map(markdown.text, row[: self.left]), *row[self.left :]] for row in self.rows]
        rows = [
            [f"**{cell}**" if (at, column) in self.best else cell for column, cell in enumerate(row)]
            for at, row in enumerate(cells)
        ]
        return markdown.table([markdown.text(cell) for cell in self.head], rows, self.left)


# Sizes in em, of an article's page (10 pt, one column).
_WIDTH, _HEIGHT = 34.5, 52.0  # of its text; the height is the width of a table on its side
_GAP = 1.2  # between columns
_TEXT = 13.0  # width of a column of long texts: "Certain infectious or parasitic diseases" takes two lines
_LATIN = 0.58  # of a letter or digit: digits of Latin Modern at 7 pt are 0.569 em wide
_UPRIGHT = 0.8  # a table is turned where it would be smaller than 8 pt upright
_SIZES = {"normalsize": 1.0, "small": 0.9, "footnotesize": 0.8, "scriptsize": 0.7}  # 7 pt is legible

# A line may end there: "openai:", "model-", "7b ".
_BREAKS = re.compile(r"(?<=[ :/_+-])|(?<=[\u3007-\u9fff])")
_GLUE = re.compile(r" (?![\[(])")  # "61.6 ± 0.1 [60.4, 62.8]" is broken before its interval only
_MINUS = re.compile(r"(?<!\w)-(?=\d)")  # "-1.5", not "CMB-2"
_ESCAPES = dict.fromkeys((*range(0x20), 0x7F), " ")  # control characters, then those with a meaning in LaTeX
_ESCAPES |= str.maketrans(shipped_toml("build_dataset.pipeline.rendering", "templates/latex.toml"))


def latex(table: Table) -> str:
    """Return the table for an article of one column, whatever its shape; it goes on over pages.

    Where it is wider than the page its cells are broken into lines, a value above its interval; then it is set smaller,
    and on its side. What would be smaller than 7 pt becomes several tables, each with the columns of text.
    """
    rows = [(*row[: table.left], *map(_number, row[table.left :])) for row in table.rows]
    columns = list(zip(table.head, *rows, strict=True))
    widths = [max(map(_width, cells)) for cells in columns]
    broken = _room(widths, range(len(widths))) > _WIDTH
    if broken:
        numbers = ([part for cell in cells for part in _BREAKS.split(cell)] for cells in columns[table.left :])
        texts = (min(width, _TEXT) for width in widths[: table.left])
        widths = [*texts, *(max(map(_width, parts)) for parts in numbers)]
    panels = list(_panels(widths, table.left))
    return _template().render(table=table, rows=rows, panels=panels, widths=widths if broken else None)


def _panels(widths: Sequence[float], left: int) -> Iterator[dict[str, Any]]:
    """Yield tables of as many numbers as can be read on a page's longer side, each behind the columns of text."""
    panels = [list(range(left))]
    for column in range(left, len(widths)):
        if len(panels[-1]) > left and _room(widths, [*panels[-1], column]) * _SIZES["scriptsize"] > _HEIGHT:
            panels.append(list(range(left)))
        panels[-1].append(column)
    for shown in panels:
        width = _room(widths, shown)
        turned = width * _UPRIGHT > _WIDTH
        fitting = (name for name, scale in _SIZES.items() if width * scale <= (_HEIGHT if turned else _WIDTH))
        yield {"columns": shown, "turned": turned, "size": next(fitting, "scriptsize")}


def _room(widths: Sequence[float], columns: Sequence[int]) -> float:
    return sum(widths[column] + _GAP for column in columns)


def _width(text: str) -> float:
    return sum(1.0 if east_asian_width(character) in "WF" else _LATIN for character in text)


def _number(cell: str) -> str:
    return _MINUS.sub("−", _GLUE.sub("\u00a0", cell))


@cache
def _template() -> Template:
    braces = {"variable_start_string": "<<", "variable_end_string": ">>"}
    made = markdown.environment("build_dataset.pipeline.rendering", lstrip_blocks=False, **braces)
    made.filters["tex"] = lambda text: text.translate(_ESCAPES)
    return made.get_template("table.tex")
