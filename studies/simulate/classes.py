"""Two normal classes: samples, and the best AUC that a rule can have on them."""

from typing import Any

import numpy as np
from scipy.special import ndtr

from ucvtest.common.checks import at_least, check_number
from ucvtest.common.execution import make_generator

MAX_CELLS = 5 * 10**7
"""Numbers that are drawn at a time, 400 MB."""


def normal_classes(
    n_negative: int, n_positive: int, n_features: int, shift: float, *, rng: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes with identity covariance matrices.

    Parameters
    ----------
    n_negative, n_positive : int
        Observations with label 0, mean zero, and with label 1, mean `shift` in every feature.
    n_features : int
    shift : float
        The paper's c.
    rng : None, int or numpy Generator

    Returns
    -------
    tuple of ndarray, shapes (n, p) and (n,)
        Features and labels, the negatives first.

    Raises
    ------
    ValueError
        If a number is not positive, or `shift` is not finite.

    References
    ----------
    Yousef, Estimating the standard error of cross-validation-based estimators of classifier
    performance, section 4.

    Examples
    --------
    >>> from studies import simulate
    >>> X, y = simulate.normal_classes(20, 10, 2, 1.0, rng=0)
    >>> X.shape, y.sum()
    ((30, 2), np.int64(10))
    """
    sizes = {"n_negative": n_negative, "n_positive": n_positive, "n_features": n_features}
    for name, value in sizes.items():
        at_least(name, value, 1)
    check_number("shift", shift)
    cells = (int(n_negative) + int(n_positive)) * int(n_features)
    if cells > MAX_CELLS:
        raise ValueError(
            f"n_negative, n_positive and n_features ask for {cells} numbers, more than {MAX_CELLS}"
        )
    generator, _ = make_generator(rng)
    y = np.repeat([0, 1], [n_negative, n_positive])
    return generator.normal(size=(len(y), n_features)) + float(shift) * y[:, None], y


def best_auc(n_features: int, shift: float) -> float:
    """The AUC of the best rule for `normal_classes`, which knows the means.

    Parameters
    ----------
    n_features : int
    shift : float

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `n_features` is not positive, or `shift` is not finite.

    Examples
    --------
    >>> from studies import simulate
    >>> round(simulate.best_auc(2, 1.0), 4)
    0.8413
    """
    at_least("n_features", n_features, 1)
    check_number("n_features", n_features)
    check_number("shift", shift)
    return float(ndtr(abs(shift) * np.sqrt(n_features / 2)))
