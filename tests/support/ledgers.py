"""A file on which a ledger is asked by every door."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ucvtest as uv

__all__ = ["ASKS", "TABLE", "answers_in_python"]

_RNG = np.random.default_rng(2)
_Y = _RNG.integers(2, size=500)
_ERRORS = {"old": 0.3, "same": 0.3, "new": 0.15, "best": 0.05}

TABLE = pd.DataFrame(
    {"y": _Y}
    | {name: np.where(_RNG.random(500) < error, 1 - _Y, _Y) for name, error in _ERRORS.items()}
)

ASKS = {"same": 0.0, "new": 0.0, "best": 0.02}
"""Candidates and margins."""


def answers_in_python(folder: Path) -> list[tuple[str, Any]]:
    """The decisions, and the budgets that they leave."""
    ledger = uv.Ledger(folder / "gate.jsonl")
    ledger.open(uv.Losses.from_predictions("y", TABLE[["y", "old"]]), stake=0.2)
    answers = []
    for name, margin in ASKS.items():
        losses = uv.Losses.from_predictions("y", TABLE[["y", name]])
        answers.append(ledger.ask(losses, name, margin=margin))
    assert [answer.decision for answer in answers] == ["not shown", "pass", "pass"]
    return [(answer.decision, pytest.approx(answer.budget, rel=1e-12)) for answer in answers]
