"""Words in results of the test on one held-out set: estimand, status and notes."""

from collections.abc import Callable

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.common.words import arg, call
from ucvtest.data.weights import EQUAL, few_by_weight
from ucvtest.designs.design import Design
from ucvtest.inference.status import MORE_OBSERVATIONS, without_spread
from ucvtest.losses.from_predictions import SCORE
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.fixed_rules import THESE_RULES, of_these_rules
from ucvtest.stats.exact import BinomialCounts, PairedCounts
from ucvtest.stats.interval_rules import Rule
from ucvtest.stats.intervals import MovedT, PlusFour
from ucvtest.stats.shares import WilsonScore

FEW = 10
"""With fewer errors, or fewer observations on which learners disagree, t is a rough guide."""


def estimand_of(observed: LossDifference, size_of: Callable[[Design], int | str]) -> str:
    """The estimand, with the size of the learning set if there is one."""
    if not observed.design.learns:
        return of_these_rules(observed)
    loss_in_words, size = observed.losses.in_words, size_of(observed.design)
    if observed.paired:
        rules = f"the two rules fitted to this learning set of {size}"
        return f"difference in {loss_in_words} of {rules}"
    return f"{loss_in_words} of the rule fitted to this learning set of {size}"


def left_open(n_open: int, interval: str) -> str:
    """The status if predictions are neither right nor wrong, and an exact test is requested."""
    return (
        f"{n_open} predictions were undecided between two classes (loss 1/2), which is neither "
        f"right nor wrong: use a rule that decides ties, or leave {arg('interval', interval)} out"
    )


def degenerate(observed: LossDifference) -> str:
    """The status if all losses are the same; "ok" otherwise."""
    values = observed.values
    if observed.identical or np.ptp(values) > 0:
        return "ok"
    marked = values[0] in (0, 1) and observed.losses.loss == SCORE
    remedy = (
        f"if 1 is right and 0 is wrong, make the losses by {call('Losses.from_correct')}, whose "
        "interval is exact"
        if marked and not observed.paired
        else MORE_OBSERVATIONS
    )
    return without_spread(observed, remedy=remedy)


def counts_of_errors(observed: LossDifference) -> dict[str, int]:
    """The number of errors, or of observations on which two rules differ."""
    name = "n_disagreements" if observed.paired else "n_errors"
    return {name: int(np.count_nonzero(observed.values))}


def notes_on_rules(observed: LossDifference) -> tuple[str, ...]:
    """The note on what the answer is about."""
    if not observed.design.learns:
        return (THESE_RULES,)
    whom = "these two rules" if observed.paired else "this rule"
    return (
        f"Conditional: a statement about {whom}, on one split of the sample, not about rules from "
        "another learning set.",
    )


def notes_on_rows(observed: LossDifference, rule: Rule | None, *, binary: bool) -> tuple[str, ...]:
    """The notes on what the answer is about, and how it was computed."""
    notes = notes_on_rules(observed)
    if isinstance(rule, BinomialCounts):
        return (*notes, "p-value and interval are the exact binomial ones (Clopper and Pearson).")
    if isinstance(rule, WilsonScore):
        return (*notes, "p-value and interval are from the score test (Wilson).")
    if isinstance(rule, PairedCounts):
        return (
            *notes,
            "The two rules are right and wrong on the same observations: p-value and interval are "
            "from McNemar's exact test.",
        )
    if isinstance(rule, (PlusFour, MovedT)):
        added = (
            "four observations, two of them errors (Agresti and Coull 1998)"
            if isinstance(rule, PlusFour)
            else "one right and one wrong observation (Agresti and Min 2005)"
        )
        return (
            *notes,
            f"The interval adds {added} to the effective number of observations, and Student's t "
            "has one degree of freedom less than this number.",
        )
    settings = observed.losses.settings
    if not settings.get(EQUAL, True) and few_by_weight(settings) == "ok":
        notes = (*notes, "The degrees of freedom are those that the weights leave (Satterthwaite).")
    counts = counts_of_errors(observed) if binary else {}
    n_tested = len(observed.values)
    if "n_disagreements" in counts and counts["n_disagreements"] < FEW:
        return (
            *notes,
            Note(
                f"Of {n_tested} test observations one rule alone is right about "
                f"{counts['n_disagreements']}: too few for the t test to be more than a rough "
                "guide; McNemar's test is exact.",
                f"The rules differ on {counts['n_disagreements']} observations, too few for a t "
                "test.",
            ),
        )
    return notes
