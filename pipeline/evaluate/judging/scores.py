"""A language model that judges texts; judges' and experts' verdicts as scores of runs, and their agreement."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from statistics import mean
from typing import Any

import numpy as np

from build_dataset.annotation.llm import messages as wire
from build_dataset.annotation.llm.client import LlmClient
from build_dataset.annotation.rubric import LEAST, MOST, aspects
from build_dataset.pipeline.evaluate.params import JudgeOptions
from build_dataset.pipeline.evaluate.prompting import Prompt, chat, failed_item
from build_dataset.pipeline.evaluate.scoring import OVERALL, mean_score
from build_dataset.pipeline.stats import Unit, correlation, interval_of_mean, ranking
from build_dataset.schemas.data import shipped_toml
from build_dataset.schemas.evaluation import JudgeAgreement, Judgement, Score, Task
from build_dataset.schemas.grouping import group_values
from build_dataset.schemas.questions import ReviewItem


@dataclass(frozen=True)
class WrittenText:
    """A text that a run wrote, and what it is to be compared with."""

    run: str
    task: Task
    item_id: str
    prompt: Prompt
    said: str  # the part that a reader is meant to see
    reference: str


RUBRIC = shipped_toml("build_dataset.pipeline.evaluate", "rubric.toml")  # everything a judge is told, and its version
_SPEAKERS = {"user": "问", "assistant": "答"}


def read_scores(text: str) -> dict[str, int]:
    """Return the scores of a reply, by aspect; raise ``BadAnswerError`` where one is missing or off the scale."""
    reply = wire.json_object(text)
    scores = {}
    for aspect in aspects():
        score = reply.get(aspect.name)
        if not isinstance(score, int) or isinstance(score, bool) or not LEAST <= score <= MOST:  # true is an int too
            why = f"{aspect.name} is no whole number from {LEAST} to {MOST}"
            raise wire.BadAnswerError(wire.Reason.INVALID_LABEL, why)
        scores[aspect.name] = score
    return scores


@dataclass
class Verdicts:
    """Scores that a judge and experts gave, and what the judge took."""

    judgements: list[Judgement] = field(default_factory=list)
    requests: int = 0
    cost: float | None = 0.0  # None where a reply has no price
    waiting: list[ReviewItem] = field(default_factory=list)  # texts without a usable reply: the next run asks again


def judge(
    texts: Sequence[WrittenText], options: JudgeOptions, store: wire.AnswerStore, advance: Callable[[int], None]
) -> Verdicts:
    """Return a model's scores of every text, in every aspect."""
    meanings = {each: (f"{score} {text}" for score, text in enumerate(each.scale, start=LEAST)) for each in aspects()}
    scales = "\n".join(f"{each.zh}（{each.name}）：{'；'.join(told)}" for each, told in meanings.items())
    system, question = f"{RUBRIC['system'].strip()}\n{scales}", RUBRIC["question"].strip("\n")
    grade = {"type": "integer", "enum": list(range(LEAST, MOST + 1))}
    form = wire.answer_form("json_schema", "scores", {aspect.name: grade for aspect in aspects()})
    requests = []
    for text in texts:
        turns = (turn for turn in text.prompt.messages if turn["role"] in _SPEAKERS)
        conversation = "\n".join(f"{_SPEAKERS[turn['role']]}：{turn['content']}" for turn in turns)
        shown = question.format(conversation=conversation, reference=text.reference, answer=text.said)
        name, prompt = f"{text.run}|{text.prompt.id}", chat(system, (), shown)
        requests.append(wire.ChatRequest(name, prompt, form, check=read_scores))
    asked = dict(zip((request.id for request in requests), texts, strict=True))
    made = Verdicts(requests=len(asked))
    replies: dict[str, str] = {}
    costs: list[float | None] = []
    for outcome in LlmClient(options).complete_many(requests, store, advance):
        name = outcome.request.id
        if isinstance(outcome, wire.Failed):
            item = failed_item(name, f"judge_{outcome.reason}", f"no verdict on {asked[name].run}: {outcome.detail}")
            made.waiting.append(item.model_copy(update={"question_ids": [asked[name].item_id]}))
        else:
            replies[name] = outcome.text
            costs.append(outcome.cost)
    made.cost = None if None in costs else sum(filter(None, costs))
    made.waiting.sort(key=lambda item: item.item_id)
    for name in filter(replies.__contains__, asked):
        text = asked[name]
        about = {"run": text.run, "task": text.task, "question_id": text.item_id, "repeat": text.prompt.repeat}
        scores = read_scores(replies[name]).items()
        made.judgements += [Judgement(judge=f"llm:{options.model}", aspect=a, score=n, **about) for a, n in scores]
    return made


EXPERT = "expert:"  # prefix of the name of a judge who is a person
AVERAGE = "average"  # the aspect that is the mean of all
EXPERTS = "experts"  # all experts together, as one judge
_Key = tuple[str, str, str]  # run, question and repeat of an answer
_Given = dict[tuple[str, str], dict[_Key, float]]  # scores of answers, by judge and aspect


