"""What the advice is worth: limits set on half of the problems, followed on the other half."""

from collections.abc import Collection
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from studies.calibration.table import about_auc, binomial_limits
from studies.calibration.words import rejected_words
from ucvtest.advice.advise import Advice, advise_from
from ucvtest.advice.calibration import LIMITS, Limits

SET_ON = frozenset(
    (
        *("no_signal", "weak", "no_signal_2", "sparse", "neighbours", "trees", "wdbc"),
        *("ionosphere", "letter", "bates_classes_20", "bates_classes_20_trees"),
        *("cauchy", "strips"),
        *("ridge", "skewed", "exponential", "bates_20", "friedman", "chen_null", "blocks_400"),
        *("bates_20_trees", "friedman_trees", "chen_null_trees", "blocks_400_trees"),
        *("null_2", "auc_equal", "imbalance_20", "heavy_tails", "lognormal", "wide", "strong"),
    )
)
"""The problems that the limits are set on; what advice is worth is counted on all others, to which
those belong that were written down before the first run. Named before either half was looked at."""

LEAST_MEAN, LEAST = 0.93, 0.88
"""What advice has to hold on problems that it was not derived from."""

CANDIDATES = tuple(Limits(lowest=lowest) for lowest in (LEAST, 0.90, 0.92))
"""Limits to choose from, the loosest first: none asks for less than is promised."""

LEAVE_OUT = 4
BUDGETS = (30, 1000, 100_000)


def kind_of(loss: str) -> str:
    """Problems of one kind are evidence for one another."""
    return loss if loss in ("zero_one", "auc") else "other"


KINDS = {"zero_one": "zero-one losses", "other": "other losses", "auc": "AUCs"}


def questions(table: pd.DataFrame) -> pd.DataFrame:
    """Problems with the losses that they are asked about, the AUC among them."""
    auc = about_auc(table)
    found = table[["problem", "loss"]].assign(loss=np.where(auc, "auc", table["loss"]))
    return found.drop_duplicates(ignore_index=True)


def halves(table: pd.DataFrame, kind: str) -> tuple[list[str], list[str]]:
    """The problems of a kind that limits are set on, and those that they are judged on."""
    asked = questions(table)
    names = list(asked[asked["loss"].map(kind_of) == kind]["problem"])
    return [name for name in names if name in SET_ON], [
        name for name in names if name not in SET_ON
    ]


def limits_set(table: pd.DataFrame) -> Limits:
    """The strictest limits with which advice promises as often as with the loosest.

    On the first half of the problems: each is left out in turn, and the advice that the rest of the
    half gives is followed on it.
    """
    kinds = ("zero_one", "auc")
    shares = [
        [float(_left_out_in_turn(table, kind, limits)["promises"].mean()) for kind in kinds]
        for limits in CANDIDATES
    ]
    as_often = [
        limits
        for limits, each in zip(CANDIDATES, shares, strict=True)
        if all(share >= loosest for share, loosest in zip(each, shares[0], strict=True))
    ]
    return as_often[-1]


def _left_out_in_turn(table: pd.DataFrame, kind: str, limits: Limits) -> pd.DataFrame:
    names, _ = halves(table, kind)
    rows = table[table["problem"].isin(names)]
    found = [followed_on(rows, (name,), kind=kind, limits=limits) for name in names]
    return pd.concat(found, ignore_index=True)


