"""The true values of what the tests estimate: expected losses and AUCs at a learning-set size."""

import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from studies.calibration.plan import MANY_FEATURES
from studies.calibration.problem import SEED, Problem
from studies.calibration.rules import PopulationRules, population_rules
from studies.coverage import written
from ucvtest.learners.base import Learner

BLOCK, MANY_BLOCK = 2000, 500
"""Observations drawn at a time for the learning sets; fewer where there are many features."""

JUDGED = 8000
"""Observations beside them on which the rules are judged."""

PILOT_SETS, PILOT_BLOCKS = 100, 10
"""Learning sets of the pilot that says how many are needed, and blocks of them, at least."""

LEAST_SETS, MOST_SETS, LEAST_BLOCKS = 100, 3000, 20
"""Learning sets that the pilot may ask for; blocks of them that are drawn in any case."""

PRECISION, PRECISION_OTHERS = 0.05, 0.1
"""True values are to be known to so much of the standard deviation of the estimates of them: of
what the U-statistic test, of which something is promised, estimates, and of what only others do."""

PILOT_STREAM, STREAM = 9, 10
"""Of random numbers."""

KEYS = ["learn_size", "learn_positive", "auc"]


def true_values(
    problem: Problem,
    learn_size: int,
    learn_positive: int = 0,
    *,
    auc: bool = False,
    n_sets: int = LEAST_SETS,
) -> dict[str, float]:
    """Expected loss (AUC, with this number of positives) at a learning-set size.

    At least `n_sets` learning sets are drawn, in at least `LEAST_BLOCKS` blocks. Those of one block
    do not overlap; their rules are judged on the rest of it and on some more of the population.
    Standard errors are those of the blocks.

    Returns
    -------
    dict
        Of every target the mean over learning sets and its standard error, and how many sets there
        were.
    """
    of = learn_size, learn_positive, auc
    return _values(problem, of, n_sets=n_sets, n_blocks=LEAST_BLOCKS, stream=STREAM)


def sets_needed(
    problem: Problem,
    learn_size: int,
    learn_positive: int = 0,
    *,
    auc: bool = False,
    wanted: Mapping[str, float],
) -> int:
    """How many learning sets make the standard errors as small as `wanted`, told by a pilot.

    The sets of the pilot do not count: where sets are drawn until their own error is small, that
    error is too small, and the mean is biased too where losses are skewed.
    """
    of = learn_size, learn_positive, auc
    pilot = _values(problem, of, n_sets=PILOT_SETS, n_blocks=PILOT_BLOCKS, stream=PILOT_STREAM)
    times = [(pilot[f"{name}_se"] / most) ** 2 for name, most in wanted.items() if most > 0]
    # A pilot with losses that are not numbers cannot say that few are enough.
    needed = np.nan_to_num(pilot["sets"] * np.max(times, initial=0), nan=np.inf)
    return int(np.clip(np.ceil(needed), LEAST_SETS, MOST_SETS))


def _values(
    problem: Problem, of: tuple[int, int, bool], *, n_sets: int, n_blocks: int, stream: int
) -> dict[str, float]:
    learn_size, positive, auc = of
    code = zlib.crc32(problem.name.encode())
    rng = np.random.default_rng([SEED, code, learn_size, positive, stream])
    judged: list[np.ndarray] = []
    found = 0
    while found < n_sets or len(judged) < n_blocks:
        block, learning = _block(problem, learn_size, positive, rng, auc=auc)
        members = np.arange(learning.shape[1])
        rules = population_rules(block, members)
        judged.append(np.column_stack([_judged(each, learning, auc=auc) for each in rules]))
        found += len(learning)
    return {**_means(judged), "sets": found}


def _judged(rules: PopulationRules, learning: np.ndarray, *, auc: bool) -> np.ndarray:
    return rules.aucs(learning) if auc else rules.risks(learning)


