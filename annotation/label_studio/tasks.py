"""Questions as Label Studio's tasks. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Self

from build_dataset.annotation import adjudication, annotator
from build_dataset.annotation.label_studio.editable import base_text, changed_part, text_of, whole_text, with_proposals
from build_dataset.annotation.label_studio.screen import BASE, CROP, FLAG_NAMES, OPINIONS, TEXT, numbered_dimensions
from build_dataset.annotation.rubric import ShownAnswer
from build_dataset.schemas import grouping, identity, taxonomy, wording
from build_dataset.schemas.annotations import Annotation, Correction, LabelStatus
from build_dataset.schemas.places import field_name, mark_places, places_in
from build_dataset.schemas.questions import Question, ReviewItem

QUESTION_ID = "question_id"
"""The key in a task's data that says which question it is: Label Studio uses its own ids again after deletion."""
DIGEST = "digest"  # the key in a task's data that says what is shown
META = "meta"  # the key in a task's data that says where a question is from: another place is no other content
LEFT = "left"  # the key in a task's data that is there where its question left the dataset
BATCH, ARM = "batch", "arm"
"""Keys in a task's data that say with which batch it was sent, and whether labels are filled in. They stay as they
were when the question was first sent, whatever changes."""
BATCH_SIZE = "batch_size"
"""The key in a task's data that says how many questions its batch was to have: fewer, and it was interrupted."""
BLIND, PREFILLED = "blind", "prefilled"  # arms: nothing is filled in, to measure anchoring; or labels are


@dataclass(frozen=True)
class ReviewTask:
    """A question as a task."""

    question_id: str
    data: Mapping[str, str]  # the texts on the screen, the question's id, and a digest of those texts
    prediction: Mapping[str, Any] | None  # labels to fill in; None when there are none
    arm: str = PREFILLED
    batch: str = "1"
    answers: tuple[Mapping[str, Any], ...] = ()  # earlier annotations, in the form of an import

    def sent(self, *, arm: str | None = None, batch: str | None = None, of: int | None = None) -> Self:
        """Return it as it is sent, with the arm and the batch of the first time; a blind one has nothing filled in."""
        arm, batch = arm or self.arm, batch or self.batch
        data = {**self.data, ARM: arm, BATCH: batch, BATCH_SIZE: str(of or "")}
        return replace(self, data=data, arm=arm, batch=batch, prediction=None if arm == BLIND else self.prediction)

    def payload(self) -> dict[str, Any]:
        """Return it in the form of an import."""
        predictions = [dict(self.prediction)] if self.prediction else []
        answers = {"annotations": list(self.answers)} if self.answers else {}
        return {"data": dict(self.data), "predictions": predictions, **answers}


def tasks_of(
    questions: Iterable[Question],
    annotations: Iterable[Annotation],
    *,
    version: str,
    crops: Mapping[str, str] | None = None,
    blind: float = 0.0,
    seed: int = 0,
) -> list[ReviewTask]:
    """The tasks of questions, in their order, with what annotators said filled in, and cut-outs (data addresses).

    In a share of questions, ``blind``, nothing is filled in. A question's lot depends on the seed and its id alone,
    and the lots of questions of a group are one. ``version`` names what annotated, see ``model_version``.
    """
    proposed = adjudication.proposed_labels(annotations).values()
    stated = grouping.group_values((each.question_id, each) for each in proposed)
    tasks = []
    for question in questions:
        stated_labels = {each.dimension: each for each in stated.get(question.question_id, ())}
        labels = {name: each.label for name, each in stated_labels.items()}
        confidences = [each.confidence for each in stated_labels.values() if each.confidence is not None]
        prediction = prediction_of(labels, version, min(confidences, default=None))
        group = question.group_id or question.question_id
        arm = BLIND if identity.stable_random(f"{seed}", "blind", group) < blind else PREFILLED
        crop = (crops or {}).get(question.question_id, "")
        tasks.append(task(question.question_id, {**shown_fields(question), CROP: crop}, prediction, arm))
    return tasks


def by_uncertainty(tasks: Sequence[ReviewTask], groups: Mapping[str, str | None]) -> list[ReviewTask]:
    """Tasks, the least certain first; Label Studio serves them in the order in which they came."""
    group_of = [groups.get(each.question_id) or each.question_id for each in tasks]
    # A task without a score, the least of its labels' confidences, counts as uncertain. A group stays together.
    scores = [(each.prediction or {}).get("score") or 0.0 for each in tasks]
    places = grouping.group_values(zip(group_of, range(len(tasks)), strict=True))
    first = {group: (min(scores[at] for at in those), those[0]) for group, those in places.items()}
    return [tasks[at] for at in sorted(range(len(tasks)), key=lambda at: first[group_of[at]])]


