"""Wald intervals of one K-fold cross-validation: loops, coverage of its estimand, cases."""

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import LeaveOneOut, StratifiedKFold

import ucvtest as uv
from tests.oracles import resampling_wald as oracle

VARIANCES = ("all_pairs", "within_fold")


def test_folds_of_one_class_have_no_auc():
    # Pairs within other folds suffice: see test_fold_aucs.py.
    fold = np.arange(40) % 10
    testing = fold == np.arange(10)[:, None]
    y = np.isin(fold, (0, 1)).astype(int)
    scores = np.random.default_rng(0).random((2, 1, 40)) * np.ones(testing.shape)
    losses = uv.Losses.from_arrays(scores, ~testing, testing, loss="auc", y=y)
    result = uv.CrossValidationWaldTest.from_losses(losses).fit()
    assert result.status.startswith("no estimate: no fold tests both classes")
    assert np.isnan(result.pvalue)
    assert np.isnan(result.statistic)


def losses_of(fold: Any, *rows: Any, loss: str = "hand-made") -> uv.Losses:
    """Losses of rules, each observation's after the fit without its fold."""
    testing = np.asarray(fold) == np.arange(max(fold) + 1)[:, None]
    values = np.array(rows, dtype=float)[:, None] * np.ones(testing.shape)
    greater = None if loss == "zero_one" else False
    return uv.Losses.from_arrays(values, ~testing, testing, loss=loss, greater_is_better=greater)


def fit(losses: uv.Losses, variance: Any = "all_pairs", **options: Any) -> uv.TestResult:
    return uv.CrossValidationWaldTest.from_losses(losses, **options).fit(variance)


FOLDS = [
    [0, 1, 2, 0, 1, 2, 0, 1, 2],
    [0, 0, 1, 1, 1, 2, 2, 3, 3, 3, 0],  # n is no multiple of K
    [1, 0, 1, 0, 0],
]


class TestValues:
    @pytest.mark.parametrize("variance", VARIANCES)
    @pytest.mark.parametrize("fold", FOLDS)
    @pytest.mark.parametrize("paired", [False, True])
    def test_equals_the_paper_in_loops(self, fold, variance, paired):
        rng = np.random.default_rng(len(fold))
        rows = rng.exponential(size=(2, len(fold)))
        losses = losses_of(fold, *rows) if paired else losses_of(fold, rows[0])
        h = rows[0] - rows[1] if paired else rows[0]
        r_hat, variances = oracle.bayle(h.tolist(), fold)
        result = fit(losses, variance, null_value=0.3)
        assert result.estimate == pytest.approx(r_hat, rel=1e-12)
        assert result.variance == pytest.approx(variances[variance] / len(fold), rel=1e-12)
        z = (r_hat - 0.3) / math.sqrt(variances[variance] / len(fold))
        assert tuple(result) == pytest.approx((z, 2 * stats.norm.sf(abs(z))), rel=1e-10)
        table = result.tables["Variances"]
        assert table["variance"] == VARIANCES
        expected = [variances[name] / len(fold) for name in VARIANCES]
        assert table["estimate"] == pytest.approx(expected, rel=1e-12)

    def test_by_hand(self):
        # Losses 0, 2 in one fold, 1, 5 in the other: mean 2; around it 4 + 0 + 1 + 9 = 14, over
        # n = 4; around the folds' means 2 and 8, over n_j - 1 = 1, halved.
        losses = losses_of([0, 0, 1, 1], [0, 2, 1, 5])
        assert fit(losses).variance == pytest.approx(14 / 4 / 4)
        assert fit(losses, "within_fold").variance == pytest.approx((2 + 8) / 2 / 4)


class TestFromData:
    def test_one_class_in_a_fold(self):
        rng = np.random.default_rng(0)
        y = np.repeat([0, 1], [27, 3])
        result = uv.CrossValidationWaldTest(rng.normal(size=(30, 2)), y, "lda").fit(rng=0)
        assert result.status == "ok"
        assert math.isnan(result.pvalue)
        assert not math.isnan(result.conf_int()[0])

    def test_leave_one_out_and_splitters(self):
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(14, 2)), np.arange(14) % 2
        for design in (14, LeaveOneOut()):
            test = uv.CrossValidationWaldTest(X, y, "nearest_centroid", design=design)
            result = test.fit(rng=0)
            assert result.n_fits == 14
            assert math.isnan(result.tables["Variances"]["estimate"][1])
        folds = StratifiedKFold(3, shuffle=True, random_state=1)
        result = uv.CrossValidationWaldTest(X, y, "lda", design=folds).fit(rng=0)
        assert result.n_fits == 3


class TestCases:
    def test_no_spread_within_folds(self):
        fold = FOLDS[0]
        losses = losses_of(fold, np.array(fold, dtype=float))
        assert fit(losses).status == "ok"
        result = fit(losses, "within_fold")
        assert result.status.startswith("degenerate: the loss is the same within every fold")


class Normal:
    """Learn a mean; squared error at a new observation of N(0, 1) is (m - Y)^2.

    The test error given the folds is known: 1 + the mean of the squared means.
    """

    n_obs, n_folds = 100, 10
    fold = np.arange(n_obs) * n_folds // n_obs

    def draws(self, n_draws: int) -> tuple[np.ndarray, np.ndarray]:
        """Losses (draws, n), and the test errors of the folds' rules."""
        rng = np.random.default_rng(11)
        y = rng.normal(size=(n_draws, self.n_obs))
        member = (self.fold == np.arange(self.n_folds)[:, None]).astype(float)
        others = y @ (1 - member).T / (self.n_obs - member.sum(axis=1))
        return (y - others[:, self.fold]) ** 2, 1 + (others**2).mean(axis=1)


@pytest.mark.seconds(4, reason="a variance shows in many samples alone")
def test_variance_is_that_of_the_error_around_its_estimand():
    problem = Normal()
    losses, truth = problem.draws(100_000)
    true_variance = (losses.mean(axis=1) - truth).var()
    found = [fit(losses_of(problem.fold, row)) for row in losses[:200]]
    tables = np.array([result.tables["Variances"]["estimate"] for result in found])
    error = tables.std(axis=0, ddof=1) / math.sqrt(len(found))
    assert (abs(tables.mean(axis=0) - true_variance) < 4 * error).all()
    assert (error < 0.05 * true_variance).all()
