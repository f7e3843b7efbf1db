"""Names, ranges and cells as ``inspect`` and ``list`` show them."""

import json
from functools import partial

import pytest

from build_dataset.pipeline.cli.inspect import list_items
from build_dataset.pipeline.cli.options import configure
from build_dataset.pipeline.review.folder import replace_table
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Rejection
from tests.conftest import ROOT

REJECTED = (("q1", "a.pdf", "figure"), ("q2", "a.pdf", "figure"), ("q3", "b.pdf", "table"), ("q4", "b.pdf", "figure"))
MORE = "more: build-dataset explain ID"


@pytest.fixture
def listed(tmp_path, monkeypatch, capsys):
    """Lines of the list of four rejected items on a terminal of 60 columns."""
    path = tmp_path / "dataset.toml"
    path.write_text('[dataset]\nname = "x"\nraw = "raw"\nbuild = "build"\n')
    (tmp_path / "build" / "ocr").mkdir(parents=True)
    (tmp_path / "build" / "clean").mkdir()
    rows = []
    for name, document, reason in REJECTED:
        item = {"stem": "长" * 80, "content_hash": "h", "document": document, "options": []}
        told = {"stage": "clean", "reason": reason, "detail": f"{reason}: because  {reason}"}
        rows.append(Rejection(item_id=name, item=json.dumps(item), **told))
    replace_table(tmp_path / "build" / "clean" / "rejects.parquet", Rejection.to_frame(rows))
    monkeypatch.setenv("COLUMNS", "60")

    def listed(**options):
        list_items("rejected", configure(path, None), **options)
        lines = capsys.readouterr().out.splitlines()
        return [MORE if line.startswith(MORE) else line.replace("长" * 26, "…") for line in lines]

    return listed


ROWS = [
    *("a.pdf · figure · because figure", "  q1  … …", "  q2  … …"),
    *("b.pdf · table · because table", "  q3  … …"),
    *("b.pdf · figure · because figure", "  q4  … …"),
]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [*ROWS, "4 items rejected", MORE]),
        ({"limit": 4}, [*ROWS, "4 items rejected", MORE]),
        ({"limit": 3}, [*ROWS[:5], "4 items rejected, 1 of them not shown (--limit)", MORE]),
        ({"file": "B."}, [*ROWS[3:], "2 items rejected", MORE]),
        ({"reason": "table"}, [*ROWS[3:5], "1 item rejected", MORE]),
        ({"reason": "tabel"}, ["no reason tabel here; there are figure 3, table 1", "0 items rejected"]),
    ],
)
def test_items_are_listed_below_their_file_and_reason_up_to_the_limit(listed, options, expected):
    assert listed(**options) == expected


def test_a_file_that_was_not_read_is_an_error_and_a_reason_may_be_named_in_chinese(sample_build, capsys):
    config = configure(ROOT / "dataset.toml", [f"dataset.build={sample_build}"])
    with pytest.raises(UserError, match="no such source was read"):
        list_items("rejected", config, file="nosuch.pdf")
    for reason in ("needs_figure", "需要图"):
        list_items("rejected", config, reason=reason)
    english, chinese = capsys.readouterr().out.split("more:")[:2]
    assert english.splitlines()[0] in chinese


def test_what_waits_of_a_file_is_counted_as_the_status_counts_it(sample_build, capsys):
    from build_dataset.pipeline.runtime.publish import find_table
    from build_dataset.pipeline.set_aside import source_losses

    config = configure(ROOT / "dataset.toml", [f"dataset.build={sample_build}"])
    losses = source_losses(partial(find_table, sample_build))
    assert any(loss.waiting for loss in losses)
    for loss in losses:
        list_items("waiting", config, file=loss.document, limit=1000)
        told = [line for line in capsys.readouterr().out.splitlines() if "as `status` counts" in line]
        assert told[0].split()[0] == str(loss.waiting), loss.document
