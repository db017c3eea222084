"""Results in words: direction, finding, verdict."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ucvtest.common.notes import Note
from ucvtest.data.groups import Groups
from ucvtest.results.fields import Posterior, check_alpha, method_interval, quiet_interval
from ucvtest.results.result import TestResult
from ucvtest.stats.wald import holding, within

SAME_LOSSES = (
    "degenerate: the two learners had the same loss at every observation in every fit, so there is "
    "no difference to test; compare learners that differ"
)
"""Status of a comparison of two learners that never differ."""


UNEVEN = 0.5
"""Degrees of freedom of equal clusters, as a share of those of the clusters, below which sizes are
very uneven: see studies/intervals/right_or_wrong.py."""


def same_everywhere(*, of_sets: bool, scores: bool, learnt: bool) -> str:
    """The same for given losses.

    Parameters
    ----------
    of_sets : bool
        Whether one number is known for each test set, and nothing of its observations.
    scores : bool
        Whether they are scores; higher is better.
    learnt : bool
        Whether anything was fitted.
    """
    if learnt and not of_sets and not scores:
        return SAME_LOSSES
    measure = "score" if scores else "mean loss" if of_sets else "loss"
    observation_unit = "in every test set" if of_sets else "at every observation"
    fits = " in every fit" if learnt and not of_sets else ""
    return (
        f"degenerate: the two learners had the same {measure} {observation_unit}{fits}, so there "
        "is no difference to test; compare learners that differ"
    )


def no_spread(where: str, remedy: str, *, paired: bool, scores: bool = False) -> str:
    """The status where nothing varies `where`: of two learners, the difference alone.

    Examples
    --------
    >>> from ucvtest.results.wording import no_spread
    >>> no_spread("in every fold", "use other folds", paired=True)
    'degenerate: the difference of the losses is the same in every fold, which leaves no variance \
to estimate; use other folds'
    """
    measure, several = ("score", "scores") if scores else ("loss", "losses")
    number = f"the difference of the {several}" if paired else f"the {measure}"
    return (
        f"degenerate: {number} is the same {where}, which leaves no variance to estimate; {remedy}"
    )


SAME_RANKING = (
    "degenerate: both rules rank all observations the same, so there is no difference to test; "
    "compare rules that differ"
)
"""The same of two fixed rules, of which only the ranking counts."""

LEVEL = 0.05
"""Of the interval that notes of results are about, and of tables."""

UNSEEN = 1e-9
"""Changes of a limit that nobody sees."""

LONGEST_NAME = 40
"""Characters of a learner's name that sentences and pictures still show."""


@dataclass(frozen=True)
class Direction:
    """Which learner is the better one on either side of zero."""

    below: str
    above: str


def direction(result: TestResult) -> Direction | None:
    """Who is better at a negative difference, and at a positive one; None for one learner."""
    if result.settings.get("other") is None:
        return None
    if result.better == "higher":
        return Direction("second", "first")
    return Direction("first", "second")


def verdict(result: TestResult, alpha: float = 0.05) -> str:
    """The answer in a sentence or two."""
    check_alpha(alpha)
    if result.posterior is not None:
        posterior_text = posterior_in_words(result, result.posterior)
        return f"{posterior_text}: {_estimate_clause(result, alpha)}.{_caution(result)}"
    if math.isnan(result.pvalue):
        clause, caution = _estimate_clause(result, alpha), _caution(result)
        if math.isnan(result.null_value):
            return f"{_capital(clause)}.{caution}"
        caution = caution or " The method gives no p-value."
        return f"The test could not be carried out: {clause}.{caution}"
    return f"{_finding(result, alpha)}: {_estimate_clause(result, alpha)}.{_caution(result)}"


def posterior_in_words(result: TestResult, posterior: Posterior) -> str:
    """Posterior probabilities, the largest first."""
    probabilities = (posterior.p_left, posterior.p_rope, posterior.p_right)
    claims_by_probability = zip(probabilities, _posterior_claims(result, posterior), strict=True)
    claims = [(probability, claim) for probability, claim in claims_by_probability if claim]
    claims.sort(key=lambda probability_and_claim: -probability_and_claim[0])
    subjects = [f"the {result.estimand}", "it", "it"]
    claim_texts = [
        f"{_probability(probability)} that {claim.format(it=subject)}"
        for (probability, claim), subject in zip(claims, subjects, strict=False)
    ]
    return f"Probability {', '.join(claim_texts[:-1])} and {claim_texts[-1]}"


