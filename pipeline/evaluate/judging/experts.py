"""Answers in free text as experts see them, and experts' scores as judgements of the runs that gave them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from annotation.rubric.answers import ShownAnswer
from pipeline.evaluate.extraction import shown
from pipeline.evaluate.judging.scores import EXPERT
from pipeline.evaluate.outcomes import READABLE
from pipeline.evaluate.tasks.cases import Case, load_cases
from pipeline.evaluate.tasks.clinical import item_id
from schemas.evaluation import AnswerScore, Judgement, OpenQuestion, Prediction, SentAnswer, Task
from schemas.identity import sha256
from schemas.release import ReleaseRow

_EXPLAIN = "请给出正确答案并写出解析，说明各选项为什么对或错。\nGive the right answer and explain it."


@dataclass(frozen=True)
class Given:
    """An answer that a run gave, and what experts see of it."""

    sent: SentAnswer
    shown: ShownAnswer


def open_questions(
    tasks: Container[Task], rows: Iterable[ReleaseRow], cases: Path | None
) -> list[OpenQuestion]:
    """What is asked in free text, as people see it.

    Args:
        tasks: what models are asked to do.
        rows: of the split; those that the paper explains are asked.
        cases: file of those that the task ``clinical`` asks; read where one does.

    Raises:
        UserError: the file of cases cannot be used.
    """
    found = [_of_row(row) for row in rows if row.explanation] if Task.EXPLANATION in tasks else []
    if Task.CLINICAL in tasks:
        found += _of_cases(load_cases(cases))
    return found


def answers_given(predictions: Iterable[Prediction], questions: Iterable[OpenQuestion]) -> list[Given]:
    """The answers in free text that can be scored, in the order of the predictions.

    Those that were refused, empty or not given are not among them, as with a model that judges.
    """
    asked = {(question.task, question.question_id): question for question in questions}
    return [
        _given(prediction, about)
        for prediction in predictions
        if prediction.outcome in READABLE
        and (about := asked.get((prediction.task, prediction.question_id))) is not None
    ]


def sample(given: Sequence[Given], size: int, seed: int) -> list[Given]:
    """At most ``size`` answers of each run, drawn by lot.

    A question's lot depends on the seed and its id alone: all runs are sampled on the same questions, and a larger
    sample holds the smaller one. First answers come before repetitions.
    """
    by_run: dict[str, list[Given]] = defaultdict(list)
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


def _given(prediction: Prediction, about: OpenQuestion) -> Given:
    said = shown(prediction.raw_output or "")
    screen = ShownAnswer(about.case, about.conversation or "", about.question, said, about.reference)
    sent = SentAnswer(
        answer_id=screen.id,
        run=prediction.run,
        task=prediction.task,
        question_id=prediction.question_id,
        repeat=prediction.repeat,
    )
    return Given(sent, screen)


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
