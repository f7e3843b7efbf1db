"""Limits on memory are told before a library is imported that hangs under them."""

import resource

import pytest

from build_dataset.pipeline.cli import limits


@pytest.mark.parametrize(
    ("name", "least", "told"),
    [
        ("RLIMIT_AS", 4 * 1024**3, "address space (ulimit -v) is 4.0 GB, at least 4 GB"),
        ("RLIMIT_DATA", 800 * 1024**2, "data (ulimit -d) is 0.8 GB, at least 0.78 GB"),
    ],
)
def test_limits_under_which_libraries_hang_are_refused(monkeypatch, name, least, told):
    soft = {}
    unlimited = resource.RLIM_INFINITY
    monkeypatch.setattr(resource, "getrlimit", lambda wanted: (soft.get(wanted, unlimited), unlimited))
    soft[getattr(resource, name)] = least
    assert limits.too_little_memory() is None
    soft[getattr(resource, name)] = least - 1
    assert limits.too_little_memory().startswith(f"the limit on {told} are needed")
