"""One function over many items, in worker processes of this machine."""

import gc
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from pebble import ProcessExpired, ProcessPool

from build_dataset.pipeline.stage import Failure, Item, Out, Results
from build_dataset.schemas.errors import UnreadableDocument

_AHEAD = 3  # tasks handed out per worker: enough to keep it busy, few enough to keep memory flat
_TASKS_A_WORKER = 400  # then it is replaced: native libraries leak over thousands of pages


class LocalExecutor:
    """Worker processes on this machine, started at the first use and kept until ``close``.

    A worker that crashes or hangs costs the item it worked on and is replaced. Workers are spawned, not
    forked: polars' and OpenMP's threads do not survive a fork. Ctrl-C reaches this process alone, which stops them.
    """

    def __init__(self, workers: int | None = None) -> None:
        """Args: workers: number of processes; None for one a core."""
        self.workers = workers or available_cores()
        self._pool: ProcessPool | None = None

    def map(self, function: Callable[[Item], Out], items: Iterable[Item], timeout: float | None) -> Results[Item, Out]:
        """See ``Executor.map``; ``timeout`` counts from the moment a worker takes the item."""
        queue = iter(items)
        running: dict[Future[Any], Item] = {}
        try:
            while True:
                for item in islice(queue, self.workers * _AHEAD - len(running)):  # lazily
                    with _interrupt_held():  # inherited by the pool's threads, and so by the workers
                        if self._pool is None:
                            context = multiprocessing.get_context("spawn")  # see the class
                            self._pool = ProcessPool(
                                self.workers, max_tasks=_TASKS_A_WORKER, initializer=_go_first, context=context
                            )
                        future = self._pool.schedule(function, args=[item], timeout=timeout)
                    running[future] = item
                if not running:
                    return
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield running.pop(future), _outcome(future)
        finally:
            if running:  # the caller gave up: what still runs must not go on behind its back
                self.close()

    def close(self) -> None:
        """Stop the workers, whatever they do."""
        if self._pool is not None:
            self._pool.stop()  # does not wait for tasks that hang
            self._pool.join()
            self._pool = None


def relax_gc() -> None:
    """Let this process collect garbage seldom: stages make millions of records, none in a cycle."""
    # Parsing 100,000 rows takes 9.3 s of processor time with Python's default of 700 new objects, 7.2 s with this.
    gc.set_threshold(200_000, *gc.get_threshold()[1:])


def _go_first() -> None:
    """Make the system end a worker, which costs one item, before the main process; let it collect garbage seldom."""
    relax_gc()
    with suppress(OSError):  # not Linux
        Path("/proc/self/oom_score_adj").write_text("500", encoding="ascii")  # 0 at first


@contextmanager
def _interrupt_held() -> Iterator[None]:
    """Hold Ctrl-C back in this thread and those it starts."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # started later, it would let Ctrl-C through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def available_cores() -> int:
    """Cores this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_ENDED: dict[int | None, Failure] = {
    -getattr(signal, "SIGKILL", 0): Failure(
        "killed", "the system ended the worker process: give it more memory, or set executor.workers lower"
    ),
    -getattr(signal, "SIGPROF", 0): Failure("timeout", "took more processor time than the limit"),
}
"""Failures of an item whose worker a signal ended, by the exit code; Windows lacks these signals."""


def _outcome(future: Future[Any]) -> Any:
    try:
        return future.result()
    except UnreadableDocument as error:
        return Failure(error.reason, error.detail)  # about the paper, told by the reader
    except TimeoutError:
        return Failure("timeout", "took longer than the limit")
    except (ProcessExpired, CancelledError) as error:
        known = _ENDED.get(getattr(error, "exitcode", None))  # exit codes of signals are negative
        return known or Failure("crashed", f"the worker process died ({error})")
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:  # without a number: a library's, about the content
            return Failure("io_error", f"{error.strerror}: check the disk or the network and run again")
        return Failure("error", f"{type(error).__name__}: {error}")
