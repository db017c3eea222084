"""Is "stabilised" better than the default intervals of AUCs?

For error rates of two learners the default interval allows for a standard error that moves with the
estimate. Here the same is done for the AUC, with the slope from the same effects of observations
and of pairs, compared with the defaults: Student's t for differences, and the logit for one
learner. The default stays unless it loses on the problems kept aside: those that were written down
before the first run of the calibration study, and used for no choice.
"""

import argparse
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.calibration.problems import Problem, problems
from studies.calibration.simulation import SampleRun
from ucvtest.advice.calibration import calibration_table
from ucvtest.data.class_sizes import Shape
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.kernels.auc_ustatistic.blocks import N_BLOCKS
from ucvtest.kernels.auc_ustatistic.first_order import first_order
from ucvtest.kernels.auc_ustatistic.two_classes import TwoClasses
from ucvtest.stats.pivots import Stabilised, on_logit
from ucvtest.stats.wald import wald_interval

NAMES = ("weak", "imbalance_20", "strong", "heavy_tails")
"""Some that the defaults were chosen on, beside all that are kept aside."""

SIZES, SAMPLES, QUICK_SAMPLES = (40, 100), 200, 3
GROUPS = 5
"""Products of three different groups of blocks are free of Monte-Carlo noise."""

CONTRASTS = {"difference": (1.0, -1.0), "one learner": (1.0, 0.0)}


# -------------------------------------------------------------------------------- the slope


def slope(
    shape: Shape, b: Sequence[np.ndarray], within: Sequence[np.ndarray], across: np.ndarray
) -> float:
    """By how much the logarithm of the standard error changes with the AUC.

    The delete-one jackknives J_(-i) regressed on the estimates U_(-i), without leaving anything
    out: from b (G, n_c) and tau (G, n_c, n_c) of each class and (G, n_1, n_0) across, of each group
    of learning sets. The classes count as in the jackknife, by (n_c - 1)/n_c.
    """
    top, means, jackknife = 0.0, [], 0.0
    for c, (n, g) in enumerate(shape.by_class):
        (n_, g_), x, other = shape.by_class[1 - c], b[c], b[1 - c]
        tau, t = within[c], across if c == 0 else across.transpose(0, 2, 1)
        m, left, left_ = g + 1, 1 - (g + 1) / n, 1 - (g_ + 1) / n_
        q = (n - m) * (n - m - 1) / (n * (n - 1))
        share = (n - 1 - m) / (n - 2)
        own, beside = (n - 2) / ((n - 1) * q**2), (n_ - 1) / n_
        squares = _thrice(x, tau, tau) - 2 * share * _bent(x, tau, x)
        cubes = share**2 * n / (n - 1) * _thrice(x, x[:, :, None], x[:, :, None])
        bent = _thrice(x, t, t) / (left * left_) ** 2 - 2 * _bent(x, t, other) / (left * left_**2)
        top -= (n - 1) / (n * left) * (own * (squares - cubes) + beside * bent)
        first = _twice(x)
        jackknife += (n - 1) / n * first / left**2
        pairs = max(_twice(tau), 0.0) + share**2 * n * (n - 2) / (n - 1) * first
        rest = _twice(other) / left_**2 + max(_twice(t), 0.0) / (n * (left * left_) ** 2)
        means.append(own * pairs / n + beside * rest)
    return float(top / (2 * np.mean(means) * jackknife)) if jackknife > 0 else 0.0


def _twice(values: np.ndarray) -> float:
    """Products of two different groups: of sum x^2."""
    flat = values.reshape(len(values), -1)
    return _different(np.einsum("ai,bi->ab", flat, flat))


