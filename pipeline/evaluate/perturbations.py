"""Further versions of a question, by which the steadiness of a model is measured: one row a kind of change."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pipeline.evaluate.prompting import Shown, Template, is_multiple
from pipeline.evaluate.scoring import accepted
from schemas.errors import UserError
from schemas.identity import sha256
from schemas.release import ReleaseRow

_REFERS = re.compile(
    r"(?:以上|上述|前面|前[一二两三四]|下列各|所有选项|[①-⑩])|(?<![A-Za-z])[A-K](?:\s*[、,，和与及+]\s*[A-K])+(?![A-Za-z])|^[A-K]$"
    r"|选项\s*[A-K]"
)
"""An option that speaks of others by their place or letter."""


NONE_OF_THEM = ("以上都不是", "None of the above")


@dataclass(frozen=True)
class Perturbation:
    """A kind of change that leaves the right answer as it is.

    Attributes:
        name: in ``evaluate.perturbations`` and in names of variants.
        make: the question's version of a number, from 1 on, by a seed; None for a question that has none.
        reworded: whether the template's ``paraphrase`` asks it.
    """

    name: str
    make: Callable[[ReleaseRow, int, int], Shown | None]
    reworded: bool = False


def versions(
    row: ReleaseRow, template: Template, shuffles: int, chosen: Sequence[str], seed: int
) -> Iterator[tuple[Shown, Template]]:
    """Every further version of a question, and the template that asks it.

    Args:
        row: the question as printed.
        template: of the run.
        shuffles: number of other orders of its options.
        chosen: names of further perturbations.
        seed: of the dataset.
    """
    wanted = [(PERTURBATIONS["order"], number) for number in range(1, shuffles + 1)]
    for kind, number in [*wanted, *((PERTURBATIONS[name], 1) for name in chosen)]:
        if (shown := kind.make(row, number, seed)) is not None:
            yield shown, _reworded(template) if kind.reworded else template


def _reworded(template: Template) -> Template:
    if template.paraphrase is None:
        raise UserError(
            "perturbations: the prompt template has no text `paraphrase`; add one, or ask without it"
        )
    return replace(template, question=template.paraphrase)


def shufflable(question: ReleaseRow) -> bool:
    """Return whether the options mean the same in any order: neither they nor the stem name one by letter."""
    texts = [option.text for option in question.options]
    return (
        len(texts) > 1
        and not any(_REFERS.search(text) for text in texts)
        and not re.search(r"选项\s*[A-K]", question.stem)
    )


def shuffled(question: ReleaseRow, number: int, seed: int) -> Shown | None:
    """The question with its options in order ``number``, which is never the printed one."""
    if not shufflable(question):
        return None
    labels = [option.label for option in question.options]
    order = list(labels)
    draw = random.Random(sha256(str(seed), question.question_id, str(number)))  # noqa: S311
    while order == labels:
        draw.shuffle(order)
    texts = {option.label: option.text for option in question.options}
    return _shown(question, dict(zip(labels, order, strict=True)), texts, f"order {number}")


def _shown(question: ReleaseRow, printed: dict[str, str], texts: Mapping[str, str], variant: str) -> Shown:
    """The version whose labels stand for the printed ones, with their texts."""
    shown = {old: new for new, old in printed.items()}
    changes = {
        "options": [
            option.model_copy(update={"text": texts[printed[option.label]]}) for option in question.options
        ],
        "answer": sorted(shown[letter] for letter in question.answer),
        "accepted_answers": question.accepted_answers
        and [sorted(shown[letter] for letter in answer) for answer in question.accepted_answers],
    }
    return Shown(question.model_copy(update=changes), printed, variant)


def unchanged(question: ReleaseRow, number: int, seed: int) -> Shown:  # noqa: ARG001 - every perturbation's form
    """The question as printed, to be asked in other words."""
    return Shown(question, {option.label: option.label for option in question.options}, "paraphrase")


def with_none_option(question: ReleaseRow, number: int, seed: int) -> Shown | None:  # noqa: ARG001
    """The question with 以上都不是 as its last option, in the place of a wrong one.

    None for several answers, for fewer than two wrong options, and for options that speak of others.
    """
    right = frozenset[str]().union(*accepted(question))
    texts = {option.label: option.text for option in question.options}
    wrong = sorted(set(texts) - right)
    if not shufflable(question) or is_multiple(question) or len(wrong) < 2:
        return None
    replaced = random.Random(sha256(str(seed), question.question_id, "none")).choice(wrong)  # noqa: S311
    order = [*(label for label in texts if label != replaced), replaced]
    texts[replaced] = NONE_OF_THEM["".join(texts.values()).isascii()]
    return _shown(question, dict(zip(texts, order, strict=True)), texts, "none_of_the_above")


PERTURBATIONS = {
    row.name: row
    for row in (
        Perturbation("order", shuffled),
        Perturbation("paraphrase", unchanged, reworded=True),
        Perturbation("none_of_the_above", with_none_option),
    )
}
"""By name; ``evaluate.shuffles`` is the number of orders, ``evaluate.perturbations`` names the others."""
