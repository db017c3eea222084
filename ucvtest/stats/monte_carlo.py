"""Monte-Carlo errors of p-values."""

import math

__all__ = ["pvalue_error"]


def pvalue_error(pvalue: float, size: int) -> float:
    """Monte-Carlo standard error of the p-value (count + 1)/(size + 1).

    One is added to the draws that are not counted as well: never zero where all are counted.
    """
    share = min(pvalue, size / (size + 1))
    return math.sqrt(share * (1 - share) / size)
