"""Figures as text: all that was drawn, with places, sizes, colours and words, whatever library lays it out."""

from typing import Any

from matplotlib.artist import Artist
from matplotlib.collections import Collection
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text


def _numbers(values: Any) -> str:
    return " ".join(f"{float(value):.4g}" for value in values)


def _artist(one: Artist) -> str | None:
    if isinstance(one, Text):
        told = f"text {one.get_text()!r} at {_numbers(one.get_position())} {one.get_fontsize():.4g} {one.get_color()}"
        return f"{told} {one.get_rotation():.4g} {one.get_ha()}" if one.get_text() else None
    if isinstance(one, Rectangle):
        size = (one.get_x(), one.get_y(), one.get_width(), one.get_height())
        return f"bar {_numbers(size)} {_numbers(one.get_facecolor())}"
    if isinstance(one, Line2D):
        told = f"line {_numbers(one.get_xydata().ravel())} {one.get_color()} {one.get_linewidth():.4g}"
        return f"{told} {one.get_linestyle()} {one.get_marker()} {one.get_markersize():.4g} {one.get_label()}"
    if isinstance(one, Collection):
        sizes = _numbers(one.get_sizes()) if hasattr(one, "get_sizes") else ""
        points = _numbers(one.get_offsets().ravel()[:40])
        edges = [_numbers(path.vertices.ravel()) for path in one.get_paths()] if not sizes else []
        return f"points {points} / {sizes} / {edges} {one.get_alpha()} {one.get_label()}"
    return None


def described(figure: Any) -> list[str]:
    """Return a line for the figure, each of its axes and everything in them."""
    lines = [f"figure {_numbers(figure.get_size_inches())}"]
    for axes in figure.axes:
        lines.append(f"axes x {_numbers(axes.get_xlim())} y {_numbers(axes.get_ylim())}")
        lines += [repr(name) for name in (axes.get_title(), axes.get_xlabel(), axes.get_ylabel()) if name]
        own = [*axes.patches, *axes.lines, *axes.collections, *axes.texts]
        own += [*axes.get_xticklabels(), *axes.get_yticklabels(), axes.title]
        lines += [line for one in own if (line := _artist(one))]
        lines += [f"image {image.get_clim()} {image.get_array().tolist()}" for image in axes.images]
        legend = axes.get_legend()
        lines += [f"legend {legend._loc} {[text.get_text() for text in legend.texts]}"] if legend else []
    for legend in figure.legends:
        names = [text.get_text() for text in legend.texts]
        lines.append(f"legend {legend._loc} {legend._ncols} {legend.texts[0].get_fontsize():.4g} {names}")
    return lines
