"""Rulings for experts to learn from: what an adjudicator decided otherwise than they said, with the note."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from build_dataset.annotation.adjudication import QuestionStatus, answered_flags
from build_dataset.annotation.label_studio import screen
from build_dataset.annotation.label_studio.editable import changed_part
from build_dataset.pipeline.rendering import html
from build_dataset.pipeline.review.stage import Settled
from build_dataset.schemas.annotations import Correction, CorrectionStatus, ExpertReview
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.places import field_name

# Heads of sheets and pages.
HEADS = ("题目编号 ID", "题目 question", "项目 about", "专家 expert", "仲裁 ruling", "仲裁者说明 note")
_MOST = 60  # rulings that are shown, the latest first
_STEM = 60  # characters of a question by which its expert knows it again
_NOT_TAKEN = "未采纳 not taken"


class Ruling(NamedTuple):
    """An expert's answer and the ruling that differs from it."""

    at: str  # time of the ruling
    question_id: str
    stem: str
    about: str  # ``① 疾病组 ICD-11 disease group``, a flag, ``改正 答案``
    said: str
    ruled: str
    note: str

    def cells(self) -> tuple[str, ...]:
        """Return it as a row below ``HEADS``."""
        return self[1:]


def rulings_by_expert(settled: Settled, stems: Mapping[str, str]) -> dict[str, list[Ruling]]:
    """Return the rulings that differ from what each expert said, the latest first; ``stems`` are texts of questions."""
    corrections = group_values((each.question_id, each) for each in settled.corrections)
    answered = answered_flags(settled.corrections)
    rulings: list[tuple[str, Ruling]] = []
    for standing in settled.statuses:
        ruling = [review for review in standing.reviews if settled.rules.rules(review)]
        if ruling:
            proposed, name = corrections.get(standing.question_id, []), standing.question_id
            stem = " ".join(stems.get(name, "").split())[:_STEM]
            latest = max(ruling, key=lambda review: review.updated_at)
            place = (latest.updated_at, name, stem)
            pairs = _differences(standing, ruling, proposed, answered.get(name, set()))
            rulings += [(who, Ruling(*place, *difference, latest.note or "")) for who, difference in pairs]
    by_expert = group_values(sorted(rulings, key=lambda pair: pair[1].at, reverse=True))  # dimensions in their order
    return {who: rows[:_MOST] for who, rows in by_expert.items()}


def _differences(
    standing: QuestionStatus, ruling: Sequence[ExpertReview], corrections: Iterable[Correction], answered: Set[str]
) -> Iterator[tuple[str, tuple[str, str, str]]]:
    """Yield who said something else than was ruled: about what, what they said, what was ruled."""
    ruled = {review.dimension: review.label for review in ruling}
    upheld = {kind for review in ruling for kind in review.flags} | answered
    experts = [review for review in standing.reviews if review not in ruling]
    for numeral, dimension in screen.numbered_dimensions():
        for review in experts:
            label = ruled.get(dimension.name, review.label)
            if review.dimension == dimension.name and review.label != label:
                yield review.reviewer, (f"{numeral} {dimension.zh} {dimension.en}", review.label, label)
    for flag in screen.FLAG_NAMES:
        raised = {review.reviewer for review in experts if flag.kind in review.flags}
        for who in sorted(raised) if flag.kind not in upheld else ():
            yield who, (f"{flag.zh} {flag.en}", "是 yes", "否 no")
    accepted = {each.field: each.after for each in corrections if each.status is CorrectionStatus.ACCEPTED}
    people = {review.reviewer for review in experts}
    for each in corrections:
        if each.status is CorrectionStatus.DECLINED and each.by in people:
            about = f"改正 correction: {field_name(each.field)[0]}"
            yield each.by, (about, changed_part(each.before, each.after), accepted.get(each.field) or _NOT_TAKEN)


def shared_rulings(by_expert: Mapping[str, Sequence[Ruling]], closed: Set[str]) -> list[Ruling]:
    """Return what all may see where they share a project: ``closed`` are questions that nobody answers any more."""
    rows = dict.fromkeys(row for rows in by_expert.values() for row in rows if row.question_id in closed)
    return sorted(rows, key=lambda row: (row.at, row.question_id), reverse=True)[:_MOST]


def instruction(rows: Sequence[Ruling]) -> str:
    """Return rulings as the part of a page that Label Studio shows before the first question; empty without any."""
    shown = [row.cells() for row in rows]
    return html.render("build_dataset.pipeline.review:rulings.html", heads=HEADS, rows=shown).decode() if rows else ""
