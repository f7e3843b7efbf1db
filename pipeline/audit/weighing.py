"""All evidence on a question put together: how probable every answer is, and with it that the key is wrong. Pure.

Models' answers are weighed by their abilities. For every answer that could be right: how probable is what the
respondents said, if it were? A respondent gets a question right by its ability and the question's difficulty, which is
not known and integrated over; those who miss it share a misconception more often than not, so their answers are a
Dirichlet-multinomial draw: nine votes for one wrong answer count for far less than nine independent ones (Dawid and
Skene 1979; difficulty as in Whitehill et al. 2009). From eight respondents on the mean is taken of this and of what a
regression learns from keys replaced on purpose.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_expit, logit, logsumexp, softmax

from build_dataset.pipeline.audit.answers import Answers, Letters
from build_dataset.pipeline.claims.explanations import Stated
from build_dataset.pipeline.stats import ENOUGH, Floats, wilson
from build_dataset.schemas.evaluation import Evidence
from build_dataset.schemas.questions import Question

_SPREAD = 2.0  # standard deviation of difficulties, in the unit of abilities' log-odds
_CONCENTRATION = 0.3  # Concentration of the Dirichlet distribution of wrong answers; below 1 they tend to be the same.
_GRID = np.linspace(-3, 3, 13) * _SPREAD  # difficulties that are integrated over
_DENSITY = -0.5 * (_GRID / _SPREAD) ** 2 - logsumexp(-0.5 * (_GRID / _SPREAD) ** 2)
_TURNS, _STEPS = 6, 3  # rounds over answers and abilities; steps of Newton in each
_RIDGE = 0.3  # Inverse strength of the penalty on the regression's weights; from .1 to 1 the figures hardly change.
_TENTHS = np.eye(11)
FEWEST = 8  # respondents from which the regression is heard


def consensus(responses: Floats, alternatives: NDArray[np.int64], prior: Floats) -> tuple[Floats, Floats]:
    """Weigh what respondents said.

    Args:
        responses: questions × respondents × answers: 1 where that one gave that answer, or a share where several people
            stand for one; all 0 where it was not asked. Answer 0 is the key.
        alternatives: by question, how many wrong answers there are to give.
        prior: questions × answers: log-probability of being right by all other evidence; -inf for none.

    Returns:
        Questions × answers: log-likelihood of what they said if that answer were right; and the share that each
        respondent gets right, by all evidence.
    """
    asked = responses.sum(2)
    counts, total = responses.sum(1), _CONCENTRATION * alternatives[:, None]  # votes by question and answer
    share = gammaln(counts + _CONCENTRATION) - gammaln(_CONCENTRATION)
    missed = counts.sum(1, keepdims=True) - counts
    # log-probability of the wrong answers if one answer is right: questions × answers
    wrong = gammaln(total) - gammaln(missed + total) + share.sum(1, keepdims=True) - share
    abilities = logit((responses[:, :, 0].sum(0) + 1) / (asked.sum(0) + 2))  # Laplace: nobody is at 0 or 1
    evidence = np.zeros_like(prior)
    for _ in range(_TURNS):
        logits = abilities[:, None] - _GRID
        hit, miss = log_expit(logits), log_expit(-logits)
        # log-probability of who was right and who was not: questions × answers × difficulties
        terms: Floats = np.einsum("qra,rg->qag", responses, hit - miss) + (asked @ miss)[:, None] + _DENSITY
        evidence = logsumexp(terms, axis=2) + wrong
        chances = softmax(prior + evidence, axis=1)
        at = np.einsum("qa,qag->qg", chances, softmax(terms, axis=2))
        right = np.einsum("qa,qra->r", chances, responses)
        weight = asked.T @ at
        for _ in range(_STEPS):  # towards the observed numbers of right answers; a weak prior steadies few answers
            expected = expit(abilities[:, None] - _GRID)
            surplus = right - (weight * expected).sum(1) - 0.1 * abilities  # .1: the weak prior about 0
            abilities = abilities + surplus / ((weight * expected * (1 - expected)).sum(1) + 1)
    heard = asked.any(1)  # questions that somebody answered
    if responses.shape[1] >= FEWEST and heard.any():
        rest = logsumexp(evidence[:, 1:], axis=1, b=np.isfinite(prior[:, 1:])) - np.log(alternatives)
        learned = _key_log_odds(responses[heard], evidence[heard])
        evidence[heard, 0] += ((rest - evidence[:, 0])[heard] - learned) / 2  # the mean of both log-ratios
    return evidence, right / np.maximum(asked.sum(0), 1)


def _key_log_odds(responses: Floats, evidence: Floats) -> Floats:
    """Return the log-ratio of a wrong key to a right one, by a regression that tells keys from replaced keys."""
    # Every key is replaced by each answer that some respondent gave. Who gave the key, who gave the best other answer,
    # and what share of all each of them has, are what the regression sees. It learns whose votes tell keys apart, and
    # that all respondents together may err where a question misleads.
    from sklearn.linear_model import LogisticRegression

    asked = responses.sum((1, 2))

    def seen(rows: NDArray[np.int64], keys: NDArray[np.int64]) -> Floats:
        others = evidence[rows]
        others[np.arange(len(rows)), keys] = -np.inf
        votes = [responses[rows, :, keys], responses[rows, :, others.argmax(1)]]
        shares = [_TENTHS[np.rint(10 * given.sum(1) / asked[rows]).astype(int)] for given in votes]
        return np.hstack([*votes, *shares])

    given: NDArray[np.bool_] = responses[:, :, 1:].sum(1) > 0
    given[~given.any(1), 0] = True  # all gave the key: an answer that nobody gave
    rows, columns = np.nonzero(given)
    keys = seen(np.arange(len(responses)), np.zeros(len(responses), np.int64))
    replaced = np.repeat([False, True], [len(responses), len(rows)])
    model = LogisticRegression(C=_RIDGE, class_weight="balanced", max_iter=1000)
    learned: Floats = model.fit(np.vstack([keys, seen(rows, columns + 1)]), replaced).decision_function(keys)
    return learned


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
        letters = None if answer is None else sorted(answer)
        self.evidence.append(Evidence(kind=kind, source=source, answer=letters, weight=round(weight, 2), detail=detail))


def weigh_explanations(
    cases: Sequence[AuditCase], stated: Mapping[str, Stated], wrong: float
) -> dict[str, tuple[int, int]]:
    """Add the evidence of explanations; return how many of each kind there are, and how many argue for the key."""
    known = {case.question.question_id: case for case in cases}
    counts: dict[str, tuple[int, int]] = {}
    for name, argument in stated.items():
        total, same = counts.get(argument.rule, (0, 0))
        counts[argument.rule] = total + 1, same + (argument.answer == known[name].key)
    for name, argument in stated.items():
        case, (total, same) = known[name], counts[argument.rule]
        if argument.answer is None:
            case.add("explanation", argument.rule, argument.detail, None, _SEVERAL)
            continue
        seen = total - same - wrong * total  # what wrong keys do not account for
        slips = max(1 - _RULES[argument.rule], (seen + (1 - _RULES[argument.rule]) * _LIKE) / (total + _LIKE))
        against, agrees = log(_COPIED * case.alternatives / slips), log((1 - slips) / _COPIED)
        weight = agrees if argument.answer == case.key else against
        case.add("explanation", argument.rule, argument.detail, argument.answer, weight)
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
    models = sorted({name for possible in answers.values() for name in possible})
    place = {name: at for at, name in enumerate(models)}
    choices = [_choices(case, answers.get(case.question.question_id, {})) for case in cases]
    width = max(map(len, choices), default=1)  # the table is as wide as the question with most answers
    prior = np.full((len(cases), width), -np.inf)  # -inf: no such answer
    responses = np.zeros((len(cases), len(models), width))
    for row, (case, possible) in enumerate(zip(cases, choices, strict=True)):
        prior[row, : len(possible)] = _prior(case, possible, wrong)
        for name, answer in answers.get(case.question.question_id, {}).items():
            responses[row, place[name], possible.index(answer)] = 1
    counts = np.array([case.alternatives for case in cases], dtype=np.int64)
    evidence, reliability = consensus(responses, counts, prior) if models else (np.zeros_like(prior), np.zeros(0))
    for row, (case, possible) in enumerate(zip(cases, choices, strict=True)):
        _tell(case, possible, evidence[row, : len(possible)], answers.get(case.question.question_id, {}))
        _settle(case, possible, (prior[row] + evidence[row])[: len(possible)])
    return dict(zip(models, reliability.tolist(), strict=True))


def _choices(case: AuditCase, responses: Mapping[str, Letters]) -> list[Letters | None]:
    """Return the possible answers: the key first, then those with evidence, and None last."""
    named = {answer for answer in (*case.scores, *responses.values()) if answer is not None and answer != case.key}
    return [case.key, *sorted(named, key=sorted), None]


def _prior(case: AuditCase, choices: Sequence[Letters | None], wrong: float) -> list[float]:
    """Return log-probabilities from all evidence except models; answers without evidence share the part of None."""
    each = wrong / (case.alternatives + 1)  # one part more, for "no single answer is right"
    rest = wrong - each * (len(choices) - 2)
    start = [1 - wrong, *[each] * (len(choices) - 2), max(rest, each)]  # as `choices`: the key, others, None
    return [log(chance) + case.scores[answer] for chance, answer in zip(start, choices, strict=True)]


def _tell(case: AuditCase, choices: Sequence[Letters | None], evidence: Floats, given: Mapping[str, Letters]) -> None:
    """Record the models' consensus as evidence: against the key if another answer fits better, otherwise for it."""
    if not given:
        return
    best = int(np.argmax(evidence[1:-1])) + 1 if len(choices) > 2 else 0
    against = evidence[best] - evidence[0] if best else -np.log(case.alternatives)
    answer = choices[best] if against > 0 else case.key
    votes = Counter("".join(sorted(letters)) for letters in given.values())
    tally = ", ".join(f"{letters} {count}" for letters, count in votes.most_common())
    agree = ", ".join(sorted(name for name, letters in given.items() if letters == answer))
    case.tell("models", agree, f"{len(given)} models answered: {tally}", answer or frozenset(), float(against))


def _settle(case: AuditCase, choices: Sequence[Letters | None], scores: Floats) -> None:
    best = 1 + int(np.argmax(scores[1:]))  # the likeliest answer but the key
    case.odds = float(logsumexp(scores[1:]) - scores[0])
    case.suspicion = round(float(expit(case.odds)), 6)
    spoken_for = [each.answer for each in case.evidence if each.weight > 0 and each.answer]
    case.suggested = choices[best] if sorted(choices[best] or ()) in spoken_for else None
    case.evidence.sort(key=lambda each: (-abs(each.weight), each.kind, each.source))
