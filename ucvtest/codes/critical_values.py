"""Critical values: how many leave-pair-out errors are few enough to reject."""

import math
from bisect import bisect_left
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import comb
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ucvtest.codes.bounds import light_code_bounds, spectral_bound
from ucvtest.codes.linear_programme import check_length
from ucvtest.codes.null_distributions import simulated_nulls, wilcoxon_null
from ucvtest.common.checks import Level, as_integer, check_choice, declared, is_number
from ucvtest.common.execution import make_generator, progress_bar
from ucvtest.common.words import arg

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Method = Literal["wmw", "graham_sloane", "supremum", "empirical"]
METHODS: tuple[Method, ...] = ("wmw", "graham_sloane", "supremum", "empirical")

N_SIMULATIONS = 10_000


@overload
def critical_values(
    alpha: float,
    n0: int,
    n1: int,
    method: Method = "supremum",
    *,
    n_simulations: int | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool | None = None,
) -> int: ...


@overload
def critical_values(
    alpha: float,
    n0: Iterable[int],
    n1: Iterable[int],
    method: Method = "supremum",
    *,
    n_simulations: int | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool | None = None,
) -> "pd.DataFrame": ...


def critical_values(
    alpha: float,
    n0: int | Iterable[int],
    n1: int | Iterable[int],
    method: Method = "supremum",
    *,
    n_simulations: int | None = None,
    rng: int | np.random.Generator | None = None,
    progress: bool | None = None,
) -> "int | pd.DataFrame":
    """The largest number of leave-pair-out errors with which the null is rejected.

    Parameters
    ----------
    alpha : float
        Level: rejected is where p <= alpha.
    n0, n1 : int or sequence of int
        Negative and positive observations.
    method : {"wmw", "graham_sloane", "supremum", "empirical"}
        "supremum" is valid for every learning algorithm: an upper bound for the number of
        labelings with so few errors. "wmw" is exact for a fixed function, which learns nothing
        from the labels, and not valid for a learner. "empirical" is the largest p-value over
        eight simulated settings, valid for these. "graham_sloane" is the adversary's: what an
        algorithm of Proposition 4 reaches, so no test at all; a valid one cannot reject more.
    n_simulations : int, optional
        Samples for each setting of "empirical", by default 10 000.
    rng : None, int or numpy Generator
        For "empirical".
    progress : bool, optional
        Show a progress bar; by default on terminals, after three seconds.

    Returns
    -------
    int or DataFrame
        -1 where no number of errors is few enough. For sequences a table, n1 downwards and n0
        across, which `plot_critical_values` draws.

    Raises
    ------
    ValueError
        If an argument is out of range, or given for a method that does not use it.

    Notes
    -----
    Pahikkala et al. (2025), Figures 2, 7 and 8. Errata: the values of Figure 7 come from a
    lower bound, and do not give a valid test; (11) has <, here it is <=. "supremum" solves a
    linear programme for every shorter code: seconds for n0, n1 <= 20, and nothing the second
    time.

    Examples
    --------
    >>> import ucvtest as uv
    >>> uv.codes.critical_values(0.05, 10, 10, method="wmw")
    27
    >>> table = uv.codes.critical_values(0.05, [10, 19, 20], [10, 19], method="supremum")
    >>> table.loc[10].tolist()
    [-1, 0, 0]
    """
    declared("alpha", float(alpha) if isinstance(alpha, Real) else alpha, Level, 0.05)
    check_choice("method", method, METHODS)
    if method != "empirical" and not (n_simulations is None and rng is None):
        raise ValueError(
            f"{arg('n_simulations')} and {arg('rng')} are for {arg('method', 'empirical')}, got "
            f"{arg('method', method)}: leave them out"
        )
    columns, rows = _sizes("n0", n0), _sizes("n1", n1)
    check_length(max(columns) + max(rows))
    generator, _ = make_generator(rng)
    simulations = N_SIMULATIONS if n_simulations is None else n_simulations
    if as_integer("n_simulations", simulations) < 1:
        raise ValueError(f"n_simulations must be positive, got {simulations}")
    # The classes can change places, so one of each pair of sizes is enough.
    values_by_sizes: dict[tuple[int, int], int] = {}
    with progress_bar(progress, "critical values", "value") as bar:
        for a, b in ((a, b) for b in rows for a in columns):
            key = (min(a, b), max(a, b))
            if key not in values_by_sizes:
                values_by_sizes[key] = _critical_value(method, alpha, *key, simulations, generator)
            bar.update()
    if not isinstance(n0, Iterable) and not isinstance(n1, Iterable):
        return values_by_sizes[min(columns + rows), max(columns + rows)]
    import pandas as pd

    return pd.DataFrame(
        [[values_by_sizes[min(a, b), max(a, b)] for a in columns] for b in rows],
        index=pd.Index(rows, name="n1"),
        columns=pd.Index(columns, name="n0"),
    )


