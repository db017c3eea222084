"""Losses from results of scikit-learn: scores of splits, searches, predictions."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import is_integer, named_options, numbered
from ucvtest.data.frames import as_pandas
from ucvtest.data.sample import as_column, response_has_classes
from ucvtest.designs.adapters import design_or_cv
from ucvtest.designs.design import Design
from ucvtest.designs.structure import folds_of
from ucvtest.losses.columns import as_names
from ucvtest.metrics.base import Metric
from ucvtest.metrics.directions import direction_of_scores
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.ranks import AUC

if TYPE_CHECKING:
    from ucvtest.losses.table import Losses

SCORES: dict[str, tuple[Metric, float, float]] = {
    "accuracy": (LOSSES["zero_one"], 1.0, -1.0),
    "neg_brier_score": (LOSSES["brier"], 0.0, -1.0),
    "neg_log_loss": (LOSSES["log"], 0.0, -1.0),
    "neg_mean_absolute_error": (LOSSES["absolute"], 0.0, -1.0),
    "neg_mean_squared_error": (LOSSES["squared"], 0.0, -1.0),
    "roc_auc": (AUC, 0.0, 1.0),
}
"""scikit-learn's scores that are means over the tested observations (or the AUC): the loss, and the
intercept and slope that convert the score into the loss."""

NAME_WIDTHS = (40, 160)
"""Letters of a value in the name of a candidate; the second if the first gives two one name."""

LOOKS_AT_Y = (
    "y must contain the response that was learnt, because {} splits classes if there are any: pass "
    "y="
)


@dataclass(frozen=True)
class _Splits:
    """The splits that were scored, given by the user: the argument `cv` and the data it needs."""

    cv: Any
    y: Any
    groups: Any
    n_obs: int | None

    def design(self) -> Design:
        """The design made by `cv`."""
        n_obs = self.size
        if self.y is None and is_integer(self.cv):
            # Folds are stratified for classes, but not for numbers.
            raise ValueError(LOOKS_AT_Y.format(f"cv={self.cv}"))
        has_classes = self.y is not None and response_has_classes(self.y)
        splitter = design_or_cv(None, self.cv, self.response, has_classes=has_classes)
        shuffles = getattr(splitter, "shuffle", False) or hasattr(splitter, "test_size")
        if shuffles and getattr(splitter, "random_state", 0) is None:
            raise ValueError(
                f"cv={splitter!r:.80} shuffles without a seed, so its splits cannot be made again: "
                "set random_state before scoring, or keep the splits by return_indices=True"
            )
        if not hasattr(splitter, "split"):
            return Design.from_indices(list(splitter), n_obs)
        # Splitters that do not use groups warn if groups are passed.
        labels = {} if self.groups is None else {"groups": np.asarray(self.groups)}
        response = None if self.y is None else self.response
        try:
            indices = list(splitter.split(np.zeros((n_obs, 1)), response, **labels))
        except (TypeError, ValueError) as error:
            if self.y is not None:
                raise
            raise ValueError(LOOKS_AT_Y.format(f"cv={splitter!r:.80}")) from error
        return Design.from_indices(indices, n_obs)

    @property
    def size(self) -> int:
        """Observations in the data."""
        if self.n_obs is not None:
            return self.n_obs
        if self.y is None:
            raise ValueError("y must contain the response that was learnt, so that cv can split it")
        return len(self.y)

    @property
    def response(self) -> np.ndarray:
        """The data that the splitter uses."""
        return np.zeros(self.size) if self.y is None else as_column("y", self.y)


@named_options
def from_sklearn(
    cls: "type[Losses]",
    results: Any,
    n_obs: int | None = None,
    *,
    score: str | None = None,
    test_score: str | None = None,
    cv: Any = None,
    y: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    greater_is_better: bool | None = None,
) -> "Losses":
    """Make losses from scikit-learn's cross-validation or search.

    Scores of splits suffice for tests that need one number for each resample. Predictions give
    losses of single observations.

    Parameters
    ----------
    results : mapping or search
        The name of each learner and the result of ``cross_validate``, with
        ``return_indices=True`` or with `cv`; splits must be the same for all. With `cv` and
        `y`, the array from ``cross_val_score`` or ``cross_val_predict`` is also accepted. Or a
        fitted search such as GridSearchCV, or its ``cv_results_``: each candidate is then a
        learner, named by its parameters, and numbered if it comes several times.
    n_obs : int, optional
        Number of observations in the data; by default the length of `y`, or the number in the
        indices.
    score : str, optional
        The name of the score; a search with ``scoring="..."`` knows it. Means of losses
        ("accuracy", "neg_brier_score", "neg_log_loss", "neg_mean_absolute_error",
        "neg_mean_squared_error") and "roc_auc" become these losses. Any other score, such as
        "f1" or "r2", is one number for each split.
    test_score : str, optional
        The key of the scores, by default "test_score" or "test" with the name of the score.
    cv : int, splitter or list of splits, optional
        The value that was passed as `cv`. Its splits are made again, so a splitter that
        shuffles needs a seed.
    y, groups : array-like, shape (n,), optional
        The response that was learnt, and the groups that were passed, if `cv` uses them.
    pos_label : optional
        The positive class, which predictions are about.
    greater_is_better : bool, optional
        Needed for a score that neither scikit-learn nor ucvtest knows by its name.

    Raises
    ------
    ValueError
        If the splits are not known or differ between learners, or a score is missing or
        impossible for its name.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    >>> from sklearn.model_selection import KFold, cross_validate
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> import ucvtest as uv
    >>> X, y = load_iris(return_X_y=True)
    >>> folds = KFold(10, shuffle=True, random_state=0)
    >>> results = {
    ...     name: cross_validate(model, X, y, cv=folds, return_indices=True)
    ...     for name, model in (
    ...         ("lda", LinearDiscriminantAnalysis()), ("knn", KNeighborsClassifier())
    ...     )
    ... }
    >>> uv.Losses.from_sklearn(results, score="accuracy").means.shape
    (2, 10)
    """
    score = _score_of(results, score)
    splits = _Splits(cv, y, groups, n_obs)
    if hasattr(results, "cv_results_"):
        used_cv = results.cv if cv is None else cv
        results, splits = results.cv_results_, replace(splits, cv=5 if used_cv is None else used_cv)
    if isinstance(results, Mapping) and "params" in results:
        results = _candidates(results, score, test_score)
    if not isinstance(results, Mapping):
        raise ValueError(
            f"results must map learners to results of cross_validate, got {results!r:.60}: use "
            "{'name': cross_validate(...)}"
        )
    if not results:
        raise ValueError("results is empty: pass the results of at least one learner")
    if any(_is_predictions(user_result, splits) for user_result in results.values()):
        try:
            rounds = folds_of(splits.design())
        except ValueError:
            raise ValueError(
                "cv must test each observation once in every round and learn from all others, so "
                "that predictions belong to folds: pass scores of the splits from cross_validate "
                "instead"
            ) from None
        folds = rounds[0] if len(rounds) == 1 else rounds
        scored = {"loss": SCORES[score][0].name} if score in SCORES else {"metric": score}
        return cls.from_predictions(
            y, dict(results), groups=groups, pos_label=pos_label, fold=folds, **scored
        )
    fields: dict[str, Any]
    if score in SCORES:
        metric, shift, slope = SCORES[score]
        fields = {
            "loss": metric.name,
            "in_words": metric.in_words,
            # Single values have bounds; an AUC does not.
            "bounds": metric.bounds if metric.is_mean else None,
        }
    else:
        greater, shift, slope = direction_of_scores(score, greater_is_better), 0.0, 1.0
        fields = {"loss": score, "in_words": f"mean {score}", "greater_is_better": greater}
    designs, means = [], []
    for name, result in results.items():
        designs.append(_design_of(name, result, splits))
        means.append(shift + slope * _scores_of(result, name, score, test_score, designs[-1]))
    if any(design != designs[0] for design in designs):
        raise ValueError("results have different splits: pass the same cv= to all learners")
    return cls(
        design=designs[0],
        learners=as_names(list(results), len(designs)),
        means=np.array(means),
        settings={"source": "scikit-learn", "score": score},
        **fields,
    )


def _score_of(results: Any, score: Any) -> str:
    """The score that is named, or that a search was made with."""
    name = getattr(results, "scoring", None) if score is None else score
    if isinstance(name, str):
        return name
    if score is not None:
        raise ValueError(f"score must be the name of a score, got {score!r:.60}: use 'accuracy'")
    scored = getattr(results, "cv_results_", results)
    if isinstance(scored, Mapping) and "params" not in scored:
        scored = next(iter(scored.values()), None)
    keys = [key for key in scored if isinstance(key, str)] if isinstance(scored, Mapping) else []
    names = {
        key.removeprefix("split0_").removeprefix("test_"): None
        for key in keys
        if key.removeprefix("split0_").startswith("test_")
    }
    if names and [*names] != ["score"]:
        known = f"one of {', '.join(map(repr, names)):.200}"
    else:
        known = (
            "as in score='accuracy', which scikit-learn's classifiers have without scoring=, or "
            "score='r2', which its regressors have"
        )
    raise ValueError(f"score is missing: name the score of these results, {known}")


def _candidates(
    results: Mapping[str, Any], score: str, test_score: str | None
) -> dict[str, np.ndarray]:
    """The scores of each candidate of a search, split by split."""
    for width in NAME_WIDTHS:
        names = [_named(parameters, width) for parameters in results["params"]]
        if len(set(names)) == len(names):
            break
    else:
        # The same candidate may come twice.
        names = numbered([_named(parameters) for parameters in results["params"]])
    for suffix in ("test_score", f"test_{score}") if test_score is None else (test_score,):
        keys = [key for key in results if key.startswith("split") and key.endswith(f"_{suffix}")]
        if keys:
            keys.sort(key=lambda key: int(key.removeprefix("split").partition("_")[0]))
            table = np.stack([as_numbers("results", results[key]) for key in keys], axis=1)
            return dict(zip(names, table, strict=True))
    raise ValueError(f"results have no split0_test_{score}: pass test_score=, as in 'test_f1'")


def _named(parameters: Mapping[str, Any], width: int = NAME_WIDTHS[0]) -> str:
    """A candidate by its parameters, whose values are cut."""
    values = {name: " ".join(repr(value).split()) for name, value in parameters.items()}
    return ", ".join(f"{name}={value:.{width}}" for name, value in values.items()) or "default"


def _is_predictions(result: Any, splits: _Splits) -> bool:
    """Whether it is a result of cross_val_predict: a value for each observation."""
    if isinstance(result, Mapping) or splits.cv is None or splits.y is None:
        return False
    number = len(as_pandas("results", result))
    if number != splits.size:
        return False
    if splits.design().n_resamples == number:
        raise ValueError(
            f"results have {number} values, but there are {number} observations and {number} "
            "splits: pass predictions to Losses.from_predictions(fold=), or scores to "
            "Losses.from_scores"
        )
    return True


def _scores_of(
    result: Any, name: str, score: str, test_score: str | None, design: Design
) -> np.ndarray:
    """The score of each split; missing ones and impossible ones are refused."""
    if test_score is not None and not isinstance(test_score, str):
        raise ValueError(f"test_score must be a key of the results, got {test_score!r:.60}")
    keys = ("test_score", f"test_{score}") if test_score is None else (test_score,)
    if isinstance(result, Mapping):
        known = [result[key] for key in keys if key in result]
        if not known:
            raise ValueError(f"results[{name!r}] has no {' or '.join(keys)}: pass test_score=")
        result = known[0]
    scores = as_numbers(f"results[{name!r}]", result)
    if scores.shape != (design.n_resamples,):
        raise ValueError(
            f"results[{name!r}] has {scores.size} scores for {design.n_resamples} splits: pass the "
            "result of cross_validate"
        )
    if not np.isfinite(scores).all():
        raise ValueError(
            f"results[{name!r}] has NaN for split {int((~np.isfinite(scores)).argmax())}: a fit "
            "failed (see error_score='raise'), or a test set has one class only"
        )
    high = 0.0 if score.startswith("neg_") else 1.0
    low = -math.inf if score.startswith("neg_") else 0.0
    if score in SCORES and (scores.min() < low or scores.max() > high):
        raise ValueError(
            f"results[{name!r}] has scores from {scores.min():.3g} to {scores.max():.3g}, which "
            f"are impossible for {score}: pass score= or test_score= as they were given to "
            "cross_validate"
        )
    return scores


def _design_of(name: str, result: Any, splits: _Splits) -> Design:
    """The splits behind scores: kept with the scores, or made by cv."""
    if isinstance(result, Mapping) and "indices" in result:
        indices = result["indices"]
        pairs = list(zip(indices["train"], indices["test"], strict=True))
        n_obs = splits.n_obs
        if n_obs is None:
            n_obs = 1 + max(int(np.max(rows)) for pair in pairs for rows in pair if len(rows))
        return Design.from_indices(pairs, n_obs)
    if splits.cv is not None:
        return splits.design()
    if isinstance(result, Mapping):
        raise ValueError(
            f"results[{name!r}] has no indices: pass return_indices=True to cross_validate, or cv= "
            "and y= here; Losses.from_scores needs neither"
        )
    raise ValueError(
        f"results[{name!r}] has no indices: pass cv= and y= here, as to cross_val_score or "
        "cross_val_predict; Losses.from_scores takes scores without indices"
    )