def followed_on_other_half(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Advice from the first half of the problems, followed on the second."""
    return followed_on(table, halves(table, kind)[1], kind=kind)


def followed_advice(
    table: pd.DataFrame, n_draws: int, *, kind: str = "zero_one", seed: int = 0
) -> pd.DataFrame:
    """Advice from all problems of a kind but four, drawn at random, followed on these."""
    rng = np.random.default_rng(seed)
    first, second = halves(table, kind)
    names = np.array([*first, *second])
    found = []
    for draw in range(n_draws):
        held = rng.choice(names, min(LEAVE_OUT, len(names) // 2), replace=False)
        found.append(followed_on(table, held, kind=kind).assign(draw=draw))
    return pd.concat(found, ignore_index=True)


def followed_on(
    table: pd.DataFrame, held: Collection[str], *, kind: str, limits: Limits = LIMITS
) -> pd.DataFrame:
    """Take advice from the other problems of a kind, follow it on these.

    Returns
    -------
    DataFrame
        One row for each problem, sample size, number of fits, and target.
    """
    rows = table[about_auc(table) == (kind == "auc")]
    rest = rows[~rows["problem"].isin(held)]
    known: dict[Any, Advice | None] = {}
    found = []
    for name in held:
        cells = rows[rows["problem"] == name]
        loss = "auc" if kind == "auc" else cells["loss"].iloc[0]
        by_key = {
            (row.n_obs, row.target, row.procedure): row for row in cells.itertuples(index=False)
        }
        for n_obs, budget, target in product(sorted(set(cells["n_obs"])), BUDGETS, TARGETS):
            key = (loss, n_obs, budget, len(TARGETS[target]))
            if key not in known:
                known[key] = _advice(rest, *key, limits)
            advice = known[key]
            if advice is not None:
                found += _followed(advice, by_key, name, n_obs, budget, target)
    return pd.DataFrame(found, columns=list(FOLLOWED))


FOLLOWED = (
    "problem",
    "n_obs",
    "budget",
    "target",
    "procedure",
    "promises",
    "answered",
    "covered",
    "null_tested",
    "null_rejected",
)

TARGETS = {"difference": ("first", "second"), "error": ("first",)}


def _advice(
    rest: pd.DataFrame, loss: str, n_obs: int, budget: int, learners: int, limits: Limits
) -> Advice | None:
    try:
        return advise_from(rest, int(n_obs), budget, loss=loss, learners=learners, limits=limits)
    except ValueError:
        return None  # no problem of this kind is left


def _followed(advice, by_key, name, n_obs, budget, target) -> list[dict[str, Any]]:
    cell = by_key.get((n_obs, target, advice.evidence.procedure))
    if cell is None:
        return []
    return [
        {
            "problem": name,
            "n_obs": n_obs,
            "budget": budget,
            "target": target,
            "procedure": advice.evidence.procedure,
            "promises": advice.promises,
            "answered": int(cell.answered),
            "covered": int(cell.covered),
            "null_tested": int(cell.tested * cell.equal),
            "null_rejected": int(cell.rejected * cell.equal),
        }
    ]


def verdict(followed: pd.DataFrame) -> dict[str, Any]:
    """Coverage of promised advice on held-out problems: the mean, the worst problem and cell."""
    promised = followed[followed["promises"] & (followed["answered"] > 0)]
    if promised.empty:
        return {"promised": 0.0, "mean": np.nan, "worst": np.nan, "cells_below": 0, "cells": 0}
    coverage = promised["covered"] / promised["answered"]
    # The same cell is met in many draws, and with several budgets.
    keys = ["problem", "n_obs", "target", "procedure"]
    cells = promised.drop_duplicates(keys)
    by_problem = cells.groupby(["problem", "target"])[["covered", "answered"]].sum()
    share = by_problem["covered"] / by_problem["answered"]
    cell_coverage = cells["covered"] / cells["answered"]
    upper = [
        binomial_limits(*row)[1] for row in cells[["covered", "answered"]].itertuples(index=False)
    ]
    return {
        "promised": float(followed["promises"].mean()),
        "mean": float(coverage.mean()),
        "worst": float(share.min()),
        "worst_problem": " ".join(share.idxmin()),
        "size": rejected_words(int(cells["null_rejected"].sum()), int(cells["null_tested"].sum())),
        "worst_cell": float(cell_coverage.min()),
        "cells": len(cells),
        "cells_below": int((cell_coverage < LEAST).sum()),
        "cells_clearly_below": int((np.array(upper) < LEAST).sum()),
    }
