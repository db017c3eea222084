"""Curves of learners: of the rules of disjoint learning sets, kept as losses."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import TimeSeriesSplit

import ucvtest as uv
from tests.oracles.few_fits import few_fits
from ucvtest.metrics.named import named_smooth_metric

N, LEARN_SIZE, N_ROUNDS = 16, 7, 4
THRESHOLD = 0.45

QUANTITIES = {
    "sensitivity": (uv.curves.roc, lambda y, f: y * f, lambda y, f: y),
    "specificity": (uv.curves.roc, lambda y, f: (1 - y) * (1 - f), lambda y, f: 1 - y),
    "precision": (uv.curves.precision_recall, lambda y, f: y * f, lambda y, f: f),
    "net benefit": (
        uv.curves.decision,
        lambda y, f: f * (y - (1 - y) * THRESHOLD / (1 - THRESHOLD)),
        lambda y, f: 1.0,
    ),
}
"""Ratios of expectations of what rows count, by label and prediction."""


def evaluated(n, learn_size, n_rounds, *, groups=None, learners=("lda", "logistic"), **options):
    rng = np.random.default_rng(1)
    y = (np.arange(n) % 3 == 0).astype(int)
    X = rng.normal(size=(n, 2)) + np.outer(y, [1.0, 0.3])
    if groups is not None:
        X += 2 * rng.normal(size=(max(groups) + 1, 2))[groups]
    options = {"metric": "brier_skill", **options}
    design = uv.designs.DisjointSets(learn_size, n_rounds)
    return uv.evaluate(learners, X, y, design, groups=groups, rng=0, **options)


@pytest.fixture(scope="module")
def losses():
    return evaluated(N, LEARN_SIZE, N_ROUNDS)


def by_rule(losses, learner):
    """Labels (n,), predictions at the threshold [r][j][i] and learning sets [r][j]."""
    flagged = np.zeros(losses.design.testing.shape)
    flagged[losses.design.testing] = losses.predictions[learner] >= THRESHOLD
    n = losses.design.n_obs
    rounds = [[set(np.flatnonzero(s)) for s in pair] for pair in pairs(losses.design.learning, n)]
    return losses.target, pairs(flagged, n), rounds


def pairs(rows, n):
    return rows.reshape(-1, 2, n)


def expected(count, y, flagged, rounds):
    """The mean of what a row counts: over the rules of a round that test it, rounds and rows."""
    row_means = []
    for i, label in enumerate(y):
        round_means = []
        for two_sets, predictions in zip(rounds, flagged, strict=True):
            tested = [j for j in range(2) if i not in two_sets[j]]
            round_means.append(np.mean([count(label, predictions[j][i]) for j in tested]))
        row_means.append(np.mean(round_means))
    return np.mean(row_means)


def point_and_interval(quantity, losses, learner):
    """A point with its standard error and interval, by rows that are added, in paper notation."""
    _, above, below = QUANTITIES[quantity]
    y, flagged, rounds = by_rule(losses, learner)
    n, table = len(y), [(a, b) for a in (0, 1) for b in (0, 1)]
    top, bottom = (expected(count, y, flagged, rounds) for count in (above, below))

    def variance(ratio, scale):
        values = (above(y, flagged) - ratio * below(y, flagged)) / scale
        _, v, noise, df, _ = few_fits(values, rounds, LEARN_SIZE)
        return v + noise / len(rounds), df

    se = np.sqrt(variance(top / bottom, bottom)[0])
    moved_top, moved_bottom = (
        (n * mean + sum(count(*cell) for cell in table)) / (n + 4)
        for mean, count in ((top, above), (bottom, below))
    )
    centre = moved_top / moved_bottom
    moved_variance, df = variance(centre, moved_bottom)
    added = [(above(*cell) - centre * below(*cell)) / moved_bottom for cell in table]
    mean = (top - centre * bottom) / moved_bottom
    spread = n**2 * moved_variance + n * mean**2 + np.dot(added, added)
    half = stats.t.ppf(0.975, df) * np.sqrt(spread) / (n + 4)
    return top / bottom, se, centre - half, centre + half


@pytest.mark.parametrize("name", QUANTITIES)
def test_points_are_those_of_the_definition(losses, name):
    curve = QUANTITIES[name][0](losses, thresholds=[THRESHOLD])
    for learner, label in enumerate(losses.learners):
        band = curve.band(label, name)
        estimate, se, low, high = point_and_interval(name, losses, learner)
        assert band.estimate[0] == pytest.approx(estimate, abs=1e-13)
        assert band.se[0] == pytest.approx(se, abs=1e-12)
        least = -THRESHOLD / (1 - THRESHOLD) if name == "net benefit" else 0.0
        assert band.low[0] == pytest.approx(max(low, least), abs=1e-10)
        assert band.high[0] == pytest.approx(min(high, 1.0), abs=1e-10)


METRICS = {
    "sensitivity": "recall",
    "specificity": "specificity",
    "precision": "precision",
    "net benefit": f"net_benefit({THRESHOLD})",
}


UNEQUAL = np.random.default_rng(0).permutation(np.repeat(np.arange(40), np.arange(40) % 5 + 1))
"""The clusters of 120 rows, which are mixed: each has one row to five."""


@pytest.fixture(scope="module", params=[False, True], ids=["rows", "clusters"])
def many_rules(request):
    """Probabilities by 100 pairs of rules of each learner, of rows or of clusters."""
    if request.param:
        return evaluated(120, 19, 100, groups=UNEQUAL)
    return evaluated(120, 59, 100)


def labels_at(losses, threshold, metric):
    """The losses of a metric of predicted labels, of the same rules."""
    return uv.Losses.of_predictions(
        named_smooth_metric(metric),
        predictions=(losses.predictions >= threshold).astype(float),
        design=losses.design,
        learners=losses.learners,
        target=losses.target,
        groups=losses.groups,
        settings=dict(losses.settings),
    )


@pytest.mark.parametrize("name", METRICS)
def test_a_point_has_nearly_the_interval_of_its_metric(name, many_rules):
    """The U-statistic test pools the rules with other weights, and is linear around that point."""
    losses = many_rules
    labels = labels_at(losses, THRESHOLD, METRICS[name])
    weight = {} if losses.groups is None else {"group_weight": "row"}
    curve = QUANTITIES[name][0](losses, thresholds=[THRESHOLD])
    for label in losses.learners:
        band = curve.band(label, name)
        found = uv.UStatisticTest.from_losses(labels, label, **weight).fit(variance="few")
        assert band.estimate[0] == pytest.approx(found.estimate, abs=1e-4)
        assert band.se[0] == pytest.approx(found.se, rel=0.02)
        width = band.high[0] - band.low[0]
        np.testing.assert_allclose((band.low[0], band.high[0]), found.conf_int(), atol=0.02 * width)


def effects_at(losses, threshold):
    """What each row counts for the net benefit of lda, and its square, over rules that test it."""
    y, flagged = losses.target, np.zeros(losses.design.testing.shape)
    flagged[losses.design.testing] = losses.predictions[0] >= threshold
    n_tests = pairs(losses.design.testing, len(y)).sum(axis=1)
    shares = (pairs(flagged, len(y)).sum(axis=1) / n_tests).mean(axis=0)
    worth = y - (1 - y) * threshold / (1 - threshold)
    return shares * worth, shares * worth**2


def test_areas_are_those_of_the_largest_of_joint_normal_errors(many_rules):
    """Of two thresholds, by the correlation of the sums of units, and each with its own df."""
    losses, thresholds = many_rules, (0.2, 0.5)
    band = uv.curves.decision(losses, "lda", thresholds=thresholds).band()
    unit = np.arange(120) if losses.groups is None else losses.groups
    sums = []
    for threshold in thresholds:
        effects, _ = effects_at(losses, threshold)
        sums.append(np.bincount(unit, effects - effects.mean()))
    errors = np.random.default_rng(5).multivariate_normal([0, 0], np.corrcoef(sums), 400_000)
    largest = np.quantile(np.abs(errors).max(axis=1), 0.95)
    added = largest**2 / 4
    for k, threshold in enumerate(thresholds):
        centre, se, df = moved(losses, threshold, max(added, 1.0))
        half = stats.t.isf(stats.norm.sf(largest), df) * se
        assert band.high_all[k] - band.low_all[k] == pytest.approx(2 * half, rel=0.015)
        assert band.high_all[k] + band.low_all[k] == pytest.approx(2 * centre, abs=0.002)


def moved(losses, threshold, added):
    """The net benefit with observations added to each cell, its standard error and df."""
    band = uv.curves.decision(losses, "lda", thresholds=[threshold]).band()
    # One threshold has one interval, with one observation in each cell.
    np.testing.assert_allclose((band.low_all, band.high_all), (band.low, band.high), atol=1e-12)
    n, clustered = len(losses.target), losses.groups is not None
    labels = labels_at(losses, threshold, f"net_benefit({threshold})")
    weight = {"group_weight": "row"} if clustered else {}
    alone = uv.UStatisticTest.from_losses(labels, "lda", **weight).fit(variance="few")
    mean, square = (effects.mean() for effects in effects_at(losses, threshold))
    size = n
    if clustered:
        size = np.clip((square - mean**2) / alone.se**2, losses.groups.max() + 1, n)
    odds, total = threshold / (1 - threshold), size + 4 * added
    centre = (size * mean + added * (1 - odds)) / total
    others = np.array([1.0, 0.0, -odds, 0.0]) - centre
    variance = size**2 * alone.se**2 + size * (mean - centre) ** 2 + added * others @ others
    return centre, np.sqrt(variance) / total, alone.df


class SameRule(ClassifierMixin, BaseEstimator):
    """Predicts a feature, whatever was learnt."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - p, p])


