"""Ids of the questions of tables: kept where a file was renamed, and never shared by two rows."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl

from build_dataset.pipeline.parse.rows import Read, RowError, SourceTable
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.identity import row_id, sha256


def with_former_names(sources: Sequence[SourceTable], released: pl.DataFrame) -> list[SourceTable]:
    """The sources with the ids under which their questions were released, where a file was renamed since."""
    # Short ids of a source (1, 2, 3) count within the file's name, or that of a released file that had half of them.
    contents = dict(released.select("question_id", "content_hash").iter_rows())
    gone = sorted({*released["document"].to_list()} - {source.document.document for source in sources})
    former = ((source.document.document, _former_ids(source, gone, contents)) for source in sources)
    names = {(document, row): name for document, ids in former for row, name in ids.items()}
    return [replace(source, rows=[_named(read, names) for read in source.rows]) for source in sources]


def _former_ids(source: SourceTable, gone: Sequence[str], contents: Mapping[str, str]) -> dict[int, str]:
    questions = {row.row: result[0] for row, result in source.rows if not isinstance(result, RowError)}
    given = {row: name for row, name in source.own_ids.items() if row in questions}
    for former in (source.document.document, *gone):
        ids = {row: row_id(former + source.part, name, "") for row, name in given.items()}
        known = [(row, name) for row, name in ids.items() if name in contents]
        hits = [contents[name] == questions[row].content_hash for row, name in known]
        if hits and (former == source.document.document or 2 * sum(hits) >= len(hits)):
            return ids
    return {}


def with_ids(sources: Sequence[SourceTable]) -> list[SourceTable]:
    """The sources with ids that no two questions share."""
    # Of rows that say the same all but the first, by content and not by place, get a number behind their id.
    read = (read for source in sources for read in source.rows)
    alike = group_values((result[0].question_id, row) for row, result in read if not isinstance(result, RowError))
    names: dict[tuple[str, int], str] = {}
    for name, rows in alike.items():
        ordered = sorted(rows, key=lambda row: (sha256(row.fields), row.document, row.row)) if len(rows) > 1 else []
        names |= {(row.document, row.row): f"{name}-{at}" for at, row in enumerate(ordered[1:], 2)}
    return [replace(source, rows=[_named(read, names) for read in source.rows]) for source in sources]


def _named(read: Read, names: Mapping[tuple[str, int], str]) -> Read:
    row, result = read
    name = names.get((row.document, row.row))
    if isinstance(result, RowError) or name in (None, result[0].question_id):
        return read
    return row, (result[0].model_copy(update={"question_id": name}), result[1])
