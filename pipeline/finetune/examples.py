"""Questions as what a model is trained on. Pure: tokenizers come in, lists go out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.evaluate.prompting import Message, Template, messages
from schemas.release import ReleaseRow

IGNORED = -100
"""The label of tokens that are read and not learned."""


@dataclass(frozen=True)
class Written:
    """A text to be continued and its continuation, as tokens."""

    input_ids: list[int]
    labels: list[int]


@dataclass(frozen=True)
class Usable:
    """What training can use, and how many questions it cannot."""

    written: list[Written]
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
        found.append(Written(prompt + answer, [IGNORED] * len(prompt) + answer))
    return Usable(found, too_long, incomplete)
