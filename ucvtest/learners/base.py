"""What every learner is: jitted, for many learning sets at once, or fitted to one at a time."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import MISSING, dataclass, field, fields
from inspect import Parameter
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit, softmax

from ucvtest.common.checks import declared
from ucvtest.common.words import arg, term
from ucvtest.data.output import OUTPUTS, Output
from ucvtest.data.sample import Sample
from ucvtest.learners.batching import RESULT_NUMBERS, power_of_two, refuse_pairs

Scale = Literal["log_odds", "share", "fitted", "discriminant"]

WITHOUT: dict[Scale, tuple[Output, ...]] = {
    "log_odds": (),
    "share": (),
    "fitted": ("probability",),
    "discriminant": ("number", "probability"),
}
"""What cannot be made of scores in these units."""

MARGIN = (1e-8, 1e-12)
"""Distance from the cut, absolute and relative to the largest score, within which the error of a
solution could decide about a label."""


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predictions of many fits for all observations.

    Parameters
    ----------
    values : ndarray, shape (R, n), or (R, n, C) for scores of C > 2 classes
        Row r contains the predictions of the rule learnt on learning set r: labels 0, 1, ...,
        numbers, probabilities or scores; labels may be small integers.
    ties : Counter
        How often a rule for ties decided, by the kind of tie.
    failed : mapping of int to Exception
        Why learners failed, by the number of the split, where single fits may fail; their values
        mean nothing.
    """

    values: np.ndarray
    ties: Counter[str]
    failed: Mapping[int, Exception] = field(default_factory=dict)


class UnreadablePredictions(ValueError):
    """Predictions that are none: a mistake in the learner, whatever it was fitted to.

    Where single fits may fail, this is not such a failure.
    """


@contextmanager
def reading() -> Iterator[None]:
    """Tell errors over what a learner returned from errors inside of it."""
    try:
        yield
    except UnreadablePredictions:
        raise
    except ValueError as error:
        raise UnreadablePredictions(str(error)) from error


class Learner(ABC):
    """Something that learns from some observations and predicts others."""

    backend: ClassVar[str]
    """What does the fits: "jax", "sklearn", or "function"."""

    @property
    @abstractmethod
    def name(self) -> str:
        """How the learner is written in summaries and settings."""

    @property
    def regresses(self) -> bool:
        """Whether it predicts numbers, and labels of two classes at most."""
        return False

    def for_sample(self, sample: Sample) -> "Learner":
        """The learner of this sample: itself, but for names that depend on the response."""
        return self

    def note_on(self, sample: Sample) -> str:
        """What results should say of the learner on this sample; "" if nothing."""
        return ""

    with_probabilities: ClassVar[str] = "a learner with probabilities such as lda, knn or lasso"
    """What to use where it has none that a loss needs; part of the error."""

    def possible_outputs(self, n_classes: int) -> tuple[Output, ...]:
        """What it can predict of that many classes, 0 of a real response; empty if nothing."""
        return tuple(output for output in OUTPUTS if n_classes <= 2 or output != "number")

    @abstractmethod
    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse, with the remedy, what this learner cannot do; called before any fit.

        Raises
        ------
        ValueError
        """

    def check_output(self, sample: Sample, output: Output) -> None:
        """Refuse classes, numbers and outputs that are not among `possible_outputs`.

        Raises
        ------
        ValueError
        """
        n_classes, possible = sample.n_classes, self.possible_outputs(sample.n_classes)
        if output in possible or (possible and not n_classes):
            return
        if not n_classes:
            raise ValueError(needs_labels(self.name))
        if n_classes > 2 and output == "score":
            raise ValueError(
                f"learner {self.name} has no score for each class, which the AUC of {n_classes} "
                "classes needs: use lda, qda, gaussian_nb, nearest_centroid, knn, majority or "
                f"{term('a scikit-learn classifier')} that gives probabilities, or merge classes"
            )
        if n_classes > 2 and not (possible and output == "probability"):
            amounts = f", or pass {arg('loss', 'squared')} if y contains amounts"
            raise ValueError(
                f"learner {self.name} with this loss needs two classes, but y has {n_classes}: use "
                f"{arg('loss', 'zero_one')} with lda, qda, nearest_centroid, knn or "
                f"{term('a scikit-learn classifier')}, or merge classes"
                f"{amounts if self.possible_outputs(0) else ''}"
            )
        raise ValueError(
            f"learner {self.name} gives no {output} for class labels: use "
            f"{arg('loss', 'zero_one')}, or {self.with_probabilities}"
        )

    def check_weights(self) -> None:
        """Refuse to learn from rows with weights, unless the learner can.

        Raises
        ------
        ValueError
        """
        raise ValueError(
            f"learner {self.name} cannot weight rows in fitting: pass weights for 'loss' alone, or "
            "a scikit-learn estimator whose fit takes sample_weight"
        )


class SplitLearner(Learner):
    """A learner that is fitted to one learning set at a time, by joblib's workers."""

    backend: ClassVar[str] = "function"
    calling_thread_only: ClassVar[bool] = False
    """Whether all fits run where the test was called, whatever `n_jobs` says."""

    def quietly(self) -> AbstractContextManager[None]:
        """A context for many fits, without warnings that would say the same of each of them."""
        return nullcontext()

    @abstractmethod
    def fit_predict(
        self, sample: Sample, learning: np.ndarray, testing: np.ndarray, output: Output, seed: int
    ) -> np.ndarray:
        """Learn from the rows `learning` and predict the rows `testing`.

        Parameters
        ----------
        sample : Sample
        learning, testing : ndarray of int
            Row numbers.
        output : {"label", "number", "probability", "score"}
        seed : int
            For learners with randomness of their own.

        Returns
        -------
        ndarray, shape (len(testing),)
            Labels 0, 1, ... for "label", otherwise numbers; (len(testing), C) for scores of
            C > 2 classes.
        """

    def fit_predict_each(
        self, fits: Iterable[tuple[Sample, np.ndarray, np.ndarray, int]], output: Output
    ) -> Iterator[np.ndarray]:
        """Predictions of several fits in their order: sample, learning and testing rows, seed.

        They go on after an error in one, unless they are a generator: that is then called again for
        the rest. Learners that have workers of their own share the fits out among them here.
        """

        def predict(fit: tuple[Sample, np.ndarray, np.ndarray, int]) -> np.ndarray:
            sample, learning, testing, seed = fit
            return self.fit_predict(sample, learning, testing, output, seed)

        return map(predict, fits)


