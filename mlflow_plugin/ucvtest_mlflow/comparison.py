"""Two columns of predictions for the same rows, and which of them is better."""

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ucvtest import TestResult
from ucvtest.losses import LOSSES, Loss, as_loss
from ucvtest.stats.discordance import discordance
from ucvtest.stats.own_values import OwnValues
from ucvtest.stats.placements import auc_table, placements
from ucvtest.stats.wald import ALTERNATIVES, Alternative, wald_pvalue

__all__ = ["AUC", "Rows", "compare_predictions", "scores_for"]

AUC = "auc"
SAME_ROWS = (
    "The two models are taken as they are: the answer is about these two on new rows of the same "
    "kind, not about the algorithms that they were learnt with."
)


@dataclass(frozen=True)
class Rows:
    """Labels or values, what two models say about them, and their names.

    Parameters
    ----------
    y : array, shape (n,)
    first, second : array, shape (n,) or (n, n_classes)
        Predictions. Of two columns, one for each class in sorted order, that of the positive
        class is taken.
    names : tuple of str
        Of the first model and of the second.
    """

    y: np.ndarray
    first: np.ndarray
    second: np.ndarray
    names: tuple[str, str] = ("model", "baseline")


def compare_predictions(
    rows: Rows,
    loss: Any = "zero_one",
    *,
    pos_label: Any = None,
    alternative: Alternative = "two-sided",
) -> TestResult:
    """Test whether two fitted models have the same expected loss, or the same AUC.

    H0: the expected losses (or the AUCs) of the two models on new rows are equal; H1: the
    first minus the second differs from, is below, or is above 0.

    Parameters
    ----------
    rows : Rows
    loss : {"zero_one", "squared", "absolute", "log", "auc"} or callable
        Zero-one loss: McNemar's exact test. AUC: DeLong's test. Otherwise the t test of the
        paired loss differences.
    pos_label : optional
        The positive class, for the log loss and the AUC; by default the largest label.
    alternative : {"two-sided", "less", "greater"}

    Returns
    -------
    TestResult
        The estimate is the first minus the second.

    Raises
    ------
    ValueError
        If predictions are missing, or are not of the kind that the loss needs.

    Notes
    -----
    Rows must be independent of one another and of what the models were learnt from.
    McNemar's test is exact and conservative, and its interval agrees with it; the other intervals
    are approximate.

    References
    ----------
    McNemar, Psychometrika 12 (1947); DeLong, DeLong and Clarke-Pearson, Biometrics 44 (1988).

    Examples
    --------
    >>> import numpy as np
    >>> from ucvtest_mlflow.comparison import Rows, compare_predictions
    >>> y = np.array([0, 1] * 20)
    >>> first, second = y.copy(), y.copy()
    >>> first[:2], second[10:20] = 1 - y[:2], 1 - y[10:20]
    >>> result = compare_predictions(Rows(y, first, second))
    >>> print(f"{result.estimate:.2f}, p = {result.pvalue:.4f}")
    -0.20, p = 0.0386
    """
    start = time.perf_counter()
    _check_alternative(alternative)
    _check_loss(loss)
    _check_rows(rows)
    parts: dict[str, Any]
    if loss == AUC:
        loss_name, parts = AUC, _delong(_scores(rows, pos_label), alternative)
    else:
        scored = as_loss(loss, has_classes=True)
        loss_name, parts = scored.name, _paired(rows, scored, pos_label, alternative)
    settings = {
        "learner": rows.names[0],
        "other": rows.names[1],
        "loss": loss_name,
        "null_value": 0.0,
        "alternative": alternative,
        "pos_label": None if pos_label is None else str(pos_label),
    }
    return TestResult(
        **parts,
        null_value=0.0,
        alternative=alternative,
        n_obs=len(rows.y),
        n_fits=0,
        settings=settings,
        elapsed=time.perf_counter() - start,
    )


# ----------------------------------------------------------------------------- mean losses


def _paired(rows: Rows, loss: Loss, pos_label: Any, alternative: Alternative) -> dict[str, Any]:
    """Mean loss difference, its interval and its p-value: exact for errors and hits."""
    losses = np.array(_losses(rows, loss, pos_label))
    difference = losses[0] - losses[1]
    n = len(difference)
    variance = float(difference.var(ddof=1)) / n
    estimate = float(difference.mean())
    parts = {
        "estimate": estimate,
        "variance": variance,
        "se": math.sqrt(variance),
        "statistic": math.nan,
        "pvalue": math.nan,
        "df": float(n - 1),
        "reference": "t",
        "status": "ok",
        "estimand": f"difference of {loss.plural} of the two models",
        "method": f"Paired t test of the {loss.in_words}",
        "notes": ("Assumes independent rows, unseen by both models.", SAME_ROWS),
        "tables": {"Models": _losses_table(rows, loss, losses)},
        "diagnostics": _own_values(rows, losses.mean(axis=1), losses.var(axis=1, ddof=1) / n),
    }
    if variance > 0:
        parts["statistic"] = estimate / math.sqrt(variance)
        parts["pvalue"] = float(
            stats.ttest_rel(losses[0], losses[1], alternative=alternative).pvalue
        )
    else:
        parts |= {"df": math.nan, "reference": "none"}
        parts["status"] = (
            "the loss difference is the same in every row, so that its error cannot be "
            "estimated: compare the models on rows where they differ"
        )
    if loss is LOSSES["zero_one"]:
        parts |= _mcnemar(losses, alternative, parts)
    return parts


