"""The conservative z test (Nadeau and Bengio): a variance from disjoint halves."""

import numpy as np

from ucvtest.designs.design import Design, learn_size
from ucvtest.designs.schemes import SplitHalves
from ucvtest.designs.structure import halves_of
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.needs import ANY_METRIC, Needs
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.resampling import ResamplingTest


class ConservativeZTest(ResamplingTest):
    r"""Conservative z test of an expected loss, or of the difference of two.

    Estimand: the expected loss (difference) of the rule(s) learnt on n - n_test observations, at
    new observations (unconditional). H0: it equals `null_value`. The estimate is the mean over J
    random splits of the sample. Its variance comes from M random bisections of the sample: the two
    halves of a bisection give independent copies of such a mean. The estimate
    :math:`\frac{1}{2M} \sum_m (\hat\mu_m - \hat\mu_m^c)^2` is unbiased for a sample of half
    the size.

    Parameters
    ----------
    design : uv.designs.SplitHalves, optional
        By default J = 15 splits that test a tenth of the sample, and M = 10 bisections.
    loss : str, callable, Loss or matrix, optional
        "auc" compares the mean AUC of the test sets.

    Notes
    -----
    Reference: normal. The test is conservative and loses power, because half a sample has a larger
    variance than the whole one (unless learning is so unstable that more data make it more
    variable). Where the variance falls as 1/n, intervals are about :math:`\sqrt 2` times too wide.
    The normal reference ignores the error of the estimated variance. Bisections share
    observations, so each further bisection reduces that error less. Cost: J (2M + 1) fits of each
    learner, 315 by default.

    References
    ----------
    C. Nadeau, Y. Bengio (2003), Inference for the generalization error, Machine Learning 52,
    section 3; J = 15 and M = 10 as there.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = uv.ConservativeZTest(X[50:, :2], y[50:], "lda", "knn:1").fit(rng=0)
    >>> result.n_fits, result.reference
    (630, 'normal')
    >>> result.estimand
    'difference in error rate when learning from 90 observations'
    """

    method_name = "conservative_z"
    in_short = "random splits of the sample and of its halves"
    needs = Needs(
        designs="random splits of the sample and of the halves of bisections",
        metrics=ANY_METRIC,
        clusters="units",
        weights=True,
    )
    default_design = SplitHalves()

    def _check_design(self, design: Design) -> None:
        halves_of(design)

    def _learn_size(self, design: Design) -> int | str:
        n_splits, _ = halves_of(design)
        return learn_size(design.rows(slice(n_splits)).learn_sizes)

    def analyse(self, observed: LossDifference, options: object) -> Answer:
        """See `ResamplingTest.analyse`."""
        n_splits, n_bisections = halves_of(observed.design)
        means = observed.means_of_each
        # Means over the splits of both halves of each bisection, (L, M, 2).
        halves = means[:, n_splits:].reshape(-1, n_bisections, 2, n_splits).mean(axis=3)
        (half_size,) = observed.design.rows(slice(n_splits, None)).learn_sizes
        return Answer(
            method="Conservative z test",
            estimand=self.in_words(observed, "unconditional"),
            estimates=means[:, :n_splits].mean(axis=1),
            variances=np.square(halves[..., 0] - halves[..., 1]).sum(axis=1) / (2 * n_bisections),
            reference="normal",
            diagnostics={
                "n_splits": n_splits,
                "n_bisections": n_bisections,
                "resample_means": quantity.value(means[0, :n_splits]),
                "half_means": quantity.value(halves[0]),
            },
            notes=(
                f"The variance is that on half of the sample, after learning from {half_size} "
                "observations. It is too large on average, so the test is conservative.",
                f"It comes from {n_bisections} bisections of one sample; its own error is not "
                "taken into account.",
            ),
        )
