"""The executor that the configuration names, and the one that uses the machines of a Ray cluster."""

import logging
import os
import platform
import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

from build_dataset.pipeline.config import ExecutorParams
from build_dataset.pipeline.runtime.executor import LocalExecutor
from build_dataset.pipeline.runtime.fingerprint import code_hash
from build_dataset.pipeline.stage import Executor, Failure, Item, Out, Results
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.wording import counted

INSTALL = "pip install -e '.[ray]'"

_PATIENCE = 5.0  # seconds for the head to take a connection
_TRIES = 3  # machines that may vanish under an item before it is taken to be the item's doing
_START = 120.0  # seconds for a worker to come up on a cluster that others use too
_STOP = 10.0  # seconds for workers to stop the processes that they hold
_PROBES = 8  # files of the shared folder that a machine is asked for: enough to tell another mount from ours
_SAME = "build-dataset must be installed on every machine of the cluster (docs/scale.md)"
_WORKS = tuple(f"build_dataset.pipeline.{name}" for name in ("ocr.tasks", "parse.stage", "dedup.stage", "annotate"))
_CODE = "build-dataset with the code"  # of our own modules that work there; its version is a hash
_READING = (
    *("numpy", "onnxruntime", "opencv-python-headless", "openvino", "paddleocr", "paddlepaddle"),
    *("pillow", "pymupdf", "python-docx", "rapidocr"),
)
"""Packages that can change what is read. The item store's keys name the versions of the machine that asks."""


def fitting_workers(cpus: float, gpus: float, gpus_each: float) -> int:
    """Return the number of workers that fit, each with one CPU and some GPUs; none is a ``UserError``."""
    workers = int(min(cpus, gpus / gpus_each) if gpus_each else cpus)  # one CPU each
    if workers < 1:
        raise UserError(
            f"[executor] the Ray cluster has {cpus:g} CPUs and {gpus:g} GPUs, a worker needs 1 and "
            f"{gpus_each:g}: join a machine that has them, or set num_gpus"
        )
    return workers


def connect(address: str) -> Any:
    """Join the cluster at ``host:port`` (``auto``: this machine's) and return Ray; a ``UserError`` if that fails."""
    if find_spec("ray") is None:
        raise UserError(f'[executor] kind = "ray" needs the package ray, which is not installed: {INSTALL}')
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # it reports to its makers otherwise
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # its future default; it warns otherwise
    ray: Any = import_module("ray")
    host, _, port = address.rpartition(":")  # "[::1]:6379" too
    try:
        if host:
            socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"[executor] no Ray cluster answers at {address} ({error}): {_remedy(address)}") from None
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (RuntimeError, ValueError, OSError) as error:
        first = str(error).strip().split("\n")[0]
        raise UserError(f"[executor] no Ray cluster at {address!r} ({first}): {_remedy(address)}") from None
    return ray


def _resources(ray: Any) -> tuple[float, float]:
    """Return the CPUs and GPUs of the cluster that was joined, free or in use."""
    resources = ray.cluster_resources()
    return resources.get("CPU", 0.0), resources.get("GPU", 0.0)


def room(address: str, gpus: float) -> str:
    """Join the cluster for a moment and describe what it has and how many workers fit; no room is a ``UserError``."""
    ray = connect(address)
    try:
        resources, machines = _resources(ray), sum(bool(node["Alive"]) for node in ray.nodes())
    finally:
        ray.shutdown()
    workers = counted(fitting_workers(*resources, gpus), "worker")
    return f"{counted(machines, 'machine')}, {resources[0]:g} CPUs, {resources[1]:g} GPUs at {address}: {workers}"


def _remedy(address: str) -> str:
    head = "ray start --head" if address == "auto" else f"ray start --address={address}"
    token = "" if os.environ.get("RAY_AUTH_TOKEN") else ", does it want its token (RAY_AUTH_TOKEN)"
    return f"is it up, has this machine joined it (`{head}`){token}? docs/scale.md says how"


