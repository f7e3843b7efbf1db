"""The command line ``build-dataset``; limits on memory are checked before libraries that hang or abort under them."""

import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

_LEAST_LIMITS = (("RLIMIT_AS", "address space (ulimit -v)", 2**32), ("RLIMIT_DATA", "data (ulimit -d)", 800 * 2**20))
"""Bytes. numpy, polars and pyarrow reserve far more than they use: under ``ulimit -v`` of 0.6 GB the import of numpy
never ends, under 1.8 GB polars aborts the process; under ``ulimit -d`` of 0.3 GB no thread starts, 1 GB reads scans."""

_LEAST_MEMORY = 256 * 2**20
"""Bytes of a control group: at 150 MB the system ended the command while it started, without a word; at 300 MB it reads
papers with a text layer."""

_GROUPS = {"memory": ("memory", "memory.limit_in_bytes"), "": ("", "memory.max")}
"""The folder and the file of limits of a memory controller, by its name in ``/proc/self/cgroup``: of both versions."""


def too_little_memory() -> str | None:
    """Return the limit under which native libraries hang or abort, or the system ends the process, and what to do."""
    if find_spec("resource") is None:  # Windows has no such limits
        return None
    import resource

    for name, called, least in _LEAST_LIMITS:
        limit, _ = resource.getrlimit(getattr(resource, name))  # the soft limit counts
        if limit != resource.RLIM_INFINITY and limit < least:
            return (
                f"the limit on {called} is {limit / 2**30:.1f} GB, at least {least / 2**30:.2g} GB are needed: raise"
                " it, or limit memory by a cgroup (docker run --memory, systemd-run -p MemoryMax=)"
            )
    if (limit := min(_group_limits(), default=_LEAST_MEMORY)) < _LEAST_MEMORY:
        return (
            f"the limit on memory (cgroup) is {limit / 2**20:.0f} MB, at least {_LEAST_MEMORY >> 20} MB are needed, 1"
            " GB for each worker that reads scans: raise it"
        )
    return None


def _group_limits() -> Iterator[int]:
    """Yield the limits in bytes of this process's control group, as seen from inside a container too."""
    with suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text(encoding="ascii").splitlines():
            _, name, path = line.split(":", 2)
            folder, file = _GROUPS.get(name, ("", ""))
            for place in (path.strip("/"), "") if file else ():  # inside a container the group is the root
                limits = Path("/sys/fs/cgroup", folder, place, file)
                if limits.is_file() and (limit := limits.read_text(encoding="ascii").strip()).isdecimal():
                    yield int(limit)


def main() -> None:
    """Run the command line, unless its libraries could not even be imported."""
    if problem := too_little_memory():
        sys.stderr.write(f"error: {problem}\n")
        sys.exit(2)
    from build_dataset.pipeline.cli.app import main as run

    run()
