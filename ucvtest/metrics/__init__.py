"""Metrics that tests estimate: means of losses, functions of means, areas under the ROC curve.

Metrics with arguments are made by `f1`, `fbeta`, `precision`, `recall`, `jaccard`, `kappa`,
`net_benefit` and `partial_auc`. Metrics of survival times are made by `harrell`, `uno`, `brier`,
`auc` and `integrated_brier`, and your own metrics by `Cells` and `Moments`. All others are
requested by name, such as ``metric="mcc"``.
"""

from ucvtest.metrics.named import (
    f1,
    fbeta,
    jaccard,
    kappa,
    net_benefit,
    partial_auc,
    precision,
    recall,
)
from ucvtest.metrics.own import own_cells as Cells
from ucvtest.metrics.own import own_moments as Moments
from ucvtest.metrics.survival import auc, brier, harrell, integrated_brier, uno

__all__ = [
    "Cells",
    "Moments",
    "auc",
    "brier",
    "f1",
    "fbeta",
    "harrell",
    "integrated_brier",
    "jaccard",
    "kappa",
    "net_benefit",
    "partial_auc",
    "precision",
    "recall",
    "uno",
]
