"""Pairs of learning sets whose learners are fitted one by one; each may fail or be the last."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ucvtest.common.execution import CLOCK
from ucvtest.common.notes import Note
from ucvtest.evaluation.loss_source import LossSource
from ucvtest.evaluation.workers import FailedFit
from ucvtest.kernels.ustatistic.few import LEAST_ROUNDS

if TYPE_CHECKING:
    from ucvtest.methods.ustatistic.run import Sums

STEP_SECONDS = 2.0
"""Largest duration of a step in seconds; an interrupt loses the current step."""

LEAST_FAILED, MOST_SHARE = 2, 10
"""This number of failed pairs, and more than this share, are a mistake and not bad luck."""


@dataclass(eq=False)
class OneByOne:
    """The losses of pairs, some at a time for all learners, with those that failed left out.

    `rounds` has all complete pairs, also when an interrupt ends the rest. The time of fits decides
    only the size of the steps.
    """

    source: LossSource
    rounds: "Sums | None" = None
    answer: Callable[[], str] | None = None
    """The answer of the rounds so far, in words for a progress bar."""
    of_rows: Callable[[np.ndarray], np.ndarray] = np.asarray
    """Learning sets of rows, from those of units that are drawn."""
    several: bool = False
    """Whether more learners than two are fitted to the same sets."""
    n_pairs: int = 0
    """Pairs that were fitted, failed ones among them."""
    failures: list[FailedFit] = field(default_factory=list)
    n_failed: int = 0
    interrupted: bool = False
    _step: int = 1

    def losses(
        self, learning: np.ndarray, draw: np.ndarray, seeds: np.ndarray
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """Losses of each learner (M, n), and which draws are complete.

        Rows of other draws are invalid.

        Rows beyond those of `draw` belong to the first draws in turn.
        """
        n_draws = int(draw.max()) + 1
        owner = np.concatenate([draw, np.arange(len(learning) - len(draw))])
        order = np.argsort(owner, kind="stable")
        # By draws, so that the numbers of splits do not depend on the steps.
        draw_ends = np.searchsorted(owner[order], np.arange(n_draws + 1))
        learner_losses: list[np.ndarray] = []
        is_complete, first_draw = np.ones(n_draws, dtype=bool), 0
        while first_draw < n_draws:
            # A pair has two fits of each learner: none of the workers idles.
            end_draw = min(first_draw + max(self._step, -(-self.source.n_workers // 2)), n_draws)
            rows = order[draw_ends[first_draw] : draw_ends[end_draw]]
            clock_before = CLOCK()
            sets = self.of_rows(learning[rows])
            step_losses, failed = self.source.losses_and_failures(sets, ~sets, seeds[rows])
            if not learner_losses:
                learner_losses = [
                    np.zeros((len(learning), *x.shape[1:]), x.dtype) for x in step_losses
                ]
            for all_losses, values in zip(learner_losses, step_losses, strict=True):
                all_losses[rows] = values
            for draw_number in range(first_draw, end_draw):
                places = np.flatnonzero(owner[rows] == draw_number)
                is_complete[draw_number] = self._accept(failed, places)
            whole = (draw >= first_draw) & (draw < end_draw) & is_complete[draw]
            if self.rounds is not None and whole.any():
                some = np.flatnonzero(whole)
                kept = [values[some] for values in learner_losses]
                self.rounds.keep_rounds(kept, learning[some], draw[some])
            if self.rounds is not None and self.answer is not None and self.rounds.enough:
                self.source.execution.show(self.answer)
            first_draw = end_draw
            # One kept step at a time, because an interrupt leaves out the current step.
            if CLOCK() - clock_before < STEP_SECONDS:
                self._step *= 2 if CLOCK() - clock_before > STEP_SECONDS / 4 else 4
        return learner_losses, is_complete

    def _accept(self, failed: dict[int, list[FailedFit]], places: np.ndarray) -> bool:
        """Count a draw; whether no learner failed on it. Too many failures are raised."""
        errors = [error for row in places for error in failed.get(int(row), ())]
        self.n_pairs += 1
        if not errors:
            return True
        self.failures.extend(errors)
        self.n_failed += 1
        if self.n_pairs == 1:
            raise ValueError(str(errors[0])) from errors[0].reason
        if self.n_failed >= LEAST_FAILED and self.n_failed * MOST_SHARE > self.n_pairs:
            self.refuse("more than a tenth, and at least two")
        return False

    def check_enough(self) -> None:
        """Refuse to continue if failures have left too few pairs."""
        if self.n_failed and self.n_pairs - self.n_failed < LEAST_ROUNDS:
            self.refuse(f"and an answer needs {LEAST_ROUNDS} that do not")

    def refuse(self, reason: str) -> None:
        """Raise the first error, with the splits of all."""
        first = self.failures[0]
        listed = "; ".join(str(error) for error in self.failures[1:5])
        raise ValueError(
            f"{first} ({self.n_failed} of {self.n_pairs} pairs of learning sets so far failed, "
            f"{reason}{': ' + listed if listed else ''}): correct the learner, or leave out the "
            "data on which it fails"
        ) from first.reason

    @property
    def notes(self) -> list[str]:
        """The note on pairs that were left out, and on the effect on the estimand."""
        if not self.n_failed:
            return []
        lines = str(self.failures[0]).splitlines()
        were, who = "was" if self.n_failed == 1 else "were", "all" if self.several else "both"
        left_out = f"{self.n_failed} of {self.n_pairs} pairs of learning sets {were} left out"
        return [
            Note(
                f"{left_out} for {who} learners, because fits failed: {lines[0]}. The estimate is "
                "over learning sets on which no learner fails.",
                f"{left_out}, because fits failed.",
            )
        ]