def _thrice(x: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Products of three different groups: of sum_i x_i sum_j first_ij second_ij."""
    return _different(np.einsum("ai,bij,cij->abc", x, first, second, optimize=True))


def _bent(x: np.ndarray, tau: np.ndarray, other: np.ndarray) -> float:
    """Products of three different groups: of sum_ij x_i tau_ij other_j."""
    return _different(np.einsum("ai,bij,cj->abc", x, tau, other, optimize=True))


def _different(products: np.ndarray) -> float:
    """The mean over groups that are all different; of one group, as of a complete design."""
    if products.size == 1:
        return float(products.sum())
    places = np.indices(products.shape)
    pairs = [(a, b) for a in range(len(places)) for b in range(a)]
    kept = np.all([places[a] != places[b] for a, b in pairs], axis=0)
    return float(products[kept].mean())


# ------------------------------------------------------------------------------ one sample


def ranked(test: uv.UStatisticTest, rng: np.random.Generator) -> TwoClasses:
    """As many learning sets as the test draws at least, with the ranks of both learners."""
    sizes: Any = test.learning_sets.sizes
    n_pairs = max(300, 5 * test.n_obs)
    learning = sizes.drawn(rng, n_pairs)
    scores = [
        Evaluator(test.sample, learner, "score")
        .predict_all(learning, ~learning, np.zeros(len(learning), dtype=int))
        .values
        for learner in test.learners
    ]
    sums = TwoClasses(sizes.members)
    sums.add(scores, learning, np.tile(np.arange(n_pairs), 2))
    return sums


def slope_of(sums: TwoClasses, contrast: Sequence[float], n_groups: int = GROUPS) -> float:
    """The slope of a linear combination of the learners."""
    shape, effects, weights = sums.shape, sums._all_effects(), np.asarray(contrast)
    parts = [np.arange(N_BLOCKS)[group::n_groups] for group in range(n_groups)]
    single = [
        weights @ first_order(shape, sums.moments, part, exact=sums.exact).contributions(shape)
        for part in parts
    ]
    shares = [effects.weight[part] / effects.weight[part].sum() for part in parts]
    pairs = [
        np.stack(
            [
                np.einsum("d,dkij,k->ij", weights, tau[:, part], share)
                for part, share in zip(parts, shares, strict=True)
            ]
        )
        for tau in vars(effects.pairs).values()
    ]
    return slope(shape, shape.split(np.stack(single)), pairs[:2], pairs[2])


def intervals(sums: TwoClasses, name: str) -> dict[str, Any]:
    """The default interval and the stabilised one."""
    contrast = CONTRASTS[name]
    answer = sums.estimate(contrast)
    se = math.sqrt(answer.values["midpoint"] + answer.mc_se_estimate**2)
    beta, least = slope_of(sums, contrast), -1.0 if name == "difference" else 0.0
    bent = Stabilised(answer.auc, se, answer.df, slope=beta, least=least, most=1.0)
    student = ("t", answer.df, "two-sided", 0.05)
    default = (
        wald_interval(answer.auc, se, *student)
        if name == "difference"
        else on_logit(answer.auc, se, answer.df).interval("two-sided", 0.05)
    )
    found = {"default": default, "stabilised": bent.interval("two-sided", 0.05)}
    ends = {
        f"{rule} {end}": value
        for rule, both in found.items()
        for end, value in zip(("low", "high"), both, strict=True)
    }
    return {"contrast": name, "estimate": answer.auc, "slope": beta, **ends}


# ------------------------------------------------------------------------------- the table


def cell(problem: Problem, n_obs: int, n_samples: int) -> pd.DataFrame:
    """Coverage, misses and widths of both intervals, for a difference and for one learner."""
    rows = []
    for number in range(n_samples):
        run = SampleRun(problem, n_obs, number, within_classes=True)
        test = uv.UStatisticTest(run.X, run.y, *problem.learners, loss="auc")
        sums = ranked(test, np.random.default_rng(run.seed("stabilised")))
        rows += [intervals(sums, name) for name in CONTRASTS]
    found = []
    for name, samples in pd.DataFrame(rows).groupby("contrast", sort=False):
        truth = truth_of(problem, n_obs, str(name))
        line: dict[str, Any] = {"problem": problem.name, "n": n_obs, "contrast": name}
        line |= {"held out": problem.held_out, "slope": samples["slope"].median()}
        for rule in ("default", "stabilised"):
            low, high = samples[f"{rule} low"], samples[f"{rule} high"]
            line[f"{rule} below"] = 100 * (high < truth).mean()
            line[f"{rule} above"] = 100 * (low > truth).mean()
            line[rule] = 100 - line[f"{rule} below"] - line[f"{rule} above"]
            line[f"{rule} width"] = (high - low).mean()
        found.append(line)
    return pd.DataFrame(found)


def truth_of(problem: Problem, n_obs: int, contrast: str) -> float:
    """What the calibration study found on thousands of other learning sets."""
    table = calibration_table()
    target = "difference" if contrast == "difference" else "error"
    kept = (table["problem"] == problem.name) & (table["n_obs"] == n_obs)
    kept &= (table["procedure"] == "ustatistic_auc") & (table["target"] == target)
    return float(table[kept]["truth"].item())


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Means over cells, of those kept aside and of the others; widths relative to the default."""
    table = table.assign(ratio=table["stabilised width"] / table["default width"])
    lines = []
    for (held_out, contrast), cells in table.groupby(["held out", "contrast"], sort=False):
        line: dict[str, Any] = {"kept aside": held_out, "contrast": contrast, "cells": len(cells)}
        for rule in ("default", "stabilised"):
            line[rule], line[f"{rule} worst"] = cells[rule].mean(), cells[rule].min()
            below, above = cells[f"{rule} below"].mean(), cells[f"{rule} above"].mean()
            line[f"{rule} below/above"] = f"{below:.1f}/{above:.1f}"
        lines.append({**line, "width ratio": cells["ratio"].mean()})
    return pd.DataFrame(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=SAMPLES)
    parser.add_argument("--quick", action="store_true", help="one problem, few samples")
    arguments = parser.parse_args()
    known = problems()
    held_out = [name for name, each in known.items() if each.held_out and each.loss == "auc"]
    names, sizes, n_samples = [*held_out, *NAMES], SIZES, arguments.samples
    if arguments.quick:
        names, sizes, n_samples = ["held_mixture"], (40,), QUICK_SAMPLES
    cells = []
    for name in names:
        for n_obs in sizes:
            cells.append(cell(known[name], n_obs, n_samples))
            print(cells[-1].round(3).to_string(index=False, header=len(cells) == 1), flush=True)
    print()
    print(summary(pd.concat(cells, ignore_index=True)).round(2).to_string(index=False))


if __name__ == "__main__":
    main()
