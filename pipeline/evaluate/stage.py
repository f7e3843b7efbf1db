"""The evaluate stage: ask models the questions of a split, read their answers, score them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.evaluate.backends import Backend, Generation, Setting, open_backend
from pipeline.evaluate.backends.local.loading import missing_model, missing_packages
from pipeline.evaluate.clinical import load_cases
from pipeline.evaluate.comparing import compare_runs
from pipeline.evaluate.grading import describe_run, fingerprint, libraries, run_file, run_settings
from pipeline.evaluate.judging.project import answers_given, expert_judgements, open_questions
from pipeline.evaluate.judging.scores import judge_agreement, judged_scores, load_expert_scores
from pipeline.evaluate.llm import (
    RUBRIC,
    Consultation,
    OutputReader,
    UnreadOutput,
    Verdicts,
    WrittenText,
    estimate,
    plan,
)
from pipeline.evaluate.params import AskOptions, EvaluateParams, LocalModel, MultipleChoiceModel, OpenAiModel
from pipeline.evaluate.prompting import failed_item, load_template
from pipeline.evaluate.results import build as results
from pipeline.evaluate.results.build import Evaluated
from pipeline.evaluate.scoring import Graded, by_slice, human_scores
from pipeline.evaluate.tasks import TASKS, AnswerWork, PromptSource, RunOutcome, TaskWork
from pipeline.rendering.markdown import notes
from pipeline.stage import Context, Counts, Failure, Result, Tables
from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.evaluation import (
    AnswerScore,
    Comparison,
    JudgeAgreement,
    Judgement,
    OpenQuestion,
    Prediction,
    Preference,
    Score,
    Task,
)
from schemas.questions import SPLITS, ReviewItem
from schemas.release import ReleaseRow
from schemas.wording import tally_failures


@dataclass(frozen=True)
class _Run:
    """One model and what it is asked."""

    name: str
    backend: Backend
    work: TaskWork


@dataclass
class _Outcomes:
    """Results of all runs so far."""

    questions: str
    """See ``grading.fingerprint``."""
    open_questions: list[OpenQuestion]
    predictions: list[Prediction] = field(default_factory=list)
    scores: list[Score] = field(default_factory=list)
    graded: dict[str, list[Graded]] = field(default_factory=dict)
    written: dict[str, list[WrittenText]] = field(default_factory=dict)
    verdicts: Verdicts = field(default_factory=Verdicts)
    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The provenance of each run's model, see ``describe_run``."""
    ended: dict[str, UserError] = field(default_factory=dict)
    """Runs that stopped early, and the reasons."""
    stray: int = 0
    """Experts' scores of answers that no run gives any more."""
    reader: Consultation = field(default_factory=Consultation)
    facts: dict[str, Any] = field(default_factory=dict)
    waiting: list[ReviewItem] = field(default_factory=list)

    def add(self, run: str, reading: RunOutcome) -> None:
        """Add what came of a run."""
        self.predictions += reading.predictions
        self.scores += reading.scores
        if reading.graded:
            self.graded[run] = reading.graded
        if reading.written:
            self.written[run] = reading.written


def run(tables: Tables, params: EvaluateParams, context: Context) -> Result:
    """Ask every configured model its task's questions and score what it gives.

    Outputs are kept as they arrive; scoring them again asks nothing. A request that failed waits for the next run.

    Returns:
        ``predictions`` (one row a model and prompt), what they were asked in free text (``open_questions``), ``scores``
        and ``comparisons``; counts are of prompts.
    """
    splits = _splits(tables)
    reader = None if params.reader is None else OutputReader(params.reader, context.store)
    material = PromptSource(splits, params, context.seed, reader)
    setting = Setting(context, splits["train"])
    # Every model is opened and every prompt made before the first is asked, so that a mistake costs nothing.
    runs = [
        _Run(options.run_name(), open_backend(options, setting), TASKS[options.task](options, material))
        for options in params.all_models()
    ]
    tasks = {options.task for options in params.all_models()}
    made = _Outcomes(fingerprint(material.questions), open_questions(tasks, material.questions, params.cases))
    with context.progress(sum(len(each.work.prompts) for each in runs), "prompts") as advance:
        for each in runs:
            _ask(each, made, advance)
    if made.ended and len(made.ended) == len(runs):
        raise next(iter(made.ended.values()))
    for part, rows in by_slice(material.questions).items():
        made.scores += human_scores(part, rows)
    made.verdicts = _judged(params, made, context)
    if "answer_scores" in tables and not tables["answer_scores"].is_empty():
        # What experts said in Label Studio counts wherever the answer still reads as they saw it.
        sent = [each.sent for each in answers_given(made.predictions, made.open_questions)]
        scores = AnswerScore.from_frame(tables["answer_scores"])
        found, made.stray = expert_judgements(scores, sent, params.scoring.experts)
        made.verdicts.judgements += found
    made.scores += judged_scores(made.verdicts.judgements)
    made.reader = made.reader if reader is None else reader.told
    made.waiting += [*made.verdicts.waiting, *made.reader.waiting]
    return _result(params, runs, made)


