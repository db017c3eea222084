"""Losses of several learners on the resamples of one design: fitted once, tested many times."""

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

from ucvtest import hooks
from ucvtest.base import HypothesisTest, Stopwatch, make_generator, progress_bar
from ucvtest.design import Design
from ucvtest.designs import as_design
from ucvtest.evaluation import Evaluator
from ucvtest.learners.base import Learner
from ucvtest.losses import LOSSES, Loss, losses_where_tested
from ucvtest.sample import Sample

__all__ = ["AUC", "LossDifference", "Losses", "evaluate", "evaluate_sample"]

AUC = "auc"
"""Instead of a loss: what is kept are decision scores, and the mean of a resample is its AUC."""

SCORES_ONLY = (
    "loss='auc' keeps decision scores, and this test needs the loss of every observation: use "
    "loss='zero_one' or 'log'"
)

FORMAT_VERSION = 1

BATCH_NUMBERS = 2**22
"""Predictions held at a time before the tested ones are kept: 32 MB."""

SCORES = {
    "accuracy": ("zero_one", 1.0, -1.0),
    "neg_log_loss": ("log", 0.0, -1.0),
    "neg_mean_absolute_error": ("absolute", 0.0, -1.0),
    "neg_mean_squared_error": ("squared", 0.0, -1.0),
    "roc_auc": (AUC, 0.0, 1.0),
}
"""scikit-learn's scores that are means over the tested observations (or the AUC): the loss, and
the line that turns the one into the other."""


