"""The constructors of `Losses`: arrays, predictions, scores, runs, scikit-learn's results."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from ucvtest.losses import from_arrays, from_mlflow, from_predictions, from_scores

__all__ = ["LossesConstructors"]


class LossesConstructors:
    """The class methods by which `Losses` are made of what people have."""

    if TYPE_CHECKING:

        def __init__(self, **fields: Any) -> None: ...

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
    ) -> Self:
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
        fields = from_arrays.of_arrays(
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
        sample_weight: Any = None,
    ) -> Self:
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
        sample_weight : array-like, shape (n,), or str, optional
            What each observation counts, for means: `HoldOutTest` then is about the weighted mean,
            a ratio, whose standard error is that of weighted least squares (HC1). Not for the AUC
            and McNemar's counts, nor with groups.

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
        fields = from_predictions.of_predictions(
            *(y, predictions, loss),
            groups=groups,
            pos_label=pos_label,
            sample_weight=sample_weight,
        )
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
    ) -> Self:
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
        found, rules, groups = from_mlflow.of_runs(run_id, table, y, predictions, groups)
        return cls.from_predictions(found, rules, loss=loss, groups=groups, pos_label=pos_label)

    @classmethod
    def from_sklearn(
        cls,
        results: Mapping[str, Mapping[str, Any]],
        n_obs: int,
        *,
        score: str,
        test_score: str | None = None,
    ) -> Self:
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
            The key of the scores, by default "test_score" or "test" with the name of the score.

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
        return cls(**from_arrays.of_sklearn(results, n_obs, score, test_score))

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
    ) -> Self:
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
        fields = from_scores.of_scores(
            *(fold_scores, n_learn, n_test, design, n_folds, greater_is_better)
        )
        return cls(**fields)
