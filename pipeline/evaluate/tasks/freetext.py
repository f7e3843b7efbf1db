"""What tasks with free text share: outputs compared with a reference, by slice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.evaluate.backends.base import Generation
from pipeline.evaluate.intervals import Unit, interval_of_share
from pipeline.evaluate.outcomes import read_text
from pipeline.evaluate.prompting import Prompt
from pipeline.evaluate.scoring import Maker, Slice
from pipeline.evaluate.tasks.base import Reading
from pipeline.evaluate.textmetrics import TextCounts, compare, text_metrics
from schemas.evaluation import Outcome, Prediction, Score, Task


@dataclass(frozen=True)
class Written:
    """A text that a model wrote, with what it is compared to."""

    prompt: Prompt
    outcome: Outcome
    counts: TextCounts


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
    written: list[Written] = []
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
            written.append(Written(prompt, outcome, compare(said, wanted[prompt.id].reference)))
    for part, items in _by_slice(written, wanted):
        reading.scores += _scores(run, task, part, items, wanted)
    return reading


def _read(given: Generation) -> tuple[Outcome, str]:
    return (Outcome.FAILED, "") if given.text is None else read_text(given.text, given.finish)


def _by_slice(
    written: Sequence[Written], wanted: Mapping[str, Wanted]
) -> Iterable[tuple[Slice, list[Written]]]:
    found: dict[Slice, list[Written]] = {}
    for item in written:
        for part in wanted[item.prompt.id].slices:
            found.setdefault(part, []).append(item)
    return found.items()


def _scores(
    run: str, task: Task, part: Slice, items: Sequence[Written], wanted: Mapping[str, Wanted]
) -> list[Score]:
    rounds: dict[int, list[Written]] = {}
    for item in items:
        rounds.setdefault(item.prompt.repeat, []).append(item)
    values = [text_metrics([item.counts for item in asked]) for _, asked in sorted(rounds.items())]
    made = Maker(run, part, len({wanted[item.prompt.id].item_id for item in items}), task)
    scores = [made.score(metric, [each[metric] for each in values]) for metric in values[0]]
    for outcome in (Outcome.NO_ANSWER, Outcome.REFUSED, Outcome.TRUNCATED):
        shares = [
            sum(item.outcome is outcome for item in asked) / len(asked) for _, asked in sorted(rounds.items())
        ]
        units = (Unit(wanted[item.prompt.id].cluster, item.outcome is outcome) for item in items)
        scores.append(made.score(f"{outcome.value}_rate", shares, interval_of_share(units)))
    return scores
