"""Answers in free text sent to experts in Label Studio, and experts' scores as judgements of the runs."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from build_dataset.annotation.label_studio import projects, pull as pulling
from build_dataset.annotation.label_studio.push import PushReport
from build_dataset.annotation.label_studio.tasks import scoring_tasks
from build_dataset.annotation.params import ReviewParams
from build_dataset.annotation.rubric import ShownAnswer, aspects
from build_dataset.pipeline.evaluate.extraction import visible_output
from build_dataset.pipeline.evaluate.grading import READABLE
from build_dataset.pipeline.evaluate.judging.scores import EXPERT
from build_dataset.pipeline.evaluate.params import EvaluateParams
from build_dataset.pipeline.evaluate.tasks import item_id, load_cases
from build_dataset.pipeline.review.exchange import connect, send
from build_dataset.pipeline.review.folder import FOLDER, owner_of, read_pulled, replace_table, write_pulled
from build_dataset.pipeline.runtime.publish import built, find_table, read_table
from build_dataset.pipeline.runtime.sources import ANSWER_SCORES
from build_dataset.pipeline.stage import Context
from build_dataset.schemas import annotations, errors, evaluation as records, grouping, identity, release

_EXPLAIN = "请给出正确答案并写出解析，说明各选项为什么对或错。\nGive the right answer and explain it."


@dataclass(frozen=True)
class GivenAnswer:
    """An answer that a run gave, and what experts see of it."""

    sent: records.SentAnswer
    shown: ShownAnswer


def open_questions(
    tasks: Container[records.Task], rows: Iterable[release.ReleaseRow], cases: Path | None
) -> list[records.OpenQuestion]:
    """Return the questions in free text as people see them."""
    questions = []
    for row in rows if records.Task.EXPLANATION in tasks else ():
        if row.explanation:
            options = [f"{option.label}. {option.text}" for option in row.options]
            question = records.OpenQuestion(
                task=records.Task.EXPLANATION,
                question_id=row.question_id,
                case="\n".join(filter(None, (row.shared_stem, row.stem, *options))),
                conversation=None,
                question=_EXPLAIN,
                reference=f"答案：{''.join(row.answer)}\n{row.explanation}",
            )
            questions.append(question)
    for case in load_cases(cases) if records.Task.CLINICAL in tasks else ():
        earlier: list[str] = []
        for number, turn in enumerate(case.turns):
            question = records.OpenQuestion(
                task=records.Task.CLINICAL,
                question_id=item_id(case, number),
                case=case.description,
                conversation="\n".join(earlier) or None,
                question=turn.question,
                reference=turn.solution,
            )
            questions.append(question)
            earlier.append(f"问：{turn.question}\n答：{turn.solution}")  # the next question shows it as a conversation
    return questions


def answers_given(
    predictions: Iterable[records.Prediction], questions: Iterable[records.OpenQuestion]
) -> list[GivenAnswer]:
    """Return the answers in free text that can be scored, in the order of the predictions."""
    asked = {(question.task, question.question_id): question for question in questions}
    answers = []
    for row in predictions:
        about = asked.get((row.task, row.question_id))
        if about is not None and row.outcome in READABLE:
            visible = visible_output(row.raw_output or "")
            screen = ShownAnswer(about.case, about.conversation or "", about.question, visible, about.reference)
            given = {name: getattr(row, name) for name in ("run", "task", "question_id", "repeat")}
            answers.append(GivenAnswer(records.SentAnswer(answer_id=screen.id, **given), screen))
    return answers


def sample(given: Sequence[GivenAnswer], size: int, seed: int) -> list[GivenAnswer]:
    """Return at most ``size`` answers of each run, drawn by the questions' lots: a larger sample holds the smaller."""
    drawn = {each.sent.question_id: identity.sha256(f"{seed}", "sample", each.sent.question_id) for each in given}
    ordered = sorted(given, key=lambda each: (each.sent.repeat, drawn[each.sent.question_id]))
    runs = dict.fromkeys(each.sent.run for each in given)
    by_run = ([each for each in ordered if each.sent.run == run] for run in runs)
    return [each for answers in by_run for each in answers[:size]]


