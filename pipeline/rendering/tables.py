"""Tables of results: Parquet and CSV for programs, Markdown and LaTeX for papers."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from pipeline.rendering import markdown
from pipeline.rendering.latex import latex

Cell = tuple[int, int]
"""Row and column, from 0."""


@dataclass(frozen=True)
class Table:
    """A table twice: as numbers, and as people read it."""

    name: str
    """Name of its files."""
    caption: str
    data: pl.DataFrame
    """Tidy, for programs."""
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    """The cells as shown; each row is as long as ``head``."""
    left: int = 1
    """Leading columns of text; the others are numbers."""
    best: frozenset[Cell] = field(default=frozenset())
    """Cells in bold: the best of what they are compared with."""
    second: frozenset[Cell] = field(default=frozenset())
    """Cells underlined, where that can be: the second best."""

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
