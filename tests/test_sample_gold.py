"""The whole pipeline is held to the sample exam's gold file: every question in its expected place."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from rapidfuzz.distance import Levenshtein

from build_dataset.schemas.taxonomy import dimensions

ROOT = Path(__file__).resolve().parents[1]
GOLD = json.loads((ROOT / "raw" / "sample" / "gold.json").read_text(encoding="utf-8"))
QUESTIONS: dict[str, dict[str, Any]] = {question["id"]: question for question in GOLD["questions"]}
STAGES_OF_QUESTIONS = ("parse", "clean", "dedup")
OCR_LAYOUTS = ("scan", "image")
MAX_OCR_ERROR, MAX_OCR_ERROR_OF_ONE = 0.01, 0.05
"""Character error rates that OCR'd stems and explanations may have, all together and each (a speck read as a full
stop is 3 % of a short stem); their options and answers may have none."""
TEXTS = ("stem", "shared_stem", "explanation")


@dataclass(frozen=True)
class Build:
    """The tables of a finished build, and where each gold question ended."""

    folder: Path

    def table(self, stage: str, name: str) -> pl.DataFrame:
        return pl.read_parquet(self.folder / stage / f"{name}.parquet")

    def rows(self, stage: str, name: str) -> list[dict[str, Any]]:
        return self.table(stage, name).to_dicts()

    @cached_property
    def parsed(self) -> dict[tuple[str, int], dict[str, Any]]:
        return {(row["document"], row["number"]): row for row in self.rows("parse", "questions")}

    @cached_property
    def kept(self) -> dict[str, dict[str, Any]]:
        return {row["question_id"]: row for row in self.rows("dedup", "questions")}

    @cached_property
    def clusters(self) -> dict[str, str]:
        return {row["question_id"]: row["cluster_id"] for row in self.rows("dedup", "clusters")}

    @cached_property
    def _sha(self) -> dict[str, str]:
        return {row["document"]: row["sha256"] for row in self.rows("ocr", "documents")}

    @cached_property
    def _ends(self) -> dict[str, dict[str, Any]]:
        """By question_id: where it ended, for all that were not kept."""
        ends: dict[str, dict[str, Any]] = {}
        for stage in STAGES_OF_QUESTIONS:
            for row in self.rows(stage, "rejects"):
                ends[row["item_id"]] = {"place": "rejected", "stage": stage, "reason": row["reason"]}
            for row in self.rows(stage, "review"):
                end = {"place": "waiting", "stage": stage, "reason": row["reason"]}
                for question in row["question_ids"] or [row["item_id"]]:
                    ends[question] = end
                item = json.loads(row["item"] or "null")
                if isinstance(item, dict) and "number" in item:
                    ends.setdefault(f"{item['document']}#{item['number']}", end)
        for row in self.rows("dedup", "merges"):
            ends[row["question_id"]] = {"place": "merged", "into": row["survivor_id"], "kind": row["kind"]}
        return ends

    def id_of(self, question: dict[str, Any]) -> str | None:
        """The question_id of a gold question, also of one that the parser set aside."""
        row = self.parsed.get((question["document"], question["number"]))
        if row is not None:
            return str(row["question_id"])
        name = f"{question['document']}#{question['number']}"  # a row of a table that became no question
        if name in self._ends:
            return name
        wanted = re.compile(rf"{self._sha[question['document']][:8]}-\d+-{question['number']:03d}")
        return next((item for item in self._ends if wanted.fullmatch(item)), None)

    def end_of(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return the end of a gold question: place, and stage, reason, into, kind where they apply."""
        found = self.id_of(question)
        if found is None:
            return {"place": "lost"}
        return self._ends.get(found) or {"place": "kept" if found in self.kept else "lost"}


@pytest.fixture(scope="session")
def build(sample_build: Path) -> Build:
    return Build(sample_build)


def gold(wanted: Callable[[dict[str, Any]], bool] = lambda question: True) -> list[Any]:
    """Parameters for the gold questions that are wanted."""
    return [pytest.param(question, id=name) for name, question in QUESTIONS.items() if wanted(question)]


def is_parsed(question: dict[str, Any]) -> bool:
    return question["expect"].get("stage") != "parse"


