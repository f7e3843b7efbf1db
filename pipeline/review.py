"""The review stage: final labels and agreement; and what sends questions to Label Studio and fetches answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from annotation.adjudication import Rules, final_labels, latest_reviews
from annotation.agreement import ALL, agreement
from annotation.params import ReviewParams
from annotation.standing import WAITING, ReviewStatus, Standing, State, review_status, standings
from pipeline.runtime.publish import write_json, write_table
from pipeline.stage import Context, Counts, Result, Tables
from schemas.annotations import Agreement, Annotation, ExpertReview, Label
from schemas.base import Record
from schemas.errors import UserError
from schemas.questions import Question, Rejection, ReviewItem
from schemas.taxonomy import dimensions

if TYPE_CHECKING:
    from annotation.label_studio.client import Studio
    from annotation.label_studio.pull import Pulled, PullReport
    from annotation.label_studio.push import PushReport

FOLDER = "reviews"
"""Under the build folder: what was pulled, kept apart from the stage's own result, which it is an input of."""
STAGE = "review"


@dataclass(frozen=True)
class _Settled:
    labels: list[Label]
    reviews: list[ExpertReview]
    standings: list[Standing]
    ignored: dict[str, int]
    """Reviews that do not count, by reason."""


def run(tables: Tables, params: ReviewParams, context: Context) -> Result:
    """Settle every question's label in every dimension, and measure the experts' agreement.

    Counts are of questions: *waiting* are those that are disputed, flagged, or seen by one of two experts, each
    with a review item; all others are kept, whether settled or not reviewed at all.
    """
    settled = _settle(tables, params)
    waiting = [standing for standing in settled.standings if standing.state in WAITING]
    judged = ExpertReview.to_frame(
        review for review in settled.reviews if review.reviewer not in params.adjudicators
    )
    rows = agreement(judged, dimensions(), resamples=params.bootstrap, seed=context.seed)
    status = review_status(settled.standings)
    return Result(
        tables={"labels": Label.to_frame(settled.labels), "agreement": Agreement.to_frame(rows)},
        counts=Counts(
            into=len(settled.standings), kept=len(settled.standings) - len(waiting), waiting=len(waiting)
        ),
        review=[_review_item(standing) for standing in waiting],
        facts={
            "states": {state.value: count for state, count in status.states.items()},
            "experts": dict(status.experts),
            "flags": dict(status.flags),
            "ignored_reviews": settled.ignored,
            "alpha": {row.dimension: row.alpha for row in rows if row.reviewers == ALL},
        },
        notes=_notes(status, rows, settled),
    )


def push(tables: Tables, params: ReviewParams, context: Context) -> PushReport:
    """Send all questions, prefilled with their labels, to Label Studio; again, it adds nothing.

    Args:
        tables: ``questions`` and ``annotations``.
        params: of the stage.
        context: of the stage.

    Raises:
        UserError: no token, no server, or it refuses.
    """
    from annotation.label_studio import push as pushing
    from annotation.label_studio.tasks import model_version, tasks_of

    annotations = list(Annotation.from_frame(tables["annotations"]))
    tasks = tasks_of(Question.from_frame(tables["questions"]), annotations)
    studio = _connect(params)
    with context.progress(len(tasks), "questions") as advance:
        return pushing.push(
            studio,
            context.dataset.name,
            tasks,
            title=params.project,
            version=model_version(annotations),
            batch=params.batch,
            advance=advance,
        )


def pull(params: ReviewParams, context: Context, *, full: bool = False) -> PullReport:
    """Fetch what experts did since the last pull into ``reviews/pulled.parquet`` of the build folder.

    Args:
        params: of the stage.
        context: of the stage.
        full: fetch everything.

    Raises:
        UserError: no token, no server, it refuses, or there is no project.
    """
    from annotation.label_studio import pull as pulling

    folder = context.build / FOLDER
    studio = _connect(params)
    with context.progress(None, "questions") as advance:
        after, report = pulling.pull(
            studio, context.dataset.name, _read_pulled(folder), full=full, advance=advance
        )
    _write_pulled(folder, after)
    return report


def status(tables: Tables, params: ReviewParams) -> ReviewStatus:
    """How far the review has come, as of the last pull. Asks no server.

    Args:
        tables: ``questions``, ``annotations`` and ``pulled``.
        params: of the stage.
    """
    return review_status(_settle(tables, params).standings)


