"""Many learners: numbers of pairs from arrays are those of each pair's own result."""

import re

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv
from ucvtest.comparison import compare_losses as module
from ucvtest.comparison import tests_on_losses
from ucvtest.stats import simultaneous
from ucvtest.stats.simultaneous import MultivariateT

N_LEARNERS, N_ROWS = 7, 40
BUT_FOR_ROUNDING = {"rtol": 1e-12, "atol": 1e-12}


def predictions(metric=None, n_learners=N_LEARNERS, groups=None):
    """Right and wrong answers; the last two rules never differ."""
    generator = np.random.default_rng(1)
    y = generator.integers(0, 2, N_ROWS)
    wrong = generator.random((n_learners, N_ROWS)) < np.linspace(0.1, 0.5, n_learners)[:, None]
    wrong[-1] = wrong[-2]
    rules = {f"m{i}": np.where(row, 1 - y, y) for i, row in enumerate(wrong)}
    return uv.Losses.from_predictions(y, rules, metric=metric, groups=groups)


def squares(groups=None):
    generator = np.random.default_rng(2)
    y = generator.normal(size=N_ROWS)
    rules = {f"m{i}": y + (1 + i / 4) * generator.normal(size=N_ROWS) for i in range(N_LEARNERS)}
    # A rule that is always wrong by 1, and its mirror image: their losses are equal.
    rules |= {"up": y + 1, "down": y - 1}
    return uv.Losses.from_predictions(y, rules, loss="squared", groups=groups)


def scores():
    generator = np.random.default_rng(3)
    rows = generator.random((N_LEARNERS, 30))
    # The second is the first and a constant, which leaves no variance but rounding.
    rows[1] = rows[0] + 0.25
    return uv.Losses.from_scores(
        {f"m{i}": row for i, row in enumerate(rows)}, n_learn=60, n_test=30, design="splits"
    )


def areas(y=None, groups=None):
    """Scores; a rule and another scale of it rank alike, and one ranks almost alike."""
    generator = np.random.default_rng(4)
    y = generator.integers(0, 2, N_ROWS) if y is None else y
    scores = {f"m{i}": y + (1 + i) * generator.normal(size=N_ROWS) for i in range(N_LEARNERS)}
    nearly = np.where(np.arange(N_ROWS) == 3, scores["m0"] + 0.2, scores["m0"])
    scores |= {"scaled": 2 * scores["m0"], "nearly": nearly, "right": y}
    return uv.Losses.from_predictions(y, scores, loss="auc", groups=groups)


def folds(groups=None):
    """Squared errors of four folds."""
    generator = np.random.default_rng(5)
    y, fold = generator.normal(size=N_ROWS), np.arange(N_ROWS) // 10
    rules = {f"m{i}": y + (1 + i / 4) * generator.normal(size=N_ROWS) for i in range(N_LEARNERS)}
    return uv.Losses.from_predictions(y, rules, fold=fold, loss="squared", groups=groups)


CLUSTERS = np.repeat(np.arange(12), [1, 2, 3, 4, 5, 5, 5, 5, 4, 3, 2, 1])
OF_ONE_CLASS = (CLUSTERS % 3 == 0).astype(int)


