"""Limits on memory are told before a library is imported that hangs under them."""

import resource

import pytest

from build_dataset.pipeline import cli


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
    monkeypatch.setattr(cli, "_group_limits", list)
    soft[getattr(resource, name)] = least
    assert cli.too_little_memory() is None
    soft[getattr(resource, name)] = least - 1
    assert cli.too_little_memory().startswith(f"the limit on {told} are needed")


@pytest.mark.parametrize(
    ("groups", "file", "limit", "found"),
    [
        ("0::/user.slice", "user.slice/memory.max", "1000", [1000]),
        ("0::/docker/1f", "memory.max", "1000", [1000]),
        ("0::/x", "x/memory.max", "max", []),
        ("9:memory:/x\n3:cpu:/x", "memory/x/memory.limit_in_bytes", "7", [7]),
        ("3:cpu:/x", "x/memory.max", "7", []),
    ],
)
def test_limits_of_control_groups_of_both_versions_are_found(monkeypatch, tmp_path, groups, file, limit, found):
    path = tmp_path / "sys/fs/cgroup" / file
    path.parent.mkdir(parents=True)
    path.write_text(limit)
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(groups)
    monkeypatch.setattr(cli, "Path", lambda *parts: tmp_path.joinpath(*(part.lstrip("/") for part in parts)))
    assert list(cli._group_limits()) == found
