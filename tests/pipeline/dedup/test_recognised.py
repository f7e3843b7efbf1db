"""A question read from an image beside the same question that was not: one odd character is a misreading."""

import pytest

OPTIONS = "消化性溃疡 胃癌 胃息肉 胃扭转 胃石症"
STEM = "引起幽门梗阻最常见的疾病是"


@pytest.mark.parametrize(
    ("read", "confidence"),
    [("引起幽内梗阻最常见的疾病是", 0.99), ("引起幽门梗阻最常贝的疾病是", 0.97), ("引起幽门硬阻最常见的疾病是", 0.99)],
)
def test_an_odd_character_of_a_photograph_is_merged_into_the_printed_copy(make, dedup, read, confidence) -> None:
    why = "因为溃疡愈合后有瘢痕收缩，而且炎症水肿也常常引起梗阻。"
    photograph = make("a", read, OPTIONS, confidence=confidence, explanation=why)
    found = dedup([photograph, make("b", STEM, OPTIONS)])
    assert found.tables["merges"].select("question_id", "survivor_id").rows() == [("a", "b")]
    assert found.tables["questions"]["stem"].to_list() == [STEM]


def test_an_odd_character_of_an_option_is_merged_too(make, dedup) -> None:
    found = dedup([make("a", STEM, OPTIONS.replace("溃疡", "贵疡"), confidence=0.99), make("b", STEM, OPTIONS)])
    assert found.tables["merges"]["survivor_id"].to_list() == ["b"]


@pytest.mark.parametrize(
    ("read", "stem"),
    [
        ("额叶损伤最常见的表现是", "颞叶损伤最常见的表现是"),
        ("黄芪的主要功效是", "黄芩的主要功效是"),
        ("少阳经在四肢的走向是", "少阴经在四肢的走向是"),
        ("引起幽门梗阻最不常见的疾病是", STEM),
    ],
)
def test_another_term_in_a_photograph_stays_in_the_cluster_of_its_twin(make, dedup, read, stem) -> None:
    found = dedup([make("a", read, OPTIONS, confidence=0.99), make("b", stem, OPTIONS)])
    assert found.counts.kept == 2
    assert found.tables["clusters"]["cluster_id"].n_unique() == 1


@pytest.mark.parametrize("confidences", [(None, None), (0.99, 0.99)])
def test_where_both_or_none_were_read_from_an_image_nothing_tells_which_is_misread(make, dedup, confidences) -> None:
    one, other = confidences
    found = dedup(
        [make("a", "引起幽内梗阻最常见的疾病是", OPTIONS, confidence=one), make("b", STEM, OPTIONS, confidence=other)]
    )
    assert found.counts.kept == 2
    assert found.tables["clusters"]["cluster_id"].n_unique() == 1


def test_what_the_printed_copy_says_wrongly_is_not_taken_for_a_misreading_of_the_image(make, dedup) -> None:
    found = dedup([make("a", STEM, OPTIONS, confidence=0.99), make("b", "引起幽内梗阻最常见的疾病是", OPTIONS)])
    assert found.counts.kept == 2
