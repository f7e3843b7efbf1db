"""The page of ``review status``: progress, each expert's work, and the control charts of gold questions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

from annotation.adjudication import ReviewStatus
from pipeline.rendering import html
from pipeline.rendering.figures import COLOURS, INK, figure, save
from pipeline.review.progress import ExpertWork
from schemas.taxonomy import dimensions

_PANEL = 2.0  # inches


def status_page(status: ReviewStatus, experts: Sequence[ExpertWork], name: str) -> bytes:
    """Return the page of a dataset's review, in UTF-8."""
    charted = [each for each in experts if each.control.chart]
    return html.render(
        "pipeline.review:status.html",
        name=name,
        status=status,
        experts=experts,
        dimensions=dimensions(),
        chart=html.inline(_charts(charted)) if charted else "",
    )


def _charts(experts: Sequence[ExpertWork]) -> bytes:
    """Draw each expert's share of right gold labels, among the last ones, above their lower control limit."""
    with figure(7.0, _PANEL * len(experts) + 0.4) as drawn:
        panels = drawn.subplots(len(experts), 1, sharey=True, squeeze=False)[:, 0]
        for panel, each, colour in zip(panels, experts, cycle(COLOURS), strict=False):
            points = each.control.chart
            first = each.control.gold - len(points) + 1
            panel.plot(range(first, first + len(points)), points, color=colour)
            panel.axhline(each.control.limit, color=INK, linewidth=0.8, linestyle="--")
            panel.set_title(each.reviewer, parse_math=False)
            panel.set(ylim=(0, 1.02), ylabel="right 正确率")
        panels[-1].set_xlabel("gold labels 金标准标签数")
        return save(drawn)
