"""The AUC with too many observations for sums over pairs of them."""

import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer, rows_class_by_class
from ucvtest.kernels.auc_ustatistic.large_samples import ManyObservations
from ucvtest.kernels.auc_ustatistic.two_classes import TwoClasses
from ucvtest.methods.ustatistic import simultaneous
from ucvtest.methods.ustatistic.auc import class_sizes

N1, N0, G1, G0, M = 40, 50, 15, 20, 1500


@pytest.fixture(scope="module")
def rankings():
    """Rules that move with who they learnt from; scores are rounded, so that some are tied."""
    rng = np.random.default_rng(0)
    members = np.arange(N1), np.arange(N1, N1 + N0)
    learnt = rows_class_by_class(rng, M, (N1, N0), (G1, G0))
    x = rng.normal(size=N1 + N0) + (np.arange(N1 + N0) < N1)
    slope = 1 + (learnt @ x)[:, None] / 20
    z = rng.normal(size=N1 + N0)
    scores = [np.round(x * slope + 0.5 * z, 1), np.round(x + z * slope, 1)]
    return members, learnt, scores


def naive_auc(scores, learnt):
    positive, negative = ~learnt[:N1], ~learnt[N1:]
    s1, s0 = scores[:N1][positive][:, None], scores[N1:][negative][None]
    return ((s1 > s0) + 0.5 * (s1 == s0)).mean()


def test_means_and_jackknives_are_those_of_sums_over_pairs(rankings):
    members, learnt, scores = rankings
    few, many = TwoClasses(members), ManyObservations(members, (G1, G0), 2)
    for sums in (few, many):
        for rows in np.array_split(np.arange(M), 3):
            sums.add([each[rows] for each in scores], learnt[rows], rows)
    aucs = np.array(
        [[naive_auc(*row) for row in zip(each, learnt, strict=True)] for each in scores]
    )
    for contrast in ((1.0, 0.0), (0.0, 1.0), (1.0, -1.0)):
        assert many.mean(contrast) == pytest.approx(contrast @ aucs.mean(axis=1), abs=1e-12)
        found, expected = many.estimate(contrast), few.estimate(contrast)
        error = np.hypot(found.mc_se_estimate, expected.mc_se_estimate)
        assert abs(found.auc - expected.auc) < 4 * error
        errors = [each.mc_se["jackknife"] for each in (found, expected)]
        difference = found.values["jackknife"] - expected.values["jackknife"]
        assert abs(difference) < 4 * np.hypot(*errors)
        assert errors[0] < 0.1 * found.values["jackknife"]
        assert np.isnan(found.values["midpoint"])
        assert np.isnan(found.pair_effects)


def test_learners_that_rank_alike_have_no_difference(rankings):
    members, learnt, scores = rankings
    sums = ManyObservations(members, (G1, G0), 2)
    sums.add([scores[0][:200]] * 2, learnt[:200], np.arange(200))
    assert sums.alike
    assert sums.estimate((1.0, -1.0)).auc == 0


def test_many_observations_have_the_jackknife_alone(monkeypatch):
    for module in (class_sizes, simultaneous):
        monkeypatch.setattr(module, "MAX_OBS_PAIR_EFFECTS", 50)
    sample = breast_cancer(60, 3)
    X, y = sample.matrix, sample.response
    test = uv.UStatisticTest(X, y, "lda", "nearest_centroid", loss="auc")
    result = test.fit(n_pairs=200, rng=0)
    assert result.status == "ok"
    assert list(result.tables["Variances"]["variance"]) == ["jackknife"]
