"""The same question with its options in another order: a model that knows the answer gives the same one."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass

from schemas.identity import sha256
from schemas.release import ReleaseRow

_REFERS = re.compile(
    r"(?:以上|上述|前面|前[一二两三四]|下列各|所有选项|[①-⑩])|(?<![A-Za-z])[A-K](?:\s*[、,，和与及+]\s*[A-K])+(?![A-Za-z])|^[A-K]$"
    r"|选项\s*[A-K]"
)
"""An option that speaks of others by their place or letter."""


@dataclass(frozen=True)
class Shown:
    """A question as a model sees it."""

    question: ReleaseRow
    """With the options in the order shown, labelled A, B, C … again, and the key to match."""
    printed: dict[str, str]
    """The printed label of each label shown."""
    number: int

    def as_printed(self, letters: Sequence[str]) -> tuple[str, ...]:
        """An answer in the letters of the paper."""
        return tuple(sorted(self.printed[letter] for letter in letters))


def shufflable(question: ReleaseRow) -> bool:
    """Whether the options mean the same in any order: none speaks of another, and the stem names none by letter."""
    texts = [option.text for option in question.options]
    return (
        len(texts) > 1
        and not any(_REFERS.search(text) for text in texts)
        and not re.search(r"选项\s*[A-K]", question.stem)
    )


def shuffled(question: ReleaseRow, number: int, seed: int) -> Shown:
    """The question with its options in order ``number``, which is never the printed one."""
    labels = [option.label for option in question.options]
    order = list(labels)
    draw = random.Random(sha256(str(seed), question.question_id, str(number)))  # noqa: S311
    while order == labels:
        draw.shuffle(order)
    texts = {option.label: option.text for option in question.options}
    printed = dict(zip(labels, order, strict=True))
    shown = {old: new for new, old in printed.items()}
    changes = {
        "options": [
            option.model_copy(update={"text": texts[printed[option.label]]}) for option in question.options
        ],
        "answer": sorted(shown[letter] for letter in question.answer),
        "accepted_answers": question.accepted_answers
        and [sorted(shown[letter] for letter in answer) for answer in question.accepted_answers],
    }
    return Shown(question.model_copy(update=changes), printed, number)
