"""What MLflow is told of a result: names, numbers, words and files."""

import math
import re
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from mlflow.data.numpy_dataset import from_numpy
from mlflow.data.pandas_dataset import from_pandas
from mlflow.entities import Metric, Param, RunTag

from ucvtest import TestResult, __version__, hooks
from ucvtest_mlflow.records import Judged, Outcome

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ucvtest import Comparison, SamplePlan

__all__ = [
    "describe_data",
    "description",
    "kind",
    "margin_name",
    "metrics",
    "of_margin",
    "params",
    "run_name",
    "tables",
    "tags",
    "write_files",
    "write_tables",
]

METRICS = ("estimate", "se", "statistic", "pvalue", "conf_low", "conf_high", "n_fits", "elapsed")

POSTERIOR = ("p_left", "p_rope", "p_right")
"""What Bayesian tests give in the place of a p-value: fields of `posterior`."""

OWN_VALUES = ("estimate_learner", "estimate_other", "se_learner", "se_other")
"""What each of two learners reaches alone: of `diagnostics`."""

PLAN_METRICS = ("n_needed", "n_low", "n_high", "value", "power", "alpha", "n_fits", "elapsed")

MARGIN_METRICS = ("pvalue", "conf_low", "conf_high", "margin", "low", "high", "alpha")

# Long settings stay whole in result.json; 500 is what the oldest MLflow servers accept.
LONGEST_PARAM = 500
LONGEST_TAG = 5000


def kind(result: Outcome) -> str:
    """The kind of test in keys, "ustatistic" for example; from its title where it does not say."""
    if _is_plan(result):
        return "plan"
    if not isinstance(result, TestResult):
        return "comparison"
    named = result.settings.get("test")
    if isinstance(named, str):
        return named
    name = result.method.lower().partition(" test")[0].replace("-", "")
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_") or "test"


def _is_plan(result: Outcome) -> "TypeIs[SamplePlan]":
    """Whether it is a plan, which need not be imported to tell."""
    return type(result).__name__ == "SamplePlan"


def params(result: Outcome, prefix: str) -> list[Param]:
    """The settings, cut to what MLflow shows."""
    return [
        Param(f"{prefix}{name}", _cut(str(value), LONGEST_PARAM))
        for name, value in result.settings.items()
    ]


def metrics(result: Outcome, prefix: str, when: int = 0) -> list[Metric]:
    """The numbers that are finite: MLflow stores infinity as 1.8e308 and hides NaN."""
    return [
        Metric(f"{prefix}{name}", value, when, 0)
        for name, value in _numbers(result).items()
        if math.isfinite(value)
    ]


def tags(result: Outcome, prefix: str) -> list[RunTag]:
    """The words, and the numbers that cannot be metrics."""
    words = {"verdict": result.verdict, "status": _status(result), "version": __version__}
    words |= {
        name: str(value) for name, value in _numbers(result).items() if not math.isfinite(value)
    }
    return [RunTag(f"{prefix}{name}", _cut(text, LONGEST_TAG)) for name, text in words.items()]


def margin_name(judged: Judged) -> str:
    """What an answer about a margin is called in keys: "equivalence" or "noninferiority"."""
    return type(judged).__name__.removesuffix("Result").lower()


def of_margin(judged: Judged, prefix: str) -> tuple[list[Metric], list[RunTag]]:
    """The numbers and words of an answer about a margin."""
    prefix, when = f"{prefix}{margin_name(judged)}.", int(time.time() * 1000)
    values = judged.to_dict()
    numbers = {name: values[name] for name in MARGIN_METRICS if name in values}
    words = {name: str(values[name]) for name in ("decision", "verdict")}
    return (
        [
            Metric(f"{prefix}{name}", value, when, 0)
            for name, value in numbers.items()
            if isinstance(value, float)
        ],
        [RunTag(f"{prefix}{name}", _cut(text, LONGEST_TAG)) for name, text in words.items()],
    )


def _status(result: Outcome) -> str:
    if _is_plan(result):
        return "ok"
    if isinstance(result, TestResult):
        return result.status
    others = [
        f"{' '.join(key)}: {each.status}"
        for key, each in result.results.items()
        if each.status != "ok"
    ]
    return "; ".join(others) or "ok"


def _numbers(result: Outcome) -> dict[str, float]:
    if _is_plan(result):
        # What ten million observations do not reach has no number.
        values = {name: getattr(result, name) for name in PLAN_METRICS}
        return {name: math.inf if value is None else value for name, value in values.items()}
    if not isinstance(result, TestResult):
        return _numbers_of_tests(result) | {"n_fits": result.n_fits, "elapsed": result.elapsed}
    row = result.summary_frame().iloc[0]
    numbers = {name: row[name] for name in METRICS if name in row}
    if result.posterior is not None:
        numbers |= {name: getattr(result.posterior, name) for name in POSTERIOR}
    numbers |= {name: result.diagnostics[name] for name in OWN_VALUES if name in result.diagnostics}
    return {name: float(value) for name, value in numbers.items()} | {"elapsed": result.elapsed}


