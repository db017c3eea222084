"""Choosing among learners by the permutation estimate, cross-validation and penalties."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np

from ucvtest import hooks
from ucvtest.common.arrays import as_numbers
from ucvtest.common.checks import AtLeast, Seconds, named_options
from ucvtest.common.execution import Execution, progress_bar
from ucvtest.common.words import arg
from ucvtest.data.groups import GroupWeight
from ucvtest.data.missing import Missing, complete_rows, dropped_note
from ucvtest.evaluation.problem import Problem, warn_of_learners
from ucvtest.inference.needs import Needs, Traits, refuse
from ucvtest.learners.adapters.backends import Backend
from ucvtest.learners.base import Learner
from ucvtest.methods.permutation.criteria import CRITERIA, Candidate, Criterion, Draws, Task
from ucvtest.methods.permutation.options import check_response
from ucvtest.metrics.scorers import chosen_loss
from ucvtest.results.serialising import Saved

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from ucvtest.results.summary_tables import TableSummary

NAMES: Mapping[str, str] = {
    "permutation": "permutation estimate",
    "loo": "leave-one-out",
    "kfold": "K-fold cross-validation",
    "rademacher": "Rademacher penalty",
    "fpe": "final prediction error",
    "vc": "VC penalty",
}

SIZE = (6.4, 4.2)
"""Size of the picture, in inches."""

LONGEST, ROOM = 20, 60
"""Most characters of a name in the picture, and of all names side by side."""

OF_LOSSES = Needs(designs="")
"""Models are selected by means of losses."""

BY_NUMBER = "number of the learner"
"""The label of the axis for learners without a complexity; pictures then show their names."""


@dataclass(frozen=True, eq=False)
class ModelSelection(Saved):
    """Learners with their criteria, and the choice of each criterion.

    Parameters
    ----------
    criterion : str
        The criterion of `best`.
    learners : tuple of Learner
        Empty for a selection that was read from a file, which keeps only their names.
    columns : mapping of str to ndarray, shape (K,)
        e_in, the degrees of freedom of linear smoothers, and every criterion, for each of the K
        learners; NaN if a learner does not have them. With `scoring`, all except the degrees are
        scores.
    complexity : ndarray, shape (K,)
        The values on the horizontal axis of the plot.
    n_obs, n_fits : int
    elapsed : float
        Seconds.
    settings : mapping
        The settings that repeat it on the same data.
    names : tuple of str, optional
        The names of the learners; by default their own names.
    """

    _result_kind: ClassVar[str] = "model selection"

    criterion: str
    learners: tuple[Learner, ...]
    columns: Mapping[str, np.ndarray]
    complexity: np.ndarray
    n_obs: int
    n_fits: int
    elapsed: float
    settings: Mapping[str, Any]
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        names = self.names or tuple(learner.name for learner in self.learners)
        object.__setattr__(self, "names", names)

    def __str__(self) -> str:
        choices_text = ", ".join(
            f"{name}: {self.names[learner_index]}" for name, learner_index in self.choices.items()
        )
        notes = "".join(f"\n{note}" for note in self.notes)
        return f"{self.table.to_string(index=False)}\n\nChosen by {choices_text}{notes}"

    def _repr_html_(self) -> str:
        return str(self.summary().as_html())

    @property
    def verdict(self) -> str:
        """The choice in words."""
        chosen_name = self.names[self.choices[self.criterion]]
        return f"Chosen by {NAMES.get(self.criterion, self.criterion)}: {chosen_name}"

    def summary(self) -> "TableSummary":
        """Summary tables: ``as_text``, ``as_html``, ``as_latex``, ``as_markdown``."""
        from ucvtest.results.summary_tables import TableSummary
        from ucvtest.results.text_tables import Grid, Tables, number_column

        columns = {"complexity": self.complexity, **self.columns}
        if self.settings["complexity"] == BY_NUMBER:
            del columns["complexity"], columns["degrees"]
        chosen_by: dict[int, list[str]] = {}
        for criterion, learner_index in self.choices.items():
            chosen_by.setdefault(learner_index, []).append(criterion)
        cells = zip(*(number_column(column.tolist()) for column in columns.values()), strict=True)
        rows = [
            [name, *row, ", ".join(chosen_by.get(learner_index, []))]
            for learner_index, (name, row) in enumerate(zip(self.names, cells, strict=True))
        ]
        title = "Model selection"
        grid = Grid(rows, ["", *columns, "chosen by"], title)
        return TableSummary(Tables(title, grids=[grid], verdict=self.verdict, notes=self.notes))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on changes of the data, on numbers reduced by time, and on ties."""
        selection_settings = self.settings
        fewer = [
            f"{name} = {selection_settings[name]}" for name in selection_settings.get("reduced", ())
        ]
        budget = (
            f"{' and '.join(fewer)}, which max_seconds = {selection_settings.get('max_seconds')} "
            "allowed."
        )
        return (
            *dropped_note(selection_settings.get("n_dropped", 0)),
            *([budget] if fewer else []),
            *self._note_on_ties(),
        )

    def _note_on_ties(self) -> tuple[str, ...]:
        """The note that the order of the learners decided, if several are the best."""
        chosen_index = self.choices.get(self.criterion)
        if chosen_index is None:
            return ()
        values = self.columns[self.criterion]
        # Sums of the same errors may differ by rounding.
        equal = np.isclose(values, values[chosen_index], rtol=1e-12, atol=0)
        tied = [
            self.names[learner_index]
            for learner_index in np.flatnonzero(equal)
            if learner_index != chosen_index
        ]
        if not tied:
            return ()
        return (
            f"By {NAMES.get(self.criterion, self.criterion)} {self.names[chosen_index]} ties with "
            f"{', '.join(tied)}: the first in the list is chosen.",
        )

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria that were computed."""
        return tuple(name for name in CRITERIA if name in self.columns)

    @property
    def choices(self) -> dict[str, int]:
        """Position of the learner that each criterion chooses: the first of the best."""
        learner_of_criterion = {}
        for name in self.criteria:
            values = self.columns[name]
            if not np.isnan(values).all():
                best_index = (
                    np.nanargmax if self.settings.get("better") == "higher" else np.nanargmin
                )
                learner_of_criterion[name] = int(best_index(values))
        return learner_of_criterion

    @property
    def best(self) -> Learner:
        """The learner that `criterion` chooses.

        Raises
        ------
        ValueError
            If the selection was read from a file.
        """
        learner_index = self.choices[self.criterion]
        if not self.learners:
            raise ValueError(
                "learners are not kept in files: the best one has the name "
                f"{self.names[learner_index]!r}"
            )
        return self.learners[learner_index]

    @property
    def table(self) -> "pd.DataFrame":
        """One row for each learner."""
        import pandas as pd

        return pd.DataFrame({"learner": self.names, "complexity": self.complexity, **self.columns})

    def regret(self, errors: Any) -> dict[str, float]:
        """The cost of each choice, if the out-of-sample errors are known.

        Parameters
        ----------
        errors : array, shape (K,)
            Out-of-sample error of every learner, on new data for example.

        Returns
        -------
        dict of str to float
            (error of the choice - smallest error)/smallest error, for each criterion.

        Raises
        ------
        ValueError
            If there are not as many errors as learners, or the smallest is not positive.
        """
        values = as_numbers("errors", errors)
        if values.shape != (len(self.names),):
            raise ValueError(
                f"errors must have shape ({len(self.names)},), one for each learner, got "
                f"{values.shape}"
            )
        smallest_error = values.min()
        if not smallest_error > 0:
            raise ValueError(f"errors must be positive numbers, the smallest is {smallest_error}")
        return {
            name: float(values[learner_index] / smallest_error - 1)
            for name, learner_index in self.choices.items()
        }

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Draw every criterion against complexity, with its choice marked.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from ucvtest.results.axes import PLAIN, known_axes

        ax = known_axes(ax, SIZE)
        order = np.argsort(self.complexity, kind="stable")
        x = self.complexity[order]
        # A line through one point would be invisible.
        marker = "o" if len(x) == 1 else None
        in_sample_style: dict[str, Any] = {"color": "#8C8C8C", "linestyle": "--"}
        ax.plot(x, self.columns["e_in"][order], marker=marker, label="in-sample", **in_sample_style)
        for name, learner_index in self.choices.items():
            values = np.where(np.isfinite(self.columns[name]), self.columns[name], np.nan)
            (line,) = ax.plot(
                x,
                values[order],
                label=NAMES[name],
                linewidth=2.4 if name == self.criterion else 1.2,
            )
            ax.plot(
                self.complexity[learner_index], values[learner_index], "o", color=line.get_color()
            )
        axis = str(self.settings["complexity"])
        if axis == BY_NUMBER:
            axis = "learner"
            names = [self.names[learner_index] for learner_index in order]
            names = [
                learner_name if len(learner_name) <= LONGEST else f"{learner_name[:LONGEST]}..."
                for learner_name in names
            ]
            crowded = sum(map(len, names)) > ROOM
            turned: dict[str, Any] = {"rotation": 30, "ha": "right"} if crowded else {}
            ax.set_xticks(x, names, **PLAIN, **turned)
        ax.set_xlabel(axis, **PLAIN)
        ax.set_ylabel(f"estimated {self.settings['loss_in_words']}", **PLAIN)
        ax.spines[["right", "top"]].set_visible(False)
        ax.legend(fontsize="small", frameon=False)
        return ax

    def save_plot(self, path: str | Path, *, dpi: float = 150) -> None:
        """Write what `plot` draws to a file, without a display and without pyplot."""
        from ucvtest.results.axes import Drawing

        Drawing(self.plot, SIZE).write(path, dpi)

    def _plain(self) -> dict[str, Any]:
        return {**super()._plain(), "learners": []}

    @classmethod
    def _values(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {**super()._values(data), "learners": (), "names": tuple(data["names"])}


@named_options
def select_model(
    X: Any,
    y: Any,
    learners: Sequence[Any],
    criterion: Criterion = "permutation",
    *,
    criteria: Sequence[Criterion] | None = None,
    complexity: Sequence[float] | None = None,
    loss: Any = None,
    pos_label: Any = None,
    groups: Any = None,
    group_weight: GroupWeight = "group",
    backend: Backend = "auto",
    n_permutations: Annotated[int, AtLeast(1)] = 100,
    n_folds: int = 10,
    n_left_out: int | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | None = None,
    scoring: Any = None,
    missing: Missing = "raise",
    max_seconds: Seconds | None = None,
) -> ModelSelection:
    """Compare learners by estimates of their out-of-sample error, and choose one.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learners : sequence of learners, or mapping of names to learners
        As in `PermutationComplexityTest`, with the simplest first, which is chosen among equals.
    criterion : {"permutation", "loo", "kfold", "rademacher", "fpe", "vc"}
        Permutation estimate; leave-one-out and K-fold cross-validation; in-sample error with
        the optimism on labels drawn by fair coins; Akaike's final prediction error; VC penalty.
    criteria : sequence of these, optional
        The criteria to compute; by default all that apply. "rademacher" needs two classes. "fpe"
        and "vc" need squared loss; they are NaN for learners other than ridge, polynomial,
        kernel_ridge and smoother.
    complexity : sequence of float, optional
        The complexity of every learner, for the plot; by default the degrees of freedom if all
        learners have them, otherwise the number in the list.
    loss, scoring, pos_label, missing, groups, group_weight, backend
        See `PermutationComplexityTest`. With groups, clusters are left out, and folds are folds of
        clusters. "rademacher", "fpe" and "vc" are then missing, because they are about independent
        observations.
    n_permutations : int
        Number of labelings for "permutation" and for "rademacher", the same for all learners. With
        squared loss, linear smoothers do not need them.
    n_folds : int
        Number of folds, each with its share of every class.
    n_left_out : int, optional
        Number of left-out observations, chosen at random; by default all. Not used if leave-one-out
        has a closed form.
    rng, n_jobs, batch_size, progress
        See `PermutationComplexityTest.fit`.
    max_seconds : float, optional
        Approximate limit on the seconds of the fits. Some fits are timed, and `n_permutations` and
        `n_left_out` are reduced to the time if necessary, equally for every learner. The settings
        keep the numbers; the same numbers and `rng` without `max_seconds` repeat the selection. The
        number of folds is never reduced.

    Returns
    -------
    ModelSelection
        With ``table``, ``choices``, ``best``, ``regret`` and ``plot``.

    Raises
    ------
    ValueError
        If an argument cannot be used, there is no time for the criteria, or a learner fails.

    Notes
    -----
    One fit to all observations serves all criteria of a learner, and parts that do not depend on
    labels are computed once. For linear smoothers with squared loss, "permutation" and "loo" are
    closed forms; ``scale="mean"`` keeps its penalty per observation in "loo". No estimate remains
    unbiased for the learner that it chooses.

    References
    ----------
    M. Magdon-Ismail, K. Mertsalov (2011), A permutation approach to validation, section 4.

    Examples
    --------
    >>> import numpy as np, ucvtest as uv
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, size=(60, 1))
    >>> y = x[:, 0] ** 2 + 0.1 * rng.normal(size=60)
    >>> chosen = uv.select_model(x, y, [f"polynomial:{d}" for d in (1, 2, 5, 9)], rng=0)
    >>> chosen.best.name
    'polynomial:2'
    """
    several = isinstance(learners, (Sequence, Mapping)) and not isinstance(learners, str)
    if not several or not len(learners):
        raise ValueError("learners must be a list of at least one learner, or learners by name")
    names = tuple(learners) if isinstance(learners, Mapping) else ()
    loss = chosen_loss(loss, scoring)
    refuse(OF_LOSSES, Traits(metric=loss, scoring=scoring), "select_model")
    X, y, groups, n_dropped = complete_rows(X, y, groups, missing)
    problem = Problem.of(
        X,
        y,
        learners if names else list(learners),
        loss=loss,
        pos_label=pos_label,
        groups=groups,
        group_weight=group_weight,
        backend=backend,
    )
    check_response(problem.sample)
    task = Task.of(
        problem,
        criterion,
        criteria,
        n_permutations=n_permutations,
        n_folds=n_folds,
        n_left_out=n_left_out,
    )
    user_complexity = _checked_complexity(complexity, len(task.learners))
    started, execution = time.perf_counter(), Execution.of(rng, n_jobs, batch_size)
    requested_task = task
    with hooks.fitting(problem), progress_bar(progress, "select_model", "fit") as bar:
        warn_of_learners(task.learners)
        if max_seconds is not None:
            task = task.within(max_seconds, execution)
        execution = replace(execution, bar=bar)
        n_fits = sum(1 if task.smooths(learner) else task.fits_of_each for learner in task.learners)
        execution.announce_total(n_fits, at_most=any(map(task.smooths, task.learners)))
        columns, n_fits = _columns(task, execution)
    if np.isnan(columns[criterion]).all():
        raise ValueError(
            f"{arg('criterion', criterion)} does not exist for any of the learners: use ridge, "
            f"polynomial, kernel_ridge or smoother with {arg('loss', 'squared')}, or another "
            "criterion"
        )
    places, axis = _axis(user_complexity, columns)
    metric = task.loss
    if metric.units is not None:
        columns = {
            name: values if name == "degrees" else metric.units.of(values)
            for name, values in columns.items()
        }
    settings: dict[str, Any] = {
        "criterion": criterion,
        "criteria": list(task.criteria),
        "complexity": axis,
        "loss": metric.reported_name,
        "loss_in_words": metric.in_words,
        **({"better": "higher"} if metric.units and metric.units.greater_is_better else {}),
        "n_permutations": task.n_permutations,
        "n_folds": n_folds,
        "n_left_out": n_left_out
        if task.n_left_out == requested_task.n_left_out
        else task.n_left_out,
        "rng": execution.seed,
    }
    if max_seconds is not None:
        drawn_numbers = ("n_permutations", "n_left_out")
        fewer = [
            setting
            for setting in drawn_numbers
            if getattr(task, setting) < getattr(requested_task, setting)
        ]
        settings |= {"max_seconds": max_seconds} | ({"reduced": fewer} if fewer else {})
    settings |= {"n_dropped": n_dropped} if n_dropped else {}
    if task.clusters is not None:
        settings |= {"group_weight": group_weight, "n_groups": task.clusters.n_groups}
    selection = ModelSelection(
        criterion,
        task.learners,
        columns,
        np.array(places, dtype=float),
        task.sample.n_obs,
        n_fits,
        time.perf_counter() - started,
        settings,
        names,
    )
    hooks.announce_outcome(problem, selection)
    return selection


def _columns(task: Task, execution: Execution) -> tuple[dict[str, np.ndarray], int]:
    """All criteria of all learners, and the number of fits."""
    draws = Draws.of(task, execution.generator)
    rows, n_fits = [], 0
    for learner in task.learners:
        candidate = Candidate(learner, task, draws, execution)
        rows.append(candidate.row())
        n_fits += candidate.n_fits
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}, n_fits


def _checked_complexity(complexity: Sequence[float] | None, n_learners: int) -> np.ndarray | None:
    """The complexities that a user gives, if they can be used."""
    if complexity is None:
        return None
    values = as_numbers("complexity", complexity)
    if values.shape != (n_learners,) or not np.isfinite(values).all():
        raise ValueError(
            f"complexity must contain {n_learners} finite numbers, one for each learner"
        )
    return values


def _axis(
    user_complexity: np.ndarray | None, columns: Mapping[str, np.ndarray]
) -> tuple[np.ndarray, str]:
    """Positions on the horizontal axis of the plot, and its label."""
    if user_complexity is not None:
        return user_complexity, "complexity"
    degrees = columns["degrees"]
    if np.isfinite(degrees).all():
        return degrees, "effective degrees of freedom"
    return np.arange(1.0, len(degrees) + 1), BY_NUMBER
