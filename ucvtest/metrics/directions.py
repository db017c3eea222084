"""Whether greater values are better, as far as a name decides it."""

import re
from typing import Any

from ucvtest.common.checks import check_switch
from ucvtest.metrics.loss_scores import SCORES_OF_LOSSES
from ucvtest.metrics.recorded import known_metric

OF_LOSSES = frozenset(
    [
        *("loss", "losses", "error", "errors", "deviance", "cost", "costs"),
        *("mse", "mae", "rmse", "brier", "risk"),
    ]
)
"""Words for quantities that should be small."""

OF_SCORES = frozenset(
    [
        *("score", "scores", "accuracy", "acc", "top1", "top5", "hits", "precision", "recall"),
        *("f1", "f2", "fbeta", "jaccard", "iou", "dice", "kappa", "mcc", "matthews", "youden"),
        *("sensitivity", "specificity", "ppv", "npv", "tpr", "tnr", "informedness", "gmean"),
        *("auc", "auroc", "aucpr", "auprc", "prauc", "roc", "concordance", "cindex", "ndcg", "dcg"),
        *("r2", "rsq", "rsquared", "explained", "corr", "corrcoef", "correlation", "similarity"),
        *("likelihood", "loglik", "elpd", "gain", "profit", "utility", "reward"),
        *("bleu", "rouge", "meteor", "gini", "map", "lift", "skill", "hit", "correct", "wins"),
        *("index", "pearson", "spearman", "kendall", "ccc", "agreement"),
    ]
)
"""Words for quantities that should be large."""


def names_a_score(name: str) -> bool:
    """Whether a name means a score, such as scikit-learn's, so that greater is better."""
    name_parts = [name_part for name_part in re.split(r"[^a-z0-9]+", name.lower()) if name_part]
    if not name_parts or known_metric(name) is not None:
        return False
    if name_parts[0] in ("neg", "negative", "d2"):
        return True
    return not OF_LOSSES.intersection(name_parts) and bool(OF_SCORES.intersection(name_parts))


def direction_of(name: str, greater_is_better: Any = None) -> bool:
    """Whether greater values are better, decided by the name or by the caller.

    Raises
    ------
    ValueError
        If name and `greater_is_better` contradict each other, or if the name means a score and
        `greater_is_better` is missing.
    """
    if greater_is_better is not None:
        check_switch("greater_is_better", greater_is_better)
    metric_of_name = known_metric(name)
    fixed = metric_of_name.greater_is_better if metric_of_name is not None else None
    if name in SCORES_OF_LOSSES and greater_is_better is not None:
        fixed = True
    if fixed is not None and greater_is_better not in (None, fixed):
        raise ValueError(
            f"greater_is_better={greater_is_better} contradicts loss={name!r}, whose "
            f"{'greater' if fixed else 'smaller'} values are better: leave it out, or rename the "
            "values"
        )
    if name == "roc_auc":
        raise ValueError(
            "loss='roc_auc' has no value for one observation: pass decision scores with loss='auc' "
            "and y"
        )
    if greater_is_better is None and fixed is None and names_a_score(name):
        raise ValueError(
            f"loss={name!r} is the name of a score, but losses should be small: pass "
            "greater_is_better=True, or False if smaller values are better"
        )
    return bool(greater_is_better) if fixed is None else fixed


def direction_of_scores(name: Any, greater_is_better: bool | None = None) -> bool:
    """The same for scores of test sets, whose names have no default direction.

    Raises
    ------
    ValueError
        If the name is not a name, does not decide it, or contradicts `greater_is_better`.
    """
    if not isinstance(name, str) or not name.strip():
        raise ValueError(f"score must be the name of the score, got {name!r:.60}")
    name_parts = set(re.split(r"[^a-z0-9]+", name.lower()))
    metric_of_name = known_metric(name)
    says: bool | None = None
    if metric_of_name is not None:
        says = metric_of_name.greater_is_better
    elif names_a_score(name):
        says = True
    elif OF_LOSSES.intersection(name_parts):
        says = False
    if greater_is_better is None and says is None:
        raise ValueError(
            f"score={name!r:.60} does not tell whether higher is better: pass "
            "greater_is_better=True, or False for errors and losses"
        )
    fixed = metric_of_name is not None or name in SCORES_OF_LOSSES
    if greater_is_better is None or says == greater_is_better or not fixed:
        return bool(says if greater_is_better is None else greater_is_better)
    raise ValueError(
        f"greater_is_better={greater_is_better} contradicts score={name!r}: leave it out"
    )
