"""Random questions about metrics, folds, weights, survival, forecasts, verdicts and few fits.

``python -m tests.nightly.promises.random_questions 10000 --seed 1`` is the long run. Most calls are
valid, and their answers are judged too: no number is missing under the status "ok", intervals
contain their estimates, and nothing warns in the words of another package. With ``--rows FILE``
each call is a line of that file, and a run goes on where it stopped. Call number i of a seed is
always the same.
"""

import argparse
import json
import math
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import TimeSeriesSplit

import ucvtest as uv
from tests.core.promises.own_errors import is_own
from ucvtest.common.exceptions import UcvtestWarning
from ucvtest.methods.registry import TESTS
from ucvtest.results.fields import quiet_interval

SIZES = [3, 6, 12, 12, 24, 24, 24, 40]
AVERAGES: list[Any] = ["macro", "weighted", "micro"]
OF_LABELS: list[Any] = [
    *("f1", "precision", "recall", "jaccard", "specificity", "npv", "g_mean"),
    *("mcc", "kappa", "balanced_accuracy", "accuracy"),
]
OF_CLASSES: list[Any] = [
    *(f"{name}_{each}" for name in ("f1", "precision", "recall", "jaccard") for each in AVERAGES),
    *("kappa", "kappa_linear", "kappa_quadratic", "mcc", "balanced_accuracy", "g_mean"),
    *("fbeta(2)", 'recall["b"]', "fbeta(-1)", "f1_nope"),
]
OF_NUMBERS: list[Any] = [
    *("r2", "rmse", "wape", "pearson", "ccc", "neg_mean_squared_error", "squared", "absolute"),
    *("neg_mean_squared_log_error", "neg_mean_absolute_percentage_error"),
    *("neg_mean_poisson_deviance", "neg_mean_gamma_deviance"),
]
OF_PROBABILITIES: list[Any] = [
    *("brier", "log", "brier_skill", "log_skill", "average_precision", "auc", "neg_log_loss"),
    *("net_benefit(0.2)", "partial_auc(0.3)", "partial_auc(1)", "net_benefit(0)"),
]
ON_RULES = ["hold_out", "hold_out", "hold_out", "mcnemar", "delong", "diebold_mariano"]
ON_FOLDS = [
    *("corrected_t", "cross_validation_wald", "naive_t", "bayesian_t"),
    *("corrected_t", "cross_validation_wald", "naive_t", "bayesian_t", "conservative_z"),
    *("fold_covariance", "five_by_two_t", "five_by_two_f", "nested_cross_validation"),
]
ALTERNATIVES = ["two-sided", "less", "greater"]
WEIGHTS: list[Callable[[np.random.Generator, int], Any]] = [
    lambda rng, n: rng.random(n),
    lambda rng, n: rng.integers(0, 3, n),
    lambda rng, n: 10 ** rng.uniform(-8, 8, n),
    lambda rng, n: 10 ** rng.uniform(-300, 300, n),
    lambda rng, n: np.eye(n)[0],
    lambda rng, n: np.eye(n)[0] + 1e-12,
    lambda rng, n: np.zeros(n),
    lambda rng, n: np.full(n, 5e-324),
    lambda rng, n: -np.ones(n),
    lambda rng, n: np.where(np.arange(n) % 2, 1e308, 1e-308),
]


def youden(table: np.ndarray) -> Any:
    return sum(table[each, each] / table[each].sum() for each in range(len(table))) - 1


def unsmooth(table: np.ndarray) -> Any:
    return float(table[0, 0] > 0.3)


OF_MEANS = ["accuracy", "auc", "brier", "log", "squared", "absolute", *OF_NUMBERS[5:]]
"""The metrics that weights apply to, and the AUC."""

OWN_CELLS: list[Any] = [
    uv.metrics.Cells(youden),
    uv.metrics.Cells(lambda table: table[0, 0], "corner", limits=(0, 1)),
    uv.metrics.Cells(lambda table: np.trace(table) ** 2, "squared share"),
    uv.metrics.Cells(lambda table: np.log(table[0, -1]), "logarithm"),
    uv.metrics.Cells(lambda table: 1.0, "constant"),
    uv.metrics.Cells(unsmooth),
]
OWN_MOMENTS: list[Any] = [
    uv.metrics.Moments(
        lambda y, p: np.stack([(y - p) ** 2, y, y * y], axis=-1),
        lambda means: 1 - means[0] / (means[2] - means[1] ** 2),
        "own r2",
    ),
    uv.metrics.Moments(
        lambda y, p: np.stack([y, p], axis=-1), lambda means: means[0] / means[1], "ratio"
    ),
    uv.metrics.Moments(
        lambda y, p: np.stack([np.log(y / p)], axis=-1), lambda means: np.exp(means[0]), "growth"
    ),
    uv.metrics.Moments(
        lambda y, p: np.stack([y - p], axis=-1), lambda means: abs(means[0]), "bias"
    ),
]


