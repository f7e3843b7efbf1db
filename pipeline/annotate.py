"""The annotate stage: labels in five dimensions for every question, from the annotator that is configured."""

from collections.abc import Iterable, Sequence
from typing import Any

import polars as pl

from build_dataset.annotation import annotator as annotators
from build_dataset.annotation.adjudication import MIN_REVIEWED, Reviewed, from_reviews, merge_reviewed
from build_dataset.annotation.lexicon_annotator import LexiconAnnotator
from build_dataset.annotation.llm.messages import AnswerStore, other_models
from build_dataset.annotation.params import AnnotateParams
from build_dataset.pipeline.inspect.bank import read_labelled
from build_dataset.pipeline.rendering.markup import request_notes
from build_dataset.pipeline.review.lineage import trace
from build_dataset.pipeline.stage import Context, Counts, Result, Tables
from build_dataset.schemas.annotations import Annotation, AnnotationRequest, ExpertReview
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Question, ReviewItem

_BLOCK = 2_000  # questions that the lexicon reads at a time: it takes a third of a second


def run(tables: Tables, params: AnnotateParams, context: Context) -> Result:
    """Label every question in ``questions``.

    Difficulty comes from people's answers where the source has them, and is otherwise the annotator's estimate.
    Questions whose request failed wait, with the class of the failure, and are asked again on the next run.
    """
    asked = tables["questions"]
    annotator = choose(params, context.store, reviewed_questions(Question.from_frame(asked), tables, params))
    outcomes: list[annotators.Labelling] = []
    if isinstance(annotator, LexiconAnnotator):
        parts = [Annotation.to_frame([])]
        with context.progress(asked.height, "questions") as advance:
            for part in asked.iter_slices(_BLOCK):  # block by block: that bounds memory
                block = list(Question.from_frame(part))
                parts.append(_annotations(block, annotator.annotate(block, advance), annotator.identity))
        annotations = pl.concat(parts)
    else:
        questions = list(Question.from_frame(asked))
        with context.progress(annotator.units(questions), "requests") as advance:
            by_question = {outcome.question_id: outcome for outcome in annotator.annotate(questions, advance)}
        outcomes = [by_question[question.question_id] for question in questions]
        annotations = _annotations(questions, outcomes, annotator.identity)
    by = annotator.identity  # complete only now
    waiting = [outcome for outcome in outcomes if isinstance(outcome, annotators.Unlabelled)]
    requests = AnnotationRequest.to_frame(request for outcome in outcomes for request in outcome.requests)
    bill, failures = _bill(by, requests, params.llm.currency), [(outcome.reason, outcome.detail) for outcome in waiting]
    return Result(
        tables={"annotations": annotations, "requests": requests},
        counts=Counts(n_input=asked.height, kept=asked.height - len(waiting), waiting=len(waiting)),
        review=[
            ReviewItem(item_id=outcome.question_id, stage="annotate", reason=outcome.reason, detail=outcome.detail)
            for outcome in waiting
        ],
        facts={
            "annotator": by.name,
            "difficulty_from_human_accuracy": int((annotations["annotator"] == annotators.MEASURED).sum()),
            **by.facts,
            **bill,
        },
        complete=not waiting,
        notes=[*by.notes, *request_notes(failures, bill, params.llm, stage="annotate", lack="got no labels")],
    )


def _annotations(
    questions: Sequence[Question], outcomes: Iterable[annotators.Labelling], by: annotators.Identity
) -> pl.DataFrame:
    """Return the rows of the questions that were labelled."""
    rows: list[Annotation] = []
    for question, labels in zip(questions, outcomes, strict=True):
        if isinstance(labels, annotators.Labelled):
            rows += labels.annotations(by, annotators.measured_difficulty(question))
    return Annotation.to_frame(rows)


def reviewed_questions(questions: Iterable[Question], tables: Tables, params: AnnotateParams) -> list[Reviewed]:
    """Return questions that experts labelled, here and in the file that is named; none if unused."""
    if not params.learns():
        return []
    reviewed = from_reviews(questions, ExpertReview.from_frame(trace(tables).pulled)) if "pulled" in tables else []
    return merge_reviewed(reviewed, read_labelled(params.reviewed) if params.reviewed else [])


def _bill(identity: annotators.Identity, requests: pl.DataFrame, currency: str) -> dict[str, Any]:
    """Return what was asked and paid, the same however many runs it took; a sum is None where a part is unknown."""
    if identity.model is None:
        return {}
    paid = requests.select("prompt_tokens", "completion_tokens", "cost")
    others = other_models(identity.model, requests["answered_by"])
    renamed = {"unusable": "unusable_calls", "unseen": "unseen_calls", "unseen_cost": "unseen_cost_at_most"}
    sums = requests.select("unusable", "unusable_cost", "unseen", "unseen_cost").sum().rename(renamed)
    wasted = {name: round(value, 6) for name, value in sums.row(0, named=True).items()}
    return {
        "model": identity.model,
        "prompt_hash": identity.prompt_hash,
        "requests": requests.height,
        **{column.name: None if column.has_nulls() else round(column.sum(), 6) for column in paid},
        "currency": currency,
        **{name: value for name, value in wasted.items() if value},
        **({"other_models": others} if others else {}),
    }


def choose(params: AnnotateParams, store: AnswerStore, reviewed: Sequence[Reviewed] = ()) -> annotators.Annotator:
    """Return the annotator that the options and the reviewed questions select."""
    chosen = params.chosen(len(reviewed))
    if chosen == "llm":
        # openai takes half a second to import
        from build_dataset.annotation.llm_annotator import LlmAnnotator, choose_shots

        return LlmAnnotator(params.llm, store, choose_shots(reviewed, params.llm.shots), batch=params.batch)
    if chosen == "learned":
        if len(reviewed) < MIN_REVIEWED:
            raise UserError(
                f"{len(reviewed)} questions are reviewed, learned needs {MIN_REVIEWED}: "
                "run `build-dataset review pull`, name a file in [annotate] reviewed, or set annotator = 'lexicon'"
            )
        from build_dataset.annotation.learned_annotator import LearnedAnnotator

        return LearnedAnnotator(reviewed)
    return LexiconAnnotator()


def estimate(tables: Tables, params: AnnotateParams, context: Context) -> list[str]:
    """Return what a run would cost."""
    from build_dataset.annotation.llm_annotator import estimate as estimate_questions

    questions = list(Question.from_frame(tables["questions"]))
    return [estimate_questions(questions, params, context.store, reviewed_questions(questions, tables, params))]


def problems(params: AnnotateParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """Return the obstacles to annotating, each with its remedy."""
    obstacles = []
    if params.chosen() == "llm" and (missing := params.llm.missing()) is not None:
        obstacles.append(f"annotate: {missing} ([annotate.llm]), or set annotator = 'lexicon'")
    if params.reviewed is not None and params.learns() and not params.reviewed.is_file():
        obstacles.append(f"annotate: no file {params.reviewed}: correct [annotate] reviewed")
    return obstacles
