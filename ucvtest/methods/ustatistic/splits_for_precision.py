"""How many random splits an error estimate needs."""

import math

from ucvtest.common.checks import check_number
from ucvtest.common.words import arg


def resamples_for_precision(
    precision: float, confidence: float = 0.99, low: float = -1.0, high: float = 1.0
) -> int:
    """Random splits that bring an error estimate within a distance of the complete one.

    Parameters
    ----------
    precision : float
        The distance, for example 0.005 to fix two digits.
    confidence : float
        Probability of being that close.
    low, high : float
        Range of the loss (difference): (-1, 1) for the difference of error rates, (0, 1)
        for one error rate.

    Returns
    -------
    int
        Number of independent splits with one test observation each. More observations
        tested in a split can only help.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Notes
    -----
    Hoeffding's inequality: Fuchs et al. (2013), (19) and Corollary 5.1 (where N = 2d+1 is
    a misprint for 10^(2d+1)). It bounds the error of the estimate only, not that of its
    variance, which is much smaller itself.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.resamples_for_precision(0.01)
    105967
    """
    for name, value in (("precision", precision), ("low", low), ("high", high)):
        check_number(name, value)
    check_number("confidence", confidence)
    if not precision > 0:
        raise ValueError(f"precision must be positive, got {precision}")
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    if not low < high:
        raise ValueError(f"low must be below high, got {low} and {high}")
    per_square = (high - low) ** 2 * math.log(2 / (1 - confidence)) / 2
    if precision < 1e-100 or not math.isfinite(per_square / precision**2):
        raise ValueError(f"{arg('precision', precision)} needs more resamples than can be counted")
    return math.ceil(per_square / precision**2)
