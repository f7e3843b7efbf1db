"""The story of one question: its source, what each stage did to it, its labels, its split."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import polars as pl

from build_dataset.pipeline.catalogue import STAGES
from build_dataset.pipeline.runtime.publish import built, find_rows, find_table
from build_dataset.pipeline.set_aside import TABLES
from build_dataset.schemas import documents, errors, questions

Row = dict[str, Any]  # of a table


@dataclass(frozen=True)
class StageEvent:
    """The outcome of a stage for an item."""

    stage: str
    outcome: str  # `kept`, `corrected`, `merged`, `rejected`, `waiting`, `settled` (waited until people decided)
    reason: str | None = None
    detail: str | None = None


@dataclass
class QuestionHistory:
    """Everything the build folder knows of a question."""

    question_id: str
    question: Row | None = None  # the newest form of it, or how it was set aside; None when it was never a question
    events: list[StageEvent] = field(default_factory=list)
    relatives: list[Row] = field(default_factory=list)  # other questions of its duplicate cluster
    annotations: list[Row] = field(default_factory=list)
    labels: list[Row] = field(default_factory=list)
    split: str | None = None
    predictions: list[Row] = field(default_factory=list)


def explain(build: Path, wanted: str) -> QuestionHistory:
    """Collect the story of the question with this id, or of the only one whose id begins with it; or ``UserError``."""
    story = QuestionHistory(_resolve(build, wanted))
    mine = pl.col("question_id") == story.question_id
    for stage in (stage.name for stage in STAGES):
        for row in find_rows(build, f"{stage}/questions", mine):
            story.question = row  # the newest form of it
            story.events.append(StageEvent(stage, "kept"))
        for row in find_rows(build, f"{stage}/corrections", mine):
            detail = f"{row['before']} → {row['after']} by {row['by']} ({row['origin']})"
            story.events.append(StageEvent(stage, "corrected", row["field"], detail))
        for _, event, item in set_aside(build, stage, lambda name: name == story.question_id):
            story.events.append(event)
            content = json.loads(item) if item else None
            rows = content if isinstance(content, list) else [content]
            own = (row for row in rows if isinstance(row, dict) and row.get("question_id") == story.question_id)
            story.question = story.question or next((row for row in own if "content_hash" in row), None)
    for cluster in find_rows(build, "dedup/clusters", mine):
        theirs = ~mine & (pl.col("cluster_id") == cluster["cluster_id"])
        story.relatives += find_rows(build, "dedup/clusters", theirs)
    story.annotations = find_rows(build, "annotate/annotations", mine)
    story.labels = find_rows(build, "review/labels", mine)
    assigned = find_rows(build, "split/assignments", mine)
    story.split = assigned[0]["split"] if assigned else None
    story.predictions = find_rows(build, "evaluate/predictions", mine)
    return story


def question_place(build: Path, story: QuestionHistory) -> tuple[str, list[questions.Region]]:
    """Return the document and boxes of a question by its record or its lines; a ``UserError`` where none is known."""
    row = story.question or {}
    if row.get("regions"):
        return str(row["document"]), [questions.Region.model_validate(region) for region in row["regions"]]
    mine = (pl.col("item_id") == story.question_id) & (pl.col("item_id") != pl.col("document"))
    for trace in documents.Trace.from_frame(built(build, "parse/traces").filter(mine)):
        lines = built(build, "ocr/lines").filter(pl.col("document") == trace.document)
        boxes = {(row["page"], row["order"]): row["box"] for row in lines.to_dicts()}
        seen = ((place[0], boxes.get(place)) for place in line_places(trace.spans))
        return trace.document, [questions.Region.model_validate({"page": at, "box": box}) for at, box in seen if box]
    where = f"{row['document']} has no layout" if row else "it was never found on a page"
    raise errors.UserError(f"no box is known of {story.question_id}: {where}")


def line_places(spans: Iterable[documents.Span]) -> Iterator[tuple[int, int]]:
    """The lines of ``spans``, each by its page and ``Line.order``."""
    return ((span.page, order) for span in spans for order in range(span.first, span.last + 1))


def set_aside(
    build: Path, stage: str, wanted: Callable[[pl.Expr], pl.Expr]
) -> Iterator[tuple[str, StageEvent, str | None]]:
    """Yield what a stage rejected, left waiting or merged, of ids that are ``wanted``: id, event and item as JSON."""
    name = pl.col("name")
    for outcome in ("rejected", "waiting"):
        if (frame := find_table(build, f"{stage}/{TABLES[outcome]}")) is None:
            continue
        ids = pl.concat_list(*(column for column in ("item_id", "question_ids") if column in frame.columns))
        # All questions of a row of review wait, such as the copies of one with contradicting keys.
        named = frame.with_columns(name=ids.list.unique(maintain_order=True)).explode("name")
        whole = pl.col("item").is_null() & ~pl.col("item_id").is_first_distinct()  # numbers 5–29 were not found: once
        for row in named.filter(wanted(name)).filter(~whole).iter_rows(named=True):
            yield row["name"], StageEvent(stage, outcome, row["reason"], row["detail"]), row["item"]
    for row in find_rows(build, f"{stage}/merges", wanted(pl.col("question_id"))):
        detail = f"into {row['survivor_id']} ({row['kind']}, score {row['score']:.3f})"
        yield row["question_id"], StageEvent(stage, "merged", row["reason"], detail), None


def _resolve(build: Path, wanted: str) -> str:
    columns = {"questions": "question_id", "rejects": "item_id", "review": "item_id"}
    names = [(f"{stage.name}/{table}", column) for stage in STAGES for table, column in columns.items()]
    tables = (find_table(build, name, [column]) for name, column in names)
    known: set[str] = {item for table in tables if table is not None for item in table.to_series()}
    if not known:
        raise errors.UserError(f"nothing parsed in {build}: run `build-dataset run` first")
    if wanted in known:
        return wanted
    where = "ids stand in build/parse/questions.parquet"
    if not wanted.strip():
        raise errors.UserError(f"name a question: its id or the start of it; {where}")
    starting = sorted(name for name in known if name.startswith(wanted))
    if len(starting) == 1:
        return starting[0]
    if starting:
        raise errors.UserError(f"{wanted} could be {len(starting)} questions: {', '.join(starting[:5])} …")
    near = get_close_matches(wanted, known, n=3)
    hint = f"did you mean {', '.join(near)}?" if near else where
    raise errors.UserError(f"no question {wanted} in {build}; {hint}")
