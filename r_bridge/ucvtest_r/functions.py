"""What R can call, by name: one explicit function each, from R values to R values."""

import json as json_module
import math
import os
import warnings
from collections.abc import Callable
from dataclasses import replace
from inspect import isfunction
from typing import Any

import numpy as np

import ucvtest as uv
from ucvtest.losses.linearised import ABOUT_CLASSES, CLASSES
from ucvtest.metrics.refusals import refuse_of_folds, refuse_pooled
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest_r.conversion import is_null, matrix, scalar, to_r, vector
from ucvtest_r.reading import (
    arguments_of,
    features_of,
    learner_of,
    learners_of,
    remark_of_loss,
    response_of,
    tests_of,
    vectors_of,
)
from ucvtest_r.wording import r_names


def hypothesis_test(
    *, test: Any, x: Any, y: Any, learners: Any, constructor: Any, fit: Any, conf_level: Any
) -> Any:
    """Run a test of ucvtest.

    Parameters
    ----------
    test : R text
        Name of the class.
    x, y : R matrix, R vector
    learners : R list
        One or two learners, as `learner_of` reads them.
    constructor, fit : R list
        Further arguments of the class and of its method `fit`, by name.
    conf_level : R number
    """
    response = response_of(y)
    compared = [learner_of(learner, response) for learner in learners]
    made = getattr(uv, test[0])(features_of(x), response, *compared, **arguments_of(constructor))
    # R functions run on R's own thread, and jitted learners need no workers.
    result = _noted(made.fit(**arguments_of(fit), n_jobs=1), remark_of_loss(constructor))
    return _result_to_r(result, float(conf_level[0]))


def test_of_losses(
    *, test: Any, losses: Any, learners: Any, constructor: Any, fit: Any, conf_level: Any
) -> Any:
    """Run a test on losses that R kept as JSON.

    Parameters
    ----------
    test : R text
        Name of the class.
    losses : R text
    learners : R list
        Name or number, from 0, of `learner` and `other`; none where all are meant.
    constructor, fit : R list
        Further arguments of `from_losses` and of the method `fit`, by name.
    conf_level : R number
    """
    kept = _result_from_json(losses)
    made = getattr(uv, test[0]).from_losses(
        kept, **arguments_of(learners), **arguments_of(constructor)
    )
    result = _noted(made.fit(**arguments_of(fit)), kept.settings.get(REMARK))
    return _result_to_r(result, float(conf_level[0]))


def evaluate_learners(*, x: Any, y: Any, learners: Any, names: Any, arguments: Any) -> Any:
    """Run `ucvtest.evaluate`."""
    response = response_of(y)
    given = learners_of(learners, names, response)
    found = uv.evaluate(given, features_of(x), response, **arguments_of(arguments), n_jobs=1)
    return _losses(_with_remarks(found, remark_of_loss(arguments), _why_without_value(found)))


def prediction_losses(*, y: Any, predictions: Any, arguments: Any, remarks: Any) -> Any:
    """What fixed rules predicted, a list of R vectors by name, as losses.

    Parameters
    ----------
    y : R vector, R list of time and event, or NULL
    predictions : R list
    arguments : R list
        Further arguments of `Losses.from_predictions`.
    remarks : R text or NULL
        What results say of where these come from.
    """
    made = _of_predictions(y, predictions, arguments_of(arguments))
    said = scalar("remarks", remarks), remark_of_loss(arguments), _why_without_value(made)
    return _losses(_with_remarks(made, *said))


def correct_losses(*, correct: Any, arguments: Any) -> Any:
    """Which answers were right, a list of R vectors by name, as losses.

    Parameters
    ----------
    correct : R list
    arguments : R list
        Further arguments of `Losses.from_correct`.
    """
    return _losses(uv.Losses.from_correct(vectors_of(correct), **arguments_of(arguments)))


