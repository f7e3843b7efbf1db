"""The two-parameter logistic model of item response theory, for few respondents and many items. Pure.

Packages for it (girth, mirt, py-irt) integrate over many respondents and give no intervals, or need torch. Here are
eight or more respondents and thousands of items: a posterior mode with weak priors, as in Mislevy (1986), by turns for
items and for respondents, each turn a logistic regression.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
FEWEST = 8
"""Respondents below which items cannot be told apart."""
_SLOPE, _SLOPE_SD, _LEVEL_SD = 1.0, 0.7, 2.0
"""Priors: discrimination about 1, give or take .7, as published item banks have it; easiness about 0."""
_TURNS, _STEPS = 30, 4
_Z95 = 1.959963984540054


@dataclass(frozen=True)
class Fit:
    """The parameters; rows are items.

    Attributes:
        abilities: of respondents, mean 0 and standard deviation 1.
        difficulty: log-odds that a respondent of ability 0 misses the item; estimate, low, high.
        discrimination: what a unit of ability adds to the log-odds of getting it right; estimate, low, high.
    """

    abilities: Floats
    difficulty: Floats
    discrimination: Floats


def fit(right: Floats) -> Fit:
    """Fit the model.

    Args:
        right: items × respondents: 1 right, 0 wrong, a share where several people stand for one; NaN not asked.

    Returns:
        The posterior mode, with 95 % intervals of the items' parameters given the abilities.
    """
    asked = np.isfinite(right)
    answers = np.where(asked, right, 0.0)
    share = (answers.sum(0) + 1) / (asked.sum(0) + 2)
    abilities = _standard(np.log(share / (1 - share)))
    items = np.tile([0.0, _SLOPE], (len(right), 1))
    for _ in range(_TURNS):
        items, precision = _items(answers, asked, items, abilities)
        before, abilities = abilities, _standard(_respondents(answers, asked, items, abilities))
        if np.abs(before - abilities).max() < 1e-4:
            break
    half = _Z95 * np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2))
    bounds = np.stack([items, items - half, items + half])
    return Fit(abilities, -bounds[[0, 2, 1], :, 0].T, bounds[:, :, 1].T)


def _items(
    answers: Floats, asked: NDArray[np.bool_], items: Floats, abilities: Floats
) -> tuple[Floats, Floats]:
    """Newton steps for every item at once: easiness and slope, and the precision of both."""
    design = np.stack([np.ones_like(abilities), abilities], 1)
    prior = np.diag([_LEVEL_SD**-2, _SLOPE_SD**-2])
    precision = np.zeros((len(items), 2, 2))
    for _ in range(_STEPS):
        expected = _probability(items @ design.T)
        spread = np.where(asked, expected * (1 - expected), 0.0)
        gradient = np.where(asked, answers - expected, 0.0) @ design - (items - [0.0, _SLOPE]) @ prior
        precision = np.einsum("im,mj,mk->ijk", spread, design, design) + prior
        items = items + np.linalg.solve(precision, gradient[..., None])[..., 0]
    return items, precision


def _respondents(answers: Floats, asked: NDArray[np.bool_], items: Floats, abilities: Floats) -> Floats:
    slope = items[:, 1:]
    for _ in range(_STEPS):
        expected = _probability(items[:, :1] + slope * abilities)
        spread = np.where(asked, expected * (1 - expected), 0.0)
        gradient = (slope * np.where(asked, answers - expected, 0.0)).sum(0) - abilities
        abilities = abilities + gradient / ((slope**2 * spread).sum(0) + 1)
    return abilities


def _probability(logits: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-np.clip(logits, -30, 30)))
    return found


def _standard(values: Floats) -> Floats:
    found: Floats = (values - values.mean()) / max(float(values.std()), 1e-6)
    return found