def estimate_reader(tables: Tables, params: EvaluateParams, context: Context) -> str:
    """Return what ``[evaluate.reader]`` would take on the stored outputs of the last evaluation; asks nobody."""
    if params.reader is None:
        raise UserError("evaluate --dry-run tells what [evaluate.reader] would cost; none is configured")
    material = PromptSource(_splits(tables), params, context.seed)
    rows = [row for row in Prediction.from_frame(tables["predictions"]) if row.task is Task.ANSWER]
    unread: list[UnreadOutput] = []
    for options in params.all_models():
        work = TASKS[options.task](options, material)
        if isinstance(work, AnswerWork):
            unread += work.unread(row for row in rows if row.run == options.run_name())
    return estimate(params.reader, unread, context.store)


def _splits(tables: Tables) -> dict[str, list[ReleaseRow]]:
    return {name: list(ReleaseRow.from_frame(tables[name])) for name in SPLITS}


def _ask(each: _Run, made: _Outcomes, advance: Callable[[int], None]) -> None:
    """Ask one model and add its results, in the order of its prompts."""
    given: dict[str, Generation] = {}
    try:
        for one in each.backend.generate(each.work.prompts, advance):
            given[one.prompt_id] = one
    except UserError as error:
        # What ends one model, such as a key that is refused, must not end the others.
        made.ended[each.name] = error
        failure = Failure("ended", str(error))
        unasked = [prompt.id for prompt in each.work.prompts if prompt.id not in given]
        given |= {name: Generation(name, None, failure=failure) for name in unasked}
        advance(len(unasked))
    made.add(each.name, each.work.read(each.name, each.backend, given))
    made.facts[each.name] = _facts(given.values())
    made.told[each.name] = describe_run(each.backend.identity, given.values())
    made.waiting += [
        failed_item(prompt.id, failed.reason, f"{each.name}: {failed.detail}")
        for prompt in each.work.prompts
        if (failed := given[prompt.id].failure) is not None
    ]


def _judged(params: EvaluateParams, made: _Outcomes, context: Context) -> Verdicts:
    """Return the judge's and the experts' verdicts on the free texts."""
    verdicts = Verdicts()
    for options in params.judges() if made.written else ():
        requests = sum(1 for _ in plan(made.written, compare=options.compare))
        with context.progress(requests, "verdicts") as advance:
            verdicts.judge(made.written, options, context.store, advance)
    if params.expert_scores is not None:
        verdicts.judgements += load_expert_scores(params.expert_scores)
    return verdicts


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


def _judge_facts(params: EvaluateParams, made: _Outcomes) -> dict[str, Any]:
    """Return the judge with its rubric and the reader, and the number and cost of what they said."""
    found, reader, told = made.verdicts, made.reader, {}
    if judges := params.judges():
        names = ", ".join(options.judge_name() for options in judges)
        told["judge"] = {"name": names, "rubric": RUBRIC["version"], "requests": found.requests}
        told["judge"] |= {"without_verdict": len(found.waiting), "cost": found.cost}
    if params.reader is not None:
        told["reader"] = {"model": params.reader.model, "requests": reader.requests}
        told["reader"] |= {"without_reply": len(reader.waiting), "cost": reader.cost}
    return told


def _cost(params: EvaluateParams, made: _Outcomes) -> dict[str, Any]:
    """Return the cost of all outputs and verdicts, where all of them have prices in one currency."""
    asked = [model for model in params.all_models() if isinstance(model, OpenAiModel)]
    costs = [made.facts[model.run_name()]["cost"] for model in asked]
    costs += [made.verdicts.cost] if params.judges() else []
    costs += [made.reader.cost] if params.reader else []
    readers = [params.reader] if params.reader else []
    currencies = {options.currency for options in (*asked, *params.judges(), *readers)}
    if len(currencies) != 1 or None in costs:
        return {}
    return {"cost": _sum(costs), "currency": currencies.pop()}