def _numbers_of_tests(comparison: "Comparison") -> dict[str, float]:
    """The numbers of every test, for two learners; those of many pairs are in the table alone."""
    if len(comparison.pairs) > 1:
        # Of learners that were judged together: the number of those that may be the best.
        keys = _test_keys(comparison.tests)
        return {
            f"{keys[test]}.best_set_size": float(len(comparison.best_set(test=test)))
            for test in comparison.together
        }
    known = (*METRICS, *POSTERIOR, *OWN_VALUES)
    shown = [name for name in known if name not in ("n_fits", "elapsed")]
    keys = _test_keys(comparison.tests)
    return {
        f"{keys[test]}.{name}": number
        for (test, _, _), each in comparison.results.items()
        for name, number in _numbers(each).items()
        if name in shown
    }


def _test_keys(tests: Sequence[str]) -> dict[str, str]:
    """What tests are called in keys; labels that keys cannot tell apart get numbers."""
    keys: dict[str, str] = {}
    for test in tests:
        name, number = _file_name(test) or "test", 1
        key = name
        while key in keys.values():
            number += 1
            key = f"{name}_{number}"
        keys[test] = key
    return keys


def run_name(result: Outcome) -> str:
    """A name for a run of its own: what was compared."""
    if not isinstance(result, TestResult) and not _is_plan(result):
        compared = " vs ".join(_cut(name, 20) for name in result.learners)
        return f"{_cut(compared, 100)} ({kind(result)})"
    names = [result.settings.get(key) for key in ("learner", "other")]
    compared = " vs ".join(_cut(str(name), 40) for name in names if name is not None)
    # What differs between runs comes first, because lists of runs cut long names.
    return f"{compared} ({kind(result)})" if compared else kind(result)


def description(result: Outcome) -> str:
    """What the page of a run of its own starts with: the verdict first."""
    _, _, rest = result.summary().as_markdown().partition("\n\n")
    return rest.partition("\n### Settings")[0]


def write_files(result: Outcome, folder: Path, *, log_plots: bool) -> None:
    """Write the artifacts that are files."""
    summary = result.summary()
    (folder / "summary.md").write_text(summary.as_markdown(), encoding="utf-8")
    (folder / "summary.txt").write_text(summary.as_text() + "\n", encoding="utf-8")
    (folder / "result.json").write_text(result.to_json(indent=1), encoding="utf-8")
    if log_plots:
        # Without pyplot: logging must neither open windows nor add to the user's figures.
        if not isinstance(result, TestResult) and not _is_plan(result):
            result.save_plot(folder / "plot.png")
            return
        first, *others = result.plot_kinds
        result.save_plot(folder / "plot.png", kind=first)
        for name in others:
            result.save_plot(folder / f"plot_{_file_name(name)}.png", kind=name)


def write_tables(result: Outcome, folder: Path) -> list[str]:
    """Write the tables as `mlflow.load_table` reads them; the names of the files."""
    found = {f"{name}.json": table for name, table in tables(result).items()}
    for name, table in found.items():
        table.to_json(folder / name, orient="split", index=False)
    return list(found)


def tables(result: Outcome) -> dict[str, pd.DataFrame]:
    """The tables of the result by file name; infinity as text, because JSON has none."""
    found: Mapping[str, Any]
    if _is_plan(result):
        curves = {"learning_curves": result.curve_frame} if result.curves else {}
        found = {"plan": result.frame, **curves}
    elif isinstance(result, TestResult):
        found = result.tables
    else:
        keys = _test_keys(result.tests)
        learners = {f"learners {keys[test]}": test for test in result.together}
        found = {"comparison": result.frame, "fits": result.fits_frame.astype(object)}
        found |= {title: result.learner_frame(test=test) for title, test in learners.items()}
    return {
        _file_name(title): pd.DataFrame(
            {name: [_finite_or_text(cell) for cell in cells] for name, cells in table.items()}
        )
        for title, table in found.items()
    }


def _file_name(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")


def _finite_or_text(cell: Any) -> Any:
    if cell is pd.NA:
        return None
    return str(cell) if isinstance(cell, float) and math.isinf(cell) else cell


def describe_data(test: Any) -> Mapping[str, str] | None:
    """Name, digest, source, schema and profile of the data, as MLflow describes data.

    Parameters
    ----------
    test : test object
        With ``sample.features`` and ``sample.response``.

    Returns
    -------
    mapping of str to str, or None
        None where the test was made from losses, without data; None, with a warning, where
        MLflow cannot describe the data.
    """
    if test.sample is None:
        return None
    features, response = test.sample.features, test.sample.response
    name = f"sample {len(response)} x {features.shape[1]}"
    try:
        # MLflow warns of integer columns and trips over warnings of newer pandas. Only its own
        # warnings are named: filters belong to the process, and other threads see them too.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module="mlflow")
            return _dataset(features, response, name).to_dict()
    except Exception as error:
        hooks.warn_caller(f"the data set is not logged to MLflow ({type(error).__name__}: {error})")
        return None


def _dataset(features: Any, response: Any, name: str) -> Any:
    if not isinstance(features, pd.DataFrame):
        return from_numpy(features, targets=response, name=name)
    target = "response"
    while target in features.columns:
        target += "_"
    frame = features.set_axis([str(column) for column in features.columns], axis=1)
    return from_pandas(frame.assign(**{target: response}), targets=target, name=name)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 4]} ..."
