"""The content of a result for MLflow: names, numbers, words and files."""

import json
import math
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

import mlflow
import pandas as pd
from mlflow import MlflowClient
from mlflow.data.numpy_dataset import from_numpy
from mlflow.data.pandas_dataset import from_pandas
from mlflow.entities import Dataset, Metric, Param, RunTag

from ucvtest import TestResult, __version__, cite, hooks

METRICS = ("estimate", "se", "statistic", "pvalue", "conf_low", "conf_high")

OF_PAIRS = ("estimate", "conf_low", "conf_high", "pvalue", "pvalue_adjusted")
"""What the rows of a comparison of several pairs of learners have as metrics."""

OF_BLOCKS = ("gain", "conf_low", "conf_high", "pvalue", "pvalue_adjusted", "pvalue_copies")
"""What each block of columns has as metrics."""

POSTERIOR = ("p_left", "p_rope", "p_right")
"""What Bayesian tests give in the place of a p-value: fields of `posterior`."""

OWN_VALUES = ("estimate_learner", "estimate_other", "se_learner", "se_other")
"""What each of two learners reaches alone: of `diagnostics`."""

OF_LEARNERS = ("estimate", "se")
"""What each of several learners reaches alone."""

GROUPS = ("n_groups", "smallest_group", "largest_group")
"""What is said of groups: of `diagnostics`."""

PLAN_METRICS = ("n_needed", "n_low", "n_high", "value")

PLAN_CHOICES = ("power", "alpha")

MARGIN_METRICS = ("pvalue", "conf_low", "conf_high", "margin", "low", "high", "alpha")
"""Chosen ones too, as a later answer replaces an earlier one, and parameters cannot change."""

NOT_CHOSEN = ("rng", "backend", "other_backend")
"""Settings that say how a result was computed: tags, which comparisons of runs leave alone."""

HEADLINE = ("estimate", "gain", "conf_low", "conf_high", "pvalue", "pvalue_adjusted")
"""Numbers that the first result of a run has under short names too: its page cuts long ones."""

MOST_HEADLINES = 40
"""With more of them the short names would hide the others."""

VERDICT_TAG = "ucvtest.verdict"
"""Of the run: that of its first result."""

VERSION_TAG = "ucvtest.version"
"""Of the run: that of each result is in its file."""

ALPHA = 0.05
"""Of the limits that are logged."""

# Long settings stay whole in result.json; 500 is what the oldest MLflow servers accept.
LONGEST_PARAM = 500
LONGEST_TAG = 5000
LONGEST_NAME = 45
"""Of what a key calls a learner, a metric or a test: it has room for two, one and one of these."""

Data: TypeAlias = tuple[Any, Any]
"""Features and response."""


def kind(result: Any) -> str:
    """The kind of test in keys, "ustatistic" for example; from its title where it does not say."""
    if not isinstance(result, TestResult):
        return KINDS[type(result).__name__]
    named = result.settings.get("test")
    if isinstance(named, str):
        return named
    name = result.method.lower().partition(" test")[0].replace("-", "")
    return re.sub(r"[^a-z0-9]+", "_", name).strip("_") or "test"


KINDS = {
    "ColumnGains": "columns",
    "Comparison": "comparison",
    "ModelSelection": "select_model",
    "SamplePlan": "plan",
}
"""What outcomes that are no results of tests are called in keys."""


def _is_comparison(result: Any) -> bool:
    """Whether it is a comparison, which need not be imported to tell."""
    return type(result).__name__ == "Comparison"


def _is_plan(result: Any) -> bool:
    return type(result).__name__ == "SamplePlan"


def _is_gains(result: Any) -> bool:
    return type(result).__name__ == "ColumnGains"


def _is_selection(result: Any) -> bool:
    return type(result).__name__ == "ModelSelection"


def key(result: Any) -> str:
    """What a result is called in keys: who was compared, by which metric, and how.

    For example "lda_vs_knn_3.auc.corrected_t": the same question has the same name in every run.
    """
    settings = result.settings
    names = [settings.get(name) for name in ("learner", "other")]
    if _is_comparison(result):
        names = list(result.learners) if len(result.learners) == 2 else []
    known = [str(name) for name in names if name is not None]
    # With several metrics, each name has its metric.
    compared = comparison_key(known, None if "metrics" in settings else settings.get("loss"))
    return ".".join(word for word in (compared, kind(result)[:LONGEST_NAME]) if word)


def comparison_key(names: Sequence[str], metric: Any) -> str:
    """Who is compared by which metric, for example "lda_vs_knn_3.auc"."""
    compared = "_vs_".join(_keys(names, "learner").values())
    words = compared, _short(metric) if isinstance(metric, str) else ""
    return ".".join(word for word in words if word)


