"""From a raw output to a prediction and a grade: what became of the output, and the answer read from it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from pipeline.evaluate.backends import Generation
from pipeline.evaluate.extraction import Extraction, extract, shown
from pipeline.evaluate.prompting import Prompt, is_multiple
from pipeline.evaluate.scoring import Graded
from schemas.evaluation import Likelihood, Outcome, Prediction, Task
from schemas.identity import sha256
from schemas.release import ReleaseRow

_REFUSAL = re.compile(
    r"无法(?:回答|提供|协助|给出|帮助|满足)|不能(?:回答|提供|协助|给出)|拒绝回答|不便回答|抱歉|对不起|作为(?:一个|一名)?(?:AI|人工智能)"
    r"|I(?:'m| am) sorry|I can(?:no|')t (?:help|assist|answer|provide)|As an AI",
    re.IGNORECASE,
)
READABLE = (Outcome.ANSWERED, Outcome.TRUNCATED)
"""Free text that judges and experts score."""
_SURE = frozenset({"opening", "stated", "everything"})
"""Rules whose finding holds in a text that was cut off."""
_OPENING = 20
"""Characters within which a refusal of free text stands; further on, an apology may be a doctor's to a patient."""


def read(
    text: str,
    finish: str,
    options: Mapping[str, str],
    *,
    multiple: bool | None = None,
    answer_first: bool | None = None,
) -> tuple[Outcome, Extraction]:
    """Read an output and say what became of the question.

    Args:
        text: the raw output.
        finish: why it ended: ``stop``, ``length``, ``refusal``.
        options: option texts by label.
        multiple: see ``extract``.
        answer_first: see ``extract``; False also means that the opening of a text that was cut off is no answer.

    Returns:
        The outcome, and the extraction, which is empty unless the outcome is ``answered``.
    """
    if finish == "refusal":
        return Outcome.REFUSED, Extraction()
    extraction = extract(text, options, multiple, answer_first)
    if finish == "length" and not _holds(extraction, answer_first=answer_first):
        return Outcome.TRUNCATED, Extraction()
    if extraction.letters is not None:
        return Outcome.ANSWERED, extraction
    return (Outcome.REFUSED if _REFUSAL.search(text) else Outcome.NO_ANSWER), Extraction()


def read_text(text: str, finish: str) -> tuple[Outcome, str]:
    """Return the outcome of an output in free text, and the part that a reader is meant to see."""
    said = shown(text)
    if finish == "refusal" or _REFUSAL.search(said, 0, _OPENING):
        return Outcome.REFUSED, said
    if finish == "length":
        return Outcome.TRUNCATED, said
    return (Outcome.ANSWERED if said else Outcome.NO_ANSWER), said


def _holds(extraction: Extraction, *, answer_first: bool | None) -> bool:
    """Return whether a finding would stand whatever the rest of a cut-off text had said."""
    return extraction.rule in _SURE or (answer_first is not False and extraction.rule == "head")


CHOSEN = "chosen"
"""The rule of answers that a backend chose as letters, so that nothing had to be read."""


def grade(
    run: str,
    prompt: Prompt,
    made: Generation,
    *,
    answer_first: bool | None,
    expected: float | None,
    keep_prompt: bool = False,
) -> tuple[Prediction, Graded | None]:
    """Read one generation.

    Args:
        run: the model's name in the results.
        prompt: what was asked.
        made: what came back.
        answer_first: whether the model's outputs open with the answer; see ``extract``.
        expected: probability of a right answer where the model guesses.
        keep_prompt: whether the prediction holds the prompt itself.

    Returns:
        The prediction, and the grade; None when the request failed, as there is nothing to grade.
    """
    asked = prompt.asked()
    outcome, letters, rule, span = _read(asked, made, answer_first=answer_first)
    question = prompt.printed
    if prompt.shown is not None:
        letters = None if letters is None else prompt.shown.as_printed(letters)
    graded = None
    if outcome is not Outcome.FAILED:
        graded = Graded(question, outcome, letters, expected, prompt.repeat, prompt.variant)
    prediction = Prediction(
        run=run,
        task=Task.ANSWER,
        question_id=question.question_id,
        repeat=prompt.repeat,
        variant=prompt.variant,
        raw_output=made.text,
        extracted=None if letters is None else list(letters),
        rule=rule,
        outcome=outcome,
        correct=graded.correct if graded is not None and letters is not None else None,
        span=None if span is None else list(span),
        **provenance(prompt, made, keep_prompt=keep_prompt),
    )
    return prediction, graded


def provenance(prompt: Prompt, made: Generation, *, keep_prompt: bool) -> dict[str, Any]:
    """Return the columns of ``Prediction`` that say how an output came about."""
    read = made.asked or json.dumps(prompt.messages, ensure_ascii=False, sort_keys=True)
    printed = prompt.shown.printed if prompt.shown is not None else {}
    compared = [
        Likelihood(label=printed.get(label, label), value=round(value, 6))
        for label, value in (made.likelihoods or {}).items()
    ]
    return {
        "prompt_hash": sha256(read),
        "prompt": read if keep_prompt else None,
        "finish": None if made.text is None else made.finish,
        "model": made.model,
        "seed": made.seed,
        "prompt_tokens": made.prompt_tokens,
        "completion_tokens": made.completion_tokens,
        "likelihoods": compared or None,
    }


def _read(
    asked: ReleaseRow, made: Generation, *, answer_first: bool | None
) -> tuple[Outcome, tuple[str, ...] | None, str | None, tuple[int, int] | None]:
    if made.text is None:
        return Outcome.FAILED, None, None, None
    if made.letters is not None:
        return Outcome.ANSWERED, made.letters, made.read_by or CHOSEN, None
    options = {option.label: option.text for option in asked.options}
    multiple = is_multiple(asked)
    outcome, extraction = read(made.text, made.finish, options, multiple=multiple, answer_first=answer_first)
    return outcome, extraction.letters, extraction.rule, extraction.span
