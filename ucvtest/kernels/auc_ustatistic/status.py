"""The status of an AUC in words: why there is no variance, or none to rely on."""

from ucvtest.kernels.auc_ustatistic.ranked import NoVariance
from ucvtest.kernels.auc_ustatistic.variances import AucEstimate

NOTHING_VARIED = {
    NoVariance.EQUAL_SCORES: (
        "all tested scores were equal: the learner tells no observation from another"
    ),
    NoVariance.SEPARATED: "the classes were separated completely, in every row",
    NoVariance.OBSERVATIONS_ALIKE: "every observation was ranked equally well",
    NoVariance.CLASSES_ALIKE: "every observation was ranked equally well, as by equal scores",
    NoVariance.CLUSTERS_ALIKE: "every cluster was ranked equally well",
    NoVariance.LEARNERS_ALIKE: (
        "the two learners ranked every tested pair alike, so there is no difference to test"
    ),
    NoVariance.DIFFERENCE_ALIKE: "the two learners differ by as much for every observation",
    NoVariance.NOTHING_VARIES: "nothing varies",
}


def no_variance_in_words(no_variance: NoVariance) -> str:
    """The status where there is no variance."""
    if no_variance is NoVariance.NEVER_TOGETHER:
        return (
            "too few resamples: some two classes were tested together in no learning set; give "
            "more learning sets, or smaller ones"
        )
    return f"degenerate: the jackknife variance is zero, {NOTHING_VARIED[no_variance]}"


def too_rough(estimate: AucEstimate, name: str, remedy: str) -> str:
    """The status of a variance whose Monte-Carlo error is too large."""
    return (
        "too few resamples: the Monte-Carlo standard error of the variance "
        f"({estimate.mc_se[name]:.2g}) is above half of it ({estimate.values[name]:.2g}); {remedy}"
    )
