"""How the splits were drawn, and which strata were too small."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.report.build import Build
from pipeline.report.params import ReportParams
from pipeline.report.section import Section
from pipeline.tables import number
from schemas.wording import counted

_LISTED = 60


def section(build: Build, params: ReportParams) -> Section | None:  # noqa: ARG001 - every section's form
    """Method, seed and the strata that did not get their share; None before the split."""
    stage = build.stage("split")
    if stage.manifest is None:
        return None
    facts = stage.facts
    values = {
        "facts": [
            ("Method 方法", _method(stage.params)),
            ("Stratified by 分层依据", ", ".join(stage.params.get("stratify_by", [])) or "–"),
            ("Seed 随机种子", str(facts.get("seed", "–"))),
            ("Strata, small ones together 层（小层合并）", number(facts.get("strata", 0))),
            ("Groups and clusters kept whole 整体保留的题组", number(facts.get("units_of_several", 0))),
            ("Largest of them 最大题组", counted(facts.get("largest_unit", 0), "question")),
        ],
        "lists": [
            _list(title, facts, name)
            for title, name in (
                ("Too small, drawn together 合并抽取的小层", "pooled_strata"),
                ("More than one question off their share 偏离配额的层", "strata_off_by_more_than_one"),
            )
            if facts.get(f"{name}_count")
        ],
    }
    return Section("splitting", "How the splits were drawn", "划分方法", values, list(_warnings(facts)))


def _method(params: Mapping[str, Any]) -> str:
    if params.get("method") == "per_subcategory":
        return (
            f"{params.get('test_per_subcategory')} test and {params.get('development_per_subcategory')} "
            "validation questions a subcategory, the rest train"
        )
    return f"ratio {params.get('ratios', '')}"


def _list(title: str, facts: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {"title": title, "count": facts[f"{name}_count"], "items": facts[name][:_LISTED]}


def _warnings(facts: Mapping[str, Any]) -> Iterator[str]:
    if facts.get("pooled_strata_count"):
        yield (
            f"Too small to be split by themselves, and drawn together: {_strata(facts['pooled_strata_count'])}. "
            "Their labels need not be in every split."
        )
    if facts.get("strata_off_by_more_than_one_count"):
        yield (
            f"More than one question off their share: {_strata(facts['strata_off_by_more_than_one_count'])}, "
            "because groups are kept whole."
        )
    if facts.get("retired"):
        yield f"Left out, as they would leak: {counted(facts['retired'], 'question')} of an earlier release."


def _strata(count: int) -> str:
    return counted(count, "stratum", "strata")
