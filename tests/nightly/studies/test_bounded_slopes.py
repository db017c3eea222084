"""The tables of the study of bounded slopes: what they say, and that they are of today's rule."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import ucvtest as uv
from studies.intervals import bounded_slopes as study
from tests.support.paths import ROOT
from ucvtest.stats.pivots import Stabilised, shrunk_slope

PVALUES, COVERAGE = (
    pd.read_csv(ROOT / "studies/intervals" / f"{name}.csv")
    for name in ("bounded_slopes_pvalues", "bounded_slopes")
)
ELSEWHERE = pytest.mark.requires_data
HERE = ("wdbc", "wine", "iris", "digits")
"""Problems whose data come with scikit-learn."""


def factors(name, other, factor):
    """How many times larger, or smaller, one p-value is where Wald and the corrected t agree."""
    same = PVALUES[study.agreeing(PVALUES, factor)]
    return np.exp(np.abs(np.log(same[name] / same[other])))


def test_pvalues_are_those_of_todays_rule():
    assert len(PVALUES) == 12 * 2 * 3
    assert set(PVALUES["problem"]) == set(study.TWELVE)
    for row in PVALUES.itertuples():
        error = np.hypot(row.se_slope, row.mc_se_slope)
        rule = Stabilised(row.estimate, row.se, row.df, slope=row.slope, slope_error=error)
        assert rule.pvalue(0.0, "two-sided") == pytest.approx(row.after, rel=1e-4)
        assert 2 * stats.t.sf(abs(row.estimate / row.se), row.df) == pytest.approx(row.wald, 1e-4)


def test_constant_learners_have_pvalues_like_wald_and_the_corrected_t_test():
    for other in ("wald", "corrected"):
        assert factors("after", other, 5).max() < 10 < 1e5 < factors("before", other, 5).max()
    assert np.exp(np.abs(np.log(PVALUES["after"] / PVALUES["wald"]))).max() < 10
    # Where those two are themselves almost ten times apart, few are further from the second.
    assert (factors("after", "corrected", 10) > 10).sum() <= 2 < study.agreeing(PVALUES).sum() / 20


def test_intervals_cover_as_often_as_before():
    found = study.totals(COVERAGE)
    assert (found["answered"] > 900).all()
    assert (found["after"] > 95.5).all()
    assert (found["before"] - found["after"] < 1).all()
    assert (found["width"] < found["width before"]).all()
    assert found.loc["constant", "after"] > found.loc["constant", "wald"] + 2
    assert COVERAGE["width"].between(0.9, 1.42).all()


@pytest.mark.parametrize("counts", study.COUNTS)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in HERE else ELSEWHERE) for name in study.TWELVE],
)
def test_twelve_problems_beside_wald_and_the_corrected_t_test(name, counts):
    X, y = study.real_data(name)
    rng = np.random.default_rng(1)
    members = [
        rng.permutation(np.flatnonzero(y == label))[:n]
        for label, n in zip((1, 0), counts, strict=True)
    ]
    X, y = X[np.concatenate(members)], y[np.concatenate(members)]
    result = uv.UStatisticTest(X, y, "ridge:1.0", "majority").fit(n_pairs=400, rng=0)
    design, both = uv.designs.KFold(10), {"ridge": "ridge:1.0", "none": "majority"}
    losses = uv.evaluate(both, X, y, design, "zero_one", rng=0)
    corrected = uv.CorrectedTTest.from_losses(losses).fit().pvalue
    wald = 2 * stats.t.sf(abs(result.estimate / result.se), result.df)
    assert result.diagnostics["interval"] == "stabilised"
    assert 0.1 < result.pvalue / wald < 10
    if 0.2 < wald / corrected < 5:
        assert 0.1 < result.pvalue / corrected < 10


@pytest.mark.parametrize(("most", "apart"), [(0.1, 50), (0.34, 1e4)])
def test_a_scale_as_steep_as_at_two_standard_errors_would_not_do(most, apart):
    same = PVALUES[study.agreeing(PVALUES, 10)]
    distance = (same["estimate"] / same["se"]).to_numpy()
    error = np.hypot(same["se_slope"], same["mc_se_slope"])
    bend = np.clip(shrunk_slope(same["slope"], error) * same["se"], -most, most).to_numpy()
    near = np.clip(distance, -2, 2)
    z = np.expm1(bend * near) / bend + np.exp(bend * near) * (distance - near)
    ratio = 2 * stats.t.sf(np.abs(z), same["df"]) / same["wald"]
    assert apart < ratio.max() < 10 * apart
