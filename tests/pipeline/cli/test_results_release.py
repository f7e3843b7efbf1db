"""Labels that experts have not settled are released on purpose or not at all."""

from pathlib import Path

import polars as pl
import pytest

from build_dataset.pipeline.cli import results
from build_dataset.pipeline.config import load
from build_dataset.pipeline.runtime.publish import LedgerEntry, append_run
from build_dataset.schemas.errors import UserError


@pytest.fixture
def dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whatever is released is noted, and nothing is written."""
    released: list[str] = []
    monkeypatch.setattr(results, "_freeze", lambda config: released.append(config.dataset.name))

    def labelled(*statuses: str):
        folder = tmp_path / "build" / "review"
        folder.mkdir(parents=True, exist_ok=True)
        pl.DataFrame({"status": statuses}, {"status": pl.String}).write_parquet(folder / "labels.parquet")
        (tmp_path / "dataset.toml").write_text('[dataset]\nname = "x"\n', encoding="utf-8")
        return load(tmp_path / "dataset.toml")

    labelled.released = released
    return labelled


def test_open_labels_are_named_with_their_counts_and_released_with_yes(dataset):
    config = dataset("agreed", "disputed", "single", "single", "unreviewed")
    told = r"of 5 labels 1 not reviewed by any expert, 1 disputed, 2 seen by one expert of two; .* `build-dataset rel"
    with pytest.raises(UserError, match=told):
        results.release(config)
    assert dataset.released == []
    results.release(config, yes=True)
    assert dataset.released == ["x"]


@pytest.mark.parametrize("statuses", [(), ("agreed", "adjudicated")])
def test_settled_labels_are_released_at_once(dataset, statuses):
    results.release(dataset(*statuses))
    assert dataset.released == ["x"]


@pytest.mark.parametrize(("outcomes", "refused"), [(["failed"], True), (["failed", "done"], False), (["done"], False)])
def test_a_release_after_a_run_that_failed_names_its_stage(dataset, outcomes, refused):
    config = dataset("agreed")
    for second, outcome in enumerate(outcomes):
        entry = LedgerEntry("audit", f"2026-11-26T10:00:0{second}+00:00", 1.0, outcome)
        append_run(config.dataset.build, entry)
    if refused:
        with pytest.raises(
            UserError, match=r"the last run failed at audit \(2026-11-26 10:00 UTC\); .* `build-dataset release --yes`"
        ):
            results.release(config)
    else:
        results.release(config)
    assert dataset.released == ["x"] * (not refused)


@pytest.mark.parametrize("said", [True, False])
def test_whoever_sits_at_a_terminal_is_asked(dataset, monkeypatch, said):
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr(results.typer, "confirm", lambda question: asked.append(question) or said)
    config = dataset("unreviewed")
    if said:
        results.release(config)
    else:
        with pytest.raises(UserError):
            results.release(config)
    assert (len(asked), dataset.released) == (1, ["x"] * said)
