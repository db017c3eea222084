"""Nested cross-validation (Bates, Hastie and Tibshirani), which estimates its own error."""

import math
from typing import Any

from ucvtest.common.words import arg
from ucvtest.designs.design import Design
from ucvtest.designs.schemes import NestedKFold
from ucvtest.designs.structure import nested_folds_of
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.needs import Needs
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.resampling import ResamplingTest
from ucvtest.stats.monte_carlo import mean_error
from ucvtest.stats.nested_cross_validation import NestedTerms, bias_factor

LARGEST_MC_ERROR = 0.25
"""Monte-Carlo error of the variance, relative to it, above which a note asks for repetitions."""


class NestedCrossValidationTest(ResamplingTest):
    r"""Interval and test from nested cross-validation, with an estimate of its own squared error.

    Estimand: the expected loss, at new observations, of the rule learnt on all n observations
    (conditional: with other samples it is another), or the difference of two. H0: it equals
    `null_value`. For each fold j the other K - 1 folds are cross-validated, which gives
    :math:`\bar e^{in}_j`. The rule learnt on all of them has the mean loss
    :math:`\bar e^{out}_j` on fold j. Then

    .. math:: \widehat{MSE} = \operatorname{mean}_j (\bar e^{in}_j - \bar e^{out}_j)^2
        - \operatorname{mean}_j s_j^2/n_j

    with means over folds and repetitions, and :math:`s_j^2` the variance of the losses on fold j.
    It is unbiased for the mean squared error of the inner cross-validation around the error of the
    rule learnt on the same folds. The first term also contains the noise of the mean of fold j; the
    second term removes it. The variance is :math:`\widehat{MSE} (K - 1)/K`, for n observations
    instead of n(K - 1)/K. It is at least that of independent losses, :math:`s_{in}^2/n`, and at
    most K times that.

    Parameters
    ----------
    design : uv.designs.NestedKFold, optional
        By default 10 folds and 20 repetitions. The rule learnt without two folds serves as inner
        rule of both: K(K + 1)/2 fits a repetition instead of K^2.
    loss : str, callable, Loss or matrix, optional
    weights
        Not for this test, which counts rows alike; None.

    Notes
    -----
    Reference: normal. The point estimate is the mean of all inner losses, NCV, less an estimate of
    its bias, :math:`(1 + \frac{K-2}{K})(NCV - CV)`, CV the mean of the outer losses. That factor
    follows from a learning curve :math:`e(m) = e + c/m`: NCV is about :math:`e(n(K-2)/K)`, CV
    about :math:`e(n(K-1)/K)`, so that :math:`NCV - CV \approx \frac{cK}{n} \frac{1}{(K-1)(K-2)}`
    and :math:`CV - e(n) \approx \frac{cK}{n} \frac{1}{K(K-1)}`, which is (K - 2)/K times as much.
    For :math:`m^{-\beta}` that ratio is :math:`1 - (\beta + 1)/K` to first order;
    :math:`((K-2)/K)^{1.5}`, which the authors' code has in place of (K - 2)/K, belongs to
    :math:`\beta = 2`, a curve steeper than that of parametric models. The diagnostics have the
    estimate with that as well; the two differ by 0.08 (NCV - CV) at K = 10.

    Repetitions only reduce the variation that comes from drawing folds; the reported Monte-Carlo
    errors measure the rest of it. The MSE is that of one repetition, so the interval of the mean
    over many repetitions is conservative to the extent that they differ. The estimate of MSE is
    noisy in small samples, where the bounds often decide. The lower bound is the naive variance,
    with which the test rejects as often as the naive one. With linear discriminant analysis of 20
    features and n = 60, 95.2% (0.7) of the 95% intervals contain the true value; of those from one
    cross-validation, 87% (1.1) do. Cost: K(K + 1)/2 fits of each learner a repetition, 1100 by
    default.

    References
    ----------
    S. Bates, T. Hastie, R. Tibshirani (2024), Cross-validation: what does it estimate and how well
    does it do it?, Journal of the American Statistical Association 119: algorithm 1, and the
    section on its bias.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.NestedCrossValidationTest(X[50:, :2], y[50:], "lda", "knn:1")
    >>> result = test.fit(rng=0)
    >>> result.n_fits, result.settings["learn_size"]
    (2200, 100)
    """

    method_name = "nested_cross_validation"
    in_short = "10 folds inside 10 folds"
    needs = Needs(designs="nested K-fold cross-validation, also repeated", clusters="units")
    default_design = NestedKFold(10, 20)
    pair_by_pair = True

    def _check_design(self, design: Design) -> None:
        nested_folds_of(design)
        smallest = design.test_sizes[0]
        if smallest < 2:
            raise ValueError(
                f"the design leaves folds of {smallest} observation, but their variance needs two: "
                "use fewer folds"
            )

    def _learn_size(self, design: Design) -> int | str:
        return design.n_obs

    def analyse(self, observed: LossDifference, options: object) -> Answer:
        """See `ResamplingTest.analyse`."""
        folds, testing = nested_folds_of(observed.design), observed.design.testing
        all_terms = [
            NestedTerms.of(folds, testing, contrast.values)
            for contrast in observed.contrast_and_own
        ]
        terms, factor = all_terms[0], bias_factor(all_terms[0].n_folds)
        _, bound = terms.variance
        units = self.question.metric.units
        scores = units is not None and units.greater_is_better
        means = float(terms.inner.mean()), float(terms.outer.mean()), terms.estimate(factor)
        return Answer(
            method="Nested cross-validation test",
            estimand=self.in_words(observed, "conditional"),
            estimates=[own_terms.estimate(factor) for own_terms in all_terms],
            variances=[own_terms.variance[0] for own_terms in all_terms],
            reference="normal",
            diagnostics=_diagnostics(terms, bound),
            notes=_notes(terms, bound),
            tables={
                "Mean scores" if scores else "Mean losses": {
                    "learnt from": (
                        "K - 2 folds (inner)",
                        "K - 1 folds (outer)",
                        "all (corrected)",
                    ),
                    "estimate": quantity.value(means),
                }
            },
        )


