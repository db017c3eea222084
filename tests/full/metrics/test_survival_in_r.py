"""Survival metrics and their standard errors are those of R's survival and riskRegression."""

import json
import shutil
from typing import Any

import numpy as np
import pytest

import ucvtest as uv
from tests.support.paths import ROOT
from tests.support.processes import finished

SCRIPT = ROOT / "tests" / "oracles" / "survival.R"
DATA = ("lung", "pbc", "veteran", "few_times", "many_ties")
CONCORDANCES = {"harrell": uv.metrics.harrell, "uno": uv.metrics.uno}

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(40, reason="runs a script of R")]


@pytest.fixture(scope="module")
def of_r() -> dict[str, Any]:
    """What R says of all data sets: one process."""
    done = finished([str(shutil.which("Rscript")), "--vanilla", SCRIPT])
    if done.returncode == 3:
        pytest.skip("an R package is missing: survival, riskRegression or jsonlite")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def results(data: dict[str, Any], rules: dict[str, Any], metric: Any, groups: Any = None) -> Any:
    """Of the first rule, the second, and their difference."""
    y = uv.survival(data["time"], data["event"])
    losses = uv.Losses.from_predictions(y, rules, metric=metric, groups=groups)
    return [uv.HoldOutTest.from_losses(losses, *who).fit() for who in ("a", "b", "ab")]


def without_factor(result: uv.TestResult, n: int) -> float:
    """R's concordance divides by n where ours divides by n - 1; of clusters too."""
    return result.se * np.sqrt((n - 1) / n)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", CONCORDANCES)
def test_concordances_are_those_of_survival(of_r, kind, name):
    data, metric = of_r[name], CONCORDANCES[kind]
    expected, n = data[kind], len(data["time"])
    rules = {"a": data["a"], "b": data["b"]}
    first, second, difference = results(data, rules, metric())
    assert [first.estimate, second.estimate] == pytest.approx(expected["values"], rel=1e-10)
    errors = [without_factor(each, n) for each in (first, second)]
    assert errors == pytest.approx(expected["se"], rel=1e-10)
    assert without_factor(difference, n) == pytest.approx(expected["difference_se"], rel=1e-10)
    up_to = results(data, rules, metric(data["times"][1]))[1]
    assert up_to.estimate == pytest.approx(expected["up_to"], rel=1e-10)
    assert without_factor(up_to, n) == pytest.approx(expected["up_to_se"], rel=1e-10)
    clusters, n_clusters = data["cluster"], len(set(data["cluster"]))
    first, _, difference = results(data, rules, metric(), clusters)
    found = [without_factor(each, n_clusters) for each in (first, difference)]
    keys = ("clustered_se", "clustered_difference_se")
    assert found == pytest.approx([expected[key] for key in keys], rel=1e-10)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", ["brier", "auc"])
@pytest.mark.parametrize("place", [0, 1])
def test_values_at_a_time_are_those_of_risk_regression(of_r, place, kind, name):
    data = of_r[name]
    expected = data[kind]
    rules = {rule: np.array(data[key])[:, place] for rule, key in (("a", "first"), ("b", "second"))}
    metric = getattr(uv.metrics, kind)(at=data["times"][place])
    first, second, difference = results(data, rules, metric)
    places = [place, 2 + place]
    values, errors = np.array(expected["values"]), np.array(expected["se"])
    assert [first.estimate, second.estimate] == pytest.approx(values[places], rel=1e-10)
    assert [first.se, second.se] == pytest.approx(errors[places], rel=1e-10)
    # R has the second less the first.
    found = [-difference.estimate, difference.se]
    keys = ("difference", "difference_se")
    assert found == pytest.approx([expected[key][place] for key in keys], rel=1e-10, abs=1e-14)
