"""Leave-pair-out over pairs of clusters: refits by hand, all labelings, and closed forms."""

from itertools import combinations

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.common.execution import Execution
from ucvtest.methods.leave_pair_out.estimation import errors_for
from ucvtest.methods.leave_pair_out.pair_errors import cluster_errors, errors_of_fits

PATIENT = np.array([0, 1, 1, 1, 2, 3, 3, 4, 5, 5, 6])
MIXED = np.array([0, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0])
PURE = np.array([0, 1, 0, 1, 0, 1, 1])[PATIENT]
X = np.round(np.random.default_rng(4).normal(size=(11, 2)) + MIXED[:, None], 1)

each_weight = pytest.mark.parametrize("weight", ["group", "row"])
each_kind = pytest.mark.parametrize("y", [MIXED, PURE], ids=["mixed", "pure"])


def made(y=MIXED, learner="ridge:1.0", **options) -> uv.LeavePairOutTest:
    return uv.LeavePairOutTest(X, y, learner, **{"groups": PATIENT, **options})


def auc_by_hand(y: np.ndarray, weight: str, penalty: float = 1.0) -> float:
    """Ridge regression on all but two clusters, again and again."""
    design = np.column_stack([np.ones(len(y)), X])
    total = right = 0.0
    for pair in combinations(range(7), 2):
        learnt = ~np.isin(PATIENT, pair)
        centre, mean = X[learnt].mean(axis=0), y[learnt].mean()
        centred = X[learnt] - centre
        slope = np.linalg.solve(
            centred.T @ centred + penalty * np.eye(2), centred.T @ (y[learnt] - mean)
        )
        score = mean + (X - centre) @ slope
        for a, b in (pair, pair[::-1]):
            first = np.flatnonzero((a == PATIENT) & (y == 1))
            second = np.flatnonzero((b == PATIENT) & (y == 0))
            for i in first:
                for j in second:
                    w = 1.0 if weight == "row" else 1 / len(first) / len(second)
                    total += w
                    tied = abs(score[i] - score[j]) < 1e-10
                    right += w * (0.5 if tied else float(score[i] > score[j]))
    assert design.shape == (11, 3)
    return right / total


@each_weight
@each_kind
def test_equals_refits_and_enumeration(y, weight):
    result = made(y, group_weight=weight).fit(n_permutations="exact")
    assert result.estimate == pytest.approx(auc_by_hand(y, weight))
    errors = errors_for(made(y).question, Execution.of(0, None, None))
    (labels,) = errors.exchangeable.every(10_000)
    null = np.array([auc_by_hand(row.astype(int), weight) for row in labels])
    assert result.pvalue == pytest.approx((null >= result.estimate - 1e-9).mean())
    words = "features and sizes" if y is PURE else "clusters of the same size"
    assert words in result.null_hypothesis
    assert result.settings["learn_size"] == 5
    assert result.n_fits == len(labels) * 21


@each_weight
@each_kind
@pytest.mark.parametrize(
    "learner",
    ["ridge:1.0", uv.learners.ridge(1.0, scale="mean"), "knn:3"],
    ids=["ridge", "ridge by the mean", "knn"],
)
def test_closed_forms_equal_fits(learner, y, weight):
    test = made(y, learner, group_weight=weight)
    parts = (test.sample, test.learners[0], test.clusters)
    closed, fits = cluster_errors(*parts), errors_of_fits(*parts, None)
    assert closed.error_method == "closed form"
    assert fits.error_method == "jitted fits"
    rng = np.random.default_rng(0)
    labelings = np.vstack([test.labels, closed.exchangeable.draw(rng, 2)])
    np.testing.assert_allclose(closed.count(labelings, rng), fits.count(labelings, rng), atol=1e-8)


def test_other_learners_are_fitted():
    result = made(learner="nearest_centroid").fit(n_permutations=3, rng=0)
    assert result.n_fits == 4 * 21
    assert result.diagnostics["computed_by"] == "jitted fits"
    assert made().forecast(5).n_fits == 6 * 21
