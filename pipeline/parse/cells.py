"""What the cells of a tabular source say: options, answers, numbers. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from enum import StrEnum
from typing import Any

from pipeline.parse.text import fold

Pairs = list[tuple[str, str]]
"""Options as (label, text)."""

LABELS = "ABCDEFGHIJK"
_ABSENT = {"", "nan", "none", "null", "n/a", "na", "无"}
_LABEL = r"[(（]?([A-K])[)）]?"
_LABEL_AT_LINE = re.compile(rf"(?:^|\n)\s*{_LABEL}(?:\s*[.．、:：]|[ \t]+|(?=[\u4e00-\u9fff]))\s*")
_LABEL_IN_LINE = re.compile(rf"(?:^|\s)\s*{_LABEL}\s*[.．、:：]\s*")
_LABEL_IN_LIST = re.compile(rf"^\s*{_LABEL}(?:\s*[.．、:：]|[ \t]+)\s*")
_LETTERS = re.compile(r"[A-Ka-k]")
_LETTERS_ONLY = re.compile(r"[\sA-Ka-k,，、;；/|@+&\[\]'\".．]+")
_LETTER_AND_TEXT = re.compile(r"\s*([A-Ka-k])\s*[.．、:：\s]\s*(\S.*)", re.DOTALL)
_MOST = 2**31 - 1  # people; more is a typing error, and would not fit other people's integers


def first(fields: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    """The first value that is there under one of these names."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def text_of(fields: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    """The first text that is there under one of these names."""
    return next((text for name in names if (text := string(fields.get(name))) is not None), None)


def string(value: Any) -> str | None:
    """Text without surrounding space; None for what means absent."""
    if value is None or isinstance(value, dict | list):
        return None
    text = str(value).strip()
    return None if text.casefold() in _ABSENT else text


def number(value: Any) -> float | None:
    """A finite number, a percent sign aside."""
    if isinstance(value, bool):
        return None
    text = string(value)
    if text is None:
        return None
    try:
        found = float(text.rstrip("%％ "))
    except ValueError:
        return None
    return found if found == found and abs(found) != float("inf") else None


def count(value: Any) -> int | None:
    """A number of people."""
    found = number(value)
    return int(found) if found is not None and 0 <= found <= _MOST else None


def share(value: Any, *, percent: bool) -> float | None:
    """A share in 0..1, of a column in percent or not; a percent sign always says percent."""
    found = number(value)
    if found is None:
        return None
    if percent or has_percent_sign(value):
        found /= 100
    return found if 0 <= found <= 1 else None


def has_percent_sign(value: Any) -> bool:
    """Whether a cell ends with one."""
    return isinstance(value, str) and value.strip().endswith(("%", "％"))


def read_options(value: Any, fields: Mapping[str, Any]) -> Pairs:
    """Options from a mapping, a list, a text, or columns A, B, C.

    Texts keep what is in them, spaces included; options without text are left out, as CMB pads with them.
    """
    if isinstance(value, str) and value.strip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        pairs = [(str(label).strip().upper(), _option(text)) for label, text in value.items()]
    elif isinstance(value, list):
        pairs = _from_list(value)
    elif isinstance(value, str):
        pairs = _from_text(value)
    else:
        columns = [(letter, fields.get(letter.lower())) for letter in LABELS]
        more = [(letter, fields.get(f"option_{letter.lower()}")) for letter in LABELS]
        pairs = [(letter, _option(text)) for letter, text in [*columns, *more]]
    return [(label, text) for label, text in pairs if text is not None and label]


def _from_list(value: list[Any]) -> list[tuple[str, str | None]]:
    if value and all(isinstance(item, Mapping) for item in value):
        return [_labelled(item, index) for index, item in enumerate(value)]
    texts = [_option(item) for item in value]
    marks = [_LABEL_IN_LIST.match(text or "") for text in texts]
    if all(mark and mark[1] == LABELS[index] for index, mark in enumerate(marks) if index < len(LABELS)):
        return [(mark[1], _option(mark.string[mark.end() :])) for mark in marks if mark]
    # A list needs no labels: letters that touch the text belong to it (A族链球菌, B超).
    return [(chr(65 + index), text) for index, text in enumerate(texts)]


def _labelled(item: Mapping[str, Any], index: int) -> tuple[str, str | None]:
    label = item.get("label", item.get("key", chr(65 + index)))
    return str(label).strip().upper(), _option(item.get("text", item.get("value")))


def _from_text(value: str) -> list[tuple[str, str | None]]:
    """Options of a text: labels at the start of lines, or within one line; a label counts only in its turn."""
    by_line, within = _cut(value, _LABEL_AT_LINE), _cut(value, _LABEL_IN_LINE)
    if max(len(by_line), len(within)) > 1:
        return by_line if len(by_line) >= len(within) else within
    lines = [line for line in value.splitlines() if line.strip()]
    if len(lines) > 1 and not by_line:
        return [(chr(65 + index), _option(line)) for index, line in enumerate(lines)]
    return by_line or within


def _cut(value: str, label: re.Pattern[str]) -> list[tuple[str, str | None]]:
    marks: list[re.Match[str]] = []
    for found in label.finditer(value):
        if found[1] == chr(65 + len(marks)):
            marks.append(found)
    ends = [*(mark.start() for mark in marks[1:]), len(value)][: len(marks)]
    return [(mark[1], _option(value[mark.end() : end])) for mark, end in zip(marks, ends, strict=True)]


def _option(value: Any) -> str | None:
    """The text of an option: 无 and None are what an option may say, so only nothing is absent."""
    if value is None or isinstance(value, dict | list):
        return None
    return str(value).strip() or None


class Key(StrEnum):
    """How a source gives its answers, where one can be read in two ways."""

    LETTERS = "letters"
    TEXTS = "texts"
    UNKNOWN = "unknown"


def key_of(answers: Iterable[tuple[Any, Pairs]]) -> Key:
    """How a source gives its answers: by those of its (answer, options) that can be read in one way only."""
    seen = {kind for value, options in answers if (kind := _kind(value, options))}
    return seen.pop() if len(seen) == 1 else Key.UNKNOWN


def _kind(value: Any, options: Pairs) -> Key | None:
    """Letters or text, when it is clearly one of them."""
    text = string(value)
    if text is None or isinstance(value, int | float):
        return None
    letters, quoted = _letters(fold(text), options), _quoted(text, options)
    if bool(letters) == bool(quoted):
        return None
    return Key.LETTERS if letters else Key.TEXTS


def read_answer(value: Any, options: Pairs, key: Key = Key.UNKNOWN) -> list[str] | None:
    """Letters of an answer given as ``ABD``, ``A,B``, ``B. text``, a list of these, or the text of an option.

    Args:
        value: the cell.
        options: of the question.
        key: how the source gives its answers; settles what can be read in two ways.

    Returns:
        Letters in alphabetical order; None when there is no answer, or when two readings remain: ``AB`` where
        an option's text is AB, a bare number that may count options from 0, from 1, or be a text.
    """
    if isinstance(value, list):
        parts = [_read_one(item, options, key) for item in value]
        found = [letter for part in parts if part for letter in part]
        return sorted(set(found)) if parts and all(parts) else None
    return _read_one(value, options, key)


def _read_one(value: Any, options: Pairs, key: Key) -> list[str] | None:
    text = string(value)
    if text is None:
        return None
    quoted = _quoted(text, options)
    if isinstance(value, int | float):
        return None if 0 <= value <= len(options) else quoted
    letters = _letters(fold(text), options)
    if letters and quoted and letters != quoted:
        return {Key.LETTERS: letters, Key.TEXTS: quoted}.get(key)
    return letters or quoted


def _quoted(text: str, options: Pairs) -> list[str] | None:
    """The label of the only option with that text."""
    hits = [label for label, option in options if option.strip() == text]
    return hits if len(hits) == 1 else None


def _letters(text: str, options: Pairs) -> list[str] | None:
    if _LETTERS_ONLY.fullmatch(text) and _LETTERS.search(text):
        return sorted({letter.upper() for letter in _LETTERS.findall(text)})
    both = _LETTER_AND_TEXT.fullmatch(text)
    if both and dict(options).get(both[1].upper(), "").strip() == both[2].strip():
        return [both[1].upper()]
    return None
