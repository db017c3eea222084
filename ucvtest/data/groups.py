"""Groups of observations, such as the rows of one patient: the unit of resampling."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_array

__all__ = ["Groups", "as_groups", "refuse_groups"]


@dataclass(frozen=True, eq=False)
class Groups:
    """Which observations belong together.

    Parameters
    ----------
    labels : ndarray, shape (G,)
        Names of the groups, in the order in which they first appear.
    index : ndarray of int, shape (n,)
        Place of each observation's group among the labels.
    """

    labels: np.ndarray
    index: np.ndarray

    @property
    def n_groups(self) -> int:
        """Number of groups, G."""
        return len(self.labels)

    @property
    def n_obs(self) -> int:
        """Number of observations, n."""
        return len(self.index)


def as_groups(groups: Any, n_obs: int) -> Groups | None:
    """The groups that a user names by one label for each observation; None stays None.

    Parameters
    ----------
    groups : array-like, shape (n,), or None
        Labels of any type.
    n_obs : int

    Raises
    ------
    ValueError
        If there is not one label for each observation, one is missing, or all are the same.

    Examples
    --------
    >>> from ucvtest.data.groups import as_groups
    >>> groups = as_groups(["b", "a", "b", "c"], 4)
    >>> groups.labels.tolist(), groups.index.tolist()
    (['b', 'a', 'c'], [0, 1, 0, 2])
    """
    if groups is None:
        return None
    given = as_array("groups", groups)
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.shape != (n_obs,):
        raise ValueError(
            f"groups must name a group for each of {n_obs} rows, got shape {given.shape}"
        )
    names = given.tolist()
    n_missing = sum(map(_is_missing, names))
    if n_missing:
        raise ValueError(f"groups has {n_missing} missing values: drop these observations")
    place = {name: number for number, name in enumerate(dict.fromkeys(names))}
    if len(place) < 2:
        raise ValueError(f"groups names one group only ({names[0]!r}): at least two are needed")
    index = np.array([place[name] for name in names])
    _, first = np.unique(index, return_index=True)
    return Groups(given[first], index)


def refuse_groups(groups: Any, what: str = "the test") -> None:
    """Refuse groups where observations are taken to be independent.

    Parameters
    ----------
    groups : object
        None is admitted.
    what : str
        What assumes it.

    Raises
    ------
    ValueError
        If they are anything but None.
    """
    if groups is not None:
        raise ValueError(
            f"groups= is not supported: {what} assumes independent observations, and several rows "
            "of one patient are not; keep one row for each, or average them"
        )


def _is_missing(name: Any) -> bool:
    try:
        return name is None or bool(name != name)
    except TypeError:
        # Of pandas' NA nothing is true or false.
        return True
