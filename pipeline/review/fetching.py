"""Fetching people's work."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from annotation.params import ReviewParams
from pipeline.review.folder import combine, expert_kinds, owner_of, read_all, read_pulled, write_pulled
from pipeline.review.sending import connect
from pipeline.runtime.publish import read_table
from pipeline.runtime.sources import CORRECTIONS
from pipeline.stage import Context

if TYPE_CHECKING:
    from annotation.label_studio.pull import PullReport


def pull(
    params: ReviewParams, context: Context, *, full: bool = False, force: bool = False, adopt: bool = False
) -> list[PullReport]:
    """Fetch what people did since the last pull into the folder ``reviews`` of the build, project by project.

    Returns:
        A report of each project that is or was there.

    Raises:
        UserError: no token, no server, it refuses; or there is no project for the review, which is told after
            the others were fetched.
    """
    from annotation.label_studio import pull as pulling
    from annotation.label_studio.kinds import KINDS, REVIEW, of_expert
    from annotation.label_studio.projects import find

    studio = connect(params)
    owner = owner_of(context)
    experts = [of_expert(who) for who in params.reviewers] if params.assign else []
    kinds = {kind.key: kind for kind in (*KINDS, *expert_kinds(context.build), *experts)}
    listed = studio.projects("[build-dataset ")
    present = {key: find(studio, kind, owner, adopt=adopt, listed=listed) for key, kind in kinds.items()}
    people = studio.reviewers()
    reports: list[PullReport] = []
    with context.progress(None, "questions") as advance:
        for key, kind in kinds.items():
            before = read_pulled(context.build, kind)
            if present[key]:
                after, report = pulling.pull(
                    studio,
                    kind,
                    owner,
                    before,
                    full=full,
                    force=force,
                    project=present[key],
                    advance=advance,
                )
                write_pulled(context.build, kind, after)
                reports.append(report)
            elif before.project is not None:
                write_pulled(context.build, kind, before.with_addresses(people))
                reports.append(pulling.report_of(kind, before, before, remedy=kind.command))
    combine(context.build, read_all(context.build), params)
    started = any(report.kind.startswith(REVIEW.name) for report in reports)
    under_way = any(there for key, there in present.items() if kinds[key].name == REVIEW.name)
    if not under_way and (started or not any(present.values())):
        raise pulling.no_project(studio, REVIEW, owner, read_pulled(context.build, REVIEW))
    return reports


def unknown_people(params: ReviewParams, build: Path) -> list[str]:
    """Return those whose word is to count, by the configuration, and who had no account at the last pull."""
    known = {name for pulled in read_all(build) for name in pulled.people.values()}
    return sorted({*params.reviewers, *params.adjudicators} - known)


def to_apply(build: Path) -> bool:
    """Return whether there are corrections that count."""
    path = build / CORRECTIONS
    return path.exists() and not read_table(path).filter(pl.col("status") == "accepted").is_empty()
