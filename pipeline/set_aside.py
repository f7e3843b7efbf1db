"""Items that were rejected, merged or wait for a person: rows for the terminal and workbooks; counts by source file.

The end of a run, ``status`` and the report show the same counts.
"""

import io
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime
from functools import lru_cache, partial
from itertools import accumulate, islice
from pathlib import Path
from typing import Any, Self

import polars as pl

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.runtime.publish import find_table
from build_dataset.schemas.questions import Rejection, ReviewItem
from build_dataset.schemas.wording import in_both_languages, reason_names

TABLES = {"rejected": "rejects", "waiting": "review", "merged": "merges", "twins": "clusters"}  # table of each outcome
OUTCOMES = ("kept", "merged", "rejected", "waiting")
LOSING = ("parse", "clean", "proofread", "dedup", "split", "export")
"""Stages whose rejects and review keep questions out of the release; what waits later is only unsettled."""
_HEADS = {"编号 ID": 20, "文件 file": 28, "阶段 stage": 11, "原因 reason": 28, "说明 detail": 60, "内容 text": 90}
"""Heads of the columns of a workbook, with their widths in characters."""
_CELL = 32_767  # characters that a cell of a workbook holds; Excel's own limit
_ROWS = 100_000  # rows of a workbook: more take seconds to write, and nobody reads them there

_loaded: Callable[[str], Any] = lru_cache(1)(json.loads)  # the questions of one doubt come one after the other
Read = Callable[[str], pl.DataFrame | None]  # a table by `stage/name`; None where it was not made


class Documents:
    """The documents of a build by what ids of items begin with; those of question banks by their questions."""

    def __init__(self, documents: pl.DataFrame | None, questions: pl.DataFrame | None = None) -> None:
        """Take the tables ``ocr/documents`` and ``clean/questions``; None where they were not made."""
        rows = _rows(documents, "document", "sha256", "rows")
        self.rows = {name: count for name, _, count in rows}
        """Rows of tabular documents."""
        self._prefixes = {sha[:8]: name for name, sha, _ in rows}
        self._questions = dict(_rows(questions, "question_id", "document"))

    @classmethod
    def of_build(cls, home: Path) -> Self:
        """Return those of a home folder."""
        return cls(find_table(home, "ocr/documents"), find_table(home, "clean/questions", ["question_id", "document"]))

    def of(self, item: str) -> str | None:
        """Return the document of an id: the document's own, ``bank.csv#12`` or ``3f9a1c2e-1-017``."""
        heads = accumulate(item.split("#"), "{}#{}".format)  # bank.xlsx#Sheet1#repeated_text
        near = self._prefixes.get(item[:8]) or self._questions.get(item)
        return next((name for name in heads if name in self.rows), near)


@dataclass(frozen=True)
class AsideRow:
    """An item that was not kept."""

    item_id: str
    document: str
    stage: str
    reason: str
    detail: str
    text: str


def aside_rows(items: Iterable[Rejection | ReviewItem], documents: Documents) -> Iterator[AsideRow]:
    """Yield the rows of a stage's rejects or review, one for each copy of a question with different answers."""
    for item in items:
        names = item.question_ids if isinstance(item, ReviewItem) else []
        copies = json.loads(item.item or "[]") if item.item_id in names[:1] and len(names) > 1 else []
        for name, content in zip(names, copies, strict=True) if copies else [(item.item_id, content_of(item.item))]:
            document = content.get("document") or (name if item.stage == "ocr" else documents.of(name)) or ""
            yield AsideRow(name, document, item.stage, item.reason, item.detail, _text(content))


def items(build: Path, outcome: str, file: str | None = None, reason: str | None = None) -> list[AsideRow]:
    """Return what was ``rejected``, ``waiting`` or ``merged``, by stage, or ``twins``, by family.

    ``file`` is a part of the document's name, ``reason`` a code or its Chinese name (no_answer, 没有答案).
    """
    made = {"merged": _merged, "twins": _twins}.get(outcome)
    rows = made(build) if made else _set_aside(build, TABLES[outcome])
    wanted = (file or "").casefold()
    names = reason_names()
    asked = (row for row in rows if wanted in row.document.casefold())
    return [row for row in asked if reason in (None, row.reason, names.get(row.reason))]


