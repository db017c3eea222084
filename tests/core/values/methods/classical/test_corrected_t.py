"""The corrected resampled t test: against a loop, and in size."""

import numpy as np
import pytest
from scipy import stats
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from tests.oracles import resampling as oracle
from tests.support.resampling import X, Y, random_losses

REPEATED = uv.designs.KFold(10, n_repeats=3)
SPLITS = uv.designs.RandomSplits(15, test_fraction=0.2)


@pytest.mark.parametrize(
    ("design", "n_learn", "n_test"), [(10, 36, 4), (REPEATED, 36, 4), (SPLITS, 32, 8)]
)
@pytest.mark.parametrize("null", [0.0, -0.3])
def test_statistic_is_that_of_a_loop(design, n_learn, n_test, null):
    plan = uv.designs.as_design(design)
    losses = random_losses(plan.draw(40, np.random.default_rng(5)))
    result = uv.CorrectedTTest.from_losses(losses, null_value=null).fit()
    means = losses.means[0] - losses.means[1]
    assert tuple(result) == pytest.approx(oracle.corrected_t(means, n_learn, n_test, null))
    assert result.df == plan.draw(40, np.random.default_rng(5)).n_resamples - 1


def corrected_variance(means, ratio):
    """The formula of Nadeau and Bengio, of one mean or of many, (..., J)."""
    return means.var(axis=-1, ddof=1) * (1 / means.shape[-1] + ratio)


def _partition(sizes):
    """A design of folds with these sizes."""
    fold = np.repeat(np.arange(len(sizes)), sizes)
    testing = (fold == np.arange(len(sizes))[:, None]).astype(int)
    return 1 - testing, testing


@pytest.mark.parametrize("cls", [uv.CorrectedTTest, uv.BayesianTTest, uv.NaiveTTest])
def test_folds_made_class_by_class_are_admitted(cls):
    """As caret's createFolds() makes them: rho is that of the mean size, and a note says so."""
    sizes = [20, 19, 18, 19, 18, 18, 20, 18, 19, 18]
    learning, testing = _partition(sizes)
    values = np.random.default_rng(3).integers(0, 2, (2, *learning.shape))
    losses = uv.Losses.from_arrays(values, learning, testing)
    result = cls.from_losses(losses).fit()
    means = losses.means[0] - losses.means[1]
    n_learn = 0 if cls is uv.NaiveTTest else 187 - 18.7
    ratio = 18.7 / n_learn if n_learn else 0.0
    assert result.estimate == pytest.approx(means.mean())
    assert result.se == pytest.approx(np.sqrt(corrected_variance(means, ratio)))


def test_size_under_correlated_resamples():
    """Ten equicorrelated means with rho = n_test/n = 1/10: exact size 0.05, naive 0.154."""
    rng = np.random.default_rng(11)
    n_draws, rho, n_folds = 100_000, 0.1, 10
    common, own = rng.normal(size=(n_draws, 1)), rng.normal(size=(n_draws, n_folds))
    means = np.sqrt(rho) * common + np.sqrt(1 - rho) * own
    for ratio, size in ((1 / 9, 0.05), (0.0, 2 * stats.t(9).sf(2.262157 / np.sqrt(1 + 10 / 9)))):
        statistics = means.mean(axis=1) / np.sqrt(corrected_variance(means, ratio))
        rejected = (2 * stats.t(9).sf(np.abs(statistics)) <= 0.05).sum()
        assert stats.binomtest(rejected, n_draws, size).pvalue > 1e-3
    # The statistics are those of the class.
    learning = np.kron(1 - np.eye(10, dtype=int), np.ones((1, 4), dtype=int))
    for row in means[:5]:
        values = np.broadcast_to(row[:, None], learning.shape)
        losses = uv.Losses.from_arrays(values, learning, loss="normal", greater_is_better=False)
        result = uv.CorrectedTTest.from_losses(losses, null_value=0.0).fit()
        expected = row.mean() / np.sqrt(corrected_variance(row, 1 / 9))
        assert result.statistic == pytest.approx(expected)


def test_cross_validate_of_scikit_learn_suffices():
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    models = {
        "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
        "knn": KNeighborsClassifier(3),
    }
    results = {
        name: cross_validate(model, X, Y, cv=folds, return_indices=True)
        for name, model in models.items()
    }
    losses = uv.Losses.from_sklearn(results, len(Y), score="accuracy")
    new = uv.CorrectedTTest(X, Y, models["tree"], models["knn"], design=folds).fit(rng=0)
    given = uv.CorrectedTTest.from_losses(losses, "tree", "knn").fit()
    assert tuple(given) == pytest.approx(tuple(new))


def test_an_estimate_of_zero_is_zero():
    # The same numbers in another order, whose differences add up to 5.6e-17.
    scores = {"a": [0.7, 0.1, 0.2, 0.4], "b": [0.1, 0.2, 0.4, 0.7]}
    losses = uv.Losses.from_scores(scores, n_learn=9, n_test=3, greater_is_better=True)
    result = uv.CorrectedTTest.from_losses(losses).fit()
    assert np.mean(np.subtract(*map(np.array, scores.values()))) != 0
    assert (result.estimate, result.statistic, result.pvalue) == (0, 0, 1)


def test_only_the_learners_that_are_meant_count_in_diagnostics():
    learning = np.array([[1, 1, 1, 0, 0, 0], [1, 1, 0, 0, 0, 1]])
    three = uv.evaluate(
        ["lda", "knn:1", "majority"],
        np.arange(6.0)[:, None],
        [0, 0, 0, 0, 0, 1],
        uv.designs.Design.checked(learning),
        rng=0,
    )
    result = uv.CorrectedTTest.from_losses(three, 0, 1).fit()
    assert result.diagnostics["one_class_fits"] == 2
