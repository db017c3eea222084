import json

import numpy as np
import pytest

from tests.oracles.cox import baseline_hazard, score
from tests.support.paths import ROOT
from tests.support.samples import evaluate, learning_sets
from ucvtest.data.sample import make_sample
from ucvtest.data.survival_times import SurvivalTimes
from ucvtest.learners import cox

R = json.loads((ROOT / "tests" / "oracles" / "cox.json").read_text())

each_study = pytest.mark.parametrize("study", ["veteran", "ties"])
each_way = pytest.mark.parametrize("ties", ["efron", "breslow"])


def survival_sample(study="veteran"):
    known = R[study]
    times = SurvivalTimes(np.array(known["time"]), np.array(known["event"]) == 1)
    return make_sample(np.array(known["x"]), times, as_classes=False)


def sets_of(study):
    return np.array([[*map(int, row)] for row in R[study]["learning"]], dtype=bool)


def slopes(sample, risks):
    """The coefficients of linear predictors."""
    columns = np.column_stack([np.ones(sample.n_obs), sample.matrix])
    return np.linalg.lstsq(columns, np.atleast_2d(risks).T, rcond=None)[0].T[:, 1:]


def fit(sample, learner, learning):
    state = learner.prepare(sample)
    shape = learner.rows_per_call(sample)
    filled = np.resize(learning, (shape, sample.n_obs))
    assert len(learning) <= shape
    return learner.predict(state, filled, "event_probability" if learner.times else "risk").values[
        : len(learning)
    ]


@each_way
@each_study
def test_it_is_coxph(study, ties):
    sample = survival_sample(study)
    risks = fit(sample, cox(ties=ties), sets_of(study))
    expected = np.array(R[study]["coefficients"][ties])
    np.testing.assert_allclose(slopes(sample, risks), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(risks, expected @ sample.matrix.T, rtol=1e-8, atol=1e-7)


@each_way
@each_study
def test_probabilities_are_those_of_survfit(study, ties):
    sample, times = survival_sample(study), R[study]["times"]
    learning = sets_of(study)[:1]
    found = fit(sample, cox(ties=ties).predicting_at(times), learning)[0]
    np.testing.assert_allclose(1 - found.T, R[study]["survival"][ties], rtol=1e-8, atol=1e-9)


def test_penalties_are_those_of_ridge_in_r():
    study = "ties"
    sample, first = survival_sample(study), sets_of(study)[:1]
    found = slopes(sample, fit(sample, cox(2.0), first))[0]
    np.testing.assert_allclose(found, R[study]["ridge"]["plain"], rtol=1e-7)
    # R divides variances by g - 1.
    size = first.sum()
    found = slopes(sample, fit(sample, cox(2.0 * size / (size - 1), standardize=True), first))[0]
    np.testing.assert_allclose(found, R[study]["ridge"]["scaled"], rtol=1e-7)


@each_way
def test_it_solves_the_equations_of_the_papers(ties):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(20, 24))
    time, event = rng.integers(0, 8, 20).astype(float), rng.random(20) < 0.6
    sample = make_sample(x, SurvivalTimes(time, event), as_classes=False)
    learning = learning_sets(sample, 12, 3)
    until, lam = 5.0, 0.7
    risks = fit(sample, cox(lam, ties), learning)
    found = fit(sample, cox(lam, ties).predicting_at([until]), learning)
    for rows, risk, probability in zip(learning, risks, found, strict=True):
        # The shortest ones: of more features than rows, a penalty leaves no others.
        b = np.linalg.lstsq(x - x[0], risk - risk[0], rcond=None)[0]
        known = (b, x[rows], time[rows], event[rows], ties)
        np.testing.assert_allclose(score(*known), lam * b, atol=1e-8)
        np.testing.assert_allclose(risk, x @ b, atol=1e-8)
        hazard = baseline_hazard(*known, until)
        np.testing.assert_allclose(1 - probability, np.exp(-hazard * np.exp(x @ b)), atol=1e-9)


def monotone(n_obs=40):
    """The feature orders the events: the likelihood has no maximum."""
    x = np.linspace(-1, 1, n_obs)[:, None]
    times = SurvivalTimes(np.arange(n_obs)[::-1] + 1.0, np.arange(n_obs) % 3 > 0)
    return make_sample(x, times, as_classes=False)


@pytest.mark.parametrize("max_iter", [30, 300])
def test_without_a_maximum_the_remedy_is_said(max_iter):
    sample = monotone()
    learning = learning_sets(sample, 20, 3)
    with pytest.raises(ValueError) as error:
        evaluate(sample, cox(max_iter=max_iter), "risk", learning)
    assert "the partial likelihood has no maximum in this learning set" in str(error.value)
    assert "raise lam, as in 'cox:0.1'" in str(error.value)
    found = evaluate(sample, cox(1e-4), "risk", learning).values[~learning]
    assert np.isfinite(found).all()


def test_a_learning_set_without_events_has_equal_risks_with_a_penalty():
    sample = monotone()
    learning = ~sample.survival_times.event[None]
    found = fit(sample, cox(0.1).predicting_at([5.0, 50.0]), learning)
    np.testing.assert_array_equal(found, 0.0)
    assert np.isnan(fit(sample, cox(), learning)).all()
    # As many columns as observations, all of them constant.
    constant = make_sample(np.ones(2 * (sample.n_obs,)), sample.survival_times, as_classes=False)
    np.testing.assert_array_equal(fit(constant, cox(0.1), ~learning), 0.0)
