"""Which executor the configuration names, and what stands in its way."""

from __future__ import annotations

from pathlib import Path

from pipeline.config import ExecutorParams
from pipeline.runtime import ray_cluster
from pipeline.runtime.executor import Executor, LocalExecutor
from pipeline.runtime.ray_executor import RayExecutor
from schemas.errors import UserError
from schemas.wording import counted


def executor(params: ExecutorParams, raw: Path) -> Executor:
    """The one that ``params.kind`` names; it starts nothing before it is used.

    Args:
        params: the ``[executor]`` section.
        raw: the folder of papers, which every machine must see.
    """
    if params.kind == "ray":
        return RayExecutor(params.address, params.workers, params.num_gpus, raw)
    return LocalExecutor(params.workers)


def problems(params: ExecutorParams) -> list[str]:
    """Return the problems of the configured executor, each with its remedy."""
    try:
        room(params)
    except UserError as error:
        return [str(error)]
    return []


def room(params: ExecutorParams) -> str | None:
    """Describe the cluster's resources; None where no cluster is configured.

    Raises:
        UserError: Ray is not installed, no cluster answers, or it has no room for a worker.
    """
    if params.kind != "ray":
        return None
    found = ray_cluster.look(params.address)
    workers = found.room(params.num_gpus)
    has = ", ".join((counted(found.machines, "machine"), f"{found.cpus:g} CPUs", f"{found.gpus:g} GPUs"))
    return f"{has} at {params.address}: {counted(workers, 'worker')}"
