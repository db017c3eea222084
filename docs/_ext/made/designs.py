"""Which tests take the losses of which design: tried, when the pages are built."""

import warnings
from typing import Any

import numpy as np

import ucvtest as uv
from made.files import Folder, link, markdown_table
from ucvtest.methods.registry import TESTS

N_OBS = 40

DESIGNS: dict[str, Any] = {
    "`KFold(10)`: K-fold cross-validation": uv.designs.KFold(10),
    "`KFold(10, n_repeats=2)`: the same, repeated": uv.designs.KFold(10, n_repeats=2),
    "`KFold(2, n_repeats=5)`: 5 times 2 folds": uv.designs.KFold(2, n_repeats=5),
    "`KFold(n)`: leave one out": uv.designs.KFold(N_OBS),
    "`RandomSplits(20, 0.5)`: random splits of one size": uv.designs.RandomSplits(20, 0.5),
    "`HoldOut(0.3)`: one split": uv.designs.HoldOut(0.3),
    "`NestedKFold()`: folds within folds": uv.designs.NestedKFold(),
    "`SplitHalves()`: splits of the sample and of its halves": uv.designs.SplitHalves(),
    "`LeavePairOut()`: every pair of two classes": uv.designs.LeavePairOut(),
}


def write(parts: Folder) -> None:
    """The table, by design."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(N_OBS, 3)), np.arange(N_OBS) % 2
    learners = {"a": "lda", "b": "knn:3"}
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", uv.UcvtestWarning)
        for words, design in DESIGNS.items():
            cells = []
            for loss in ("zero_one", "auc"):
                try:
                    losses = uv.evaluate(learners, X, y, design=design, loss=loss, rng=0)
                except ValueError:
                    cells.append("-")  # a test set without both classes has no AUC
                else:
                    cells.append(_admitting(losses))
            rows.append([words, *cells])
        rows.append(
            ["`Losses.from_predictions`: fixed rules", *map(_of_rules, (y, rng.random(40)))]
        )
        scores = {"a": [0.9, 0.8, 0.7, 0.9, 0.8], "b": [0.8, 0.7, 0.8, 0.7, 0.6]}
        given = uv.Losses.from_scores(scores, n_learn=32, n_test=8)
        rows.append(["`Losses.from_scores`: means of folds alone", *[_admitting(given)] * 2])
    parts.text("designs.md", markdown_table(["losses", "error rates", "AUC"], rows))


def _of_rules(scores: np.ndarray) -> str:
    """Of labels, which are error rates, or of scores, which are AUCs."""
    y = np.arange(N_OBS) % 2
    loss = "zero_one" if np.isin(scores, (0, 1)).all() else "auc"
    rules = {"a": scores, "b": scores[::-1]}
    return _admitting(uv.Losses.from_predictions(y, rules, loss=loss))


def _admitting(losses: uv.Losses) -> str:
    found = []
    for name, cls in TESTS.items():
        if not cls.valid:
            continue
        try:
            cls.from_losses(losses, "a", *(["b"] if cls.needs.compares else []))
        except ValueError:
            continue
        found.append(link(name))
    return ", ".join(found) or "-"
