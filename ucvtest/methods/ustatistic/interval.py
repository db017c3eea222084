"""Which interval a result has: the one that is asked for, or that suits the loss."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

from ucvtest.common.checks import check_choice
from ucvtest.inference.studentise import Studentised, by_rule, on_logit_scale
from ucvtest.losses.loss import Loss
from ucvtest.stats.intervals import HallT, PlusFour, Shape
from ucvtest.stats.rules import StudentRule

__all__ = ["Interval", "IntervalName", "never_negative"]

IntervalName = Literal["auto", "wald", "plus_four", "hall", "hall_floor", "logit"]
NAMES: tuple[str, ...] = get_args(IntervalName)

LEAST_SKEWNESS = 6.0
"""What the upper limit of "hall_floor" takes the skewness for at least; found by simulation of
squared losses with tails, from which a sample of 40 has often drawn nothing."""

POSITIVE = ("squared", "absolute", "log")
"""Losses by name that are never below 0, and have no largest value."""

BY_PAPER = ("unbiased", "asymptotic")
"""Variances that go with the normal distribution in the paper."""

WORDS = {
    "wald": "the estimate plus and minus its standard error times a quantile",
    "plus_four": "two errors and two correct predictions added (Agresti and Coull 1998)",
    "hall": "the skewness of the losses taken out by Hall's (1992) transformation",
    "hall_floor": (
        "Hall's (1992) transformation, whose upper limit takes the skewness for at least "
        f"{LEAST_SKEWNESS:g}"
    ),
    "logit": "Student's t on the logit scale",
    "log": "Student's t on the log scale",
}


@dataclass(frozen=True)
class Interval:
    """The rule by name, `asked` by the user, why it was chosen, and what the estimand can be.

    `loss` is None for the AUC.
    """

    asked: str
    name: str
    reason: str
    loss: Loss | None
    paired: bool

    @classmethod
    def of(cls, asked: Any, loss: Loss | None, *, paired: bool, variance: Any) -> Self:
        """The rule that is asked for, if it can be had, or that "auto" stands for."""
        check_choice("interval", asked, NAMES)
        if asked != "auto":
            _check(asked, loss, paired=paired)
            return cls(asked, asked, "it was asked for", loss, paired)
        return cls(asked, *_suited(loss, variance, paired=paired), loss, paired)

    @classmethod
    def of_ratio(cls, asked: Any, loss: Loss, *, variance: Any) -> Self:
        """The rule for ratios, which has no other beside it."""
        check_choice("interval", asked, NAMES)
        if asked != "auto":
            raise ValueError(
                f"interval={asked!r} is not for ratios, whose interval is on the log scale: leave "
                "it out"
            )
        if not isinstance(variance, str) or variance not in ("auto", "jackknife"):
            raise ValueError(
                f"variance={variance!r:.60} is not for ratios, which have 'jackknife': leave it out"
            )
        return cls(asked, "log", "it is the one for ratios", loss, paired=True)

    def check_null(self, null_value: float) -> None:
        """Refuse a null value that the estimand cannot have, where the rule knows what it can."""
        low, high = self.range
        if self.name != "wald" and (null_value < low or null_value > high):
            raise ValueError(
                f"null_value={null_value:g} is no value that the estimand can have, which lies "
                f"between {low:g} and {high:g}: change it, or use interval='wald'"
            )

    @property
    def range(self) -> tuple[float, float]:
        """What the estimand can be."""
        if self.loss is None:
            return 0.0, 1.0
        low, high = self.loss.bounds or (-math.inf, math.inf)
        if self.loss.bounds is None and self.loss.name in POSITIVE:
            low = 0.0
        return (low - high, high - low) if self.paired else (low, high)

    def variance(self, asked: Any) -> Any:
        """The variance to be estimated: the jackknife for skewness, with which it was tried."""
        with_jackknife = self.name in ("hall", "hall_floor", "log")
        return "jackknife" if asked == "auto" and with_jackknife else asked

    @property
    def answers_without_spread(self) -> bool:
        """Whether there is an interval where no loss differs from another."""
        return self.name == "plus_four"

    def applied(self, one: Studentised, shape: Shape | None, name: str) -> Studentised:
        """The test with a variance, by this rule; as it is where there is no answer.

        The paper's variances keep the paper's normal interval, unless the rule was asked for.
        """
        if one.status != "ok" or (self.asked == "auto" and name in BY_PAPER):
            return one
        if self.name == "logit":
            return on_logit_scale(one)
        if self.name == "wald" or shape is None:
            return one
        return by_rule(one, _RULES[self.name](self, one, shape))

    def diagnostics(self, shape: Shape | None) -> dict[str, Any]:
        """The rule, and the moments that go into it or warn of it."""
        found: dict[str, Any] = {"interval": self.name}
        if shape is not None:
            found |= {"skewness": shape.skewness, "df_kurtosis": shape.df}
        return found

    def notes(self, shape: Shape | None, one: Studentised, n_one_class: int = 0) -> list[str]:
        """What the rule is and why it was chosen; what cannot be told from this sample."""
        if one.status != "ok":
            return []
        listed = []
        if self.asked != "auto" or not self.paired:
            listed.append(f"Interval {self.name!r}: {WORDS[self.name]}; {self.reason}.")
        if self.name == "hall_floor":
            listed.append(
                "The upper limit allows for a tail from which this sample may have drawn nothing; "
                "interval='hall' trusts the skewness of this sample, and covers less with such "
                "a tail."
            )
        if self.name == "plus_four" and one.variance == 0:
            listed.append(
                "No loss varied, and the variance estimate is zero: the interval stems from the "
                "four observations that are added."
            )
        if self.name == "hall" and n_one_class:
            listed.append(
                "Coverage is not ensured where learning sets have a single class: what these cost "
                "is rare and large."
            )
        # "plus_four" allows for few errors, and nothing else is rare where losses are 0 and 1.
        if shape is not None and shape.flagged and self.loss and self.loss.name != "zero_one":
            listed.append(
                "A few observations carry most of the variance (skewness "
                f"{shape.skewness:.2g}; by the kurtosis {shape.df:.2g} degrees of freedom), so "
                "that it is poorly known. A sample without this note is not safe for that: where a "
                "tail was not drawn, nothing shows it."
            )
            if self.paired and self.name != "log" and never_negative(self.loss):
                listed.append(
                    "Differences of losses with tails are covered too seldom: 95% intervals "
                    "covered 88% in simulations, and 95% where the same expected losses were "
                    "compared by their ratio (contrast='ratio')."
                )
        return listed


def never_negative(loss: Loss) -> bool:
    """Whether a loss is known to be zero or more."""
    return loss.name in POSITIVE or (loss.bounds is not None and loss.bounds[0] >= 0)


def _suited(loss: Loss | None, variance: Any, *, paired: bool) -> tuple[str, str]:
    """The rule for a loss, and why."""
    if paired:
        return "wald", "it is the one for differences"
    if loss is None:
        return "logit", "an AUC lies between 0 and 1"
    if variance in BY_PAPER:
        return "wald", f"the {variance} variance goes with the paper's normal interval"
    if loss.name == "zero_one":
        return "plus_four", "an error rate of one learner is a share"
    if loss.bounds is not None or loss.output in ("label", "probability"):
        return "hall", f"{loss.name} losses of one learner are skewed"
    return "hall_floor", f"{loss.name} losses of one learner are skewed, without a largest value"


def _check(name: str, loss: Loss | None, *, paired: bool) -> None:
    """Refuse a rule that is none for this loss or number of learners."""
    about = "auc" if loss is None else loss.name
    whom = "two learners" if paired else "one learner"
    needed = {
        "plus_four": ("the error rate of one learner (loss 'zero_one')", about == "zero_one"),
        "logit": ("the AUC of one learner", loss is None),
        "hall_floor": ("a mean loss of one learner", loss is not None),
        "hall": ("a mean loss", loss is not None),
    }
    what, fits = needed.get(name, ("", True))
    if not fits or (paired and name not in ("wald", "hall")):
        raise ValueError(
            f"interval={name!r} is for {what}, but this is about loss {about!r} of {whom}: use "
            "interval='auto'"
        )


def _plus_four(rule: Interval, one: Studentised, shape: Shape) -> PlusFour:
    return PlusFour(one.estimate, one.se**2, shape.n_obs, one.null_value)


def _hall(rule: Interval, one: Studentised, shape: Shape) -> HallT:
    low, high = rule.range
    return HallT(
        estimate=one.estimate,
        se=one.se,
        df=shape.df,
        n_obs=shape.n_obs,
        skewness=shape.skewness,
        least_above=LEAST_SKEWNESS if rule.name == "hall_floor" else -math.inf,
        least=low,
        most=high,
        null_value=one.null_value,
    )


_RULES: Mapping[str, Callable[[Interval, Studentised, Shape], StudentRule]] = {
    "plus_four": _plus_four,
    "hall": _hall,
    "hall_floor": _hall,
}
"""Rules for means of losses: one more is one more entry here, in `IntervalName` and in `WORDS`."""
