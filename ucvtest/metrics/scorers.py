"""Metrics in scikit-learn's words: names of scorers, and scorer objects.

Scores that are means over observations become losses. Others (F1, R2, ...) are one number for each
test set: a `SetScore`, for the tests that need no more.
"""

import importlib
import inspect
from typing import Any

import numpy as np

from ucvtest.data.output import Output
from ucvtest.metrics.loss import Loss
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.names import ALIASES
from ucvtest.metrics.ranks import AUC_NAME
from ucvtest.metrics.set_scores import SetScore

__all__ = ["MEANS", "chosen_loss"]

OF_NUMBERS = (
    "explained_variance",
    "max_error",
    "r2",
    "neg_max_error",
    "neg_median_absolute_error",
    "neg_root_mean_squared_error",
    "neg_root_mean_squared_log_error",
    "d2_absolute_error_score",
)
"""scikit-learn's scorers of predicted numbers that are no means; others of `predict` score
labels."""


def _squared_log(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return (np.log1p(y) - np.log1p(prediction)) ** 2


def _relative(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return np.abs(prediction - y) / np.maximum(np.abs(y), np.finfo(float).eps)


def _poisson(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    from scipy.special import xlogy

    return 2 * (xlogy(y, y / prediction) - y + prediction)


def _gamma(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    return 2 * (np.log(prediction / y) + y / prediction - 1)


MEANS: dict[str, Loss | str] = {
    "accuracy": LOSSES["zero_one"],
    "neg_log_loss": LOSSES["log"],
    "neg_brier_score": LOSSES["brier"],
    "roc_auc": AUC_NAME,
    "neg_mean_squared_error": LOSSES["squared"],
    "neg_mean_absolute_error": LOSSES["absolute"],
    "neg_mean_squared_log_error": Loss(
        "squared_log", _squared_log, "number", estimand="mean squared log error"
    ),
    "neg_mean_absolute_percentage_error": Loss(
        "relative", _relative, "number", estimand="mean absolute percentage error"
    ),
    "neg_mean_poisson_deviance": Loss(
        "poisson", _poisson, "number", estimand="mean Poisson deviance"
    ),
    "neg_mean_gamma_deviance": Loss("gamma", _gamma, "number", estimand="mean gamma deviance"),
}
"""scikit-learn's scores that are means over observations (or the AUC), as losses."""


def chosen_loss(
    loss: Any,
    scoring: Any = None,
    *,
    alternative: str = "two-sided",
    null_value: float | None = None,
) -> Any:
    """What a user names by `loss`, also by an alias, or by scikit-learn's `scoring`.

    Raises
    ------
    ValueError
        If both are given, the score is unknown, or one that is tested as a loss comes with a
        hypothesis that has a direction.
    """
    if scoring is None:
        return ALIASES.get(loss, loss) if isinstance(loss, str) else loss
    if loss is not None:
        raise ValueError("loss and scoring exclude each other: pass one of them")
    found: Loss | SetScore | str
    if isinstance(scoring, str) and scoring in MEANS:
        found = MEANS[scoring]
    else:
        scorer = _scorer(scoring)
        name = scoring if isinstance(scoring, str) else _name_of(scorer)
        found = MEANS[name] if name in MEANS else _set_score(name, scorer)
    if isinstance(found, Loss):
        _check_direction(found, alternative, null_value)
    return found


def _check_direction(loss: Loss, alternative: str, null_value: float | None) -> None:
    """Refuse hypotheses with a direction about scores that are tested as losses.

    Of a score more is better, of the loss behind it less: whoever reads "greater" must not have to
    guess of which.
    """
    turned = {"greater": "less", "less": "greater"}.get(alternative)
    given = [] if turned is None else [f"alternative={alternative!r}"]
    if null_value is not None and np.any(np.asarray(null_value) != 0):
        given.append(f"null_value={null_value!r:.40}")
    if given:
        other = f"loss={loss.name!r}" + (f" and alternative={turned!r}" if turned else "")
        remedy = f"state the hypothesis about the loss, by {other} in the place of scoring"
        if loss is not LOSSES.get(loss.name):
            remedy = "leave it out, and read the interval, whose numbers are those of the loss"
        raise ValueError(
            f"{' and '.join(given)} cannot be told for a score that is tested as the "
            f"{loss.estimand or loss.name}, of which less is better: {remedy}"
        )


def _metrics() -> Any:
    """scikit-learn's module, imported without a trace."""
    import ucvtest.common.quiet_imports  # noqa: F401  (see there)

    return importlib.import_module("sklearn.metrics")


def _scorer(scoring: Any) -> Any:
    """The scorer object of scikit-learn that is meant."""
    metrics = _metrics()

    if isinstance(scoring, str):
        known = metrics.get_scorer_names()
        if scoring not in known:
            raise ValueError(
                f"scoring={scoring!r:.60} is unknown: use one of {', '.join(known)}, or a scorer "
                "from sklearn.metrics.make_scorer"
            )
        return metrics.get_scorer(scoring)
    if isinstance(scoring, (list, tuple, set, dict)):
        raise ValueError("scoring names several scores: pass one, and call once for each")
    if not all(hasattr(scoring, name) for name in ("_score_func", "_sign", "_kwargs")):
        raise ValueError(
            f"scoring={scoring!r:.60} is no name of a score, and no scorer: make one of a function "
            "(y_true, y_pred) by sklearn.metrics.make_scorer"
        )
    requested = getattr(getattr(scoring, "_metadata_request", None), "score", None)
    weights = getattr(requested, "requests", {}).get("sample_weight")
    if weights or "sample_weight" in scoring._kwargs:
        raise ValueError(
            "scoring asks for sample_weight, and no design weights observations: leave the weights "
            "out, or pass predictions to uv.Losses.from_predictions(sample_weight=)"
        )
    return scoring


def _name_of(scorer: Any) -> str:
    """The name that scikit-learn has for such a scorer; otherwise that of its function."""
    metrics = _metrics()

    parts = ("_score_func", "_sign", "_kwargs", "_response_method")
    for name in metrics.get_scorer_names():
        known = metrics.get_scorer(name)
        if all(getattr(known, part) == getattr(scorer, part, None) for part in parts):
            return name
    return getattr(scorer._score_func, "__name__", "score")


def _in_words(name: str) -> str:
    """What is estimated; a function without a name of its own is "score"."""
    own = name.removesuffix("_score")
    return "expected score" if own == "score" else f"expected {own} score"


def _set_score(name: str, scorer: Any) -> SetScore:
    function, sign, given = scorer._score_func, scorer._sign, dict(scorer._kwargs)

    # A number each, where other losses have one for each observation.
    def score(y: np.ndarray, prediction: np.ndarray, **known: Any) -> Any:
        return float(sign * function(y, prediction, **(known | given)))

    output, fixed = _output_of(scorer, name)
    parameters = inspect.signature(function).parameters
    asked = {name: each.default for name, each in parameters.items()} | given
    # Of labels an average over classes has no positive one.
    if asked.get("average", "binary") != "binary" and output == "label":
        asked.pop("pos_label", None)
    return SetScore(
        name,
        score,
        output,
        original_labels=True,
        estimand=_in_words(name),
        fixed_output=fixed,
        parameters=frozenset(asked),
        positive=_default_positive(asked),
        scorer_names_positive="pos_label" in given,
    )


def _default_positive(asked: dict[str, Any]) -> Any:
    """The positive class of a scorer: what it says, or what its function takes by default."""
    label = asked.get("pos_label")
    return None if label is inspect.Parameter.empty else label


def _output_of(scorer: Any, name: str) -> tuple[Output, bool]:
    """What learners must predict for a scorer, and whether the response has no say in it."""
    method = getattr(scorer, "_response_method", "predict")
    if method == "predict":
        return ("number", True) if name in OF_NUMBERS else ("label", False)
    return ("probability", True) if method == "predict_proba" else ("score", True)
