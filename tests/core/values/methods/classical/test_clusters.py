"""Fixed rules on clusters: variances of survival and statsmodels, Miller's standard errors."""

import json
import math

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import special, stats

import ucvtest as uv
from tests.support.paths import ROOT

ORACLE = json.loads((ROOT / "tests/oracles/clustered_auc.json").read_text())
SIZES = np.array([1, 2, 5, 3, 1, 8, 2, 2, 4, 6, 1, 3, 7, 2])
PATIENT = np.random.default_rng(1).permutation(np.repeat(np.arange(len(SIZES)), SIZES))
N = len(PATIENT)
WEIGHTS = ("group", "row")

each_weight = pytest.mark.parametrize("weight", WEIGHTS)


def drawn(seed: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Labels, and what two rules predict, which errs alike in the rows of a patient."""
    rng = np.random.default_rng(seed)
    common = rng.normal(size=len(SIZES))[PATIENT]
    y = (common + rng.normal(size=N) > 0).astype(int)
    rules = {"a": (common + rng.normal(size=N) > 0), "b": (rng.normal(size=N) + 0.3 * y > 0)}
    return y, {name: predicted.astype(int) for name, predicted in rules.items()}


def losses(seed: int = 0, **options) -> uv.Losses:
    y, rules = drawn(seed)
    return uv.Losses.from_predictions(y, rules, **{"groups": PATIENT, **options})


def uneven_notes(sizes: list[int], **options) -> list[str]:
    groups = np.repeat(np.arange(len(sizes)), sizes)
    right = np.arange(len(groups)) % 3 > 0
    known = uv.Losses.from_correct({"a": right}, groups=groups)
    notes = uv.HoldOutTest.from_losses(known, **options).fit().notes
    scores = np.linspace(0, 1, len(groups))
    notes += () if options else uv.curves.roc(right, {"a": scores}, groups=groups).notes
    return [note for note in notes if "Kish" in note]


def test_very_uneven_clusters_are_noted():
    # 25^2/(16^2 + 9) = 2.36 of ten, and 60^2/(4 * 9^2 + 6 * 4^2) = 8.57.
    in_result, in_curve = uneven_notes([16, *[1] * 9])
    assert in_result == in_curve
    assert "the 10 clusters are worth 2.4 of equal size" in in_result
    assert uneven_notes([*[9] * 4, *[4] * 6]) == []
    # 120^2/(3^2 + 117^2) = 1.05 of two, and 1.6.
    assert len(uneven_notes([3, 117])) == 2
    assert uneven_notes([30, 90]) == []
    # Clusters that weigh the same are equal.
    assert uneven_notes([16, *[1] * 9], group_weight="group") == []


# ----------------------------------------------------------------------------- areas under curves


def study(kind: str) -> tuple[dict, uv.Losses]:
    found = ORACLE[kind]
    scores = {name: np.array(found[name]) for name in "ab"}
    return found, uv.Losses.from_predictions(found["y"], scores, loss="auc", groups=found["id"])


def factors(found: dict) -> tuple[float, float, float]:
    """Obuchowski's I/(I - 1) of clusters with positives, with negatives, and of all."""
    y, patient = np.array(found["y"]), np.array(found["id"])
    counts = [len(set(patient[rows])) for rows in (y == 1, y == 0, y >= 0)]
    return tuple(count / (count - 1) for count in counts)  # type: ignore[return-value]


def by_hand(found: dict, name: str, weight: str) -> tuple[np.ndarray, np.ndarray]:
    """What the positives, and the negatives, of each cluster add to the AUC: pair by pair."""
    y, patient, score = (np.array(found[key]) for key in ("y", "id", name))
    right = (score[:, None] > score) + 0.5 * (score[:, None] == score)
    share = np.zeros(len(y))
    for label in (0, 1):
        for each in set(patient[y == label]):
            rows = (patient == each) & (y == label)
            share[rows] = 1 / rows.sum() if weight == "group" else 1
        share[y == label] /= share[y == label].sum()
    auc = share[y == 1] @ right[np.ix_(y == 1, y == 0)] @ share[y == 0]
    sums = np.zeros((2, len(set(patient))))
    for place, each in enumerate(sorted(set(patient))):
        for row in np.flatnonzero(patient == each):
            others = y != y[row]
            placed = (right[row] if y[row] else right[:, row])[others] @ share[others]
            sums[y[row], place] += share[row] * (placed - auc)
    return sums[1], sums[0]


@each_weight
@pytest.mark.parametrize("kind", ["mixed", "pure"])
def test_variances_of_aucs_are_those_of_survival_but_for_obuchowskis_factors(kind, weight):
    found, scores = study(kind)
    c1, c0, c = factors(found)
    parts = {name: by_hand(found, name, weight) for name in "ab"}
    parts["a - b"] = tuple(np.subtract(*pair) for pair in zip(*parts.values(), strict=True))
    plain = np.array(found[weight]["covariance"])
    survival = [plain[0, 0], plain[1, 1], plain[0, 0] + plain[1, 1] - 2 * plain[0, 1]]
    np.testing.assert_allclose(np.diag(plain), found[weight]["variance"], rtol=1e-10)
    for asked, (ones, zeros), variance in zip(
        (("a",), ("b",), ("a", "b")), parts.values(), survival, strict=True
    ):
        assert ((ones + zeros) ** 2).sum() == pytest.approx(variance, rel=1e-10)
        result = uv.DeLongTest.from_losses(scores, *asked, group_weight=weight).fit()
        expected = c1 * ones @ ones + c0 * zeros @ zeros + 2 * c * ones @ zeros
        assert result.variance == pytest.approx(expected, rel=1e-10)
        auc = np.array(found[weight]["auc"])["ab".index(asked[0])]
        if len(asked) == 1:
            assert result.estimate == pytest.approx(auc, rel=1e-12)


def test_degrees_of_freedom_are_welchs_where_every_cluster_has_one_label():
    found, scores = study("mixed")
    assert uv.DeLongTest.from_losses(scores).fit().df == 15
    found, scores = study("pure")
    result = uv.DeLongTest.from_losses(scores, "a", group_weight="row").fit()
    of_label = [
        len({i for i, y in zip(found["id"], found["y"], strict=True) if y == k}) for k in (1, 0)
    ]
    v = [
        n / (n - 1) * (each**2).sum()
        for n, each in zip(of_label, by_hand(found, "a", "row"), strict=True)
    ]
    welch = sum(v) ** 2 / sum(each**2 / (n - 1) for each, n in zip(v, of_label, strict=True))
    assert result.df == pytest.approx(welch)
    # On the logit scale, where 1/2 is 0.
    auc = result.estimate
    t, scale = special.logit(auc), result.se / (auc * (1 - auc))
    assert result.pvalue == pytest.approx(2 * stats.t.sf(abs(t / scale), welch))
    ends = special.expit(t + np.array([-1, 1]) * stats.t.isf(0.025, welch) * scale)
    assert result.conf_int() == pytest.approx(ends)
    table = result.tables["Learners"]
    assert (table["conf_low"][0], table["conf_high"][0]) == pytest.approx(ends)


@each_weight
def test_joint_test_of_two_is_the_square_of_the_statistic(weight):
    _, scores = study("mixed")
    joint = uv.DeLongTest.joint(scores, group_weight=weight)
    result = uv.DeLongTest.from_losses(scores, group_weight=weight).fit()
    assert joint.statistic == pytest.approx(result.statistic**2)
    singles = [uv.DeLongTest.from_losses(scores, k, group_weight=weight).fit() for k in "ab"]
    np.testing.assert_allclose(np.diag(joint.covariance), [each.variance for each in singles])
    contrast = np.array([1.0, -1.0])
    assert contrast @ joint.covariance @ contrast == pytest.approx(result.variance)
    compared = uv.compare_losses(scores, "delong", group_weight=weight)
    assert compared.joint_test().statistic == joint.statistic
    assert "at a " in joint.estimand


# -------------------------------------------------------------------------------- means of losses


@pytest.mark.parametrize("cls", [uv.McNemarTest, uv.HoldOutTest])
def test_variances_of_differences_are_statsmodels_cluster_covariances(cls):
    y, rules = drawn()
    d = (rules["a"] != y) * 1.0 - (rules["b"] != y)
    # Its correction is G/(G - 1) times (n - 1)/(n - k), which is 1 for a mean.
    fit = sm.OLS(d, np.ones(N)).fit(cov_type="cluster", cov_kwds={"groups": PATIENT}, use_t=True)
    result = cls.from_losses(losses(), group_weight="row").fit()
    assert (result.estimate, result.se) == pytest.approx((fit.params[0], fit.bse[0]), rel=1e-12)
    # Intervals have observations added: test_right_or_wrong.py.
    means = np.array([d[each == PATIENT].mean() for each in range(len(SIZES))])
    result = cls.from_losses(losses()).fit()
    expected = stats.ttest_1samp(means, 0)
    assert (result.statistic, result.pvalue) == pytest.approx(tuple(expected))
    assert result.df == len(SIZES) - 1


def test_intervals_of_differences_of_error_rates_by_hand():
    y, rules = drawn()
    d = (rules["a"] != y) * 1.0 - (rules["b"] != y)
    fit = sm.OLS(d, np.ones(N)).fit(cov_type="cluster", cov_kwds={"groups": PATIENT}, use_t=True)
    estimate, variance = fit.params[0], fit.bse[0] ** 2
    # As many independent rows have this variance. One right and one wrong observation are added.
    n = d.var(ddof=1) / variance
    moved = n * estimate / (n + 2)
    squares = n**2 * variance + n * (estimate - moved) ** 2 + 1 + 2 * moved**2
    half_width = stats.t(len(SIZES) - 1).isf(0.025) * math.sqrt(squares) / (n + 2)
    result = uv.HoldOutTest.from_losses(losses(), "a", "b", group_weight="row").fit()
    assert result.conf_int() == pytest.approx((moved - half_width, moved + half_width), rel=1e-12)
    assert result.diagnostics["n_effective"] == pytest.approx(n, rel=1e-12)


def test_mcnemars_difference_of_cluster_sums_by_hand():
    y, rules = drawn()
    only_a, only_b = (rules["a"] != y) & (rules["b"] == y), (rules["b"] != y) & (rules["a"] == y)
    b, c = (np.bincount(PATIENT, each) for each in (only_a, only_b))
    difference = (b - c).sum() / N
    g = len(SIZES)
    robust = math.sqrt(g / (g - 1) * ((b - c - difference * SIZES) ** 2).sum()) / N
    result = uv.McNemarTest.from_losses(losses(), group_weight="row").fit()
    assert (result.estimate, result.se) == pytest.approx((difference, robust))
    ours = uv.HoldOutTest.from_losses(losses(), "a", "b", group_weight="row").fit()
    assert (result.pvalue, *result.conf_int()) == (ours.pvalue, *ours.conf_int())
    assert result.diagnostics["n_effective"] == ours.diagnostics["n_effective"]
    alike = uv.McNemarTest.from_losses(losses()).fit()
    assert alike.statistic == pytest.approx(alike.estimate / alike.se)
    assert result.diagnostics["only_first_wrong"] == b.sum()
    assert result.diagnostics["telling_groups"] == ((b > 0) | (c > 0)).sum()
    assert result.diagnostics["tested_groups"] == result.diagnostics["n_groups"] == g
    assert result.n_obs == N
    assert "independent clusters" in " ".join(result.notes)
    assert "cluster" in result.estimand


def test_standard_errors_of_evaluations_are_millers():
    # Miller (2024), Adding error bars to evals: the standard error of the central limit theorem
    # and, question by question, products of different rows; n for n - 1 within it.
    rng = np.random.default_rng(2)
    score = rng.normal(size=len(SIZES))[PATIENT] + rng.normal(size=N)
    e = score - score.mean()
    clt = (e**2).sum() / N / N
    crossed = sum(
        e[i] * e[j] for i in range(N) for j in range(N) if i != j and PATIENT[i] == PATIENT[j]
    )
    miller = math.sqrt(clt + crossed / N**2)
    scores = uv.Losses.from_predictions(None, {"model": score}, loss="score", groups=PATIENT)
    result = uv.HoldOutTest.from_losses(scores, group_weight="row").fit()
    g = len(SIZES)
    assert result.estimate == pytest.approx(score.mean(), rel=1e-12)
    # inspect_ai has the factor as well.
    assert result.se == pytest.approx(miller * math.sqrt(g / (g - 1)), rel=1e-12)


# --------------------------------------------------------------------------------- what is shared


def test_a_class_in_one_cluster_has_no_variance():
    y = (PATIENT == 3) * 1
    scores = uv.Losses.from_predictions(y, {"a": np.arange(N)}, loss="auc", groups=PATIENT)
    result = uv.DeLongTest.from_losses(scores).fit()
    assert result.status.startswith("no estimate: 1 groups with positive and 13 with negative")
    assert math.isnan(result.pvalue)


def test_one_tested_cluster_has_no_variance():
    y, rules = drawn()
    tested = PATIENT == 3
    values = np.array([rule != y for rule in rules.values()])[:, None] * tested
    one = uv.Losses.from_arrays(values, ~tested[None], tested[None], groups=PATIENT)
    assert uv.McNemarTest.from_losses(one).fit().status.startswith("no variance estimate: a single")
