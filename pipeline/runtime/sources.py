"""Tables that come from outside the pipeline: the raw files, the reviews pulled from Label Studio."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from pipeline.runtime.publish import file_sha256
from schemas.annotations import ExpertReview
from schemas.dataset import DatasetParams
from schemas.documents import RawFile
from schemas.errors import UserError

NOT_PAPERS = frozenset({"dataset.toml", "readme.md"})
PULLED = Path("reviews") / "pulled.parquet"


def raw_files(dataset: DatasetParams) -> pl.DataFrame:
    """The files under the raw folder, by path; hidden ones and notes about the folder are passed over.

    Raises:
        UserError: there is no such folder, or nothing in it.
    """
    if not dataset.raw.is_dir():
        raise UserError(f"no raw folder {dataset.raw}: make it and put exam papers there, or set dataset.raw")
    found = [
        RawFile(
            document=path.relative_to(dataset.raw).as_posix(),
            sha256=file_sha256(path),
            bytes=path.stat().st_size,
        )
        for path in sorted(_walk(dataset.raw, skip=dataset.build))
    ]
    if not found:
        raise UserError(
            f"nothing to read in {dataset.raw}: put exam papers there (PDF, images, DOCX, JSON, CSV, XLSX)"
        )
    return RawFile.to_frame(found)


def pulled_reviews(dataset: DatasetParams) -> pl.DataFrame:
    """The experts' labels that ``review pull`` fetched; empty before the first pull."""
    path = dataset.build / PULLED
    return pl.read_parquet(path) if path.exists() else ExpertReview.to_frame([])


SOURCES: dict[str, Callable[[DatasetParams], pl.DataFrame]] = {
    "raw/files": raw_files,
    "reviews/pulled": pulled_reviews,
}


def _walk(folder: Path, skip: Path) -> Iterator[Path]:
    for path in folder.iterdir():
        if path.name.startswith((".", "~$")) or path.resolve() == skip.resolve():
            continue
        if path.is_dir():
            yield from _walk(path, skip)
        elif path.is_file() and path.name.lower() not in NOT_PAPERS:
            yield path
