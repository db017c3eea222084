"""The promises about the calibration table, number by number, and whether they are true."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from studies.calibration.advised import KINDS, followed_on_other_half, verdict
from ucvtest.advice.calibration import calibration_settings

BEST_AUC, REFERENCE_AUC = "ustatistic_auc", "corrected_t_auc"

LOWEST = 0.92
"""Coverage that no cell of a difference, or of one AUC, is to be below."""

BINOMIAL_ERRORS = 2.5
"""A cell may be below its bound by so many binomial standard errors."""

LARGE_CLASS = 8
"""Observations of the smaller class from which on one learner's AUC is promised."""


AUC_SIZES = 4
SAMPLES, SMALLEST = 300, 40
"""Samples of a cell about which something is promised, and the smallest sample for one learner."""

LEAST_CELLS = 12
"""Cells, of three sample sizes or more, that a promise stands on."""

RATE_SIZES = (40, 60, 100, 200, 500)
DIFFERENCE_SIZES = (12, 20, 30, *RATE_SIZES)
"""The sample sizes at which error rates of one learner and differences of two are promised."""

BY_LEARNING_SET = {"ustatistic": "g = n/2 - 1", "ustatistic_third": "g = n/3"}

TRUTH, LARGEST_TRUTH = 0.05, 0.12
"""Standard error of a true value, in standard deviations of the estimates, up to which promises may
stand on it, in the mean and anywhere; 0.1 moves the coverage of an interval by a tenth of a
percent."""

KNOWN_MISSES = (("ustatistic", "held_spam", 200, "difference"),)
"""Cells that are not covered as is promised elsewhere, by test, problem, size and target.

No test about the learners covers 93% there, and `studies/calibration/unseen_rows.py` prints what
can be covered: which rule naive Bayes learns depends on some two rows of a sample, and a tenth of
the samples have none. With 95% in all others the U-statistic test covers 85.5%, below what is
promised elsewhere. These cells count in means, and `--check` says what is covered there."""

NORMAL = 1.96
TAILS = ("skewed", "t3_noise", "contaminated", "exponential")


