"""What R can call by name: the functions of ucvtest, the methods of a result, and a few of R's own.

R sends arguments by their names in Python, which decide how each is read (`reading`). What comes
back is written by the class of the answer.
"""

import inspect
import json
import math
import os
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

import ucvtest as uv
from ucvtest.losses.linearised import ABOUT_CLASSES, CLASSES
from ucvtest.metrics.refusals import refuse_of_folds, refuse_pooled
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest_r.conversion import to_r
from ucvtest_r.reading import arguments_of
from ucvtest_r.wording import r_name

REMARK = "remark"
"""The setting of losses that contains what results have to say of them."""


def answer(name: str, arguments: Any) -> Any:
    """Call a function by its name, and tell R the answer.

    Parameters
    ----------
    name : str
        One of `FUNCTIONS`; a function of ``ucvtest``, such as "compare" or
        "Losses.from_scores"; or with a dot in front a method of the argument `result`.
    arguments : R list
        Arguments by name, and `conf_level`, the level of intervals in the answer, and `remarks`,
        what results have to say of where the losses come from.
    """
    given = arguments_of(arguments)
    level = given.pop("conf_level", 0.95)
    remarks = [given.pop("remarks", None)]
    if isinstance(given.get("losses"), uv.Losses):
        remarks.append(given["losses"].settings.get(REMARK))
    function: Any
    if name in FUNCTIONS:
        function = FUNCTIONS[name]
    elif name.startswith("."):
        function = getattr(given.pop("result"), name[1:])
    else:
        function = reduce(getattr, name.split("."), uv)
    if "n_jobs" in inspect.signature(function).parameters:
        # R functions run on R's own thread, and jitted learners need no workers.
        given["n_jobs"] = 1
    return to_r(_told(_with_remarks(function(**given), remarks), level))


def hypothesis_test(test: str, losses: uv.Losses | None = None, **given: Any) -> Any:
    """Run a test, given the name of its class, on data or on losses."""
    cls = getattr(uv, test)
    options = inspect.signature(cls.fit).parameters
    fit = {name: given.pop(name) for name in list(given) if name in options}
    if losses is None:
        return cls(**given).fit(**fit, n_jobs=1)
    return cls.from_losses(losses, **given).fit(**fit)


def resampled_losses(
    y: np.ndarray,
    tested: np.ndarray,
    predictions: Mapping[str, Any],
    learning: np.ndarray,
    testing: np.ndarray,
    groups: Any = None,
    **asked: Any,
) -> uv.Losses:
    """Predictions for the test sets of a design, as losses.

    Parameters
    ----------
    y : array, shape (n,)
        The response of each observation.
    tested : array
        The response of all tested observations, resample by resample, observations ascending.
    predictions : mapping
        For each learner its predictions for these.
    learning, testing : array of 0/1, shape (R, n)
    groups : array, optional
    **asked
        Further arguments of `Losses.from_predictions`.
    """
    each = uv.Losses.from_predictions(tested, predictions, **asked)
    refuse_of_folds(each.metric)
    refuse_pooled(each.metric)
    design = np.array(learning, dtype=int), np.array(testing, dtype=int)
    values = np.zeros((len(each.learners), *design[1].shape))
    values[:, design[1].astype(bool)] = each.values
    made = uv.Losses.from_arrays(
        values, *design, learners=each.learners, loss=each.loss, y=y,
        pos_label=asked.get("pos_label"), groups=groups, greater_is_better=each.greater_is_better,
    )  # fmt: skip
    if each.predictions is not None:
        made = _of_metric(each, made, y)
    # What `from_predictions` knows of the positive class, arrays of losses do not tell.
    named = {name: each.settings[name] for name in ("pos_label",) if name in each.settings}
    return replace(made, settings={**made.settings, **named})


def _of_metric(each: uv.Losses, made: uv.Losses, y: np.ndarray) -> uv.Losses:
    """The losses of a design by a function of means, which keep predictions."""
    metric = each.metric
    assert isinstance(metric, SmoothMetric)
    assert each.predictions is not None
    kept = {name: each.settings[name] for name in ABOUT_CLASSES if name in each.settings}
    target, classes = made.target, kept.get(CLASSES)
    if classes is not None:
        # Labels that are never tested are none of these, and are not looked at.
        place = {label: number for number, label in enumerate(classes)}
        target = np.array([place.get(label, 0) for label in y.tolist()], dtype=float)
    return uv.Losses.of_predictions(
        metric,
        predictions=each.predictions,
        design=made.design,
        learners=each.learners,
        target=target,
        settings={**made.settings, **kept},
        groups=made.groups,
    )


