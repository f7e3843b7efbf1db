"""Roles of a table's columns, options read from them, and facts about cells, by a sample of the table's rows. Pure."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from build_dataset.pipeline.parse import cells
from build_dataset.pipeline.parse.answer_cells import (
    MOST,
    AnswerEncoding,
    Given,
    answer_numbers,
    is_number,
    letters_of,
    quoted_of,
    read_answer,
)
from build_dataset.pipeline.parse.cells import Fields, Options, first, string, without_label
from build_dataset.pipeline.parse.labels import LABELS, cut_stem, hidden, label_after, label_at
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import in_language, option_groups, plain_header, roles_of, vocabulary
from build_dataset.schemas.grouping import group_values

_P = Patterns(__name__)
_ASK = 0.4  # share of stems that end or open as a question does; of options, chapters and explanations fewer do
TOLERATED = 0.02  # share of keys that may name an option no column holds, or differ from a second key: typing errors
_TYPED = 10  # keys of which one alone that names the next label, E of A to D, is a typing error
_COMMON = "E"  # the last label that exams use: one key F is a typing error where no column is left that could hold it
_DECORATES = 0.2  # share of rows with one picture, beside others, that decorates them and shows nothing
_FIGURES = 3  # least number of such rows, and of other pictures
_SHOWN = 20
"""Least number of keys for a label that none of them names to be no option; each of four is the key 1 time in 4."""


class Unclear(NamedTuple):
    """A table that can be read in two ways or in none: the readings, and what to write in ``dataset.toml``."""

    reason: str
    detail: str


@dataclass
class Columns:
    """The mapping of a table."""

    roles: dict[str, list[str]] = field(default_factory=dict)  # the first that holds something counts
    options: dict[str, str] = field(default_factory=dict)  # columns of one option each, by label
    encoding: AnswerEncoding = AnswerEncoding.UNKNOWN
    found_by: dict[str, str] = field(default_factory=dict)  # `name`, `content` or `dataset.toml`, by role
    own_labels: bool = False
    """The cells of options begin with the label of their column: A、甲 under A; a bare label is an empty cell."""
    options_in_stem: bool = False
    keys: dict[str, AnswerEncoding] = field(default_factory=dict)  # columns of keys that differ in a few rows
    key_is_an_option: bool = False
    """The columns of options hold the wrong ones alone (distractor1 …); the key's text is one more."""
    decoration: set[str] = field(default_factory=set)
    """Cells that name a picture which many rows have: a logo, a placeholder."""
    unused: dict[str, str] = field(default_factory=dict)
    """Filled columns that are no part of a question; of those with long texts what they are."""

    def facts(self) -> dict[str, Any]:
        """Return the columns that each part of a question is read from, for the manifest and for people."""
        roles: dict[str, Any] = {role: " / ".join(names) for role, names in sorted(self.roles.items()) if names}
        if self.options:
            roles["options"] = " ".join(f"{label}={name}" for label, name in self.options.items())
        if self.options_in_stem:
            roles["options"] = "in the stem"
        roles |= {"answers_as": self.encoding.value} if "answer" in self.roles else {}
        roles |= {"found_by": dict(sorted(self.found_by.items()))}
        unused = ", ".join(f"{name} ({use})" if use else name for name, use in self.unused.items())
        return roles | ({"unused": unused} if unused else {})

    def has_options(self) -> bool:
        """Return whether it is known where options are."""
        return bool(self.options or self.options_in_stem or {"options", "wrong"} & {*self.roles})

    def names(self) -> set[str]:
        """Every column that is a part of a question."""
        return {*self.options.values()} | {name for names in self.roles.values() for name in names}