@dataclass(frozen=True, eq=False)
class Losses:
    """Losses of learners on every tested observation of every resample of one design.

    Made by `evaluate`, `Losses.from_arrays` or `Losses.from_sklearn`; tests take it by their
    ``from_losses``, and say which designs they admit.

    Parameters
    ----------
    design : Design
        Learning and test sets, (R, n).
    learners : tuple of str
        Names, all different.
    loss : str
        Name of the loss, or "auc": then `values` are decision scores and `means` AUCs.
    means : ndarray, shape (L, R)
        Mean loss of each learner in each resample, or its AUC there; NaN where a resample tests
        one class only.
    values : ndarray, shape (L, T), optional
        Losses (scores) of all T tested observations, resample by resample, observations
        ascending; None where only the means are known.
    target : ndarray, shape (n,), optional
        Codes of the classes, or the real response; needed by tests about the AUC.
    in_words : str
        The expected loss in words.
    bounds : tuple of float, optional
        The smallest and the largest value that the loss can have.
    settings : mapping
        How the losses came about: seed, backends, design in words.
    diagnostics : mapping of str to int
        Learning sets with one class, ties.
    elapsed : float
        Seconds that the fits took.
    """

    design: Design
    learners: tuple[str, ...]
    loss: str
    means: np.ndarray
    values: np.ndarray | None = None
    target: np.ndarray | None = None
    in_words: str = ""
    bounds: tuple[float, float] | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    diagnostics: Mapping[str, int] = field(default_factory=dict)
    elapsed: float = math.nan

    def __post_init__(self) -> None:
        for name in ("means", "values", "target"):
            array = getattr(self, name)
            if array is not None:
                array = np.array(array)
                array.flags.writeable = False
                object.__setattr__(self, name, array)
        for name in ("settings", "diagnostics"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def __repr__(self) -> str:
        return (
            f"Losses(learners={self.learners}, loss={self.loss!r}, n_obs={self.design.n_obs}, "
            f"n_resamples={self.design.n_resamples})"
        )

    @property
    def n_fits(self) -> int:
        """Model fits behind the losses: each learner and each learning set counted."""
        return len(self.learners) * self.design.n_resamples

    @property
    def array(self) -> np.ndarray:
        """Losses (scores) as an array (L, R, n), NaN where not tested.

        Raises
        ------
        ValueError
            If only the means are known.
        """
        return np.stack([_spread(row, self.design) for row in self._known_values])

    @property
    def _known_values(self) -> np.ndarray:
        if self.values is None:
            raise ValueError(
                "these losses hold only the mean of each resample (from_sklearn): use "
                "uv.evaluate, or Losses.from_arrays, where every observation's loss is needed"
            )
        return self.values

    def number_of(self, learner: str | int) -> int:
        """The place of a learner, by its name or its place.

        Raises
        ------
        ValueError
            If there is none.
        """
        if learner in self.learners:
            return self.learners.index(str(learner))
        if isinstance(learner, int) and 0 <= learner < len(self.learners):
            return learner
        raise ValueError(f"learner {learner!r} is none of {', '.join(self.learners)}")

    def difference(
        self, learner: str | int = 0, other: str | int | None = None
    ) -> "LossDifference":
        """Losses of one learner, or those of one minus those of another.

        Parameters
        ----------
        learner, other : str or int
            Names or places; `other` None means one learner alone.

        Returns
        -------
        LossDifference
        """
        first = self.number_of(learner)
        second = None if other is None else self.number_of(other)
        if first == second:
            raise ValueError(f"learner and other are both {self.learners[first]!r}")
        return LossDifference(self, first, second)

    @classmethod
    def from_arrays(
        cls,
        values: Any,
        learning: Any,
        testing: Any = None,
        *,
        learners: Sequence[str] | None = None,
        loss: str = "zero_one",
        y: Any = None,
    ) -> "Losses":
        """Losses that were computed elsewhere.

        Parameters
        ----------
        values : array, shape (L, R, n) or (R, n)
            Loss of each learner after each fit at each observation; anything where not tested.
            Decision scores for ``loss="auc"``.
        learning, testing : array of 0/1, shape (R, n)
            Who was learnt from and who was tested; by default the rest is tested.
        learners : sequence of str, optional
            By default "learner 1", "learner 2", ...
        loss : str
            A name that ucvtest knows ("zero_one", "squared", "absolute", "log"), "auc", or any
            other for a loss of your own.
        y : array, shape (n,), optional
            Labels 0 and 1; needed for "auc".

        Raises
        ------
        ValueError
            If shapes do not match, values that are tested are not finite, outside of the
            bounds of the loss, or `y` lacks.

        Examples
        --------
        >>> import numpy as np
        >>> import ucvtest as uv
        >>> learning = np.kron(1 - np.eye(2, dtype=int), np.ones((1, 3), dtype=int))
        >>> values = np.array([[[1, 0, 0, 0, 0, 0]] * 2, [[1, 1, 1, 0, 0, 1]] * 2])
        >>> losses = uv.Losses.from_arrays(values, learning, learners=["lda", "knn"])
        >>> losses.means.round(3)
        array([[0.333, 0.   ],
               [1.   , 0.333]])
        """
        design = Design.checked(learning, testing)
        array = np.asarray(values, dtype=float)
        array = array[None] if array.ndim == 2 else array
        if array.ndim != 3 or array.shape[1:] != design.testing.shape:
            raise ValueError(
                f"values must have shape (L, R, n) = (L, {design.n_resamples}, {design.n_obs}), "
                f"got {np.shape(values)}"
            )
        names = _names(learners, len(array))
        known = LOSSES.get(loss)
        kept = array[:, design.testing]
        if not np.isfinite(kept).all():
            raise ValueError("values holds NaN or infinity where observations are tested")
        bounds = None if known is None else known.bounds
        if bounds and (kept.min() < bounds[0] or kept.max() > bounds[1]):
            raise ValueError(f"values lie outside of {bounds}, which loss={loss!r} cannot")
        target = None if y is None else np.asarray(y)
        if target is not None and target.shape != (design.n_obs,):
            raise ValueError(f"y must have shape ({design.n_obs},), got {target.shape}")
        if loss == AUC and (target is None or not set(target.tolist()) == {0, 1}):
            raise ValueError("loss='auc' needs y with the labels 0 and 1")
        return cls(
            design=design,
            learners=names,
            loss=loss,
            means=_means(kept, design, target if loss == AUC else None),
            values=kept,
            target=target,
            in_words=_in_words(loss, known),
            bounds=bounds,
            settings={"source": "arrays"},
        )

    @classmethod
    def from_sklearn(
        cls, results: Mapping[str, Any], n_obs: int, *, score: str, test_score: str | None = None
    ) -> "Losses":
        """The mean losses in what scikit-learn's ``cross_validate`` returned.

        They suffice for the tests that need no more than the mean of each resample.

        Parameters
        ----------
        results : mapping
            Name of each learner and what ``cross_validate(..., return_indices=True)`` returned
            for it, with the same splits for all.
        n_obs : int
            Observations in the data.
        score : {"accuracy", "neg_log_loss", "neg_mean_absolute_error", \
"neg_mean_squared_error", "roc_auc"}
            What was scored.
        test_score : str, optional
            The key of the scores, by default "test_score" or "test_" and the score's name.

        Raises
        ------
        ValueError
            If indices lack or differ between learners, or the score is none of these.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        >>> from sklearn.model_selection import KFold, cross_validate
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> import ucvtest as uv
        >>> X, y = load_iris(return_X_y=True)
        >>> folds = KFold(10, shuffle=True, random_state=0)
        >>> results = {
        ...     name: cross_validate(model, X, y, cv=folds, return_indices=True)
        ...     for name, model in (
        ...         ("lda", LinearDiscriminantAnalysis()), ("knn", KNeighborsClassifier())
        ...     )
        ... }
        >>> uv.Losses.from_sklearn(results, 150, score="accuracy").means.shape
        (2, 10)
        """
        if score not in SCORES:
            raise ValueError(f"score={score!r} is unknown: use one of {', '.join(SCORES)}")
        loss, shift, slope = SCORES[score]
        designs, means = [], []
        for name, result in results.items():
            if "indices" not in result:
                raise ValueError(f"results[{name!r}] has no indices: pass return_indices=True")
            indices = result["indices"]
            designs.append(
                Design.from_indices(zip(indices["train"], indices["test"], strict=True), n_obs)
            )
            means.append(shift + slope * _scores_of(result, name, score, test_score))
        if not designs:
            raise ValueError("results is empty: pass at least one learner's")
        if any(design != designs[0] for design in designs):
            raise ValueError("results have different splits: pass the same cv= to all learners")
        return cls(
            design=designs[0],
            learners=_names(list(results), len(designs)),
            loss=loss,
            means=np.array(means),
            in_words=_in_words(loss, LOSSES.get(loss)),
            bounds=LOSSES[loss].bounds if loss in LOSSES else None,
            settings={"source": "scikit-learn", "score": score},
        )

    def to_dict(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts: 0/1 matrices as lists of row numbers."""
        return {
            "format": "ucvtest.Losses",
            "version": FORMAT_VERSION,
            "n_obs": self.design.n_obs,
            "learning": [np.flatnonzero(row).tolist() for row in self.design.learning],
            "testing": [np.flatnonzero(row).tolist() for row in self.design.testing],
            "means": _finite_or_none(self.means),
            "values": None if self.values is None else self.values.tolist(),
            "target": None if self.target is None else self.target.tolist(),
            **self._words(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Losses":
        """The losses that `to_dict` was called on.

        Raises
        ------
        ValueError
            If `data` was not written by `to_dict`, or by a newer version of it.
        """
        _check_format(data)
        splits = zip(data["learning"], data["testing"], strict=True)
        means = np.array(data["means"], dtype=float)  # None becomes NaN
        design = Design.from_indices(splits, data["n_obs"])
        return cls._restored(data, design, means, data["values"], data["target"])

    def save(self, path: str | Path) -> None:
        """Write to a file that `load` reads: .npz, or .json.

        Nothing in it is pickled, so a file from elsewhere can be read without risk.

        Raises
        ------
        ValueError
            If the name ends otherwise.
        """
        path = Path(path)
        if _suffix(path) == ".json":
            path.write_text(json.dumps(self.to_dict(), allow_nan=False))
            return
        words = {"format": "ucvtest.Losses", "version": FORMAT_VERSION, **self._words()}
        arrays: dict[str, Any] = {
            "words": np.array(json.dumps(words)),
            "means": self.means,
            "learning": self.design.learning,
            "testing": self.design.testing,
            "values": self.values,
            "target": self.target,
        }
        known = {name: array for name, array in arrays.items() if array is not None}
        with path.open("wb") as file:
            np.savez_compressed(file, **known)

    @classmethod
    def load(cls, path: str | Path) -> "Losses":
        """Read what `save` wrote.

        Raises
        ------
        ValueError
            If the file holds something else.
        """
        path = Path(path)
        if _suffix(path) == ".json":
            return cls.from_dict(json.loads(path.read_text()))
        with np.load(path, allow_pickle=False) as file:
            if "words" not in file:
                raise ValueError(f"{path.name} holds no losses written by Losses.save")
            words = json.loads(str(file["words"]))
            _check_format(words)
            design = Design(file["learning"], file["testing"])
            optional = {name: file.get(name) for name in ("values", "target")}
            return cls._restored(words, design, file["means"], **optional)

    def _words(self) -> dict[str, Any]:
        return {
            "learners": list(self.learners),
            "loss": self.loss,
            "in_words": self.in_words,
            "bounds": None if self.bounds is None else list(self.bounds),
            "settings": dict(self.settings),
            "diagnostics": dict(self.diagnostics),
            "elapsed": None if math.isnan(self.elapsed) else self.elapsed,
        }

    @classmethod
    def _restored(
        cls, words: Mapping[str, Any], design: Design, means: np.ndarray, values: Any, target: Any
    ) -> "Losses":
        return cls(
            design=design,
            learners=tuple(words["learners"]),
            loss=words["loss"],
            means=means,
            values=None if values is None else np.asarray(values),
            target=None if target is None else np.asarray(target),
            in_words=words["in_words"],
            bounds=None if words["bounds"] is None else (words["bounds"][0], words["bounds"][1]),
            settings=words["settings"],
            diagnostics=words["diagnostics"],
            elapsed=math.nan if words["elapsed"] is None else words["elapsed"],
        )


@dataclass(frozen=True, eq=False)
class LossDifference:
    """Losses of one learner, or paired differences of two, on the resamples of a design.

    Parameters
    ----------
    losses : Losses
    learner : int
    other : int or None
        Places in `losses`.
    """

    losses: Losses
    learner: int
    other: int | None

    @property
    def design(self) -> Design:
        """Learning and test sets."""
        return self.losses.design

    @property
    def paired(self) -> bool:
        """Whether there are two learners."""
        return self.other is not None

    @property
    def n_fits(self) -> int:
        """Model fits behind these losses."""
        return (2 if self.paired else 1) * self.design.n_resamples

    @property
    def means(self) -> np.ndarray:
        """Mean loss (difference), or AUC (difference), of every resample, (R,)."""
        return self._of(self.losses.means)

    @property
    def values(self) -> np.ndarray:
        """Losses or differences of all tested observations, resample by resample, (T,).

        Raises
        ------
        ValueError
            If only the means are known, or these are scores, whose differences mean nothing.
        """
        if self.losses.loss == AUC:
            raise ValueError(SCORES_ONLY)
        return self._of(self.losses._known_values)

    @property
    def each(self) -> dict[str, np.ndarray]:
        """Losses (scores) of the learner, and of the other where there is one, (T,), by name."""
        places = (self.learner,) if self.other is None else (self.learner, self.other)
        return {self.losses.learners[place]: self.losses._known_values[place] for place in places}

    @property
    def tested_target(self) -> np.ndarray:
        """Codes of the classes, or the response, of all tested observations, (T,).

        Raises
        ------
        ValueError
            If the losses came without it.
        """
        if self.losses.target is None:
            raise ValueError("these losses came without y: pass it to Losses.from_arrays")
        return np.broadcast_to(self.losses.target, self.design.testing.shape)[self.design.testing]

    @property
    def table(self) -> np.ndarray:
        """The same as (R, n), NaN where not tested."""
        return _spread(self.values, self.design)

    @property
    def identical(self) -> bool:
        """Whether two learners had the same losses throughout."""
        if not self.paired:
            return False
        known = self.losses.means if self.losses.values is None else self.losses.values
        return bool((known[self.learner] == known[self.other]).all())

    def _of(self, values: np.ndarray) -> np.ndarray:
        if self.other is None:
            return values[self.learner]
        return values[self.learner] - values[self.other]


def evaluate(
    learners: Any,
    X: Any,
    y: Any,
    design: Any = 10,
    loss: Any = None,
    *,
    pos_label: Any = None,
    backend: Any = "auto",
    rng: int | np.random.Generator | None = None,
    n_jobs: int | None = None,
    batch_size: int | None = None,
    progress: bool | None = None,
) -> Losses:
    """Fit learners on the learning sets of one design, and keep every loss on the test sets.

    Parameters
    ----------
    learners : learner, sequence or mapping
        One or several; of a mapping the keys are the names.
    X : array or DataFrame, shape (n, p)
    y : array-like, shape (n,)
    design : int, uv.designs object, or scikit-learn splitter
        An integer is the number of folds.
    loss : str, callable, Loss or matrix, optional
        As for the tests; "auc" keeps decision scores, from which AUCs are computed.
    pos_label, backend : optional
        See the tests.
    rng : None, int or numpy Generator
        Decides the design and the seeds of learners with randomness of their own; the same
        for every learner, `n_jobs` and `batch_size`.
    n_jobs : int, optional
        joblib's workers, for learners that are not jitted.
    batch_size : int, optional
        Learning sets evaluated at once: bounds the memory, changes no result.
    progress : bool, optional
        Show a progress bar; by default on terminals, after three seconds.

    Returns
    -------
    Losses
        Kept are the tested observations: 8 bytes for each, learner and resample.

    Raises
    ------
    ValueError
        If an argument cannot be used; always before the first fit.

    Examples
    --------
    >>> import ucvtest as uv
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> losses = uv.evaluate(["lda", "knn:3"], X[50:, :2], y[50:], design=10, rng=0)
    >>> losses
    Losses(learners=('lda', 'knn:3'), loss='zero_one', n_obs=100, n_resamples=10)
    >>> losses.means.mean(axis=1).round(2)
    array([0.31, 0.33])
    """
    named = _named_learners(learners)
    auc = isinstance(loss, str) and loss == AUC
    # Validates data and learners as every test does; two at a time is what it can.
    tests = [
        HypothesisTest(
            X,
            y,
            learner,
            loss=None if auc else loss,
            output="score" if auc else None,
            pos_label=pos_label,
            backend=backend,
        )
        for learner in named.values()
    ]
    first = tests[0]
    if auc and first.sample.n_classes != 2:
        raise ValueError(f"loss='auc' needs two classes, y has {first.sample.n_classes}")
    plan = as_design(design, X, y)
    plan.check(first.sample.n_obs)
    generator, seed = make_generator(rng)
    drawn = plan.draw(first.sample.n_obs, generator)
    for test in tests:
        test._check_learners(drawn.learn_sizes[0])
    with hooks.fitting(first), progress_bar(progress, "evaluate", "fit") as bar:
        return evaluate_sample(
            first.sample,
            {name: test.learner for name, test in zip(named, tests, strict=True)},
            drawn,
            first.loss,
            generator,
            settings={"design": plan.words, "rng": seed},
            n_jobs=n_jobs,
            batch_size=batch_size,
            bar=bar,
        )


def evaluate_sample(
    sample: Sample,
    learners: Mapping[str, Learner],
    design: Design,
    loss: Loss | None,
    rng: np.random.Generator,
    *,
    settings: Mapping[str, Any],
    n_jobs: int | None = None,
    batch_size: int | None = None,
    bar: Any = None,
) -> Losses:
    """`evaluate` for data and learners that have been checked.

    Parameters
    ----------
    sample : Sample
    learners : mapping of str to Learner
    design : Design
    loss : Loss or None
        None keeps decision scores, for the AUC.
    rng : numpy Generator
        Draws one seed for each learning set, the same for every learner.
    settings : mapping
        How the design was drawn, kept with the losses.
    n_jobs, batch_size : optional
    bar : progress bar, optional

    Returns
    -------
    Losses
    """
    stopwatch = Stopwatch()
    seeds = rng.integers(2**31 - 1, size=design.n_resamples)
    output = "score" if loss is None else loss.output
    ties: Counter[str] = Counter()
    rows, single = [], 0
    for learner in learners.values():
        evaluator = Evaluator(sample, learner, output, n_jobs=n_jobs, batch_size=batch_size)
        parts = []
        for batch in _batches(design, batch_size):
            part = design.rows(batch)
            found = evaluator.predict(part.learning, part.testing, seeds[batch])
            values = found.values
            if loss is not None:
                values = losses_where_tested(loss, sample, values, part.testing)
            parts.append(values[part.testing])
            ties.update(found.ties)
            if bar is not None:
                bar.update(part.n_resamples)
        rows.append(np.concatenate(parts))
        single += evaluator.one_class_fits
    kept = np.array(rows, dtype=float)
    target = sample.target
    return Losses(
        design=design,
        learners=tuple(learners),
        loss=AUC if loss is None else loss.name,
        means=_means(kept, design, target if loss is None else None),
        values=kept,
        target=target,
        in_words="AUC" if loss is None else loss.in_words,
        bounds=None if loss is None else loss.bounds,
        settings={
            **settings,
            "backends": {name: learner.backend for name, learner in learners.items()},
        },
        diagnostics={"one_class_fits": single, **ties},
        elapsed=stopwatch.seconds,
    )


def _batches(design: Design, batch_size: int | None) -> list[slice]:
    size = max(1, BATCH_NUMBERS // design.n_obs) if batch_size is None else batch_size
    return [slice(start, start + size) for start in range(0, design.n_resamples, size)]


def _named_learners(learners: Any) -> dict[str, Any]:
    """Names and learners in their order; the names of jitted ones are their own."""
    from ucvtest.learners.coerce import as_learner

    if isinstance(learners, Mapping):
        named = {str(name): as_learner(learner) for name, learner in learners.items()}
        if not named:
            raise ValueError("learners is empty: pass at least one")
        return named
    several = isinstance(learners, (list, tuple))
    found = [as_learner(learner) for learner in (learners if several else [learners])]
    if not found:
        raise ValueError("learners is empty: pass at least one")
    counts = Counter(learner.name for learner in found)
    seen: Counter[str] = Counter()
    named = {}
    for learner in found:
        seen[learner.name] += 1
        again = counts[learner.name] > 1
        named[f"{learner.name} ({seen[learner.name]})" if again else learner.name] = learner
    return named


def _means(kept: np.ndarray, design: Design, target: np.ndarray | None) -> np.ndarray:
    """Mean of every resample, (L, R); its AUC where a target is given."""
    sizes = design.testing.sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    if target is None:
        return np.add.reduceat(kept, starts, axis=1) / sizes
    labels = np.broadcast_to(target, design.testing.shape)[design.testing]
    parts = [slice(start, start + size) for start, size in zip(starts, sizes, strict=True)]
    return np.array([[_auc(labels[part], row[part]) for part in parts] for row in kept])


def _auc(labels: np.ndarray, scores: np.ndarray) -> float:
    both = labels.min() < labels.max()
    return float(roc_auc_score(labels, scores)) if both else math.nan


def _spread(values: np.ndarray, design: Design) -> np.ndarray:
    table = np.full(design.testing.shape, np.nan)
    table[design.testing] = values
    return table


def _names(learners: Sequence[str] | None, n_learners: int) -> tuple[str, ...]:
    if learners is None:
        return tuple(f"learner {place}" for place in range(1, n_learners + 1))
    names = tuple(map(str, learners))
    if len(names) != n_learners or len(set(names)) < n_learners:
        raise ValueError(f"learners must be {n_learners} different names, got {list(names)}")
    return names


def _in_words(loss: str, known: Loss | None) -> str:
    if loss == AUC:
        return "AUC"
    return f"expected {loss} loss" if known is None else known.in_words


def _scores_of(
    result: Mapping[str, Any], name: str, score: str, test_score: str | None
) -> np.ndarray:
    keys = ("test_score", f"test_{score}") if test_score is None else (test_score,)
    for key in keys:
        if key in result:
            return np.asarray(result[key], dtype=float)
    raise ValueError(f"results[{name!r}] has no {' or '.join(keys)}: pass test_score=")


def _finite_or_none(means: np.ndarray) -> list[list[float | None]]:
    return [[None if math.isnan(value) else value for value in row] for row in means.tolist()]


def _check_format(data: Mapping[str, Any]) -> None:
    if data.get("format") != "ucvtest.Losses":
        raise ValueError("data does not hold losses written by Losses.save or Losses.to_dict")
    if data.get("version", 0) > FORMAT_VERSION:
        raise ValueError(
            f"data has format version {data['version']}, this ucvtest reads up to "
            f"{FORMAT_VERSION}: upgrade ucvtest"
        )


def _suffix(path: Path) -> str:
    if path.suffix not in (".npz", ".json"):
        raise ValueError(f"path must end in .npz or .json, got {path.name}")
    return path.suffix
