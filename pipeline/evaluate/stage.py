"""The evaluate stage: ask models the questions of a split, read their answers, score them."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

from build_dataset.annotation.llm_annotator import estimate_requests
from build_dataset.pipeline.evaluate import grading, prompting, scoring
from build_dataset.pipeline.evaluate.backends import Backend, Generation, Setting, chat_requests, open_backend
from build_dataset.pipeline.evaluate.backends.local.loading import missing_packages
from build_dataset.pipeline.evaluate.judging.project import answers_given, expert_judgements, open_questions
from build_dataset.pipeline.evaluate.judging.scores import RUBRIC, Verdicts, judge, judge_agreement, judged_scores
from build_dataset.pipeline.evaluate.params import EvaluateParams, OpenAiModel, TransformersModel
from build_dataset.pipeline.evaluate.results import build as results
from build_dataset.pipeline.evaluate.tasks import PromptSource, RunOutcome, TaskWork, load_cases, task_work
from build_dataset.pipeline.rendering.markup import notes
from build_dataset.pipeline.stage import Context, Counts, Failure, Result, Tables
from build_dataset.schemas import errors, evaluation as records, questions, release, wording
from build_dataset.schemas.dataset import DatasetParams


@dataclass
class _Evaluation:
    """Everything that came of the runs."""

    works: Mapping[str, TaskWork]  # by run, as all mappings here
    runs: Mapping[str, RunOutcome]
    open_questions: list[records.OpenQuestion]
    scores: list[records.Score]
    verdicts: Verdicts
    stray: int = 0  # experts' scores of answers that no run gives any more

    @cached_property
    def predictions(self) -> list[records.Prediction]:
        """Return the predictions of all runs."""
        return [row for made in self.runs.values() for row in made.predictions]

    @cached_property
    def waiting(self) -> list[questions.ReviewItem]:
        """Everything that the next run asks again."""
        return [*[item for made in self.runs.values() for item in made.waiting], *self.verdicts.waiting]

    @property
    def rejects(self) -> list[questions.Rejection]:
        """Return the questions that a run was not asked."""
        pairs = ((run, left) for run, work in self.works.items() for left in work.left_out)
        return [left.model_copy(update={"detail": f"{run} was not asked: {left.detail}"}) for run, left in pairs]


def run(tables: Tables, params: EvaluateParams, context: Context) -> Result:
    """Ask every configured model its task's questions and score what it gives; a request that failed waits."""
    splits = {name: list(release.ReleaseRow.from_frame(tables[name])) for name in questions.SPLITS}
    source = PromptSource(splits, params, context.seed)
    setting = Setting(context, splits["train"])
    # Every model is opened and every prompt made before the first is asked, so that a mistake costs nothing.
    models = {options.run_name(): options for options in params.all_models()}
    opened = {run: (open_backend(options, setting), task_work(options, source)) for run, options in models.items()}
    works = {run: work for run, (_, work) in opened.items()}
    asked = open_questions({options.task for options in models.values()}, source.questions, params.cases)
    with context.progress(sum(len(work.prompts) for work in works.values()), "prompts") as advance:
        runs = {run: _ask(run, *each, advance) for run, each in opened.items()}
    ended = [made.ended for made in runs.values() if made.ended]
    if ended and len(ended) == len(runs):
        raise ended[0]
    scores = [score for made in runs.values() for score in made.scores]
    for part, rows in scoring.by_slice(source.questions).items():
        scores += scoring.human_scores(part, rows)
    verdicts, texts = Verdicts(), [text for made in runs.values() for text in made.written]
    if params.judge is not None and texts:
        with context.progress(len(texts), "verdicts") as advance:
            verdicts = judge(texts, params.judge, context.store, advance)
    made = _Evaluation(works, runs, asked, scores, verdicts)
    if "answer_scores" in tables and not tables["answer_scores"].is_empty():
        # What experts said in Label Studio counts wherever the answer still reads as they saw it.
        sent = [each.sent for each in answers_given(made.predictions, asked)]
        given = records.AnswerScore.from_frame(tables["answer_scores"])
        judgements, made.stray = expert_judgements(given, sent, params.scoring.experts)
        made.verdicts.judgements += judgements
    made.scores += judged_scores(made.verdicts.judgements)
    return _result(params, made)


def estimate(tables: Tables, params: EvaluateParams, context: Context) -> list[str]:
    """Return a line a model: the prompts that are not stored, with tokens and cost of an endpoint; asks nobody."""
    splits = {name: list(release.ReleaseRow.from_frame(tables[name])) for name in questions.SPLITS}
    source = PromptSource(splits, params, context.seed)
    lines = []
    for options in params.all_models():
        prompts = task_work(options, source).prompts
        line = f"{len(prompts):,} prompts, on this machine"
        if isinstance(options, OpenAiModel):
            what = "prompts to ask, with outputs at their longest"
            line = estimate_requests(options, chat_requests(prompts), context.store, what, options.max_tokens)
        lines.append(f"{options.run_name()}: {line}")
    return lines


