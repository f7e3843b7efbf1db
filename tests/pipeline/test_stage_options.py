"""The options of the stages from cleaning to export: what holds when nothing is set, and what is refused."""

import pytest
from pydantic import ValidationError

from build_dataset.pipeline.audit.params import AuditParams
from build_dataset.pipeline.export.params import ExportParams
from build_dataset.pipeline.split.params import SplitParams


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
    with pytest.raises(
        ValidationError, match="knows no tool 'latex'; there are lm-eval, inspect, opencompass, lighteval"
    ):
        ExportParams(tasks="latex")