def expert_judgements(
    scores: Iterable[records.AnswerScore], sent: Iterable[records.SentAnswer], counted: Sequence[str] = ()
) -> tuple[list[records.Judgement], int]:
    """Return the ``counted`` experts' scores for every run that gave the answer, and how many nobody gave."""
    gave = grouping.group_values((answer.answer_id, answer) for answer in sent)
    judgements: list[records.Judgement] = []
    stray = 0
    for score in scores:
        if counted and score.expert not in counted:
            continue
        stray += score.answer_id not in gave  # the run was made anew and says something else
        verdict = {"judge": EXPERT + score.expert, "aspect": score.aspect, "score": score.score}
        same = (answer.model_dump(exclude={"answer_id"}) for answer in gave.get(score.answer_id, []))
        judgements += [records.Judgement(**about, **verdict) for about in same]
    return judgements, stray


SENT = Path(FOLDER) / "scoring" / "sent.parquet"


@dataclass(frozen=True)
class ScoringStatus:
    """Progress of the experts as of the last pull."""

    answers: int  # texts that were sent; equal ones of several runs are one
    runs: Mapping[str, int]  # answers by run
    scored_by: Mapping[int, int]  # texts by number of experts who scored them in every aspect
    experts: Mapping[str, int]  # texts that each expert scored in every aspect


def push(params: EvaluateParams, review: ReviewParams, context: Context) -> PushReport:
    """Send a sample of every run's free texts to experts; again, it adds only those that read otherwise now."""
    free = built(context.build, "evaluate/predictions").filter(pl.col("task") != records.Task.ANSWER.value)
    asked = find_table(context.build, "evaluate/open_questions")
    questions = () if asked is None else records.OpenQuestion.from_frame(asked)
    given = answers_given(records.Prediction.from_frame(free), questions)
    if not given:
        remedy = 'give a model in [[evaluate.models]] task = "clinical" or "explanation", and run'
        raise errors.UserError(f"there are no answers in free text to score: {remedy} `build-dataset evaluate`")
    chosen = sample(given, params.scoring.sample, context.seed)
    tasks = scoring_tasks((each.shown for each in chosen), seed=context.seed)
    # Written first: a push that was interrupted has sent nothing whose author is not known here.
    replace_table(context.build / SENT, records.SentAnswer.to_frame(each.sent for each in chosen))
    return send(replace(projects.SCORING, experts=params.scoring.overlap), tasks, review, context)


def pull(params: EvaluateParams, review: ReviewParams, context: Context, *, full: bool = False) -> pulling.PullReport:
    """Fetch the scores that experts gave since the last pull into the folder ``reviews`` of the build."""
    kind = replace(projects.SCORING, experts=params.scoring.overlap)
    about = (connect(review), kind, owner_of(context), read_pulled(context.build, kind))
    with context.progress(None, "answers") as advance:
        after, report = pulling.pull(*about, full=full, advance=advance)
    write_pulled(context.build, kind, after)
    scores = []
    for row in annotations.ExpertReview.from_frame(after.reviews):
        same = row.model_dump(include={"note", "annotation_id", "updated_at", "seconds"})
        who = {"answer_id": row.question_id, "expert": row.reviewer}
        scores.append(records.AnswerScore(**who, **same, aspect=row.dimension, score=int(row.label)))
    replace_table(context.build / ANSWER_SCORES, records.AnswerScore.to_frame(scores))
    return report


def status(build: Path, experts: Sequence[str]) -> ScoringStatus:
    """Return the progress of scoring."""
    if not (build / SENT).exists():
        raise errors.UserError("no answers were sent to experts: run `build-dataset score-answers push` first")
    sent = list(records.SentAnswer.from_frame(read_table(build / SENT)))
    scored = find_table(build, ANSWER_SCORES.with_suffix("").as_posix())
    rows = () if scored is None else records.AnswerScore.from_frame(scored)
    scores = [score for score in rows if not experts or score.expert in experts]
    ids = {answer.answer_id for answer in sent}
    given = Counter((score.expert, score.answer_id) for score in scores if score.answer_id in ids)
    whole = [pair for pair, count in given.items() if count == len(aspects())]  # scored in every aspect
    by_answer = Counter(answer for _, answer in whole)
    return ScoringStatus(
        answers=len(ids),
        runs=dict(Counter(answer.run for answer in sent)),
        scored_by=dict(sorted(Counter(by_answer[answer] for answer in ids).items())),
        experts=dict(sorted(Counter(who for who, _ in whole).items())),
    )