MAKE = {
    "areas": areas,
    "errors": predictions,
    "accuracy": lambda: predictions("accuracy"),
    "squares": squares,
    "scores": scores,
    "folds": folds,
    "errors of clusters": lambda: predictions(groups=CLUSTERS),
    "accuracy of clusters": lambda: predictions("accuracy", groups=CLUSTERS),
    "squares of clusters": lambda: squares(CLUSTERS),
    "areas of clusters": lambda: areas(groups=CLUSTERS),
    "areas of clusters with one class": lambda: areas(OF_ONE_CLASS, CLUSTERS),
    "folds of clusters": lambda: folds(np.arange(N_ROWS) // 2),
}


def treat_all_as_many(monkeypatch):
    monkeypatch.setattr(tests_on_losses, "MOST_MADE", 1)
    monkeypatch.setattr(module, "MOST_MADE", 1)


def naive_frame(comparison):
    """One row after the other, each from its own result."""
    adjusted, intervals = comparison.adjusted_pvalues, comparison.intervals()
    rows = []
    for key, result in comparison.results.items():
        row = result.summary_frame()
        row.insert(list(row.columns).index("pvalue") + 1, "pvalue_adjusted", adjusted[key])
        for column, name in enumerate(("test", "learner", "other")):
            row.insert(column, name, key[column])
        low, high = intervals[key]
        rows.append(row.assign(estimand=result.estimand, conf_low=low, conf_high=high))
    return pd.concat(rows, ignore_index=True)


def in_words(comparison):
    return re.sub(r"Seconds: +[\d.]+|[\d.]+ +Seconds|\d+\.\d\d", "", str(comparison.summary()))


@pytest.mark.parametrize("name", MAKE)
@pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
def test_numbers_of_many_pairs_are_those_of_each(name, alternative, monkeypatch):
    losses = MAKE[name]()
    each = uv.compare_losses(losses, alternative=alternative)
    treat_all_as_many(monkeypatch)
    many = uv.compare_losses(losses, alternative=alternative)
    pd.testing.assert_frame_equal(many.frame, each.frame, **BUT_FOR_ROUNDING)
    pd.testing.assert_frame_equal(each.frame, naive_frame(each), check_exact=True)
    pd.testing.assert_frame_equal(
        many.summary_frame(0.6), each.summary_frame(0.6), **BUT_FOR_ROUNDING
    )
    assert in_words(many) == in_words(each)
    assert many.verdict == each.verdict


def test_clusters_that_count_the_same_are_those_of_each_pair(monkeypatch):
    losses = predictions(groups=CLUSTERS)
    each = uv.compare_losses(losses, group_weight="group")
    treat_all_as_many(monkeypatch)
    many = uv.compare_losses(losses, group_weight="group")
    pd.testing.assert_frame_equal(many.frame, each.frame, **BUT_FOR_ROUNDING)


@pytest.mark.parametrize("options", [{"horizon": 1}, {"horizon": 3, "variance": "bartlett"}])
def test_losses_in_time_are_those_of_each_pair(options, monkeypatch):
    test = uv.TestSpec("diebold_mariano", fit=options)
    each = uv.compare_losses(squares(), test)
    treat_all_as_many(monkeypatch)
    pd.testing.assert_frame_equal(
        uv.compare_losses(squares(), test).frame, each.frame, **BUT_FOR_ROUNDING
    )


@pytest.mark.parametrize(
    "name", [name for name in MAKE if "scores" not in name and "folds" not in name]
)
def test_learners_together_are_those_of_each_pair(name, monkeypatch):
    losses = MAKE[name]()
    each = uv.compare_losses(losses, correction="simultaneous")
    treat_all_as_many(monkeypatch)
    many = uv.compare_losses(losses, correction="simultaneous")
    pd.testing.assert_frame_equal(many.frame, each.frame, **BUT_FOR_ROUNDING)
    assert many.best_set() == each.best_set()
    assert many.to_dict().keys() == each.to_dict().keys()


@pytest.mark.parametrize("n_obs", [20, 200])
def test_the_best_set_of_many_learners_is_that_of_all_draws(n_obs, monkeypatch):
    values = np.random.default_rng(4).normal(size=(90, n_obs))
    errors = MultivariateT(np.cov(values) / n_obs, n_obs - 1.0, n_draws=4_000)
    critical = errors.worst(3, 0.05)
    for distance in (critical - 0.3, critical - 1e-3, critical, critical + 1e-3, critical + 0.3):
        assert errors.exceeds_worst(3, distance, 0.05) == (distance > critical)
    monkeypatch.setattr(simultaneous, "FEW", 100)
    few = MultivariateT(errors.covariance, errors.df, n_draws=4_000)
    assert few.worst(3, 0.05) == pytest.approx(critical, rel=0.05)
    assert few.exceeds_worst(3, critical + 0.3, 0.05)


def test_rules_that_never_differ_have_simultaneous_intervals():
    y = np.arange(40) % 2
    losses = uv.Losses.from_predictions(y, {f"m{each}": y for each in range(3)})
    comparison = uv.compare_losses(losses, ["hold_out"], correction="simultaneous")
    assert len(comparison.frame) == 3
