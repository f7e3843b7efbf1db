"""A build of a few questions, said as tables, and a page as a reader takes it in."""

import json
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

import polars as pl
import pytest

from build_dataset.pipeline import catalogue
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.schemas.documents import StageManifest
from build_dataset.schemas.questions import Cluster, Merge, Question, Rejection, ReviewItem
from build_dataset.schemas.release import ReleaseRow
from build_dataset.schemas.taxonomy import dimensions

STAGES = tuple(stage.name for stage in catalogue.STAGES if stage.name != "report" and stage.params().off() is None)
UNITS = {"ocr": "files", "parse": "items", "evaluate": "prompts"}


def manifest(
    name: str, kept: int, *, merged: int = 0, rejected: dict | None = None, waiting: dict | None = None, **more: Any
) -> dict[str, Any]:
    rejected, waiting = rejected or {}, waiting or {}
    parts = {"kept": kept, "merged": merged, "rejected": sum(rejected.values()), "waiting": sum(waiting.values())}
    return {
        "stage": name,
        "complete": True,
        "counts": {"unit": UNITS.get(name, "questions"), "in": sum(parts.values()), **parts},
        "reasons": {"rejected": rejected, "waiting": waiting},
        "facts": {},
        "params": {},
        "inputs": {},
        "versions": {"python": "3.11"},
        "outputs": {},
        **more,
    }


def manifests(*ran: dict[str, Any]) -> pl.DataFrame:
    said = {item["stage"]: json.dumps(item) for item in ran}
    return StageManifest.to_frame(
        StageManifest(stage=name, title=f"does {name}", manifest=said.get(name)) for name in STAGES
    )


def question(question_id: str, stem: str, **more: Any) -> dict[str, Any]:
    options = [{"label": label, "text": f"选项{label}"} for label in "ABCDE"]
    given = {"document": "a.pdf", "question_type": "A1", "answer": ["A"], "content_hash": question_id}
    return {"question_id": question_id, "stem": stem, "options": options, "number": 1, **given, **more}


def questions(*rows: dict[str, Any]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=Question.polars_schema())


def rejection(item_id: str, reason: str, stem: str) -> Rejection:
    item = json.dumps(question(item_id, stem), ensure_ascii=False)
    return Rejection(item_id=item_id, stage="clean", reason=reason, detail=f"because of {stem}", item=item)


def deduplicated(one: dict[str, Any], other: dict[str, Any], kind: str = "same_question") -> dict[str, pl.DataFrame]:
    merge = Merge(
        question_id=other["question_id"], survivor_id=one["question_id"], kind=kind, score=0.9, reason="reworded"
    )
    cluster = Cluster(question_id=one["question_id"], cluster_id="c", kind="survivor")
    return {
        "clean/questions": questions(one, other),
        "dedup/merges": Merge.to_frame([merge]),
        "dedup/clusters": Cluster.to_frame([cluster]),
    }


def conflicting(one: dict[str, Any], other: dict[str, Any]) -> pl.DataFrame:
    copies = json.dumps([one, other], ensure_ascii=False)
    ids = [one["question_id"], other["question_id"]]
    item = ReviewItem(
        item_id=ids[0], question_ids=ids, stage="dedup", reason="conflicting_answers", detail="A or B", item=copies
    )
    return ReviewItem.to_frame([item])


class Reader(HTMLParser):
    """The page's text, its sections and what its ``data-`` attributes count."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.marked: list[str] = []
        self.counted: dict[str, int] = {}
        self.text = ""
        self._stage = ""
        self._await: str | None = None
        self._in_mark = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append((tag, found))
        if tag == "section":
            self.sections.append(found["id"] or "")
        self._in_mark = tag == "mark"
        self._stage = found.get("data-stage") or self._stage
        if "data-count" in found:
            self._await = f"{self._stage}/{found['data-count']}"
        elif "data-split" in found:
            self._await = f"split/{found['data-split']}"
        elif "data-reason" in found:
            self._reason = f"{self._stage}/{found['data-reason']}"
        elif tag == "b" and getattr(self, "_reason", None):
            self._await, self._reason = self._reason, ""

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_mark:
            self.marked.append(data)
        if self._await:
            self.counted[self._await] = int(data.replace(",", ""))
            self._await = None

    def handle_endtag(self, tag: str) -> None:
        self._in_mark = False


def read(page: bytes) -> Reader:
    reader = Reader()
    reader.feed(page.decode())
    return reader


@pytest.fixture
def report(context) -> Callable[..., Any]:
    """Runs the stage on tables; ``.page`` of what it gives is read by ``read``."""
    from build_dataset.pipeline.report.stage import run

    def call(tables: dict[str, pl.DataFrame], **params: Any) -> Any:
        result = run(tables, ReportParams(**params), context)
        assert result.counts.balanced()
        result.page = read(result.files["index.html"])
        return result

    return call


def released(question_id: str, stem: str = "题干", **more: Any) -> dict[str, Any]:
    row = question(question_id, stem)
    del row["content_hash"]
    labels = {f"{name}_status": "unreviewed" for name in dimensions()}
    return {**row, **labels, **more}


def splits(**rows: list[dict[str, Any]]) -> dict[str, pl.DataFrame]:
    return {
        name: pl.DataFrame(rows.get(name, []), schema=ReleaseRow.polars_schema())
        for name in ("train", "validation", "test")
    }
