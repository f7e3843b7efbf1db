"""Questions as multiple-choice heads read them: the question with each option (Devlin et al. 2019, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.evaluate.prompting import is_multiple
from schemas.release import ReleaseRow


@dataclass(frozen=True)
class Chosen:
    """A question, its options, and which of them are right."""

    question: str
    options: tuple[str, ...]
    right: tuple[bool, ...]
    several: bool


def to_choose(row: ReleaseRow) -> Chosen:
    """A question for a model that scores every option."""
    stem = row.stem if row.shared_stem is None else f"{row.shared_stem}\n{row.stem}"
    return Chosen(
        stem,
        tuple(option.text for option in row.options),
        tuple(option.label in row.answer for option in row.options),
        is_multiple(row),
    )


def choice_batch(batch: Sequence[Chosen], *, tokenizer: Any, longest: int) -> dict[str, Any]:
    """Tensors of shape (questions, options, tokens), ``labels`` and ``shown`` (questions, options), ``several``.

    Options that a question lacks are padding, told by ``shown``; where question and option are too long, the longer
    one of the two is cut.
    """
    import torch

    width = max(len(item.options) for item in batch)
    texts = [[*item.options, *[""] * (width - len(item.options))] for item in batch]
    encoded = tokenizer(
        [item.question for item in batch for _ in range(width)],
        [text for row in texts for text in row],
        truncation="longest_first",
        max_length=longest,
        padding=True,
        return_tensors="pt",
    )
    filler = [False] * width
    return {
        **{name: value.view(len(batch), width, -1) for name, value in encoded.items()},
        "labels": torch.tensor([[*item.right, *filler][:width] for item in batch]),
        "shown": torch.tensor([[*[True] * len(item.options), *filler][:width] for item in batch]),
        "several": torch.tensor([item.several for item in batch]),
    }
