"""The permutation estimate of out-of-sample error of Magdon-Ismail and Mertsalov (2011)."""

import math
from typing import Any, Unpack

from ucvtest.common.execution import Execution
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import OfData
from ucvtest.inference.base import HypothesisTest, fit_by
from ucvtest.inference.needs import Needs
from ucvtest.inference.question import DataQuestion, Question
from ucvtest.inference.studentise import Hypothesis
from ucvtest.methods.permutation.estimation import from_labelings, in_closed_form, labelings_within
from ucvtest.methods.permutation.labelings import labelings_of
from ucvtest.methods.permutation.options import Options, PermutationOptions, check_response
from ucvtest.methods.permutation.reporting import answer_from


class PermutationComplexityTest(HypothesisTest):
    r"""Out-of-sample error of a learner, estimated from its fit to permuted labels.

    Estimand: the expected loss, at a new observation, of the rule learnt from all n
    observations. The estimate is its in-sample error plus the optimism that the learner shows
    on permuted labels, where nothing can be learnt. H0 of the p-value: labels and features are
    independent; it is small where the in-sample error is smaller than on permuted labels.

    Parameters
    ----------
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as "ridge:1",
        or a callable ``(X_train, y_train, X_test) -> predictions``.
    loss : str, callable, Loss or matrix, optional
        By default zero_one for classes and squared error for a real response. A matrix contains
        ``loss[true, predicted]`` of the classes in ascending order, `pos_label` last. Two labels
        under squared or absolute loss are coded 0 and 1: with -1 and 1, as in the paper, squared
        error is four times as large.

    Notes
    -----
    Assumes independent observations, and that the optimism is the same on the real labels. If the
    learner finds a strong signal, the estimate is often too large; a learner that reproduces its
    labels (1 nearest neighbour) is assigned the error of guessing. The estimate has no standard
    error; the result gives its Monte-Carlo error. The p-value is valid for every learner. Cost: one
    fit for each labeling; "analytic" needs none.

    With groups, labels are permuted between clusters if each cluster has one label, and otherwise
    within clusters; the labels of clusters with one label are then permuted among clusters of the
    same size. (If labels depend on the size, permuting all of them alike would reject too often.)
    The null hypothesis of the result says which. The optimism is about the labels that a row can
    get by these permutations. There are no bounds, and "permutation" is the only sampling.

    `from_losses` does not accept losses of resamples: the test compares fits of all observations to
    permuted labels.

    References
    ----------
    M. Magdon-Ismail, K. Mertsalov (2011), A permutation approach to validation: Theorems 1 to 4
    and 6, Corollary 4, section 2.3. Errata: the constants of Corollary 4 and Theorem 6 (see
    `ucvtest.kernels.permutation`); Theorem 2 is true on average only with replacement. J. Besag,
    P. Clifford (1991), Sequential Monte Carlo p-values, Biometrika 78.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.PermutationComplexityTest(X[50:, :2], y[50:], "lda")
    >>> result = test.fit(n_permutations=99, rng=0)
    >>> result.pvalue
    0.01
    >>> bool(0 < result.diagnostics["e_gen"] < 0.2)
    True
    """

    method_name = "permutation"
    in_short = "one learner: is there anything to learn?"
    r_function = "permutation_complexity_test"
    needs = Needs(
        designs="none: it needs fits to permuted labels, which losses of resamples do not contain",
        learners="one",
        clusters="units",
        without={"interval": "gives no interval", "losses": "needs fits to permuted labels"},
    )

    def __init__(
        self, X: Any, y: Any, learner: Any, *, loss: Any = None, **ask: Unpack[OfData]
    ) -> None:
        self._ask(self.question_of(X, y, learner, alternative="less", loss=loss, **ask))

    def _ask(self, question: Question) -> None:
        super()._ask(question)
        check_response(question.data("a permutation test").sample)
        assert isinstance(question, DataQuestion)
        # Refuses clusters whose labels cannot be permuted.
        labelings_of(question.target, question.clusters)
        # Small in-sample errors are evidence against the null hypothesis.
        fixed = question.with_hypothesis(Hypothesis(math.nan, "less"))
        self.question = fixed.ready(question.n_obs)

    @property
    def estimand(self) -> str:
        """The estimand in words."""
        loss_in_words = self.question.metric.in_words
        return f"out-of-sample {loss_in_words} of the rule learnt from all observations"

    @fit_by(Options)
    def fit(self) -> None:
        """Estimate and test.

        Parameters
        ----------
        n_permutations : int, "exact" or "analytic"
            Labelings to draw. "exact" goes through all different ones. "analytic" is the mean over
            all of them in closed form. It exists for squared loss and linear smoothers (ridge,
            polynomial and kernel ridge regression, `smoother`, nearest neighbours, and every
            regressor whose fit is a matrix times y), and gives no p-value.
        sampling : {"permutation", "bootstrap", "rademacher"}
            The observed labels in random order; labels drawn from them with replacement; or,
            for two classes, fair coins. Only permutations give a p-value.
        delta : float
            Probability with which the bounds may fail.
        stop_after : int, optional
            Stop once this number of permuted labelings are fitted as well as the real one, or
            better, ties counted: p = stop_after/l after l labelings (Besag and Clifford 1991), else
            (count + 1)/(n_permutations + 1). This saves most of the fits if there is no signal, and
            none if there is a strong one: with 10, the usual choice, and 999 labelings it saves 98%
            at p = .5, 80% at .05, 12% at .01 and 0% at .001, because a small p-value cannot be
            known without drawing them all. It is for learners that are fitted one by one. The
            p-value is valid at every level; the estimate is rough.
        max_seconds : float, optional
            Approximate limit on the seconds of the fits. Some fits are timed, and `n_permutations`
            is reduced to the number that fits into the time. The labelings drawn do not influence
            that number, so that the p-value (count + 1)/(n_permutations + 1) stays valid. The
            settings of the result keep it; the same number and `rng` without `max_seconds` repeat
            the result.
        batch_size : int, optional
            Largest number of labelings passed at once to a learner that is not jitted.

        Returns
        -------
        TestResult
            ``diagnostics`` contains e_in, e_gen and p_in; the bounds are there for zero_one loss
            and two classes.

        Raises
        ------
        ValueError
            If an argument cannot be used, there is no time for any answer, or a learner fails on a
            labeling.
        """

    def resolved(self, options: Options) -> PermutationOptions:
        """See `HypothesisTest.resolved`."""
        return PermutationOptions.of(options, self.question.data("a permutation test"))

    def _answer(self, options: PermutationOptions, execution: Execution) -> Answer:
        question, problem = self.question, self.question.data("a permutation test")
        if options.max_seconds is not None:
            options = options.within(labelings_within(problem, options, execution))
        estimated = in_closed_form if options.analytic else from_labelings
        return answer_from(
            problem,
            options,
            estimated(problem, options, execution),
            estimand=self.estimand,
            settings=options.settings | question.seed_settings(execution),
        )
