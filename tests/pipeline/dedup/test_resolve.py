"""From related pairs to survivors: what the resolver does with relations, whatever they are made of."""

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from build_dataset.pipeline.dedup import stage
from build_dataset.pipeline.dedup.params import DedupParams
from build_dataset.pipeline.dedup.relation import Relation
from build_dataset.pipeline.dedup.stage import Resolution, Resolver

KEYS = {"A": (frozenset("A"),), "B": (frozenset("B"),), None: ()}


@pytest.fixture
def settle(monkeypatch):
    """Settle pairs whose relations are given as {(row, row): (kind, score)}; rank 0 is the best copy."""

    def run(relations: dict, ranks: list[int], keys: Sequence[str | None] | None = None) -> tuple[Resolution, list]:
        asked = []
        items = {row: SimpleNamespace(row=row, keys=KEYS[keys[row] if keys else None]) for row in range(len(ranks))}

        def relate(first, second, vocabulary, params):
            pair = tuple(sorted((first.row, second.row)))
            asked.append((first.row, second.row))
            if pair not in relations:
                return None
            kind, score = relations[pair]
            return Relation(kind, score, kind, {letter: letter for letter in "ABC"})

        monkeypatch.setattr(stage, "relate", relate)
        resolver = Resolver(items, ranks, vocabulary=None, params=DedupParams())
        return resolver.resolve(relations, Resolution()), asked

    return run


def merged(found: Resolution) -> dict[int, int]:
    return {row: leader for row, leader, *_ in found.merges}


def test_relations_are_asked_of_the_worse_copy_to_the_better(settle) -> None:
    found, asked = settle({(0, 1): ("same_question", 0.9)}, ranks=[1, 0])
    assert asked == [(0, 1)]
    assert merged(found) == {0: 1}


def test_of_many_copies_each_is_compared_with_the_best_so_far(settle) -> None:
    copies = {(one, other): ("same_question", 0.9) for one in range(6) for other in range(one + 1, 6)}
    found, asked = settle(copies, ranks=[0, 1, 2, 3, 4, 5])
    assert merged(found) == dict.fromkeys(range(1, 6), 0)
    assert sorted(asked) == [(row, 0) for row in range(1, 6)]


def test_pairs_are_settled_by_the_best_copies_of_either_side(settle) -> None:
    """2 is a poor copy of 0 and like 3; 3 is compared with 0."""
    relations = {(0, 2): ("same_question", 0.9), (2, 3): ("same_question", 0.9), (0, 3): ("negation", 0.9)}
    found, asked = settle(relations, ranks=[0, 3, 2, 1])
    assert (3, 0) in asked
    assert (2, 3) not in asked
    assert merged(found) == {2: 0}
    assert (3, 0, "negation") in found.edges or (0, 3, "negation") in found.edges


def test_a_copy_joins_the_leader_that_it_is_most_like(settle) -> None:
    """2 is a copy of 1, not of 0 that 1 is merged into: it stands for itself, and 3 is more like it than like 0."""
    relations = {
        (1, 2): ("same_question", 0.97),
        (1, 3): ("same_question", 0.96),
        (0, 1): ("same_question", 0.95),
        (0, 3): ("same_question", 0.85),
        (2, 3): ("same_question", 0.9),
    }
    found, _ = settle(relations, ranks=[0, 1, 2, 3])
    assert merged(found) == {1: 0, 3: 2}


def test_a_contradiction_between_copies_of_two_leaders_makes_both_wait(settle) -> None:
    """1 and 2 say the same and answer differently; 0 is worded so that with 2's answer it is another question."""
    relations = {(1, 2): ("conflict", 1.0), (0, 1): ("same_question", 0.9), (0, 2): ("term", 0.9)}
    found, _ = settle(relations, ranks=[0, 1, 2], keys="AAB")
    assert (found.conflicts, found.merges) == ([[0, 1, 2]], [])


def test_a_conflict_with_the_leader_takes_all_its_copies_along(settle) -> None:
    relations = {(0, 1): ("conflict", 1.0), (0, 2): ("same_question", 0.9)}
    found, _ = settle(relations, ranks=[0, 1, 2], keys="ABA")
    assert found.conflicts == [[0, 1, 2]]
    assert found.merges == []


def test_copies_that_contradict_each_other_wait_though_the_leader_has_no_key(settle) -> None:
    relations = {(0, 1): ("same_question", 0.9), (0, 2): ("same_question", 0.9)}
    found, _ = settle(relations, ranks=[0, 1, 2], keys=[None, "A", "B"])
    assert found.conflicts == [[0, 1, 2]]


def test_twins_are_tied_and_not_merged(settle) -> None:
    found, _ = settle({(0, 1): ("number", 0.97)}, ranks=[0, 1])
    assert (found.merges, found.conflicts, found.edges) == ([], [], [(0, 1, "number")])
