"""The corrected resampled t test: against a loop, and in size."""

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles import resampling as oracle
from tests.support.resampling import random_losses

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
