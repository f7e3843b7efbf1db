"""What every backend is given and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pipeline.evaluate.prompting import Prompt
from pipeline.stage import Context, Failure
from schemas.release import ReleaseRow


@dataclass(frozen=True)
class Setting:
    """What a backend may draw on beside the prompts."""

    context: Context
    train: Sequence[ReleaseRow]


@dataclass(frozen=True)
class Generation:
    """What a model gave for one prompt.

    Attributes:
        prompt_id: of the prompt.
        text: the raw output; None when the request failed.
        finish: why it ended: ``stop``, ``length``, ``refusal``.
        letters: the answer, for backends that choose letters instead of writing text.
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
    """What the model is: its endpoint and name, or the hash of its weights; empty for baselines."""

    def generate(self, prompts: Sequence[Prompt], advance: Callable[[int], None]) -> Iterator[Generation]:
        """One generation a prompt, in any order; ``advance`` is called with the number of prompts done.

        Raises:
            UserError: nothing can be generated at all, and the user can mend it.
        """

    def expected(self, prompt: Prompt) -> float | None:
        """The probability of a right answer where the model only guesses; None otherwise."""
