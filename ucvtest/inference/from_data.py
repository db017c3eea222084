"""How tests are made from data: the arguments of the constructor, their help, and formulas."""

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

from ucvtest.common.words import arg
from ucvtest.data.formula import columns_named, read_formula
from ucvtest.data.output import Output
from ucvtest.inference.arguments import Ask, documented, spelled_out
from ucvtest.inference.needs import Needs, Traits, refuse
from ucvtest.inference.question import DataQuestion, by_name, hypothesis_of
from ucvtest.metrics.names import as_metric
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.stats.wald import Alternative

if TYPE_CHECKING:
    import pandas as pd


class FromData:
    """A test about one learner, or about the difference of two, on one sample.

    Parameters
    ----------
    X : array, DataFrame or sparse matrix, shape (n, p), or texts, shape (n,)
        Features. Texts and sparse matrices are for scikit-learn estimators and functions.
    y : array-like, shape (n,)
        Labels of any type, or real values for regression losses.
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "knn:3", or a callable ``(X_train, y_train, X_test) -> predictions``; with a name of its
        own as ``{"name": learner}``.
    other : learner, optional
        The learner to compare with, on the same learning and test sets; estimates are `learner`
        minus `other`.
    null_value : float, optional
        Value of the estimand under H0; 0 for two learners, none for one.
    alternative : {"two-sided", "less", "greater"}
        H1: the estimand differs from, is below, or is above `null_value`. That the first learner
        is the better one is "less" for losses, and "greater" where higher is better: for the AUC,
        most metrics and with `scoring`.
    loss : str, callable, Loss or matrix, optional
        By default zero_one for classes and squared error for a real response. Whole numbers are
        amounts if the loss scores numbers, or if there is no loss and a learner is a regressor.
        Otherwise they are classes, at most 20. A matrix has
        ``loss[true, predicted]`` of the classes in ascending order, `pos_label` last; a DataFrame
        may name its rows and columns by the classes instead.
    output : {"label", "number", "probability", "score"}, optional
        What learners must predict for a test without a loss, such as one of the AUC.
    pos_label : optional
        The positive class; by default the largest label. Functions as learners return scores and
        probabilities of this class: for them it must be named unless the labels are 0 and 1, False
        and True, or -1 and 1. Scorers such as "f1" use scikit-learn's own, the class 1, unless it
        is named.
    groups : array-like, shape (n,), optional
        The cluster of each observation, such as the patient of each row: labels of any type.
        Clusters are then the observations: learning and test sets contain whole ones, sizes of
        learning sets and degrees of freedom count them, and the answer is about new clusters.
    group_weight : {"group", "row"}
        "group": the loss of a cluster is the mean over its rows, so that every cluster counts the
        same. "row": every row counts the same; the loss is a ratio of means over clusters.
    backend : {"auto", "jax", "sklearn"}
        What fits scikit-learn estimators. "auto" uses the jitted learner with the same predictions
        if one exists; "jax" requires it; "sklearn" never uses it. Logistic regression that
        scikit-learn stops early is fitted to convergence, with a note.
    scoring : str or scorer, optional
        scikit-learn's name of a score, or a scorer, instead of `loss`. All results and hypotheses
        are in the score's own units and with its sign; greater is better. Scores that are means
        over observations ("accuracy", "neg_log_loss", ...) are computed as losses, so that
        p-values are those of the loss. Others, such as "f1" or "r2", give one number for each test
        set, for the tests that need no more.
    missing : {"raise", "drop"}
        "raise" refuses missing values that a learner cannot use. "drop" leaves out observations
        with missing values, with a note.
    weights : array-like, shape (n,), str or mapping, optional
        How much each row counts, in fitting and in the loss; a string names a column of X. A
        mapping of "fit", "loss" or both weights these alone. In fitting they are scikit-learn's
        `sample_weight`, which jitted learners do not take. In the loss the estimate is the
        weighted mean, a ratio, and the variance that of its linearised values. For
        `UStatisticTest`, `CrossValidationWaldTest`, `HoldOutTest` and the t tests of folds; other
        tests refuse it.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.
    """

    needs: ClassVar[Needs]
    """What it needs of a question, declared once; all else reads it here."""

    r_function: ClassVar[str]
    _ask: Any

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "method_name" in vars(cls) and "r_function" not in vars(cls):
            cls.r_function = f"{vars(cls)['method_name']}_test"
        base: Any = cls.__base__
        for name in {"__init__", "fit", "from_losses"} & set(vars(cls)):
            own = vars(cls)[name]
            function = spelled_out(own.__func__ if isinstance(own, classmethod) else own)
            if hasattr(base, name):
                described = documented(function.__doc__, getattr(base, name).__doc__, function)
                function.__doc__ = described
            setattr(cls, name, classmethod(function) if isinstance(own, classmethod) else function)
        cls.__doc__ = documented(cls.__doc__, base.__doc__, cls.__init__)

    @spelled_out
    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        output: Output | None = None,
        weights: Any = None,
        **ask: Unpack[Ask],
    ) -> None:
        self._ask(self.question_of(X, y, learner, other, output=output, weights=weights, **ask))

    @classmethod
    def question_of(
        cls,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        loss: Any = None,
        scoring: Any = None,
        metric: Any = None,
        weights: Any = None,
        **data: Any,
    ) -> DataQuestion:
        """Validate the part common to all tests: the arguments of the class, but for its own."""
        loss = chosen_loss(loss, scoring, metric, weights)
        loss = cls.needs.only_loss if loss is None else loss
        paired = other is not None
        refuse(cls.needs, Traits(metric=loss, scoring=scoring, paired=paired), cls.__name__)
        auc = as_metric(loss, has_classes=True).ranks_pairs
        null_of_one = cls.needs.null_of_auc if auc else math.nan
        hypothesis = hypothesis_of(null_value, alternative, paired=paired, null_of_one=null_of_one)
        learners = by_name(learner, other)
        return DataQuestion.of(
            *(X, y, learners), hypothesis=hypothesis, loss=loss, weights=weights, **data
        )

    @classmethod
    def from_formula(
        cls, formula: str, data: "pd.DataFrame", learner: Any, other: Any = None, **kwargs: Any
    ) -> Self:
        """Create the test from a formula and a data frame, as in statsmodels.

        Parameters
        ----------
        formula : str
            For example ``"tumour ~ age + log(size)"``, or ``"tumour ~ ."`` for all other columns;
            read by formulaic. Columns, numbers, arithmetic and the functions log, exp, sqrt, abs,
            C, I, Q, scale, center, poly, bs and cs are allowed, and no other code. The intercept
            is left out, because learners have their own; a factor has one column less than it
            has levels. The response is a column, or one numeric expression.
        data : DataFrame
        learner, other : learner
        **kwargs
            The keyword arguments of the class; `groups` and `weights` may name columns of `data`.

        Returns
        -------
        HypothesisTest
            An instance of the class it was called on.

        Raises
        ------
        ValueError
            If the formula cannot be read, names columns that do not exist, contains other code, or
            uses missing values.
        """
        if kwargs.get("missing", "raise") != "raise":
            raise ValueError(
                f"{arg('missing', 'drop')} does not apply with a formula, which refuses missing "
                "values in the columns that it names: pass data.dropna(subset=[...])"
            )
        named = columns_named(kwargs, data)
        y, X = read_formula(formula, data, named.values())
        kwargs |= {name: data[column] for name, column in named.items()}
        # Some tests know one learner only.
        test: Any = cls
        return test(X, y, *((learner,) if other is None else (learner, other)), **kwargs)
