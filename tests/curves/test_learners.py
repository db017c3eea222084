"""Curves of learners: of the rules of disjoint learning sets, kept as losses."""

import json
import pickle

import numpy as np
import pytest
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

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


@pytest.fixture(scope="module", params=[False, True], ids=["rows", "clusters"])
def many_rules(request):
    """Probabilities by 100 pairs of rules of each learner, of rows or of clusters."""
    if request.param:
        return evaluated(120, 19, 100, groups=np.arange(120) // 3)
    return evaluated(120, 59, 100)


@pytest.mark.parametrize("name", METRICS)
def test_a_point_has_nearly_the_interval_of_its_metric(name, many_rules):
    """The U-statistic test pools the rules with other weights, and is linear around that point."""
    losses = many_rules
    labels = uv.Losses.of_predictions(
        named_smooth_metric(METRICS[name]),
        predictions=(losses.predictions >= THRESHOLD).astype(float),
        design=losses.design,
        learners=losses.learners,
        target=losses.target,
        groups=losses.groups,
        settings=dict(losses.settings),
    )
    weight = {} if losses.groups is None else {"group_weight": "row"}
    curve = QUANTITIES[name][0](losses, thresholds=[THRESHOLD])
    for label in losses.learners:
        band = curve.band(label, name)
        found = uv.UStatisticTest.from_losses(labels, label, **weight).fit(variance="few")
        assert band.estimate[0] == pytest.approx(found.estimate, abs=1e-4)
        assert band.se[0] == pytest.approx(found.se, rel=0.02)
        width = band.high[0] - band.low[0]
        np.testing.assert_allclose((band.low[0], band.high[0]), found.conf_int(), atol=0.02 * width)


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
    learnt = make(losses, **options).band("a")
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
        (["lda", 0], "names a learner twice"),
        ({"lda": np.zeros(N)}, "known to the losses, got dict: leave it out, or name"),
    ):
        with pytest.raises(ValueError, match=message):
            uv.curves.roc(losses, names)


def test_results_say_what_was_learnt_and_travel(losses):
    curve = uv.curves.precision_recall(losses)
    text = " ".join(str(curve).split())
    assert f"by the expected counts of rules learnt from {LEARN_SIZE} observations" in text
    assert f"Learning-set size: {LEARN_SIZE}" in text
    assert f"Model fits: {4 * N_ROUNDS}" in text
    assert "Each learner has 8 rules, from pairs of disjoint learning sets." in text
    assert pickle.loads(pickle.dumps(curve)) == curve
    assert uv.curves.Curve.from_dict(json.loads(curve.to_json())) == curve
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


def sample():
    rng = np.random.default_rng(3)
    y, X = np.arange(30) % 2, rng.normal(size=(30, 2))
    return X + y[:, None], y


def test_losses_of_folds_and_of_one_test_set_are_those_of_their_predictions():
    X, y = sample()
    for design in (5, uv.designs.HoldOut(0.4)):
        losses = uv.evaluate("lda", X, y, design, loss="auc", rng=0)
        fold, row = np.nonzero(losses.design.testing)
        folds = {"fold": fold} if design == 5 else {}
        curve = uv.curves.roc(losses)
        assert curve == uv.curves.roc(y[row], {"lda": losses.values[0]}, **folds)


@pytest.mark.parametrize(
    ("design", "options", "message"),
    [
        (uv.designs.DisjointSets(14, 2), {}, "2 draws of 1 learning sets of 14 .* needs 3 draws"),
        (uv.designs.DisjointSets(14, 3, n_sets=2), {}, "3 draws of 2 learning sets"),
        (uv.designs.RandomSplits(6, 0.5), {}, "tests rows several times"),
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
    with pytest.raises(ValueError, match="pos_label is known to the losses"):
        uv.curves.roc(losses, pos_label=0)
    with pytest.raises(ValueError, match="predictions is missing"):
        uv.curves.roc(np.arange(4) % 2)
