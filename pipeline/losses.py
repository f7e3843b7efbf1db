"""What became of every source file: kept, merged into which other, rejected, waiting. Pure.

The end of a command, ``status`` and the report tell of the same numbers.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import polars as pl

from pipeline.runtime.publish import read_table

STAGES = ("parse", "clean", "dedup", "split", "export")
"""Stages whose rejects and review keep questions out of the release; what waits later is only unsettled."""
TABLES = ("ocr/documents", "parse/questions", "dedup/merges")
"""What else is read, beside rejects and review of these stages and of ``ocr``."""

Read = Callable[[str], pl.DataFrame | None]
"""A table by ``stage/name``; None where it was not made."""

REMEDIES: Mapping[str, str] = {
    "unknown_columns": 'name the column: [sources."FILE"] stem = "…" in dataset.toml',
    "no_stem": 'name the column: [sources."FILE"] stem = "…" in dataset.toml',
    "no_options": 'name the columns: [sources."FILE"] options = "…" (or a list of columns) in dataset.toml',
    "columns_unclear": "write which column is meant under [sources] in dataset.toml",
    "answers_unclear": 'write answer_as = "index_from_0" or "index_from_1" under [sources] in dataset.toml',
    "answer_not_read": 'look at it with build-dataset inspect FILE; [sources."FILE"] answer_as says how it is given',
    "no_answer": "put the key beside the paper (NAME_answers.pdf), or name its column under [sources] in dataset.toml",
    "too_few_options": "build-dataset inspect FILE shows what was read as options",
    "options_not_contiguous": "an option is missing in the source: complete it there",
    "needs_figure": "questions with figures are left out; [clean] keep_figures = true keeps them",
    "unknown_format": "save it as PDF, DOCX, XLSX, CSV, JSON or text",
}
"""What to do about the commonest reasons; ``FILE`` is the source."""


@dataclass
class SourceLoss:
    """A source file and what became of its questions."""

    document: str
    into: int = 0
    kept: int = 0
    rejected: int = 0
    waiting: int = 0
    merged_into: Counter[str] = field(default_factory=Counter)
    """Questions by the document of the copy that was kept."""
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def merged(self) -> int:
        """Questions of which another copy was kept."""
        return self.merged_into.total()

    @property
    def share(self) -> float:
        """Rejected or waiting, of all."""
        return (self.rejected + self.waiting) / self.into if self.into else 0.0

    def alarm(self) -> str:
        """One line: how many are missing, why most of them, what to do."""
        (reason, count), *_ = self.reasons.most_common(1)
        remedy = REMEDIES.get(reason, "build-dataset inspect FILE shows them").replace("FILE", self.document)
        missing = f"{self.rejected + self.waiting:,} of {self.into:,} ({self.share:.0%})"
        return f"{self.document}: {missing} rejected or waiting, {count:,} as {reason}: {remedy}"


def from_build(build: Path) -> Read:
    """Tables of a build folder."""

    def read(reference: str) -> pl.DataFrame | None:
        path = build / f"{reference}.parquet"
        return read_table(path) if path.exists() else None

    return read


def losses(read: Read) -> list[SourceLoss]:
    """Every source that was read or refused, those that lost most first."""
    fates = _Fates(read)
    found: dict[str, SourceLoss] = {}
    for item, (document, outcome, reason, size) in fates.items.items():
        loss = found.setdefault(document, SourceLoss(document))
        loss.into += size
        if outcome == "merged":
            loss.merged_into[fates.document_of(fates.survivors[item]) or document] += size
        elif outcome == "kept":
            loss.kept += size
        else:
            setattr(loss, outcome, getattr(loss, outcome) + size)
            loss.reasons[reason] += size
    return sorted(found.values(), key=lambda loss: (-loss.share, -loss.into, loss.document))


def alarms(found: list[SourceLoss], threshold: float) -> list[str]:
    """A line for every source that lost more than its share."""
    return [loss.alarm() for loss in found if loss.share > threshold]


def overlaps(read: Read) -> Counter[tuple[str, str]]:
    """Questions that two sources share: by pairs of documents in their order, one question once."""
    fates = _Fates(read)
    groups: dict[str, set[str]] = defaultdict(set)
    for item, survivor in fates.survivors.items():
        groups[survivor] |= {name for one in (item, survivor) if (name := fates.document_of(one))}
    return Counter(pair for names in groups.values() for pair in combinations(sorted(names), 2))


class _Fates:
    """Where every item of every source ended: (document, outcome, reason, questions)."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self.items: dict[str, tuple[str, str, str, int]] = {}
        documents = read("ocr/documents")
        rows = documents.select("document", "sha256", "rows").rows() if documents is not None else []
        self._rows = {name: count for name, _, count in rows}
        self._prefixes = {sha[:8]: name for name, sha, _ in rows}
        merges = read("dedup/merges")
        self.survivors: dict[str, str] = (
            {} if merges is None else dict(merges.select("question_id", "survivor_id").iter_rows())
        )
        for name, reason, _ in self._aside("ocr", "rejects"):
            self.items[name] = (name, "rejected", reason, 1)
        questions = read("parse/questions")
        if questions is not None:
            for name, document in questions.select("question_id", "document").iter_rows():
                self.items[name] = (document, "kept", "", 1)
        for stage in STAGES:
            for outcome, table in (("rejected", "rejects"), ("waiting", "review")):
                for name, reason, item in self._aside(stage, table):
                    self._set(name, outcome, reason, item)
        for name in self.survivors:
            self._set(name, "merged", "", None)

    def _aside(self, stage: str, table: str) -> Iterator[tuple[str, str, str | None]]:
        frame = self._read(f"{stage}/{table}")
        if frame is None:
            return
        for row in frame.iter_rows(named=True):
            for name in row.get("question_ids") or [row["item_id"]]:
                yield name, row["reason"], row["item"]

    def _set(self, name: str, outcome: str, reason: str, item: str | None) -> None:
        document = self.document_of(name) or _said(item)
        if document is not None:
            whole = self._rows.get(name) or 1  # a table that was stopped as a whole
            self.items[name] = (document, outcome, reason, whole)

    def document_of(self, item: str) -> str | None:
        """The document of an item: a question, a row, a number that is missing, or the document itself."""
        if item in self.items:
            return self.items[item][0]
        head = item.rpartition("#")[0]
        return next((name for name in (item, head) if name in self._rows), None) or self._prefixes.get(
            item[:8]
        )


def _said(item: str | None) -> str | None:
    """The document that a question in a row of review names."""
    value = json.loads(item) if item else None
    return value.get("document") if isinstance(value, dict) else None
