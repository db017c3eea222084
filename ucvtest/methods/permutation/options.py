"""The options of `PermutationComplexityTest`, and refusals before the first fit."""

from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Any, Literal, Self

import numpy as np

from ucvtest.common.checks import AtLeast, Between, Seconds
from ucvtest.common.words import arg, excerpt
from ucvtest.data.sample import Sample
from ucvtest.evaluation.problem import Problem
from ucvtest.evaluation.time_budget import too_few_seconds
from ucvtest.inference.options import FitOptions
from ucvtest.kernels.permutation import Sampling
from ucvtest.methods.permutation.labelings import Labelings, labelings_of
from ucvtest.stats.monte_carlo import check_stop_after, permutations_within

LEAST_PERMUTATIONS = 2
"""With fewer permutations, the Monte-Carlo error cannot be estimated."""

MAX_LABELINGS_JITTED = 200_000
MAX_LABELINGS_OTHERWISE = 20_000
"""Most labelings of "exact"."""


@dataclass(frozen=True)
class Options(FitOptions):
    """The options of `PermutationComplexityTest.fit`."""

    n_permutations: Annotated[int, AtLeast(1)] | Literal["exact", "analytic"] = 100
    sampling: Sampling = "permutation"
    delta: Annotated[float, Between(0, 1)] = 0.05
    _: KW_ONLY
    stop_after: Annotated[int, AtLeast(1)] | None = None
    max_seconds: Seconds | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_seconds is not None and isinstance(self.n_permutations, str):
            raise ValueError(
                f"{arg('max_seconds')} does not apply with "
                f"{arg('n_permutations', self.n_permutations)}, which fixes the number of fits: "
                "use a number of permutations"
            )
        check_stop_after(self.stop_after, self.n_permutations)
        if self.stop_after is not None and self.sampling != "permutation":
            raise ValueError(
                f"{arg('stop_after', self.stop_after)} is about p-values, but "
                f"{arg('sampling', self.sampling)} does not give one: leave it out, or use "
                f"{arg('sampling', 'permutation')}"
            )


@dataclass(frozen=True)
class PermutationOptions(Options):
    """The options for a question; once fits have been timed, with fewer permutations."""

    n_requested: int | None = field(default=None, kw_only=True)
    """The number of requested permutations, if it was reduced."""

    labelings: Labelings = field(kw_only=True)

    @classmethod
    def of(cls, options: Options, problem: Problem) -> Self:
        """The options for a question, which may not have what a user asks for."""
        sampling, clusters, loss = options.sampling, problem.clusters, problem.loss
        if clusters is not None and sampling != "permutation":
            raise ValueError(
                f"{arg('sampling', sampling)} does not exist for groups, whose labels are not "
                f"independent: use {arg('sampling', 'permutation')}"
            )
        if sampling == "rademacher" and problem.sample.n_classes != 2:
            raise ValueError(
                f"{arg('sampling', 'rademacher')} needs two classes, because labels are drawn by a "
                f"fair coin: use {arg('sampling', 'permutation')}"
            )
        labelings = labelings_of(problem.sample.target, clusters, sampling)
        if options.n_permutations == "exact":
            (learner,) = problem.learners.values()
            jitted = learner.backend == "jax"
            most = MAX_LABELINGS_JITTED if jitted else MAX_LABELINGS_OTHERWISE
            if labelings.number > most:
                raise ValueError(
                    f"{arg('n_permutations', 'exact')} needs {labelings.number} fits, more than "
                    f"{most}: use a number of permutations, or 'analytic' for linear smoothers"
                )
        if options.n_permutations == "analytic" and loss is not None and loss.name != "squared":
            raise ValueError(
                f"{arg('n_permutations', 'analytic')} needs squared loss, got "
                f"{arg('loss', loss.name)}: use {arg('loss', 'squared')}, or a number of "
                "permutations"
            )
        return cls(**vars(options), labelings=labelings)

    @property
    def settings(self) -> dict[str, Any]:
        """As a result keeps them."""
        derived = ("n_requested", "labelings")
        own = {name: x for name, x in self.own.items() if name not in derived}
        return {name: x for name, x in own.items() if x is not None}

    def within(self, affordable_labelings: int) -> Self:
        """The options with the number of permutations that fits into the time."""
        assert self.max_seconds is not None
        if affordable_labelings < min(LEAST_PERMUTATIONS, int(self.n_permutations)):
            # The fit to the observed labels is the third.
            raise too_few_seconds(
                self.max_seconds,
                affordable_labelings + 1,
                LEAST_PERMUTATIONS + 1,
                "the Monte-Carlo error",
            )
        return permutations_within(self, affordable_labelings)

    @property
    def exact(self) -> bool:
        """Whether all labelings are enumerated."""
        return self.n_permutations == "exact"

    @property
    def analytic(self) -> bool:
        """Whether a closed form replaces labelings."""
        return self.n_permutations == "analytic"


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
            f"y has a single observation of class {excerpt(label)}: a class needs at least 2; drop "
            "it, or merge classes"
        )
