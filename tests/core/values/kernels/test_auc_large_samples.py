"""The AUC with too many observations for sums over pairs of them."""

import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer, rows_class_by_class
from ucvtest.kernels.ustatistic import rows as rows_module
from ucvtest.kernels.ustatistic.aucs import AucEstimate
from ucvtest.kernels.ustatistic.columns import Ranked
from ucvtest.kernels.ustatistic.contrasts import estimate
from ucvtest.kernels.ustatistic.placements import two_classes
from ucvtest.kernels.ustatistic.rows import Rows, Strata
from ucvtest.methods.ustatistic import auc_sizes, simultaneous

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


def test_means_and_jackknives_are_those_of_sums_over_pairs(rankings, monkeypatch):
    members, learnt, scores = rankings
    strata, found = Strata.of(members, (G1, G0)), []
    columns = Ranked(strata, 2, two_classes()[::-1, ::-1])
    for most in (rows_module.MOST_UNITS, 50):
        monkeypatch.setattr(rows_module, "MOST_UNITS", most)
        sums = Rows(strata, 2)
        for rows in np.array_split(np.arange(M), 3):
            some = [each[rows] for each in scores], learnt[rows], rows
            sums.add(columns.placed(*some, sums.pair), learnt[rows], rows)
        found.append(sums)
    few, many = found
    assert many.pair is None
    aucs = np.array(
        [[naive_auc(*row) for row in zip(each, learnt, strict=True)] for each in scores]
    )
    np.testing.assert_allclose(many.means, aucs.mean(axis=1), atol=1e-12)
    of_few, of_many = few.effects(), many.effects()
    for places in ((0,), (1,), (0, 1)):
        expected, auc = (
            estimate(effects, columns.contrast(places, effects.u), AucEstimate)
            for effects in (of_few, of_many)
        )
        assert abs(auc.value - expected.value) < 4 * np.hypot(auc.mc_se, expected.mc_se)
        errors = [each.errors["jackknife"] for each in (auc, expected)]
        difference = auc.variances["jackknife"] - expected.variances["jackknife"]
        assert abs(difference) < 4 * np.hypot(*errors)
        assert errors[0] < 0.1 * auc.variances["jackknife"]
        assert not {"midpoint", "pair_effects"} & set(auc.variances)


def test_many_observations_have_the_jackknife_alone(monkeypatch):
    for module in (auc_sizes, simultaneous):
        monkeypatch.setattr(module, "MAX_OBS_PAIR_EFFECTS", 50)
    sample = breast_cancer(60, 3)
    X, y = sample.matrix, sample.response
    test = uv.UStatisticTest(X, y, "lda", "nearest_centroid", loss="auc")
    result = test.fit(n_pairs=200, rng=0)
    assert result.status == "ok"
    assert list(result.tables["Variances"]["variance"]) == ["jackknife"]