def options_of(fields: Fields, columns: Columns) -> Options:
    """The options of a row: one cell that holds all, else a column each, else the end of the stem."""
    value = cells.first(fields, columns.roles.get("options", ()))
    if value is not None and (whole := cells.read_options(value)).pairs:
        return whole
    if columns.key_is_an_option:
        right = cells.unpacked(cells.first(fields, columns.roles.get("answer", ())))
        keys = [text for part in (right if isinstance(right, list) else [right]) if (text := cells.string(part))]
        wrong = [text for name in columns.options.values() if (text := cells.string(fields.get(name)))]
        listed = cells.first(fields, columns.roles.get("wrong", ()))
        wrong += [text for _, text in cells.read_options(listed).pairs]
        # In the order of their texts, or the key would always be A; several may be right: {"rA": ["甲", "乙"]}.
        texts = sorted([*keys, *wrong]) if keys else wrong
        return cells.labelled((label_at(at), text) for at, text in enumerate(texts))
    if columns.options:
        printed = ((label, fields.get(name)) for label, name in columns.options.items())
        if columns.own_labels:
            printed = ((label, cells.without_label(value, label)) for label, value in printed)
        named = {plain_header(name): label for label, name in columns.options.items()}
        return replace(cells.labelled(printed), named=named)
    if columns.options_in_stem:
        pairs = cut_stem(cells.text_of(fields, columns.roles["stem"]) or "")[1]
        return replace(cells.labelled(pairs), inside=hidden(pairs))
    return Options([])


def disagreements(rows: Sequence[Fields], how: Mapping[str, AnswerEncoding], columns: Columns) -> list[tuple[str, str]]:
    """Return the first of two columns that give a row different keys, with what both say, for each such row."""
    differs = []
    for row, options in ((row, options_of(row, columns)) for row in rows):
        read = [(one, key) for one in how if (key := "".join(read_answer(row.get(one), options, how[one]) or ()))]
        for (one, meaning), (other, meant) in pairwise(read):
            says = f"{one} = {row[one]!r:.30} is {meaning}, {other} = {row[other]!r:.30} is {meant}"
            differs += [(one, says)] if meaning != meant else []
    return differs


def unheld_option(
    rows: Sequence[Fields], names: Sequence[str], free: Sequence[str], options: Mapping[str, str], answer: Sequence[str]
) -> str:
    """Return why there may be an option that no column of options holds: keys name it, the next column is like them."""
    # Only ``free`` columns, which are no part of a question yet, can hold it.
    rows = [row for row in rows if any(string(row.get(name)) for name in options.values())]
    keys = [text for row in rows if (text := string(first(row, answer)))]
    named = Counter(label for text in keys for label in letters_of(text, []) or () if label not in options)
    for label, times in sorted(named.items()):
        # One key alone is a typing error: of many keys, or of a label further on.
        alone = len(keys) >= _TYPED or label > max(label_after(max(options)), _COMMON)
        if times > max(TOLERATED * len(keys), int(alone)):
            return f"{times} of {len(keys)} keys name {label}, and no column holds option {label}"
    beside = names[names.index(options[max(options)]) + 1 :][:1]  # of few keys none may name it
    if 0 < len(keys) < _SHOWN and {*beside} & {*free} and looks_like(beside[0], rows, [*options.values()]):
        return f"{beside[0]} may be option {label_after(max(options))}, or not"
    return ""


def looks_like(column: str, rows: Sequence[Fields], options: Sequence[str]) -> bool:
    """Return whether the cells of a column are filled, differ and are about as long as those of the options."""
    texts = [text for row in rows if (text := string(row.get(column)))]
    others = [text for row in rows for name in options if (text := string(row.get(name)))]
    signs = all(letters_of(text, []) or is_number(text) for text in texts)  # as of a key
    if 2 * len(set(texts)) < len(rows) or not others or signs or all(map(cells.is_picture, texts)):
        return False
    ratio = (sum(map(len, texts)) / len(texts)) / (sum(map(len, others)) / len(others))
    return 1 / 3 < ratio < 3  # remarks and chapters are longer or shorter


def side_by_side(columns: list[str], names: list[str], size: int, length: Callable[[str], int] | None) -> list[str]:
    """Return the one run of so many columns side by side; with ``length`` the longest before it may be the stem."""
    groups = groupby(enumerate(columns), key=lambda pair: names.index(pair[1]) - pair[0])
    runs = [[name for _, name in group] for _, group in groups]
    whole = [run for run in runs if len(run) == size]
    if not whole and length is not None:
        whole = [run[1:] for run in runs if len(run) == size + 1 and max(run, key=length) == run[0]]
    return whole[0] if len(whole) == 1 else []


