"""The answer that models agree on, each weighed by its ability, and how sure it is. Pure.

For every answer that could be right: how probable is what the respondents said, if it were? A respondent gets a
question right by its ability and the question's difficulty, which is not known and integrated over; those who miss it
share a misconception more often than not, so their answers are a Dirichlet-multinomial draw: nine votes for one wrong
answer count for far less than nine independent ones (Dawid and Skene 1979; difficulty as in Whitehill et al. 2009).
From eight respondents on the mean is taken of this and of what a regression learns from keys replaced on purpose.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln, log_expit, logit, logsumexp, softmax

from build_dataset.pipeline.stats.intervals import Floats

_SPREAD = 2.0  # standard deviation of difficulties, in the unit of abilities' log-odds
_CONCENTRATION = 0.3  # Concentration of the Dirichlet distribution of wrong answers; below 1 they tend to be the same.
_GRID = np.linspace(-3, 3, 13) * _SPREAD  # difficulties that are integrated over
_DENSITY = -0.5 * (_GRID / _SPREAD) ** 2 - logsumexp(-0.5 * (_GRID / _SPREAD) ** 2)
_TURNS, _STEPS = 6, 3  # rounds over answers and abilities; steps of Newton in each
_RIDGE = 0.3  # Inverse strength of the penalty on the regression's weights; from .1 to 1 the figures hardly change.
_TENTHS = np.eye(11)
FEWEST = 8  # respondents from which the regression is heard


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
