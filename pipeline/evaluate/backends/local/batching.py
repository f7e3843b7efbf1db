"""How prompts are put into batches: by common head and length, so that little is padded and nothing read twice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

SHORTEST_HEAD = 64
"""Tokens below which keeping a common head costs more than reading it again."""


@dataclass(frozen=True)
class Sequenced:
    """A prompt as tokens."""

    index: int
    """Its place among the prompts to be done."""
    tokens: tuple[int, ...]
    seed: int = 0
    """Of what is sampled for it."""
    scored: int = 0
    """Tokens at its end whose likelihood is wanted; 0 where a text, or the next token, is."""
    part: int = 0
    """Its number among the sequences of its prompt."""


@dataclass(frozen=True)
class Batch:
    """Prompts that go through the model together."""

    head: tuple[int, ...]
    """Tokens that all of them begin with, read once; may be empty."""
    tails: tuple[Sequenced, ...]
    """What follows the head, never empty."""

    def halves(self) -> tuple[Batch, Batch]:
        """The same prompts in two batches, for when one is too large."""
        middle = len(self.tails) // 2
        return Batch(self.head, self.tails[:middle]), Batch(self.head, self.tails[middle:])


def plan(
    groups: Sequence[Sequence[Sequenced]],
    budget: int,
    new_tokens: int,
    *,
    heads: bool = True,
    ramp: int = 1 << 30,
) -> Iterator[Batch]:
    """Batches of one group each, longest prompts first, so that what does not fit shows at once.

    Args:
        groups: prompts that share a head (worked examples), or may.
        budget: padded tokens in a batch, at most; a prompt longer than that is a batch of its own.
        new_tokens: tokens that each prompt's answer may add.
        heads: whether common heads are kept apart.
        ramp: prompts of the first batch, at most; every further batch may be twice as large.
    """
    for group in sorted(groups, key=lambda group: -max(len(item.tokens) for item in group)):
        # What comes before the first scored token stays with it: its likelihood is read there.
        head = common_head([item.tokens[: len(item.tokens) - item.scored] for item in group]) if heads else ()
        cut = len(head)
        tails = [replace(item, tokens=item.tokens[cut:]) for item in group]
        tails.sort(key=lambda item: (-len(item.tokens), item.index))
        start = 0
        while start < len(tails):
            width = cut + len(tails[start].tokens) + new_tokens
            size = min(max(1, budget // width), ramp)
            ramp *= 2
            yield Batch(head, tuple(tails[start : start + size]))
            start += size


def common_head(prompts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The tokens that all prompts begin with, less one where a prompt has no others; empty where it does not pay."""
    if len(prompts) < 2:
        return ()
    first, last = min(prompts), max(prompts)
    length = 0
    for one, other in zip(first, last, strict=False):
        if one != other:
            break
        length += 1
    length = min(length, min(len(prompt) for prompt in prompts) - 1)
    return first[:length] if length >= SHORTEST_HEAD else ()
