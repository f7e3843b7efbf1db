"""Sections on the way from files to splits: figures at a glance, funnel, sources, rejected and waiting items."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from build_dataset.pipeline.rendering.markup import percent
from build_dataset.pipeline.report.build import WORDS, Build, Section, notice
from build_dataset.pipeline.report.texts import item_text, spread_evenly
from build_dataset.pipeline.review.folder import count_by_reason
from build_dataset.pipeline.set_aside import OUTCOMES, DoubtedSource, SourceLoss, source_losses
from build_dataset.schemas import annotations, questions, taxonomy, wording

_QUESTIONS = ("items", "questions")  # Units that share one scale: questions, and items that may become questions.
_SOURCES = 200  # rows of the table of source files
_ALARMS = 12  # files whose losses are told one by one
_DOUBTFUL = 0.9
"""Mean confidence of a page's OCR below which a person should look: of 48 scans and photographs the 42 above it have 90
to 100 % of their lines right, those below 71 to 99 %."""
_PAGES = 5  # doubtful pages named


def overview(build: Build) -> Section:
    """Figures at a glance: questions, whose parts add up, then files, pages and reviewed labels."""
    losses = source_losses(build.table)
    parts = {name: sum(getattr(loss, name) for loss in losses) for name in OUTCOMES}
    sizes = [build.stage("export").table(name).get("rows") for name in questions.SPLITS]  # None before the export
    labels = build.filled("review/labels")
    values = {
        "parts": parts,
        "total": sum(parts.values()),
        "sizes": sizes,
        "released": None not in sizes and sum(size or 0 for size in sizes) == parts["kept"],
        "files": build.stage("ocr").counts,
        "keys": len(build.stage("parse").facts.get("keys", {})),
        "pages": build.stage("ocr").table("pages").get("rows"),
        "by_ocr": build.stage("ocr").facts.get("pages_by_method", {}).get("ocr", 0),
        "labels": 0 if labels is None else labels.height,
        "seen": 0 if labels is None else (labels["status"] != annotations.LabelStatus.UNREVIEWED.value).sum(),
    }
    notices = []
    if labels is not None:
        conditions = {
            "unreviewed": pl.col("status") == annotations.LabelStatus.UNREVIEWED.value,
            "lexicon": pl.col("annotator") == "lexicon",
            "estimates": (pl.col("dimension") == taxonomy.DIFFICULTY)
            & pl.col("estimate")
            & pl.col("label").is_not_null(),
        }
        counts = {name: labels.filter(condition).height for name, condition in conditions.items()}
        told: dict[str, Any] = {"share": percent(counts["unreviewed"], labels.height, 0), "total": labels.height}
        notices = [notice(name, n=n, **told) for name, n in counts.items() if n]
    # Pages that OCR read with little confidence, the least first, or not at all.
    pages = build.filled("ocr/pages", pl.col("confidence") < _DOUBTFUL)
    if pages is not None:
        worst = pages.sort("confidence", "document", "page").head(_PAGES).select("document", "page").iter_rows()
        named = ", ".join(f"{document} p. {page}" for document, page in worst)
        notices.append(notice("doubtful_pages", limit=_DOUBTFUL, n=pages.height, pages=named))
    if lost := build.stage("ocr").facts.get("pages_lost"):
        notices.append(notice("lost_pages", n=len(lost)))
    return Section(values, notices)


def funnel(build: Build) -> Section:
    """Bars of all stages, reasons below each, the splits at the end."""
    sizes = [stage.counts["in"] for stage in build.ran if stage.counts["unit"] in _QUESTIONS]
    exported = {name: table["rows"] for name in questions.SPLITS if (table := build.stage("export").table(name))}
    counts = exported if len(exported) == len(questions.SPLITS) else build.stage("split").facts.get("splits", {})
    splits = {name: counts[name] for name in questions.SPLITS if name in counts}  # as exported, else as assigned
    values = {
        "stages": build.stages,
        "on_one_scale": _QUESTIONS,
        "largest": max(sizes, default=0),
        "splits": splits,
        "keys": len(build.stage("parse").facts.get("keys", {})),
    }
    notices = [notice("incomplete", stage=stage.name) for stage in build.ran if not stage.manifest["complete"]]
    notices += [notice("outdated", stage=name, makers=", ".join(makers)) for name, makers in build.outdated.items()]
    if missing := [stage.name for stage in build.stages if not stage.manifest]:
        notices.append(notice("not_run", names=", ".join(missing)))
    if empty := [name for name, size in splits.items() if not size]:
        notices.append(notice("empty_splits", names=", ".join(empty)))
    return Section(values, notices)


def sources(build: Build) -> Section | None:
    """A row a source; None before anything was read."""
    losses = source_losses(build.table)
    if not losses:
        return None
    values = {"sources": losses[:_SOURCES], "more": max(0, len(losses) - _SOURCES)}
    left_out: Mapping[str, list[str]] = build.stage("ocr").facts.get("left_out", {})
    lost = loss_notices(losses, build.dataset.loss_alarm)
    notices = lost[:_ALARMS]
    if len(lost) > _ALARMS:
        notices.append(notice("more_files", n=len(lost) - _ALARMS))
    for name, names in [*left_out.items()][:_ALARMS]:
        notices.append(notice("left_out", file=name, told="; ".join(names)))
    return Section(values, notices)


def doubt_notices(doubts: Iterable[DoubtedSource]) -> list[wording.Notice]:
    """Return a notice for every doubt about a source, which stand before all others."""
    named = ((wording.reason_names().get(doubt.reason, doubt.reason), doubt) for doubt in doubts)
    return [notice("source_doubt", lost=each.questions, name=name, detail=each.detail) for name, each in named]


def loss_notices(losses: Iterable[SourceLoss], threshold: float) -> list[wording.Notice]:
    """Return a notice for every source that lost more than ``threshold``, the largest loss first."""
    notices = []
    for loss in sorted((loss for loss in losses if loss.share > threshold), key=lambda loss: -loss.lost):
        # How many are missing, why most of them, and what to do.
        [(reason, n)] = [(loss.refused, 0)] if loss.refused else loss.reasons.most_common(1)
        english, chinese = wording.remedy(reason, loss.document)
        values: dict[str, Any] = {"file": loss.document, "reason": reason, "chinese": chinese, "lost": loss.lost}
        values["name"] = wording.reason_names().get(reason, reason)  # in Chinese
        if loss.refused:
            detail = loss.detail.replace('"FILE"', f'"{loss.document}"') or english
            notices.append(notice("refused", detail=detail, **values))
        else:
            values |= {"remedy": english, "of": loss.n_input, "n": n, "share": loss.share}
            notices.append(notice("losses", **values))
    return notices


def rejected(build: Build) -> Section | None:
    """Rejected items by stage and reason, with examples; None when nothing was rejected."""
    groups = list(_groups(build, "rejected", "rejects"))
    return Section({"groups": groups}) if groups else None


def waiting(build: Build) -> Section | None:
    """Waiting items by stage and reason, with examples; None when nothing waits."""
    groups = list(_groups(build, "waiting", "review"))
    settled = build.filled("reviews/settled")
    alarms = [] if settled is None else [row for row in count_by_reason(settled) if row["false_alarm"]]
    if not groups and not alarms:
        return None
    # Waiting items of a stage that hands questions on are in no split; those of later stages are only unsettled.
    notices, ran = [], [stage for stage in build.ran if stage.counts["waiting"]]
    before = [stage for stage in ran if stage.name == "ocr" or stage.table("questions")]
    if missing := sum(build.waiting(stage).total() for stage in before):
        notices.append(notice("waiting", n=missing, lost=missing))
    for stage in ran:
        if stage not in before:
            count, chinese = stage.counts["waiting"], WORDS["stages"].get(stage.name, stage.name)
            items = wording.counted(count, stage.counts["unit"].removesuffix("s"))
            notices.append(notice("unsettled", stage=stage.name, chinese=chinese, n=count, said=items))
    return Section({"groups": groups, "alarms": alarms}, notices)


def _groups(build: Build, outcome: str, table: str) -> Iterator[dict[str, Any]]:
    """One group a stage and reason, in the order of stages, most frequent first."""
    for stage in build.ran:
        settled = build.settled if (stage.name, outcome) == ("parse", "waiting") else ()
        frame = build.filled(f"{stage.name}/{table}", ~pl.col("item_id").is_in(list(settled)))
        examples, limit = defaultdict(list), build.params.characters
        for part in [] if frame is None else frame.sort("item_id", "detail").partition_by("reason"):
            # a few items of each reason, evenly spread over all in the order of their ids
            some = spread_evenly(part, build.params.examples).select("item_id", "reason", "detail", "item")
            for item_id, code, detail, item in some.iter_rows():
                examples[code].append({"id": item_id, "detail": detail[:limit], "item": item_text(item, limit)})
        for reason, count in (build.waiting(stage) if outcome == "waiting" else stage.reasons[outcome]).items():
            shown = examples.get(reason, [])
            yield {"stage": stage.name, "outcome": outcome, "reason": reason, "count": count, "examples": shown}
