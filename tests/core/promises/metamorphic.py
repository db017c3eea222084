"""What test_metamorphic.py asks, in whatever way, and what of an answer is compared.

A case says what is asked; a door asks it, and gives findings; a relation changes the case, and
says what becomes of the findings.
"""

import inspect
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedShuffleSplit

import ucvtest as uv
from tests.core.promises.own_errors import is_own
from ucvtest.common.exceptions import UcvtestWarning
from ucvtest.methods.registry import TESTS

N = 24
RNG = np.random.default_rng(3)
FEATURES = RNG.normal(size=(N, 2))
SIGNAL = FEATURES[:, 0] + 0.8 * RNG.normal(size=N)
LABELS = (np.sort(SIGNAL)[-10] <= SIGNAL).astype(int)
"""Ten of the class 1, so that ten folds can have one each."""
AMOUNTS = FEATURES @ [1.0, 0.5] + RNG.normal(size=N)
SCORES = {"good": LABELS + RNG.normal(size=N), "poor": 0.3 * LABELS + RNG.normal(size=N)}
"""Of which no two are the same, as ties are no part of these questions."""

SIDES = {"two-sided": "two-sided", "less": "greater", "greater": "less"}
FEW = {"n_permutations": 9, "n_repeats": 30, "n_pairs": 150, "n_simulations": 200}
"""Options of `fit` that keep tests short which have them."""

IN_UNITS = {"rope": 0.01}
"""Options of `fit` in the units of the loss, as a null value or a margin is."""

BETTER = re.compile(r"[Tt]he (?:first|second) learner \(([^)]+)\) is better")
GENEROUS = 0.9
"""A level at which verdicts name a winner although the samples are small."""


# --------------------------------------------------------------------------------- findings


@dataclass(frozen=True)
class Finding:
    """What was found of one learner, or of two.

    Parameters
    ----------
    learner, other : str
        `other` is None where one learner was tested.
    estimate, low, high : float
    fixed : tuple of float
        What no unit changes: p-values, probabilities, numbers of observations.
    winner : str or None
        Who is better, as a verdict at a level of 90% has it.
    words : str
        The verdict; nothing where numbers in it have changed.
    test : str
        Where there are several.
    """

    learner: str
    other: str | None = None
    estimate: float = math.nan
    low: float = math.nan
    high: float = math.nan
    fixed: tuple[float, ...] = ()
    winner: str | None = None
    words: str = ""
    test: str = ""

    @classmethod
    def of(cls, result: uv.TestResult) -> "Finding":
        """What a test found."""
        low, high = quiet_limits(result)
        claimed = BETTER.search(result.verdict_at(GENEROUS))
        posterior = result.posterior
        shares = () if posterior is None else (posterior.p_left, posterior.p_right)
        return cls(
            learner=result.settings["learner"],
            other=result.settings.get("other"),
            estimate=result.estimate,
            low=low,
            high=high,
            fixed=(result.pvalue, *sorted(shares)),
            winner=None if claimed is None else claimed.group(1),
            words=result.verdict,
        )

    def in_other_units(self, factor: float, shift: float = 0.0) -> "Finding":
        """The same finding where losses are `factor` times theirs, plus `shift` for one learner."""
        moved = shift if self.other is None else 0.0
        ends = sorted((factor * self.low + moved, factor * self.high + moved))
        estimate = factor * self.estimate + moved
        return replace(self, estimate=estimate, low=ends[0], high=ends[1], words="")

    def swapped(self) -> "Finding":
        """The same finding of the same learners in the other order."""
        assert self.other is not None
        return replace(self.in_other_units(-1.0), learner=self.other, other=self.learner)

    def within(self, low: float, high: float) -> "Finding":
        """The same finding with limits that are cut to where the estimand can be."""
        ends = np.clip((self.low, self.high), low, high)
        return replace(self, low=float(ends[0]), high=float(ends[1]), words="")

    def reciprocal(self) -> "Finding":
        """The same finding about a ratio of losses in the other order."""
        assert self.other is not None
        return replace(
            self,
            learner=self.other,
            other=self.learner,
            estimate=1 / self.estimate,
            low=1 / self.high,
            high=1 / self.low,
            words="",
        )

    def about_class(self, positive: Any, was: Any = 1) -> "Finding":
        """What is said of one class, said of it by another name."""
        words = self.words.replace(f"positive class {was!r}", f"positive class {positive!r}")
        return replace(self, words=words)


