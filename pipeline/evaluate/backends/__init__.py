"""Backends that answers come from, one row a kind of model: endpoints, and baselines that read no question."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from pkgutil import resolve_name
from typing import Any, Protocol, cast

from build_dataset.annotation.llm import limits, messages
from build_dataset.annotation.llm.client import LlmClient
from build_dataset.pipeline.evaluate.params import MajorityModel, ModelOptions, OpenAiModel, RandomModel
from build_dataset.pipeline.evaluate.prompting import Prompt, is_multiple
from build_dataset.pipeline.stage import Context, Failure
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.release import ReleaseRow


@dataclass(frozen=True)
class Setting:
    """The context of a backend beside the prompts."""

    context: Context
    train: Sequence[ReleaseRow]


@dataclass(frozen=True)
class Generation:
    """The output of a model for one prompt."""

    prompt_id: str
    text: str | None  # the raw output; None when the request failed
    finish: str = "stop"  # why it ended: stop, length, refusal
    letters: tuple[str, ...] | None = None  # of backends that choose letters instead of writing text
    failure: Failure | None = None  # why there is no output; it is asked again on the next run
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None  # in the options' currency; None where no price is configured
    likelihoods: Mapping[str, float] | None = None  # what was compared to choose the letter, by label
    asked: str | None = None  # the prompt as the model read it; None where that is the messages themselves
    seed: int | None = None  # of sampling
    model: str | None = None  # its name as the server reports it
    waste: Mapping[str, float] | None = None  # calls billed for nothing, and those that may have been, with their costs
    made_with: Mapping[str, str] | None = None  # versions of the libraries that made it


class Backend(Protocol):
    """A kind of model. Outputs that cost time or money are kept in ``Setting.context.store`` the moment they come."""

    identity: Mapping[str, Any]
    """The identity of the model: its endpoint and name, or the hash of its weights; empty for baselines."""

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """Yield a generation a prompt, in any order, and ``advance`` with each; ``UserError``: the user can mend it."""


BACKENDS: dict[str, str] = {
    "openai": "build_dataset.pipeline.evaluate.backends:OpenAiBackend",
    "transformers": "build_dataset.pipeline.evaluate.backends.local.backend:TransformersBackend",
    "random": "build_dataset.pipeline.evaluate.backends:RandomBackend",
    "majority": "build_dataset.pipeline.evaluate.backends:MajorityBackend",
}
"""Backend by ``kind``, as ``module:class``; imported when a model of that kind is asked."""


def open_backend(options: ModelOptions, setting: Setting) -> Backend:
    """The backend that serves ``options``."""
    return cast("Backend", resolve_name(BACKENDS[options.kind])(options, setting))


class LetterBackend(Backend):
    """Chooses letters without reading a question."""

    identity: Mapping[str, Any] = {}

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``."""
        for prompt in prompts:
            letters = self.choose(prompt)
            yield Generation(prompt.id, "".join(letters), letters=letters)
            advance(1)

    def choose(self, prompt: Prompt) -> tuple[str, ...]:
        """Return the letters of one prompt."""
        raise NotImplementedError


class RandomBackend(LetterBackend):
    """One letter at random, or, where several answers are asked for, any set of two or more, all equally likely."""

    def __init__(self, options: RandomModel, setting: Setting) -> None:  # noqa: ARG002
        self._seed = setting.context.seed

    def choose(self, prompt: Prompt) -> tuple[str, ...]:
        """Guess; it depends on the seed and the question alone, not on the order or the limit."""
        draw = random.Random(sha256(str(self._seed), prompt.id))  # noqa: S311
        labels = sorted(option.label for option in prompt.asked.options)
        sizes = range(2, len(labels) + 1) if is_multiple(prompt.asked) and len(labels) > 1 else (1,)
        return draw.choice(list(chain.from_iterable(combinations(labels, size) for size in sizes)))


class MajorityBackend(LetterBackend):
    """The most frequent answer of training questions of the same type (one or several) and number of options.

    Where train has none of that size, the most frequent one of that type which the options allow; where it has none
    at all, the first letter. Ties go to the answer that comes first in the alphabet.
    """

    def __init__(self, options: MajorityModel, setting: Setting) -> None:  # noqa: ARG002
        self._counts: dict[tuple[bool, int | None], Counter[tuple[str, ...]]] = defaultdict(Counter)
        """Answers by type and number of options; under None those of any number."""
        for row in setting.train:
            for size in (len(row.options), None) if row.answer else ():
                self._counts[is_multiple(row), size][tuple(sorted(row.answer))] += 1

    def choose(self, prompt: Prompt) -> tuple[str, ...]:
        """Return that answer."""
        question = prompt.asked
        labels = sorted(option.label for option in question.options)
        for size in (len(labels), None):
            counts = self._counts[is_multiple(question), size]
            possible = {answer: count for answer, count in counts.items() if set(answer) <= set(labels)}
            if possible:
                return min(possible, key=lambda answer: (-possible[answer], answer))
        return (labels[0],)


def chat_requests(prompts: Sequence[Prompt]) -> list[messages.ChatRequest]:
    """Return the requests of prompts; a repetition is a sample, with the configured seed plus its number."""
    return [messages.ChatRequest(p.id, p.messages, keep_unfinished=True, sample=p.repeat) for p in prompts]


class OpenAiBackend(Backend):
    """Asks one model at one endpoint; every output is stored as it arrives, so that scoring asks nothing."""

    def __init__(self, options: OpenAiModel, setting: Setting) -> None:
        self._client = LlmClient(options)
        self._options = options
        self.identity = {"base_url": options.base_url, "model": options.model}
        self._store = setting.context.store

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """See ``Backend``."""
        options = self._options
        for outcome in self._client.complete_many(chat_requests(prompts), self._store, advance):
            name, wasted = outcome.request.id, outcome.waste
            known, most = limits.waste_cost(wasted, options)
            calls = {"unusable_calls": wasted.calls, "unseen_calls": wasted.unseen}
            costs = {"unusable_cost": known, "unseen_cost_at_most": most}
            waste = calls | costs if wasted != messages.Waste() else None
            if isinstance(outcome, messages.Failed):
                yield Generation(name, None, failure=Failure(outcome.reason, outcome.detail), waste=waste)
                continue
            yield Generation(
                name,
                # A reply cut inside an emoji holds half of a surrogate pair, which is no valid UTF-8.
                outcome.text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"),
                outcome.finish_reason,
                **outcome.usage._asdict(),
                cost=outcome.cost,
                seed=None if options.seed is None else options.seed + outcome.request.sample,
                model=outcome.model,
                waste=waste,
            )
