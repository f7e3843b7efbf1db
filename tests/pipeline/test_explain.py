"""`inspect` writes the page of a paper, or of some of its pages."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from build_dataset.pipeline.cli.app import app
from build_dataset.pipeline.cli.inspect import _file_name

cli = CliRunner()


@pytest.fixture
def command(built, tmp_path):
    config = tmp_path / "dataset.toml"
    config.write_text(f'[dataset]\nname = "test"\nraw = "{built.raw}"\nbuild = "{built.build}"\n', encoding="utf-8")
    return lambda *words: cli.invoke(app, [*words, "--config", str(config)])


def test_inspect_writes_the_page_of_a_paper(built, command):
    shown = command("inspect", "paper", "--pages", "1-2")
    assert shown.exit_code == 0
    assert (built.build / "inspect" / "paper.pdf.html").stat().st_size > 10_000


@pytest.mark.parametrize("pages", ["x", "3-1", "0", "1-2-3"])
def test_pages_are_asked_for_as_a_range(command, pages):
    shown = command("inspect", "paper", "--pages", pages)
    assert "FIRST-LAST" in str(shown.exception)


def test_papers_whose_names_differ_in_what_files_cannot_hold_have_pages_of_their_own():
    names = ["a/b.pdf", "a_b.pdf", "a b.pdf", "内科/卷一.pdf", "x" * 100 + "/b.pdf", "y" + "x" * 99 + "/b.pdf"]
    files = [_file_name(name) for name in names]
    assert len(set(files)) == len(names)
    assert files[1] == "a_b.pdf"
    assert all(len(name) <= 70 and "/" not in name for name in files)