def params(result: Any, prefix: str) -> list[Param]:
    """The chosen options, cut to the length that MLflow shows; defaults of None are left out."""
    first = next(iter(result.results.values())) if _is_comparison(result) else result
    found: Mapping[str, Any] = first.diagnostics if isinstance(first, TestResult) else {}
    chosen = {**result.settings, **{name: found[name] for name in GROUPS if name in found}}
    if _is_plan(result):
        chosen |= {name: getattr(result, name) for name in PLAN_CHOICES}
    elif not _is_selection(result):
        chosen = {"alpha": ALPHA, **chosen}
    return [
        Param(f"{prefix}.{name}", _cut(str(value), LONGEST_PARAM))
        for name, value in chosen.items()
        if value is not None and name not in NOT_CHOSEN
    ]


def metrics(result: Any, prefix: str, when: int = 0) -> list[Metric]:
    """The numbers that are finite: MLflow stores infinity as 1.8e308 and hides NaN.

    What stands before the last slash is the section of the page that MLflow draws a chart in. The
    name of the number comes right after it, because the page cuts the ends of long names.
    """
    return [
        Metric(f"{prefix}/{name}", value, when, 0)
        for name, value in _numbers(result).items()
        if math.isfinite(value)
    ]


def tags(result: Any, prefix: str, others: Mapping[str, str]) -> list[RunTag]:
    """The words, what it cost, how it was computed, and the numbers that cannot be metrics."""
    status = "ok"
    if isinstance(result, TestResult):
        status = result.status
    elif _is_comparison(result):
        failed = {key: each for key, each in result.results.items() if each.status != "ok"}
        status = "; ".join(f"{' '.join(key)}: {each.status}" for key, each in failed.items())
    words = {"verdict": result.verdict, "status": status or "ok", **others}
    words |= {"seconds": f"{result.elapsed:.3g}", "n_fits": str(result.n_fits)}
    settings = result.settings
    words |= {name: str(settings[name]) for name in NOT_CHOSEN if settings.get(name) is not None}
    words |= {
        name: str(value) for name, value in _numbers(result).items() if not math.isfinite(value)
    }
    found = [RunTag(f"{prefix}.{name}", _cut(text, LONGEST_TAG)) for name, text in words.items()]
    return [*found, RunTag(VERSION_TAG, __version__)]


def headline(result: Any, when: int = 0) -> tuple[list[Metric], list[RunTag]]:
    """The main numbers and the verdict under names that the page of a run shows whole."""
    numbers = {
        name: value
        for name, value in _numbers(result).items()
        if name.partition(".")[0] in HEADLINE and math.isfinite(value)
    }
    if _is_comparison(result) and len(result.tests) == 1:
        numbers = {name.rpartition(".")[0]: value for name, value in numbers.items()}
    shown = numbers.items() if len(numbers) <= MOST_HEADLINES else ()
    return (
        [Metric(f"ucvtest.{name}", value, when, 0) for name, value in shown],
        [RunTag(VERDICT_TAG, _cut(result.verdict, LONGEST_TAG))],
    )


def margin_name(judged: Any) -> str:
    """What an answer about a margin is called in keys: "equivalence" or "noninferiority"."""
    return type(judged).__name__.removesuffix("Result").lower()


def of_margin(judged: Any, prefix: str) -> tuple[list[Metric], list[RunTag]]:
    """The numbers and words of an answer about a margin; `passed` is 1 or 0."""
    asked, when = margin_name(judged), int(time.time() * 1000)
    values = judged.to_dict()
    numbers = {"passed": float(values["decision"] == "pass")}
    numbers |= {name: values[name] for name in MARGIN_METRICS if name in values}
    words = {name: str(values[name]) for name in ("decision", "verdict")}
    return (
        [
            Metric(f"{prefix}/{asked}.{name}", value, when, 0)
            for name, value in numbers.items()
            if isinstance(value, float)
        ],
        [
            RunTag(f"{prefix}.{asked}.{name}", _cut(text, LONGEST_TAG))
            for name, text in words.items()
        ],
    )


