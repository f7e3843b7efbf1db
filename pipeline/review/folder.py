"""The folder ``reviews`` of a build: what was pulled, kept apart from the stages' results, whose input it is.

Each kind of project has a folder of its own there; over them stand the tables of all, which the stages read.
"""

import json
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import polars as pl

from build_dataset.annotation.adjudication import ADJUDICATION, decided_corrections
from build_dataset.annotation.label_studio.projects import KINDS, REVIEW, Kind, Owner, of_expert
from build_dataset.annotation.label_studio.pull import Pulled
from build_dataset.annotation.label_studio.read import DROP, SeenAnnotation
from build_dataset.annotation.params import ReviewParams
from build_dataset.pipeline.review.lineage import asked_questions
from build_dataset.pipeline.review.progress import gold_questions, separate
from build_dataset.pipeline.runtime.publish import read_table, write_json, write_table
from build_dataset.pipeline.runtime.sources import SETTLED
from build_dataset.pipeline.stage import Context
from build_dataset.schemas.annotations import AskedQuestion, Correction, ExpertReview, SettledDoubt, ShownLabel
from build_dataset.schemas.base import Record
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.identity import file_sha256, sha256
from build_dataset.schemas.questions import Rejection

FOLDER = "reviews"  # in the build folder; the stages read it and never write it
HISTORY = "history"  # snapshots of pulls
SHOWN = "shown.parquet"  # labels that were filled in, and since when
_SENT = "sent.parquet"  # what questions said that were sent, and since when
CONTROL = "control.parquet"  # answers to gold questions
_STATE = "state.json"  # written last: without it a pull counts as interrupted
_TOKEN = "token"  # noqa: S105 - the name of a file
_IMPORTED = "imported.txt"  # SHA-256 of workbooks of which every decision was taken in, one a line
SHEETS = replace(REVIEW, name="sheets")  # folder of reviews in workbooks, kept like those of a project
KEEP, CORRECT = "keep", "correct"  # decisions on questions that waited, beside DROP
_TABLES: dict[str, type[Record]] = {
    "reviews": ExpertReview,
    "corrections": Correction,
    "rejects": Rejection,
    "annotations": SeenAnnotation,
}


def owner_of(context: Context) -> Owner:
    """Return the owner of this folder's projects: its token is drawn when it is first asked for."""
    path = context.build / FOLDER / _TOKEN
    token = path.read_text(encoding="utf-8").strip() if path.exists() else ""
    if not token:  # none yet, or the process that drew one was killed while it wrote
        token = secrets.token_hex(6)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(token + "\n", encoding="utf-8")
    return Owner(context.dataset.name, token)


def read_pulled(build: Path, kind: Kind) -> Pulled:
    """Return what was pulled of a project; nothing before the first pull, or after one that was interrupted."""
    folder = build / FOLDER / kind.key
    try:
        state: Mapping[str, Any] = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        tables: dict[str, Any] = {name: _read(folder / f"{name}.parquet", record) for name, record in _TABLES.items()}
        return Pulled(**tables, **state)
    except FileNotFoundError:
        return Pulled()
    except (ValueError, TypeError, pl.exceptions.PolarsError) as error:
        raise UserError(
            f"{folder} cannot be read ({type(error).__name__}): put the latest folder of"
            f" {build / FOLDER / HISTORY / kind.key} in its place and run `build-dataset review pull`"
        ) from None


def write_pulled(build: Path, kind: Kind, pulled: Pulled) -> None:
    """Write the tables first and the state last: an interrupted pull is repeated, which changes nothing."""
    folder = build / FOLDER / kind.key
    folder.mkdir(parents=True, exist_ok=True)
    for name in _TABLES:
        replace_table(folder / f"{name}.parquet", getattr(pulled, name))
    write_json(folder / _STATE, {"project": pulled.project, "since": pulled.since, "people": pulled.people})
    history = build / FOLDER / HISTORY / kind.key  # keeps a snapshot unless nothing changed
    names = [f"{name}.parquet" for name in _TABLES]
    digest = sha256(*(file_sha256(folder / name) for name in names))[:12]
    there = sorted(history.glob("*Z-*"))
    if there and there[-1].name.endswith(digest):
        return
    snapshot = history / f"{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}-{digest}"
    snapshot.mkdir(parents=True)
    for name in (*names, _STATE):
        shutil.copyfile(folder / name, snapshot / name)


