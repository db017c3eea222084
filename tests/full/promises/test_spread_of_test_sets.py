"""In tests of resamples, values of test sets spread as the metric of each set alone does."""

import numpy as np
import pytest

import ucvtest as uv
from ucvtest.designs.design import Design
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.methods.registry import TESTS
from ucvtest.metrics.named import FAMILIES, SMOOTH, as_smooth_metric
from ucvtest.metrics.ranks import AUC

N_OBS = 960
RNG = np.random.default_rng(67)
LEVEL = RNG.normal(size=N_OBS)
RULES = LEVEL + np.array([[1.0], [2.0]]) * RNG.normal(size=(2, N_OBS))
LABELS = (LEVEL + RNG.normal(size=N_OBS) > 0) * 1
TIMES = uv.survival(RNG.exponential(np.exp(-LEVEL)), RNG.random(N_OBS) < 0.7)

NUMBERS = {
    "fbeta": "2",
    "net_benefit": "0.3",
    "partial_auc": "0.2",
    "auc": "0.5",
    "brier": "0.5",
    "integrated_brier": "0.3,0.6",
}
"""Arguments of the families that need one; a new family belongs here."""

NAMED = (*SMOOTH, *(f"{name}({NUMBERS[name]})" for name in FAMILIES if name not in SMOOTH))
METRICS = {
    "auc": AUC,
    **{
        metric.name: metric
        for metric in map(as_smooth_metric, NAMED)
        # These are refused for folds.
        if not (metric.of_ranks or metric.of_one_rule)
    },
}
CLASSES = [
    cls
    for cls in TESTS.values()
    if issubclass(cls, ResamplingTest) and "metric" in cls.needs.metrics and not cls.needs.values
]


def losses_of(metric, rows=slice(None)):
    """Those of two rules as they are."""
    probabilities = 1 / (1 + np.exp(-RULES[:, rows]))
    y, given = LABELS[rows], probabilities
    if metric.output == "label":
        given = (given > 0.5) * 1
    elif metric.output == "number":
        y, given = LEVEL[rows], RULES[:, rows]
    elif metric.of_survival:
        y = TIMES.take(np.arange(N_OBS)[rows])
        if len(metric.times) > 1:
            given = given[:, :, None] * [0.8, 1.0]
    return uv.Losses.from_predictions(y, {"a": given[0], "b": given[1]}, metric=metric.name)


def losses_on(metric, design, groups):
    """The same on a design, as if each learning set had given these two rules."""
    whole = losses_of(metric)
    if metric is AUC:
        scores = whole.values[:, None].repeat(design.n_resamples, axis=1)
        sets = design.learning, design.testing
        return uv.Losses.from_arrays(scores, *sets, loss="auc", y=whole.target, groups=groups)
    predictions = whole.predictions[:, None].repeat(design.n_resamples, axis=1)
    return uv.Losses.of_predictions(
        metric,
        predictions=predictions[:, design.testing],
        design=design,
        learners=whole.learners,
        target=whole.target,
        event=whole.event,
        settings={**whole.settings, "pos_label": 1},
        groups=groups,
    )


@pytest.mark.parametrize("groups", [None, np.arange(N_OBS) // 4], ids=["rows", "clusters"])
@pytest.mark.parametrize("name", METRICS)
def test_their_slope_on_the_values_of_sets_alone_is_1(name, groups):
    metric = METRICS[name]
    units, weight = (np.arange(N_OBS), None) if groups is None else (groups, "row")
    for scheme in dict.fromkeys(cls.default_design for cls in CLASSES):
        drawn = scheme.draw(int(units.max()) + 1, np.random.default_rng(1))
        design = Design(drawn.learning[:, units], drawn.testing[:, units])
        losses = losses_on(metric, design, groups)
        # Of the many splits of halves, those of the whole sample suffice.
        sets = design.testing[:15]
        first, second = np.transpose([losses_of(metric, rows).means[:, 0] for rows in sets])
        for cls in CLASSES:
            if cls.default_design != scheme:
                continue
            for who, expected in ((0,), first), ((0, 1), first - second):
                test = cls.from_losses(losses, *who, null_value=0.1, group_weight=weight)
                found = test.fit().diagnostics
                used = np.ravel(found.get("resample_means", found.get("fold_means")))
                slope, _ = np.polyfit(expected, used, 1)
                assert 0.8 < slope < 1.25, (cls.__name__, who)
