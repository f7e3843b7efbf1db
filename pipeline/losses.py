"""Outcomes of every source file: questions kept, merged into another file, rejected, waiting. Pure.

The end of a command, ``status`` and the report tell of the same numbers.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

import polars as pl

from pipeline.runtime.publish import read_table
from schemas.reasons import reason_names, remedy
from schemas.wording import Notice

STAGES = ("parse", "clean", "dedup", "split", "export")
"""Stages whose rejects and review keep questions out of the release; what waits later is only unsettled."""
TABLES = ("ocr/documents", "parse/questions", "dedup/merges")
"""Further tables that are read, beside rejects and review of these stages and of ``ocr``."""

Read = Callable[[str], pl.DataFrame | None]
"""A table by ``stage/name``; None where it was not made."""


@dataclass
class SourceLoss:
    """A source file and what became of its questions."""

    document: str
    refused: str = ""
    """Reason for which it could not be read at all; such a file has no questions to count."""
    n_input: int = 0
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
    def lost(self) -> int:
        """Questions that were rejected or wait."""
        return self.rejected + self.waiting

    @property
    def share(self) -> float:
        """Share of its questions that were rejected or wait; all of a file that could not be read."""
        return self.lost / self.n_input if self.n_input else float(bool(self.refused))

    def alarm(self) -> Notice:
        """Say how many are missing, why most of them, and what to do."""
        names = reason_names()
        if self.refused:
            english, chinese = remedy(self.refused, self.document)
            return Notice(
                f"{self.document}: not read at all, {self.refused}: {english}",
                f"{self.document}：完全没有读出，{names.get(self.refused, self.refused)}：{chinese}",
            )
        (reason, count), *_ = self.reasons.most_common(1)
        english, chinese = remedy(reason, self.document)
        missing = f"{self.lost:,} of {self.n_input:,} ({self.share:.0%})"
        return Notice(
            f"{self.document}: {missing} rejected or waiting, {count:,} as {reason}: {english}",
            f"{self.document}：{self.n_input:,} 题中有 {self.lost:,} 题（{self.share:.0%}）被剔除或待处理，"
            f"其中 {count:,} 题因{names.get(reason, reason)}：{chinese}",
            self.lost,
        )


def from_build(build: Path) -> Read:
    """Tables of a build folder."""

    def read(reference: str) -> pl.DataFrame | None:
        path = build / f"{reference}.parquet"
        return read_table(path) if path.exists() else None

    return read


def losses(read: Read) -> list[SourceLoss]:
    """Every source that was read or refused, those that lost most first."""
    outcomes = _Outcomes(read)
    found: dict[str, SourceLoss] = {}
    for item, (document, outcome, reason, size) in outcomes.items.items():
        loss = found.setdefault(document, SourceLoss(document))
        if outcome == "refused":
            loss.refused = reason
            continue
        loss.n_input += size
        if outcome == "merged":
            loss.merged_into[outcomes.document_of(outcomes.survivors[item]) or document] += size
        elif outcome == "kept":
            loss.kept += size
        else:
            setattr(loss, outcome, getattr(loss, outcome) + size)
            loss.reasons[reason] += size
    return sorted(found.values(), key=lambda loss: (-loss.share, -loss.n_input, loss.document))


def alarms(found: list[SourceLoss], threshold: float) -> list[Notice]:
    """Return a notice for every source that lost more than ``threshold``, the largest loss first."""
    alarming = [loss for loss in found if loss.share > threshold]
    return [loss.alarm() for loss in sorted(alarming, key=lambda loss: -loss.lost)]


def overlaps(read: Read) -> Counter[tuple[str, str]]:
    """Questions that two sources share: by pairs of documents in their order, one question once."""
    outcomes = _Outcomes(read)
    groups: dict[str, set[str]] = defaultdict(set)
    for item, survivor in outcomes.survivors.items():
        groups[survivor] |= {name for one in (item, survivor) if (name := outcomes.document_of(one))}
    return Counter(pair for names in groups.values() for pair in combinations(sorted(names), 2))


class _Outcomes:
    """Outcome of every item of every source: (document, outcome, reason, questions)."""

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
            self.items[name] = (name, "refused", reason, 0)
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