def imported(build: Path) -> list[str]:
    """Return the SHA-256 of workbooks of which every decision was taken in."""
    path = build / FOLDER / _IMPORTED
    return path.read_text(encoding="ascii").split() if path.exists() else []


def remember_imported(build: Path, marks: Sequence[str]) -> None:
    """Keep the SHA-256 of workbooks: a run may write over them."""
    known = dict.fromkeys([*imported(build), *marks])
    (build / FOLDER / _IMPORTED).write_text("".join(f"{mark}\n" for mark in known), encoding="ascii")


def remember_shown(build: Path, annotations: pl.DataFrame) -> None:
    """Keep which labels are filled in from now on: what an expert accepted is told by what was shown."""
    now = annotations.select("question_id", "dimension", shown="label", shown_by="annotator")
    now = now.unique(["question_id", "dimension"], keep="first")
    _remember(build / FOLDER / SHOWN, ShownLabel, now, ("question_id", "dimension"), now.columns)


def remember_asked(build: Path, questions: pl.DataFrame) -> None:
    """Keep what questions say from now on: whether an answer still stands is told by what was asked."""
    now = asked_questions(questions, "").drop("since")
    _remember(build / FOLDER / _SENT, AskedQuestion, now, ("question_id",), ("question_id", "version"))


def _remember(path: Path, record: type[Record], now: pl.DataFrame, key: Sequence[str], same: Sequence[str]) -> None:
    """Add the rows that say something else than the latest of their key, with the time."""
    before = _kept(path, record)
    new = now.join(before.sort("since").unique(key, keep="last"), on=same, how="anti")
    if not new.is_empty():
        moment = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        both = pl.concat([before, new.with_columns(since=pl.lit(moment)).select(before.columns)])
        replace_table(path, both.sort("since", *key))


def _kept(path: Path, record: type[Record]) -> pl.DataFrame:
    return _read(path, record) if path.exists() else record.to_frame([])


def _with_versions(build: Path, reviews: pl.DataFrame) -> pl.DataFrame:
    """Return reviews with what was asked: what came with the answer, else what had been sent by then, or first."""
    at = pl.col("since").str.to_datetime(time_zone="UTC")
    asked = _kept(build / FOLDER / _SENT, AskedQuestion).select("question_id", "version", at=at).sort("at")
    rows = reviews.with_row_index("place").with_columns(at=pl.col("updated_at").str.to_datetime(time_zone="UTC"))
    rows = rows.sort("at").join_asof(asked, on="at", by="question_id", check_sortedness=False)
    first = asked.unique("question_id", keep="first", maintain_order=True).select("question_id", first="version")
    rows = rows.join(first, on="question_id", how="left")
    return rows.sort("place").with_columns(asked=pl.coalesce("asked", "version", "first")).select(reviews.columns)


def _with_shown(build: Path, reviews: pl.DataFrame) -> pl.DataFrame:
    """Return reviews with the label that was filled in when they were made."""
    key = ["question_id", "dimension"]
    made = reviews.drop("shown", "shown_by").with_columns(since=pl.col("updated_at")).with_row_index("place")
    at = pl.col("since").str.to_datetime(time_zone="UTC")
    shown = _kept(build / FOLDER / SHOWN, ShownLabel).with_columns(at).sort("since")
    made = made.with_columns(at).sort("since")
    # What was left as it was is what was shown, also where it was opened, or sent in a workbook, before a later push.
    left = made.filter(pl.col("origin") == "prediction")
    same = shown.with_columns(label="shown")
    left = left.join_asof(same, on="since", by=[*key, "label"], check_sortedness=False).drop_nulls("shown")
    others = made.join(left, on="place", how="anti").join_asof(shown, on="since", by=key, check_sortedness=False)
    return pl.concat([left.select(others.columns), others]).sort("place").select(reviews.columns)


