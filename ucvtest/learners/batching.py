"""Padding and batch sizes that keep compilations few and the cache warm."""

import math

import numpy as np

from ucvtest.common.padding import next_multiple, next_power_of_two, padded
from ucvtest.common.words import term

CACHE_NUMBERS = 2**18
"""Numbers that the matrices of one call may contain: about a processor's second-level cache."""

LEAST_ROWS = 32
"""Learning sets in one call, at least: the minor axis must fill the vector units."""

RESULT_NUMBERS = 2**22
"""Numbers in the scores of one call: 32 MB, however many observations there are."""

MATRIX_NUMBERS = 2**25
"""Most numbers in the matrices of all learning sets of one call, if there are several: 256 MB. The
computation needs a few copies."""

MOST_PAIR_BYTES = 2**33
"""Memory that all pairs of observations of a sample may take: 8.6 GB. Estimators that would need
more when translated are fitted by scikit-learn."""

OBS_STEP = 32
"""Samples are padded with observations of weight zero to a multiple of this, or of an eighth of the
next power of two: samples of similar size then share a compilation, and grow by an eighth at most.
"""


def median_centred(matrix: np.ndarray) -> np.ndarray:
    """Columns minus their medians.

    A column that varies little but for a few outliers keeps its digits in the sums of learning
    sets without them, where the mean would leave a large constant.
    """
    return matrix - np.median(matrix, axis=0)


def clear_labels(scores: np.ndarray, cut: float, distance: np.ndarray | float) -> np.ndarray | None:
    """Labels 0 and 1 as small integers, if all scores are this far from the cut, or None."""
    above = scores > cut + distance
    n_clear = np.count_nonzero(above) + np.count_nonzero(scores < cut - distance)
    return above.view(np.int8) if n_clear == scores.size else None


def squared_distances(features: np.ndarray, other_features: np.ndarray | None = None) -> np.ndarray:
    """Squared Euclidean distances (n, m) of all rows from others, by default from each other."""
    # Imported here: it takes a tenth of a second, and only some learners need it.
    from scipy.spatial.distance import cdist

    distances: np.ndarray = cdist(
        features, features if other_features is None else other_features, "sqeuclidean"
    )
    return distances


def refuse_pairs(learner_name: str, n_obs: int, pair_bytes: int) -> None:
    """Refuse samples whose pairs of observations have no room.

    Raises
    ------
    ValueError
    """
    needed_bytes = pair_bytes * n_obs**2
    if needed_bytes > MOST_PAIR_BYTES:
        most_observations = math.isqrt(MOST_PAIR_BYTES // pair_bytes)
        raise ValueError(
            f"{learner_name} keeps all pairs of observations, which for {n_obs} of them take "
            f"{needed_bytes / 1e9:.3g} GB, and at most {MOST_PAIR_BYTES / 1e9:.2g} GB are allowed: "
            f"use at most {most_observations} observations, or {term('a scikit-learn estimator')} "
            "as the learner"
        )


def power_of_two(limit: int) -> int:
    """The largest power of two that is not above a limit; 1 if there is none."""
    return 1 << max(limit.bit_length() - 1, 0)


def rows_for_cache(numbers: int, cache: int, least_rows: int) -> int:
    """Learning sets in one call whose matrices stay in the cache, a power of two.

    `numbers` in the matrices of one set, `cache` for all; `least_rows` sets are worth more than the
    cache, as long as their matrices have room.
    """
    return max(
        power_of_two(cache // numbers), min(least_rows, power_of_two(MATRIX_NUMBERS // numbers))
    )


def padded_size(n_obs: int) -> int:
    """Number of observations that jitted functions see."""
    return next_multiple(n_obs, max(OBS_STEP, next_power_of_two(n_obs) // 8))


def padded_rows(array: np.ndarray, axis: int = 0) -> np.ndarray:
    """The array, padded with zeros after its observations up to `padded_size`."""
    return padded(array, padded_size(array.shape[axis]), axis)