def _set_aside(build: Path, table: str) -> Iterator[AsideRow]:
    record: type[Rejection] | type[ReviewItem] = Rejection if table == "rejects" else ReviewItem
    documents, settled = Documents.of_build(build), settled_questions(partial(find_table, build))
    for stage in STAGES:
        if (frame := find_table(build, f"{stage.name}/{table}")) is not None:
            rows = aside_rows(record.from_frame(frame), documents)
            yield from (row for row in rows if stage.name != "parse" or row.item_id not in settled)


def _merged(build: Path) -> Iterator[AsideRow]:
    merges = find_table(build, "dedup/merges")
    questions = find_table(build, "clean/questions", ["question_id", "document", "stem"])
    if merges is None or questions is None:
        return
    for row in merges.join(questions, on="question_id", how="left", maintain_order="left").iter_rows(named=True):
        detail, document = f"into {row['survivor_id']}: {row['reason']}", row["document"] or ""
        yield AsideRow(row["question_id"], document, "dedup", row["kind"], detail, row["stem"] or "")


def _twins(build: Path) -> Iterator[AsideRow]:
    """Yield families of twins, each question with its text, key and split."""
    from build_dataset.pipeline.split.units import twins_of

    clusters, questions = (find_table(build, f"dedup/{name}") for name in ("clusters", "questions"))
    if clusters is None or questions is None:
        return
    splits = dict(_rows(find_table(build, "split/assignments"), "question_id", "split"))
    twins = twins_of(clusters).filter(pl.len().over("cluster_id") > 1).join(questions, on="question_id")
    for row in twins.sort("cluster_id", "question_id").iter_rows(named=True):
        key, split = "".join(row["answer"] or ()) or "–", splits.get(row["question_id"], "–")
        text = f"{_text(row)}\n答案 key {key} · {split}"
        yield AsideRow(row["question_id"], row["document"], "dedup", row["kind"], row["cluster_id"], text)


def _text(content: dict[str, Any]) -> str:
    """Return a question as text, an option a line; another thing as JSON."""
    if "reviewer" in content:
        return "专家已作答，见说明 experts answered, see detail"
    if not {"stem", "content_hash"} <= content.keys():
        return json.dumps(content, ensure_ascii=False) if content else ""
    options = (f"{option['label']}. {option['text']}" for option in content.get("options") or ())
    return "\n".join([*filter(None, (content.get("shared_stem"), content["stem"])), *options])


def aside_workbook(rows: Iterable[AsideRow]) -> bytes:
    """Return a workbook for people, reasons in both languages: no text is a formula, equal rows give equal bytes."""
    import xlsxwriter

    target = io.BytesIO()
    book = xlsxwriter.Workbook(target, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False})
    book.set_properties({"created": datetime(1980, 1, 1, tzinfo=UTC)})
    sheet = book.add_worksheet("aside")
    shown = ((*astuple(row)[:3], in_both_languages(row.reason), row.detail, row.text) for row in islice(rows, _ROWS))
    for at, line in enumerate([tuple(_HEADS), *shown]):
        for column, text in enumerate(line):
            sheet.write_string(at, column, text[:_CELL])
    for column, width in enumerate(_HEADS.values()):
        sheet.set_column(column, column, width)
    sheet.freeze_panes(1, 0)
    book.close()
    return target.getvalue()


@dataclass
class SourceLoss:
    """A source file and what became of its questions."""

    document: str
    refused: str = ""  # reason for which it could not be read at all; such a file has no questions to count
    detail: str = ""
    """The same in a sentence, with what to do where that depends on the file: ``a RAR archive; unpack it``."""
    kept: int = 0
    merged: int = 0  # questions of which another copy was kept
    rejected: int = 0
    waiting: int = 0
    merged_into: Counter[str] = field(default_factory=Counter)  # Questions by the document of the copy that was kept.
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def n_input(self) -> int:
        """Questions of the file."""
        return self.kept + self.merged + self.lost

    @property
    def lost(self) -> int:
        """Questions that were rejected or wait."""
        return self.rejected + self.waiting

    @property
    def share(self) -> float:
        """Share of its questions that were rejected or wait; all of a file that could not be read."""
        return self.lost / self.n_input if self.n_input else float(bool(self.refused))

    def mainly(self) -> str:
        """Return the reason of most losses, in both languages, and its count."""
        if self.refused:
            return f"{in_both_languages(self.refused)}: not read"
        return "".join(f"{in_both_languages(name)} {count:,}" for name, count in self.reasons.most_common(1))


