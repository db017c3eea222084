"""Results in words: direction, finding, verdict."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from ucvtest.results.fields import Posterior, ResultFields, check_alpha, quiet_interval

__all__ = [
    "SAME_LOSSES",
    "SAME_RANKING",
    "direction",
    "is_below",
    "is_studentised",
    "named",
    "percent",
    "posterior_in_words",
    "pvalue_text",
    "same_everywhere",
    "verdict",
]


SAME_LOSSES = (
    "degenerate: the two learners had the same loss at every observation in every fit, so there is "
    "no difference to test; compare learners that differ"
)
"""Status of a comparison of two learners that never differ."""


def same_everywhere(*, of_sets: bool, scores: bool, learnt: bool) -> str:
    """The same of losses that are given, by what is known of them.

    Parameters
    ----------
    of_sets : bool
        Whether one number is known for each test set, and nothing of its observations.
    scores : bool
        Whether they are scores, of which higher ones are better.
    learnt : bool
        Whether anything was fitted.
    """
    if learnt and not of_sets and not scores:
        return SAME_LOSSES
    what = "score" if scores else "mean loss" if of_sets else "loss"
    where = "in every test set" if of_sets else "at every observation"
    fits = " in every fit" if learnt and not of_sets else ""
    return (
        f"degenerate: the two learners had the same {what} {where}{fits}, so there is no "
        "difference to test; compare learners that differ"
    )


SAME_RANKING = (
    "degenerate: both rules rank all observations the same, so there is no difference to test; "
    "compare rules that differ"
)
"""The same of two fixed rules, of which only the ranking counts."""

LONGEST_NAME = 40
"""Characters of a learner's name that sentences and pictures still show."""


@dataclass(frozen=True)
class Direction:
    """Which learner is the better one on either side of zero."""

    below: str
    above: str


def direction(result: ResultFields) -> Direction | None:
    """Who is better at a negative difference, and at a positive one; None for one learner."""
    if result.settings.get("other") is None:
        return None
    if result.better == "higher":
        return Direction("second", "first")
    return Direction("first", "second")


def verdict(result: ResultFields, alpha: float = 0.05) -> str:
    """The answer in a sentence or two."""
    check_alpha(alpha)
    if result.posterior is not None:
        found = posterior_in_words(result, result.posterior)
        return f"{found}: {_estimate_clause(result, alpha)}.{_caution(result)}"
    if math.isnan(result.pvalue):
        return _without_test(result, alpha)
    return f"{_finding(result, alpha)}: {_estimate_clause(result, alpha)}.{_caution(result)}"


def _without_test(result: ResultFields, alpha: float) -> str:
    clause = _estimate_clause(result, alpha)
    if math.isnan(result.null_value):
        return f"{_capital(clause)}.{_caution(result)}"
    reason = _caution(result) or " The method gives no p-value."
    return f"The test could not be carried out: {clause}.{reason}"


def posterior_in_words(result: ResultFields, posterior: Posterior) -> str:
    """Posterior probabilities, the largest first."""
    probabilities = (posterior.p_left, posterior.p_rope, posterior.p_right)
    named = zip(probabilities, _posterior_claims(result, posterior), strict=True)
    claims = [(probability, claim) for probability, claim in named if claim]
    claims.sort(key=lambda item: -item[0])
    subjects = [f"the {result.estimand}", "it", "it"]
    parts = [
        f"{_probability(probability)} that {claim.format(it=subject)}"
        for (probability, claim), subject in zip(claims, subjects, strict=False)
    ]
    return f"Probability {', '.join(parts[:-1])} and {parts[-1]}"


def _posterior_claims(result: ResultFields, posterior: Posterior) -> tuple[str, str, str]:
    """What is claimed of the left, of the region of equivalence (if there is one), of the right."""
    rope, center = posterior.rope, posterior.rope_center
    sides = direction(result)
    if sides is None or center != 0:
        low, high = f"{center - rope:g}", f"{center + rope:g}"
        within = f"{{it}} lies between {low} and {high}" if rope else ""
        return f"{{it}} is below {low}", within, f"{{it}} is above {high}"
    left, right = (
        # Braces in the name of a learner are no placeholders.
        f"the {named(result, side)} is better".replace("{", "{{").replace("}", "}}")
        for side in (sides.below, sides.above)
    )
    if not rope:
        return left, "", right
    margin = f" by more than {rope:g}"
    return left + margin, f"the two learners differ by at most {rope:g}", right + margin


def _probability(value: float) -> str:
    if value < 0.005:
        return "below 0.01"
    return "above 0.99" if value > 0.995 else f"{value:.2f}"


def _finding(result: ResultFields, alpha: float) -> str:
    level = f"at the {percent(alpha)} level"
    # At p = alpha exactly the test rejects, as critical values are defined by p <= alpha.
    rejected = result.pvalue <= alpha
    null = result.null_hypothesis
    claim = None if null else _claim(result, rejected=rejected)
    if claim is None:
        named = f" that {null}" if null else ""
        found = "Evidence" if rejected else "No evidence"
        return f"{found} {level} against the null hypothesis{named}"
    return f"{_capital(claim)} {level}" if rejected else f"No evidence {level} that {claim}"


