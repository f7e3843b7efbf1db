"""What models are asked to do: one module a task, one row here."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from pipeline.evaluate.params import ModelOptions
from pipeline.evaluate.tasks.base import Material, Reading, TaskWork, Written
from schemas.evaluation import Task

TASKS: dict[Task, str] = {
    Task.ANSWER: "pipeline.evaluate.tasks.answer:AnswerWork",
    Task.EXPLANATION: "pipeline.evaluate.tasks.freetext:ExplanationWork",
    Task.CLINICAL: "pipeline.evaluate.tasks.freetext:ClinicalWork",
}
"""Work by task, as ``module:class``."""

__all__ = ["TASKS", "Material", "Reading", "TaskWork", "Written", "open_task"]


def open_task(options: ModelOptions, material: Material) -> TaskWork:
    """The work that ``options`` ask for, its prompts made.

    Raises:
        UserError: a template or a file of cases cannot be used.
    """
    module, _, name = TASKS[options.task].partition(":")
    return cast("TaskWork", getattr(import_module(module), name)(options, material))
