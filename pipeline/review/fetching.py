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

    Args:
        params: of the stage.
        context: of the stage.
        full: fetch everything.
        force: let go of what is gone from the server.
        adopt: take over another folder's projects.

    Returns:
        A report a project; of the projects for adjudication and verification only where they were made.

    Raises:
        UserError: no token, no server, it refuses, or there is no project.
    """
    from annotation.label_studio import pull as pulling
    from annotation.label_studio.kinds import KINDS, of_expert
    from annotation.label_studio.projects import find

    studio = connect(params)
    owner = owner_of(context)
    experts = [of_expert(who) for who in params.reviewers] if params.assign else []
    kinds = {kind.key: kind for kind in (*KINDS, *expert_kinds(context.build), *experts)}
    present = {key: find(studio, kind, owner, adopt=adopt) is not None for key, kind in kinds.items()}
    reports = []
    with context.progress(None, "questions") as advance:
        for key, kind in kinds.items():
            before = read_pulled(context.build, kind)
            if not present[key] and before.project is None and _optional(key, present):
                continue
            after, report = pulling.pull(studio, kind, owner, before, full=full, force=force, advance=advance)
            write_pulled(context.build, kind, after)
            reports.append(report)
    combine(context.build, read_all(context.build), params)
    return reports


def unknown_people(params: ReviewParams) -> list[str]:
    """Those whose word is to count, by the configuration, and who have no account.

    Raises:
        UserError: no token, no server, or it refuses.
    """
    named = {*params.reviewers, *params.adjudicators}
    return sorted(named - {*connect(params).reviewers().values()}) if named else []


def to_apply(build: Path) -> bool:
    """Return whether there are corrections that count."""
    path = build / CORRECTIONS
    return path.exists() and not read_table(path).filter(pl.col("status") == "accepted").is_empty()


def _optional(kind: str, present: dict[str, bool]) -> bool:
    """Return whether that project need not be there: verification alone may be under way, too."""
    return kind != "review" or any(present.values())
