"""What the cells of a tabular source say: options, answers, numbers. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

from pipeline.parse.text import fold
from schemas.columns import option_of, vocabulary

Pairs = list[tuple[str, str]]
"""Options as (label, text)."""

LABELS = "ABCDEFGHIJK"
_ABSENT = {"", "nan", "none", "null", "n/a", "na", "无"}
_OPEN, _CLOSE = r"[(（\[【]", r"[)）\]】]"
# (A) text, A. text, A text, A甲: at the start of a line a space or a Chinese character is mark enough.
_AT_LINE = re.compile(
    rf"(?:^|\n)\s*(?:{_OPEN}\s*([A-Ka-k])\s*{_CLOSE}[.．、:：]?|([A-Ka-k])[.．、:：)）]"
    r"|([A-K])(?:[ \t]+|(?=[\u4e00-\u9fff])))\s*"
)
# Within a line only what no word can be: （A）…, A. …, A、…
_IN_LINE = re.compile(
    rf"(?:^|\s|(?<=[。；;，,]))\s*(?:{_OPEN}\s*([A-K])\s*{_CLOSE}[.．、:：]?|([A-K])\s*[.．、:：)）])\s*"
)
_IN_LIST = re.compile(
    rf"\s*(?:{_OPEN}\s*([A-Ka-k])\s*{_CLOSE}[.．、:：]?|([A-Ka-k])\s*[.．、:：)）]|([A-K])[ \t]+)\s*"
)
_NUMBERED = re.compile(rf"\s*(?:{_OPEN}\s*(\d{{1,2}})\s*{_CLOSE}|(\d{{1,2}})\s*[.．、:：)）](?!\d))\s*")
_LITERAL_BREAK = re.compile(r"(?:\\r)?\\n(?![a-z])|(?i:<br\s*/?>)")
"""A line break that was written out, as in A 甲\\nB 乙; before a small letter it may be LaTeX (\\nu)."""
_SEPARATORS = ("||", "|", "；", ";")
_LETTERS = re.compile(r"[A-Ka-k]")
_LETTERS_ONLY = re.compile(r"[\sA-Ka-k,，、;；/|@+&\[\](){}（）【】'\".．:：]+")
_LETTER_AND_TEXT = re.compile(
    rf"\s*(?:{_OPEN}\s*)?([A-Ka-k])\s*(?:{_CLOSE}|[.．、:：\s])[.．、:：]?\s*(\S.*)", re.DOTALL
)
_EITHER = re.compile(r"\s*([A-K])(?:\s*(?:或|or)\s*([A-K]))+\s*", re.IGNORECASE)
_DIGITS = re.compile(r"\s*\d{1,2}(?:\.0+)?\s*(?:[,，、;；/|]\s*\d{1,2}\s*)*")
_MOST = 2**31 - 1  # people; more is a typing error, and would not fit other people's integers


@dataclass(frozen=True)
class Options:
    """The options of a row."""

    pairs: Pairs
    printed: dict[str, str] = field(default_factory=dict)
    """Labels as the source prints them where they are numbers, with the letters they became."""
    right: list[str] | None = None
    """Labels of those that the source itself marks as right."""


def text_of(fields: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first text that is there under one of these names."""
    return next((text for name in names if (text := string(fields.get(name))) is not None), None)


