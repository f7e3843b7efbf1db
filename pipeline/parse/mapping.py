"""Which column of a tabular source is what: by its header, then by what stands in it. Pure.

A mapping that could be two things is no mapping: the file is stopped with one line that names both readings.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from pipeline.parse import cells
from pipeline.parse.answers import concluded
from pipeline.parse.cells import Key, Options
from schemas.columns import option_of, plain, roles_of, vocabulary
from schemas.sources import SourceParams

Fields = Mapping[str, Any]
"""A row's values by the name of their column."""

MOST = 0.95
"""Share of a column's values that must read as answers for it to be the answer column; the rest are typing errors."""
SAMPLE = 2000
"""Rows, spread over the file, that columns are judged by; what is certain of these is certain of all."""
ENOUGH = 20
"""Numbered answers from which one that cannot be (0 of 1–4) is a typing error, and no sign of the other base."""


@dataclass(frozen=True)
class Unclear:
    """A source that can be read in two ways, or in none: why, with both, and what to write."""

    reason: str
    detail: str


@dataclass
class Columns:
    """The mapping of a source."""

    roles: dict[str, list[str]] = field(default_factory=dict)
    """Columns by role, the first that holds something counts."""
    options: dict[str, str] = field(default_factory=dict)
    """Columns of one option each, by label."""
    key: Key = Key.UNKNOWN
    found_by: dict[str, str] = field(default_factory=dict)
    """``name``, ``content`` or ``dataset.toml``, by role."""
    options_in_stem: bool = False

    def facts(self) -> dict[str, Any]:
        """For the manifest and for people: what each part of a question is read from."""
        told: dict[str, Any] = {role: " / ".join(names) for role, names in sorted(self.roles.items())}
        if self.options:
            told["options"] = " ".join(f"{label}={name}" for label, name in self.options.items())
        if self.options_in_stem:
            told["options"] = "in the stem"
        return told | {"answers_as": self.key.value, "found_by": dict(sorted(self.found_by.items()))}


