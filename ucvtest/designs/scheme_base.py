"""What designs by name have in common: units to draw, and classes to keep in proportion."""

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from ucvtest.common.arrays import as_array
from ucvtest.common.checks import as_integer
from ucvtest.common.words import arg, excerpt
from ucvtest.data.groups import Groups, check_known_groups, units_of
from ucvtest.designs.design import Design


class NamedDesign(ABC):
    """What to draw, whatever the number of observations.

    Where observations come in groups, as the rows of one patient do, groups are drawn: all numbers
    of observations are then numbers of groups.
    """

    @property
    @abstractmethod
    def words(self) -> str:
        """The design as summaries name it, for example "10-fold cross-validation"."""

    @property
    @abstractmethod
    def n_resamples(self) -> int:
        """Learning sets that are drawn."""

    @abstractmethod
    def check(self, n_obs: int, groups: Groups | None = None) -> None:
        """Refuse samples that are too small.

        Parameters
        ----------
        n_obs : int
        groups : Groups, optional
            The cluster of each observation, the unit of resampling.

        Raises
        ------
        ValueError
        """

    @abstractmethod
    def draw(self, n_obs: int, rng: np.random.Generator, groups: Groups | None = None) -> Design:
        """Draw learning and test sets.

        Parameters
        ----------
        n_obs : int
        rng : numpy Generator
        groups : Groups, optional
            The cluster of each observation, the unit of resampling: sets contain whole groups.

        Returns
        -------
        Design
        """


class OfUnits(NamedDesign):
    """A design that draws from a number of units: observations, or groups of them."""

    def check(self, n_obs: int, groups: Groups | None = None) -> None:
        """Refuse samples with too few observations (groups)."""
        number = as_integer("n_obs", n_obs)
        if groups is not None:
            check_known_groups(groups, number)
            number = groups.n_groups
        self._check(number, units_of(groups))

    def draw(self, n_obs: int, rng: np.random.Generator, groups: Groups | None = None) -> Design:
        """Draw learning and test sets; see `NamedDesign.draw`."""
        self.check(n_obs, groups)
        _check_generator(rng)
        if groups is None:
            return self._draw(n_obs, rng)
        return self._draw(groups.n_groups, rng).of_groups(groups)

    @abstractmethod
    def _check(self, n_obs: int, units: str) -> None:
        """Refuse numbers of units that are too small; `units` names them."""

    @abstractmethod
    def _draw(self, n_obs: int, rng: np.random.Generator) -> Design:
        """Draw sets of units, whose number has been checked."""


class StratifiedDesign(OfUnits):
    """A design that can keep the classes in proportion, in learning and in test sets."""

    stratify: bool | None

    @property
    def words(self) -> str:
        """The design as summaries name it."""
        return f"stratified {self._in_words}" if self.stratify else self._in_words

    def for_scores(self) -> Self:
        """The design for the AUC, which a test set without a class does not have: stratified.

        The design itself where the user says that it is not to be stratified.
        """
        return replace(self, stratify=True) if self.stratify is None else self  # type: ignore[type-var]

    def draw(
        self,
        n_obs: int,
        rng: np.random.Generator,
        groups: Groups | None = None,
        strata: np.ndarray | None = None,
    ) -> Design:
        """Draw learning and test sets.

        Parameters
        ----------
        n_obs : int
        rng : numpy Generator
        groups : Groups, optional
            See `NamedDesign.draw`. A stratified design balances groups of one class class by
            class, and groups of several in their shares of them; folds their numbers of rows too.
        strata : ndarray of int, shape (n,), optional
            Class of each observation, from 0, which a stratified design needs.

        Returns
        -------
        Design

        Raises
        ------
        ValueError
            If the sample is too small, or a stratified design gets no classes.
        """
        if not self.stratify:
            return super().draw(n_obs, rng, groups)
        if strata is None:
            raise ValueError(
                f"{arg('stratify', True)} keeps classes in proportion, and needs labels of "
                "classes: leave it out"
            )
        self.check(n_obs, groups)
        _check_generator(rng)
        class_numbers = as_array("strata", strata)
        # Not above n, or counting the members of each class would take memory without end.
        is_integer_column = class_numbers.shape == (n_obs,) and class_numbers.dtype.kind in "iu"
        if not is_integer_column or not 0 <= class_numbers.min() <= class_numbers.max() < n_obs:
            raise ValueError(
                f"strata must be the classes of {n_obs} observations as integers from 0, got "
                f"{strata!r:.60}: use numpy.unique(y, return_inverse=True)[1]"
            )
        if groups is None:
            return self._draw(n_obs, rng, class_numbers)
        of_groups = groups.strata(class_numbers, fine=self._deals)
        return self._draw(groups.n_groups, rng, of_groups).of_groups(groups)

    _deals: ClassVar[bool] = False
    """Whether strata are dealt one after the other, however small they are."""

    @property
    @abstractmethod
    def _in_words(self) -> str:
        """The design, but for its being stratified."""

    @abstractmethod
    def _draw(
        self, n_obs: int, rng: np.random.Generator, strata: np.ndarray | None = None
    ) -> Design:
        """Draw sets of units, whose number has been checked."""


def check_stratify(stratify: Any) -> None:
    """Refuse what does not say whether to keep the classes in proportion."""
    # An array would be compared element by element.
    is_switch = isinstance(stratify, (int, np.bool_)) and stratify in (False, True)
    if stratify is not None and not is_switch:
        raise ValueError(
            f"stratify must be {excerpt(True)} or {excerpt(False)}, got {excerpt(stratify)}"
        )


def _check_generator(rng: Any) -> None:
    if not isinstance(rng, np.random.Generator):
        raise ValueError(
            f"rng must be a numpy Generator, got {rng!r:.60}: use numpy.random.default_rng(0)"
        )
