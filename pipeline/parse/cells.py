"""Scalars and options in the cells of a tabular source. Pure."""

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import Any

from build_dataset.pipeline.parse import labels as option_labels
from build_dataset.pipeline.parse.labels import AFTER, CLOSE, LABELS, OPEN, Pairs, label_at
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import in_language, option_of, plain_header, vocabulary

_P = Patterns(__name__)
Fields = Mapping[str, Any]  # a row's values by the name of their column

ABSENT = {"", "nan", "none", "null", "n/a", "na", "无"}  # as pandas and people write empty cells
_LONGEST_ABSENT = 4
_SEPARATORS = ("///", "||", "|", "；", ";", "\t", "  ")  # between options without labels, the surest first: 甲|乙|丙
READ = 1 << 14
"""Size of the caches of parsed cells: columns are judged by a sample of rows, which are read again after it."""
_of_items = lru_cache(READ)(lambda items: _from_mapping(dict(items)))  # of texts alone: rules read them again
_of_list = lru_cache(READ)(lambda texts: _from_list([*texts]))
_NESTED = (dict, list)  # a union of the two would be made anew at every cell
_MOST_PEOPLE = 2**31 - 1  # larger numbers are typing errors and overflow 32-bit integers


@dataclass(frozen=True)
class Options:
    """The options of a row."""

    pairs: Pairs
    printed: dict[str, str] = field(default_factory=dict)  # letters by printed labels that are numbers
    right: list[str] | None = None  # labels of those that the source itself marks as right
    cut_at_marks: bool = False
    """True if unlabelled options were cut at line ends or marks: one that contains such a mark shifts the others."""
    spaced: bool = False  # labels with a space alone behind them were taken off a list: A 型肝炎, B 型肝炎
    inside: Sequence[str] = ()  # labels of options in which another label may stand: A.甲 B.乙C.丙
    named: Mapping[str, str] = field(default_factory=dict)
    """Labels by the header of the option's column, as ``plain_header`` has it, since keys may name it: 选1, option3."""


def in_one_language(value: Any) -> Any:
    """A value whose texts stand in several languages, {"zh": …, "en": …}, in one: the last by code, zh before en."""
    if isinstance(value, list):
        return [in_one_language(part) if isinstance(part, _NESTED) else part for part in value]
    if len(value) > 1 and all(in_language(f"text_{name}") for name in value):
        return value[max(value)]
    return {name: in_one_language(part) if isinstance(part, _NESTED) else part for name, part in value.items()}


def text_of(fields: Fields, names: Iterable[str]) -> str | None:
    """The first text under one of these names."""
    return next((text for name in names if (text := string(fields.get(name))) is not None), None)


def first(fields: Fields, names: Iterable[str]) -> Any:
    """The first value under one of these names."""
    return next((fields[name] for name in names if fields.get(name) is not None), None)


def string(value: Any) -> str | None:
    """Text without surrounding space; None for what means absent, and for lists and objects."""
    if value is None or isinstance(value, _NESTED):
        return None
    text = str(value).strip()
    absent = len(text) <= _LONGEST_ABSENT and text.casefold() in ABSENT and text != "Na"  # sodium is something
    return None if absent else text


def whole_text(value: Any) -> str | None:
    """The text of a cell of any shape: a string, a list of sentences, an object; a line for each of its texts."""
    if isinstance(value := unpacked(value), dict | list):
        parts = value.values() if isinstance(value, dict) else value
        return "\n".join(filter(None, map(whole_text, parts))) or None
    return None if isinstance(value, bool) else string(value)


def whole_of(fields: Fields, names: Iterable[str]) -> str | None:
    """All texts under some names, a line each; one that another holds is left out."""
    texts = [text for name in names if (text := whole_text(fields.get(name)))]
    kept = [text for at, text in enumerate(texts) if not any(text in earlier for earlier in texts[:at])]
    return "\n".join(kept) or None


def filled(value: Any) -> bool:
    """Return whether a cell holds something; an empty list, also one written out, is nothing."""
    value = unpacked(value)
    return bool(value) if isinstance(value, _NESTED) else string(value) is not None


def is_picture(value: Any) -> bool:
    """Return whether a cell names or holds pictures and nothing else: a/17.png, ["17.png"], data:image/png;base64,…."""
    value = unpacked(value)
    if isinstance(value, list | dict):
        parts = list(value.values() if isinstance(value, dict) else value)
        return any(map(is_picture, parts)) and not any(isinstance(part, str) and " " in part.strip() for part in parts)
    return isinstance(value, str) and _P.picture.match(value) is not None


