"""Limits on memory, checked before a library is imported that hangs or aborts under them."""

from importlib.util import find_spec

_LEAST_LIMITS = (
    ("RLIMIT_AS", "address space (ulimit -v)", 4 * 2**30),
    ("RLIMIT_DATA", "data (ulimit -d)", 800 * 2**20),
)
"""Bytes. numpy, polars and pyarrow reserve far more than they use: under ``ulimit -v`` of 0.6 GB the import of numpy
never ends, under 1.8 GB polars aborts the process; under ``ulimit -d`` of 0.3 GB no thread starts, 1 GB reads scans."""


def too_little_memory() -> str | None:
    """Return the limit under which native libraries hang or abort, and what to do."""
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
    return None