def resampled_losses(
    *,
    y: Any,
    tested: Any,
    predictions: Any,
    learning: Any,
    testing: Any,
    arguments: Any,
    remarks: Any,
) -> Any:
    """Predictions for the test sets of a design, as losses.

    Parameters
    ----------
    y : R vector
        The response of each of n observations.
    tested : R vector
        The response of all tested observations, resample by resample, observations ascending.
    predictions : R list
        For each learner its predictions for these.
    learning, testing : R matrix of 0/1, shape (R, n)
    arguments : R list
        `loss`, `pos_label` and `groups`.
    remarks : R text or NULL
        What results say of where these come from.
    """
    given = arguments_of(arguments)
    groups, pos_label = given.pop("groups", None), given.get("pos_label")
    each = _of_predictions(tested, predictions, given)
    refuse_of_folds(each.metric)
    refuse_pooled(each.metric)
    design = np.array(matrix(learning), dtype=int), np.array(matrix(testing), dtype=int)
    values = np.zeros((len(each.learners), *design[1].shape))
    values[:, design[1].astype(bool)] = each.values
    made = uv.Losses.from_arrays(
        values, *design, learners=each.learners, loss=each.loss, y=vector(y),
        pos_label=pos_label, groups=groups, greater_is_better=each.greater_is_better,
    )  # fmt: skip
    if each.predictions is not None:
        made = _of_metric(each, made, vector(y))
    # What `from_predictions` knows of the positive class, arrays of losses do not tell.
    named = {name: each.settings[name] for name in ("pos_label",) if name in each.settings}
    made = replace(made, settings={**made.settings, **named})
    said = scalar("remarks", remarks), remark_of_loss(arguments), _why_without_value(made)
    return _losses(_with_remarks(made, *said))


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


REMARK = "remark"
"""The setting of losses that contains what results have to say of them."""


def _with_remarks(losses: uv.Losses, *remarks: str | None) -> uv.Losses:
    text = " ".join(filter(None, remarks))
    return replace(losses, settings={**losses.settings, REMARK: text}) if text else losses


def _why_without_value(losses: uv.Losses) -> str:
    """A sentence where a survival metric has no value; "" where it has one."""
    reason = losses.without_value
    return f"{reason[0].upper()}{reason[1:]}." if reason else ""


def _noted(outcome: Any, remark: str | None) -> Any:
    """A result or comparison with what R has to say of its losses among the notes."""
    if remark is None:
        return outcome
    if not isinstance(outcome, uv.Comparison):
        return replace(outcome, notes=(*outcome.notes, remark))
    results = {
        key: replace(result, notes=(*result.notes, remark))
        for key, result in outcome.results.items()
    }
    return replace(outcome, results=results)


def score_losses(*, scores: Any, arguments: Any) -> Any:
    """Scores of resamples, a list of R vectors by name, as losses."""
    return _losses(uv.Losses.from_scores(vectors_of(scores), **arguments_of(arguments)))


def _of_predictions(y: Any, predictions: Any, arguments: dict[str, Any]) -> uv.Losses:
    response = None if is_null(y) else response_of(y)
    return uv.Losses.from_predictions(response, vectors_of(predictions), **arguments)


def _losses(losses: uv.Losses) -> Any:
    """What R shows of losses, and the JSON that restores them."""
    clusters = None if losses.groups is None else int(losses.groups.max()) + 1
    return to_r(
        {
            "learners": list(losses.learners),
            "loss": losses.loss,
            "is_metric": losses.metric.linearised,
            "in_words": losses.in_words,
            "means": losses.means,
            "n_obs": losses.design.n_obs,
            "n_resamples": losses.design.n_resamples,
            "learns": losses.design.learns,
            "n_groups": clusters,
            "each": losses.values is not None,
            "positive": losses.settings.get("pos_label"),
            "remarks": losses.settings.get(REMARK),
            "n_fits": losses.n_fits,
            "json": json_module.dumps(losses.to_dict()),
        }
    )


def autolog(*, environment: Any, **arguments: Any) -> None:
    """Switch logging to MLflow on or off.

    Parameters
    ----------
    environment : R list
        The variables of MLflow in the environment, which R may have set since Python started.
    **arguments : R values
        Those of `ucvtest.autolog`.
    """
    for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
        del os.environ[name]
    os.environ.update(arguments_of(environment))
    uv.autolog(**{name: scalar(name, value) for name, value in arguments.items()})


