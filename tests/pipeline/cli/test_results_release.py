"""Labels that experts have not settled are released on purpose or not at all."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from build_dataset.pipeline.cli import results
from build_dataset.pipeline.config import load
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
    config = dataset("agreed", "disputed", "single", "single")
    with pytest.raises(UserError, match=r"1 disputed, 2 seen by one expert of two; .* with --yes"):
        results.release(config)
    assert dataset.released == []
    results.release(config, yes=True)
    assert dataset.released == ["x"]


@pytest.mark.parametrize("statuses", [(), ("agreed", "adjudicated"), ("unreviewed",)])
def test_settled_labels_and_those_nobody_was_asked_about_are_released_at_once(dataset, statuses):
    results.release(dataset(*statuses))
    assert dataset.released == ["x"]
