"""Messages before answers are sent to experts, and the experts' progress; no server is asked."""

from pathlib import Path

import pytest

from build_dataset.annotation.params import ReviewParams
from build_dataset.annotation.rubric import aspects
from build_dataset.pipeline.evaluate.judging import project
from build_dataset.pipeline.evaluate.params import EvaluateParams
from build_dataset.pipeline.review.folder import replace_table
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import AnswerScore, Outcome, Prediction, SentAnswer, Task

ZHANG, LI = "zhang@example.org", "li@example.org"


def predict(build: Path, task: Task, outcome: Outcome = Outcome.ANSWERED) -> None:
    row = Prediction(
        run="m", task=task, question_id="q-1", raw_output="答", extracted=None, rule=None, outcome=outcome, correct=None
    )
    (build / "evaluate").mkdir(exist_ok=True)
    replace_table(build / "evaluate" / "predictions.parquet", Prediction.to_frame([row]))


def push(context) -> None:
    project.push(EvaluateParams(), ReviewParams(url="http://127.0.0.1:9"), context)


def test_nothing_is_sent_before_an_evaluation(context):
    with pytest.raises(UserError, match="run `build-dataset run` first"):
        push(context)


@pytest.mark.parametrize(("task", "outcome"), [(Task.ANSWER, Outcome.ANSWERED), (Task.CLINICAL, Outcome.REFUSED)])
def test_an_evaluation_without_free_text_says_how_to_get_some(context, task, outcome):
    predict(context.build, task, outcome)
    with pytest.raises(UserError, match=r"no answers in free text.*task = \"clinical\""):
        push(context)


def test_status_before_a_push_says_what_to_do(context):
    with pytest.raises(UserError, match="score-answers push"):
        project.status(context.build, [])


def scored(build: Path, given: dict[tuple[str, str], tuple[int, ...]]) -> None:
    rows = [
        AnswerScore(
            answer_id=answer,
            aspect=aspect.name,
            score=score,
            expert=who,
            note=None,
            annotation_id=1,
            updated_at="2026-11-22T03:00:00Z",
        )
        for (who, answer), scores in given.items()
        for aspect, score in zip(aspects(), scores, strict=False)
    ]
    (build / "reviews" / "scoring").mkdir(parents=True)
    replace_table(build / "reviews" / "answer_scores.parquet", AnswerScore.to_frame(rows))
    sent = [
        SentAnswer(answer_id=f"ans-{number}", run="m", task=Task.CLINICAL, question_id=f"clin-{number}-1")
        for number in range(4)
    ]
    replace_table(build / project.SENT, SentAnswer.to_frame(sent))


def test_status_counts_answers_that_were_scored_in_every_aspect(context):
    given = {
        (ZHANG, "ans-0"): (5, 4, 4, 5),
        (LI, "ans-0"): (5, 4, 3, 5),
        (ZHANG, "ans-1"): (2, 1, 1, 2),
        (LI, "ans-1"): (2, 1),
        (LI, "ans-9"): (1, 1, 1, 1),
    }
    scored(context.build, given)
    found = project.status(context.build, [])
    assert (found.answers, dict(found.runs)) == (4, {"m": 4})
    assert dict(found.scored_by) == {0: 2, 1: 1, 2: 1}
    assert dict(found.experts) == {LI: 1, ZHANG: 2}
    assert dict(project.status(context.build, [LI]).experts) == {LI: 1}
