"""Losses in scikit-learn's words: aliases, names of scorers, and scorer objects.

Scores that are means over observations become losses. Others (F1, R2, ...) are one number for each
test set: a `SetScore` in the place of a loss, for the tests that need no more.
"""

import importlib
import inspect
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.exceptions import warn_caller
from ucvtest.data.output import Output
from ucvtest.metrics.loss import ALIASES, LOSSES, Loss
from ucvtest.metrics.ranks import AUC_NAME as AUC

if TYPE_CHECKING:
    from ucvtest.data.sample import Sample

__all__ = [
    "SetScore",
    "chosen_loss",
    "is_auc",
    "refuse_scores",
    "refuse_set_score",
    "scores_of_sets",
    "wants_every_class",
]

ONE_NUMBER_EACH = (
    "use CorrectedTTest, BayesianTTest, FiveByTwoTTest, FiveByTwoFTest or NaiveTTest, or a loss "
    "that is a mean over observations, such as scoring='accuracy'"
)
"""Where to go with a `SetScore`."""

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


@dataclass(frozen=True)
class SetScore(Loss):
    """A score of a whole test set, greater ones better, in the place of a loss.

    `function` takes the true values and the predictions of one test set: labels as the user gave
    them, numbers, or probabilities and scores, (t,) or (t, C) for more than two classes. Without
    `fixed_output` its predictions are labels where the response holds classes. `parameters` are
    those that the function knows, `positive` is the positive class where the scorer names one.
    """

    fixed_output: bool = True
    parameters: frozenset[str] = frozenset()
    positive: Any = None


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
    "roc_auc": AUC,
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
    if isinstance(scoring, str) and scoring in MEANS:
        found = MEANS[scoring]
    else:
        scorer = _scorer(scoring)
        name = scoring if isinstance(scoring, str) else _name_of(scorer)
        found = MEANS[name] if name in MEANS else _set_score(name, scorer)
    if isinstance(found, Loss) and not isinstance(found, SetScore):
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


def is_auc(loss: Any) -> bool:
    """Whether areas under the ROC curve are asked for, and no losses."""
    return isinstance(loss, str) and ALIASES.get(loss, loss) == AUC


def wants_every_class(loss: Any, *, has_classes: bool) -> bool:
    """Whether test sets should have all classes in proportion, as without one a score has none."""
    by_label = isinstance(loss, SetScore) and loss.output != "number"
    return is_auc(loss) or (by_label and has_classes)


def refuse_set_score(loss: Any, name: str) -> None:
    """Refuse scores of whole test sets, for the test or function that is called so."""
    if isinstance(loss, SetScore):
        raise ValueError(
            f"scoring={loss.name!r} is one number for each test set, and {name} needs one for each "
            f"observation: {ONE_NUMBER_EACH}"
        )


def refuse_scores(loss: Any, name: str, scoring: Any = None) -> None:
    """Refuse the AUC, which is no mean of losses, for the test or function that is called so."""
    if is_auc(loss):
        asked = "loss='auc'" if scoring is None else f"scoring={scoring!r:.60}"
        remedy = "loss='zero_one' or 'log'"
        if scoring is not None:
            remedy = "scoring='accuracy' or 'neg_log_loss'"
        raise ValueError(
            f"{asked} keeps decision scores, and {name} needs the loss of every observation: use "
            f"{remedy}"
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
    return SetScore(
        name,
        score,
        output,
        original_labels=True,
        estimand=_in_words(name),
        fixed_output=fixed,
        parameters=frozenset(inspect.signature(function).parameters),
        positive=given.get("pos_label"),
    )


def _output_of(scorer: Any, name: str) -> tuple[Output, bool]:
    """What learners must predict for a scorer, and whether the response has no say in it."""
    method = getattr(scorer, "_response_method", "predict")
    if method == "predict":
        return ("number", True) if name in OF_NUMBERS else ("label", False)
    return ("probability", True) if method == "predict_proba" else ("score", True)


def scores_of_sets(
    score: SetScore, sample: "Sample", predictions: np.ndarray, testing: np.ndarray, first: int = 0
) -> np.ndarray:
    """The score of each test set, (R,), of predictions (R, n), or (R, n, C); `first` numbers them.

    Raises
    ------
    ValueError
        If a test set has no such score.
    """
    from sklearn.exceptions import UndefinedMetricWarning

    known = _known_arguments(score, sample)
    found, doubts = np.empty(len(testing)), dict[int, str]()
    for row, tested in enumerate(testing):
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", UndefinedMetricWarning)
                found[row] = _score_of(score, sample, predictions[row, tested], tested, known)
        except (ValueError, TypeError) as error:
            raise ValueError(
                f"scoring={score.name!r} failed on split {first + row}: {error}"
            ) from error
        if not np.isfinite(found[row]):
            raise ValueError(
                f"scoring={score.name!r} gave {found[row]} on split {first + row}, whose test set "
                "has no such score: use fewer folds, or a stratified splitter"
            )
        if caught:
            doubts[row] = str(caught[0].message)
    if doubts:
        warn_caller(
            f"scoring={score.name!r} in {len(doubts)} of {len(testing)} test sets: "
            f"{next(iter(doubts.values()))} Use fewer folds, or a stratified splitter"
        )
    return found


def _score_of(
    score: SetScore, sample: "Sample", predicted: np.ndarray, tested: np.ndarray, known: Any
) -> float:
    function: Any = score.function
    if score.output == "number" or sample.classes is None:
        return function(sample.target[tested], predicted, **known)
    true = sample.response[tested]
    if score.output != "label":
        return function(true, _in_order(score, sample, predicted, known), **known)
    below, above = np.floor(predicted).astype(int), np.ceil(predicted).astype(int)
    low = function(true, sample.classes[below], **known)
    if np.array_equal(below, above):
        return low
    # A code half-way between two classes is a tie left open: both labels count half.
    return (low + function(true, sample.classes[above], **known)) / 2


def _in_order(
    score: SetScore, sample: "Sample", predicted: np.ndarray, known: dict[str, Any]
) -> np.ndarray:
    """Predictions about the class that the function takes for the positive one.

    That is the last of all classes in ascending order, unless it is named; ours have the positive
    class last. Columns of several classes are put into ascending order.
    """
    classes = sample.classes
    assert classes is not None
    if len(classes) > 2:
        return predicted[:, np.argsort(classes)]
    positive = score.positive
    if positive is None:
        positive = known.get("pos_label", np.sort(classes)[-1])
    if positive == classes[-1]:
        return predicted
    return 1 - predicted if score.output == "probability" else -predicted


def _known_arguments(score: SetScore, sample: "Sample") -> dict[str, Any]:
    """Positive class and labels, for functions that ask for them."""
    if sample.classes is None or score.output == "number":
        return {}
    if sample.n_classes == 2 and "pos_label" in score.parameters:
        return {"pos_label": sample.classes[-1]}
    if sample.n_classes > 2 and score.output != "label" and "labels" in score.parameters:
        return {"labels": np.sort(sample.classes)}
    return {}