def find(rows: Sequence[Fields], declared: SourceParams | None = None) -> Columns | Unclear:
    """The mapping of a source's rows.

    Args:
        rows: all of them.
        declared: what ``dataset.toml`` says of the source; it wins.
    """
    sample = rows[:: max(1, len(rows) // SAMPLE)]
    search = _Search(sample, declared or SourceParams())
    for step in (
        search.declare,
        search.name,
        search.option_columns,
        search.stem,
        search.answer,
        search.by_content,
    ):
        if unclear := step():
            return unclear
    return search.found


def options_of(fields: Fields, columns: Columns) -> Options:
    """The options of a row: one cell that holds all, else a column each, else the end of the stem."""
    value = cells.first(fields, columns.roles.get("options", ()))
    if value is not None and (whole := cells.read_options(value)).pairs:
        return whole
    if columns.options:
        return cells.labelled((label, fields.get(name)) for label, name in columns.options.items())
    if columns.options_in_stem:
        return cells.labelled(cells.cut(cells.text_of(fields, columns.roles["stem"]) or "")[1])
    return Options([])


class _Search:
    """Finds the mapping step by step; each step returns what stops the file, or None."""

    def __init__(self, rows: Sequence[Fields], declared: SourceParams) -> None:
        self.rows, self.declared = rows, declared
        self.names = list(dict.fromkeys(name for row in rows for name in row))
        self.filled = Counter(name for row in rows for name, value in row.items() if _filled(value))
        self.found = Columns()

    def declare(self) -> Unclear | None:
        """Take what ``dataset.toml`` says."""
        for role, name in self.declared.columns().items():
            if name not in self.names:
                shown = ", ".join(self.names[:30])
                return Unclear("unknown_column", f"{role} = {name!r} is no column of it; there are {shown}")
            self.found.roles[role] = [name]
            self.found.found_by[role] = "dataset.toml"
        if isinstance(self.declared.options, list):
            missing = [name for name in self.declared.options if name not in self.names]
            if missing:
                return Unclear("unknown_column", f"options name {missing[0]!r}, which is no column of it")
            self.found.options = {chr(65 + at): name for at, name in enumerate(self.declared.options)}
            self.found.found_by["options"] = "dataset.toml"
        return None

    def name(self) -> Unclear | None:
        """Take headers that the vocabulary knows; columns without any value are none."""
        by_role: dict[str, list[str]] = defaultdict(list)
        for name in self.names:
            for role in roles_of(name):
                if self.filled[name]:
                    by_role[role].append(name)
        taken = {name for names in self.found.roles.values() for name in names}
        for role, names in by_role.items():
            order = [plain(one) for one in vocabulary()["roles"][role]]
            if role not in self.found.roles and not (role == "options" and self.found.options):
                free = [name for name in names if name not in taken]
                self.found.roles[role] = sorted(free, key=lambda name: order.index(plain(name)))
                self.found.found_by[role] = "name"
        self.found.roles = {role: names for role, names in self.found.roles.items() if names}
        return None

    def option_columns(self) -> Unclear | None:
        """Find columns of one option each: opa to ope, 选项A, A B C D, option1."""
        groups: dict[tuple[str, bool], dict[str, str]] = defaultdict(dict)
        for name in self.names:
            if (named := option_of(name)) and not roles_of(name):
                groups[named[0], named[1].isdigit()].setdefault(named[1], name)
        whole = {
            key: labels
            for key, labels in groups.items()
            if len([name for name in labels.values() if self.filled[name]]) > 1
            and _run_on(labels, digits=key[1])
        }
        if self.found.options or ("options" in self.found.roles and self._read(self.found.roles["options"])):
            return None
        if len(whole) > 1:
            most = max(sum(self.filled[name] for name in labels.values()) for labels in whole.values())
            whole = {k: v for k, v in whole.items() if sum(self.filled[n] for n in v.values()) * 2 > most}
        if len(whole) > 1:
            one, other = [", ".join(list(labels.values())[:5]) for labels in list(whole.values())[:2]]
            return Unclear(
                "columns_unclear", f"the options may be {one}, or {other}; {_say('options', '[…]')}"
            )
        for labels in whole.values():
            start = min((int(label) for label in labels if label.isdigit()), default=0)
            self.found.options = {
                chr(65 + int(label) - start) if label.isdigit() else label: name
                for label, name in sorted(labels.items(), key=lambda item: (len(item[0]), item[0]))
            }
            self.found.roles.pop("options", None)
            self.found.found_by["options"] = "name"
        return None

    def _read(self, names: Sequence[str]) -> bool:
        """Whether a column of all options reads as such in some rows."""
        values = [cells.first(row, names) for row in self.rows]
        return any(len(cells.read_options(value).pairs) > 1 for value in values if value is not None)

    def stem(self) -> Unclear | None:
        """Settle which of several columns is the stem; look for options in its text where none are elsewhere."""
        names = self.found.roles.get("stem", [])
        if len(names) > 1:
            texts = [name for name in names if self._is_text(name)] or names
            weak = {plain(one) for one in vocabulary()["weak"]["stem"]}
            strong = [name for name in texts if plain(name) not in weak] or texts
            both = [
                row
                for row in self.rows
                if len({text for name in strong if (text := cells.string(row.get(name)))}) > 1
            ]
            if 2 * len(both) > len(self.rows):
                example = "; ".join(
                    f"{name} = {cells.string(both[0].get(name))!r:.40}" for name in strong[:2]
                )
                return Unclear(
                    "columns_unclear",
                    f"the stem may be {strong[0]} or {strong[1]} ({example}); {_say('stem', strong[0])}",
                )
            self.found.roles["stem"] = [*strong, *(name for name in texts if name not in strong)]
        if names and "options" not in self.found.roles and not self.found.options:
            stems = [cells.text_of(row, names) or "" for row in self.rows]
            runs = [[label for label, _ in cells.cut(stem)[1]] for stem in stems]
            whole = [run for run in runs if len(run) > 2 and run == list(cells.LABELS[: len(run)])]
            self.found.options_in_stem = 2 * len(whole) > len(stems)
        return None

    def _is_text(self, name: str) -> bool:
        values = [text for row in self.rows if (text := cells.string(row.get(name)))]
        return any(not cells.is_number(value) for value in values) and len(set(values)) * 2 >= min(
            len(values), 3
        )

    def answer(self) -> Unclear | None:
        """Settle which column is the key and how it is given."""
        names = self.found.roles.get("answer", [])
        if self.found.roles.get("total"):
            names = [name for name in names if "right" not in roles_of(name)]
        read = {name: self._encoding(name) for name in names}
        sure = [name for name, (_, share) in read.items() if share >= MOST]
        names = sure or [name for name, (_, share) in read.items() if share >= 0.5] or names
        if not names:
            self.found.roles.pop("answer", None)
            return None
        clear = [name for name in names if isinstance(read[name][0], Key)]
        if not clear and isinstance(why := read[names[0]][0], Unclear):
            return why
        names = clear
        if unclear := self._disagree(
            names, {name: key for name, (key, _) in read.items() if isinstance(key, Key)}
        ):
            return unclear
        best = next((name for name in names if read[name][0] is not Key.UNKNOWN), names[0])
        chosen = read[best][0]
        self.found.roles["answer"] = [best, *(n for n in names if n != best and read[n][0] == chosen)]
        self.found.key = chosen if isinstance(chosen, Key) else Key.UNKNOWN
        if best in self.found.roles.get("right", ()):
            self.found.roles["right"] = [name for name in self.found.roles["right"] if name != best]
        return None

    def _answers(self, name: str) -> list[tuple[Any, Options]]:
        pairs = [(row.get(name), options_of(row, self.found)) for row in self.rows]
        return [(value, options) for value, options in pairs if _filled(value) and options.pairs]

    def _encoding(self, name: str) -> tuple[Key | Unclear, float]:
        """How a column gives answers, and in what share of its rows they can be read so."""
        given = self._answers(name)
        if not given:
            return Key.UNKNOWN, float(not self.rows or not self.filled[name])
        if self.declared.answer_as:
            key: Key | Unclear = Key(self.declared.answer_as)
        elif 2 * sum(cells.is_number(value) for value, _ in given) > len(given):
            key = self._base(name, given)
        else:
            key = cells.key_of(given)
        if isinstance(key, Unclear):
            return key, 1.0
        good = sum(
            cells.read_answer(value, options, key) is not None
            or cells.accepted_of(value, [label for label, _ in options.pairs]) is not None
            for value, options in given
        )
        return key, good / len(given)

    def _base(self, name: str, given: Sequence[tuple[Any, Options]]) -> Key | Unclear:
        """Whether numbers count options from 0, from 1, or are the text of one."""
        if all(options.printed for _, options in given) and self.found.options == {}:
            return Key.UNKNOWN  # the options carry the very numbers
        texts = sum(cells.quoted_of(str(value), options.pairs) is not None for value, options in given)
        places = [(cells.numbers(value), len(options.pairs)) for value, options in given]
        zero = sum(0 in found for found, _ in places)
        last = sum(size in found for found, size in places)
        strange = sum(not found or max(found) > size for found, size in places)
        if texts >= MOST * len(given):
            counts = strange < (1 - MOST) * len(given)
            return Key.TEXTS if not counts else _unclear_base(name, given, "the text of an option")
        if min(zero, last) * 100 <= max(zero, last) and (not min(zero, last) or max(zero, last) >= ENOUGH):
            if zero != last:
                return Key.FROM_0 if zero > last else Key.FROM_1
            return self._by_explanation(name) or _unclear_base(name, given, "one from 0, one from 1")
        return _unclear_base(name, given, f"both 0 and the number of options occur ({zero} and {last} times)")

    def _by_explanation(self, name: str) -> Key | None:
        """The base that the explanations' conclusions (故选C) agree with, where three or more speak for one alone."""
        said: Counter[Key] = Counter()
        for row in self.rows:
            letters = concluded(cells.text_of(row, self.found.roles.get("explanation", ())))
            options = options_of(row, self.found)
            for key in (Key.FROM_0, Key.FROM_1):
                answer = cells.read_answer(row.get(name), options, key)
                said[key] += bool(letters and answer and "".join(answer) == letters)
        (key, most), *rest = said.most_common() or [(Key.UNKNOWN, 0)]
        return key if most >= 3 and sum(count for _, count in rest) * 20 <= most else None

    def _disagree(self, names: Sequence[str], keys: Mapping[str, Key]) -> Unclear | None:
        """Two columns that both may be the key and say different things."""
        for row in self.rows:
            options = options_of(row, self.found)
            read = [
                (name, answer)
                for name in names
                if (answer := cells.read_answer(row.get(name), options, keys.get(name, Key.UNKNOWN)))
            ]
            for (one, said), (other, meant) in pairwise(read):
                if said != meant:
                    detail = (
                        f"two columns may be the key and differ: {one} = {row.get(one)!r:.30} is {''.join(said)}, "
                        f"{other} = {row.get(other)!r:.30} is {''.join(meant)}; {_say('answer', one)}"
                    )
                    return Unclear("columns_unclear", detail)
        return None

    def by_content(self) -> Unclear | None:
        """What headers did not tell, where the cells leave no doubt; and what must not be overlooked."""
        free = [name for name in self.names if self.filled[name] and not self._taken(name)]
        if "answer" not in self.found.roles and (unclear := self._find_answer(free)):
            return unclear
        free = [name for name in free if not self._taken(name)]
        if not self._has_options() and (unclear := self._find_options(free)):
            return unclear
        free = [name for name in free if not self._taken(name)]
        if "stem" not in self.found.roles and (unclear := self._find_stem(free)):
            return unclear
        return self._missing() if self.rows else None

    def _missing(self) -> Unclear | None:
        """A source without any stem, or without any options, is no bank of questions that can be read."""
        shown = ", ".join(self.names)[:200]
        if "stem" not in self.found.roles:
            return Unclear(
                "no_stem", f"no column is known to hold the stem; there are {shown}; {_say('stem', '…')}"
            )
        if not self._has_options():
            how = _say("options", "…") + ' or options = ["…", "…"]'
            return Unclear("no_options", f"no column is known to hold the options; there are {shown}; {how}")
        return None

    def _taken(self, name: str) -> bool:
        known = [
            *self.found.options.values(),
            *(name for names in self.found.roles.values() for name in names),
        ]
        return name in known

    def _has_options(self) -> bool:
        return bool(self.found.options or self.found.options_in_stem or "options" in self.found.roles)

    def _find_answer(self, free: Sequence[str]) -> Unclear | None:
        """A column of letters, or of texts each of which is an option's."""
        never = vocabulary()["words"]["no_key"]
        likely = [name for name in free if not any(word in name.casefold() for word in never)]
        good = [name for name in likely if self._looks_like_key(name)]
        if len(good) > 1 and (unclear := self._disagree(good, {})):
            return unclear
        if not good:
            return None
        labels = {label for row in self.rows for label, _ in options_of(row, self.found).pairs}
        used = {
            letter for row in self.rows for letter in cells.letters_of(str(row.get(good[0]) or ""), []) or ()
        }
        quoted = not used
        if not quoted and labels and max(used) != max(labels):
            return Unclear(
                "columns_unclear",
                f"no column is known to be the key; {good[0]} may be it (it holds {', '.join(sorted(used))}), or not; "
                f"{_say('answer', good[0])}",
            )
        self.found.roles["answer"], self.found.found_by["answer"] = [good[0]], "content"
        self.found.key = Key.TEXTS if quoted else Key.LETTERS
        return None

    def _looks_like_key(self, name: str) -> bool:
        values = [row.get(name) for row in self.rows if _filled(row.get(name))]
        letters = [cells.letters_of(str(value), []) for value in values]
        if len({tuple(one) for one in letters if one}) > 1 and all(letters):
            return True
        return (
            self._has_options()
            and all(cells.quoted_of(str(value), options.pairs) for value, options in self._answers(name))
            and len(self._answers(name)) == len(values) > 1
        )

    def _find_options(self, free: Sequence[str]) -> Unclear | None:
        """Columns side by side as many as the key has letters; or those in which the key's text is found again."""
        answers = self.found.roles.get("answer", [])
        texts = [cells.string(cells.first(row, answers)) for row in self.rows]
        letters = sorted({letter for text in texts if text for letter in cells.letters_of(text, []) or ()})
        stem = self.found.roles.get("stem", [])
        columns = [name for name in self.names if name in free and name not in stem and not roles_of(name)]
        if letters:
            runs = [run for run in _runs(columns, self.names) if len(run) == ord(letters[-1]) - 64]
            if not stem:
                longer = [run for run in _runs(columns, self.names) if len(run) == ord(letters[-1]) - 63]
                runs = runs or [run[1:] for run in longer if self._longest(run) == run[0]]
            chosen = runs[0] if len(runs) == 1 and len(runs[0]) > 1 else []
        else:
            hits = [
                name
                for name in columns
                if any(
                    text and cells.string(row.get(name)) == text
                    for row, text in zip(self.rows, texts, strict=True)
                )
            ]
            run = columns[columns.index(hits[0]) : columns.index(hits[-1]) + 1] if len(hits) > 1 else []
            told = [text for text in texts if text]
            found = [
                text
                for row, text in zip(self.rows, texts, strict=True)
                if text and sum(cells.string(row.get(name)) == text for name in run) == 1
            ]
            chosen = run if run and len(found) == len(told) else []
        if chosen:
            self.found.options = {chr(65 + at): name for at, name in enumerate(chosen)}
            self.found.found_by["options"] = "content"
            if not letters:
                self.found.key = Key.TEXTS
        return None

    def _longest(self, names: Sequence[str]) -> str:
        """The column with the longest texts."""
        return max(names, key=lambda name: sum(len(str(row.get(name) or "")) for row in self.rows))

    def _find_stem(self, free: Sequence[str]) -> Unclear | None:
        """The one column of texts that nearly all differ and are longest by far."""
        texts = [name for name in free if self._is_text(name) and not roles_of(name)]
        if not texts or not self._has_options() or "answer" not in self.found.roles:
            return None
        sizes = sorted(
            ((sum(len(str(row.get(name) or "")) for row in self.rows), name) for name in texts), reverse=True
        )
        if len(sizes) > 1 and sizes[0][0] < 2 * sizes[1][0]:
            return Unclear(
                "columns_unclear",
                f"the stem may be {sizes[0][1]} or {sizes[1][1]}; {_say('stem', sizes[0][1])}",
            )
        self.found.roles["stem"], self.found.found_by["stem"] = [sizes[0][1]], "content"
        return None


def _filled(value: Any) -> bool:
    return cells.string(value) is not None if not isinstance(value, dict | list) else bool(value)


def _run_on(labels: Iterable[str], *, digits: bool) -> bool:
    """Whether numbers run on from 0 or 1; letters may begin anywhere and have gaps."""
    found = sorted(int(label) for label in labels) if digits else []
    return not digits or found in (list(range(len(found))), list(range(1, len(found) + 1)))


def _runs(columns: Sequence[str], order: Sequence[str]) -> list[list[str]]:
    """Columns that stand side by side."""
    runs: list[list[str]] = []
    for name in columns:
        if runs and order.index(name) == order.index(runs[-1][-1]) + 1:
            runs[-1].append(name)
        else:
            runs.append([name])
    return runs


def _unclear_base(name: str, given: Sequence[tuple[Any, Options]], why: str) -> Unclear:
    """Numbers that may count from 0 or from 1, with the first as an example."""
    value, options = given[0]
    readings = [
        f"{''.join(answer)} counted from {base}"
        for base, key in enumerate((Key.FROM_0, Key.FROM_1))
        if (answer := cells.read_answer(value, Options(options.pairs), key))
    ]
    return Unclear(
        "answers_unclear",
        f"{name} = {value!r:.20} may be {' or '.join(readings) or 'anything'} ({why}); write answer_as = "
        '"index_from_0", "index_from_1" or "texts" in dataset.toml',
    )


def _say(role: str, name: str) -> str:
    return f"write {role} = {name!r} in dataset.toml"
