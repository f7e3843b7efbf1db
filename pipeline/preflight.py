"""Checks before the first page is read or token spent: all that is wrong is said at once."""

from __future__ import annotations

import shutil
from collections.abc import Collection
from pathlib import Path

from pipeline.catalogue import STAGES
from pipeline.config import ConfigBase
from pipeline.runtime.ray_executor import problems as executor_problems
from schemas.errors import UserError

_LEAST_DISK = 200 * 2**20  # bytes: the sample takes 20 MB, a thousand papers about 150 MB


def preflight(config: ConfigBase, due: Collection[str]) -> None:
    """Check what the stages that are about to run need; the others need nothing.

    Args:
        config: of the dataset.
        due: names of stages, see ``Runner.due``.

    Raises:
        UserError: a line for each thing that stands in the way.
    """
    stages = [stage for stage in STAGES if stage.name in due]
    problems = _disk(config.dataset.build) if stages else []
    if any(stage.parallel for stage in stages):  # joining a cluster takes seconds
        problems += executor_problems(config.executor)
    for stage in stages:
        problems += stage.problems(config.params(stage.name), config.dataset)
    if problems:
        raise UserError("\n".join(problems))


def _disk(build: Path) -> list[str]:
    place = next(folder for folder in (build, *build.parents) if folder.exists())
    free = shutil.disk_usage(place).free
    if free < _LEAST_DISK:
        return [f"only {free // 2**20} MB free for {build}: make room or set dataset.build to another disk"]
    return []
