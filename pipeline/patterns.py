"""Patterns that are data: rows of a TOML file, put together from named fragments and compiled when first used."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, lru_cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]  # what all matches of a pattern have stands in no public place
from typing import Any

_NOT_LATIN = re.compile("[\u2460-\U0010ffff]")
_LONG = 200  # characters of a text from which on a look for words takes less time than a search
_ODD = str.maketrans("İıſ\u212a", "iisk")  # letters that patterns without case take for these
_small = lru_cache(1 << 6)(lambda text: (text if text.isascii() else text.translate(_ODD)).lower())


def is_latin(text: str) -> bool:
    """Return whether a text has no character of Chinese, Japanese or Korean, and no circled one: “an ECG – 38°C”."""
    return text.isascii() or _NOT_LATIN.search(text) is None


def _words_in(parts: Any) -> frozenset[str]:
    """Return texts in small letters one of which stands in all that a parsed pattern matches; none where none do."""
    run, found = "", [frozenset[str]()]
    for operator, value in parts:
        name, repeated = operator.name, operator.name.endswith("REPEAT")
        char = chr(value).lower() if name == "LITERAL" else ""
        run = run + char if char and (char.isascii() or char == char.upper()) else ""
        inner = value[1] if name == "BRANCH" else [[one] for one in value] if name == "IN" else []
        inner = [value[-1]] if name == "SUBPATTERN" or (repeated and value[0]) else inner
        each = [frozenset({run})] if run else [*map(_words_in, inner)]
        found.append(frozenset().union(*each) if all(each) else frozenset())
    return max(found, key=lambda words: (min(map(len, map(str.strip, words)), default=-1), -len(words)))


_words_of = cache(lambda pattern, flags: _words_in(_parser.parse(pattern, flags)))


@cache
def _tables(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text(encoding="utf-8"))


class Patterns:
    """The patterns of a module, by its ``__name__``, as attributes; ``patterns.toml`` of its package has them.

    ``@name@`` stands for a fragment, the module's own or one of all modules. A list is one pattern in pieces.
    A fragment is a pattern too. ``<NAME>`` stands for what ``names`` gives for it.
    """

    def __init__(self, module: str, package: Traversable | None = None, names: Mapping[str, str] | None = None) -> None:
        home, _, name = module.rpartition(".")
        tables = _tables(Path(str(package or files(home))) / "patterns.toml")
        self._rows = tables[name]
        assert not {*self._rows} & {*vars(Patterns)}, "a method would hide that pattern"
        self._names = names or {}
        self._fragments = {**tables["fragments"], **self._rows.get("fragments", {})}

    def __getattr__(self, name: str) -> re.Pattern[str]:
        row = None if name.startswith("_") else self._rows.get(name, self._fragments.get(name))
        if row is None:
            raise AttributeError(name)
        pattern = re.compile(self.whole(row))
        setattr(self, name, pattern)
        return pattern

    def found(self, name: str, text: str, *, fitting: bool = False) -> re.Match[str] | None:
        """Return the first match of a pattern, or ``fitting`` of its Latin part; its words are looked for before."""
        name = f"{name}_latin" if fitting and is_latin(text) else name
        form: re.Pattern[str] = getattr(self, name)
        if len(text) < _LONG:
            return form.search(text)
        words = _words_of(form.pattern, form.flags)
        return form.search(text) if not words or any(map(_small(text).__contains__, words)) else None

    def table(self, name: str) -> dict[str, re.Pattern[str]]:
        """Several patterns by their names, in their order."""
        return {key: re.compile(self.whole(row)) for key, row in self._rows[name].items()}

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of a table, each with its pattern put together."""
        return [{**row, "pattern": self.whole(row["pattern"])} for row in self._rows[name]]

    def whole(self, row: str | list[str]) -> str:
        """A pattern with its fragments put in."""
        text = row if isinstance(row, str) else "".join(row)
        text = re.sub(r"@(\w+)@", lambda match: self.whole(self._fragments[match[1]]), text)
        return re.sub(r"<([A-Z_]+)>", lambda match: self._names[match[1]], text) if self._names else text
