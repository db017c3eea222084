"""What is estimated: means of losses, functions of means, areas under the ROC curve.

Metrics with arguments are made by `f1`, `fbeta`, `precision`, `recall`, `jaccard`, `kappa` and
`net_benefit`, and your own by `Cells` and `Moments`; all others are asked for by name.
"""

from typing import Any

__all__ = [
    "Cells",
    "Moments",
    "f1",
    "fbeta",
    "jaccard",
    "kappa",
    "net_benefit",
    "precision",
    "recall",
]

_OTHER_NAMES = {"Cells": "own_cells", "Moments": "own_moments"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ucvtest.metrics' has no attribute {name!r}")
    # On first use: modules of this room would import each other in a circle.
    from ucvtest.metrics import named

    return getattr(named, _OTHER_NAMES.get(name, name))


def __dir__() -> list[str]:
    return list(__all__)