@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "clusters"])
@pytest.mark.parametrize("make", [uv.curves.roc, uv.curves.decision, uv.curves.calibration])
def test_without_learning_errors_are_those_of_a_fixed_rule(make, clustered):
    groups = np.arange(N) // 2 if clustered else None
    learn_size = 3 if clustered else LEARN_SIZE
    losses = evaluated(N, learn_size, 3, groups=groups, learners={"a": SameRule()})
    first = np.argmax(losses.design.testing, axis=0)
    table = np.zeros(losses.design.testing.shape)
    table[losses.design.testing] = losses.predictions[0]
    scores = table[first, np.arange(N)]
    options = {"bins": [0, 0.4, 1]} if make is uv.curves.calibration else {"thresholds": [0.4, 0.6]}
    curve = make(losses, **options)
    assert ", by expected counts when learning from" in curve.settings["estimand"]
    assert ",," not in curve.settings["estimand"]
    learnt = curve.band("a")
    fixed = make(losses.target, {"a": scores}, groups=groups, **options).band("a")
    np.testing.assert_allclose(learnt.estimate, fixed.estimate, atol=1e-12)
    np.testing.assert_allclose(learnt.se, fixed.se, atol=1e-12)
    np.testing.assert_allclose(learnt.n, fixed.n, atol=1e-12)


