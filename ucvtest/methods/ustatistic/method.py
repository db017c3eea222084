"""The U-statistic test of Fuchs, Hornung, De Bin and Boulesteix (2013)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, Unpack

from ucvtest.common.checks import AtLeast
from ucvtest.common.execution import Execution, Progress
from ucvtest.data.groups import GroupWeight
from ucvtest.evaluation.checkpoint import Checkpoint
from ucvtest.evaluation.problem import Problem
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import Ask, Run, spelled_out
from ucvtest.inference.base import HypothesisTest, fit_by
from ucvtest.inference.finish import finish
from ucvtest.inference.needs import Needs
from ucvtest.inference.question import DataQuestion, Question
from ucvtest.losses.table import Losses
from ucvtest.methods.ustatistic.budget import Stages
from ucvtest.methods.ustatistic.estimates import Estimates, PairedRun
from ucvtest.methods.ustatistic.kappa import KappaProfile, overlaps_of, profile
from ucvtest.methods.ustatistic.learning_sets import LearningSets, null_value_of
from ucvtest.methods.ustatistic.options import (
    METHOD_NAME,
    Options,
    UStatisticOptions,
)
from ucvtest.methods.ustatistic.reporting import answer_of
from ucvtest.methods.ustatistic.run import Sampler
from ucvtest.methods.ustatistic.sizes import Sizes
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.results.fields import CONTRASTS, Contrast
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.wald import Alternative

if TYPE_CHECKING:
    from ucvtest.methods.ustatistic.simultaneous import JointRun


class UStatisticTest(HypothesisTest):
    r"""Test of an error rate, or of the difference of two, over all learning sets of one size.

    Estimand: the expected loss (difference) of the rule(s) learnt on a random learning set
    of `learn_size` observations, at a new observation: an unconditional error. H0: it
    equals `null_value`. The estimate is the mean over all splits into a learning set of
    this size and a test set (leave-p-out). No unbiased estimate has a smaller variance. With
    ``loss="auc"`` the estimand is the expected AUC (difference): the probability that a new
    positive is scored above a new negative, ties counted half. The mean is then over all learning
    sets within the classes (of `groups` with rows of several classes: over all sets of groups) and
    all pairs outside of them.

    Parameters
    ----------
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "lasso:0.08", or a callable ``(X_train, y_train, X_test) -> predictions``. It must
        not depend on the order of the learning rows.
    learn_size : int or pair of int, optional
        Number of observations to learn from, g; by default floor(n/2) - 1, the largest for which
        every variance exists. With ``loss="auc"`` every learning set has the same number of each
        class. A pair gives the numbers, negatives first. A single number is distributed in
        proportion to the classes. The default is floor(n_c/2) - 1 of class c. For more than two
        classes a tuple gives the number of each, in ascending order with `pos_label` last. For
        `groups` with rows of several classes it is a number of groups.
    contrast : {"difference", "ratio"}
        How two learners are compared: "ratio" is the expected loss of the first divided by that of
        the second, for losses that are never negative (squared, absolute, log, or with such bounds;
        not zero_one). `estimate`, `null_value` (by default 1) and the interval are ratios; `se` and
        `variance` are those of the logarithm.
    metric : str or metric, optional
        Instead of a loss, a metric that is not a mean of losses, such as "f1", "mcc" or "r2": see
        Notes.
    null_value : float, optional
        Value of the estimand under H0; by default 0 for a difference and 1 for a ratio. One learner
        is only tested against a `null_value` that is given.
    loss : str, callable, Loss or matrix, optional
        As in `HypothesisTest`. "auc" needs learners with scores: of more than two classes one for
        each, and the AUC is Hand and Till's, or that of `pos_label` against the rest.

    Notes
    -----
    Assumes independent observations (or clusters, with `groups`) and deterministic learners. Cost:
    two fits of each learner for each pair of learning sets, and O(n^2) operations. The page on this
    test has the formulas of each variance and interval, and where each fails.

    **Variances.** The delete-one jackknife J exceeds the variance in expectation. "midpoint" is
    :math:`V = \max((J + J^2/(J + M_2))/2, M_2/2)` with the effects M2 of pairs of observations. It
    is half-way to the variance of components that fall geometrically with their degree, and at
    least what the effects of pairs alone give. It is the default for error rates if learning sets
    contain at most half of 12 to 2000 observations. Over 55 simulated settings its 95% intervals
    for differences contained the true value in 97% of the samples, and in at least 92% in each;
    "clipped" in 95%, the worst 83%; "jackknife" in 98%, the worst 91%, with longer intervals.
    Otherwise the jackknife is the default: the tails of other losses make all of the variances too
    small. "unbiased" and "asymptotic" have the normal reference of the paper. They reject too often
    at small n (the paper's 95% intervals contain the true value in about 80% over 60 simulated
    settings with n = 60); like "clipped" they are for mean losses. With more features than
    observations and skewed losses, every variance can be too small.

    **Few fits.** "few" is a variance from few fits, for mean losses, their ratios and AUCs. The n
    observations show how losses vary between observations, however few the fits are. The fits show
    what learning adds: how much the two fits of a pair differ, less the noise, which is how much
    the means of whole pairs vary. If pairs whose fits differ more are also worse (or better), a few
    observations decide which rule is learnt, and that share of the variation is not noise. It is
    kept (Amemiya 1980); from a half on a note says so. The degrees of freedom account for what the
    fits leave unknown, so that 12 fits of two learners are enough for an answer. If the fits end
    before the Monte-Carlo error of its own variance is below a quarter of it, "auto" takes "few",
    from the same pairs.

    - Error rates: with 20 fits of each learner, 95% intervals for differences contained the true
      value in 96.3% of the samples of 77 simulated settings (n = 40 to 200, 300 samples each), at
      0.57 times the width of the 5x2 t test's and 1.25 times that of thousands of fits; with 200
      fits in 96.9%, at 1.02 times. The worst setting had 80.7%: learners whose rule is decided by a
      few rows (a spam filter, n = 200), the worst setting of all tests. With 20 and 30 observations
      six settings had 97.5% together; fewer observations have not been tried.
    - Squared and log losses: differences had 92% (79% in the worst, with skewed noise), because the
      fits do not show the tails.
    - AUCs of two classes: with 20 fits of each learner, 95% intervals for differences contained the
      true value in 96.4% of the samples of 67 simulated settings (n = 40 to 200, 203 or more
      samples each), at 0.58 times the width of the corrected t test's and 1.22 times that of
      thousands of fits; with 200 fits in 96.1%, at 1.03 times. The worst setting had 91.7%
      (`spambase`, n = 40). Intervals for the AUC of one learner had 95.9%, and 88.2% in the worst
      (`null_2`, n = 100, without signal, where thousands of fits had 99%).
    - AUCs of `groups`, whose clusters are then the observations, and of several classes have the
      same rule. Its coverage for them has not been studied.

    Several learners at once (``uv.compare(correction="simultaneous")``) have a variance and degrees
    of freedom for each difference. A normal copula joins the p-values, with the correlation of the
    effects of the observations; the parts due to learning and drawing are treated as independent
    between learners.

    **Each learner alone.** The table "Learners" has the mean loss of each learner over the fits,
    and the standard error from its own delete-one jackknife: NaN with too few pairs.

    **Intervals of one learner** are not symmetric (`fit(interval=)`):

    - "plus_four", for error rates, adds two errors and two correct predictions to the estimate and
      to its variance (Agresti and Coull 1998); Student's t with n - 1 degrees of freedom, cut to
      [0, 1]. It has an answer even if no loss varied. In 40 simulated cells, with "clipped", its
      intervals contained the true value in 96% of the samples (93% in the worst cell); "wald", at
      the same width, in 94% (83%).
    - "hall" removes the skewness of the jackknife's pseudo-values from the studentised estimate by
      the cubic of Hall (1992); Student's t with degrees of freedom from their kurtosis. For log
      losses it contained the true value in 92%, "wald" in 89%.
    - "hall_floor" assumes a skewness of at least 6 for the upper limit. It is for squared and
      absolute losses without a largest value: the skewness of a sample cannot exceed about the root
      of n, so a tail that was never drawn cannot be estimated. The limit is at least that of
      "hall". For squared losses with tails (16 cells of 300 samples, n = 40 to 200) it contained
      the true value in 97% (94% in the worst cell); "hall" in 91% (81%); "wald", at 0.4 of the
      width, in 77% (69%).

    The variance "auto" is then "jackknife". None of them exists for tests on K folds.

    **Differences of error rates** have the interval "stabilised", and one error rate can have it. A
    symmetric interval misses on one side if the standard error changes with the estimate. The
    interval is therefore symmetric on the scale on which the standard error is constant (Tibshirani
    1988), for t with n - 1 degrees of freedom. The slope of the log standard error comes from the
    delete-one jackknives and the estimates without the same observation. It is shrunk by its
    standard error, bounded, and followed for two standard errors; from four on the interval is that
    of "wald", and p-values are within a factor of 10 of "wald"'s. Measured before the slope was
    bounded, on problems held back: intervals for differences contained the true value in 97.3% of
    the samples (91.7% in the worst) with the midpoint variance, "wald" in 96.4% (83.7%), at 0.94
    times the width and with more power (25 and 21% rejected). For one learner "plus_four" is
    shorter; "stabilised" is safer for an unstable learner (84.7 and 90.7% in the worst). It needs
    g <= n/2 and n <= 2000.

    **Ratios.** ``contrast="ratio"`` studentises the logarithm of the ratio of the two mean losses,
    with the jackknife of its linear part, the kernel L1/U1 - L2/U2, and degrees of freedom from
    their kurtosis. From few fits the variance is that of the same linear part. Over simulated
    squared and log losses the interval contained the true ratio in 95% of the samples (85% in the
    worst cell: log losses, learning sets of one class); intervals for differences contained theirs
    in 88 to 92%. The ratio also has more power for skewed noise. Up to n = 200 the jackknife needs
    2000 to 20 000 fits for an answer (the median problem 2000 to 8000). Two nearly equal learners,
    such as ridge and least squares, need 11 000 to 46 000 at n = 200, and 46 000 at n = 500.

    **AUC.** ``loss="auc"`` is a two-sample U-statistic. Its default is the midpoint variance as
    well, for learning sets of at most half of each class; for larger ones it is "jackknife".
    Intervals for differences are U +- t se with Welch's degrees of freedom; those of one learner
    are the same on the logit scale, transformed back. They are rough with fewer than 8 observations
    of a class. Whether an AUC exceeds 1/2 is better answered by a permutation test such as
    `LeavePairOutTest`. A fit costs O(n^2) operations, which dominates from some hundred
    observations on (minutes with 1000; `max_fits` bounds it). With more than 1000 observations a
    fit costs a sort, and the variance is the jackknife.

    **Several classes.** The AUC of C > 2 classes is that of Hand and Till (2001): the mean over all
    pairs of classes c and d of the probability that the score of c is higher for c, and that the
    score of d is higher for d. With `pos_label` it is the probability that the score of this class
    is higher for it than for an observation of the other classes, in their shares of the sample.
    Learning sets are drawn within all classes; "jackknife" is the default variance, and "midpoint"
    exists as above, for at most 1000 observations. With `groups`, learning sets are random
    clusters, and only the jackknife exists; the share of a class is that of its clusters, or of its
    rows with ``group_weight="row"``. A class that is missing from a learning set has its lowest
    score everywhere, so that no row ranks above another (a function has to do this itself).
    Learners with a score for each class are "lda", "qda" and "gaussian_nb" (log-odds against all
    other classes), "nearest_centroid" (distance to the nearest other mean, less its own), "knn" and
    "majority" (shares), all jitted; scikit-learn classifiers by `predict_proba` or
    `decision_function`; and functions that return (n_test, C), with columns in the order of
    ``np.unique(y)``. Others are refused.

    **Metrics.** With `metric`, the parts of F1, R2 and other functions of means are pooled over all
    learning sets and all observations outside of them. The estimand, in results "F1 when learning
    from g observations", is computed from the parts (such as the cells of a confusion matrix)
    averaged over such learning sets. It is not the average F1. The linear part at these averages
    takes the place of losses in all variances, in few fits and in Monte-Carlo errors. For confusion
    metrics "auto" is as for error rates: the
    midpoint variance; "stabilised" for differences; "plus_four" for one learner, with two right and
    two wrong observations added to the confusion matrix. Moments of one learner have Student's t on
    the scale log(1 - T) (R2, skills), Fisher's z (correlations) or log (WAPE), with the jackknife;
    the RMSE has the roots of the limits of "hall_floor" for the mean square. In simulations of a
    prototype with thousands of fits (ten problems, n = 40 to 200), 95% intervals of nine metrics of
    one learner contained the true value in 95.9% of the samples (89% in the worst problem);
    "stabilised" for differences of accuracy, F1 and MCC in 98.6% (96%). With this code, on 32
    other problems, intervals of F1, MCC and balanced accuracy of one learner contained it in 95.3%
    and 95.7% (from 20 fits of each learner and from 2000; 86% in the worst problem), and intervals
    for differences in 96.1% and 97.0% (89%). Intervals for the R2 of one learner are too short
    (91.3% and 92.2% on 6 problems, five of them with skewed or heavy-tailed noise). If a metric is
    0/0, the estimate is NaN and the status says so.

    **Given losses.** `from_losses` accepts the loss of every observation under random splits of one
    size, each learning set tested on all other observations (`uv.designs.RandomSplits`, also
    stratified: the estimand is then about learning sets with the classes in proportion), and under
    learning sets drawn in disjoint pairs (`uv.designs.DisjointSets`), which "clipped" and
    "unbiased" need. The design fixes the number of splits; some thousand are needed, and with fewer
    the status says so. The asymptotic variance does not exist there, because it needs further fits.

    References
    ----------
    M. Fuchs, R. Hornung, R. De Bin, A.-L. Boulesteix (2013), A U-statistic estimator for
    the variance of resampling-based error estimators: (10), (15), Theorem 4.1. Erratum:
    the second case of Theorem 4.1 is biased down, not up. D. Hand, R. Till (2001), A simple
    generalisation of the area under the ROC curve for multiple class classification problems,
    Machine Learning 45. B. Efron, C. Stein (1981), The
    jackknife estimate of variance. A. Agresti, B. A. Coull (1998), Approximate is better than
    "exact" for interval estimation of binomial proportions. P. Hall (1992), On the removal of
    skewness by transformation. R. Tibshirani (1988), Estimating transformations for regression
    via additivity and variance stabilization. T. Amemiya (1980), Selection of regressors,
    International Economic Review 21.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> test = uv.UStatisticTest(X[50:, :2], y[50:], "lda", "nearest_centroid", learn_size=30)
    >>> result = test.fit(n_pairs=500, rng=0)
    >>> result.status
    'ok'
    >>> bool(abs(result.estimate) < 0.1)
    True

    The AUC of three classes:

    >>> found = uv.UStatisticTest(X[:, :2], y, "lda", loss="auc").fit(n_pairs=500, rng=0)
    >>> found.estimand[:33]
    'AUC of 3 classes (Hand and Till) '
    >>> bool(0.9 < found.estimate < 0.95)
    True
    """

    method_name = METHOD_NAME
    in_short = "all learning sets of one size"
    r_function = "ustat_test"
    needs = Needs(
        designs="random splits with learning sets of one size, or disjoint ones, with the loss of "
        "every observation tested; scores under random splits with the same number of "
        "each class in every learning set",
        metrics=("loss", "auc", "metric"),
        contrasts=CONTRASTS,
        clusters="units",
        weights=True,
        several=True,
        null_by_options=True,
        null_of_auc=math.nan,
    )

    learning_sets: LearningSets
    """The learning sets that the estimand is about."""

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        learn_size: int | tuple[int, int] | None = None,
        contrast: Contrast = "difference",
        metric: Any = None,
        weights: Any = None,
        **ask: Unpack[Ask],
    ) -> None:
        # The loss is refused before the null value is.
        ask["loss"] = chosen_loss(ask.get("loss"), ask.pop("scoring", None), metric, weights)
        ask["null_value"] = null_value_of(contrast, ask.get("null_value"))
        question = self.question_of(X, y, learner, other, weights=weights, **ask)
        self._ask(question, learn_size, contrast)

    def _ask(
        self,
        question: Question,
        learn_size: int | tuple[int, ...] | None = None,
        contrast: Contrast = "difference",
    ) -> None:
        super()._ask(question)
        self.learning_sets = LearningSets.of(question, learn_size, contrast)
        if isinstance(question, DataQuestion):
            rows = question.problem.learnt_rows(self.learning_sets.learn_size)
            self.question = question.ready(rows)

    @classmethod
    def from_losses(
        cls,
        losses: Losses,
        learner: str | int | None = None,
        other: str | int | None = None,
        *,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        contrast: Contrast = "difference",
        group_weight: GroupWeight | None = None,
    ) -> Self:
        """Create the test from existing losses; `fit` then does not fit models.

        Parameters
        ----------
        losses : Losses
        learner, other : str or int, optional
            Names or positions in `losses`; a learner without `other` is tested alone. With neither,
            the only learner is tested, or two are compared. With more learners, `learner` must be
            named.
        null_value, alternative, contrast, group_weight
            See the class; clusters are those of the losses.

        Raises
        ------
        ValueError
            If the test does not accept the design of the losses, or an argument cannot be used.
        """
        null_value = null_value_of(contrast, null_value)
        question = cls.question_of_losses(
            losses, learner, other, null_value, alternative, group_weight
        )
        return cls.about(question, contrast=contrast)

    @property
    def learn_size(self) -> int:
        """How many observations each learning set has, of all classes together."""
        return self.learning_sets.learn_size

    @property
    def contrast(self) -> Contrast:
        """How two learners are compared."""
        return self.learning_sets.contrast

    @property
    def positive(self) -> Any:
        """See `HypothesisTest`; None for several classes, unless one is compared with the rest."""
        return self.learning_sets.positive(self.question)

    @property
    def disjoint(self) -> bool:
        """Whether n >= 2g + 2 (in each class): disjoint learning sets leave some to test."""
        return self.learning_sets.sizes.disjoint

    @property
    def estimand(self) -> str:
        """The estimand in words."""
        return self.learning_sets.estimand(self.question)

    @fit_by(Options)
    def fit(self) -> None:
        """Estimate, studentise and test.

        Parameters
        ----------
        n_pairs : int, "auto" or "exact"
            Pairs of disjoint learning sets to draw. "auto" draws until the Monte-Carlo error of the
            variance is below `tol` times the variance, and that of the estimate is below `tol`
            times its standard error; for the AUC it makes at least max(600, 10 n) fits of each
            learner. "exact" learns from all C(n, g) learning sets (for the AUC, those within the
            classes, or of groups).
        variance : {"auto", "midpoint", "clipped", "jackknife", "unbiased", "asymptotic", "few"}
            The variance estimate to studentise with; others that are precise enough are reported
            too.

            - "auto" is "midpoint" for the zero-one loss if g <= n/2 and 12 <= n <= 2000, and for
              the AUC if at most half of each class is learnt from and n <= 1000; otherwise
              "jackknife".
            - "clipped", "unbiased" and "asymptotic" are for mean losses if n >= 2g + 2, and need
              many times the fits.
            - "few" is for mean losses and their ratios if n >= 2g + 2, and for the AUC if at most
              half of each class, or of the groups, is learnt from. Three pairs are enough. "auto"
              pairs are then 10, unless all learners are jitted, or `max_fits` or `max_seconds`
              allow more.
        tol : float
            Relative Monte-Carlo error at which "auto" stops.
        max_fits : int, optional
            Model fits after which "auto" stops in any case. It is refused if it is too small for an
            answer, or for the pairs that are asked for. By default 200 000 if every learner is
            jitted, otherwise 20 000.
        interval : {"auto", "wald", "stabilised", "plus_four", "hall", "hall_floor", "logit"}
            The rule for interval and p-value; the p-value inverts the interval. "wald" is the
            estimate plus and minus its standard error times a quantile. "stabilised", for error
            rates, allows for a standard error that changes with the estimate. For two learners
            "auto" is "stabilised" for error rates if n >= 40 and g <= n/2, otherwise "wald". For
            one learner "auto" is "plus_four" for error rates; "hall" for losses of labels and
            probabilities and for losses with bounds; "hall_floor" for other losses of numbers;
            "logit" for the AUC. The Notes of the class have the rules with `metric`. Few fits
            determine neither skewness nor slope: "wald" then replaces "stabilised", and
            "hall_floor" replaces "hall".
        max_seconds : float, optional
            Approximate limit on the seconds of "auto". Some fits are timed, and `max_fits` becomes
            the number that fits into the time. The settings of the result keep that number; the
            same `max_fits` and `rng` without `max_seconds` repeat the result.
        checkpoint : path, optional
            A folder that keeps the predictions of learners that are fitted one by one, every few
            seconds. After an interrupt or a crash, the same call continues from there, to the
            result of an uninterrupted call (except for the seconds it took). With ``rng=None`` the
            resumed call reuses the original seed. Fits that failed are tried again. See
            `compare`.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            If an argument cannot be used, there is no time for any answer, or a learner fails on a
            split. A learner that is fitted one by one may fail on some disjoint pairs of learning
            sets: such a pair is left out for both learners, with a note. The first pair must not
            fail, three pairs must remain, and a failure of two pairs and more than a tenth of those
            so far is an error.
        KeyboardInterrupt
            Before the third pair is done. Later, if such learners may fail and the variance is
            "few" or "auto", the result is that of the finished pairs, and its status says
            "interrupted after ... fits".
        """

    def resolved(self, options: Options) -> UStatisticOptions:
        """See `HypothesisTest.resolved`."""
        resolved = UStatisticOptions.of(self.question, self.learning_sets, options)
        is_bounded = resolved.n_pairs == "auto" or options.max_fits is not None
        if self.learning_sets.given_sets is None and is_bounded:
            self._stages(resolved).check()
        return resolved

    def _stages(self, options: UStatisticOptions) -> Stages:
        return Stages(self.learning_sets, options, len(self.question.learners))

    def _fit(self, options: Options, execution: Execution | None = None) -> TestResult:
        if options.checkpoint is None:
            return super()._fit(options, execution)
        user_options = options.own
        checkpoint = user_options.pop("checkpoint")
        # Nothing is read or written for options that are refused.
        self.resolved(options)
        self.question.refuse_budget(checkpoint=checkpoint)
        problem = self.question.data("checkpoint")
        saved_fits = Checkpoint(checkpoint, options.rng)
        rng = saved_fits.seed(options.rng)
        execution = Execution.of(rng, options.n_jobs, options.batch_size)
        with saved_fits:
            call = {**self._checkpoint_question(problem), **user_options}
            saved_fits.begin(call, problem.learners, execution.seed or 0)
            return super()._fit(options, replace(execution, progress=Progress(saved_fits)))

    def _checkpoint_question(self, problem: Problem) -> dict[str, Any]:
        """Everything that decides the fits apart from the options of `fit`, for a checkpoint."""
        sample, clusters = problem.sample, self.question.clusters
        return {
            "call": "UStatisticTest.fit",
            "X": sample.features,
            "y": sample.response,
            "classes": sample.classes,
            "groups": None if clusters is None else clusters.groups.index,
            "loss": problem.metric.reported_name,
            "contrast": self.contrast,
            "learn_size": self.learn_size,
            **problem.weights_asked,
        }

    def least_fits(self, options: UStatisticOptions) -> int:
        """See `HypothesisTest.least_fits`."""
        return self._stages(options).least_fits

    def within_fits(self, options: UStatisticOptions, most_fits: int) -> UStatisticOptions:
        """See `HypothesisTest.within_fits`."""
        return options.within(most_fits)

    def _answer(self, options: UStatisticOptions, execution: Execution) -> Answer:
        question, learning_sets = self.question, self.learning_sets
        options = self._stages(options).limited_by_time(question, execution)
        options = self._stages(options).few_if_needed()
        source, seed = question.losses(execution), execution.seed

        def result_so_far(estimates: Estimates) -> TestResult:
            answer = answer_of(question, learning_sets, options, estimates, source, seed)
            return finish(question, answer, METHOD_NAME)

        run = PairedRun(question, learning_sets, options, source)
        estimates = run.estimates(execution.generator, result_so_far)
        return answer_of(question, learning_sets, options, estimates, source, seed)

    @classmethod
    def joint_run(
        cls, tests: Mapping[Any, Any], names: Sequence[str], options: Mapping[str, Any]
    ) -> "JointRun":
        """Tests of each of several learners, by name, and of pairs of them, from the same fits."""
        # Only simultaneous intervals need it, and it imports the paths of all kinds of losses.
        from ucvtest.methods.ustatistic.simultaneous import JointRun

        return JointRun.of(tests, names, options)

    @classmethod
    def simultaneous_results(
        cls, tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """See `HypothesisTest.simultaneous_results`."""
        return cls.joint_run(tests, losses.learners, options).on_losses()

    @spelled_out
    def kappa_profile(
        self,
        c_values: Sequence[int] | None = None,
        n_pairs: Annotated[int, AtLeast(2)] | Literal["exact"] = 1000,
        **run: Unpack[Run],
    ) -> KappaProfile:
        """Estimate kappa_c = E[Phi_0(S) Phi_0(S')] for sets S, S' with c observations in common.

        They do not depend on n, so the full profile predicts the variance at any other sample size:
        see `KappaProfile.variance`.

        Parameters
        ----------
        c_values : sequence of int, optional
            Numbers of common observations, from max(0, 2g + 2 - n) to g + 1; by default all.
        n_pairs : int or "exact"
            Pairs of learning sets drawn for each overlap that is needed.
        rng, n_jobs, batch_size, progress
            See `fit`.

        Returns
        -------
        KappaProfile

        Raises
        ------
        ValueError
            If a value of c is impossible.

        Notes
        -----
        Fuchs et al. (2013), (13) and (14). Cost: 2 n_pairs fits of each learner for each of
        up to g + 2 overlaps, and as many for an additive fit.
        """
        question, sizes = self.question, self.learning_sets.sizes
        overlaps = overlaps_of(question, self.learning_sets, c_values, n_pairs)
        assert isinstance(sizes, Sizes)
        execution = question.execution(**run)
        with question.fitting(self, "kappa", run.get("progress")) as bar:
            source = question.losses(replace(execution, bar=bar))
            return profile(Sampler(sizes, source, execution.generator), sizes, overlaps, n_pairs)
