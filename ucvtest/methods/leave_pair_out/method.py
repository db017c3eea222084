"""The leave-pair-out test of Pahikkala et al. (2025), of an AUC against chance."""

from dataclasses import replace
from typing import Any, Literal, Self, Unpack

import numpy as np

from ucvtest.codes.linear_programme import LONGEST_CODE
from ucvtest.common.execution import Execution
from ucvtest.common.words import arg, call
from ucvtest.data.groups import units_of
from ucvtest.data.missing import complete_rows
from ucvtest.designs.structure import pairs_of
from ucvtest.inference.answer import Answer
from ucvtest.inference.arguments import OfData
from ucvtest.inference.base import HypothesisTest, fit_by
from ucvtest.inference.needs import Needs
from ucvtest.inference.question import DataQuestion, Question
from ucvtest.inference.studentise import Hypothesis
from ucvtest.losses.table import Losses
from ucvtest.methods.leave_pair_out.estimation import errors_for, estimate
from ucvtest.methods.leave_pair_out.forecast import Forecast, affordable_labelings, forecast
from ucvtest.methods.leave_pair_out.options import (
    LeavePairOutOptions,
    Options,
    Sizes,
    check_class_sizes,
    check_clusters,
    check_labels,
)
from ucvtest.methods.leave_pair_out.reporting import answer_from
from ucvtest.metrics.base import when_learning_from
from ucvtest.results.result import TestResult


