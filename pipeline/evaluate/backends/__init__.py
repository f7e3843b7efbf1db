"""Backends that answers come from: one module a kind of model, one row here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, cast

from pipeline.evaluate.params import ModelOptions
from pipeline.evaluate.prompting import Prompt
from pipeline.stage import Context, Failure
from schemas.release import ReleaseRow


@dataclass(frozen=True)
class Setting:
    """The context of a backend beside the prompts."""

    context: Context
    train: Sequence[ReleaseRow]


@dataclass(frozen=True)
class Generation:
    """The output of a model for one prompt.

    Attributes:
        prompt_id: of the prompt.
        text: the raw output; None when the request failed.
        finish: why it ended: ``stop``, ``length``, ``refusal``.
        letters: the answer, for backends that choose letters instead of writing text.
        read_by: the rule of those letters where a reader read them; None where the backend chose them.
        failure: why there is no output; it is asked again on the next run.
        stored: whether it was there already and nothing was asked.
        prompt_tokens: tokens read; None where not known.
        completion_tokens: tokens written; None where not known.
        cost: in the options' currency; None where no price is configured.
        likelihoods: what was compared to choose the letter, by label.
        asked: the prompt as the model read it; None where that is the messages themselves.
        seed: of sampling; None where there was none.
        model: the model's name as the server reports it.
        made_with: versions of the libraries that made it.
    """

    prompt_id: str
    text: str | None
    finish: str = "stop"
    letters: tuple[str, ...] | None = None
    read_by: str | None = None
    failure: Failure | None = None
    stored: bool = False
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cost: float | None = None
    likelihoods: Mapping[str, float] | None = None
    asked: str | None = None
    seed: int | None = None
    model: str | None = None
    made_with: Mapping[str, str] | None = None


class Backend(Protocol):
    """A kind of model. Outputs that cost time or money are kept in ``Setting.context.store`` the moment they come."""

    identity: Mapping[str, Any]
    """The identity of the model: its endpoint and name, or the hash of its weights; empty for baselines."""

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """One generation a prompt, in any order; ``advance`` is called with the number of prompts done.

        Raises:
            UserError: nothing can be generated at all, and the user can mend it.
        """

    def expected(self, prompt: Prompt) -> float | None:  # noqa: ARG002
        """Return the probability of a right answer where the model only guesses; None otherwise."""
        return None


BACKENDS: dict[str, str] = {
    "openai": "pipeline.evaluate.backends.openai:OpenAiBackend",
    "transformers": "pipeline.evaluate.backends.local.backend:TransformersBackend",
    "vllm": "pipeline.evaluate.backends.local.vllm:VllmBackend",
    "multiple_choice": "pipeline.evaluate.backends.local.encoder:MultipleChoiceBackend",
    "random": "pipeline.evaluate.backends.baselines:RandomBackend",
    "majority": "pipeline.evaluate.backends.baselines:MajorityBackend",
}
"""Backend by ``kind``, as ``module:class``; imported when a model of that kind is asked."""


def open_backend(options: ModelOptions, setting: Setting) -> Backend:
    """The backend that serves ``options``.

    Raises:
        UserError: the options lack something (a key, a model).
    """
    module, _, name = BACKENDS[options.kind].partition(":")
    return cast("Backend", getattr(import_module(module), name)(options, setting))
