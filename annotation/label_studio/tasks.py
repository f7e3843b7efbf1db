"""Questions as Label Studio's tasks. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.adjudication import MEASURED
from annotation.label_studio.screen import TEXT
from schemas.annotations import Annotation
from schemas.identity import sha256
from schemas.questions import Question
from schemas.taxonomy import dimensions

QUESTION_ID = "question_id"
"""The key in a task's data that says which question it is: Label Studio uses its own ids again after deletion."""
DIGEST = "digest"
"""The key in a task's data that says what was sent."""


@dataclass(frozen=True)
class Task:
    """A question as a task."""

    question_id: str
    data: Mapping[str, str]
    """What the screen shows, the question's id, and the digest of everything."""
    prediction: Mapping[str, Any] | None
    """Prefilled labels; None when there are none."""

    def payload(self) -> dict[str, Any]:
        """As it is imported."""
        return {"data": dict(self.data), "predictions": [dict(self.prediction)] if self.prediction else []}


def tasks_of(questions: Iterable[Question], annotations: Iterable[Annotation]) -> list[Task]:
    """The tasks of questions, in their order, prefilled with what annotators said."""
    stated: dict[str, dict[str, Annotation]] = {}
    everything = list(annotations)
    for annotation in everything:
        row = stated.setdefault(annotation.question_id, {})
        if annotation.dimension not in row or annotation.annotator == MEASURED:
            row[annotation.dimension] = annotation
    version = model_version(everything)
    return [_task(question, stated.get(question.question_id, {}), version) for question in questions]


def model_version(annotations: Iterable[Annotation]) -> str:
    """Who predicted, for people: ``lexicon + human_accuracy``.

    One name for all tasks, because only predictions of the version that the project names are prefilled.
    """
    names = sorted(
        {annotation.annotator for annotation in annotations}, key=lambda name: (name == MEASURED, name)
    )
    return " + ".join(names)[:256] or "none"


def show(question: Question) -> dict[str, str]:
    """What the screen shows of a question, as plain text."""
    options = [f"{option.label}. {option.text}" for option in question.options]
    stem = "\n".join(part for part in (question.shared_stem, question.stem) if part)
    return {
        "meta": " · ".join(_meta(question)),
        "question": stem,
        "options": "\n".join(options) or "（无选项 no options）",
        "answer": f"答案 Answer：{_answer(question)}",
        "explanation": question.explanation or "（无解析 no explanation）",
    }


def _task(question: Question, stated: Mapping[str, Annotation], version: str) -> Task:
    prediction = _prediction(stated, version)
    shown = {QUESTION_ID: question.question_id, **show(question)}
    digest = sha256(json.dumps([shown, prediction], ensure_ascii=False, sort_keys=True))[:16]
    return Task(question.question_id, {**shown, DIGEST: digest}, prediction)


def _prediction(stated: Mapping[str, Annotation], version: str) -> dict[str, Any] | None:
    chosen = [stated[name] for name in dimensions() if name in stated]
    if not chosen:
        return None
    confidences = [annotation.confidence for annotation in chosen if annotation.confidence is not None]
    return {
        "model_version": version,
        "score": min(confidences) if confidences else None,
        "result": [choice(annotation.dimension, [annotation.label]) for annotation in chosen],
    }


def choice(control: str, labels: Sequence[str]) -> dict[str, Any]:
    """A result item: these choices of a control."""
    return {"from_name": control, "to_name": TEXT, "type": "choices", "value": {"choices": list(labels)}}


def _answer(question: Question) -> str:
    if question.accepted_answers:
        return " / ".join("".join(letters) for letters in question.accepted_answers)
    return "".join(question.answer) if question.answer else "（无 none）"


def _meta(question: Question) -> list[str]:
    parts = [str(question.question_type), question.document]
    if question.pages:
        parts.append("p. " + ", ".join(str(page) for page in question.pages))
    if question.number is not None:
        parts.append(f"No. {question.number}")
    return [*parts, question.question_id]
