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
_MOST = 4  # repeats that a look at many texts counts at most
_CLASSES = {"CATEGORY_SPACE": r"\s\x1c-\x1f", "CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w\p{N}"}
_PLACES = {"AT_BEGINNING": r"\A", "AT_BEGINNING_STRING": r"\A", "AT_END": "(?m:$)", "AT_END_STRING": r"\z"}


def is_latin(text: str) -> bool:
    """Return whether a text has no character of Chinese, Japanese or Korean, and no circled one: “an ECG – 38°C”."""
    return text.isascii() or _NOT_LATIN.search(text) is None


def wider(parts: Any, flags: int) -> str:
    """Return a pattern for Rust's engine, which has no looks ahead, that matches wherever a parsed one does."""
    made = ""
    for operator, value in parts:
        name, repeated = operator.name, operator.name.endswith("REPEAT")
        if repeated or name in ("BRANCH", "SUBPATTERN", "ATOMIC_GROUP"):
            own = (flags | value[1]) & ~value[2] if name == "SUBPATTERN" else flags
            inner = value[1] if name == "BRANCH" else [value if name == "ATOMIC_GROUP" else value[-1]]
            made += f"(?{'i' if own & re.IGNORECASE else '-i'}:{'|'.join(wider(one, own) for one in inner)})"
            made += f"{{{min(value[0], 2)},{value[1] if value[1] <= _MOST else ''}}}" if repeated else ""
        elif name == "AT":
            made += "" if flags & re.MULTILINE else _PLACES.get(value.name, "")
        elif not name.startswith("ASSERT"):
            made += _class(value if name == "IN" else [(operator, value)], flags) + "*" * name.startswith("GROUPREF")
    return made


def _class(members: Any, flags: int) -> str:
    """Return a class of characters for that engine with all those of a parsed one."""
    folded, negated, inside = flags & re.IGNORECASE, members[0][0].name == "NEGATE", ""
    for operator, value in members[negated:]:
        if operator.name in ("LITERAL", "RANGE"):
            inside += "-".join(rf"\x{{{code:X}}}" for code in (value if operator.name == "RANGE" else [value]))
        elif operator.name != "CATEGORY" or (known := _CLASSES.get(value.name)) is None:
            return "(?s:.)"
        else:
            inside += known if not negated else r" \t" * (value.name == "CATEGORY_SPACE")  # it may not be more than there
    if negated:
        return f"[^{inside}]" if inside and not folded else "(?s:.)"
    return f"[{inside}{'İı' if folded else ''}]"  # i in either case


class Gate:
    """Patterns that few texts have, and a look at many texts at once for them, in a tenth of the time of searches.

    Rules for one text stand behind it. Every text that has one of the patterns passes.
    """

    def __init__(self, forms: Callable[[], Sequence[re.Pattern[str]]]) -> None:
        """Take a function that compiles the patterns, at the first use."""
        self._made = forms
        self.starts: dict[str, int | None] = {}  # bytes before the first place that may be one, by text; None for none

    @cached_property
    def forms(self) -> Sequence[re.Pattern[str]]:
        """The patterns."""
        return self._made()

    @cached_property
    def _wider(self) -> str:
        parsed = [_parser.parse(form.pattern, form.flags) for form in self.forms]
        groups = ([(_parser.SUBPATTERN, (None, form.state.flags, 0, form))] for form in parsed)
        return "|".join(wider(group, 0) for group in groups)

    def look(self, texts: Sequence[str]) -> list[int | None]:
        """Return the bytes before the first place in each text that may be one; None where there is none."""
        if sum(map(len, texts)) < _FEW:
            return [0] * len(texts)
        from polars import Series, String  # whoever reads one text should not wait for it

        return Series(texts, dtype=String).str.find(self._wider).to_list()

    def may(self, text: str) -> bool:
        """Return whether a text may have one, as any text may that nobody looked at."""
        return self.starts.get(text, 0) is not None

    def search(self, text: str, *, fitting: bool = False) -> re.Match[str] | None:
        """Return the first match of the first pattern, or in a text in Latin letters that of the ``fitting`` second."""
        if (start := self.starts.get(text, 0)) is None:
            return None
        start = len(text.encode()[:start].decode()) if start and not text.isascii() else start
        return self.forms[fitting and is_latin(text)].search(text, start)


@contextmanager
def looked_at(texts: Sequence[str], *gates: Gate) -> Iterator[None]:
    """Look at many texts; while the context is open, the gates know those that have nothing of theirs."""
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
