"""Cuts, marks and cards of texts in exact pieces."""

from __future__ import annotations

import json
from typing import Any

import polars as pl
import pytest

from build_dataset.pipeline.report import texts
from build_dataset.pipeline.report.build import Build
from build_dataset.pipeline.report.params import ReportParams
from build_dataset.pipeline.report.texts import CutText, clip, item_text, key_letters, mark_differences, unfold
from build_dataset.schemas.dataset import DatasetParams
from build_dataset.schemas.questions import Cluster, Question

from .conftest import manifests, question, questions


@pytest.mark.parametrize(
    ("span", "pieces", "more"),
    [
        (None, [("abcde", False)], 5),
        ((0, 5), [("abcde", True)], 5),
        ((0, 6), [("abcde", True)], 5),
        ((1, 5), [("a", False), ("bcde", True)], 5),
        ((2, 6), [("…", False), ("b", False), ("cdef", True)], 5),
        ((5, 6), [("…", False), ("bcde", False), ("f", True)], 5),
        ((8, 9), [("…", False), ("efgh", False), ("i", True)], 5),
        ((9, 20), [("…", False), ("j", True)], 9),
    ],
)
def test_a_cut_text_shows_its_span(span, pieces, more) -> None:
    assert clip("abcdefghij", 5, span) == CutText(pieces, more)


@pytest.mark.parametrize(
    ("length", "limit", "most", "whole"),
    [(4, 4, 9, None), (5, 4, 9, 5), (9, 4, 9, 9), (10, 4, 9, 9), (10, 4, 4, None), (10, 4, 5, 5), (10, 4, 0, None)],
)
def test_a_text_unfolds_where_more_of_it_is_shown(length, limit, most, whole) -> None:
    found = unfold("x" * length, limit, most)
    assert found.pieces == [("x" * min(length, limit), False)]
    assert found.more == max(0, length - limit)
    assert (None if found.whole is None else sum(len(text) for text, _ in found.whole.pieces)) == whole


@pytest.mark.parametrize(
    ("one", "other", "left", "right"),
    [
        ("甲乙丙", "甲乙丙", [("甲乙丙", False)], [("甲乙丙", False)]),
        ("甲乙丙", "甲丙", [("甲", False), ("乙", True), ("丙", False)], [("甲", False), ("丙", False)]),
        ("甲 乙", "甲乙", [("甲", False), ("␣", True), ("乙", False)], [("甲", False), ("乙", False)]),
        ("甲乙丙丁", "", [("甲乙丙丁", True)], [("", True)]),
        ("甲乙", "甲丁", [("甲", False), ("乙", True)], [("甲", False), ("丁", True)]),
        ("甲乙丙", "甲丁戊", [("甲乙丙", True)], [("甲丁戊", True)]),
        (None, None, [], []),
    ],
)
def test_texts_are_marked_where_half_of_them_is_the_same(one, other, left, right) -> None:
    found = mark_differences(one, other, 9)
    assert [side.pieces for side in found] == [left, right]


@pytest.mark.parametrize(
    ("limit", "shown", "more"), [(1, "甲", 3), (3, "甲乙丙", 1), (4, "甲乙丙丁", 0), (9, "甲乙丙丁", 0)]
)
def test_marked_texts_are_cut_at_the_limit(limit, shown, more) -> None:
    left, right = mark_differences("甲乙丙丁", "甲乙丙", limit)
    assert ("".join(text for text, _ in left.pieces), left.more) == (shown, more)
    assert right.more == max(0, 3 - limit)


@pytest.mark.parametrize(("given", "letters"), [(["A", "C"], "AC"), ([], ""), ("B", "B"), (None, ""), (["A", 1], "A1")])
def test_a_key_is_told_as_letters(given, letters) -> None:
    assert key_letters(given) == letters


def shown(item: Any, limit: int = 9) -> tuple[str, str, list[str], str] | None:
    card = item_text(item if item is None or isinstance(item, str) else json.dumps(item), limit)
    if card is None:
        return None
    said = ["".join(text for text, _ in part.pieces) for part in (card.stem, *(text for _, text in card.options))]
    return card.where, said[0], said[1:], card.answer[0]


@pytest.mark.parametrize(
    ("item", "found"),
    [
        (None, None),
        ("", None),
        ("[1]", None),
        ("{", ("", "{", [], "")),
        ("3", ("", "3", [], "")),
        ({"stem": 3}, ("", '{"stem": ', [], "")),
        ({"stem": "题"}, ("", "题", [], "")),
        ({"text": "文", "question": "问"}, ("", "问", [], "")),
        ({"stem": "题", "shared_stem": "例", "answer": ["B"]}, ("", "例\n题", [], "B")),
        ({"stem": "题", "document": "a", "number": 2, "pages": [3]}, ("a · p. 3 · no. 2", "题", [], "")),
        ({"stem": "题", "options": [{"label": "A", "text": "甲"}, 5, {"label": None}]}, ("", "题", ["甲", ""], "")),
    ],
)
def test_an_item_is_shown_as_far_as_it_is_a_question(item, found) -> None:
    assert shown(item) == found


def twin(number: int, cluster: str = "c") -> Cluster:
    return Cluster(question_id=f"q{number:02}", cluster_id=cluster, kind="number")


@pytest.mark.parametrize(("merges", "clusters", "told"), [(0, 0, False), (0, 1, True)])
def test_without_merges_and_clusters_there_are_no_duplicates(merges, clusters, told) -> None:
    schema = {"question_id": pl.String, "survivor_id": pl.String, "kind": pl.String, "score": pl.Float64}
    tables = {
        "manifests": manifests(),
        "dedup/merges": pl.DataFrame(schema=schema | {"reason": pl.String}),
        "dedup/clusters": Cluster.to_frame([twin(0)] * clusters),
        "clean/questions": questions(question("q00", "题")),
    }
    made = Build(tables, ReportParams(), DatasetParams(name="x"))
    assert (texts.duplicates(made) is not None) is told
    assert Question.polars_schema() == tables["clean/questions"].schema
    for name in ("dedup/merges", "dedup/clusters", "clean/questions"):
        left = {other: table for other, table in tables.items() if other != name}
        assert texts.duplicates(Build(left, ReportParams(), DatasetParams(name="x"))) is None


def test_changed_texts_are_counted_by_part_and_questions() -> None:
    rows = [
        {"question_id": name, "field": field, "before": "甲", "after": "乙", "by": who}
        for name, field, who in (
            ("q1", "option:A", "a"),
            ("q1", "option:B", "b"),
            ("q2", "stem", "a"),
            ("q3", "verdict", "c"),
        )
    ]
    tables = {"manifests": manifests(), "clean/corrections": pl.DataFrame(rows)}
    values = texts.corrected(Build(tables, ReportParams(pairs=5), DatasetParams(name="x"))).values
    assert (values["count"], values["questions"], values["people"]) == (4, 3, 3)
    assert values["parts"] == [("option", 2), ("stem", 1), ("verdict", 1)]
    assert [(each["id"], each["part"]) for each in values["examples"]] == [
        ("q1", "option:A"),
        ("q1", "option:B"),
        ("q2", "stem"),
    ]
    tables = {"manifests": manifests(), "clean/changes": pl.DataFrame(rows).drop("by").rename({"field": "part"})}
    assert texts.tidied(Build(tables, ReportParams(), DatasetParams(name="x"))).values["people"] == 0
