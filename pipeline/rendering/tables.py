"""Tables of results: Parquet and CSV for programs, Markdown and LaTeX for papers."""

import io
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from string import Template

import polars as pl

from build_dataset.pipeline.rendering import markup
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

    def files(self) -> Mapping[str, bytes]:
        """``tables/<name>.parquet``, ``.csv``, ``.md`` and ``.tex``."""
        parquet = io.BytesIO()
        self.data.write_parquet(parquet, compression="zstd", use_pyarrow=True)
        base = f"tables/{self.name}"
        return {
            f"{base}.parquet": parquet.getvalue(),
            f"{base}.csv": self.data.write_csv().encode(),
            f"{base}.md": f"{markup.text(self.caption)}\n\n{self.markdown()}\n".encode(),
            f"{base}.tex": latex(self).encode(),
        }

    def markdown(self) -> str:
        """The table alone, without its caption."""
        cells = [[*map(markup.text, row[: self.left]), *row[self.left :]] for row in self.rows]
        for at, column in self.best:
            cells[at][column] = f"**{cells[at][column]}**"
        return markup.table([markup.text(cell) for cell in self.head], cells, self.left)


_ESCAPES = dict.fromkeys((*range(0x20), 0x7F), " ")  # control characters, then those with a meaning in LaTeX
_ESCAPES |= str.maketrans(shipped_toml("build_dataset.pipeline.rendering", "templates/latex.toml"))
_ROWS = 50  # rows of a table that fit a page
_LATEX = Template(shipped_toml("build_dataset.pipeline.rendering", "templates/table.toml")["latex"])


def latex(table: Table) -> str:
    """Return the table for XeLaTeX, shrunk to the page where it is larger; one of many rows becomes several."""
    columns = "l" * table.left + "r" * (len(table.head) - table.left)
    words = {"caption": table.caption.translate(_ESCAPES), "columns": columns, "head": _latex_row(table.head)}
    shown = ([*row[: table.left], *(cell.replace("-", "−") for cell in row[table.left :])] for row in table.rows)
    best = ({column for place, column in table.best if place == at} for at in range(len(table.rows)))
    rows = list(map(_latex_row, shown, best))
    pages = (rows[at : at + _ROWS] for at in range(0, len(rows), _ROWS))
    parts = (_LATEX.substitute(words, rows="\n".join(page)) for page in pages)
    return "".join(("% XeLaTeX with ctex or xeCJK; \\usepackage{adjustbox, booktabs}\n", *parts))


def _latex_row(cells: Sequence[str], best: Container[int] = ()) -> str:
    texts = enumerate(cell.translate(_ESCAPES) for cell in cells)
    return " & ".join(rf"\textbf{{{text}}}" if at in best else text for at, text in texts) + r" \\"
