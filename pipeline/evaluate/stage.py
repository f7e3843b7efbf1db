"""The evaluate stage: ask models the questions of a split, read their answers, score them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pipeline.evaluate import report
from pipeline.evaluate.backends import Backend, Generation, Setting, open_backend
from pipeline.evaluate.extraction import answers_first
from pipeline.evaluate.grading import grade
from pipeline.evaluate.params import EvaluateParams, MajorityModel, OpenAiModel, RandomModel
from pipeline.evaluate.prompting import Examples, Prompt, Template, load_template, messages
from pipeline.evaluate.scoring import accepted, human_scores, score_slice
from pipeline.evaluate.slices import by_slice
from pipeline.stage import Context, Counts, Result, Tables
from schemas.evaluation import Prediction, Score
from schemas.identity import sha256
from schemas.questions import Rejection, ReviewItem
from schemas.release import ReleaseRow

_UNREAD = Template(question="{stem}\n{options}", answer="{answer}")
"""What baselines are asked with; they do not read it."""
Splits = dict[str, list[ReleaseRow]]


@dataclass(frozen=True)
class _Run:
    """One model and what it is asked."""

    name: str
    backend: Backend
    template: Template
    prompts: Sequence[Prompt]


@dataclass
class _Outcomes:
    """What came of all runs so far."""

    predictions: list[Prediction] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    waiting: list[ReviewItem] = field(default_factory=list)


def run(tables: Tables, params: EvaluateParams, context: Context) -> Result:
    """Ask every configured model the questions of a split and score the answers.

    Outputs are kept as they arrive; scoring them again asks nothing. A request that failed waits for the next run.

    Args:
        tables: ``train``, ``validation`` and ``test`` (``ReleaseRow``).
        params: models, prompts, the split.
        context: from the runner.

    Returns:
        ``predictions`` (one row a model and question) and ``scores``; counts are of prompts.

    Raises:
        UserError: a model or a prompt cannot be used.
    """
    splits = {name: list(ReleaseRow.from_frame(tables[name])) for name in ("train", "validation", "test")}
    chosen = _limited(splits[params.split], params.limit)
    questions = [row for row in chosen if accepted(row)]
    runs = _prepare(params, context, splits, questions)
    made = _Outcomes()
    with context.progress(sum(len(each.prompts) for each in runs), "prompts") as advance:
        for each in runs:
            _ask(each, made, advance)
    made.scores += [
        score for part, rows in _sliced(questions, lambda row: row) for score in human_scores(part, rows)
    ]
    return _result(params, runs, [row for row in chosen if not accepted(row)], made)


def _limited(rows: list[ReleaseRow], limit: int | None) -> list[ReleaseRow]:
    """At most ``limit`` rows, spread over the split by their ids, in the split's order."""
    if limit is None or len(rows) <= limit:
        return rows
    taken = {row.question_id for row in sorted(rows, key=lambda row: sha256(row.question_id))[:limit]}
    return [row for row in rows if row.question_id in taken]


def _prepare(
    params: EvaluateParams, context: Context, splits: Splits, questions: Sequence[ReleaseRow]
) -> list[_Run]:
    """Every model opened and every prompt made before the first is asked, so that a mistake costs nothing."""
    setting = Setting(context, splits["train"])
    sources = [splits[name] for name in ("validation", "train") if name != params.split]
    runs = []
    for options in params.all_models():
        template, shots = _asked_with(options)
        examples = Examples(shots, sources, context.seed)
        prompts = [Prompt(row, messages(template, row, examples.of(row))) for row in questions]
        runs.append(_Run(options.run_name(), open_backend(options, setting), template, prompts))
    return runs


def _asked_with(options: OpenAiModel | RandomModel | MajorityModel) -> tuple[Template, int]:
    if isinstance(options, OpenAiModel):
        return load_template(options.prompt), options.shots
    return _UNREAD, 0


def _ask(each: _Run, made: _Outcomes, advance: Callable[[int], None]) -> None:
    """Ask one model and add what came of it, in the order of the questions."""
    generations = {given.question_id: given for given in each.backend.generate(each.prompts, advance)}
    answer_first = _answers_first(each, generations)
    graded = []
    for prompt in each.prompts:
        prediction, item = grade(
            each.name,
            prompt,
            generations[prompt.question.question_id],
            answer_first=answer_first,
            expected=each.backend.expected(prompt),
        )
        made.predictions.append(prediction)
        if item is not None:
            graded.append(item)
    made.scores += [
        score
        for part, items in _sliced(graded, lambda item: item.question)
        for score in score_slice(each.name, part, items)
    ]
    made.facts[each.name] = _facts(generations.values())
    made.waiting += _waiting(each.name, (generations[prompt.question.question_id] for prompt in each.prompts))


def _answers_first(each: _Run, generations: Mapping[str, Generation]) -> bool | None:
    """How a run's outputs are to be read: never from the opening where the prompt asks for reasoning first.

    Where it asks for the answer first, a model that obeys is read so; one that reasons all the same is read text
    by text, so that its analysis of option A is not taken for its answer.
    """
    if not each.template.answer_first:
        return False
    texts = ((generations[prompt.question.question_id].text, prompt) for prompt in each.prompts)
    return answers_first(
        (text, [option.label for option in prompt.question.options])
        for text, prompt in texts
        if text is not None
    )


def _sliced(items: Sequence[Any], question: Callable[[Any], ReleaseRow]) -> Iterable[tuple[Any, list[Any]]]:
    """Items by the slices of their questions."""
    by_id = {question(item).question_id: item for item in items}
    for part, ids in by_slice([question(item) for item in items]).items():
        yield part, [by_id[question_id] for question_id in ids]


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
                item_id=given.question_id,
                question_ids=[given.question_id],
                stage="evaluate",
                reason=given.failure.reason,
                detail=f"{run_name}: {given.failure.detail}",
            )


def _result(
    params: EvaluateParams, runs: Sequence[_Run], keyless: Sequence[ReleaseRow], made: _Outcomes
) -> Result:
    waiting = len(made.waiting)
    rejects = [
        Rejection(
            item_id=row.question_id,
            stage="evaluate",
            reason="no_answer_key",
            detail=f"{each.name} was not asked: the question has no key to score against",
        )
        for each in runs
        for row in keyless
    ]
    asked = len(made.predictions)
    title = f"Results on the {params.split} split 评测结果"
    return Result(
        tables={"predictions": Prediction.to_frame(made.predictions), "scores": Score.to_frame(made.scores)},
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
