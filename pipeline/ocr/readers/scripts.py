"""Question banks in programs: the lists that JavaScript, TypeScript, Dart or Python files write out."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.encoding import decode, looks_like_text
from build_dataset.pipeline.ocr.readers.tabular import is_asked, questions, row_of
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.errors import UnreadableDocument, refused_as

_P = Patterns(__name__)
_SUFFIXES = {".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".dart", ".py"}
_WORDS = {"true": True, "True": True, "false": False, "False": False, "null": None, "None": None, "undefined": None}
_ESCAPED = {"n": "\n", "r": "", "t": "\t", "b": "", "f": "", "v": "", "0": "", "\n": ""}
_CLOSING = {"[": "]", "{": "}", "(": ")"}


class ScriptReader:
    """Programs with ``const questions = [{question: '…', options: ['…'], answer: 1}]``. Nothing is executed."""

    format = "script"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is called like a program."""
        return suffix in _SUFFIXES and looks_like_text(head)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """The questions of every list that holds some; what a program computes is absent."""
        with refused_as("broken", "lists within lists without end", RecursionError):
            every = [[*questions(one)] for one in _Literals(decode(path.read_bytes())).all()]
        # A type says {question: string}: nothing is given in it.
        given = [[row for row in rows if isinstance(row, dict) and any(row.values())] for rows in every]
        found = [rows for rows in given if rows]
        # Where headers are unknown, lists of the same fields as the longest.
        alike = max(found, key=len, default=[])[:1]
        asked = [rows for rows in found if any(map(is_asked, rows))]
        rows = [row for rows in asked or found if asked or [*rows[0]] == [*alike[0]] for row in rows]
        if not rows:
            raise UnreadableDocument("unknown_format", "the program writes out no list of questions")
        yield from map(row_of, rows)


class _NoDataError(Exception):
    """Braces around statements, or a part that is no ``name: value``."""


class _Literals:
    """The lists and objects in the text of a program."""

    def __init__(self, text: str) -> None:
        self._tokens = [one for one in _P.token.finditer(text) if one.lastgroup != "comment"]
        self._at = 0

    def all(self) -> Iterator[Any]:
        """Yield the outermost lists and objects that are data."""
        start = 0
        while start < len(self._tokens):
            self._at = start
            start += 1
            if self._next in ("[", "{"):
                try:
                    yield self._bracketed()
                except (_NoDataError, IndexError):
                    continue
                start = self._at

    @property
    def _next(self) -> str:
        return self._tokens[self._at][0]

    def _value(self) -> Any:
        """Read a value; None where it is computed: ``generateId()``, ``a + b``."""
        token = self._tokens[self._at]
        if token[0] in ("[", "{"):
            value: Any = self._bracketed()
        elif token.lastgroup == "string":
            value = self._string()
        else:
            self._at += 1
            value = _WORDS.get(token[0]) if token.lastgroup == "word" else None
            if token.lastgroup == "number":
                value = float(token[0]) if "." in token[0] else int(token[0])
        cast = self._next in ("as", "satisfies")
        rest = self._skip()
        return None if rest and not cast else value

    def _bracketed(self) -> list[Any] | dict[str, Any]:
        self._at += 1
        return self._list() if self._tokens[self._at - 1][0] == "[" else self._object()

    def _skip(self) -> bool:
        """Go on to the next comma or closing bracket; return whether anything stood before it."""
        start, open_ = self._at, list[str]()
        while open_ or self._next not in (",", "]", "}", ")", ";"):
            if self._next in _CLOSING:
                open_.append(_CLOSING[self._next])
            elif open_ and self._next == open_[-1]:
                open_.pop()
            self._at += 1
        return self._at > start

    def _list(self) -> list[Any]:
        values = []
        while self._next != "]":
            values.append(self._value())
            self._past_comma("]")
        self._at += 1
        return values

    def _object(self) -> dict[str, Any]:
        pairs = {}
        while self._next != "}":
            token = self._tokens[self._at]
            name = self._string() if token.lastgroup == "string" else token[0]
            self._at += token.lastgroup != "string"
            if token.lastgroup not in ("string", "word", "number") or name is None or self._next != ":":
                raise _NoDataError
            self._at += 1
            pairs[name] = self._value()
            self._past_comma("}")
        self._at += 1
        return pairs

    def _past_comma(self, closing: str) -> None:
        if self._next not in (",", closing):
            raise _NoDataError
        self._at += self._next == ","

    def _string(self) -> str | None:
        """Read a text, put together from parts by ``+``; None where the program fills it in: `${name}`."""
        parts = []
        while self._tokens[self._at].lastgroup == "string":
            said = self._tokens[self._at]["text"]
            parts.append(None if "${" in said and self._next[0] == "`" else _P.js_escape.sub(_plain, said))
            self._at += 1
            if self._next == "+" and self._tokens[self._at + 1].lastgroup == "string":
                self._at += 1
        return None if None in parts else "".join(filter(None, parts))


def _plain(found: re.Match[str]) -> str:
    code = found["code"] or found["hex"]
    return chr(int(code, 16)) if code else _ESCAPED.get(found["char"], found["char"])
