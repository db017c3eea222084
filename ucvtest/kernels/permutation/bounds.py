r"""Bounds on the error of every rule of a class, from its complexity on permuted labels.

The bounds are for classes coded -1, 1 and a class H of rules h(x) in {-1, 1} closed under
negation, where the squared error is four times the error rate. Given the numbers k, k' of
positives in the sample D and in an independent copy D', their labels can be matched but for
m = \|k - k'\|, and matched observations may be exchanged. With exchanges that turn the labels of D
into a random permutation, and those of D' into one up to m random positions,

    E sup_h (e_out - e_in) <= 4 P_out + (8/n) E m,    E m <= sqrt(n/2),

and sup_h (e_out - e_in) - 4 P_in changes by at most 4/n + 16/n with one observation, so that by
McDiarmid's inequality, with probability 1 - delta and for all h,

    e_out <= e_in + 4 P_in + sqrt(8/n) (2 + 5 sqrt(ln(1/delta))).

The paper's proof sorts D and its ghost samples before it exchanges observations between them,
which only matched observations allow.
"""

from numbers import Real
from typing import Literal, get_args

import numpy as np

from ucvtest.common.checks import Level, check_choice, check_number, declared

Sampling = Literal["permutation", "bootstrap", "rademacher"]
SAMPLINGS: tuple[Sampling, ...] = get_args(Sampling)


def check_sampling(sampling: str) -> None:
    """Refuse names that are none of `SAMPLINGS`."""
    check_choice("sampling", sampling, SAMPLINGS)


def complexity_bound(
    p_in: float,
    n_obs: int,
    n_minority: int,
    n_drawn: float,
    delta: float,
    sampling: Sampling = "permutation",
) -> float:
    r"""Upper bound on the complexity of a class of rules from a few random labelings.

    Parameters
    ----------
    p_in : float
        Mean over the labelings of sup_h mean(y^pi h(x)), labels and rules in {-1, 1}.
    n_obs, n_minority : int
        Numbers of observations, and of observations of the rarer class.
    n_drawn : int or inf
        Number of independent labelings; infinity for the mean over all.
    delta : float
        Probability that the bound fails, over the labelings.
    sampling : {"permutation", "bootstrap", "rademacher"}
        How they were drawn. "bootstrap" bounds the permutation complexity too.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `delta` is outside (0, 1), or `sampling` unknown.

    Notes
    -----
    Paper: Theorem 6, Lemmas 6 and 7. Erratum: the constant belongs to ln(4/delta). Here it is a
    martingale over the k positions of the rarer class; each position changes the mean by at most
    4/n: sqrt(8 k ln(1/delta)/n^2) for one permutation, at most sqrt(2) sqrt(2 ln(1/delta)/n).

    Examples
    --------
    >>> from ucvtest.kernels.permutation import complexity_bound
    >>> round(complexity_bound(0.1, 200, 100, 10, delta=0.05), 4)
    0.1774
    """
    check_sampling(sampling)
    declared("delta", delta, Level, 0.05)
    check_number("p_in", p_in)
    check_number("n_obs", n_obs, low=1)
    check_number("n_minority", n_minority, low=0, high=n_obs)
    if not (isinstance(n_drawn, Real) and n_drawn == np.inf):
        check_number("n_drawn", n_drawn, low=1)
    spread = 8 * n_minority / float(n_obs) ** 2 if sampling == "permutation" else 2 / n_obs
    bound = p_in + float(np.sqrt(spread * np.log(1 / delta) / n_drawn))
    if sampling == "bootstrap":
        minority_rate = n_minority / n_obs
        bound += 2 * float(np.sqrt(minority_rate * (1 - minority_rate) / n_obs))
    return bound


def error_bound(
    e_in: float, p_in: float, n_obs: int, delta: float, sampling: Sampling = "permutation"
) -> float:
    """Upper bound on the error rate of every rule of a class, from its complexity.

    Parameters
    ----------
    e_in : float
        In-sample error rate.
    p_in : float
        Permutation complexity of the class (an upper bound on it), or its Rademacher complexity;
        labels and rules in {-1, 1}.
    n_obs : int
    delta : float
        Probability that the bound fails, over samples.
    sampling : {"permutation", "bootstrap", "rademacher"}
        What `p_in` is the complexity of.

    Returns
    -------
    float
        Above 1 where the bound is of no use.

    Raises
    ------
    ValueError
        If `delta` is outside (0, 1), or `sampling` unknown.

    Notes
    -----
    Paper: Corollary 4. Erratum: its constant is too small; see the top of its module for what
    is proved instead. With Rademacher labels, e_in + R_in + (3/4) sqrt(8 ln(1/delta)/n).

    Examples
    --------
    >>> from ucvtest.kernels.permutation import error_bound
    >>> round(error_bound(0.1, 0.05, 10_000, delta=0.05), 4)
    0.2253
    """
    check_sampling(sampling)
    declared("delta", delta, Level, 0.05)
    check_number("e_in", e_in)
    check_number("p_in", p_in)
    check_number("n_obs", n_obs, low=1)
    deviation = np.sqrt(np.log(1 / delta))
    factor = 3 * deviation if sampling == "rademacher" else 2 + 5 * deviation
    return float(e_in + p_in + np.sqrt(8 / n_obs) * factor / 4)
