"""Weights of rows: in fitting, in the loss, or in both."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.data.groups import Clusters, Groups, kish_size, satterthwaite_df
from ucvtest.data.sample import as_column, refuse_other_order

EFFECTIVE_SIZE = "effective_size"
"""The setting with the effective number of observations: with equal weights, this number would give
the same precision if losses were unrelated to the weights."""

EFFECTIVE_GROUPS = "effective_groups"
"""The setting with the effective number of clusters, by the sums of their weights."""

DF_SHARE = "df_share"
"""The setting with the share of the degrees of freedom of equal weights that the weights leave."""

EQUAL = "equal_weights"
"""The setting that tells whether all weights are the same."""

N_WEIGHT_0 = "n_weight_0"
"""The setting with the number of rows of weight 0, which were left out."""

WORTH = (EFFECTIVE_SIZE, EFFECTIVE_GROUPS, DF_SHARE, EQUAL, N_WEIGHT_0)
"""The settings with what rows are worth by their weights in the loss."""

LEAST_SIZE = 4
"""With a smaller effective number, a few rows decide, and do not show how much losses vary."""

ROUNDING = 1e-9
"""Weights are equal if the effective number is the number of rows but for this share."""

WEIGHTS = "weights"
"""The setting that tells where rows are weighted."""

PLACES = ("fit", "loss")


@dataclass(frozen=True, eq=False)
class RowWeights:
    """Weights (n,) in fitting and in the loss; None if all rows count the same.

    The estimate is a weighted mean of losses, which is a ratio of two means. Tests compute with its
    linearised values, theta + w (loss - theta)/mean(w), where theta is the estimate.
    """

    in_fit: np.ndarray | None = None
    in_loss: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.in_loss is not None:
            # Only ratios count in the loss, and a power of two leaves their digits alone. Sums of
            # very large weights would be infinite.
            largest_exponent = int(np.frexp(self.in_loss.max())[1])
            object.__setattr__(self, "in_loss", np.ldexp(self.in_loss, -largest_exponent))

    @classmethod
    def of(cls, parts: Mapping[str, Any] | None, X: Any, y: Any, n_obs: int) -> Self | None:
        """Make weights from the result of `parts_of_weights`; None if nothing is weighted."""
        if not parts:
            return None
        arrays = {}
        for place, part in parts.items():
            is_shared = len(parts) == len(PLACES) and parts["fit"] is parts["loss"]
            argument = "weights" if is_shared else f"weights[{place!r}]"
            for name, rows in (("X", X), ("y", y)):
                remedy = f"pass a Series with the index of {name}, or an array"
                refuse_other_order(name, rows, argument, part, remedy)
            arrays[place] = read_weights(argument, part, n_obs)
        return cls(arrays.get("fit"), arrays.get("loss"))

    @property
    def where(self) -> str:
        """Where rows are weighted, in the form for settings."""
        return " and ".join(self.parts)

    @property
    def parts(self) -> dict[str, np.ndarray]:
        """The weights, by where they are used."""
        by_place = zip(PLACES, (self.in_fit, self.in_loss), strict=True)
        return {place: part for place, part in by_place if part is not None}

    @property
    def shares(self) -> np.ndarray:
        """Weights in the loss with mean 1, (n,)."""
        assert self.in_loss is not None
        return self.in_loss / self.in_loss.mean()

    def offset(self, clusters: Clusters | None) -> np.ndarray:
        """The remaining term of the kernel, as a multiple of theta: 1 - w/mean(w)."""
        shares = self.shares
        return 1 - (shares if clusters is None else clusters.sums(shares))

    def linearised(self, values: np.ndarray, testing: np.ndarray) -> np.ndarray:
        """Values (L, T) of all tested rows; their plain mean is the weighted mean of the losses."""
        assert self.in_loss is not None
        tested = np.broadcast_to(self.in_loss, testing.shape)[testing]
        if not tested.any():
            raise ValueError("all tested observations have weight 0: test others")
        theta = values @ tested[:, None] / tested.sum()
        return np.asarray(theta + (values - theta) * (tested / tested.mean()))

    def worth(self, testing: np.ndarray, groups: Groups | None) -> dict[str, float | bool]:
        """What the tested rows, and their clusters, are worth: settings.

        Degrees of freedom are Satterthwaite's. Of clusters they are those of the sums of weights,
        relative to the numbers of rows: clusters of different sizes are not the weights' doing.
        """
        assert self.in_loss is not None
        is_tested = testing.any(axis=0)
        weights = self.in_loss[is_tested]
        index = np.arange(len(weights)) if groups is None else groups.index[is_tested]
        sizes = np.bincount(index)
        sums, sizes = np.bincount(index, weights)[sizes > 0], sizes[sizes > 0].astype(float)
        df_of_sizes, size = satterthwaite_df(sizes), kish_size(weights)
        return {
            EFFECTIVE_SIZE: size,
            **({} if groups is None else {EFFECTIVE_GROUPS: kish_size(sums)}),
            DF_SHARE: min(satterthwaite_df(sums) / df_of_sizes, 1.0) if df_of_sizes else 1.0,
            EQUAL: size > (1 - ROUNDING) * len(weights),
        }


def few_by_weight(worth: Mapping[str, Any]) -> str:
    """The status where a few rows, or clusters, have nearly all of the weight; otherwise "ok"."""
    size, units = worth[EFFECTIVE_SIZE], "rows"
    if worth.get(EFFECTIVE_GROUPS, math.inf) < size:
        size, units = worth[EFFECTIVE_GROUPS], "clusters"
    if size >= LEAST_SIZE or worth.get(EQUAL, True):
        return "ok"
    return (
        f"no variance estimate: by their weights the {units} are worth {size:.3g} equal ones "
        f"(Kish), fewer than {LEAST_SIZE}; test more {units}, or use weights that differ less"
    )


def parts_of_weights(weights: Any) -> dict[str, Any]:
    """The weights by use: "fit" and "loss"; an array weights both."""
    if weights is None:
        return {}
    if not isinstance(weights, Mapping):
        return dict.fromkeys(PLACES, weights)
    unknown = [place for place in weights if place not in PLACES]
    if unknown or not weights:
        raise ValueError(
            f"weights has the keys {list(weights)!r:.60}: use 'fit', 'loss' or both, or pass an "
            "array, which weights both"
        )
    return {place: weights[place] for place in PLACES if weights.get(place) is not None}


def read_weights(argument: str, weights: Any, n_obs: int) -> np.ndarray:
    """Weights as numbers, one for each observation, none negative and not all 0."""
    numbers = as_numbers(argument, as_column(argument, weights))
    if numbers.ndim != 1:
        raise ValueError(
            f"{argument} must contain a number for each observation, got shape {numbers.shape}"
        )
    if len(numbers) != n_obs:
        raise ValueError(f"{argument} has {len(numbers)} values for {n_obs} observations")
    if not np.isfinite(numbers).all() or numbers.min() < 0 or not numbers.any():
        raise ValueError(f"{argument} must contain finite numbers, none negative and not all 0")
    return numbers


def weights_called(place: str, weights: Any) -> str:
    """The name of the weights of one use in messages."""
    return f"weights[{place!r}]" if isinstance(weights, Mapping) else "weights"