def supremum_pvalue(n_errors: float, n: int, weight: int) -> float:
    """The largest P(W <= n_errors) over all learning algorithms, or an upper bound for it.

    Parameters
    ----------
    n_errors : float
        Halves are rounded up: the bounds count whole errors.
    n, weight : int

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If an argument is not a number, or out of range: see `light_code_bounds`.

    Notes
    -----
    Pahikkala et al. (2025), Theorem 2, with the best upper bound for L.
    """
    if not is_number(n_errors):
        raise ValueError(f"n_errors must be a finite number, got {n_errors!r:.60}")
    upper = light_code_bounds(math.ceil(n_errors), n, weight).upper
    return upper / comb(n, weight)


def plot_critical_values(table: "pd.DataFrame", ax: "Axes | None" = None) -> "Axes":
    """Draw a table of critical values as a heat map: Figures 2, 7 and 8.

    Parameters
    ----------
    table : DataFrame
        From `critical_values`.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure of pyplot's.

    Returns
    -------
    matplotlib Axes
        Sizes that cannot reject stay empty.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    TypeError
        If it is another object.
    """
    import pandas as pd

    from ucvtest.results.axes import heat_map

    if not isinstance(table, pd.DataFrame) or not table.size:
        raise TypeError(
            f"table must be one of critical_values, got {type(table).__name__}: pass it sequences "
            "of sizes"
        )
    masked_values = table.mask(table < 0).to_numpy(dtype=float)
    ax = heat_map(masked_values, table.columns.tolist(), table.index.tolist(), ax)
    ax.set_xlabel("negative observations")
    ax.set_ylabel("positive observations")
    return ax


def _sizes(name: str, sizes: int | Iterable[int]) -> list[int]:
    # An array without dimensions says that it can be iterated over.
    several = isinstance(sizes, Iterable) and bool(getattr(sizes, "ndim", True))
    requested: list[Any] = list(sizes) if isinstance(sizes, Iterable) and several else [sizes]
    integers = [as_integer(name, size) for size in requested]
    if not integers or min(integers) < 1:
        raise ValueError(f"{name} must contain positive integers, got {integers}")
    return integers


def _critical_value(
    method: Method, alpha: float, n0: int, n1: int, n_simulations: int, rng: np.random.Generator
) -> int:
    n = n0 + n1
    if method == "wmw":
        return int(wilcoxon_null(n, n0).critical_value(alpha))
    if method == "supremum":
        return supremum_critical_value(alpha, n, n0)
    if method == "graham_sloane":
        # The largest W <= n/4 with 1/(n - 2W) <= alpha.
        level = Fraction(str(alpha))
        return max((w for w in range(n // 4 + 1) if Fraction(1, n - 2 * w) <= level), default=-1)
    if n0 < 2:
        # A class cannot be learnt without its only observation: every pair is tied.
        return -1
    nulls = simulated_nulls(n0, n1, n_simulations, rng)
    # Tables contain whole numbers; half an error more would not be rejected by all settings.
    return int(np.floor(min(null.critical_value(alpha) for null in nulls.values())))


@cache
def supremum_critical_value(alpha: float, n: int, weight: int) -> int:
    """The largest W with a supremum p-value of at most alpha; -1 if there is none."""
    high = 0
    while _rejects(high, alpha, n, weight):
        high = max(1, 2 * high)
    # Half of it has been rejected already.
    low = min(high, high // 2 + 1)
    return bisect_left(range(high), True, low, key=lambda w: not _rejects(w, alpha, n, weight)) - 1


def _rejects(n_errors: int, alpha: float, n: int, weight: int) -> bool:
    """Whether the supremum p-value is at most alpha."""
    # One formula often decides, where the best bound takes a programme for each shorter code.
    if spectral_bound(n_errors, n, weight) / comb(n, weight) <= alpha:
        return True
    return supremum_pvalue(n_errors, n, weight) <= alpha