def _posterior_claims(result: TestResult, posterior: Posterior) -> tuple[str, str, str]:
    """The claims about the left, the region of equivalence (if there is one) and the right."""
    rope, center = posterior.rope, posterior.rope_center
    better_sides = direction(result)
    if better_sides is None or center != 0:
        low, high = f"{center - rope:g}", f"{center + rope:g}"
        rope_claim = f"{{it}} lies between {low} and {high}" if rope else ""
        return f"{{it}} is below {low}", rope_claim, f"{{it}} is above {high}"
    left_claim, right_claim = (
        # Braces in the name of a learner are not placeholders.
        f"the {named(result, better_side)} is better".replace("{", "{{").replace("}", "}}")
        for better_side in (better_sides.below, better_sides.above)
    )
    if not rope:
        return left_claim, "", right_claim
    margin = f" by more than {rope:g}"
    return left_claim + margin, f"the two learners differ by at most {rope:g}", right_claim + margin


def _probability(value: float) -> str:
    if value < 0.005:
        return "below 0.01"
    return "above 0.99" if value > 0.995 else f"{value:.2f}"


def _finding(result: TestResult, alpha: float) -> str:
    level = f"at the {percent(alpha)} level"
    # At p = alpha exactly the test rejects, as critical values are defined by p <= alpha.
    rejected = result.pvalue <= alpha
    null = result.null_hypothesis
    claim = None if null else _claim(result, rejected=rejected)
    if claim is None:
        null_clause = f" that {null}" if null else ""
        evidence_text = "Evidence" if rejected else "No evidence"
        return f"{evidence_text} {level} against the null hypothesis{null_clause}"
    return f"{_capital(claim)} {level}" if rejected else f"No evidence {level} that {claim}"


def _claim(result: TestResult, *, rejected: bool) -> str | None:
    """What the alternative says; once it is accepted, with the side on which the estimate is."""
    null = result.null_value
    if math.isnan(null):
        return None
    better_sides = direction(result)
    below = is_below(result)
    undecided = result.alternative == "two-sided" and not rejected
    if better_sides is not None and null == result.same:
        if undecided:
            return f"{both_named(result)} differ"
        return f"the {named(result, better_sides.below if below else better_sides.above)} is better"
    relation = "differs from" if undecided else "is below" if below else "is above"
    return f"the {result.estimand} {relation} {null:g}"


def is_below(result: TestResult) -> bool:
    """Whether the alternative lies below the null value; a two-sided one goes by the estimate."""
    if result.alternative != "two-sided":
        return result.alternative == "less"
    return result.estimate < result.null_value


def both_named(result: TestResult) -> str:
    """Both learners, by names that tell them apart and are short enough for a sentence."""
    names = [_short_name(result, place) for place in ("learner", "other")]
    return " and ".join(names) if all(names) else "the two learners"


def named(result: TestResult, first_or_second: str) -> str:
    """The "first" or the "second" learner, with its name where this tells it from the other."""
    name = _short_name(result, "learner" if first_or_second == "first" else "other")
    return f"{first_or_second} learner ({name})" if name else f"{first_or_second} learner"


def _short_name(result: TestResult, place: str) -> str:
    """The name of a learner; "" where it does not tell it from the other, or is long."""
    name = result.settings.get(place)
    alike = result.settings.get("learner") == result.settings.get("other")
    return name if isinstance(name, str) and not alike and len(name) <= LONGEST_NAME else ""


def _estimate_clause(result: TestResult, alpha: float) -> str:
    if math.isnan(result.estimate):
        return f"the {result.estimand} could not be estimated"
    low, high = quiet_interval(result, alpha)
    as_text = _fixed_by(result, low, high)
    level, name = percent(1 - alpha), result.interval_name
    if math.isnan(low):
        interval = f"no {name}"
    elif result.alternative == "less":
        interval = f"one-sided {level} {name} up to {as_text(high)}"
    elif result.alternative == "greater":
        interval = f"one-sided {level} {name} from {as_text(low)} up"
    else:
        interval = f"{level} {name} {as_text(low)} to {as_text(high)}"
    brackets = [interval] if is_studentised(result) else []
    if not math.isnan(result.pvalue):
        brackets.append(f"p {pvalue_text(result.pvalue, alpha)}")
    if brackets and result.assumption:
        brackets.append(f"assuming {result.assumption}")
    added = f" ({', '.join(brackets)})" if brackets else ""
    return f"the {result.estimand} is {as_text(result.estimate)}{_in_percent(result)}{added}"


