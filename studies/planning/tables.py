"""Predictions compared with simulations."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from studies.planning.problems import PROBLEMS, Problem
from studies.planning.simulation import PILOTS, TARGETS

LOWEST, HIGHEST, NEAR = 0.9, 1.15, 0.3
"""Between which median ratios should be, and how near pilots should be."""

QUARTILES, MEDIAN_ERROR = 1.349, 1.253
"""Quartiles of a normal distribution lie so many standard deviations apart, and the error of a
median is so many times that of a mean."""


def table(folder: Path, names: Sequence[str]) -> pd.DataFrame:
    """One row for each problem, pilot and target."""
    rows = []
    for problem in map(PROBLEMS.__getitem__, names):
        for pilot in PILOTS:
            told = pd.read_csv(folder / f"plans {problem.name} {pilot}.csv")
            for n in TARGETS:
                true = pd.read_csv(folder / f"truth {problem.name} {pilot} {n}.csv")
                sd = np.sqrt(true["estimate"].var(ddof=1) - true["mc"].mean())
                row = {"problem": problem.name, "use": problem.use}
                row |= {"pilot": pilot, "n": n, "n_pilots": len(told)}
                row |= {"difference": true["estimate"].mean()}
                row |= {"n_truth": len(true), "true_sd": sd} | ratios("sd", told[f"sd {n}"] / sd)
                reported = pd.read_csv(folder / f"default {problem.name} {pilot} {n}.csv")
                rows.append(row | _beside(problem, told, n, reported))
    return pd.DataFrame(rows)


def _beside(problem: Problem, told: pd.DataFrame, n: int, found: pd.DataFrame) -> dict[str, Any]:
    """Plans compared with the reports of the test."""
    se = found["se"].mean()
    row = {"n_samples": len(found), "reported_se": se}
    row |= {"reported_se_mc": found["se"].std(ddof=1) / math.sqrt(len(found))}
    row |= ratios("se", told[f"se {n}"] / se)
    ends = told[[f"se_low {n}", f"se_high {n}"]].to_numpy()
    row["se_band"] = ((ends[:, 0] <= se) & (se <= ends[:, 1])).mean()
    row["width_median"] = told[f"width {n}"].median() / found["width"].mean()
    if len(problem.learners) == 2:
        known = found["pvalue"].dropna()
        row |= {"n_power": len(known), "power": (known <= 0.05).mean()}
        row["predicted_power"] = told[f"power {n}"].mean()
    return row


def ratios(name: str, ratios: pd.Series) -> dict[str, float]:
    """Predicted over simulated: median, quartiles, and how many are within 30%."""
    within = (np.abs(ratios - 1) <= NEAR).mean()
    low, median, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return {
        f"{name}_median": median,
        f"{name}_q1": low,
        f"{name}_q3": high,
        f"{name}_within": within,
    }


def by_problem(found: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """One row for each problem: median ratios, and the share of pilots within 30%.

    "se_mc" and "se_within_mc" are Monte-Carlo errors.
    """
    rows = []
    for name, part in found.groupby("problem", sort=False):
        row = {"problem": name, "use": part["use"].iloc[0]}
        for kind in ("sd", "se"):
            row |= {kind: part[f"{kind}_median"].median()}
            row |= {f"{kind}_within": part[f"{kind}_within"].mean()}
        rows.append(row | _monte_carlo(str(name), part, folder))
    return pd.DataFrame(rows)


def _monte_carlo(name: str, part: pd.DataFrame, folder: Path) -> dict[str, float]:
    """Monte-Carlo errors of the median ratio, as a share of it, and of the pilots within 30%.

    A pilot tells of all sizes; what samples of these sizes report is simulated for each of them.
    """
    of_median, of_share = [], []
    for pilot, cells in part.groupby("pilot"):
        told = pd.read_csv(folder / f"plans {name} {pilot}.csv")
        ratios = np.array([told[f"se {row.n}"] / row.reported_se for row in cells.itertuples()])
        spread = np.subtract(*np.quantile(np.log(ratios.mean(axis=0)), [0.75, 0.25])) / QUARTILES
        of_median.append(MEDIAN_ERROR * spread / math.sqrt(len(told)))
        of_share.append(
            (np.abs(ratios - 1) <= NEAR).mean(axis=0).std(ddof=1) / math.sqrt(len(told))
        )
    drawn = (part["reported_se_mc"] / part["reported_se"]).to_numpy()
    of_truth = math.sqrt((drawn**2).sum()) / len(part)
    pilots, share = (math.hypot(*each) / len(each) for each in (of_median, of_share))
    return {"se_mc": math.hypot(pilots, of_truth), "se_within_mc": share}