def _numbers(result: Any) -> dict[str, float]:
    if _is_plan(result):
        # What ten million observations do not reach has no number.
        values = {name: getattr(result, name) for name in PLAN_METRICS}
        return {name: math.inf if value is None else value for name, value in values.items()}
    if _is_gains(result):
        blocks, rows = _keys([*result.blocks], "block"), result.frame.to_dict("records")
        return {
            f"{name}.{blocks[row['block']]}": float(row[name])
            for row in rows
            for name in OF_BLOCKS
            if name in row and math.isfinite(row[name])
        }
    if _is_selection(result):
        # Every criterion of every learner that has it.
        keys = _keys(result.names, "learner")
        return {
            f"{name}.{keys[learner]}": value
            for name, values in result.columns.items()
            for learner, value in zip(result.names, values.tolist(), strict=True)
            if math.isfinite(value)
        }
    if not isinstance(result, TestResult):
        if len(result.pairs) > 1:
            return _numbers_of_pairs(result)
        keys = _keys(result.tests)
        return {
            f"{name}.{keys[test]}": number
            for (test, _, _), each in result.results.items()
            for name, number in _numbers(each).items()
        }
    row = result.summary_frame().iloc[0]
    numbers = {name: row[name] for name in METRICS if name in row}
    if result.posterior is not None:
        numbers |= {name: getattr(result.posterior, name) for name in POSTERIOR}
    numbers |= {name: result.diagnostics[name] for name in OWN_VALUES if name in result.diagnostics}
    return {name: float(value) for name, value in numbers.items()}


def _numbers_of_pairs(comparison: Any) -> dict[str, float]:
    """The numbers of every test, pair and learner, and of learners that were judged together.

    Infinite numbers are only in the table: tags have no room for the open ends of many intervals.
    """
    tests, learners = _keys(comparison.tests), _keys(comparison.learners, "learner")
    pairs = [f"{learners[one]}_vs_{learners[other]}" for one, other in comparison.pairs]
    # Names may contain "_vs_" themselves.
    made = _distinct([*pairs, *learners.values()])
    compared: tuple[str | tuple[str, str], ...] = (*comparison.pairs, *comparison.learners)
    keys = dict(zip(compared, made, strict=True))
    numbers = {
        f"{name}.{keys[row['learner'], row['other']]}.{tests[row['test']]}": row[name]
        for row in comparison.frame.to_dict("records")
        for name in OF_PAIRS
    }
    numbers |= {
        f"{name}.{keys[pair[place]]}.{tests[test]}": each.diagnostics[f"{name}_{whose}"]
        for (test, *pair), each in comparison.results.items()
        for place, whose in enumerate(("learner", "other"))
        for name in OF_LEARNERS
        if f"{name}_{whose}" in each.diagnostics
    }
    numbers |= {
        f"best_set_size.{tests[test]}": len(comparison.best_set(test=test))
        for test in comparison.together
    }
    return {name: float(number) for name, number in numbers.items() if math.isfinite(number)}


def _keys(names: Sequence[str], without: str = "test") -> dict[str, str]:
    """The names of tests or learners in keys; equal names get numbers.

    `without` replaces texts without a letter for keys.
    """
    made = _distinct(_short(each) or without for each in names)
    return dict(zip(names, made, strict=True))


def _short(name: str) -> str:
    return _file_name(name)[:LONGEST_NAME].strip("_")


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


def run_name(result: Any) -> str:
    """A name for a new run: the compared learners."""
    if _is_selection(result):
        return f"{_cut(' or '.join(_cut(name, 20) for name in result.names), 100)} ({kind(result)})"
    if _is_comparison(result):
        compared = " vs ".join(_cut(name, 20) for name in result.learners)
        return f"{_cut(compared, 100)} ({kind(result)})"
    names = [result.settings.get(key) for key in ("learner", "other")]
    compared = " vs ".join(_cut(str(name), 40) for name in names if name is not None)
    # What differs between runs comes first, because lists of runs cut long names.
    return f"{compared} ({kind(result)})" if compared else kind(result)


def description(result: Any) -> str:
    """What the page of a run of its own starts with: the verdict, and under it the summary.

    The page shows the first lines only until it is asked for more. It has neither lines nor room
    between the columns of a table, but leaves a block of code as it is.
    """
    *_, verdict = result.summary().as_markdown().partition("\n\n")
    table, *_ = result.summary().as_text().partition("\nVerdict:")
    return f"{verdict.partition(chr(10))[0]}\n\n```\n{table.strip(chr(10))}\n```\n"


