"""Monte-Carlo errors of means and p-values."""

import math

import numpy as np


def mean_error(values: np.ndarray) -> float:
    """Monte-Carlo standard error of the mean of independent draws; NaN for a single one."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def pvalue_error(pvalue: float, size: int) -> float:
    """Monte-Carlo standard error of the p-value (count + 1)/(size + 1).

    One is added to the draws that are not counted as well: never zero where all are counted.
    """
    bounded_pvalue = min(pvalue, size / (size + 1))
    return math.sqrt(bounded_pvalue * (1 - bounded_pvalue) / size)
