import numpy as np
import pytest
from scipy.stats import rankdata

from ucvtest.stats.placements import midranks

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("shape", [(0,), (1,), (30,), (5, 12), (2, 3, 9), (3, 0)])
@pytest.mark.parametrize("ties", [False, True])
def test_they_are_scipys(shape: tuple[int, ...], ties: bool) -> None:
    values = RNG.integers(0, 4, size=shape) if ties else RNG.normal(size=shape)
    np.testing.assert_array_equal(midranks(values), rankdata(values, axis=-1))


def test_infinite_and_missing_values() -> None:
    rows = np.array([[np.inf, 0.0, -np.inf, np.inf], [1.0, np.nan, 0.0, 0.0]])
    expected = [[3.5, 2.0, 1.0, 3.5], [np.nan] * 4]
    np.testing.assert_array_equal(midranks(rows), expected)