def autolog(environment: Mapping[str, str], **switches: Any) -> None:
    """Switch logging to MLflow on or off.

    Parameters
    ----------
    environment : mapping
        The variables of MLflow in the environment, which R may have set since Python started.
    **switches
        Arguments of `ucvtest.autolog`.
    """
    for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
        del os.environ[name]
    os.environ.update(environment)
    uv.autolog(**switches)


def methods_text(result: uv.TestResult | uv.Comparison) -> list[str]:
    """The paragraphs for a methods section."""
    if not isinstance(result, uv.Comparison):
        return [result.methods_text()]
    paragraphs = [*dict.fromkeys(each.methods_text() for each in result.results.values())]
    n_pairs = len(result.pairs)
    adjusted = f"adjusted ({result.correction})" if result.correction else "not adjusted"
    of_pairs = f"P-values of {n_pairs} pairs of learners were {adjusted} within each test."
    return [*paragraphs, of_pairs] if n_pairs > 1 else paragraphs


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "autolog": autolog,
    "ledger": lambda path, action, **given: getattr(uv.Ledger(path), action)(**given),
    # For vectors n1 downwards and n0 across.
    "critical_values": lambda **given: np.asarray(uv.codes.critical_values(**given)),
    "hypothesis_test": hypothesis_test,
    "methods_text": methods_text,
    "resampled_losses": resampled_losses,
}
"""Those that ucvtest does not have."""


def _with_remarks(found: Any, remarks: list[str | None]) -> Any:
    """Losses, a result or a comparison with what R has to say of where they come from."""
    if isinstance(found, uv.Losses) and found.without_value:
        remarks = [*remarks, f"{found.without_value[0].upper()}{found.without_value[1:]}."]
    text = " ".join(filter(None, remarks))
    if not text:
        return found
    if isinstance(found, uv.Losses):
        return replace(found, settings={**found.settings, REMARK: text})
    if isinstance(found, uv.TestResult):
        return replace(found, notes=(*found.notes, text))
    if isinstance(found, uv.Comparison):
        noted = {key: _with_remarks(result, [text]) for key, result in found.results.items()}
        return replace(found, results=noted)
    return found


# ------------------------------------------------------------ answers as R gets them


def _told(found: Any, level: float) -> Any:
    """An answer as R gets it, by its class; texts and numbers as they are."""
    for cls in type(found).__mro__:
        if cls.__name__ in TOLD:
            return TOLD[cls.__name__](found, level)
    return found


def _fields(found: Any, *names: str) -> dict[str, Any]:
    return {name: getattr(found, name) for name in names if hasattr(found, name)}


def _columns(frame: Any) -> dict[str, np.ndarray]:
    return {str(name): np.array(column) for name, column in frame.items()}


def _pictures(found: Any) -> dict[str, Any]:
    return {kind: each.to_dict() for kind, each in found.pictures.items()}


def _result(result: uv.TestResult, level: float) -> dict[str, Any]:
    """Everything that R shapes an "htest" from, and the JSON that restores the result."""
    with warnings.catch_warnings():
        # The status says why there is none.
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        low, high = result.conf_int(alpha=1 - level)
    return {
        **_fields(
            result,
            *("estimate", "se", "variance", "statistic", "pvalue", "df", "null_value"),
            *("alternative", "method", "estimand", "reference", "status", "n_obs", "n_fits"),
            *("elapsed", "settings", "diagnostics", "notes", "interval_name", "contrast", "better"),
        ),
        "tables": {title: _columns(table) for title, table in result.tables.items()},
        "pictures": _pictures(result),
        "conf_low": float(low),
        "conf_high": float(high),
        "conf_level": level,
        "verdict": result.verdict_at(1 - level),
        "lines": result.notes_in_brief(),
        "json": result.to_json(),
    }


def _comparison(comparison: uv.Comparison, level: float) -> dict[str, Any]:
    """Its table by columns, the fits, and the JSON that restores it."""
    fits = comparison.fits_frame
    return {
        **_fields(comparison, "n_obs", "n_fits", "elapsed", "correction", "contrast", "verdict"),
        "table": _columns(comparison.summary_frame(alpha=1 - level)),
        "fits": _columns(fits.assign(n_resamples=fits["n_resamples"].astype(float))),
        "loss": comparison.settings["loss"],
        "lines": comparison.notes_in_brief(),
        "json": comparison.to_json(),
    }


