"""Glyphs become runs; what is faint, turned or printed twice is told by measures that are met in fine steps."""

from typing import Any

import pymupdf

from build_dataset.pipeline.ocr import textlayer


def span(*chars: tuple[str, float, float], y: float = 100.0, **more: object) -> dict[str, Any]:
    """Characters with their left and right edges."""
    made = [{"c": c, "bbox": (x0, y - 9, x1, y + 2), "origin": (x0, y)} for c, x0, x1 in chars]
    return {"chars": made, "size": 10.0, "font": "F", "color": 0} | more


def line(*spans: dict[str, Any], box=(0, 0, 1, 1), way=(1.0, 0.0)) -> dict[str, Any]:
    return {"spans": spans, "bbox": box, "dir": way}


class Page:
    """A page that says what it was told."""

    rect = pymupdf.Rect(0, 0, 595, 842)

    def __init__(self, *lines: dict[str, Any]):
        self.lines = lines

    def get_text(self, kind: str, flags: int) -> dict[str, Any]:
        return {"blocks": [{"lines": self.lines[:1]}, {"type": 1}, {"lines": self.lines[1:]}]}

    def get_image_info(self) -> list[object]:
        return []


def apart(*spans: dict[str, Any]) -> list[dict[str, Any]]:
    return [line(one, box=(0, 20 * at, 90, 20 * at + 10)) for at, one in enumerate(spans)]


def counted(*lines: dict[str, Any], **more: Any) -> tuple[list[str], int, int, int]:
    """The texts of runs; visible, turned and hidden characters."""
    _, layer = textlayer.read_text_layer(Page(*lines, **more))
    return [run.text for run in layer.runs], layer.glyphs, layer.turned, layer.hidden


def test_characters_that_nobody_sees_are_hidden_and_faint_ones_left_out():
    shown = ("甲", 10.0, 20.0), (" ", 20.0, 22.0), ("乙", 22.0, 32.0)
    assert counted() == ([], 0, 0, 0)
    spans = [span(*shown), span(*shown, size=2.0), span(*shown, size=1.99), span(*shown, alpha=0)]
    spans += [span(*shown, alpha=1), span(*shown, size=1.0, alpha=0)]
    assert [counted(*apart(one))[1:] for one in spans] == [
        (2, 0, 0),
        (2, 0, 0),
        (2, 0, 2),
        (2, 0, 2),
        (2, 0, 0),
        (2, 0, 2),
    ]
    assert [counted(*apart(one))[0] for one in spans[::4]] == [["甲 乙"], []]
    assert counted(*apart(*spans)) == (["甲 乙", "甲", "乙"], 12, 0, 6)


def test_characters_that_run_another_way_are_turned():
    upward = line(span(("甲", 10.0, 20.0)), way=(0.0, -1.0))
    level = line(span(("乙", 10.0, 20.0)), box=(0, 30, 9, 40))
    hidden = line(span(("丙", 10.0, 20.0), alpha=0), box=(0, 60, 9, 70), way=(0.0, -1.0))
    assert counted(upward, level, hidden) == (["乙"], 3, 1, 1)


def test_a_run_ends_at_a_wide_gap_or_a_step_back_not_where_letters_touch():
    def texts(*starts: float) -> list[str]:
        return counted(line(span(*(("甲", x0, x0 + 10) for x0 in starts))))[0]

    assert texts(10, 20) == ["甲甲"]
    assert texts(10, 30) == ["甲", "甲"]
    assert texts(30, 10) == ["甲", "甲"]
