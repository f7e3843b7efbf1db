"""The property of the parser: what a paper prints, in whatever habits, is what is read."""

import pytest
from hypothesis import given, settings, strategies as st

from benchmarks.papers.check import differences
from benchmarks.papers.habits import misread, random_paper
from benchmarks.papers.layouts import LAYOUTS


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.randoms(use_true_random=False).map(random_paper))
def test_what_is_printed_in_any_habit_is_read_and_hardly_anything_waits(paper):
    assert misread(paper) == [], str(paper.style)


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_real_papers_are_read(name):
    assert differences(LAYOUTS[name]) == []