def _block(
    problem: Problem, learn_size: int, positive: int, rng: np.random.Generator, *, auc: bool
) -> tuple[Problem, np.ndarray]:
    """Part of the population, the members of learning sets first, and the sets (R, members)."""
    many = problem.features.shape[1] > MANY_FEATURES
    n_members = min(MANY_BLOCK if many else BLOCK, problem.n_population)
    if any(map(_one_by_one, problem.fitted)):
        n_members = learn_size
    n_members = max(n_members, learn_size)
    order = rng.permutation(problem.n_population)
    n_sets = n_members // learn_size
    if auc:
        # Learning sets within the classes come first, in turn.
        is_positive = problem.sample.target[order] == 1
        by_class = order[~is_positive], order[is_positive]
        sizes = learn_size - positive, positive
        n_sets = max(1, min(n_sets, *(len(c) // g for c, g in zip(by_class, sizes, strict=True))))
        parts = [c[: n_sets * g].reshape(n_sets, g) for c, g in zip(by_class, sizes, strict=True)]
        chosen = np.hstack(parts).ravel()
        order = np.concatenate([chosen, order[~np.isin(order, chosen)]])
    place = np.arange(n_members) // learn_size
    learning = place == np.arange(n_sets)[:, None]
    kept = order[: n_members + JUDGED]
    return replace(
        problem, features=problem.features[kept], response=problem.response[kept]
    ), learning


def _means(judged: list[np.ndarray]) -> dict[str, float]:
    """Values and their standard errors from those of blocks, each (sets, 2)."""
    blocks = np.array([each.mean(axis=0) for each in judged])
    first, second = blocks.T
    ratio = first.mean() / second.mean()
    values = {
        "difference": (first.mean() - second.mean(), first - second),
        "error": (first.mean(), first),
        # By the delta method.
        "ratio": (ratio, (first - ratio * second) / second.mean()),
    }
    return {
        f"{target}{suffix}": float(number)
        for target, (mean, each) in values.items()
        for suffix, number in (("", mean), ("_se", each.std(ddof=1) / np.sqrt(len(each))))
    }


def _one_by_one(learner: Learner) -> bool:
    """Whether many learning sets of one large sample are as slow as many samples."""
    return learner.backend != "jax" or learner.name.startswith("knn")


def true_values_of_cells(
    problem: Problem, needed: pd.DataFrame, folder: Path, progress: Callable[[str], None]
) -> pd.DataFrame:
    """True values of what tests estimate: those on file are read, the others found."""
    path = folder / f"truth-{problem.name}.csv"
    known = _on_file(path)
    for key, rows in needed.groupby(KEYS):
        if key in known:
            continue
        size, positive, auc = key
        of = {"learn_size": int(size), "learn_positive": int(positive), "auc": bool(auc)}
        n_sets = sets_needed(problem, **of, wanted=_errors_wanted(problem, rows))
        progress(f"{problem.name}: truth at learning-set size {size}, {n_sets} sets")
        values = true_values(problem, **of, n_sets=n_sets)
        known[key] = {**dict(zip(KEYS, key, strict=True)), **values}
        written(pd.DataFrame(known.values()), path, float_format="%.6g")
    # As they are read again: files have fewer digits.
    return pd.DataFrame(_on_file(path).values())


def _on_file(path: Path) -> dict[Any, dict[str, Any]]:
    if not path.exists():
        return {}
    rows = pd.read_csv(path).to_dict("records")
    return {tuple(row[name] for name in KEYS): row for row in rows}


def _errors_wanted(problem: Problem, rows: pd.DataFrame) -> dict[str, float]:
    """How well each target must be known: by the smallest standard deviation of its estimates."""
    by_test = rows.groupby(["target", "n_obs", "procedure"])["estimate"].std()
    found = by_test.groupby("target").min().dropna()
    # Equal learners have a difference of 0 by construction.
    promised = rows["procedure"].str.startswith("ustatistic").any()
    share = PRECISION if promised else PRECISION_OTHERS
    return {name: share * sd for name, sd in found.items() if name == "error" or not problem.equal}
