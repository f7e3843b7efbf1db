"""Matches become leaks: copies, overlaps, paraphrases, and what is neither."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from build_dataset.pipeline.leaks import overlap
from build_dataset.pipeline.leaks.files import BenchmarkText
from build_dataset.pipeline.leaks.overlap import BenchmarkMatch, Index, Meanings
from build_dataset.pipeline.leaks.params import LeaksParams
from build_dataset.pipeline.leaks.stage import _across_splits, _counted, _file, _overlap
from build_dataset.schemas.questions import SPLITS
from build_dataset.schemas.release import Leak

LETTERS = "".join(chr(0x5000 + place) for place in range(40))
STEM, OPTIONS = LETTERS[:20], (LETTERS[20:25], LETTERS[25:30])
WHOLE = "\n".join((STEM, *OPTIONS))
ASKED = pl.DataFrame({"question_id": ["a"], "split": ["test"], "stem": [STEM]})


def leak(first: int, last: int, *, share: float = 0.5, records: int = 1, text: str = "", **params) -> Any:
    match = BenchmarkMatch(0, share, first, last, 7, records, text)
    return _overlap(ASKED, [WHOLE], "b.txt", match, LeaksParams(**params))


@pytest.mark.parametrize(
    ("share", "text", "kind"),
    [
        (0.8, STEM, "copy"),
        (0.7999, STEM, "overlap"),
        (1.0, "", "overlap"),
        (0.8, STEM[:12] + "x" * 8, "copy"),
        (0.8, STEM[:7] + "x" * 13, "overlap"),
        (0.5, f"{STEM}\n{OPTIONS[0]}", "copy"),
        (0.5, f"{STEM}\n{OPTIONS[0][:4]}", "overlap"),
        (0.5, "\n".join(OPTIONS), "overlap"),
    ],
)
def test_four_fifths_of_a_question_with_three_fifths_of_its_stem_are_a_copy(share, text, kind) -> None:
    found = leak(0, 20, share=share, text=text)
    assert (found.kind, found.start, found.end, found.span) == (kind, 0, 20, STEM)
    assert (found.question_id, found.split, found.file, found.line, found.rows) == ("a", "test", "b.txt", 7, 1)
    lines = sum(len(part) for part in (STEM, *OPTIONS) if part in text) / 30
    assert found.score == round(max(share, lines), 4)


@pytest.mark.parametrize(
    ("first", "last", "span"),
    [
        (0, 8, STEM[:8]),
        (0, 7, None),
        (12, 25, f"{STEM[12:]}\n{OPTIONS[0]}"),
        (13, 25, None),
        (20, 30, None),
        (5, 13, STEM[5:13]),
    ],
)
def test_a_run_overlaps_with_eight_letters_of_the_stem(first, last, span) -> None:
    found = leak(first, last)
    assert (None if found is None else found.span) == span
    if found is not None:
        assert WHOLE[found.start : found.end] == span


@pytest.mark.parametrize(("records", "found"), [(1, True), (10, True), (11, False)])
def test_a_run_in_more_than_ten_records_is_a_set_phrase_unless_it_is_a_copy(records, found) -> None:
    assert (leak(0, 20, records=records) is not None) is found
    assert leak(0, 20, records=records, share=0.9, text=STEM).rows == records


@pytest.mark.parametrize(("score", "told"), [(0.123449, 0.1234), (0.12346, 0.1235)])
def test_a_score_has_four_places(score, told) -> None:
    assert leak(0, 20, share=score).score == told


def listed(name: str, kind: str, split: str = "test") -> Leak:
    return Leak(question_id=name, split=split, kind=kind, score=1.0, file="b", line=1, rows=1, span="x")


def test_a_copy_counts_as_an_overlap_too_and_a_question_once(tmp_path: Path) -> None:
    leaks = [
        *(listed(name, "copy") for name in ("a", "a", "b")),
        *(listed(name, "overlap", split) for name, split in (("a", "test"), ("c", "train"))),
        listed("d", "paraphrase"),
    ]
    assert _counted(leaks) == {
        "overlap": {"train": 1, "validation": 0, "test": 2},
        "copy": {"train": 0, "validation": 0, "test": 2},
    }
    (tmp_path / "b.txt").write_text("x")
    file = _file("b.txt", tmp_path / "b.txt", 9, leaks)
    assert (file.records, file.overlaps, file.copies, file.test_overlaps, file.test_copies) == (9, 3, 2, 2, 2)


def test_of_two_questions_that_are_one_that_of_the_smaller_split_leaks() -> None:
    names = ["a", "b", "c"]
    rows = pl.DataFrame({"question_id": names, "split": SPLITS, "content_hash": ["h"] * 3})
    texts = pl.DataFrame({"stem": [STEM] * 3, "options": [list(OPTIONS)] * 3})
    found = _across_splits(rows, texts, LeaksParams())
    told = [(one.question_id, one.split, one.other_id, one.other_split, one.kind, one.score) for one in found]
    assert told == [
        ("b", "validation", "a", "train", "exact", 1.0),
        ("c", "test", "a", "train", "exact", 1.0),
        ("c", "test", "b", "validation", "near", 1.0),
    ]


@pytest.mark.parametrize("files", [1, 3])
def test_progress_counts_the_files_and_what_only_shares_phrases_is_counted(
    leaks, tmp_path, context, monkeypatch, files
) -> None:
    told: list[int] = []
    asked = []

    class Bar:
        def __enter__(self) -> Any:
            return told.append

        def __exit__(self, *_: object) -> None:
            return None

    def progress(total: int | None, what: str) -> Bar:
        asked.append((total, what))
        return Bar()

    monkeypatch.setattr(type(context), "progress", lambda _, total, what: progress(total, what))
    for number in range(files):
        text = "\n".join(("无关的另一道题目问的是什么呢", *OPTIONS))
        (tmp_path / f"{number}.jsonl").write_text(json.dumps({"question": text}), encoding="utf-8")
    exam = {"a": ("test", STEM, (OPTIONS[0] + OPTIONS[1],)), "b": ("train", STEM[::-1], ())}
    found = leaks(exam, benchmarks=tmp_path, ngram=5)
    assert found.facts["benchmarks"]["only_phrases_or_options"] == files
    assert (asked[-1], sum(told)) == ((files, "benchmarks"), files)
    assert found.facts["benchmarks"]["paraphrases"] == 0


def meanings(monkeypatch, ours: list[list[float]], theirs: list[list[float]], **params) -> Meanings:
    given = {"our": ours, "their": theirs}

    def embed(texts, endpoint, store, option):
        return np.array([given[text.split()[0]][int(text.split()[1])] for text in texts], np.float32)

    monkeypatch.setattr(overlap, "embed", embed)
    settings = LeaksParams(embeddings="http://localhost:9/v1", embedding_model="m", **params)
    return Meanings([3, 5], ["", "", "", "our 0", "", "our 1"], settings, SimpleNamespace())


def records(count: int) -> list[BenchmarkText]:
    return [BenchmarkText(10 + place, f"their {place}") for place in range(count)]


@pytest.mark.parametrize("block", [1, 2, 5_000])
def test_the_nearest_record_of_each_question_is_told_from_the_cosine_on(monkeypatch, block) -> None:
    monkeypatch.setattr(overlap, "_RECORDS", block)
    theirs = [[0.5, 0.0], [0.75, 0.25], [0.875, 0.5], [0.875, 0.0], [1.5, 0.0]]
    found = list(meanings(monkeypatch, [[1, 0], [0, 1]], theirs[:4], paraphrased=0.75).alike(records(4)))
    assert [(one.row, one.share, one.line, one.records, one.first, one.last) for one in found] == [
        (3, 0.875, 12, 3, 0, 0)
    ]
    assert found[0].text == "their 2"
    both = meanings(monkeypatch, [[1, 0], [0, 1]], theirs, paraphrased=0.5).alike(records(5))
    assert [(one.row, one.share, one.line, one.records) for one in both] == [(3, 1.0, 14, 5), (5, 0.5, 12, 1)]


@pytest.mark.parametrize("size", [3, 8, 13])
def test_the_tokens_that_windows_share_are_counted_once(size) -> None:
    index = Index([LETTERS], size, 10)
    [match], seen = index.matches([BenchmarkText(4, f"{LETTERS[:15]}甲{LETTERS[20:35]}")])
    assert seen == 1
    assert (match.row, match.share, match.line, match.records) == (0, 30 / 40, 4, 1)
    assert (match.first, match.last) == (0, 15) if size < 8 else match.last > match.first


@pytest.mark.parametrize("copied", [0.8, 0.81])
def test_a_record_with_the_share_of_lines_is_a_match_without_a_run(copied) -> None:
    lines = ["肝心", "脾肺", "肾胃", "胆肠", "骨血"]
    index = Index(["\n".join(lines)], 13, 10, copied)
    text = "\n".join(["另一", *reversed(lines[:4])])
    found, _ = index.matches([BenchmarkText(5, text, lines=True)])
    told = [(one.row, one.share, one.first, one.last, one.line, one.records) for one in found]
    assert told == ([(0, 0.8, 0, 10, 8, 1)] if copied == 0.8 else [])