def numbered_texts(columns: Sequence[str], rows: Sequence[Fields]) -> list[str]:
    """Return the columns that are alike under one word and 1, 2, 3 or A, B, C: p1, p2, p3 beside o1 = (1)."""
    runs = []
    for signs in ("123456789", LABELS[:9], LABELS[:9].lower()):
        named = group_values((name[:-1], name) for name in columns if name[-1:] in signs)
        runs += [run for word, run in named.items() if [*run] == [word + sign for sign in signs[: len(run)]]]
    asked = [[row for row in rows if string(row.get(run[0]))] for run in runs]  # the last ones are seldom there
    alike = [run for run, own in zip(runs, asked, strict=True) if all(looks_like(name, own, run) for name in run[:2])]
    return alike[0] if len(alike) == 1 and len(alike[0]) > 1 else []


def first_language(headers: Sequence[str]) -> tuple[list[tuple[str, str]], set[str]] | None:
    """Return headers of the first language that asks, each behind its base, and those of the others."""
    # ``question_de``, ``answers_de`` → ``[(question, question_de), …]``; None where no header names a language.
    named = group_values((found[1], (found[0], name)) for name in headers if (found := in_language(name)))
    first = next((known for known in named.values() if any("stem" in roles_of(base) for base, _ in known)), None)
    others = {name for known in named.values() if known is not first for _, name in known}
    bases = {base for base, _ in first or ()}  # question_fa, whose code is no word that is known
    others |= {name for name in headers if name[:-2].rstrip("_- ") in bases and not roles_of(name)} - {*bases}
    return None if first is None else (first, others - {name for _, name in first})


def likely_options(headers: Sequence[str], filled: Mapping[str, int]) -> dict[str, dict[str, str]]:
    """Return the groups of option columns with most cells that are ``filled``, those of half as many beside them."""
    named = option_groups(headers).items()
    groups = {word: labels for word, labels in named if sum(filled[name] > 0 for name in labels.values()) > 1}
    sizes = {word: sum(filled[name] for name in labels.values()) for word, labels in groups.items()}
    return {word: labels for word, labels in groups.items() if 2 * sizes[word] > max(sizes.values())}


def own_labels(rows: Sequence[Fields], options: Mapping[str, str]) -> bool:
    """Return whether nearly all cells of options repeat the label of their column: A、甲 under A."""
    texts = [(label, string(row.get(name))) for label, name in options.items() for row in rows]
    labelled = [without_label(text, label) != text for label, text in texts if text]
    return bool(labelled) and sum(labelled) >= MOST * len(labelled)


