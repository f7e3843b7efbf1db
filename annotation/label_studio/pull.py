"""Fetching people's annotations: what changed since the last time, or everything."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import chain
from typing import Any, NamedTuple, Self

import polars as pl

from build_dataset.annotation.label_studio.client import Project, Studio, task_filter
from build_dataset.annotation.label_studio.projects import Kind, Owner, find
from build_dataset.annotation.label_studio.read import PulledRows, SeenAnnotation, read_task, timestamp
from build_dataset.annotation.label_studio.screen import ANSWERED
from build_dataset.annotation.label_studio.tasks import QUESTION_ID, written
from build_dataset.schemas.annotations import Correction, ExpertReview
from build_dataset.schemas.errors import UserError
from build_dataset.schemas.questions import Rejection

_OVERLAP = timedelta(seconds=10)
"""Looked at again each time: a transaction may become visible after a later one. Reading twice changes nothing."""
_ORDER = {
    "reviews": ("question_id", "dimension", "reviewer"),
    "corrections": ("question_id", "field", "by"),
    "rejects": ("item_id", "reason", "detail", "item"),
    "annotations": ("question_id", "annotation_id"),
}  # columns that each table is sorted by, the question first
_KEY = list(_ORDER["annotations"])  # names one annotation; the server may give its id again


@dataclass(frozen=True)
class Pulled:
    """Tables of everything that was pulled of one project so far, and how to go on from there."""

    # Tables, not records: a pull of one change among 20,000 annotations touches the rows of one question.
    reviews: pl.DataFrame = field(default_factory=lambda: ExpertReview.to_frame([]))
    corrections: pl.DataFrame = field(default_factory=lambda: Correction.to_frame([]))
    rejects: pl.DataFrame = field(default_factory=lambda: Rejection.to_frame([]))
    annotations: pl.DataFrame = field(default_factory=lambda: SeenAnnotation.to_frame([]))
    project: str | None = None  # the project and the server that it is from
    since: str | None = None  # the latest change that was seen
    people: Mapping[str, str] = field(default_factory=dict)  # addresses, see ``Studio.accounts``

    def answers(self, people: Mapping[str, str]) -> dict[str, list[Mapping[str, Any]]]:
        """Return the latest annotation of each of the ``people`` by question, as they are imported."""
        signed = pl.col("answer").is_not_null() & pl.col("reviewer").is_in([*people.values()])
        rows = self.with_addresses(people).annotations.filter(signed)
        key = ["question_id", "reviewer"]
        latest = rows.sort("updated_at", "annotation_id").unique(key, keep="last").sort(key)
        by_question: dict[str, list[Mapping[str, Any]]] = {}
        for question_id, reviewer, answer, moment in latest.select(*key, "answer", "updated_at").iter_rows():
            annotation = json.loads(answer) | {"completed_by": {"email": reviewer}}
            annotation["result"].append(written(ANSWERED, moment))  # the server's own time will be that of the import
            by_question.setdefault(question_id, []).append(annotation)
        return by_question

    def with_addresses(self, people: Mapping[str, str]) -> Self:
        """Return it with everybody's present address, because their next answers will carry it."""
        names = {name: people[who] for who, name in self.people.items() if people.get(who, name) != name}
        if not names:
            return self
        return replace(
            self,
            people=people,
            reviews=self.reviews.with_columns(pl.col("reviewer").replace(names)),
            corrections=self.corrections.with_columns(pl.col("by").replace(names)),
            annotations=self.annotations.with_columns(pl.col("reviewer").replace(names)),
        )

    def with_rows(self, rows: PulledRows, stale: Mapping[str, pl.Expr]) -> Self:
        """Return it with new rows in place of the stale ones, in the tables of which some may be stale."""
        tables: dict[str, Any] = {}
        for name, is_stale in stale.items():
            old: pl.DataFrame = getattr(self, name)
            new = [row.model_dump(mode="json") for row in getattr(rows, name)]
            both = pl.concat([old.filter(~is_stale), pl.DataFrame(new, old.schema)])
            tables[name] = both.sort(_ORDER[name], maintain_order=True)
        return replace(self, **tables)


