"""The answer that models agree on, each weighed by its ability, and how sure it is. Pure.

For every answer that could be right: how probable is what the respondents said, if it were? A respondent gets a
question right by its ability and the question's difficulty, which is not known and integrated over; those who miss it
share a misconception more often than not, so their answers are a Dirichlet-multinomial draw: nine votes for one wrong
answer count for far less than nine independent ones (Dawid and Skene 1979; difficulty as in Whitehill et al. 2009).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_expit, logsumexp, softmax

Floats = NDArray[np.float64]
_SPREAD = 2.0
"""Standard deviation of difficulties, in the unit of abilities' log-odds."""
_CONCENTRATION = 0.3
"""Concentration of the Dirichlet distribution of wrong answers; below 1 they tend to be the same."""
_GRID = np.linspace(-3, 3, 13) * _SPREAD
_DENSITY = -0.5 * (_GRID / _SPREAD) ** 2 - logsumexp(-0.5 * (_GRID / _SPREAD) ** 2)
_TURNS, _STEPS = 6, 3


@dataclass(frozen=True)
class Consensus:
    """The evidence of respondents on the answers.

    Attributes:
        evidence: questions × answers: log-likelihood of what they said if that answer were right.
        reliability: of respondents: the share that they get right, by all evidence.
    """

    evidence: Floats
    reliability: Floats


def consensus(said: Floats, alternatives: NDArray[np.int64], prior: Floats) -> Consensus:
    """Weigh what respondents said.

    Args:
        said: questions × respondents × answers: 1 where that one gave that answer, or a share where several people
            stand for one; all 0 where it was not asked. Answer 0 is the key.
        alternatives: by question, how many wrong answers there are to give.
        prior: questions × answers: log-probability of being right by all other evidence; -inf for none.
    """
    asked = said.sum(2)
    wrong = _wrong(said, alternatives)
    share = (said[:, :, 0].sum(0) + 1) / (asked.sum(0) + 2)
    abilities = np.log(share / (1 - share))
    evidence = np.zeros_like(prior)
    for _ in range(_TURNS):
        terms = _terms(said, asked, abilities)
        evidence = logsumexp(terms, axis=2) + wrong
        chances = softmax(prior + evidence, axis=1)
        at = np.einsum("qa,qag->qg", chances, softmax(terms, axis=2))
        right = np.einsum("qa,qra->r", chances, said)
        abilities = _matched(abilities, right, asked, at)
    return Consensus(evidence, right / np.maximum(asked.sum(0), 1))


def _terms(said: Floats, asked: Floats, abilities: Floats) -> Floats:
    """Questions × answers × difficulties: how probable it is who got it right and who did not."""
    logits = abilities[:, None] - _GRID
    hit, miss = log_expit(logits), log_expit(-logits)
    found: Floats = np.einsum("qra,rg->qag", said, hit - miss) + (asked @ miss)[:, None] + _DENSITY
    return found


def _wrong(said: Floats, alternatives: NDArray[np.int64]) -> Floats:
    """Questions × answers: how probable the wrong answers are, if that one is right."""
    counts = said.sum(1)
    alpha = _CONCENTRATION
    own = gammaln(counts + alpha) - gammaln(alpha)
    missed = counts.sum(1, keepdims=True) - counts
    total = alpha * alternatives[:, None]
    found: Floats = gammaln(total) - gammaln(missed + total) + own.sum(1, keepdims=True) - own
    return found


def _matched(abilities: Floats, right: Floats, asked: Floats, at: Floats) -> Floats:
    """Abilities under which as many answers are expected to be right as are; one more, and a weak prior, for few."""
    for _ in range(_STEPS):
        expected = 1 / (1 + np.exp(_GRID - abilities[:, None]))
        weight = asked.T @ at
        surplus = right - (weight * expected).sum(1) - 0.1 * abilities
        abilities = abilities + surplus / ((weight * expected * (1 - expected)).sum(1) + 1)
    return abilities
