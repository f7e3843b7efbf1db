"""The answer that models agree on, each weighed by its ability, and how sure it is. Pure.

For every answer that could be right: how probable is what the respondents said, if it were? A respondent gets a
question right by its ability and the question's difficulty, which is not known and integrated over; those who miss it
share a misconception more often than not, so their answers are a Dirichlet-multinomial draw: nine votes for one wrong
answer count for far less than nine independent ones (Dawid and Skene 1979; difficulty as in Whitehill et al. 2009).
From eight respondents on the mean is taken of this and of what a regression learns from keys replaced on purpose.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_expit, logit, logsumexp, softmax

from build_dataset.pipeline.stats.intervals import Z95, Floats

_SPREAD = 2.0  # standard deviation of difficulties, in the unit of abilities' log-odds
_CONCENTRATION = 0.3  # Concentration of the Dirichlet distribution of wrong answers; below 1 they tend to be the same.
_GRID = np.linspace(-3, 3, 13) * _SPREAD  # difficulties that are integrated over
_DENSITY = -0.5 * (_GRID / _SPREAD) ** 2 - logsumexp(-0.5 * (_GRID / _SPREAD) ** 2)
_TURNS, _STEPS = 6, 3  # rounds over answers and abilities; steps of Newton in each
_RIDGE = 0.3  # Inverse strength of the penalty on the regression's weights; from .1 to 1 the figures hardly change.
_TENTHS = np.eye(11)


def consensus(said: Floats, alternatives: NDArray[np.int64], prior: Floats) -> tuple[Floats, Floats]:
    """Weigh what respondents said.

    Args:
        said: questions × respondents × answers: 1 where that one gave that answer, or a share where several people
            stand for one; all 0 where it was not asked. Answer 0 is the key.
        alternatives: by question, how many wrong answers there are to give.
        prior: questions × answers: log-probability of being right by all other evidence; -inf for none.

    Returns:
        Questions × answers: log-likelihood of what they said if that answer were right; and the share that each
        respondent gets right, by all evidence.
    """
    asked = said.sum(2)
    wrong = _wrong(said, alternatives)
    abilities = logit((said[:, :, 0].sum(0) + 1) / (asked.sum(0) + 2))  # Laplace: nobody is at 0 or 1
    evidence = np.zeros_like(prior)
    for _ in range(_TURNS):
        terms = _terms(said, asked, abilities)
        evidence = logsumexp(terms, axis=2) + wrong
        chances = softmax(prior + evidence, axis=1)
        at = np.einsum("qa,qag->qg", chances, softmax(terms, axis=2))
        right = np.einsum("qa,qra->r", chances, said)
        abilities = _fit_abilities(abilities, right, asked, at)
    heard = asked.any(1)  # questions that somebody answered
    if said.shape[1] >= FEWEST and heard.any():
        rest = logsumexp(evidence[:, 1:], axis=1, b=np.isfinite(prior[:, 1:])) - np.log(alternatives)
        learned = _key_log_odds(said[heard], evidence[heard])
        evidence[heard, 0] += ((rest - evidence[:, 0])[heard] - learned) / 2  # the mean of both log-ratios
    return evidence, right / np.maximum(asked.sum(0), 1)


def _key_log_odds(said: Floats, evidence: Floats) -> Floats:
    """Return the log-ratio of a wrong key to a right one, by a regression that tells keys from replaced keys.

    Every key is replaced by each answer that some respondent gave. Who gave the key, who gave the best other answer,
    and what share of all each of them has, are what the regression sees. It learns whose votes tell keys apart, and
    that all respondents together may err where a question misleads.
    """
    from sklearn.linear_model import LogisticRegression

    asked = said.sum((1, 2))

    def seen(rows: NDArray[np.int64], keys: NDArray[np.int64]) -> Floats:
        others = evidence[rows]
        others[np.arange(len(rows)), keys] = -np.inf
        votes = [said[rows, :, keys], said[rows, :, others.argmax(1)]]
        shares = [_TENTHS[np.rint(10 * given.sum(1) / asked[rows]).astype(int)] for given in votes]
        return np.hstack([*votes, *shares])

    given: NDArray[np.bool_] = said[:, :, 1:].sum(1) > 0
    given[~given.any(1), 0] = True  # all gave the key: an answer that nobody gave
    rows, columns = np.nonzero(given)
    keys = seen(np.arange(len(said)), np.zeros(len(said), np.int64))
    replaced = np.repeat([False, True], [len(said), len(rows)])
    model = LogisticRegression(C=_RIDGE, class_weight="balanced", max_iter=1000)
    learned: Floats = model.fit(np.vstack([keys, seen(rows, columns + 1)]), replaced).decision_function(keys)
    return learned


def _terms(said: Floats, asked: Floats, abilities: Floats) -> Floats:
    """Return the log-probability of who was right and who was not: questions × answers × difficulties."""
    logits = abilities[:, None] - _GRID
    hit, miss = log_expit(logits), log_expit(-logits)
    terms: Floats = np.einsum("qra,rg->qag", said, hit - miss) + (asked @ miss)[:, None] + _DENSITY
    return terms


def _wrong(said: Floats, alternatives: NDArray[np.int64]) -> Floats:
    """Return the log-probability of the wrong answers if one answer is right: questions × answers."""
    counts = said.sum(1)  # votes by question and answer
    alpha = _CONCENTRATION  # by answer; the sum over all wrong answers is `total`
    own = gammaln(counts + alpha) - gammaln(alpha)
    missed = counts.sum(1, keepdims=True) - counts
    total = alpha * alternatives[:, None]
    probabilities: Floats = gammaln(total) - gammaln(missed + total) + own.sum(1, keepdims=True) - own
    return probabilities


def _fit_abilities(abilities: Floats, right: Floats, asked: Floats, at: Floats) -> Floats:
    """Return abilities that predict the observed numbers of right answers; a weak prior steadies few answers."""
    for _ in range(_STEPS):
        expected = expit(abilities[:, None] - _GRID)
        weight = asked.T @ at
        surplus = right - (weight * expected).sum(1) - 0.1 * abilities  # .1: the weak prior about 0
        abilities = abilities + surplus / ((weight * expected * (1 - expected)).sum(1) + 1)
    return abilities


FEWEST = 8  # respondents below which items cannot be told apart
_MEAN, _PRIOR = np.array([0.0, 1.0]), np.diag([2.0**-2, 0.7**-2])
"""Priors: easiness about 0 (± 2), discrimination about 1 (± .7), as published item banks have it."""
_ROUNDS, _NEWTON = 30, 4  # the same for the parameters of items


@dataclass(frozen=True)
class Fit:
    """The parameters; rows are items."""

    abilities: Floats  # of respondents, mean 0 and standard deviation 1
    difficulty: Floats  # log-odds that a respondent of ability 0 misses the item; estimate, low, high
    discrimination: Floats  # log-odds of getting it right that a unit of ability adds; estimate, low, high


def fit(right: Floats) -> Fit:
    """Fit the two-parameter logistic model of item response theory, for few respondents and many items.

    Packages for it (girth, mirt, py-irt) integrate over many respondents and give no intervals, or need torch. Here
    are eight or more respondents and thousands of items: a posterior mode with weak priors, as in Mislevy (1986), by
    turns for items and for respondents, each turn a logistic regression.

    Args:
        right: items × respondents: 1 right, 0 wrong, a share where several people stand for one; NaN not asked.

    Returns:
        The posterior mode, with 95 % intervals of the items' parameters given the abilities.
    """
    asked = np.isfinite(right)  # NaN: not asked
    answers = np.where(asked, right, 0.0)
    abilities = _standard(logit((answers.sum(0) + 1) / (asked.sum(0) + 2)))
    items = np.tile(_MEAN, (len(right), 1))
    for _ in range(_ROUNDS):
        design = np.stack([np.ones_like(abilities), abilities], 1)
        items, precision = _logistic(answers, asked, items, design, 0.0, _MEAN, _PRIOR)
        level, slope = items[:, 0], items[:, 1:]
        estimates, _ = _logistic(answers.T, asked.T, abilities[:, None], slope, level, 0.0, np.eye(1))
        before, abilities = abilities, _standard(estimates[:, 0])
        if np.abs(before - abilities).max() < 1e-4:  # abilities are told to four places
            break
    half = Z95 * np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2))
    bounds = np.stack([items, items - half, items + half])
    return Fit(abilities, -bounds[[0, 2, 1], :, 0].T, bounds[:, :, 1].T)


def _logistic(
    answers: Floats,
    asked: NDArray[np.bool_],
    start: Floats,
    design: Floats,
    offset: Floats | float,
    mean: Floats | float,
    prior: Floats,
) -> tuple[Floats, Floats]:
    """Newton steps of a logistic regression of each row at once, with a prior: coefficients, and their precision."""
    precision = np.zeros((len(answers), *prior.shape))
    for _ in range(_NEWTON):
        expected = expit(start @ design.T + offset)
        spread = np.where(asked, expected * (1 - expected), 0.0)
        gradient = np.where(asked, answers - expected, 0.0) @ design - (start - mean) @ prior
        precision = np.einsum("im,mj,mk->ijk", spread, design, design) + prior
        start = start + np.linalg.solve(precision, gradient[..., None])[..., 0]
    return start, precision


def _standard(values: Floats) -> Floats:
    standardised: Floats = (values - values.mean()) / max(float(values.std()), 1e-6)
    return standardised