def test_areas_contain_bars_and_the_difference_is_that_of_both(losses):
    curve = uv.curves.roc(losses)
    assert len(curve.band().x) == 40
    for band in curve.bands:
        assert ((band.low_all <= band.low) & (band.high <= band.high_all)).all()
        assert np.isfinite([band.low_all, band.high_all]).all()
    first, second, difference = (
        curve.band(name, "specificity") for name in (*losses.learners, "difference")
    )
    np.testing.assert_allclose(difference.estimate, first.estimate - second.estimate, atol=1e-14)
    # Errors of paired learners are smaller than those of two samples.
    assert np.median(difference.se) < np.median(np.hypot(first.se, second.se))


def test_one_or_two_learners_are_named(losses):
    alone = uv.curves.roc(losses, "logistic")
    assert alone.learners == ("logistic",)
    both = uv.curves.roc(losses, ["logistic", "lda"], thresholds=[0.3])
    assert both.learners == ("logistic", "lda")
    plain = uv.curves.roc(losses, thresholds=[0.3])
    np.testing.assert_allclose(both.band("lda").low, plain.band("lda").low, atol=1e-13)
    for names, message in (
        ("svm", "neither one of lda, logistic"),
        (["lda", 0], "one or two different learners of the losses"),
        ([], "one or two different learners of the losses"),
        ({"lda": np.zeros(N)}, "known to the losses, got dict: leave it out, or name"),
    ):
        with pytest.raises(ValueError, match=message):
            uv.curves.roc(losses, names)


def test_results_say_what_was_learnt(losses):
    curve = uv.curves.precision_recall(losses)
    text = " ".join(curve.summary(notes=True).as_text().split())
    assert f"expected counts when learning from {LEARN_SIZE} observations" in text
    assert f"Learning-set size: {LEARN_SIZE}" in text
    assert f"Model fits: {4 * N_ROUNDS}" in text
    assert "Each learner has 8 rules, from pairs of disjoint learning sets." in text
    assert {layer.mark for layer in layers(curve)} >= {"area", "line"}
    assert "uv.curves" not in text


def layers(curve):
    from ucvtest.curves.picture import picture_of

    return picture_of(curve, "curve").layers


def test_scores_of_the_auc_are_on_the_scale_of_the_learner():
    scores = evaluated(N, LEARN_SIZE, N_ROUNDS, loss="auc", metric=None)
    probabilities = evaluated(N, LEARN_SIZE, N_ROUNDS)
    by_score = uv.curves.roc(scores, "lda", thresholds=[0.0]).band()
    by_probability = uv.curves.roc(probabilities, "lda", thresholds=[0.5]).band()
    np.testing.assert_allclose(by_score.estimate, by_probability.estimate, atol=1e-14)
    with pytest.raises(ValueError, match=r"make the losses with .*metric='brier_skill'"):
        uv.curves.calibration(scores)


