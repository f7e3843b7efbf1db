"""Baselines that read no question."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from pipeline.evaluate.backends import Backend, Generation, Setting
from pipeline.evaluate.params import MajorityModel, RandomModel
from pipeline.evaluate.prompting import Prompt, is_multiple
from pipeline.evaluate.scoring import accepted
from schemas.identity import sha256
from schemas.release import ReleaseRow


class RandomBackend:
    """One letter at random, or, where several answers are asked for, any set of two or more, all equally likely."""

    identity: Mapping[str, Any] = {}

    def __init__(self, options: RandomModel, setting: Setting) -> None:
        self._seed = setting.context.seed if options.seed is None else options.seed

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``. A guess hangs on the seed and the question alone, not on the order or the limit."""
        for prompt in prompts:
            draw = random.Random(sha256(str(self._seed), prompt.id))  # noqa: S311
            letters = draw.choice(_choices(prompt.asked()))
            yield Generation(prompt.id, "".join(letters), letters=letters)
            advance(1)

    def expected(self, prompt: Prompt) -> float | None:
        """The share of possible guesses that are right."""
        choices = _choices(prompt.asked())
        right = accepted(prompt.asked())
        return sum(frozenset(letters) in right for letters in choices) / len(choices)


class MajorityBackend(Backend):
    """The most frequent answer of training questions of the same type (one or several) and number of options.

    Where train has none of that size, the most frequent one of that type which the options allow; where it has none
    at all, the first letter. Ties go to the answer that comes first in the alphabet.
    """

    identity: Mapping[str, Any] = {}

    def __init__(self, options: MajorityModel, setting: Setting) -> None:  # noqa: ARG002
        self._by_size: dict[tuple[bool, int], Counter[tuple[str, ...]]] = {}
        self._by_type: dict[bool, Counter[tuple[str, ...]]] = {True: Counter(), False: Counter()}
        for row in setting.train:
            if row.answer:
                answer = tuple(sorted(row.answer))
                size = (is_multiple(row), len(row.options))
                self._by_size.setdefault(size, Counter())[answer] += 1
                self._by_type[is_multiple(row)][answer] += 1

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``."""
        for prompt in prompts:
            letters = self._answer(prompt.asked())
            yield Generation(prompt.id, "".join(letters), letters=letters)
            advance(1)

    def _answer(self, question: ReleaseRow) -> tuple[str, ...]:
        labels = sorted(option.label for option in question.options)
        several = is_multiple(question)
        for counts in (self._by_size.get((several, len(labels)), Counter()), self._by_type[several]):
            possible = {answer: count for answer, count in counts.items() if set(answer) <= set(labels)}
            if possible:
                return min(possible, key=lambda answer: (-possible[answer], answer))
        return (labels[0],)


def _choices(question: ReleaseRow) -> list[tuple[str, ...]]:
    """Every answer that a guess may be."""
    labels = sorted(option.label for option in question.options)
    if not is_multiple(question) or len(labels) < 2:
        return [(label,) for label in labels]
    return list(chain.from_iterable(combinations(labels, size) for size in range(2, len(labels) + 1)))
