"""The options of the stages from cleaning to export: what holds when nothing is set, and what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from build_dataset.pipeline.audit.params import AuditParams
from build_dataset.pipeline.clean.params import CleanParams
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.export.params import ExportParams
from build_dataset.pipeline.leaks.params import LeaksParams
from build_dataset.pipeline.split.params import SplitParams
from build_dataset.schemas.params import Params

OPTIONS: dict[type[Params], dict[str, tuple]] = {
    CleanParams: {
        "keep_figures": (False,),
        "keep_tables": (False,),
        "keep_formulas": (False,),
        "min_options": (2, 2),
        "max_characters": (20_000, 100),
        "max_garbled": (0.1, 0, 1),
        "max_wrong": (0.01, 0, 1),
    },
    DedupParams: {"related": (0.8, 0.3, 1), "option": (0.75, 0.5, 1)},
    AuditParams: {"wrong": (0.03, 0.001, 0.499), "verify": (0.5, 0.001, 0.999), "shown": (100, 1, 1000)},
    LeaksParams: {
        "ngram": (13, 5, 50),
        "common": (10, 1),
        "copied": (0.8, 0.001, 1),
        "similar": (0.9, 0.8, 1),
        "paraphrased": (0.85, 0.001, 1),
    },
    SplitParams: {
        "test_per_subcategory": (400, 0),
        "development_per_subcategory": (10, 0),
        "min_stratum": (10, 1),
        "seed": (None, 0, 2**32 - 1),
    },
    ExportParams: {"cmb_json": (True,), "cmexam_csv": (True,), "cmexam_xlsx": (False,), "tasks": ("",)},
}


@pytest.mark.parametrize("value", [0, 1])
def test_shares_that_must_lie_between_refuse_their_ends(value: int) -> None:
    with pytest.raises(ValidationError):
        AuditParams(verify=value)
    with pytest.raises(ValidationError):
        AuditParams(wrong=value / 2)


@pytest.mark.parametrize("ratios", ["8:1", "0:1:1", "00:1:1", "1234567:1:1", "8:1:1:1", "8:-1:1"])
def test_ratios_are_three_numbers_with_a_share_for_train(ratios: str) -> None:
    with pytest.raises(ValidationError):
        SplitParams(ratios=ratios)


def test_ratios_are_shares_of_one() -> None:
    assert [str(share) for share in SplitParams().shares()] == ["4/5", "1/10", "1/10"]
    assert [str(share) for share in SplitParams(ratios="123456:0:1").shares()] == ["123456/123457", "0", "1/123457"]


def test_tools_are_named_once_in_the_order_of_the_guide() -> None:
    assert ExportParams().tools() == ()
    assert ExportParams(tasks=" inspect, lm-eval,,inspect").tools() == ("lm-eval", "inspect")
    with pytest.raises(ValidationError, match="knows no tool 'latex'"):
        ExportParams(tasks="latex")