class RayExecutor:
    """Tasks on a Ray cluster, joined at the first use and left on ``close``.

    As many items are in flight as the cluster has room for, or as ``workers`` says. Results come back to this process,
    which alone stores and publishes. Ray gives an item whose machine vanishes to another one.
    """

    def __init__(
        self, address: str = "auto", workers: int | None = None, gpus: float = 0.0, shared: Path | None = None
    ) -> None:
        """Prepare; nothing is asked of the cluster before the first ``map``.

        ``workers`` is None for as many as the cluster has CPUs, or GPUs where each holds ``gpus`` of them, a fraction
        shared; ``shared`` is a folder that every machine must see at the same path.
        """
        self.address, self.workers, self.gpus, self.shared = address, workers, gpus, shared
        self._ray: Any = None

    def map(self, function: Callable[[Item], Out], items: Iterable[Item], timeout: float | None) -> Results[Item, Out]:
        """See ``Executor.map``; ``timeout`` counts from the moment a worker takes the item."""
        queue = iter(items)
        waiting = list(islice(queue, 1))  # no items need no cluster
        running: dict[Any, Item] = {}
        try:
            while waiting or running:
                self._start()
                while waiting and len(running) < self._room:
                    item = waiting.pop()
                    running[self._task.remote(self._expected, function, item, timeout)] = item
                    waiting += islice(queue, 1)
                [ref], _ = self._ray.wait(list(running), num_returns=1)
                yield running.pop(ref), self._result(ref)
        finally:
            if running:  # the caller gave up: what still runs must not go on behind its back
                for ref in running:
                    self._ray.cancel(ref)  # asks kindly; ``_STOP`` bounds the wait
                self._ray.wait(list(running), num_returns=len(running), timeout=_STOP)
                self.close()

    def close(self) -> None:
        """Leave the cluster, which ends the idle workers."""
        if self._ray is not None:
            self._ray.shutdown()
        self._ray = None

    def _start(self) -> None:
        """Join the cluster, unless it was joined, and wait until one worker has come up."""
        if self._ray is not None:
            return
        self._ray = ray = connect(self.address)
        self._room = self.workers or fitting_workers(*_resources(ray), self.gpus)
        self._expected = ray.put(expected(self.shared))  # sent once, not with each item
        options = {"num_cpus": 1, "num_gpus": self.gpus, "max_retries": _TRIES - 1, "max_calls": 0}
        self._task: Any = ray.remote(**options)(run_on_worker)
        first = self._task.remote(self._expected, abs, 0, None)  # imports our code there
        if not ray.wait([first], timeout=_START)[0]:
            raise UserError(f"[executor] no Ray worker came up within {_START:.0f} s: see `ray status`")
        if isinstance(result := self._result(first), Failure):
            raise UserError(f"[executor] Ray workers do not start: {result.detail}: {_SAME}")

    def _result(self, ref: Any) -> Any:
        try:
            return self._ray.get(ref)
        except self._ray.exceptions.RayTaskError as error:
            if isinstance(error.cause, UserError):  # another version there: stops the run
                raise error.cause from None
            return Failure("error", str(error).strip().split("\n")[-1])
        except self._ray.exceptions.RayError:
            return Failure("crashed", f"{_TRIES} Ray workers died under it")


Expected = tuple[tuple[str, str], ...]
"""Versions by name and sizes by path that are the same on every machine, or results would differ."""


def expected(shared: Path | None) -> Expected:
    """Return the versions of this machine, and some files of ``shared``, the folder that all machines must see."""
    paths = (str(path) for path in shared.rglob("*") if path.is_file()) if shared else ()
    return tuple((name, _found(name)) for name in ("Python", _CODE, *_READING, *islice(paths, _PROBES)))


def _found(name: str) -> str:
    """Return the version of Python, our code or a package, or the size of a file, on this machine."""
    if name == "Python":
        return ".".join(platform.python_version_tuple()[:2])
    if name == _CODE:
        return sha256(*map(code_hash, _WORKS))[:12]
    if os.sep in name:
        return f"{Path(name).stat().st_size} bytes" if Path(name).is_file() else "absent"
    with suppress(PackageNotFoundError):
        return version(name)
    return "not installed"


def run_on_worker(wanted: Expected, function: Callable[[Any], Any], item: Any, timeout: float | None) -> Any:
    """Return the function's result or a ``Failure``, as ``LocalExecutor`` gives it; runs in a process of Ray.

    The work is done in a child of that process, so that crashes, timeouts and limits are told as they are on one
    machine, and the death of Ray's process means the machine's, not the item's. A ``UserError`` says that this machine
    would give other results.
    """
    if problem := lacks(wanted):  # kept by ``cache``: asked once a process
        raise UserError(f"[executor] a machine of the Ray cluster {problem} (docs/scale.md)")
    [(_, result)] = _local(os.environ.get("CUDA_VISIBLE_DEVICES")).map(function, [item], timeout)
    return result


_held: dict[str | None, LocalExecutor] = {}


def _local(devices: str | None) -> LocalExecutor:
    """Return the executor of this process of Ray; another GPU than before takes another child."""
    if devices not in _held:
        for other in list(_held):  # its process holds the memory of another GPU
            _held.pop(other).close()
        _held[devices] = LocalExecutor(1)
    return _held[devices]


@cache
def lacks(wanted: Expected) -> str | None:
    """Describe how this machine differs from the wanted one; None if its results will be the same."""
    node = platform.node()
    for name, other in wanted:
        if (here := _found(name)) == other:
            continue
        if os.sep in name:
            return f"{node} does not see {name} with {other}: mount the raw folder at the same path everywhere"
        return f"{node} has {name} {here}, this machine {other}: install the same"
    return None


def executor(params: ExecutorParams, raw: Path) -> Executor:
    """Return the executor that ``params.kind`` names, which starts nothing before it is used."""
    if params.kind == "ray":
        return RayExecutor(params.address, params.workers, params.num_gpus, raw)
    return LocalExecutor(params.workers)
