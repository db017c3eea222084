"""Groups of observations: read from labels of any type, kept by samples, losses and designs."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GroupKFold

import ucvtest as uv
from ucvtest.data.groups import as_groups, satterthwaite_df
from ucvtest.data.sample import make_sample
from ucvtest.designs.design import Design

PATIENTS = ["p9", "p1", "p9", "p4", "p1", "p4", "p4", "p7"]
INDEX = [0, 1, 0, 2, 1, 2, 2, 3]


@pytest.mark.parametrize(
    "given",
    [
        PATIENTS,
        np.array(PATIENTS),
        np.array(PATIENTS, dtype=object),
        pd.Series(PATIENTS, index=range(8, 0, -1)),
        pd.Series(PATIENTS, dtype="category"),
        [9, 1, 9, 4, 1, 4, 4, 7],
        [9.0, 1.0, 9.0, 4.0, 1.0, 4.0, 4.0, 7.0],
        [(9, 9), 1, (9, 9), "4", 1, "4", "4", 7.5],
        np.array([9, 1, 9, 4, 1, 4, 4, 7])[:, None],
    ],
    ids=lambda given: type(given).__name__,
)
def test_groups_are_numbered_in_the_order_of_their_first_row(given):
    if isinstance(given, list) and isinstance(given[0], tuple):
        array = np.empty(8, dtype=object)
        array[:] = given
        given = array
    groups = as_groups(given, 8)
    assert groups.index.tolist() == INDEX
    assert (groups.n_groups, groups.n_obs) == (4, 8)
    assert groups.labels[groups.index].tolist() == np.asarray(given).reshape(8).tolist()


def test_no_groups_are_none():
    assert as_groups(None, 5) is None


# ------------------------------------------------------------------------------------- samples


@pytest.mark.parametrize("as_classes", [True, False])
def test_a_sample_keeps_its_groups(rng, as_classes):
    X, y = rng.normal(size=(8, 2)), np.arange(8) % 2
    sample = make_sample(X, y, as_classes=as_classes, groups=PATIENTS)
    assert sample.groups.index.tolist() == INDEX
    assert sample.relabeled(1 - sample.target).groups is sample.groups
    assert make_sample(X, y, as_classes=as_classes).groups is None


# ------------------------------------------------------------------------------------- designs


@pytest.fixture
def groups(rng):
    """Twelve groups of one to four rows."""
    return as_groups(rng.permutation(np.repeat(np.arange(12), [1, 2, 3, 4] * 3)), 30)


@pytest.mark.parametrize(
    "design",
    [
        uv.designs.KFold(4, n_repeats=2),
        uv.designs.KFold(12),
        uv.designs.RandomSplits(5, test_fraction=0.2),
        uv.designs.HoldOut(0.3),
        uv.designs.SplitHalves(3, n_bisections=2),
        uv.designs.NestedKFold(4, n_repeats=2),
        uv.designs.DisjointSets(5, n_draws=3, n_sets=2),
    ],
    ids=lambda design: type(design).__name__,
)
def test_named_designs_draw_whole_groups(design, groups):
    found = design.draw(30, np.random.default_rng(0), groups)
    units = design.draw(12, np.random.default_rng(0))
    first = [groups.index.tolist().index(number) for number in range(12)]
    assert Design(found.learning[:, first], found.testing[:, first]) == units
    found.check_groups(groups)


def test_splitters_get_the_groups(groups):
    design = uv.designs.as_design(GroupKFold(3), np.zeros((30, 1)), np.arange(30) % 2)
    with pytest.raises(ValueError, match="it splits by groups"):
        design.check(30)
    design.check(30, groups)
    found = design.draw(30, np.random.default_rng(0), groups)
    found.check_groups(groups)
    assert uv.designs.folds_of(found).shape == (1, 30)


# -------------------------------------------------------------------------------------- losses


@pytest.fixture
def losses(rng):
    group = np.array(INDEX)
    learning = np.array([group != number for number in range(4)])
    values = rng.integers(0, 2, (2, 4, 8))
    return uv.Losses.from_arrays(values, learning, groups=PATIENTS, y=np.arange(8) % 2)


@pytest.mark.parametrize("name", ["losses.json", "losses.npz"])
def test_files_keep_groups(losses, tmp_path, name):
    losses.save(tmp_path / name)
    assert uv.Losses.load(tmp_path / name).groups.tolist() == INDEX


def test_dictionaries_keep_groups(losses):
    independent = uv.Losses.from_arrays(losses.array, losses.design.learning)
    assert "groups" not in independent.to_dict()
    data = json.loads(json.dumps(losses.to_dict()))
    assert uv.Losses.from_dict(data).groups.tolist() == INDEX


@pytest.mark.parametrize(
    "weights",
    [
        [3.0] * 7,
        [1, 2],
        [1e6] + [1] * 29,
        [1e9, 1e9] + [1] * 9,
        [1, 0, 2, 5, 0],
        np.arange(1.0, 40),
    ],
)
def test_degrees_of_freedom_are_those_of_the_quadratic_form(weights):
    """The variance of a weighted mean is y' A y: 2 (tr A)^2 / 2 tr A^2 for independent normal y."""
    p = np.asarray(weights, dtype=float)[np.asarray(weights) > 0]
    p /= p.sum()
    residuals = np.eye(len(p)) - np.outer(np.ones(len(p)), p)
    form = residuals.T @ np.diag(p**2) @ residuals
    expected = np.trace(form) ** 2 / np.trace(form @ form)
    found = satterthwaite_df(np.asarray(weights, dtype=float))
    assert found == pytest.approx(expected, rel=1e-8)
    assert satterthwaite_df(1e200 * np.asarray(weights)) == pytest.approx(found, rel=1e-9)


@pytest.mark.parametrize("others", [(1,), (1, 1, 1), (1, 2, 5)])
def test_degrees_of_freedom_beside_one_large_weight(others):
    """The same quadratic form in fractions, whose fourth powers do not end at 1e-324."""
    weights = [Fraction(1), *(Fraction(each, 10**100) for each in others)]
    p, n = [each / sum(weights) for each in weights], range(len(weights))
    residuals = [[Fraction(i == j) - p[j] for j in n] for i in n]
    form = [[sum(residuals[k][i] * p[k] ** 2 * residuals[k][j] for k in n) for j in n] for i in n]
    expected = sum(form[i][i] for i in n) ** 2 / sum(form[i][j] ** 2 for i in n for j in n)
    assert satterthwaite_df(np.array(weights, float)) == pytest.approx(float(expected), rel=1e-8)
