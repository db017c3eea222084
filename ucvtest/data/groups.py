"""Groups of observations, such as the rows of one patient. They are the units of resampling."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from ucvtest.common.arrays import as_array
from ucvtest.common.checks import check_choice
from ucvtest.common.words import arg, excerpt

GroupWeight = Literal["group", "row"]
GROUP_WEIGHTS: tuple[GroupWeight, ...] = get_args(GroupWeight)

LEAST_REST = 1e-40
"""Shares that sum to less beside the largest one have the degrees of freedom of a sum like this."""


def kish_size(weights: np.ndarray) -> float:
    """The number of equal weights that these are worth: (sum w)^2 / sum w^2 (Kish)."""
    # Squares of very large and very small weights leave the range of numbers.
    scaled = weights / weights.max()
    return float(scaled.sum() ** 2 / (scaled @ scaled))


def satterthwaite_df(weights: np.ndarray) -> float:
    """Degrees of freedom of the robust variance of a weighted mean; n - 1 of equal weights.

    Twice the squared expectation of the variance estimate over its variance, for independent normal
    observations with one variance (Bell and McCaffrey 2002). Weights of 0 do not count.
    """
    ascending = np.sort(weights[weights > 0]) / weights.max()
    if len(ascending) < 2:
        return 0.0
    p = ascending / ascending.sum()
    # The largest share by itself: where it is nearly 1, the others are known to all digits.
    q, rest, largest = p[:-1], float(p[:-1].sum()), float(p[-1])
    if rest < LEAST_REST:
        # Only their ratios matter then, and fourth powers of these shares would be 0.
        q, rest = q * (LEAST_REST / rest), LEAST_REST
        p = np.append(q, largest)
    second, third, fourth = (float((q**k).sum()) for k in (2, 3, 4))
    squares = largest**2 + second
    own = np.append((1 - q) ** 2 + squares - q**2, rest**2 + second)
    expected = float(p**2 @ own)
    # p_i^2 p_j^2 times the squared covariance of two residuals, which is sum p^2 - p_i - p_j.
    with_largest = 2 * largest**2 * float(q**2 @ (second - largest * rest - q) ** 2)
    among_others = (
        second**2 * squares**2 + 2 * second * fourth - 4 * squares * second * third + 2 * third**2
    ) - float(q**4 @ (squares - 2 * q) ** 2)
    df = expected**2 / (float(p**4 @ own**2) + with_largest + among_others)
    return min(max(df, 1.0), len(p) - 1.0)


@dataclass(frozen=True, eq=False)
class Groups:
    """Which observations belong together.

    Parameters
    ----------
    labels : ndarray, shape (G,)
        Names of the groups, in the order in which they first appear.
    index : ndarray of int, shape (n,)
        Position of each observation's group in the labels.
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

    @property
    def single(self) -> bool:
        """Whether each observation is a group by itself."""
        return self.n_groups == self.n_obs

    @cached_property
    def sizes(self) -> np.ndarray:
        """Observations in each group, (G,)."""
        return np.bincount(self.index)

    @property
    def equal_sizes(self) -> float:
        """The number of groups of equal size that these are worth."""
        return kish_size(self.sizes.astype(float))

    @cached_property
    def first(self) -> np.ndarray:
        """The first observation of each group, (G,)."""
        return np.unique(self.index, return_index=True)[1]

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Sums over the observations of each group: (..., G) from (..., n)."""
        order = self._order
        ordered_values = values if order is None else values[..., order]
        starts = np.concatenate([[0], np.cumsum(self.sizes)[:-1]])
        return np.add.reduceat(ordered_values, starts, axis=-1, dtype=float)

    def common(self, name: str, values: np.ndarray) -> np.ndarray:
        """The common value of the observations of each group, (..., G); refused if they differ."""
        group_values = values[..., self.first]
        if (group_values[..., self.index] != values).any():
            raise ValueError(
                f"{name} divides a group: learn from all of its rows, or test all of them"
            )
        return group_values

    @cached_property
    def _order(self) -> np.ndarray | None:
        """Observations sorted by group; None if they already are."""
        ordered = bool((np.diff(self.index) >= 0).all())
        return None if ordered else np.argsort(self.index, kind="stable")

    def classes(self, class_index: np.ndarray) -> np.ndarray | None:
        """The class of each group (G,), from those of observations; None if a group has several."""
        group_class = class_index[self.first]
        return group_class if bool((group_class[self.index] == class_index).all()) else None

    def check_classes(self, class_index: np.ndarray, labels: Sequence[Any]) -> None:
        """Refuse classes that occur in one group only; `labels` are the names of the classes."""
        for k, label in enumerate(labels):
            groups_of_class = np.unique(self.index[class_index == k])
            if len(groups_of_class) == 1:
                name = self.labels.tolist()[groups_of_class[0]]
                raise ValueError(
                    f"class {excerpt(label)} is in one group only ({name!r}), which is either "
                    "learnt from or tested: a class must be in at least two groups; merge it with "
                    "another class, or leave it out"
                )

    def strata(self, class_index: np.ndarray, *, fine: bool = False) -> np.ndarray:
        """Numbers (G,) of strata: groups with the same classes are in one stratum.

        Groups with several classes form a separate stratum. With `fine` strata, groups are ordered
        by their shares of the classes, then by size. Dealing out one stratum after the other then
        balances rows as well.
        """
        members = np.stack([self.sums(class_index == k) for k in range(int(class_index.max()) + 1)])
        if fine:
            key = np.vstack([members / self.sizes, self.sizes]).T
        else:
            key = np.where((members > 0).sum(axis=0) > 1, -1, members.argmax(axis=0))[:, None]
        return np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)


@dataclass(frozen=True, eq=False)
class Clusters:
    """Groups as the observations of a test, and the weight of each.

    With the weight "group", the loss of a cluster is the mean over its rows, so every cluster
    counts the same. With "row", the estimate is the mean over rows. It is a ratio of means over
    clusters: sums S_j of losses over numbers m_j of rows. Its kernel is theta + (S_j - theta
    m_j)/mbar, with theta and mbar of the sample.
    """

    groups: Groups
    weight: GroupWeight

    @property
    def n_groups(self) -> int:
        """Number of clusters, G."""
        return self.groups.n_groups

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Losses of the clusters (..., G), without `offset`, from losses of rows (..., n)."""
        sizes = self.groups.sizes
        return self.groups.sums(values) / (sizes if self.weight == "group" else sizes.mean())

    @cached_property
    def offset(self) -> np.ndarray | None:
        """The term of the kernel apart from `sums`, as a multiple of theta: 1 - m_j/mbar, (G,).

        None if the term is zero: with the weight "group", or with clusters of equal size.
        """
        sizes = self.groups.sizes
        if self.weight == "group" or sizes.min() == sizes.max():
            return None
        return 1 - sizes / sizes.mean()

    @property
    def row_shares(self) -> np.ndarray:
        """The weight of each row in the mean loss, (n,); the weights sum to 1."""
        groups = self.groups
        if self.weight == "row":
            return np.full(groups.n_obs, 1 / groups.n_obs)
        return 1 / (groups.n_groups * groups.sizes[groups.index])

    def values(self, rows: np.ndarray) -> np.ndarray:
        """The kernel of each cluster (..., G), from losses of rows (..., n); its mean estimates."""
        cluster_sums = self.sums(rows)
        if self.offset is None:
            return cluster_sums
        return cluster_sums + cluster_sums.mean(axis=-1, keepdims=True) * self.offset


