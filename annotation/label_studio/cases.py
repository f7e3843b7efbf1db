"""Tasks of the second projects: what experts disagree on, and what waits since it was read badly. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from annotation.label_studio.doubts import told
from annotation.label_studio.editable import base_of, difference, name_of, with_proposals
from annotation.label_studio.screen import FLAG_NAMES, OPINIONS, numbered_dimensions
from annotation.label_studio.tasks import Task, prediction_of, show, task
from annotation.label_studio.widgets import BASE, CROP
from annotation.standing import Standing
from schemas.annotations import LabelStatus
from schemas.corrections import Correction
from schemas.identity import sha256
from schemas.questions import Question, ReviewItem

VERSION = "agreed by both"
_PEOPLE = "甲乙丙丁戊己庚辛壬癸"
_FLAGS = {flag.kind: flag.zh for flag in FLAG_NAMES}


def adjudication_tasks(
    questions: Mapping[str, Question],
    standings: Iterable[Standing],
    corrections: Iterable[Correction],
    *,
    crops: Mapping[str, str],
    seed: int,
) -> list[Task]:
    """What waits for the third expert, who sees what was said and not who said it.

    Labels that all experts agree on are filled in; what they disagree on is left open, so that nothing is
    decided by accident. The fields for corrections, which show when their flag is set, hold what was proposed.
    Who is 甲 and who is 乙 is drawn by lot for each question.
    """
    proposed: dict[str, list[Correction]] = {}
    for correction in corrections:
        proposed.setdefault(correction.question_id, []).append(correction)
    tasks = []
    for standing in standings:
        question = questions[standing.question_id]
        own = proposed.get(standing.question_id, [])
        names = _names(standing, seed)
        said = [
            *_opinions(standing, names),
            *_remarks(standing, names),
            *_proposals(own, names),
        ]
        settled = {
            label.dimension: label.label
            for label in standing.labels
            if label.label is not None and label.status is not LabelStatus.DISPUTED
        }
        offered = with_proposals(base_of(question), own)
        shown = {
            **show(question),
            "text": offered.text,
            "key": offered.key,
            OPINIONS: "\n".join(said),
            CROP: crops.get(standing.question_id, ""),
        }
        tasks.append(task(standing.question_id, shown, prediction_of(settled, VERSION, None)))
    return tasks


def verification_tasks(
    items: Iterable[tuple[ReviewItem, Question]], *, crops: Mapping[str, str]
) -> list[Task]:
    """What waits since it was read or cut badly, with the reason; a question that waits twice is one task."""
    tasks = []
    pairs = sorted(items, key=lambda pair: pair[1].question_id)
    for question_id, group in groupby(pairs, key=lambda pair: pair[1].question_id):
        own = list(group)
        question = own[0][1]
        base = base_of(question)
        shown = {
            "meta": show(question)["meta"],
            "reason": "\n".join(dict.fromkeys(told(item) for item, _ in own)),
            "text": base.text,
            "key": base.key,
            BASE: base.dumps(),
            CROP: crops.get(question_id, ""),
        }
        tasks.append(task(question_id, shown, None))
    return tasks


def _names(standing: Standing, seed: int) -> dict[str, str]:
    people = sorted({review.reviewer for review in standing.reviews})
    drawn = sorted(people, key=lambda who: sha256(f"{seed}", standing.question_id, who))
    return {who: _PEOPLE[place % len(_PEOPLE)] for place, who in enumerate(drawn)}


def _opinions(standing: Standing, names: Mapping[str, str]) -> list[str]:
    disputed = {label.dimension for label in standing.labels if label.status is LabelStatus.DISPUTED}
    lines = []
    for numeral, dimension in numbered_dimensions():
        if dimension.name in disputed:
            own = [review for review in standing.reviews if review.dimension == dimension.name]
            own.sort(key=lambda review: _PEOPLE.index(names[review.reviewer]))
            votes = [f"{names[review.reviewer]} {review.label}" for review in own]
            lines.append(f"{numeral} {dimension.zh}：{'　｜　'.join(votes)}")
    return lines


def _remarks(standing: Standing, names: Mapping[str, str]) -> list[str]:
    flags = sorted(
        (names[who], _FLAGS.get(flag.kind, flag.kind))
        for flag in standing.flags
        for who in flag.reviewers
        if who in names
    )
    notes = sorted({(names[r.reviewer], r.note) for r in standing.reviews if r.note})
    return [f"⚑ {who} {flag}" for who, flag in flags] + [f"备注 {who}：{note}" for who, note in notes]


def _proposals(corrections: Sequence[Correction], names: Mapping[str, str]) -> list[str]:
    return [
        f"改正 {names.get(each.by, '？')} {name_of(each.field)}：{difference(each.before, each.after)}"
        for each in sorted(corrections, key=lambda c: (names.get(c.by, ""), c.field))
    ]