@dataclass(frozen=True)
class DoubtedSource:
    """A source with a doubt about the whole of it, which one line of ``dataset.toml`` settles."""

    reason: str
    questions: int
    detail: str


def source_doubts(read: Read) -> list[DoubtedSource]:
    """Return the doubts about whole sources, that of most questions first."""
    rows = _rows(read("parse/review"), "item_id", "question_ids", "reason", "detail")
    doubts = [DoubtedSource(why, len(ids), detail) for name, ids, why, detail in rows if name.endswith(f"#{why}")]
    return sorted(doubts, key=lambda doubt: (-doubt.questions, doubt.detail))


def source_losses(read: Read) -> list[SourceLoss]:
    """Every source that was read or refused, those that lost most first."""
    losses: dict[str, SourceLoss] = {}
    for outcome in item_outcomes(read):
        loss = losses.setdefault(outcome.document, SourceLoss(outcome.document))
        if outcome.name == "refused":
            loss.refused, loss.detail = outcome.reason, outcome.detail
            continue
        setattr(loss, outcome.name, getattr(loss, outcome.name) + outcome.size)
        if outcome.name == "merged":
            loss.merged_into[outcome.into or outcome.document] += outcome.size
        if outcome.reason:
            loss.reasons[outcome.reason] += outcome.size
    return sorted(losses.values(), key=lambda loss: (-loss.share, -loss.n_input, loss.document))


def settled_questions(read: Read) -> set[str]:
    """Return the ids of questions that the parser let wait and people settled since: the cleaner has had them."""
    had = [*_rows(read("clean/questions"), "question_id"), *_rows(read("clean/rejects"), "item_id")]
    return {name for (name,) in had} - {name for (name,) in _rows(read("parse/questions"), "question_id")}


@dataclass(frozen=True)
class ItemOutcome:
    """The outcome of an item of a source."""

    document: str
    name: str
    reason: str = ""
    size: int = 1  # questions; more than one for a table that was stopped as a whole
    detail: str = ""
    into: str | None = None  # document of the copy that a merged question stands for


def item_outcomes(read: Read) -> Collection[ItemOutcome]:
    """Return the outcomes of all items of all sources: questions, rows, numbers that are missing, documents."""
    documents, outcomes = Documents(read("ocr/documents")), dict[str, ItemOutcome]()

    def document_of(item: str) -> str | None:
        return outcomes[item].document if item in outcomes else documents.of(item)

    for name, reason, detail in _rows(read("ocr/rejects"), "item_id", "reason", "detail"):
        outcomes[name] = ItemOutcome(name, "refused", reason, 0, detail)
    for name, document in _rows(read("parse/questions"), "question_id", "document"):
        outcomes[name] = ItemOutcome(document, "kept")
    for name, outcome, reason, item, survivor in _verdicts(read):
        if (document := document_of(name) or content_of(item).get("document")) is not None:
            size, into = documents.rows.get(name) or 1, document_of(survivor)
            outcomes[name] = ItemOutcome(document, outcome, reason, size, into=into)
    return outcomes.values()


def _verdicts(read: Read) -> Iterator[tuple[str, str, str, str | None, str]]:
    """Yield id, outcome, reason, item and survivor of what stages set aside, later ones last."""
    for stage in LOSING:
        for name, reason, item in _rows(read(f"{stage}/rejects"), "item_id", "reason", "item"):
            yield name, "rejected", reason, item, ""
        for item_id, questions, *why in _rows(read(f"{stage}/review"), "item_id", "question_ids", "reason", "item"):
            yield from ((name, "waiting", *why, "") for name in questions or [item_id])
        for name in settled_questions(read) if stage == "parse" else ():
            yield name, "kept", "", None, ""
    for name, survivor in _rows(read("dedup/merges"), "question_id", "survivor_id"):
        yield name, "merged", "", None, survivor


def _rows(frame: pl.DataFrame | None, *columns: str) -> list[tuple[Any, ...]]:
    return [] if frame is None else frame.select(columns).rows()


def content_of(item: str | None) -> dict[str, Any]:
    """Return what a row holds of the item itself: a question, the first of several, or nothing."""
    value = _loaded(item) if item else None
    first = value[0] if isinstance(value, list) and value else value
    return first if isinstance(first, dict) else {}
