"""Libraries that would report their use over the network do not."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
_LOOPBACK = re.compile(r"127\.\d+\.\d+\.\d+|::1|localhost|^b?'/")


def test_onnxruntime_keeps_no_identity_and_so_reports_nothing(tmp_path):
    script = (
        "import build_dataset.pipeline, onnxruntime\n"
        "from build_dataset.pipeline.ocr.engines.rapid import RapidEngine\n"
        "from build_dataset.pipeline.ocr.params import RapidOcrParams\n"
        "RapidEngine(RapidOcrParams(backend='onnxruntime'))\n"
    )
    environment = {key: value for key, value in os.environ.items() if key != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", script], env=environment, cwd=ROOT, check=True, capture_output=True)
    assert not [path for path in tmp_path.rglob("*") if "onnxruntime" in path.as_posix()]


def test_the_pinned_packages_hold_none_that_reports():
    for name in ("core.txt", "dev.txt"):
        assert "telemetry" not in (ROOT / "requirements" / name).read_text()


@pytest.mark.slow
def test_a_whole_demo_run_opens_no_connection_but_to_this_machine(tmp_path):
    """An audit hook sees Python's sockets in all processes; strace, where it is installed, those of libraries too."""
    hook, seen, traced = tmp_path / "hook", tmp_path / "seen", tmp_path / "traced"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(
        "import sys\n"
        "def note(event, given):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo', 'socket.sendto'):\n"
        f"        open({str(seen)!r}, 'a').write(repr(given[-1] if event != 'socket.getaddrinfo' else given) + '\\n')\n"
        "sys.addaudithook(note)\n"
    )
    strace = ["strace", "-f", "-qq", "-e", "trace=connect,sendto", "-o", str(traced)]
    program = [sys.executable, "-c", "from build_dataset.pipeline.cli import main; main()", "demo", "demo"]
    environment = {**os.environ, "PYTHONPATH": f"{hook}{os.pathsep}{ROOT}"}
    subprocess.run(
        [*(strace if shutil.which("strace") else []), *program],
        env=environment,
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    asked = seen.read_text().splitlines() if seen.exists() else []
    assert [address for address in asked if not _LOOPBACK.search(address)] == []
    calls = traced.read_text().splitlines() if traced.exists() else []
    assert [call for call in calls if "AF_INET" in call and not _LOOPBACK.search(call)] == []
