"""The workbook of what waits, opened and saved by LibreOffice: decisions and texts come back as they were written."""

import shutil
import subprocess
from pathlib import Path

import pytest

from build_dataset.pipeline.review import waiting
from build_dataset.pipeline.review.waiting import waiting_rows
from tests.pipeline.review.test_waiting import build, edit, ids, said, strict_build, take

__all__ = ["build", "strict_build"]  # fixtures
SOFFICE = shutil.which("soffice")
pytestmark = pytest.mark.skipif(SOFFICE is None, reason="no LibreOffice on this machine")


@pytest.mark.parametrize("kind", ["xlsx", "ods", "csv"])
def test_libreoffice_saves_what_was_decided(build, tmp_path, kind):
    path = tmp_path / "waiting.xlsx"
    path.write_bytes(waiting.workbook(build)[0])
    first, other = ids(build)["low_confidence"], ids(build)["no_answer"]
    edit(path, (first, "decision", "保留"), (other, "decision", "改正"), (other, "key", "B"))
    saved = convert(path, kind, tmp_path / "saved")
    outcome = take(build, saved)
    assert (dict(outcome.decided), outcome.notes) == (
        {"keep": 1, "correct": 1, "open": len(waiting_rows(build.build)[0]) - 2},
        [],
    )
    assert said(build) == {(first, "verdict"): "keep", (other, "verdict"): "keep", (other, "answer"): "B"}


def convert(path: Path, kind: str, folder: Path) -> Path:
    wanted = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false" if kind == "csv" else kind  # UTF-8
    home = f"-env:UserInstallation={(folder / 'home').as_uri()}"
    command = [SOFFICE, "--headless", home, "--convert-to", wanted, "--outdir", folder, path]
    subprocess.run(command, check=True, capture_output=True, timeout=240)
    return folder / f"{path.stem}.{kind}"
