"""The correlated Bayesian t test: posterior probabilities instead of a null hypothesis."""

import math
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ucvtest.common.checks import AtLeast
from ucvtest.common.words import arg
from ucvtest.designs.schemes import KFold
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.base import fit_by
from ucvtest.inference.needs import ANY_METRIC, Needs
from ucvtest.inference.options import FitOptions
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.corrected_t import (
    SPLITS,
    check_splits,
    corrected_variances,
    tested_per_learnt,
)
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.results.fields import Posterior
from ucvtest.results.plot_data import Layer, Picture

ROPE = 0.01
"""The region of practical equivalence if nothing is said: one percentage point either way."""

CORRELATION = (
    "The correlation of two resamples is assumed to be the share of observations tested; that is a "
    "heuristic, so the posterior can be too narrow or too wide."
)


@dataclass(frozen=True)
class Options(FitOptions):
    """The options of `fit`."""

    rope: Annotated[float, AtLeast(0)] | None = None


class BayesianTTest(ResamplingTest):
    r"""Correlated Bayesian t test of an expected loss, or of the difference of two.

    Estimand: the expected loss (difference) of the rule(s) learnt on learning sets of the
    design's size, at new observations (unconditional). There is no null hypothesis and no
    p-value. The answer is the posterior distribution of the estimand: Student's t with J - 1
    degrees of freedom, centred at the mean over resamples, with squared scale
    :math:`s^2 (1/J + \rho/(1 - \rho))`, where :math:`\rho = n_{test}/n`. The result gives the
    probabilities that the estimand lies below, inside and above the region of practical
    equivalence, `null_value` :math:`\pm` `rope`. ``conf_int()`` is the credible interval.

    Parameters
    ----------
    design : uv.designs object, int or scikit-learn splitter, optional
        K-fold cross-validation, also repeated, or random splits; by default 10 folds.
    loss : str, callable, Loss or matrix, optional
        "auc" compares the mean AUC of the test sets.
    null_value : float, optional
        The middle of the region of practical equivalence: 0 for two learners, 1/2 for the AUC of
        one. Another loss of one learner has no default: the result is then the interval alone.
    alternative : {"two-sided", "less", "greater"}
        Which limits the credible interval has: "less" gives an upper limit only.

    Notes
    -----
    The prior is the uninformative one for the mean and the log standard deviation. The credible
    interval is then the confidence interval of `CorrectedTTest`, and with ``rope=0`` the smaller
    probability is the one-sided p-value of that test. The correlation is a heuristic here too: see
    the notes there. The probabilities depend on the region: choose it before looking at the data,
    in the units of the loss. Cost: J fits of each learner.

    References
    ----------
    A. Benavoli, G. Corani, J. Demsar, M. Zaffalon (2017), Time for a change: a tutorial for
    comparing multiple classifiers through Bayesian analysis, Journal of Machine Learning
    Research 18, section 3.1. G. Corani, A. Benavoli (2015), A Bayesian approach for
    comparing cross-validated algorithms on multiple data sets, Machine Learning 100.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = uv.BayesianTTest(X[50:, :2], y[50:], "lda", "knn:1").fit(rope=0.02, rng=0)
    >>> round(sum(result.diagnostics[name] for name in ("p_left", "p_rope", "p_right")), 6)
    1.0
    >>> result.pvalue
    nan
    """

    method_name = "bayesian_t"
    in_short = "10 folds, probabilities instead of a p-value"
    needs = Needs(
        designs=SPLITS,
        metrics=ANY_METRIC,
        clusters="units",
        weights=True,
        without={"interval": "gives a posterior probability"},
    )
    default_design = KFold(10)

    _check_design = staticmethod(check_splits)

    @fit_by(Options)
    def fit(self) -> None:
        """Evaluate the learners where losses are not given, and compute the posterior.

        Parameters
        ----------
        rope : float, optional
            Half the width of the region of practical equivalence, in the units of the loss; 0
            for none. By default 0.01, a percentage point for error rates and AUCs; for other
            losses give one, because 0.01 means nothing there.

        Returns
        -------
        TestResult
            `diagnostics` contain the probabilities "p_left", "p_rope" and "p_right"; `pvalue`
            and `statistic` are NaN.
        """

    def resolved(self, options: Options) -> Options:
        """See `HypothesisTest.resolved`."""
        if math.isnan(self.null_value) and options.rope is not None:
            raise ValueError(
                f"rope does not apply: one learner without {arg('null_value')} is compared with "
                "nothing"
            )
        return options

    def analyse(self, observed: LossDifference, options: Options) -> Answer:
        """See `ResamplingTest.analyse`."""
        means, metric = observed.means_of_each, self.question.metric
        by_default = options.rope is None and not math.isnan(self.null_value)
        rope = ROPE if by_default else math.nan if options.rope is None else float(options.rope)
        ratio, notes = tested_per_learnt(observed.design)
        if metric.units is not None:
            # In units of results; the computed loss may have its own units.
            rope /= abs(metric.units.slope)
        estimates, variances = means.mean(axis=1), corrected_variances(means, ratio)
        df, center = means.shape[1] - 1.0, self.question.hypothesis.null_value
        estimand, pictures = self.in_words(observed, "unconditional"), {}
        posterior = Posterior(math.nan, math.nan, math.nan, rope, center)
        if variances[0] > 0:
            # Takes long to import, and most calls do without it.
            from scipy import stats

            density = stats.t(df, loc=float(estimates[0]), scale=math.sqrt(variances[0]))
            posterior = posterior_of(density, rope, center)
            limits = () if math.isnan(rope) else (center - rope, center + rope)
            pictures["posterior"] = quantity.value(_picture(estimand, density, limits))
        if by_default and (metric.unit != 1 or not (metric.counts_errors or metric.ranks_pairs)):
            notes += (
                f"The region of practical equivalence is the default, {ROPE:g} either way, which "
                "is meant for error rates and AUCs; pass rope in the units of the "
                f"{metric.in_words}.",
            )
        return Answer(
            method="Correlated Bayesian t test",
            estimand=estimand,
            estimates=estimates,
            variances=variances,
            reference="t",
            df=df,
            # Nothing is tested.
            null_value=math.nan,
            posterior=posterior,
            settings={"rope": None if math.isnan(rope) else quantity.spread(rope)},
            diagnostics={"tested_per_learnt": ratio, "resample_means": quantity.value(means[0])},
            notes=(
                "No null hypothesis is tested and there is no p-value: the probabilities are "
                "those of the posterior distribution, under an uninformative prior.",
                CORRELATION,
                *notes,
            ),
            pictures=pictures,
            interval_name="credible interval",
            assumption=f"rho = {ratio / (1 + ratio):.3g}",
        )


def posterior_of(density: Any, rope: float, center: float) -> Posterior:
    """The probabilities of the three regions; NaN where nothing is compared."""
    p_left, p_right = float(density.cdf(center - rope)), float(density.sf(center + rope))
    # With rope=0 the region has no width; the difference would leave a rounding error of it.
    p_rope = float(density.cdf(center + rope)) - p_left if rope else 0.0
    return Posterior(p_left, p_rope, p_right, rope, center)


def _picture(estimand: str, density: Any, rope: tuple[float, ...]) -> Picture:
    """The posterior density, with the limits of the region of practical equivalence."""
    plot_limits = [*density.interval(0.999), *rope]
    x = np.linspace(min(plot_limits), max(plot_limits), 301)
    heights = density.pdf(x)
    layers = [
        Layer("area", np.r_[x, x[::-1]], np.r_[heights, np.zeros_like(x)], role="data"),
        Layer("line", x, heights, "posterior density", "estimate"),
    ]
    if rope:
        limits = np.unique(rope)
        name = "region of practical equivalence" if len(limits) == 2 else "reference value"
        layers.append(Layer("vertical", limits, label=name, role="limit"))
    return Picture(estimand, "density", tuple(layers))
