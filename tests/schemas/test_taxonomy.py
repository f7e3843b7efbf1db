import pytest

from schemas.taxonomy import cmb_catalogue, dimensions


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


def test_chinese_names_are_unique_within_a_dimension():
    for dimension in dimensions().values():
        names = dimension.zh_names()
        assert len(names) == len(set(names))


def test_no_spelling_names_two_labels_of_a_dimension():
    for dimension in dimensions().values():
        for label in dimension.labels:
            for spelling in label.spellings():
                assert dimension.find(spelling) == label, f"{dimension.name}: {spelling}"
