"""Figures are the same for the same data, and show Chinese."""

import warnings

import pytest

from build_dataset.pipeline.rendering import figures
from build_dataset.pipeline.rendering.figures import figure, save


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


def test_an_svg_has_no_ground_and_no_date():
    text = _bars("svg").decode()
    assert "<dc:date>" not in text
    assert "#ffffff" not in text


@pytest.mark.parametrize("content", [None, b"half"])
def test_a_font_that_is_missing_or_cut_is_written_anew(tmp_path, monkeypatch, content):
    monkeypatch.setattr("matplotlib.get_cachedir", lambda: str(tmp_path))
    path = tmp_path / "build-dataset-cjk.ttf"
    if content:
        path.write_bytes(content)
    figures._chinese_font.cache_clear()
    assert "Droid" in figures._chinese_font()
    assert path.stat().st_size > 1_000_000
    before = path.stat().st_ino
    figures._chinese_font.cache_clear()
    figures._chinese_font()
    assert path.stat().st_ino == before, "written once"
    figures._chinese_font.cache_clear()