Findings = tuple[Finding, ...]


def quiet_limits(result: uv.TestResult) -> tuple[float, float]:
    """An interval, NaN where the method has none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UcvtestWarning)
        low, high = result.conf_int()
    return float(low), float(high)


EXACT, SIMULATED = {"rel": 1e-9, "abs": 1e-11}, {"rel": 0.05, "abs": 0.005}
"""How well numbers agree, and those of 50 000 draws, whose order is that of the learners."""


def check_same(found: Findings, expected: Findings, closely: Mapping[str, float] = EXACT) -> None:
    """Fail unless they say the same of the same learners; words count where both have some."""
    assert len(found) == len(expected) > 0
    by_key = {(each.test, each.learner, each.other): each for each in found}
    for each in expected:
        own = by_key[each.test, each.learner, each.other]
        numbers = [(one.estimate, one.low, one.high, *one.fixed) for one in (own, each)]
        assert numbers[0] == pytest.approx(numbers[1], **closely, nan_ok=True)
        assert own.winner == each.winner
        if own.words and each.words:
            assert own.words == each.words


def refusal(call: Callable[[], Any]) -> str:
    """The words of a refusal, which must be the package's own."""
    with pytest.raises(ValueError, match=r"\w") as refused:
        call()
    assert is_own(refused.value)
    return str(refused.value)


def same_or_refused(call: Callable[[], Findings], expected: Findings) -> bool:
    """Whether it was refused; an answer must be the one that is expected."""
    try:
        found = call()
    except ValueError as error:
        if not is_own(error):
            raise
        return True
    check_same(found, expected)
    return False


# -------------------------------------------------------------------------- names and orders

ORDER = np.random.default_rng(4).permutation(N)
ROWS = pd.Index([f"row {k}" for k in range(N)])


def named(names: tuple[Any, Any], codes: Any = LABELS) -> np.ndarray:
    """The classes by other names."""
    return np.array(names)[codes]


def with_names(given: Any) -> Any:
    """Something with the names of rows."""
    made = pd.DataFrame if np.ndim(given) == 2 else pd.Series
    return made(given, index=ROWS)


def shuffled(given: Any) -> Any:
    """What has rows with names, with these in another order."""
    return given.iloc[ORDER]


# --------------------------------------------------------------------------------- learners


