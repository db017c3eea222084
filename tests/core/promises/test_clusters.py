"""Rows that come in clusters, in tests that refit learners: from designs to results."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import model_selection
from typer.testing import CliRunner

import ucvtest as uv
from ucvtest.cli import app
from ucvtest.data.groups import as_groups

RNG = np.random.default_rng(5)
SIZES = RNG.integers(1, 5, size=24)
INDEX = np.repeat(np.arange(24), SIZES)
OWN = np.arange(24) % 2
Y = np.where(RNG.random(len(INDEX)) < 0.7, OWN[INDEX], 1 - OWN[INDEX])
X = RNG.normal(size=(24, 3))[INDEX] * 0.7 + RNG.normal(size=(len(INDEX), 3)) + 0.8 * Y[:, None]
LEARNERS = ("lda", "nearest_centroid")

TESTS = {
    "corrected_t": uv.CorrectedTTest,
    "naive_t": uv.NaiveTTest,
    "bayesian_t": uv.BayesianTTest,
    "cross_validation_wald": uv.CrossValidationWaldTest,
    "nested_cross_validation": uv.NestedCrossValidationTest,
    "fold_covariance": uv.FoldCovarianceTest,
    "five_by_two_t": uv.FiveByTwoTTest,
    "five_by_two_f": uv.FiveByTwoFTest,
    "conservative_z": uv.ConservativeZTest,
    "hold_out": uv.HoldOutTest,
    "ustatistic": uv.UStatisticTest,
}
ARGUMENTS = {
    "nested_cross_validation": {"design": uv.designs.NestedKFold(5, 2)},
    "conservative_z": {"design": uv.designs.SplitHalves(3, 2)},
    "ustatistic": {"learn_size": 9},
}
FIT = {"ustatistic": {"n_pairs": 400, "variance": "jackknife"}}


def fitted(name, *data, **arguments):
    test = TESTS[name](*data, *LEARNERS, **ARGUMENTS.get(name, {}), **arguments)
    return test.fit(**FIT.get(name, {}), rng=0)


@pytest.mark.parametrize("weight", ["group", "row"])
@pytest.mark.parametrize("name", TESTS)
def test_copies_of_patients_tell_no_more_than_the_patients(name, weight):
    patients, labels = np.random.default_rng(7).normal(size=(40, 3)), np.arange(40) % 2
    patients = patients + 0.5 * labels[:, None]
    copied = np.repeat(np.arange(40), 5)
    learners = ("nearest_centroid", "majority")
    test, options = TESTS[name], FIT.get(name, {})
    arguments = ARGUMENTS.get(name, {})
    alone = test(patients, labels, *learners, **arguments).fit(**options, rng=0)
    grouped = test(
        patients[copied], labels[copied], *learners, groups=copied, group_weight=weight, **arguments
    ).fit(**options, rng=0)
    if name == "ustatistic":
        # The control variate of counts of errors is rounded, that of means is not: the same sets
        # give what differs by less than the Monte-Carlo errors.
        for field in ("estimate", "variance"):
            error = np.hypot(*(each.diagnostics[f"mc_se_{field}"] for each in (grouped, alone)))
            assert abs(getattr(grouped, field) - getattr(alone, field)) < 3 * error
    else:
        fields = ("estimate", "se", "pvalue")
        if (name, weight) == ("hold_out", "row"):
            # Rows that are right or wrong have observations added, patients by themselves have not.
            fields = fields[:2]
        for field in fields:
            found, expected = getattr(grouped, field), getattr(alone, field)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    assert grouped.n_obs == 200
    assert grouped.diagnostics["n_groups"] == 40


@pytest.mark.parametrize("name", TESTS)
def test_results_are_about_clusters(name):
    result = fitted(name, X, Y, groups=INDEX)
    assert "at a random row of a new cluster" in result.estimand
    assert not any("independent observations" in note for note in result.notes)
    shown = {
        key: result.diagnostics[key] for key in ("n_groups", "smallest_group", "largest_group")
    }
    assert shown == {"n_groups": 24, "smallest_group": SIZES.min(), "largest_group": SIZES.max()}
    assert result.n_obs == len(Y)
    assert result.settings["group_weight"] == "group"
    assert "Clusters:" in result.summary().as_text()
    by_rows = fitted(name, X, Y, groups=INDEX, group_weight="row")
    assert "at a new row" in by_rows.estimand
    assert by_rows.estimate != result.estimate


def test_losses_by_cluster_are_means_or_linear_parts_of_the_mean():
    losses = uv.evaluate(LEARNERS, X, Y, uv.designs.KFold(4), groups=INDEX, rng=0)
    table = losses.difference(0).table
    rows = np.nansum(table, axis=0)
    by_cluster = np.bincount(INDEX, rows) / SIZES
    wald = uv.CrossValidationWaldTest.from_losses(losses, "lda").fit()
    assert wald.estimate == pytest.approx(by_cluster.mean())
    assert wald.variance == pytest.approx(by_cluster.var() / 24)
    wald = uv.CrossValidationWaldTest.from_losses(losses, "lda", group_weight="row").fit()
    linear = (np.bincount(INDEX, rows) - rows.mean() * SIZES) / SIZES.mean()
    assert wald.estimate == pytest.approx(rows.mean())
    assert wald.variance == pytest.approx(linear.var() / 24)


def test_losses_with_groups_give_what_the_test_from_data_gives():
    losses = uv.evaluate(LEARNERS, X, Y, 6, groups=INDEX, rng=3)
    for weight in ("group", "row"):
        given = uv.CorrectedTTest.from_losses(losses, group_weight=weight).fit()
        test = uv.CorrectedTTest(X, Y, *LEARNERS, design=6, groups=INDEX, group_weight=weight)
        made = test.fit(rng=3)
        assert (given.estimate, given.se) == (made.estimate, made.se)
        assert given.estimand == made.estimand
    several = uv.compare_losses(losses, ["corrected_t", "cross_validation_wald"])
    assert several.result("corrected_t").n_obs == len(Y)


def test_a_comparison_gives_what_its_tests_give():
    found = uv.compare(X, Y, LEARNERS, ["corrected_t", "hold_out"], groups=INDEX, rng=1)
    alone = uv.CorrectedTTest(X, Y, *LEARNERS, groups=INDEX).fit(rng=1)
    assert found.result("corrected_t").estimate == alone.estimate
    assert found.result("corrected_t").diagnostics["n_groups"] == 24
    assert found.settings["group_weight"] == "group"


@pytest.mark.parametrize(
    "splitter",
    [
        model_selection.GroupKFold(4),
        model_selection.StratifiedGroupKFold(4),
        model_selection.GroupShuffleSplit(5, test_size=0.25, random_state=0),
        model_selection.LeaveOneGroupOut(),
        model_selection.LeavePGroupsOut(2),
    ],
    ids=lambda splitter: type(splitter).__name__,
)
def test_splitters_by_group_are_designs(splitter):
    index = np.repeat(np.arange(8), 4)
    X_few, y_few = X[:32], np.arange(32) % 2
    losses = uv.evaluate("lda", X_few, y_few, splitter, groups=index, rng=0)
    losses.design.check_groups(as_groups(index, 32))
    if not isinstance(splitter, model_selection.StratifiedGroupKFold):
        test = uv.CorrectedTTest(X_few, y_few, "lda", design=splitter, groups=index)
        assert test.fit(rng=0).status == "ok"
    with pytest.raises(ValueError, match="splits by groups: pass groups"):
        uv.evaluate("lda", X_few, y_few, splitter)


@pytest.mark.parametrize(
    "design", [uv.designs.KFold(4, stratify=True), uv.designs.NestedKFold(4, 1, stratify=True)]
)
def test_stratified_folds_balance_rows_and_classes(design):
    index = np.repeat(np.arange(40), np.arange(40) % 5 + 1)
    y = np.repeat(np.arange(40) // 5 % 2, np.arange(40) % 5 + 1)
    losses = uv.evaluate("majority", np.zeros((len(y), 1)), y, design, groups=index, rng=0)
    testing = losses.design.testing[:4]
    rows = np.array([(testing & (y == code)).sum(axis=1) for code in (0, 1)])
    # Plain folds differ by up to 20 rows; those of one class by no more than the largest cluster.
    assert np.ptp(rows, axis=1).max() <= 5


@pytest.mark.parametrize("y", [Y, OWN[INDEX]], ids=["mixed", "one class each"])
def test_aucs_have_intervals(y):
    result = uv.UStatisticTest(X, y, "lda", loss="auc", groups=INDEX).fit(300, rng=0)
    low, high = result.conf_int()
    assert result.status == "ok"
    assert 0 < low < result.estimate < high < 1
    folds = uv.CorrectedTTest(
        X, y, *LEARNERS, loss="auc", design=4, groups=INDEX, group_weight="row"
    )
    assert folds.fit(rng=0).status == "ok"


def test_a_comparison_of_aucs_needs_no_name_of_a_test():
    index, rng = np.repeat(np.arange(40), 2), np.random.default_rng(1)
    y = rng.integers(0, 2, size=80)
    features = rng.normal(size=(80, 2)) + y[:, None]
    found = uv.compare(features, y, LEARNERS, loss="auc", groups=index, rng=0)
    (result,) = found.results.values()
    assert result.diagnostics["n_groups"] == 40
    assert result.status == "ok"


def test_the_command_line_takes_a_column(tmp_path):
    path = tmp_path / "data.csv"
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(ill=Y, patient=INDEX)
    frame.to_csv(path, index=False)
    command = ["compare", str(path), "--target", "ill", "--learner", "lda", "--other", "majority"]
    grouped = [*command, "--test", "corrected_t", "--groups", "patient"]
    shown = CliRunner().invoke(app, [*grouped, "--json", str(tmp_path / "out.json")])
    assert shown.exit_code == 0, shown.output
    expected = uv.CorrectedTTest(X, Y, "lda", "majority", groups=INDEX).fit(rng=0)
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["estimate"] == pytest.approx(expected.estimate)
    assert written["diagnostics"]["n_groups"] == 24