def select_model(
    *, x: Any, y: Any, learners: Any, arguments: Any, complexity: Any, criteria: Any
) -> Any:
    """Run `ucvtest.select_model`: its table, and the choice of every criterion from 1."""
    response = response_of(y)
    given = [learner_of(learner, response) for learner in learners]
    numbers = None if is_null(complexity) else vector(complexity).tolist()
    several = None if is_null(criteria) else list(criteria)
    chosen = uv.select_model(
        *(features_of(x), response, given),
        **arguments_of(arguments),
        complexity=numbers,
        criteria=several,
        n_jobs=1,
    )
    return to_r(
        {
            "best": chosen.best.name,
            "criterion": chosen.criterion,
            "choices": {name: place + 1 for name, place in chosen.choices.items()},
            "table": {str(name): np.array(column) for name, column in chosen.table.items()},
            "n_obs": chosen.n_obs,
            "n_fits": chosen.n_fits,
            "elapsed": chosen.elapsed,
            "settings": chosen.settings,
        }
    )


def compare_learners(
    *, x: Any, y: Any, learners: Any, names: Any, tests: Any, arguments: Any, conf_level: Any
) -> Any:
    """Run `ucvtest.compare`: its table by columns, the fits, and the JSON that restores it.

    Parameters
    ----------
    x, y : R matrix, R vector
    learners : R list
        As `learner_of` reads them.
    names : R texts or NULL
        Names of the learners.
    tests : R list
        Of each test its label, its name and its options by name; or one text.
    arguments : R list
        Further arguments of `ucvtest.compare`.
    conf_level : R number
    """
    response = response_of(y)
    comparison = uv.compare(
        features_of(x),
        response,
        learners_of(learners, names, response),
        tests_of(tests),
        **arguments_of(arguments),
        n_jobs=1,
    )
    return _comparison(_noted(comparison, remark_of_loss(arguments)), float(conf_level[0]))


def compare_losses(*, losses: Any, tests: Any, arguments: Any, conf_level: Any) -> Any:
    """Run `ucvtest.compare_losses` on losses that R kept as JSON."""
    chosen = None if is_null(tests) else tests_of(tests)
    kept = _result_from_json(losses)
    comparison = uv.compare_losses(kept, chosen, **arguments_of(arguments))
    return _comparison(_noted(comparison, kept.settings.get(REMARK)), float(conf_level[0]))


def _comparison(comparison: uv.Comparison, conf_level: float) -> Any:
    frame = comparison.summary_frame(alpha=1 - conf_level)
    fits = comparison.fits_frame.assign(
        n_resamples=comparison.fits_frame["n_resamples"].astype(float)
    )
    return to_r(
        {
            "table": _columns(frame),
            "fits": _columns(fits),
            "n_obs": comparison.n_obs,
            "n_fits": comparison.n_fits,
            "elapsed": comparison.elapsed,
            "loss": comparison.settings["loss"],
            "correction": comparison.correction,
            "contrast": comparison.contrast,
            "verdict": comparison.verdict,
            "lines": comparison.notes_in_brief(),
            "json": comparison.to_json(),
        }
    )


def _columns(frame: Any) -> dict[str, np.ndarray]:
    return {str(name): np.array(column) for name, column in frame.items()}


def advise(**arguments: Any) -> Any:
    """The test that `ucvtest.advise` recommends: its function in R, its arguments, and why."""
    found = uv.advise(**{name: scalar(name, value) for name, value in arguments.items()})
    settings = dict(found.settings)
    design = settings.get("design")
    if isinstance(design, uv.designs.NamedDesign):
        # The list by which R describes it; hold_out() of R leaves out its default.
        options = {name: value for name, value in vars(design).items() if value is not None}
        if options.get("shuffle"):
            del options["shuffle"]
        settings["design"] = {"kind": type(design).__name__, **options}
    return to_r(
        {
            "test": r_names()[found.test],
            "arguments": {**settings, **found.options},
            "n_learners": found.n_learners,
            "promises": found.promises,
            "n_fits": found.evidence.n_fits,
            "reasons": list(found.reasons),
        }
    )


