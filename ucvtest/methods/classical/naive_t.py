"""The t test that treats resamples as independent: included only for comparison."""

from ucvtest.common.notes import Note
from ucvtest.common.words import call
from ucvtest.designs.schemes import KFold
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.needs import ANY_METRIC, Needs
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.corrected_t import SPLITS, check_splits, corrected_variances
from ucvtest.methods.classical.resampling import ResamplingTest

NOT_VALID = "not valid: resamples that share learning data are treated as independent"


class NaiveTTest(ResamplingTest):
    r"""The t test of K folds or random splits as if they were independent: not valid.

    It is included only for comparison, because many people use it. Estimand: the expected loss
    (difference) of the rule(s) learnt on learning sets of the design's size, at new observations
    (unconditional). H0: it equals `null_value`. The estimate is the mean over
    resamples; its variance is taken to be :math:`s^2/J`, which ignores that learning sets
    overlap.

    Parameters
    ----------
    design : uv.designs object, int or scikit-learn splitter, optional
        K-fold cross-validation, also repeated, or random splits; by default 10 folds.
    loss : str, callable, Loss or matrix, optional
        "auc" compares the mean AUC of the test sets.

    Notes
    -----
    Reference: t with J - 1 degrees of freedom, where J is the number of resamples. The test rejects
    too often. If the means of two resamples have correlation :math:`\rho`, the true variance is
    :math:`1 + J\rho/(1 - \rho)` times the expectation of the estimated one; the factor grows
    without bound with J. With ten folds and :math:`\rho = 0.1`, a nominal 5% test rejects a true
    null hypothesis in 15.4% of samples; with a hundred repetitions, in more than 80%.
    `CorrectedTTest` accepts the same designs. Cost: J fits of each learner.

    References
    ----------
    T. Dietterich (1998), Approximate statistical tests for comparing supervised classification
    learning algorithms, Neural Computation 10, sections 3.3 and 3.4, which advises against it.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> losses = uv.evaluate(["lda", "knn:1"], X[50:, :2], y[50:], design=10, rng=0)
    >>> naive = uv.NaiveTTest.from_losses(losses, "lda", "knn:1").fit()
    >>> naive.settings["warning"]
    'not valid: resamples that share learning data are treated as independent'
    >>> corrected = uv.CorrectedTTest.from_losses(losses, "lda", "knn:1").fit()
    >>> round(corrected.se / naive.se, 2)
    1.45
    """

    method_name = "naive_t"
    in_short = "10 folds treated as independent: not valid"
    valid = False
    needs = Needs(designs=SPLITS, metrics=ANY_METRIC, clusters="units", weights=True)
    default_design = KFold(10)

    _check_design = staticmethod(check_splits)

    def analyse(self, observed: LossDifference, options: object) -> Answer:
        """See `ResamplingTest.analyse`."""
        means = observed.means_of_each
        return Answer(
            method="Naive t test of resamples (not valid)",
            estimand=self.in_words(observed, "unconditional"),
            estimates=means.mean(axis=1),
            variances=corrected_variances(means, 0.0),
            reference="t",
            df=means.shape[1] - 1.0,
            settings={"warning": NOT_VALID},
            diagnostics={"resample_means": quantity.value(observed.means)},
            notes=(
                Note(
                    "This test is not valid. It ignores that overlapping learning sets make "
                    "resamples alike, so it rejects true null hypotheses too often, and its "
                    f"intervals are too short. {call('CorrectedTTest')} takes the same losses.",
                    f"This test is not valid; {call('CorrectedTTest')} takes the same losses.",
                ),
            ),
            assumption="independent resamples, which they are not: this test is not valid",
        )
