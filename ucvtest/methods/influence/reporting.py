"""The content of a result: words, settings, diagnostics, notes, and rows of a comparison."""

import math
from collections.abc import Mapping
from typing import Any

from ucvtest.common.words import arg, call
from ucvtest.data.groups import units_of
from ucvtest.inference import quantity
from ucvtest.inference.answer import Answer
from ucvtest.inference.notes import one_class_and_tie_notes
from ucvtest.inference.question import Question
from ucvtest.inference.studentise import variance_table
from ucvtest.methods.influence.estimation import InfluenceEstimates
from ucvtest.methods.influence.options import SCHEME_WORDS, SINGLE, InfluenceOptions, Layout
from ucvtest.methods.influence.variances import (
    JACKKNIFES,
    Studied,
    mc_se_of_estimate,
    own_values,
    study_variances,
)
from ucvtest.metrics.base import when_learning_from

FEW_IN_CLASS, FEW_FOR_JACKKNIFE = 10, 8
"""With fewer observations than this in a class, tests with the influence variance reject several
times too often, and tests with the jackknife variance are rough."""

FEW_TRAINING_SETS = 1000
"""With fewer training sets than this for each pair, the variance is known to be too small. With 45
x 45 in total (10 in a class, K = 5), the paper's mean standard error is 0.095, and the true one is
0.126."""

LIBERAL = (
    "The test rejects too often in small samples: with Monte-Carlo cross-validation and the "
    "influence variance, simulated tests at the nominal 5% level rejected equal AUCs in 25%, 14%, "
    "10% and 7% of data sets with 5, 10, 20 and 60 observations in a class, an AUC of 1/2 in 29%, "
    "21%, 15% and 12%."
)
"""See studies/reproductions/influence_size.py."""

JACKKNIFE = (
    "The jackknife variance is the influence variance with the full effect of the learning sets. "
    "Its expectation is at least the variance of the estimate from all learning sets."
)

SHARE = (
    " of the jackknife variance, which is too large by the effects of pairs of observations. The "
    "share is the midpoint variance divided by the jackknife with learning sets of half of each "
    "class."
)
NO_SHARE = (
    "The whole jackknife variance, because the midpoint variance is not below it with learning "
    "sets of half of each class."
)


def answer_from(
    layout: Layout,
    options: InfluenceOptions,
    estimates: InfluenceEstimates,
    question: Question,
    settings: Mapping[str, Any],
) -> Answer:
    """The answer of a test."""
    scheme, source, hypothesis = options.scheme, estimates.source, question.hypothesis
    studied = study_variances(hypothesis, layout, scheme, estimates)
    table = variance_table((name, mc_se, test) for name, (test, mc_se) in studied.items())
    tested = not math.isnan(hypothesis.null_value)
    by_pairs = scheme == "bootstrap" and layout.ranks_pairs
    scheme_words = "leave-pair-out bootstrap" if by_pairs else SCHEME_WORDS[scheme]
    return Answer.of_tested(
        studied[options.variance].test,
        own_values(layout, options, estimates),
        method=f"Influence-function test by {scheme_words}",
        estimand=_estimand(layout, scheme, question),
        n_fits=source.n_fits,
        settings=settings,
        diagnostics=_diagnostics(options, estimates, studied),
        notes=_notes(layout, options, estimates, tested=tested),
        tables={"Variances": table},
    )


def _estimand(layout: Layout, scheme: str, question: Question) -> str:
    metric, units = question.metric, units_of(question.clusters, "clusters")
    subject = f"difference in {metric.in_words}" if question.paired else metric.in_words
    if scheme == "bootstrap":
        return f"{subject} when learning from bootstrap samples of {layout.n_obs} {units}"
    return f"{subject} {when_learning_from(_learn_size(layout, scheme), units)}"


def _learn_size(layout: Layout, scheme: str) -> int | str:
    sizes = layout.learn_sizes(scheme)
    return sizes[0] if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"


def option_settings(layout: Layout, options: InfluenceOptions) -> dict[str, Any]:
    """The settings of a result that belong to this test, without the seed."""
    return {
        "metric": layout.metric,
        "scheme": options.scheme,
        "n_folds": layout.n_folds,
        "n_repeats": options.n_repeats,
        "learn_size": _learn_size(layout, options.scheme),
        "variance": options.variance,
        **options.budget,
    }


def _diagnostics(
    options: InfluenceOptions, estimates: InfluenceEstimates, studied: Mapping[str, Studied]
) -> dict[str, Any]:
    """Influence values and their terms, all variances, Monte-Carlo errors and counts."""
    influence, source = estimates.influence, estimates.source
    total, sets_per_test = estimates.resamples.training_sets
    diagnostics: dict[str, Any] = {
        "variance": options.variance,
        "n_repeats": estimates.resamples.n_repeats,
        "training_sets": total,
        "training_sets_per_test": 1.0 if options.scheme in SINGLE else sets_per_test,
        "one_class_fits": source.one_class_fits,
        "influence": quantity.change(influence.values),
        "term_1": quantity.change(influence.first),
        "term_2": quantity.change(influence.second),
        "term_3": quantity.change(influence.third),
        **{
            f"variance_{name}": quantity.square(test.variance)
            for name, (test, _) in studied.items()
        },
        **source.ties,
    }
    if options.scheme != "kfold":
        mc_se = mc_se_of_estimate(options.scheme, estimates)
        diagnostics["mc_se_estimate"] = quantity.spread(mc_se)
        diagnostics["mc_se_variance"] = quantity.square(studied[options.variance].mc_se)
    if options.scheme not in SINGLE:
        diagnostics["mc_bias_variance"] = quantity.square(influence.mc_bias_variance)
    return diagnostics


