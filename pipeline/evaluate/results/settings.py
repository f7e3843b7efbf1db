"""How each run was asked, so that tables can put the same model's settings side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pipeline.evaluate.params import Asked


@dataclass(frozen=True)
class Asking:
    """A run's model and manner."""

    model: str
    """The same for all runs of a model."""
    task: str
    prompt: str
    shots: int
    repeats: int
    shuffles: int


def asking(options: Asked) -> Asking:
    """How a configured model is asked."""
    name = getattr(options, "model", None) or getattr(options, "name", None) or type(options).__name__
    model = str(name).rstrip("/").rpartition("/")[2]
    if adapter := getattr(options, "adapter", None):
        model += f"+{str(adapter).rstrip('/').rpartition('/')[2]}"
    if getattr(options, "answer_by", "text") == "likelihood":
        model += " by likelihood"
    return Asking(
        model, options.task.value, options.template(), options.shots, options.repeats, options.shuffles
    )


def facts(askings: Mapping[str, Asking]) -> dict[str, Any]:
    """For the manifest."""
    return {run: asdict(found) for run, found in askings.items()}


def from_facts(told: Mapping[str, Any], runs: Sequence[str]) -> dict[str, Asking]:
    """From a manifest; runs that it does not tell of are models of their own."""
    plain: dict[str, Any] = {
        "task": "answer",
        "prompt": "",
        "shots": 0,
        "repeats": 1,
        "shuffles": 0,
    }
    return {run: Asking(**({"model": run} | plain | dict(told.get(run, {})))) for run in runs}
