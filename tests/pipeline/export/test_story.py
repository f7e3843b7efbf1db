"""The card tells what became of everything that was found, and how far it was read and reviewed."""

import polars as pl
import pytest

from build_dataset.schemas.annotations import Correction, CorrectionStatus
from build_dataset.schemas.documents import Document
from build_dataset.schemas.questions import Cluster, Merge, Question, Rejection, ReviewItem
from tests.annotation.records import correction
from tests.making import make_question


def rejection(name: str, reason: str, stage: str = "clean") -> Rejection:
    return Rejection(item_id=name, stage=stage, reason=reason, detail="")


def waiting(name: str) -> pl.DataFrame:
    return ReviewItem.to_frame([ReviewItem(item_id=name, stage="dedup", reason="conflicting_answers", detail="")])


@pytest.fixture
def funnel(tables) -> dict[str, pl.DataFrame]:
    """Seven released questions of twelve that were found: two merged, two rejected, one waiting."""
    others = [
        make_question(f"第{n}题", ["甲", "乙"], "A", question_id=f"x{n}", document="b.csv", section=1) for n in range(5)
    ]
    merged = [
        Merge(question_id=f"x{n}", survivor_id="abcdef01-1-000", kind="exact", score=1, reason="") for n in (0, 1)
    ]
    return tables | {
        "merges": Merge.to_frame(merged),
        "parse/questions": pl.concat(
            [tables["questions"], Question.to_frame(others).select(tables["questions"].columns)]
        ),
        "ocr/documents": Document.to_frame([]),
        "ocr/rejects": Rejection.to_frame([rejection("broken.pdf", "encrypted", "ocr")]),
        "clean/rejects": Rejection.to_frame([rejection("x2", "no_answer"), rejection("x3", "needs_figure")]),
        "dedup/review": waiting("x4"),
    }


def test_the_funnel_adds_up(export, funnel) -> None:
    result = export(funnel)
    story = result.facts["story"]
    assert story["outcomes"] == {"kept": 7, "merged": 2, "rejected": 2, "waiting": 1}
    assert sum(story["outcomes"].values()) == funnel["parse/questions"].height
    card = result.described["README.md"].decode()
    assert "12 questions found in the sources" in card
    for told in ("没有答案 no", "| waiting for a person 待审 | 1 |", "| rejected 剔除 | 2 |", "files: 1 not read"):
        assert told in card


def test_without_what_was_parsed_no_funnel_is_told(export, tables) -> None:
    assert "found in the sources" not in export(tables).described["README.md"].decode()


@pytest.mark.parametrize(("confidence", "read", "unsure"), [(None, 0, 0), (0.97, 7, 0), (0.9, 7, 7)])
def test_the_share_read_by_ocr_has_its_error_bound(export, tables, confidence, read: int, unsure: int) -> None:
    tables["questions"] = tables["questions"].with_columns(confidence=pl.lit(confidence, pl.Float64))
    result = export(tables)
    story = result.facts["story"]
    assert (story["read_by_ocr"], story["unsure"]) == (read, unsure)
    assert 0 <= story["wrong_expected"] <= story["wrong_at_most"] <= read
    card = result.described["README.md"].decode()
    assert ("of 7 questions (100.0 %)" in card) is (read > 0)


def test_twins_are_counted_by_families_and_in_test(export, tables) -> None:
    names = tables["assignments"].sort("question_id")["question_id"].to_list()
    rows = [(names[0], "c1", "number"), (names[1], "c1", "number"), (names[5], "c2", "term"), (names[6], "c2", "term")]
    tables["clusters"] = pl.DataFrame([*rows, (names[2], "c3", "group"), (names[3], "c3", "group")],
                                      schema=Cluster.polars_schema(), orient="row")  # fmt: skip
    result = export(tables)
    assert (result.facts["story"]["twins"], result.facts["story"]["twins_in_test"]) == (2, 1)
    assert "2 families" in result.described["README.md"].decode()
    left = {"split/rejects": Rejection.to_frame([rejection("y", "twin_in_test", "split")])}
    assert "1 question left out" in export(tables | left).described["README.md"].decode()


def test_licences_stand_beside_their_sources(export, tables) -> None:
    card = export(tables, {"licenses": {"b.csv": "cc-by-4.0", "papers": "other"}}).described["README.md"].decode()
    assert "| `b.csv` | 4 | cc-by-4.0 |" in card
    assert "| other |" in card
    assert "not stated" not in card
    assert "not stated" in export(tables, {"licenses": {}}).described["README.md"].decode()


def test_keys_that_people_verified_are_counted(export, tables) -> None:
    name = tables["questions"]["question_id"][0]
    verified = {"field": "verdict", "origin": "verification", "status": CorrectionStatus.ACCEPTED}
    said = correction("陈", "keep", question_id=name, **verified)
    tables["corrections"] = Correction.to_frame([said])
    result = export(tables)
    assert result.facts["story"]["keys_by_people"] == 1
    assert "people verified or corrected 人工核对: 1." in result.described["README.md"].decode()


def test_what_left_for_a_person_now_waits_in_the_changelog(export, publish, tables, tmp_path) -> None:
    folder = publish(export(tables), tmp_path / "releases" / "0.1.0")
    assert folder.is_dir()
    gone = tables["assignments"].filter(split="test")["question_id"].to_list()
    later = tables | {"dedup/review": waiting(gone[0])}
    later["assignments"] = tables["assignments"].filter(~pl.col("question_id").is_in(gone))
    result = export(later, {"version": "0.2.0"})
    changes = dict(result.tables["changes"].select("question_id", "change").iter_rows())
    assert changes == {gone[0]: "waiting", gone[1]: "removed"}
    assert "now waits for a person 待审" in result.files["CHANGELOG.md"].decode()
    assert result.facts["release"]["level"] == "major"
