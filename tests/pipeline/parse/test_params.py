"""Costs of asking a model to point at lines, and limits of what it is shown."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from build_dataset.annotation.llm.messages import ChatRequest
from build_dataset.pipeline.parse.params import PointParams


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [([], (0, 0, 0)), (["甲" * 800], (1, 1000, 8)), (["甲" * 799 + "\n", "乙" * 1000], (2, 2200, 24))],
)
def test_an_estimate_counts_characters_and_lines(texts: list[str], numbers: tuple[int, ...]) -> None:
    requests = [ChatRequest("id", [{"role": "system", "content": "x" * 99}, {"content": text}]) for text in texts]
    told = PointParams().estimate(requests).replace(",", "")
    assert tuple(map(int, re.findall(r"\d+", told)))[:3] == numbers


@pytest.mark.parametrize(("lines", "fits"), [(9, False), (10, True), (500, True), (501, False)])
def test_lines_that_are_shown_at_once_are_10_to_500(lines: int, fits: bool) -> None:
    if fits:
        assert PointParams(lines=lines).lines == lines
        return
    with pytest.raises(ValidationError):
        PointParams(lines=lines)


def test_an_answer_has_a_token_at_least() -> None:
    assert (PointParams(max_tokens=1).max_tokens, PointParams().max_tokens, PointParams().lines) == (1, 4096, 80)
    with pytest.raises(ValidationError):
        PointParams(max_tokens=0)