def light_code_bounds(**arguments: Any) -> Any:
    """Bounds as R numbers, which beyond 2^53 are rounded away from the true size."""
    bounds = uv.codes.light_code_bounds(**{k: scalar(k, v) for k, v in arguments.items()})
    lower, upper = float(bounds.lower), float(bounds.upper)
    return to_r(
        {
            "lower": lower if lower <= bounds.lower else math.nextafter(lower, 0),
            "upper": upper if upper >= bounds.upper else math.nextafter(upper, math.inf),
            "lower_source": bounds.lower_source,
            "upper_source": bounds.upper_source,
        }
    )


def critical_values(
    *, alpha: Any, n0: Any, n1: Any, method: Any, n_simulations: Any, seed: Any
) -> Any:
    """Critical values of the leave-pair-out test; for vectors, n1 downwards and n0 across."""
    single = len(n0) == len(n1) == 1
    many_n0, many_n1 = ([int(each) for each in vector(size)] for size in (n0, n1))
    sizes: Any = (scalar("n0", n0), scalar("n1", n1)) if single else (many_n0, many_n1)
    critical: Any = uv.codes.critical_values  # which overload it is, only R knows
    found = critical(
        scalar("alpha", alpha),
        *sizes,
        method=scalar("method", method),
        n_simulations=scalar("n_simulations", n_simulations),
        rng=scalar("seed", seed),
    )
    return to_r(np.asarray(found))


def summary(*, json: Any, conf_level: Any, notes: Any) -> Any:
    """Write the summary of a result, or a comparison, that R kept as JSON."""
    found = _result_from_json(json).summary(alpha=1 - conf_level[0], notes=bool(notes[0]))
    return to_r(found.as_text())


def bibtex(*, json: Any) -> Any:
    """The papers behind a result, or a comparison, that R kept as JSON."""
    return to_r(uv.cite(_result_from_json(json)).bibtex)


def methods_text(*, json: Any) -> Any:
    """The paragraphs for a methods section, of a result, or a comparison, that R kept as JSON."""
    restored = _result_from_json(json)
    if not isinstance(restored, uv.Comparison):
        return to_r(restored.methods_text())
    results = restored.results.values()
    paragraphs = dict.fromkeys(result.methods_text() for result in results)
    n_pairs = len(restored.pairs)
    adjusted = f"adjusted ({restored.correction})" if restored.correction else "not adjusted"
    of_pairs = f"P-values of {n_pairs} pairs of learners were {adjusted} within each test."
    return to_r([*paragraphs, of_pairs] if n_pairs > 1 else [*paragraphs])


def references(*, json: Any) -> Any:
    """The papers behind a result, or a comparison, that R kept as JSON, in words."""
    return to_r(uv.cite(_result_from_json(json)).text)


def comparison_frame(*, json: Any, conf_level: Any) -> Any:
    """Both ends of all intervals of a comparison that R kept as JSON."""
    frame = _result_from_json(json).summary_frame(alpha=1 - conf_level[0])
    return to_r({name: np.array(frame[name]) for name in ("conf_low", "conf_high")})


def best_set(*, json: Any, alpha: Any, test: Any) -> Any:
    """The learners that may be the best, of a comparison that R kept as JSON."""
    label = None if is_null(test) else test[0]
    return to_r(list(_result_from_json(json).best_set(float(alpha[0]), label)))


def confidence_interval(*, json: Any, conf_level: Any) -> Any:
    """Both ends of the confidence interval of a result that R kept as JSON."""
    interval = _result_from_json(json).confidence_interval(confidence_level=conf_level[0])
    return to_r([interval.low, interval.high])


def plan_sample_size(*, x: Any, y: Any, learners: Any, arguments: Any, n: Any) -> Any:
    """Run `ucvtest.plan`: its tables by columns, its pictures, and the verdict."""
    response = response_of(y)
    given = [learner_of(learner, response) for learner in learners]
    found = uv.plan(features_of(x), response, *given, **arguments_of(arguments), n=_sizes(n))
    return _plan_to_r(found)


