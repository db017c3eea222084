"""The U-statistic test from few fits: any budget answers, on the pairs that are drawn anyway."""

import math

import numpy as np
import pytest

import ucvtest as uv
from tests.oracles.few_fits import few_fits
from tests.support.samples import breast_cancer
from ucvtest.kernels.ustatistic.variances import MonteCarloEstimates
from ucvtest.methods.ustatistic.estimation import reliable
from ucvtest.metrics.means import MOST_LOG_LOSS

SAMPLE = breast_cancer(40, 4)
X, Y = SAMPLE.matrix, SAMPLE.response
PAIR = ("nearest_centroid", "knn:3")
CLUSTERS = np.arange(40) // 2


def drawn(n_draws, loss="zero_one", y=Y, learners=PAIR):
    design = uv.designs.DisjointSets(learn_size=19, n_draws=n_draws)
    return uv.evaluate(list(learners), X, y, design, loss, rng=3)


def rounds_of(losses):
    """Losses and learning sets of the rounds, as the derivation has them."""
    learning = losses.design.learning
    first, other = losses.array
    difference = first - other
    sets = [[set(np.flatnonzero(one)) for one in learning[i : i + 2]] for i in (0, 2, 4, 6)]
    return [difference[i : i + 2] for i in (0, 2, 4, 6)], sets


def test_the_test_is_that_of_the_derivation():
    losses = drawn(4)
    estimate, variance, noise, df, _ = few_fits(*rounds_of(losses), 19)
    found = uv.UStatisticTest.from_losses(losses).fit(variance="few")
    assert found.estimate == pytest.approx(estimate, rel=1e-12)
    assert found.variance == pytest.approx(variance, rel=1e-10)
    assert found.se == pytest.approx(math.sqrt(variance + noise / 4), rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-10)
    assert found.reference == "t"
    assert found.statistic == pytest.approx(found.estimate / found.se, rel=1e-12)


@pytest.mark.parametrize("max_fits", [12, 20, 40, 100, 200, 400, 1000])
@pytest.mark.parametrize("options", [{}, {"groups": CLUSTERS}], ids=["rows", "clusters"])
@pytest.mark.parametrize("loss", ["zero_one", "squared"])
def test_every_budget_answers(max_fits, options, loss):
    y, learners = (Y, PAIR) if loss == "zero_one" else (X[:, 1] + 0.0, ("ridge:1.0", "knn:3"))
    for pair in (learners, learners[:1]):
        found = uv.UStatisticTest(X[:, :1], y, *pair, loss=loss, **options)
        result = found.fit(max_fits=max_fits, rng=1)
        assert result.status == "ok"
        assert result.n_fits <= max_fits
        low, high = result.conf_int()
        assert low < result.estimate < high


def test_fewer_fits_than_three_pairs_are_refused_before_the_first():
    for learners, least in ((PAIR, 12), (PAIR[:1], 6)):
        test = uv.UStatisticTest(X, Y, *learners)
        for variance in ("auto", "few"):
            with pytest.raises(ValueError, match=f"at least {least} fits of .* raise max_fits to"):
                test.fit(variance=variance, max_fits=least - 1)
    with pytest.raises(ValueError, match="variance='few' needs n_pairs of at least 3, got 2"):
        test.fit(2, "few")
    with pytest.raises(ValueError, match="variance='few' is of random pairs"):
        test.fit("exact", "few")


def test_where_auto_ends_the_same_pairs_answer():
    test = uv.UStatisticTest(X, Y, *PAIR)
    short, asked = test.fit(max_fits=160, rng=5), test.fit(variance="few", max_fits=160, rng=5)
    assert short.n_fits == asked.n_fits == 160
    assert (short.estimate, short.se, short.pvalue) == (asked.estimate, asked.se, asked.pvalue)
    said = "The fits ended at max_fits = 160 while the Monte-Carlo error of the midpoint variance"
    assert any(note.startswith(said) for note in short.notes)
    assert not any(note.startswith(said) for note in asked.notes)
    assert test.fit(tol=0.1, rng=5).diagnostics["variance"] == "midpoint"
    ten = test.fit(10, rng=5)
    assert (ten.status, ten.diagnostics["variance"]) == ("ok", "few")


