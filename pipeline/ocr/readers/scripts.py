"""Question banks in programs: the lists that JavaScript, TypeScript, Dart, Python, PHP, Kotlin … files write out."""

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.encoding import decode, looks_like_text
from build_dataset.pipeline.ocr.readers.header import row_of
from build_dataset.pipeline.ocr.readers.tabular import is_asked, questions
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.errors import UnreadableDocument, refused_as

_P = Patterns(__name__)
_SUFFIXES = {".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx", ".dart", ".py", ".php", ".kt", ".swift"}
_WORDS = {"true": True, "false": False}  # in capitals too: True, TRUE; null, None and all that is computed: absent
_ESCAPED = {"n": "\n", "r": "", "t": "\t", "b": "", "f": "", "v": "", "0": "", "\n": ""}
_LEAST = 3  # questions in the scripts of a page for it to be a bank
_CLOSING = {"[": "]", "{": "}", "(": ")"}
_WRITTEN = {"JSON.stringify", "json.dumps"}  # calls that write their data out
_LISTS = {"array", "listOf", "arrayOf", "mutableListOf", "List.of", "Arrays.asList", *_WRITTEN}  # that make a list
Tokens = Sequence[re.Match[str]]


class ScriptReader:
    """Programs with ``const questions = [{question: '…', options: ['…'], answer: 1}]``. Nothing is executed."""

    format = "script"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is called like a program, or is a web page whose scripts hold questions."""
        if suffix in _SUFFIXES or b"<script" not in head.lower():
            return suffix in _SUFFIXES and looks_like_text(head)
        rows = (row for one in _literals(_scripts(head.decode("utf-8", "replace"))) for row in questions(one))
        return looks_like_text(head) and sum(map(is_asked, rows)) >= _LEAST

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """The questions of every list that holds some; what a program computes is absent."""
        with refused_as("broken", "lists within lists without end", RecursionError):
            every = [[*questions(one)] for one in _literals(_scripts(decode(path.read_bytes())))]
        # A type says {question: string}: nothing is given in it.
        given = [[row for row in rows if isinstance(row, dict) and any(row.values())] for rows in every]
        found = [rows for rows in given if rows]
        if not found:
            raise UnreadableDocument("unknown_format", "the program writes out no list of questions")
        longest = {*max(found, key=len)[0]}  # where headers are unknown, lists of the same fields as the longest
        asked = [rows for rows in found if any(map(is_asked, rows))]
        alike = asked or [rows for rows in found if 2 * len(longest & {*rows[0]}) > len(longest | {*rows[0]})]
        if left := sum(len(rows) > 1 for rows in found) - sum(len(rows) > 1 for rows in alike):
            told.append(f"{left} lists of the program hold no questions by their names and were left out")
        yield from (row_of(row) for rows in alike for row in rows)


def _scripts(text: str) -> str:
    """Return the scripts of a web page; other programs as they are."""
    found = re.findall(r"(?is)<script\b[^>]*>(.*?)(?:</script>|\Z)", text) if text.lstrip()[:1] == "<" else []
    return "\n".join(found) or text


class _NoDataError(Exception):
    """Braces around statements, or a part that is no ``name: value``."""


def _literals(text: str) -> Iterator[Any]:
    """Yield the outermost lists and objects of a program that are data."""
    tokens = [one for one in _P.token.finditer(text) if one.lastgroup != "comment"]
    at = 0
    while at < len(tokens):
        with suppress(_NoDataError, IndexError):
            value, end = _bracketed(tokens, at) if tokens[at][0] in _CLOSING else (None, at)
            if isinstance(value, dict) or (value is not None and tokens[at][0] != "("):  # shuffle([…]) holds a list
                yield value
                at = end - 1
        at += 1


def _bracketed(tokens: Tokens, at: int) -> tuple[Any, int]:
    """Return the list or the object that begins at a bracket, and the place behind it."""
    # ``['question' => '…']`` of PHP and the named arguments of a call, ``Question(text: '…')``, are objects.
    closing, values, pairs = _CLOSING[tokens[at][0]], list[Any](), dict[str | None, Any]()
    at += 1
    while tokens[at][0] != closing:
        name, behind = _name(tokens, at)
        if behind:
            pairs[name], at = _value(tokens, behind)
        elif closing == "}":
            raise _NoDataError
        else:
            value, at = _value(tokens, at)
            values.append(value)
        if tokens[at][0] not in (",", closing):
            raise _NoDataError
        at += tokens[at][0] == ","
    if pairs and values:
        raise _NoDataError
    return pairs if pairs or closing == "}" else values, at + 1


def _name(tokens: Tokens, at: int) -> tuple[str | None, int]:
    """Return the name before a value (``text:``, ``'text' =>``, ``text =``) and the place of the value; 0 for none."""
    name, end = _text(tokens, at) if tokens[at].lastgroup == "string" else (tokens[at][0], at + 1)
    named = tokens[at].lastgroup in ("string", "word", "number")
    return (name, end + 1) if named and tokens[end][0] in (":", "=>", "=") and tokens[end + 1][0] != "=" else (None, 0)


def _value(tokens: Tokens, at: int) -> tuple[Any, int]:
    """Return a value, None where it is computed (``generateId()``, ``a + b``), and the place behind it."""
    token = tokens[at]
    call = token.lastgroup == "word" and tokens[at + 1][0] == "("
    if token[0] == "new":  # new Question(…)
        return _value(tokens, at + 1)
    if token[0] in _CLOSING or call:
        try:
            value, at = _bracketed(tokens, at + call)
            # array('甲', '乙'), listOf('甲'), Question(text: '甲') hold data; next() and (a + b) are computed.
            listed = token[0] in "[{" or isinstance(value, dict) or len(value) > 1
            alone = isinstance(value, list) and len(value) == 1
            if alone and (token[0] == "(" or token[0] in _WRITTEN):  # ("甲" "乙") of Python
                listed, value = True, value[0]
            value = value if listed and not (call and isinstance(value, list) and token[0] not in _LISTS) else None
        except _NoDataError:
            if token[0] in "[{":
                raise
            value, at = None, at + 1
    elif token.lastgroup == "string":
        value, at = _text(tokens, at)
    else:
        number = float if "." in token[0] else int
        value, at = number(token[0]) if token.lastgroup == "number" else _WORDS.get(token[0].lower()), at + 1
    end, open_ = at, list[str]()
    while open_ or tokens[end][0] not in (",", "]", "}", ")", ";"):
        if tokens[end][0] in _CLOSING:
            open_.append(_CLOSING[tokens[end][0]])
        elif open_ and tokens[end][0] == open_[-1]:
            open_.pop()
        end += 1
    return value if end == at or tokens[at][0] in ("as", "satisfies") else None, end


def _text(tokens: Tokens, at: int) -> tuple[str | None, int]:
    """Return a text, put together from parts by ``+``; None where the program fills it in: `${name}`."""
    parts, filled_in = list[str](), False
    while tokens[at].lastgroup == "string":
        said = tokens[at]["text"]
        filled_in |= "${" in said and tokens[at][0].startswith("`")
        parts.append(_P.js_escape.sub(_plain, said))
        at += 1 + (tokens[at + 1][0] == "+" and tokens[at + 2].lastgroup == "string")
    return None if filled_in else "".join(parts), at


def _plain(found: re.Match[str]) -> str:
    code = found["code"] or found["hex"]
    return chr(int(code, 16)) if code else _ESCAPED.get(found["char"], found["char"])
