"""Estimates are those of scikit-learn, or what the definition says."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import precision_recall_curve, roc_auc_score, roc_curve

import ucvtest as uv

N = 40


def sample(seed: int, *, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < 0.4).astype(int)
    p = 1 / (1 + np.exp(-1.5 * y - rng.normal(size=N) + 1))
    return y, np.round(p, 1) if ties else p


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_roc_is_that_of_scikit_learn(seed, ties):
    y, p = sample(seed, ties=ties)
    curve = uv.curves.roc(y, {"a": p})
    fpr, tpr, thresholds = (each[:0:-1] for each in roc_curve(y, p, drop_intermediate=False))
    band = curve.band("a", "sensitivity")
    np.testing.assert_array_equal(band.x, thresholds)
    np.testing.assert_array_equal(band.estimate, tpr)
    np.testing.assert_allclose(1 - curve.band("a", "specificity").estimate, fpr, atol=1e-15)
    # What is drawn has the area that is estimated.
    (line,) = (each for each in layers(curve) if each.label == "a")
    assert np.trapezoid(line.y, line.x) == pytest.approx(roc_auc_score(y, p), abs=1e-12)


def layers(curve):
    from ucvtest.curves.picture import picture_of

    return picture_of(curve, "curve").layers


@pytest.mark.parametrize("ties", [False, True])
def test_precision_and_recall_are_those_of_scikit_learn(ties):
    y, p = sample(3, ties=ties)
    curve = uv.curves.precision_recall(y, {"a": p})
    precision, recall, thresholds = precision_recall_curve(y, p)
    np.testing.assert_array_equal(curve.band("a", "precision").x, thresholds)
    np.testing.assert_array_equal(curve.band("a", "precision").estimate, precision[:-1])
    np.testing.assert_array_equal(curve.band("a", "recall").estimate, recall[:-1])


def test_calibration_is_that_of_scikit_learn():
    y, p = sample(4)
    band = uv.curves.calibration(y, {"a": p}, bins=6).band()
    share, mean = calibration_curve(y, p, n_bins=6, strategy="quantile")
    np.testing.assert_allclose(band.estimate, share, rtol=1e-15)
    np.testing.assert_allclose(band.x, mean, rtol=1e-15)
    uniform = uv.curves.calibration(y, {"a": p}, bins=np.linspace(0, 1, 6)).band()
    known = ~np.isnan(uniform.estimate)
    share, mean = calibration_curve(y, p, n_bins=5)
    np.testing.assert_allclose(uniform.estimate[known], share, rtol=1e-15)
    assert band.n.sum() == uniform.n.sum() == N


HEAVY = np.r_[np.zeros(56), np.arange(1, 25) / 25]
MIDDLE = np.r_[np.arange(1, 26) / 100, np.full(30, 0.4), np.arange(51, 76) / 100]


@pytest.mark.parametrize(
    ("p", "bins", "edges", "sizes"),
    [
        (np.arange(80) % 2, 5, [0, 0.5, 1], [40, 40]),
        (np.arange(80) % 10 == 0, 5, [0, 0.5, 1], [72, 8]),
        (np.arange(81) % 3 / 2, 5, [0, 0.25, 0.75, 1], [27, 27, 27]),
        (HEAVY, 5, [0, 0.02, 0.34, 0.96], [56, 8, 16]),
        (MIDDLE, 5, [0.01, 0.165, 0.325, 0.455, 0.595, 0.75], [16, 9, 30, 9, 16]),
        (1 - HEAVY, 5, [0.04, 0.66, 0.98, 1], [16, 8, 56]),
        (np.full(80, 0.3), 5, [0, 1], [80]),
        (
            np.repeat(np.arange(1, 9) / 10, [3, 3, 9, 3, 3, 3, 3, 3]),
            4,
            [0.1, 0.35, 0.65, 0.8],
            [15, 9, 6],
        ),
    ],
)
def test_many_equal_predictions_have_a_bin_of_their_own(p, bins, edges, sizes):
    y = np.arange(len(p)) % 7 % 2
    curve = uv.curves.calibration(y, {"a": p * 1.0}, bins=bins)
    np.testing.assert_allclose(curve.settings["edges"], edges, atol=1e-12)
    assert curve.band().n.tolist() == sizes
    note = f"the number of bins is {len(sizes)} instead of {bins}."
    assert any(note in text for text in curve.notes) == (len(sizes) < bins)
    again = uv.curves.calibration(y, {"a": p * 1.0}, bins=curve.settings["edges"])
    assert again.band().n.tolist() == sizes
    assert not any("instead of" in text for text in again.notes)


def test_net_benefit_is_what_vickers_and_elkin_define():
    y, p = sample(5)
    curve = uv.curves.decision(y, {"a": p, "b": p**2})
    grid = curve.band("a").x
    np.testing.assert_array_equal(grid, np.arange(1, 51) / 100)
    for name, given in (("a", p), ("b", p**2), ("treat all", np.ones(N))):
        by_hand = [
            (np.sum((given >= q) & (y == 1)) - np.sum((given >= q) & (y == 0)) * q / (1 - q)) / N
            for q in grid
        ]
        np.testing.assert_allclose(curve.band(name).estimate, by_hand, atol=1e-14)
    less = curve.band("a").estimate - curve.band("b").estimate
    np.testing.assert_allclose(curve.band("difference").estimate, less, atol=1e-14)


def test_two_learners_share_their_thresholds_and_many_are_thinned():
    y, p = (np.tile(each, 2) for each in sample(6))
    p = p + np.arange(2 * N) / 1000
    curve = uv.curves.roc(y, {"a": p, "b": 10 + p})
    band = curve.band("b", "sensitivity")
    assert len(band.x) == 100
    assert (band.x[0], band.x[-1]) == (p.min(), 10 + p.max())
    for k in (0, 40, 99):
        assert band.estimate[k] == np.mean(10 + p[y == 1] >= band.x[k])
    less = curve.band("a", "specificity").estimate - curve.band("b", "specificity").estimate
    np.testing.assert_allclose(curve.band("difference", "specificity").estimate, less, atol=1e-15)
    assert uv.curves.roc(y, {"a": p}, thresholds=[0.7, 0.2, 0.7]).band().x.tolist() == [0.2, 0.7]
