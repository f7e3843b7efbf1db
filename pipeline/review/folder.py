"""The folder ``reviews`` of a build: what was pulled, kept apart from the stages' results, whose input it is.

Each kind of project has a folder of its own there; over them stand the tables of all, which the stages read.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from annotation.corrections import judged
from annotation.label_studio.kinds import KINDS, Kind
from annotation.label_studio.pull import Pulled, SeenAnnotation
from annotation.params import ReviewParams
from annotation.progress import adjudicated_questions
from pipeline.runtime.publish import write_json, write_table
from schemas.annotations import ExpertReview
from schemas.base import Record
from schemas.corrections import Correction
from schemas.errors import UserError
from schemas.questions import Rejection

FOLDER = "reviews"
_STATE = "state.json"
_TABLES: dict[str, type[Record]] = {
    "reviews": ExpertReview,
    "corrections": Correction,
    "rejects": Rejection,
    "annotations": SeenAnnotation,
}


def read_pulled(build: Path, kind: Kind) -> Pulled:
    """What was pulled of a project; nothing before the first pull, or after one that was interrupted.

    Raises:
        UserError: it cannot be read.
    """
    folder = build / FOLDER / kind.name
    try:
        state: Mapping[str, Any] = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        tables = {name: _read(folder / f"{name}.parquet", record) for name, record in _TABLES.items()}
        return Pulled(**tables, project=state["project"], since=state["since"])
    except FileNotFoundError:
        return Pulled()
    except (ValueError, KeyError, pl.exceptions.PolarsError) as error:
        raise UserError(
            f"{folder} cannot be read ({type(error).__name__}): delete it and run `build-dataset review pull`"
        ) from None


def write_pulled(build: Path, kind: Kind, pulled: Pulled) -> None:
    """Tables first, the state last: what is interrupted between is fetched again, which changes nothing."""
    folder = build / FOLDER / kind.name
    folder.mkdir(parents=True, exist_ok=True)
    for name in _TABLES:
        replace_table(folder / f"{name}.parquet", getattr(pulled, name))
    write_json(folder / _STATE, {"project": pulled.project, "since": pulled.since})


def combine(build: Path, everything: Iterable[Pulled], params: ReviewParams) -> None:
    """Write the tables that the stages read: everybody's reviews, corrections with their status, and rejects."""
    folder = build / FOLDER
    parts = list(everything)
    reviews = pl.concat([part.reviews for part in parts])
    rejects = pl.concat([part.rejects for part in parts])
    rows = Correction.from_frame(pl.concat([part.corrections for part in parts]))
    ruled = adjudicated_questions(
        ExpertReview.from_frame(reviews.filter(pl.col("project") == "adjudication"))
    )
    settled = judged(_invited(rows, params), ruled, params.adjudicators)
    replace_table(folder / "pulled.parquet", reviews)
    replace_table(folder / "corrections.parquet", Correction.to_frame(settled))
    replace_table(folder / "rejects.parquet", rejects)


def read_all(build: Path) -> list[Pulled]:
    """What was pulled of each kind of project."""
    return [read_pulled(build, kind) for kind in KINDS]


def _invited(corrections: Iterable[Correction], params: ReviewParams) -> Iterable[Correction]:
    """Corrections of people whose word counts."""
    if not params.reviewers:
        return corrections
    people = {*params.reviewers, *params.adjudicators}
    return (each for each in corrections if each.origin == "verification" or each.by in people)


def _read(path: Path, record: type[Record]) -> pl.DataFrame:
    frame = pl.read_parquet(path, glob=False)
    if frame.schema != record.polars_schema():
        raise ValueError(f"{path} has other columns")
    return frame


def replace_table(path: Path, frame: pl.DataFrame) -> None:
    """Write a table in one step: a reader sees the old one or the new one."""
    temporary = path.with_name(f".{path.name}.new")
    write_table(frame, temporary)
    temporary.replace(path)
