"""What a scikit-learn estimator declares of itself: its kind, and what its parameters may be."""

import inspect
from typing import Any

GRIDS = ("param_grid", "param_distributions")
"""What only searches have: they name the parameters that these set."""

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

    Parts of a search, whose parameters it may set, are checked in its fits. Estimators of other
    packages check their parameters in their own way.

    Raises
    ------
    ValueError
        With scikit-learn's message.
    """
    kind = type(estimator)
    if not kind.__module__.startswith("sklearn."):
        return
    # `fit` calls it too; there is no public function with the same answer.
    validate = getattr(estimator, "_validate_params", None)
    if validate is not None:
        validate()
    if kind.__name__ == "FrozenEstimator" or any(hasattr(estimator, grid) for grid in GRIDS):
        return
    for name, part in estimator.get_params(deep=True).items():
        is_direct = "__" not in name and not isinstance(part, type)
        if is_direct and hasattr(part, "fit") and hasattr(part, "get_params"):
            validate_parameters(part)
