"""Limits, locales, clocks, links and old files of the machine: each ends in one clear line or in the right result."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from benchmarks.attack.machine import memory_group
from build_dataset.pipeline.runtime.sources import SOURCES
from build_dataset.schemas.annotations import Correction, ExpertReview
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.evaluation import AnswerScore

PROGRAM = [sys.executable, "-c", "from build_dataset.pipeline.cli import main; main()"]
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


def command(
    home: Path, *words: str, prefix=(), environment=None, limits=None, start=None, program=PROGRAM
) -> tuple[int, str]:
    """Run a command in a process of its own; its exit code and all that it printed."""
    done = subprocess.run(
        [*prefix, *program, *words],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), **(environment or {})},
        preexec_fn=start
        or (limits and (lambda: [resource.setrlimit(what, (most, most)) for what, most in limits.items()])),
        capture_output=True,
        timeout=900,
        check=False,
    )
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def patched(home: Path, code: str) -> dict[str, str]:
    """The environment of a process that runs this code first."""
    (home / "patch").mkdir()
    (home / "patch" / "sitecustomize.py").write_text(code)
    return {"PYTHONPATH": f"{home / 'patch'}{os.pathsep}{Path(__file__).parents[1]}"}


def refused(outcome: tuple[int, str]) -> str:
    """The one line that a refused command printed."""
    code, told = outcome
    assert code == 2, told
    (line,) = told.strip().splitlines()
    assert line.startswith("error: ")
    return line


@pytest.mark.slow
@pytest.mark.parametrize("megabytes", [300, 1800])
def test_a_limit_on_address_space_that_libraries_do_not_survive_is_refused(built, megabytes):
    assert "ulimit -v" in refused(command(built, "status", limits={resource.RLIMIT_AS: megabytes << 20}))


def test_a_limit_on_data_under_which_no_thread_starts_is_refused(built):
    assert "ulimit -d" in refused(command(built, "status", limits={resource.RLIMIT_DATA: 300 << 20}))


@pytest.fixture
def group():
    """A control group of this test's own."""
    try:
        with memory_group(64) as join:
            yield join
    except OSError as error:
        pytest.skip(f"this machine makes no control groups: {error}")


def test_a_memory_group_in_which_the_command_would_be_killed_is_refused(built, group):
    assert "64 MB, at least 256 MB are needed" in refused(command(built, "status", start=group))


@pytest.mark.slow
def test_a_network_file_system_without_locks_is_told_in_one_line(home):
    nowhere = "import fcntl\ndef flock(*_): raise OSError(37, 'No locks available')\nfcntl.flock = flock\n"
    told = refused(command(home, "run", "--to", "parse", environment=patched(home, nowhere)))
    assert "No locks available" in told
    assert command(home, "run", "--to", "parse")[0] == 0


@pytest.mark.slow
def test_a_limit_on_the_size_of_files_ends_in_one_line_and_the_next_run_finishes(home):
    shutil.rmtree(home / "build")
    assert "sqlite" in refused(command(home, "run", "--to", "parse", limits={resource.RLIMIT_FSIZE: 8 << 10}))
    assert command(home, "run", "--to", "parse")[0] == 0


def mounted(options: str) -> list[str]:
    """The beginning of a command that sees ``build`` as a mount of its own, which ends with the command."""
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("only root mounts")
    script = f'mount {options} && cd . && exec "$@"'
    if subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this container mounts nothing")
    return ["unshare", "-m", "sh", "-c", script, "sh"]


@pytest.mark.slow
def test_a_disk_that_fills_up_half_way_ends_in_one_line_and_loses_nothing(home):
    small = mounted("-t tmpfs -o size=160k x build")
    careless = "from build_dataset.pipeline import cli, doctor; doctor._LEAST_DISK = 0; cli.main()"
    code, told = command(home, "run", prefix=small, program=[sys.executable, "-c", careless])
    assert (code, "Traceback" in told) == (2, False), told
    assert "error: " in told.splitlines()[-1]
    assert (home / "build" / "review" / "manifest.json").exists(), "what lies under the mount stays"


