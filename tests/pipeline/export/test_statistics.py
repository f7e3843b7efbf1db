import polars as pl

from build_dataset.pipeline.export.card import distribution, statistics
from build_dataset.schemas.release import ReleaseRow


def rows(*items):
    return pl.DataFrame(
        [{"stem": stem, "answer": list(answer), "explanation": text} for stem, answer, text in items],
        schema=ReleaseRow.polars_schema(),
    )


def test_lengths_are_characters_and_a_missing_explanation_counts_as_empty():
    found = statistics({"train": rows(("一二三", "A", "四五"), ("一", "AC", None))})["train"]
    assert found["questions"] == 2
    assert found["vocabulary"] == 5
    assert found["question"] == {"max": 3, "mean": 2, "median": 2, "q1": 1.5, "q3": 2.5}
    assert found["answer"]["max"] == 2
    assert found["explanation"]["mean"] == 1
    assert (found["explanation_present"]["mean"], found["explanations"]) == (2, 1)


def test_an_empty_split_has_nulls_and_does_not_enter_the_mean():
    found = statistics({"train": rows(("一二", "A", None)), "test": rows()})
    assert found["test"]["question"] == {"max": None, "mean": None, "median": None, "q1": None, "q3": None}
    assert found["total_as_published"]["mean"]["question"] == 2


def test_a_distribution_counts_labels_by_split():
    labelled = rows(("一", "A", None), ("二", "A", None)).with_columns(
        competency=pl.Series(["疾病治疗", None], dtype=pl.String)
    )
    found = distribution({"train": labelled, "test": rows()}, "competency")
    assert found == {None: {"train": 1, "test": 0}, "疾病治疗": {"train": 1, "test": 0}}
