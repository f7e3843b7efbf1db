"""What would stand in the way of an evaluation, found before anything is asked."""

from __future__ import annotations

from pathlib import Path

from pipeline.evaluate.params import Asked, EvaluateParams, OpenAiModel
from pipeline.evaluate.prompting import load_template
from pipeline.evaluate.tasks.cases import load_cases
from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.evaluation import Task


def problems(params: EvaluateParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """A line for every model that cannot be asked as configured; empty when nothing stands in the way."""
    try:
        models = params.all_models()
    except UserError as error:
        return [str(error)]
    found: list[str] = []
    for model in models:
        if isinstance(model, OpenAiModel) and (missing := model.missing()) is not None:
            found.append(f"evaluate, {model.run_name()}: {missing}")
        found += _unusable(model, params.cases)
    return list(dict.fromkeys(found))


def _unusable(model: Asked, cases: Path | None) -> list[str]:
    """What is wrong with the files that a model is asked with."""
    try:
        load_template(model.template(), model.task)
        if model.task is Task.CLINICAL:
            load_cases(cases)
    except UserError as error:
        return [str(error)]
    return []
