from __future__ import annotations

import numpy as np

from build_dataset.pipeline.audit.consensus import fit


def simulated(respondents: int, items: int = 400):
    draw = np.random.default_rng(3)
    abilities = draw.normal(size=respondents)
    abilities = (abilities - abilities.mean()) / abilities.std()
    slopes, difficulties = np.exp(draw.normal(0, 0.4, items)), draw.normal(0, 1.5, items)
    chances = 1 / (1 + np.exp(-(slopes[:, None] * abilities - difficulties[:, None])))
    right = (draw.random((items, respondents)) < chances).astype(float)
    right[draw.random(right.shape) < 0.1] = np.nan
    return right, abilities, slopes, difficulties


def test_abilities_and_difficulties_are_found_again():
    right, abilities, _, difficulties = simulated(9)
    found = fit(right)
    assert np.corrcoef(abilities, found.abilities)[0, 1] > 0.98
    assert np.corrcoef(difficulties, found.difficulty[:, 0])[0, 1] > 0.8


def test_intervals_hold_their_level():
    right, _, slopes, difficulties = simulated(30)
    found = fit(right)
    for truth, (_, low, high) in ((difficulties, found.difficulty.T), (slopes, found.discrimination.T)):
        assert np.mean((low <= truth) & (truth <= high)) > 0.92


def test_an_item_that_the_able_miss_discriminates_negatively():
    right, abilities, _, _ = simulated(30)
    right[0] = abilities < 0
    assert fit(right).discrimination[0, 0] < 0


def test_an_item_nobody_answered_has_the_prior():
    right, _, _, _ = simulated(9)
    right[0] = np.nan
    found = fit(right)
    assert np.allclose(found.difficulty[0, 0], 0)
    assert np.allclose(found.discrimination[0, 0], 1)