class Draw:
    """What one call draws."""

    def __init__(self, seed: int, number: int) -> None:
        self.rng = np.random.default_rng([seed, number])

    def one(self, values: list[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def seldom(self, values: list[Any], usual: Any) -> Any:
        """Nearly always what is usual, so that many draws together are mostly valid."""
        return self.one(values) if self.rng.random() < 0.06 else usual


class Answer(NamedTuple):
    """The results of a call, and what is wrong with what was asked of them."""

    results: list[Any]
    faults: list[str]


def _rows(draw: Draw) -> int:
    return int(draw.one(SIZES))


def _rules(draw: Draw, noisy: Callable[[], Any]) -> dict[str, Any]:
    names = ["a", "b", "c", "d"][: int(draw.one([1, 2, 2, 2, 2, 3, 4]))]
    return {name: noisy() for name in names}


def _more(
    draw: Draw, n: int, rules: dict[str, Any], metric: Any
) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Metric, weights, clusters and folds; with folds of repeats every rule has several rows."""
    options: dict[str, Any] = {"metric": metric}
    if draw.rng.random() < (0.5 if metric in OF_MEANS else 0.03):
        options["sample_weight"] = draw.one(WEIGHTS)(draw.rng, n)
    if draw.rng.random() < 0.2:
        clusters = [np.arange(n) // 2, draw.rng.integers(0, 4, n)]
        options["groups"] = draw.seldom([np.zeros(n), np.arange(n)], draw.one(clusters))
    if draw.rng.random() < 0.5:
        special = {"auc": "delong", "accuracy": "mcnemar"}.get(metric, "hold_out")
        usual = draw.one(["hold_out", "hold_out", special])
        if metric in OF_MEANS and "groups" not in options and "sample_weight" not in options:
            usual = draw.one([usual, usual, "diebold_mariano"])
        return options, rules, draw.seldom([*ON_RULES, *ON_FOLDS], usual)
    test = draw.seldom([*ON_RULES, *ON_FOLDS], draw.one(ON_FOLDS))
    five_by_two = test.startswith("five")
    k = 2 if five_by_two else min(int(draw.one([2, 3, 3, 5, n])), n)
    groups = np.asarray(options.get("groups", np.arange(n)), dtype=int)
    folds = [
        (draw.rng.permutation(int(groups.max()) + 1) % k)[groups]
        for _ in range(5 if five_by_two else 2)
    ]
    how = draw.one(["rows", "long"]) if five_by_two else draw.one(["one", "one", "rows", "long"])
    if how == "one":
        return options | {"fold": folds[0]}, rules, test
    again = {
        name: [rule, *(draw.rng.permutation(rule) for _ in folds[1:])]
        for name, rule in rules.items()
    }
    if how == "rows":
        return options | {"fold": np.array(folds)}, again, test
    again = {name: np.concatenate(rows) for name, rows in again.items()}
    for name in ("groups", "sample_weight"):
        if name in options:
            options[name] = np.tile(options[name], len(folds))
    options |= {"fold": np.concatenate(folds), "repeat": np.repeat(np.arange(len(folds)), n)}
    return options, again, test


def _asked(draw: Draw, y: Any, rules: dict[str, Any], options: dict[str, Any], test: str) -> Answer:
    """One test of one or two rules, or several tests of all of them."""
    if "repeat" in options:
        n_repeats = len(options["repeat"]) // len(y)
        y = (
            uv.survival(np.tile(y.time, n_repeats), np.tile(y.event, n_repeats))
            if hasattr(y, "event")
            else np.tile(y, n_repeats)
        )
    return _judged(draw, uv.Losses.from_predictions(y, rules, **options), test)


def _judged(draw: Draw, losses: uv.Losses, test: str) -> Answer:
    alternative = draw.seldom(ALTERNATIVES, "two-sided")
    if len(losses.learners) > 1 and draw.rng.random() < 0.4:
        together = test in ("hold_out", "delong")
        correction = draw.seldom(["simultaneous"], "simultaneous" if together else "holm")
        correction = draw.seldom([None, "nope"], correction)
        tests = draw.seldom([None, ["hold_out"], ["corrected_t", "hold_out"]], [test])
        found = uv.compare_losses(
            *(losses, tests),
            alternative=alternative,
            correction=correction,
            baseline=draw.seldom([0], None),
        )
        if correction == "simultaneous" or draw.seldom([True], False):
            found.best_set(draw.one([0.05, 0.5, 0.999]), draw.seldom([test], None))
        return _compared(found)
    two = len(losses.learners) > 1
    usual = draw.one([[0, 1], [1, 0], ["a", "b"], ["a"]]) if two else [0]
    chosen = draw.seldom([[], [0, 0], [-1], ["a", "nope"]], usual)
    null_value = draw.seldom([0.5, 0, 1, -1, 1e-3, 1e90, math.inf], None)
    asked = TESTS[test].from_losses(losses, *chosen, null_value=null_value, alternative=alternative)
    options: dict[str, Any] = {}
    if test == "diebold_mariano":
        options = {
            "horizon": draw.seldom([40, 0, 9], draw.one([1, 1, 2, 3, 6])),
            "variance": draw.one(["acf", "bartlett"]),
        }
    if test == "cross_validation_wald":
        options = {"variance": draw.seldom(["within_fold"], "all_pairs")}
    if test == "bayesian_t":
        options = {"rope": draw.seldom([0.01, 0.0, -1, 1e300], None)}
    if test == "hold_out":
        options = {"interval": draw.seldom(["exact", "wilson"], "auto")}
    return _told(draw, asked.fit(**options))


def _compared(found: uv.Comparison) -> Answer:
    """What a user reads of a comparison."""
    str(found.summary())
    uv.Comparison.from_dict(json.loads(found.to_json()))
    faults = []
    for row in found.summary_frame().to_dict("records"):
        adjusted, raw = row.get("pvalue_adjusted", math.nan), row["pvalue"]
        if adjusted == adjusted and not raw - 1e-9 <= adjusted <= 1:
            faults.append(f"p {raw}, adjusted {adjusted}")
        if row["conf_low"] > row["estimate"] or row["conf_high"] < row["estimate"]:
            faults.append(f"{row['conf_low']} to {row['conf_high']} without {row['estimate']}")
    return Answer(list(found.results.values()), faults)


def _told(draw: Draw, result: Any) -> Answer:
    """What a user asks of a result."""
    for each in (result, uv.TestResult.from_dict(json.loads(json.dumps(result.to_dict())))):
        str(each), repr(each), each.methods_text()
    question = draw.one(["", "", "noninferiority", "equivalence", "summary"])
    alpha = draw.seldom([0.4, 1e-6, 0.5, 0.9], 0.05)
    judged: Any = None
    if question == "noninferiority":
        judged = result.noninferiority(draw.one([0.01, 0.1, 1e-9, 0.5, 5, 1e9]), alpha=alpha)
    if question == "equivalence":
        low = draw.one([-0.1, 0.4, 0.0, -1e-9, -1e9])
        judged = result.equivalence(low, low + draw.one([0.01, 0.2, 1e9]), alpha=alpha)
    if question == "summary":
        str(result.summary(alpha))
    if judged is None:
        return Answer([result], [])
    str(judged)
    no_answer = math.isnan(judged.pvalue) and result.status != "ok"
    is_share = no_answer or 0 <= judged.pvalue <= 1
    return Answer([result], [] if is_share else [f"p {judged.pvalue} of the {question}"])


def of_labels(draw: Draw) -> Answer:
    n, several = _rows(draw), draw.rng.random() < 0.5
    classes = draw.one([["a", "b", "c"], [0, 1, 2], [-1, 5, 9, 10]]) if several else [0, 1]
    share = draw.one([0.5, 0.5, 0.2, 0.1])
    y = np.array(classes)[draw.rng.choice(len(classes), n, p=_shares(len(classes), share))]
    more = [*classes, *draw.seldom([["z"] if isinstance(classes[0], str) else [77]], [])]

    def noisy() -> Any:
        wrong = draw.rng.random(n) < draw.one([0.0, 0.1, 0.3, 0.9])
        guess = np.array(more)[draw.rng.integers(0, len(more), n)]
        return np.where(wrong, guess, y) if draw.rng.random() < 0.9 else np.full(n, classes[0])

    metric = draw.one([*(OF_CLASSES if several else OF_LABELS), *OWN_CELLS])
    if draw.rng.random() < 0.15:
        function = draw.one([uv.metrics.f1, uv.metrics.precision, uv.metrics.recall])
        some = draw.one([classes[:1], classes[1:], classes[::-1], ["nope"], []])
        metric = function(draw.one([*AVERAGES, "binary"]), labels=some)
    options, rules, test = _more(draw, n, _rules(draw, noisy), metric)
    if draw.rng.random() < 0.15:
        options |= {"pos_label": draw.one([*classes, "nope"])}
    return _asked(draw, y, rules, options, test)


def _shares(n_classes: int, first: float) -> list[float]:
    return [first, *[(1 - first) / (n_classes - 1)] * (n_classes - 1)]


def of_numbers(draw: Draw) -> Answer:
    n, unit = _rows(draw), draw.seldom([1e-8, 1e8, 1e150, 1e-150, -1.0], 1.0)
    y = draw.rng.normal(size=n) * unit + draw.seldom([0.0, 300.0, 1e9], 5.0) * abs(unit)
    if draw.rng.random() < 0.05:
        y = np.full(n, y[0])

    def noisy() -> Any:
        spread = draw.one([1.0, 0.1, 0.0, 100.0])
        given = y + draw.rng.normal(size=n) * spread * unit
        return given if draw.rng.random() < 0.9 else np.full(n, y.mean())

    metric = draw.one([*OF_NUMBERS, *OWN_MOMENTS])
    options, rules, test = _more(draw, n, _rules(draw, noisy), metric)
    return _asked(draw, y, rules, options, test)


def of_probabilities(draw: Draw) -> Answer:
    n = _rows(draw)
    y = (draw.rng.random(n) < draw.one([0.5, 0.5, 0.2, 0.1])).astype(int)

    def noisy() -> Any:
        odds = draw.rng.normal(size=n) + draw.one([0, 1, 3, 40]) * (y - 0.5)
        given = 1 / (1 + np.exp(-odds))
        return draw.one([given, given, given.round(1), given.round(0), np.full(n, 0.5)])

    options, rules, test = _more(draw, n, _rules(draw, noisy), draw.one(OF_PROBABILITIES))
    return _asked(draw, y, rules, options, test)


def of_survival(draw: Draw) -> Answer:
    n = _rows(draw)
    times = draw.rng.exponential(5, n).round(draw.one([0, 1, 6])) + draw.seldom([0.0], 0.1)
    event = draw.rng.random(n) < draw.one([0.9, 0.6, 0.6, 0.1, 1.0])
    at = sorted({round(float(each), 3) for each in draw.rng.uniform(0.5, 9, 3)})
    at = at if len(at) > 1 else [1.0, 2.0]
    late = draw.seldom([at[-1], 50.0, 0.01], None)
    metric = draw.one(
        [
            *("harrell", "uno", f"uno({late or 4.0})", f"harrell({late or 4.0})"),
            *(f"auc({late or at[0]})", f"brier({late or at[0]})"),
            uv.metrics.integrated_brier(at),
            uv.metrics.integrated_brier([*at, late]) if late and late > at[-1] else "harrell",
        ]
    )
    several = getattr(metric, "name", metric).startswith("integrated")

    def noisy() -> Any:
        risk = draw.rng.normal(size=n) * draw.one([1, 1, 0]) - times / 5
        if several:
            columns = len(metric.times) if hasattr(metric, "times") else len(at)
            return np.sort(1 / (1 + np.exp(-risk[:, None] - np.arange(columns))), axis=1)
        return 1 / (1 + np.exp(-risk)) if "brier" in str(metric) else risk

    options, rules, test = _more(draw, n, _rules(draw, noisy), metric)
    return _asked(draw, uv.survival(times, event), rules, options, test)


def of_forecasts(draw: Draw) -> Answer:
    n = int(draw.one([2, 4, 12, 24, 24, 40]))
    y = draw.rng.normal(size=n).cumsum() + draw.one([0, 100])
    dates: Any = None
    if draw.rng.random() < 0.5:
        make = draw.one([pd.date_range, pd.period_range])
        dates = make(
            "2020-01-31",
            periods=n,
            freq=draw.one(["D", "W", "M"] if make is pd.period_range else ["D", "W", "ME"]),
        )
        dates = draw.seldom([dates[::-1], dates[draw.rng.integers(0, n, n)]], dates)
    steady = y + 1.0
    rules = {
        "a": draw.one([np.r_[0.0, y[:-1]], steady, y]),
        "b": draw.one([np.full(n, y.mean()), y + draw.rng.normal(size=n), -steady, y + 1.0]),
    }
    if dates is not None:
        y, rules = (
            pd.Series(y, dates),
            {name: pd.Series(rule, dates) for name, rule in rules.items()},
        )
    options: dict[str, Any] = {
        "loss": draw.seldom(["log", "zero_one"], draw.one(["squared", "absolute"]))
    }
    if draw.rng.random() < 0.1:
        options["sample_weight"] = draw.one(WEIGHTS)(draw.rng, n)
    return _judged(draw, uv.Losses.from_predictions(y, rules, **options), "diebold_mariano")


def of_given(draw: Draw) -> Answer:
    """Scores of folds, and answers that are right or wrong."""
    n = _rows(draw)
    if draw.rng.random() < 0.5:
        design = draw.seldom(["nope"], draw.one(["kfold", "splits", "repeated_kfold"]))
        n_scores, k = (10, 2) if draw.rng.random() < 0.3 else (int(draw.one([3, 5, 10])),) * 2
        unit = draw.one([1.0, 1.0, 1e9, 1e-9])
        scores = _rules(
            draw,
            lambda: (
                draw.one(
                    [draw.rng.random(n_scores), np.full(n_scores, 0.5), np.arange(n_scores) // 2]
                )
                * unit
            ),
        )
        sizes = {"n_learn": 10 * (k - 1), "n_test": draw.seldom([20, 1, 0], 10)}
        if design == "repeated_kfold":
            sizes["n_folds"] = k
        losses = uv.Losses.from_scores(scores, design=design, **sizes)
        return _judged(draw, losses, draw.one([*ON_FOLDS, "corrected_t", "bayesian_t", "naive_t"]))
    shape = draw.seldom([(n, 3)], n)
    right = _rules(
        draw, lambda: (draw.rng.random(shape) < draw.one([0.0, 0.5, 0.95, 1.0])).astype(int)
    )
    groups = draw.seldom([np.arange(n) // 3], None)
    losses = uv.Losses.from_correct(right, groups=groups)
    return _judged(draw, losses, draw.one(["hold_out", "hold_out", "mcnemar"]))


def of_few_fits(draw: Draw) -> Answer:
    """Fits of tiny samples."""
    n = int(draw.one([12, 16, 24]))
    X = draw.rng.normal(size=(n, 2))
    kind = draw.one(["classes", "classes", "numbers"])
    latent = X[:, 0] + draw.rng.normal(size=n)
    y = (latent > 0).astype(int) if kind == "classes" else latent
    learners = ["knn:1", "majority", "lda"] if kind == "classes" else ["ridge:1", "knn:1", "knn:3"]
    metrics: list[Any] = (
        ["accuracy", "auc", "mcc"] if kind == "classes" else ["squared", "r2", "rmse"]
    )
    chosen = [draw.one(learners), draw.one([None, *learners])]
    options: dict[str, Any] = {"metric": draw.seldom(metrics, None)}
    if draw.rng.random() < 0.4:
        options["learn_size"] = draw.seldom(
            [n - 1, (3, 3), 0, n // 2 + 1], draw.one([2, 4, n // 2])
        )
    if draw.rng.random() < 0.15:
        options["groups"] = np.arange(n) // 2
    if draw.rng.random() < 0.15:
        options["weights"] = {"loss": draw.one(WEIGHTS)(draw.rng, n)}
    if draw.rng.random() < 0.1:
        options["contrast"] = "ratio"
    fit = {
        "variance": draw.seldom(["few", "jackknife", "clipped", "unbiased", "asymptotic"], "auto"),
        "interval": draw.seldom(["wald", "hall", "plus_four", "logit"], "auto"),
        draw.one(["max_fits", "max_fits", "n_pairs"]): int(draw.one([4, 12, 12, 20, 20, 40])),
    }
    asked = uv.UStatisticTest(X, y, *chosen, **options)
    return _told(draw, asked.fit(rng=0, **fit))


def of_fits(draw: Draw) -> Answer:
    """Learners that a test on splits fits, and comparisons with few fits."""
    n = int(draw.one([12, 24]))
    X = draw.rng.normal(size=(n, 2))
    y = np.arange(n) % 2 if draw.rng.random() < 0.6 else X[:, 0] + draw.rng.normal(size=n)
    learners = {"a": "knn:1", "b": "ridge:1", "c": "knn:3"}
    options: dict[str, Any] = {
        "rng": 0,
        "metric": draw.seldom(["accuracy", "r2", "mcc", "auc", "rmse"], None),
    }
    if draw.rng.random() < 0.3:
        options["weights"] = {"loss": draw.one(WEIGHTS)(draw.rng, n)}
    if draw.rng.random() < 0.5:
        tests = draw.one(["ustatistic", "corrected_t", "hold_out", "cross_validation_wald"])
        options |= {
            "max_fits": draw.one([6, 30, 40]),
            "correction": draw.one(["holm", "simultaneous"]),
        }
        found = uv.compare(X, y, learners, tests, **options)
        return _compared(found)
    design = draw.one([TimeSeriesSplit(3), 3, uv.designs.HoldOut(0.5)])
    losses = uv.evaluate(learners, X, y, design, **options)
    test = "diebold_mariano" if isinstance(design, TimeSeriesSplit) else draw.one(ON_FOLDS)
    return _judged(draw, losses, test)


CHEAP = (of_labels, of_numbers, of_probabilities, of_survival, of_forecasts, of_given)
KINDS = (of_few_fits, of_fits)


def faults_of(result: Any) -> list[str]:
    """What is wrong with the numbers of a result."""
    faults = []
    low, high = quiet_interval(result, 0.05)
    if not (math.isnan(result.pvalue) or 0 <= result.pvalue <= 1):
        faults.append(f"p {result.pvalue}")
    if low == low and not math.isnan(result.estimate) and not low <= result.estimate <= high:
        faults.append(f"{low} to {high} without {result.estimate}")
    if result.status == "ok":
        tested = not math.isnan(result.null_value) and result.posterior is None
        numbers = {"estimate": result.estimate, "pvalue": result.pvalue if tested else 0.0}
        if (
            result.interval_name == "interval"
            and result.reference != "none"
            and not result.reference.startswith("F")
        ):
            ends = {"two-sided": (low, high), "less": (high,), "greater": (low,)}
            numbers |= dict(enumerate(ends[result.alternative]))
            numbers |= {"se": 0.0 if result.rule is not None else result.se}
        faults += [
            f"{name} {number}, status ok"
            for name, number in numbers.items()
            if not math.isfinite(number)
        ]
    return faults


def row_of(seed: int, number: int) -> dict[str, Any]:
    """What became of a call: "answer", "refusal", or a fault."""
    # Calls that fit are one in twenty.
    kind = KINDS[number // 20 % len(KINDS)] if number % 20 == 19 else CHEAP[number % len(CHEAP)]
    row: dict[str, Any] = {"seed": seed, "number": number, "kind": kind.__name__}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            answer = kind(Draw(seed, number))
        except (ValueError, TypeError) as error:
            words = f"{type(error).__name__}: {ascii(error)[:400]}"
            row |= {"outcome": "refusal" if is_own(error) else "foreign", "words": words}
        except Exception as error:
            row |= {"outcome": "foreign", "words": f"{type(error).__name__}: {ascii(error)[:400]}"}
        else:
            faults = [fault for result in answer.results for fault in faults_of(result)]
            faults += answer.faults
            n_ok = sum(result.status == "ok" for result in answer.results)
            row |= {
                "outcome": "wrong" if faults else "answer",
                "words": "; ".join(faults),
                "ok": n_ok,
            }
    others = {
        f"{each.category.__name__}: {each.message} ({each.filename}:{each.lineno})"
        for each in warned
        if not issubclass(each.category, UcvtestWarning) and each.filename != __file__
    }
    if others:
        row |= {"warned": sorted(others)[:3]}
    return row


def faulty(n_calls: int, seed: int, rows: Path | None = None) -> Iterator[dict[str, Any]]:
    """The calls with a fault; calls that are lines of the file `rows` already are not made."""
    known = set()
    if rows is not None and rows.exists():
        done = map(json.loads, rows.read_text().splitlines())
        known = {row["number"] for row in done if row["seed"] == seed}
    for number in sorted({*range(n_calls)} - known):
        row = row_of(seed, number)
        if rows is not None:
            with rows.open("a") as file:
                file.write(json.dumps(row) + "\n")
        if row["outcome"] in ("foreign", "wrong") or "warned" in row:
            yield row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Random questions; prints faults.")
    parser.add_argument("n_calls", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rows", type=Path)
    given = parser.parse_args()
    n_found = 0
    for found_row in faulty(given.n_calls, given.seed, given.rows):
        n_found += 1
        sys.stdout.write(f"{found_row}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{given.n_calls} calls, {n_found} faults\n")
    sys.exit(n_found > 0)