def task(
    question_id: str, shown: Mapping[str, str], prediction: Mapping[str, Any] | None, arm: str = PREFILLED
) -> ReviewTask:
    """A task that shows this."""
    texts = {name: text for name, text in shown.items() if name != META}  # whatever place its question has
    digest = identity.sha256(json.dumps(texts, ensure_ascii=False, sort_keys=True))[:16]
    return ReviewTask(question_id, {QUESTION_ID: question_id, **shown, DIGEST: digest}, prediction, arm)


def model_version(annotators: Iterable[str]) -> str:
    """Return one name of all annotators, ``lexicon + human_accuracy``: the project fills in one version's labels."""
    names = sorted({*annotators}, key=lambda name: (name == annotator.MEASURED, name))
    return " + ".join(names)[:256] or "none"


def shown_fields(question: Question) -> dict[str, str]:
    """Return the plain texts that the screen shows of a question, and those that fill its fields for corrections."""
    options = [f"{option.label}. {option.text}" for option in question.options]
    stem = "\n".join(part for part in (question.shared_stem, question.stem) if part)
    answers = question.accepted_answers or ([question.answer] if question.answer else [])
    key = " / ".join("".join(letters) for letters in answers)
    base = base_text(question)
    pages = f"p. {', '.join(map(str, question.pages))}" if question.pages else None
    number = None if question.number is None else f"No. {question.number}"
    meta = (str(question.question_type), question.document, pages, number, question.question_id)
    return {
        META: " · ".join(part for part in meta if part is not None),
        "question": stem,
        "options": "\n".join(options) or "（无选项 no options）",
        "answer": f"答案 Answer：{key or '（无 none）'}",
        "explanation": question.explanation or "（无解析 no explanation）",
        "text": base.text,
        "key": base.key,
        BASE: base.dumps(),
    }


def choice(control: str, labels: Sequence[str]) -> dict[str, Any]:
    """A result item: these choices of a control."""
    return {"from_name": control, "to_name": TEXT, "type": "choices", "value": {"choices": list(labels)}}


def written(control: str, text: str) -> dict[str, Any]:
    """A result item: this text in a control."""
    return {"from_name": control, "to_name": TEXT, "type": "textarea", "value": {"text": [text]}}


def prediction_of(labels: Mapping[str, str], version: str, score: float | None) -> dict[str, Any] | None:
    """Labels by dimension as a prediction; None when there are none."""
    result = [choice(name, [labels[name]]) for name in taxonomy.dimensions() if name in labels]
    return {"model_version": version, "score": score, "result": result} if labels else None


VERSION = "agreed by both"  # of the labels that are filled in for a ruling
_PEOPLE = "甲乙丙丁戊己庚辛壬癸"  # names of experts in a ruling, drawn by lot
_FLAGS = {flag.kind: flag.zh for flag in FLAG_NAMES}  # wrong_stem → 题干有误


def adjudication_tasks(
    questions: Mapping[str, Question],
    statuses: Iterable[adjudication.QuestionStatus],
    corrections: Iterable[Correction],
    *,
    crops: Mapping[str, str],
    seed: int,
) -> list[ReviewTask]:
    """Return the tasks of the third expert, who sees the opinions and no names.

    Labels that all experts agree on are filled in; the others are left open, so that nothing is decided by accident.
    The fields for corrections, which show when their flag is set, hold what was proposed. Who is 甲 and who is 乙 is
    drawn by lot for each question.
    """
    proposed = grouping.group_values((correction.question_id, correction) for correction in corrections)
    tasks = []
    for standing in statuses:
        question = questions[standing.question_id]
        proposals = proposed.get(standing.question_id, [])
        settled = tuple(LabelStatus) if standing.changed else (LabelStatus.AGREED, LabelStatus.ADJUDICATED)
        agreed = {each.dimension: each.label for each in standing.labels if each.label and each.status in settled}
        offered = with_proposals(base_text(question), proposals)
        shown = shown_fields(question) | {"text": offered.text, "key": offered.key}
        shown |= {OPINIONS: "\n".join(_opinions(standing, proposals, seed)), CROP: crops.get(question.question_id, "")}
        tasks.append(task(standing.question_id, shown, prediction_of(agreed, VERSION, None)))
    return tasks


