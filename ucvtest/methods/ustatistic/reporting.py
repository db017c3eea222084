"""From estimates to the answer: statistics, status, tables, notes and diagnostics, of all kinds."""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ucvtest.common.notes import Note
from ucvtest.common.words import arg, call
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import OF_EXPECTED_PARTS, bias_notes, tie_notes
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import (
    Hypothesis,
    Studentised,
    by_rule,
    studentise,
    variance_table,
)
from ucvtest.kernels.ustatistic.aucs import (
    NoVariance,
    influence,
    no_variance_in_words,
    too_rough,
)
from ucvtest.kernels.ustatistic.contrasts import RELIABLE
from ucvtest.kernels.ustatistic.few import FewFits
from ucvtest.methods.ustatistic.auc_sizes import AucSizes
from ucvtest.methods.ustatistic.estimates import Estimates, too_few_draws
from ucvtest.methods.ustatistic.interval import BY_PAPER, never_negative
from ucvtest.methods.ustatistic.learning_sets import LearningSets
from ucvtest.methods.ustatistic.one_by_one import OneByOne
from ucvtest.methods.ustatistic.options import UStatisticOptions
from ucvtest.methods.ustatistic.run import MIN_PAIRS
from ucvtest.methods.ustatistic.sizes import NEED_DISJOINT, VARIANCES, Sizes
from ucvtest.metrics.ranks import AUC_NAME
from ucvtest.metrics.smooth import SmoothMetric
from ucvtest.metrics.survival import SurvivalMetric
from ucvtest.results.wording import SAME_LOSSES, no_spread
from ucvtest.stats.pivots import on_log

ORDER = "Assumes independent observations and learners that do not depend on the order of rows."

METHOD = "U-statistic test of the complete error estimate"
METHOD_OF_AUC = "U-statistic test of the AUC"
METHOD_OF_RATIO = "U-statistic test of the ratio of complete error estimates"

NO_RATIO = "no ratio: the mean loss of a learner is 0; use the contrast 'difference'"
IN_PROPORTION = "degenerate: the variance estimate is zero, the losses are in proportion"
OF_LOGARITHM = "The standard error and the variance are those of the logarithm of the ratio."

FAR_OUTSIDE, MC_ERRORS_OUTSIDE = 2, 2
"""How many times a bound, and how many Monte-Carlo errors beyond it, the unbiased variance must be
for a note that says what that means."""

FEW_IN_CLASS = 8
"""With fewer observations of a class than this, intervals are rough."""

NOTABLE_SHARE = 0.5
"""Least share of the jackknife's variance, known not to be noise, for a note. In simulations, 2% of
samples have this share with 20 fits of each learner, and half of the samples of `held_spam`, n =
200."""

NOTABLE_SHARE_OF_ONE = 0.25
"""Least share of the difference between fits of a pair, explained by one observation, for a
note."""

LEAST_TRIED = 40
"""Least number of observations in the study of few fits on held-out problems."""

FLOORED = (
    "The variance was set conservatively high: four times its Monte-Carlo error or, if the draws "
    "do not determine it at all, the jackknife with their noise. The interval is wider than "
    "necessary; raise n_pairs or, if it is 'auto', max_fits."
)

CONTROL_VARIATE = (
    "The estimate is not the plain mean of the given losses: their additive part serves as a "
    "control variate, which removes its chance variation between draws and leaves the expectation "
    "as it is."
)


def answer_of(
    question: Question,
    learning_sets: LearningSets,
    options: UStatisticOptions,
    estimates: Estimates,
    source: LossSource,
    seed: int | None,
) -> Answer:
    """The answer that estimates lead to."""
    report = _Report(question, learning_sets, options, estimates, source)
    answer = replace(report.answer(), settings=report.settings(seed), n_fits=source.n_fits)
    if estimates.defined:
        answer = report.of_metric(answer)
    return answer if source.pairs is None else report.with_pairs(answer, source.pairs)