class PullReport(NamedTuple):
    """Result of a pull."""

    kind: str
    full: bool  # True where everything was read, not only what changed
    new: int  # annotations that were not there the last time
    changed: int  # annotations that were there and are different now
    deleted: int  # annotations that are gone; their reviews are, too
    reviews: int  # reviews in all, one a question, dimension and expert
    questions: int  # questions with at least one annotation that counts
    rejects: Mapping[str, int]  # annotations that do not count, by reason, in all
    third_experts: tuple[str, ...]  # questions that more people reviewed than were asked
    kept: int = 0  # number of all annotations that are gone from the server and are kept here
    newly_gone: int = 0  # number of those that the previous pull still found
    remedy: str | None = None  # the command, where the whole project is gone, that makes it anew


def pull(
    studio: Studio,
    kind: Kind,
    owner: Owner,
    before: Pulled,
    *,
    full: bool = False,
    force: bool = False,
    project: Project | None = None,
    advance: Callable[[int], object] = int,
) -> tuple[Pulled, PullReport]:
    """Fetch what changed since ``before``; everything when ``full`` or when it is from another project.

    An answer that is gone from the server stays unless ``force``, as long as its author gave no other. ``project`` is
    the one to read, where the caller has found it.
    Raises ``UserError`` where there is no project, or it is another folder's.
    """
    project = project or find(studio, kind, owner)
    if project is None:
        raise no_project(studio, kind, owner, before)
    name = f"{studio.url}/projects/{project.id} {project.created_at}"
    people = studio.accounts
    renamed = before.with_addresses(people)
    empty = Pulled(project=name)
    start = empty if full or force or renamed is not before or before.project != name else before
    before = renamed
    after = _fetch(studio, kind, project, start, advance)
    told, count = project.annotations, after.annotations.filter(~pl.col("skipped") & ~pl.col("gone")).height
    # Annotations of a deleted task go without a trace; new ones may come meanwhile.
    if start.since is not None and not (count == told or told < count <= studio.project(project.id).annotations):
        start = empty
        after = _fetch(studio, kind, project, start, advance)
    after = with_known_times(before, after)
    if not force:
        after = with_deleted_rows(before, after)
    return replace(after, people=people), report_of(kind, before, after, full=start.since is None)


def with_known_times(before: Pulled, after: Pulled) -> Pulled:
    """Return what was pulled now, with the earlier times of answers that are there anew in place of others."""
    # Whoever copies a project by export and import gives its answers new ids and the time of the import.
    content, same = ["question_id", "reviewer", "answer"], [*_KEY, "updated_at"]
    lost = before.annotations.join(after.annotations, on=same, how="anti").sort("updated_at")
    lost = lost.unique(content, keep="first", maintain_order=True).select(*content, earlier="updated_at")
    new = after.annotations.filter("imported").join(before.annotations, on=same, how="anti")
    copies = new.join(lost, on=content).select(*_KEY, "earlier")
    known: dict[str, Any] = {}
    for name in ("annotations", "reviews", "corrections"):
        rows: pl.DataFrame = getattr(after, name).join(copies, on=_KEY, how="left", maintain_order="left")
        known[name] = rows.with_columns(updated_at=pl.coalesce("earlier", "updated_at")).drop("earlier")
    return replace(after, **known)


def with_deleted_rows(before: Pulled, after: Pulled) -> Pulled:
    """Return what was pulled now, with what was pulled earlier and is not there any more: no work is lost so.

    An answer is missed that was deleted, that somebody else signed or sent anew, or that the server knows only as it
    was before, as after a restore from a backup, which also gives the ids of lost annotations to others. It is not
    missed where its author has given another answer to the question.
    """
    signature = [*_KEY, "reviewer"]
    signed_now = after.annotations.filter(pl.col("answer").is_not_null())
    given = before.annotations.filter(~pl.col("skipped") & pl.col("answer").is_not_null())
    both = given.join(signed_now, on=signature, suffix="_now")
    missed = given.join(both.filter(pl.col("updated_at_now") >= pl.col("updated_at")), on=signature, how="anti")
    others = signed_now.filter(~pl.col("skipped")).join(missed, on=signature, how="anti")
    missed = missed.join(others, on=["question_id", "reviewer"], how="anti")
    if missed.is_empty():
        return after
    # The rows of now that these replace: of their author, or of nobody that the server lists.
    replaced = after.annotations.join(missed.select(*_KEY, author="reviewer"), on=_KEY)
    replaced = replaced.filter(pl.col("reviewer").is_null() | (pl.col("reviewer") == pl.col("author")))
    staying = after.annotations.join(replaced, on=signature, how="anti", nulls_equal=True)
    back = missed.join(replaced, on=_KEY, how="semi").with_columns(gone=False)
    gone = missed.join(replaced, on=_KEY, how="anti").with_columns(gone=True)
    kept: dict[str, Any] = {"annotations": pl.concat([staying, back, gone]).sort(_KEY)}
    for name, author in (("reviews", "reviewer"), ("corrections", "by")):
        mine = missed.select(*_KEY, pl.col("reviewer").alias(author))
        earlier: pl.DataFrame = getattr(before, name).join(mine, on=mine.columns, how="semi")
        now: pl.DataFrame = getattr(after, name).join(mine, on=["question_id", author], how="anti")
        kept[name] = pl.concat([now, earlier]).sort(_ORDER[name], maintain_order=True)
    return replace(after, **kept)


