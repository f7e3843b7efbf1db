"""Releases: what was published before. Its questions keep their splits, and a new release is compared with it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from schemas.dataset import DatasetParams
from schemas.errors import UserError
from schemas.identity import content_hash

SPLITS = ("train", "validation", "test")
CHANGELOG = "CHANGELOG.md"
Version = tuple[int, int, int]

_VERSION = re.compile(r"([0-9]{1,9})\.([0-9]{1,9})\.([0-9]{1,9})")


def parse_version(text: str) -> Version:
    """``"1.2.3"`` as numbers.

    Raises:
        ValueError: it is no version.
    """
    found = _VERSION.fullmatch(text)
    if not found:
        raise ValueError(f"not a version: {text!r}")
    major, minor, patch = (int(part) for part in found.groups())
    return major, minor, patch


def released(dataset: DatasetParams) -> dict[Version, Path]:
    """The releases in the dataset's folder of releases, lowest version first."""
    if not dataset.releases.is_dir():
        return {}
    found = {
        parse_version(path.name): path
        for path in dataset.releases.iterdir()
        if path.is_dir() and _VERSION.fullmatch(path.name)
    }
    return dict(sorted(found.items()))


def previous_release(dataset: DatasetParams) -> Path | None:
    """The folder of the previous release: ``dataset.previous``, else the highest version in ``dataset.releases``.

    Raises:
        UserError: what is named, or found, is not a release.
    """
    if dataset.previous is not None:
        return _checked(dataset.previous, f"dataset.previous = {dataset.previous}")
    folders = [*released(dataset).values()]
    return _checked(folders[-1], str(folders[-1])) if folders else None


def every_release(dataset: DatasetParams) -> list[Path]:
    """The folders of all releases, the previous one last.

    Raises:
        UserError: one of them is not a release.
    """
    last = previous_release(dataset)
    earlier = [_checked(folder, str(folder)) for folder in released(dataset).values() if folder != last]
    return [*earlier, last] if last else earlier


def release_files(folder: Path) -> dict[str, Path]:
    """The files of a release that decide what the next one will be, by name."""
    names = [*(f"{split}.parquet" for split in SPLITS), "manifest.json", CHANGELOG]
    return {name: folder / name for name in names if (folder / name).is_file()}


def read_release(folder: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of a release, with the column ``split``.

    Args:
        folder: of the release.
        columns: that are needed; all when absent.

    Raises:
        UserError: a file of it cannot be read, or lacks a column.
    """
    parts = []
    for split in SPLITS:
        file = folder / f"{split}.parquet"
        try:
            part = pl.read_parquet(file, columns=list(columns) if columns else None, glob=False)
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).splitlines()[0]
            needs = f"; it needs the columns {', '.join(columns)}" if columns else ""
            raise UserError(f"the earlier release {file} cannot be read ({reason}){needs}") from None
        parts.append(part.with_columns(split=pl.lit(split)))
    return pl.concat(parts, how="diagonal_relaxed")


def content_of(rows: pl.DataFrame) -> pl.Series:
    """What each question says (``content_hash``): by that it is known again when its id has changed.

    Args:
        rows: with ``stem``, ``shared_stem`` and ``options``.
    """
    hashes = [
        content_hash(stem, (option["text"] for option in options), shared)
        for stem, options, shared in rows.select("stem", "options", "shared_stem").iter_rows()
    ]
    return pl.Series("content", hashes, dtype=pl.String)


def _checked(folder: Path, named: str) -> Path:
    missing = [f"{split}.parquet" for split in SPLITS if not (folder / f"{split}.parquet").is_file()]
    if missing:
        raise UserError(
            f"{named}: no release there ({missing[0]} is missing); name the folder of an export, "
            "with train.parquet, validation.parquet and test.parquet"
        )
    return folder
