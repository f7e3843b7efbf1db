"""Limits for reading one file: processor time and memory, held by the operating system.

MuPDF, lxml and Pillow are native code, which nothing in Python can interrupt. A process over its time dies and costs
the task it worked on; memory that is refused becomes an error of the library, and the worker lives on.
"""

import math
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

from build_dataset.schemas.errors import UnreadableDocument

try:
    import resource
except ImportError:  # Windows: the executor's own limit is all there is
    resource = None  # type: ignore[assignment]
MEMORY = 1_200_000_000
"""Bytes that reading may add to a worker: models and libraries take up to 700 MB, both together stay below 2 GB."""
_PER_BYTE = 12
"""Times its size that a file may take where that is more: rows of JSON become objects of ten times their size."""


@contextmanager
def limit_resources(path: Path | None, seconds: float | None = None) -> Iterator[None]:
    """Hold what is done inside to ``seconds`` of processor time and, where a file is read, to ``MEMORY``.

    Over its time the process is killed by SIGPROF, which the executor reports as ``timeout``. RLIMIT_CPU would count
    clock ticks since the process began, on a busy virtual machine a third more than it used, and kill an old worker.
    Where more memory was asked for the file is ``too_large``, an ``UnreadableDocument``.
    """
    if resource is None:
        yield
        return
    memory = _virtual() + max(MEMORY, _PER_BYTE * path.stat().st_size) if path else None
    timer = nullcontext() if seconds is None else _timer(seconds)
    with _limit("RLIMIT_AS", memory), timer, _limit("RLIMIT_CORE", 0):
        try:
            yield
        except MemoryError as error:
            detail = f"reading it takes more than {MEMORY // 1_000_000} MB of memory"
            raise UnreadableDocument("too_large", detail) from error


def _virtual() -> int:
    """Address space in use, bytes; far more than the memory where models are mapped."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # not Linux: the limit is then that of growth from nothing
        return 0


@contextmanager
def _timer(seconds: float) -> Iterator[None]:
    """End the process after ``seconds`` of processor time, or earlier where a timer around this one says so."""
    outer, _ = signal.getitimer(signal.ITIMER_PROF)
    given = min(max(1.0, seconds), outer or math.inf)  # a second at least
    signal.setitimer(signal.ITIMER_PROF, given)
    try:
        yield
    finally:
        left, _ = signal.getitimer(signal.ITIMER_PROF)
        signal.setitimer(signal.ITIMER_PROF, max(outer - (given - left), 0.01) if outer else 0)


@contextmanager
def _limit(name: str, value: int | None) -> Iterator[None]:
    """Lower a soft limit for a while; what the system does not know or allow stays as it is."""
    kind = getattr(resource, name, None)
    if value is None or kind is None:
        yield
        return
    soft, hard = resource.getrlimit(kind)
    if soft != resource.RLIM_INFINITY:
        value = min(value, soft)
    with suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, hard))
    try:
        yield
    finally:
        with suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, hard))
