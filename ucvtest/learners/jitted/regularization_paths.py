"""Learners that differ in their penalty alone: each learning set is fitted once for all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ucvtest.common.arrays import as_numbers
from ucvtest.common.words import excerpt
from ucvtest.data.sample import Sample
from ucvtest.learners.base import JittedLearner, Learner
from ucvtest.learners.jitted.lasso import PenalizedLogistic, lasso
from ucvtest.learners.jitted.penalties import PenaltyScale
from ucvtest.learners.jitted.ridge import Ridge, ridge

MOST = 2000
"""Penalties of a path: more would share their names, which have four digits."""

FEWEST = 3
"""Penalties from which on a path is worth while."""


def lasso_path(
    lams: Sequence[float] | int = 100,
    standardize: bool = True,
    scale: PenaltyScale = "mean",
    *,
    max_iter: int = 200,
) -> tuple[PenalizedLogistic, ...]:
    """The lassos of a path of penalties, for `uv.compare` and others that take several learners.

    ``compare(..., correction="simultaneous")`` fits each learning set's path at once, every fit
    beginning at the one before.

    Parameters
    ----------
    lams : sequence of float or int
        Penalties; or their number, from 0.5, above which nothing has a coefficient where features
        are standardised, to 0.005 in equal steps of the logarithm.
    standardize, scale, max_iter
        As in `lasso`.

    Returns
    -------
    tuple of PenalizedLogistic
        In the order of the penalties.

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    >>> import ucvtest as uv
    >>> [each.name for each in uv.learners.lasso_path(3)]
    ['lasso:0.5', 'lasso:0.05', 'lasso:0.005']
    """
    penalties = _penalties(lams, 0.5, 0.005)
    return tuple(lasso(lam, standardize, scale, max_iter=max_iter) for lam in penalties)


def ridge_path(
    lams: Sequence[float] | int = 100, penalize_intercept: bool = False, scale: PenaltyScale = "sum"
) -> tuple[Ridge, ...]:
    """The ridge regressions of a path of penalties: see `lasso_path`.

    Parameters
    ----------
    lams : sequence of float or int
        Penalties; or their number, from 10000 to 0.01 in equal steps of the logarithm.
    penalize_intercept, scale
        As in `ridge`.

    Returns
    -------
    tuple of Ridge

    Raises
    ------
    ValueError
        If an argument cannot be used.

    Examples
    --------
    >>> import ucvtest as uv
    >>> [each.name for each in uv.learners.ridge_path([10, 1])]
    ['ridge:10.0', 'ridge:1.0']
    """
    penalties = _penalties(lams, 1e4, 1e-2)
    return tuple(ridge(lam, penalize_intercept, scale) for lam in penalties)


def _penalties(lams: Any, largest: float, smallest: float) -> list[float]:
    if isinstance(lams, int) and not isinstance(lams, bool):
        if lams < 2:
            raise ValueError(f"lams must be at least 2 penalties, got {lams}: use 100")
        if lams > MOST:
            raise ValueError(f"lams must be at most {MOST} penalties, got {lams:.3g}: use 100")
        # Few digits, for names.
        return [float(f"{lam:.4g}") for lam in np.geomspace(largest, smallest, lams)]
    penalties = as_numbers("lams", lams)
    if penalties.ndim != 1 or len(np.unique(penalties)) < len(penalties) or not len(penalties):
        raise ValueError(f"lams must be different penalties in a row, got {excerpt(lams)}")
    return [float(lam) for lam in penalties]


def on_paths(learners: Mapping[str, Learner]) -> dict[str, Learner]:
    """The learners; those that differ in their penalty alone share their fits."""
    groups: dict[Any, list[str]] = {}
    for name, learner in learners.items():
        if isinstance(learner, (PenalizedLogistic, Ridge)):
            groups.setdefault(replace(learner, lam=1.0), []).append(name)
    path_learners = dict(learners)
    for names in groups.values():
        members = [learners[name] for name in names]
        if len(names) >= FEWEST:
            path = _Path(tuple(members))
            path_learners |= {
                name: PathMember(path, member_index, path.members[member_index])
                for member_index, name in enumerate(names)
            }
    return path_learners


@dataclass(eq=False)
class _Path:
    """The scores of all members for the learning sets that not all of them have asked for yet."""

    members: tuple[Any, ...]
    state: Any = None
    fitted_scores: dict[bytes, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    n_requests: dict[bytes, int] = field(default_factory=dict)

    def prepare(self, sample: Sample) -> Any:
        """What all fits share, computed once."""
        if self.state is None:
            self.state = self.members[0].prepare(sample)
        return self.state

    def scores(self, member_index: int, state: Any, learning: np.ndarray) -> np.ndarray:
        """The scores of one member."""
        packed = np.packbits(learning, axis=1)
        key = packed.tobytes()
        if key not in self.fitted_scores:
            _, first, copy = np.unique(packed, axis=0, return_index=True, return_inverse=True)
            scores_of_path = self.members[0].path_scores(state, learning[first], self.members)
            self.fitted_scores[key], self.n_requests[key] = (scores_of_path, copy.ravel()), 0
        scores_of_path, copy = self.fitted_scores[key]
        self.n_requests[key] += 1
        if self.n_requests[key] == len(self.members):
            del self.fitted_scores[key], self.n_requests[key]
        return np.asarray(scores_of_path[member_index][copy])


class PathMember(JittedLearner):
    """A learner whose scores come from a path that it shares with others."""

    def __init__(self, path: _Path, member_index: int, learner: JittedLearner) -> None:
        self._path, self._place, self._learner = path, member_index, learner
        # Fixed for other classes of learners; here it depends on the replaced learner.
        for name in ("scale", "multiclass", "regression", "batch_rows", "no_solution"):
            setattr(self, name, getattr(learner, name))

    @property
    def name(self) -> str:
        """That of the learner that it stands for."""
        return self._learner.name

    def prepare(self, sample: Sample) -> Any:
        """See `JittedLearner`."""
        return self._path.prepare(sample)

    def rows_per_call(self, sample: Sample) -> int:
        """See `JittedLearner`."""
        return self._learner.rows_per_call(sample)

    def scores(
        self, state: Any, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """See `JittedLearner`."""
        if labels is not None:
            return self._learner.scores(state, learning, labels)
        return self._path.scores(self._place, state, learning)
