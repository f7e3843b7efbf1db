"""Reading is limited: too much memory gives a reason, too much time ends the worker, and old limits come back."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

resource = pytest.importorskip("resource")

from build_dataset.pipeline.ocr import bounds  # noqa: E402
from build_dataset.pipeline.ocr.bounds import MEMORY, limit_resources  # noqa: E402
from build_dataset.schemas.errors import UnreadableDocument  # noqa: E402

LIMITS = ("RLIMIT_AS", "RLIMIT_CORE")


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "a"
    made.write_bytes(b"x")
    return made


def limits() -> list[tuple[float, float]]:
    return [resource.getrlimit(getattr(resource, name)) for name in LIMITS] + [signal.getitimer(signal.ITIMER_PROF)]


def test_limits_are_as_before_also_after_an_error(path):
    before = limits()
    with limit_resources(path, 5):
        assert limits() != before
    with pytest.raises(ZeroDivisionError), limit_resources(path, 5):
        raise ZeroDivisionError
    assert limits() == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds the address space")
def test_more_memory_than_allowed_is_a_reason(path):
    with pytest.raises(UnreadableDocument) as caught, limit_resources(path):
        bytearray(2 * MEMORY)
    assert caught.value.reason == "too_large"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds the address space")
def test_large_files_may_take_more(tmp_path):
    large = tmp_path / "large"
    with large.open("wb") as file:
        file.truncate(MEMORY // 4)
    with limit_resources(large):
        assert len(bytearray(MEMORY + MEMORY // 2)) > MEMORY


def test_a_process_over_its_time_is_ended_although_native_code_holds_it(path):
    code = (
        "import sys, pathlib, re\n"
        "from build_dataset.pipeline.ocr.bounds import limit_resources\n"
        "with limit_resources(pathlib.Path(sys.argv[1]), 0.1):\n"
        "    re.match(r'(a+)+$', 'a' * 60 + 'b')\n"  # hours inside one call of native code
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False, timeout=600)
    assert done.returncode == -signal.SIGPROF


def test_the_shorter_of_two_times_counts_and_the_longer_goes_on(path):
    with limit_resources(path, 30):
        with limit_resources(path, 600):
            assert signal.getitimer(signal.ITIMER_PROF)[0] < 31
        with limit_resources(path, 5):
            assert signal.getitimer(signal.ITIMER_PROF)[0] < 6
        assert 25 < signal.getitimer(signal.ITIMER_PROF)[0] < 31


def test_what_has_no_limit_or_is_no_limit_here_stays_as_it_is():
    before = limits()
    with limit_resources(None):
        assert limits()[0] == before[0]
        assert limits()[2] == before[2]
    with bounds._limit("RLIMIT_OF_ANOTHER_SYSTEM", 0):
        assert limits() == before
    assert limits() == before


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int | None]]:
    """The limits that are asked for, none of them set."""
    asked: list[tuple[str, int | None]] = []

    @contextmanager
    def limit(name: str, value: int | None) -> Iterator[None]:
        asked.append((name, value))
        yield

    monkeypatch.setattr(bounds, "_limit", limit)
    monkeypatch.setattr(bounds, "_virtual", lambda: 7)
    return asked


@pytest.mark.parametrize(
    ("size", "memory"),
    [(1, 1_200_000_000), (100_000_000, 1_200_000_000), (100_000_001, 1_200_000_012), (200_000_000, 2_400_000_000)],
)
def test_memory_grows_with_the_file_from_a_hundred_megabytes_on(
    tmp_path: Path, lowered: list[tuple[str, int | None]], size: int, memory: int
) -> None:
    with (tmp_path / "a").open("wb") as file:
        file.truncate(size)
    with limit_resources(tmp_path / "a"):
        pass
    assert lowered == [("RLIMIT_AS", memory + 7), ("RLIMIT_CORE", 0)]


def test_without_a_file_memory_has_no_limit(lowered: list[tuple[str, int | None]]) -> None:
    with limit_resources(None):
        pass
    assert lowered == [("RLIMIT_AS", None), ("RLIMIT_CORE", 0)]


def test_memory_that_was_refused_is_told_in_megabytes(path: Path, lowered: list[tuple[str, int | None]]) -> None:
    with pytest.raises(UnreadableDocument) as caught, limit_resources(path):
        raise MemoryError
    assert caught.value.detail == "reading it takes more than 1200 MB of memory"


def test_without_limits_of_the_system_everything_is_done_without(
    monkeypatch: pytest.MonkeyPatch, path: Path, lowered: list[tuple[str, int | None]]
) -> None:
    monkeypatch.setattr(bounds, "resource", None)
    with limit_resources(path, 5):
        pass
    assert lowered == []


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells it so")
def test_the_address_space_is_that_of_the_process() -> None:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    told = int(status.partition("VmSize:")[2].split()[0]) * 1024
    assert bounds._virtual() == pytest.approx(told, rel=0.02)


def test_an_address_space_that_nothing_tells_is_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(bounds, "Path", lambda _: tmp_path / "absent")
    assert bounds._virtual() == 0
    (tmp_path / "absent").write_text("x", encoding="ascii")
    assert bounds._virtual() == 0


@pytest.mark.parametrize(
    ("seconds", "outer", "left", "given", "after"),
    [
        (0.5, 0.0, 0.25, 1.0, 0),
        (1.0, 0.0, 0.25, 1.0, 0),
        (1.5, 0.0, 0.25, 1.5, 0),
        (3.0, 10.0, 1.0, 3.0, 8.0),
        (3.0, 2.0, 0.5, 2.0, 0.5),
        (3.0, 2.0, 0.0, 2.0, 0.01),
    ],
)
def test_a_timer_within_another_takes_its_time_from_that(
    monkeypatch: pytest.MonkeyPatch, seconds: float, outer: float, left: float, given: float, after: float
) -> None:
    running, started = [outer, left], []
    fake = SimpleNamespace(
        ITIMER_PROF=5,
        getitimer=lambda kind: (running.pop(0), 77.0),
        setitimer=lambda kind, value: started.append((kind, value)),
    )
    monkeypatch.setattr(bounds, "signal", fake)
    with bounds._timer(seconds):
        assert started == [(5, given)]
    assert started == [(5, given), (5, after)]


@pytest.mark.parametrize(
    ("soft", "value", "limit"), [(-1, 50, 50), (40, 50, 40), (50, 40, 40), (50, 50, 50), (-1, 0, 0)]
)
def test_a_limit_is_only_ever_lowered(monkeypatch: pytest.MonkeyPatch, soft: int, value: int, limit: int) -> None:
    done = []
    fake = SimpleNamespace(
        RLIM_INFINITY=-1, RLIMIT_X=3, getrlimit=lambda kind: (soft, 99), setrlimit=lambda *told: done.append(told)
    )
    monkeypatch.setattr(bounds, "resource", fake)
    with bounds._limit("RLIMIT_X", value):
        assert done == [(3, (limit, 99))]
    assert done == [(3, (limit, 99)), (3, (soft, 99))]
    with bounds._limit("RLIMIT_X", None), bounds._limit("RLIMIT_Y", 5):
        assert len(done) == 2
