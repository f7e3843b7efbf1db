import pytest
from pydantic import ValidationError

from build_dataset.schemas.taxonomy import Dimension, LabelName, LabelSet, cmb_catalogue, dimensions, use_label_set


def test_the_five_dimensions_have_the_papers_numbers_of_labels():
    sizes = {name: len(dimension.labels) for name, dimension in dimensions().items()}
    assert sizes == {
        "disease_group": 29,  # 28 of table 9 and N/A
        "clinical_department": 37,
        "medical_discipline": 7,
        "competency": 5,
        "difficulty": 5,
    }


def test_cmbs_catalogue_has_6_categories_and_28_subcategories():
    catalogue = cmb_catalogue()
    assert len(catalogue) == 6
    assert sum(len(category.subcategories) for category in catalogue) == 28


@pytest.mark.parametrize(
    ("dimension", "spelling", "zh"),
    [
        ("competency", "公卫法律伦理", "公共卫生法律伦理"),
        ("competency", " treat ", "疾病治疗"),
        ("difficulty", "5", "极难"),
        ("disease_group", "TMDP", "补充章传统医学病证-模块1"),
        ("disease_group", "11", "循环系统疾病"),
        ("clinical_department", "n/a", "不符合"),
    ],
)
def test_labels_are_found_by_every_spelling(dimension, spelling, zh):
    assert dimensions()[dimension].find(spelling).zh == zh


def test_a_label_outside_the_set_is_not_found():
    assert dimensions()["competency"].find("内科") is None


def test_no_spelling_names_two_labels_of_a_dimension():
    for dimension in dimensions().values():
        for label in dimension.labels:
            for spelling in label.spellings():
                assert dimension.find(spelling) == label, f"{dimension.name}: {spelling}"


def labels(count: int, **more) -> tuple[LabelName, ...]:
    return tuple(LabelName(zh=f"甲{n}", en=f"A {n}", **more) for n in range(count))


def dimension(name: str = "d", count: int = 2, **more) -> dict:
    return {"name": name, "zh": "维", "en": "D", "labels": labels(count), **more}


@pytest.mark.parametrize("count", [2, 200])
def test_a_dimension_has_from_2_to_200_labels(count):
    assert len(Dimension(**dimension(count=count)).labels) == count
    with pytest.raises(ValidationError):
        Dimension(**dimension(count=1 if count == 2 else 201))


@pytest.mark.parametrize("count", [1, 9])
def test_a_label_set_has_from_1_to_9_dimensions(count):
    made = [dimension(f"d{n}") for n in range(10)]
    assert len(LabelSet(dimensions=made[:count]).dimensions) == count
    with pytest.raises(ValidationError):
        LabelSet(dimensions=[] if count == 1 else made)


@pytest.mark.parametrize("count", [4, 5, 6])
def test_difficulty_has_five_levels(count):
    made = [dimension("difficulty", count)]
    if count == 5:
        assert LabelSet(dimensions=made).by_name["difficulty"].zh_names() == [f"甲{n}" for n in range(5)]
    else:
        with pytest.raises(ValidationError, match="difficulty needs 5 labels, from easy to hard"):
            LabelSet(dimensions=made)


def test_what_names_two_labels_or_is_there_twice_is_refused():
    two = (LabelName(zh="甲", en="A", abbr="x"), LabelName(zh="乙", en="B", aliases=("X",)))
    with pytest.raises(ValidationError, match="'X' names both 甲 and 乙"):
        Dimension(**dimension(labels=two))
    with pytest.raises(ValidationError, match="a label is there twice"):
        Dimension(**dimension(labels=(two[0], two[0])))
    with pytest.raises(ValidationError, match="d is there twice"):
        LabelSet(dimensions=[dimension(), dimension()])
    with pytest.raises(ValidationError, match=r"no label set 'x' is built in; there are cmexam"):
        LabelSet(extends="x", dimensions=[dimension()])


def test_built_in_dimensions_come_before_those_of_ones_own():
    found = LabelSet(extends="cmexam", dimensions=[dimension()])
    assert list(found.by_name) == [*dimensions(), "d"]
    assert found.has_cmexam
    assert not LabelSet(dimensions=[dimension()]).has_cmexam
    assert LabelSet(dimensions=[dimension()]).subject == "医学"
    assert found.digest != LabelSet(dimensions=[dimension()]).digest


def test_labels_are_listed_in_the_order_for_people_and_the_others_follow():
    found = Dimension(**dimension(count=4, listing=("甲2", "甲1")))
    assert [label.zh for label in found.listed()] == ["甲2", "甲1", "甲0", "甲3"]
    assert list(found.codes) == ["1", "2", "3", "4"]
    assert found.codes["3"].zh == "甲2"
    assert found.english("甲2") == "A 2"
    assert found.english(None) is found.english("x") is None


def test_a_label_set_is_in_use_until_another_one_is():
    use_label_set(LabelSet(dimensions=[dimension()]))
    assert list(dimensions()) == ["d"]
    use_label_set(None)
    assert len(dimensions()) == 5
