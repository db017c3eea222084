"""Predictions compared with simulations, and the reasons for their errors."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from studies.planning.problems import PROBLEMS, Problem, use_of
from studies.planning.simulation import PILOTS, SEEN, TARGETS
from ucvtest.planning.typical_variances import PairedLosses, PilotEvidence, shrunk

LOWEST, HIGHEST, NEAR, ENOUGH = 0.9, 1.15, 0.3, 0.75
"""Between which median ratios should be, and how many pilots should be how near."""

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
                row = {"problem": problem.name, "use": use_of(problem.name)}
                row |= {"pilot": pilot, "n": n, "n_pilots": len(told)}
                row |= {"difference": true["estimate"].mean()}
                row |= {"n_truth": len(true), "true_sd": sd} | ratios("sd", told[f"sd {n}"] / sd)
                path = folder / f"default {problem.name} {pilot} {n}.csv"
                if path.exists():
                    row |= _beside(problem, told, n, pd.read_csv(path))
                rows.append(row)
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
    """One row for each problem: median ratios, and what the error of a single pilot consists of.

    "known" is the ratio of a standard deviation that is predicted from the mean of what all pilots
    see, which no pilot knows so well: what it is off by is due to the rule. "noise" is the standard
    deviation of the logarithm of predictions between pilots, by their quartiles, and "noise_of_J"
    that of the square root of their jackknife, which "J_within" of the pilots have within 30%.
    "v_1" is what single observations have of the variance, by that at 400 observations, and
    "v_1_taken" what the rule takes it for from the same means, both over the mean square of losses;
    "J" and "J_taken" are the same of the pilots' jackknife. "se_mc" and "se_within_mc" are
    Monte-Carlo errors.
    """
    rows = []
    for name, part in found.groupby("problem", sort=False):
        problem = PROBLEMS[name]
        known = [_known(problem, pilot, part, folder) for pilot in PILOTS]
        row = {"problem": name, "use": part["use"].iloc[0]}
        for kind in ("sd", "se"):
            if f"{kind}_median" in part:
                row |= {kind: part[f"{kind}_median"].median()}
                row |= {f"{kind}_within": part[f"{kind}_within"].mean()}
        if "reported_se" in part:
            row |= _monte_carlo(name, part, folder)
        ends = np.log(part["sd_q3"] / part["sd_q1"]).mean()
        row |= {"noise": ends / QUARTILES, **pd.DataFrame(known).mean().to_dict()}
        rows.append({**row, "why": _why(row)})
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


def _known(problem: Problem, pilot: int, part: pd.DataFrame, folder: Path) -> dict[str, float]:
    """What the rule makes of the means of all pilots, and how much these differ."""
    told = pd.read_csv(folder / f"plans {problem.name} {pilot}.csv")
    mean = told[list(SEEN)].mean()
    evidence = PilotEvidence(
        pilot, pilot // 2, mean["jackknife"], mean["pair_effects"], math.inf, 0.0
    )
    agreement = np.average(told["agreement"].fillna(0.0), weights=told["mean_square"])
    paired_losses = PairedLosses(mean["mean_square"], float(agreement))
    components, _ = shrunk(evidence, paired_losses, jumps=problem.loss == "zero_one")
    cells = part[part["pilot"] == pilot].set_index("n")["true_sd"]
    unit = mean["mean_square"]
    ratios = [math.sqrt(components.variance(n)) / sd for n, sd in cells.items()]
    positive = told["jackknife"][told["jackknife"] > 0]
    quartiles = np.log(positive.quantile([0.25, 0.75]))
    return {
        "known": math.exp(np.mean(np.log(ratios))),
        "noise_of_J": float(np.diff(quartiles)[0]) / QUARTILES / 2,
        "J_within": (np.abs(np.sqrt(positive / mean["jackknife"]) - 1) <= NEAR).mean(),
        "median_of_J": positive.median() / mean["jackknife"],
        "v_1": TARGETS[-1] * cells[TARGETS[-1]] ** 2 / unit,
        "v_1_taken": components.first_at(1) / unit,
        "J": pilot * mean["jackknife"] / unit,
        "J_taken": pilot * components.jackknife(pilot) / unit,
    }


def _why(row: dict[str, Any]) -> str:
    """Why a problem misses its target, in words; empty if it does not."""
    middle, within = row.get("se", row["sd"]), row.get("se_within", row["sd_within"])
    reasons = []
    if not LOWEST <= middle <= HIGHEST:
        limit = LOWEST if middle < LOWEST else HIGHEST
        if abs(math.log(middle / limit)) < 2 * row.get("se_mc", 0.0):
            reasons.append(f"less than two Monte-Carlo errors from {limit:g}")
        if abs(math.log(row["known"])) > 0.07:
            off = {name: abs(math.log(row[f"{name}_taken"] / row[name])) for name in ("v_1", "J")}
            name = max(off, key=lambda each: off[each])
            shares = f"{row[name]:.0%} of the mean square, taken for {row[f'{name}_taken']:.0%}"
            reasons.append(f"the rule: {name} is {shares}")
        if abs(math.log(row["sd"] / row["known"])) > 0.1:
            share = row["median_of_J"]
            reasons.append(f"half of the pilots have a J below {share:.0%} of its mean")
        reasons = reasons or ["the rule and the spread of pilots together"]
    if within < ENOUGH and row["noise"] > 0.2:
        reasons.append(
            f"a single pilot is off by {row['noise']:.0%}: had its J alone to tell the scale, and "
            f"were all else known, {row['J_within']:.0%} would be within 30%"
        )
    elif within < ENOUGH and not reasons:
        reasons.append("median and spread of single pilots together")
    return "; ".join(reasons)