def test_losses_of_pairs_that_were_drawn_before_answer_as_well():
    result = uv.UStatisticTest.from_losses(drawn(5)).fit()
    assert (result.status, result.diagnostics["variance"]) == ("ok", "few")
    own = result.tables["Learners"]["estimate"]
    assert own[0] - own[1] == pytest.approx(result.estimate, abs=1e-12)
    assert np.isfinite(result.tables["Learners"]["se"]).all()
    splits = uv.evaluate(list(PAIR), X, Y, uv.designs.RandomSplits(20, 0.55), rng=0)
    with pytest.raises(ValueError, match="variance='few' needs learning sets in 3 disjoint pairs"):
        uv.UStatisticTest.from_losses(splits).fit(variance="few")


def test_one_learner_has_four_observations_added_or_the_wider_end():
    errors = uv.UStatisticTest(X, Y, "knn:3").fit(variance="few", n_pairs=10, rng=0)
    assert errors.diagnostics["interval"] == "plus_four"
    assert errors.df < 39
    squares = uv.UStatisticTest(X[:, :1], X[:, 1] + 0.0, "knn:3", loss="squared")
    found = squares.fit(variance="few", n_pairs=10, rng=0)
    wald = squares.fit(variance="few", n_pairs=10, interval="wald", rng=0)
    assert found.conf_int()[1] > wald.conf_int()[1]
    assert any("98% of simulated samples, and in 89% in the worst" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "fit", "message"),
    [
        (
            {},
            {"interval": "stabilised"},
            "interval='stabilised' needs more information than few fits",
        ),
        ({}, {"interval": "hall"}, "interval='hall' needs more information than few fits"),
        ({"learn_size": 30}, {}, "variance='few' needs n >= 2 . learn_size"),
        (
            {"loss": "auc", "learn_size": 30},
            {},
            "variance='few' needs disjoint pairs of learning sets, with at most half of each class",
        ),
    ],
)
def test_what_few_fits_do_not_tell_is_refused(options, fit, message):
    test = uv.UStatisticTest(X, Y[0] == Y, "lda", "gaussian_nb", **options)
    with pytest.raises(ValueError, match=message):
        test.fit(variance="few", **fit)


def test_batches_and_processes_do_not_matter():
    test = uv.UStatisticTest(X, Y, *PAIR)
    results = [
        test.fit(variance="few", n_pairs=12, rng=4, batch_size=size, n_jobs=jobs)
        for size, jobs in ((None, 1), (3, 1), (None, 2))
    ]
    assert len({(each.estimate, each.se, each.df) for each in results}) == 1


def test_learners_that_are_fitted_one_by_one_get_ten_pairs():
    def nearer(X_train, y_train, X_test):
        return np.where(X_test[:, 0] > X_train[:, 0].mean(), 1, 0)

    result = uv.UStatisticTest(X, Y, nearer, "knn:3").fit(variance="few", rng=0)
    assert result.n_fits == 40


def test_losses_that_never_differ_have_no_test():
    result = uv.UStatisticTest(X, Y, "knn:3", "knn:3").fit(variance="few", n_pairs=5, rng=0)
    assert result.status.startswith("degenerate")
    alone = uv.UStatisticTest(X, Y, lambda a, b, c: Y[:1].repeat(len(c)), learn_size=19)
    never = uv.UStatisticTest(X, np.r_[Y[:1].repeat(39), 1 - Y[:1]], "majority")
    assert alone.fit(variance="few", n_pairs=5, rng=0).status == "ok"
    assert never.fit(variance="few", n_pairs=5, rng=0).status == "ok"


@pytest.mark.parametrize(("n_obs", "said"), [(38, True), (40, False)])
def test_small_samples_are_told_that_nobody_tried_them(n_obs, said):
    test = uv.UStatisticTest(X[:n_obs], Y[:n_obs], *PAIR)
    notes = test.fit(variance="few", n_pairs=5, rng=0).notes
    assert any("fewer than 40 observations (38 here)" in note for note in notes) is said


