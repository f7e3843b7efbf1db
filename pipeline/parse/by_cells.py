"""Find columns by their cells where headers do not help, and the encoding of a column's answers. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from pipeline.parse import answer_cells as answers
from pipeline.parse import cells
from pipeline.parse.answer_cells import AnswerEncoding, Given
from pipeline.parse.cells import Fields
from pipeline.parse.columns import Columns, Unclear, around_key, looks_like, options_of, side_by_side
from pipeline.parse.fields import concluded_answer
from schemas.columns import roles_of, vocabulary
from schemas.dataset import SourceParams

_FEW = 10
"""Least number of rows for letters under a meaningless header to be a key."""


class CellSearch:
    """The state of a search for a table's mapping, and what its cells alone tell."""

    def __init__(self, rows: Sequence[Fields], declared: SourceParams) -> None:
        self.rows, self.declared = rows, declared
        self.names = list(dict.fromkeys(name for row in rows for name in row))
        self.filled = Counter(name for row in rows for name, value in row.items() if cells.filled(value))
        self.shown = ", ".join(self.names)[:200]
        self.found = Columns()
        self.problems: list[Unclear] = []

    def _stop(self, reason: str, detail: str) -> None:
        self.problems.append(Unclear(reason, detail))

    def _take(self, role: str, names: list[str], by: str) -> None:
        self.found.roles[role], self.found.found_by[role] = names, by

    def _take_options(self, names: Sequence[str] | Mapping[str, str], by: str) -> None:
        """Take columns of one option each, by letter, or the first as A."""
        labels = names if isinstance(names, Mapping) else dict(zip(cells.LABELS, names, strict=False))
        self.found.options, self.found.found_by["options"] = dict(labels), by
        self.found.roles.pop("options", None)

    def _is_text(self, name: str) -> bool:
        """Return whether a column holds texts of which at least half differ."""
        values = [text for row in self.rows if (text := cells.string(row.get(name)))]
        several = len(set(values)) * 2 >= min(len(values), 3)
        return several and any(not answers.is_number(value) for value in values)

    def _given(self, name: str) -> list[Given]:
        """The answers of a column, beside the options that they answer and what the explanation concludes (故选C)."""
        names = self.found.roles.get("explanation", ())
        return [
            Given(row[name], options, concluded_answer(cells.text_of(row, names)))
            for row in self.rows
            if cells.filled(row.get(name)) and (options := options_of(row, self.found)).pairs
        ]

    def _encoding(self, name: str) -> tuple[AnswerEncoding | Unclear, float]:
        """Return the encoding of a column's answers and the share of its rows that can be read in it."""
        if self.found.key_is_an_option:
            return AnswerEncoding.TEXTS, 1.0
        if not (given := self._given(name)):
            return AnswerEncoding.UNKNOWN, float(not self.filled[name])
        if self.declared.answer_as:
            found: AnswerEncoding | str = AnswerEncoding(self.declared.answer_as)
        else:
            found = answers.encoding_of(given, printed=not self.found.options)
        if isinstance(found, AnswerEncoding):
            return found, answers.readable_share(given, found)
        return Unclear("answers_unclear", f"{name} = {found} in dataset.toml"), 1.0

    def _require_agreement(self, encodings: Mapping[str, AnswerEncoding]) -> None:
        """Stop where two possible key columns contradict each other."""
        for row in self.rows if len(encodings) > 1 else ():
            options = options_of(row, self.found)
            read = [
                (name, "".join(answer))
                for name, encoding in encodings.items()
                if (answer := answers.read_answer(row.get(name), options, encoding))
            ]
            for (one, said), (other, meant) in pairwise(read):
                if said != meant:
                    self._stop(
                        "columns_unclear",
                        f"two columns may be the key and differ: {one} = {row.get(one)!r:.30} is {said}, "
                        f"{other} = {row.get(other)!r:.30} is {meant}; {hint('answer', one)}",
                    )
                    return

    def _by_content(self) -> None:
        """Give roles to columns whose cells leave no doubt, and report other columns that may matter."""
        if not self.found.has_options():
            self._find_lists()
        if "answer" not in self.found.roles and not self.problems:
            self._find_answer()
        if not self.found.has_options():
            self._find_options()
        if "stem" not in self.found.roles:
            self._find_stem()
        if self.problems:
            return
        if "stem" not in self.found.roles:
            self._stop("no_stem", f"no column is the stem; there are {self.shown}; {hint('stem', '…')}")
        if not self.found.has_options():
            how = hint("options", "…") + ' or options = ["…", "…"]'
            empty = next(
                (name for name in self.names if "options" in roles_of(name) and not self.filled[name]), None
            )
            told = (
                f"{empty} is empty in every row"
                if empty
                else f"no column holds the options; there are {self.shown}; {how}"
            )
            self._stop("no_options", told)

    def _free(self) -> list[str]:
        """Columns that hold something and have no role."""
        taken = self.found.names()
        return [name for name in self.names if self.filled[name] and name not in taken]

    def _find_answer(self) -> None:
        """Find a column of letters, or of texts each of which is an option's."""
        never = vocabulary()["words"]["no_key"]
        likely = [name for name in self._free() if not any(word in name.casefold() for word in never)]
        good = [name for name in likely if self._looks_like_key(name)]
        before = len(self.problems)
        self._require_agreement(dict.fromkeys(good, AnswerEncoding.UNKNOWN))
        if not good or len(self.problems) > before:
            return
        labels = {label for row in self.rows for label, _ in options_of(row, self.found).pairs}
        used = self._letters_in(good[:1])
        # Beside headers that say what they are, a column of letters may be a reader's or a model's; so may few.
        sure = "name" not in self.found.found_by.values() and self.filled[good[0]] >= _FEW
        if (used and labels and used[-1] != max(labels)) or not (sure or self._concluded_by_all(good[0])):
            holds = f"it holds {', '.join(used)}" if used else "it holds texts of options"
            told = f"no column is named as the key; {good[0]} may be it ({holds}), or not"
            self._stop("columns_unclear", f"{told}; {hint('answer', good[0])}")
            return
        self._take("answer", [good[0]], "content")
        self.found.encoding = AnswerEncoding.LETTERS if used else AnswerEncoding.TEXTS

    def _concluded_by_all(self, name: str) -> bool:
        """Return whether explanations that conclude an answer (故选C) agree with a column of letters."""
        said = [
            (one.concluded, "".join(answer))
            for one in self._given(name)
            if one.concluded and (answer := answers.read_answer(one.value, one.options))
        ]
        return len(said) >= answers.CONCLUSIONS and all(concluded == letters for concluded, letters in said)

    def _letters_in(self, names: Sequence[str]) -> list[str]:
        """The letters that a column gives as answers, in order."""
        texts = [text for row in self.rows if (text := cells.string(cells.first(row, names)))]
        return sorted({letter for text in texts for letter in answers.letters_of(text, []) or ()})

    def _looks_like_key(self, name: str) -> bool:
        values = [row.get(name) for row in self.rows if cells.filled(row.get(name))]
        letters = [answers.letters_of(str(value), []) for value in values]
        if all(letters) and len({tuple(one) for one in letters if one}) > 1:
            return True
        given = self._given(name)
        quoted = [answers.quoted_of(str(one.value), one.options.pairs) for one in given]
        return len(given) == len(values) > 1 and all(quoted)

    def _find_lists(self) -> None:
        """Find a column of lists or objects that name the letter of each option."""
        columns = [name for name in self._free() if not roles_of(name)]
        if listed := [name for name in columns if all(map(cells.names_letters, self._values(name)))]:
            self._take("options", listed[:1], "content")
            self._same_options(listed)
            self._settle_encoding()

    def _find_options(self) -> None:
        """Find columns side by side, as many as the key has letters; or those in which the key's text is found."""
        columns = [name for name in self._free() if not roles_of(name)]
        letters = self._letters_in(self.found.roles.get("answer", []))
        answer = self.found.roles.get("answer", [])
        chosen = around_key(self.rows, columns, answer)
        if letters:
            stem_first = None if "stem" in self.found.roles else self._length
            texts = [name for name in columns if self._is_text(name) and not self._looks_like_key(name)]
            chosen = side_by_side(texts, self.names, ord(letters[-1]) - 64, stem_first)
            if not all(looks_like(name, self.rows, chosen) for name in chosen):
                chosen = []
        if len(chosen) > 1:
            self._take_options(chosen, "content")
            self._settle_encoding()

    def _settle_encoding(self) -> None:
        """Settle how the key is given, beside options found after it."""
        for name in self.found.roles.get("answer", [])[:1]:
            found, _ = self._encoding(name)
            if isinstance(found, Unclear):
                self.problems.append(found)
            else:
                self.found.encoding = found

    def _same_options(self, names: Sequence[str]) -> None:
        """Stop where two columns of options differ; ``questionSelect`` and ``itemList`` may say the same."""
        for row in self.rows:
            read = [cells.bare_texts(row.get(name)) for name in names if cells.filled(row.get(name))]
            if any(texts != read[0] for texts in read):
                told = f"the options may be {' or '.join(names)}; {hint('options', names[0])}"
                self._stop("columns_unclear", told)
                return

    def _values(self, name: str) -> list[Any]:
        """The cells of a column that hold something."""
        return [row[name] for row in self.rows if cells.filled(row.get(name))]

    def _length(self, name: str) -> int:
        """Characters of a column."""
        return sum(len(str(row.get(name) or "")) for row in self.rows)

    def _find_stem(self) -> None:
        """Find the one column of texts that nearly all differ and are longest by far."""
        texts = [name for name in self._free() if self._is_text(name) and not roles_of(name)]
        if not texts or not self.found.has_options() or "answer" not in self.found.roles:
            return
        longest, *others = sorted(texts, key=self._length, reverse=True)
        if others and self._length(longest) < 2 * self._length(others[0]):
            told = f"the stem may be {longest} or {others[0]}; {hint('stem', longest)}"
            self._stop("columns_unclear", told)
        else:
            self._take("stem", [longest], "content")


def hint(role: str, name: str) -> str:
    """Return what to write in ``dataset.toml``, for an error."""
    return f"write {role} = {name!r} in dataset.toml"
