"""Survival metrics that have no value, or no variance, say so: never NaN with the status "ok"."""

from typing import Any

import numpy as np
import pytest

import ucvtest as uv

N = 12
RNG = np.random.default_rng(4)
X = RNG.normal(size=(N, 2))
TIME = np.round(RNG.exponential(5 * np.exp(-X[:, 0])), 1) + 0.1
EVENT = np.arange(N) % 3 > 0
FOLD = np.arange(N) // 4

SAMPLES = {
    "usual": (TIME, EVENT),
    "the last event alone": (np.sort(TIME), np.arange(N) == N - 1),
    "the first event alone": (np.sort(TIME), np.arange(N) == 0),
    "early times are censored": (np.sort(TIME), np.arange(N) > N // 2),
    "late times are censored": (np.sort(TIME), np.arange(N) < N // 2),
    "one time": (np.full(N, 3.0), EVENT),
    "no censoring": (TIME, np.ones(N)),
}
METRICS = {
    "harrell": uv.metrics.harrell(),
    "before the first event": uv.metrics.harrell(0.05),
    "beyond the last time": uv.metrics.uno(1000),
    "uno": uv.metrics.uno(),
    "auc": uv.metrics.auc(3),
    "auc beyond": uv.metrics.auc(1000),
    "brier": uv.metrics.brier(3),
    "brier beyond": uv.metrics.brier(1000),
    "integrated": uv.metrics.integrated_brier([2, 1000]),
}


def rule(metric: Any, column: int) -> Any:
    """A function that learns nothing, and returns what the metric needs."""

    def function(X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
        probability = 1 / (1 + np.exp(-X_test[:, column]))
        several = len(metric.times) > 1
        return np.column_stack([probability / 2, probability]) if several else probability

    return function


def checked(result: uv.TestResult) -> str:
    """The status, which is "ok" where all numbers are there, and nowhere else."""
    numbers = [result.estimate, result.se]
    if result.status == "ok":
        numbers += [*result.conf_int()]
        if "Learners" in result.tables:
            numbers += [*result.tables["Learners"]["se"]]
    assert (result.status == "ok") == bool(np.isfinite(numbers).all() and result.se > 0)
    return result.status


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("n_learners", [1, 2])
def test_nan_has_a_status(sample: str, name: str, n_learners: int) -> None:
    y, metric = uv.survival(*SAMPLES[sample]), METRICS[name]
    learners = [rule(metric, column) for column in range(n_learners)]
    risks = {str(number): each(None, None, X) for number, each in enumerate(learners)}
    fixed = uv.Losses.from_predictions(y, risks, metric=metric)
    folds = uv.Losses.from_predictions(y, risks, metric=metric, fold=FOLD)
    without = checked(uv.HoldOutTest.from_losses(fixed).fit()).startswith("no estimate")
    assert without == bool(fixed.without_value)
    assert without == bool(metric.no_value(y))
    out_of_fold = checked(uv.CrossValidationWaldTest.from_losses(folds).fit())
    assert out_of_fold.startswith("no estimate") == bool(folds.without_value)
    test = uv.UStatisticTest(X, y, *learners, metric=metric, learn_size=5)
    for options in ({"max_fits": 24 * n_learners, "variance": "few"}, {"n_pairs": 20}):
        assert checked(test.fit(rng=0, **options)).startswith("no estimate") or not without
    if without:
        with pytest.raises(ValueError, match="has no value for these survival times, as no"):
            uv.evaluate(learners, X, y, 2, metric=metric)


def test_a_table_of_losses_says_why_it_is_empty() -> None:
    y = uv.survival(*SAMPLES["late times are censored"])
    beyond = uv.Losses.from_predictions(y, {"a": X[:, 0] * 0}, metric=uv.metrics.brier(1000))
    assert beyond.without_value.startswith(
        "Brier score at 1000 has no value here, because nobody is"
    )
    assert "nobody is followed up to 1000" in beyond._repr_html_()
    alone = uv.Losses.from_predictions(y, {"a": X[:, 0]}, metric="harrell", fold=np.arange(N))
    assert "no two comparable observations were tested by the same rule" in alone.without_value
    usual = uv.Losses.from_predictions(y, {"a": X[:, 0]}, metric="harrell")
    assert (usual.without_value, "No value" in usual._repr_html_()) == ("", False)
    assert uv.Losses.from_predictions(EVENT, {"a": EVENT}).without_value == ""
