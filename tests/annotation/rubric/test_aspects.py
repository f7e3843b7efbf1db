"""The aspects that models and people score."""

import pytest

from build_dataset.annotation.rubric import LEAST, MOST, aspects


def test_the_aspects_are_those_of_the_paper():
    assert [aspect.name for aspect in aspects()] == ["fluency", "relevance", "completeness", "proficiency"]


@pytest.mark.parametrize("aspect", aspects(), ids=lambda aspect: aspect.name)
def test_every_aspect_has_a_name_in_both_languages_and_five_steps(aspect):
    assert aspect.zh != aspect.en
    assert len(set(aspect.scale)) == len(set(aspect.scale_en)) == MOST - LEAST + 1
    assert not set(aspect.scale) & set(aspect.scale_en)