def nearer_to(positive: Any) -> Callable[[Any, Any, Any], np.ndarray]:
    """A learner whose score is that of a class: by how much its mean is nearer than the other."""

    def score(X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
        X_train, X_test = np.asarray(X_train), np.asarray(X_test)
        own = np.asarray(y_train) == positive
        squares = [
            ((X_test - X_train[members].mean(axis=0)) ** 2).sum(axis=1) for members in (~own, own)
        ]
        return squares[0] - squares[1]

    return score


def second_feature(X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
    """A score that learns nothing."""
    return np.asarray(X_test)[:, 1]


def nearest(X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
    """The response of the nearest neighbour, whatever its type."""
    X_train, X_test = np.asarray(X_train), np.asarray(X_test)
    distances = ((X_test[:, None] - X_train[None]) ** 2).sum(axis=2)
    return np.asarray(y_train)[distances.argmin(axis=1)]


def mean_response(X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
    """A constant in the units of the response."""
    return np.full(len(X_test), np.mean(y_train))


def scores_of(positive: Any) -> dict[str, Any]:
    """Functions whose scores are those of a class."""
    return {"centres": nearer_to(positive), "feature": second_feature}


BUILT_IN = {"centroid": "nearest_centroid", "knn": "knn:1"}
"""Which have no ties between classes to break."""
OF_NUMBERS = {"mean": mean_response, "nearest": nearest}
"""Which follow the units of the response."""


# ------------------------------------------------------------------------------------ cases


@dataclass(frozen=True)
class Case:
    """What is asked of some data, by any door.

    Parameters
    ----------
    X, y : array or pandas
    learners : mapping
    options : mapping
        Keywords of the class, or of the function.
    """

    X: Any = field(default_factory=FEATURES.copy)
    y: Any = field(default_factory=LABELS.copy)
    learners: Mapping[str, Any] = field(default_factory=lambda: dict(BUILT_IN))
    options: Mapping[str, Any] = field(default_factory=dict)

    def asking(self, **options: Any) -> "Case":
        """The same with other options."""
        return replace(self, options={**self.options, **options})

    def swapped(self) -> "Case":
        """The learners in the other order, and with them the side that is asked about."""
        turned = replace(self, learners=dict(reversed(self.learners.items())))
        side = self.options.get("alternative")
        return turned if side is None else turned.asking(alternative=SIDES[side])

    def of_one(self, **options: Any) -> "Case":
        """The same about the first learner alone."""
        first = dict([next(iter(self.learners.items()))])
        return replace(self, learners=first).asking(**options)


CASES: dict[str, Case] = {
    "labels": Case(options={"loss": "zero_one"}),
    "scores": Case(options={"loss": "auc"}),
    "functions": Case(learners=scores_of(1), options={"loss": "auc"}),
    "numbers": Case(y=AMOUNTS, learners=OF_NUMBERS, options={"loss": "squared"}),
    "absolute": Case(y=AMOUNTS, learners=OF_NUMBERS, options={"loss": "absolute"}),
    "set scores": Case(options={"scoring": "balanced_accuracy"}),
    "r2": Case(y=AMOUNTS, learners=OF_NUMBERS, options={"scoring": "r2"}),
}
"""One of each kind of question; tests that cannot be asked one refuse it."""


def takes_splits(name: str) -> bool:
    """Whether a test takes the splits that it evaluates, so that none need be drawn."""
    return "design" in inspect.signature(TESTS[name].__init__).parameters


def light(design: Any) -> Any:
    """A design of hundreds of resamples, with fewer of them."""
    if design.n_resamples <= 100:
        return design
    counts = {"n_splits": 3, "n_bisections": 3, "n_repeats": 2}
    return replace(design, **{f.name: counts[f.name] for f in fields(design) if f.name in counts})


def options_of_fit(name: str, unit: float) -> dict[str, Any]:
    """Those that a test knows of the options in units."""
    known = inspect.signature(TESTS[name].fit).parameters
    return {option: unit * number for option, number in IN_UNITS.items() if option in known}


def on_data(name: str, case: Case, unit: float = 1.0) -> Findings:
    """A test of the registry, of two learners where it knows two; `unit` is that of losses."""
    cls: Any = TESTS[name]
    learners = [{label: each} for label, each in case.learners.items()]
    options = dict(case.options)
    if "loss" not in inspect.signature(cls.__init__).parameters:
        assert options.pop("loss", cls.needs.only_loss) == cls.needs.only_loss
    if takes_splits(name):
        options = {"design": light(cls.default_design), **options}
    known = inspect.signature(cls.fit).parameters
    few = {option: number for option, number in FEW.items() if option in known}
    test = cls(case.X, case.y, *learners[: 1 + cls.needs.compares], **options)
    if not math.isnan(test.null_value):
        few |= options_of_fit(name, unit)
    return (Finding.of(test.fit(rng=0, **few)),)


def asked_of(name: str) -> list[str]:
    """The cases that are for a test, by what its class declares."""
    cls = TESTS[name]
    kinds = ["labels"] if cls.needs.only_loss in (None, "zero_one") else []
    if cls.needs.only_loss == "auc" or (cls.needs.only_loss is None and "auc" in cls.needs.metrics):
        # Functions are slow where a test has hundreds of fits.
        kinds += ["scores", "functions"] if takes_splits(name) else ["scores"]
    if cls.needs.only_loss is None:
        kinds += ["numbers", "absolute"]
        kinds += ["set scores", "r2"] if "set_score" in cls.needs.metrics else []
    return kinds


@cache
def answer(name: str, kind: str) -> Findings | None:
    """What a test says of a case, or None where it refuses it."""
    try:
        return on_data(name, CASES[kind])
    except ValueError as error:
        if not is_own(error):
            raise
        return None


@cache
def design_of(name: str, kind: str) -> uv.designs.Design:
    """Splits that a test takes for a case, drawn once."""
    cls: Any = TESTS[name]
    case = CASES[kind]
    losses = uv.evaluate(
        case.learners, case.X, case.y, light(cls.default_design), rng=0, **case.options
    )
    return losses.design


# ------------------------------------------------------------------------- losses that exist


@dataclass(frozen=True)
class Arrays:
    """What `Losses.from_arrays` takes; of data frames the columns are the rows of the sample."""

    values: Any
    learning: Any
    testing: Any
    y: Any = None
    learners: tuple[str, ...] = ("first", "second")
    options: Mapping[str, Any] = field(default_factory=dict)

    def asking(self, **options: Any) -> "Arrays":
        """The same with other options."""
        return replace(self, options={**self.options, **options})

    def swapped(self) -> "Arrays":
        """The learners in the other order."""
        return replace(self, values=self.values[::-1], learners=self.learners[::-1])

    def permuted(self, order: np.ndarray) -> "Arrays":
        """All rows of the sample in another order."""
        return replace(
            self,
            values=self.values[..., order],
            learning=self.learning[:, order],
            testing=self.testing[:, order],
            y=None if self.y is None else self.y[order],
        )

    def losses(self) -> uv.Losses:
        """The table of losses."""
        return uv.Losses.from_arrays(
            *(self.values, self.learning, self.testing),
            learners=self.learners,
            y=self.y,
            **self.options,
        )


GIVEN_LOSSES = {"labels": "zero_one", "scores": "auc", "numbers": "own loss"}
"""What `from_arrays` calls the losses of each kind of case."""


def from_losses(
    name: str, losses: uv.Losses, *learners: str, unit: float = 1.0, **options: Any
) -> Findings:
    """A test of the registry on losses that exist."""
    cls: Any = TESTS[name]
    test = cls.from_losses(losses, *learners, **options)
    fit = {} if math.isnan(test.null_value) else options_of_fit(name, unit)
    # A null distribution of refits is not to be had from losses.
    if "permutation" in repr(inspect.signature(cls.fit).parameters.get("pvalue")):
        fit["pvalue"] = "wmw"
    return (Finding.of(test.fit(**fit)),)


@cache
def arrays_for(name: str, kind: str) -> Arrays | None:
    """Losses on the first design that a test takes; None where it takes none of this kind."""
    cls: Any = TESTS[name]
    for drawn in _designs(getattr(cls, "default_design", None)):
        arrays = _arrays(drawn, kind, 1 + cls.needs.compares)
        try:
            (found,) = from_losses(name, arrays.losses())
        except ValueError as error:
            if not is_own(error):
                raise
        else:
            if not math.isnan(found.estimate) and "could not" not in found.words:
                return arrays
    return None


def _designs(own: Any) -> Iterator[uv.designs.Design]:
    """Designs of many kinds, the test's own first."""
    named = (
        *([] if own is None else [light(own)]),
        uv.designs.KFold(3),
        uv.designs.KFold(2, 5),
        uv.designs.SplitHalves(3, 3, test_fraction=0.3),
    )
    for design in named:
        yield design.draw(N, np.random.default_rng(0))
    half = StratifiedShuffleSplit(300, test_size=12, random_state=0)
    for splitter in (half, uv.designs.LeavePairOut()):
        yield uv.designs.Design.from_indices(splitter.split(FEATURES, LABELS), N)


def _arrays(drawn: uv.designs.Design, kind: str, n_learners: int) -> Arrays:
    """Values without ties, of two learners of which the first is better."""
    rng = np.random.default_rng(8)
    shape = (2, len(drawn.learning), N)
    if kind == "scores":
        signal = np.stack([1.5 * LABELS, 0.2 * LABELS]) + rng.normal(size=(2, N))
        values = signal[:, None] + 0.1 * rng.normal(size=shape)
    else:
        difficulty = rng.random((2, 1, N)) + 0.3 * rng.random(shape)
        values = difficulty ** np.array([2.0, 1.0])[:, None, None]
        values = 1.0 * (values > 0.5) if kind == "labels" else values
    return Arrays(
        values[:n_learners],
        1 * drawn.learning,
        1 * drawn.testing,
        LABELS if kind == "scores" else None,
        ("first", "second")[:n_learners],
        {
            "loss": GIVEN_LOSSES[kind],
            "greater_is_better": False if kind == "numbers" else None,
        },
    )


# ------------------------------------------------------------------- what fixed rules predict


@dataclass(frozen=True)
class Rules:
    """What `Losses.from_predictions` takes."""

    y: Any
    predictions: Mapping[str, Any]
    options: Mapping[str, Any] = field(default_factory=dict)

    def asking(self, **options: Any) -> "Rules":
        """The same with other options."""
        return replace(self, options={**self.options, **options})

    def swapped(self) -> "Rules":
        """The rules in the other order."""
        return replace(self, predictions=dict(reversed(self.predictions.items())))

    def changed(self, change: Callable[[Any], Any]) -> "Rules":
        """The same with all predictions changed."""
        return replace(self, predictions={k: change(v) for k, v in self.predictions.items()})

    def losses(self) -> uv.Losses:
        """The table of losses."""
        return uv.Losses.from_predictions(self.y, self.predictions, **self.options)


GUESSED = {"good": (SCORES["good"] > 0.5).astype(int), "poor": (SCORES["poor"] > 0).astype(int)}
SHARES = {name: 1 / (1 + np.exp(-each)) for name, each in SCORES.items()}
FORECASTS = {"good": AMOUNTS + RNG.normal(size=N), "poor": AMOUNTS + 3 * RNG.normal(size=N)}
RULES: dict[str, Rules] = {
    "zero_one": Rules(LABELS, GUESSED, {"loss": "zero_one"}),
    "log": Rules(LABELS, SHARES, {"loss": "log"}),
    "brier": Rules(LABELS, SHARES, {"loss": "brier"}),
    "auc": Rules(LABELS, SCORES, {"loss": "auc"}),
    "squared": Rules(AMOUNTS, FORECASTS, {"loss": "squared"}),
    "absolute": Rules(AMOUNTS, FORECASTS, {"loss": "absolute"}),
    "score": Rules(None, FORECASTS, {"loss": "score"}),
}
OF_CLASSES = ("zero_one", "log", "brier", "auc")


def tests_of_rules(losses: uv.Losses) -> list[str]:
    """The tests of fixed rules that are about such losses, by what their classes declare."""
    ranks = losses.metric.ranks_pairs
    return [
        name
        for name, cls in TESTS.items()
        if cls.needs.fixed
        and cls.needs.only_loss in ((losses.loss,) if ranks else (None, losses.loss))
        and (cls.needs.weights or not losses.weighted)
    ]


def on_rules(rules: Rules, **options: Any) -> Findings:
    """All tests of fixed rules, each named so that their findings are told apart."""
    losses = rules.losses()
    found = [(name, *from_losses(name, losses, **options)) for name in tests_of_rules(losses)]
    return tuple(replace(each, test=name) for name, each in found)
