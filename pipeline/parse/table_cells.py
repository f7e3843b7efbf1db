"""Facts about the cells of a table's columns, by a sample of its rows. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from build_dataset.pipeline.parse import answer_cells as answers
from build_dataset.pipeline.parse import cells
from build_dataset.pipeline.parse.answer_cells import Given
from build_dataset.pipeline.parse.cells import Fields
from build_dataset.pipeline.parse.columns import Columns, options_of
from build_dataset.schemas.columns import plain_header, vocabulary


class TableCells:
    """The cells of a table, beside the mapping as far as it is found."""

    def __init__(self, rows: Sequence[Fields]) -> None:
        """Take the sample."""
        self.rows = rows
        self.names = list(dict.fromkeys(name for row in rows for name in row))
        self.filled = Counter(name for row in rows for name, value in row.items() if cells.filled(value))
        self.columns = Columns()
        self._shares: dict[tuple[str, ...], float] = {}  # of cells with several options, by columns

    def _share_of_options(self, names: Sequence[str]) -> float:
        """The share of the cells of a column that hold two options or more."""
        if (known := tuple(names)) not in self._shares:
            values = [value for row in self.rows if (value := cells.first(row, names)) is not None]
            several = sum(len(cells.read_options(value).pairs) > 1 for value in values)
            self._shares[known] = several / max(1, len(values))
        return self._shares[known]

    def _lists_texts(self, name: str, *, keyed: bool) -> bool:
        """Return whether cells of a column are lists of texts that seldom repeat, and say themselves which is right.

        ``keyed``: they need not say it.
        """
        listed = [value for value in map(cells.unpacked, self._values(name)) if isinstance(value, list)]
        read = [cells.read_options(value) for value in listed]
        texts = [text for cell in read for _, text in cell.pairs]
        seldom = 2 * len({*texts}) > len(texts) > 2 * self.filled[name]
        return seldom and self._share_of_options([name]) >= answers.MOST and (keyed or all(cell.right for cell in read))

    def _free(self) -> list[str]:
        """Columns that hold something and have no role."""
        taken = self.columns.names()
        return [name for name in self.names if self.filled[name] and name not in taken]

    def _later_keys(self) -> list[str]:
        """Columns of letters whose headers speak of a key as well: 更正答案, final_answer; not 考生答案."""
        words = vocabulary()["words"]
        return [
            name
            for name in self._free()
            if any(word in plain_header(name) for word in words["key"])
            and not any(word in plain_header(name) for word in words["no_key"])
            and all(answers.letters_of(str(value), []) for value in self._values(name))
        ]

    def _is_text(self, name: str) -> bool:
        """Return whether a column holds texts of which at least half differ."""
        values = [text for row in self.rows if (text := cells.string(row.get(name)))]
        several = len(set(values)) * 2 >= min(len(values), 3)
        return several and any(not answers.is_number(value) for value in values)

    def _given(self, name: str) -> list[Given]:
        """The answers of a column, beside the options that they answer."""
        return [
            Given(row[name], options)
            for row in self.rows
            if cells.filled(row.get(name)) and (options := options_of(row, self.columns)).pairs
        ]

    def _letters_in(self, names: Sequence[str]) -> list[str]:
        """The letters that a column gives as answers, in order."""
        texts = [text for row in self.rows if (text := cells.string(cells.first(row, names)))]
        return sorted({letter for text in texts for letter in answers.letters_of(text, []) or ()})

    def _holds_letters(self, name: str) -> bool:
        """Return whether nearly all cells of a column are single letters, of which there are several."""
        values, letters, others = self._values(name), set[str](), 0
        for value in values:
            letter = answers.letters_of(str(value), [])
            letters.update(letter if letter and len(letter) == 1 else ())
            others += not letter or len(letter) != 1
            if others > (1 - answers.MOST) * len(values):
                return False
        return len(letters) > 1

    def _looks_like_key(self, name: str) -> bool:
        values = self._values(name)
        letters = [answers.letters_of(str(value), []) for value in values]
        if all(letters) and len({tuple(letter) for letter in letters if letter}) > 1:
            return True
        given = self._given(name)
        quoted = [answers.quoted_of(str(cell.value), cell.options.pairs) for cell in given]
        return len(given) == len(values) > 1 and all(quoted)

    def _values(self, name: str) -> list[Any]:
        """The cells of a column that hold something."""
        return [row[name] for row in self.rows if cells.filled(row.get(name))]

    def _length(self, name: str) -> int:
        """Characters of a column."""
        return sum(len(str(row.get(name) or "")) for row in self.rows)