@pytest.mark.slow
def test_a_read_only_build_folder_is_read_and_not_written(home):
    fixed = mounted("--bind build build && mount -o remount,ro,bind build")
    assert command(home, "status", prefix=fixed)[0] == 0
    assert "Read-only file system" in refused(command(home, "run", "--force", "--to", "ocr", prefix=fixed))


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "gbk"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
    ],
    ids=["C", "gbk", "ascii"],
)
def test_whatever_letters_the_terminal_has_commands_end_well(home, environment):
    for words in (["run", "--force", "--to", "parse"], ["list", "waiting"], ["inspect", "paper.txt"]):
        code, told = command(home, *words, environment=environment)
        assert (code, "Traceback" in told) == (0, False), told


@pytest.mark.slow
def test_a_clock_that_runs_backwards_changes_no_result(home):
    clock = "import time\nreal, calls = time.time, [0]\n"
    clock += "def back():\n    calls[0] += 1\n    return real() - calls[0] * 3e7\ntime.time = back\n"
    kept = (home / "build" / "parse" / "questions.parquet").read_bytes()
    assert command(home, "run", "--force", "--to", "parse", environment=patched(home, clock))[0] == 0
    assert (home / "build" / "parse" / "questions.parquet").read_bytes() == kept
    for file in home.rglob("*"):
        os.utime(file, (4e9, 4e9), follow_symlinks=False)
    assert command(home, "run", "--to", "parse")[1].count("already done") == 2


@pytest.mark.slow
def test_links_that_lead_nowhere_back_or_to_devices_are_passed_over_or_refused(home):
    raw = home / "raw"
    for name, target in (("gone.txt", "nowhere"), ("self.txt", "self.txt"), ("loop", "."), ("zero.pdf", "/dev/zero")):
        (raw / name).symlink_to(target)
    os.mkfifo(raw / "pipe.pdf")
    code, told = command(home, "run", "--to", "parse")
    assert code == 0
    assert "1 file = 1 kept" in told
    shutil.rmtree(home / "build" / "ocr")
    (home / "elsewhere").mkdir()
    (home / "elsewhere" / "precious").touch()
    (home / "build" / "ocr").symlink_to(home / "elsewhere")
    assert "is in the way and no stage wrote it" in refused(command(home, "ocr"))
    assert (home / "elsewhere" / "precious").exists()


@pytest.mark.slow
def test_a_thousand_small_files_are_read_with_few_descriptors(tmp_path):
    (tmp_path / "raw").mkdir()
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n')
    for number in range(1_000):
        text = f"{number % 90 + 1}. 第{number}种疾病的治疗，正确的是\nA. 甲{number}\nB. 乙\nC. 丙\nD. 丁\n答案：A\n"
        (tmp_path / "raw" / f"{number}.txt").write_text(text, encoding="utf-8")
    code, told = command(tmp_path, "run", "--to", "parse", limits={resource.RLIMIT_NOFILE: 128})
    assert code == 0, told
    assert "1,000 files = 1,000 kept" in told


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: pl.DataFrame({"x": [1]}),
        lambda frame: frame.drop(frame.columns[0]),
        lambda frame: frame.with_columns(pl.lit(None, pl.String).alias(frame.columns[0])),
    ],
    ids=["another table", "without a column", "nulls"],
)
@pytest.mark.parametrize("table", ["pulled", "corrections", "answer_scores"])
def test_peoples_work_in_a_form_of_another_version_is_one_line_and_never_ignored(tmp_path, table, change):
    records = {"pulled": ExpertReview, "corrections": Correction, "answer_scores": AnswerScore}
    frame = records[table].to_frame([])
    (tmp_path / "reviews").mkdir()
    path = tmp_path / "reviews" / f"{table}.parquet"
    row = pl.DataFrame(
        {name: pl.Series(["x"]).cast(kind, strict=False) for name, kind in frame.schema.items() if kind == pl.String}
    )
    change(row).write_parquet(path)
    with pytest.raises(UserError, match=r"another version: move it away and run `build-dataset .* pull --full`"):
        SOURCES[f"reviews/{table}"](DatasetParams(name="x", build=tmp_path))


@pytest.mark.slow
def test_a_build_of_an_older_version_is_made_anew(home):
    for path in home.glob("build/*/manifest.json"):
        old = json.loads(path.read_text())
        del old["seal"]
        path.write_text(json.dumps(old))
    code, told = command(home, "run", "--to", "clean")
    assert code == 0
    assert "already done" not in told