def test_scores_within_0_and_1_are_not_taken_for_probabilities():
    X, y = sample()
    losses = uv.evaluate("lda", 0.01 * X + 0.5, y, 5, loss="auc", rng=0)
    squeezed = replace(losses, values=stats.norm.cdf(losses.values))
    for make in (uv.curves.calibration, uv.curves.decision):
        with pytest.raises(ValueError, match="keep scores, whose scale is not known"):
            make(squeezed)


def sample():
    rng = np.random.default_rng(3)
    y, X = np.arange(30) % 2, rng.normal(size=(30, 2))
    return X + y[:, None], y


@pytest.mark.parametrize("clustered", [False, True], ids=["rows", "clusters"])
@pytest.mark.parametrize("design", [5, uv.designs.HoldOut(0.4)], ids=["folds", "one set"])
def test_losses_of_folds_and_of_one_test_set_are_those_of_their_predictions(design, clustered):
    X, y = sample()
    groups = np.arange(30) // 2 if clustered else None
    losses = uv.evaluate("lda", X, y, design, loss="auc", groups=groups, rng=0)
    fold, row = np.nonzero(losses.design.testing)
    options = {"fold": fold} if design == 5 else {}
    options |= {"groups": groups[row]} if clustered else {}
    plain = uv.curves.roc(y[row], {"lda": losses.values[0]}, **options)
    for band, other in zip(uv.curves.roc(losses).bands, plain.bands, strict=True):
        np.testing.assert_array_equal(band.estimate, other.estimate)
        np.testing.assert_allclose((band.low, band.high), (other.low, other.high), atol=1e-13)


def test_small_learning_sets_that_happen_to_be_disjoint_are_pairs():
    rng = np.random.default_rng(4)
    y, X = np.arange(200) % 2, rng.normal(size=(200, 2))
    for seed in range(6):
        design = uv.designs.DisjointSets(6, 3)
        losses = uv.evaluate("majority", X, y, design, metric="brier_skill", rng=seed)
        assert uv.curves.roc(losses, thresholds=[0.5]).settings["n_fits"] == 6


def test_rules_that_learnt_from_one_class_have_no_score():
    rng = np.random.default_rng(0)
    y = (np.arange(30) < 4).astype(int)
    X, design = rng.normal(size=(30, 1)) + 2 * y[:, None], uv.designs.DisjointSets(7, 6)
    scores = uv.evaluate("lda", X, y, design, loss="auc", rng=0)
    number = scores.diagnostics["lda"]["one_class_fits"]
    with pytest.raises(ValueError, match=f"{number} of the rules were learnt from one class"):
        uv.curves.roc(scores)
    probabilities = uv.evaluate("lda", X, y, design, metric="brier_skill", rng=0)
    notes = uv.curves.roc(probabilities, thresholds=[0.5]).notes
    assert any(note.startswith(f"{number} of the rules were learnt from one") for note in notes)
    assert any(note.startswith("With only 6 pairs of learning sets") for note in notes)


@pytest.mark.parametrize(
    ("design", "options", "message"),
    [
        (
            uv.designs.DisjointSets(14, 2),
            {},
            "2 pairs of learning sets of 14, .* needs 3 pairs",
        ),
        (uv.designs.DisjointSets(14, 3, n_sets=2), {}, "with one set from each half"),
        (uv.designs.RandomSplits(6, 0.5), {}, "tests rows several times"),
        (uv.designs.KFold(2, n_repeats=3), {}, "3 pairs of learning sets of 15, .* of at most 14"),
        (TimeSeriesSplit(4), {}, "tests 24 of 30 rows by several rules"),
        ([(np.arange(1, 16), np.arange(16, 30, 2))], {}, "tests rows of one class only"),
        (5, {"loss": "zero_one"}, "loss='zero_one'.* keep no scores of two classes"),
        (5, {"loss": None, "metric": "net_benefit(0.3)"}, "keep no scores of two classes"),
        (5, {"y": np.arange(30) % 3, "loss": "log"}, "keep no scores of two classes"),
    ],
)
def test_losses_that_a_curve_cannot_use_are_refused(design, options, message):
    X, y = sample()
    arguments = {"y": y, "loss": "auc", **options}
    losses = uv.evaluate("lda", X, design=design, rng=0, **arguments)
    with pytest.raises(ValueError, match=message):
        uv.curves.roc(losses)


def test_arguments_that_losses_already_have_are_refused(losses):
    for name in ("fold", "groups"):
        with pytest.raises(ValueError, match=f"{name} is known to the losses"):
            uv.curves.roc(losses, **{name: np.zeros(N)})
    with pytest.raises(ValueError, match="which take the place of y: pass them alone"):
        uv.curves.roc(np.arange(N) % 2, losses)
