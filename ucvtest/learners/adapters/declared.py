"""What a scikit-learn estimator declares of itself: its kind, and what its parameters may be."""

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

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
    bases = {base_class.__name__ for base_class in type(estimator).__mro__}
    return next((kind for mixin, kind in MIXINS.items() if mixin in bases), "")


def weight_argument(estimator: Any) -> str | None:
    """What `fit` calls the weights of rows; None where it takes none.

    They go to the last step of a pipeline, and to what a search fits. With scikit-learn's metadata
    routing they go to those steps that ask for them by ``set_fit_request``.
    """
    import sklearn

    parameters = inspect.signature(estimator.fit).parameters
    if "sample_weight" in parameters:
        return "sample_weight"
    if sklearn.get_config().get("enable_metadata_routing"):
        from sklearn.utils.metadata_routing import get_routing_for_object

        # Some part of a pipeline or a search asks for them.
        routed = get_routing_for_object(estimator).consumes("fit", ["sample_weight"])
        return "sample_weight" if "sample_weight" in routed else None
    if steps := getattr(estimator, "steps", None):
        inner = weight_argument(steps[-1][1]) if hasattr(steps[-1][1], "fit") else None
        return None if inner is None else f"{steps[-1][0]}__{inner}"
    if all(parameter.kind is not parameter.VAR_KEYWORD for parameter in parameters.values()):
        return None
    for name in ("estimator", "regressor"):
        if hasattr(getattr(estimator, name, None), "fit"):
            return weight_argument(getattr(estimator, name))
    return "sample_weight"


def validate_parameters(estimator: Any) -> None:
    """Let scikit-learn's estimators, including nested ones, check their parameters as `fit` does.

    Parts whose parameters are set by a search are checked after it has set them. Estimators of
    other packages check their parameters in their own way.

    Raises
    ------
    ValueError
        With scikit-learn's message.
    """
    for nested_estimator in _nested_estimators(estimator):
        if type(nested_estimator).__module__.startswith("sklearn."):
            # `fit` calls it too; there is no public function with the same answer.
            validate = getattr(nested_estimator, "_validate_params", None)
            if validate is not None:
                validate()


def _nested_estimators(estimator: Any) -> Iterator[Any]:
    """The estimator and its parts, but those that a search changes or that are not fitted."""
    estimators_by_path = {"": estimator}
    if _is_known(estimator):
        for path, value in estimator.get_params(deep=True).items():
            is_class = isinstance(value, type)
            if not is_class and hasattr(value, "fit") and hasattr(value, "get_params"):
                estimators_by_path[path] = value
    for path, nested_estimator in estimators_by_path.items():
        above = {"", *(path[: match.start()] for match in re.finditer("__", path))} - {path}
        owners = {
            path_above: estimators_by_path[path_above]
            for path_above in above
            if path_above in estimators_by_path
        }
        if not all(map(_is_known, owners.values())):
            continue
        if not any(_is_set_by(owner, path, owner_path) for owner_path, owner in owners.items()):
            yield nested_estimator


def _is_known(estimator: Any) -> bool:
    """Whether it is scikit-learn's, and fits its parts as they are."""
    kind = type(estimator)
    return kind.__module__.startswith("sklearn.") and kind.__name__ != "FrozenEstimator"


def _is_set_by(owner: Any, path: str, search_path: str) -> bool:
    """Whether a part at `path` gets parameters, or is replaced, by the search at `search_path`."""
    grids = [getattr(owner, name) for name in GRIDS if hasattr(owner, name)]
    prefix = f"{search_path}__estimator" if search_path else "estimator"
    if not grids or not f"{path}__".startswith(f"{prefix}__"):
        return False
    inner_path = path[len(prefix) + 2 :]
    listed = [
        grid_part for grid in grids for grid_part in (grid if isinstance(grid, list) else [grid])
    ]
    keys = {str(key) for grid_part in listed if isinstance(grid_part, Mapping) for key in grid_part}
    return any(
        inner_path in (key, key.rpartition("__")[0]) or inner_path.startswith(f"{key}__")
        for key in keys
    )
