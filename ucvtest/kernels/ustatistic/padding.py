"""Samples of similar size share a compilation: rows are filled up to a few lengths.

The observations added to a sample are in every learning set, with a difference of zero, so that
sums over tested observations do not include them. Their parts of the results of jitted functions
are cut off.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ucvtest.common.padding import next_multiple

STEPS = ((512, 32), (2048, 64))
"""Up to 512 observations, jitted functions receive the next multiple of 32, as learners do, and
then of 64. The wasted computation costs less than a compilation."""


def padded_size(n_obs: int) -> int:
    """Number of observations that jitted functions see; their own above the last of `STEPS`."""
    step = next((step for limit, step in STEPS if n_obs <= limit), 1)
    return next_multiple(n_obs, step)


def without_padding(
    sums: Mapping[str, np.ndarray], n_obs: int, axes: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """Sums whose last axes, as many as `axes` has for them, are those of the observations."""
    observed_slice = (slice(None, n_obs),)
    index: dict[str, Any] = {key: (..., *observed_slice * n_axes) for key, n_axes in axes.items()}
    return {key: value[index[key]] if key in index else value for key, value in sums.items()}
