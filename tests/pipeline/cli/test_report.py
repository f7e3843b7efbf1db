"""Messages of commands, and files that they write."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli.report import save
from schemas.errors import UserError


def test_a_file_is_written_with_its_folder(tmp_path: Path) -> None:
    save(tmp_path / "new" / "answers.json", b"{}")
    assert (tmp_path / "new" / "answers.json").read_bytes() == b"{}"


def test_a_file_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file/answers.json cannot be written: "):
        save(tmp_path / "file" / "answers.json", b"{}")
