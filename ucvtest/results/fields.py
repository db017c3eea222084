"""Parts of a result: what its fields can be, and its interval."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ucvtest.common.checks import Level, declared
from ucvtest.stats.wald import holding, wald_interval, within

if TYPE_CHECKING:
    from ucvtest.results.result import TestResult

Better = Literal["lower", "higher"]

Contrast = Literal["difference", "ratio"]
CONTRASTS: tuple[Contrast, ...] = ("difference", "ratio")


class ConfidenceInterval(NamedTuple):
    """A confidence interval in SciPy's form."""

    low: float
    high: float


@dataclass(frozen=True)
class Posterior:
    """Posterior probabilities of an estimand, which a Bayesian test gives instead of a p-value.

    Of values below, in and above the region of practical equivalence, whose half width `rope` is 0
    if there is none.
    """

    p_left: float
    p_rope: float
    p_right: float
    rope: float
    rope_center: float

    @property
    def table(self) -> dict[str, tuple[Any, ...]]:
        """The three regions with their probabilities, as a table of a result."""
        low, high = self.rope_center - self.rope, self.rope_center + self.rope
        return {
            "region": (f"below {low:g}", f"{low:g} to {high:g}", f"above {high:g}"),
            "probability": (self.p_left, self.p_rope, self.p_right),
        }


def quiet_interval(result: "TestResult", alpha: float) -> tuple[float, float]:
    """The interval of `conf_int` without its warning, for output that shows the status next to it.

    Whatever the method gives, it contains the estimate and lies within the possible values.
    """
    interval = method_interval(result, alpha)
    return within(holding(interval, result.estimate, result.alternative, alpha), result.bounds)


def method_interval(result: Any, alpha: float) -> tuple[float, float]:
    """The interval that the method gives, of a result or of what becomes one."""
    check_alpha(alpha)
    if result.rule is not None:
        return result.rule.interval(result.alternative, alpha)
    return wald_interval(
        result.estimate, result.se, result.reference, result.df, result.alternative, alpha
    )


def check_alpha(alpha: float) -> None:
    """Refuse levels outside of (0, 1)."""
    declared("alpha", alpha, Level, 0.05)
