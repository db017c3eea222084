"""From the kept results of every sample to the calibration table, its picture and its words."""

import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from statsmodels.stats.proportion import proportion_confint

import ucvtest as uv
from studies.calibration.plan import ROUNDS, chunks
from studies.calibration.problem import SEED, Problem
from studies.calibration.simulation import ALPHA, CELL, file_of
from studies.calibration.truth import true_values_of_cells
from ucvtest.advice.configured_tests import PROCEDURES

DIGITS = 5
KEYS = ["problem", "n_obs", "target", "procedure"]

COLUMNS = (
    "problem",
    "n_obs",
    "target",
    "procedure",
    "learn_size",
    "n_fits",
    "truth",
    "truth_se",
    "samples",
    "answered",
    "covered",
    "coverage_low",
    "coverage_high",
    "equal",
    "tested",
    "rejected",
    "rejected_low",
    "rejected_high",
    "width",
    "sd",
    "missed_below",
    "missed_above",
    "seconds",
    "smaller_class",
)
"""The last five are missing in rows from before they were counted."""


def read_samples(problem: Problem, folder: Path) -> tuple[pd.DataFrame, int]:
    """The rows of all samples on file, and how many chunks that are asked for are not there."""
    path = file_of(problem, folder)
    rows = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=list(CELL))
    there = set(rows[list(CELL)].itertuples(index=False, name=None))
    wanted = {chunk for of_round in ROUNDS for chunk in chunks(problem, of_round)}
    return rows, len(wanted - there)


def table_of(problem: Problem, folder: Path, progress=print) -> pd.DataFrame:
    """The rows of the calibration table of one problem."""
    rows, missing = read_samples(problem, folder)
    if missing:
        progress(f"{problem.name}: {missing} chunks of samples are not there yet")
    if rows.empty:
        return pd.DataFrame(columns=list(COLUMNS))
    return cells_of(problem, rows, truths_of(problem, rows, folder, progress))


def truths_of(problem: Problem, rows: pd.DataFrame, folder: Path, progress=print) -> dict:
    """True values by learning sets and kind (AUC or not), computed if they are not on file."""
    needed = rows[_about_learner(rows) & (rows["learn_size"] > 0) & rows["low"].notna()]
    needed = needed.assign(auc=about_auc(needed))
    truths = true_values_of_cells(problem, needed, folder, progress)
    return {
        (row["learn_size"], row["learn_positive"], bool(row["auc"])): row
        for row in truths.to_dict("records")
    }


def cells_of(problem: Problem, rows: pd.DataFrame, known: dict) -> pd.DataFrame:
    """What the samples of a problem give; `known` as from `truths_of`."""
    of_learner, auc = _about_learner(rows), about_auc(rows)
    found = [
        _cell(problem, key, cell, bool(of_learner[cell.index[0]]), bool(auc[cell.index[0]]), known)
        for key, cell in rows.groupby(["n_obs", "target", "procedure"], sort=False)
    ]
    return pd.DataFrame(found, columns=list(COLUMNS))


def about_auc(rows: pd.DataFrame) -> pd.Series:
    """Which rows are about AUCs."""
    return rows["procedure"].map(lambda name: name in PROCEDURES and PROCEDURES[name].auc)


def _about_learner(rows: pd.DataFrame) -> pd.Series:
    return rows["procedure"].map(
        lambda name: name in PROCEDURES and PROCEDURES[name].about == "learner"
    )


