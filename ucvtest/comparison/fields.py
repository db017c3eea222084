"""What a comparison holds besides its results."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Correction", "Fits", "Pair"]


Correction = Literal[
    "holm", "bonferroni", "sidak", "holm-sidak", "simes-hochberg", "hommel", "fdr_bh", "fdr_by"
]
"""The corrections of statsmodels whose adjusted p-values do not depend on a level."""

Pair = tuple[str, str]


@dataclass(frozen=True)
class Fits:
    """Models that were fitted on one design, and the tests that used them.

    Parameters
    ----------
    design : str
        In words.
    learn_sizes : tuple of int
        Sizes of the learning sets.
    n_resamples : int or None
        Learning sets; None where the tests draw their own for each pair of learners.
    n_fits : int
        Model fits, each learner and each learning set counted once.
    tests : tuple of str
    """

    design: str
    learn_sizes: tuple[int, ...]
    n_resamples: int | None
    n_fits: int
    tests: tuple[str, ...]
