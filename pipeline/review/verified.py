"""Verdicts from Label Studio: counted by reason, and given to all questions of a kind where a person said so."""

import json
from dataclasses import replace
from datetime import datetime

import polars as pl

from build_dataset.annotation.label_studio import editable, projects, screen
from build_dataset.annotation.label_studio.read import DROP, PulledRows
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review import folder, sheets
from build_dataset.pipeline.review.decisions import DecidedRow, kind_of
from build_dataset.pipeline.review.settled import CORRECT, KEEP, remember
from build_dataset.pipeline.review.waiting import waiting_rows
from build_dataset.pipeline.stage import Context
from build_dataset.schemas.annotations import Correction


def take_up(params: ReviewParams, context: Context) -> int:
    """Remember what verifiers decided of questions that still wait; return how many others were decided alike.

    Only keep and drop are given to others: those of the same file that wait for the same reasons and that nobody has
    decided. They are kept beside the decisions of workbooks, for they are no annotations of the server.
    """
    pulled = folder.read_pulled(context.build, projects.VERIFICATION)
    verdicts = list(Correction.from_frame(pulled.corrections.filter(pl.col("field") == editable.VERDICT)))
    if not verdicts:
        return 0
    known = {each.question.question_id: each for each in waiting_rows(context.build)[0]}
    texts = pulled.corrections.filter(pl.col("field") != editable.VERDICT)
    corrected, for_all = {*texts["annotation_id"]}, _for_all(pulled.annotations)
    workbooks = folder.read_pulled(context.build, folder.SHEETS)
    decided = {*workbooks.corrections["question_id"], *(each.question_id for each in verdicts)}
    settled, alike = [], {}
    for verdict in verdicts:
        own = known.get(verdict.question_id)
        if own is None or own.question.content_hash != verdict.content_hash:
            continue
        kind = CORRECT if verdict.annotation_id in corrected else str(verdict.after)
        settled += DecidedRow.of(own, kind).settled(verdict.by, verdict.updated_at)
        if verdict.annotation_id in for_all and kind in (KEEP, DROP):
            alike[kind_of(own)] = verdict
    rows = PulledRows()
    for name, own in known.items():
        if name not in decided and (like := alike.get(kind_of(own))) is not None:
            row = DecidedRow.of(own, str(like.after), f"同 as {like.question_id}")
            rows.extend(row.read(like.by, datetime.fromisoformat(like.updated_at)))
            settled += row.settled(like.by, like.updated_at)
    remember(context.build, settled)
    if rows.corrections:
        more = sheets.with_rows(workbooks, rows)
        folder.write_pulled(context.build, folder.SHEETS, replace(more, project="workbooks"))
        folder.combine(context.build, params)
    return len(rows.corrections)


def _for_all(annotations: pl.DataFrame) -> set[int]:
    """Return the annotations that hold for all of their kind."""
    found = annotations.select("annotation_id", "answer").drop_nulls().iter_rows()
    said = ((name, json.loads(answer)["result"]) for name, answer in found)
    return {name for name, result in said if any(item.get("from_name") == screen.SCOPE for item in result)}
