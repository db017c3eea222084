"""Pictures of a plan: power or width against the number of observations, and learning curves."""

import numpy as np

from ucvtest.metrics.recorded import known_metric
from ucvtest.planning.sample_plan import SamplePlan
from ucvtest.results.plot_data import Layer, Picture, Role

ROLES: tuple[Role, ...] = ("estimate", "other")


def pictures_of(plan: SamplePlan) -> dict[str, Picture]:
    """The pictures of a plan, the first by default."""
    names = ["width"] if plan.goal == "width" else ["power", "width"]
    pictures = {name: _against_n(plan, name) for name in names}
    if plan.curves:
        pictures["curve"] = _curves(plan)
    return pictures


def _against_n(plan: SamplePlan, name: str) -> Picture:
    """Power or width with its band, and the goal."""
    columns = plan.columns
    n, value = columns["n"], columns[name]
    around = np.concatenate([columns[f"{name}_low"], columns[f"{name}_high"][::-1]])
    layers = [
        Layer("area", np.concatenate([n, n[::-1]]), around, "uncertainty of the pilot", "estimate"),
        Layer("line", n, value, f"predicted {name}", "estimate"),
    ]
    goal_value = plan.value if name == plan.goal else plan.power if name == "power" else None
    if goal_value is not None:
        layers.append(Layer("horizontal", y=goal_value, label="asked for", role="null"))
        if plan.n_needed is not None:
            label = f"{plan.n_needed} {plan.settings['units']}"
            layers.append(Layer("vertical", x=plan.n_needed, label=label, role="limit"))
    return Picture(plan.settings["units"], name, tuple(layers), title=_title(plan))


def _curves(plan: SamplePlan) -> Picture:
    """Learning curves with their bands; dashed lines without a band beyond the pilot."""
    layers = []
    for curve, role in zip(plan.curves, ROLES, strict=False):
        is_extrapolated = np.asarray(curve["extrapolated"], dtype=bool)
        size, value = (np.asarray(curve[name], dtype=float) for name in ("learn_size", "estimate"))
        measured = ~is_extrapolated
        low, high = (np.asarray(curve[name])[measured] for name in ("low", "high"))
        if np.isfinite(low).all() and np.isfinite(high).all():
            around = np.concatenate([size[measured], size[measured][::-1]])
            layers.append(Layer("area", around, np.concatenate([low, high[::-1]]), role=role))
        layers.append(Layer("line", size[measured], value[measured], str(curve["learner"]), role))
        if is_extrapolated.any():
            beyond = size[is_extrapolated], value[is_extrapolated]
            layers.append(Layer("broken", *beyond, "extrapolated", role))
    metric = known_metric(plan.settings.get("loss"))
    name = metric.in_words if metric is not None and metric.ranks_pairs else "expected loss"
    return Picture(
        f"{plan.settings['units']} to learn from", name, tuple(layers), title=_title(plan)
    )


def _title(plan: SamplePlan) -> str:
    names = [plan.settings.get(key) for key in ("learner", "other")]
    return " minus ".join(str(name) for name in names if name is not None)[:70]
