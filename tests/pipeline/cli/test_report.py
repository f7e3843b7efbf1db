"""Messages of commands, and files that they write."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from pipeline.cli.report import (
    print_json,
    print_line,
    print_warning,
    print_whole,
    reason_line,
    save,
    shown,
    sum_line,
)
from schemas.errors import UserError


def test_a_file_is_written_with_its_folder(tmp_path: Path) -> None:
    save(tmp_path / "new" / "answers.json", b"{}")
    assert (tmp_path / "new" / "answers.json").read_bytes() == b"{}"


def test_a_file_that_cannot_be_written_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"file/answers.json cannot be written: "):
        save(tmp_path / "file" / "answers.json", b"{}")


@pytest.fixture
def terminal():
    stream = io.StringIO()
    return Console(file=stream, width=40, color_system=None), stream


def test_a_line_is_printed_as_it_is_however_long(terminal):
    console, stream = terminal
    text = "[red]x[/red] :smile: https://example.org " + "甲" * 60
    print_line(text, console=console)
    assert stream.getvalue() == text + "\n"


def test_a_line_has_no_colours_of_its_own():
    stream = io.StringIO()
    print_line("12 'x' True", console=Console(file=stream, force_terminal=True, color_system="standard"))
    assert stream.getvalue() == "12 'x' True\n"


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        ({"in": 1, "kept": 1, "merged": 0, "rejected": 0, "waiting": 0}, "1 item = 1 kept"),
        (
            {"in": 6400, "kept": 6000, "merged": 100, "rejected": 299, "waiting": 1},
            "6,400 items = 6,000 kept + 100 merged + 299 rejected + 1 waiting",
        ),
    ],
)
def test_counts_add_up_in_a_line(counts, told):
    assert sum_line({"unit": "items", **counts}) == told


def test_eight_reasons_are_named():
    reasons = {f"r{n}": n for n in range(9)}
    assert reason_line({"a": 3, "b": 1}) == "a 3, b 1"
    assert reason_line(reasons) == "r0 0, r1 1, r2 2, r3 3, r4 4, r5 5, r6 6, r7 7, …"
    assert reason_line(dict([*reasons.items()][:8])) == "r0 0, r1 1, r2 2, r3 3, r4 4, r5 5, r6 6, r7 7"


def test_a_path_is_told_from_where_the_user_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shown(tmp_path / "a" / "b") == "a/b"
    assert shown(Path("/elsewhere/x")) == "/elsewhere/x"


def test_a_table_is_printed_whole_and_the_terminal_keeps_its_width(terminal):
    console, stream = terminal
    table = Table("x" * 70)
    print_whole(console, table)
    assert "x" * 70 in stream.getvalue()
    assert console.width == 40


def test_json_is_indented_and_chinese(capsys):
    print_json({"a": ["甲"]})
    assert capsys.readouterr().out == '{\n  "a": [\n    "甲"\n  ]\n}\n'


def test_warnings_are_yellow():
    stream = io.StringIO()
    print_warning("x", Console(file=stream, force_terminal=True, color_system="standard"))
    assert stream.getvalue() == "\x1b[33mx\x1b[0m\n"