@dataclass(frozen=True)
class Promise:
    """A number of the table, and the bound that it keeps."""

    words: str
    value: float
    bound: float
    at_least: bool = True
    where: str = ""

    @property
    def kept(self) -> bool:
        """Whether it is on the right side; a number that is missing is not."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def __str__(self) -> str:
        sign = ">=" if self.at_least else "<="
        where = f" ({self.where})" if self.where else ""
        verdict = "ok    " if self.kept else "BROKEN"
        return f"{verdict} {self.value:8.4f} {sign} {self.bound:.4g}  {self.words}{where}"


def promises_kept(table: pd.DataFrame) -> list[Promise]:
    """Everything that is promised, in the order of the study."""
    counted = table[table["sd"].notna()]
    return [
        *_of_auc(counted),
        *_of_error_rates(counted),
        *_of_differences(counted),
        *_of_tails(counted),
        *_of_ratios(counted),
        *_of_true_values(counted),
        *_of_advice(table),
    ]


def _of_auc(table: pd.DataFrame) -> Iterator[Promise]:
    rows = table[table["procedure"].isin((BEST_AUC, REFERENCE_AUC))]
    rows = rows[rows["samples"] >= SAMPLES]
    best = rows[rows["procedure"] == BEST_AUC]
    pairs = best[best["target"] == "difference"]
    alone = best[(best["target"] == "error") & (best["smaller_class"] >= LARGE_CLASS)]
    sizes = pairs.groupby("problem")["n_obs"].nunique()
    words = f"AUC: problems with {SAMPLES} samples or more at every size"
    yield Promise(words, int((sizes >= AUC_SIZES).sum()), 12)
    yield from _coverage("AUC, difference", pairs)
    yield from _coverage(f"AUC, one learner, {LARGE_CLASS} of each class or more", alone)
    held_out = pairs["problem"].isin(_held_out())
    nulls = pairs["equal"] == 1
    yield _size("AUC: true nulls rejected", pairs[nulls], 0.05)
    yield _size("AUC: true nulls rejected, problems held out", pairs[nulls & held_out], 0.06)
    reference = rows[(rows["procedure"] == REFERENCE_AUC) & (rows["target"] == "difference")]
    yield Promise(
        "AUC, difference: mean width relative to corrected t on folds",
        mean_ratio(pairs, reference),
        0.6,
        at_least=False,
    )


def _of_error_rates(table: pd.DataFrame) -> Iterator[Promise]:
    of_rates = table["loss"] == "zero_one"
    cells = _cells(table, ("ustatistic",), "error", of_rates)
    cells = cells[cells["n_obs"] >= SMALLEST]
    words = "Error rate, one learner"
    yield _number_of(words, cells)
    yield _sizes_of(words, cells, RATE_SIZES)
    yield from _coverage(words, cells, lowest=0.93)
    symmetric = _cells(table, ("ustatistic_wald",), "error", of_rates)
    yield Promise(
        f"{words}: mean width relative to the symmetric interval",
        mean_ratio(cells, symmetric),
        1.15,
        at_least=False,
    )


def _of_differences(table: pd.DataFrame) -> Iterator[Promise]:
    rows = _cells(table, tuple(BY_LEARNING_SET), "difference", table["loss"] == "zero_one")
    for name, learnt in BY_LEARNING_SET.items():
        cells = rows[rows["procedure"] == name]
        words = f"Error rates, difference, {learnt}"
        yield _number_of(words, cells)
        yield _sizes_of(words, cells, DIFFERENCE_SIZES)
        yield from _coverage(words, cells)
        yield from _coverage(f"{words}, held out", cells[cells["problem"].isin(_held_out())])
        yield _size(f"{words}: true nulls rejected", cells[cells["equal"] == 1], 0.05)
        misses = cells[["missed_below", "missed_above"]].sum()
        share = misses.max() / max(misses.min(), 1)
        yield Promise(f"{words}: misses on one side over the other", share, 3, at_least=False)
        ideal = (cells["width"] / (2 * NORMAL * cells["sd"])).mean()
        yield Promise(f"{words}: mean width relative to the ideal", ideal, 1.35, at_least=False)


def _of_tails(table: pd.DataFrame) -> Iterator[Promise]:
    cells = _cells(table, ("ustatistic",), "error", table["problem"].isin(TAILS))
    words = "Squared loss with tails, one learner"
    yield _number_of(words, cells)
    yield from list(_coverage(words, cells, lowest=0.93))[1:]


def _of_ratios(table: pd.DataFrame) -> Iterator[Promise]:
    cells = _cells(table, ("ustatistic_ratio",), "ratio", table["learn_size"] > 0)
    # Learning sets with one class make the log loss rare and large.
    cells = cells[cells["problem"] != "log_imbalance"]
    yield _number_of("Ratio", cells)
    yield from _coverage("Ratio", cells, mean=0.93, lowest=0.90)
    nulls = cells[cells["equal"] == 1]
    yield _size("Ratio: true nulls rejected", nulls, 0.07)
    yield replace(_size("Ratio: true nulls rejected", nulls, 0.03), at_least=True)


def _of_true_values(table: pd.DataFrame) -> Iterator[Promise]:
    """How well they are known where something is promised, as far as their own errors say."""
    names = ("ustatistic", "ustatistic_third", "ustatistic_ratio", BEST_AUC)
    kept = table["procedure"].isin(names) & (table["samples"] >= SAMPLES) & (table["truth_se"] > 0)
    cells = table[kept & _promised(table)]
    error = cells["truth_se"] / cells["sd"]
    words = "True values: standard error in standard deviations of the estimates"
    yield Promise(f"{words}, mean", float(error.mean()), TRUTH, at_least=False)
    where = ""
    if len(cells):
        worst = cells.loc[error.idxmax()]
        where = f"{worst['problem']}, n = {worst['n_obs']}, {worst['target']}"
    yield Promise(
        f"{words}, largest", float(error.max()), LARGEST_TRUTH, at_least=False, where=where
    )


def _promised(table: pd.DataFrame) -> pd.Series:
    """Whether something is promised: not about differences of losses with tails."""
    return (table["target"] != "difference") | table["loss"].isin(("zero_one", "auc"))


def known_misses(table: pd.DataFrame) -> list[str]:
    """Coverage where nothing is promised, next to the promises elsewhere."""
    found = []
    for cell in table[~_expected(table)].itertuples():
        if not cell.answered:
            continue
        share, bound = cell.covered / cell.answered, cell_bound(LOWEST, cell.answered)
        words = f"{cell.procedure}, {cell.target}"
        where = f"{cell.problem}, n = {cell.n_obs}, {cell.answered} samples"
        found.append(f"MISSED {share:8.4f} (elsewhere >= {bound:.4g})  {words} ({where})")
    return found


def _expected(cells: pd.DataFrame) -> np.ndarray:
    """Which cells are not known to fail."""
    keys = zip(*(cells[name] for name in ("procedure", "problem", "n_obs", "target")), strict=True)
    return np.array([key not in KNOWN_MISSES for key in keys], dtype=bool)


ADVICE = {"zero_one": (0.95, ("held_spam",)), "auc": (0.95, ())}
"""Mean coverage of what `uv.advise` recommends, and the problems where cells may be below 90%.