def first(fields: Mapping[str, Any], names: Iterable[str]) -> Any:
    """The first value that is there under one of these names."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)


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


def read_options(value: Any) -> Options:
    """Options from a mapping, a list, or a text.

    Texts keep what is in them, spaces included; options without text are left out, as CMB pads with them.
    """
    value = _unpacked(value)
    if isinstance(value, Mapping):
        return _from_mapping(value)
    if isinstance(value, list):
        return _from_list(value)
    return _from_text(value) if isinstance(value, str) else Options([])


def _unpacked(value: Any) -> Any:
    """JSON, or a Python list as pandas writes it into a cell, as what it says."""
    if isinstance(value, str) and value.strip().startswith(("{", "[")):
        with suppress(ValueError, RecursionError):
            return json.loads(value)
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return ast.literal_eval(value.strip())
    return value


def labelled(pairs: Iterable[tuple[str, Any]]) -> Options:
    """Options under labels as they are printed; numbers that run on from 0 or 1 become letters."""
    found = [(label.strip().upper(), text) for label, value in pairs if (text := _option(value)) is not None]
    labels = [label for label, _ in found]
    if labels and all(label.isdigit() for label in labels) and len(set(labels)) == len(labels):
        start = 0 if "0" in labels else 1
        if all(0 <= int(label) - start < 26 for label in labels):
            printed = {label: chr(65 + int(label) - start) for label in labels}
            return Options(sorted((printed[label], text) for label, text in found), printed)
    return Options(found)


def _from_mapping(value: Mapping[Any, Any]) -> Options:
    lists = {str(key).casefold(): item for key, item in value.items() if isinstance(item, list)}
    if texts := next(
        (lists[name] for name in ("text", "texts", "choices", "options") if name in lists), None
    ):
        labels = lists.get("label", lists.get("labels"))
        if labels and len(labels) == len(texts):
            if all(mark in (0, 1, True, False) for mark in labels):
                return _flagged(texts, [bool(mark) for mark in labels])
            return labelled(zip(map(str, labels), texts, strict=True))
        return _from_list(texts)
    if value and all(isinstance(mark, bool) or mark in (0, 1) for mark in value.values()):
        return _flagged(list(value), [bool(mark) for mark in value.values()])
    return labelled((_label(str(key)), text) for key, text in value.items())


def _flagged(texts: Sequence[Any], flags: Sequence[bool]) -> Options:
    """Options each of which says whether it is right."""
    labels = [chr(65 + index) for index in range(len(texts))]
    pairs = [(label, text) for label, item in zip(labels, texts, strict=True) if (text := _option(item))]
    return Options(pairs, right=[label for label, flag in zip(labels, flags, strict=True) if flag] or None)


def _label(key: str) -> str:
    named = option_of(key)
    return named[1] if named else key.strip(" \t.．、:：()（）")


def _from_list(value: list[Any]) -> Options:
    if value and all(isinstance(item, Mapping) for item in value):
        return _from_objects(value)
    texts = [_option(item) for item in value]
    for pattern in (_IN_LIST, _NUMBERED):
        if run := _printed(texts, pattern):
            return labelled(run)
    # A list needs no labels: letters that touch the text belong to it (A族链球菌, B超).
    return Options([(chr(65 + index), text) for index, text in enumerate(texts) if text is not None])


def _printed(texts: Sequence[str | None], pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Labels that every text of a list begins with, ascending, and the rest of the texts."""
    marks = [pattern.match(text) for text in texts if text is not None]
    if not marks or not all(marks):
        return []
    found = [(_of(mark), mark.string[mark.end() :]) for mark in marks if mark]
    labels = [label for label, _ in found]
    ranks = [int(label) if label.isdigit() else ord(label) for label in labels]
    whole = ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    started = labels[0] in ("A", "1") and whole
    # Labels that do not begin at A are believed where they have a mark of their own (B. 甲, not B 超).
    marked = all(mark and (pattern is _NUMBERED or mark[3] is None) for mark in marks)
    rising = ranks == sorted(set(ranks)) and len(ranks) > 1 and pattern is _IN_LIST
    return found if started or (marked and rising) else []


def _of(mark: re.Match[str]) -> str:
    return next(group for group in mark.groups() if group).upper()


def _from_objects(value: list[Any]) -> Options:
    """Options as objects: their labels, texts, and flags that say which is right."""
    pairs, right = [], []
    for index, item in enumerate(value):
        parts = {str(key).casefold(): part for key, part in item.items()}
        label = next(
            (
                parts[key]
                for key in ("label", "key", "letter", "id", "option", "no")
                if _short(parts.get(key))
            ),
            None,
        )
        text = next(
            (
                parts[key]
                for key in ("text", "value", "content", "answer", "name", "option", "选项")
                if key in parts
            ),
            None,
        )
        name = _label(str(label)) if label is not None else chr(65 + index)
        pairs.append((name, text))
        flags = [
            parts[key]
            for key in ("correct", "is_correct", "iscorrect", "right", "isanswer", "is_answer")
            if key in parts
        ]
        if any(flag is True or str(flag).casefold() in ("1", "true", "yes") for flag in flags):
            right.append(name)
    found = labelled(pairs)
    return Options(found.pairs, found.printed, [found.printed.get(name, name) for name in right] or None)


def _short(value: Any) -> bool:
    return value is not None and not isinstance(value, dict | list) and 0 < len(str(value).strip()) <= 3