@pytest.mark.parametrize(("decisive", "said"), [(4, True), (0, False)])
def test_what_a_few_observations_decide_is_said(decisive, said):
    """Of a learner that errs everywhere where it has seen none of so many observations."""

    def lacking(X_train, y_train, X_test):
        errs = decisive > 0 and not np.isin(X_train[:, 0], X[:decisive, 0]).any()
        right = {tuple(x): label for x, label in zip(X, Y, strict=True)}
        labels = np.array([right[tuple(x)] for x in X_test])
        return np.where(errs | (X_test[:, 0] > X[:, 0].mean()), 1 - labels, labels)

    notes = uv.UStatisticTest(X, Y, {"own": lacking}).fit(20, "few", rng=0).notes
    assert any("a few observations decide which rule is learnt" in each for each in notes) is said


@pytest.mark.parametrize("decisive", [True, False])
def test_what_a_single_observation_decides_is_said(decisive):
    """Of a learner that errs more where it has not seen the first."""

    def lacking(X_train, y_train, X_test):
        errs = decisive and not (X_train[:, 0] == X[0, 0]).any()
        right = {tuple(x): label for x, label in zip(X, Y, strict=True)}
        labels = np.array([right[tuple(x)] for x in X_test])
        return np.where((X_test[:, 0] > X[:, 0].mean()) & errs, 1 - labels, labels)

    result = uv.UStatisticTest(X, Y, {"own": lacking}).fit(20, "few", rng=0)
    share = result.diagnostics["share_of_one_observation"]
    assert (share > 0.5) is decisive
    said = (
        f"A single observation explains {share:.0%} of the difference between the two fits of a "
        "pair"
    )
    assert any(said in note for note in result.notes) is decisive


def test_few_fits_need_no_slope(monkeypatch):
    def slope(*arguments):
        raise AssertionError("a slope was computed")

    monkeypatch.setattr("ucvtest.kernels.ustatistic.variances.slope_by_rows", slope)
    test = uv.UStatisticTest(X, Y, *PAIR)
    assert test.fit(max_fits=400, rng=0).diagnostics["variance"] == "few"
    with pytest.raises(AssertionError, match="slope"):
        test.fit(n_pairs=400, variance="midpoint", rng=0)


def test_a_variance_estimated_below_zero_is_left_to_few_fits():
    """Both parts of the midpoint were, which is no sign that the losses do not vary."""
    test = uv.UStatisticTest(X, Y, "lda", "ridge:0.1")
    full = test.fit(n_pairs=40, variance="midpoint", rng=0)
    assert full.diagnostics["variance_midpoint"] == 0
    assert full.status.startswith("no variance estimate: the losses vary, but both parts")
    assert np.isnan([full.se, full.statistic, full.pvalue]).all()
    usual = test.fit(n_pairs=40, rng=0)
    assert usual.status == "ok"
    assert usual.diagnostics["variance"] == "few"
    assert usual.se > 0


def test_a_variance_of_zero_is_not_reliable_however_small_its_error():
    of_parts_below_zero = MonteCarloEstimates({"midpoint": 0.0}, {"midpoint": 0.0}, np.zeros(3))
    assert not reliable(of_parts_below_zero, "midpoint")


def test_log_losses_that_would_be_infinite_are_noted():
    fitted = uv.UStatisticTest(X, Y, "knn:1", loss="log").fit(n_pairs=10, rng=0)
    losses = drawn(20, "log", learners=("knn:1",))
    for result in (fitted, uv.UStatisticTest.from_losses(losses).fit()):
        number = result.diagnostics["certain_and_wrong"]
        assert [n for n in result.notes if n.startswith(f"{number} predictions had a probability")]
    assert number == np.count_nonzero(losses.values > 36)
    usual = uv.UStatisticTest(X, Y, "lda", loss="brier").fit(n_pairs=10, rng=0)
    assert "certain_and_wrong" not in usual.diagnostics


def test_infinite_log_losses_of_fixed_rules_are_noted_in_scores_too():
    for options in ({"loss": "log"}, {"scoring": "neg_log_loss"}):
        result = uv.HoldOutTest(X, Y, "knn:1", **options).fit(rng=0)
        number = result.diagnostics["certain_and_wrong"]
        # All losses are 36 or next to nothing, and 8 rows are tested.
        assert number == round(8 * abs(result.estimate) / MOST_LOG_LOSS) > 0
        assert any(note.startswith(f"{number} predictions had") for note in result.notes)
