"""Answers in free text sent to experts in Label Studio, and experts' scores as judgements of the runs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from annotation.params import ReviewParams
from annotation.rubric import ShownAnswer, aspects
from pipeline.evaluate.clinical import Case, item_id, load_cases
from pipeline.evaluate.extraction import visible_output
from pipeline.evaluate.grading import READABLE
from pipeline.evaluate.judging.scores import EXPERT, judge_agreement
from pipeline.evaluate.params import EvaluateParams
from pipeline.review.exchange import connect, send
from pipeline.review.folder import FOLDER, owner_of, read_pulled, replace_table, write_pulled
from pipeline.runtime.publish import read_table
from pipeline.runtime.sources import ANSWER_SCORES
from pipeline.stage import Context
from schemas.annotations import ExpertReview
from schemas.errors import UserError
from schemas.evaluation import (
    AnswerScore,
    JudgeAgreement,
    Judgement,
    OpenQuestion,
    Prediction,
    SentAnswer,
    Task,
)
from schemas.identity import sha256
from schemas.release import ReleaseRow

if TYPE_CHECKING:
    from annotation.label_studio.projects import Kind
    from annotation.label_studio.pull import PullReport
    from annotation.label_studio.push import PushReport


_EXPLAIN = "请给出正确答案并写出解析，说明各选项为什么对或错。\nGive the right answer and explain it."


@dataclass(frozen=True)
class GivenAnswer:
    """An answer that a run gave, and what experts see of it."""

    sent: SentAnswer
    shown: ShownAnswer


def open_questions(
    tasks: Container[Task], rows: Iterable[ReleaseRow], cases: Path | None
) -> list[OpenQuestion]:
    """Return the questions in free text as people see them."""
    found = [_of_row(row) for row in rows if row.explanation] if Task.EXPLANATION in tasks else []
    if Task.CLINICAL in tasks:
        found += _of_cases(load_cases(cases))
    return found


def answers_given(predictions: Iterable[Prediction], questions: Iterable[OpenQuestion]) -> list[GivenAnswer]:
    """The answers in free text that can be scored, in the order of the predictions.

    Those that were refused, empty or not given are not among them, as with a model that judges.
    """
    asked = {(question.task, question.question_id): question for question in questions}
    return [
        _shown(prediction, about)
        for prediction in predictions
        if prediction.outcome in READABLE
        and (about := asked.get((prediction.task, prediction.question_id))) is not None
    ]


def sample(given: Sequence[GivenAnswer], size: int, seed: int) -> list[GivenAnswer]:
    """At most ``size`` answers of each run, drawn by lot.

    A question's lot depends on the seed and its id alone: all runs are sampled on the same questions, and a larger
    sample holds the smaller one. First answers come before repetitions.
    """
    by_run: dict[str, list[GivenAnswer]] = defaultdict(list)
    for answer in given:
        by_run[answer.sent.run].append(answer)
    lot = {each.sent.question_id: sha256(f"{seed}", "sample", each.sent.question_id) for each in given}
    return [
        answer
        for own in by_run.values()
        for answer in sorted(own, key=lambda each: (each.sent.repeat, lot[each.sent.question_id]))[:size]
    ]


def expert_judgements(
    scores: Iterable[AnswerScore], sent: Iterable[SentAnswer], counted: Sequence[str] = ()
) -> tuple[list[Judgement], int]:
    """Experts' scores as judgements, for every run that gave the answer.

    Args:
        scores: as pulled.
        sent: who gave which answer.
        counted: experts whose scores count; all when empty.

    Returns:
        The judgements, in the order of the scores; and how many scores are of answers that nobody gave, since the runs
        were made anew.
    """
    gave: dict[str, list[SentAnswer]] = defaultdict(list)
    for answer in sent:
        gave[answer.answer_id].append(answer)
    found: list[Judgement] = []
    stray = 0
    for score in scores:
        if counted and score.expert not in counted:
            continue
        stray += score.answer_id not in gave
        found += [
            Judgement(
                run=answer.run,
                task=answer.task,
                question_id=answer.question_id,
                repeat=answer.repeat,
                judge=EXPERT + score.expert,
                aspect=score.aspect,
                score=score.score,
            )
            for answer in gave.get(score.answer_id, [])
        ]
    return found, stray


def _shown(prediction: Prediction, about: OpenQuestion) -> GivenAnswer:
    said = visible_output(prediction.raw_output or "")
    screen = ShownAnswer(about.case, about.conversation or "", about.question, said, about.reference)
    sent = SentAnswer(
        answer_id=screen.id,
        run=prediction.run,
        task=prediction.task,
        question_id=prediction.question_id,
        repeat=prediction.repeat,
    )
    return GivenAnswer(sent, screen)


def _of_row(row: ReleaseRow) -> OpenQuestion:
    options = [f"{option.label}. {option.text}" for option in row.options]
    return OpenQuestion(
        task=Task.EXPLANATION,
        question_id=row.question_id,
        case="\n".join(filter(None, (row.shared_stem, row.stem, *options))),
        conversation=None,
        question=_EXPLAIN,
        reference=f"答案：{''.join(row.answer)}\n{row.explanation or ''}".strip(),
    )


def _of_cases(cases: Iterable[Case]) -> Iterator[OpenQuestion]:
    for case in cases:
        earlier: list[str] = []
        for number, turn in enumerate(case.turns):
            yield OpenQuestion(
                task=Task.CLINICAL,
                question_id=item_id(case, number),
                case=case.description,
                conversation="\n".join(earlier) or None,
                question=turn.question,
                reference=turn.solution,
            )
            earlier.append(f"问：{turn.question}\n答：{turn.solution}")


SENT = Path(FOLDER) / "scoring" / "sent.parquet"


@dataclass(frozen=True)
class ScoringStatus:
    """Progress of the experts as of the last pull."""

    answers: int
    """Texts that were sent; equal ones of several runs are one."""
    runs: Mapping[str, int]
    """Answers by run."""
    scored_by: Mapping[int, int]
    """Texts by number of experts who scored them in every aspect."""
    experts: Mapping[str, int]
    """Texts that each expert scored in every aspect."""
    agreement: Sequence[JudgeAgreement]


def push(
    params: EvaluateParams, review: ReviewParams, context: Context, *, adopt: bool = False
) -> PushReport:
    """Send a sample of every run's free texts to experts; again, it adds nothing.

    An answer's task is named by what it shows. One that reads otherwise since the run was made anew is another task;
    the old one is withdrawn unless somebody scored it.
    """
    from annotation.label_studio.tasks import scoring_tasks

    chosen = sample(_given(context.build), params.scoring.sample, context.seed)
    tasks = scoring_tasks((each.shown for each in chosen), seed=context.seed)
    kind = _kind(params)
    # Written first: a push that was interrupted has sent nothing whose author is not known here.
    (context.build / SENT).parent.mkdir(parents=True, exist_ok=True)
    replace_table(context.build / SENT, SentAnswer.to_frame(each.sent for each in chosen))
    return send(kind, tasks, review, context, adopt=adopt)


def pull(
    params: EvaluateParams,
    review: ReviewParams,
    context: Context,
    *,
    full: bool = False,
    adopt: bool = False,
) -> PullReport:
    """Fetch the scores that experts gave since the last pull into the folder ``reviews`` of the build."""
    from annotation.label_studio import pull as pulling

    kind = _kind(params)
    before = read_pulled(context.build, kind)
    with context.progress(None, "answers") as advance:
        after, report = pulling.pull(
            connect(review), kind, owner_of(context), before, full=full, adopt=adopt, advance=advance
        )
    write_pulled(context.build, kind, after)
    scores = AnswerScore.to_frame(_scores(ExpertReview.from_frame(after.reviews)))
    replace_table(context.build / ANSWER_SCORES, scores)
    return report


def status(build: Path, experts: Sequence[str]) -> ScoringStatus:
    """Return the progress of scoring, and the agreement of experts with each other and with the models that judged."""
    if not (build / SENT).exists():
        raise UserError("no answers were sent to experts: run `build-dataset score-answers push` first")
    sent = list(SentAnswer.from_frame(read_table(build / SENT)))
    scores = [
        score
        for score in AnswerScore.from_frame(_table(build / ANSWER_SCORES, AnswerScore.to_frame([])))
        if not experts or score.expert in experts
    ]
    ids = {answer.answer_id for answer in sent}
    whole = [(who, answer) for who, answer in _whole(scores) if answer in ids]
    by_answer = Counter(answer for _, answer in whole)
    judged, _ = expert_judgements(scores, sent)
    return ScoringStatus(
        answers=len(ids),
        runs=dict(Counter(answer.run for answer in sent)),
        scored_by=dict(sorted(Counter(by_answer[answer] for answer in ids).items())),
        experts=dict(sorted(Counter(who for who, _ in whole).items())),
        agreement=judge_agreement([*_by_models(build), *judged]),
    )


def _kind(params: EvaluateParams) -> Kind:
    from annotation.label_studio.projects import SCORING

    return replace(SCORING, experts=params.scoring.overlap)


def _given(build: Path) -> list[GivenAnswer]:
    """The free texts of the last evaluation."""
    home = build / "evaluate"
    if not (home / "predictions.parquet").exists():
        raise UserError(f"nothing was evaluated in {build}: run `build-dataset evaluate` first")
    free = read_table(home / "predictions.parquet").filter(pl.col("task") != Task.ANSWER.value)
    questions = OpenQuestion.from_frame(_table(home / "open_questions.parquet", OpenQuestion.to_frame([])))
    given = answers_given(Prediction.from_frame(free), questions)
    if not given:
        raise UserError(
            'there are no answers in free text to score: give a model in [[evaluate.models]] task = "clinical" or'
            ' "explanation", and run `build-dataset evaluate`'
        )
    return given


def _table(path: Path, otherwise: pl.DataFrame) -> pl.DataFrame:
    return read_table(path) if path.exists() else otherwise


def _scores(reviews: Iterable[ExpertReview]) -> Iterator[AnswerScore]:
    for review in reviews:
        yield AnswerScore(
            answer_id=review.question_id,
            aspect=review.dimension,
            score=int(review.label),
            expert=review.reviewer,
            note=review.note,
            annotation_id=review.annotation_id,
            updated_at=review.updated_at,
            seconds=review.seconds,
        )


def _whole(scores: Iterable[AnswerScore]) -> list[tuple[str, str]]:
    """Expert and answer, where every aspect was scored."""
    found = Counter((score.expert, score.answer_id) for score in scores)
    return [pair for pair, count in found.items() if count == len(aspects())]


def _by_models(build: Path) -> list[Judgement]:
    rows = _table(build / "evaluate" / "judgements.parquet", Judgement.to_frame([]))
    return [row for row in Judgement.from_frame(rows) if not row.judge.startswith(EXPERT)]