class JittedLearner(Learner):
    """A learner whose fits to many learning sets are one jitted, batched computation.

    Subclasses are frozen dataclasses that contain the settings, whose types declare their ranges.
    `prepare` does what all fits share, once; `scores` does the fits. They are deterministic and
    symmetric in the learning rows.
    """

    backend: ClassVar[str] = "jax"

    family: ClassVar[str]
    """The short name of the function that makes it."""
    arguments: ClassVar[tuple[str, ...]] = ()
    """Settings that the short string has by place, and not by name."""
    scale: ClassVar[Scale]
    """Units of the scores: log-odds, share of votes, fitted label 0 or 1, discriminant."""
    multiclass: ClassVar[bool] = False
    """Whether more than two classes are possible."""
    regression: ClassVar[bool] = False
    """Whether a real response is possible."""
    needs_features: ClassVar[bool] = True
    """Whether features are looked at; where not, they may contain anything."""
    batch_rows: ClassVar[int] = 1024
    """Learning sets fitted in one call: large enough to fill the processor, small enough to stay
    in its cache."""
    pair_bytes: ClassVar[int] = 0
    """Memory that `prepare` takes for each pair of observations, about; 0 where it needs none."""
    careful: bool = False
    """Whether what rounding errors could decide is left open, NaN, by a learner that stands for an
    estimator: labels within `MARGIN` of the cut, and solutions without eight digits."""
    no_solution: ClassVar[str] = "the fit has no solution"
    """Why a fit can end in NaN, and what to do about it; part of the error."""

    def __post_init__(self) -> None:
        for setting in _settings(self):
            value, default = getattr(self, setting.name), setting.default
            default = Parameter.empty if default is MISSING else default
            value = declared(_argument(setting), value, setting.type, default)
            object.__setattr__(self, setting.name, value)

    @property
    def name(self) -> str:
        """The short string: family, arguments, and all other settings that are not the default."""
        settings = [f for f in _settings(self) if f.repr]
        by_place = [f for name in self.arguments for f in settings if f.name == name]
        while by_place and getattr(self, by_place[-1].name) == by_place[-1].default:
            by_place.pop()
        written = [str(getattr(self, f.name)) for f in by_place]
        for f in settings:
            value = getattr(self, f.name)
            if f.name not in self.arguments and value != f.default:
                written.append(f"{_argument(f)}={str(value).lower()}")
        return f"{self.family}:{','.join(written)}" if written else self.family

    @property
    def regresses(self) -> bool:
        """See `Learner`."""
        return self.regression and not self.multiclass

    @abstractmethod
    def prepare(self, sample: Sample) -> Any:
        """Compute what all fits share.

        Parameters
        ----------
        sample : Sample

        Returns
        -------
        Any
            Passed on to `scores` as it is.
        """

    @abstractmethod
    def scores(
        self, state: Any, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray:
        """Fit every learning set and score every observation.

        Parameters
        ----------
        state : Any
            What `prepare` returned.
        learning : ndarray of bool, shape (R, n)
            Row r marks learning set r. Sets with a single class may be among them; their scores are
            ignored. With `labels` one row may stand for all.
        labels : ndarray of float64, shape (R, n), optional
            Row r contains the labels 0, 1, ..., or the real values, that set r learns instead of
            the sample's. Parts that do not depend on them are computed once for a common set.

        Returns
        -------
        ndarray of float64, shape (R, n), or (R, n, C) for C > 2 classes
            Scores that rise with the positive class, or one score for each class.
        """

    def possible_outputs(self, n_classes: int) -> tuple[Output, ...]:
        """Those of its scale."""
        if not n_classes:
            return ("number",) if self.regression else ()
        if n_classes > 2 and not self.multiclass:
            return ()
        without = WITHOUT[self.scale] + ("number",) * (n_classes > 2)
        return tuple(output for output in OUTPUTS if output not in without)

    def rows_per_call(self, sample: Sample) -> int:
        """Learning sets fitted in one call: `batch_rows`, fewer where the sample is large."""
        return min(self.batch_rows, power_of_two(RESULT_NUMBERS // sample.n_obs))

    def labelings_per_call(self, sample: Sample) -> int:
        """Labelings of one learning set that are fitted in one call."""
        return self.rows_per_call(sample)

    def check(self, sample: Sample, output: Output, learn_size: int) -> None:
        """Refuse responses and outputs that the learner cannot handle."""
        self.check_output(sample, output)
        refuse_pairs(f"learner {self.name}", sample.n_obs, self.pair_bytes)
        if self.needs_features:
            sample.matrix_for(f"learner {self.name}")

    def predict(
        self,
        state: Any,
        learning: np.ndarray,
        output: Output,
        testing: np.ndarray | None = None,
        labels: np.ndarray | None = None,
    ) -> Predictions:
        """Predictions of the kind that a loss needs, from the scores.

        Parameters
        ----------
        state : Any
            What `prepare` returned.
        learning : ndarray of bool, shape (R, n)
        output : {"label", "number", "probability", "score"}
        testing : ndarray of bool, shape (R, n), optional
            Which ties are counted; by default all.
        labels : ndarray of float64, shape (R, n), optional
            The response to learn instead of the sample's; `learning` may then have one row.

        Returns
        -------
        Predictions
            NaN if a fit has no solution, or a label is left open.
        """
        if output == "label":
            predicted = self.codes(state, learning, labels)
            if predicted is not None:
                return Predictions(predicted, Counter(score_ties=0))
        scores = self.scores(state, learning, labels)
        if output == "label":
            return self.elect(scores, testing)
        return Predictions(self._number(scores, output), Counter())

    def codes(
        self, state: Any, learning: np.ndarray, labels: np.ndarray | None = None
    ) -> np.ndarray | None:
        """Predicted labels 0 and 1, where a learner finds them without its scores.

        Parameters
        ----------
        state : Any
            What `prepare` returned.
        learning : ndarray of bool, shape (R, n)
        labels : ndarray of float64, shape (R, n), optional
            As in `scores`.

        Returns
        -------
        ndarray of int8, shape (R, n), or None
            None also where a score is at the cut, or missing: `elect` then decides.
        """
        return None

    def elect(self, scores: np.ndarray, testing: np.ndarray | None = None) -> Predictions:
        """Labels for what `scores` returned; arguments as in `predict`."""
        if scores.ndim == 3:
            labels, best_score, second = leading(scores)
            ahead = best_score - second
        else:
            best_score, ahead = scores, scores - self.cut
            labels = (ahead > 0).astype(np.int8)
            if self.tie_code != 0.0:
                labels = np.where(ahead == 0, self.tie_code, labels)
        tied, missing = ahead == 0, np.isnan(best_score)
        if self.careful:
            # The scores of classes that a learning set does not have are infinite.
            largest = np.where(np.isfinite(scores), np.abs(scores), 0.0).max()
            missing |= np.abs(ahead) <= MARGIN[0] + MARGIN[1] * largest
        # A comparison alone would make NaN a class.
        if missing.any():
            labels = np.where(missing, np.nan, labels)
        counted = tied if testing is None else tied & testing
        return Predictions(labels, Counter(score_ties=int(np.count_nonzero(counted))))

    @property
    def cut(self) -> float:
        """The score above which the positive class is predicted."""
        return 0.0 if self.scale in ("log_odds", "discriminant") else 0.5

    @property
    def tie_code(self) -> float:
        """The label predicted for a score at the cut: that of the first class, as in glmnet."""
        return 0.0

    def _number(self, scores: np.ndarray, output: Output) -> np.ndarray:
        if scores.ndim == 3 and output == "probability":
            return softmax(scores, axis=2) if self.scale == "log_odds" else scores
        if self.scale == "log_odds" and output in ("number", "probability"):
            return expit(scores)
        return self.class_scores(scores) if scores.ndim == 3 else scores

    def class_scores(self, scores: np.ndarray) -> np.ndarray:
        """Scores (R, n, C) of several classes that can be compared between observations.

        Scores that choose the class of one observation may have a part in common to all classes,
        which another observation does not have.
        """
        return scores


MOST_NAMES = 3


def notes_on_learners(learners: Iterable[Learner], sample: Sample) -> list[str]:
    """What results should say of learners, once each."""
    learners = list(learners)
    notes = [*filter(None, dict.fromkeys(learner.note_on(sample) for learner in learners))]
    names = [learner.name for learner in learners if learner.regresses]
    if names and sample.classes is not None:
        listed = ", ".join(names[:MOST_NAMES]) + (" and others" if len(names) > MOST_NAMES else "")
        notes.append(
            f"Regressions, which fit the labels as the numbers 0 and 1: {listed}. Classification "
            'with a ridge penalty, as by glmnet, is "logistic:0.1".'
        )
    example_by_scale = {
        learner.penalty_scale: learner.name
        for learner in learners
        if getattr(learner, "lam", 0) and hasattr(learner, "penalty_scale")
    }
    if len(example_by_scale) > 1:
        notes.append(
            f"Penalties have different scales: that of {example_by_scale['mean']} is added to a "
            f"mean over the learning set, and that of {example_by_scale['sum']} to a sum, where "
            "the same number means less the more observations there are. To set them alike, give "
            "both the same scale, mean or sum."
        )
    return notes


def needs_labels(name: str) -> str:
    """The message about a learner of classes and a real response."""
    return (
        f"learner {name} needs class labels, but y contains real values: use ridge, knn or "
        f"{term('a scikit-learn regressor')}, or {arg('loss', 'zero_one')} if y contains labels"
    )


def _settings(learner: Any) -> tuple[Any, ...]:
    """The fields of a learner."""
    return fields(learner)


def _argument(setting: Any) -> str:
    """What a setting is called by users, for whom the units of scores have no name."""
    return "scale" if setting.name == "penalty_scale" else str(setting.name)


def leading(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first class with the best score, that score, and the second best; each (R, n).

    Class by class: along a short last axis everything takes several times as long.
    """
    best_score, second = scores[:, :, 0], np.full(scores.shape[:2], -np.inf)
    predicted = np.zeros(scores.shape[:2], dtype=np.int8 if scores.shape[2] < 128 else int)
    for k in range(1, scores.shape[2]):
        other = scores[:, :, k]
        predicted[other > best_score] = k
        second = np.maximum(second, np.minimum(best_score, other))
        best_score = np.maximum(best_score, other)
    return predicted, best_score, second


def margins(scores: np.ndarray) -> np.ndarray:
    """By how much the score of each class is above the best of the others, (R, n, C)."""
    best_two = np.partition(scores, -2, axis=2)[:, :, -2:]
    is_best = scores == best_two[:, :, 1:]
    class_margins: np.ndarray = scores - np.where(is_best, best_two[:, :, :1], best_two[:, :, 1:])
    return class_margins


def class_members(sample: Sample) -> np.ndarray:
    """Indicators of the classes as floats, shape (n, C)."""
    return (sample.target[:, None] == np.arange(sample.n_classes)).astype(float)
