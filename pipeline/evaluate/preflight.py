"""What would stand in the way of an evaluation, found before anything is asked."""

from __future__ import annotations

from pipeline.evaluate.params import EvaluateParams, OpenAiModel
from pipeline.evaluate.prompting import load_template
from schemas.dataset import DatasetParams
from schemas.errors import UserError


def problems(params: EvaluateParams, dataset: DatasetParams) -> list[str]:  # noqa: ARG001 - the catalogue's form
    """A line for every model that cannot be asked as configured; empty when nothing stands in the way."""
    try:
        models = params.all_models()
    except UserError as error:
        return [str(error)]
    found: list[str] = []
    for model in models:
        if not isinstance(model, OpenAiModel):
            continue
        if (missing := model.missing()) is not None:
            found.append(f"evaluate, {model.run_name()}: {missing}")
        found += _unusable(model.prompt)
    return list(dict.fromkeys(found))


def _unusable(prompt: str) -> list[str]:
    try:
        load_template(prompt)
    except UserError as error:
        return [str(error)]
    return []