def is_kept(question: dict[str, Any]) -> bool:
    return question["expect"]["place"] == "kept"


def fold(text: str | None) -> str:
    """Text for comparison: full-width forms folded, white space kept between Latin words and numbers alone."""
    wide = re.sub(r"[\u3000\uff01-\uff5e]", lambda found: unicodedata.normalize("NFKC", found.group()), text or "")
    return re.sub(r"(?<![0-9A-Za-z])\s+|\s+(?![0-9A-Za-z])", "", wide)


def letters(options: list[dict[str, str]]) -> dict[str, str]:
    return {option["label"]: fold(option["text"]) for option in options}


@pytest.mark.parametrize("question", gold())
def test_every_question_ends_in_its_expected_place(build: Build, question: dict[str, Any]) -> None:
    expected = {key: value for key, value in question["expect"].items() if key != "cluster"}
    if "into" in expected:
        expected["into"] = build.id_of(QUESTIONS[expected["into"]])
    assert build.end_of(question) == expected, f"{question['document']} no. {question['number']}"


@pytest.mark.parametrize("question", gold(is_parsed))
def test_every_question_is_parsed_as_it_was_written(build: Build, question: dict[str, Any]) -> None:
    row = build.parsed[question["document"], question["number"]]
    assert {"options": letters(row["options"]), "answer": row["answer"], "type": row["question_type"]} == {
        "options": letters(question["options"]),
        "answer": question["answer"],
        "type": question["question_type"],
    }
    for name in TEXTS:
        found = row[name]
        if name == "stem" and question["table"] and found:
            found = found[: len(question["stem"])]  # the table's cells may follow as text
        _same_text(name, found, question[name], ocr=question["layout"] in OCR_LAYOUTS)


def _same_text(name: str, found: str | None, expected: str | None, *, ocr: bool) -> None:
    assert (found is None) == (expected is None), f"{name}: {found!r}, expected {expected!r}"
    if expected is None:
        return
    if not ocr:
        assert fold(found) == fold(expected), name
        return
    rate = _errors(found, expected) / len(fold(expected))
    assert rate <= MAX_OCR_ERROR_OF_ONE, f"{name}: {rate:.1%} of characters wrong: {found!r}, expected {expected!r}"


def _errors(found: str | None, expected: str) -> int:
    return Levenshtein.distance(fold(found), fold(expected))


@pytest.mark.parametrize("layout", OCR_LAYOUTS)
def test_texts_read_by_ocr_are_nearly_free_of_errors(build: Build, layout: str) -> None:
    texts = [
        (build.parsed[question["document"], question["number"]][name], question[name])
        for question in QUESTIONS.values()
        if question["layout"] == layout
        for name in TEXTS
        if question[name]
    ]
    errors = sum(_errors(found, expected) for found, expected in texts)
    assert errors / sum(len(fold(expected)) for _, expected in texts) <= MAX_OCR_ERROR


@pytest.mark.parametrize("question", gold(lambda question: is_parsed(question) and question["section"] is None))
def test_what_a_tabular_source_says_beside_the_question_is_kept(build: Build, question: dict[str, Any]) -> None:
    row = build.parsed[question["document"], question["number"]]
    assert row["human_accuracy"] == pytest.approx(question["human_accuracy"])
    assert (row["respondents"], row["comment"]) == (question["respondents"], question["comment"])


@pytest.mark.parametrize("question", gold(is_parsed))
def test_every_question_knows_its_exam(build: Build, question: dict[str, Any]) -> None:
    row = build.parsed[question["document"], question["number"]]
    assert [row["exam_type"], row["exam_class"], row["exam_subject"]] == question["exam"]


def test_questions_of_a_group_share_their_id_and_no_others_do(build: Build) -> None:
    expected: dict[str, set[str]] = {}
    found: dict[str, set[str]] = {}
    for name, question in QUESTIONS.items():
        row = build.parsed.get((question["document"], question["number"]))
        if row is None:
            continue
        if question["group"]:
            expected.setdefault(question["group"], set()).add(name)
        if row["group_id"]:
            found.setdefault(row["group_id"], set()).add(name)
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, expected.values()))