def _ask(run: str, backend: Backend, work: TaskWork, advance: Callable[[int], None]) -> RunOutcome:
    """Ask one model and return its results, in the order of its prompts."""
    given: dict[str, Generation] = {}
    ended = None
    try:
        for generation in backend.generate(work.prompts, advance):
            given[generation.prompt_id] = generation
    except errors.UserError as error:
        ended = error  # What ends one model, such as a key that is refused, must not end the others.
        failure = Failure("ended", str(error))
        unasked = [prompt.id for prompt in work.prompts if prompt.id not in given]
        given |= {name: Generation(name, None, failure=failure) for name in unasked}
        advance(len(unasked))
    failures = ((prompt.id, why) for prompt in work.prompts if (why := given[prompt.id].failure) is not None)
    made = work.read(run, given)
    made.waiting = [prompting.failed_item(at, why.reason, f"{run}: {why.detail}") for at, why in failures]
    # What a model is, what its server calls it and the libraries that its outputs were made with; tokens and cost of
    # its outputs are null where unknown, and calls that were paid in vain stand apart.
    texts = [each for each in given.values() if each.text is not None]
    summed = ("prompt_tokens", "completion_tokens", "cost")
    made_with = {(library, number) for each in texts for library, number in (each.made_with or {}).items()}
    wasted = Counter[str]()
    for each in given.values():
        wasted.update(each.waste or {})
    made.ended = ended
    made.facts = {
        "identity": dict(backend.identity),
        "reported": sorted({each.model for each in texts if each.model}),
        "made_with": [" ".join(each) for each in sorted(made_with)],
        "prompts": len(texts),
        **{name: _sum([getattr(each, name) for each in texts]) for name in summed},
        **{name: round(value, 6) for name, value in wasted.items() if value},
    }
    return made


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    # a part that is unknown makes the whole unknown
    return round(sum(known), 6) if known and len(known) == len(values) else None


def _result(params: EvaluateParams, made: _Evaluation) -> Result:
    unanswered, rejects, verdicts = len(made.waiting), made.rejects, made.verdicts
    asked = len(made.predictions) + verdicts.requests
    comparisons = scoring.compare_runs({run: each.graded for run, each in made.runs.items() if each.graded})
    askings = {options.run_name(): grading.run_settings(options) for options in params.all_models()}
    agreement = judge_agreement(verdicts.judgements)
    evaluated = results.Evaluated(made.scores, comparisons, agreement, askings=askings)
    return Result(
        tables={
            "predictions": records.Prediction.to_frame(made.predictions),
            "open_questions": records.OpenQuestion.to_frame(made.open_questions),
            "scores": records.Score.to_frame(made.scores),
            "comparisons": records.Comparison.to_frame(comparisons),
            "judgements": records.Judgement.to_frame(verdicts.judgements),
            "judge_agreement": records.JudgeAgreement.to_frame(agreement),
        },
        counts=Counts(asked + len(rejects), kept=asked - unanswered, rejected=len(rejects), waiting=unanswered),
        rejects=rejects,
        review=made.waiting,
        files={
            "results.md": results.markdown(evaluated, f"Results on the {params.split} split 评测结果").encode(),
            "unsure.jsonl": grading.unsure_file(made.predictions),
            **results.files(evaluated),
        },
        facts=_facts(params, made, askings),
        complete=not made.waiting,
        notes=notes(
            "build_dataset.pipeline.evaluate",
            asked=bool(made.predictions),
            split=params.split,
            headlines=results.headlines(made.scores),
            ended={run: each.ended for run, each in made.runs.items() if each.ended},
            waiting=unanswered,
            reasons=wording.tally_failures((item.reason, item.detail) for item in made.waiting),
            stray=made.stray,
            unread=grading.count_unread(made.predictions),
        ),
    )


def _facts(params: EvaluateParams, made: _Evaluation, askings: Mapping[str, grading.RunSettings]) -> dict[str, Any]:
    """Return what was asked of whom, and what all outputs and verdicts cost where that is known."""
    facts: dict[str, Any] = {"split": params.split, "models": {run: each.facts for run, each in made.runs.items()}}
    facts["asked"] = {run: asdict(settings) for run, settings in askings.items()}
    judges, verdicts = [params.judge] if params.judge else [], made.verdicts
    if params.judge is not None:
        judge = {"name": f"llm:{params.judge.model}", "rubric": RUBRIC["version"], "requests": verdicts.requests}
        facts["judge"] = judge | {"without_verdict": len(verdicts.waiting), "cost": verdicts.cost}
    models = [model for model in params.all_models() if isinstance(model, OpenAiModel)]
    costs = [made.runs[model.run_name()].facts["cost"] for model in models] + [verdicts.cost] * len(judges)
    currencies = {options.currency for options in (*models, *judges)}
    priced = len(currencies) == 1 and None not in costs  # dollars and yuan do not add up
    return facts | ({"cost": _sum(costs), "currency": currencies.pop()} if priced else {})


def problems(params: EvaluateParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """A line for every model that cannot be asked as configured; empty when nothing stands in the way."""
    try:
        models = params.all_models()
    except errors.UserError as error:
        return [str(error)]
    lines: list[str] = []
    for model in models:
        if isinstance(model, OpenAiModel) and (missing := model.missing()) is not None:
            lines.append(f"evaluate, {model.run_name()}: {missing}")
        lines += _said(partial(prompting.load_template, model.template(), model.task))
        if isinstance(model, TransformersModel) and (missing := missing_packages(model)) is not None:
            lines.append(missing)
        lines += _said(partial(load_cases, params.cases)) if model.task is records.Task.CLINICAL else []
    if params.judge is not None and (missing := params.judge.missing()) is not None:
        lines.append(f"evaluate.judge: {missing}")
    return list(dict.fromkeys(lines))  # two models may lack the same package


def _said(attempt: Callable[[], object]) -> list[str]:
    """Return the error of an attempt."""
    try:
        attempt()
    except errors.UserError as error:
        return [str(error)]
    return []
