"""Lasso and elastic-net logistic regression, many learning sets at once."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any, ClassVar

import numpy as np

from ucvtest.common.checks import is_integer, is_number
from ucvtest.common.float64 import to_device
from ucvtest.common.words import excerpt
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Scale, short_name
from ucvtest.learners.batching import padded_rows, power_of_two
from ucvtest.learners.jitted.lasso_fits import (
    CompiledLassoFits,
    LassoData,
    LassoFits,
    tolerances,
    widened,
    working_set_sizes,
)
from ucvtest.learners.jitted.penalties import PenaltyScale, check_scale

MOST_SCORES = 2**22
"""Scores of one call: 32 MB."""


def lasso(
    lam: float,
    standardize: bool = True,
    scale: PenaltyScale = "mean",
    *,
    max_iter: int = 200,
    compiled: bool | None = None,
) -> "PenalizedLogistic":
    r"""Logistic regression with a lasso penalty, as R's glmnet fits it at one lambda.

    Parameters
    ----------
    lam : float
        Weight of the penalty, glmnet's lambda.
    standardize : bool
        Whether the features are standardised inside each learning set (standard deviation
        with divisor g), as in glmnet.
    scale : {"mean", "sum"}
        Minimise the mean negative log-likelihood + ``lam |b|_1``, or its sum + ``lam |b|_1``.
    max_iter : int
        Newton steps that one fit may take; a fit that needs more has no solution, which the
        evaluation reports as an error.
    compiled : bool, optional
        Whether loops compiled by Numba (``pip install ucvtest[fast]``) do the fits, as they do
        by default where Numba is installed. The result is the same.

    Returns
    -------
    PenalizedLogistic

    Raises
    ------
    ValueError
        If an argument is out of range, or `compiled` is True without Numba.

    Notes
    -----
    ``lasso(lam)`` is R's glmnet at one lambda; ``lasso(1 / C, standardize=False, scale="sum")``
    is scikit-learn's ``LogisticRegression(C=C, l1_ratio=1, solver="saga")``, fitted to the end.
    The intercept is not penalised; a column that is constant in a learning set gets no
    coefficient. Constant means a standard deviation below 1e-6 of the column's distance from
    its median over all observations. Every fit is iterated until no optimality
    (Karush-Kuhn-Tucker) condition of any feature is violated by more than 1e-9.

    Where the null model is optimal the score is log(n1/n0) exactly, zero for a balanced
    learning set: such a tie is predicted as the first class, as glmnet does, and counted.
    Equal columns share a minimum; its fitted values are unique inside the learning set.
    The working sets start at 24 features and grow as needed.

    References
    ----------
    Friedman, Hastie and Tibshirani (2010), Regularization paths for generalized linear models
    via coordinate descent, Journal of Statistical Software 33(1), equation (14).

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.lasso(0.08).name
    'lasso:0.08'
    """
    return PenalizedLogistic(lam, 1.0, max_iter, standardize, scale, compiled)


def elastic_net(
    lam: float,
    l1_ratio: float,
    standardize: bool = True,
    scale: PenaltyScale = "mean",
    *,
    max_iter: int = 200,
    compiled: bool | None = None,
) -> "PenalizedLogistic":
    r"""Logistic regression with an elastic-net penalty, as R's glmnet fits it at one lambda.

    Parameters
    ----------
    lam : float
        Weight of the penalty, glmnet's lambda.
    l1_ratio : float
        Share of the absolute values in the penalty, above 0 and at most 1; glmnet's alpha.
    standardize, scale, max_iter, compiled
        As in `lasso`.

    Returns
    -------
    PenalizedLogistic

    Raises
    ------
    ValueError
        If an argument is out of range, or `compiled` is True without Numba.

    Notes
    -----
    As `lasso`, with the penalty ``lam * (l1_ratio * |b|_1 + (1 - l1_ratio)/2 * |b|_2^2)``.
    Small shares lead to supports of hundreds of features, which cost accordingly.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.learners.elastic_net(0.1, 0.5).name
    'elastic_net:0.1,0.5'
    """
    return PenalizedLogistic(lam, l1_ratio, max_iter, standardize, scale, compiled)


@dataclass(frozen=True)
class PenalizedLogistic(JittedLearner):
    """Logistic regression with an elastic-net penalty; made by `lasso` and `elastic_net`."""

    lam: float
    l1_ratio: float = 1.0
    max_iter: int = 200
    standardize: bool = True
    penalty_scale: PenaltyScale = "mean"
    compiled: bool | None = field(default=None, compare=False)

    scale: ClassVar[Scale] = "log_odds"
    batch_rows: ClassVar[int] = 2048
    no_solution: ClassVar[str] = (
        "its optimality conditions were not met within max_iter Newton steps: "
        "raise lam, or raise max_iter"
    )

    def __post_init__(self) -> None:
        if not (is_number(self.lam) and self.lam > 0):
            raise ValueError(
                f"lam must be a positive number, got {excerpt(self.lam)}: "
                "use 'logistic:0' for a fit without penalty"
            )
        if not (is_number(self.l1_ratio) and 0 < self.l1_ratio <= 1):
            raise ValueError(
                f"l1_ratio must be above 0 and at most 1, got {self.l1_ratio!r}: "
                "use 'logistic:lam' for a ridge penalty alone"
            )
        if not is_integer(self.max_iter) or self.max_iter < 1:
            raise ValueError(
                f"max_iter must be a positive integer, got {excerpt(self.max_iter)}: "
                "200 is the default"
            )
        check_scale(self.penalty_scale)
        if self.compiled and not _numba_is_installed():
            raise ValueError(
                "compiled learners need Numba: pip install 'ucvtest[fast]', or leave compiled out"
            )

    @property
    def name(self) -> str:
        """``lasso:LAM`` or ``elastic_net:LAM,L1_RATIO``, and what differs from the defaults."""
        options = {"standardize": (self.standardize, True), "scale": (self.penalty_scale, "mean")}
        if self.l1_ratio == 1:
            return short_name("lasso", [self.lam], options)
        return short_name("elastic_net", [self.lam, self.l1_ratio], options)

    def rows_per_call(self, sample: Sample) -> int:
        """Fewer for many observations, so that the scores of one call need little memory."""
        return power_of_two(min(self.batch_rows, MOST_SCORES // sample.n_obs))

    def prepare(self, sample: Sample) -> LassoData:
        """Centre and scale the columns by median and mean absolute deviation.

        A column that is almost constant but for a few outliers thus keeps its digits in the
        learning sets without them.
        """
        centre = np.median(sample.matrix, axis=0)
        spread = np.abs(sample.matrix - centre).mean(axis=0)
        spread = np.where(spread > 0, spread, 1.0)
        matrix = np.ascontiguousarray((sample.matrix - centre) / spread)
        # Of equal columns a lasso needs one; with a penalty on squares they share their effect.
        distinct = _distinct(matrix) if self.l1_ratio == 1 else np.ones(len(centre), dtype=bool)
        features, response = padded_rows(matrix), padded_rows(sample.target)
        features, squares, response = to_device((features, features**2, response))
        wide: list[Any] = [
            to_device(widened(sample_array)) for sample_array in (matrix, sample.target)
        ]
        return LassoData(
            *(matrix, distinct, features, squares, response),
            wide_features=wide[0],
            wide_response=wide[1],
            target=sample.target,
            centre=centre,
            spread=spread,
        )

    def scores(
        self, state: LassoData, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Log-odds; NaN where a fit did not converge."""
        if labels is not None:
            learning = np.broadcast_to(learning, labels.shape)
        null, uncertain = self._null_models(state, learning, labels)
        scores = np.repeat(null[:, None], learning.shape[1], axis=1)
        # A learning set that occurs twice, as in a padded call, is fitted once.
        packed = np.packbits(learning[uncertain], axis=1)
        if labels is not None:
            packed = np.hstack([packed, np.packbits(labels[uncertain] == 1, axis=1)])
        _, first, copy = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        fit_rows = uncertain[first]
        fitted_log_odds = np.empty((len(fit_rows), learning.shape[1]))
        chosen_labels = None if labels is None else labels[fit_rows]
        for rows, fits in self._fit(state, learning[fit_rows], chosen_labels, null[fit_rows]):
            fitted_log_odds[rows] = fits.log_odds
        scores[uncertain] = fitted_log_odds[copy.ravel()]
        return scores

    def coefficients(self, state: LassoData, learning: np.ndarray) -> np.ndarray:
        """Intercept and coefficients (R, 1 + p) in the features' units, NaN without convergence.

        Each learning set contains both classes.
        """
        null, uncertain = self._null_models(state, learning, None)
        scaled = np.zeros((len(learning), 1 + len(state.centre)))
        scaled[:, 0] = null
        for rows, fits in self._fit(state, learning[uncertain], None, null[uncertain]):
            scaled[uncertain[rows]] = fits.by_feature()
        slopes = scaled[:, 1:] / state.spread
        return np.column_stack([scaled[:, 0] - slopes @ state.centre, slopes])

    def _null_models(
        self, data: LassoData, learning: np.ndarray, labels: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Log-odds of the null models (R,), and the rows where they may not be optimal.

        By Cauchy's inequality no standardised feature has a covariance with the response above
        the response's standard deviation: where the penalty is larger, no product is needed.
        Features in their own units have no such bound.
        """
        size = learning.sum(axis=1)
        positive = learning @ data.target if labels is None else (learning * labels).sum(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            null = np.log(positive / (size - positive))
            deviation = np.sqrt(positive / size * (1.0 - positive / size))
        bound = self.penalties(size)[0] if self.standardize else 0.0
        return null, np.flatnonzero(deviation > bound)

    def path_scores(
        self, state: LassoData, learning: np.ndarray, members: Sequence["PenalizedLogistic"]
    ) -> np.ndarray:
        """Log-odds (L, R, n) of learners that differ in `lam` alone, each fit from the one before.

        Fits that the compiled form leaves open are done by the learner itself.
        """
        from ucvtest.learners.solvers.compiled_logistic import fit

        size = learning.sum(axis=1)
        positive = learning @ state.target
        single = (positive == 0) | (positive == size)
        rows, order = (
            np.flatnonzero(~single),
            np.argsort([-member_lasso.lam for member_lasso in members]),
        )
        penalties = [members[member_index].penalties(size[rows]) for member_index in order]
        l1, l2 = (np.stack(penalty_rows) for penalty_rows in zip(*penalties, strict=True))
        path_log_odds = np.zeros((len(members), *learning.shape))
        path_fits = fit(
            *(state.matrix, state.distinct, state.target.astype(float)[None]),
            *(np.ascontiguousarray(learning[rows]), state.spread, l1, l2, tolerances(l1)),
            *(self.standardize, self.max_iter),
        )
        path_log_odds[np.ix_(order, rows)] = path_fits.log_odds
        for scores, member in zip(path_log_odds, members, strict=True):
            unconverged = np.flatnonzero(np.isnan(scores[:, 0]))
            if len(unconverged):
                scores[unconverged] = member.scores(state, learning[unconverged])
        return path_log_odds

    @property
    def is_compiled(self) -> bool:
        """Whether Numba's loops do the fits."""
        return _numba_is_installed() if self.compiled is None else self.compiled

    def penalties(self, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Weights of absolute values and half squares relative to the mean loss, (R,) each."""
        lam = self.lam / (size if self.penalty_scale == "sum" else np.ones(len(size)))
        return lam * self.l1_ratio, lam * (1.0 - self.l1_ratio)

    def _fit(
        self, data: LassoData, learning: np.ndarray, labels: np.ndarray | None, null: np.ndarray
    ) -> Iterator[tuple[np.ndarray, "LassoFits | CompiledLassoFits"]]:
        """Fit with larger and larger working sets; of two fits for one row the later one counts."""
        rows = np.arange(len(learning))
        l1, l2 = self.penalties(learning.sum(axis=1))
        if len(rows) and self.is_compiled:
            easy = CompiledLassoFits(
                *(data, learning, labels, (l1, l2)),
                standardize=self.standardize,
                max_iter=self.max_iter,
            )
            yield rows, easy
            rows = np.flatnonzero(np.isnan(easy.log_odds[:, 0]))
        if not len(rows):
            return
        fits = LassoFits(
            *(data, learning[rows], None if labels is None else labels[rows]),
            *(null[rows, None], (l1[rows], l2[rows])),
            standardize=self.standardize,
        )
        for size in working_set_sizes(data.features.shape[1]):
            outgrown = fits.run(size, self.max_iter)
            yield rows, fits
            if not len(outgrown):
                return
            rows, fits = rows[outgrown], fits.subset(outgrown)


def _numba_is_installed() -> bool:
    return find_spec("numba") is not None


def _distinct(matrix: np.ndarray) -> np.ndarray:
    """The first one of each group of columns that are equal but for their sign, (p,)."""
    first = np.take_along_axis(matrix, (matrix != 0).argmax(axis=0)[None], axis=0)
    # Adding zero turns -0.0 into 0.0.
    columns = np.ascontiguousarray((matrix * np.sign(first) + 0.0).T)
    column_bytes = columns.view(np.dtype((np.void, columns.itemsize * columns.shape[1]))).ravel()
    distinct = np.zeros(len(column_bytes), dtype=bool)
    distinct[np.unique(column_bytes, return_index=True)[1]] = True
    return distinct
