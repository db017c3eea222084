"""Whether greater values are better: known by the exact names of metrics, and asked for others."""

import importlib
from collections.abc import Mapping
from functools import cache
from typing import Any

from ucvtest.common.checks import check_switch
from ucvtest.common.words import arg, excerpt
from ucvtest.metrics.means import SCORES_OF_LOSSES
from ucvtest.metrics.named import named_smooth_metric
from ucvtest.metrics.recorded import known_metric
from ucvtest.metrics.unknown_names import LOSS_ALIASES


def known_direction(name: str) -> bool | None:
    """Whether greater is better of a metric of ucvtest or scikit-learn; None for other names."""
    metric = known_metric(name)
    if metric is not None:
        return metric.greater_is_better
    directions = _directions()
    if name in directions:
        return directions[name]
    smooth = named_smooth_metric(name)
    return None if smooth is None else smooth.greater_is_better


@cache
def _directions() -> Mapping[str, bool]:
    """By the names of scikit-learn's scorers, with which greater is better, and of their losses."""
    import ucvtest.common.quiet_imports  # noqa: F401  (see there)

    scorers = importlib.import_module("sklearn.metrics").get_scorer_names()
    negated = {scorer.removeprefix("neg_") for scorer in scorers if scorer.startswith("neg_")}
    return {
        **dict.fromkeys(LOSS_ALIASES, False),
        **{f"{scorer}_score": True for scorer in scorers},
        **dict.fromkeys(scorers, True),
        # An old name of a negated scorer is that of its loss.
        **dict.fromkeys(negated, False),
    }


def names_a_score(name: str) -> bool:
    """Whether a name is that of a score of ucvtest or scikit-learn, other than a metric's own."""
    return known_metric(name) is None and known_direction(name) is True


def direction_of(name: str, greater_is_better: Any = None) -> bool:
    """Whether greater values of a loss of observations are better, by its name or the caller.

    Raises
    ------
    ValueError
        If name and `greater_is_better` contradict each other, or if the name is unknown or that of
        a score, and `greater_is_better` is missing.
    """
    if greater_is_better is not None:
        check_switch("greater_is_better", greater_is_better)
    if name == "roc_auc":
        raise ValueError(
            f"{arg('loss', 'roc_auc')} has no value for one observation: pass decision scores with "
            f"{arg('loss', 'auc')} and y"
        )
    if greater_is_better is None and names_a_score(name):
        raise ValueError(
            f"{arg('loss', name)} is the name of a score, but losses should be small: pass "
            f"{arg('greater_is_better', True)}, or {excerpt(False)} if smaller values are better"
        )
    return _decided("loss", name, greater_is_better)


def direction_of_scores(name: Any, greater_is_better: bool | None = None) -> bool:
    """The same for scores of test sets.

    Raises
    ------
    ValueError
        If the name is not a name, is unknown and `greater_is_better` is missing, or contradicts it.
    """
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"score must be the name of the score, got {excerpt(name)}")
    return _decided("score", name, greater_is_better)


def _decided(argument: str, name: str, greater_is_better: bool | None) -> bool:
    says = known_direction(name)
    if greater_is_better is None:
        if says is None:
            raise ValueError(
                f"{arg(argument, name)} does not tell whether higher is better: pass "
                f"{arg('greater_is_better', True)}, or {excerpt(False)} for errors and losses"
            )
        return says
    fixed = known_metric(name) is not None or name in SCORES_OF_LOSSES
    if fixed and says != greater_is_better:
        raise ValueError(
            f"{arg('greater_is_better', greater_is_better)} contradicts {arg(argument, name)}, "
            f"whose {'greater' if says else 'smaller'} values are better: leave it out, or rename "
            "the values"
        )
    return bool(greater_is_better)
