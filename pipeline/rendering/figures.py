"""Bar charts as SVG, in the colour and the font of the page they stand on: the same bytes for the same data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from build_dataset.pipeline.rendering import html

COLOURS = ("#2a78d6", "#e58a1f", "#3f9a64", "#c4497c", "#7d5bc4", "#b09020", "#2aa1b3", "#8b6f5c")
"""Colours of series, in order; told apart by readers who see red and green alike."""

Bar = tuple[float, float | None, float | None]  # percent, with the ends of its interval


@dataclass(frozen=True)
class Chart:
    """Shares in percent: for every label a bar a series."""

    title: str
    labels: Sequence[str]
    series: Mapping[str, Sequence[Bar | None]]  # by name, a bar a label; None where nothing is known


def svg(chart: Chart) -> bytes:
    """Return the chart as an SVG file, which is drawn on a page as it is."""
    return html.render("build_dataset.pipeline.rendering:chart.svg", chart=chart, colours=COLOURS)
