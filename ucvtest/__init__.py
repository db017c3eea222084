"""Honest statistical tests for learning algorithms on one small data set.

The public names load on first use, so that ``import ucvtest`` stays quick.
"""

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucvtest import hooks, kernels, learners, losses
    from ucvtest.autologging import autolog
    from ucvtest.exceptions import UcvtestWarning
    from ucvtest.losses import Loss
    from ucvtest.results import TestResult
    from ucvtest.ustatistic import KappaProfile, UStatisticTest, resamples_for_precision

__version__ = "0.1.0"

__all__ = [
    "KappaProfile",
    "Loss",
    "TestResult",
    "UStatisticTest",
    "UcvtestWarning",
    "autolog",
    "hooks",
    "kernels",
    "learners",
    "losses",
    "resamples_for_precision",
]

_HOME = {
    "KappaProfile": "ucvtest.ustatistic",
    "Loss": "ucvtest.losses",
    "TestResult": "ucvtest.results",
    "UStatisticTest": "ucvtest.ustatistic",
    "UcvtestWarning": "ucvtest.exceptions",
    "autolog": "ucvtest.autologging",
    "resamples_for_precision": "ucvtest.ustatistic",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'ucvtest' has no attribute {name!r}")
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    return import_module(f"ucvtest.{name}")


def __dir__() -> list[str]:
    return sorted([*__all__, "__version__"])


if os.environ.get("UCVTEST_AUTOLOG", "").lower() not in ("", "0", "false"):
    import_module("ucvtest.hooks").add_hook(
        import_module("ucvtest.autologging").AutologByEnvironment()
    )
