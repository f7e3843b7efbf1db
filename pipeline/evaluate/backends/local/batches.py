"""Prompts of a model on this machine as tokens, batches of them, and its outputs. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Self

Letters = tuple[tuple[str, int], ...]
"""Option letters with their tokens, of which the likeliest is chosen; empty if the model writes a text."""


@dataclass(frozen=True)
class Output:
    """The output for one prompt, as it is stored."""

    text: str
    finish: str
    prompt_tokens: int
    completion_tokens: int
    likelihoods: dict[str, float] | None = None
    """The log-likelihood of each option's letter, where letters were compared."""
    made_with: dict[str, str] | None = None  # versions of the libraries that made it


def likeliest_letter(likelihoods: dict[str, float], prompt_tokens: int) -> Output:
    """The likeliest letter as what the model made; of two alike, the first."""
    return Output(max(likelihoods, key=lambda letter: likelihoods[letter]), "stop", prompt_tokens, 1, likelihoods)


SHORTEST_HEAD = 64  # tokens below which keeping a common head costs more than reading it again


@dataclass(frozen=True)
class TokenizedPrompt:
    """A prompt as tokens."""

    index: int  # its place among the prompts to be done
    tokens: tuple[int, ...]
    seed: int = 0  # seed of sampling


@dataclass(frozen=True)
class PromptBatch:
    """Prompts that go through the model together."""

    head: tuple[int, ...]  # tokens that all of them begin with, read once; may be empty
    tails: tuple[TokenizedPrompt, ...]  # the tokens after the head, never empty
    letters: Letters = ()  # tokens of the letters of which the likeliest is chosen

    def halves(self) -> tuple[Self, Self]:
        """The same prompts in two batches, for when one is too large."""
        middle = len(self.tails) // 2
        return replace(self, tails=self.tails[:middle]), replace(self, tails=self.tails[middle:])


def plan_batches(
    groups: Sequence[Sequence[TokenizedPrompt]], budget: int, new_tokens: int, *, heads: bool = True
) -> Iterator[PromptBatch]:
    """Batches of one group each, longest prompts first, so that what does not fit shows at once.

    A batch has at most ``budget`` padded tokens, with the ``new_tokens`` that each answer may add; a longer prompt is
    a batch of its own. With ``heads`` what the prompts of a group begin with is kept apart.
    """
    for group in sorted(groups, key=lambda group: -max(len(item.tokens) for item in group)):
        head = common_head([item.tokens for item in group]) if heads else ()
        cut = len(head)
        tails = [replace(item, tokens=item.tokens[cut:]) for item in group]
        tails.sort(key=lambda item: (-len(item.tokens), item.index))
        start = 0
        while start < len(tails):
            size = max(1, budget // (cut + len(tails[start].tokens) + new_tokens))
            yield PromptBatch(head, tuple(tails[start : start + size]))
            start += size


def common_head(prompts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The tokens that all prompts begin with, less one where a prompt has no others; empty where it does not pay."""
    if len(prompts) < 2:
        return ()
    # the smallest and the largest differ first
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(min(prompts), max(prompts), strict=False))
    length = min(sum(1 for _ in alike), min(map(len, prompts)) - 1)
    return prompts[0][:length] if length >= SHORTEST_HEAD else ()
