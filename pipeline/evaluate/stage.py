"""The evaluate stage: ask models the questions of a split, read their answers, score them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.evaluate import report
from pipeline.evaluate.backends import Backend, Generation, Setting, open_backend
from pipeline.evaluate.comparing import compare_runs
from pipeline.evaluate.params import EvaluateParams, OpenAiModel
from pipeline.evaluate.scoring import Graded, human_scores
from pipeline.evaluate.slices import by_slice
from pipeline.evaluate.tasks import Material, Reading, TaskWork, open_task
from pipeline.stage import Context, Counts, Result, Tables
from schemas.evaluation import Comparison, Prediction, Score
from schemas.questions import Rejection, ReviewItem
from schemas.release import ReleaseRow


@dataclass(frozen=True)
class _Run:
    """One model and what it is asked."""

    name: str
    backend: Backend
    work: TaskWork


@dataclass
class _Outcomes:
    """What came of all runs so far."""

    predictions: list[Prediction] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    graded: dict[str, list[Graded]] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    waiting: list[ReviewItem] = field(default_factory=list)

    def add(self, run: str, reading: Reading) -> None:
        """Add what came of a run."""
        self.predictions += reading.predictions
        self.scores += reading.scores
        if reading.graded:
            self.graded[run] = reading.graded


def run(tables: Tables, params: EvaluateParams, context: Context) -> Result:
    """Ask every configured model its task's questions and score what it gives.

    Outputs are kept as they arrive; scoring them again asks nothing. A request that failed waits for the next run.

    Args:
        tables: ``train``, ``validation`` and ``test`` (``ReleaseRow``).
        params: models, tasks, prompts, the split.
        context: from the runner.

    Returns:
        ``predictions`` (one row a model and prompt), ``scores`` and ``comparisons``; counts are of prompts.

    Raises:
        UserError: a model, a prompt or a file of cases cannot be used.
    """
    splits = {name: list(ReleaseRow.from_frame(tables[name])) for name in ("train", "validation", "test")}
    material = Material(splits, params.split, params.limit, context.seed, params.cases)
    setting = Setting(context, splits["train"])
    # Every model is opened and every prompt made before the first is asked, so that a mistake costs nothing.
    runs = [
        _Run(options.run_name(), open_backend(options, setting), open_task(options, material))
        for options in params.all_models()
    ]
    made = _Outcomes()
    with context.progress(sum(len(each.work.prompts) for each in runs), "prompts") as advance:
        for each in runs:
            _ask(each, made, advance)
    made.scores += _people(material.questions)
    return _result(params, runs, made)


def _ask(each: _Run, made: _Outcomes, advance: Callable[[int], None]) -> None:
    """Ask one model and add what came of it, in the order of its prompts."""
    given = {one.prompt_id: one for one in each.backend.generate(each.work.prompts, advance)}
    made.add(each.name, each.work.read(each.name, each.backend, given))
    made.facts[each.name] = _facts(given.values())
    made.waiting += _waiting(each.name, (given[prompt.id] for prompt in each.work.prompts))


def _people(questions: Sequence[ReleaseRow]) -> list[Score]:
    """The human line, slice by slice."""
    by_id = {row.question_id: row for row in questions}
    return [
        score
        for part, ids in by_slice(questions).items()
        for score in human_scores(part, [by_id[question_id] for question_id in ids])
    ]


def _facts(generations: Iterable[Generation]) -> dict[str, Any]:
    """Tokens and cost of a model's outputs, whenever they were made; null where the endpoint does not say."""
    given = [made for made in generations if made.text is not None]
    return {
        "prompts": len(given),
        "prompt_tokens": _sum([made.prompt_tokens for made in given]),
        "completion_tokens": _sum([made.completion_tokens for made in given]),
        "cost": _sum([made.cost for made in given]),
    }


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return round(sum(known), 6) if known and len(known) == len(values) else None


def _cost(params: EvaluateParams, made: _Outcomes) -> dict[str, Any]:
    """What all outputs cost together, where every model that costs money has prices in one currency."""
    asked = [model for model in params.all_models() if isinstance(model, OpenAiModel)]
    currencies = {model.currency for model in asked}
    costs = [made.facts[model.run_name()]["cost"] for model in asked]
    if len(currencies) != 1 or None in costs:
        return {}
    return {"cost": _sum(costs), "currency": currencies.pop()}


def _waiting(run_name: str, generations: Iterable[Generation]) -> Iterator[ReviewItem]:
    """Prompts whose request failed; they are asked again on the next run."""
    for given in generations:
        if given.failure is not None:
            yield ReviewItem(
                item_id=given.prompt_id,
                question_ids=[given.prompt_id.partition("#")[0].partition("~")[0]],
                stage="evaluate",
                reason=given.failure.reason,
                detail=f"{run_name}: {given.failure.detail}",
            )


def _result(params: EvaluateParams, runs: Sequence[_Run], made: _Outcomes) -> Result:
    waiting = len(made.waiting)
    rejects = [
        Rejection(
            item_id=left.item_id,
            stage="evaluate",
            reason=left.reason,
            detail=f"{each.name} was not asked: {left.detail}",
        )
        for each in runs
        for left in each.work.left_out
    ]
    asked = len(made.predictions)
    title = f"Results on the {params.split} split 评测结果"
    comparisons = compare_runs(made.graded)
    return Result(
        tables={
            "predictions": Prediction.to_frame(made.predictions),
            "scores": Score.to_frame(made.scores),
            "comparisons": Comparison.to_frame(comparisons),
        },
        counts=Counts(
            into=asked + len(rejects), kept=asked - waiting, rejected=len(rejects), waiting=waiting
        ),
        rejects=rejects,
        review=made.waiting,
        files={"results.md": report.markdown(made.scores, title).encode()},
        facts={"split": params.split, "models": made.facts, **_cost(params, made)},
        complete=not made.waiting,
        notes=_notes(params, made),
    )


def _notes(params: EvaluateParams, made: _Outcomes) -> list[str]:
    if not made.predictions:
        return [f"the {params.split} split holds no questions: nothing was asked"]
    tally = Counter(item.reason for item in made.waiting)
    reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(tally.items()))
    unanswered = (
        [f"{len(made.waiting)} prompts got no output ({reasons}): run evaluate again"] if tally else []
    )
    return [*report.headlines(made.scores), *unanswered]