Of differences of squared and log losses nothing is promised."""


def _of_advice(table: pd.DataFrame) -> Iterator[Promise]:
    """What `uv.advise` is worth on the half of the problems that its evidence is not from."""
    for kind, (mean, weak) in ADVICE.items():
        found = verdict(followed_on_other_half(table, kind))
        words = f"Advice about {KINDS[kind]}, other half"
        where = f"{found['cells']} cells"
        yield Promise(f"{words}: mean coverage", found["mean"], mean, where=where)
        others = set(found["below_in"]) - set(weak)
        where = f"{found['below']} cells in all, {', '.join(found['below_in']) or 'none'}"
        yield Promise(
            f"{words}: problems with cells below 90% less 2.5 standard errors, but those known",
            len(others),
            0,
            at_least=False,
            where=where,
        )


def _sizes_of(words: str, cells: pd.DataFrame, sizes: tuple[int, ...]) -> Promise:
    there = sum(n in set(cells["n_obs"]) for n in sizes)
    listed = ", ".join(map(str, sizes))
    return Promise(f"{words}: sample sizes of n = {listed} that have such cells", there, len(sizes))


def _number_of(words: str, cells: pd.DataFrame) -> Promise:
    """Results from few cells are not promises."""
    return Promise(f"{words}: cells with {SAMPLES} samples or more", len(cells), LEAST_CELLS)


def _cells(
    table: pd.DataFrame, procedures: tuple[str, ...], target: str, suited: pd.Series
) -> pd.DataFrame:
    """Cells of these procedures with as many samples as are promised."""
    kept = table["procedure"].isin(procedures) & (table["target"] == target) & suited
    return table[kept & (table["samples"] >= SAMPLES)]


def _held_out() -> set[str]:
    known = calibration_settings()["problems"]
    return {name for name, each in known.items() if each.get("held_out")}


def _coverage(
    words: str, cells: pd.DataFrame, *, mean: float = 0.95, lowest: float = LOWEST
) -> Iterator[Promise]:
    """The mean, and the cell that is lowest relative to what chance explains."""
    share = (cells["covered"] / cells["answered"]).to_numpy(dtype=float)
    yield Promise(f"{words}: mean coverage", float(share.mean()) if len(share) else np.nan, mean)
    expected = _expected(cells)
    cells, share = cells[expected], share[expected]
    if not len(share):
        return
    bound = cell_bound(lowest, cells["answered"].to_numpy(dtype=float))
    worst = int(np.argmin(share - bound))
    cell = cells.iloc[worst]
    yield Promise(
        f"{words}: worst cell, {lowest:.0%} less {BINOMIAL_ERRORS:g} standard errors",
        float(share[worst]),
        float(bound[worst]),
        where=f"{cell['problem']}, n = {cell['n_obs']}, {int(cell['answered'])} samples",
    )


def cell_bound(level: float, count: Any) -> Any:
    """The coverage to which a cell with this number of answers may fall by chance at this level."""
    return level - BINOMIAL_ERRORS * np.sqrt(level * (1 - level) / count)


def _size(words: str, cells: pd.DataFrame, bound: float) -> Promise:
    tested = cells["tested"].sum()
    share = cells["rejected"].sum() / tested if tested else np.nan
    return Promise(words, share, bound, at_least=False, where=f"{int(tested)} samples")


def mean_ratio(cells: pd.DataFrame, reference: pd.DataFrame) -> float:
    """Widths over those of the reference, mean over the cells that both have."""
    keys = ["problem", "n_obs"]
    both = cells.merge(reference, on=keys, suffixes=("", "_reference"))
    return float((both["width"] / both["width_reference"]).mean())