def _from_text(value: str) -> Options:
    """Options of a text: labels at the start of lines or within one; without labels, a line each."""
    found = cut(value)
    if len(found[1]) > 1:
        return labelled(found[1])
    lines = [line for line in broken_lines(value).splitlines() if line.strip()]
    if len(lines) == 1:
        separator = next((mark for mark in _SEPARATORS if mark in value), None)
        lines = [part for part in value.split(separator) if part.strip()] if separator else lines
    return _from_list(list(lines)) if len(lines) > 1 else labelled(found[1])


def broken_lines(text: str) -> str:
    """A text whose line breaks were written out, as ``<br>`` or a backslash and n, with line breaks."""
    return _LITERAL_BREAK.sub("\n", text)


def cut(value: str) -> tuple[str, list[tuple[str, str]]]:
    """What stands before the first label of a text, and the options that its labels begin.

    A gap (A, B, D, E) or another start than A changes nothing: each option ends where the next label stands.
    """
    text = broken_lines(value)
    chains = [_chain(list(pattern.finditer(text))) for pattern in (_AT_LINE, _IN_LINE)]
    lines = sum(bool(line.strip()) for line in text.split("\n"))
    marks = (
        chains[0] if len(chains[0]) == lines > 1 else max(chains, key=len)
    )  # each line an option: no doubt
    ends = [*(mark.start() for mark in marks[1:]), len(text)][: len(marks)]
    pairs = [(_of(mark), text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    return text[: marks[0].start()] if marks else text, pairs


def _chain(marks: Sequence[re.Match[str]]) -> list[re.Match[str]]:
    """The longest run of labels in rising order; of several, the one with the fewest gaps, the earliest."""
    best: list[tuple[int, int, int]] = []  # length, minus gaps, the mark before
    for at, mark in enumerate(marks[:200]):
        rank = ord(_of(mark))
        options = [(1, 65 - rank, -1)]
        for before in range(at):
            step = rank - ord(_of(marks[before]))
            if step > 0:
                options.append((best[before][0] + 1, best[before][1] + 1 - step, before))
        best.append(max(options, key=lambda option: option[:2]))
    found = []
    at = max(range(len(best)), key=lambda place: best[place][:2], default=-1)
    while at >= 0:
        found.append(marks[at])
        at = best[at][2]
    return found[::-1]


def swallowed(pairs: Pairs) -> list[str]:
    """Labels of options in which what looks like another label begins a line."""
    return [label for label, text in pairs if re.search(r"\n\s*[A-K]\s*[.．、:：)）]", text)]


def _option(value: Any) -> str | None:
    """The text of an option: 无 and None are what an option may say, so only nothing is absent."""
    if value is None or isinstance(value, dict | list):
        return None
    return str(value).strip() or None


class Key(StrEnum):
    """How a source gives its answers."""

    LETTERS = "letters"
    TEXTS = "texts"
    FROM_0 = "index_from_0"
    FROM_1 = "index_from_1"
    UNKNOWN = "unknown"
    """As letters or texts, row by row, where only one of the two can be meant."""


def key_of(answers: Iterable[tuple[Any, Options]]) -> Key:
    """How a source gives its answers: by those of its (answer, options) that can be read in one way only."""
    seen = {kind for value, options in answers if (kind := _kind(value, options))}
    return seen.pop() if len(seen) == 1 else Key.UNKNOWN


def _kind(value: Any, options: Options) -> Key | None:
    """Letters or text, when it is clearly one of them."""
    text = string(value)
    if text is None or isinstance(value, int | float):
        return None
    letters, quoted = letters_of(text, options.pairs), quoted_of(text, options.pairs)
    if bool(letters) == bool(quoted):
        return None
    return Key.LETTERS if letters else Key.TEXTS


def is_number(value: Any) -> bool:
    """Whether an answer is given as a number, or several: 2, "2", "1,3", [0, 2]."""
    if isinstance(value, bool):
        return False
    value = _unpacked(value)
    if isinstance(value, list):
        return bool(value) and all(map(is_number, value))
    return isinstance(value, int | float) or (isinstance(value, str) and bool(_DIGITS.fullmatch(value)))


def numbers(value: Any) -> list[int]:
    """The numbers of an answer that is given as some."""
    value = _unpacked(value)
    if isinstance(value, list):
        return [one for item in value for one in numbers(item)]
    found = (
        [float(part) for part in re.findall(r"\d+(?:\.\d+)?", str(value))] if str(value)[:1] != "-" else []
    )
    return [int(part) for part in found if part.is_integer()]


def read_answer(value: Any, options: Options, key: Key = Key.UNKNOWN) -> list[str] | None:
    """Letters of an answer given as ``ABD``, ``(D)``, ``opb``, ``B. text``, an option's text, a number, or a list.

    Args:
        value: the cell.
        options: of the question.
        key: how the source gives its answers; settles what can be read in two ways.

    Returns:
        Letters in alphabetical order; None when there is no answer, or when two readings remain: ``AB`` where
        an option's text is AB, a number that may count options from 0, from 1, or be a text.
    """
    value = _unpacked(value)
    if isinstance(value, list):
        parts = [_read_one(item, options, key) for item in value]
        found = [letter for part in parts if part for letter in part]
        return sorted(set(found)) if parts and all(parts) else None
    return _read_one(value, options, key)


def _read_one(value: Any, options: Options, key: Key) -> list[str] | None:
    text = string(value)
    if text is None:
        return None
    if is_number(value) and key is not Key.TEXTS:
        return _counted(value, options, key)
    quoted, letters = quoted_of(text, options.pairs), letters_of(text, options.pairs)
    if letters and quoted and letters != quoted:
        return {Key.LETTERS: letters, Key.TEXTS: quoted}.get(key)
    return letters or quoted


def _counted(value: Any, options: Options, key: Key) -> list[str] | None:
    """Letters of numbers: as printed before the options, else counted as the source counts."""
    found = numbers(value)
    if options.printed and all(str(one) in options.printed for one in found):
        return sorted({options.printed[str(one)] for one in found}) or None
    if key not in (Key.FROM_0, Key.FROM_1):
        quoted = quoted_of(str(value), options.pairs)
        return quoted if quoted and not all(0 <= one <= len(options.pairs) for one in found) else None
    places = [one - (key is Key.FROM_1) for one in found]
    if not places or not all(0 <= place < len(options.pairs) for place in places):
        return None
    return sorted({options.pairs[place][0] for place in places})


def _bare(text: str) -> str:
    """A text as answers repeat it: width, case, space and a full stop aside."""
    return re.sub(r"\s+", "", fold(text)).rstrip("。．.").casefold()


def quoted_of(text: str, options: Pairs) -> list[str] | None:
    """The label of the only option with that text; of several texts with marks between them, theirs."""
    exact = [label for label, option in options if option.strip() == text.strip()]
    hits = exact or [label for label, option in options if _bare(option) == _bare(text)]
    if len(hits) == 1:
        return hits
    for mark in ("\n", "|", ";", "；"):
        parts = [part for part in text.split(mark) if part.strip()]
        if len(parts) > 1:
            found = [quoted_of(part, options) for part in parts if mark not in part]
            return sorted({label for one in found if one for label in one}) if all(found) else None
    return None


@cache
def _words() -> re.Pattern[str]:
    """Words around the letters of an answer: 答案：B, 选项C, Option D, opb."""
    words = sorted(vocabulary()["words"]["answer"], key=len, reverse=True)
    return re.compile(
        rf"^\s*(?:{'|'.join(map(re.escape, words))})[\s_:：.\-是为]*(?=[(（\[【]?[A-K][^A-Za-z]*$)",
        re.IGNORECASE,
    )


def letters_of(text: str, options: Pairs) -> list[str] | None:
    """The letters that an answer's text gives; None where it is anything else."""
    text = _words().sub("", fold(text))
    if _LETTERS_ONLY.fullmatch(text) and _LETTERS.search(text):
        return sorted({letter.upper() for letter in _LETTERS.findall(text)})
    both = _LETTER_AND_TEXT.fullmatch(text)
    if both and _bare(dict(options).get(both[1].upper(), "")) == _bare(both[2]) != "":
        return [both[1].upper()]
    return None


def accepted_of(value: Any, labels: Sequence[str]) -> tuple[list[str] | None, list[list[str]]] | None:
    """The key and every accepted answer, where a cell says that several earn the mark.

    ``送分(原:D)``: everybody gets it, the key was D. ``A或C``: either.
    """
    text = fold(str(value)) if isinstance(value, str) else ""
    if any(word in text for word in vocabulary()["words"]["everybody"]) and (
        not _LETTERS.search(text) or "原" in text or "送" in text or "一律" in text
    ):
        first_key = sorted({letter.upper() for letter in _LETTERS.findall(text)} & set(labels))
        return first_key or None, [[label] for label in labels]
    if _EITHER.fullmatch(text):
        letters = sorted({letter.upper() for letter in re.findall(r"[A-K]", text)})
        return letters, [[letter] for letter in letters]
    return None
