"""Obstacles to an evaluation, found before anything is asked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from pipeline.evaluate.backends.local.loading import missing_packages, out_of_reach
from pipeline.evaluate.judging.scores import load_expert_scores
from pipeline.evaluate.params import Asked, EvaluateParams, LocalModel, MultipleChoiceModel, OpenAiModel
from pipeline.evaluate.prompting import load_template
from pipeline.evaluate.tasks.freetext import load_cases
from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.evaluation import Task


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


def _unusable(model: Asked, cases: Path | None) -> list[str]:
    """Return the problems of the files that a model is asked with."""
    found = _said(partial(load_template, model.template(), model.task))
    if (
        isinstance(model, LocalModel | MultipleChoiceModel)
        and (missing := missing_packages(model)) is not None
    ):
        found.append(missing)
    elif isinstance(model, LocalModel) and (away := out_of_reach(model)) is not None:
        found.append(f"evaluate, {model.run_name()}: {away}")
    return found + (_said(partial(load_cases, cases)) if model.task is Task.CLINICAL else [])


def _said(attempt: Callable[[], object]) -> list[str]:
    """Return the error of an attempt."""
    try:
        attempt()
    except UserError as error:
        return [str(error)]
    return []