def verification_tasks(items: Iterable[tuple[ReviewItem, Question]], *, crops: Mapping[str, str]) -> list[ReviewTask]:
    """Return tasks for badly read or cut questions, with the reasons; a question that waits twice is one task."""
    tasks = []
    pairs = sorted(items, key=lambda pair: pair[1].question_id)
    for question_id, group in groupby(pairs, key=lambda pair: pair[1].question_id):
        same = list(group)
        question = same[0][1]
        everything, base = shown_fields(question), whole_text(question)
        shown = {name: everything[name] for name in ("meta", "text", "key")}
        shown |= {"explanation": base.explanation or "", BASE: base.dumps()}
        reasons_of = [wording.findings(item.reason, item.detail) for item, _ in same]
        codes = dict.fromkeys(code for each in reasons_of for code, _ in each)
        reasons = [*map(waiting_reasons, reasons_of), *(" ".join(wording.look_at(code)) for code in codes)]
        shown["reason"] = "\n".join(dict.fromkeys(reasons))
        # As HTML: all of its text, what the reasons quote and what may be misread marked.
        quotes = [mark for item, _ in same for mark in wording.quoted(item.detail)]
        answer = f"答案 {''.join(question.answer or []) or '（无）'}"
        quotes += [answer] if any(map(wording.doubts_key, codes)) else []
        parts = [text_of(question), answer, f"解析：{question.explanation}" if question.explanation else ""]
        marked = (str(mark_places(part, quotes, places_in(part, question.unsure))) for part in parts if part)
        shown["marked"] = "\n".join(marked).replace("\n", "<br>")
        tasks.append(task(question_id, {**shown, CROP: crops.get(question_id, "")}, None))
    return tasks


def scoring_tasks(answers: Iterable[ShownAnswer], *, seed: int) -> list[ReviewTask]:
    """Return a task for each answer, in an order drawn by lot, so that neither runs nor questions stand together."""
    shown = {answer.id: answer for answer in answers}
    filled = {"case": "（无 none）", "conversation": "（无 none）"}
    drawn = sorted(shown, key=lambda name: identity.sha256(f"{seed}", "scoring", name))
    texts = ((name, vars(shown[name]).items()) for name in drawn)
    return [task(name, {part: text or filled.get(part, "") for part, text in parts}, None) for name, parts in texts]


def waiting_reasons(reasons: Iterable[tuple[str, str]]) -> str:
    """Return why a question waits, each code with its evidence in a line, in both languages."""
    return "\n".join(f"{wording.in_both_languages(code)}：{evidence}".rstrip("：") for code, evidence in reasons)


def _opinions(standing: adjudication.QuestionStatus, corrections: Sequence[Correction], seed: int) -> list[str]:
    """Return disputed labels, flags, notes and proposed corrections, a line each; the lot draws people's names."""
    people = {review.reviewer for review in standing.reviews}
    drawn = sorted(people, key=lambda who: (identity.sha256(f"{seed}", standing.question_id, who), who))
    names = {who: _PEOPLE[place % len(_PEOPLE)] for place, who in enumerate(drawn)}
    lines = []
    disputed = {label.dimension for label in standing.labels if label.status is LabelStatus.DISPUTED}
    for numeral, dimension in numbered_dimensions():
        if dimension.name in disputed:
            reviews = [review for review in standing.reviews if review.dimension == dimension.name]
            reviews.sort(key=lambda review: _PEOPLE.index(names[review.reviewer]))
            votes = [f"{names[review.reviewer]} {review.label}" for review in reviews]
            lines.append(f"{numeral} {dimension.zh}：{'　｜　'.join(votes)}")
    raised = [(names[who], kind) for kind, people in standing.flags.items() for who in people]
    flags = sorted((who, _FLAGS.get(kind, kind)) for who, kind in raised)
    notes = sorted({(names[r.reviewer], r.note) for r in standing.reviews if r.note})
    proposed = sorted(corrections, key=lambda c: (names.get(c.by, ""), c.field))
    lines += [f"题目有改动，请确认标签 changed, please confirm: {standing.changed}"] if standing.changed else []
    lines += [f"⚑ {who} {flag}" for who, flag in flags]
    lines += [f"备注 {who}：{note}" for who, note in notes]
    lines += [
        f"改正 {names.get(each.by, '？')} {field_name(each.field)[0]}：{changed_part(each.before, each.after)}"
        + ("（两人一致，不改回即生效 both say so: applies unless put back）" if each.status == "accepted" else "")
        for each in proposed
    ]
    return lines
