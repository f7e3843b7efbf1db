"""Libraries that would report their use over the network do not."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_onnxruntime_keeps_no_identity_and_so_reports_nothing(tmp_path):
    script = (
        "import pipeline, onnxruntime\n"
        "from pipeline.ocr.engines.rapid import RapidEngine\n"
        "from pipeline.ocr.params import RapidOcrParams\n"
        "RapidEngine(RapidOcrParams(backend='onnxruntime'))\n"
    )
    environment = {key: value for key, value in os.environ.items() if key != "ORT_DISABLE_TELEMETRY"}
    environment |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", script], env=environment, cwd=ROOT, check=True, capture_output=True)
    assert not [path for path in tmp_path.rglob("*") if "onnxruntime" in path.as_posix()]


def test_the_pinned_packages_hold_none_that_reports():
    for name in ("core.txt", "dev.txt"):
        assert "telemetry" not in (ROOT / "requirements" / name).read_text()
