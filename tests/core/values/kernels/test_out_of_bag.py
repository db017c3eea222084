"""Leave-one-out bootstrap and DeLong against R: what tests/oracles/out_of_bag.R printed.

riskRegression's AUC is the mean over pairs of N_ij/C_ij, as here. Its influence values are N/n_c
times (mean_j N_ij/C_ij - AUC): term I alone, with the divisor N (N - 1) below the squares. So its
variance is N/(N - 1) times that of term I; terms II and III, how another sample would change the
learning sets, are not in it.
"""

import json

import numpy as np
import pytest

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.kernels import influence
from ucvtest.kernels.influence.estimate import Rows
from ucvtest.kernels.influence.sums import PairCounts

ORACLE = json.loads((ROOT / "tests/oracles/out_of_bag.json").read_text())
Y = np.array(ORACLE["y"])
N = len(Y)


def counts_and_risks(name):
    printed = ORACLE[name]
    risks = [np.array(printed["risks"][model]) for model in ("a", "b")]
    return np.array(printed["counts"]), risks


def test_auc_of_samples_of_each_class():
    counts, risks = counts_and_risks("classes")
    expected = ORACLE["classes"]["auc"]
    found = [influence.auc(each, counts == 0, Y, counts) for each in risks]
    np.testing.assert_allclose([each["auc"] for each in found], expected["estimate"], rtol=1e-12)

    def of_term_1(terms1, terms0):
        return np.sqrt((terms1[0] @ terms1[0] / 8**2 + terms0[0] @ terms0[0] / 12**2) * N / (N - 1))

    errors = [of_term_1(each["terms1"], each["terms0"]) for each in found]
    np.testing.assert_allclose(errors, expected["se"], rtol=1e-12)
    first, second = found
    both = of_term_1(first["terms1"] - second["terms1"], first["terms0"] - second["terms0"])
    assert both == pytest.approx(expected["difference_se"], rel=1e-12)
    # What is missing there is no small part.
    assert all(each["se"] > 1.1 * error for each, error in zip(found, errors, strict=True))


def test_auc_of_samples_of_all():
    counts, risks = counts_and_risks("whole")
    expected = ORACLE["whole"]["auc"]
    rows = Rows(counts == 0, counts, np.arange(len(counts)))
    counted = PairCounts.of(Y, len(counts), [rows])
    found = []
    for each in risks:
        sums = counted.sums()
        sums.add(rows, each)
        found.append(sums.influence([rows]))
    found.append(found[1].minus(found[0]))
    estimates = [*expected["estimate"], expected["difference"]]
    np.testing.assert_allclose([each.estimate for each in found], estimates, rtol=1e-12)
    errors = [np.sqrt(each.term_1_variance * N / (N - 1)) for each in found]
    np.testing.assert_allclose(errors, [*expected["se"], expected["difference_se"]], rtol=1e-12)


def test_brier_score_of_samples_of_all():
    counts, risks = counts_and_risks("whole")
    expected = ORACLE["whole"]["brier"]
    losses = [(each - Y) ** 2 for each in risks]
    found = [influence.error(each, counts == 0, counts) for each in losses]
    np.testing.assert_allclose([each["error"] for each in found], expected["estimate"], rtol=1e-12)
    first = [each["terms"][0] for each in found]
    errors = [np.sqrt(each @ each / (N * (N - 1))) for each in (*first, first[1] - first[0])]
    np.testing.assert_allclose(errors, [*expected["se"], expected["difference_se"]], rtol=1e-12)


def test_delong():
    printed = ORACLE["delong"]
    scores = np.array([printed["risks"]["a"], printed["risks"]["b"]])[:, None, :]
    # After two observations to learn from.
    scores, labels = np.pad(scores, ((0, 0), (0, 0), (2, 0))), np.r_[0, 1, Y]
    learning = (np.arange(N + 2) < 2)[None]
    losses = uv.Losses.from_arrays(scores, learning, learners=["a", "b"], loss="auc", y=labels)
    alone = [uv.DeLongTest.from_losses(losses, name).fit() for name in "ab"]
    aucs = [each.estimate for each in alone]
    np.testing.assert_allclose(aucs, printed["auc"], rtol=1e-12)
    np.testing.assert_allclose([each.variance for each in alone], printed["variance"], rtol=1e-12)
    both = uv.DeLongTest.from_losses(losses, "a", "b").fit()
    assert both.statistic == pytest.approx(printed["z_value"], rel=1e-12)
    assert both.pvalue == pytest.approx(printed["pvalue"], rel=1e-10)
    np.testing.assert_allclose(both.conf_int(), printed["conf_int"], rtol=1e-10)
    same = printed["risk_regression"]
    np.testing.assert_allclose(aucs, same["estimate"], rtol=1e-12)
    np.testing.assert_allclose([each.se for each in alone], same["se"], rtol=1e-12)
    assert -both.estimate == pytest.approx(same["difference"], rel=1e-12)
    assert both.se == pytest.approx(same["difference_se"], rel=1e-12)
