"""Patterns that are data: rows of a TOML file, put together from named fragments and compiled when first used."""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from re import _parser  # type: ignore[attr-defined]  # the parts of a pattern stand in no public place
from typing import Any

_NOT_LATIN = re.compile("[\u2460-\U0010ffff]")
_FEW = 10_000  # characters of texts up to which a search in each takes no longer than a look at all of them
_MOST = 4  # the largest number of repeats that a look at many texts counts
_ANY = "(?s:.)"
_CLASSES = {"CATEGORY_SPACE": r"\s\x1c-\x1f", "CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w\p{N}"}
_PLACES = {"AT_BEGINNING": r"\A", "AT_BEGINNING_STRING": r"\A", "AT_END": "(?m:$)", "AT_END_STRING": r"\z"}


def is_latin(text: str) -> bool:
    """Return whether a text has no character of Chinese, Japanese or Korean, and no circled one: “an ECG – 38°C”."""
    return text.isascii() or _NOT_LATIN.search(text) is None


def wider(pattern: str, flags: int = 0) -> str:
    """Return a pattern for Rust's engine that matches at every place at which a pattern does, and at few others."""
    parts = _parser.parse(pattern, flags)
    return _with_case("".join(_part(it.name, value, parts.state.flags) for it, value in parts), parts.state.flags)


def _with_case(pattern: str, flags: int) -> str:
    return f"(?{'i' if flags & re.IGNORECASE else '-i'}:{pattern})"


def _part(name: str, value: Any, flags: int) -> str:
    """Return a part of a parsed pattern for that engine, which does not look ahead and behind."""
    if name in ("LITERAL", "IN"):
        return _class(value if name == "IN" else [(_parser.LITERAL, value)], flags)
    if name == "BRANCH":
        return f"(?:{'|'.join(_joined(branch, flags) for branch in value[1])})"
    if name == "SUBPATTERN":
        own = (flags | value[1]) & ~value[2]
        return _with_case(_joined(value[3], own), own)
    if name.endswith("REPEAT"):
        least, most, inner = value
        return f"(?:{_joined(inner, flags)}){{{min(least, 2)},{most if most <= _MOST else ''}}}"
    if name == "AT":
        return "" if flags & re.MULTILINE else _PLACES.get(value.name, "")
    if name == "ATOMIC_GROUP":
        return f"(?:{_joined(value, flags)})"
    return "" if name.startswith("ASSERT") else _ANY if name in ("ANY", "NOT_LITERAL") else f"{_ANY}*"


def _joined(parts: Any, flags: int) -> str:
    return "".join(_part(operator.name, value, flags) for operator, value in parts)


def _class(members: Any, flags: int) -> str:
    """Return a class of characters for that engine with all those of a parsed one."""
    folded, negated, inside = flags & re.IGNORECASE, members[0][0].name == "NEGATE", ""
    for operator, value in members[negated:]:
        if operator.name != "CATEGORY":
            inside += "-".join(rf"\x{{{code:X}}}" for code in (value if operator.name == "RANGE" else [value]))
        elif value.name.startswith("CATEGORY_NOT"):
            return _ANY
        else:  # what a negated class leaves out may not be more than there
            inside += _CLASSES[value.name] if not negated else r" \t" * (value.name == "CATEGORY_SPACE")
    if negated:
        return f"[^{inside}]" if inside and not folded else _ANY
    return f"[{inside}{'İı' if folded else ''}]"  # i in either case


class Gate:
    """Patterns that few texts have, before rules for one text: a look at many texts tells which may have one.

    The look takes a tenth of the time of searches and less. Every text that has one of the patterns passes.
    """

    def __init__(self, patterns: Callable[[], Iterable[re.Pattern[str]]]) -> None:
        """Take patterns, which are compiled when they are needed first."""
        self._patterns = patterns
        self.starts: dict[str, int | None] = {}  # bytes before the first place that may be one, by text; None for none

    @cached_property
    def forms(self) -> list[re.Pattern[str]]:
        """The patterns."""
        return list(self._patterns())

    @cached_property
    def wider(self) -> str:
        """The pattern of the look."""
        return "|".join(wider(form.pattern, form.flags) for form in self.forms)

    def look(self, texts: Sequence[str]) -> list[int | None]:
        """Return the bytes before the first place in each text that may be one, at most; None where there is none."""
        if sum(map(len, texts)) < _FEW:
            return [0] * len(texts)
        from polars import Series, String  # whoever reads one text should not wait for it

        return Series(texts, dtype=String).str.find(self.wider).to_list()

    def may(self, text: str) -> bool:
        """Return whether a text may have one, as any text may that nobody looked at."""
        return self.starts.get(text, 0) is not None

    def search(self, text: str, *, fitting: bool = False) -> re.Match[str] | None:
        """Return the first match of the first pattern, or in a text in Latin letters that of the ``fitting`` second."""
        if (start := self.starts.get(text, 0)) is None:
            return None
        if start and not text.isascii():
            start = len(text.encode()[:start].decode())
        return self.forms[fitting and is_latin(text)].search(text, start)


@contextmanager
def looked_at(texts: Sequence[str], *gates: Gate) -> Iterator[None]:
    """Look at many texts at once; while the context is open, the gates know those that have nothing of theirs."""
    for gate in gates:
        gate.starts = dict(zip(texts, gate.look(texts), strict=True))
    try:
        yield
    finally:
        for gate in gates:
            gate.starts = {}


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

    def gate(self, *names: str) -> Gate:
        """Return a gate of some patterns."""
        return Gate(lambda: [getattr(self, name) for name in names])

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
