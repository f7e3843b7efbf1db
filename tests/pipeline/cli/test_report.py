"""Messages of commands, and files that they write."""

import io
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console
from rich.table import Table

from build_dataset.pipeline import set_aside
from build_dataset.pipeline.cli.report import (
    print_files,
    print_line,
    print_stage,
    print_summary,
    print_whole,
    save,
    shown,
    sum_line,
)
from build_dataset.pipeline.report import flow
from build_dataset.schemas.errors import UserError


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


def test_a_path_is_told_from_where_the_user_stands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shown(tmp_path / "a" / "b") == "a/b"
    assert shown(Path("/elsewhere/x")) == "/elsewhere/x"


def test_a_table_is_printed_whole_and_the_terminal_keeps_its_width(terminal):
    console, stream = terminal
    table = Table("x" * 70)
    print_whole(table, console)
    assert "x" * 70 in stream.getvalue()
    assert console.width == 40


class Loss(SimpleNamespace):
    def mainly(self):
        return "why"


def losses(count, lost=0):
    numbers = {"n_input": 1000, "kept": 600, "merged": 100, "rejected": 200, "waiting": 100}
    return [
        Loss(document=f"[f{n}]", **(numbers if n >= lost else numbers | {"kept": 0, "merged": 0})) for n in range(count)
    ]


@pytest.fixture
def wide(monkeypatch, tmp_path):
    """A console, its text, a configuration and functions that set what was lost."""
    stream = io.StringIO()
    console = Console(file=stream, width=120, force_terminal=True, color_system="standard")
    raw = tmp_path / "raw"
    raw.mkdir()
    places = {"build": tmp_path, "raw": raw, "releases": tmp_path / "none"}
    dataset = SimpleNamespace(**places, loss_alarm=0.3, name="x")

    def lose(found, notices=0):
        monkeypatch.setattr(set_aside, "source_losses", lambda find: found)
        told = [SimpleNamespace(english=f"n{number}") for number in range(notices)]
        monkeypatch.setattr(flow, "loss_notices", lambda given, alarm: told if alarm == 0.3 else [])

    lose([])
    return SimpleNamespace(console=console, stream=stream, config=SimpleNamespace(dataset=dataset), lose=lose)


def test_a_note_on_the_folder_is_named_as_passed_over(wide):
    (wide.config.dataset.raw / "README.txt").write_text("papers of 2024")
    print_files(wide.config, 2, wide.console)
    assert "passed over as notes on the folder, no papers: README.txt" in wide.stream.getvalue()


def test_a_file_of_which_nothing_is_left_is_red(wide):
    wide.lose(losses(2, lost=1))
    print_files(wide.config, 2, wide.console)
    red = [line for line in wide.stream.getvalue().splitlines() if "\x1b[31m" in line]
    assert len(red) == 1
    assert "[f0]" in red[0]


def manifest(**more):
    counts = {"unit": "words", "in": 3, "kept": 2, "merged": 0, "rejected": 1, "waiting": 0}
    given = {"counts": counts, "complete": True, "reasons": {"rejected": {"odd": 1}, "waiting": {}}, "outputs": {}}
    return given | {"params": {"a": "甲"}} | more


def report(name, **more):
    about = {"fresh": True, "seconds": 1.26, "reused": 0, "added": 0, "notes": ()}
    return SimpleNamespace(stage=SimpleNamespace(name=name), manifest=manifest(**more), **about)


def test_a_stage_is_told_in_a_line_with_its_time(terminal):
    console, stream = terminal
    console.width = 100
    print_stage(console, report("ocr"))
    assert stream.getvalue().splitlines()[0] == "✓ ocr       3 words = 2 kept + 1 rejected  1.3 s"
    done = report("export", complete=False)
    done.fresh = False
    print_stage(console, done)
    assert "… export    3 words = 2 kept + 1 rejected  already done" in stream.getvalue()


@pytest.mark.parametrize(("count", "more"), [(12, False), (13, True)])
def test_the_end_of_a_run_lists_twelve_files_and_where_things_are(wide, tmp_path, count, more):
    wide.lose(losses(count))
    for place in ("report/index.html", "ocr/rejects.xlsx", "parse/review.xlsx"):
        (tmp_path / place).parent.mkdir(exist_ok=True)
        (tmp_path / place).touch()
    print_summary(wide.console, wide.config, [report("ocr"), report("report", complete=False)])
    lines = wide.stream.getvalue().splitlines()
    assert lines[:2] == [
        f"open this first   {tmp_path}/report/index.html",
        f"taken out, why    {tmp_path}/ocr/rejects.xlsx",
    ]
    assert lines[2].startswith("more              build-dataset status · build-dataset list rejected · ")
    assert [f"[f{n}]" in wide.stream.getvalue() for n in range(13)] == [True] * 12 + [False]
    assert "1,000 │  600 │    100 │      200 │     100 │ why" in wide.stream.getvalue()
    assert any("… and 1 more files; the report lists them" in line for line in lines) is more
    assert "not complete: report; run the same command again to finish" in lines[-1]
    print_summary(wide.console, wide.config, [report("annotate")])
    assert wide.stream.getvalue().count("[f0]") == 1, "a stage that takes nothing from a file lists none"


def test_the_splits_are_told_as_a_draft_before_a_release(wide, tmp_path):
    outputs = {f"{split}.parquet": {"rows": rows} for split, rows in (("train", 1234), ("validation", 5), ("test", 6))}
    print_summary(wide.console, wide.config, [report("export", outputs=outputs)])
    text = wide.stream.getvalue()
    assert "x: splits (a draft until `build-dataset release`)" in text
    assert "1,234" in text
    assert "not complete" not in text
    wide.config.dataset.releases = tmp_path / "releases"
    (tmp_path / "releases" / "1.0.0").mkdir(parents=True)
    for name in ("train", "validation", "test"):
        (tmp_path / "releases" / "1.0.0" / f"{name}.parquet").touch()
    print_summary(wide.console, wide.config, [report("export", outputs=outputs)])
    assert wide.stream.getvalue().count("a draft until") == 1


@pytest.mark.parametrize(("n_input", "kept", "told"), [(3, 0, True), (0, 0, False), (3, 1, False)])
def test_the_first_stage_that_left_nothing_is_blamed(wide, n_input, kept, told):
    counts = {"in": n_input, "kept": kept}
    reports = [report("ocr"), report("parse", counts=counts), report("export", counts=counts)]
    outputs = {f"{split}.parquet": {"rows": 1} for split in ("train", "validation", "test")}
    reports[2].manifest["outputs"] = outputs
    print_summary(wide.console, wide.config, reports)
    assert ("nothing is left after parse: odd 1" in wide.stream.getvalue()) is told
    assert ("splits" in wide.stream.getvalue()) is not told
