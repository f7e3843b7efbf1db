"""Vector drawings of figure questions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

import pymupdf


def atrial_fibrillation(page: pymupdf.Page, box: pymupdf.Rect) -> None:
    """Draw an ECG strip on its grid: no P waves, f waves of changing height, RR intervals all different."""
    grid = page.new_shape()
    for fine, width, shade in ((4.0, 0.15, 0.75), (20.0, 0.4, 0.6)):
        for index in range(int(box.width / fine) + 1):
            grid.draw_line((box.x0 + index * fine, box.y0), (box.x0 + index * fine, box.y1))
        for index in range(int(box.height / fine) + 1):
            grid.draw_line((box.x0, box.y0 + index * fine), (box.x1, box.y0 + index * fine))
        grid.finish(color=(shade, shade, shade), width=width)
    grid.commit()
    trace = page.new_shape()
    trace.draw_polyline(_strip(box))
    trace.finish(color=(0, 0, 0), width=0.8, closePath=False)
    trace.commit()


def _strip(box: pymupdf.Rect) -> list[tuple[float, float]]:
    draw = random.Random(11)  # a drawing, not a secret
    beats = [box.x0 + 18.0]
    while beats[-1] < box.x1 - 40:
        beats.append(beats[-1] + draw.uniform(26, 70))
    base = box.y0 + box.height * 0.66
    points = []
    steps = int(box.width)
    for step in range(steps):
        x = box.x0 + step
        wave = 1.6 * math.sin(x * 0.9) + 1.2 * math.sin(x * 1.37 + 1) + draw.uniform(-0.5, 0.5)
        points.append((x, base + wave - sum(_beat(x - beat) for beat in beats)))
    return points


def _beat(distance: float) -> float:
    """Height of one QRS complex and T wave at a distance in points from the R peak."""
    spike = 38 * math.exp(-((distance / 1.3) ** 2)) - 9 * math.exp(-(((distance - 3) / 1.2) ** 2))
    return spike + 5 * math.exp(-(((distance - 16) / 5) ** 2))


FIGURES: dict[str, Callable[[pymupdf.Page, pymupdf.Rect], None]] = {"atrial_fibrillation": atrial_fibrillation}
