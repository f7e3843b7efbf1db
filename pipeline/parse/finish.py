"""Drafts become records: questions, rejections, review items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from pipeline.parse.draft import Draft
from pipeline.parse.kinds import question_type
from pipeline.parse.paper import Paper
from pipeline.parse.tracing import left_over, trace_of_item, trace_of_paper
from schemas.documents import Document
from schemas.identity import content_hash, question_id
from schemas.questions import Option, Question, Rejection, ReviewItem
from schemas.trace import Trace

STAGE = "parse"


@dataclass
class Outcome:
    """What became of candidates: each is in exactly one list."""

    questions: list[Question] = field(default_factory=list)
    rejects: list[Rejection] = field(default_factory=list)
    review: list[ReviewItem] = field(default_factory=list)
    traces: list[Trace] = field(default_factory=list)
    left_over: dict[str, int] = field(default_factory=dict)
    """Lines of papers that are part of no item and not known to be anything else: paper → how many."""
    keys: dict[str, str] = field(default_factory=dict)
    """Key documents that went into their papers: key → paper."""
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What the columns of tabular documents were found to be."""
    notes: list[str] = field(default_factory=list)
    into: int = 0
    """How many candidates there were, counted before their fate."""

    def extend(self, other: Outcome) -> None:
        """Add another's."""
        self.questions.extend(other.questions)
        self.rejects.extend(other.rejects)
        self.review.extend(other.review)
        self.traces.extend(other.traces)
        self.left_over |= other.left_over
        self.keys |= other.keys
        self.columns |= other.columns
        self.into += other.into
        self.notes.extend(other.notes)


def finish(paper: Paper, document: Document) -> Outcome:
    """The records of a judged paper."""
    outcome = Outcome()
    ids = _Ids(document.sha256)
    groups: dict[str, str] = {}
    sizes = Counter(draft.group for draft in paper.items if draft.group)
    for draft in paper.items:
        name = ids.of(draft)
        if draft.group and sizes[draft.group] > 1:
            groups.setdefault(draft.group, f"{name}-g")
        elif draft.group:
            _alone(draft)
        question = _question(draft, name, groups.get(draft.group or ""), document)
        if draft.set_aside:
            outcome.rejects.append(_reject(name, *draft.set_aside, question))
        elif draft.doubts:
            outcome.review.append(review_item(name, draft.doubts, question))
        else:
            outcome.questions.append(question)
        outcome.traces.append(trace_of_item(name, paper.document, draft))
    outcome.traces.append(trace_of_paper(paper))
    unknown = sum(map(len, left_over(paper).values()))
    outcome.left_over = {paper.document: unknown} if unknown else {}
    outcome.review.extend(_missing(paper, document, ids))
    return outcome


def _alone(draft: Draft) -> None:
    """A group of one is no group: its case is its stem where it has none of its own."""
    draft.group = None
    if draft.shared_stem and not draft.shared_options:
        draft.stem = f"{draft.shared_stem}\n{draft.stem}".strip() if draft.stem else draft.shared_stem
        draft.shared_stem = None


class _Ids:
    """Ids of questions of a document; a collision gets a letter."""

    def __init__(self, sha256: str) -> None:
        self.sha256 = sha256
        self.taken: set[str] = set()

    def of(self, draft: Draft) -> str:
        number = f"{draft.number:03d}{draft.suffix}" if draft.number is not None else draft.suffix
        return self.take(question_id(self.sha256, draft.section, number))

    def take(self, name: str) -> str:
        """The name itself, or with the first letter that makes it unique."""
        free = name
        extra = 0
        while free in self.taken:
            free = f"{name}{chr(98 + extra)}" if extra < 25 else f"{name}z{extra}"
            extra += 1
        self.taken.add(free)
        return free


def _question(draft: Draft, name: str, group: str | None, document: Document) -> Question:
    stem = draft.stem or (f"（{draft.number}）" if draft.shared_stem else "")
    answer = "".join(sorted(set(draft.answer))) if draft.answer else None
    kind = question_type(
        draft.announced,
        stem,
        answer,
        shared_case=draft.shared_stem is not None and not draft.shared_options,
        shared_options=draft.shared_options,
    )
    return Question(
        question_id=name,
        document=document.document,
        section=draft.section,
        number=draft.number,
        question_type=kind,
        stem=stem,
        shared_stem=draft.shared_stem,
        group_id=group,
        options=[Option(label=label, text=text) for label, text in draft.options],
        answer=list(answer) if answer else None,
        accepted_answers=[list(letters) for letters in draft.accepted] if draft.accepted else None,
        explanation=draft.explanation,
        comment=draft.comment,
        pages=draft.pages,
        regions=draft.regions,
        attachments=draft.attachments,
        confidence=draft.confidence,
        exam_type=document.exam_type,
        exam_class=document.exam_class,
        exam_subject=document.exam_subject,
        content_hash=content_hash(stem, (text for _, text in draft.options), draft.shared_stem),
    )


def _reject(name: str, reason: str, detail: str, question: Question) -> Rejection:
    return Rejection(item_id=name, stage=STAGE, reason=reason, detail=detail, item=question.model_dump_json())


def review_item(name: str, doubts: list[tuple[str, str]], question: Question) -> ReviewItem:
    """A question that waits for a person, with all its doubts; the first one names it."""
    return ReviewItem(
        item_id=name,
        question_ids=[name],
        stage=STAGE,
        reason=doubts[0][0],
        detail="; ".join(f"{reason}: {detail}" for reason, detail in doubts),
        item=question.model_dump_json(),
    )


def _missing(paper: Paper, document: Document, ids: _Ids) -> Iterable[ReviewItem]:
    for gap in paper.gaps:
        name = ids.take(question_id(document.sha256, gap.section, f"{gap.number:03d}"))
        detail = (
            f"{document.document}: number {gap.number} of section {gap.section} was not found; {gap.detail}"
        )
        yield ReviewItem(item_id=name, question_ids=[], stage=STAGE, reason="missing_number", detail=detail)
    for index, (reason, head, detail) in enumerate(paper.mismatches):
        name = f"{document.sha256[:8]}-head{index + 1}"
        yield ReviewItem(
            item_id=name,
            question_ids=[],
            stage=STAGE,
            reason=reason,
            detail=f"{document.document}: {head}: {detail}",
        )
