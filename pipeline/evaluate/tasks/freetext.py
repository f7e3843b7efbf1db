"""What tasks with free text share: outputs compared with a reference, by slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.evaluate.backends.base import Generation
from pipeline.evaluate.intervals import Unit, interval_of_share
from pipeline.evaluate.outcomes import READABLE, read_text
from pipeline.evaluate.prompting import Prompt
from pipeline.evaluate.scoring import Maker, Slice
from pipeline.evaluate.tasks.base import Reading, Written
from pipeline.evaluate.textmetrics import TextCounts, compare, text_metrics
from schemas.evaluation import Outcome, Prediction, Score, Task


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
) -> Reading:
    """Score every text against its reference; ``wanted`` is by prompt id."""
    reading = Reading()
    compared: list[tuple[Written, TextCounts]] = []
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
            )
        )
        if outcome is not Outcome.FAILED:
            about = wanted[prompt.id]
            text = Written(run, task, about.item_id, prompt, outcome, said, about.reference)
            compared.append((text, compare(said, about.reference)))
    reading.written = [text for text, _ in compared if text.outcome in READABLE]
    for part, items in _by_slice(compared, wanted):
        reading.scores += _scores(run, task, part, items, wanted)
    return reading


def _read(given: Generation) -> tuple[Outcome, str]:
    return (Outcome.FAILED, "") if given.text is None else read_text(given.text, given.finish)


Compared = tuple[Written, TextCounts]


def _by_slice(
    compared: Sequence[Compared], wanted: Mapping[str, Wanted]
) -> Iterable[tuple[Slice, list[Compared]]]:
    found: dict[Slice, list[Compared]] = {}
    for item in compared:
        for part in wanted[item[0].prompt.id].slices:
            found.setdefault(part, []).append(item)
    return found.items()


def _scores(
    run: str, task: Task, part: Slice, items: Sequence[Compared], wanted: Mapping[str, Wanted]
) -> list[Score]:
    rounds: dict[int, list[Compared]] = {}
    for item in items:
        rounds.setdefault(item[0].prompt.repeat, []).append(item)
    ordered = [asked for _, asked in sorted(rounds.items())]
    values = [text_metrics([counts for _, counts in asked]) for asked in ordered]
    made = Maker(run, part, len({text.item_id for text, _ in items}), task)
    scores = [made.score(metric, [each[metric] for each in values]) for metric in values[0]]
    for outcome in (Outcome.NO_ANSWER, Outcome.REFUSED, Outcome.TRUNCATED):
        shares = [sum(text.outcome is outcome for text, _ in asked) / len(asked) for asked in ordered]
        units = (Unit(wanted[text.prompt.id].cluster, text.outcome is outcome) for text, _ in items)
        scores.append(made.score(f"{outcome.value}_rate", shares, interval_of_share(units)))
    return scores
