"""From a raw output to a prediction and a grade."""

from __future__ import annotations

import json
from typing import Any

from pipeline.evaluate.backends.base import Generation
from pipeline.evaluate.outcomes import read
from pipeline.evaluate.prompting import Prompt, is_multiple
from pipeline.evaluate.scoring import Graded
from schemas.evaluation import Likelihood, Outcome, Prediction, Task
from schemas.identity import sha256
from schemas.release import ReleaseRow

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
    question = prompt.question or asked
    shuffle = 0
    if prompt.shown is not None:
        shuffle = prompt.shown.number
        letters = None if letters is None else prompt.shown.as_printed(letters)
    graded = None
    if outcome is not Outcome.FAILED:
        graded = Graded(question, outcome, letters, expected, prompt.repeat, shuffle)
    prediction = Prediction(
        run=run,
        task=Task.ANSWER,
        question_id=question.question_id,
        repeat=prompt.repeat,
        shuffle=shuffle,
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
        return Outcome.ANSWERED, made.letters, CHOSEN, None
    options = {option.label: option.text for option in asked.options}
    multiple = is_multiple(asked)
    outcome, extraction = read(made.text, made.finish, options, multiple=multiple, answer_first=answer_first)
    return outcome, extraction.letters, extraction.rule, extraction.span
