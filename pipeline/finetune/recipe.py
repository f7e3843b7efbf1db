"""Recipes of tuning and their examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Literal

from pydantic import Field, ValidationError

from pipeline.evaluate.prompting import Message, Template, messages, shipped_or_own
from schemas.errors import UserError
from schemas.params import Params
from schemas.release import ReleaseRow

IGNORED = -100
"""The label of tokens that are read and not learned."""


@dataclass(frozen=True)
class TokenSequence:
    """A text to be continued and its continuation, as tokens."""

    input_ids: list[int]
    labels: list[int]


@dataclass(frozen=True)
class Usable:
    """The questions that training can use, and the number of those it cannot."""

    written: list[TokenSequence]
    too_long: int
    incomplete: int
    """Without a key, or without an explanation where that is what is learned."""


def to_write(
    rows: Sequence[ReleaseRow],
    template: Template,
    render: Callable[[Sequence[Message]], str],
    encode: Callable[[str], list[int]],
    *,
    end: int,
    max_input: int,
    max_target: int,
) -> Usable:
    """Every question with its answer as the template writes it; nothing is cut, what is too long is left out.

    Args:
        rows: of the training split.
        template: of the prompt; its ``answer`` is the target.
        render: the chat as text.
        encode: text as tokens, with the tokens that open a text.
        end: the token that ends an answer.
        max_input: most tokens of a prompt.
        max_target: most tokens of an answer, its end included.
    """
    found, too_long, incomplete = [], 0, 0
    explains = "{explanation}" in template.answer
    for row in rows:
        if not row.answer or (explains and not row.explanation):
            incomplete += 1
            continue
        asked = list(messages(template, row, []))
        # An example's turn is how a template writes the answer.
        target = messages(template, row, [row])[-2]["content"].strip()
        prompt = encode(render(asked))
        whole = encode(render(asked) + target)
        answer = [*whole[len(prompt) :], end]
        if len(prompt) > max_input or len(answer) > max_target or whole[: len(prompt)] != prompt:
            too_long += 1
            continue
        found.append(TokenSequence(prompt + answer, [IGNORED] * len(prompt) + answer))
    return Usable(found, too_long, incomplete)


RECORD = "training.json"
"""The description of a folder of tuned weights; it is there only when training has ended."""


class Lora(Params):
    """Low-rank adapters (Hu et al. 2021)."""

    rank: int = Field(8, ge=1)
    alpha: int = Field(16, ge=1)
    dropout: float = Field(0.05, ge=0, lt=1)


class Prefix(Params):
    """Trained keys and values before every layer (Liu et al. 2021)."""

    tokens: int = Field(128, ge=1)


class Encoder(Params):
    """A multiple-choice head over an encoder (Devlin et al. 2019)."""

    hidden_dropout: float = Field(0.4, ge=0, lt=1)


class Recipe(Params):
    """Settings of one way to tune."""

    method: Literal["lora", "prefix", "multiple_choice"]
    learning_rate: float = Field(gt=0)
    batch_size: int = Field(ge=1)
    epochs: float = Field(gt=0)
    max_input: int = Field(ge=8)
    max_target: int = Field(256, ge=1)
    prompt: str = "answer_only"
    """Prompt template of causal models; its ``answer`` is what they learn to write."""
    seed: int = Field(20230605, ge=0, lt=2**32)
    lora: Lora = Lora()
    prefix: Prefix = Prefix()
    encoder: Encoder = Encoder()


def load_recipe(name: str) -> Recipe:
    """A shipped recipe by name, or one of the user's own by path.

    Raises:
        UserError: there is no such recipe, or a key is unknown or wrong.
    """
    content = shipped_or_own(files("pipeline.finetune") / "recipes", name, "recipe")
    try:
        return Recipe.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"recipe {name!r}, {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
