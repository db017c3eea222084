"""A budget of error that is staked on questions, and what their answers leave of it.

A question is asked at the level stake * budget. A pass leaves the stake as the budget, any other
answer leaves the rest. P(ever a pass where H0 is true) is at most the first budget, in whatever way
questions and stakes are chosen from earlier answers.

Proof. What does not depend on the tested rows is fixed, so questions are nodes of a binary tree of
answers, and the rows decide the path. Let e(v) be the probability that the path reaches node v
without a false pass so far, and that one occurs at v or later. Then e(v) <= budget(v), by induction
from the last questions. If H0 is true at v, a false pass there has at most the probability
stake * budget, and what follows another answer at most (1 - stake) * budget. If H0 is false at v, a
pass there is no false one, and both children have at most their budgets, which have the same sum.
"""

import math
from collections.abc import Iterable

LEAST_LEVEL = 1e-12
"""Melded p-values are computed to 1e-14, and were compared with enumerations down to 1e-10."""


def budget_left(alpha: float, answers: Iterable[tuple[bool, float]]) -> float:
    """What answers, whether it is a pass and its stake, leave of the budget."""
    for passed, stake in answers:
        alpha *= stake if passed else 1 - stake
    return alpha


def planned_level(alpha: float, asks: int, promotions: int) -> tuple[float, int]:
    """The level of the last of these asks, and the number of asks from one promotion to the next.

    Of k asks left until the next promotion, each is staked 1/k of the budget, so that their levels
    are equal.
    """
    between = math.ceil(asks / (promotions + 1))
    return alpha / float(between) ** (promotions + 1), between
