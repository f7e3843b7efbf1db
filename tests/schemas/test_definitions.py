"""Each label says what it covers: to experts where they point at it, to models at its borders."""

from xml.etree import ElementTree as ET

import pytest

from build_dataset.annotation.label_studio.screen import review_config
from build_dataset.annotation.llm_annotator import label_prompt
from build_dataset.annotation.params import AnnotateLlmOptions
from build_dataset.schemas.taxonomy import LabelSet, dimensions, use_label_set

LABELS = [(name, label) for name, dimension in dimensions().items() for label in dimension.labels]
DEFINED = {"definition": "平等主体之间", "definition_en": "Between equals", "rule": "含婚姻"}
AREAS = [{"zh": "民法", "en": "Civil law", **DEFINED}, {"zh": "刑法", "en": "Criminal law"}]
OWN = {"dimensions": [{"name": "area", "zh": "法律部门", "en": "Area", "labels": AREAS}]}


@pytest.mark.parametrize(("dimension", "label"), LABELS, ids=[f"{name} {label.abbr}" for name, label in LABELS])
def test_a_label_is_defined_in_both_languages_in_one_line(dimension, label):
    for text in (label.definition, label.definition_en):
        assert 5 < len(text) < 160
        assert "\n" not in text
    assert any("\u4e00" <= character <= "\u9fff" for character in label.definition)
    assert label.definition_en.isascii()
    assert len(label.rule) <= 20, "a rule is sent with every question"


def hints(config):
    return {(own.get("name"), each.get("value")): each.get("hint") for own in config.iter("Choices") for each in own}


def test_the_screen_tells_a_definition_where_one_points():
    found = {key: hint for key, hint in hints(ET.fromstring(review_config())).items() if key[0] in dimensions()}
    assert found == {
        (name, label.zh): f"{label.en} · {label.definition} · {label.definition_en}" for name, label in LABELS
    }


def test_the_prompt_tells_the_rules_at_the_borders_and_no_definitions():
    prompt = label_prompt(AnnotateLlmOptions(model="m"))
    for _, label in LABELS:
        assert not label.rule or f"{label.zh}（{label.rule}）" in prompt.system
        assert label.definition not in prompt.system


def test_a_label_set_of_ones_own_says_the_same():
    use_label_set(LabelSet.model_validate(OWN))
    assert "1民法（含婚姻）；2刑法" in label_prompt(AnnotateLlmOptions(model="m")).system
    found = hints(ET.fromstring(review_config()))
    assert found["area", "民法"] == "Civil law · 平等主体之间 · Between equals"
    assert found["area", "刑法"] == "Criminal law"