class TableCells:
    """The cells of a table, beside the mapping as far as it is found."""

    def __init__(self, rows: Sequence[Fields]) -> None:
        """Take the sample."""
        self.rows = rows
        self.names = list(dict.fromkeys(name for row in rows for name in row))
        self.filled = Counter(name for row in rows for name, value in row.items() if cells.filled(value))
        self.columns = Columns()
        self._shares: dict[tuple[str, ...], float] = {}  # of cells with several options, by columns

    def _pictures(self) -> None:
        """Take columns that name pictures of the question: LK0944.jpg."""
        for name in [*self._free(), *self.columns.roles.get("link", ())]:
            of_answer = any(word in name.casefold() for word in vocabulary()["words"]["of_answer"])
            values = self._values(name)
            cited = plain_header(name).startswith(tuple(vocabulary()["words"]["cited"]))  # source_image: of its page
            if not (of_answer or cited) and all(map(cells.is_picture, values)):
                self.columns.roles.setdefault("image", []).append(name)
                self.columns.found_by.setdefault("image", "content")
        for name in self.columns.roles.get("image", ()):
            times = Counter(map(str, self._values(name)))  # of pictures; some decorate many rows, beside others of few
            many = {one for one, count in times.items() if count >= max(_FIGURES, _DECORATES * len(self.rows))}
            self.columns.decoration |= many if len(times) - len(many) >= _FIGURES else set()

    def _share_of_options(self, names: Sequence[str]) -> float:
        """The share of the cells of a column that hold two options or more."""
        if (known := tuple(names)) not in self._shares:
            values = [value for row in self.rows if (value := cells.first(row, names)) is not None]
            several = sum(len(cells.read_options(value).pairs) > 1 for value in values)
            self._shares[known] = several / max(1, len(values))
        return self._shares[known]

    def _lists_texts(self, name: str, *, keyed: bool) -> bool:
        """Return whether cells of a column are lists of texts that seldom repeat, and say themselves which is right."""
        # ``keyed``: they need not say it.
        listed = [value for value in map(cells.unpacked, self._values(name)) if isinstance(value, list)]
        read = [cells.read_options(value) for value in listed]
        texts = [text for cell in read for _, text in cell.pairs]
        seldom = 2 * len({*texts}) > len(texts) > 2 * self.filled[name]
        return seldom and self._share_of_options([name]) >= MOST and (keyed or all(cell.right for cell in read))

    def _free(self) -> list[str]:
        """Columns that hold something and have no role."""
        taken = self.columns.names()
        return [name for name in self.names if self.filled[name] and name not in taken]

    def _later_keys(self) -> list[str]:
        """Columns of letters whose headers speak of a key as well: 更正答案, final_answer; not 考生答案."""
        words = vocabulary()["words"]
        named = [name for name in self._free() if any(word in plain_header(name) for word in words["key"])]
        named = [name for name in named if not any(word in plain_header(name) for word in words["no_key"])]
        return [name for name in named if all(letters_of(str(value), []) for value in self._values(name))]

    def _is_text(self, name: str) -> bool:
        """Return whether a column holds texts of which at least half differ."""
        values = [text for row in self.rows if (text := cells.string(row.get(name)))]
        return len(set(values)) * 2 >= min(len(values), 3) and not all(map(is_number, values))

    def _given(self, name: str) -> list[Given]:
        """The answers of a column, beside the options that they answer."""
        filled = [row for row in self.rows if cells.filled(row.get(name))]
        return [Given(row[name], found) for row in filled if (found := options_of(row, self.columns)).pairs]

    def _letters_in(self, names: Sequence[str]) -> list[str]:
        """The letters that a column gives as answers, in order."""
        texts = [text for row in self.rows if (text := cells.string(cells.first(row, names)))]
        return sorted({letter for text in texts for letter in letters_of(text, []) or ()})

    def _holds_letters(self, name: str) -> bool:
        """Return whether nearly all cells of a column are single letters, of which there are several."""
        letters = [letters_of(str(value), []) or [] for value in self._values(name)]
        single = [letter[0] for letter in letters if len(letter) == 1]
        return len({*single}) > 1 and len(single) >= MOST * len(letters)

    def _looks_like_key(self, name: str) -> bool:
        values = self._values(name)
        letters = [letters_of(str(value), []) for value in values]
        if all(letters) and len({tuple(letter) for letter in letters if letter}) > 1:
            return True
        given = self._given(name)
        read = ((str(one.value), one.options.pairs) for one in given)
        return len(given) == len(values) > 1 and all(quoted_of(*one) or letters_of(*one) for one in read)

    def _other_reading(self) -> tuple[str, str, str] | None:
        """Return what another reading of a table whose headers say nothing may be, with its role and its column."""
        stem, key = (self.columns.roles.get(role, [""])[0] for role in ("stem", "answer"))
        stems = [cut_stem(str(it))[0] if self.columns.options_in_stem else str(it) for it in self._values(stem)]
        if sum(_P.asks.search(text) is not None for text in stems) < _ASK * len(stems):
            return f"the texts of {stem} may be no questions", "stem", stem
        texts = [[text for _, text in options_of(row, self.columns).pairs] for row in self.rows]
        if sum(len({*row}) < len(row) for row in texts) > (1 - MOST) * len(texts):
            return "the options may be others: many rows have one text twice", "options", "[…]"
        others = [name for name in self._free() if any(row.get(name) != row.get(key) for row in self.rows)]
        rivals = [name for name in others if self._may_be_key(name)]
        said = f"two columns may be the key: {key or 'that of the options'} and {next(iter(rivals), '')}"
        return (said, "answer", key) if rivals else None

    def _may_be_key(self, name: str) -> bool:
        """Return whether nearly all rows have a letter, a number or the text of one of their options in a column."""
        fit = [
            letters_of(str(value), [])
            or quoted_of(str(value), options.pairs)
            or (is_number(value) and max(answer_numbers(value)) <= len(options.pairs))
            for value, options in self._given(name)
        ]
        return sum(map(bool, fit)) >= MOST * len(self.rows)

    def _values(self, name: str) -> list[Any]:
        """The cells of a column that hold something."""
        return [row[name] for row in self.rows if cells.filled(row.get(name))]

    def _length(self, name: str) -> int:
        """Characters of a column."""
        return sum(len(str(row.get(name) or "")) for row in self.rows)
