"""Rows about metrics such as F1, with the columns of the calibration table, from other studies.

`metrics_of_learners.py` has the problems of the calibration study, and `concordance_of_learners.py`
its own. `metrics_of_rules.py` and `survival_of_rules.py` have rules that are fixed: their problems
are called "rules_...", and have as many test observations as `hold_out` takes from `n_obs`.
Populations of clusters are left out, because the number of clusters then decides. Columns that a
study does not have stay empty. Written by `python studies/calibration/run.py --metrics`.
"""

from pathlib import Path

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from studies.calibration.table import DIGITS
from ucvtest.advice.configured_tests import PROCEDURES

STUDIES = Path(__file__).parents[1] / "intervals"
COLUMNS = ("metric", "problem", "n_obs", "target", "procedure", "learn_size", "n_fits", "truth")
COLUMNS += ("truth_se", "samples", "answered", "covered", "coverage_low", "coverage_high", "equal")
COLUMNS += ("tested", "rejected", "width", "sd")

TARGETS = {"one": "error", "difference": "difference"}
LEARNERS = {"error": 1, "difference": 2}
FEW, MANY, RULES = "ustatistic_few_20", "ustatistic", "hold_out"
FITS_OF_CONCORDANCE = {"ustatistic_few": 20, "ustatistic_many": 600}
"""Fits of each learner."""

EQUAL = ("rules_equal", "rules_light", "rules_heavy")
"""Problems whose rules are equally good."""


def metric_rows() -> pd.DataFrame:
    """The rows of all studies."""
    rows = pd.concat([_of_learners(), _of_concordance(), _of_rules()])
    rows["learn_size"] = [
        PROCEDURES[procedure].learn_size(n_obs)
        for procedure, n_obs in zip(rows["procedure"], rows["n_obs"], strict=True)
    ]
    low, high = proportion_confint(rows["covered"], rows["answered"], method="beta")
    rows = rows.assign(coverage_low=low, coverage_high=high)
    rows[["equal", "tested", "rejected"]] = rows[["equal", "tested", "rejected"]].astype("Int64")
    return rows.loc[:, list(COLUMNS)].reset_index(drop=True)


def as_calibration_table(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows of fitted learners as `advise_from` reads them, where the loss names the metric."""
    counts = {"equal": 0, "tested": 0, "rejected": 0}
    return rows[rows["procedure"] != RULES].rename(columns={"metric": "loss"}).fillna(counts)


def write_metric_rows(path: Path) -> None:
    """The rows as CSV."""
    metric_rows().to_csv(path, index=False, float_format=f"%.{DIGITS}g")


def _of_learners() -> pd.DataFrame:
    return _fitted(_study("metrics_of_learners"))


def _of_concordance() -> pd.DataFrame:
    rows = _study("concordance_of_learners")
    # Intervals of folds are about the rules of these folds.
    rows = rows[rows["test"].isin(FITS_OF_CONCORDANCE)]
    return _fitted(
        rows.assign(
            metric="harrell",
            problem=rows["problem"] + "_" + rows["censoring"],
            fits=rows["test"].map(FITS_OF_CONCORDANCE),
        )
    )


def _fitted(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows of the U-statistic test, from few fits or from many."""
    return rows.assign(
        n_obs=rows["n"],
        procedure=[FEW if fits == min(rows["fits"]) else MANY for fits in rows["fits"]],
        n_fits=rows["fits"] * rows["target"].map(LEARNERS),
    )


def _of_rules() -> pd.DataFrame:
    """Rows of fixed rules."""
    rows = pd.concat([_study("metrics_of_rules"), _study("survival_of_rules")])
    rows = rows.assign(
        problem="rules_" + rows["problem"],
        n_obs=3 * rows["n"],
        procedure=RULES,
        n_fits=rows["target"].map(LEARNERS),
    )
    is_difference = rows["target"] == "difference"
    counts = {
        "equal": rows["problem"].isin(EQUAL).astype(int),
        "tested": rows["answered"],
        "rejected": _counts(rows["rejects_0"], rows),
    }
    rows = rows.assign(**{name: count.where(is_difference) for name, count in counts.items()})
    return rows[~rows["problem"].str.contains("cluster")]


def _study(name: str) -> pd.DataFrame:
    """The rows of a study, whose shares become counts again."""
    rows = pd.read_csv(STUDIES / f"{name}.csv")
    covered = _counts(rows["coverage"], rows).astype(int)
    return rows.assign(target=rows["target"].map(TARGETS), covered=covered)


def _counts(percent: pd.Series, rows: pd.DataFrame) -> pd.Series:
    return (percent * rows["answered"] / 100).round()
