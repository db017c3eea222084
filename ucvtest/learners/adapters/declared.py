"""What a scikit-learn estimator declares of itself: its kind, and what its parameters may be."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["estimator_kind", "validate_parameters"]

GRIDS = ("param_grid", "param_distributions")
"""Parameters of searches that name those which they set."""

MIXINS = {"ClassifierMixin": "classifier", "RegressorMixin": "regressor"}


def estimator_kind(estimator: Any) -> str:
    """The kind that an estimator declares, such as "classifier"; "" where it declares none.

    scikit-learn raises an AttributeError of its own over estimators that do not derive from
    BaseEstimator.
    """
    from sklearn.utils import get_tags

    if hasattr(estimator, "__sklearn_tags__"):
        try:
            return str(get_tags(estimator).estimator_type or "")
        except AttributeError:
            pass
    declared = getattr(estimator, "_estimator_type", None)
    if declared:
        return str(declared)
    bases = {each.__name__ for each in type(estimator).__mro__}
    return next((kind for mixin, kind in MIXINS.items() if mixin in bases), "")


def validate_parameters(estimator: Any) -> None:
    """Let scikit-learn's estimators, nested ones too, look at their parameters as `fit` does.

    Parts of which a search sets parameters are looked at when it has set them; estimators of other
    packages look at theirs in their own way.

    Raises
    ------
    ValueError
        scikit-learn's own.
    """
    for part in _parts(estimator):
        if type(part).__module__.startswith("sklearn."):
            # `fit` calls it too; there is no public function with the same answer.
            validate = getattr(part, "_validate_params", None)
            if validate is not None:
                validate()


def _parts(estimator: Any) -> Iterator[Any]:
    """The estimator and its parts, but those that a search changes or that are not fitted."""
    named = {"": estimator}
    if _is_known(estimator):
        deep = estimator.get_params(deep=True)
        named |= {path: value for path, value in deep.items() if _is_estimator(value)}
    for path, part in named.items():
        above = {"", *(path[: found.start()] for found in re.finditer("__", path))} - {path}
        owners = {each: named[each] for each in above if each in named}
        if not all(map(_is_known, owners.values())):
            continue
        if not any(_is_set_by(owner, path, place) for place, owner in owners.items()):
            yield part


def _is_estimator(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(value, "fit") and hasattr(value, "get_params")


def _is_known(estimator: Any) -> bool:
    """Whether it is scikit-learn's, and fits its parts as they are."""
    kind = type(estimator)
    return kind.__module__.startswith("sklearn.") and kind.__name__ != "FrozenEstimator"


def _is_set_by(owner: Any, path: str, place: str) -> bool:
    """Whether a part at `path` gets parameters, or is replaced, by the search at `place`."""
    grids = [getattr(owner, name) for name in GRIDS if hasattr(owner, name)]
    prefix = f"{place}__estimator" if place else "estimator"
    if not grids or not f"{path}__".startswith(f"{prefix}__"):
        return False
    inner = path[len(prefix) + 2 :]
    listed = [each for grid in grids for each in (grid if isinstance(grid, list) else [grid])]
    keys = {str(key) for each in listed if isinstance(each, Mapping) for key in each}
    return any(
        inner in (key, key.rpartition("__")[0]) or inner.startswith(f"{key}__") for key in keys
    )
