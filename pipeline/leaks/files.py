"""Texts of public benchmarks, record by record: no file is held in memory as a whole."""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, TextIO

from build_dataset.schemas.columns import OPTIONS, SHARED, STEM
from build_dataset.schemas.errors import UserError

_BLOCK = 1 << 20  # characters read at a time
_LONGEST = 1 << 26  # most characters of a record; a file with longer ones is no list of questions
_PLAIN_LINES = 200  # lines of plain text that are one record
_SPACE = re.compile(r"[\s,]*")
_FIRST = {name: rank for rank, names in enumerate((SHARED, STEM, OPTIONS)) for name in names}


@dataclass(frozen=True)
class BenchmarkText:
    """The text of a record."""

    line: int  # where it begins, from 1; of Parquet files, its row
    text: str  # its texts, one below the other; the question and its options first
    lines: bool = False  # whether its lines are lines of the file


def read_texts(path: Path) -> Iterator[BenchmarkText]:
    """Yield the texts of a file of a benchmark; a ``UserError`` where it is not what its name says."""
    try:
        yield from READERS[path.suffix.lower()](path)
    except (OSError, ValueError, RecursionError, csv.Error) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UserError(
            f"the benchmark {path} cannot be read ({reason}): put it right or take it out of the folder"
        ) from None


def _strings(value: Any) -> Iterator[str]:
    """All texts in a JSON value; of an object, the question and its options before everything else."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _strings([part for _, part in sorted(value.items(), key=_rank)])
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _strings(part)


def _rank(item: tuple[Any, Any]) -> int:
    """Order the parts of a record by their names: the question first, then its options."""
    return _FIRST.get(str(item[0]).strip().casefold(), len(_FIRST))


def _open(path: Path) -> TextIO:
    """UTF-8, or GB 18030 where the beginning is no UTF-8."""
    with path.open("rb") as stream:
        head = stream.read(_BLOCK)
    encoding = "utf-8-sig"  # with or without a byte order mark
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):  # Excel's Unicode text
        encoding = "utf-16"
    else:
        try:
            head[: head.rfind(b"\n") + 1 or None].decode("utf-8")  # whole lines
        except UnicodeDecodeError as error:
            if error.start < len(head) - 4:  # not only a character that the block cuts
                encoding = "gb18030"
    return path.open(encoding=encoding, errors="replace", newline="")


def _jsonl(path: Path) -> Iterator[BenchmarkText]:
    with _open(path) as stream:
        lines = iter(lambda: stream.readline(_LONGEST + 1), "")
        for number, line in enumerate(lines, start=1):
            if len(line) > _LONGEST:
                raise ValueError(f"line {number} is longer than {_LONGEST:,} characters")
            if line.strip():
                yield BenchmarkText(number, "\n".join(_strings(json.loads(line))))


def _json(path: Path) -> Iterator[BenchmarkText]:
    """The items of a list, one by one, or those of the lists in an object."""
    with _open(path) as stream:
        head = stream.read(_BLOCK)
        start = _SPACE.match(head)
        if start and head.startswith("[", start.end()):
            yield from _items(stream, head, start.end() + 1)
            return
        value = json.loads(head + stream.read(_LONGEST))
        for item in value.values() if isinstance(value, Mapping) else [value]:
            for part in item if isinstance(item, list) else [item]:
                yield BenchmarkText(1, "\n".join(_strings(part)))


def _items(stream: TextIO, buffer: str, position: int) -> Iterator[BenchmarkText]:
    """The items of a list that begins before ``position``."""
    decoder, line, counted = json.JSONDecoder(), 1, 0
    while True:
        gap = _SPACE.match(buffer, position)
        position = gap.end() if gap else position
        line += buffer.count("\n", counted, position)
        counted = position
        if buffer.startswith("]", position):  # what follows the list is no record
            return
        try:
            value, position = decoder.raw_decode(buffer, position)
        except ValueError:
            more = stream.read(_BLOCK)
            if not more or len(buffer) - position > _LONGEST:
                raise
            buffer, position, counted = buffer[position:] + more, 0, 0  # read records are forgotten
        else:
            yield BenchmarkText(line, "\n".join(_strings(value)))


def _csv(path: Path) -> Iterator[BenchmarkText]:
    csv.field_size_limit(_LONGEST)
    with _open(path) as stream:
        first = stream.readline()
        stream.seek(0)
        delimiter = max(",\t;|", key=first.count)  # the commonest one in the header
        reader = csv.reader(stream, delimiter=delimiter)
        header = [name.lstrip("\ufeff") for name in next(reader, [])]
        line = reader.line_num
        for row in reader:
            cells = sorted(zip_longest(header[: len(row)], row, fillvalue=""), key=_rank)
            yield BenchmarkText(line + 1, "\n".join(text for _, text in cells))
            line = reader.line_num


def _parquet(path: Path) -> Iterator[BenchmarkText]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        batches = file.iter_batches(batch_size=2_000)
        for row, value in enumerate((value for batch in batches for value in batch.to_pylist()), start=1):
            yield BenchmarkText(row, "\n".join(_strings(value)))


def _plain(path: Path) -> Iterator[BenchmarkText]:
    with _open(path) as stream:
        lines: list[str] = []
        start = number = 0
        while line := stream.readline(_BLOCK):
            lines.append(line.rstrip("\r\n"))
            number += 1
            if len(lines) == _PLAIN_LINES:
                yield BenchmarkText(start + 1, "\n".join(lines), lines=True)
                keep = _PLAIN_LINES // 10  # what the border cuts is whole in the next record
                lines, start = lines[-keep:], number - keep
        if lines:
            yield BenchmarkText(start + 1, "\n".join(lines), lines=True)


READERS: dict[str, Callable[[Path], Iterator[BenchmarkText]]] = {
    ".jsonl": _jsonl,
    ".ndjson": _jsonl,
    ".json": _json,
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".txt": _plain,
    ".md": _plain,
}