def _cell(
    problem: Problem,
    key: tuple[Any, ...],
    cell: pd.DataFrame,
    of_learner: bool,
    auc: bool,
    known: dict,
) -> dict[str, Any]:
    n_obs, target, procedure = key
    learn_size = int(cell["learn_size"].max())
    truth, truth_se = cell["truth"], 0.0
    entry = known.get((learn_size, int(cell["learn_positive"].max()), auc))
    if of_learner and _null_holds(problem, str(target)):
        truth = 1.0 if target == "ratio" else 0.0  # by construction
    elif of_learner and entry is not None:
        truth, truth_se = entry[target], entry[f"{target}_se"]
    answered = cell["low"].notna() & cell["high"].notna()
    below, above = answered & (cell["high"] < truth), answered & (cell["low"] > truth)
    covered = answered & (cell["low"] <= truth) & (truth <= cell["high"])
    tested = cell["pvalue"].notna()
    rejected = tested & (cell["pvalue"] <= ALPHA)
    counts = {"answered": answered, "covered": covered, "tested": tested, "rejected": rejected}
    numbers = {name: int(each.sum()) for name, each in counts.items()}
    low, high = binomial_limits(numbers["covered"], numbers["answered"])
    rejected_low, rejected_high = binomial_limits(numbers["rejected"], numbers["tested"])
    return {
        "problem": problem.name,
        "n_obs": n_obs,
        "target": target,
        "procedure": procedure,
        "learn_size": learn_size,
        "n_fits": int(cell["n_fits"][cell["n_fits"] > 0].median()) if cell["n_fits"].any() else 0,
        "truth": float(np.mean(truth)),
        "truth_se": truth_se,
        "samples": len(cell),
        **numbers,
        "coverage_low": low,
        "coverage_high": high,
        "equal": int(_null_holds(problem, target)),
        "rejected_low": rejected_low,
        "rejected_high": rejected_high,
        "width": (cell["high"] - cell["low"])[answered].median(),
        "sd": cell["estimate"].std(ddof=1),
        "missed_below": int(below.sum()),
        "missed_above": int(above.sum()),
        "seconds": cell["seconds"].median(),
        "smaller_class": min(problem.class_sizes(int(n_obs))) if auc else np.nan,
    }


def _null_holds(problem: Problem, target: str) -> bool:
    return target == "independence" or (target in ("difference", "ratio") and problem.equal)


def binomial_limits(count: int, total: int) -> tuple[float, float]:
    """Clopper and Pearson's 95% interval."""
    if not total:
        return np.nan, np.nan
    low, high = proportion_confint(count, total, method="beta")
    return float(low), float(high)


def renewed(old: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    """The old rows, replaced by new ones of the same problem, size, target and procedure.

    New ones from fewer samples, as of a study that was stopped, leave the old ones in their place.
    """
    both = pd.concat([old.reindex(columns=list(COLUMNS)), new], ignore_index=True)
    # Problems without samples yet make numbers objects, which are written with all their digits.
    both = both.infer_objects()
    fewer = both["samples"] < both.groupby(KEYS)["samples"].transform("max")
    return both[~fewer].drop_duplicates(KEYS, keep="last")


def write_table(table: pd.DataFrame, problems: dict[str, Problem], folder: Path) -> None:
    """The table as CSV, and next to it a record of its making."""
    order = {name: place for place, name in enumerate(problems)}
    procedures = {name: place for place, name in enumerate(PROCEDURES)}
    table = table.sort_values(
        ["problem", "n_obs", "target", "procedure"],
        key=lambda column: column.map(
            {"problem": order, "procedure": procedures}.get(column.name, lambda value: value)
        ),
        kind="stable",
    )
    table.to_csv(folder / "calibration.csv", index=False, float_format=f"%.{DIGITS}g")
    packages = ("numpy", "scipy", "jax", "scikit-learn", "statsmodels")
    about = {
        "seed": SEED,
        "level": 1 - ALPHA,
        "versions": {
            "ucvtest": uv.__version__,
            "python": platform.python_version(),
            **{name: importlib.metadata.version(name) for name in packages},
        },
        "problems": {
            name: {
                "words": problem.words,
                "loss": problem.loss,
                "population": problem.n_population,
                "held_out": problem.held_out,
            }
            for name, problem in problems.items()
            if name in set(table["problem"])
        },
    }
    (folder / "calibration.json").write_text(json.dumps(about, indent=1) + "\n")