def _result(params: EvaluateParams, runs: Sequence[_Run], made: _Outcomes) -> Result:
    left_out = [(each.name, left) for each in runs for left in each.work.left_out]
    details = [{"detail": f"{name} was not asked: {left.detail}"} for name, left in left_out]
    rejects = [left.model_copy(update=own) for (_, left), own in zip(left_out, details, strict=True)]
    unanswered, lost = len(made.waiting), len(rejects)
    asked = len(made.predictions) + made.verdicts.requests + made.reader.requests
    title = f"Results on the {params.split} split 评测结果"
    comparisons = compare_runs(made.graded)
    askings = {options.run_name(): run_settings(options) for options in params.all_models()}
    written = [text for texts in made.written.values() for text in texts]
    lengths = {(text.run, text.item_id, str(text.prompt.repeat)): len(text.said) for text in written}
    models = {run: found.model for run, found in askings.items()}
    agreement = judge_agreement(made.verdicts.judgements, lengths, models)
    found = Evaluated(
        made.scores,
        comparisons,
        made.verdicts.preferences,
        agreement,
        askings=askings,
        more_than=params.more_than(),
    )
    return Result(
        tables={
            "predictions": Prediction.to_frame(made.predictions),
            "open_questions": OpenQuestion.to_frame(made.open_questions),
            "scores": Score.to_frame(made.scores),
            "comparisons": Comparison.to_frame(comparisons),
            "judgements": Judgement.to_frame(made.verdicts.judgements),
            "preferences": Preference.to_frame(made.verdicts.preferences),
            "judge_agreement": JudgeAgreement.to_frame(agreement),
        },
        counts=Counts(asked + lost, kept=asked - unanswered, rejected=lost, waiting=unanswered),
        rejects=rejects,
        review=made.waiting,
        files={
            "run.json": run_file(params, made.told, made.predictions, made.questions),
            "results.md": results.markdown(found, title).encode(),
            **results.files(found),
        },
        facts={
            "libraries": libraries(made.told),
            "split": params.split,
            "questions": made.questions,
            "models": made.facts,
            "asked": {run: asdict(found) for run, found in askings.items()},
            "more_than": params.more_than(),
            **_judge_facts(params, made),
            **_cost(params, made),
        },
        complete=not made.waiting,
        notes=notes(
            "pipeline.evaluate",
            asked=bool(made.predictions),
            split=params.split,
            headlines=results.headlines(made.scores),
            ended=made.ended,
            waiting=unanswered,
            reasons=tally_failures((item.reason, item.detail) for item in made.waiting),
            stray=made.stray,
        ),
    )


def problems(params: EvaluateParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """A line for every model that cannot be asked as configured; empty when nothing stands in the way."""
    try:
        models = params.all_models()
        params.judges()
    except UserError as error:
        return [str(error)]
    found: list[str] = []
    for model in models:
        if isinstance(model, OpenAiModel) and (missing := model.missing()) is not None:
            found.append(f"evaluate, {model.run_name()}: {missing}")
        found += _unusable(model, params.cases)
    for name in ("judge", "second_judge", "reader"):
        options = getattr(params, name)
        if options is not None and (missing := options.missing()) is not None:
            found.append(f"evaluate.{name}: {missing}")
    if params.expert_scores is not None:
        found += _said(partial(load_expert_scores, params.expert_scores))
    return list(dict.fromkeys(found))


def _unusable(model: AskOptions, cases: Path | None) -> list[str]:
    """Return the problems of the files that a model is asked with."""
    found = _said(partial(load_template, model.template(), model.task))
    missing = missing_packages(model) if isinstance(model, LocalModel | MultipleChoiceModel) else None
    if missing is not None:
        found.append(missing)
    elif isinstance(model, LocalModel) and (away := missing_model(model)) is not None:
        found.append(f"evaluate, {model.run_name()}: {away}")
    return found + (_said(partial(load_cases, cases)) if model.task is Task.CLINICAL else [])


def _said(attempt: Callable[[], object]) -> list[str]:
    """Return the error of an attempt."""
    try:
        attempt()
    except UserError as error:
        return [str(error)]
    return []