def combine(build: Path, params: ReviewParams) -> None:
    """Write the tables that the stages read: everybody's reviews, corrections with their status, and rejects."""
    folder = build / FOLDER
    parts = read_all(build)
    gold = gold_questions(params.gold)
    everything = _with_versions(build, pl.concat([part.reviews for part in parts]))
    reviews, control = separate(_with_shown(build, everything), gold)
    rows = Correction.from_frame(pl.concat([part.corrections for part in parts]))
    ruled = reviews.filter(pl.col("project") == ADJUDICATION)["question_id"]
    invited = (each for each in rows if each.origin == "verification" or params.invites(each.by))
    settled = decided_corrections(invited, ruled, params.adjudicators)
    replace_table(folder / CONTROL, control)
    replace_table(folder / "pulled.parquet", reviews)
    answered = reviews.select("question_id", version="asked").unique()
    sent = _kept(folder / _SENT, AskedQuestion).join(answered, on=answered.columns, how="semi", maintain_order="left")
    replace_table(folder / "asked.parquet", sent)
    replace_table(folder / "corrections.parquet", Correction.to_frame(settled))
    replace_table(folder / "rejects.parquet", pl.concat([part.rejects for part in parts]))


def remember_settled(build: Path, settled: Sequence[SettledDoubt]) -> None:
    """Keep people's decisions on questions that waited, the latest on each question and reason."""
    if settled:
        before = SettledDoubt.from_frame(read_table(build / SETTLED)) if (build / SETTLED).exists() else ()
        in_time = sorted([*before, *settled], key=lambda each: datetime.fromisoformat(each.at))
        latest = {(each.question_id, each.reason): each for each in in_time}
        replace_table(build / SETTLED, SettledDoubt.to_frame(latest[key] for key in sorted(latest)))


def count_by_reason(settled: pl.DataFrame) -> list[dict[str, Any]]:
    """Return decisions (``SettledDoubt``) by the reason for which questions waited, the commonest first."""
    decisions = {"kept": KEEP, "corrected": CORRECT, "rejected": DROP}
    numbers = {name: (pl.col("decision") == decision).sum() for name, decision in decisions.items()}
    counts = settled.group_by("reason").agg(settled=pl.len(), **numbers)
    alarm = (pl.col("settled") >= 20) & (pl.col("kept") >= 0.95 * pl.col("settled"))  # right as it stood in 19 of 20
    return counts.with_columns(false_alarm=alarm).sort(-pl.col("settled").cast(int), "reason").to_dicts()


def expert_kinds(build: Path) -> list[Kind]:
    """Return the projects of single experts of which something was pulled."""
    begin = f"{REVIEW.name} of "
    folders = sorted((build / FOLDER).glob(f"{begin}*/{_STATE}"))
    return [of_expert(unquote(path.parent.name.removeprefix(begin))) for path in folders]


def read_all(build: Path) -> list[Pulled]:
    """Return what was pulled of each project, and what came back in workbooks."""
    return [read_pulled(build, kind) for kind in (*KINDS, *expert_kinds(build), SHEETS)]


def read_control(build: Path) -> pl.DataFrame:
    """Return the answers to gold questions as of the last pull."""
    path = build / FOLDER / CONTROL
    return pl.read_parquet(path, glob=False) if path.exists() else separate(ExpertReview.to_frame([]), [])[1]


def _read(path: Path, record: type[Record]) -> pl.DataFrame:
    frame, schema = pl.read_parquet(path, glob=False), record.polars_schema()
    optional = [name for name, each in record.model_fields.items() if not each.is_required() and each.default is None]
    new = {name: pl.lit(None, schema[name]) for name in optional if name not in frame.columns}  # by a later version
    frame = frame.with_columns(**new).select(name for name in schema if name in {*frame.columns, *new})
    if frame.schema != schema:
        raise ValueError(f"{path} has other columns")
    return frame


def replace_table(path: Path, frame: pl.DataFrame) -> None:
    """Write a table in one step, in its folder if need be: a reader sees the old one or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.new")
    write_table(frame, temporary)
    temporary.replace(path)
