"""The variance estimates of a scheme, and the test with each of them."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ucvtest.common.words import arg
from ucvtest.inference.studentise import Hypothesis, Studentised, on_logit_scale, studentise
from ucvtest.kernels.influence.estimate import Influence, ad_hoc_by_repetition
from ucvtest.methods.influence.estimation import MIN_REPEATS, InfluenceEstimates
from ucvtest.methods.influence.options import SINGLE, InfluenceOptions, Layout
from ucvtest.methods.influence.resamples import Folds
from ucvtest.stats.influence import welch
from ucvtest.stats.monte_carlo import mean_error
from ucvtest.stats.wald import reference_of

ROUNDING = 1e-12
"""Standard errors up to this value are rounding error."""

ROUGH, ROUGH_JACKKNIFE = 0.25, 0.5
"""Largest Monte-Carlo error, as a share of a variance, for an answer. The jackknife variance does
not have the bias that such noise adds to squares, and uses t's wider tails."""

JACKKNIFES = ("jackknife", "share")
"""Variances for small samples."""


class _Variance(NamedTuple):
    """A variance and its Monte-Carlo standard error; NaN if it is not known.

    `df` are degrees of freedom for Student's t; NaN for the normal distribution.
    """

    variance: float
    mc_se: float
    df: float = math.nan


class Studied(NamedTuple):
    """The test that a variance gives, and the Monte-Carlo error of the variance, NaN for none."""

    test: Studentised
    mc_se: float


def study_variances(
    hypothesis: Hypothesis, layout: Layout, scheme: str, estimates: InfluenceEstimates
) -> dict[str, Studied]:
    """The test with each of the variances that exist for the scheme, by their names.

    One AUC has interval and p-value on the logit scale if its variance is for small samples.
    """
    one_auc = layout.ranks_pairs and not estimates.source.paired
    studied = {}
    for name, variance in _variances(layout, scheme, estimates).items():
        test = studentise(
            hypothesis,
            estimates.influence.estimate,
            variance.variance,
            mc_se=mc_se_of_estimate(scheme, estimates),
            reference=reference_of(variance.df),
            df=variance.df,
            status=_status(layout, scheme, estimates, name, variance),
        )
        on_logits = one_auc and name in JACKKNIFES
        studied[name] = Studied(on_logit_scale(test) if on_logits else test, variance.mc_se)
    return studied


def own_values(
    layout: Layout, options: InfluenceOptions, estimates: InfluenceEstimates
) -> list[tuple[float, float]]:
    """The estimates of each of two learners alone, with their squared errors by that variance."""
    if not estimates.source.paired:
        return []
    hypothesis, own = Hypothesis(math.nan, "two-sided"), []
    for k, influence in enumerate(estimates.learner_influences, start=1):
        alone = replace(estimates, influence=influence, shares=estimates.shares[k : k + 1])
        studied = study_variances(hypothesis, layout, options.scheme, alone)
        test = studied[options.variance].test
        own.append((test.estimate, test.se**2))
    return own


def mc_se_of_estimate(scheme: str, estimates: InfluenceEstimates) -> float:
    """Monte-Carlo standard error of the estimate; 0 if nothing is drawn."""
    return 0.0 if scheme == "leave_one_out" else estimates.influence.mc_se


# ------------------------------------------------------------------------------- variances


def _variances(layout: Layout, scheme: str, estimates: InfluenceEstimates) -> dict[str, _Variance]:
    influence, resamples = estimates.influence, estimates.resamples
    variances = {"influence": _Variance(influence.variance, influence.mc_se_variance)}
    n_tested = layout.n_tested(scheme)
    if n_tested is not None and not layout.no_jackknife(scheme):
        jackknife = variances["jackknife"] = _jackknife(layout, n_tested, influence)
        for half_sample_share in estimates.shares[:1]:
            less, mc_se = half_sample_share.of_variance(jackknife.variance, jackknife.mc_se)
            variances["share"] = _Variance(less, mc_se, jackknife.df)
    variances["term_1"] = _Variance(influence.term_1_variance, influence.mc_se_term_1_variance)
    ad_hoc = layout.ad_hoc(scheme)
    if scheme == "monte_carlo":
        variances["adhoc_monte_carlo"] = _spread_over_repeats(influence.rows, layout.n_folds)
    elif ad_hoc and isinstance(resamples, Folds):
        variances |= _ad_hoc_variances(ad_hoc, influence.rows, resamples)
    if scheme == "leave_one_out":
        # Nothing was drawn.
        return {name: _Variance(of_all.variance, 0.0) for name, of_all in variances.items()}
    return variances


