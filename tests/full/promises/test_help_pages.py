"""Help pages of R say the defaults of the code."""

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.advice.calibration import LEAST_MEAN
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS
from ucvtest.kernels.ustatistic.rows import MOST_UNITS
from ucvtest.learners.adapters.coerce import PATHS, SHORT_NAMES
from ucvtest.learners.adapters.named import DEFAULTS as ESTIMATORS
from ucvtest.methods.ustatistic.interval import FEW_FOR_SLOPE
from ucvtest.methods.ustatistic.sizes import FEW_OBS

HELP_PAGES = ROOT / "r_bridge" / "ucvtest" / "man"


def text_of(page: str) -> str:
    return " ".join((HELP_PAGES / f"{page}.Rd").read_text().split())


def usage_of(function: str) -> dict[str, str]:
    """What the default method of a function has for each argument, as R writes it."""
    usage = text_of(function).partition(f"\\method{{{function}}}{{default}}(")[2]
    arguments = usage.partition("\\dots)")[0]
    return dict(re.findall(r"(\w+) = (c\([^)]*\)|[^,]+)", arguments))


def in_r(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    return f'"{value}"' if isinstance(value, str) else str(value)


DEFAULTS: tuple[tuple[str, Callable[..., Any], tuple[str, ...]], ...] = (
    ("ustat_test", uv.UStatisticTest, ("contrast", "learn_size", "loss", "metric", "groups")),
    (
        "ustat_test",
        uv.UStatisticTest.fit,
        ("n_pairs", "variance", "interval", "tol", "max_fits", "max_seconds", "checkpoint"),
    ),
    ("advise", uv.advise, ("n_fits", "loss", "learners", "goal", "about")),
    ("compare_learners", uv.compare, ("correction", "contrast", "baseline", "max_fits")),
    ("plan_sample_size", uv.plan, ("power", "alpha", "curve", "difference", "width")),
)


@pytest.mark.parametrize(("page", "function", "names"), DEFAULTS)
def test_usage_has_the_defaults_of_python(
    page: str, function: Callable[..., Any], names: tuple[str, ...]
) -> None:
    usage, parameters = usage_of(page), inspect.signature(function).parameters
    # Of several values R takes the first.
    said = {name: usage[name].removeprefix("c(").partition(",")[0] for name in names}
    assert said == {name: in_r(parameters[name].default) for name in names}


def test_advise_says_the_least_fits_and_coverage() -> None:
    text = text_of("advise")
    assert f"{2 * LEAST_ROUNDS} of each learner at least" in text
    assert f"below {100 * LEAST_MEAN:.0f}\\%" in text
    with pytest.raises(ValueError, match=f"use at least {4 * LEAST_ROUNDS}$"):
        uv.advise(100, n_fits=4 * LEAST_ROUNDS - 1)
    assert uv.advise(100, n_fits=4 * LEAST_ROUNDS).n_fits == 4 * LEAST_ROUNDS


def test_ustat_test_says_what_auto_is() -> None:
    text = text_of("ustat_test")
    assert f"zero-one loss with {FEW_OBS} to {MOST_UNITS} observations" in text
    assert f"differences of error rates with {FEW_FOR_SLOPE} observations or more" in text
    assert LEAST_ROUNDS == 3
    assert '"few"}, which answers from six fits of each learner on' in text


def test_the_page_on_r_lists_every_help_page() -> None:
    page = (ROOT / "docs" / "r" / "index.md").read_text()
    for path in HELP_PAGES.glob("*.Rd"):
        text = text_of(path.stem)
        name = re.search(r"\\name{([^}]*)}", text)
        title = re.search(r"\\title{(.*?)} \\description", text)
        assert name
        assert title
        assert f"| `?{name[1]}` | {title[1]} |" in page


def test_learners_lists_every_name() -> None:
    text = text_of("learners")
    named = set(re.findall(r'"(?:\w+::)?([\w.]+)(?:[:,][^"]*)?"', text))
    assert {*SHORT_NAMES, *PATHS, *ESTIMATORS} - named == set()
    code = (HELP_PAGES.parent / "R" / "recipes.R").read_text()
    recipes = re.findall(r"^  ([\w.]+) = recipe\(", code, re.MULTILINE)
    assert len(recipes) > 18
    assert {*recipes} - named == set()
