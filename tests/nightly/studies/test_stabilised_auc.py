"""The slope for AUCs: against leaving every observation out, where all learning sets are known."""

from itertools import combinations

import numpy as np
import pytest

from studies.calibration import stabilised_auc
from ucvtest.kernels.ustatistic.aucs import AucEstimate
from ucvtest.kernels.ustatistic.columns import Ranked
from ucvtest.kernels.ustatistic.contrasts import Contrast, estimate
from ucvtest.kernels.ustatistic.placements import two_classes
from ucvtest.kernels.ustatistic.rows import Rows, Strata

SIZES, LEARNT = (6, 5), (2, 1)
CONTRAST = (1.0, -1.0)


def complete(scores, kept):
    """Estimate and jackknife from all learning sets within the observations that are kept."""
    n1 = SIZES[0]
    members = [i for i in kept if i < n1], [i for i in kept if i >= n1]
    learning, values = [], [[], []]
    for ones in combinations(members[0], LEARNT[0]):
        for zeros in combinations(members[1], LEARNT[1]):
            mask = np.isin(kept, [*ones, *zeros])
            learning.append(mask)
            for each, score in zip(values, scores, strict=True):
                each.append(score(ones, zeros)[list(kept)])
    first = np.arange(len(members[0])), len(members[0]) + np.arange(len(members[1]))
    columns = Ranked(Strata.of(first, LEARNT), 2, two_classes()[::-1, ::-1])
    rows, sets = Rows(columns.strata, 2, exact=True), np.array(learning)
    draw = np.arange(len(sets))
    placed = columns.placed([np.array(each) for each in values], sets, draw, rows.pair)
    rows.add(placed, sets, draw)
    effects = rows.effects()
    return effects, AucEstimate.of(effects.strata, estimate(effects, Contrast(np.array(CONTRAST))))


def test_slope_is_that_of_the_estimates_with_one_observation_left_out():
    rng = np.random.default_rng(3)
    n = sum(SIZES)
    X = rng.normal(size=(n, 2))
    X[: SIZES[0]] += 0.5

    def projected(ones, zeros):
        return X @ (X[list(ones)].mean(axis=0) - X[list(zeros)].mean(axis=0))

    def near(ones, zeros):
        return -np.abs(X[:, 0] - X[list(ones), 0].mean()) + 0.3 * X[list(zeros), 1].sum() * X[:, 1]

    scores = (projected, near)
    everybody = tuple(range(n))
    effects, whole = complete(scores, everybody)
    left_out = [complete(scores, everybody[:i] + everybody[i + 1 :])[1] for i in range(n)]
    auc = np.array([each.auc for each in left_out])
    jackknife = np.array([each.jackknife for each in left_out])
    members = np.split(np.arange(n), [SIZES[0]])
    top, means = 0.0, []
    for part, size in zip(members, SIZES, strict=True):
        means.append(jackknife[part].mean())
        moved = (auc[part] - auc[part].mean()) @ (jackknife[part] - means[-1])
        top += (size - 1) / size * moved
    expected = top / (2 * np.mean(means) * whole.jackknife)
    assert stabilised_auc.slope_of(effects, CONTRAST, n_groups=1) == pytest.approx(
        expected, rel=1e-8
    )