def records(scheme: str, n_fits: int, studied: Mapping[str, Studied]) -> list[dict[str, Any]]:
    """The rows of `InfluenceFunctionTest.compare_variances` for one scheme."""
    return [
        {
            "scheme": scheme,
            "variance": name,
            "estimate": quantity.value(test.estimate),
            "sd": quantity.spread(math.sqrt(test.variance)),
            "conf_low": quantity.value(test.interval()[0]),
            "conf_high": quantity.value(test.interval()[1]),
            "pvalue": test.pvalue,
            "n_fits": n_fits,
            "status": test.status,
        }
        for name, (test, _) in studied.items()
    ]


def _notes(
    layout: Layout, options: InfluenceOptions, estimates: InfluenceEstimates, *, tested: bool
) -> tuple[str, ...]:
    """The notes for the reader of the result; `tested` if there is a null value."""
    listed = [
        "Assumes independent observations and learners that do not depend on the order of rows."
    ]
    if options.variance == "jackknife":
        listed.append(JACKKNIFE)
    elif options.variance == "share":
        half_sample_share = estimates.shares[0].value
        listed.append(f"{half_sample_share:.0%}{SHARE}" if half_sample_share < 1 else NO_SHARE)
    elif tested:
        listed.append(LIBERAL)
    listed += _class_notes(layout, options)
    listed += _scheme_notes(layout, options, estimates)
    if options.variance.startswith("adhoc"):
        listed.append(
            "Ad-hoc variances treat folds (or repeats) as independent although they are not; they "
            "have no theory."
        )
    elif options.variance == "term_1":
        listed.append("Term I alone ignores that another sample would give other training sets.")
    added = estimates.resamples.n_repeats - options.n_repeats
    if added:
        listed.append(
            f"{added} repeats were added to the {options.n_repeats} requested ones, until every "
            f"{layout.unit} had been tested."
        )
    noise, variance = estimates.influence.mc_bias_variance, estimates.influence.variance
    if options.variance == "influence" and noise > variance / 10:
        listed.append(
            f"About {noise / variance:.0%} of the influence variance is Monte-Carlo noise of the "
            f"influence values, which makes it too large: raise {arg('n_repeats')}."
        )
    return (*listed, *one_class_and_tie_notes(estimates.source.counts))


def _class_notes(layout: Layout, options: InfluenceOptions) -> list[str]:
    """Notes on small classes, and on why an AUC has the paper's variance, if it has."""
    if not layout.ranks_pairs:
        return []
    listed = []
    jackknife, smallest = options.variance in JACKKNIFES, min(map(len, layout.classes))
    if smallest < (FEW_FOR_JACKKNIFE if jackknife else FEW_IN_CLASS):
        small_class_effect = "trust neither the standard error nor the p-value"
        if jackknife:
            small_class_effect = "the standard error is rough, and so are interval and p-value"
        class_subject = "The sample has" if layout.mixed else "The smaller class has"
        listed.append(
            f"{class_subject} {smallest} {layout.units}: with so few, {small_class_effect}. "
            f"Against an AUC of 1/2 {call('LeavePairOutTest')} has an exact test."
        )
    if options.variance == "influence" and options.scheme in ("monte_carlo", "repeated"):
        reason = layout.no_jackknife(options.scheme)
        listed.append(
            f"There is no jackknife variance: {reason}."
            if reason
            else f"{arg('variance', 'jackknife')} is not too small, as the influence variance is."
        )
    return listed


def _scheme_notes(
    layout: Layout, options: InfluenceOptions, estimates: InfluenceEstimates
) -> list[str]:
    """Why the influence variance is too small with this scheme, if it is."""
    if options.scheme in SINGLE:
        scheme_words = SCHEME_WORDS[options.scheme]
        return [
            f"{scheme_words[0].upper()}{scheme_words[1:]} is not smooth: every {layout.unit} is "
            "tested by one rule only, so terms II and III are equal, and the influence variance "
            f"is the naive one, which treats values as independent. {arg('scheme', 'monte_carlo')} "
            "or 'repeated' is smooth."
        ]
    _, sets_per_test = estimates.resamples.training_sets
    if options.variance == "influence" and sets_per_test < FEW_TRAINING_SETS:
        return [
            f"Only {sets_per_test:.0f} training sets are possible for each tested {layout.unit}, "
            "so the influence variance is too small."
        ]
    return []
