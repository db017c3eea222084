"""The outcome of `plan`: the number of observations, and predictions for other numbers."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ucvtest.common.notes import in_brief
from ucvtest.metrics.named import kind_in_words, named_smooth_metric
from ucvtest.metrics.recorded import known_metric
from ucvtest.results.plot_data import Layer, Picture, Role
from ucvtest.results.serialising import Saved, freeze
from ucvtest.results.text_tables import Grid, Printed, Tables, number_column, number_text
from ucvtest.results.wording import percent

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ucvtest.results.axes import Drawing
    from ucvtest.results.summary_tables import TableSummary


@dataclass(frozen=True, eq=False, repr=False)
class SamplePlan(Printed, Saved):
    """How many observations a question needs, from a pilot sample, a simulator, or fixed rules.

    Parameters
    ----------
    n_needed : int or None
        The fewest observations with the requested power or width; None if ten million are not
        enough.
    n_low, n_high : int or None
        The same at both ends of the band, which shows the uncertainty of the pilot.
    goal : {"difference", "ratio", "width"}
        The kind of goal.
    value : float
        The difference, ratio or width.
    power, alpha : float
    columns : mapping of str to ndarray
        The columns of `frame`.
    estimate : float
        The estimate of the pilot itself. It affects the answer only by the position of an interval
        between 0 and 1.
    settings : mapping
        Sizes of the pilot and of learning sets, loss, learners, estimand.
    curves : tuple of mapping
        The learning curve of each learner: see `curve_frame`.
    notes : tuple of str
    pictures : mapping of str to Picture
    elapsed : float
        Seconds.
    """

    _result_kind: ClassVar[str] = "plan"

    n_needed: int | None
    n_low: int | None
    n_high: int | None
    goal: str
    value: float
    power: float
    alpha: float
    columns: Mapping[str, np.ndarray]
    estimate: float
    settings: Mapping[str, Any]
    curves: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    elapsed: float = math.nan

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "curves", tuple(map(freeze, self.curves)))
        object.__setattr__(self, "notes", tuple(self.notes))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(n_needed={self.n_needed}, {self.goal}={self.value:g}, "
            f"power={self.power:g}, alpha={self.alpha:g})"
        )

    @property
    def frame(self) -> "pd.DataFrame":
        """One row for each number of observations.

        Columns: n; sd, the standard deviation of the estimate; se, the standard error that would be
        reported; width of the interval (for a ratio, its upper limit divided by its lower limit);
        power, if there is a difference or ratio; and both ends of the band for se, width and power
        (`_low`, `_high`).
        """
        import pandas as pd

        return pd.DataFrame(dict(self.columns))

    @property
    def curve_frame(self) -> "pd.DataFrame":
        """The learning curves: one row for each learner and learning-set size.

        Columns: learner, learn_size, estimate, low, high (of the simultaneous band) and
        extrapolated, whether the size is beyond the pilot, where there is no band.
        """
        import pandas as pd

        columns = ("learner", "learn_size", "estimate", "low", "high", "extrapolated")
        tables = [pd.DataFrame(dict(curve)) for curve in self.curves]
        return pd.concat(tables or [pd.DataFrame(columns=columns)], ignore_index=True)

    @property
    def n_fits(self) -> int:
        """Model fits behind the predictions."""
        return int(self.settings["n_fits"])

    @property
    def verdict(self) -> str:
        """The answer in words."""
        return verdict(self)

    def summary(self, *, with_verdict: bool = True, notes: bool = False) -> "TableSummary":
        """Summary tables: ``as_text``, ``as_html``, ``as_latex``, ``as_markdown``.

        ``as_markdown`` has everything, with or without `notes`.

        Parameters
        ----------
        with_verdict : bool
            Whether the verdict stands below the tables.
        notes : bool
            Whether all notes are shown, or at most three lines of what a reader has to know.
        """
        return self._summary(with_verdict=with_verdict, notes=notes)

    def notes_in_brief(self) -> list[str]:
        """The lines below the printed verdict: at most three notes, then how many more."""
        return in_brief(self.notes)

    def _tables(self, **options: Any) -> Tables:
        return tables(self, **options)

    @property
    def plot_kinds(self) -> tuple[str, ...]:
        """The pictures that `plot` can draw, its default first."""
        return tuple(self.pictures)

    def plot(self, ax: "Axes | None" = None, *, kind: str | None = None) -> "Axes":
        """Draw power or width against the number of observations, or the learning curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        kind : str, optional
            One of `plot_kinds`, by default the first.
        """
        return self._picture(kind).on(ax)

    def save_plot(self, path: str | Path, *, dpi: float = 150, kind: str | None = None) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot."""
        self._picture(kind).write(path, dpi)

    def _picture(self, kind: str | None) -> "Drawing":
        from ucvtest.results.axes import Drawing, one_of_kinds
        from ucvtest.results.drawing import PICTURE_SIZE, draw_layers

        picture = self.pictures[one_of_kinds(kind, self.plot_kinds, "plan")]
        return Drawing(lambda ax: draw_layers(ax, picture), PICTURE_SIZE)

    def _plain(self) -> dict[str, Any]:
        return super()._plain() | {"verdict": self.verdict}

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._values(data)
        pictures = values["pictures"].items()
        return values | {
            "pictures": {kind: Picture.from_dict(picture) for kind, picture in pictures}
        }


