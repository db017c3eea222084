"""Monte-Carlo errors of p-values."""

import math

__all__ = ["pvalue_error"]


def pvalue_error(pvalue: float, size: int) -> float:
    """Monte-Carlo standard error of the p-value (count + 1)/(size + 1).

    As there is one more in the count that decides for rejecting, there is one for not rejecting:
    a sample in which everything is counted does not leave the p-value without error.
    """
    share = min(pvalue, size / (size + 1))
    return math.sqrt(share * (1 - share) / size)
