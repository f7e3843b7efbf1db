import pytest
from hypothesis import given, strategies as st

from build_dataset.annotation.annotator import Identity, Labelled, Verdict, difficulty_bin, measured_difficulty
from build_dataset.schemas.taxonomy import dimensions
from tests.making import make_question as question

ACCURACY = st.floats(0, 1)


@given(ACCURACY, ACCURACY)
def test_what_more_people_get_right_is_never_harder(one, other):
    assert difficulty_bin(max(one, other)) <= difficulty_bin(min(one, other))


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_bins_have_equal_width_and_borders_belong_to_the_easier(counts):
    right, people = counts
    expected = 4 - min(4, right * 5 // people)
    assert difficulty_bin(round(right / people, 12)) == expected


@pytest.mark.parametrize(
    ("accuracy", "label"),
    [
        (1.0, "易"),
        (0.8, "易"),
        (0.79, "较易"),
        (0.6, "较易"),
        (0.4, "中等"),
        (0.2, "较难"),
        (0.19, "极难"),
        (0.0, "极难"),
    ],
)
def test_the_paper_s_five_levels(accuracy, label):
    assert measured_difficulty(question(human_accuracy=accuracy)).label.zh == label


@pytest.mark.parametrize("accuracy", [-0.1, 1.1, float("nan")])
def test_what_is_no_share_is_refused(accuracy):
    with pytest.raises(ValueError, match=r"not in 0\.\.1"):
        difficulty_bin(accuracy)


def test_nobodys_answers_measure_nothing():
    assert measured_difficulty(question()) is None
    assert measured_difficulty(question(human_accuracy=0.0, respondents=0)) is None
    assert measured_difficulty(question(human_accuracy=0.5, respondents=3)).estimate is False


def test_labels_are_rows_in_the_order_of_the_set_and_a_measured_one_takes_its_place() -> None:
    names = list(dimensions())
    by = Identity("llm:m", "m", "h")
    said = {name: Verdict(dimensions()[name].labels[1], 0.5, estimate=name == "difficulty") for name in reversed(names)}
    plain = list(Labelled("q", said).annotations(by))
    assert [row.dimension for row in plain] == names
    assert {(row.annotator, row.model, row.prompt_hash, row.confidence) for row in plain} == {("llm:m", "m", "h", 0.5)}
    assert [row.estimate for row in plain] == [name == "difficulty" for name in names]
    measured = measured_difficulty(question(human_accuracy=0.9))
    last = list(Labelled("q", said).annotations(by, measured))[-1]
    assert (last.dimension, last.label, last.annotator, last.model, last.prompt_hash, last.estimate) == (
        "difficulty", "易", "human_accuracy", None, None, False,
    )  # fmt: skip
    assert [row.dimension for row in Labelled("q", {}).annotations(by, measured)] == ["difficulty"]
    assert list(Labelled("q", {}).annotations(by)) == []
