"""Reading is limited: too much memory gives a reason, too much time ends the worker, and old limits come back."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

resource = pytest.importorskip("resource")

from pipeline.ocr import bounds  # noqa: E402
from pipeline.ocr.bounds import MEMORY, limit_resources  # noqa: E402
from schemas.errors import UnreadableDocument  # noqa: E402

LIMITS = ("RLIMIT_AS", "RLIMIT_CORE")


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "a"
    made.write_bytes(b"x")
    return made


def limits() -> list[tuple[float, float]]:
    return [resource.getrlimit(getattr(resource, name)) for name in LIMITS] + [
        signal.getitimer(signal.ITIMER_PROF)
    ]


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
        "from pipeline.ocr.bounds import limit_resources\n"
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


def test_a_limit_that_is_lower_already_stays():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    with bounds._limit("RLIMIT_NOFILE", before[0] - 10):
        with bounds._limit("RLIMIT_NOFILE", before[0] - 5):
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[0] - 10, before[1])
        with bounds._limit("RLIMIT_NOFILE", before[0] - 15):
            assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[0] - 15, before[1])
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def test_a_second_is_given_at_least_and_what_was_used_counts_for_the_timer_around(path):
    with limit_resources(path, 0.01):
        assert 0.5 < signal.getitimer(signal.ITIMER_PROF)[0] <= 1.1
    with limit_resources(path, 3):
        assert 2.5 < signal.getitimer(signal.ITIMER_PROF)[0] <= 3.1
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
