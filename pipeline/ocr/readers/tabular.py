"""Tables of questions in text and data files: JSON, JSONL, CSV, Parquet. The parser reads what stands in the rows."""

import csv
import io
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import polars as pl

from build_dataset.pipeline.ocr.interfaces import TableRow
from build_dataset.pipeline.ocr.params import OcrParams
from build_dataset.pipeline.ocr.readers.encoding import decode, looks_like_text
from build_dataset.pipeline.ocr.readers.header import HEADER_WITHIN, TWICE, row_of, tables
from build_dataset.pipeline.patterns import Patterns
from build_dataset.schemas.columns import option_of, plain_header, roles_of, unguarded, vocabulary
from build_dataset.schemas.errors import UnreadableDocument, refused_as

_P = Patterns(__name__)
MAX_DEPTH = 9  # Objects within objects until a list of questions is found
MAX_CELL = 10_000_000  # Characters of a cell of a CSV file: beyond it a quote was never closed
_BROKEN = 50  # Lines of a CSV file that may be left out; the file is read anew after each
_TYPES = frozenset({"S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS"})  # of DynamoDB: {"S": "甲"}
_LONG = 40  # Characters of a text that is more than a heading
_BLANK = b"\xef\xbb\xbf \t\r\n"
_OF_ONE = {"options", "answer"}  # Roles that only a question has, not the chapter that it is in
_HANDED_DOWN = {"shared", "group", "type", "exam_type", "exam_class", "exam_subject", "year", "chapter"}
"""Roles that questions under one object have from it: {"case": …, "questions": [{…}, {…}]}."""


def _load(text: str) -> Any:
    """JSON with NaN and infinities as null, and commas before a bracket: no JSON, but programs write them."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError:
        text = _P.text_or_comma.sub(lambda found: "" if found[0] == "," else found[0], text).strip()
        values, end = list[Any](), 0
        while end < len(text):  # [{…}] [{…}]: several values, one after the other
            value, end = _DECODER.raw_decode(text, end)
            values.append(value)
            end += len(text[end:]) - len(text[end:].lstrip())
        return values[0] if len(values) == 1 else values


def _object_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object; of two values under one key it tells, as JSON has no rule for which counts: its row is refused."""
    made = dict(pairs)
    if len(made) > 1 and all(isinstance(part, dict) and len(part) == 1 and {*part} < _TYPES for part in made.values()):
        return {key: value for key, part in made.items() for value in part.values()}
    if len(made) < len(pairs) and (lost := next(((key, one) for key, one in pairs if one != made[key]), None)):
        key, one = lost
        made[TWICE] = f"the key {key!r} stands twice in one object, with {one!r:.60} and {made[key]!r:.60}"
    return made


_DECODER = json.JSONDecoder(parse_constant=lambda _: None, object_pairs_hook=_object_of, strict=False)