def no_project(studio: Studio, kind: Kind, owner: Owner, before: Pulled) -> UserError:
    """Return the error for a project that is not there."""
    if before.project is None:
        has_none = f"has no {kind.key} project for dataset {owner.dataset}"
        return UserError(f"Label Studio at {studio.url} {has_none}: run `{kind.command}`")
    return UserError(
        f"the {kind.key} project of dataset {owner.dataset} is gone from Label Studio at {studio.url}: what was"
        f" pulled stays; `{kind.command}` makes a new project and puts the answers back into it"
    )


def _fetch(studio: Studio, kind: Kind, project: Project, start: Pulled, advance: Callable[[int], object]) -> Pulled:
    people = studio.reviewers
    seen: dict[str, list[Mapping[str, Any]]] = {}
    data: dict[str, Mapping[str, Any]] = {}
    total, cancelled, since = "total_annotations", "cancelled_annotations", start.since
    if since is None:  # all that were answered, or only skipped
        skipped = [task_filter(total, "equal", 0), task_filter(cancelled, "greater", 0)]
        wanted = [[task_filter(total, "greater", 0)], skipped]
    else:
        moment = timestamp(datetime.fromisoformat(since) - _OVERLAP)
        wanted = [[task_filter("updated_at", "greater", moment, "Datetime")]]
    for task in chain.from_iterable(studio.tasks(project.id, *filters, answers=True) for filters in wanted):
        advance(1)
        question_id = task["data"].get(QUESTION_ID)
        if isinstance(question_id, str):  # otherwise it is somebody else's task
            data.setdefault(question_id, task["data"])
            seen.setdefault(question_id, []).extend(task.get("annotations") or [])
            since = max(since or "", timestamp(task["updated_at"]))
    if not seen:
        return replace(start, since=since)
    rows = PulledRows()
    for question_id, answers in seen.items():
        rows.extend(read_task(data[question_id], answers, people, kind.name))
    stale = {name: pl.col(order[0]).is_in(list(seen)) for name, order in _ORDER.items()}
    return replace(start.with_rows(rows, stale), since=since)


def report_of(
    kind: Kind, before: Pulled, after: Pulled, *, full: bool = False, remedy: str | None = None
) -> PullReport:
    """Return what changed; ``remedy`` where the project is gone, see ``PullReport``."""
    old = before.annotations if before.project == after.project else before.annotations.clear()
    old = old.filter(~pl.col("gone"))
    kept = after.annotations.filter("gone")
    there = after.annotations.filter(~pl.col("gone"))
    both = there.join(old, on=_KEY, suffix="_old")
    signed = after.reviews.select("question_id", "reviewer"), after.corrections.select("question_id", reviewer="by")
    people = pl.concat(signed).unique().group_by("question_id").len()
    return PullReport(
        kind=kind.key,
        full=full,
        new=there.height - both.height,
        changed=both.filter(pl.col("updated_at") != pl.col("updated_at_old")).height,
        deleted=old.height - both.height,
        reviews=after.reviews.height,
        questions=people.height,
        rejects=dict(after.rejects["reason"].value_counts().sort("reason").iter_rows()),
        third_experts=tuple(people.filter(pl.col("len") > kind.experts)["question_id"].sort()),
        kept=kept.height,
        newly_gone=kept.join(before.annotations.filter("gone"), on=_KEY, how="anti").height,
        remedy=remedy,
    )
