"""One process at a time writes a build folder."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from schemas.errors import UserError

_GLANCES, _BETWEEN = 10, 0.05
"""Number of attempts to read the holder's process id, and seconds between them."""


@contextmanager
def build_lock(build: Path) -> Iterator[None]:
    """Hold the build folder; the system frees it when the process dies.

    Raises:
        UserError: another process holds it, or the folder cannot be written.
    """
    holder = build / ".lock.pid"
    lock = FileLock(build / ".lock")
    try:
        build.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        holder.write_text(str(os.getpid()))
    except Timeout:
        raise UserError(
            f"another build-dataset (process {_holder(holder)}) is writing {build}: wait for it to finish"
        ) from None
    except OSError as error:
        lock.release()
        raise UserError(f"cannot write {build}: {error.strerror}: set dataset.build elsewhere") from None
    try:
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _holder(path: Path) -> str:
    """Return the holder's process id, which is written a moment after the lock is taken."""
    for _ in range(_GLANCES):
        try:
            if number := path.read_text():
                return number
        except OSError:
            pass
        time.sleep(_BETWEEN)
    return "unknown"