def judged_scores(judgements: Sequence[Judgement]) -> list[Score]:
    """Return every run's mean by judge, in each aspect and over all, with bootstrap intervals over cases."""
    by_judge: dict[tuple[str, Task, str], dict[str, list[Judgement]]] = {}
    for row in judgements:
        who = EXPERTS if row.judge.startswith(EXPERT) else row.judge
        by_judge.setdefault((row.run, row.task, who), defaultdict(list))[row.aspect].append(row)
    names = [aspect.name for aspect in aspects()]
    scores = []
    for (run, task, who), given in by_judge.items():
        asked = {row.question_id for rows in given.values() for row in rows}
        about = {"run": run, "task": task, "questions": len(asked)}
        parts = {f"{name} ({who})": given[name] for name in names if given[name]}
        rounds = {metric: group_values((row.repeat, row.score) for row in rows) for metric, rows in parts.items()}
        values = {metric: [mean(given[at]) for at in sorted(given)] for metric, given in rounds.items()}
        if len(parts) == len(names):  # an aspect that nobody scored leaves no mean
            overall = f"judged ({who})"
            values[overall] = [mean(each) for each in zip(*values.values(), strict=False)]
            parts[overall] = [row for rows in given.values() for row in rows]
        for metric, rows in parts.items():
            # clin-7-2 is the second question of case 7
            cases = (row.question_id.rpartition("-")[0] if task is Task.CLINICAL else row.question_id for row in rows)
            interval = interval_of_mean(Unit(case, row.score) for case, row in zip(cases, rows, strict=True))
            scores.append(mean_score(values[metric], interval, part=OVERALL, metric=metric, **about))
    return scores


def judge_agreement(judgements: Sequence[Judgement]) -> list[JudgeAgreement]:
    """Return the agreement of judges with experts, and among experts (CMB, section 5.3, figure 3), by aspect."""
    given, people, judges = _by_judge(judgements)
    rows = []
    for aspect in (*(aspect.name for aspect in aspects()), AVERAGE):
        if len(people) > 1:
            theirs_alone = [given.get((who, aspect), {}) for who in people]
            keys = sorted(set(chain.from_iterable(theirs_alone)))
            units = [(key, [one[key] for one in theirs_alone if key in one]) for key in keys]
            shared = [(key, unit) for key, unit in units if len(unit) > 1]
            alpha, models = interval_alpha([unit for _, unit in shared]), len({key[0] for key, _ in shared})
            among: dict[str, Any] = {"judge": EXPERTS, "aspect": aspect, "pearson": None, "spearman": None}
            rows.append(JudgeAgreement(**among, answers=len(shared), alpha=alpha, models=models))
        if theirs := given[EXPERTS, aspect]:
            rows += [_agreement(who, aspect, given.get((who, aspect), {}), theirs) for who in judges]
    return rows


def _by_judge(judgements: Iterable[Judgement]) -> tuple[_Given, list[str], list[str]]:
    """Return each judge's scores by aspect with their average, ``EXPERTS`` being one judge; people; models."""
    scores: dict[tuple[str, str], dict[_Key, list[int]]] = defaultdict(lambda: defaultdict(list))
    for row in judgements:
        scores[row.judge, row.aspect][row.run, row.question_id, str(row.repeat)].append(row.score)
    by_aspect = {pair: {key: mean(values) for key, values in given.items()} for pair, given in scores.items()}
    judges = list(dict.fromkeys(who for who, _ in scores))
    for who in judges:
        parts = [by_aspect.get((who, aspect.name), {}) for aspect in aspects()]
        whole = set.intersection(*map(set, parts))  # answers with all aspects
        by_aspect[who, AVERAGE] = {key: mean(part[key] for part in parts) for key in sorted(whole)}
    people = [who for who in judges if who.startswith(EXPERT)]
    for aspect in (*(aspect.name for aspect in aspects()), AVERAGE):
        people_scores = [by_aspect.get((who, aspect), {}) for who in people]
        keys = sorted(set(chain.from_iterable(people_scores)))
        by_aspect[EXPERTS, aspect] = {key: mean(one[key] for one in people_scores if key in one) for key in keys}
    return by_aspect, people, [who for who in judges if who not in people]


def _agreement(who: str, aspect: str, scores: Mapping[_Key, float], theirs: Mapping[_Key, float]) -> JudgeAgreement:
    """Return how a judge's scores agree with those that the experts gave the same answers on average."""
    shared = sorted(scores.keys() & theirs.keys())
    one, other = [scores[key] for key in shared], [theirs[key] for key in shared]
    runs = dict.fromkeys(run for run, *_ in shared)
    means = [[mean(side[key] for key in shared if key[0] == run) for run in runs] for side in (scores, theirs)]
    return JudgeAgreement(
        judge=who,
        aspect=aspect,
        answers=len(shared),
        pearson=correlation(one, other),
        spearman=correlation(one, other, ranks=True),
        alpha=interval_alpha([list(pair) for pair in zip(one, other, strict=True)]),
        models=len(runs),
        ranking=ranking(*means),
    )


def interval_alpha(units: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha for interval data (Krippendorff 2011) of doubly scored units; None where all are equal."""
    kept = [np.asarray(unit, dtype=float) for unit in units if len(unit) > 1]
    if not kept:
        return None
    values = np.concatenate(kept)
    # n · the variance is the sum of squared differences over all pairs, divided by n
    observed = sum(len(unit) ** 2 * unit.var() / (len(unit) - 1) for unit in kept) / len(values)
    expected = len(values) * values.var() / (len(values) - 1)
    return float(1 - observed / expected) if np.ptp(values) else None