def _in_percent(result: TestResult) -> str:
    """What a ratio says of the first learner's loss."""
    if result.contrast != "ratio" or not 0 < result.estimate < math.inf:
        return ""
    change = 100 * abs(result.estimate - 1)
    digits = 0 if change >= 9.95 else 1
    if round(change, digits) == 0:
        return ", the same for both"
    relation = "less" if result.estimate < 1 else "more"
    return f", {change:.{digits}f}% {relation} for the first learner"


def is_studentised(result: TestResult) -> bool:
    """Whether the method is one with a standard error, even if it is missing here."""
    return result.reference in ("normal", "t", "none") or not math.isnan(result.se)


def _fixed_by(result: TestResult, low: float, high: float) -> Callable[[float], str]:
    """A formatter with enough decimals that rounding costs less than a tenth of the error."""
    se = result.se * result.estimate if result.contrast == "ratio" else result.se
    if not (math.isfinite(se) and 1e-6 < se < 1e6):
        return lambda value: f"{value:.3g}"
    decimals = max(0, math.ceil(-math.log10(se / 5)))
    finite_limits = [limit for limit in (low, high) if math.isfinite(limit)]
    null = result.null_value
    # An end close to the null value keeps the digits that tell on which side of it it lies.
    while decimals < 6 and any(round(limit, decimals) == null != limit for limit in finite_limits):
        decimals += 1
    return lambda value: f"{round(value, decimals) + 0.0:.{decimals}f}"


def _caution(result: TestResult) -> str:
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


def percent(proportion: float) -> str:
    """A share as a percentage, without needless digits."""
    return f"{100 * proportion:.10g}%"


def _capital(sentence: str) -> str:
    """The text as a sentence starts; the name of an argument keeps its small letter."""
    first, _, _ = sentence.partition(" ")
    return sentence if "_" in first else sentence[:1].upper() + sentence[1:]


def uneven_clusters(groups: Groups) -> Iterator[str]:
    """The note on clusters that differ much in size, for intervals of rows that count alike."""
    if groups.equal_sizes - 1 < UNEVEN * (groups.n_groups - 1):
        yield Note(
            f"Intervals can be too short: sizes differ so much that the {groups.n_groups} clusters "
            f"are worth {groups.equal_sizes:.2g} of equal size (Kish). In simulations of 10 to 80 "
            "such clusters, 95% intervals for a share of right answers contained the true value in "
            "78 to 93% of the samples.",
            "Intervals can be too short, because sizes of clusters differ much.",
        )


def limit_notes(result: TestResult, alpha: float) -> list[str]:
    """What became of the limits that the method gives at this level."""
    interval = method_interval(result, alpha)
    if math.isnan(interval[0]):
        return []
    held_interval = holding(interval, result.estimate, result.alternative, alpha)
    level, notes = f"{percent(1 - alpha)} {result.interval_name}", []
    ends = zip(interval, held_interval, strict=True)
    if any(math.isfinite(limit) and abs(limit - held) > UNSEEN for limit, held in ends):
        notes.append(
            f"The {level} of the method leaves out its own estimate, and was extended to it."
        )
    limit_rows = zip(
        ("lower", "upper"), ("smallest", "largest"), held_interval, result.bounds, strict=True
    )
    cut = within(held_interval, result.bounds)
    for (limit_name, extreme, held_end, bound), cut_end in zip(limit_rows, cut, strict=True):
        if math.isfinite(held_end) and abs(held_end - cut_end) > UNSEEN:
            notes.append(
                f"The {limit_name} limit of the {level} was cut at {bound:g}, the {extreme} "
                "possible value of the estimand."
            )
    possible_value, _ = within((result.estimate, 0.0), result.bounds)
    if abs(result.estimate - possible_value) > UNSEEN:
        notes.append(
            "The estimate itself lies outside of what the estimand can be, as one that was "
            "corrected for bias may."
        )
    return notes
