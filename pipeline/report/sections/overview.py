"""The figures that a person asks for first."""

from __future__ import annotations

from pipeline.report.build import SPLITS, Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.tables import number, percent
from schemas.annotations import LabelStatus
from schemas.wording import counted


def section(build: Build, params: ReportParams) -> Section:  # noqa: ARG001 - every section's form
    """Tiles: a figure, what it counts in both languages, and what to know of it."""
    tiles = [
        tile
        for tile in (
            _files(build),
            _pages(build),
            _parsed(build),
            _merged(build),
            _aside(build),
            _released(build),
            _reviewed(build),
        )
        if tile
    ]
    return Section("overview", "At a glance", "概览", {"tiles": tiles})


Tile = tuple[str, str, str, str]


def _tile(count: int, names: tuple[str, str], chinese: str, more: str) -> Tile:
    return number(count), names[count != 1], chinese, more


def _files(build: Build) -> Tile | None:
    counts = build.stage("ocr").counts
    if not counts:
        return None
    return _tile(counts["kept"], ("file read", "files read"), "文件", f"of {number(counts['in'])}")


def _pages(build: Build) -> Tile | None:
    pages = build.stage("ocr").rows("pages")
    if not pages:
        return None
    by_ocr = build.stage("ocr").facts.get("pages_by_method", {}).get("ocr", 0)
    return _tile(pages, ("page", "pages"), "页", f"{number(by_ocr)} by OCR")


def _parsed(build: Build) -> Tile | None:
    counts = build.stage("parse").counts
    if not counts:
        return None
    items = counted(counts["in"], "item")
    return _tile(counts["kept"], ("question found", "questions found"), "解析出的题目", f"of {items}")


def _merged(build: Build) -> Tile | None:
    counts = build.stage("dedup").counts
    if not counts:
        return None
    share = percent(counts["merged"], counts["in"])
    return _tile(counts["merged"], ("duplicate merged", "duplicates merged"), "合并的重复题", share)


def _aside(build: Build) -> Tile | None:
    stages = [stage for stage in build.ran if stage.counts["unit"] in ("items", "questions")]
    if not stages:
        return None
    rejected = sum(stage.counts["rejected"] for stage in stages)
    waiting = sum(stage.counts["waiting"] for stage in stages if stage.name not in ("review", "audit"))
    return number(rejected), "taken out", "剔除", f"{number(waiting)} more wait"


def _released(build: Build) -> Tile | None:
    sizes = [build.stage("export").rows(name) for name in SPLITS]
    if not build.stage("export").counts or None in sizes:
        return None
    return (
        number(sum(size or 0 for size in sizes)),
        "in the splits",
        "进入数据划分",
        " / ".join(map(number, sizes)),
    )


def _reviewed(build: Build) -> Tile | None:
    labels = build.table("review/labels")
    if labels is None or labels.is_empty():
        return None
    seen = labels.filter(labels["status"] != LabelStatus.UNREVIEWED.value).height
    return (
        percent(seen, labels.height, 0),
        "labels seen by experts",
        "经专家审核的标签",
        f"of {counted(labels.height, 'label')}",
    )
