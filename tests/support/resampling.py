"""A small sample, and losses that are made up, for tests on the losses of one design."""

from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer

import ucvtest as uv

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:80, [1, 4, 8]], Y[:80]


def draw(cls: Any, n_obs: int = 40, seed: int = 0) -> uv.designs.NamedDesign:
    """A draw of the default design of a test."""
    return cls.default_design.draw(n_obs, np.random.default_rng(seed))


def made_up(design: Any, values: Any, loss: str = "zero_one", **options: Any) -> uv.Losses:
    """Losses from arrays that broadcast to (L, R, n)."""
    array = np.asarray(values, dtype=float)
    array = np.broadcast_to(array, (len(array), *design.testing.shape))
    return uv.Losses.from_arrays(array, design.learning, design.testing, loss=loss, **options)


def random_losses(design: Any, n_learners: int = 2, seed: int = 1) -> uv.Losses:
    """Squared losses that are different everywhere."""
    rng = np.random.default_rng(seed)
    values = rng.chisquare(1, size=(n_learners, *design.testing.shape))
    values[-1] += 0.2
    return made_up(design, values, "squared")