PLANNED_COLUMNS = (
    "n",
    "se",
    "width",
    "width_low",
    "width_high",
    "power",
    "power_low",
    "power_high",
)
TITLE = "How many observations"
HEADINGS = {"se": "std err"}


def goal_in_words(plan: SamplePlan) -> str:
    """The goal in words."""
    if plan.goal == "width":
        return f"a {percent(1 - plan.alpha)} interval of width {plan.value:g}"
    level, settings = f"{percent(plan.alpha)} level", plan.settings
    if "asks" in settings:
        asks, promotions = settings["asks"], settings["promotions"]
        level = (
            f"ask {asks} of a ledger after {promotions} promotions, level {settings['level']:.3g}"
        )
    return f"{percent(plan.power)} power at a {plan.goal} of {plan.value:g} ({level})"


def verdict(plan: SamplePlan) -> str:
    """The answer in words."""
    goal_text = goal_in_words(plan)
    size = plan.settings.get("learn_size")
    learnt = "" if size is None else f", with learning sets of {size}"
    if plan.n_needed is None:
        return f"Ten million {plan.settings['units']} are not enough for {goal_text}{learnt}."
    if plan.n_needed == plan.settings.get("n_least"):
        settings, n_most = plan.settings, number_text(plan.n_high) or "more than ten million"
        pilot = f"the pilot of {settings['n_pilot']}"
        far = f"by {pilot}"
        if plan.n_high != plan.n_needed:
            far = f"but given the uncertainty of {pilot} up to {n_most} may be needed"
        smaller = "No" if size is None else f"With learning sets of {size} no"
        return (
            f"{plan.n_needed} {settings['units']} are enough for {goal_text}, {far}. {smaller} "
            "smaller sample can be planned."
        )
    size_bounds = [number_text(plan.n_low), number_text(plan.n_high) or "more than ten million"]
    return (
        f"{plan.n_needed} {plan.settings['units']} give {goal_text}{learnt}; given the uncertainty "
        f"of the pilot of {plan.settings['n_pilot']}, {size_bounds[0]} to {size_bounds[1]} may be "
        "needed."
    )


def tables(plan: SamplePlan, *, with_verdict: bool = True, notes: bool = False) -> Tables:
    """Tables of the question and of the predictions."""
    return Tables(
        TITLE,
        _statements(plan),
        _fact_rows(plan),
        [_predictions(plan)],
        verdict(plan),
        with_verdict=with_verdict,
        notes=plan.notes,
        in_full=notes,
    )


def _statements(plan: SamplePlan) -> list[tuple[str, str]]:
    learner, other = (plan.settings.get(key) for key in ("learner", "other"))
    link = "over" if plan.goal == "ratio" else "minus"
    of = ("Learner", str(learner)) if other is None else ("Learners", f"{learner} {link} {other}")
    return [of, ("Estimand", str(plan.settings["estimand"])), ("Asked for", goal_in_words(plan))]


def _fact_rows(plan: SamplePlan) -> list[tuple[str, str]]:
    settings = plan.settings
    loss = settings.get("loss")
    metric = named_smooth_metric(loss)
    rises = metric is not None and metric.greater_is_better
    return [
        ("Pilot", f"{settings['n_pilot']} {settings['units']}"),
        ("Learning-set size", number_text(settings.get("learn_size")) or "nothing learnt"),
        (kind_in_words(loss, rises=rises), number_text(loss)),
        ("Model fits", str(settings["n_fits"])),
    ]


def _predictions(plan: SamplePlan) -> Grid:
    """One row for each number of observations."""
    columns = {
        name: plan.columns[name].tolist() for name in PLANNED_COLUMNS if name in plan.columns
    }
    cells = []
    for name, values in columns.items():
        places = 3 if name.startswith("power") else 4
        cells.append(list(map(str, values)) if name == "n" else number_column(values, places))
    rows = [list(row) for row in zip(*cells, strict=True)]
    for row, size in zip(rows, columns["n"], strict=True):
        row[0] += " *" if size == plan.n_needed else ""
    header = [HEADINGS.get(name, name.replace("_", " ")) for name in columns]
    marked = " (* the number needed)" if plan.n_needed in columns["n"] else ""
    return Grid(rows, header, title=f"Predictions{marked}")


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