def check_group_weight(weight: Any, *, grouped: bool) -> GroupWeight:
    """The weight of groups: equal, or by number of rows; refused if there are no groups."""
    check_choice("group_weight", weight, GROUP_WEIGHTS)
    if weight != "group" and not grouped:
        raise ValueError(
            f"{arg('group_weight', weight)} sets the weight of groups, but there are none: pass "
            f"{arg('groups')}, or leave it out"
        )
    return weight


def clusters_of(groups: Groups | None, weight: GroupWeight) -> Clusters | None:
    """The clusters of a test; None if each observation is by itself."""
    return None if groups is None or groups.single else Clusters(groups, weight)


def units_of(groups: Groups | Clusters | None, grouped: str = "groups") -> str:
    """The name of the sampled units: messages speak of `groups`, results of clusters."""
    return "observations" if groups is None else grouped


def as_groups(groups: Any, n_obs: int) -> Groups | None:
    """Make groups from one label for each observation; None stays None.

    Parameters
    ----------
    groups : array-like, shape (n,), or None
        Labels of any type.
    n_obs : int

    Raises
    ------
    ValueError
        If the number of labels is wrong, a label is missing, or all labels are the same.

    Examples
    --------
    >>> from ucvtest.data.groups import as_groups
    >>> groups = as_groups(["b", "a", "b", "c"], 4)
    >>> groups.labels.tolist(), groups.index.tolist()
    (['b', 'a', 'c'], [0, 1, 0, 2])
    """
    if groups is None:
        return None
    group_labels = as_array("groups", groups)
    if group_labels.ndim == 2 and group_labels.shape[1] == 1:
        group_labels = group_labels[:, 0]
    if group_labels.shape != (n_obs,):
        raise ValueError(
            f"{arg('groups')} must name a group for each of {n_obs} rows, got shape "
            f"{group_labels.shape}"
        )
    names = group_labels.tolist()
    n_missing = sum(map(_is_missing, names))
    if n_missing:
        raise ValueError(f"{arg('groups')} has {n_missing} missing values: drop these observations")
    group_number = {name: number for number, name in enumerate(dict.fromkeys(names))}
    if len(group_number) < 2:
        raise ValueError(
            f"{arg('groups')} names one group only ({excerpt(names[0])}): at least two are needed"
        )
    index = np.array([group_number[name] for name in names])
    return Groups(group_labels[np.unique(index, return_index=True)[1]], index)


def check_known_groups(groups: Any, n: int, *, units: str = "rows") -> None:
    """Refuse anything but `Groups` with this number of rows or of groups."""
    are_groups = isinstance(groups, Groups)
    number = getattr(groups, "n_obs" if units == "rows" else "n_groups", None)
    if not are_groups or number != n:
        problem = f"Groups of {number}" if are_groups else f"{groups!r:.60}"
        raise ValueError(
            f"groups must be the Groups of {n} {units}, got {problem}: make them of one label for "
            "each row by ucvtest.data.groups.as_groups(labels, n_obs)"
        )


def _is_missing(name: Any) -> bool:
    try:
        return name is None or bool(name != name)
    except TypeError:
        # Comparisons with pandas' NA are neither true nor false.
        return True
