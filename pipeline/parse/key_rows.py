"""Tables of keys: the answers of one file by the ids of another's questions, ``{"id": 2, "answer": 1}``."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import PurePosixPath
from typing import Any

from build_dataset.pipeline.parse.pairing import name_stem
from build_dataset.schemas.columns import names_id, roles_of
from build_dataset.schemas.documents import SourceRow

_OF_KEY = {"answer", "explanation"}


def with_keys(tables: Mapping[str, Sequence[SourceRow]]) -> tuple[dict[str, Sequence[SourceRow]], dict[str, str]]:
    """Return the rows of documents with the keys that lie beside them, and the document of each key that was used."""
    # A key has ids, each once, and answers, and no stems; its paper lies in its folder, has those ids and no answers.
    single = [name for name, rows in tables.items() if len({row.sheet for row in rows}) == 1]
    named = {name: _roles(_fields(tables[name][0])) for name in single}
    pairs: list[tuple[str, str, dict[str, Any]]] = []
    for key, paper in permutations(single, 2):
        beside = PurePosixPath(key).parent == PurePosixPath(paper).parent
        given, has = named[key], named[paper]
        fits = beside and {"id", "answer"} <= {*given} and not {"stem", "options"} & {*given}
        if fits and {"id", "stem"} <= {*has} and "answer" not in has:
            answers = {str(row.get(given["id"])): row for row in map(_fields, tables[key])}
            ids = [str(row.get(has["id"])) for row in map(_fields, tables[paper])]
            once = len(answers) == len(tables[key]) and len({*ids}) == len(ids)
            if once and {*answers} <= {*ids} and 2 * len(answers) >= len(ids):
                pairs.append((key, paper, answers))
    read, used = dict(tables), dict[str, str]()
    for key, paper, answers in pairs:
        among = [(one, other) for one, other, _ in pairs if key == one or paper == other]
        alike = [pair for pair in among if len({*map(name_stem, pair)}) == 1]  # bank.json, bank_answers.json
        if (alike or among) == [(key, paper)]:  # else nobody knows whose it is
            read[paper] = [*_joined(tables[paper], named[paper]["id"], answers)]
            used[key] = paper
            del read[key]
    return read, used


def _roles(fields: Mapping[str, Any]) -> dict[str, str]:
    numbers = [("id", name) for name in fields if names_id(name)]
    return dict([*numbers, *((role, name) for name in fields for role in roles_of(name))])


def _fields(row: SourceRow) -> dict[str, Any]:
    value = json.loads(row.fields)
    return value if isinstance(value, dict) else {}


def _joined(rows: Sequence[SourceRow], name: str, answers: Mapping[str, dict[str, Any]]) -> Iterator[SourceRow]:
    for row in rows:
        own = _fields(row)
        told = {one: part for one, part in answers.get(str(own.get(name)), {}).items() if _OF_KEY & {*roles_of(one)}}
        yield row.model_copy(update={"fields": json.dumps({**told, **own}, ensure_ascii=False)})
