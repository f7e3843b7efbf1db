"""What tasks with free text share: outputs compared with a reference, by slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.evaluate.backends.base import Generation
from pipeline.evaluate.grading import provenance
from pipeline.evaluate.metrics import score_items
from pipeline.evaluate.outcomes import READABLE, read_text
from pipeline.evaluate.prompting import Prompt
from pipeline.evaluate.scoring import GradedText, Slice
from pipeline.evaluate.tasks.base import Reading, Written
from pipeline.evaluate.textmetrics import compare
from schemas.evaluation import Outcome, Prediction, Task


@dataclass(frozen=True)
class Wanted:
    """What is known of the item a prompt asks about."""

    item_id: str
    reference: str
    slices: tuple[Slice, ...]
    cluster: str


def read_texts(
    run: str,
    task: Task,
    prompts: Sequence[Prompt],
    wanted: Mapping[str, Wanted],
    made: Mapping[str, Generation],
    *,
    keep_prompts: bool = False,
) -> Reading:
    """Score every text against its reference; ``wanted`` is by prompt id."""
    reading = Reading()
    graded: dict[Slice, list[GradedText]] = {}
    for prompt in prompts:
        given = made[prompt.id]
        outcome, said = _read(given)
        reading.predictions.append(
            Prediction(
                run=run,
                task=task,
                question_id=wanted[prompt.id].item_id,
                repeat=prompt.repeat,
                raw_output=given.text,
                extracted=None,
                rule=None,
                outcome=outcome,
                correct=None,
                **provenance(prompt, given, keep_prompt=keep_prompts),
            )
        )
        if outcome is not Outcome.FAILED:
            about = wanted[prompt.id]
            if outcome in READABLE:
                text = Written(run, task, about.item_id, prompt, outcome, said, about.reference)
                reading.written.append(text)
            item = GradedText(
                about.item_id, about.cluster, outcome, compare(said, about.reference), prompt.repeat
            )
            for part in about.slices:
                graded.setdefault(part, []).append(item)
    for part, items in graded.items():
        reading.scores += score_items(run, part, items, "texts", task)
    return reading


def _read(given: Generation) -> tuple[Outcome, str]:
    return (Outcome.FAILED, "") if given.text is None else read_text(given.text, given.finish)
