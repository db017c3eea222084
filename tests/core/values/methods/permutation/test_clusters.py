"""Permutation test and model selection with clusters: all labelings of G = 6 and 7, and by hand."""

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.methods.permutation.labelings import labelings_of

SIZES = {6: [1, 3, 2, 1, 1, 3], 7: [2, 1, 3, 1, 1, 2, 1]}
LABELS = {
    6: [0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0],
    7: [1, 0, 1, 0, 0, 1, 0, 1, 1, 1, 0],
}
WEIGHTS = ("group", "row")
each_weight = pytest.mark.parametrize("weight", WEIGHTS)


def sample(n_groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    patient = np.repeat(np.arange(n_groups), SIZES[n_groups])
    rng = np.random.default_rng(n_groups)
    X = np.round(rng.normal(size=(n_groups, 2))[patient] + rng.normal(size=(len(patient), 2)), 1)
    return X, np.array(LABELS[n_groups]), patient


def shares(patient: np.ndarray, weight: str) -> np.ndarray:
    if weight == "row":
        return np.full(len(patient), 1 / len(patient))
    return 1 / np.bincount(patient)[patient] / len(set(patient))


def smoother(X: np.ndarray) -> np.ndarray:
    design = np.column_stack([np.ones(len(X)), X])
    return design @ np.linalg.solve(design.T @ design + np.eye(3), design.T)


@each_weight
@pytest.mark.parametrize("n_groups", list(SIZES))
def test_equals_enumeration_over_all_labelings(n_groups, weight):
    X, y, patient = sample(n_groups)
    S, w = smoother(X), shares(patient, weight)
    options = {"loss": "squared", "groups": patient, "group_weight": weight}
    test = uv.PermutationComplexityTest(X, y, uv.learners.smoother(S), **options)
    result = test.fit("exact")
    ((labels, _),) = list(labelings_of(y * 1.0, test.clusters).every(10_000))
    e_in = ((labels - labels @ S.T) ** 2) @ w
    new = np.array([[((row - other) ** 2) @ w for row in labels @ S.T] for other in labels])
    assert result.diagnostics["e_gen"] == pytest.approx(new.mean() - e_in.mean())
    observed = ((y - S @ y) ** 2) @ w
    assert result.diagnostics["e_in"] == pytest.approx(observed)
    assert result.pvalue == pytest.approx((e_in <= observed + 1e-12).mean())
    assert result.reference == f"all {len(labels)} labelings"
    closed = test.fit("analytic").diagnostics
    for name in ("e_in", "e_gen", "p_in"):
        assert closed[name] == pytest.approx(result.diagnostics[name])
    assert closed["p_in"] == pytest.approx((((2 * labels - 1) * (2 * labels @ S.T - 1)) @ w).mean())


def test_labels_of_whole_clusters_change_places():
    X, _, patient = sample(7)
    y = (np.arange(7) % 2)[patient]
    result = uv.PermutationComplexityTest(X, y, "nearest_centroid", groups=patient).fit("exact")
    assert result.reference == "all 35 labelings"
    assert result.diagnostics["n_groups"] == 7


@each_weight
def test_selection_leaves_clusters_out(weight):
    X, y, patient = sample(7)
    S, w = smoother(X), shares(patient, weight)
    options = {"loss": "squared", "groups": patient, "group_weight": weight, "n_folds": 7, "rng": 0}
    chosen = uv.select_model(X, y, ["ridge:1.0", "majority"], **options)
    assert chosen.criteria == ("permutation", "loo", "kfold")
    row = chosen.table.iloc[0]
    learner = uv.learners.ridge(1.0)
    errors = np.empty(len(y))
    for each in range(7):
        rows = np.flatnonzero(patient == each)
        hat = uv.learners.hat_matrix(learner, X, len(y) - len(rows))
        errors[rows] = uv.learners.held_out_predictions(hat, y, rows[None])[0] - y[rows]
    assert row["loo"] == pytest.approx(errors**2 @ w)
    # Seven folds of seven clusters are one each.
    assert row["kfold"] == pytest.approx(row["loo"])
    test = uv.PermutationComplexityTest(
        X, y, "ridge:1.0", loss="squared", groups=patient, group_weight=weight
    )
    assert row["permutation"] == pytest.approx(test.fit("analytic").estimate)
    assert S.shape == (len(y), len(y))
    assert chosen.settings["n_groups"] == 7
