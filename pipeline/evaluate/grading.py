"""From a raw output to a prediction and a grade; the settings of a run."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from build_dataset.pipeline.evaluate.backends import Generation
from build_dataset.pipeline.evaluate.extraction import Extraction, extract, visible_output
from build_dataset.pipeline.evaluate.extraction.task import READ
from build_dataset.pipeline.evaluate.params import AskOptions, TransformersModel
from build_dataset.pipeline.evaluate.prompting import Prompt, is_multiple
from build_dataset.pipeline.evaluate.scoring import Graded
from build_dataset.schemas.evaluation import Likelihood, Outcome, Prediction, Sureness, Task
from build_dataset.schemas.identity import sha256
from build_dataset.schemas.release import ReleaseRow

READABLE = (Outcome.ANSWERED, Outcome.TRUNCATED)  # free text that judges and experts score
_SURE = frozenset({"opening", "stated", "everything"})  # rules whose finding holds in a text that was cut off
_OPENING = 20
"""Characters within which a refusal of free text stands; further on, an apology may be a doctor's to a patient."""
CHOSEN = "chosen"  # the rule of answers that a backend chose as letters, so that nothing had to be read


def read_output(made: Generation, asked: ReleaseRow, *, answer_first: bool | None = None) -> tuple[Outcome, Extraction]:
    """Return the outcome of a question as the model saw it, and the extraction, empty unless it was answered.

    ``answer_first`` is that of ``extract``; False also means that the opening of a text that was cut off is no answer.
    """
    if made.text is None:
        return Outcome.FAILED, Extraction()
    if made.letters is not None:
        return Outcome.ANSWERED, Extraction(made.letters, CHOSEN)
    text, finish = made.text, made.finish
    if finish == "refusal":
        return Outcome.REFUSED, Extraction()
    options = {option.label: option.text for option in asked.options}
    extraction = extract(text, options, is_multiple(asked), answer_first, stem=asked.stem)
    # "B。因为" was cut off behind its answer
    sure = extraction.rule in _SURE or (answer_first is not False and extraction.rule == "head")
    if finish == "length" and not sure:
        return Outcome.TRUNCATED, Extraction()
    if extraction.letters is not None:
        return Outcome.ANSWERED, extraction
    return (Outcome.REFUSED if READ.refusal.search(text) else Outcome.NO_ANSWER), Extraction()


def read_text(text: str, finish: str) -> tuple[Outcome, str]:
    """Return the outcome of an output in free text, and the part that a reader is meant to see."""
    visible = visible_output(text)
    if finish == "refusal" or READ.refusal.search(visible, 0, _OPENING):
        return Outcome.REFUSED, visible
    if finish == "length":
        return Outcome.TRUNCATED, visible
    return (Outcome.ANSWERED if visible else Outcome.NO_ANSWER), visible


def grade(run: str, prompt: Prompt, made: Generation, *, answer_first: bool | None) -> tuple[Prediction, Graded | None]:
    """Return the prediction of one generation, and its grade; None when the request failed."""
    outcome, extraction = read_output(made, prompt.asked, answer_first=answer_first)
    letters, question = extraction.letters, prompt.asked
    graded = Graded(question, outcome, letters, prompt.repeat, extraction.sureness)
    failed = outcome is Outcome.FAILED
    prediction = Prediction(
        task=Task.ANSWER,
        question_id=question.question_id,
        cluster=graded.cluster,
        extracted=None if letters is None else list(letters),
        rule=extraction.rule,
        sureness=extraction.sureness,
        outcome=outcome,
        correct=None if failed or letters is None else graded.correct,
        span=None if extraction.span is None else list(extraction.span),
        **provenance(run, prompt, made),
    )
    return prediction, None if failed else graded


def provenance(run: str, prompt: Prompt, made: Generation) -> dict[str, Any]:
    """Return the columns of ``Prediction`` that say how an output came about."""
    # the chat template of a local model changes the text
    read = made.asked or json.dumps(prompt.messages, ensure_ascii=False, sort_keys=True)
    compared = [Likelihood(label=label, value=round(value, 6)) for label, value in (made.likelihoods or {}).items()]
    return {
        "run": run,
        "repeat": prompt.repeat,
        "raw_output": made.text,
        "prompt_hash": sha256(read),
        "finish": None if made.text is None else made.finish,
        # as the server tells them
        **{name: getattr(made, name) for name in ("model", "seed", "prompt_tokens", "completion_tokens")},
        "likelihoods": compared or None,
    }


@dataclass(frozen=True)
class RunSettings:
    """A run's model and manner."""

    model: str  # the same for all runs of a model
    prompt: str = ""
    shots: int = 0
    temperature: float = 0.0


def run_settings(options: AskOptions) -> RunSettings:
    """Return the settings of a configured model."""
    model = Path(str(getattr(options, "model", None) or getattr(options, "name", ""))).name
    model = options.called() if isinstance(options, TransformersModel) else model
    return RunSettings(model, options.template(), **options.model_dump(include={"shots", "temperature"}))


def unsure_file(predictions: Iterable[Prediction]) -> bytes:
    """Return the outputs that were read weakly or not at all, for a person to look at: JSONL."""
    shown = ("run", "question_id", "repeat", "rule", "extracted", "raw_output")
    unsure = (each for each in predictions if each.sureness is Sureness.WEAK or _is_unread(each))
    lines = (json.dumps({name: getattr(each, name) for name in shown}, ensure_ascii=False) for each in unsure)
    return "".join(f"{line}\n" for line in lines).encode(errors="backslashreplace")


def count_unread(predictions: Sequence[Prediction]) -> dict[str, str]:
    """Return, of each run with many outputs that no rule read, how many of all they are."""
    asked = Counter(each.run for each in predictions)
    lost = Counter(each.run for each in predictions if _is_unread(each))
    return {run: f"{count} of {asked[run]}" for run, count in sorted(lost.items()) if count > max(2, asked[run] // 20)}


def _is_unread(prediction: Prediction) -> bool:
    """Return whether an output holds text in which no answer was read."""
    return prediction.task is Task.ANSWER and prediction.outcome is Outcome.NO_ANSWER
