"""Work that goes to people and comes back: questions to review, disputes to adjudicate, questions that were read badly.

With it go rulings for experts to learn from: what an adjudicator decided otherwise than they said.

All of it raises ``UserError`` where there is no token or no server, where the server refuses, or where there is
nothing to send and never was. ``count`` limits what is added.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import polars as pl

from build_dataset.annotation.adjudication import QuestionStatus, State, answered_flags
from build_dataset.annotation.label_studio import client, projects, pull as pulling, push as pushing, tasks as tasking
from build_dataset.annotation.label_studio.editable import changed_part
from build_dataset.annotation.label_studio.screen import FLAG_NAMES, numbered_dimensions
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.crop import crops as cut_outs
from build_dataset.pipeline.rendering import markup
from build_dataset.pipeline.review import folder
from build_dataset.pipeline.review.lineage import Lineage, trace
from build_dataset.pipeline.review.progress import assignment, gold_questions, mix_in_gold, proposals
from build_dataset.pipeline.review.stage import Settled, settle_questions, waiting_questions
from build_dataset.pipeline.runtime.publish import find_rows
from build_dataset.pipeline.stage import Context, Tables
from build_dataset.schemas.annotations import Annotation, Correction, CorrectionStatus, ExpertReview
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.places import field_name
from build_dataset.schemas.questions import Question

_CROP_BYTES = 400_000  # of a picture, scans as JPEG: 10,000 of them are 4 GB in the server's database
HEADS = ("题目编号 ID", "题目 question", "项目 about", "专家 expert", "仲裁 ruling", "仲裁者说明 note")  # of rulings
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


def push(tables: Tables, params: ReviewParams, context: Context, *, count: int | None = None) -> pushing.PushReport:
    """Send questions, prefilled with their labels, to experts; again, it adds nothing."""
    kind = replace(projects.REVIEW, experts=params.experts)
    tasks, lineage = review_tasks(tables, params, context), trace(tables)
    answered = lineage.pulled.filter(pl.col("project") == projects.REVIEW.name).group_by("question_id")
    people = answered.agg(pl.col("reviewer").n_unique())
    closed = {*people.filter(pl.col("reviewer") >= params.experts)["question_id"]}
    rulings = instruction(shared_rulings(rulings_of(tables, params), closed))
    return send(kind, tasks, params, context, count=count, lineage=lineage, rulings=rulings)


def push_to_experts(
    tables: Tables, params: ReviewParams, context: Context, *, count: int | None = None
) -> tuple[list[pushing.PushReport], list[str]]:
    """Send every expert their questions, in a project of their own; return reports, and notes on what was not sent."""
    tasks, rulings = review_tasks(tables, params, context), rulings_of(tables, params)
    lineage = trace(tables)
    assigned = assignment({**tables, "pulled": lineage.pulled}, params)
    gold = {item.question.question_id for item in gold_questions(params.gold)}
    accounts = {*connect(params).reviewers.values()}
    reports, notes = [], []
    for expert in params.reviewers:
        kind = projects.of_expert(expert)
        done = {lineage.ids.get(i, i) for i in folder.read_pulled(context.build, kind).annotations["question_id"]}
        wanted = assigned.questions[expert] | done | (gold if assigned.questions[expert] else set())
        mine = [task for task in tasks if task.question_id in wanted]
        if expert in accounts:
            with suppress(projects.NothingToSendError):  # no project, and nothing for it
                told = instruction(rulings.get(expert, []))
                reports.append(send(kind, mine, params, context, count=count, lineage=lineage, rulings=told))
        elif wanted:
            notes.append(f"{expert} has no account in Label Studio: `review sheet export` writes a workbook")
    if assigned.unassigned:
        notes.append(f"{assigned.unassigned} answers are wanted of nobody: quotas are full, or experts too few")
    return reports, notes


def rulings_of(tables: Tables, params: ReviewParams) -> dict[str, list[Ruling]]:
    """Return the rulings that differ from what each expert said."""
    stems = dict(tables["questions"].select("question_id", "stem").iter_rows())
    return rulings_by_expert(settle_questions(tables, params), stems)


def review_tasks(
    tables: Tables, params: ReviewParams, context: Context, *, crops: bool = True
) -> list[tasking.ReviewTask]:
    """Return the questions as experts see them, the most urgent first, and remember which labels are filled in."""
    questions = list(Question.from_frame(tables["questions"]))
    gold = gold_questions(params.gold, sorted({question.document for question in questions}) or [""])
    # Before it is sent: an answer that comes meanwhile is compared with one of the two, and seldom the wrong one.
    folder.remember_shown(context.build, tables["annotations"])
    folder.remember_asked(context.build, tables["questions"])
    questions = mix_in_gold(questions, gold)
    scanned = [question for question in questions if question.confidence is not None]
    tasks = tasking.tasks_of(
        questions,
        [*Annotation.from_frame(tables["annotations"]), *proposals(gold)],
        crops=cut_outs(scanned, context, _CROP_BYTES) if params.crops and crops else {},
        version=tasking.model_version(tables["annotations"]["annotator"]),
        blind=params.blind,
        seed=context.seed,
    )
    if params.priority == "uncertainty":
        tasks = tasking.by_uncertainty(tasks, {question.question_id: question.group_id for question in questions})
    return tasks


def adjudicate(tables: Tables, params: ReviewParams, context: Context) -> pushing.PushReport:
    """Send what experts disagree on, and what they flagged, to a third one; withdraw what needs no ruling any more."""
    tasks, _ = cases(tables, params, context)
    return send(projects.ADJUDICATION, tasks, params, context)


def cases(
    tables: Tables, params: ReviewParams, context: Context, *, crops: bool = True
) -> tuple[list[tasking.ReviewTask], dict[str, set[str]]]:
    """Return what waits for a third expert, as they see it, and who has labelled each question."""
    settled = settle_questions(tables, params)
    waiting = (State.DISPUTED, State.FLAGGED, State.CHANGED)
    open_cases = [each for each in settled.statuses if each.state in waiting]
    rows = tables["questions"].filter(pl.col("question_id").is_in({each.question_id for each in open_cases}))
    questions = {question.question_id: question for question in Question.from_frame(rows)}
    pictures = cut_outs(questions.values(), context, _CROP_BYTES) if params.crops and crops else {}
    tasks = tasking.adjudication_tasks(questions, open_cases, settled.corrections, crops=pictures, seed=context.seed)
    return tasks, {each.question_id: {review.reviewer for review in each.reviews} for each in open_cases}


def verify(params: ReviewParams, context: Context) -> tuple[pushing.PushReport, int]:
    """Send what waits in other stages to a verifier; return also how many items hold no question to correct."""
    pairs, without = waiting_questions(context.build)
    crops = cut_outs([each for _, each in pairs], context, _CROP_BYTES, marked=True) if params.crops else {}
    return send(projects.VERIFICATION, tasking.verification_tasks(pairs, crops=crops), params, context), without


def connect(params: ReviewParams) -> client.Studio:
    """The connection that the parameters name."""
    return client.Studio.connect(params.url, key_env=params.api_key_env, timeout=params.timeout)


def send(
    kind: projects.Kind,
    tasks: Sequence[tasking.ReviewTask],
    params: ReviewParams,
    context: Context,
    *,
    count: int | None = None,
    lineage: Lineage | None = None,
    rulings: str | None = None,
) -> pushing.PushReport:
    """Send tasks to the project of their kind; answers that were pulled go back with those that it lost.

    With ``lineage``, answers follow their questions to new ids, and what asks something else now is asked anew.
    """
    studio = connect(params)
    before = folder.read_pulled(context.build, kind)
    ids, anew = (lineage.ids, lineage.anew) if lineage else ({}, frozenset())
    answers = before.answers(studio.accounts)
    answers |= {new: answers[old] for old, new in ids.items() if old in answers and new not in answers}
    with context.progress(len(tasks), "questions") as advance:
        return pushing.push(
            studio,
            kind,
            folder.owner_of(context),
            tasks,
            version=next((task.prediction["model_version"] for task in tasks if task.prediction), "none"),
            batch=params.batch,
            count=count,
            answers={name: annotations for name, annotations in answers.items() if name not in anew},
            anew=anew,
            rulings=rulings,
            advance=advance,
        )


def pull(
    params: ReviewParams, context: Context, *, full: bool = False, force: bool = False
) -> list[pulling.PullReport]:
    """Fetch what people did since the last pull into the folder ``reviews`` of the build, project by project.

    Return a report of each project that is or was there. That there is no project for the review is told after the
    others were fetched.
    """
    studio = connect(params)
    owner = folder.owner_of(context)
    experts = [projects.of_expert(who) for who in params.reviewers] if params.assign else []
    shared = replace(projects.REVIEW, experts=params.experts)
    everything = (shared, *projects.KINDS[1:], *folder.expert_kinds(context.build), *experts)
    kinds = {kind.key: kind for kind in everything}
    listed = studio.projects("[build-dataset ")
    present = {key: projects.find(studio, kind, owner=owner, listed=listed) for key, kind in kinds.items()}
    people = studio.accounts
    reports: list[pulling.PullReport] = []
    with context.progress(None, "questions") as advance:
        for key, kind in kinds.items():
            before = folder.read_pulled(context.build, kind)
            if there := present[key]:
                after, report = pulling.pull(
                    studio, kind, owner, before, full=full, force=force, project=there, advance=advance
                )
                folder.write_pulled(context.build, kind, after)
                reports.append(report)
            elif before.project is not None:
                folder.write_pulled(context.build, kind, before.with_addresses(people))
                reports.append(pulling.report_of(kind, before, before, remedy=kind.command))
    folder.combine(context.build, params)
    started = any(report.kind.startswith(projects.REVIEW.name) for report in reports)
    under_way = any(there for key, there in present.items() if kinds[key].name == projects.REVIEW.name)
    if not under_way and (started or not any(present.values())):
        raise pulling.no_project(studio, projects.REVIEW, owner, folder.read_pulled(context.build, projects.REVIEW))
    return reports


def unknown_people(params: ReviewParams, build: Path) -> list[str]:
    """Return configured people who had no account at the last pull."""
    known = {name for pulled in folder.read_all(build) for name in pulled.people.values()}
    return sorted({*params.reviewers, *params.adjudicators} - known)


def to_apply(build: Path) -> bool:
    """Return whether corrections wait to be applied."""
    return bool(find_rows(build, "reviews/corrections", pl.col("status") == "accepted"))


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
    for numeral, dimension in numbered_dimensions():
        for review in experts:
            label = ruled.get(dimension.name, review.label)
            if review.dimension == dimension.name and review.label != label:
                yield review.reviewer, (f"{numeral} {dimension.zh} {dimension.en}", review.label, label)
    for flag in FLAG_NAMES:
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
    values = {"heads": HEADS, "rows": [row.cells() for row in rows]}
    return markup.html_page("build_dataset.pipeline.review:rulings.html", **values).decode() if rows else ""