def plan_losses(*, losses: Any, arguments: Any, n: Any) -> Any:
    """Run `ucvtest.plan` on losses of fixed rules that R kept as JSON."""
    return _plan_to_r(uv.plan(_result_from_json(losses), **arguments_of(arguments), n=_sizes(n)))


def _sizes(n: Any) -> list[int] | None:
    return None if is_null(n) else [int(each) for each in vector(n)]


def _plan_to_r(found: uv.SamplePlan) -> Any:
    names = ("n_needed", "n_low", "n_high", "goal", "value", "power", "alpha", "verdict", "n_fits")
    return to_r(
        {name: getattr(found, name) for name in names}
        | {
            "table": _columns(found.columns),
            "curve": _columns(found.curve_frame),
            "pictures": {kind: each.to_dict() for kind, each in found.pictures.items()},
            "settings": found.settings,
            "lines": found.notes_in_brief(),
            "texts": [found.summary(notes=notes).as_text() for notes in (False, True)],
        }
    )


def equivalence(*, json: Any, low: Any, high: Any, alpha: Any) -> Any:
    """Whether the estimand of a result that R kept as JSON lies between two bounds."""
    bounds = scalar("low", low), scalar("high", high)
    return _margin_to_r(_result_from_json(json).equivalence(*bounds, alpha=scalar("alpha", alpha)))


def noninferiority(*, json: Any, margin: Any, alpha: Any) -> Any:
    """Whether the first learner of a result that R kept as JSON is worse by less than a margin."""
    found = _result_from_json(json).noninferiority(
        scalar("margin", margin), alpha=scalar("alpha", alpha)
    )
    return _margin_to_r(found)


def _margin_to_r(found: uv.EquivalenceResult | uv.NoninferiorityResult) -> Any:
    """What R shapes an "htest" from."""
    values = {name: getattr(found, name) for name in MARGIN_FIELDS if hasattr(found, name)}
    return to_r(values | {"verdict": found.verdict, "title": found.title})


def _result_from_json(json: Any) -> Any:
    data = json_module.loads(json[0])
    kinds: dict[str, Any] = {
        "ucvtest.Comparison": uv.Comparison,
        "ucvtest.Losses": uv.Losses,
    }
    return kinds.get(data["format"], uv.TestResult).from_dict(data)


def _result_to_r(result: uv.TestResult, conf_level: float) -> Any:
    """Everything that R shapes an "htest" from, and the JSON that restores the result."""
    with warnings.catch_warnings():
        # The status says why there is none.
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        low, high = result.conf_int(alpha=1 - conf_level)
    fields = (
        "estimate", "se", "variance", "statistic", "pvalue", "df", "null_value", "alternative",
        "method", "estimand", "reference", "status", "n_obs", "n_fits", "elapsed", "settings",
        "diagnostics", "notes",
    )  # fmt: skip
    return to_r(
        {name: getattr(result, name) for name in fields}
        | {
            "tables": {
                title: {name: np.array(cells) for name, cells in table.items()}
                for title, table in result.tables.items()
            },
            "pictures": {kind: each.to_dict() for kind, each in result.pictures.items()},
            "conf_low": float(low),
            "conf_high": float(high),
            "conf_level": conf_level,
            "verdict": result.verdict_at(1 - conf_level),
            "lines": result.notes_in_brief(),
            "interval_name": result.interval_name,
            "contrast": result.contrast,
            "better": result.better,
            "json": result.to_json(),
        }
    )


MARGIN_FIELDS = (
    "pvalue", "alpha", "estimate", "estimand", "conf_int", "decision", "verdict", "margin", "bound",
    "better", "low", "high",
)  # fmt: skip
"""What R is told of answers about margins."""

FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: function
    for name, function in list(globals().items())
    if isfunction(function) and function.__module__ == __name__ and not name.startswith("_")
}
"""The public functions of this module."""
