"""How many samples of every problem and size each group of tests is run on."""

from collections.abc import Collection, Iterable, Iterator

from studies.calibration.problem import Problem

GROUPS = (
    *("own_fits", "losses", "fold_covariance", "further", "auc", "ustatistic"),
    *("few_fits", "few_fits_auc"),
)
"""Work that is done, and kept on file, together: tests that share fits, or do their own."""

CHUNK = 20
"""Samples whose results are kept together."""

MANY, FEW, FEWEST = 300, 60, 20
"""Samples of a cell: where something is promised, where fits take long, and where AUCs do."""

ROUNDS = range(MANY // CHUNK)
"""One after the other, so that results are about balanced when the study is stopped."""

SAMPLES_OF_FEW_FITS = {"few_fits": 150, "few_fits_auc": 200}
"""The same where all numbers of few fits are tried on a sample."""

LARGE = 500
"""Samples of this size take ten times as long as those of 100."""

LARGE_PROBLEMS = ("equal", "medium")
"""Problems with as many samples of that size as of others."""

MANY_FEATURES = 100
"""With more, rules are slow to learn."""


def samples_wanted(problem: Problem, n_obs: int, group: str) -> int:
    """Samples of this size that a group of tests is run on; 0 where it is not studied."""
    if n_obs not in sizes_of(problem, group):
        return 0
    if problem.only_folds:
        return FEW if group == "losses" and n_obs < LARGE else 0
    if group in SAMPLES_OF_FEW_FITS:
        few_features = problem.features.shape[1] < MANY_FEATURES
        studied = problem.quick and few_features and n_obs < LARGE
        return SAMPLES_OF_FEW_FITS[group] if studied else 0
    if group == "auc":
        return FEWEST * 2 if problem.features.shape[1] > MANY_FEATURES else MANY
    if not problem.quick:
        return 0 if group in ("ustatistic", "own_fits") else FEW
    if group == "own_fits":
        return FEW if n_obs < LARGE else 0
    if group in ("losses", "further") and problem.features.shape[1] > MANY_FEATURES:
        return FEW
    if n_obs < LARGE or (group == "ustatistic" and problem.name in LARGE_PROBLEMS):
        return MANY
    return FEW


def sizes_of(problem: Problem, group: str) -> tuple[int, ...]:
    """The sample sizes at which a group of tests is studied."""
    if group in ("auc", "few_fits_auc"):
        return problem.auc_sizes
    if problem.loss == "auc":
        return ()
    return problem.all_sizes if group == "ustatistic" else problem.sizes


def chunks(
    problem: Problem, of_round: int, groups: Iterable[str] = GROUPS, only: Collection[int] = ()
) -> Iterator[tuple[int, str, int]]:
    """Size, group and number of the chunks of a round."""
    for group in groups:
        for n_obs in sizes_of(problem, group):
            wanted = not only or n_obs in only
            if wanted and of_round * CHUNK < samples_wanted(problem, n_obs, group):
                yield n_obs, group, of_round