def write_files(result: Any, folder: Path, *, log_plots: bool) -> None:
    """Write the artifacts that are files."""
    summary = result.summary() if _is_selection(result) else result.summary(notes=True)
    (folder / "summary.md").write_text(summary.as_markdown(), encoding="utf-8")
    (folder / "summary.txt").write_text(summary.as_text() + "\n", encoding="utf-8")
    (folder / "result.json").write_text(result.to_json(indent=1), encoding="utf-8")
    if isinstance(result, TestResult):
        words = f"{result.methods_text()}\n\n{cite(result).text}\n"
        (folder / "methods.txt").write_text(words, encoding="utf-8")
    if log_plots:
        # Without pyplot: logging must neither open windows nor add to the user's figures.
        if not (isinstance(result, TestResult) or _is_plan(result)):
            result.save_plot(folder / "plot.png")
            return
        first, *others = result.plot_kinds
        result.save_plot(folder / "plot.png", kind=first)
        for name in others:
            result.save_plot(folder / f"plot_{_file_name(name)}.png", kind=name)


def show_plot(client: MlflowClient, run_id: str, folder: Path, key: str, when: int) -> None:
    """Show the first picture among the charts of a run too, in the section of its numbers."""
    picture = mlflow.Image(str(sorted(folder.glob("plot*.png"))[0]))
    client.log_image(
        run_id, picture, key=f"ucvtest.{key}/plot", step=0, timestamp=when, synchronous=True
    )


def write_tables(result: Any, folder: Path) -> list[str]:
    """Write the tables as `mlflow.load_table` reads them; the names of the files."""
    found = {f"{name}.json": table for name, table in tables(result).items()}
    for name, table in found.items():
        table.to_json(folder / name, orient="split", index=False)
    return list(found)


def tables(result: Any) -> dict[str, pd.DataFrame]:
    """The tables of the result by file name; infinity as text, because JSON cannot express it."""
    found: Mapping[str, Any]
    if _is_plan(result):
        curves = {"learning_curves": result.curve_frame} if result.curves else {}
        found = {"plan": result.frame, **curves}
    elif isinstance(result, TestResult):
        found = result.tables
    elif _is_gains(result):
        found = {"gains": result.frame.astype(object)}
    elif _is_selection(result):
        found = {"learners": result.table.astype(object)}
    else:
        keys = _keys(result.tests)
        learners = {f"learners {keys[test]}": test for test in result.together}
        found = {"comparison": result.frame, "fits": result.fits_frame.astype(object)}
        found |= {title: result.learner_frame(test=test) for title, test in learners.items()}

    def finite_or_text(cell: Any) -> Any:
        if cell is pd.NA:
            return None
        return str(cell) if isinstance(cell, float) and math.isinf(cell) else cell

    return {
        _file_name(title): pd.DataFrame(
            {name: [*map(finite_or_text, cells)] for name, cells in table.items()}
        )
        for title, table in found.items()
    }


def _file_name(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")


def data_of(test: Any) -> Data | None:
    """Features and response of the tested data; None if a test was made from losses."""
    if test is None or test.sample is None:
        return None
    return test.sample.features, test.sample.response


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
    data = data_of(test)
    if data is None:
        return None
    features, response = data
    name = f"sample {len(response)} x {features.shape[1]}"
    try:
        with _without_warnings():
            if not isinstance(features, pd.DataFrame):
                return from_numpy(features, targets=response, name=name).to_dict()
            target = "response"
            while target in features.columns:
                target += "_"
            frame = _with_names(features).assign(**{target: response})
            return from_pandas(frame, targets=target, name=name).to_dict()
    except Exception as error:
        hooks.warn_caller(f"the data set is not logged to MLflow ({type(error).__name__}: {error})")
        return None


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Without MLflow's warnings of integer columns, and those of newer pandas, where data are read.

    Only MLflow's own are named: filters belong to the process, and other threads see them too.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module="mlflow")
        yield


def is_of(dataset: Dataset, digest: str, data: Data | None) -> bool:
    """Whether a data set that was logged is the one tested on, whatever its columns' order.

    Its schema says which columns it has; the same values in that order have the same digest.
    """
    if dataset.digest == digest:
        return True
    if data is None:
        return False
    with _without_warnings(), suppress(Exception):
        return any(made.digest == dataset.digest for made in _as_logged(dataset, *data))
    return False


def _as_logged(dataset: Dataset, features: Any, response: Any) -> Iterator[Any]:
    """The data as a user may have logged them: with and without the response."""
    if not isinstance(features, pd.DataFrame):
        yield from_numpy(features, targets=response)
        yield from_numpy(features)
        return
    columns = [column["name"] for column in json.loads(str(dataset.schema))["mlflow_colspec"]]
    frame = _with_names(features)
    others = [column for column in columns if column not in frame.columns]
    if len(others) <= 1:
        yield from_pandas(frame.assign(**dict.fromkeys(others, response))[columns])


def _with_names(features: pd.DataFrame) -> pd.DataFrame:
    return features.set_axis([str(column) for column in features.columns], axis=1)


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 4]} ..."
