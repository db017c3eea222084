"""The U-statistic test of Fuchs, Hornung, De Bin and Boulesteix (2013)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any, Literal, Self

import numpy as np

from ucvtest.common.execution import Execution, Progress
from ucvtest.data.groups import GroupWeight
from ucvtest.data.missing import Missing
from ucvtest.evaluation.checkpoint import open_checkpoint
from ucvtest.evaluation.problem import Problem
from ucvtest.inference.base import HypothesisTest
from ucvtest.inference.question import DataQuestion, Question, chosen_learners
from ucvtest.learners.adapters.translate import Backend
from ucvtest.losses.table import Losses
from ucvtest.methods.ustatistic.budget import (
    capped,
    check_budget,
    few_if_needed,
    least_fits,
    limited_by_time,
    within_memory,
)
from ucvtest.methods.ustatistic.contrast import null_value_of
from ucvtest.methods.ustatistic.estimation import Sampler
from ucvtest.methods.ustatistic.interval import IntervalName
from ucvtest.methods.ustatistic.kappa import KappaProfile, complete_profile, sampled_profile
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.options import (
    DEFAULT_TOL,
    NumberOfPairs,
    ProfileOptions,
    UStatisticOptions,
    Variance,
)
from ucvtest.methods.ustatistic.result import METHOD_NAME, Estimates, estimates_from, result_from
from ucvtest.methods.ustatistic.simultaneous import JointRun
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.results.fields import CONTRASTS, Contrast
from ucvtest.results.result import TestResult
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.wald import Alternative

__all__ = ["UStatisticTest"]


class UStatisticTest(HypothesisTest):
    r"""Test of an error rate, or of the difference of two, over all learning sets of one size.

    Estimand: the expected loss (difference) of the rule(s) learnt on a random learning set
    of `learn_size` observations, at a new observation: an unconditional error. H0: it
    equals `null_value`. The estimate is the mean over all splits into a learning set of
    this size and a test set (leave-p-out), the unbiased estimate with the smallest
    variance. With ``loss="auc"``: the expected AUC (difference), the probability that a new
    positive is scored above a new negative, ties counted half; the mean is over all learning sets
    within the classes (of `groups` with rows of several classes: over all sets of groups) and all
    pairs that they leave to be tested.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "lasso:0.08", or a callable ``(X_train, y_train, X_test) -> predictions``. It must
        not depend on the order of the learning rows.
    other : learner, optional
        The learner to compare with; the estimate is `learner` minus `other`.
    learn_size : int or pair of int, optional
        Number of observations to learn from, g; by default floor(n/2) - 1, the largest
        for which every variance exists. With ``loss="auc"`` as many of each class are in every
        learning set: a pair says how many, negatives first; a number is shared out in proportion
        to the classes; by default floor(n_c/2) - 1 of class c. Of more than two classes a tuple
        says how many of each, in ascending order with `pos_label` last. Of `groups` with rows of
        several classes it is a number of groups.
    contrast : {"difference", "ratio"}
        How two learners are compared: "ratio" is the expected loss of the first over that of the
        second, for losses that are never negative (squared, absolute, log, or with such bounds;
        not zero_one). `estimate`, `null_value` (by default 1) and the interval are ratios; `se` and
        `variance` are those of the logarithm.
    metric : str or metric, optional
        In the place of a loss what is no mean of one, such as "f1", "mcc" or "r2": see Notes.
    weights : array-like, shape (n,), str or mapping, optional
        See `HypothesisTest`.
    null_value, alternative, loss, scoring, pos_label, missing, groups, group_weight, backend
        See `HypothesisTest`. ``loss="auc"`` needs learners with scores: of more than two classes
        one for each, and the AUC is Hand and Till's, or that of `pos_label` against the rest. The
        AUC of one learner is only tested against a `null_value` that is given.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Notes
    -----
    Assumes independent observations and deterministic learners. The delete-one jackknife J is above
    the variance in expectation. With the effects M2 of pairs of observations, "midpoint" is
    :math:`V = \max((J + J^2/(J + M_2))/2, M_2/2)`, half way to the value for components that fall
    geometrically with their degree, and no less than what effects of pairs alone would give. It is
    the default for errors (zero-one loss) where learning sets hold at most half of 12 to 2000
    observations: its 95% intervals for differences covered 97% over 55 simulated settings, none of
    them less than 92%, "clipped" 95%, the worst 83%, and "jackknife" 98%, the worst 91%, with
    longer intervals. Elsewhere, and for every other loss, whose tails make all of them too small,
    the jackknife is the default. The normal reference of the variances "unbiased" and "asymptotic"
    is the paper's; at small n both are liberal (the paper's 95% interval covers about 80% over 60
    simulated settings with n = 60). With more features than observations and skewed losses all of
    them can fall below their level. Cost: two fits of each learner for each pair, and O(n^2)
    operations.

    "few" is the variance from few fits, of mean losses and their ratios. The spread of the
    observations is known from n of them whatever the number of fits; what learning adds is told by
    the fits, less their noise: what the means of whole pairs of learning sets vary by. Where pairs
    whose sets differ more are worse (or better), a few observations decide which rule is learnt,
    and that is no noise. The share of it that is explained so (Amemiya 1980) is kept, and a note
    says so where it is half or more. The degrees of freedom hold what so few fits leave open, so
    that 12 fits of two learners answer. With 20 fits of each learner, 95% intervals for differences
    of error rates contained the true value in 96.3% of the samples of 77 simulated settings (n = 40
    to 200, 300 samples each), at 0.57 times the width of the 5x2 t test's and 1.25 times that of
    thousands of fits; with 200 fits in 96.9%, at 1.02 times. The worst setting had 80.7%, learners
    whose rule a few rows decide (`held_spam`, n = 200); it is the worst for all tests. Differences
    of squared and log losses had 92% (79% in the worst, skewed noise), as their tails do not show.
    With 20 and 30 observations six settings had 97.5% in all; with fewer it has not been tried.
    "auto" takes it where the fits end before the variance that it stands for is known to a quarter
    of itself, from the same pairs of learning sets.

    The AUC has it too, with placements of each class in the place of losses. With 20 fits of each
    learner, 95% intervals for differences of AUCs of two classes contained the true value in 96.4%
    of the samples of 67 simulated settings (n = 40 to 200, 203 or more samples each), at 0.58 times
    the width of the corrected t test's and 1.22 times that of thousands of fits; with 200 fits in
    96.1%, at 1.03 times. The worst setting had 91.7% (`spambase`, n = 40). Intervals for the AUC of
    one learner had 95.9%, and 88.2% in the worst (`null_2`, n = 100, without signal, where
    thousands of fits had 99%). AUCs with `groups`, whose clusters are then the observations, and
    those of several classes have the same rule. Their coverage has not been studied.

    A ratio has from few fits the variance of its linear part, L1/U1 - L2/U2, round by round.
    Several learners at once (``uv.compare(correction="simultaneous")``) have a variance and degrees
    of freedom for each difference. A normal copula joins their p-values, with the correlation of
    the observations' effects; what learning and the draws add is taken for independent between
    learners. "auto" takes it there where the variances of most differences are not known to a
    quarter of themselves.

    What each of two learners reaches alone, in the table "Learners", is its mean loss over the
    fits, with the standard error of its own delete-one jackknife variance: NaN where too few
    pairs are drawn to tell it.

    The AUC (``loss="auc"``) is a two-sample U-statistic, whose default is the midpoint variance
    too. It needs learning sets of at most half of each class; for larger ones "jackknife" is the
    default. Intervals are U +- t se for differences, with
    Welch's degrees of freedom; for one learner the same on the logit scale, transformed back. With
    fewer than 8 observations of a class they are rough. Whether an AUC exceeds 1/2 is better
    answered by permutation tests such as `LeavePairOutTest`. Cost: two fits of each learner for
    each pair, and O(n^2) operations for each fit, which is what takes the time from some hundred
    observations on (minutes with 1000; `max_fits` bounds it). With more than 1000 nothing is kept
    of pairs of observations, and a fit costs a sort: the variance is the jackknife then.

    Intervals of one learner are not symmetric (`fit(interval=)`):

    - "plus_four", for error rates, adds two errors and two correct predictions to the estimate and
      to its variance (Agresti and Coull 1998); Student's t with n - 1 degrees of freedom, cut to
      [0, 1]. It answers where no loss varied too. In 40 simulated cells it covered 96% with
      "clipped", 93% in the worst, at the width of "wald", which covered 94%, and 83% in the worst.
    - "hall" takes the skewness of the jackknife's pseudo-values out of the studentised estimate by
      the cubic of Hall (1992); Student's t with the degrees of freedom that their kurtosis leaves.
      For log losses it covered 92%, "wald" 89%.
    - "hall_floor" is the same with a skewness of at least 6 in the upper limit, for squared and
      absolute losses without a largest value: sample skewness cannot exceed about the root of n, so
      that a tail from which nothing was drawn cannot be estimated. The limit is no less than that
      of "hall". Squared losses with tails, 16 cells of 300 samples, n = 40 to 200: covered 97%, 94%
      in the worst; "hall", the narrower rule, 91 and 81%; "wald" 77 and 69%, at 0.4 of the width.

    With ``contrast="ratio"`` the logarithm of the ratio of the two mean losses is studentised with
    the jackknife of its linear part, the kernel L1/U1 - L2/U2, and Student's t with the degrees of
    freedom that the kurtosis leaves; its interval is transformed back. Over simulated squared and
    log losses it covered 95% (85% in the worst cell, log losses with learning sets of one class),
    differences 88 to 92%, and it has more power where noise is skewed. The Monte-Carlo error of the
    jackknife is down to the quarter that an answer needs after 2000 to 20 000 fits up to n = 200
    (in the median of a problem 2000 to 8000); two learners that are nearly the same, as ridge and
    least squares, need 11 000 to 46 000 at n = 200, and 46 000 at n = 500.

    For error rates of one learner or of two there is also "stabilised". Where the standard error
    moves with the estimate, symmetric intervals miss on one side. The slope of its logarithm is
    that of the delete-one jackknives on the estimates without the same observations, from products
    of different draws; Student's t with n - 1 degrees of freedom is taken on the scale on which
    the standard error is constant (Tibshirani 1988). The slope is shrunk by its standard error
    and bounded, and followed for two standard errors; from four on there is no difference to
    "wald", whose p-values are within a factor of 10. Numbers before the slope was bounded:
    differences of error rates, in simulated problems that were kept aside, covered 97.3%, 91.7% in
    the worst, with the midpoint variance; "wald" 96.4 and 83.7%, at 0.94 times the width and with
    more power (25 and 21% rejected). For one learner "plus_four" is shorter, but "stabilised" safer
    where the learner is unstable (84.7 and 90.7% in the worst). It needs g <= n/2 and n <= 2000.

    With "hall" and "hall_floor" the variance "auto" is "jackknife". None of these is for the
    tests on K folds: "hall" needs pseudo-values, which K folds do not have, and "plus_four" has not
    been tried with variances that rest on K - 1 degrees of freedom.

    Of C > 2 classes the AUC is that of Hand and Till (2001): the mean over all pairs of classes c
    and d of the probability that the score of c is higher for c, and that the score of d is higher
    for d. With `pos_label` it is the probability that the score of this class is higher for it than
    for another class, these in their shares of the sample. Learning sets are drawn within all
    classes; "jackknife" is the default variance, "midpoint" exists as above; at most 1000
    observations. With `groups` learning sets are random clusters, also where each is of one class,
    and there is the jackknife alone; the share of a class is that of its clusters, unless
    ``group_weight="row"``. A class that a learning set lacks has its lowest score everywhere, so
    it ranks no row above another (functions have to see to that themselves). Learners with a score
    for each class: "lda", "qda" and "gaussian_nb" (log-odds against all other classes),
    "nearest_centroid" (by how much the nearest other mean is farther off), "knn" and "majority"
    (shares), all jitted; scikit-learn classifiers by `predict_proba`, or where there is none by
    `decision_function`; functions that return (n_test, C), columns in the order of
    ``np.unique(y)``. Others are refused.

    With `metric` the parts of F1, R2 and other functions of means are pooled over all learning
    sets and all observations that they leave to be tested. The estimand is "F1 of the expected
    parts of rules learnt from g observations", and not the expected F1 of a rule. Values linearised
    at the pooled parts take the place of losses in all variances, in few fits and in Monte-Carlo
    errors; predictions are kept for that. For confusion metrics "auto" is as for error rates: the
    midpoint variance, "stabilised" for differences, and for one learner "plus_four", two right and
    two wrong observations added to the confusion matrix, with the variance of the values linearised
    there. For moments of one learner it is Student's t on the scale log(1 - T) (R2, skills),
    Fisher's z (correlations) or log (WAPE), with the jackknife; for the RMSE the roots of the
    limits of "hall_floor" for the mean square. In the simulations of a prototype with thousands of
    fits (ten problems, n = 40 to 200) 95% intervals of nine metrics of one learner contained the
    true value in 95.9% of the samples, 89% in the worst problem; "stabilised" for differences of
    accuracy, F1 and MCC in 98.6%, 96% in the worst. With this code, F1 and MCC on two problems with
    n = 60 (200 samples each), from 20 fits and from 1000: 94.0% or more, and 94.5% or more for
    differences. Where a metric is 0/0 the estimate is NaN, and the status says so.

    `from_losses` admits the loss of every observation under random splits of one size, each
    learning set tested on all others (`uv.designs.RandomSplits`, also stratified: the estimand then
    is that of learning sets with the classes in proportion), and under learning sets drawn in
    disjoint pairs (`uv.designs.DisjointSets`), which "clipped" and "unbiased" need. The number of
    splits is that of the design: nothing is added where it is too small, and the status says so; it
    takes some thousand. There is no asymptotic variance then, which needs further fits.

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
    >>> found.estimand[:46]
    'unconditional AUC of 3 classes (Hand and Till)'
    >>> bool(0.9 < found.estimate < 0.95)
    True
    """

    method_name = METHOD_NAME
    in_short = "all learning sets of one size"
    r_function = "ustat_test"
    takes_auc = True
    takes_metrics = True
    takes_groups = True
    takes_weights = True
    contrasts = CONTRASTS
    admits = (
        "random splits with learning sets of one size (RandomSplits, DisjointSets), with the loss "
        "of every observation tested; scores under random splits with as many of each class in "
        "every learning set"
    )
    default_auc = math.nan
    judges_several = True

    learning_sets: LearningSets
    """Which learning sets the estimand is about."""

    def __init__(
        self,
        X: Any,
        y: Any,
        learner: Any,
        other: Any = None,
        *,
        learn_size: int | tuple[int, int] | None = None,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
        loss: Any = None,
        pos_label: Any = None,
        groups: Any = None,
        group_weight: GroupWeight = "group",
        backend: Backend = "auto",
        contrast: Contrast = "difference",
        scoring: Any = None,
        metric: Any = None,
        missing: Missing = "raise",
        weights: Any = None,
    ) -> None:
        loss = chosen_loss(loss, scoring, metric, weights)
        question = self.question_of(
            *(X, y, learner, other),
            null_value=null_value_of(contrast, null_value),
            alternative=alternative,
            loss=loss,
            pos_label=pos_label,
            groups=groups,
            group_weight=group_weight,
            backend=backend,
            missing=missing,
            weights=weights,
        )
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
        """The test on losses that exist: `fit` then fits no model.

        Parameters
        ----------
        losses : Losses
        learner, other : str or int, optional
            Names or places in `losses`; a learner without `other` is tested alone. With neither,
            the only learner is tested, or two are compared; of more, `learner` must be named.
        null_value, alternative, contrast, group_weight
            See the class; clusters are those of the losses.

        Raises
        ------
        ValueError
            If the design of the losses is none that the test admits, or an argument is off.
        """
        null_value = null_value_of(contrast, null_value)
        difference = chosen_learners(losses, learner, other)
        question = cls.question_of_losses(difference, null_value, alternative, group_weight)
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
        """See `HypothesisTest`; none of several classes, unless one is told from the rest."""
        return self.learning_sets.positive(self.question)

    @property
    def disjoint(self) -> bool:
        """Whether n >= 2g + 2 (in each class), so that the unbiased variance exists."""
        return self.learning_sets.sizes.disjoint

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        return self.learning_sets.estimand(self.question)

    def fit(
        self,
        n_pairs: NumberOfPairs = "auto",
        variance: Variance = "auto",
        tol: float = DEFAULT_TOL,
        max_fits: int | None = None,
        *,
        interval: IntervalName = "auto",
        max_seconds: float | None = None,
        checkpoint: str | PathLike[str] | None = None,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> TestResult:
        """Estimate, studentise and test.

        Parameters
        ----------
        n_pairs : int, "auto" or "exact"
            Pairs of disjoint learning sets to draw. "auto" draws until the Monte-Carlo
            error of the variance is below `tol` times the variance, and that of the
            estimate below `tol` times its standard error; for the AUC at least
            max(600, 10 n) fits of each learner. "exact" learns from all C(n, g) learning
            sets (for the AUC, those within the classes, or of groups).
        variance : {"auto", "midpoint", "clipped", "jackknife", "unbiased", "asymptotic", "few"}
            The variance estimate to studentise with; those that are precise are reported beside
            it. "auto" is "midpoint" for the zero-one loss where g <= n/2 and 12 <= n <= 2000,
            else "jackknife". "clipped", "unbiased" and "asymptotic" need n >= 2g + 2, and many
            times the fits. Of the AUC there are all but "asymptotic", and "auto" is "midpoint"
            where at most half of each class is learnt from and n <= 1000, else "jackknife".
            "few" is for mean losses (and their ratios) and n >= 2g + 2, and for the AUC where at
            most half of each class, or of the groups, is learnt from: three pairs or more suffice,
            "auto" being 10 unless all learners are jitted, or `max_fits` or `max_seconds` allow
            more.
        tol : float
            Relative Monte-Carlo error at which "auto" stops.
        max_fits : int, optional
            Model fits after which "auto" stops in any case; fewer than an answer takes are
            refused. "exact" and a number of pairs that take more are refused, too. By default
            200 000 where every learner is jitted, else 20 000.
        interval : {"auto", "wald", "stabilised", "plus_four", "hall", "hall_floor", "logit"}
            Where interval and p-value come from; the p-value inverts the interval. "wald" is the
            estimate plus and minus its standard error times a quantile; "stabilised", for error
            rates, allows for a standard error that moves with the estimate. For two learners "auto"
            is "stabilised" for error rates where n >= 40 and g <= n/2, else "wald". For one learner
            "auto" is "plus_four" for error rates; "hall" for losses of labels and probabilities and
            those with bounds; "hall_floor" for other losses of numbers; "logit" for the AUC. With
            `metric` it is what the Notes of the class say. Few fits tell neither skewness nor
            slope: with them "wald" stands for "stabilised", and "hall_floor" for "hall".
        max_seconds : float, optional
            Seconds that "auto" may take, about: some fits are timed, and `max_fits` becomes what
            there is time for. The settings of the result keep that number, and the same `max_fits`
            and `rng` without `max_seconds` repeat the result.
        checkpoint : path, optional
            A file that keeps the predictions of learners that are fitted one by one, some seconds
            of fits at a time. After an interrupt, or a crash, the same call goes on from there to
            the result of an uninterrupted one, but for the seconds it took; with ``rng=None`` it
            goes on with the seed of then. Fits that failed are tried again. See `compare`.
        rng, n_jobs, batch_size, progress
            See `HypothesisTest.fit`.

        Returns
        -------
        TestResult

        Raises
        ------
        ValueError
            If an argument cannot be used, there is no time for any answer, or a learner fails on a
            split. A learner that is fitted one by one may fail on disjoint pairs of learning sets:
            the pair is left out for both learners, with a note, unless it is the first, fewer than
            three are left, or two pairs and more than a tenth of those so far have failed.
        KeyboardInterrupt
            Before the third pair is done. From then on, where such learners may fail and the
            variance is "few" or "auto", the result is that of the pairs that are done, and its
            status says "interrupted after ... fits".
        """
        options = self.fit_options(n_pairs, variance, tol, max_fits, interval, max_seconds)
        if checkpoint is None:
            execution = self.question.execution(rng, n_jobs, batch_size)
            return self._fit(options, execution, progress)
        self.question.refuse_budget(checkpoint=checkpoint)
        problem, saved_fits = self.question.data("checkpoint"), open_checkpoint(checkpoint, rng)
        execution = self.question.execution(saved_fits.seed(rng), n_jobs, batch_size)
        with saved_fits:
            fit_question = {
                **self._checkpoint_question(problem),
                "n_pairs": n_pairs,
                "variance": variance,
                "tol": tol,
                "max_fits": max_fits,
                "interval": interval,
                "max_seconds": max_seconds,
            }
            saved_fits.begin(fit_question, problem.learners, execution.seed or 0)
            return self._fit(options, replace(execution, progress=Progress(saved_fits)), progress)

    def _checkpoint_question(self, problem: Problem) -> dict[str, Any]:
        """What decides the fits beside the options of `fit`, for a checkpoint."""
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

    def fit_options(
        self,
        n_pairs: NumberOfPairs = "auto",
        variance: Variance = "auto",
        tol: float = DEFAULT_TOL,
        max_fits: int | None = None,
        interval: IntervalName = "auto",
        max_seconds: float | None = None,
    ) -> UStatisticOptions:
        """The options of `fit`, validated."""
        options = UStatisticOptions.of(
            self.question,
            self.learning_sets,
            n_pairs=n_pairs,
            variance=variance,
            tol=tol,
            max_fits=max_fits,
            interval=interval,
            max_seconds=max_seconds,
        )
        if self.learning_sets.given_sets is not None:
            return options
        options = within_memory(self.question, self.learning_sets, options, len(self.learners))
        if options.n_pairs == "auto" or max_fits is not None:
            check_budget(self.learning_sets, options, len(self.learners))
        return options

    def least_fits(self, options: UStatisticOptions) -> int:
        """See `HypothesisTest.least_fits`."""
        return least_fits(self.learning_sets, options, len(self.learners))

    def within_fits(self, options: UStatisticOptions, most_fits: int) -> UStatisticOptions:
        """See `HypothesisTest.within_fits`."""
        return capped(options, most_fits)

    def _answer(self, options: UStatisticOptions, execution: Execution) -> TestResult:
        question, learning_sets = self.question, self.learning_sets
        options = limited_by_time(question, learning_sets, options, execution)
        options = few_if_needed(learning_sets, options, len(question.learners))
        source = question.losses(execution)

        def result_of(estimates: Estimates) -> TestResult:
            return result_from(question, learning_sets, options, estimates, source, execution.seed)

        def answer_so_far(estimates: Estimates) -> TestResult:
            return question.reported(result_of(estimates))

        return result_of(
            estimates_from(
                *(question, learning_sets, source, options, execution.generator), answer_so_far
            )
        )

    @classmethod
    def joint_run(
        cls, tests: Mapping[Any, Any], names: Sequence[str], options: Mapping[str, Any]
    ) -> JointRun:
        """Tests of each of several learners, by name, and of pairs of them, from the same fits."""
        return JointRun.of(tests, names, options)

    @classmethod
    def simultaneous_results(
        cls, tests: Mapping[Any, Any], losses: Losses, options: Mapping[str, Any]
    ) -> tuple[dict[Any, TestResult], JointEstimates]:
        """See `HypothesisTest.simultaneous_results`."""
        return cls.joint_run(tests, losses.learners, options).on_losses(losses)

    def kappa_profile(
        self,
        c_values: Sequence[int] | None = None,
        n_pairs: int | Literal["exact"] = 1000,
        *,
        rng: int | np.random.Generator | None = None,
        n_jobs: int | None = None,
        batch_size: int | None = None,
        progress: bool | None = None,
    ) -> KappaProfile:
        """Estimate kappa_c = E[Phi_0(S) Phi_0(S')] for sets S, S' with c observations in common.

        They do not depend on n, so the full profile predicts the variance at any other
        sample size: see `KappaProfile.variance`.

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
        up to g + 2 overlaps, and as many for the control variate.
        """
        question = self.question
        options = ProfileOptions.of(question, self.learning_sets, c_values, n_pairs)
        execution = question.execution(rng, n_jobs, batch_size)
        with question.fitting(self, "kappa", progress) as bar:
            source = question.losses(replace(execution, bar=bar))
            sampler = Sampler(options.sizes, source, execution.generator)
            if options.n_pairs is None:
                return complete_profile(sampler, options.c_values)
            return sampled_profile(sampler, options.c_values, options.n_pairs)
