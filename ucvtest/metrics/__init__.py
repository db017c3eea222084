"""Metrics that tests estimate: means of losses, functions of means, areas under the ROC curve.

Metrics with arguments are made by `f1`, `fbeta`, `precision`, `recall`, `jaccard`, `kappa`,
`net_benefit` and `partial_auc`. Metrics of survival times are made by `harrell`, `uno`, `brier`,
`auc` and `integrated_brier`, and your own metrics by `Cells` and `Moments`. All others are
requested by name, such as ``metric="mcc"``.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucvtest.metrics.named import f1 as f1
    from ucvtest.metrics.named import fbeta as fbeta
    from ucvtest.metrics.named import jaccard as jaccard
    from ucvtest.metrics.named import kappa as kappa
    from ucvtest.metrics.named import net_benefit as net_benefit
    from ucvtest.metrics.named import partial_auc as partial_auc
    from ucvtest.metrics.named import precision as precision
    from ucvtest.metrics.named import recall as recall
    from ucvtest.metrics.own import own_cells as Cells
    from ucvtest.metrics.own import own_moments as Moments
    from ucvtest.metrics.survival import auc as auc
    from ucvtest.metrics.survival import brier as brier
    from ucvtest.metrics.survival import harrell as harrell
    from ucvtest.metrics.survival import integrated_brier as integrated_brier
    from ucvtest.metrics.survival import uno as uno

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

_OWN = {"Cells": "own_cells", "Moments": "own_moments"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ucvtest.metrics' has no attribute {name!r}")
    # On first use: modules of this room would import each other in a circle.
    from ucvtest.metrics import named, own

    return getattr(own, _OWN[name]) if name in _OWN else getattr(named, name)


def __dir__() -> list[str]:
    return list(__all__)
