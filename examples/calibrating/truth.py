"""The true values of what the tests estimate: expected losses and AUCs at a learning-set size."""

import time
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from calibrating.files import note_seconds, written
from calibrating.plan import MANY_FEATURES
from calibrating.problems import SEED, Problem
from calibrating.rules import PopulationRules, population_rules
from ucvtest.learners.base import JittedLearner, Learner

BLOCK, MANY_BLOCK = 2000, 500
"""Observations drawn at a time for the learning sets; fewer where there are many features."""

JUDGED = 8000
"""Observations beside them on which the rules are judged."""

LEAST_SETS, MOST_SETS, LEAST_BLOCKS = 100, 3000, 10
PRECISION, PRECISION_OTHERS = 0.05, 0.1
"""Learning sets are drawn until true values are known to so much of the standard deviation of the
estimates of them, but no more than the most: of what the U-statistic test, of which something is
promised, estimates, and of what only others do."""

KEYS = ["learn_size", "learn_positive", "auc"]


def true_values(
    problem: Problem,
    learn_size: int,
    learn_positive: int = 0,
    *,
    auc: bool = False,
    wanted: Mapping[str, float] | None = None,
    least: int = LEAST_SETS,
    most: int = MOST_SETS,
) -> dict[str, float]:
    """Expected loss (AUC, learning so many positives) at a learning-set size.

    Independent learning sets are drawn until no standard error is above what is `wanted`. Those of
    one block do not overlap, and their rules are judged on the rest of it and on some more of the
    population; standard errors are those of the blocks.

    Returns
    -------
    dict
        Of every target the value over learning sets and its standard error; how many sets.
    """
    code = zlib.crc32(problem.name.encode())
    rng = np.random.default_rng([SEED, code, learn_size, learn_positive, 9])
    judged: list[np.ndarray] = []
    n_sets = 0
    while True:
        block, learning = _block(problem, learn_size, learn_positive, rng, auc=auc)
        members = np.arange(learning.shape[1])
        rules = population_rules(block, members)
        judged.append(np.column_stack([_judged(each, learning, auc=auc) for each in rules]))
        n_sets += len(learning)
        if len(judged) < LEAST_BLOCKS or n_sets < least:
            continue
        found = _means(judged)
        if n_sets >= most or _precise(found, wanted or {}):
            return {**found, "sets": n_sets}


def _judged(rules: PopulationRules, learning: np.ndarray, *, auc: bool) -> np.ndarray:
    return rules.aucs(learning) if auc else rules.risks(learning)


def _precise(found: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    return all(found[f"{name}_se"] <= most for name, most in wanted.items() if most > 0)


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
    """Whether many learning sets of one large sample are no quicker than as many samples."""
    return not isinstance(learner, JittedLearner) or learner.name.startswith("knn")


def true_values_of_cells(
    problem: Problem,
    needed: pd.DataFrame,
    folder: Path,
    progress: Callable[[str], None],
    *,
    renew: bool = False,
) -> pd.DataFrame:
    """True values of what tests estimate: those on file are read, the others found.

    With `renew` those on file are found anew where they are less precise than is asked for.
    """
    path = folder / f"truth-{problem.name}.csv"
    known = _on_file(path)
    for key, rows in needed.groupby(KEYS):
        wanted = _errors_wanted(problem, rows)
        found = known.get(key)
        if found and not (renew and _imprecise(found, wanted)):
            continue
        size, positive, auc = key
        progress(f"{problem.name}: truth at learning-set size {size}")
        start = time.process_time()
        values = true_values(problem, int(size), int(positive), auc=bool(auc), wanted=wanted)
        seconds = time.process_time() - start
        progress(f"  {seconds:.1f} s")
        known[key] = {**dict(zip(KEYS, key, strict=True)), **values}
        written(pd.DataFrame(known.values()), path)
        note_seconds(folder, f"{path.stem}-{size}-{positive}-{auc}", seconds)
    # As they are read again: what is on file has fewer digits.
    return pd.DataFrame(_on_file(path).values())


def _imprecise(found: Mapping[str, float], wanted: Mapping[str, float]) -> bool:
    # Those of earlier runs do not say how many sets they are from.
    return not (found.get("sets", 0) >= MOST_SETS or _precise(found, wanted))


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
