"""The command as users meet it: exit codes, and what goes to which stream."""

import errno
import os
import signal
import subprocess
import sys

import pytest

from build_dataset.pipeline.cli import app as module
from build_dataset.pipeline.cli.app import main
from build_dataset.schemas.errors import UserError

PROGRAM = [sys.executable, "-c", "from build_dataset.pipeline.cli import main; main()"]


@pytest.fixture
def ends(monkeypatch, capsys):
    """The exit code, stdout and stderr of ``main`` when a command raises this."""

    def ends(error):
        def raise_it(**named):
            raise error

        monkeypatch.setattr(module, "app", raise_it)
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return ends


def test_each_problem_of_the_user_is_one_line_on_stderr(ends):
    assert ends(UserError("first\nsecond")) == (2, "", "error: first\nerror: second\n")


def test_text_of_files_in_an_error_is_not_markup(ends):
    text = r"papers [2024] [/red] [link=x]\[b].pdf is broken\ "[:-1]
    assert ends(UserError(text))[2] == f"error: {text}\n"


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_a_read_only_disk_is_one_line(ends, number):
    told = ends(OSError(number, os.strerror(number), "build/ocr"))
    assert told == (2, "", f"error: build/ocr: {os.strerror(number)}\n")


@pytest.mark.parametrize("place", [("build/ocr",), ()])
def test_a_full_disk_is_one_line_that_says_how_to_go_on(ends, place):
    code, _, told = ends(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), *place))
    assert code == 2
    assert told.endswith(
        "No space left on device; make room and run the same command again: it goes on where it stopped\n"
    )


@pytest.mark.parametrize("error", [FileNotFoundError(errno.ENOENT, "No such file", "x"), ValueError("s3cret")])
def test_a_bug_is_one_line_with_a_report_that_holds_the_place_and_no_values(ends, tmp_path, monkeypatch, error):
    monkeypatch.setattr(module.tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "argv", ["build-dataset", "run", "--set", "a.key=s3cret"])
    code, _, told = ends(error)
    (report,) = tmp_path.iterdir()
    assert (code, told) == (1, f"error: a bug in build-dataset ({type(error).__name__}); please send us {report}\n")
    assert "in raise_it" in report.read_text()
    assert "s3cret" not in report.read_text()


def test_without_a_place_for_the_report_it_is_printed(ends, monkeypatch):
    monkeypatch.setattr(module.tempfile, "tempdir", "/nowhere")
    code, _, told = ends(ValueError("x"))
    assert code == 1
    assert "please send us this:\n" in told


def test_out_of_memory_is_told(ends):
    assert ends(MemoryError())[::2] == (
        2,
        "error: out of memory: close other programs, or set executor.workers lower, and run the same command again\n",
    )


def test_ctrl_c_says_how_to_go_on(tmp_path):
    script = (
        "import sys, time\nfrom pipeline.cli.app import app, main\n"
        "@app.command()\ndef wait():\n    print('waiting', flush=True)\n    time.sleep(60)\n"
        "sys.argv = ['build-dataset', 'wait']\nmain()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "waiting\n"
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=600)
    assert process.returncode == 130
    assert told == "stopped; run the same command again to go on where it stopped\n"


def test_output_fits_any_encoding_and_a_reader_may_go_away(tmp_path):
    (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n')
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [*PROGRAM, "doctor"], cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    process.stdout.close()
    assert "Traceback" not in process.stderr.read()
    process.stderr.close()
    process.wait()
