"""The executor that the configuration names, and the one that uses the machines of a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pipeline.config import ExecutorParams
from pipeline.runtime import ray_cluster
from pipeline.runtime.executor import Executor, LocalExecutor
from pipeline.runtime.ray_worker import Expected, RayWorker, expected
from pipeline.stage import Failure
from schemas.errors import UserError
from schemas.wording import counted

Item = TypeVar("Item")
Out = TypeVar("Out")

_TRIES = 3  # machines that may vanish under an item before it is taken to be the item's doing
_START = 120.0  # seconds for a worker to come up on a cluster that others use too
_FALSE_STARTS = 5  # workers that die before they stand, in a row
_STOP = 10.0  # seconds for workers to stop the processes that they hold


class RayExecutor:
    """Workers on a Ray cluster, taken at the first use and given back on ``close``.

    An item goes to a worker when that one is free, so that as many are in flight as there are workers. Results come
    back to this process, which alone stores and publishes. An item whose machine vanishes goes to another one.
    """

    def __init__(
        self, address: str = "auto", workers: int | None = None, gpus: float = 0.0, shared: Path | None = None
    ) -> None:
        """Prepare; nothing is asked of the cluster before the first ``map``.

        Args:
            address: of the cluster, see ``ray_cluster.connect``.
            workers: how many; None for as many as the cluster has CPUs, or GPUs where they need some.
            gpus: that each worker holds; a fraction shares one.
            shared: folder that every machine must see at the same path.
        """
        self.address, self.workers, self.gpus, self.shared = address, workers, gpus, shared
        self._joined = False
        self._crew: _Crew | None = None

    def map(
        self, function: Callable[[Item], Out], items: Iterable[Item], timeout: float | None
    ) -> Iterator[tuple[Item, Out | Failure]]:
        """See ``Executor.map``; ``timeout`` counts from the moment a worker takes the item.

        Raises:
            UserError: no cluster, no room in it, or a machine that would give other results.
        """
        jobs = _Jobs(items)
        running: dict[Any, tuple[Any, _Job]] = {}
        try:
            while running or jobs:
                crew = self._started()
                while jobs and crew.idle:
                    worker, job = crew.idle.pop(), jobs.take()
                    running[worker.run.remote(function, job.item, timeout)] = (worker, job)
                for ref in crew.wait(running):
                    worker, job = running.pop(ref)
                    result = crew.result(ref, worker)
                    if result is not _LOST:
                        yield job.item, result
                    elif job.tries < _TRIES:
                        jobs.put_back(job)
                    else:
                        yield job.item, Failure("crashed", f"{_TRIES} Ray workers died under it")
        finally:
            if running:  # the caller gave up: what still runs must not go on behind its back
                self.close()

    def close(self) -> None:
        """Stop the workers, whatever they do, and leave the cluster."""
        if self._crew is not None:
            self._crew.stop()
            self._crew = None
        if self._joined:
            ray_cluster.leave()
            self._joined = False

    def _started(self) -> _Crew:
        if self._crew is None:
            self._joined = ray_cluster.connect(self.address) or self._joined
            room = ray_cluster.resources().room(self.gpus)
            self._crew = _Crew(self.workers or room, self.gpus, expected(self.shared))
        return self._crew


_LOST = object()


class _Job:
    """An item, and how often it was handed out."""

    def __init__(self, item: Any) -> None:
        self.item = item
        self.tries = 0


class _Jobs:
    """Queue of pending jobs; one item is read ahead."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = iter(items)
        self._waiting: list[_Job] = []

    def __bool__(self) -> bool:
        if not self._waiting:
            self._waiting.extend(_Job(item) for item in islice(self._items, 1))
        return bool(self._waiting)

    def take(self) -> _Job:
        """The next; there is one."""
        job = self._waiting.pop()
        job.tries += 1
        return job

    def put_back(self, job: _Job) -> None:
        """Hand it out again."""
        self._waiting.append(job)


class _Crew:
    """Workers that are starting, idle or at work; as many as were asked for, dead ones are replaced."""

    def __init__(self, size: int, gpus: float, wanted: Expected) -> None:
        self._ray: Any = import_module("ray")
        self._wanted = self._ray.put(wanted)
        self._kind: Any = self._ray.remote(num_cpus=1, num_gpus=gpus, max_concurrency=2)(RayWorker)
        self._starting: dict[Any, Any] = {}
        self._standing: list[Any] = []
        self._false_starts = 0
        self.idle: list[Any] = []
        for _ in range(size):
            self._hire()

    def wait(self, running: Mapping[Any, Any]) -> list[Any]:
        """Block until work is done or a worker has come up; what is done."""
        patience = None if self._standing else _START
        done, _ = self._ray.wait([*running, *self._starting], num_returns=1, timeout=patience)
        if not done:
            raise UserError(
                f"[executor] no Ray worker came up within {_START:.0f} s: `ray status` says what the cluster does"
            )
        for ref in done:
            if ref in self._starting:
                self._admit(ref)
        return [ref for ref in done if ref in running]

    def result(self, ref: Any, worker: Any) -> Any:
        """Return a worker's result; ``_LOST`` if the worker died, in which case another one is started."""
        try:
            found = self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            found = Failure("error", str(error).strip().split("\n")[-1])
        except self._ray.exceptions.RayError:
            self._standing.remove(worker)
            self._ray.kill(worker)
            self._hire()
            return _LOST
        self.idle.append(worker)
        return found

    def stop(self) -> None:
        """Stop the processes that the workers hold, then the workers."""
        refs = [worker.stop.remote() for worker in self._standing]
        if refs:
            self._ray.wait(refs, num_returns=len(refs), timeout=_STOP)
        for worker in [*self._standing, *self._starting.values()]:
            self._ray.kill(worker)

    def _hire(self) -> None:
        worker = self._kind.remote()
        self._starting[worker.lacks.remote(self._wanted)] = worker

    def _admit(self, ref: Any) -> None:
        """Take a worker that has come up, unless its machine would give other results."""
        worker = self._starting.pop(ref)
        try:
            problem = self._ray.get(ref)
        except self._ray.exceptions.RayError as error:
            self._false_starts += 1
            if self._false_starts == _FALSE_STARTS:
                last = str(error).strip().split("\n")[-1]
                raise UserError(f"[executor] Ray workers do not start: {last}: {_SAME}") from None
            self._hire()
            return
        if problem:
            raise UserError(f"[executor] a machine of the Ray cluster {problem} (docs/scale.md)")
        self._false_starts = 0
        self._standing.append(worker)
        self.idle.append(worker)


_SAME = "build-dataset must be installed on every machine of the cluster (docs/scale.md)"


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
