"""R and Python together: R functions as learners here, and the Python side of the R package."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ucvtest_r.conditions import RConditionError, RWarning
    from ucvtest_r.r_learner import RLearner

__all__ = ["RConditionError", "RLearner", "RWarning"]

_HOME = {
    "RConditionError": "ucvtest_r.conditions",
    "RLearner": "ucvtest_r.r_learner",
    "RWarning": "ucvtest_r.conditions",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'ucvtest_r' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)
