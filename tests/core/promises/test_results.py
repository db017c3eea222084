"""What every field of a result promises: it survives every way of keeping it, and is shown."""

import copy
import json
import math
import pickle
from dataclasses import MISSING, fields, replace
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.datasets import load_iris

import ucvtest as uv
from ucvtest.results.fields import Posterior
from ucvtest.results.plot_data import Layer, Picture
from ucvtest.stats.exact import BinomialCounts, PairedCounts

PICTURE = Picture("errors", "probability", [Layer("vertical", x=0.2, label="observed")])

# No field has its default.
RESULT = uv.TestResult(
    estimate=-0.14,
    se=0.1,
    variance=0.01,
    statistic=-1.4,
    pvalue=0.16,
    df=9.0,
    null_value=0.0,
    alternative="two-sided",
    method="Example",
    estimand="difference of AUCs",
    reference="t",
    status="too few resamples: use more",
    n_obs=62,
    n_fits=400,
    elapsed=0.5,
    settings={"learner": "lda", "other": "knn:3", "rng": None},
    diagnostics={"variance": "unbiased", "curve": np.array([1.0, math.nan]), "least": -math.inf},
    notes=("One.",),
    tables={"Variances": {"variance": ("unbiased", "clipped"), "estimate": (0.01, math.nan)}},
    pictures={"null distribution": PICTURE},
    better="higher",
    interval_name="credible interval",
    null_hypothesis="labels mean nothing",
    assumption="rho = 0.1",
    posterior=Posterior(0.7, 0.2, 0.1, rope=0.01, rope_center=0.0),
    rule=PairedCounts(3, 7, 40),
    contrast="ratio",
    bounds=(-0.2, 1.0),
)

OTHERS = {
    "estimate": 0.14,
    "se": 0.2,
    "variance": 0.02,
    "statistic": 1.4,
    "pvalue": 0.17,
    "df": 8.0,
    "null_value": 0.5,
    "alternative": "less",
    "method": "Another example",
    "estimand": "difference of error rates",
    "reference": "normal",
    "status": "ok",
    "n_obs": 63,
    "n_fits": 401,
    "elapsed": 0.6,
    "settings": {"learner": "lda", "other": "knn:5"},
    "diagnostics": {"variance": "clipped"},
    "notes": ("Two.",),
    "tables": {},
    "pictures": {},
    "better": "lower",
    "interval_name": "interval",
    "null_hypothesis": "labels and features are independent",
    "assumption": None,
    "posterior": None,
    "rule": BinomialCounts(3, 40),
    "contrast": "difference",
    "bounds": (-1.0, 1.0),
}
"""Another value of every field."""

NAMES = [item.name for item in fields(uv.TestResult)]


def by_json(result: uv.TestResult) -> uv.TestResult:
    return uv.TestResult.from_dict(json.loads(result.to_json()))


def by_pickle(result: uv.TestResult) -> uv.TestResult:
    return pickle.loads(pickle.dumps(result))


def shown(result: uv.TestResult) -> tuple[Any, ...]:
    """All that users see of a result."""
    drawn = result.plot(Figure().subplots(), kind="interval")
    return (
        result.summary().as_text(),
        result.summary().as_markdown(),
        result.summary_frame().to_json(),
        result.plot_kinds,
        [text.get_text() for text in drawn.texts],
    )


def test_the_examples_cover_every_field():
    assert set(OTHERS) == set(NAMES)
    for item in fields(uv.TestResult):
        default = item.default if item.default_factory is MISSING else item.default_factory()
        assert getattr(RESULT, item.name) != default, item.name


@pytest.mark.parametrize("way", [by_json, by_pickle, copy.deepcopy])
def test_every_field_survives(way):
    for result in (RESULT, replace(RESULT, **OTHERS)):
        found = way(result)
        for name in NAMES:
            assert type(getattr(found, name)) is type(getattr(result, name)), name
            assert found.to_dict()[name] == result.to_dict()[name], name
            assert name in ("diagnostics", "tables", "pictures") or (
                getattr(found, name) == getattr(result, name)
            ), name


@pytest.mark.parametrize("name", NAMES)
def test_every_field_is_shown(name):
    assert shown(replace(RESULT, **{name: OTHERS[name]})) != shown(RESULT)


def test_what_words_need_and_what_is_documented_agree():
    """`diagnostics` keep the documented copies, which R and MLflow show."""
    X, y = load_iris(return_X_y=True)
    result = uv.BayesianTTest(X[50:, :2], y[50:], "lda", "knn:1").fit(rng=0)
    assert {name: result.diagnostics[name] for name in vars(result.posterior)} == vars(
        result.posterior
    )
    assert result.diagnostics["assumption"] == result.assumption == "rho = 0.1"
    assert result.interval_name == "credible interval"
    permuted = uv.PermutationComplexityTest(X[50:, :2], y[50:], "lda").fit(9, rng=0)
    assert permuted.diagnostics["null_hypothesis"] == permuted.null_hypothesis


def test_fields_cannot_be_changed():
    for name in NAMES:
        with pytest.raises(AttributeError, match="cannot assign to field"):
            setattr(RESULT, name, OTHERS[name])
