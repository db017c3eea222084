"""What each metric declares is true: its kind, output, bounds, scale and direction."""

import numpy as np
import pytest
from sklearn.metrics import get_scorer, get_scorer_names

from ucvtest.data.output import OUTPUTS
from ucvtest.data.sample import make_sample
from ucvtest.designs.design import Design
from ucvtest.losses.linearised import resample_values
from ucvtest.metrics.base import Metric
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.matrix import matrix_loss
from ucvtest.metrics.means import LOSSES, OF_SEVERAL
from ucvtest.metrics.ranks import AUC
from ucvtest.metrics.recorded import RecordedMetric, recorded_metric
from ucvtest.metrics.scorers import MEANS, chosen_loss

N_OBS, N_SETS = 40, 12


# They divide by the errors, of which a rule that is right has none.
WITHOUT_A_BEST_VALUE = ("neg_negative_likelihood_ratio", "positive_likelihood_ratio")


def scores_of_test_sets():
    for name in get_scorer_names():
        # Clusterings have no predictions of new observations, and sets of labels other targets.
        elsewhere = ".cluster." in get_scorer(name)._score_func.__module__ or "_samples" in name
        if name not in MEANS and not elsewhere:
            yield name, chosen_loss(None, name)


METRICS = {
    **LOSSES,
    **{f"{name} of three classes": loss for name, loss in OF_SEVERAL.items()},
    "matrix": matrix_loss([[0.0, 1.0], [5.0, 0.0]]),
    AUC.name: AUC,
    **{name: loss for name, loss in MEANS.items() if isinstance(loss, Loss)},
    **dict(scores_of_test_sets()),
    **{
        name: recorded_metric(
            RecordedMetric("score", estimand="score", greater_is_better=True, kind=kind)
        )
        for name, kind in (("a score", "mean"), ("scores of splits", "set"))
    },
}
COMPUTED = [name for name in METRICS if not name.startswith(("a score", "scores of"))]


def n_classes_of(name):
    # Of two classes one of the best two labels is always the right one.
    return 3 if "three" in name or "_ov" in name or name == "top_k_accuracy" else 2


def cases(metric, n_classes, rng):
    """A sample, and the predictions (R, n) of a rule that guesses and of one that is right."""
    if metric.output == "number":
        sample = make_sample(np.zeros((N_OBS, 1)), rng.gamma(2, size=N_OBS), as_classes=False)
        return sample, rng.gamma(2, size=(N_SETS, N_OBS)), np.tile(sample.target, (N_SETS, 1))
    codes = np.arange(N_OBS) % n_classes
    sample = make_sample(np.zeros((N_OBS, 1)), codes, as_classes=True)
    if metric.output == "label":
        guesses = rng.integers(n_classes, size=(N_SETS, N_OBS)).astype(float)
        return sample, guesses, np.tile(codes.astype(float), (N_SETS, 1))
    if n_classes > 2:
        guesses = rng.dirichlet(np.ones(n_classes), size=(N_SETS, N_OBS))
        return sample, guesses, np.tile(np.eye(n_classes)[codes], (N_SETS, 1, 1))
    return sample, rng.uniform(size=(N_SETS, N_OBS)), np.tile(codes.astype(float), (N_SETS, 1))


def values_of(name, predictions, sample, testing):
    metric = METRICS[name]
    kept = metric.kept(sample, predictions, testing)
    kept = kept if metric.per_test_set else kept[testing]
    design = Design(~testing, testing)
    return kept, resample_values(kept[None], design, metric, sample.target)[0]


@pytest.mark.parametrize("name", [each for each in COMPUTED if each not in WITHOUT_A_BEST_VALUE])
def test_bounds_and_direction(name):
    metric = METRICS[name]
    rng = np.random.default_rng(0)
    sample, guessed, right = cases(metric, n_classes_of(name), rng)
    testing = np.tile(np.arange(N_OBS) < 25, (N_SETS, 1))
    _, of_guesses = values_of(name, guessed, sample, testing)
    _, of_right = values_of(name, right, sample, testing)
    assert of_guesses.shape == (N_SETS,)
    low, high = metric.bounds or (-np.inf, np.inf)
    for values in (of_guesses, of_right):
        assert low <= values.min() <= values.max() <= high
    better = of_right - of_guesses if metric.greater_is_better else of_guesses - of_right
    assert better.min() >= 0
    assert better.max() > 0
    if metric.bounds is not None:
        # A rule that is right has the best value that there is.
        best = high if metric.greater_is_better else low
        assert of_right == pytest.approx(np.full(N_SETS, best), abs=1e-12)


@pytest.mark.parametrize("name", METRICS)
def test_one_kind_and_what_follows_from_it(name):
    metric = METRICS[name]
    assert isinstance(metric, Metric)
    assert metric.is_mean + metric.ranks_pairs + metric.per_test_set == 1
    assert metric.output in OUTPUTS
    assert metric.in_words
    # "accuracies"
    assert metric.plural != metric.in_words
    if metric.scale == "logit":
        assert metric.bounds == (0.0, 1.0)
    if metric.scale == "log":
        assert metric.bounds is not None
        assert metric.bounds[0] >= 0
    if metric.ranks_pairs:
        assert metric.needs_every_class
        assert metric.output in ("score", "probability")
    if metric.counts_errors:
        assert metric.is_mean
        assert metric.output == "label"
        assert metric.bounds == (0.0, 1.0)


@pytest.mark.parametrize("name", COMPUTED)
def test_a_value_of_one_observation_means_nothing_unless_it_is_a_mean(name):
    """A mean is found from what is kept alone, and nothing else is."""
    metric = METRICS[name]
    sample, guessed, _ = cases(metric, n_classes_of(name), np.random.default_rng(1))
    testing = np.tile(np.arange(N_OBS) < 25, (N_SETS, 1))
    kept, values = values_of(name, guessed, sample, testing)
    if metric.per_test_set:
        assert kept.shape == (N_SETS,)
        return
    means = kept.reshape(N_SETS, -1).mean(axis=1)
    assert np.allclose(means, values, rtol=1e-12) == metric.is_mean


def test_errors_are_counted_by_the_error_rate_alone():
    assert [name for name, metric in METRICS.items() if metric.counts_errors] == [
        "zero_one",
        "accuracy",
    ]


def test_scores_of_pairs_move_with_the_order_alone():
    rng = np.random.default_rng(2)
    labels, scores = np.arange(30) % 2 == 1, rng.normal(size=30)
    found = AUC.function(labels, scores)
    assert found == AUC.function(labels, np.exp(scores))
    assert AUC.function(labels, -scores) == pytest.approx(1 - found)
    assert AUC.function(labels, np.zeros(30)) == 0.5
    assert np.isnan(AUC.function(labels[labels], scores[labels]))
    assert AUC.function(np.array([True, False]), np.array([np.inf, -np.inf])) == 1.0
