"""The leave-p-out error of nearest neighbours in closed form: no learning set is drawn."""

from typing import Any

import numpy as np
from scipy.special import gammaln

from ucvtest.common.checks import is_integer
from ucvtest.common.words import excerpt
from ucvtest.data.sample import make_sample
from ucvtest.learners.batching import refuse_pairs, squared_distances
from ucvtest.learners.jitted.neighbors import knn


def knn_leave_p_out(X: Any, y: Any, k: int, learn_size: int) -> np.ndarray:
    r"""Error rates of k nearest neighbours over all learning sets of one size, exactly.

    Parameters
    ----------
    X : array, shape (n, p)
    y : array, shape (n,)
        Labels of two classes.
    k : int
        Number of neighbours.
    learn_size : int
        Number of observations to learn from, g, from k to n - 1; n - g are left out.

    Returns
    -------
    ndarray, shape (n,)
        For each observation the share of the learning sets without it whose rule errs there.
        Their mean is the leave-p-out error: the complete estimate of `UStatisticTest` for
        ``knn(k)``, without Monte-Carlo error.

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Notes
    -----
    Let the others be ranked by their distance from an observation. With m of the j - 1 before
    rank j in the second class, the share of the learning sets in which the k-th neighbour has
    rank j, and v of the nearer ones are of the second class, is

    .. math:: \binom{m}{v} \binom{j-1-m}{k-1-v} \binom{n-1-j}{g-k} / \binom{n-1}{g}.

    Equal distances and equally many votes are decided as by `knn`: the earlier row counts as
    nearer, and the nearest neighbour decides between equally many votes. Cost O(n^2 k) for
    odd k, O(n^3) for even k. A. Celisse, T. Mary-Huard (2011), Exact cross-validation for
    kNN, derive such formulas for odd k.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> X, y = np.arange(6.0)[:, None], np.array([0, 0, 0, 1, 1, 1])
    >>> uv.learners.knn_leave_p_out(X, y, k=1, learn_size=5)
    array([0., 0., 0., 1., 0., 0.])
    """
    sample = make_sample(X, y, as_classes=True)
    n = sample.n_obs
    knn(k)  # refuses an invalid number of neighbours
    if sample.n_classes != 2:
        raise ValueError(
            f"y must have two classes, got {sample.n_classes}: use UStatisticTest for more"
        )
    if not is_integer(learn_size) or not k <= learn_size <= n - 1:
        raise ValueError(
            f"learn_size must be an integer from k = {k} to n - 1 = {n - 1}, got "
            f"{excerpt(learn_size)}"
        )
    refuse_pairs("knn_leave_p_out", n, pair_bytes=8)
    distance = squared_distances(sample.matrix)
    class_index, errors = sample.target.astype(int), np.empty(n)
    for row, code in enumerate(class_index):
        order = np.argsort(distance[row], kind="stable")
        second = _second_class_wins(class_index[order[order != row]], k, learn_size)
        errors[row] = 1.0 - second if code == 1 else second
    return errors


def _second_class_wins(class_index: np.ndarray, k: int, g: int) -> float:
    """Share of the learning sets that predict label 1, from the labels of the others by rank."""
    n_others = len(class_index)
    rank = np.arange(1, n_others + 1)
    nearer_votes = np.cumsum(class_index) - class_index
    # Learning sets whose k-th neighbour has this rank, for each choice of the nearer ones.
    log_farther = _log_binomial(n_others - rank, g - k) - _log_binomial(n_others, g)
    win_probability = 0.0
    for votes in range(k):
        choices = _log_binomial(nearer_votes, votes) + _log_binomial(
            rank - 1 - nearer_votes, k - 1 - votes
        )
        wins = 2 * (votes + class_index) > k
        win_probability += np.exp(choices + log_farther)[wins].sum()
    if k % 2 == 0:
        win_probability += _tied_for_second(class_index, nearer_votes, log_farther, k)
    return float(win_probability)


def _tied_for_second(
    class_index: np.ndarray, nearer_votes: np.ndarray, log_farther: np.ndarray, k: int
) -> float:
    """Share with k/2 votes for each class, and the nearest neighbour of the second class."""
    nearest = np.flatnonzero(class_index == 1)[:, None]
    last = np.arange(len(class_index))
    # Between the nearest and the k-th neighbour: how many there are, and of the second class.
    between = last - nearest - 1
    second = nearer_votes - nearer_votes[nearest] - 1
    needed_votes = k // 2 - 1 - class_index
    choices = _log_binomial(second, needed_votes) + _log_binomial(
        between - second, k - 2 - needed_votes
    )
    return float(np.exp(choices + log_farther)[last > nearest].sum())


def _log_binomial(n: np.ndarray | int, k: np.ndarray | int) -> np.ndarray:
    """Logarithms of binomial coefficients; minus infinity where these are zero."""
    n, k = np.broadcast_arrays(np.asarray(n, dtype=float), np.asarray(k, dtype=float))
    possible = (k >= 0) & (k <= n)
    n, k = np.where(possible, n, 0.0), np.where(possible, k, 0.0)
    value = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.where(possible, value, -np.inf)
