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
from ucvtest_r.wording import r_correction, r_name

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
    correction = r_correction(result)
    adjusted = f"adjusted ({correction})" if correction else "not adjusted"
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
    """An answer as R gets it, by its class, and its parts alike; texts and numbers as they are."""
    if isinstance(found, Mapping):
        return {name: _told(part, level) for name, part in found.items()}
    for cls in type(found).__mro__:
        if cls.__name__ in TOLD:
            return _told(TOLD[cls.__name__](found, level), level)
    return found


def _fields(*names: str, **computed: Callable[[Any, float], Any]) -> Callable[..., dict[str, Any]]:
    """How R gets an answer: by attributes, as far as it has them, and functions of it."""

    def told(found: Any, level: float) -> dict[str, Any]:
        taken = {name: getattr(found, name) for name in names if hasattr(found, name)}
        return taken | {name: of(found, level) for name, of in computed.items()}

    return told


def _at_level(found: Any, level: float) -> Any:
    return found.summary_frame(alpha=1 - level)


def _verdict(found: Any, level: float) -> str:
    return str(found.verdict_at(1 - level))


def _brief(found: Any, _: float) -> Any:
    return found.notes_in_brief()


def _json(found: Any, _: float) -> str:
    return str(found.to_json())


def _ends(result: uv.TestResult, level: float) -> list[float]:
    with warnings.catch_warnings():
        # The status says why there is none.
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        return [*map(float, result.conf_int(alpha=1 - level))]


def _design(design: uv.designs.NamedDesign, _: float) -> dict[str, Any]:
    """The list by which R describes it; hold_out() of R leaves out its default."""
    options = {name: value for name, value in vars(design).items() if value is not None}
    if options.get("shuffle"):
        del options["shuffle"]
    return {"kind": type(design).__name__, **options}


def _fits(comparison: uv.Comparison, _: float) -> Any:
    fits = comparison.fits_frame
    return fits.assign(n_resamples=fits["n_resamples"].astype(float))


def _bounds(bounds: Any, _: float) -> dict[str, Any]:
    """Bounds as R numbers, which beyond 2^53 are rounded away from the true size."""
    lower, upper = float(bounds.lower), float(bounds.upper)
    return {
        "lower": lower if lower <= bounds.lower else math.nextafter(lower, 0),
        "upper": upper if upper >= bounds.upper else math.nextafter(upper, math.inf),
        "lower_source": bounds.lower_source,
        "upper_source": bounds.upper_source,
    }


TOLD: dict[str, Callable[[Any, float], Any]] = {
    "Advice": _fields(
        *("n_learners", "promises", "reasons"),
        test=lambda advice, _: r_name(advice.test),
        arguments=lambda advice, _: {**advice.settings, **advice.options},
        n_fits=lambda advice, _: advice.evidence.n_fits,
    ),
    "Citations": _fields("text", "bibtex"),
    "CodeBounds": _bounds,
    "ColumnGains": _fields(
        *("learner", "n_obs", "n_fits", "elapsed", "settings", "notes"),
        table=_at_level,
        gain=lambda gains, _: f"{gains.in_words}, when learning from {gains.when}",
        conf_level=lambda _, level: level,
        verdict=_verdict,
        json=_json,
    ),
    "Comparison": _fields(
        *("n_obs", "n_fits", "elapsed", "contrast", "verdict"),
        correction=lambda comparison, _: r_correction(comparison),
        table=_at_level,
        fits=_fits,
        loss=lambda comparison, _: comparison.settings["loss"],
        lines=_brief,
        json=_json,
    ),
    "DataFrame": lambda frame, _: {str(name): np.array(each) for name, each in frame.items()},
    "LedgerState": lambda state, _: state.to_dict(),
    "Losses": _fields(
        *("loss", "in_words", "means", "n_fits", "learners"),
        is_metric=lambda losses, _: losses.metric.linearised,
        n_obs=lambda losses, _: losses.design.n_obs,
        n_resamples=lambda losses, _: losses.design.n_resamples,
        learns=lambda losses, _: losses.design.learns,
        n_groups=lambda losses, _: None if losses.groups is None else losses.groups.max() + 1,
        each=lambda losses, _: losses.values is not None,
        positive=lambda losses, _: losses.settings.get("pos_label"),
        remarks=lambda losses, _: losses.settings.get(REMARK),
        json=lambda losses, _: json.dumps(losses.to_dict()),
    ),
    "ModelSelection": _fields(
        *("table", "criterion", "n_obs", "n_fits", "elapsed", "settings"),
        best=lambda chosen, _: chosen.best.name,
        # R counts from 1.
        choices=lambda chosen, _: {name: place + 1 for name, place in chosen.choices.items()},
    ),
    "NamedDesign": _design,
    "Picture": lambda picture, _: picture.to_dict(),
    "SamplePlan": _fields(
        *("n_needed", "n_low", "n_high", "goal", "value", "power", "alpha"),
        *("verdict", "n_fits", "settings", "pictures"),
        table=lambda plan, _: plan.columns,
        curve=lambda plan, _: plan.curve_frame,
        lines=_brief,
        texts=lambda plan, _: [plan.summary(notes=each).as_text() for each in (False, True)],
    ),
    "Summary": lambda summary, _: summary.as_text(),
    "TestResult": _fields(
        *("estimate", "se", "variance", "statistic", "pvalue", "df", "null_value"),
        *("alternative", "method", "estimand", "reference", "status", "n_obs", "n_fits"),
        *("elapsed", "settings", "diagnostics", "notes", "interval_name", "contrast", "better"),
        *("tables", "pictures"),
        conf_int=_ends,
        conf_level=lambda _, level: level,
        verdict=_verdict,
        lines=_brief,
        json=_json,
    ),
    "_MarginResult": _fields(
        *("pvalue", "alpha", "estimate", "estimand", "conf_int", "decision", "verdict", "title"),
        *("margin", "bound", "better", "low", "high"),
    ),
}
"""What R is told of an answer, by the name of its class: some take long to import."""