def _losses(losses: uv.Losses, _: float) -> dict[str, Any]:
    """What R shows of losses, and the JSON that restores them."""
    return {
        **_fields(losses, "loss", "in_words", "means", "n_fits"),
        "learners": list(losses.learners),
        "is_metric": losses.metric.linearised,
        **_fields(losses.design, "n_obs", "n_resamples", "learns"),
        "n_groups": None if losses.groups is None else int(losses.groups.max()) + 1,
        "each": losses.values is not None,
        "positive": losses.settings.get("pos_label"),
        "remarks": losses.settings.get(REMARK),
        "json": json.dumps(losses.to_dict()),
    }


def _plan(plan: uv.SamplePlan, _: float) -> dict[str, Any]:
    """Its tables by columns, its pictures, and the verdict."""
    return {
        **_fields(plan, "n_needed", "n_low", "n_high", "goal", "value", "power", "alpha"),
        **_fields(plan, "verdict", "n_fits", "settings"),
        "table": _columns(plan.columns),
        "curve": _columns(plan.curve_frame),
        "pictures": _pictures(plan),
        "lines": plan.notes_in_brief(),
        "texts": [plan.summary(notes=notes).as_text() for notes in (False, True)],
    }


def _selection(chosen: Any, _: float) -> dict[str, Any]:
    """Its table, and the choice of every criterion from 1."""
    return {
        "best": chosen.best.name,
        "choices": {name: place + 1 for name, place in chosen.choices.items()},
        "table": _columns(chosen.table),
        **_fields(chosen, "criterion", "n_obs", "n_fits", "elapsed", "settings"),
    }


def _advice(advice: Any, _: float) -> dict[str, Any]:
    """The test by its function in R, its arguments, and why."""
    arguments = {**advice.settings, **advice.options}
    design = arguments.get("design")
    if isinstance(design, uv.designs.NamedDesign):
        # The list by which R describes it; hold_out() of R leaves out its default.
        options = {name: value for name, value in vars(design).items() if value is not None}
        if options.get("shuffle"):
            del options["shuffle"]
        arguments["design"] = {"kind": type(design).__name__, **options}
    return {
        "test": r_name(advice.test),
        "arguments": arguments,
        **_fields(advice, "n_learners", "promises"),
        "n_fits": advice.evidence.n_fits,
        "reasons": list(advice.reasons),
    }


def _bounds(bounds: Any, _: float) -> dict[str, Any]:
    """Bounds as R numbers, which beyond 2^53 are rounded away from the true size."""
    lower, upper = float(bounds.lower), float(bounds.upper)
    return {
        "lower": lower if lower <= bounds.lower else math.nextafter(lower, 0),
        "upper": upper if upper >= bounds.upper else math.nextafter(upper, math.inf),
        **_fields(bounds, "lower_source", "upper_source"),
    }


def _margin(found: Any, _: float) -> dict[str, Any]:
    return _fields(
        found,
        *("pvalue", "alpha", "estimate", "estimand", "conf_int", "decision", "verdict", "title"),
        *("margin", "bound", "better", "low", "high"),
    )


def _gains(gains: Any, level: float) -> dict[str, Any]:
    """Its table by columns, the words, and the JSON that restores it."""
    return {
        **_fields(gains, "learner", "n_obs", "n_fits", "elapsed", "settings"),
        "table": _columns(gains.summary_frame(alpha=1 - level)),
        "gain": f"{gains.in_words}, when learning from {gains.when}",
        "conf_level": level,
        "verdict": gains.verdict_at(1 - level),
        "notes": list(gains.notes),
        "json": gains.to_json(),
    }


TOLD: dict[str, Callable[[Any, float], Any]] = {
    "Advice": _advice,
    "Citations": lambda found, _: _fields(found, "text", "bibtex"),
    "CodeBounds": _bounds,
    "ColumnGains": _gains,
    "Comparison": _comparison,
    "DataFrame": lambda found, _: _columns(found),
    "LedgerState": lambda found, _: found.to_dict(),
    "Losses": _losses,
    "ModelSelection": _selection,
    "SamplePlan": _plan,
    "Summary": lambda found, _: found.as_text(),
    "TestResult": _result,
    "_MarginResult": _margin,
}
"""What R is told of an answer, by the name of its class: some take long to import."""
