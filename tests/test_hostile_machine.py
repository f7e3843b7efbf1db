"""Limits, locales, clocks, links and old files of the machine: each ends in one clear line or in the right result."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = [sys.executable, "-c", "from pipeline.cli import main; main()"]
PAPER = "\n".join(
    f"{n}. 关于第{n}种疾病的治疗，下列正确的是\nA. 甲药{n}\nB. 乙药{n}\nC. 丙药{n}\nD. 丁药{n}\n答案：{'ABCD'[n % 4]}"
    for n in range(1, 9)
)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A small dataset, built up to its review."""
    home = tmp_path_factory.mktemp("machine")
    (home / "raw").mkdir()
    (home / "raw" / "paper.txt").write_text(PAPER, encoding="utf-8")
    (home / "dataset.toml").write_text('[dataset]\nname = "x"\n[executor]\nworkers = 1\n')
    assert command(home, "run", "--to", "review")[0] == 0
    return home


@pytest.fixture
def home(built, tmp_path):
    shutil.copytree(built, tmp_path / "home", symlinks=True)
    return tmp_path / "home"


def command(home: Path, *words: str, prefix=(), environment=None, limits=None) -> tuple[int, str]:
    """Run a command in a process of its own; its exit code and all that it printed."""
    done = subprocess.run(
        [*prefix, *PROGRAM, *words],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **(environment or {})},
        preexec_fn=limits
        and (lambda: [resource.setrlimit(what, (most, most)) for what, most in limits.items()]),
        capture_output=True,
        timeout=200,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def refused(outcome: tuple[int, str]) -> str:
    """The one line that a refused command printed."""
    code, told = outcome
    assert code == 2, told
    (line,) = told.strip().splitlines()
    assert line.startswith("error: ")
    return line


@pytest.mark.parametrize("megabytes", [300, 1800])
def test_a_limit_on_address_space_that_libraries_do_not_survive_is_refused(built, megabytes):
    assert "ulimit -v" in refused(command(built, "status", limits={resource.RLIMIT_AS: megabytes << 20}))
