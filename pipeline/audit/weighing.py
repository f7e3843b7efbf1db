"""All evidence on a question put together: how probable every answer is, and with it that the key is wrong. Pure."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log

import numpy as np
from scipy.special import expit, logsumexp

from build_dataset.pipeline.audit.answers import Answers, Letters
from build_dataset.pipeline.audit.consensus import consensus
from build_dataset.pipeline.claims.explanations import Stated
from build_dataset.pipeline.stats.intervals import ENOUGH, Floats, wilson
from build_dataset.schemas.evaluation import Evidence
from build_dataset.schemas.questions import Question

_COPIED = 0.5  # share of wrong keys that the explanation supports anyway, because its author saw the key
_RULES = {"all judged": 0.999, "marked": 0.995, "stated": 0.98, "slipped": 0.93, "quoted": 0.75}
"""Share of explanations that argue for the right answer, by how they were read, of CMExam's 2,886."""
_LIKE = 200  # prior number of such explanations (pseudo-counts of the shares above)
_COPY = 0.95  # share of copies whose key is right
_SEVERAL, _SAME, _SAME_KEY, _PEOPLE, _UNSURE, _EXPERT = 2.0, 0.7, 3.0, 2.5, 0.7, -8.0
"""Log-likelihood ratios set by judgement, not measured: several options called right, two alike, people below chance
…"""


@dataclass
class AuditCase:
    """A question with what is said of it."""

    question: Question
    key: Letters
    evidence: list[Evidence] = field(default_factory=list)
    scores: defaultdict[Letters | None, float] = field(default_factory=lambda: defaultdict(float))
    """Log-likelihoods of answers relative to an answer without evidence; None stands for "no single answer is
    right"."""
    suspicion: float = 0.0
    odds: float = 0.0  # the same as log-odds, which rank where probabilities are all 1
    suggested: Letters | None = None

    @property
    def alternatives(self) -> int:
        """Answers that are not the key."""
        count = len(self.question.options)
        return max(1, count - 1 if len(self.key) == 1 else 2**count - 2)

    def add(self, kind: str, source: str, detail: str, answer: Letters | None, weight: float) -> None:
        """Add evidence for ``answer``, or for no answer at all; a ``weight`` for the key supports the key."""
        self.scores[answer] += weight
        self.tell(kind, source, detail, answer, -weight if answer == self.key else weight)

    def tell(self, kind: str, source: str, detail: str, answer: Letters | None, weight: float) -> None:
        """Record evidence; its ``weight`` is against the key where it is above 0."""
        said = None if answer is None else sorted(answer)
        self.evidence.append(Evidence(kind=kind, source=source, answer=said, weight=round(weight, 2), detail=detail))


def weigh_explanations(
    cases: Sequence[AuditCase], stated: Mapping[str, Stated], wrong: float
) -> dict[str, tuple[int, int]]:
    """Add the evidence of explanations; return how many of each kind there are, and how many argue for the key."""
    known = {case.question.question_id: case for case in cases}
    counts: dict[str, tuple[int, int]] = {}
    for name, said in stated.items():
        total, same = counts.get(said.rule, (0, 0))
        counts[said.rule] = total + 1, same + (said.answer == known[name].key)
    for name, said in stated.items():
        case, (total, same) = known[name], counts[said.rule]
        if said.answer is None:
            case.add("explanation", said.rule, said.detail, None, _SEVERAL)
            continue
        seen = total - same - wrong * total  # what wrong keys do not account for
        slips = max(1 - _RULES[said.rule], (seen + (1 - _RULES[said.rule]) * _LIKE) / (total + _LIKE))
        against, agrees = log(_COPIED * case.alternatives / slips), log((1 - slips) / _COPIED)
        weight = agrees if said.answer == case.key else against
        case.add("explanation", said.rule, said.detail, said.answer, weight)
    return counts


def weigh_copies(case: AuditCase, others: Mapping[str, Letters]) -> None:
    """Add the keys of the question's copies, by their ids, in the question's letters."""
    for name, answer in others.items():
        if answer != case.key:
            weight = log(_COPY * case.alternatives / (1 - _COPY))
            case.add("copies", name, f"the copy {name} has the key {''.join(sorted(answer))}", answer, weight)


def weigh_people(case: AuditCase) -> None:
    """Add evidence if people's accuracy is no better than guessing."""
    share, chance = case.question.human_accuracy, 1 / (case.alternatives + 1)
    if share is None or share >= chance:
        return
    count = case.question.respondents or ENOUGH  # where their number is not told
    sure = wilson(share * count, count)[1] < chance
    detail = f"{share:.0%} of people are right, guessing reaches {chance:.0%}"
    weight = _PEOPLE if sure else _UNSURE
    case.scores[case.key] -= weight
    case.tell("people", "accuracy", detail, None, weight)


