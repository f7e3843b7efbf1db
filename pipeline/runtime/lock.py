"""One process at a time writes a build folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from schemas.errors import UserError


@contextmanager
def build_lock(build: Path) -> Iterator[None]:
    """Hold the build folder; the system frees it when the process dies.

    Raises:
        UserError: another process holds it, or the folder cannot be written.
    """
    try:
        build.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"cannot write {build}: {error.strerror}") from None
    holder = build / ".lock.pid"
    lock = FileLock(build / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        who = holder.read_text() if holder.exists() else "unknown"
        raise UserError(
            f"another build-dataset (process {who}) is writing {build}: wait for it to finish"
        ) from None
    try:
        holder.write_text(str(os.getpid()))
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()
