"""Figures are the same for the same data, and show Chinese."""

from __future__ import annotations

import warnings

from pipeline.rendering.figures import figure, save


def _bars(kind):
    with figure() as drawn:
        axes = drawn.subplots()
        axes.bar(["内科 Internal medicine", "骨骼"], [3, 5])
        return save(drawn, kind)


def test_the_same_data_gives_the_same_bytes():
    assert _bars("svg") == _bars("svg")
    assert _bars("png") == _bars("png")


def test_no_chinese_glyph_is_missing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert _bars("png").startswith(b"\x89PNG")
