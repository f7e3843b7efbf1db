import json

import pytest

from build_dataset.pipeline.runtime.publish import LEDGER, LedgerEntry, append_run, last_runs

ENTRY = LedgerEntry("ocr", "2024-01-01T00:00:00+00:00", 1.5, "done", reused=2, added=3)


def test_the_newest_entry_of_each_stage_counts(tmp_path):
    append_run(tmp_path, LedgerEntry("ocr", "", 9.0, "failed"))
    append_run(tmp_path, LedgerEntry("parse", "", 1.0, "done"))
    append_run(tmp_path, ENTRY)
    assert last_runs(tmp_path) == {"ocr": ENTRY, "parse": LedgerEntry("parse", "", 1.0, "done")}


def test_a_line_that_a_killed_process_left_half_written_costs_that_line_alone(tmp_path):
    append_run(tmp_path, ENTRY)
    with (tmp_path / LEDGER).open("a") as stream:
        stream.write('{"stage": "par')
    append_run(tmp_path, LedgerEntry("clean", "", 1.0, "done"))
    assert set(last_runs(tmp_path)) == {"ocr", "clean"}


def test_lines_of_another_version_are_passed_over(tmp_path):
    (tmp_path / LEDGER).write_text('{"stage": "ocr"}\n[]\n\n{"stage": "x", "more": 1}\n')
    assert last_runs(tmp_path) == {}


@pytest.mark.parametrize("change", [{"seconds": "3"}, {"stage": []}, {"seconds": None}, {"seconds": float("inf")}])
def test_values_that_somebody_edited_are_passed_over(tmp_path, change):
    append_run(tmp_path, ENTRY)
    line = {**json.loads((tmp_path / LEDGER).read_text()), "stage": "parse", **change}
    with (tmp_path / LEDGER).open("a") as stream:
        stream.write(json.dumps(line) + "\n")
    assert set(last_runs(tmp_path)) == {"ocr"}


@pytest.mark.parametrize(("before", "apart"), [("", ""), ("{", "\n"), ("{}", "\n"), ("{}\n", ""), ("\n", "")])
def test_an_entry_is_one_line_of_its_own(tmp_path, before, apart):
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / LEDGER).write_text(before)
    append_run(tmp_path / "build", LedgerEntry("解析", "t", 1.5, "done"))
    line = '{"stage": "解析", "started": "t", "seconds": 1.5, "outcome": "done", "reused": 0, "added": 0}\n'
    assert (tmp_path / "build" / LEDGER).read_text(encoding="utf-8") == before + apart + line


def test_a_ledger_is_made_with_the_folders_above_it(tmp_path):
    assert last_runs(tmp_path / "a" / "b") == {}
    append_run(tmp_path / "a" / "b", ENTRY)
    assert last_runs(tmp_path / "a" / "b") == {"ocr": ENTRY}
