"""Losses of several learners on the resamples of one design, as tests take them."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from ucvtest.common.checks import is_integer
from ucvtest.designs.design import Design
from ucvtest.losses import files, predicted, readers, scores, tracked
from ucvtest.losses.checking import check_parts
from ucvtest.losses.means import AUC
from ucvtest.losses.readers import as_names

__all__ = ["MEANS_ONLY", "SCORES_ONLY", "LossDifference", "Losses"]

SCORES_ONLY = (
    "loss='auc' keeps decision scores, and this test needs the loss of every observation: use "
    "loss='zero_one' or 'log'"
)

MEANS_ONLY = (
    "these losses hold only the mean of each resample (from_sklearn, from_scores): use "
    "uv.evaluate, or Losses.from_arrays, where every observation's loss is needed"
)


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses of learners on every tested observation of every resample of one design.

    Made by `evaluate`, `Losses.from_predictions`, `Losses.from_arrays`, `Losses.from_sklearn` or
    `Losses.from_scores`; tests take it by their ``from_losses``, and say which designs they
    admit.

    Parameters
    ----------
    design : Design
        Learning and test sets, (R, n); of rules that are fixed a test set alone.
    learners : tuple of str
        Names, all different.
    loss : str
        Name of the loss, or "auc": then `values` are decision scores and `means` AUCs.
    means : ndarray, shape (L, R)
        Mean loss of each learner in each resample, or its AUC there; NaN where a resample tests
        one class only.
    values : ndarray, shape (L, T), optional
        Losses (scores) of all T tested observations, resample by resample, observations
        ascending; None where only the means are known.
    target : ndarray, shape (n,), optional
        Labels 0, 1, ..., or the real response; needed by tests about the AUC.
    in_words : str
        The expected loss in words.
    bounds : tuple of float, optional
        The smallest and the largest value that the loss can have.
    settings : mapping
        How the losses came about: seed, backends, design in words.
    diagnostics : mapping of str to (mapping of str to int)
        For each learner: learning sets with one class, ties.
    elapsed : float
        Seconds that the fits took.
    groups : ndarray of int, shape (n,), optional
        The cluster of each observation, the unit of resampling, numbered from 0 in the order in
        which they first appear; by default each observation is by itself.
    greater_is_better : bool, optional
        Whether `means` and `values` are scores, of which greater ones are better; by default for
        the AUC alone. It decides what verdicts say, and no number.

    Raises
    ------
    ValueError
        If shapes do not match, names repeat, a number is not finite that must be, `means` are not
        those of `values`, or the design divides a group.
    """

    design: Design
    learners: tuple[str, ...]
    loss: str
    means: np.ndarray
    values: np.ndarray | None = None
    target: np.ndarray | None = None
    in_words: str = ""
    bounds: tuple[float, float] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    elapsed: float = math.nan
    groups: np.ndarray | None = None
    greater_is_better: bool | None = None

    def __post_init__(self) -> None:
        greater = self.loss == AUC if self.greater_is_better is None else self.greater_is_better
        object.__setattr__(self, "greater_is_better", bool(greater))
        for name in ("means", "values", "target", "groups"):
            array = getattr(self, name)
            object.__setattr__(self, name, None if array is None else _fixed(array))
        design = Design(_view(self.design.learning), _view(self.design.testing))
        object.__setattr__(self, "design", design)
        object.__setattr__(self, "learners", as_names(self.learners, len(self.learners)))
        object.__setattr__(self, "settings", MappingProxyType(dict(self.settings)))
        counts = {name: MappingProxyType(dict(each)) for name, each in self.diagnostics.items()}
        object.__setattr__(self, "diagnostics", MappingProxyType(counts))
        check_parts(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies cannot be pickled; plain dictionaries can.
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        values["settings"] = dict(self.settings)
        values["diagnostics"] = {name: dict(each) for name, each in self.diagnostics.items()}
        return _restored, (values,)

    def __repr__(self) -> str:
        return (
            f"Losses(learners={self.learners}, loss={self.loss!r}, n_obs={self.design.n_obs}, "
            f"n_resamples={self.design.n_resamples})"
        )

    def _repr_html_(self) -> str:
        from ucvtest.losses.shown import page_of

        return page_of(self)

    @property
    def n_fits(self) -> int:
        """Model fits behind the losses: each learner and each learning set counted; 0 of rules."""
        return len(self.learners) * self.design.n_resamples * self.design.learns

    @property
    def array(self) -> np.ndarray:
        """Losses (scores) as an array (L, R, n), NaN where not tested.

        Raises
        ------
        ValueError
            If only the means are known.
        """
        return np.stack([_spread(row, self.design) for row in self.known_values])

    @property
    def known_values(self) -> np.ndarray:
        """The values, where they are known.

        Raises
        ------
        ValueError
            If only the means are.
        """
        if self.values is None:
            raise ValueError(MEANS_ONLY)
        return self.values

    def number_of(self, learner: str | int) -> int:
        """The place of a learner, by its name or its place.

        Raises
        ------
        ValueError
            If there is none.
        """
        if isinstance(learner, str) and learner in self.learners:
            return self.learners.index(learner)
        if is_integer(learner) and 0 <= int(learner) < len(self.learners):
            return int(learner)
        raise ValueError(
            f"learner {learner!r} is none of {', '.join(self.learners)}, nor a place from 0 to "
            f"{len(self.learners) - 1}"
        )

    def difference(
        self, learner: str | int = 0, other: str | int | None = None
    ) -> "LossDifference":
        """Losses of one learner, or those of one minus those of another.

        Parameters
        ----------
        learner, other : str or int
            Names or places; `other` None means one learner alone.

        Returns
        -------
        LossDifference

        Raises
        ------
        ValueError
            If there is no such learner, or both are the same.
        """
        first = self.number_of(learner)
        second = None if other is None else self.number_of(other)
        if first == second:
            raise ValueError(
                f"learner and other are both {self.learners[first]!r}: name two different ones"
            )
        return LossDifference(self, first, second)

    @classmethod
    def from_arrays(
        cls,
        values: Any,
        learning: Any,
        testing: Any = None,
        *,
        learners: Sequence[str] | None = None,
        loss: str = "zero_one",
        y: Any = None,
        pos_label: Any = None,
        groups: Any = None,
    ) -> "Losses":
        """Losses that were computed elsewhere.

        Parameters
        ----------
        values : array, shape (L, R, n) or (R, n)
            Loss of each learner after each fit at each observation; entries of untested
            observations are ignored. Decision scores for ``loss="auc"``.
        learning, testing : array of 0/1, shape (R, n)
            Which observations were learnt from and which tested; by default all others are tested.
            A single row that learns from nothing is about rules that are fixed: see
            `from_predictions`.
        learners : sequence of str, optional
            By default "learner 1", "learner 2", ...
        loss : str
            A name that ucvtest knows ("zero_one", "squared", "absolute", "log"), "auc", or any
            other for a loss of your own.
        y : array-like, shape (n,), optional
            Labels of any type, or real values; two classes are needed for "auc".
        pos_label : optional
            The positive class; by default the largest label.
        groups : array-like, shape (n,), optional
            The cluster of each observation, the unit of resampling: labels of any type. Tests
            take it into account, or refuse the losses (their ``from_losses(group_weight=)``).

        Raises
        ------
        ValueError
            If shapes do not match, values that are tested are not finite or outside of the
            bounds of the loss, `y` is missing, or the design divides a group.

        Examples
        --------
        >>> import numpy as np
        >>> import ucvtest as uv
        >>> learning = np.kron(1 - np.eye(2, dtype=int), np.ones((1, 3), dtype=int))
        >>> values = np.array([[[1, 0, 0, 0, 0, 0]] * 2, [[1, 1, 1, 0, 0, 1]] * 2])
        >>> losses = uv.Losses.from_arrays(values, learning, learners=["lda", "knn"])
        >>> losses.means.round(3)
        array([[0.333, 0.   ],
               [1.   , 0.333]])

        Out-of-fold predictions, one for each observation, with the number of its fold:

        >>> y = np.array([0, 1, 0, 1, 0, 1])
        >>> fold = np.array([0, 0, 1, 1, 2, 2])
        >>> lda, knn = np.array([0, 1, 0, 1, 1, 1]), np.array([1, 1, 0, 0, 1, 1])
        >>> testing = fold == np.arange(3)[:, None]
        >>> errors = np.array([lda != y, knn != y])[:, None] * testing
        >>> losses = uv.Losses.from_arrays(errors, ~testing, testing, learners=["lda", "knn"])
        >>> losses.means
        array([[0. , 0. , 0.5],
               [0.5, 0.5, 0.5]])
        """
        fields = readers.of_arrays(
            *(values, learning, testing, learners, loss), y=y, pos_label=pos_label, groups=groups
        )
        return cls(**fields)

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        predictions: Mapping[str, Any],
        *,
        loss: Any = "zero_one",
        groups: Any = None,
        pos_label: Any = None,
    ) -> "Losses":
        """What fixed rules predicted for one test set, from which none of them has learnt.

        Tests about rules take them: `HoldOutTest` (the paired t test; for one error rate the exact
        binomial test), `McNemarTest` and `DeLongTest`. Their results are about these rules: n is
        the number of observations, and no fit is counted.

        Parameters
        ----------
        y : array-like, shape (n,), or str
            Labels of any type, or real values; None for ``loss="score"``. A string names a column
            of `predictions`.
        predictions : mapping, DataFrame or path
            Name of each rule and its n predictions, as the loss needs them: labels for "zero_one",
            a matrix and functions of labels; numbers for "squared" and "absolute"; probabilities
            of the positive class for "log" and "brier"; decision scores or probabilities for
            "auc". Of more than two classes "log" and "brier" take (n, C), with columns in the
            order of the sorted labels, and "auc" is that of `pos_label` against the rest. A path
            is that of a CSV or parquet file with a column for each rule.
        loss : str, callable, Loss or matrix
            As for the tests, and "score" for a score of each observation, of which higher is
            better, as from evaluations of language models.
        groups : array-like, shape (n,), optional
            The cluster of each observation, the unit of resampling: labels of any type. Tests
            take it into account, or refuse the losses (their ``from_losses(group_weight=)``).
        pos_label : optional
            The positive class; by default the largest label.

        Raises
        ------
        ValueError
            If lengths or indices do not match, predictions are missing, or none that the loss can
            score.

        Notes
        -----
        "squared" and "absolute" take whole numbers in `y` as they are, unless `pos_label` is
        given: then, and for labels that are strings, the positive class counts as 1 and the other
        as 0, so that "squared" is the Brier score of probabilities.

        Examples
        --------
        >>> import ucvtest as uv
        >>> y = ["ill", "ill", "well", "ill", "well", "well", "ill", "well"]
        >>> a = ["ill", "ill", "well", "ill", "well", "ill", "ill", "well"]
        >>> b = ["ill", "well", "well", "well", "ill", "well", "well", "well"]
        >>> losses = uv.Losses.from_predictions(y, {"a": a, "b": b})
        >>> result = uv.McNemarTest.from_losses(losses).fit()
        >>> result.estimand, result.n_obs, result.n_fits
        ('difference of the error rates of these rules', 8, 0)
        >>> round(result.pvalue, 3)
        0.375
        """
        fields = predicted.of_predictions(y, predictions, loss, groups=groups, pos_label=pos_label)
        return cls(**fields)

    @classmethod
    def from_mlflow(
        cls,
        run_id: str | Mapping[str, str],
        *,
        predictions: str | Sequence[str],
        table: str = "eval_results_table.json",
        y: str = "target",
        loss: Any = "zero_one",
        groups: Any = None,
        pos_label: Any = None,
    ) -> "Losses":
        """What fixed rules predicted, from evaluation tables of MLflow's runs.

        Parameters
        ----------
        run_id : str or mapping
            A run, whose table has a column for each rule; or name of each rule and the run that
            evaluated it, all on the same rows in the same order.
        predictions : str or sequence of str
            The columns with predictions; of several runs the one that all have.
        table : str
            File of the table, as `mlflow.log_table` and `mlflow.models.evaluate` write it.
        y : str
            The column with what was to be predicted.
        loss, groups, pos_label : optional
            See `from_predictions`; groups may name a column.

        Raises
        ------
        ImportError
            If MLflow is not installed.
        ValueError
            If a column lacks, runs were evaluated on different rows, or see `from_predictions`.
        """
        found, rules, groups = tracked.of_runs(run_id, table, y, predictions, groups)
        return cls.from_predictions(found, rules, loss=loss, groups=groups, pos_label=pos_label)

    @classmethod
    def from_sklearn(
        cls,
        results: Mapping[str, Mapping[str, Any]],
        n_obs: int,
        *,
        score: str,
        test_score: str | None = None,
    ) -> "Losses":
        """The mean losses in what scikit-learn's ``cross_validate`` returned.

        They suffice for the tests that need no more than the mean of each resample.

        Parameters
        ----------
        results : mapping
            Name of each learner and what ``cross_validate(..., return_indices=True)`` returned
            for it, with the same splits for all.
        n_obs : int
            Observations in the data.
        score : {"accuracy", "neg_brier_score", "neg_log_loss", "neg_mean_absolute_error", \
"neg_mean_squared_error", "roc_auc"}
            What was scored.
        test_score : str, optional
            The key of the scores, by default "test_score" or "test_" and the score's name.

        Raises
        ------
        ValueError
            If indices lack or differ between learners, the score is none of these, or a score
            is NaN or impossible for it.

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
        >>> uv.Losses.from_sklearn(results, 150, score="accuracy").means.shape
        (2, 10)
        """
        return cls(**readers.of_sklearn(results, n_obs, score, test_score))

    @classmethod
    def from_scores(
        cls,
        fold_scores: Mapping[str, Any],
        *,
        n_learn: int,
        n_test: int,
        design: str = "kfold",
        n_folds: int | None = None,
        greater_is_better: bool = True,
    ) -> "Losses":
        """The scores of resamples alone, such as those that ``cross_val_score`` returned.

        They suffice for the tests that need no more than a number for each resample: corrected,
        naive and Bayesian t test, and those of 5x2 cross-validation where the design is that.
        Estimates stay in the units of the scores, with their sign; `greater_is_better` decides
        what verdicts say, and no number.

        Parameters
        ----------
        fold_scores : mapping or DataFrame
            Name of each learner and its scores, in the order of the splits, which must be the same
            for all; of repeated cross-validation one repetition after the other.
        n_learn, n_test : int
            Observations that a split learns from and tests, to within one.
        design : {"kfold", "repeated_kfold", "splits"}
            What the splits are; "splits" are random ones of the whole sample.
        n_folds : int, optional
            Needed for "repeated_kfold".
        greater_is_better : bool
            Whether a good learner has high scores; False for errors and losses.

        Raises
        ------
        ValueError
            If learners have different numbers of scores, a score is missing, or sizes and numbers
            of folds do not fit.

        Notes
        -----
        Which observations were tested is not known, and `design` has their numbers alone. Where
        the indices are known, `from_sklearn` takes these too.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        >>> from sklearn.model_selection import KFold, cross_val_score
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> import ucvtest as uv
        >>> X, y = load_iris(return_X_y=True)
        >>> folds = KFold(10, shuffle=True, random_state=0)
        >>> models = {"lda": LinearDiscriminantAnalysis(), "knn": KNeighborsClassifier()}
        >>> scores = {name: cross_val_score(each, X, y, cv=folds) for name, each in models.items()}
        >>> losses = uv.Losses.from_scores(scores, n_learn=135, n_test=15)
        >>> uv.CorrectedTTest.from_losses(losses).fit().estimand
        'difference of unconditional expected scores at learning-set size 135'
        """
        fields = scores.of_scores(
            *(fold_scores, n_learn, n_test, design, n_folds, greater_is_better)
        )
        return cls(**fields)

    def to_dict(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts: 0/1 matrices as lists of row numbers."""
        return files.to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], *, max_bytes: int = files.MAX_BYTES) -> "Losses":
        """The losses that `to_dict` was called on.

        Parameters
        ----------
        data : mapping
        max_bytes : int
            Refuse a design that would take more memory; 1 GiB by default.

        Raises
        ------
        ValueError
            If `data` was not written by `to_dict`, or by a newer version of it, or is too large.
        """
        return cls(**files.fields_of(data, max_bytes))

    def save(self, path: str | Path) -> None:
        """Write to a file that `load` reads: .npz, or .json.

        Nothing in it is pickled, so a file from elsewhere can be read without risk.

        Raises
        ------
        ValueError
            If the name ends otherwise.
        """
        files.write(self, path)

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int = files.MAX_BYTES) -> "Losses":
        """Read what `save` wrote.

        Parameters
        ----------
        path : path
        max_bytes : int
            Refuse arrays that take more than this together, before any of them is read: a small
            file can hold large ones. 1 GiB by default; JSON counts eight times the size of the
            file, which is what its numbers take in memory.

        Raises
        ------
        ValueError
            If the file holds something else, is damaged, too large, or was written by a newer
            version.
        """
        return cls(**files.read(path, max_bytes))


@dataclass(frozen=True, eq=False)
class LossDifference:
    """Losses of one learner, or paired differences of two, on the resamples of a design."""

    losses: Losses
    learner: int
    other: int | None

    @property
    def design(self) -> Design:
        """Learning and test sets."""
        return self.losses.design

    @property
    def paired(self) -> bool:
        """Whether there are two learners."""
        return self.other is not None

    @property
    def n_fits(self) -> int:
        """Model fits behind these losses."""
        return (2 if self.paired else 1) * self.design.n_resamples * self.design.learns

    @property
    def diagnostics(self) -> dict[str, int]:
        """Learning sets with one class, and ties, of these learners together."""
        total: Counter[str] = Counter()
        for place in (self.learner, self.other):
            if place is not None:
                total.update(self.losses.diagnostics.get(self.losses.learners[place], {}))
        return dict(total)

    @property
    def means(self) -> np.ndarray:
        """Mean loss (difference), or AUC (difference), of every resample, (R,)."""
        return self._of(self.losses.means)

    @property
    def values(self) -> np.ndarray:
        """Losses or differences of all tested observations, resample by resample, (T,)."""
        if self.losses.loss == AUC:
            raise ValueError(SCORES_ONLY)
        return self._of(self.losses.known_values)

    @property
    def each(self) -> dict[str, np.ndarray]:
        """Losses (scores) of the learner, and of the other where there is one, (T,), by name."""
        places = (self.learner,) if self.other is None else (self.learner, self.other)
        return {self.losses.learners[place]: self.losses.known_values[place] for place in places}

    @property
    def tested_target(self) -> np.ndarray:
        """Labels 0, 1, ..., or the real response, of all tested observations, (T,)."""
        if self.losses.target is None:
            raise ValueError("these losses came without y: pass it to Losses.from_arrays")
        return np.broadcast_to(self.losses.target, self.design.testing.shape)[self.design.testing]

    @property
    def table(self) -> np.ndarray:
        """The same as (R, n), NaN where not tested."""
        return _spread(self.values, self.design)

    @property
    def identical(self) -> bool:
        """Whether two learners had the same losses throughout."""
        if not self.paired:
            return False
        known = self.losses.means if self.losses.values is None else self.losses.values
        return bool((known[self.learner] == known[self.other]).all())

    def _of(self, values: np.ndarray) -> np.ndarray:
        if self.other is None:
            return values[self.learner]
        return values[self.learner] - values[self.other]


def _spread(values: np.ndarray, design: Design) -> np.ndarray:
    table = np.full(design.testing.shape, np.nan)
    table[design.testing] = values
    return table


def _fixed(array: Any) -> np.ndarray:
    """An array that nobody can change: itself, or a copy."""
    found = np.asarray(array)
    if found.flags.writeable or not found.flags.owndata:
        found = np.array(found)
        found.flags.writeable = False
    return found


def _view(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def _restored(values: Mapping[str, Any]) -> Losses:
    return Losses(**values)
