"""One table that Python, R, the shell and MLflow compute metrics from."""

from pathlib import Path

import numpy as np
import pandas as pd

import ucvtest as uv

__all__ = ["ASKED", "TABLE", "in_python", "numbers_of", "written"]


def _table() -> pd.DataFrame:
    rng = np.random.default_rng(48)
    level = rng.normal(size=40).round(3)
    other = rng.normal(size=(3, 40))
    words = np.array(["well", "ill"])
    more = np.random.default_rng(49)
    return pd.DataFrame(
        {
            "state": words[(level + other[0] > 0.3).astype(int)],
            "new": words[(level > 0.3).astype(int)],
            "old": words[(level + other[1] > 0.3).astype(int)],
            "dose": level + 0.5 * other[0].round(3),
            "new_dose": level,
            "old_dose": (level + other[2]).round(3),
            "house": np.arange(40) // 2,
            "p_new": (1 / (1 + np.exp(-level))).round(3),
            "p_old": (1 / (1 + np.exp(-level - other[2]))).round(3),
            "weight": 1 + np.arange(40) % 3,
            "days": np.ceil(5 * more.exponential(np.exp(-level))),
            "died": (more.random(40) < 0.7).astype(int),
            "new_risk": level,
            "old_risk": (level + other[2]).round(3),
        }
    )


TABLE = _table()
"""40 observations, two in each house."""

LABELS, NUMBERS = ("state", "new", "old"), ("dose", "new_dose", "old_dose")

ASKED = {
    "f1": LABELS,
    "fbeta(2)_macro": LABELS,
    'recall["ill"]': LABELS,
    "mcc": LABELS,
    "r2": NUMBERS,
    "rmse": NUMBERS,
}
"""Metrics, and the columns with the true response and with two predictions."""


def written(path: Path) -> Path:
    """The table as a file."""
    TABLE.to_csv(path, index=False)
    return path


def in_python(metric: str) -> uv.TestResult:
    """The answer of Python."""
    target, *rules = ASKED[metric]
    losses = uv.Losses.from_predictions(
        TABLE[target],
        {rule: TABLE[rule] for rule in rules},
        metric=metric,
        pos_label="ill" if target == "state" else None,
    )
    return uv.HoldOutTest.from_losses(losses).fit()


def numbers_of(result: uv.TestResult) -> list[float]:
    """Estimate, standard error, statistic, p-value, and both limits."""
    return [result.estimate, result.se, *result, *result.conf_int()]