def weigh_options(case: AuditCase, keys: Sequence[str]) -> None:
    """Add evidence if two options say the same."""
    for one, other in combinations(range(len(keys)), 2):
        if keys[one] and keys[one] == keys[other]:
            pair = {case.question.options[one].label, case.question.options[other].label}
            weight = _SAME_KEY if pair & case.key else _SAME
            case.add("options", "text", f"options {' and '.join(sorted(pair))} say the same", None, weight)


def weigh_experts(case: AuditCase, people: Sequence[str]) -> None:
    """Add evidence if somebody verified the question, or its key, in its present form."""
    for who in people:
        case.add("expert", who, f"{who} verified it", case.key, -_EXPERT)


def weigh_answers(cases: Sequence[AuditCase], answers: Answers, wrong: float) -> dict[str, float]:
    """Add the answers of models, rate each question, and return the share that each model gets right by all of it."""
    models = sorted({name for own in answers.values() for name in own})
    place = {name: at for at, name in enumerate(models)}
    choices = [_choices(case, answers.get(case.question.question_id, {})) for case in cases]
    width = max(map(len, choices), default=1)  # the table is as wide as the question with most answers
    prior = np.full((len(cases), width), -np.inf)  # -inf: no such answer
    said = np.zeros((len(cases), len(models), width))
    for row, (case, own) in enumerate(zip(cases, choices, strict=True)):
        prior[row, : len(own)] = _prior(case, own, wrong)
        for name, answer in answers.get(case.question.question_id, {}).items():
            said[row, place[name], own.index(answer)] = 1
    counts = np.array([case.alternatives for case in cases], dtype=np.int64)
    evidence, reliability = consensus(said, counts, prior) if models else (np.zeros_like(prior), np.zeros(0))
    for row, (case, own) in enumerate(zip(cases, choices, strict=True)):
        _tell(case, own, evidence[row, : len(own)], answers.get(case.question.question_id, {}))
        _settle(case, own, (prior[row] + evidence[row])[: len(own)])
    return dict(zip(models, reliability.tolist(), strict=True))


def _choices(case: AuditCase, said: Mapping[str, Letters]) -> list[Letters | None]:
    """Return the possible answers: the key first, then those with evidence, and None last."""
    named = {answer for answer in (*case.scores, *said.values()) if answer is not None and answer != case.key}
    return [case.key, *sorted(named, key=sorted), None]


def _prior(case: AuditCase, choices: Sequence[Letters | None], wrong: float) -> list[float]:
    """Return log-probabilities from all evidence except models; answers without evidence share the part of None."""
    each = wrong / (case.alternatives + 1)  # one part more, for "no single answer is right"
    rest = wrong - each * (len(choices) - 2)
    start = [1 - wrong, *[each] * (len(choices) - 2), max(rest, each)]  # as `choices`: the key, others, None
    return [log(chance) + case.scores[answer] for chance, answer in zip(start, choices, strict=True)]


def _tell(case: AuditCase, choices: Sequence[Letters | None], evidence: Floats, said: Mapping[str, Letters]) -> None:
    """Record the models' consensus as evidence: against the key if another answer fits better, otherwise for it."""
    if not said:
        return
    best = int(np.argmax(evidence[1:-1])) + 1 if len(choices) > 2 else 0
    against = evidence[best] - evidence[0] if best else -np.log(case.alternatives)
    answer = choices[best] if against > 0 else case.key
    votes = Counter("".join(sorted(letters)) for letters in said.values())
    tally = ", ".join(f"{letters} {count}" for letters, count in votes.most_common())
    agree = ", ".join(sorted(name for name, letters in said.items() if letters == answer))
    case.tell("models", agree, f"{len(said)} models answered: {tally}", answer or frozenset(), float(against))


def _settle(case: AuditCase, choices: Sequence[Letters | None], scores: Floats) -> None:
    best = 1 + int(np.argmax(scores[1:]))  # the likeliest answer but the key
    case.odds = float(logsumexp(scores[1:]) - scores[0])
    case.suspicion = round(float(expit(case.odds)), 6)
    spoken_for = [each.answer for each in case.evidence if each.weight > 0 and each.answer]
    case.suggested = choices[best] if sorted(choices[best] or ()) in spoken_for else None
    case.evidence.sort(key=lambda each: (-abs(each.weight), each.kind, each.source))
