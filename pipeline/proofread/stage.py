"""The proofread stage: questions that a second reader doubts wait for a person; all others go on as they are."""

from collections import Counter

import polars as pl

from build_dataset.annotation.label_studio.editable import VERDICT
from build_dataset.annotation.llm.messages import Failed
from build_dataset.pipeline.clean.corrections import question_fields
from build_dataset.pipeline.proofread.params import ProofreadParams
from build_dataset.pipeline.proofread.reader import Proofreader
from build_dataset.pipeline.rendering.markdown import request_notes
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.questions import DoubtedPlace, Question, ReviewItem

_UNREAD = "not_proofread"  # reason of questions about which no answer came; they are asked again
_LEAST = 4  # characters of a place that people can find


def run(tables: Tables, params: ProofreadParams, context: Context) -> Result:
    """Ask about every question, but for those that a person has read and kept."""
    questions = list(Question.from_frame(tables["questions"]))
    asked = to_read(tables)
    reader = Proofreader(params, context)
    reader.read(asked)
    doubted, waiting = list[DoubtedPlace](), list[ReviewItem]()
    failures, dropped = list[tuple[str, str]](), 0
    for question in asked:
        outcome = reader.doubts(question)
        if isinstance(outcome, Failed):
            failures.append((outcome.reason, outcome.detail))
            waiting.append(_item(question, _UNREAD, f"{outcome.reason}: {outcome.detail}"))
            continue
        dropped += outcome[1]
        if doubts := [doubt for doubt in outcome[0] if doubt.kind not in params.ignore]:
            doubted += doubts
            # The first doubt's reason, and all doubts as evidence: stem: '乙状结场' → 乙状结肠; proofread_…: …
            (reason, first), *more = [(f"proofread_{doubt.kind}", _evidence(question, doubt)) for doubt in doubts]
            detail = "; ".join([first, *(f"{code}: {evidence}" for code, evidence in more)])
            waiting.append(_item(question, reason, detail))
    kept = tables["questions"].filter(~pl.col("question_id").is_in([item.item_id for item in waiting]))
    bill = reader.bill()
    return Result(
        tables={"questions": kept, "doubts": DoubtedPlace.to_frame(doubted)},
        counts=Counts(len(questions), kept.height, waiting=len(waiting)),
        review=waiting,
        complete=not failures,
        facts={
            **bill,
            "kept_by_people": len(questions) - len(asked),
            "doubts": dict(sorted(Counter(doubt.kind for doubt in doubted).items())),
            "quotes_not_found": dropped,
        },
        notes=request_notes(failures, bill, params, stage="proofread", lack="not proofread"),
    )


def to_read(tables: Tables) -> list[Question]:
    """Return the questions to ask about: what a person verified needs no second reader."""
    decided = pl.col("field").eq(VERDICT) & pl.col("after").eq("keep")
    verified = tables["corrections"].filter(decided)["question_id"].implode()
    return list(Question.from_frame(tables["questions"].filter(~pl.col("question_id").is_in(verified))))


def estimate(tables: Tables, params: ProofreadParams, context: Context) -> list[str]:
    """Return what a run would cost."""
    return [Proofreader(params, context).estimate(to_read(tables))]


def problems(params: ProofreadParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """Return what the model lacks; nothing while the stage is off."""
    missing = None if params.off() else params.missing()
    return [f"[proofread] {missing}"] if missing else []


def _item(question: Question, reason: str, detail: str) -> ReviewItem:
    item = question.model_dump_json(exclude_none=True)
    return ReviewItem(item_id=question.question_id, stage="proofread", reason=reason, detail=detail, item=item)


def _evidence(question: Question, doubt: DoubtedPlace) -> str:
    offered = f" {doubt.quote} → {doubt.proposal}" if doubt.proposal else ""
    text, place = question_fields(question)[doubt.field] or "", doubt.quote
    if len(place) < _LEAST:  # with what stands around it, or nobody finds it
        begin = text.find(place)
        place = text[max(0, begin - _LEAST) : begin + len(place) + _LEAST]
    shown = place.replace("\n", "\\n")
    return f"{doubt.field}: '{shown}'{offered}"