def _diagnostics(terms: NestedTerms, bound: str) -> dict[str, Any]:
    factor = bias_factor(terms.n_folds)
    mean_inner, mean_outer = float(terms.inner.mean()), float(terms.outer.mean())
    errors = {}
    if terms.n_repeats > 1:
        errors["mc_se_estimate"] = quantity.spread(mean_error(terms.estimates(factor)))
        errors["mc_se_mse"] = quantity.square(terms.mc_se_mse)
        if bound == "none":
            errors["mc_se_variance"] = quantity.square(terms.mc_se_mse)
    return {
        "mean_inner": quantity.value(mean_inner),
        "mean_outer": quantity.value(mean_outer),
        "bias": quantity.change(factor * (mean_inner - mean_outer)),
        "estimate_power_1.5": quantity.value(terms.estimate(bias_factor(terms.n_folds, 1.5))),
        "mse": quantity.square(terms.rescaled_mse),
        "naive_se": quantity.spread(math.sqrt(terms.naive_variance)),
        "bound": bound,
        **errors,
    }


def _notes(terms: NestedTerms, bound: str) -> tuple[str, ...]:
    notes = [
        "Assumes independent observations, and for the correction of bias that the expected loss "
        "falls with the learning-set size m as a constant plus c/m."
    ]
    naive = "that of independent losses, the lower limit of the standard error"
    if bound == "lower" and terms.rescaled_mse < 0:
        notes.append(
            f"The estimate of the mean squared error is negative ({terms.rescaled_mse:.3g}), as an "
            f"unbiased one can be: the standard error is {naive}."
        )
    elif bound == "lower":
        notes.append(f"The standard error is {naive}.")
    elif bound == "upper":
        notes.append(
            "The standard error is sqrt(K) times that of independent losses, which is its upper "
            "limit."
        )
    if terms.n_repeats == 1:
        notes.append(
            "One repetition does not show how much the result depends on the random folds: use "
            "more."
        )
        return tuple(notes)
    variance, error = terms.variance[0], terms.mc_se_mse
    decided = bound != "none" and abs(terms.rescaled_mse - variance) > 2 * error
    if not decided and error > LARGEST_MC_ERROR * variance:
        needed = math.ceil(terms.n_repeats * (error / (LARGEST_MC_ERROR * variance)) ** 2)
        notes.append(
            "The random folds decide much of the standard error: the estimate of the mean squared "
            f"error has a Monte-Carlo error of {error:.2g}, {error / variance:.0%} of the "
            f"variance. About {arg('n_repeats', needed)} would bring it to {LARGEST_MC_ERROR:.0%}."
        )
    return tuple(notes)
