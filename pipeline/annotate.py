"""The annotate stage: labels in five dimensions for every question, from the annotator that is configured."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from annotation.annotator import MEASURED, Annotator, Identity, Labelled, Unlabelled, measured_difficulty
from annotation.lexicon_annotator import LexiconAnnotator
from annotation.llm.messages import AnswerStore
from annotation.params import AnnotateParams
from annotation.reviewed import LEAST, Reviewed, from_reviews, merge_reviewed
from pipeline.inspect.bank import read_labelled
from pipeline.rendering.markdown import notes
from pipeline.stage import Context, Counts, Result, Tables
from schemas.annotations import Annotation, AnnotationRequest, ExpertReview
from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.questions import Question, ReviewItem
from schemas.taxonomy import DIFFICULTY, dimensions
from schemas.wording import tally_failures


def run(tables: Tables, params: AnnotateParams, context: Context) -> Result:
    """Label every question in ``questions``.

    Difficulty comes from people's answers where the source has them, and is otherwise the annotator's estimate.
    Questions whose request failed wait, with the class of the failure, and are asked again on the next run.
    """
    questions = list(Question.from_frame(tables["questions"]))
    annotator = choose(params, context.store, reviewed_questions(questions, tables, params))
    with context.progress(annotator.units(questions), "requests") as advance:
        outcomes = {found.question_id: found for found in annotator.annotate(questions, advance)}
    pairs = [(question, outcomes[question.question_id]) for question in questions]
    labelled = [(question, found) for question, found in pairs if isinstance(found, Labelled)]
    waiting = [found for _, found in pairs if isinstance(found, Unlabelled)]
    annotations = [row for question, found in labelled for row in _rows(question, found, annotator.identity)]
    requests = [request for _, found in pairs for request in found.requests]
    return Result(
        tables={
            "annotations": Annotation.to_frame(annotations),
            "requests": AnnotationRequest.to_frame(requests),
        },
        counts=Counts(n_input=len(questions), kept=len(labelled), waiting=len(waiting)),
        review=[_review(found) for found in waiting],
        facts=_facts(annotator.identity, requests, annotations, params),
        complete=not waiting,
        notes=[
            *annotator.identity.notes,
            *notes(
                "annotation",
                waiting=len(waiting),
                reasons=tally_failures((found.reason, found.detail) for found in waiting),
                capped=any(found.reason == "spending_cap" for found in waiting),
                waste=_waste(requests),
                priced=params.llm.price_in,
                currency=params.llm.currency,
            ),
        ],
    )


def reviewed_questions(
    questions: Sequence[Question], tables: Tables, params: AnnotateParams
) -> list[Reviewed]:
    """Return questions that experts labelled, here and in the file that is named; none if unused."""
    if not params.learns():
        return []
    here = from_reviews(questions, ExpertReview.from_frame(tables["pulled"])) if "pulled" in tables else []
    return merge_reviewed(here, read_labelled(params.reviewed) if params.reviewed else [])


def _rows(question: Question, found: Labelled, identity: Identity) -> Iterator[Annotation]:
    """A question's annotations, in the taxonomy's order of dimensions."""
    measured = measured_difficulty(question)
    for name in dimensions():
        if name == DIFFICULTY and measured is not None:
            yield measured.annotation(question.question_id, name, Identity(MEASURED))
        elif name in found.verdicts:
            yield found.verdicts[name].annotation(question.question_id, name, identity)


def _review(found: Unlabelled) -> ReviewItem:
    return ReviewItem(
        item_id=found.question_id,
        question_ids=[found.question_id],
        stage="annotate",
        reason=found.reason,
        detail=found.detail,
    )


def _facts(
    identity: Identity,
    requests: Sequence[AnnotationRequest],
    annotations: Sequence[Annotation],
    params: AnnotateParams,
) -> dict[str, Any]:
    """Return facts for the manifest: the same for the same answers and bills, however many runs it took to get them."""
    measured = sum(row.annotator == MEASURED for row in annotations)
    facts: dict[str, Any] = {"annotator": identity.name, "difficulty_from_human_accuracy": measured}
    facts |= identity.facts
    if identity.model is None:
        return facts
    return facts | {
        "model": identity.model,
        "prompt_hash": identity.prompt_hash,
        "requests": len(requests),
        "prompt_tokens": _total([request.prompt_tokens for request in requests]),
        "completion_tokens": _total([request.completion_tokens for request in requests]),
        "cost": _total([request.cost for request in requests]),
        "currency": params.llm.currency,
        **_waste(requests),
    }


def _waste(requests: Sequence[AnnotationRequest]) -> dict[str, Any]:
    """Return the calls that were billed for nothing, or may have been; empty where there are none."""
    sums: dict[str, float] = {
        "unusable_calls": sum(request.unusable for request in requests),
        "unusable_cost": round(sum(request.unusable_cost for request in requests), 6),
        "unseen_calls": sum(request.unseen for request in requests),
        "unseen_cost_at_most": round(sum(request.unseen_cost for request in requests), 6),
    }
    return {name: value for name, value in sums.items() if value}


def _total(values: Sequence[float | None]) -> float | None:
    """The sum; None where one is unknown."""
    known = [value for value in values if value is not None]
    return round(sum(known), 6) if len(known) == len(values) else None


def choose(params: AnnotateParams, store: AnswerStore, reviewed: Sequence[Reviewed] = ()) -> Annotator:
    """Return the annotator that the options and the reviewed questions select."""
    chosen = params.chosen(len(reviewed))
    if chosen == "llm":
        from annotation.llm_annotator import (
            LlmAnnotator,  # openai takes half a second to import
            choose_shots,
        )

        return LlmAnnotator(params.llm, store, choose_shots(reviewed, params.llm.shots), batch=params.batch)
    if chosen in ("learned", "embeddings"):
        if len(reviewed) < LEAST:
            raise UserError(
                f"{len(reviewed)} questions are reviewed, {chosen} needs {LEAST}: run `build-dataset review pull`, "
                "name a file in [annotate] reviewed, or set annotator = 'lexicon'"
            )
        from annotation.learned_annotator import LearnedAnnotator

        if chosen == "learned":
            return LearnedAnnotator(reviewed)
        from annotation.llm.embeddings import embed

        option = "annotate.embeddings.base_url"
        vectors = partial(embed, endpoint=params.embeddings, store=store, option=option)
        return LearnedAnnotator(reviewed, vectors, f"embeddings:{params.embeddings.model}")
    return LexiconAnnotator()


def problems(params: AnnotateParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """Return the obstacles to annotating, each with its remedy."""
    found = []
    if params.chosen() == "llm" and (missing := params.llm.missing()) is not None:
        found.append(f"annotate: {missing} ([annotate.llm]), or set annotator = 'lexicon'")
    if params.chosen() == "embeddings" and (missing := params.embeddings.missing()) is not None:
        found.append(f"annotate: {missing} ([annotate.embeddings]), or set annotator = 'learned'")
    if params.reviewed is not None and params.learns() and not params.reviewed.is_file():
        found.append(f"annotate: no file {params.reviewed}: correct [annotate] reviewed")
    return found
