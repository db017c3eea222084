"""The Diebold-Mariano test of two forecasts, whose losses come in the order of time."""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

import numpy as np

from ucvtest.common.checks import AtLeast
from ucvtest.common.words import arg, call, term
from ucvtest.data.sample import DATES
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import HoldOut
from ucvtest.inference.answer import Answer
from ucvtest.inference.base import fit_by
from ucvtest.inference.needs import Needs, blocks
from ucvtest.inference.options import FitOptions
from ucvtest.inference.question import Question
from ucvtest.inference.status import ROUNDING
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.fixed_rules import of_these_rules
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.stats.influence import Influence

VarianceName = Literal["acf", "bartlett"]


@dataclass(frozen=True)
class Options(FitOptions):
    """The options of `fit`."""

    horizon: Annotated[int, AtLeast(1)] = 1
    _: KW_ONLY
    variance: VarianceName = "acf"


class DieboldMarianoTest(ResamplingTest):
    r"""The Diebold-Mariano test of two forecasts, for losses in the order of time.

    Estimand: the difference of the expected losses of two forecasts of a series, on later
    observations of the same series. H0: it equals `null_value`. With differences of losses
    :math:`d_1, \ldots, d_n` in the order of time, their autocovariances :math:`\gamma_k` (divisor
    n) and the horizon h the variance of their mean is

    .. math:: \hat v = \frac1n \Bigl(\gamma_0 + 2 \sum_{k=1}^{h-1} w_k \gamma_k\Bigr),

    with :math:`w_k = 1`, or :math:`1 - k/h` for Bartlett's weights. The statistic of Harvey,
    Leybourne and Newbold is :math:`\bar d/\sqrt{\hat v}` times
    :math:`\sqrt{(n + 1 - 2h + h(h-1)/n)/n}`, and Student's t has n - 1 degrees of freedom.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
        Rows in the order of time.
    learner, other : learner
        Two learners; the estimate is `learner` minus `other`.
    design : uv.designs object or scikit-learn splitter, optional
        Splits that learn from rows before those that they test, such as scikit-learn's
        TimeSeriesSplit; by default the last third of the rows is tested.
    groups, group_weight, metric, weights
        Refused: the test is about a mean of losses in time.

    Raises
    ------
    ValueError
        If rows are learnt from that come after those tested, if dates of rows (a DatetimeIndex or
        PeriodIndex) are not the steps of one series in its order, or an argument cannot be used;
        always before the first fit.

    Notes
    -----
    The test assumes that the differences of losses are stationary, and that errors more than h - 1
    steps apart are uncorrelated, as for good forecasts h steps ahead. With longer dependence it
    rejects too often, and so it does in short series: in a simulation of equally good forecasts 4
    steps ahead, a nominal 5% test rejected 10% at n = 20, 9% at 30 and 8% at 40. With blocks of
    successive rows as groups, each longer than h, `HoldOutTest` rejected 4 to 7%. There is no
    answer if h is more than a third of n, or if the variance is negative, which it can be with
    :math:`w_k = 1`; R's ``forecast::dm.test`` then takes the variance for h = 1. All other numbers
    equal those of that function (``power = 2`` for squared losses, 1 for absolute ones). Splits
    with growing learning sets compare ways of forecasting, as Giacomini and White discuss; fixed
    rules are compared as they are. Cost: one fit of each learner for each split, or none.

    References
    ----------
    F. Diebold, R. Mariano (1995), Comparing predictive accuracy, Journal of Business & Economic
    Statistics 13. D. Harvey, S. Leybourne, P. Newbold (1997), Testing the equality of prediction
    mean squared errors, International Journal of Forecasting 13. R. Giacomini, H. White (2006),
    Tests of conditional predictive ability, Econometrica 74.

    Examples
    --------
    >>> import numpy as np
    >>> import ucvtest as uv
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=60).cumsum()
    >>> forecasts = {"last": np.r_[0.0, y[:-1]], "mean": np.full(60, y.mean())}
    >>> losses = uv.Losses.from_predictions(y, forecasts, loss="squared")
    >>> result = uv.DieboldMarianoTest.from_losses(losses, "last", "mean").fit(horizon=1)
    >>> result.estimand
    'difference in mean squared error of these rules'
    """

    method_name = "diebold_mariano"
    in_short = "last third of a series, variance of losses in time"
    r_function = "diebold_mariano_test"
    needs = Needs(
        designs="fixed rules, or splits that learn from rows before those that they test",
        learners="two",
        fixed=True,
        time=True,
    )
    default_design = HoldOut(1 / 3, shuffle=False)

    def _ask(self, question: Question, design: object = None, cv: object = None) -> None:
        sample, observed = question.sample, question.observed
        dates = "" if sample is None else sample.fault_of_dates
        if observed is not None:
            dates = observed.losses.settings.get(DATES, "")
        if dates:
            raise ValueError(
                f"rows {dates}, but this test is about losses one step apart in time: pass one "
                "series in the order of time (.sort_index()), or arrays (.to_numpy()) if rows are "
                "consecutive steps, such as trading days"
            )
        super()._ask(question, design, cv)

    def _check_design(self, design: Design) -> None:
        tested = np.concatenate([np.flatnonzero(row) for row in design.testing])
        if (np.diff(tested) <= 0).any():
            raise ValueError(
                "design tests rows out of order, or more than once, but this test is about losses "
                "in the order of time: put rows into that order and use "
                f"{term('TimeSeriesSplit')}; {blocks()}"
            )
        for learning, testing in zip(design.learning, design.testing, strict=True):
            if learning.any() and np.flatnonzero(learning)[-1] > np.flatnonzero(testing)[0]:
                raise ValueError(
                    "design learns from rows after the tested ones, but this test is about "
                    f"forecasts: use {term('TimeSeriesSplit')}, or "
                    f"{call('designs.HoldOut', arg('shuffle', False))}"
                )
        if len(tested) < 3:
            raise ValueError(f"design tests {len(tested)} rows, but three are needed: test more")

    @fit_by(Options)
    def fit(self) -> None:
        """Evaluate the learners where losses are not given, and test.

        Parameters
        ----------
        horizon : int
            How many steps ahead the forecasts are, h: losses fewer steps apart may be correlated.
        variance : {"acf", "bartlett"}
            Weights of the autocovariances: all 1, or falling with the distance.
        """

    def analyse(self, observed: LossDifference, options: Options) -> Answer:
        """See `ResamplingTest.analyse`."""
        n, horizon = len(observed.values), options.horizon
        if horizon >= n:
            raise ValueError(
                f"{arg('horizon', horizon)} is too large for {n} tested rows: use a smaller one, "
                "or test more"
            )
        estimand = of_these_rules(observed)
        if observed.design.learns:
            estimand = f"{observed.in_words} of forecasts by rules that learn from earlier rows"
        means = Influence.of_means(observed.values_of_each)
        # Autocovariances up to the horizon have too few terms to be estimated.
        too_long, status = 3 * horizon > n, "ok"
        if too_long:
            variances = np.full(len(means.values), math.nan)
            status = (
                f"no standard error: {arg('horizon', horizon)} is more than a third of the {n} "
                "tested rows, too few to estimate how losses depend on one another; test "
                f"{3 * horizon} rows or more"
            )
        else:
            variances = variances_in_time(means.values, horizon, options.variance)
            # The variance of a constant difference is 0 up to rounding, on either side.
            rounding = ROUNDING * float(np.abs(observed.values).max())
            if variances[0] < 0 and float(observed.values.std()) > rounding:
                status = (
                    f"no standard error: the variance for horizon {horizon} is negative "
                    f"({variances[0]:.3g}), as it can be in short series; name blocks of "
                    "successive rows, each longer than the horizon, as groups of "
                    f"{call('HoldOutTest')}, test more rows, or use {arg('variance', 'bartlett')}"
                )
        correction = (n + 1 - 2 * horizon + horizon * (horizon - 1) / n) / n
        steps = "1 step" if horizon == 1 else f"{horizon} steps"
        return Answer(
            method="Diebold-Mariano test",
            estimand=estimand,
            estimates=means.estimates,
            variances=np.maximum(variances, 0.0) / correction,
            reference="t",
            df=n - 1.0,
            status=status,
            settings={"horizon": horizon, "variance": options.variance},
            diagnostics={"n_tested": n},
            notes=(
                "Assumes that differences of losses are stationary, and uncorrelated "
                f"{steps} or more apart. Rows must come in the order of time.",
            ),
        )


def variances_in_time(values: np.ndarray, horizon: int, variance: VarianceName) -> np.ndarray:
    """By influence values (L, n) in the order of time; with the weights "acf" some can be < 0."""
    variances = np.square(values).sum(axis=1)
    for lag in range(1, horizon):
        weight = 1.0 if variance == "acf" else 1 - lag / horizon
        variances += 2 * weight * (values[:, lag:] * values[:, :-lag]).sum(axis=1)
    return variances
