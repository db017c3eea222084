"""Jitted estimators: arrays in, NumPy arrays out, one module for each paper.

For people who have predictions of their own and need no test object.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucvtest.kernels import (
        auc_ustatistic,
        fold_covariance,
        influence,
        leave_pair_out,
        permutation,
        ustatistic,
    )

__all__ = [
    "auc_ustatistic",
    "fold_covariance",
    "influence",
    "leave_pair_out",
    "permutation",
    "ustatistic",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ucvtest.kernels' has no attribute {name!r}")
    return import_module(f"ucvtest.kernels.{name}")
