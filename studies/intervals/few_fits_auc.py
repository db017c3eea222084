"""Coverage and width of the U-statistic test of the AUC from few fits.

Problems, samples and true values are those of the calibration study with as many of each class as
the population has; the rule for few fits was chosen without them. All else is as in `few_fits`:
one evaluation of each sample at the most pairs, rows as they come. Widths are next to those of the
corrected t test on ten repeated splits and of the full test.

    python studies/intervals/few_fits_auc.py --rows build/few_fits_auc.csv --seconds 1200
    python studies/intervals/few_fits_auc.py --rows build/few_fits_auc.csv --table
"""

from collections.abc import Iterator
from pathlib import Path

from studies.calibration.problems import Problem, problems
from studies.calibration.simulation import SampleRun
from studies.intervals.few_fits import MOST_FEATURES, Study, main, rows_from


def rows_of(problem: Problem, n_obs: int, number: int) -> Iterator[tuple]:
    """What every budget says of a sample."""
    run = SampleRun(problem, n_obs, number, within_classes=True)
    return rows_from(run, run.pairs_within_classes)


def studied() -> list[Problem]:
    """Problems of two classes, and learners that are quick to fit."""
    return [
        problem
        for problem in problems().values()
        if problem.auc and problem.quick and problem.features.shape[1] <= MOST_FEATURES
    ]


FEW_FITS_AUC = Study(
    studied,
    rows_of,
    "ustatistic_auc",
    ("width_corrected_t", "corrected_t_auc"),
    Path(__file__).with_suffix(".csv"),
    loss="auc",
)

if __name__ == "__main__":
    main(FEW_FITS_AUC, str(__doc__))
