"""Where only one of two rules errs: McNemar's exact test."""

from typing import NamedTuple

import numpy as np

from ucvtest.stats.exact import PairedCounts
from ucvtest.stats.wald import Alternative


class Discordance(NamedTuple):
    """How often two rules are right and wrong on the same observations."""

    both_right: int
    only_first_wrong: int
    only_second_wrong: int
    both_wrong: int

    @property
    def n_telling(self) -> int:
        """Observations where one rule errs and the other does not."""
        return self.only_first_wrong + self.only_second_wrong

    def pvalue(self, alternative: Alternative) -> float:
        """The exact p-value: under H0 either rule is as likely to be the one that errs."""
        return self.counts.pvalue(0, alternative)

    @property
    def counts(self) -> PairedCounts:
        """What p-value and interval come from."""
        return PairedCounts(self.only_first_wrong, self.only_second_wrong, sum(self))

    @property
    def diagnostics(self) -> dict[str, int]:
        """The counts in which the rules differ."""
        return {
            "only_first_wrong": self.only_first_wrong,
            "only_second_wrong": self.only_second_wrong,
        }

    @property
    def table(self) -> dict[str, tuple[str, str] | tuple[int, int]]:
        """The four counts as a table of a result, column by column."""
        return {
            "": ("first right", "first wrong"),
            "second right": (self.both_right, self.only_first_wrong),
            "second wrong": (self.only_second_wrong, self.both_wrong),
        }

    def note(self, *, exact: bool, counts_right: bool = False) -> str:
        """Where the p-value and the interval come from; `exact` if observations are independent.

        `counts_right` is whether the statistic counts right answers, as for accuracies.
        """
        kind = "exact" if exact else "binomial"
        first_text = "the first is right" if counts_right else "it is the first"
        return (
            f"The p-value is the {kind} one of the {self.n_telling} observations where one rule "
            "errs and the other does not; the statistic is the number of those where "
            f"{first_text}. The interval (Fay and Lumbard 2021) agrees with the p-value."
        )


def discordance(first: np.ndarray, second: np.ndarray) -> Discordance:
    """Count where two rules are right and wrong; 1 where a rule errs."""
    first_errs, second_errs = np.asarray(first, dtype=bool), np.asarray(second, dtype=bool)
    cells = (
        ~first_errs & ~second_errs,
        first_errs & ~second_errs,
        ~first_errs & second_errs,
        first_errs & second_errs,
    )
    return Discordance(*(int(cell.sum()) for cell in cells))
