"""Texts of public benchmarks, record by record."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import polars as pl

from build_dataset.pipeline.ocr.readers.encoding import decode
from build_dataset.schemas.columns import OPTIONS, SHARED, STEM
from build_dataset.schemas.errors import UnreadableDocument, UserError

_LONGEST_CELL = 1 << 26  # characters of a cell of a CSV file
_BETWEEN = re.compile(r"[\s,]*")  # items of a JSON list
_FIRST = {name: rank for rank, names in enumerate((SHARED, STEM, OPTIONS)) for name in names}


@dataclass(frozen=True)
class BenchmarkText:
    """The text of a record."""

    line: int  # where it begins, from 1; of Parquet files, its row
    text: str  # its texts, one below the other; the question and its options first


def read_texts(path: Path) -> Iterator[BenchmarkText]:
    """Yield the texts of a file of a benchmark; a ``UserError`` where it is not what its name says."""
    try:
        yield from READERS[path.suffix.lower()](path)
    except (OSError, ValueError, RecursionError, csv.Error, pl.exceptions.PolarsError, UnreadableDocument) as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        told = f"the benchmark {path} cannot be read ({reason}): put it right or take it out of the folder"
        raise UserError(told) from None


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


def _jsonl(path: Path) -> Iterator[BenchmarkText]:
    for number, line in enumerate(decode(path.read_bytes()).split("\n"), start=1):
        if line.strip():
            yield BenchmarkText(number, "\n".join(_strings(json.loads(line))))


def _json(path: Path) -> Iterator[BenchmarkText]:
    """The items of a list, or those of the lists in an object."""
    content = decode(path.read_bytes())
    if content.lstrip().startswith("["):
        yield from _items(content, content.index("[") + 1)
        return
    value = json.loads(content)
    for item in value.values() if isinstance(value, Mapping) else [value]:
        for part in item if isinstance(item, list) else [item]:
            yield BenchmarkText(1, "\n".join(_strings(part)))


def _items(content: str, position: int) -> Iterator[BenchmarkText]:
    """The items of a list that begins before ``position``, with their lines; what follows it is no record."""
    decoder, line, counted = json.JSONDecoder(), 1, 0
    while not content.startswith("]", position := _BETWEEN.match(content, position).end()):  # type: ignore[union-attr]
        line += content.count("\n", counted, position)
        counted = position
        value, position = decoder.raw_decode(content, position)
        yield BenchmarkText(line, "\n".join(_strings(value)))


def _csv(path: Path) -> Iterator[BenchmarkText]:
    csv.field_size_limit(_LONGEST_CELL)
    content = decode(path.read_bytes())
    delimiter = max(",\t;|", key=content.partition("\n")[0].count)  # the commonest one in the header
    reader = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter)
    header = next(reader, [])
    line = reader.line_num
    for row in reader:
        cells = sorted(zip_longest(header[: len(row)], row, fillvalue=""), key=_rank)
        yield BenchmarkText(line + 1, "\n".join(text for _, text in cells))
        line = reader.line_num


def _parquet(path: Path) -> Iterator[BenchmarkText]:
    for row, value in enumerate(pl.read_parquet(path, glob=False).iter_rows(named=True), start=1):
        yield BenchmarkText(row, "\n".join(_strings(value)))


READERS = {".jsonl": _jsonl, ".ndjson": _jsonl, ".json": _json, ".csv": _csv, ".tsv": _csv, ".parquet": _parquet}
