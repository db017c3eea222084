"""The theorem behind a ledger, by enumerating all labels of a few rows."""

from itertools import product

import numpy as np
import pytest

from ucvtest.stats.exact import PairedCounts
from ucvtest.stats.stakes import budget_left, planned_level

N, ASKS, ALPHA = 8, 5, 0.6
LABELS = np.array(list(product((0, 1), repeat=N)))
"""All equally likely, so that no model is better than any other: H0 is true at every ask."""


def majority(answers, rng):
    """What bred candidates do: flip rows of the last that passed, or of a random one."""
    base = answers[-1][0] if answers and answers[-1][2] else rng.integers(2, size=N)
    return np.where(rng.random(N) < 0.4, 1 - base, base), rng.choice([0.3, 0.6, 0.95])


def lives(seed):
    """For all labels, whether a candidate passes; questions are functions of the answers so far."""
    for y in LABELS:
        answers, budget = [], ALPHA
        baseline = np.random.default_rng(seed).integers(2, size=N)
        for _ in range(ASKS):
            # Same bits, same question: the generator is seeded by them.
            bits = [int(passed) for *_, passed in answers]
            candidate, stake = majority(answers, np.random.default_rng([seed, len(bits), *bits]))
            only_new = int(((candidate != y) & (baseline == y)).sum())
            only_old = int(((candidate == y) & (baseline != y)).sum())
            passed = PairedCounts(only_new, only_old, N).pvalue(0, "less") <= stake * budget
            budget = budget_left(budget, [(passed, stake)])
            answers.append((candidate, stake, passed))
            if passed:
                baseline = candidate
        yield any(passed for *_, passed in answers)


@pytest.mark.parametrize("seed", range(4))
def test_no_tree_of_questions_passes_more_often_than_alpha(seed):
    share = np.mean(list(lives(seed)))
    assert 0.05 < share <= ALPHA


def test_an_even_tree_spends_all_of_it():
    # Independent p-values at any level: 1 - prod(1 - levels), below the sum of levels.
    for stakes in ([1 / 3, 1 / 2, 1], [0.2] * 9):
        budgets = [
            budget_left(ALPHA, [(False, stake) for stake in stakes[:k]])
            for k in range(len(stakes) + 1)
        ]
        levels = [stake * budget for stake, budget in zip(stakes, budgets, strict=False)]
        assert sum(levels) + budgets[-1] == pytest.approx(ALPHA)


@pytest.mark.parametrize(("asks", "promotions"), [(1, 0), (20, 0), (20, 3), (7, 2)])
def test_planned_stakes_have_equal_levels(asks, promotions):
    level, between = planned_level(0.05, asks, promotions)
    answers = []
    for _ in range(promotions + 1):
        stakes = [1 / k for k in range(between, 0, -1)]
        budget = budget_left(0.05, answers)
        levels = [
            stake * budget_left(budget, [(False, before) for before in stakes[:k]])
            for k, stake in enumerate(stakes)
        ]
        assert levels == pytest.approx([budget / between] * between)
        answers += [(False, stake) for stake in stakes[:-1]] + [(True, 1.0)]
    assert levels[-1] == pytest.approx(level)
