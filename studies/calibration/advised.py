"""What the advice is worth: with evidence from half of the problems, followed on the other half."""

from collections.abc import Collection
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from studies.calibration.table import about_auc
from studies.calibration.words import rejected_words
from ucvtest.advice.advise import Advice, advise_from

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
"""The problems that evidence is taken from; what advice is worth is counted on all others, to which
those belong that were written down before the first run. Named before either half was looked at."""

LOWEST, BINOMIAL_ERRORS = 0.90, 2.5
"""A cell of advice is below what is expected if it falls short of this coverage by more than so
many binomial standard errors."""

BUDGETS = (20, 40, 80, 160, 400, 10_000, 50_000)
"""Fits of all learners together."""

SMALLEST = 40
"""The smallest sample at which advice is followed."""


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
    """The problems of a kind that evidence is from, and those that it is judged on."""
    asked = questions(table)
    names = list(asked[asked["loss"].map(kind_of) == kind]["problem"])
    return [name for name in names if name in SET_ON], [
        name for name in names if name not in SET_ON
    ]


def followed_on_other_half(table: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Advice with evidence from the first half of the problems, followed on the second."""
    return followed_on(table, halves(table, kind)[1], kind=kind)


def followed_on(table: pd.DataFrame, held: Collection[str], *, kind: str) -> pd.DataFrame:
    """Take advice from the other problems of a kind, follow it on these.

    Returns
    -------
    DataFrame
        One row for each problem, sample size, target and procedure that some budget leads to.
    """
    rows = table[(about_auc(table) == (kind == "auc")) & (table["n_obs"] >= SMALLEST)]
    rest = rows[~rows["problem"].isin(held)]
    known: dict[Any, Advice | None] = {}
    found: dict[Any, dict[str, Any]] = {}
    for name in held:
        cells = rows[(rows["problem"] == name) & (rows["answered"] > 0)]
        loss = "auc" if kind == "auc" else cells["loss"].iloc[0]
        by_key = {
            (row.n_obs, row.target, row.procedure): row for row in cells.itertuples(index=False)
        }
        for n_obs, budget, target in product(sorted(set(cells["n_obs"])), BUDGETS, TARGETS):
            key = (loss, n_obs, budget, TARGETS[target])
            if key not in known:
                known[key] = _advice(rest, *key)
            advice = known[key]
            if advice is None:
                continue
            at = (n_obs, target, advice.evidence.procedure)
            if at in by_key:
                found[name, *at] = _followed(name, by_key[at], promises=advice.promises)
    return pd.DataFrame(list(found.values()), columns=list(FOLLOWED))


FOLLOWED = ("problem", "n_obs", "target", "procedure", "promises")
FOLLOWED += ("answered", "covered", "null_tested", "null_rejected")

TARGETS = {"difference": 2, "error": 1}


def _advice(rest: pd.DataFrame, loss: str, n_obs: int, budget: int, learners: int) -> Advice | None:
    try:
        return advise_from(rest, int(n_obs), budget, loss=loss, learners=learners)
    except ValueError:
        return None  # no problem of this kind is left, or the fits are too few


def _followed(name: str, cell: Any, *, promises: bool) -> dict[str, Any]:
    return {
        "problem": name,
        "n_obs": int(cell.n_obs),
        "target": cell.target,
        "procedure": cell.procedure,
        "promises": promises,
        "answered": int(cell.answered),
        "covered": int(cell.covered),
        "null_tested": int(cell.tested * cell.equal),
        "null_rejected": int(cell.rejected * cell.equal),
    }


def verdict(followed: pd.DataFrame) -> dict[str, Any]:
    """Coverage of advice on held-out problems: the mean, and the cells that fall short."""
    if followed.empty:
        return {"cells": 0, "mean": np.nan, "below": 0, "below_in": ()}
    share = followed["covered"] / followed["answered"]
    bound = LOWEST - BINOMIAL_ERRORS * np.sqrt(LOWEST * (1 - LOWEST) / followed["answered"])
    below = followed[share < bound]
    promised = followed["promises"].astype(bool)
    return {
        "cells": len(followed),
        "mean": float(share.mean()),
        "promised": float(promised.mean()),
        "mean_promised": float(share[promised].mean()),
        "size": rejected_words(
            int(followed["null_rejected"].sum()), int(followed["null_tested"].sum())
        ),
        "below": len(below),
        "below_in": tuple(sorted(set(below["problem"]))),
        "worst": float(share.min()),
        "worst_problem": str(followed.loc[share.idxmin(), "problem"]),
    }
