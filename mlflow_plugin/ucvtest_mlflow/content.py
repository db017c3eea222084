"""What MLflow is told of a result: names, numbers, words and files."""

import math
import re
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
from mlflow.data.numpy_dataset import from_numpy
from mlflow.data.pandas_dataset import from_pandas
from mlflow.entities import Metric, Param, RunTag

from ucvtest import TestResult, __version__, cite, hooks
from ucvtest_mlflow.records import Judged, Outcome

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from ucvtest import Comparison, ModelSelection, SamplePlan

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

METRICS = ("estimate", "se", "statistic", "pvalue", "conf_low", "conf_high")

OF_PAIRS = ("estimate", "conf_low", "conf_high", "pvalue", "pvalue_adjusted")
"""What the rows of a comparison of several pairs of learners have as metrics."""

POSTERIOR = ("p_left", "p_rope", "p_right")
"""What Bayesian tests give in the place of a p-value: fields of `posterior`."""

OWN_VALUES = ("estimate_learner", "estimate_other", "se_learner", "se_other")
"""What each of two learners reaches alone: of `diagnostics`."""

GROUPS = ("n_groups", "smallest_group", "largest_group")
"""What is said of groups: of `diagnostics`."""

PLAN_METRICS = ("n_needed", "n_low", "n_high", "value", "power", "alpha")

MARGIN_METRICS = ("pvalue", "conf_low", "conf_high", "margin", "low", "high", "alpha")

# Long settings stay whole in result.json; 500 is what the oldest MLflow servers accept.
LONGEST_PARAM = 500
LONGEST_TAG = 5000
LONGEST_NAME = 60
"""Of what a key calls a learner or a test: a key has room for two learners and a test."""


def kind(result: Outcome) -> str:
    """The kind of test in keys, "ustatistic" for example; from its title where it does not say."""
    if not isinstance(result, TestResult):
        return KINDS[type(result).__name__]
    named = result.settings.get("test")
    if isinstance(named, str):
        return named
    name = result.method.lower().partition(" test")[0].replace("-", "")
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_") or "test"


KINDS = {"Comparison": "comparison", "ModelSelection": "select_model", "SamplePlan": "plan"}
"""What outcomes that are no results of tests are called in keys."""


def _is_comparison(result: Outcome) -> "TypeIs[Comparison]":
    """Whether it is a comparison, which need not be imported to tell."""
    return type(result).__name__ == "Comparison"


def _is_plan(result: Outcome) -> "TypeIs[SamplePlan]":
    return type(result).__name__ == "SamplePlan"


def _is_selection(result: Outcome) -> "TypeIs[ModelSelection]":
    return type(result).__name__ == "ModelSelection"


def params(result: Outcome, prefix: str) -> list[Param]:
    """The settings and what it cost, cut to what MLflow shows.

    Costs are no metrics, of which MLflow would draw a chart each beside those of the answer.
    """
    costs = {"n_fits": result.n_fits, "elapsed": round(result.elapsed, 3)}
    values = {**result.settings, **_groups(result), **costs}
    return [
        Param(f"{prefix}{name}", _cut(str(value), LONGEST_PARAM)) for name, value in values.items()
    ]


def _groups(result: Outcome) -> dict[str, Any]:
    """How many groups there were, and of what sizes; nothing without groups."""
    first = next(iter(result.results.values())) if _is_comparison(result) else result
    found: Mapping[str, Any] = first.diagnostics if isinstance(first, TestResult) else {}
    return {name: found[name] for name in GROUPS if name in found}


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
    if isinstance(result, TestResult):
        return result.status
    if not _is_comparison(result):
        return "ok"
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
    if _is_selection(result):
        return _numbers_of_learners(result)
    if not isinstance(result, TestResult):
        return _numbers_of_tests(result) if len(result.pairs) == 1 else _numbers_of_pairs(result)
    row = result.summary_frame().iloc[0]
    numbers = {name: row[name] for name in METRICS if name in row}
    if result.posterior is not None:
        numbers |= {name: getattr(result.posterior, name) for name in POSTERIOR}
    numbers |= {name: result.diagnostics[name] for name in OWN_VALUES if name in result.diagnostics}
    return {name: float(value) for name, value in numbers.items()}


def _numbers_of_tests(comparison: "Comparison") -> dict[str, float]:
    """The numbers of every test of two learners."""
    keys = _keys(comparison.tests)
    return {
        f"{keys[test]}.{name}": number
        for (test, _, _), each in comparison.results.items()
        for name, number in _numbers(each).items()
    }


def _numbers_of_pairs(comparison: "Comparison") -> dict[str, float]:
    """The numbers of every test and pair, and of learners that were judged together.

    What is not finite is left to the table: tags have no room for the open ends of many intervals.
    """
    tests, learners = _keys(comparison.tests), _keys(comparison.learners, "learner")
    frame = comparison.frame
    # Names may hold "_vs_" themselves.
    made = _distinct(f"{learners[one]}_vs_{learners[other]}" for one, other in comparison.pairs)
    pairs = dict(zip(comparison.pairs, made, strict=True))
    numbers = {
        f"{tests[row['test']]}.{pairs[row['learner'], row['other']]}.{name}": value
        for row in frame.to_dict("records")
        for name in OF_PAIRS
        if math.isfinite(value := float(row[name]))
    }
    return numbers | {
        f"{tests[test]}.best_set_size": float(len(comparison.best_set(test=test)))
        for test in comparison.together
    }


def _numbers_of_learners(selection: "ModelSelection") -> dict[str, float]:
    """Every criterion of every learner that has it."""
    keys = _keys(selection.names, "learner")
    return {
        f"{keys[learner]}.{name}": value
        for name, values in selection.columns.items()
        for learner, value in zip(selection.names, values.tolist(), strict=True)
        if math.isfinite(value)
    }


def _keys(names: Sequence[str], without: str = "test") -> dict[str, str]:
    """What tests or learners are called in keys; those that keys cannot tell apart get numbers.

    `without` stands for what has no letter that keys know.
    """
    made = [_file_name(each)[:LONGEST_NAME] or without for each in names]
    return dict(zip(names, _distinct(made), strict=True))


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, with numbers behind those that were there before."""
    found: list[str] = []
    for name in names:
        key, number = name, 1
        while key in found:
            number += 1
            key = f"{name}_{number}"
        found.append(key)
    return found


def run_name(result: Outcome) -> str:
    """A name for a run of its own: what was compared."""
    if _is_selection(result):
        return f"{_cut(' or '.join(_cut(name, 20) for name in result.names), 100)} ({kind(result)})"
    if _is_comparison(result):
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
    if isinstance(result, TestResult):
        words = f"{result.methods_text()}\n\n{cite(result).text}\n"
        (folder / "methods.txt").write_text(words, encoding="utf-8")
    if log_plots:
        # Without pyplot: logging must neither open windows nor add to the user's figures.
        if _is_comparison(result) or _is_selection(result):
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
    elif _is_selection(result):
        found = {"learners": result.table.astype(object)}
    else:
        keys = _keys(result.tests)
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
    test : test object, optional
        With ``sample.features`` and ``sample.response``.

    Returns
    -------
    mapping of str to str, or None
        None without data, as where a test was made from losses; None, with a warning, where
        MLflow cannot describe the data.
    """
    if test is None or test.sample is None:
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