def _mcnemar(losses: np.ndarray, alternative: Alternative, parts: dict[str, Any]) -> dict[str, Any]:
    """The exact test on the rows where one model errs and the other does not."""
    found = discordance(losses[0], losses[1])
    return {
        "statistic": float(found.counts.statistic),
        "pvalue": found.pvalue(alternative),
        "df": math.nan,
        "reference": "exact binomial",
        "rule": found.counts,
        "status": "ok",
        "method": "McNemar test of the error rates",
        "diagnostics": parts["diagnostics"] | found.diagnostics,
        "notes": (*parts["notes"], found.note(exact=True)),
        "tables": parts["tables"] | {"Rows": found.table},
    }


def _losses(rows: Rows, loss: Loss, pos_label: Any) -> list[np.ndarray]:
    """The losses of both models row by row."""
    both = (rows.first, rows.second)
    if loss.original_labels:
        return [np.asarray(loss.function(rows.y, one), dtype=float) for one in both]
    if loss.output == "label":
        classes = np.unique(rows.y)
        y = np.searchsorted(classes, rows.y)
        named = zip(both, rows.names, strict=True)
        return [loss.function(y, _positions(one, classes, name)) for one, name in named]
    if loss.output == "probability":
        scores = _scores(rows, pos_label)
        for one, name in zip((scores.first, scores.second), rows.names, strict=True):
            if one.min() < 0 or one.max() > 1:
                raise ValueError(
                    f"the predictions of {name} are no probabilities, they go from "
                    f"{one.min():.4g} to {one.max():.4g}: loss='log' needs those of the "
                    "positive class; use loss='auc' for scores"
                )
        return [loss.function(scores.y, scores.first), loss.function(scores.y, scores.second)]
    y = _numbers(rows.y, "targets")
    numbers = [_numbers(one, name) for one, name in zip(both, rows.names, strict=True)]
    return [loss.function(y, one) for one in numbers]


def _losses_table(rows: Rows, loss: Loss, losses: np.ndarray) -> dict[str, tuple[Any, ...]]:
    """The mean loss of each model with a 95% interval, Wilson's for error rates."""
    means, n = losses.mean(axis=1), losses.shape[1]
    errors = losses.std(axis=1, ddof=1) / math.sqrt(n)
    if loss is LOSSES["zero_one"]:
        low, high = proportion_confint(losses.sum(axis=1), n, method="wilson")
    else:
        half = stats.t.isf(0.025, n - 1) * errors
        low, high = means - half, means + half
    return {
        "model": rows.names,
        loss.in_words: tuple(means.tolist()),
        "se": tuple(errors.tolist()),
        "conf_low": tuple(np.asarray(low).tolist()),
        "conf_high": tuple(np.asarray(high).tolist()),
    }


def _own_values(
    rows: Rows, estimates: Iterable[float], variances: Iterable[float]
) -> dict[str, float]:
    """What each model reaches alone, with its standard error, as diagnostics."""
    values = [
        (float(one), float(variance)) for one, variance in zip(estimates, variances, strict=True)
    ]
    return OwnValues.of_variances(rows.names, values).diagnostics


# ------------------------------------------------------------------------------------ AUC


def _delong(rows: Rows, alternative: Alternative) -> dict[str, Any]:
    """Difference of two AUCs with the variance of DeLong, DeLong and Clarke-Pearson (1988)."""
    n_positive = int(rows.y.sum())
    if min(n_positive, len(rows.y) - n_positive) < 2:
        raise ValueError(
            f"loss='auc' needs two rows of each class at least, got {n_positive} positive among "
            f"{len(rows.y)}"
        )
    parts = [placements(rows.y, one) for one in (rows.first, rows.second)]
    difference = parts[0] - parts[1]
    estimate, variance = difference.mean, difference.variance
    statistic = estimate / math.sqrt(variance) if variance > 0 else math.nan
    status = "ok"
    if variance == 0:
        status = (
            "the models rank all rows alike, or perfectly: the error of the difference cannot be "
            "estimated; compare them on rows where they differ"
        )
    reference = "normal" if variance > 0 else "none"
    return {
        "estimate": estimate,
        "variance": variance,
        "se": math.sqrt(variance),
        "statistic": statistic,
        "pvalue": wald_pvalue(statistic, reference, math.nan, alternative),
        "df": math.nan,
        "reference": reference,
        "status": status,
        "estimand": "difference of AUCs of the two models",
        "method": "DeLong test of the AUC",
        "better": "higher",
        "notes": ("Assumes independent rows, unseen by both models.", SAME_ROWS),
        "tables": {"Models": auc_table("model", rows.names, parts, "AUC")},
        "diagnostics": _own_values(
            rows, [part.mean for part in parts], [part.variance for part in parts]
        ),
    }