class LeavePairOutTest(HypothesisTest):
    r"""Test of a leave-pair-out AUC against labels without meaning.

    Every pair of a positive and a negative observation is held out in turn, and counts as an
    error if the rule learnt from all others scores the negative one higher. W is the number of
    errors, ties counted one half; U = W/(n_1 n_0); AUC = 1 - U, an unbiased estimate of
    the AUC of rules learnt from n - 2 observations. H0: the labels are independent of all that
    the learner can see (every labeling with as many positives was equally likely).

    Parameters
    ----------
    y : array-like, shape (n,)
        Labels of two classes, at least two observations of each.
    learner : learner
        A scikit-learn estimator, an ``uv.learners`` object, a short string such as
        "ridge:1.0", or a callable ``(X_train, y_train, X_test) -> scores``. It must not depend
        on the order of the learning rows.
    scoring : str or scorer, optional
        "roc_auc", which it is about, and nothing else.

    Notes
    -----
    Assumes only that labels are exchangeable under H0: no distribution, no independence of
    features. Tied scores count one half (for linear smoothers, differences within rounding error),
    so that switching the two held-out labels turns W of the pair into 1 - W. Ridge, kernel ridge
    and nearest neighbours have closed forms, O(n^2) for each labeling, and so has linear
    discriminant analysis of more than 1000 pairs; other learners are fitted n_1 n_0 times for each
    labeling. Of large samples "wmw" is computed in floating-point numbers, to eleven digits.

    With groups, every pair of clusters is left out, and positives of one are compared with
    negatives of the other. Labels are permuted between clusters if each cluster has one label, and
    otherwise within clusters; the labels of clusters with one label are then permuted among
    clusters of the same size. The null hypothesis of the result says which. No other p-value exists
    with groups. Ridge, kernel ridge and nearest neighbours have closed forms; other learners are
    fitted G (G - 1)/2 times for each labeling.

    `from_losses` accepts decision scores (loss "auc") under a design that leaves every pair out
    once (`uv.designs.LeavePairOut`). The p-values "supremum", "wmw" and "empirical" need the
    errors alone; "permutation" needs fits on permuted labels, and so is not available.

    References
    ----------
    T. Pahikkala, P. Movahedi, I. Montoya, H. Miikonen, I. Jambor, A. Airola, L. Major (2025),
    A link between coding theory and cross-validation with applications: (6), (8), (12), (18),
    Theorem 2. Errata: k in (4) and (6) must be 1 for an error; (5) fails for tied scores.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> rng = np.random.default_rng(3)
    >>> y = np.repeat([0, 1], [11, 9])
    >>> X = rng.normal(size=(20, 5)) + 0.8 * y[:, None]
    >>> result = uv.LeavePairOutTest(X, y, "ridge:1.0").fit(n_permutations=999, rng=0)
    >>> result.n_fits
    99000
    >>> bool(result.pvalue < 0.05)
    True
    """

    method_name = "leave_pair_out"
    in_short = "one learner: is its AUC better than chance?"
    needs = Needs(
        designs="every pair of a positive and a negative left out once, with scores",
        metrics=("auc",),
        learners="one",
        clusters="rows",
        without={"interval": "gives no interval"},
    )

    def __init__(self, X: Any, y: Any, learner: Any, **ask: Unpack[OfData]) -> None:
        # Before the labels are read, in which a missing label would be a number.
        X, y, ask["groups"], n_dropped = complete_rows(
            X, y, ask.get("groups"), ask.pop("missing", "raise")
        )
        check_labels(y, ask.get("pos_label"))
        question = self.question_of(X, y, learner, alternative="greater", **ask)
        self._ask(replace(question, n_dropped=n_dropped))

    def _ask(self, question: Question) -> None:
        super()._ask(question)
        if question.design is not None and question.clusters is not None:
            raise ValueError(
                "losses have groups, but their null distribution needs fits on permuted labels: "
                f"make the test from data, or use {call('InfluenceFunctionTest')}"
            )
        question = question.with_hypothesis(Hypothesis(self.needs.null_of_auc, "greater"))
        if isinstance(question, DataQuestion):
            check_class_sizes(question.sample.classes, question.sample.class_index)
            if question.clusters is not None:
                check_clusters(question.clusters, question.target == 1.0)
            question = question.ready(question.problem.learnt_rows(question.n_units - 2))
        else:
            assert question.design is not None
            pairs_of(question.design, question.target)
            check_class_sizes(np.array([0, 1]), question.target.astype(int))
        self.question = question

    @classmethod
    def from_losses(  # type: ignore[override]  # one learner, and a null hypothesis of its own
        cls, losses: Losses, learner: str | int | None = None, other: None = None
    ) -> Self:
        """Create the test from existing scores; `fit` then does not fit models.

        Parameters
        ----------
        losses : Losses
            Losses with ``loss="auc"``.
        learner : str or int, optional
            Name or position in `losses`; needed if there are several.
        other : None
            Refused, because the test does not compare learners.

        Returns
        -------
        LeavePairOutTest
            Its `fit` needs a `pvalue` other than "permutation".

        Raises
        ------
        ValueError
            If the losses are not scores, or their design does not leave out every pair once.
        """
        return cls.about(cls.question_of_losses(losses, learner, other, None, "greater", "group"))

    @property
    def estimand(self) -> str:
        """The estimand in words."""
        units = units_of(self.question.clusters, "clusters")
        return f"leave-pair-out AUC {when_learning_from(self.question.n_units - 2, units)}"

    @property
    def labels(self) -> np.ndarray:
        """Which observations are positive, shape (n,)."""
        return self.question.target == 1.0

    @property
    def n_pairs(self) -> int:
        """Number of pairs of a positive and a negative observation, of different groups."""
        n_pairs = Sizes.of(self.labels).n_pairs
        clusters = self.question.clusters
        if clusters is None:
            return n_pairs
        groups = clusters.groups
        return n_pairs - int(groups.sums(self.labels) @ groups.sums(~self.labels))

    @fit_by(Options)
    def fit(self) -> None:
        """Count the errors and compare their number with a null distribution.

        Parameters
        ----------
        pvalue : {"permutation", "supremum", "wmw", "empirical"}
            "permutation" counts the errors under permuted labels, and is exact for this learner on
            these data. "supremum" is the largest probability, over all algorithms, of making this
            number of errors or fewer, or an upper bound for it: valid without further fits, and
            conservative. "wmw" is the distribution for a fixed function; for a learner it can
            reject too often or be conservative. "empirical" is the largest p-value over eight
            simulated settings of ridge regression and nearest neighbours.
        n_permutations : int or "exact"
            For "permutation": the number P of labelings drawn in addition to the observed one, p =
            (count + 1)/(P + 1); or all C(n, n_1) labelings, p = count/C(n, n_1).
        n_simulations : int
            For "empirical": samples for each setting.
        stop_after : int, optional
            For "permutation": stop once this number of permuted labelings have as few errors as the
            real one or fewer, ties counted: p = stop_after/l after l labelings (Besag and Clifford
            1991), else (count + 1)/(P + 1). This saves most of the fits if there is no signal (10
            is a common choice). It is for learners that are fitted one by one.
        max_seconds : float, optional
            Approximate limit on the seconds of the fits. Some fits are timed, and for "permutation"
            `n_permutations` is reduced to the number that fits into the time. The labelings drawn
            do not influence that number, so that the p-value stays valid. The settings of the
            result keep it; the same number and `rng` without `max_seconds` repeat the result. The
            estimate needs every pair: the test is refused if there is no time for it.
        batch_size : int, optional
            Largest number of labelings passed at once to a learner that is not jitted.

        Returns
        -------
        TestResult
            ``statistic`` is U, ``estimate`` the AUC. ``diagnostics["null_errors"]`` and
            ``["null_probabilities"]`` contain the null distribution of W if there is one.

        Raises
        ------
        ValueError
            If an argument cannot be used, there is no time for any answer, or a learner fails.

        Warns
        -----
        UcvtestWarning
            If the permutations will take longer than a minute: the number of fits and their time,
            before they start.
        """

    def resolved(self, options: Options) -> LeavePairOutOptions:
        """See `HypothesisTest.resolved`."""
        question, pvalue = self.question, options.pvalue
        if question.clusters is not None and pvalue != "permutation":
            raise ValueError(
                f"{arg('pvalue', pvalue)} is about independent observations, but there are groups: "
                "use 'permutation'"
            )
        if question.design is not None and pvalue == "permutation":
            raise ValueError(
                f"{arg('pvalue', 'permutation')} needs fits on permuted labels, but scores are "
                "given: use 'supremum', 'wmw' or 'empirical', or make the test from data"
            )
        question.refuse_budget(max_seconds=options.max_seconds)
        if pvalue == "supremum" and question.n_obs > LONGEST_CODE:
            raise ValueError(
                f"{arg('pvalue', 'supremum')} is for up to {LONGEST_CODE} observations, got "
                f"{question.n_obs}: use 'permutation' or 'wmw'"
            )
        return LeavePairOutOptions(**vars(options))

    def _fit(self, options: Options, execution: Execution | None = None) -> TestResult:
        if options.pvalue == "empirical":
            # Simulated settings need draws, even if nothing is fitted.
            n_jobs, batch_size = options.n_jobs, options.batch_size
            self.question.refuse_budget(n_jobs=n_jobs, batch_size=batch_size)
            execution = Execution.of(options.rng, n_jobs, batch_size)
        return super()._fit(options, execution)

    def _answer(self, options: LeavePairOutOptions, execution: Execution) -> Answer:
        question = self.question
        labels = question.target == 1.0
        errors = errors_for(question, execution)
        sizes = errors.sizes(labels)
        if options.max_seconds is not None:
            seconds = options.max_seconds
            labelings = affordable_labelings(question, errors, seconds, execution)
            options = options.within(labelings, sizes)
        settings = {"learn_size": question.n_units - 2, **options.settings}
        # Given scores keep their seed, unless settings are simulated.
        simulated = options.pvalue == "empirical"
        settings |= {"rng": execution.seed} if simulated else question.seed_settings(execution)
        settings.setdefault("rng", question.settings(self.method_name).get("rng"))
        return answer_from(
            options,
            sizes,
            estimate(errors, labels, options, execution, question.learner_names[0]),
            estimand=self.estimand,
            settings=settings,
            exchangeable=errors.exchangeable,
        )

    def forecast(
        self, n_permutations: int | Literal["exact"] = 9999, *, n_jobs: int | None = None
    ) -> Forecast:
        """Predict the number of fits for a permutation p-value, and their time.

        Parameters
        ----------
        n_permutations : int or "exact"
        n_jobs : int, optional
            joblib's workers, for learners that are not jitted.

        Returns
        -------
        Forecast

        Raises
        ------
        ValueError
            If `n_permutations` cannot be used.

        Notes
        -----
        The observed labeling is timed; for jitted learners it is evaluated twice, because the first
        call compiles.
        """
        self.question.data("forecast")
        options = self.fit_options(n_permutations=n_permutations)
        errors = errors_for(self.question, Execution.of(0, n_jobs, None))
        return forecast(errors, self.labels, options)
