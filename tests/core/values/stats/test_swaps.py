"""p-values of swaps, against enumeration of all of them."""

from itertools import product

import numpy as np
import pytest
from sklearn import metrics

import ucvtest as uv
from ucvtest.ledger.rows import Rows
from ucvtest.stats.exact import PairedCounts
from ucvtest.stats.swaps import row_swaps, sign_flips

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("sums", [[3, -1, 2, 0, 1], [1, 1, -1, 5], [-2, -2], [0, 0], [4, 3, 2, 1]])
def test_sign_flips_of_clusters(sums):
    sums = np.array(sums)
    flipped = [np.dot(signs, sums) for signs in product((1, -1), repeat=len(sums))]
    assert sign_flips(sums) == pytest.approx(np.mean(np.array(flipped) >= sums.sum()), rel=1e-14)


@pytest.mark.parametrize(("first", "second"), [(0, 3), (3, 9), (10, 80), (0, 45), (0, 0), (5, 2)])
def test_clusters_of_one_row_are_mcnemars(first, second):
    sums = np.repeat([1, -1], [second, first])
    exact = PairedCounts(first, second, 200).pvalue(0, "less")
    assert sign_flips(sums) == pytest.approx(exact, rel=1e-12)


SCORES = {
    "f1": lambda y, h: metrics.f1_score(y, h, zero_division=0),
    "precision": lambda y, h: metrics.precision_score(y, h, zero_division=0),
    "mcc": metrics.matthews_corrcoef,
    "balanced_accuracy": metrics.balanced_accuracy_score,
    "own": lambda y, h: 2 * metrics.balanced_accuracy_score(y, h) - 1,
}
OWN = uv.metrics.Cells(lambda P: P[0, 0] / P[0].sum() + P[1, 1] / P[1].sum() - 1, "own")


@pytest.mark.parametrize("metric", SCORES)
@pytest.mark.seconds(4, reason="scikit-learn scores all swaps of ten rows")
def test_swaps_of_rows(metric):
    score = SCORES[metric]
    y = np.arange(30) % 3 % 2
    old = np.where(np.arange(30) % 4 == 0, 1 - y, y)
    new = old.copy()
    telling = RNG.choice(30, 8, replace=False)
    new[telling] = 1 - new[telling]
    observed = score(y, new) - score(y, old)
    as_good = []
    for swaps in product((False, True), repeat=len(telling)):
        first, second = new.copy(), old.copy()
        swapped = telling[list(swaps)]
        first[swapped], second[swapped] = old[swapped], new[swapped]
        as_good.append(score(y, first) - score(y, second) >= observed - 1e-12)
    scored = OWN if metric == "own" else metric
    losses = uv.Losses.from_predictions(y, {"new": new, "old": old}, metric=scored)
    rows = Rows.of(losses)
    found = rows.pvalue(rows.content("new"), rows.content("old"), 0)
    assert found == pytest.approx(np.mean(as_good), rel=1e-12)


def test_swaps_of_right_answers_are_mcnemars_far_out():
    y = np.zeros(400, int)
    second = y.copy()
    second[:120] = 1
    found = row_swaps(lambda tables: tables[:, 0, 0], y, y, second)
    exact = PairedCounts(0, 120, 400).pvalue(0, "less")
    # All heads are beyond what is summed.
    assert exact < 1e-30
    assert exact <= found <= 3e-17