# ------------------------------------------------------------------------------ predictions


def scores_for(loss: Any) -> Literal["probability", "score"] | None:
    """What a loss needs of models in the place of labels or numbers."""
    _check_loss(loss)
    if isinstance(loss, str) and loss == AUC:
        return "score"
    return "probability" if as_loss(loss, has_classes=True).output == "probability" else None


def _check_alternative(alternative: str) -> None:
    if alternative not in ALTERNATIVES:
        raise ValueError(
            f"alternative={alternative!r} is unknown: use one of {', '.join(ALTERNATIVES)}"
        )


def _check_loss(loss: Any) -> None:
    if isinstance(loss, str) and loss not in (*LOSSES, AUC):
        raise ValueError(f"loss={loss!r} is unknown: use one of {', '.join((*LOSSES, AUC))}")


def _check_rows(rows: Rows) -> None:
    n = len(rows.y)
    if n < 2:
        raise ValueError(f"the data have {n} rows: a comparison needs 2 at least")
    for values, name in ((rows.first, rows.names[0]), (rows.second, rows.names[1])):
        if len(values) != n:
            raise ValueError(
                f"{name} has {len(values)} predictions for {n} rows: pass one for each row"
            )
    for values, name in zip(
        (rows.y, rows.first, rows.second), ("targets", *rows.names), strict=True
    ):
        missing = int(np.sum(values != values))
        if missing:
            raise ValueError(f"{name} has {missing} missing values: leave those rows out")


def _positions(predictions: np.ndarray, classes: np.ndarray, name: str) -> np.ndarray:
    """Positions of the predicted labels among the classes; -1 for a label that no row has."""
    if predictions.ndim != 1:
        raise ValueError(
            f"the predictions of {name} have shape {predictions.shape}: loss='zero_one' needs one "
            "label for each row; use loss='log' or 'auc' for probabilities"
        )
    known = np.isin(predictions, classes)
    strange = predictions[~known]
    fractions = strange.dtype.kind == "f" and bool(np.any(strange != np.floor(strange)))
    if fractions or not known.any():
        example = strange.tolist()[0]
        raise ValueError(
            f"the predictions of {name} are no labels, for example {example!r} where the "
            f"targets are {', '.join(map(repr, classes[:3].tolist()))}: use loss='log' or 'auc' "
            "for probabilities and scores, loss='squared' for numbers"
        )
    positions = np.full(len(predictions), -1)
    positions[known] = np.searchsorted(classes, predictions[known])
    return positions


def _scores(rows: Rows, pos_label: Any) -> Rows:
    """The rows with 0/1 labels and one number for each prediction."""
    classes = np.unique(rows.y)
    if len(classes) != 2:
        raise ValueError(
            f"the targets have {len(classes)} classes: loss='log' and 'auc' need two; the AUC of "
            "more is estimated from data and learners by uv.UStatisticTest(..., loss='auc')"
        )
    if pos_label is not None and pos_label not in classes:
        raise ValueError(
            f"pos_label={pos_label!r} is not among the targets, which are "
            f"{', '.join(map(repr, classes.tolist()))}"
        )
    positive = 1 if pos_label is None else int(np.flatnonzero(classes == pos_label)[0])
    columns = []
    for values, name in ((rows.first, rows.names[0]), (rows.second, rows.names[1])):
        if values.ndim == 2 and values.shape[1] == 2:
            values = values[:, positive]
        else:
            _refuse_labels(values, classes, name)
        columns.append(_numbers(values, name))
    return Rows((rows.y == classes[positive]).astype(int), columns[0], columns[1], rows.names)


def _refuse_labels(values: np.ndarray, classes: np.ndarray, name: str) -> None:
    """Labels are numbers to a loss, which takes them for probabilities of 0 and 1."""
    if np.isin(values, classes).all() or np.isin(values, (0, 1)).all():
        raise ValueError(
            f"the predictions of {name} are all labels, for example {values.tolist()[0]!r}: "
            "loss='log' needs probabilities of the positive class, loss='auc' these or scores. "
            "Pass a model with predict_proba, log it with pyfunc_predict_fn='predict_proba', or "
            "name a column of probabilities; loss='zero_one' compares labels"
        )


def _numbers(values: np.ndarray, name: str) -> np.ndarray:
    try:
        numbers = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(
            f"{name} must hold numbers, got for example {values.tolist()[0]!r}"
        ) from None
    if numbers.ndim != 1:
        raise ValueError(f"{name} has shape {numbers.shape}: pass one number for each row")
    return numbers
