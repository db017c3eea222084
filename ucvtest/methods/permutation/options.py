"""The options of `PermutationComplexityTest`, and refusals before the first fit."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ucvtest.common.checks import as_integer, check_choice, check_is_float, check_seconds
from ucvtest.common.words import arg, shown
from ucvtest.data.sample import Sample
from ucvtest.evaluation.time_budget import too_few_seconds
from ucvtest.kernels.permutation import SAMPLINGS, Sampling
from ucvtest.learners.base import Learner
from ucvtest.methods.permutation.permuted_labels import Relabeling, n_labelings
from ucvtest.metrics.loss import Loss
from ucvtest.stats.monte_carlo import checked_stop_after, permutations_within

LEAST_PERMUTATIONS = 2
"""With fewer permutations, the Monte-Carlo error cannot be estimated."""

MAX_LABELINGS_JITTED = 200_000
MAX_LABELINGS_OTHERWISE = 20_000
"""Most labelings of "exact"."""


@dataclass(frozen=True)
class PermutationOptions:
    """The options of `PermutationComplexityTest.fit`."""

    n_permutations: int | str
    sampling: Sampling
    delta: float
    stop_after: int | None = None
    max_seconds: float | None = None
    """The time that decides `n_permutations`, once fits have been timed, if it is too short for
    all."""
    n_requested: int | None = None
    """The number of requested permutations, if it was reduced."""

    @classmethod
    def of(
        cls,
        n_permutations: Any,
        sampling: Any,
        delta: Any,
        stop_after: Any = None,
        max_seconds: Any = None,
        *,
        sample: Sample,
        learner: Learner,
        loss: Loss,
        relabeling: Relabeling | None = None,
    ) -> Self:
        """Validate what a user passes."""
        check_choice("sampling", sampling, SAMPLINGS)
        if relabeling is not None and sampling != "permutation":
            raise ValueError(
                f"{arg('sampling', sampling)} does not exist for groups, whose labels are not "
                f"independent: use {arg('sampling', 'permutation')}"
            )
        if sampling == "rademacher" and sample.n_classes != 2:
            raise ValueError(
                f"{arg('sampling', 'rademacher')} needs two classes, because labels are drawn by a "
                f"fair coin: use {arg('sampling', 'permutation')}"
            )
        check_is_float("delta", delta, "0.05")
        if not isinstance(delta, (int, float)) or not 0 < delta < 1:
            raise ValueError(f"delta must lie between 0 and 1, got {delta!r:.60}: use 0.05")
        number = _number(n_permutations)
        check_seconds(max_seconds)
        if max_seconds is not None and isinstance(number, str):
            raise ValueError(
                f"{arg('max_seconds')} does not apply with {arg('n_permutations', number)}, which "
                "fixes the number of fits: use a number of permutations"
            )
        checked_stop = checked_stop_after(stop_after, number)
        if checked_stop is not None and sampling != "permutation":
            raise ValueError(
                f"{arg('stop_after', checked_stop)} is about p-values, but "
                f"{arg('sampling', sampling)} does not give one: leave it out, or use "
                f"{arg('sampling', 'permutation')}"
            )
        options = cls(number, sampling, float(delta), checked_stop, max_seconds)
        if options.exact:
            _check_enumeration(sample, learner, sampling, relabeling)
        if options.analytic and loss.name != "squared":
            raise ValueError(
                f"{arg('n_permutations', 'analytic')} needs squared loss, got "
                f"{arg('loss', loss.name)}: use {arg('loss', 'squared')}, or a number of "
                "permutations"
            )
        return options

    @property
    def settings(self) -> dict[str, Any]:
        """As a result keeps them."""
        option_settings = dict(vars(self))
        del option_settings["n_requested"]
        for name in ("stop_after", "max_seconds"):
            if option_settings[name] is None:
                del option_settings[name]
        return option_settings

    def within(self, affordable_labelings: int) -> Self:
        """The options with the number of permutations that fits into the time."""
        assert self.max_seconds is not None
        n_requested = int(self.n_permutations)
        if affordable_labelings < LEAST_PERMUTATIONS <= n_requested:
            # The fit to the observed labels is the third.
            raise too_few_seconds(
                self.max_seconds,
                affordable_labelings + 1,
                LEAST_PERMUTATIONS + 1,
                "the Monte-Carlo error",
            )
        number = permutations_within(
            self.max_seconds, affordable_labelings, n_requested, self.stop_after
        )
        return (
            replace(self, n_permutations=number, n_requested=n_requested)
            if number < n_requested
            else self
        )

    @property
    def exact(self) -> bool:
        """Whether all labelings are enumerated."""
        return self.n_permutations == "exact"

    @property
    def analytic(self) -> bool:
        """Whether a closed form replaces labelings."""
        return self.n_permutations == "analytic"


def _number(n_permutations: Any) -> int | str:
    if isinstance(n_permutations, str):
        if n_permutations not in ("exact", "analytic"):
            raise ValueError(
                f"{arg('n_permutations', n_permutations)} is unknown: use an integer, 'exact' or "
                "'analytic'"
            )
        return n_permutations
    number = as_integer("n_permutations", n_permutations)
    if number < 1:
        raise ValueError(f"{arg('n_permutations')} must be at least 1, got {number}: use 100")
    return number


def _check_enumeration(
    sample: Sample, learner: Learner, sampling: Sampling, relabeling: Relabeling | None
) -> None:
    most_labelings = MAX_LABELINGS_JITTED if learner.backend == "jax" else MAX_LABELINGS_OTHERWISE
    if relabeling is None:
        number = n_labelings(sample.target, sampling)
    else:
        number = relabeling.exchangeable.n_labelings
    if number > most_labelings:
        raise ValueError(
            f"{arg('n_permutations', 'exact')} needs {number} fits, more than {most_labelings}: "
            "use a number of permutations, or 'analytic' for linear smoothers"
        )


def check_response(sample: Sample) -> None:
    """Refuse responses that cannot be permuted."""
    if sample.n_obs < 3:
        raise ValueError(f"{arg('X')} has {sample.n_obs} observations: at least 3 are needed")
    if sample.classes is None:
        if np.ptp(sample.target) == 0:
            raise ValueError(
                f"y is constant ({sample.target[0]:g}): its permutations are all the same, so "
                "there is nothing to test"
            )
        return
    counts = np.bincount(sample.target.astype(int))
    if counts.min() < 2:
        label = sample.classes.tolist()[int(counts.argmin())]
        raise ValueError(
            f"y has a single observation of class {shown(label)}: a class needs at least 2; drop "
            "it, or merge classes"
        )
