"""Tasks of all projects but the review: disputes, questions that were read badly, answers in free text. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from annotation.adjudication import Standing
from annotation.label_studio.editable import base_of, difference, name_of, with_proposals
from annotation.label_studio.screen import BASE, CROP, FLAG_NAMES, OPINIONS, TEXT, numbered_dimensions
from annotation.label_studio.tasks import ReviewTask, prediction_of, show, task
from annotation.rubric import ShownAnswer
from schemas.annotations import LabelStatus
from schemas.corrections import Correction
from schemas.identity import sha256
from schemas.questions import Question, ReviewItem
from schemas.reasons import reason_names

VERSION = "agreed by both"
_PEOPLE = "甲乙丙丁戊己庚辛壬癸"
_FLAGS = {flag.kind: flag.zh for flag in FLAG_NAMES}
DOUBTS = reason_names()
"""Chinese names of the reasons for which stages let a question wait."""
_CODE = re.compile(rf"(?:^|; )({'|'.join(DOUBTS)}): ")


def adjudication_tasks(
    questions: Mapping[str, Question],
    standings: Iterable[Standing],
    corrections: Iterable[Correction],
    *,
    crops: Mapping[str, str],
    seed: int,
) -> list[ReviewTask]:
    """Return what waits for the third expert, who sees what was said and not who said it.

    Labels that all experts agree on are filled in; the others are left open, so that nothing is decided by accident.
    The fields for corrections, which show when their flag is set, hold what was proposed. Who is 甲 and who is 乙 is
    drawn by lot for each question.
    """
    proposed: dict[str, list[Correction]] = {}
    for correction in corrections:
        proposed.setdefault(correction.question_id, []).append(correction)
    tasks = []
    for standing in standings:
        question = questions[standing.question_id]
        own = proposed.get(standing.question_id, [])
        agreed = {
            label.dimension: label.label
            for label in standing.labels
            if label.label is not None and label.status in (LabelStatus.AGREED, LabelStatus.ADJUDICATED)
        }
        offered = with_proposals(base_of(question), own)
        shown = {
            **show(question),
            "text": offered.text,
            "key": offered.key,
            OPINIONS: "\n".join(_said(standing, own, _names(standing, seed))),
            CROP: crops.get(standing.question_id, ""),
        }
        tasks.append(task(standing.question_id, shown, prediction_of(agreed, VERSION, None)))
    return tasks


def verification_tasks(
    items: Iterable[tuple[ReviewItem, Question]], *, crops: Mapping[str, str]
) -> list[ReviewTask]:
    """Return what waits since it was read or cut badly, with the reasons; a question that waits twice is one task."""
    tasks = []
    pairs = sorted(items, key=lambda pair: pair[1].question_id)
    for question_id, group in groupby(pairs, key=lambda pair: pair[1].question_id):
        own = list(group)
        base = base_of(own[0][1])
        shown = {
            "meta": show(own[0][1])["meta"],
            "reason": "\n".join(dict.fromkeys(told(item) for item, _ in own)),
            "text": base.text,
            "key": base.key,
            BASE: base.dumps(),
            CROP: crops.get(question_id, ""),
        }
        tasks.append(task(question_id, shown, None))
    return tasks


def scoring_tasks(answers: Iterable[ShownAnswer], *, seed: int) -> list[ReviewTask]:
    """Return a task for each answer, in an order drawn by lot, so that neither runs nor questions stand together."""
    shown = {answer.id: answer for answer in answers}
    none = "（无 none）"
    return [
        task(
            name,
            {
                "case": shown[name].case or none,
                "conversation": shown[name].conversation or none,
                TEXT: shown[name].question,
                "answer": shown[name].answer,
                "reference": shown[name].reference,
            },
            None,
        )
        for name in sorted(shown, key=lambda name: sha256(f"{seed}", "scoring", name))
    ]


def told(item: ReviewItem) -> str:
    """Return why a question waits, one reason a line, in both languages."""
    named = item.detail.startswith(f"{item.reason}: ")
    detail = item.detail if named or not item.detail else f"{item.reason}: {item.detail}"
    return _CODE.sub(lambda found: f"\n{DOUBTS[found[1]]} {found[1]}：", detail or item.reason).strip()


def _names(standing: Standing, seed: int) -> dict[str, str]:
    people = sorted({review.reviewer for review in standing.reviews})
    drawn = sorted(people, key=lambda who: sha256(f"{seed}", standing.question_id, who))
    return {who: _PEOPLE[place % len(_PEOPLE)] for place, who in enumerate(drawn)}


def _said(standing: Standing, corrections: Sequence[Correction], names: Mapping[str, str]) -> list[str]:
    """Return disputed labels, flags, notes and proposed corrections, a line each."""
    lines = []
    disputed = {label.dimension for label in standing.labels if label.status is LabelStatus.DISPUTED}
    for numeral, dimension in numbered_dimensions():
        if dimension.name in disputed:
            own = [review for review in standing.reviews if review.dimension == dimension.name]
            own.sort(key=lambda review: _PEOPLE.index(names[review.reviewer]))
            votes = [f"{names[review.reviewer]} {review.label}" for review in own]
            lines.append(f"{numeral} {dimension.zh}：{'　｜　'.join(votes)}")
    flags = sorted(
        (names[who], _FLAGS.get(flag.kind, flag.kind))
        for flag in standing.flags
        for who in flag.reviewers
        if who in names
    )
    notes = sorted({(names[r.reviewer], r.note) for r in standing.reviews if r.note})
    proposed = sorted(corrections, key=lambda c: (names.get(c.by, ""), c.field))
    lines += [f"⚑ {who} {flag}" for who, flag in flags]
    lines += [f"备注 {who}：{note}" for who, note in notes]
    lines += [
        f"改正 {names.get(each.by, '？')} {name_of(each.field)}：{difference(each.before, each.after)}"
        for each in proposed
    ]
    return lines
