"""Names that `metric=` and `loss=` do not know: aliases, metrics that are not offered, typos."""

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from ucvtest.common.words import arg, term

LOSS_ALIASES = {
    "accuracy": "zero_one",
    "error": "zero_one",
    "mae": "absolute",
    "mse": "squared",
    "log_loss": "log",
    "roc_auc": "auc",
}
"""Other names of losses. Results have the name on the right."""

ALIASES = {
    alias: name
    for name, aliases in {
        "average_precision": "ap average_precision_score",
        "balanced_accuracy": "balanced_accuracy_score",
        "brier_skill": "d2_brier_score",
        "ccc": "concordance_correlation",
        "f1": "f1_score",
        "g_mean": "geometric_mean",
        "harrell": "c_index cindex concordance concordance_index concordance_index_censored",
        "jaccard": "jaccard_score",
        "kappa": "cohen_kappa cohen_kappa_score",
        "log_skill": "d2_log_loss_score",
        "mcc": "matthews_corrcoef",
        "npv": "negative_predictive_value",
        "pearson": "pearsonr",
        "precision": "ppv positive_predictive_value precision_score",
        "r2": "r2_score",
        "recall": "recall_score sensitivity tpr",
        "rmse": "root_mean_squared_error",
        "specificity": "tnr",
        "uno": "concordance_index_ipcw",
    }.items()
    for alias in aliases.split()
}
"""Other names of metrics, scikit-learn's and the clinic's; results have the name on the right."""

_BINS = (
    "it depends on bins, which standard errors do not account for: use the loss 'brier' or 'log', "
    "or the metric 'brier_skill'"
)
_CUT = (
    "its cut is estimated from the same data, so its standard error needs the slope of the ROC "
    "curve there: use 'partial_auc(0.1)', or 'recall' or 'specificity' at a cut chosen beforehand"
)
_ARGUMENT = "it has an argument: use "

NOT_OFFERED = {
    **dict.fromkeys(("ece", "mce", "expected_calibration_error"), _BINS),
    **dict.fromkeys(
        (
            *("sensitivity_at_specificity", "specificity_at_sensitivity", "tpr_at_fpr"),
            *("recall_at_precision", "precision_at_recall", "recall_at_specificity"),
        ),
        _CUT,
    ),
    "fbeta": f"{_ARGUMENT}'fbeta(2)'",
    "fbeta_score": f"{_ARGUMENT}'fbeta(2)'",
    "net_benefit": f"{_ARGUMENT}'net_benefit(0.2)'",
    "partial_auc": f"{_ARGUMENT}'partial_auc(0.1)'",
    **dict.fromkeys(
        ("bookmaker_informedness", "informedness", "j_index", "youden", "youden_index"),
        "it is twice the balanced accuracy less 1: use 'balanced_accuracy'",
    ),
    "median_absolute_error": "quantiles are not smooth in the data: use the loss 'absolute'",
    "max_error": "a largest value is not smooth in the data: use the metric 'rmse'",
}
"""Why there is no metric of this name, and what to use instead."""

F_BETA = re.compile(
    r"[fF][-_]?(?P<beta>[2-9]|0?\.\d+)(?:_score)?(?P<average>_macro|_weighted|_micro)?"
)
"""F-beta with its number in the name, such as "f2"; F1 has its own name."""

NEAR = 0.6
"""Least similarity, from 0 to 1, of a typo and a name."""


YOUR_OWN = "your own by uv.metrics.Cells or uv.metrics.Moments, "


def refuse_unknown(metric: Any, names: Iterable[str], families: Iterable[str]) -> NoReturn:
    """Refuse unknown metrics, and suggest an alternative."""
    if isinstance(metric, str) and metric in NOT_OFFERED:
        raise ValueError(f"{arg('metric', metric)} is not offered, because {NOT_OFFERED[metric]}")
    if isinstance(metric, (list, tuple, set, dict)):
        raise ValueError(
            f"{arg('metric')} names several metrics: pass one, and score the same predictions by "
            "another with losses.about(metric)"
        )
    known_names = [*names]
    is_known = isinstance(metric, str) and metric.lower() in (*known_names, *ALIASES, *LOSS_ALIASES)
    if not is_known and isinstance(metric, str) and (beta := F_BETA.fullmatch(metric)):
        written = f"fbeta({beta['beta']}){beta['average'] or ''}"
        raise ValueError(
            f"{arg('metric', metric)} is unknown: did you mean the F-beta {written!r:.60}?"
        )
    called = getattr(metric, "__name__", None) if callable(metric) else metric
    near = _nearest(
        called, (*known_names, *families, *ALIASES, *LOSS_ALIASES, *LOSS_ALIASES.values())
    )
    meant = f"did you mean {ALIASES.get(near, near)!r}? Otherwise use" if near else "use"
    raise ValueError(
        f"{arg('metric', metric)} is unknown: {meant} one of {', '.join(known_names)}, those with "
        f"an argument such as 'fbeta(2)', {term(YOUR_OWN)}or the name of a loss"
    )


def unknown_loss(loss: Any, losses: Iterable[str], metrics: Collection[str]) -> ValueError:
    """The refusal of an unknown loss, which suggests a loss, or the metric of this name."""
    if isinstance(loss, str) and (metric := ALIASES.get(loss, loss)) in metrics:
        return ValueError(
            f"{arg('loss', loss)} is not a mean over observations: pass {arg('metric', metric)} to "
            "a test that takes metrics"
        )
    near = _nearest(loss, (*losses, *LOSS_ALIASES, *LOSS_ALIASES.values()))
    meaning = f", which stands for {LOSS_ALIASES[near]!r}" if near in LOSS_ALIASES else ""
    meant = f"did you mean {near!r}{meaning}? Otherwise use" if near else "use"
    return ValueError(
        f"{arg('loss', loss)} is unknown: {meant} one of {', '.join(losses)}, or a function"
    )


def _nearest(name: Any, known_names: Sequence[str]) -> str:
    """The name that one begins with, or is similar to, whatever its capitals; "" if none is."""
    if not isinstance(name, str):
        return ""
    name = name.lower()
    if name in known_names:
        return name
    unspaced = [known for known in known_names if known.replace("_", "") == name]
    longer = unspaced or [
        known for known in known_names if known.startswith(name) and len(name) > 2
    ]
    return next(iter([*longer, *get_close_matches(name, known_names, 1, NEAR)]), "")