def test_twins_stand_in_one_cluster_and_no_strangers_with_them(build: Build) -> None:
    expected: dict[str, set[str]] = {}
    for name, question in QUESTIONS.items():
        if question["expect"]["place"] == "kept" and "cluster" in question["expect"]:
            expected.setdefault(question["expect"]["cluster"], set()).add(name)
    twins = {frozenset(names) for names in expected.values() if len(names) > 1}
    together: dict[str, set[str]] = {}
    for name, question in QUESTIONS.items():
        found = build.id_of(question)
        if found in build.kept and found in build.clusters:
            together.setdefault(build.clusters[found], set()).add(name)
    assert {frozenset(names) for names in together.values() if len(names) > 1} == twins


@pytest.mark.parametrize("document", GOLD["documents"], ids=lambda document: document["document"])
def test_every_file_is_read_or_rejected_with_its_reason(build: Build, document: dict[str, Any]) -> None:
    rejects = {row["item_id"]: row["reason"] for row in build.rows("ocr", "rejects")}
    name = document["document"]
    if document["role"] == "rejected":
        assert rejects.get(name) == document["expect"]["reason"]
    else:
        assert name not in rejects
        assert name in build.table("ocr", "documents")["document"].to_list()


def test_the_scan_was_read_by_ocr_and_the_digital_papers_were_not(build: Build) -> None:
    methods = {(row["document"], row["method"]) for row in build.rows("ocr", "pages") if row["method"] != "blank"}
    assert {method for document, method in methods if document == "scan-2024-03.pdf"} == {"ocr"}
    for digital in ("internal-medicine.pdf", "surgery-obgyn-paediatrics.pdf", "scan-2024-03_answers.pdf"):
        assert {method for document, method in methods if document == digital} == {"text_layer"}


@pytest.mark.parametrize("stage", STAGES_OF_QUESTIONS)
def test_totals_of_each_stage_are_those_of_the_gold(build: Build, stage: str) -> None:
    manifest = json.loads((build.folder / stage / "manifest.json").read_text(encoding="utf-8"))
    counts = {key: value for key, value in manifest["counts"].items() if key in GOLD["totals"][stage]}
    assert counts == GOLD["totals"][stage]


def test_nothing_comes_out_that_is_not_in_the_gold(build: Build) -> None:
    known = {build.id_of(question) for question in QUESTIONS.values()}
    assert set(build.kept) <= known


@pytest.mark.parametrize("question", gold(is_kept))
def test_labels_are_of_the_set_and_a_difficulty_is_there_where_it_was_measured(
    build: Build, question: dict[str, Any]
) -> None:
    found = build.id_of(question)
    rows = build.table("annotate", "annotations").filter(pl.col("question_id") == found).to_dicts()
    labels = {row["dimension"]: row["label"] for row in rows}
    for name, label in labels.items():
        assert label in dimensions()[name].zh_names(), name
    measured = None if question["human_accuracy"] is None else question["labels"]["difficulty"]
    assert labels.get("difficulty") == measured, "difficulty follows human accuracy"


def test_most_of_the_sample_is_labelled(build: Build) -> None:
    said = build.table("annotate", "annotations").filter(pl.col("dimension") != "difficulty").height
    assert said > 0.6 * (len(dimensions()) - 1) * len(build.kept)


def _splits(build: Build) -> dict[str, list[dict[str, Any]]]:
    return {name: build.rows("export", name) for name in ("train", "validation", "test")}


def test_splits_hold_every_kept_question_once(build: Build) -> None:
    exported = Counter(row["question_id"] for rows in _splits(build).values() for row in rows)
    assert set(exported) == set(build.kept)
    assert set(exported.values()) == {1}


def test_splits_are_disjoint_by_content_group_and_cluster(build: Build) -> None:
    homes: dict[tuple[str, str], set[str]] = {}
    for split, rows in _splits(build).items():
        for row in rows:
            question = build.kept[row["question_id"]]
            keys = {
                "content": question["content_hash"],
                "group": question["group_id"],
                "cluster": build.clusters.get(row["question_id"]),
            }
            for kind, key in keys.items():
                if key is not None:
                    homes.setdefault((kind, key), set()).add(split)
    assert {key: splits for key, splits in homes.items() if len(splits) > 1} == {}


def test_every_split_has_questions(build: Build) -> None:
    assert all(_splits(build).values())