def number(value: Any) -> float | None:
    """A finite number, a percent sign aside."""
    text = None if isinstance(value, bool) else string(value)
    try:
        amount = float(text.rstrip("%％ ")) if text else None
    except ValueError:
        return None
    return amount if amount is not None and abs(amount) < float("inf") else None


def count(value: Any) -> int | None:
    """A number of people."""
    people = number(value)
    return int(people) if people is not None and 0 <= people <= _MOST_PEOPLE else None


def share(value: Any, *, percent: bool) -> float | None:
    """A share in 0..1, of a column in percent or not; a percent sign always means percent."""
    part = number(value)
    if part is not None and (percent or has_percent_sign(value)):
        part /= 100
    return part if part is not None and 0 <= part <= 1 else None


def has_percent_sign(value: Any) -> bool:
    """Return whether a cell ends with one."""
    return isinstance(value, str) and value.strip().endswith(("%", "％"))


def unpacked(value: Any) -> Any:
    """The value of a cell that holds JSON, or a Python list as pandas writes it; others as they are."""
    return _written_out(value) if isinstance(value, str) and value.lstrip()[:1] in ("{", "[") else value


@lru_cache(READ)
def _written_out(text: str) -> Any:
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
        return ast.literal_eval(text.strip())
    return text


def read_options(value: Any) -> Options:
    """Options from a mapping, a list, or a text; those without text are left out, as CMB pads with them."""
    value = unpacked(value)
    if isinstance(value, dict):
        return _of_items(tuple(value.items())) if {*map(type, value.values())} == {str} else _from_mapping(value)
    if isinstance(value, list):
        return _of_list(tuple(value)) if {*map(type, value)} == {str} else _from_list(value)
    return _from_text(value) if isinstance(value, str) else Options([])


def labelled(pairs: Iterable[tuple[str, Any]]) -> Options:
    """Options under labels as they are printed; numbers that run on from 0 or 1, and other scripts, become letters."""
    options = [(label.strip().upper(), text) for label, value in pairs if (text := _option(value)) is not None]
    labels = [label for label, _ in options]
    if labels and all(label.isdecimal() for label in labels) and len(set(labels)) == len(labels):
        start = 0 if "0" in labels else 1
        if all(0 <= int(label) - start < 26 for label in labels):
            printed = {label: label_at(int(label) - start) for label in labels}
            return Options(sorted((printed[label], text) for label, text in options), printed)
    printed_signs = "".join(labels)
    alphabets = vocabulary()["options"]["alphabets"] if labels and printed_signs not in LABELS else ()
    if any(signs.upper().startswith(printed_signs) for signs in alphabets):
        letters = {plain_header(label): label_at(at) for at, label in enumerate(labels)}
        return Options([(letters[plain_header(label)], text) for label, text in options], named=letters)
    return Options(options)


def without_label(value: Any, label: str) -> Any:
    """The text of an option's cell without its own label: B、乙 under B; a label alone is nothing."""
    match = _own(label).match(value) if isinstance(value, str) else None
    return value[match.end() :] or None if match else value


@cache
def _own(label: str) -> re.Pattern[str]:
    return re.compile(rf"\s*{OPEN}?\s*{label}\s*(?:{CLOSE}|{AFTER}|\s|$)\s*")  # B、乙, (B) 乙


def _option(value: Any) -> str | None:
    """Return the text of an option. 无 and None are valid texts of an option; only an empty cell is absent."""
    return None if value is None or isinstance(value, _NESTED) else str(value).strip() or None


def _from_mapping(value: Mapping[Any, Any]) -> Options:
    """Options of ``{"A": "甲"}``, ``{"text": ["甲"], "label": ["A"]}``, ``{"甲": true}``."""
    lists = {str(key).casefold(): item for key, item in value.items() if isinstance(item, list)}
    texts = next((lists[name] for name in ("text", "texts", "choices", "options") if name in lists), None)
    if texts:
        labels = lists.get("label", lists.get("labels"))
        if not labels or len(labels) != len(texts):
            return _from_list(texts)
        if all(mark in (0, 1) for mark in labels):  # [0, 1, 0, 0]: which is right
            return _flagged(texts, labels)
        return labelled(zip(map(str, labels), texts, strict=True))
    if all(mark in (0, 1) for mark in value.values()) and not all(map(_is_label, value)):
        return _flagged(list(value), list(value.values()))
    if value and all(isinstance(part, Mapping) for part in value.values()):  # {"a": {"content": "甲", "correct": true}}
        return _from_objects([{**part, "label": key} for key, part in value.items()])
    pairs = [(_label(str(key)), text) for key, text in value.items()]
    if {"A", "B"} <= {*map(str, value)}:  # {"tip": 1, "A": "甲", "B": "乙"}: a number beside them is no option
        pairs = [(label, text) for label, text in pairs if label in LABELS or isinstance(text, str)]
    return labelled(sorted(pairs, key=lambda pair: pair[0].upper() if pair[0].upper() in LABELS else ""))