class CmbJsonReader:
    """Files as CMB publishes them: a JSON list of questions with exam_type, question, option, answer."""

    format = "cmb_json"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is called JSON, or starts with a list of objects."""
        if not looks_like_text(head):
            return False
        start = re.match(rb"\[\s{0,99}\{", head.lstrip(_BLANK))
        return suffix == ".json" or (suffix not in (".jsonl", ".ndjson") and start is not None)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """The objects of the list; an item that is none becomes ``{"unparsed": item}``, for the parser to reject."""
        # Numbers of thousands of digits are ValueErrors.
        with refused_as("invalid_json", "not JSON", (ValueError, RecursionError)):
            rows = [*questions(_load(decode(path.read_bytes())))]
        if 2 * sum(isinstance(row, dict) for row in rows) < len(rows) or not rows:
            raise UnreadableDocument("unknown_format", "the JSON holds no list of questions")
        yield from (row_of(row if isinstance(row, dict) else {"unparsed": row}) for row in rows)


def questions(value: Any, depth: int = 0) -> Iterator[Any]:
    """The questions in a JSON value: a list, lists under ``data``, ``questions`` …, objects by id, or columns."""
    if isinstance(value, list):
        for item in value:
            inner = [] if depth >= MAX_DEPTH or is_asked(item) else [*_inner(item, depth)]
            yield from inner or [item]
    elif isinstance(value, dict) and depth < MAX_DEPTH:
        if columns := _columns(value):
            yield from columns
        elif inner := [*_inner(value, depth)]:
            yield from _with_texts(inner, value)
        elif value and all(isinstance(item, dict) for item in value.values()):
            for key, item in value.items():
                columns = [{"chapter": key, **row} for row in _columns(item)]
                yield from columns or questions([{"id": key, **item}], depth + 1)
        elif _is_question(value):
            yield value


def _is_question(value: Any) -> bool:
    """Return whether an object has the stem of a question, no list of them under that name."""
    parts = value.items() if isinstance(value, dict) else ()
    return any("stem" in roles_of(key) and not isinstance(part, list) for key, part in parts)


def _inner(value: Any, depth: int) -> Iterator[Any]:
    """Questions that an object keeps under a name of lists, with the case that the object gives them all."""
    # Of a list those within it, with the texts beside them: ``[["A passage."], [{…}, {…}], "id 7"]``.
    if isinstance(value, list):
        held = [one for one in value if is_asked(one) or _holds_question(one, depth)]
        beside = [one for one in value if one not in held and _P.words.search("".join(_texts_of(one)))]
        case = {"context": "\n".join(text for one in beside for text in _texts_of(one))} if beside else {}
        yield from ({**case, **row} if isinstance(row, dict) else row for row in questions(held, depth + 1))
    if not isinstance(value, dict):
        return
    names = vocabulary()["containers"]["names"]
    texts = {key: part if isinstance(part, list) else [part] for key, part in value.items()}
    texts = {key: some for key, some in texts.items() if some and all(isinstance(one, str) for one in some)}
    long = {key for key, some in texts.items() if _HANDED_DOWN & {*roles_of(key)} or sum(map(len, some)) > _LONG}
    asked, held = is_asked(value), list[str]()
    by_id = sum(map(is_asked, value.values())) > 1  # {"name": "Part 1", "1": {…}, "2": {…}}
    # {"question": "A case …", "answer": null, "children": [{…}, {…}]}; a title alone is the name of an exam.
    asking = any(_OF_ONE & {*roles_of(key)} for key, part in value.items() if not isinstance(part, bool))
    weak = () if asking else vocabulary()["weak"]["stem"]
    cases = [key for key in texts if "stem" in roles_of(key) and plain_header(key) not in weak]
    given = {key: value[key] for key in texts if key in long.difference(cases)}  # what belongs to each question below
    given |= {"context": "\n".join(text for key in cases for text in texts[key])} if cases else {}
    for key, part in value.items():
        if plain_header(key) in names and any(isinstance(item, dict | list) for item in _items(part)):
            held.append(key)
        elif not (asked or _OF_ONE & {*roles_of(key)}) and ((by_id and is_asked(part)) or _holds_question(part, depth)):
            held.append(key)  # {"判断题": [{…}, {…}]}, {"The text that the questions are about …": [{…}, {…}]}
    if held and TWICE in value:
        raise ValueError(value[TWICE])  # {"questions": […], "questions": […]}
    # Beside lists of questions: {"choice": [{…}], "judgment": [{"question": …, "answer": true}]}.
    beside = [key for key, part in value.items() if isinstance(part, list) and part and all(map(_is_question, part))]
    for key in dict.fromkeys([*held, *beside] if held and not asked else held):
        kind = {} if plain_header(key) in names else {"type" if len(key.encode()) <= 3 * _LONG else "context": key}
        kind = {"id": key} if is_asked(value[key]) else kind
        for row in questions(value[key], depth + 1):
            own = {f"{one}_above" if "stem" in roles_of(one) and one in row else one: given[one] for one in given}
            yield {**kind, **own, **row} if isinstance(row, dict) else row


def _texts_of(part: Any) -> list[str]:
    """Return the texts of a value: itself, those of a list, of an object all but its id and names of files."""
    if isinstance(part, dict):
        part = [one for key, one in part.items() if "id" not in roles_of(key)]
    texts = [one for one in (part if isinstance(part, list) else [part]) if isinstance(one, str)]
    return [one for one in texts if not _P.file.search(one)]


def _with_texts(rows: Sequence[Any], value: dict[str, Any]) -> Iterator[Any]:
    """Yield questions with the texts that they name by an id, which the object above them keeps."""
    # ``{"documents": {"d1": "A text …"}, "questions": [{"document": "d1", …}]}``, or a list of ``{"id": "d1", …}``.
    known = dict[str, dict[str, str]]()
    for name, part in value.items():
        items = part if isinstance(part, dict) else {}
        if isinstance(part, list) and all(isinstance(one, dict) and not is_asked(one) for one in part):
            items = {next((str(one[key]) for key in one if "id" in roles_of(key)), ""): one for one in part}
        texts = {key: "\n".join(_texts_of(one)) for key, one in items.items()}
        known[plain_header(name)] = {key: text for key, text in texts.items() if key and len(text) > _LONG}
    asked = [row for row in rows if is_asked(row)]
    names = [key for key in (asked[0] if asked else ()) if not roles_of(key) or "shared" in roles_of(key)]
    named = {
        key: texts
        for key in names
        for name, texts in known.items()
        # 1, 2, 3 may be levels: numbers count under a name like that of the texts, passage_id of passages
        if texts and (name[:4] == plain_header(key)[:4] or not any(map(str.isdecimal, texts)))
        if all(str(row.get(key)) in texts for row in asked if row.get(key) is not None) and key in asked[0]
    }
    for row in rows:
        if isinstance(row, dict) and not is_asked(row) and any(str(row.get("id")) in one for one in named.values()):
            continue  # the text itself
        # {"chapters": [{"id": "c1", "title": …, "subtitle": …}]} says where a question is from, and is no text.
        texts_of = {key: texts for key, texts in named.items() if "chapter" not in roles_of(key[:7])}
        found = {key: texts[str(row[key])] for key, texts in texts_of.items() if row.get(key) is not None}
        yield {**row, **({"context": "\n".join(found.values())} if found else {})} if isinstance(row, dict) else row


def _items(part: Any) -> Iterable[Any]:
    return part if isinstance(part, list) else part.values() if isinstance(part, dict) else ()


def is_asked(value: Any) -> bool:
    """Return whether an object is a question without doubt: two of stem, options and key (true is an option's)."""
    names = {*map(plain_header, value)} if isinstance(value, dict) else set[str]()
    of_option, of_text = _names_of_options()
    if not names or (names <= of_option and len(names & of_text) == 1):
        return False  # {"key": "A", "text": "甲"}
    has = {role for key, part in value.items() if not isinstance(part, bool) for role in roles_of(key)} & _OF_ONE
    has |= {"options"} if all(isinstance(value.get(at), str | int | float) for at in "12") else set()  # {"1": "甲"}
    below = [part for part in value.values() if isinstance(part, list) and part and all(map(is_asked, part))]
    if below and not any(part for key, part in value.items() if "options" in roles_of(key)):
        return False  # a case with its questions: {"question": "A case …", "children": [{…}, {…}]}
    return has == _OF_ONE or (bool(has) and _is_question(value))


@cache
def _names_of_options() -> tuple[frozenset[str], frozenset[str]]:
    """Return the names of an option's parts, and those of its text."""
    parts = vocabulary()["options"]["parts"]
    every, text = (map(plain_header, names) for names in (chain.from_iterable(parts.values()), parts["text"]))
    return frozenset(every), frozenset(text)


def _holds_question(part: Any, depth: int) -> bool:
    """Return whether a value under any name is a list of questions, or holds one: {"第一章": [{…}]}."""
    return depth < MAX_DEPTH and any(is_asked(item) or _holds_question(item, depth + 1) for item in _items(part))


def _columns(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Rows of a table that is kept by column: ``{"question": [q, q], "answer": [a, a]}``, or with ``{"0": q}``."""
    parts = {key: part for key, part in value.items() if isinstance(part, list | dict)}
    if len(parts) < len(value) or len({len(part) for part in parts.values()}) != 1:
        return []
    stems = [part for key, part in parts.items() if "stem" in roles_of(key)]
    names = {tuple(part) if isinstance(part, dict) else None for part in parts.values()}
    if all(any(isinstance(item, dict) for item in _items(part)) for part in stems) or len(names) > 1:
        return []
    lists = [list(part.values()) if isinstance(part, dict) else part for part in parts.values()]
    return [dict(zip(parts, row, strict=True)) for row in zip(*lists, strict=True)]


class JsonlReader:
    """JSON Lines: one object a line."""

    format = "jsonl"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is called so, or its first line is a JSON object."""
        if not looks_like_text(head):
            return False
        if suffix in (".jsonl", ".ndjson"):
            return True
        first, _, rest = head.lstrip(_BLANK).partition(b"\n")
        is_object = first.startswith(b"{") and first.rstrip().endswith(b"}") and b":" in first
        # Many are called .json; JSON of one object has no second.
        return is_object and suffix != ".md" and (suffix != ".json" or rest.lstrip().startswith(b"{"))

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """The objects; a line that is none becomes ``{"unparsed": line}``, for the parser to reject."""
        rows = list[dict[str, Any]]()
        for line in filter(None, map(str.strip, decode(path.read_bytes()).split("\n"))):
            value = None
            with suppress(ValueError, RecursionError):
                value = _load(line)
            rows.append(value if isinstance(value, dict) else {"unparsed": line})
        broken = [number for number, row in enumerate(rows, 1) if "unparsed" in row]
        if len(broken) > len(rows) / 2:
            why = rows[broken[0] - 1].get("why", "")
            detail = f"{len(broken)} of {len(rows)} lines are not JSON objects, first line {broken[0]}"
            raise UnreadableDocument("invalid_json", f"{detail}: {why}" if why else detail)
        yield from map(row_of, rows)


class CsvReader:
    """CMExam's CSV: Question, Options, Answer, Explanation and label columns; other headers and delimiters too."""

    format = "cmexam_csv"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is text and called CSV or TSV, or XLS as many websites name their exports."""
        # A .txt is taken where its first line is the header of a bank: ``题目,选项A,选项B,答案``.
        if suffix == ".txt" and looks_like_text(head):
            if _P.anki.match(head.decode("utf-8", errors="replace")):
                return True
            first = head.split(b"\n", 1)[0].decode("utf-8", errors="replace")
            cells = [roles_of(cell) for cell in re.split(r"[,\t;|]", first.lstrip("\ufeff")[:2000])]
            return {"stem", "answer"} <= {role for roles in cells for role in roles}
        return suffix in (".csv", ".tsv", ".xls") and looks_like_text(head)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:
        """Each record by column name; empty cells are null. A line whose quotes do not close is told and left out."""
        text = _with_header(decode(path.read_bytes()))
        # The module's limit belongs to the whole process: it is only ever raised, and the bound is kept here.
        csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))
        mark = delimiter(text)
        lines = [line for line in map(str.strip, text.split("\n")) if line]
        single = sum(line[0] == line[-1] == "'" and f"'{mark}" in line for line in lines)  # 'stem','甲','乙'
        quote = "'" if 2 * single > len(lines) else '"'
        spaced = text.count(f'{mark} "') > len(lines)  # 1, "甲", "乙"
        text = text.replace(f"{mark} {quote}", f"{mark}{quote}") if spaced else text
        records = csv.reader(_without_broken(text, mark, quote, told), delimiter=mark, quotechar=quote, strict=True)
        try:
            yield from tables(_bounded(records), frozenset(params.columns))
        except csv.Error as error:
            raise UnreadableDocument("broken_csv", f"line {records.line_num}: {error}") from error


def _with_header(text: str) -> str:
    """A text that Anki wrote with the header that the lines at its top describe; others as they are."""
    # ``#separator:tab``, ``#tags column:3``; without ``#columns:`` the other columns are the front and the back of
    # cards.
    if not (found := _P.anki.match(text)):
        return text
    said = dict(_P.anki_line.findall(found[0]))
    mark = {"tab": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "colon": ":"}.get(said["separator"].lower(), "\t")
    names = ["front", "back"]
    for at, name in sorted((int(one), name) for name, one in said.items() if name.endswith(" column")):
        names.insert(at - 1, name)
    return f"{said.get('columns') or mark.join(names)}\n{text[found.end() :]}"


def _without_broken(text: str, mark: str, quote: str, told: list[str]) -> list[str]:
    """Return the lines of a text, without a few that have a quote inside their quotes, which is told; not the last."""
    lines = io.StringIO(text, newline="").readlines()
    for _ in range(_BROKEN):
        records = csv.reader(lines, delimiter=mark, quotechar=quote, strict=True)
        try:
            deque(records, 0)
            break
        except csv.Error as error:
            at = records.line_num - 1
            if "expected after" not in str(error) or at + 1 == len(lines) or lines[at].count(quote) % 2:
                break
            told.append(f"line {at + 1} was left out: {error}")
            lines[at] = "\n"
    return lines


def _bounded(records: Iterable[list[str]]) -> Iterator[list[str]]:
    for record in records:
        if len(max(record, key=len, default="")) > MAX_CELL:
            raise csv.Error(f"a cell of more than {MAX_CELL} characters")
        yield [unguarded(cell) for cell in record]


def delimiter(text: str) -> str:
    """The delimiter of a CSV file: the one that stands most often in the line with most known headers."""
    lines = text[:20_000].split("\n")[:HEADER_WITHIN]
    cut = [re.split(r"[,\t;|]", line[:2000]) for line in lines]  # letters, as of a key, count least
    named = [(sum(map(bool, map(roles_of, cells))), sum(map(bool, map(option_of, cells)))) for cells in cut]
    return max(",\t;|", key=lines[named.index(max(named))].count)


class YamlReader:
    """YAML: what JSON may hold, in lines; every scalar is text, so that ``no`` and ``1.10`` stay what they are."""

    format = "yaml"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it is text and called so."""
        return suffix in (".yml", ".yaml") and looks_like_text(head)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """The questions in it, as of JSON; a file with aliases, which may unfold without end, is refused."""
        import yaml

        text = decode(path.read_bytes())
        with refused_as("broken", "no readable YAML", (yaml.YAMLError, RecursionError)):
            if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.CBaseLoader)):
                raise UnreadableDocument("broken", "the YAML has aliases (*name): write their content out")
            value = yaml.load(text, Loader=yaml.CBaseLoader)  # noqa: S506 -- it makes texts, lists and objects alone
        rows = [row for row in questions(value) if isinstance(row, dict)]
        if not any(map(is_asked, rows)):
            raise UnreadableDocument("unknown_format", "the YAML holds no list of questions")
        yield from map(row_of, rows)


class ParquetReader:
    """Parquet and Arrow, as dataset hubs keep them; structs and lists are objects and lists."""

    format = "parquet"

    def recognises(self, head: bytes, suffix: str) -> bool:
        """Return whether it begins with a mark of one of them."""
        return head.startswith((b"PAR1", b"ARROW1")) or (suffix == ".arrow" and head[:4] == b"\xff" * 4)

    def rows(self, path: Path, params: OcrParams, told: list[str]) -> Iterator[TableRow]:  # noqa: ARG002
        """The rows as objects."""
        with path.open("rb") as file:
            read = {b"PAR1": pl.read_parquet, b"ARRO": pl.read_ipc}.get(file.read(4), pl.read_ipc_stream)
        errors = (pl.exceptions.PolarsError, OSError, ValueError)
        with refused_as("broken", "no readable Parquet or Arrow file", errors):
            frame: pl.DataFrame = read(path)
        yield from map(row_of, frame.iter_rows(named=True))
