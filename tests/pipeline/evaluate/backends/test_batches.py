"""Batches lose no prompt, read a common head once and stay within their budget."""

import pytest
from hypothesis import given, strategies as st

from build_dataset.pipeline.evaluate.backends.local.batches import (
    SHORTEST_HEAD,
    TokenizedPrompt,
    common_head,
    plan_batches,
)

TOKENS = st.lists(st.integers(0, 3), min_size=1, max_size=30).map(tuple)
GROUPS = st.lists(st.tuples(st.integers(0, 100), st.lists(TOKENS, min_size=1, max_size=8)), max_size=4)


@given(GROUPS, st.integers(1, 400), st.integers(1, 50))
def test_every_prompt_is_in_one_batch_with_all_its_tokens(groups, budget, new_tokens):
    made, index = [], 0
    for length, prompts in groups:
        head = (9,) * length
        made.append([TokenizedPrompt(index + place, head + prompt) for place, prompt in enumerate(prompts)])
        index += len(prompts)
    wanted = {item.index: item.tokens for group in made for item in group}
    batches = list(plan_batches(made, budget, new_tokens))
    found = [(tail.index, batch.head + tail.tokens) for batch in batches for tail in batch.tails]
    assert dict(found) == wanted
    assert len(found) == len(wanted)
    for batch in batches:
        width = len(batch.head) + max(len(tail.tokens) for tail in batch.tails) + new_tokens
        assert len(batch.tails) == 1 or width * len(batch.tails) <= budget
        assert all(tail.tokens for tail in batch.tails)


def test_a_head_is_kept_only_where_it_is_long_and_shared():
    long = (7,) * SHORTEST_HEAD
    assert common_head([(*long, 1), (*long, 2, 3)]) == long
    assert common_head([(*long[1:], 1), (*long[1:], 2)]) == ()
    assert common_head([(*long, 1)]) == ()


def test_a_prompt_that_is_the_head_of_another_keeps_a_token():
    long = (7,) * (SHORTEST_HEAD + 5)
    assert common_head([long, (*long, 1)]) == long[:-1]


def test_a_batch_is_cut_in_halves_without_loss():
    (batch,) = plan_batches([[TokenizedPrompt(index, (1, 2)) for index in range(5)]], 10_000, 1)
    one, other = batch.halves()
    assert (*one.tails, *other.tails) == batch.tails
    assert one.tails
    assert other.tails


def items(*sizes: int, head: int = 0) -> list[TokenizedPrompt]:
    return [TokenizedPrompt(at, (*[9] * head, *range(at * 100, at * 100 + size))) for at, size in enumerate(sizes)]


@pytest.mark.parametrize(("budget", "sizes"), [(23, [1, 1, 1]), (24, [2, 1]), (35, [2, 1]), (36, [3]), (5, [1, 1, 1])])
def test_a_batch_holds_what_its_budget_holds_of_its_longest_prompt(budget: int, sizes: list[int]) -> None:
    batches = plan_batches([items(10, 10, 10)], budget, 2)
    assert [len(batch.tails) for batch in batches] == sizes


def test_a_batch_counts_its_head_for_each_of_its_prompts() -> None:
    group = items(1, 1, 1, head=64)
    assert [len(batch.tails) for batch in plan_batches([group], 2 * 66, 1)] == [2, 1]
    assert [len(batch.tails) for batch in plan_batches([group], 2 * 66 - 1, 1)] == [1, 1, 1]


def test_the_longest_go_first_and_of_equals_the_earlier() -> None:
    batches = plan_batches([items(3, 5, 5, 4)], 1, 1)
    assert [[tail.index for tail in batch.tails] for batch in batches] == [[1], [2], [0 + 3], [0]]
    groups = [[TokenizedPrompt(0, (1,) * 3)], [TokenizedPrompt(1, (1,) * 4), TokenizedPrompt(2, (1,))]]
    assert [[tail.index for tail in batch.tails] for batch in plan_batches(groups, 1000, 1)] == [[1, 2], [0]]