def _flagged(texts: Sequence[Any], flags: Sequence[Any]) -> Options:
    """Options each of which states whether it is right."""
    labels = [label_at(at) for at in range(len(texts))]
    pairs = [(label, text) for label, text in zip(labels, map(_option, texts), strict=True) if text]
    right = [label for label, flag in zip(labels, flags, strict=True) if flag]
    return Options(pairs, right=right or None)


def _label(key: str) -> str:
    named = option_of(key)
    return named[1] if named else key.strip(" \t.．、:：()（）")


def _from_list(value: list[Any]) -> Options:
    if value and all(isinstance(item, Mapping) for item in value):
        return _from_objects(value)
    if value and all(isinstance(item, list) and len(item) > 1 and isinstance(item[1], bool) for item in value):
        return _flagged([text for text, *_ in value], [flag for _, flag, *_ in value])  # ["甲", true]
    texts = [_option(item) for item in value]
    if run := option_labels.signed([text for text in texts if text]):
        return labelled(run)
    for pattern in (_P.in_list, _P.numbered):
        if run := _printed(texts, pattern):
            marks = [pattern.match(text) for text in texts if text is not None]
            spaced = pattern is _P.in_list and all(mark is not None and mark[3] for mark in marks)
            return replace(labelled(run), spaced=spaced)
    # A list needs no labels: letters that touch the text belong to it (A族链球菌, B超).
    pairs = [(label_at(index), text) for index, text in enumerate(texts) if text is not None]
    if len(pairs) > 1 and all(text.casefold() == label.casefold() for label, text in pairs):
        return Options([])  # ["a", "b", "c"]: letters of options that stand elsewhere
    # Where most begin with a number (1.甲, 2.乙, 3.1.5 g) it is a label; (1) 甲, (2) 乙 of all is none.
    numbered = {label: mark[1] or mark[2] for label, text in pairs if (mark := _P.numbered.match(text))}
    labels = 2 * len(numbered) >= len(pairs) and not len(numbered) > len({*numbered.values()}) == 1
    return Options(pairs, inside=[*numbered] if labels else ())


