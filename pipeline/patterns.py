"""Patterns that are data: rows of a TOML file, put together from named fragments and compiled when first used."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]  # the parts of a pattern stand in no public place
from typing import Any

_NOT_LATIN = re.compile("[\u2460-\U0010ffff]")
_FEW = 2000  # characters of texts up to which a search in each takes no longer than a look at all of them
_MOST = 4  # repeats that a look at many texts counts at most
_CLASSES = {"CATEGORY_SPACE": r"\s\x1c-\x1f", "CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w\p{N}"}
_PLACES = {"AT_BEGINNING": r"\A", "AT_BEGINNING_STRING": r"\A", "AT_END": "(?m:$)", "AT_END_STRING": r"\z"}


def is_latin(text: str) -> bool:
    """Return whether a text has no character of Chinese, Japanese or Korean, and no circled one: “an ECG – 38°C”."""
    return text.isascii() or _NOT_LATIN.search(text) is None


def _wider(parts: Any, flags: int) -> str:
    """Return a pattern for Rust's engine, which has no looks ahead, that matches wherever a parsed one does."""
    made = ""
    for operator, value in parts:
        name, repeated = operator.name, operator.name.endswith("REPEAT")
        if repeated or name in ("BRANCH", "SUBPATTERN", "ATOMIC_GROUP"):
            own = (flags | value[1]) & ~value[2] if name == "SUBPATTERN" else flags
            inner = value[1] if name == "BRANCH" else [value if name == "ATOMIC_GROUP" else value[-1]]
            made += f"(?{'i' if own & re.IGNORECASE else '-i'}:{'|'.join(_wider(one, own) for one in inner)})"
            made += f"{{{min(value[0], 2)},{value[1] if value[1] <= _MOST else ''}}}" if repeated else ""
        elif name == "AT":
            made += "" if flags & re.MULTILINE else _PLACES.get(value.name, "")
        elif not name.startswith("ASSERT"):
            signs = [_signs(*member) for member in (value if name == "IN" else [(operator, value)])]
            plain = f"[{''.join(signs)}{'İı' * bool(flags & re.IGNORECASE)}]"  # which are i there
            made += plain if all(signs) else "(?s:.)" + "*" * name.startswith("GROUPREF")
    return made


def _signs(operator: Any, value: Any) -> str:
    """Return a member of a class of characters for that engine; nothing for what may be any character."""
    codes = {"LITERAL": [value], "RANGE": value}.get(operator.name, ())
    return _CLASSES.get(str(value), "-".join(rf"\x{{{code:X}}}" for code in codes))


_wider_of = cache(lambda it: _wider([(_parser.SUBPATTERN, (0, it.flags, 0, _parser.parse(it.pattern, it.flags)))], 0))


@dataclass(eq=False)
class Glance:
    """Patterns that few texts have: a look at many texts at once tells which have none, before rules for each text.

    The look takes a tenth of the time of searches in each. Every text that has one of the patterns passes.
    """

    forms: Callable[[], Sequence[re.Pattern[str]]]  # compiles them, at the first call
    starts: dict[str, int | None] = field(default_factory=dict)
    """Bytes before the first place that may be one, by text that was looked at; None of a text that has none."""

    def look(self, texts: Sequence[str]) -> None:
        """Look at texts, in place of those before; few are searched in the same time."""
        from polars import Series, String  # whoever reads one text should not wait for it

        if sum(map(len, texts)) > _FEW:
            starts = Series(texts, dtype=String).str.find("|".join(map(_wider_of, self.forms())))
            self.starts = dict(zip(texts, starts.to_list(), strict=True))

    def search(self, text: str, *, fitting: bool = False) -> re.Match[str] | None:
        """Return the first match of the first pattern, or in a text in Latin letters that of the ``fitting`` second."""
        if (start := self.starts.get(text, 0)) is None:
            return None
        start = len(text.encode()[:start].decode()) if start and not text.isascii() else start
        return self.forms()[fitting and is_latin(text)].search(text, start)


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

    def glance(self, *names: str) -> Glance:
        """Return a glance for some patterns."""
        return Glance(cache(lambda: [getattr(self, name) for name in names]))

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
