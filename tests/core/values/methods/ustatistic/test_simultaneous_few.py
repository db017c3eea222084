"""Several learners at once from few fits: own variances, joined by a normal copula."""

import math
from itertools import count

import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer
from ucvtest.methods.ustatistic import one_by_one
from ucvtest.stats.simultaneous import MultivariateT, as_normal

SAMPLE = breast_cancer(40, 4)
X, Y = SAMPLE.matrix, SAMPLE.response
THREE = ["nearest_centroid", "knn:3", "knn:7"]


def compared(learners=THREE, **fit):
    test = uv.TestSpec("ustatistic", fit=fit)
    return uv.compare(X, Y, learners, test, correction="simultaneous", rng=3)


@pytest.mark.parametrize("fits_of_each", [6, 20, 200])
def test_every_budget_answers(fits_of_each):
    for learners in (THREE, THREE[:2]):
        found = compared(learners, max_fits=fits_of_each * len(learners))
        assert {each.status for each in found.results.values()} == {"ok"}
        assert found.n_fits <= fits_of_each * len(learners)
        assert found.best_set()
        assert np.isfinite(found.frame[["conf_low", "conf_high"]].to_numpy()).all()


def test_each_difference_is_that_of_its_own_rounds():
    design = uv.designs.DisjointSets(learn_size=19, n_draws=6, n_sets=1)
    losses = uv.evaluate(THREE, X, Y, design, rng=1)
    found = uv.compare_losses(losses, "ustatistic", correction="simultaneous")
    for (_, first, other), result in found.results.items():
        alone = uv.UStatisticTest.from_losses(losses, first, other).fit()
        assert (result.estimate, result.se, result.df) == (alone.estimate, alone.se, alone.df)


def test_one_difference_is_the_single_test():
    found = compared(THREE[:2], variance="few", n_pairs=8)
    (result,) = found.results.values()
    frame = found.frame
    assert frame[["conf_low", "conf_high"]].to_numpy()[0] == pytest.approx(result.conf_int())
    assert frame["pvalue_adjusted"][0] == pytest.approx(result.pvalue, abs=0.01)


def test_ends_lie_between_those_of_one_difference_and_bonferronis():
    found = compared(variance="few", n_pairs=8)
    for key, (low, high) in found.intervals().items():
        alone, bonferroni = (found.results[key].conf_int(0.05 / k) for k in (1, 3.1))
        assert bonferroni[0] < low < alone[0]
        assert alone[1] < high < bonferroni[1]
    adjusted = found.frame["pvalue_adjusted"]
    assert (adjusted >= found.frame["pvalue"] - 0.01).all()


def test_critical_values_fall_with_correlation():
    values = []
    for shared in (0.0, 1.0, 9.0):
        covariance = np.diag([1.0, 1.0, 1.0, shared])
        errors = MultivariateT(covariance, math.inf)
        values.append(errors.critical(0.05, [(k, 3) for k in range(3)]).value)
    assert values[0] > values[1] > values[2]


def test_a_normal_quantile_has_the_tail_of_students():
    assert as_normal(2.262157, 9) == pytest.approx(1.959964, abs=1e-5)
    assert as_normal(-2.262157, 9) == pytest.approx(-1.959964, abs=1e-5)
    assert as_normal(0.0, 9) == 0


def smoother(column, loss, *, fails_on=(), stops_at=None):
    """Labels or scores that are fitted one by one; some fits fail, or interrupt."""
    fits = 0

    def linear(X_train, y_train, X_test):
        nonlocal fits
        fits += 1
        if fits - 1 in fails_on:
            raise RuntimeError("singular")
        if fits == stops_at:
            raise KeyboardInterrupt
        above = X_test[:, column] - X_train[:, column].mean()
        return above if loss == "auc" else np.where(above > 0, Y.max(), Y.min())

    return linear


def jointly(loss, **first):
    learners = {"a": smoother(0, loss, **first), "b": smoother(1, loss), "c": smoother(2, loss)}
    test = uv.TestSpec("ustatistic", fit={"variance": "few", "max_fits": 72})
    return uv.compare(X, Y, learners, test, loss=loss, correction="simultaneous", rng=3)


@pytest.fixture
def steps_of_one(monkeypatch):
    monkeypatch.setattr(one_by_one, "CLOCK", count(0, 10).__next__)


@pytest.mark.parametrize("loss", [None, "auc"])
@pytest.mark.usefixtures("steps_of_one")
def test_a_fit_that_fails_costs_its_pair_for_all_and_an_interrupt_answers(loss):
    found = jointly(loss, fails_on=[9])
    for result in found.results.values():
        assert result.status == "ok"
        assert [result.diagnostics[name] for name in ("n_failed_pairs", "n_pairs")] == [1, 11]
    assert np.isfinite(found.frame[["conf_low", "conf_high"]].to_numpy()).all()
    stopped = jointly(loss, stops_at=11)
    assert len(stopped.results) == 3
    for result in stopped.results.values():
        assert result.status == "interrupted after 20 fits"
        assert result.diagnostics["n_pairs"] == 5


@pytest.mark.parametrize(("fits_of_each", "variance"), [(60, "few"), (800, "midpoint")])
def test_aucs_at_once_answer_by_few_fits_until_more_are_known(fits_of_each, variance):
    test = uv.TestSpec("ustatistic", fit={"max_fits": 3 * fits_of_each})
    found = uv.compare(X, Y, THREE, test, loss="auc", correction="simultaneous", rng=3)
    assert {one.status for one in found.results.values()} == {"ok"}
    assert {one.diagnostics["variance"] for one in found.results.values()} == {variance}


@pytest.mark.parametrize("fit", [{"max_fits": 18}, {"variance": "few", "n_pairs": 10}])
def test_aucs_at_once_have_the_answers_of_single_tests(fit):
    test = uv.TestSpec("ustatistic", fit=fit)
    found = uv.compare(X, Y, THREE, test, loss="auc", correction="simultaneous", rng=3)
    of_each = 6 if "max_fits" in fit else 20
    assert found.n_fits == 3 * of_each
    # The same pairs, as drawing does not depend on how many learners there are.
    for (_, *names), result in found.results.items():
        alone = uv.UStatisticTest(X, Y, *names, loss="auc").fit(of_each // 2, "few", rng=3)
        assert (result.estimate, result.se, result.df) == (alone.estimate, alone.se, alone.df)
        assert result.status == "ok"
    low, high = found.frame[["conf_low", "conf_high"]].to_numpy().T
    (first,) = (found.results["ustatistic", *THREE[:2]],)
    assert high[0] - low[0] > np.ptp(first.conf_int())
    assert found.best_set()


def test_aucs_of_clusters_at_once_may_be_fitted_one_by_one():
    groups = np.arange(len(Y)) // 2
    asked = {"loss": "auc", "groups": groups}
    y, learners = np.arange(len(Y)) // 2 % 2, {"a": smoother(0, "auc"), "b": smoother(1, "auc")}
    test = uv.TestSpec("ustatistic", fit={"variance": "few", "n_pairs": 4})
    found = uv.compare(X, y, learners, test, correction="simultaneous", rng=3, **asked)
    alone = uv.UStatisticTest(X, y, *learners.values(), **asked).fit(4, "few", rng=3)
    result = found.result(None, "a", "b")
    assert (result.status, result.estimate, result.se) == ("ok", alone.estimate, alone.se)
