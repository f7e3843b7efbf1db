"""The committed sample is what its script writes, whole and consistent."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pymupdf
import pytest

from build_dataset.schemas.taxonomy import cmb_catalogue, dimensions

SAMPLE = Path(__file__).resolve().parents[2] / "raw" / "sample"
GOLD = json.loads((SAMPLE / "gold.json").read_text(encoding="utf-8"))
PAPERS = sorted(path.name for path in (SAMPLE / "papers").iterdir())
MAX_PIXEL_DIFFERENCE = 4.0
"""Mean difference in grey levels that another version of an image library may cause."""


def make(folder: Path) -> Path:
    subprocess.run([sys.executable, str(SAMPLE / "make_sample.py"), "--out", str(folder)], check=True)
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("sample"))


@pytest.mark.slow
def test_two_runs_write_the_same_bytes(made: Path, tmp_path: Path) -> None:
    again = make(tmp_path)
    names = [path.relative_to(made) for path in sorted(made.rglob("*")) if path.is_file()]
    assert [name.as_posix() for name in names if (made / name).read_bytes() != (again / name).read_bytes()] == []


def test_the_script_writes_the_committed_files_and_no_others(made: Path) -> None:
    assert sorted(path.name for path in (made / "papers").iterdir()) == PAPERS


def test_the_committed_gold_is_that_of_the_questions(made: Path) -> None:
    assert (made / "gold.json").read_text(encoding="utf-8") == (SAMPLE / "gold.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in PAPERS if name.endswith((".json", ".csv"))])
def test_committed_tables_are_those_of_the_questions(made: Path, name: str) -> None:
    assert (made / "papers" / name).read_bytes() == (SAMPLE / "papers" / name).read_bytes()


@pytest.mark.parametrize("name", [name for name in PAPERS if name.endswith((".pdf", ".png")) and "trunc" not in name])
def test_committed_pages_look_and_read_like_the_ones_written_now(made: Path, name: str) -> None:
    with pymupdf.open(made / "papers" / name) as new, pymupdf.open(SAMPLE / "papers" / name) as old:
        assert len(new) == len(old)
        for left, right in zip(new, old, strict=True):
            assert left.get_text() == right.get_text()
            assert np.abs(grey(left) - grey(right)).mean() < MAX_PIXEL_DIFFERENCE


def grey(page: pymupdf.Page) -> np.ndarray:
    pixels = page.get_pixmap(dpi=50, colorspace=pymupdf.csGRAY)
    return np.frombuffer(pixels.samples, dtype=np.uint8).astype(float)


def test_the_committed_word_document_says_what_the_questions_say(made: Path) -> None:
    from docx import Document

    name = "occupational-health.docx"
    new, old = (
        [paragraph.text for paragraph in Document(str(folder / "papers" / name)).paragraphs]
        for folder in (made, SAMPLE)
    )
    assert new == old


def test_the_scan_has_no_text_layer() -> None:
    with pymupdf.open(SAMPLE / "papers" / "scan-2024-03.pdf") as scan:
        assert [page.get_text().strip() for page in scan] == [""] * len(scan)


def test_the_whole_sample_is_small() -> None:
    assert sum(path.stat().st_size for path in SAMPLE.rglob("*") if path.is_file()) < 3_000_000


def test_every_gold_label_and_exam_is_in_the_taxonomies() -> None:
    subjects = {
        (category.zh, subcategory.zh, subject)
        for category in cmb_catalogue()
        for subcategory in category.subcategories
        for subject in subcategory.subjects
    }
    for question in GOLD["questions"]:
        for name, label in question["labels"].items():
            assert label in dimensions()[name].zh_names(), (question["id"], name)
        if question["exam"]:
            assert tuple(question["exam"]) in subjects, question["id"]


def test_a_measured_difficulty_is_the_bin_of_its_accuracy() -> None:
    names = dimensions()["difficulty"].zh_names()
    for question in GOLD["questions"]:
        if question["human_accuracy"] is not None:
            expected = names[min(4, int((1 - question["human_accuracy"]) * 5))]
            assert question["labels"]["difficulty"] == expected, question["id"]


def test_every_expectation_names_places_and_questions_that_exist() -> None:
    by_id = {question["id"]: question for question in GOLD["questions"]}
    for question in by_id.values():
        expect = question["expect"]
        assert expect["place"] in ("kept", "merged", "rejected", "waiting"), question["id"]
        if expect["place"] == "merged":
            assert by_id[expect["into"]]["expect"]["place"] == "kept", question["id"]


def test_every_question_type_and_dimension_is_varied() -> None:
    assert {question["question_type"] for question in GOLD["questions"]} == {
        "A1", "A2", "A3/A4", "B1", "X", "short_answer"
    }  # fmt: skip
    for name in dimensions():
        labels = {question["labels"][name] for question in GOLD["questions"]}
        assert len(labels) >= 4, name