class _Report:
    """The parts of an answer, of means, ratios, metrics and AUCs, from many fits or few."""

    def __init__(
        self,
        question: Question,
        learning_sets: LearningSets,
        options: UStatisticOptions,
        estimates: Estimates,
        source: LossSource,
    ) -> None:
        self.question, self.learning_sets, self.options = question, learning_sets, options
        self.estimates, self.source = estimates, source
        self.estimate, self.few = estimates.estimate, estimates.estimate.few
        sizes = learning_sets.sizes
        self.aucs = None if isinstance(sizes, Sizes) else sizes
        self.many_means = self.aucs is None and self.few is None
        interval = options.interval if self.few is None else options.interval.for_few_fits()
        self.interval = replace(interval, added=estimates.added)
        self.is_ratio = interval.is_ratio

    def answer(self) -> Answer:
        """The answer but for settings."""
        estimates, estimate, aucs = self.estimates, self.estimate, self.aucs
        names: tuple[str, ...] = VARIANCES if aucs is None else aucs.variances
        if self.is_ratio or (aucs is None and self.question.metric.compares_pairs):
            # Of metrics of pairs and ratios, others suppose too much.
            names = ("jackknife",)
        if self.few is not None:
            names = ("few",)
        tested = {name: self.tested(name) for name in names if name in estimate.variances}
        chosen = tested[estimates.variance]
        listed = [
            (name, None if self.few is not None else estimate.errors[name], studentised)
            for name, studentised in tested.items()
            if name == estimates.variance
            or aucs is not None
            or estimate.errors[name] <= RELIABLE * abs(estimate.variances[name])
            or estimate.flat(name)
        ]
        method = METHOD if aucs is None else METHOD_OF_AUC
        diagnostics = self.diagnostics(names)
        if self.is_ratio:
            # Of the logarithm, which has no units, but for the error of the ratio itself.
            method = METHOD_OF_RATIO
            diagnostics = {name: getattr(x, "amount", x) for name, x in diagnostics.items()}
            diagnostics["mc_se_estimate"] = estimate.value * diagnostics["mc_se_estimate"]
        own = []
        for place, of_one in enumerate(estimates.own):
            variance = estimates.own_variance(of_one)
            if math.isnan(variance) and estimates.own_few:
                variance = estimates.own_few[place].with_mc_part("few")
            own.append((of_one.value, variance))
        shape = estimates.shape if self.many_means else None
        one_class = self.source.one_class_fits if aucs is None else 0
        return Answer.of_tested(
            chosen,
            own,
            method=method,
            estimand=self.learning_sets.estimand(self.question),
            contrast=self.learning_sets.contrast,
            diagnostics={**diagnostics, **self.source.counts, **self.interval.diagnostics(shape)},
            notes=(*self.notes(), *self.interval.notes(shape, chosen, one_class)),
            tables={} if self.is_ratio else {"Variances": variance_table(listed)},
        )

    def tested(self, name: str) -> Studentised:
        """The test with a variance, or the reason why there is none."""
        estimate, status, hypothesis = self.estimate, self.status(name), self.question.hypothesis
        variance, mc_se = estimate.variances[name], estimate.mc_se
        without_few = self.few is not None and self.estimates.no_variance is not None
        if without_few or estimate.flat(name):
            variance, mc_se = 0.0, mc_se if self.few is None else 0.0
        df, normal = estimate.df, name in BY_PAPER
        if self.is_ratio:
            df = self.estimates.shape.df
            return studentise_ratio(
                hypothesis, estimate.value, variance, mc_se=mc_se, df=df, status=status
            )
        if self.many_means:
            df = math.nan if normal else self.question.n_units - 1.0
        studentised = studentise(
            hypothesis,
            estimate.value,
            variance,
            mc_se=mc_se,
            reference="normal" if normal else "t",
            df=df,
            status=status,
        )
        shape = self.estimates.shape if self.aucs is None else None
        return self.interval.applied(studentised, shape, name)

    def status(self, name: str) -> str:
        """Whether a variance gives a test: "ok", or the reason why not."""
        estimate, estimates, options = self.estimate, self.estimates, self.options
        variance, of_auc, remedy = estimate.variances[name], self.aucs is not None, self.remedy()
        if estimates.no_variance is not None:
            return no_variance_in_words(estimates.no_variance)
        if self.source.identical and not of_auc:
            return SAME_LOSSES
        if self.is_ratio and math.isnan(estimate.value):
            return NO_RATIO
        if of_auc and math.isnan(variance):
            return (
                f"too few resamples: {estimates.n_rows} learning sets are not enough for the "
                f"variance, which needs {self.learning_sets.fewest_rows} of them, drawn at least "
                f"10 times; {remedy}"
            )
        if math.isnan(variance):
            return f"the {name} variance could not be estimated: {remedy}"
        if self.many_means and (too_few := too_few_draws(options, estimates.n_rows // 2)):
            return (
                f"too few resamples: {too_few} are not enough to estimate their Monte-Carlo error, "
                f"which needs {MIN_PAIRS}; {remedy}"
            )
        if estimate.flat(name) and not of_auc:
            if self.interval.name == "plus_four":
                return "ok"
            if self.is_ratio:
                return IN_PROPORTION
            return no_spread(
                "at every observation",
                "use another loss, or other learners",
                paired=self.question.paired,
                scores=self.question.metric.greater_is_better,
            )
        if variance < 0 and name in BY_PAPER:
            other = "midpoint" if "midpoint" in estimate.variances else "jackknife"
            return (
                f"negative variance estimate ({variance:.3g}, Monte-Carlo standard error "
                f"{estimate.errors[name]:.2g}), which an unbiased estimate can be at this sample "
                f"size: use {arg('variance', other)}"
            )
        if name != "few" and not estimate.reliable(name):
            if name in NEED_DISJOINT:
                remedy = f"{remedy}, or use {arg('variance', 'jackknife')}"
            return too_rough(estimate, name, remedy)
        return "ok"

    def remedy(self) -> str:
        """What to do where there are too few resamples; "exact" leaves none out."""
        given_sets = self.options.given_sets
        if self.options.n_pairs == "exact" and self.aucs is None:
            return "use more observations"
        if given_sets is None:
            return "raise n_pairs or, if it is 'auto', max_fits"
        if self.aucs is not None:
            return "use scores of more splits"
        return f"use losses of more {'draws' if given_sets.n_sets else 'splits'}"

    def diagnostics(self, names: tuple[str, ...]) -> dict[str, Any]:
        """Counts, variances and Monte-Carlo errors behind the result."""
        estimate, estimates, few, options = self.estimate, self.estimates, self.few, self.options
        counts = {} if self.aucs is None else self.aucs.counts
        diagnostics: dict[str, Any] = {"mc_se_estimate": quantity.spread(estimate.mc_se)}
        if few is not None:
            return diagnostics | {
                "variance": "few",
                "variance_few": quantity.square(few.variance),
                "variance_of_testing": quantity.square(few.test_part),
                "variance_of_learning": quantity.square(few.learning_part),
                "n_pairs": few.n_rounds,
                "share_of_one_observation": few.one_decides,
                "converged": options.variance == options.requested_variance,
                **counts,
            }
        values, of_auc = estimate.variances, self.aucs is not None
        several = len(names) > 1 or of_auc
        known = (*names, "geometric") if several and not of_auc else names
        diagnostics |= {
            "mc_se_variance": quantity.square(estimate.errors[estimates.variance]),
            "variance": estimates.variance,
            "n_pairs": estimates.n_rows // 2,
            "converged": estimates.converged,
            **counts,
            **{
                f"variance_{name}": quantity.square(values[name])
                for name in known
                if name in values
            },
        }
        if several and "unbiased" in values:
            diagnostics["theta_squared"] = quantity.second_moment(estimate.theta_squared)
        if several and (of_auc or "pair_effects" in values):
            diagnostics["pair_effects"] = quantity.square(values.get("pair_effects", math.nan))
        if self.aucs is not None:
            diagnostics["influence"] = influence(self.aucs.strata, estimate.b)
        return diagnostics

    def notes(self) -> Iterator[str]:
        """Assumptions, reasons and limits, but for those of the interval."""
        estimates, options, source, few = self.estimates, self.options, self.source, self.few
        yield ORDER
        if few is not None:
            yield from self.few_notes(few)
        if self.aucs is not None:
            yield from self.auc_notes(self.aucs)
        elif few is None:
            yield from self.variance_notes()
        if few is None and estimates.own_is_open:
            too_few = "There are too few resamples for the standard error of a learner's own "
            too_few += "value" if self.aucs is None else "AUC"
            error = "the Monte-Carlo error of its square is above a quarter of it"
            text = f"{too_few}: {error}."
            if estimates.own_few:
                text += " The table shows the standard error of few fits, from the same pairs of "
                text += "learning sets."
            yield Note(text, f"{too_few}.", importance=1)
        if estimates.floored:
            yield FLOORED
        if self.aucs is None:
            sample = self.question.sample
            if sample is not None and sample.features.shape[1] > sample.n_obs:
                more = f"more features ({sample.features.shape[1]}) than observations "
                more += f"({sample.n_obs})"
                yield Note(
                    f"With {more} losses can be skewed, and the coverage of the interval can be "
                    "below its nominal level.",
                    f"With {more} intervals can be too short.",
                )
            if source.one_class_fits:
                log_loss = self.question.metric.output == "probability"
                yield (
                    f"{source.one_class_fits} fits had a learning set with a single class and "
                    "predict "
                    f"it{', with probability 0 or 1: a wrong one costs 36.' if log_loss else '.'}"
                )
        yield from tie_notes(source.ties)
        if few is None and not estimates.converged:
            stopped = (
                f"Stopped at {_budget_of(options)} before the Monte-Carlo error fell below tol"
            )
            yield Note(
                f"{stopped} = {options.tol}; it is part of the standard error.",
                "The fits ended early: more of them would make the interval shorter.",
            )
        if self.is_ratio:
            yield OF_LOGARITHM
        elif self.many_means and options.given_sets is not None:
            yield CONTROL_VARIATE

    def variance_notes(self) -> Iterator[str]:
        """Notes on variances with which the test rejects too often, or that are far from others."""
        estimate, variance = self.estimate, self.options.variance
        if variance in BY_PAPER:
            yield Note(
                f"With the {variance} variance and the normal reference, the test rejects too "
                f"often at small n; {arg('variance', 'midpoint')} keeps its level better.",
                f"With the {variance} variance the test rejects too often at small n.",
            )
        if self.estimates.variance != "clipped":
            return
        # Bounds that the clipped variance respects.
        values, mc_se = estimate.variances, estimate.errors["unbiased"]
        unbiased, low, high = values["unbiased"], values["geometric"], values["jackknife"]
        noisy = (
            "it is too noisy at this sample size to be used alone, and clipping moved it to that "
            "bound"
        )
        note_start = (
            f"The unbiased variance ({unbiased:.2g}, Monte-Carlo standard error {mc_se:.1g}) is far"
        )
        margin = MC_ERRORS_OUTSIDE * mc_se
        if unbiased > FAR_OUTSIDE * high and unbiased - high > margin:
            yield (
                f"{note_start} above the jackknife ({high:.2g}), which on average is at least the "
                f"true variance: {noisy}. If the true variance is nevertheless larger, the "
                "interval is too short."
            )
        elif unbiased < low / FAR_OUTSIDE and low - unbiased > margin:
            yield (
                f"{note_start} below the lower bound ({low:.2g}) for components falling "
                f"geometrically with their degree: {noisy}. If the true variance is nevertheless "
                "smaller, the interval is longer than necessary."
            )

    def auc_notes(self, sizes: AucSizes) -> Iterator[str]:
        """Notes on small classes, large learning sets, and a test that answers better."""
        count, in_words = sizes.smallest
        if count < FEW_IN_CLASS:
            yield Note(
                f"{in_words}: with fewer than {FEW_IN_CLASS} the standard error is rough, and so "
                "are interval and p-value.",
                f"{in_words}: interval and p-value are rough.",
            )
        if self.few is not None:
            return
        if not sizes.paired:
            halved_units = "the groups" if sizes.rankings else "a class"
            yield (
                f"Learning sets contain more than half of {halved_units}: the variance is the "
                "jackknife, which is too large rather than too small on average."
            )
        if (
            not self.source.paired
            and self.question.hypothesis.null_value == 0.5
            and sizes.of_two_classes
        ):
            yield (
                "A permutation test answers better whether an AUC is above 1/2: "
                f"{call('LeavePairOutTest')} has an exact one."
            )

    def few_notes(self, few: FewFits) -> Iterator[str]:
        """The reason for few fits, problems that more would not solve, and limits."""
        options, interval, paired = self.options, self.interval, self.source.paired
        if options.variance != "few":
            yield Note(
                f"The fits ended at {_budget_of(options)} while the Monte-Carlo error of the "
                f"{options.variance} variance was above a quarter of it. The variance for few "
                "fits is used instead, from the same pairs of learning sets.",
                "The fits ended early: more of them would make the interval shorter.",
            )
        yield (
            f"The variance comes from {few.n_rounds} pairs of disjoint learning sets, with "
            f"{few.df:.3g} degrees of freedom. More fits make the interval shorter."
        )
        if few.decided >= NOTABLE_SHARE:
            yield (
                "Pairs of learning sets that differ more are worse, or better. This happens if a "
                "few observations decide which rule is learnt. A sample without such observations, "
                "or with many, would then give another value: more observations solve that, more "
                "fits do not."
            )
        if few.one_decides >= NOTABLE_SHARE_OF_ONE:
            yield (
                f"A single observation explains {few.one_decides:.0%} of the difference between "
                "the two fits of a pair: it decides which rule is learnt. A sample without such an "
                "observation, or with several, would give another value: more observations solve "
                "that, more fits do not."
            )
        if self.aucs is not None:
            yield coverage_in_words(paired=paired)
            if self.aucs.columns(1).flat is not NoVariance.OBSERVATIONS_ALIKE:
                yield Note(
                    "Coverage of intervals from few fits has only been studied for AUCs of two "
                    "classes without groups, not for samples like this one.",
                    "Intervals from few fits have not been studied for samples like this one.",
                )
            return
        if few.n_obs < LEAST_TRIED:
            yield Note(
                f"With fewer than {LEAST_TRIED} observations ({few.n_obs} here) the coverage of "
                "intervals from few fits has been checked in only six simulated settings of error "
                "rates: 97.5% with 20 and 30 observations.",
                f"With fewer than {LEAST_TRIED} observations few fits were hardly studied.",
            )
        metric = interval.metric
        may_have_tail = never_negative(metric) and not (metric.counts_errors or interval.is_ratio)
        if paired and may_have_tail:
            yield Note(
                "Few fits do not show whether the losses have a heavy tail. With 20 fits of each "
                "learner, 95% intervals for differences of squared and log losses contained the "
                "true value in 92% of simulated samples, 79% in the worst setting. Heavy tails "
                f"affect ratios ({arg('contrast', 'ratio')}) less.",
                "Few fits do not show heavy tails of losses: the interval can be too short.",
            )
        if not paired and interval.name == "hall_floor":
            yield (
                "Few fits do not show the skewness of the losses. The upper limit allows for a "
                "heavy tail. With 20 fits, 95% intervals contained the true value in 98% of "
                "simulated samples, and in 89% in the worst setting."
            )

    def of_metric(self, answer: Answer) -> Answer:
        """The answer with what a function of means has more, and without a value for 0/0."""
        assert answer.tested is not None
        estimates, question, bias = self.estimates, self.question, self.estimates.bias
        answer = replace(
            answer,
            diagnostics={
                **answer.diagnostics,
                **({} if math.isnan(bias) else {"second_order_bias": bias}),
            },
            notes=(*answer.notes, OF_EXPECTED_PARTS, *bias_notes(bias, answer.tested.se)),
        )
        if all(estimates.defined):
            return answer
        metric, in_words, sample = question.metric, question.metric.in_words, question.sample
        assert isinstance(metric, SmoothMetric)
        status = f"no estimate: {in_words} is 0/0 here, because {metric.without_value}"
        if isinstance(metric, SurvivalMetric):
            times = None if sample is None else sample.survival_times
            reason = "" if times is None else metric.no_value(times)
            reason = reason or "no two comparable observations were tested together"
            status = (
                f"no estimate: {in_words} has no value here, because {reason}; add observations"
            )
        df = question.n_units - 1.0 if self.few is None else self.few.df
        studentised = studentise(
            question.hypothesis, math.nan, math.nan, reference="t", df=df, status=status
        )
        known = (False, *estimates.defined)
        estimates_kept, variances_kept = (
            [
                value if is_known else math.nan
                for value, is_known in zip(values, known, strict=False)
            ]
            for values in (answer.estimates, answer.variances)
        )
        return replace(
            answer,
            tested=studentised,
            estimates=estimates_kept,
            variances=variances_kept,
            tables={},
        )

    def with_pairs(self, answer: Answer, pairs: OneByOne) -> Answer:
        """The answer, with pairs that were left out, and with the interrupt that ended them."""
        options, source = self.options, self.source
        tested, notes = answer.tested, (*answer.notes, *pairs.notes)
        diagnostics = {**answer.diagnostics, "n_failed_pairs": pairs.n_failed}
        assert tested is not None
        if pairs.interrupted:
            learners, number = 2 if source.paired else 1, options.n_pairs
            if options.variance == "few":
                number = options.n_pairs_of_few(learners)
            planned = f"at most {options.max_fits}"
            if isinstance(number, int):
                planned = str(2 * learners * number)
            # Of several learners the options bound the fits of all.
            of_all = "" if pairs.several else f" of {planned}"
            interrupted_text = f"interrupted after {source.n_fits}{of_all} fits"
            if tested.status == "ok":
                tested = replace(tested, status=interrupted_text)
            notes = (
                *notes,
                f"{interrupted_text[0].upper()}{interrupted_text[1:]}: the answer uses the "
                "finished fits.",
            )
            diagnostics["interrupted"] = True
        return replace(answer, tested=tested, notes=notes, diagnostics=diagnostics)

    def settings(self, seed: int | None) -> dict[str, Any]:
        """The settings that repeat the test."""
        learning_sets, options, settings = self.learning_sets, self.options, dict[str, Any]()
        if self.question.sample is not None:
            settings["pos_label"] = learning_sets.positive(self.question)
        settings |= {
            "learn_size": learning_sets.learn_size,
            "n_pairs": options.n_pairs,
            "variance": options.requested_variance,
            "interval": options.interval.requested_name,
        }
        if options.given_sets is None:
            settings |= {"tol": options.tol, "max_fits": options.max_fits, "rng": seed}
        if options.max_seconds is not None:
            settings["max_seconds"] = options.max_seconds
        if learning_sets.contrast != "difference":
            settings["contrast"] = learning_sets.contrast
        if self.aucs is not None:
            settings |= {"loss": AUC_NAME, "learn_size_by_class": self.aucs.user_sizes}
        return settings


def studentise_ratio(
    hypothesis: Hypothesis, ratio: float, variance: float, *, mc_se: float, df: float, status: str
) -> Studentised:
    """The test of a ratio, by variance, Monte-Carlo error and df of its logarithm.

    log(U1/U2) is studentised with the variance of the kernel L1/U1 - L2/U2, its linear part.
    """
    if math.isnan(ratio):
        return studentise(hypothesis, math.nan, math.nan, reference="none", status=status)
    null = hypothesis.null_value
    log_scale = studentise(
        replace(hypothesis, null_value=math.log(null)),
        math.log(ratio),
        variance,
        mc_se=mc_se,
        reference="t",
        df=df,
        status=status,
    )
    tested = replace(log_scale, estimate=ratio, null_value=null)
    return by_rule(tested, on_log(ratio, tested.se, df, null)) if status == "ok" else tested


def _budget_of(options: UStatisticOptions) -> str:
    """What ended the fits, in words that stand before others."""
    if options.given_sets is not None:
        return "the given learning sets"
    if isinstance(options.n_pairs, int):
        return f"n_pairs = {options.n_pairs}"
    limit = f"max_fits = {options.max_fits}"
    if options.max_seconds is None:
        return limit
    return f"{limit}, which max_seconds = {options.max_seconds:g} allowed,"


def coverage_in_words(*, paired: bool) -> str:
    """The result of the study of few fits (studies/intervals/few_fits_auc.py)."""
    about, mean, lowest = ("differences of AUCs", 96.4, 91.7) if paired else ("AUCs", 95.9, 88.2)
    return (
        f"With 20 fits of each learner, 95% intervals for {about} of two classes contained the "
        f"true value in {mean:.1f}% of simulated samples, and in {lowest:.1f}% in the worst "
        "setting."
    )