def _jackknife(layout: Layout, n_tested: tuple[int, ...], influence: Influence) -> _Variance:
    """The jackknife variance, by class, without Monte-Carlo noise if a variance remains.

    Welch's degrees of freedom.
    """
    sizes = np.empty(layout.n_obs)
    for members, size in zip(layout.classes, n_tested, strict=True):
        sizes[members] = size
    repaired = influence.repaired(sizes)
    by_class = []
    for members in layout.classes:
        of_class = repaired.of_class(members)
        free = of_class.variance - of_class.mc_bias_variance
        by_class.append(free if free > 0 else of_class.variance)
    df = welch(np.array(by_class), np.array([len(members) - 1 for members in layout.classes]))
    return _Variance(sum(by_class), repaired.mc_se_variance, float(df))


def _spread_over_repeats(rows: np.ndarray, n_folds: int) -> _Variance:
    """(10)."""
    m = len(rows)
    if m < 2:
        return _Variance(math.nan, math.nan)
    squares = (rows - rows.mean()) ** 2
    variance = float(squares.sum() / (m - 1))
    return _Variance(variance / n_folds, mean_error(squares) / n_folds)


def _ad_hoc_variances(
    names: Sequence[str], rows: np.ndarray, resamples: Folds
) -> dict[str, _Variance]:
    """(6) and (8a) to (8c), averaged over the repeats."""
    folds = rows.reshape(-1, *resamples.n_tested_folds)
    overall = folds.reshape(len(folds), -1) @ resamples.fold_shares
    by_repeat = ad_hoc_by_repetition(folds, overall)
    return {
        name: _Variance(float(by_repeat[name].mean()), mean_error(by_repeat[name]))
        for name in names
    }


# ---------------------------------------------------------------------------------- status


def _status(
    layout: Layout, scheme: str, estimates: InfluenceEstimates, name: str, variance: _Variance
) -> str:
    if estimates.source.identical:
        return (
            "degenerate: the two learners gave the same scores (or labels) to every tested "
            "observation in every fit, so there is no difference to test; compare learners that "
            "differ"
        )
    sampled, n_repeats = scheme not in SINGLE, estimates.resamples.n_repeats
    if sampled and n_repeats < MIN_REPEATS:
        return (
            f"too few resamples: {n_repeats} repeats are not enough to estimate their Monte-Carlo "
            f"error; raise {arg('n_repeats')} to at least {MIN_REPEATS}"
        )
    if not variance.variance > ROUNDING**2:
        cause = "every observation was ranked equally well"
        if estimates.source.paired:
            cause = "the difference of the two learners is the same at every observation"
        elif not layout.ranks_pairs:
            cause = "every observation was predicted equally well"
        elif estimates.all_tied:
            cause = "all scores were equal: the learner does not distinguish observations"
        return f"degenerate: the variance estimate is zero, {cause}"
    rough, tolerated_words = (
        (ROUGH_JACKKNIFE, "half") if name in JACKKNIFES else (ROUGH, "a quarter")
    )
    if sampled and not variance.mc_se <= rough * variance.variance:
        return (
            "too few resamples: the Monte-Carlo standard error of the variance "
            f"({variance.mc_se:.2g}) is above {tolerated_words} of it ({variance.variance:.2g}); "
            f"raise {arg('n_repeats')}"
        )
    return "ok"
