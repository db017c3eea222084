"""Choosing among learners by the permutation estimate, cross-validation and penalties."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ucvtest import hooks
from ucvtest.common.checks import as_integer
from ucvtest.common.runtime import Stopwatch, make_generator, progress_bar
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.kernels.permutation import (
    Sampling,
    final_prediction_error,
    leave_one_out,
    smoother_optimism,
    vc_penalty,
)
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.learners.adapters.translate import Backend
from ucvtest.learners.base import Learner
from ucvtest.learners.closed_forms.held_out import hat_matrix, held_out_predictions
from ucvtest.learners.jitted.kernel_ridge import KernelRidge
from ucvtest.learners.jitted.ridge import Ridge
from ucvtest.learners.jitted.smoother import Smoother
from ucvtest.methods.permutation.labelings import draw_labels, reference_labels
from ucvtest.methods.permutation.optimism import (
    find_smoother,
    has_closed_form,
    observed_losses,
    optimism,
    relabelled_losses,
)
from ucvtest.methods.permutation.test import BATCH_CELLS, PermutationComplexityTest

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["Criterion", "ModelSelection", "select_model"]

Criterion = Literal["permutation", "loo", "kfold", "rademacher", "fpe", "vc"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)

NAMES: Mapping[str, str] = {
    "permutation": "permutation estimate",
    "loo": "leave-one-out",
    "kfold": "K-fold cross-validation",
    "rademacher": "Rademacher penalty",
    "fpe": "final prediction error",
    "vc": "VC penalty",
}


@dataclass(frozen=True, eq=False)
class ModelSelection:
    """Learners with their criteria, and the choice of each criterion.

    Parameters
    ----------
    criterion : str
        What `best` goes by.
    learners : tuple of Learner
    columns : mapping of str to ndarray, shape (K,)
        e_in, the degrees of freedom of linear smoothers, and every criterion, for each of the K
        learners; NaN where a learner has none.
    complexity : ndarray, shape (K,)
        What the plot has on its horizontal axis.
    n_obs, n_fits : int
    elapsed : float
        Seconds.
    settings : mapping
        All that is needed to repeat it on the same data.
    """

    criterion: str
    learners: tuple[Learner, ...]
    columns: Mapping[str, np.ndarray]
    complexity: np.ndarray
    n_obs: int
    n_fits: int
    elapsed: float
    settings: Mapping[str, Any]

    def __str__(self) -> str:
        chosen = ", ".join(
            f"{name}: {self.learners[place].name}" for name, place in self.choices.items()
        )
        return f"{self.table.to_string(index=False)}\n\nChosen by {chosen}"

    @property
    def criteria(self) -> tuple[str, ...]:
        """The criteria that were computed."""
        return tuple(name for name in CRITERIA if name in self.columns)

    @property
    def choices(self) -> dict[str, int]:
        """Position of the learner that each criterion chooses: the first of the best."""
        found = {}
        for name in self.criteria:
            values = self.columns[name]
            if not np.isnan(values).all():
                found[name] = int(np.nanargmin(values))
        return found

    @property
    def best(self) -> Learner:
        """The learner that `criterion` chooses."""
        return self.learners[self.choices[self.criterion]]

    @property
    def table(self) -> "pd.DataFrame":
        """One row for each learner."""
        import pandas as pd

        names = [learner.name for learner in self.learners]
        return pd.DataFrame({"learner": names, "complexity": self.complexity, **self.columns})

    def regret(self, errors: Any) -> dict[str, float]:
        """What each choice costs, if the out-of-sample errors are known.

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
        values = np.asarray(errors, dtype=float)
        if values.shape != (len(self.learners),):
            raise ValueError(
                f"errors must have shape ({len(self.learners)},), one for each learner, got "
                f"{values.shape}"
            )
        least = values.min()
        if not least > 0:
            raise ValueError(f"errors must be positive numbers, the smallest is {least}")
        return {name: float(values[at] / least - 1) for name, at in self.choices.items()}

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
        from ucvtest.results.axes import pyplot_axes

        if ax is None:
            ax = pyplot_axes((6.4, 4.2))
        order = np.argsort(self.complexity, kind="stable")
        x = self.complexity[order]
        ax.plot(x, self.columns["e_in"][order], color="#8C8C8C", linestyle="--", label="in-sample")
        for name, place in self.choices.items():
            values = np.where(np.isfinite(self.columns[name]), self.columns[name], np.nan)
            (line,) = ax.plot(
                x,
                values[order],
                label=NAMES[name],
                linewidth=2.4 if name == self.criterion else 1.2,
            )
            ax.plot(self.complexity[place], values[place], "o", color=line.get_color())
        ax.set_xlabel(str(self.settings["complexity"]))
        ax.set_ylabel(f"estimated {self.settings['loss_in_words']}")
        ax.spines[["right", "top"]].set_visible(False)
        ax.legend(fontsize="small", frameon=False)
        return ax


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
    backend: Backend = "auto",
    n_permutations: int = 100,
    n_folds: int = 10,
    n_left_out: int | None = None,
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | None = None,
) -> ModelSelection:
    """Compare learners by estimates of their out-of-sample error, and choose one.

    Parameters
    ----------
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    learners : sequence of learners
        As in `PermutationComplexityTest`, the simplest first: it is chosen among equals.
    criterion : {"permutation", "loo", "kfold", "rademacher", "fpe", "vc"}
        Permutation estimate; leave-one-out and K-fold cross-validation; in-sample error with
        the optimism on labels drawn by fair coins; Akaike's final prediction error; VC penalty.
    criteria : sequence of these, optional
        What is computed; by default all that apply. "rademacher" needs two classes, "fpe" and
        "vc" squared loss; of learners that are not ridge, polynomial, kernel_ridge or smoother
        they are NaN.
    complexity : sequence of float, optional
        Of every learner, for the plot; by default the degrees of freedom where all learners
        have them, else their number in the list.
    loss, pos_label, backend
        See `PermutationComplexityTest`.
    n_permutations : int
        Labellings to draw for "permutation" and for "rademacher"; the same for all learners.
        With squared loss linear smoothers need none.
    n_folds : int
        Folds, each with its share of every class.
    n_left_out : int, optional
        Left-out observations, chosen at random; by default all. Not used where leave-one-out
        has a closed form.
    rng, n_jobs, batch_size, progress
        See `PermutationComplexityTest.fit`.

    Returns
    -------
    ModelSelection
        With ``table``, ``choices``, ``best``, ``regret`` and ``plot``.

    Raises
    ------
    ValueError
        If an argument cannot be used, or a learner fails.

    Notes
    -----
    One fit to all observations serves all criteria of a learner, and what does not depend on
    labels is computed once. Of linear smoothers with squared loss "permutation" and "loo" are
    closed forms; ``scale="mean"`` keeps its penalty per observation in "loo". None of the
    estimates remains unbiased for the learner that is chosen by it.

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
    stopwatch = Stopwatch()
    task = _Task(X, y, learners, criterion, criteria, loss, pos_label, backend, n_folds, n_left_out)
    if as_integer("n_permutations", n_permutations) < 1:
        raise ValueError(f"n_permutations must be at least 1, got {n_permutations}: use 100")
    generator, seed = make_generator(rng)
    run = _Run(task, n_permutations, generator, n_jobs, batch_size)
    rows = []
    with hooks.fitting(task.test), progress_bar(progress, "select_model", "fit") as bar:
        for learner in task.learners:
            before = run.n_fits
            rows.append(run.row(learner))
            bar.update(run.n_fits - before)
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    if np.isnan(columns[criterion]).all():
        raise ValueError(
            f"criterion={criterion!r} exists for none of the learners: use ridge, polynomial, "
            "kernel_ridge or smoother with loss='squared', or another criterion"
        )
    place, label = _complexity(complexity, columns, len(task.learners))
    settings = {
        "criterion": criterion,
        "criteria": list(task.criteria),
        "complexity": label,
        "loss": task.loss.name,
        "loss_in_words": task.loss.in_words,
        "n_permutations": n_permutations,
        "n_folds": n_folds,
        "n_left_out": n_left_out,
        "rng": seed,
    }
    return ModelSelection(
        criterion,
        task.learners,
        MappingProxyType({name: _fixed(values) for name, values in columns.items()}),
        _fixed(place),
        task.sample.n_obs,
        run.n_fits,
        stopwatch.seconds,
        MappingProxyType(settings),
    )


class _Task:
    """The validated question: sample, learners, criteria."""

    def __init__(
        self,
        X: Any,
        y: Any,
        learners: Any,
        criterion: Any,
        criteria: Any,
        loss: Any,
        pos_label: Any,
        backend: Backend,
        n_folds: Any,
        n_left_out: Any,
    ) -> None:
        if isinstance(learners, str) or not isinstance(learners, Sequence) or not len(learners):
            raise ValueError("learners must be a list of at least one learner")
        # The test validates data and loss, and its first learner.
        self.test = PermutationComplexityTest(
            X, y, learners[0], loss=loss, pos_label=pos_label, backend=backend
        )
        self.sample, self.loss = self.test.sample, self.test.loss
        self.criteria = self._criteria(criterion, criteria)
        n = self.sample.n_obs
        self.n_folds = as_integer("n_folds", n_folds)
        if self.n_folds < 2 or ("kfold" in self.criteria and self.n_folds > n):
            raise ValueError(
                f"n_folds must lie between 2 and n = {n}, got {n_folds}: use {min(10, n)}, or "
                "criteria without 'kfold'"
            )
        self.n_left_out = n if n_left_out is None else as_integer("n_left_out", n_left_out)
        if not 1 <= self.n_left_out <= n:
            raise ValueError(f"n_left_out must lie between 1 and n = {n}, got {n_left_out}")
        self.learners = tuple(self._usable(as_learner(each)) for each in learners)

    def _criteria(self, criterion: Any, criteria: Any) -> tuple[str, ...]:
        asked = CRITERIA if criteria is None else (criterion, *criteria)
        for name in (criterion, *asked):
            if name not in CRITERIA:
                raise ValueError(f"criterion={name!r} is unknown: use one of {', '.join(CRITERIA)}")
        lacking = {}
        if self.sample.n_classes != 2:
            lacking["rademacher"] = "two classes"
        if self.loss.name != "squared":
            lacking |= dict.fromkeys(("fpe", "vc"), "loss='squared'")
        explicit = (criterion,) if criteria is None else asked
        for name in explicit:
            if name in lacking:
                raise ValueError(
                    f"criterion={name!r} needs {lacking[name]}: use 'permutation', 'loo' or 'kfold'"
                )
        return tuple(name for name in CRITERIA if name in asked and name not in lacking)

    def _usable(self, learner: Learner) -> Learner:
        n = self.sample.n_obs
        size = n
        if not isinstance(learner, Smoother):
            # The smallest learning set that any criterion asks for.
            size = n - -(-n // self.n_folds) if "kfold" in self.criteria else size
            size = min(size, n - 1) if "loo" in self.criteria else size
        return self.test._fitting_learner(learner, size)


class _Run:
    """Computes the criteria of one learner after the other, on the same draws."""

    def __init__(
        self,
        task: _Task,
        n_permutations: int,
        generator: np.random.Generator,
        n_jobs: int | None,
        batch_size: int | None,
    ) -> None:
        self.task, self.n_permutations = task, n_permutations
        self.n_jobs, self.batch_size = n_jobs, batch_size
        self.seeds = {name: int(generator.integers(2**63 - 1)) for name in (*CRITERIA, "fit")}
        n = task.sample.n_obs
        left_out = self._rng("loo").permutation(n)[: task.n_left_out]
        self.left_out = np.sort(left_out)
        self.fold = self._folds()
        self.n_fits = 0

    def row(self, learner: Learner) -> dict[str, float]:
        """In-sample error and criteria of a learner."""
        task = self.task
        smoother = None
        if task.loss.name == "squared" and has_closed_form(learner):
            smoother = find_smoother(learner, task.sample)[0]
        evaluator = Evaluator(
            task.sample,
            learner,
            task.loss.output,
            n_jobs=self.n_jobs,
            batch_size=self.batch_size,
        )
        row = {"e_in": self._in_sample(evaluator, smoother)}
        row["degrees"] = math.nan if smoother is None else float(np.trace(smoother))
        for name in task.criteria:
            if name in ("permutation", "rademacher"):
                sampling: Sampling = "permutation" if name == "permutation" else "rademacher"
                row[name] = row["e_in"] + self._optimism(evaluator, smoother, sampling)
            elif name == "loo":
                row[name] = self._leave_one_out(learner, evaluator, smoother)
            elif name == "kfold":
                row[name] = self._cross_validation(learner, evaluator)
            else:
                row[name] = self._penalised(name, row["e_in"], row["degrees"])
        return row

    def _in_sample(self, evaluator: Evaluator, smoother: np.ndarray | None) -> float:
        sample, loss = self.task.sample, self.task.loss
        self.n_fits += 1
        if smoother is not None:
            return float(np.mean((sample.target - smoother @ sample.target) ** 2))
        real = sample.target[None]
        seeds = self._rng("fit").integers(2**31 - 1, size=1)
        predictions = evaluator.predict_labelings(real, seeds).values
        return float(relabelled_losses(loss, sample, predictions, real, sample.target)["e_in"][0])

    def _optimism(
        self, evaluator: Evaluator, smoother: np.ndarray | None, sampling: Sampling
    ) -> float:
        sample = self.task.sample
        if smoother is not None:
            variance = reference_labels(sample.target, sampling).var()
            parts = (np.trace(smoother), smoother.sum(), sample.n_obs, sampling)
            return float(smoother_optimism(variance, *parts))
        seeds = self._rng("fit")
        found = optimism(
            evaluator, sample, self.task.loss, sampling, self._labels(sampling), seeds, self._count
        )
        return found.mean("e_gen")

    def _labels(self, sampling: Sampling) -> Iterator[tuple[np.ndarray, None]]:
        # From the same seed for every learner, so that differences are not blurred by the draws.
        rng, target = self._rng(sampling), self.task.sample.target
        size = self.batch_size or max(1, BATCH_CELLS // len(target))
        for start in range(0, self.n_permutations, size):
            count = min(size, self.n_permutations - start)
            yield draw_labels(rng, target, sampling, count), None

    def _leave_one_out(
        self, learner: Learner, evaluator: Evaluator, smoother: np.ndarray | None
    ) -> float:
        sample = self.task.sample
        if smoother is None:
            return self._left_out(evaluator, self.left_out[:, None] == np.arange(sample.n_obs))
        if isinstance(learner, (Ridge, KernelRidge)):
            # The penalty of "mean" follows the number of observations that are left.
            hat = hat_matrix(learner, sample.matrix, sample.n_obs - 1)
            if np.abs(1 - hat.diagonal()).min() > 1e-9:
                each = np.arange(sample.n_obs)[:, None]
                found = held_out_predictions(hat, sample.target, each)[:, 0]
                return float(np.mean((found - sample.target) ** 2))
        residual = sample.target - smoother @ sample.target
        return float(leave_one_out(residual, smoother.diagonal()))

    def _cross_validation(self, learner: Learner, evaluator: Evaluator) -> float:
        if isinstance(learner, Smoother):
            return math.nan
        return self._left_out(evaluator, self.fold == np.arange(self.task.n_folds)[:, None])

    def _left_out(self, evaluator: Evaluator, testing: np.ndarray) -> float:
        """Mean loss of the observations tested (R, n), each learnt without its row's."""
        sample, loss = self.task.sample, self.task.loss
        seeds = self._rng("fit").integers(2**31 - 1, size=len(testing))
        self.n_fits += len(testing)
        values = evaluator.predict(~testing, testing, seeds).values
        tested = testing.any(axis=0)
        predictions = np.where(testing, values, 0.0).sum(axis=0)
        return float(observed_losses(loss, sample, predictions)[tested].mean())

    def _penalised(self, name: str, e_in: float, degrees: float) -> float:
        if math.isnan(degrees):
            return math.nan
        penalised = final_prediction_error if name == "fpe" else vc_penalty
        return float(penalised(e_in, degrees, self.task.sample.n_obs))

    def _folds(self) -> np.ndarray:
        """A random fold for every observation, classes shared out evenly."""
        sample = self.task.sample
        order = self._rng("kfold").permutation(sample.n_obs)
        if sample.n_classes:
            order = order[np.argsort(sample.target[order], kind="stable")]
        fold = np.empty(sample.n_obs, dtype=int)
        fold[order] = np.arange(sample.n_obs) % self.task.n_folds
        return fold

    def _rng(self, name: str) -> np.random.Generator:
        return np.random.default_rng(self.seeds[name])

    def _count(self, n_fits: int, ties: Mapping[str, int]) -> None:
        self.n_fits += n_fits


def _complexity(
    given: Sequence[float] | None, columns: Mapping[str, np.ndarray], n_learners: int
) -> tuple[np.ndarray, str]:
    if given is not None:
        values = np.asarray(given, dtype=float)
        if values.shape != (n_learners,) or not np.isfinite(values).all():
            raise ValueError(
                f"complexity must hold {n_learners} finite numbers, one for each learner"
            )
        return values, "complexity"
    if np.isfinite(columns["degrees"]).all():
        return columns["degrees"], "effective degrees of freedom"
    return np.arange(1.0, n_learners + 1), "number of the learner"


def _fixed(values: np.ndarray) -> np.ndarray:
    copy = np.array(values, dtype=float)
    copy.flags.writeable = False
    return copy
