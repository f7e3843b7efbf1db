"""One loaded model a device: batches go to whichever is free."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.queues import Queue
from typing import Any, Literal

from pipeline.evaluate.backends.local.base import Letters, Made
from pipeline.evaluate.backends.local.batching import Batch
from pipeline.evaluate.backends.local.engine import Engine, OutOfMemoryError
from pipeline.evaluate.params import TransformersModel

Full = Literal["out of memory"]


@dataclass(frozen=True)
class Job:
    """A batch and what to do with it."""

    batch: Batch
    letters: Letters = ()


Answers = list[Made] | list[float]
"""What became of each prompt of a batch: what was written or chosen, or the likelihood of its scored tokens."""
Done = tuple[Job, Answers | Full]


def run_jobs(
    options: TransformersModel, devices: list[str], jobs: deque[Job], tokenizer: Any = None
) -> Iterator[Done]:
    """Do every job; those that did not fit in memory come back as such, to be cut and handed in again by the caller.

    Args:
        options: the model.
        devices: one worker each; a single one works in this process.
        jobs: taken from the left; may grow while they are done.
        tokenizer: the model's, where this process has it.
    """
    if len(devices) == 1:
        engine = Engine(options, devices[0], tokenizer)
        while jobs:
            job = jobs.popleft()
            yield job, _do(engine, job)
        return
    with ExitStack() as stack:
        context = get_context("spawn")
        names: Queue[str] = context.Queue()
        for name in devices:
            names.put(name)
        pool = stack.enter_context(
            ProcessPoolExecutor(len(devices), context, initializer=_start, initargs=(options, names))
        )
        running: dict[Future[Answers | Full], Job] = {}
        while jobs or running:
            while jobs and len(running) < 2 * len(devices):
                job = jobs.popleft()
                running[pool.submit(_work, job)] = job
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


_ENGINE: Engine | None = None
"""Of this worker process."""


def _start(options: TransformersModel, names: Queue[str]) -> None:
    global _ENGINE
    _ENGINE = Engine(options, names.get())


def _work(job: Job) -> Answers | Full:
    if _ENGINE is None:
        raise RuntimeError("the worker was not started")
    return _do(_ENGINE, job)


def _do(engine: Engine, job: Job) -> Answers | Full:
    try:
        if job.letters:
            return engine.choose(job.batch, job.letters)
        if job.batch.tails[0].scored:
            return engine.likelihoods(job.batch)
        return engine.generate(job.batch)
    except OutOfMemoryError:
        return "out of memory"
