"""Figure 2 shows every label in Chinese, and is the same for the same data."""

import warnings

import pytest

from build_dataset.pipeline.report.content import figure2
from build_dataset.schemas.taxonomy import dimensions

from .conftest import released, splits


def every_label():
    """A question for every label of every dimension."""
    return [
        released(f"{name}{place}", "题" * (5 + place), **{name: label.zh})
        for name, dimension in dimensions().items()
        for place, label in enumerate(dimension.labels)
    ]


def test_no_label_has_a_glyph_that_the_font_lacks():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        files = figure2(splits(train=every_label()))
    assert files["figures/figure2.png"].startswith(b"\x89PNG")
    assert files["figures/figure2.svg"].startswith(b"<?xml")


@pytest.mark.slow
def test_the_same_questions_give_the_same_bytes():
    rows = [released("1", "题干", disease_group="肿瘤"), released("2", "题", difficulty="易")]
    assert figure2(splits(train=rows)) == figure2(splits(train=rows))


def test_labels_that_are_no_formula_and_questions_without_labels_are_drawn():
    assert figure2(splits(train=[released("1", competency="$x_")]))
    assert figure2(splits(train=[released("1")]))