def _settle(tables: Tables, params: ReviewParams) -> _Settled:
    question_ids = tables["questions"]["question_id"].to_list()
    rules = Rules(frozenset(params.adjudicators), params.majority)
    counted, ignored = _counted(tables["pulled"], set(question_ids), params)
    reviews, superseded = latest_reviews(counted)
    labels = final_labels(question_ids, Annotation.from_frame(tables["annotations"]), reviews, rules)
    if superseded:
        ignored["superseded"] = len(superseded)
    return _Settled(labels, reviews, standings(labels, reviews, rules), ignored)


def _counted(
    pulled: pl.DataFrame, question_ids: set[str], params: ReviewParams
) -> tuple[list[ExpertReview], dict[str, int]]:
    """The reviews that count, and how many do not for which reason."""
    invited = {*params.reviewers, *params.adjudicators} if params.reviewers else None
    known = {name: set(dimension.zh_names()) for name, dimension in dimensions().items()}
    counted: list[ExpertReview] = []
    ignored: dict[str, int] = {}
    for review in ExpertReview.from_frame(pulled):
        reason = None
        if review.question_id not in question_ids:
            reason = "other_question"
        elif invited is not None and review.reviewer not in invited:
            reason = "other_reviewer"
        elif review.label not in known.get(review.dimension, ()):
            reason = "unknown_label"
        if reason is None:
            counted.append(review)
        else:
            ignored[reason] = ignored.get(reason, 0) + 1
    return counted, dict(sorted(ignored.items()))


def _review_item(standing: Standing) -> ReviewItem:
    said = [
        {"dimension": r.dimension, "reviewer": r.reviewer, "label": r.label, "flags": r.flags, "note": r.note}
        for r in standing.reviews
    ]
    return ReviewItem(
        item_id=standing.question_id,
        question_ids=[standing.question_id],
        stage=STAGE,
        reason=standing.state.value,
        detail=standing.detail(),
        item=json.dumps(said, ensure_ascii=False, sort_keys=True),
    )


def _notes(status: ReviewStatus, rows: list[Agreement], settled: _Settled) -> list[str]:
    if not settled.reviews:
        return [
            "no expert has reviewed yet: labels are the annotators' (`build-dataset review push` sends them)"
        ]
    states = ", ".join(f"{status.states[state]} {state.value.replace('_', ' ')}" for state in State)
    notes = [f"reviews of {len(status.experts)} people: {states}"]
    for row in rows:
        if row.reviewers == ALL and row.alpha is not None:
            interval = f" [{row.alpha_low:.2f}, {row.alpha_high:.2f}]" if row.alpha_low is not None else ""
            notes.append(
                f"agreement in {row.dimension}: alpha {row.alpha:.2f}{interval}, {row.items} questions"
            )
    if settled.ignored:
        reasons = ", ".join(f"{count} {reason}" for reason, count in settled.ignored.items())
        notes.append(f"reviews that do not count: {reasons}")
    return notes


def _connect(params: ReviewParams) -> Studio:
    from annotation.label_studio.client import Studio

    return Studio.connect(params.url, key_env=params.api_key_env, timeout=params.timeout)


def _read_pulled(folder: Path) -> Pulled:
    from annotation.label_studio.pull import Pulled

    try:
        state: Mapping[str, Any] = json.loads((folder / "state.json").read_text(encoding="utf-8"))
        return Pulled(
            reviews=tuple(ExpertReview.from_frame(_read_table(folder / "pulled.parquet"))),
            rejects=tuple(Rejection.from_frame(_read_table(folder / "rejects.parquet"))),
            project=state["project"],
            since=state["since"],
            annotations={key: tuple(ids) for key, ids in state["annotations"].items()},
        )
    except FileNotFoundError:
        return Pulled()  # nothing pulled yet, or a first pull that was interrupted
    except (ValueError, KeyError, pl.exceptions.PolarsError) as error:
        raise UserError(
            f"{folder} cannot be read ({type(error).__name__}): delete it and run `build-dataset review pull`"
        ) from None


def _write_pulled(folder: Path, pulled: Pulled) -> None:
    """Tables first, the state last: what is interrupted between is fetched again, which changes nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    _replace_table(folder / "pulled.parquet", ExpertReview, pulled.reviews)
    _replace_table(folder / "rejects.parquet", Rejection, pulled.rejects)
    write_json(
        folder / "state.json",
        {
            "project": pulled.project,
            "since": pulled.since,
            "annotations": {key: list(ids) for key, ids in pulled.annotations.items()},
        },
    )


def _read_table(path: Path) -> pl.DataFrame:
    return pl.read_parquet(path, glob=False)


def _replace_table(path: Path, record: type[Record], rows: tuple[Any, ...]) -> None:
    temporary = path.with_name(f".{path.name}.new")
    write_table(record.to_frame(rows), temporary)
    temporary.replace(path)
