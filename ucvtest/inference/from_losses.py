"""Tests that take losses which exist instead of data, and fit nothing then."""

from typing import Any, ClassVar, Self

import numpy as np

from ucvtest.inference.hypothesis_test import (
    HypothesisTest,
    checked_alternative,
    checked_null_value,
)
from ucvtest.learners.base import Learner
from ucvtest.losses.loss import LOSSES, Loss
from ucvtest.losses.table import AUC, LossDifference, Losses
from ucvtest.stats.wald import Alternative

__all__ = ["FromLosses", "chosen_learners", "refuse_arguments"]


class FromLosses(HypothesisTest):
    """A test that is made from data, or by `from_losses` from losses that exist.

    Subclasses say in `admits` which designs of losses they can use, and take what they need of
    the losses in `_take`.
    """

    admits: ClassVar[str]
    """The designs that the test can use, in words."""

    _given: LossDifference | None = None

    @classmethod
    def from_losses(
        cls,
        losses: Losses,
        learner: str | int | None = None,
        other: str | int | None = None,
        *,
        null_value: float | None = None,
        alternative: Alternative = "two-sided",
    ) -> Self:
        """The test on losses that exist: `fit` then fits no model.

        Parameters
        ----------
        losses : Losses
        learner, other : str or int, optional
            Names or places in `losses`; a learner without `other` is tested alone. With neither,
            the only learner is tested, or two are compared; of more, `learner` must be named.
        null_value, alternative
            See the class.

        Raises
        ------
        ValueError
            If the design of the losses is none that the test admits, or an argument is off.
        """
        given = chosen_learners(losses, learner, other)
        test = cls.__new__(cls)
        test.alternative = checked_alternative(alternative)
        if losses.loss == AUC and null_value is None and not given.paired:
            null_value = 0.5
        test.null_value = checked_null_value(null_value, paired=given.paired)
        test.loss = _loss_of(losses)
        test._given = given
        test._take(given)
        return test

    def _take(self, given: LossDifference) -> None:
        """Set what the class needs to know of the losses; refuse those that it cannot use.

        Raises
        ------
        ValueError
        """
        raise NotImplementedError

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learner, or both; none where losses were given."""
        return super().learners if self._given is None else ()

    @property
    def paired(self) -> bool:
        """Whether two learners are compared."""
        return self.other is not None if self._given is None else self._given.paired

    @property
    def n_obs(self) -> int:
        """Observations of the sample."""
        return self.sample.n_obs if self._given is None else self._given.design.n_obs

    @property
    def target(self) -> np.ndarray:
        """Codes of the classes, or the real response."""
        if self._given is None:
            return self.sample.target
        known = self._given.losses.target
        if known is None:
            raise ValueError("losses have no target, which this test needs: pass y to from_arrays")
        return known

    def _needs_data(self, what: str) -> None:
        if self._given is not None:
            raise ValueError(
                f"{what} needs fits, and this test was made from losses: make it from X and y"
            )

    def _settings(self) -> dict[str, Any]:
        given = self._given
        if given is None:
            return super()._settings()
        losses = given.losses
        known = dict(losses.settings)
        backends = known.pop("backends", {})
        names = [None if i is None else losses.learners[i] for i in (given.learner, given.other)]
        return {
            "test": self.method_name,
            "learner": names[0],
            "other": names[1],
            "backend": backends.get(names[0]),
            "other_backend": backends.get(names[1]),
            "loss": losses.loss,
            "null_value": self.null_value,
            "alternative": self.alternative,
            **known,
        }


def chosen_learners(
    losses: Losses, learner: str | int | None, other: str | int | None
) -> LossDifference:
    """The losses of one learner, or the differences of two, that a user means.

    Raises
    ------
    ValueError
        If several learners could be meant, or there is no such learner.
    """
    if not isinstance(losses, Losses):
        raise ValueError(
            f"losses must be uv.Losses, got {type(losses).__name__}: see uv.evaluate and "
            "uv.Losses.from_arrays"
        )
    if learner is not None or other is not None:
        return losses.difference(0 if learner is None else learner, other)
    if len(losses.learners) > 2:
        raise ValueError(
            f"losses has {len(losses.learners)} learners ({', '.join(losses.learners)}): name "
            "learner, and other to compare with"
        )
    return losses.difference(0, 1 if len(losses.learners) == 2 else None)


def refuse_arguments(**arguments: Any) -> None:
    """Refuse arguments of `fit` that are about draws and fits, where there will be none.

    Raises
    ------
    ValueError
        If one of them is not None.
    """
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"{name} has no use where losses are given, as nothing is drawn or fitted: leave "
                "it out"
            )


def _loss_of(losses: Losses) -> Loss | None:
    """The loss by its name; for one that ucvtest does not know, what is known of it."""
    if losses.loss == AUC:
        return None
    known = LOSSES.get(losses.loss)
    if known is not None and known.bounds == losses.bounds:
        return known
    return Loss(losses.loss, _computed, "number", estimand=losses.in_words, bounds=losses.bounds)


def _computed(y: np.ndarray, prediction: np.ndarray) -> np.ndarray:
    raise ValueError("these losses were computed elsewhere")