def _claim(result: ResultFields, *, rejected: bool) -> str | None:
    """What the alternative says; once it is accepted, with the side on which the estimate is."""
    null = result.null_value
    if math.isnan(null):
        return None
    sides = direction(result)
    below = is_below(result)
    undecided = result.alternative == "two-sided" and not rejected
    if sides is not None and null == result.same:
        if undecided:
            return "the two learners differ"
        return f"the {named(result, sides.below if below else sides.above)} is better"
    relation = "differs from" if undecided else "is below" if below else "is above"
    return f"the {result.estimand} {relation} {null:g}"


def is_below(result: ResultFields) -> bool:
    """Whether the alternative lies below the null value; a two-sided one goes by the estimate.

    Where that is 0/0, and the test has observations added, the statistic decides.
    """
    if result.alternative != "two-sided":
        return result.alternative == "less"
    if math.isnan(result.estimate):
        return result.statistic < 0
    return result.estimate < result.null_value


def named(result: ResultFields, which: str) -> str:
    """The "first" or the "second" learner, with its name where this tells it from the other."""
    names = {"first": result.settings.get("learner"), "second": result.settings.get("other")}
    name = names[which]
    if len(set(names.values())) < 2 or not isinstance(name, str) or len(name) > LONGEST_NAME:
        return f"{which} learner"
    return f"{which} learner ({name})"


def _estimate_clause(result: ResultFields, alpha: float) -> str:
    low, high = quiet_interval(result, alpha)
    if math.isnan(result.estimate):
        text = _fixed_by(result, low, high)
        interval = "" if math.isnan(low) else _interval_words(result, (low, high), alpha, text)
        pvalue = "" if math.isnan(result.pvalue) else f"p {pvalue_text(result.pvalue, alpha)}"
        added = ", ".join(filter(None, (interval, pvalue)))
        return f"the {result.estimand} could not be estimated{f' ({added})' if added else ''}"
    text = _fixed_by(result, low, high)
    ends = (low, high)
    brackets = [_interval_words(result, ends, alpha, text)] if is_studentised(result) else []
    if not math.isnan(result.pvalue):
        brackets.append(f"p {pvalue_text(result.pvalue, alpha)}")
    if brackets and result.assumption:
        brackets.append(f"assuming {result.assumption}")
    added = f" ({', '.join(brackets)})" if brackets else ""
    return f"the {result.estimand} is {text(result.estimate)}{_in_percent(result)}{added}"


def _in_percent(result: ResultFields) -> str:
    """What a ratio says of the first learner's loss."""
    if result.contrast != "ratio" or not 0 < result.estimate < math.inf:
        return ""
    change = 100 * abs(result.estimate - 1)
    digits = 0 if change >= 9.95 else 1
    if round(change, digits) == 0:
        return ", the same for both"
    relation = "less" if result.estimate < 1 else "more"
    return f", {change:.{digits}f}% {relation} for the first learner"


def is_studentised(result: ResultFields) -> bool:
    """Whether the method is one with a standard error, even if it has none here."""
    return result.reference in ("normal", "t", "none") or not math.isnan(result.se)


def _interval_words(
    result: ResultFields, ends: tuple[float, float], alpha: float, text: Callable[[float], str]
) -> str:
    (low, high), name = ends, result.interval_name
    level = percent(1 - alpha)
    if math.isnan(low):
        return f"no {name}"
    if result.alternative == "less":
        return f"one-sided {level} {name} up to {text(high)}"
    if result.alternative == "greater":
        return f"one-sided {level} {name} from {text(low)} up"
    return f"{level} {name} {text(low)} to {text(high)}"


def _fixed_by(result: ResultFields, low: float, high: float) -> Callable[[float], str]:
    """A formatter with so many decimals that rounding costs less than a tenth of the error."""
    se = result.se * result.estimate if result.contrast == "ratio" else result.se
    if not (math.isfinite(se) and 1e-6 < se < 1e6):
        return lambda value: f"{value:.3g}"
    decimals = max(0, math.ceil(-math.log10(se / 5)))
    ends = [end for end in (low, high) if math.isfinite(end)]
    null = result.null_value
    # An end close to the null value keeps the digits that tell on which side of it it lies.
    while decimals < 6 and any(round(end, decimals) == null != end for end in ends):
        decimals += 1
    return lambda value: f"{round(value, decimals) + 0.0:.{decimals}f}"


def _caution(result: ResultFields) -> str:
    if result.status == "ok":
        return ""
    return f" {_capital(result.status.rstrip('.'))}."


def pvalue_text(pvalue: float, alpha: float = 0.05) -> str:
    """A p-value with its sign, as medical journals print it: "= 0.19", "= 0.004", "< 0.001".

    Rounding keeps it apart from `alpha`: 0.0499 is "= 0.0499".
    """
    if pvalue < 0.001:
        return "< 0.001"
    decimals = 3 if pvalue < 0.01 else 2
    while decimals < 6 and round(pvalue, decimals) == alpha != pvalue:
        decimals += 1
    return f"= {pvalue:.{decimals}f}"


def percent(share: float) -> str:
    """A share as a percentage, without needless digits."""
    return f"{100 * share:.10g}%"


def _capital(text: str) -> str:
    """The text as a sentence starts; the name of an argument keeps its small letter."""
    first, _, _ = text.partition(" ")
    return text if "_" in first else text[:1].upper() + text[1:]