def _printed(texts: Sequence[str | None], pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Labels that every text of a list begins with, ascending, and the rest of the texts."""
    marks = [mark for text in texts if text is not None and (mark := pattern.match(text))]
    if not marks or len(marks) < sum(text is not None for text in texts):
        return []
    labels = [option_labels.label_in(mark) for mark in marks]
    ranks = [int(label) if label.isdigit() else ord(label) for label in labels]
    started = labels[0] in ("A", "1") and ranks == list(range(ranks[0], ranks[0] + len(ranks)))
    # Labels that do not begin at A are believed where each has a mark of its own (B. 甲, not B 超).
    marked = pattern is _P.in_list and all(mark[3] is None for mark in marks)
    rising = len(ranks) > 1 and ranks == sorted(set(ranks))
    if not (started or (marked and rising)):
        return []
    return [(label, mark.string[mark.end() :]) for label, mark in zip(labels, marks, strict=True)]


def _from_objects(value: list[Any]) -> Options:
    """Options of ``[{"key": "A", "value": "甲", "is_correct": true}]``; letters in order are labels under any name."""
    if all(len(item) == 1 for item in value):  # {"A": "甲"}, {"optionContent": "甲"}, {"radio": {"text": "甲"}}
        named = [next(iter(item.items())) for item in value]
        if all(isinstance(part, Mapping) for _, part in named):
            return _from_objects([part for _, part in named])
        if len({str(key) for key, _ in named}) == len(named):
            return labelled((_label(str(key)), text) for key, text in named)
        return labelled((label_at(at), text) for at, (_, text) in enumerate(named))
    items = [{str(key).casefold(): part for key, part in item.items()} for item in value]
    known, keys = vocabulary()["options"]["parts"], list(dict.fromkeys(key for item in items for key in item))
    # {"label": "A、甲", "value": "A"}, {"option": "A", "description": "甲"}: letters that ascend are labels.
    values = {key: [item.get(key) for item in items] for key in keys}
    letters = [key for key in keys if [str(part).upper() for part in values[key]] == [*LABELS[: len(items)]]]
    counts = [[str(at + start) for at in range(len(items))] for start in (0, 1)]  # {"value": "0", "label": "甲"}
    texts_of = [key for key in keys if any(isinstance(v, str) for v in values[key])]  # not {"text": "1", "score": 0}
    letters = letters or [key for key in keys if {*texts_of} - {key} and [*map(str, values[key])] in counts][:1]
    labels = letters or [key for key in known["label"] if all(_is_label(item.get(key)) for item in items)]
    ids = [str(item[labels[0]]) for item in items] if labels else []  # 4, 5, 6: they count through the source
    counted_on = bool(ids) and all(map(str.isdecimal, ids)) and not {"0", "1"} & {*ids}
    others = [key for key in keys if key not in letters]
    named = [key for key in known["text"] if key in others]
    worded = [key for key in others if key in texts_of]
    texts = named or [key for key in worded if key not in labels]
    if not named and len(texts) > 1:  # {"choiceId": "c1", "choiceText": "甲"}: either may be the text
        return Options([])
    verdicts = {*vocabulary()["words"]["right"], *vocabulary()["words"]["wrong"], "none"}
    marks = [key for key in keys if _says_right(key) and verdicts >= {str(part).casefold() for part in values[key]}]
    pairs, right = [], []
    for index, item in enumerate(items):
        name = _label(str(item[labels[0]])) if labels else label_at(index)
        pairs.append((name, next((item[key] for key in texts if key in item), None)))
        if any(str(item.get(key)).casefold() in vocabulary()["words"]["right"] for key in marks):
            right.append(name)
    options = labelled(pairs)
    if counted_on and options.pairs:
        by_id = {identifier: label for identifier, label in zip(ids, LABELS, strict=False) if identifier in dict(pairs)}
        texts_by_id = [(by_id[name], text) for (name, _), (_, text) in zip(pairs, options.pairs, strict=False)]
        options = Options(texts_by_id, printed=by_id)
    by_name = {**options.printed, **options.named}
    return replace(options, right=[by_name.get(name, name) for name in right] or None)


@cache
def _says_right(key: str) -> bool:
    """Return whether a key of an option says by its name that the option is right: is_correct_answer, richtig."""
    known, name = vocabulary()["options"]["parts"], plain_header(key)
    return any(word in name for word in known["right"]) and not any(word in name for word in known["not_right"])


def names_letters(value: Any) -> bool:
    """Return whether an object or a list names the letter of each option: ``[{"ans": "A", "item": "甲"}]``."""
    value, pairs = unpacked(value), read_options(value).pairs
    if [label for label, _ in pairs] != [*LABELS[: len(pairs)]] or len(pairs) < 2:
        return False
    return (
        isinstance(value, Mapping)
        or (isinstance(value, str) and len(labelled_in(value).pairs) > 2)
        or all(
            label in [*item, *item.values()] or without_label(text, label) != text
            if isinstance(item, Mapping)
            else without_label(item, label) != item
            for (label, text), item in zip(pairs, value, strict=False)
        )
    )


def _is_label(value: Any) -> bool:
    return value is not None and not isinstance(value, dict | list) and 0 < len(str(value).strip()) <= 3


@lru_cache(READ)
def _from_text(value: str) -> Options:
    """Options of a text: labels at the start of lines or within one; without labels, a line each."""
    records = [*_P.record.finditer(value.strip())]
    if records and "".join(one[0] for one in records) == value.strip():  # A|甲|1,B|乙|0
        return _from_objects([dict(zip(("label", "text", "correct"), one.groups(), strict=True)) for one in records])
    by_label = labelled_in(value)
    if len(by_label.pairs) > 1:
        return by_label
    lines = [line for line in option_labels.broken_lines(value).splitlines() if line.strip()]
    if len(lines) == 1 and (separator := next((mark for mark in _SEPARATORS if mark in value.strip()), None)):
        lines = [part for part in value.split(separator) if part.strip()]
    if len(lines) < 2:
        return by_label
    options = _from_list(list(lines))
    marked = any(_printed(lines, pattern) for pattern in (_P.in_list, _P.numbered))
    return replace(options, cut_at_marks=not marked and "///" not in value)  # three strokes stand in no text


def labelled_in(value: str) -> Options:
    """The options of a text by their labels; what stands before the first is none."""
    pairs, doubtful = option_labels.labelled_pairs(value)
    return replace(labelled(pairs), inside=doubtful)
