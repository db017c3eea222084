"""What callers can get wrong, and what they are told: an argument, what came, and a remedy.

A row is a call. Its message names the argument, quotes what came of it, and says a remedy, all
before the first fit. Rows of `EVERYWHERE` can be asked in R, and those with a command in the shell.
"""

import math
import re
from collections.abc import Callable
from dataclasses import Field, fields
from types import SimpleNamespace
from typing import Annotated, Any, NamedTuple, get_args, get_origin

import numpy as np
import pandas as pd
from sklearn import model_selection
from sklearn.cluster import KMeans
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, make_scorer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ucvtest as uv
from tests.support.results import RATE, RATIO
from tests.support.samples import CLASSES, SMALL
from ucvtest.data.groups import as_groups
from ucvtest.inference.arguments import Run
from ucvtest.methods.registry import TESTS

FITS: list[int] = []
"""One for each fit of the learner below."""


def counted(X_train: Any, y_train: Any, X_test: Any) -> np.ndarray:
    """A learner that counts its fits."""
    FITS.append(len(X_train))
    return np.zeros(len(X_test))


PYTHON = re.compile(
    r"\buv\.|\bnp\.|\bLosses\.|(?<![,:])\b[a-z_]+=['\w]|\bNone\b|\bTrue\b|\bFalse\b|\.astype|array\("
)
"""What stands in no message of another door."""


class Refused(NamedTuple):
    """A call, and what its message contains."""

    argument: str
    came: str
    remedy: str
    call: Callable[[], Any]
    shell: str = ""
    """The same as a command, in which the argument is an option."""

    def __str__(self) -> str:
        return f"{self.argument}: {self.came}"


X, Y, AMOUNTS, GROUPS = SMALL
ONE, TWO = (counted,), ({"a": counted}, {"b": counted})
TEXT = np.where(Y == 1, "ill", "well")
THREE = CLASSES.y
TIMES = uv.survival(np.arange(24) % 11 + 1.0, np.arange(24) % 3 > 0)
WEIGHTS = np.arange(24) % 4 + 1.0
FOLD = np.arange(24) // 2 % 4
LEARNT = np.arange(24) % 4 != np.arange(4)[:, None]
TESTED = ~LEARNT
RULES = {"a": X[:, 0], "b": X[:, 1]}
LABELS = {"a": Y, "b": np.arange(24) // 3 % 2}
CHANCES = {name: 1 / (1 + np.exp(-each)) for name, each in RULES.items()}

COLUMNS = {"p": CHANCES["a"], "q": CHANCES["b"], "y": Y, "x": AMOUNTS, "group": GROUPS}
COLUMNS |= {"word": TEXT, "guess": TEXT[FOLD], "three": np.arange(24) % 3, "weight": WEIGHTS}
COLUMNS |= {"days": TIMES.time, "died": TIMES.event * 1, "status": TIMES.event + 1}
COLUMNS |= {"fold": FOLD, "repeat": np.arange(24) // 12}
TABLES = {
    "small.csv": pd.DataFrame(X, columns=["a", "b"]).assign(y=Y),
    "numbers.csv": pd.DataFrame(X, columns=["a", "b"]).assign(y=AMOUNTS),
    "rules.csv": pd.DataFrame(LABELS | COLUMNS),
}
"""Files for the shell."""

MADE = "compare small.csv --target y --learner lda"
PAIR = f"{MADE} --other majority"
GAINS = "columns small.csv --target y --learner lda"
ABOUT = "predictions rules.csv --target y"


def holed(value: float) -> np.ndarray:
    """Features with one value that is no number."""
    features = X.copy()
    features[3, 0] = value
    return features


def ustatistic(**options: Any) -> uv.UStatisticTest:
    return uv.UStatisticTest(X, Y, counted, **options)


def rules(loss: str = "zero_one", **options: Any) -> uv.Losses:
    """Losses of fixed rules."""
    given = {"zero_one": LABELS, "auc": RULES, "log": CHANCES}.get(loss, LABELS)
    return uv.Losses.from_predictions(Y, given, loss=loss, **options)


def numbers(**options: Any) -> uv.UStatisticTest:
    return uv.UStatisticTest(X, AMOUNTS, counted, **options)


def judged(metric: Any, y: Any = Y, given: Any = LABELS, **options: Any) -> uv.Losses:
    return uv.Losses.from_predictions(y, given, metric=metric, **options)


def in_folds(n_folds: int = 4) -> uv.Losses:
    """Losses of a cross-validation, which no learner is fitted for."""
    fold = np.arange(24) % n_folds
    testing = fold == np.arange(n_folds)[:, None]
    values = np.stack([(fold + each + Y) % 3 % 2 * testing for each in range(2)]) * 1.0
    return uv.Losses.from_arrays(values, ~testing, testing=testing, learners=["a", "b"])


def drawn() -> uv.Losses:
    """Losses of learning sets in disjoint pairs."""
    design = uv.designs.DisjointSets(6, 20).draw(24, np.random.default_rng(0))
    values = np.stack([(np.arange(24) + each) % 3 % 2 * design.testing for each in range(2)])
    return uv.Losses.from_arrays(values * 1.0, design.learning, testing=design.testing)


def five_by_two() -> uv.Losses:
    design = uv.designs.KFold(2, 5).draw(24, np.random.default_rng(0))
    values = np.stack([(np.arange(24) + each) % 3 % 2 * design.testing for each in range(2)])
    return uv.Losses.from_arrays(values * 1.0, design.learning, testing=design.testing)


def of_auc(n_folds: int = 4) -> uv.Losses:
    """Decision scores of a cross-validation, or of its first folds alone."""
    values = X[:, 0] * TESTED[:n_folds]
    return uv.Losses.from_arrays(values, LEARNT[:n_folds], loss="auc", y=Y)


SCORES = {"a": [0.5, 0.75, 0.5, 0.75], "b": [0.5, 0.5, 0.5, 0.75]}


def scores(given: Any = SCORES, **options: Any) -> uv.Losses:
    """Losses from the scores of folds."""
    sizes: dict[str, Any] = {"n_learn": 18, "n_test": 6, "score": "accuracy"}
    return uv.Losses.from_scores(given, **sizes | options)


def arrays(**options: Any) -> uv.Losses:
    given: dict[str, Any] = {"values": np.zeros((2, 2)), "learning": np.eye(2)}
    return uv.Losses.from_arrays(**given | options)


def compared(**options: Any) -> uv.Comparison:
    learners = {"a": counted, "b": counted}
    return uv.compare(X, Y, **{"learners": learners, "tests": "corrected_t", "rng": 0} | options)


def gained(learner: Any = counted, **options: Any) -> uv.ColumnGains:
    return uv.columns(TABLES["small.csv"][["a", "b"]], Y, learner, **{"rng": 0} | options)


def planned(**options: Any) -> uv.SamplePlan:
    return uv.plan(X, Y, *TWO, **options)


def selected(**options: Any) -> uv.ModelSelection:
    given: dict[str, Any] = {"learners": {"a": counted, "b": counted}, "n_folds": 4, "rng": 0}
    return uv.select_model(X, Y, **given | options)


def survived(**options: Any) -> uv.Losses:
    return uv.Losses.from_predictions(TIMES, {"a": X[:, 0]}, **options)


MANY = CLASSES.X, THREE
RARE = (np.arange(24) == 1) * 1
FITTED = LogisticRegression(), LogisticRegression(C=2.0)
NAMED = "lda", "majority"


def learner(name: str) -> uv.CorrectedTTest:
    return uv.CorrectedTTest(X, Y, counted, name)


def made(**options: Any) -> uv.CorrectedTTest:
    return uv.CorrectedTTest(X, Y, *TWO, **options)


def covariance(**options: Any) -> uv.FoldCovarianceTest:
    return uv.FoldCovarianceTest(X, Y, counted, **options)


def influence(**options: Any) -> uv.InfluenceFunctionTest:
    return uv.InfluenceFunctionTest(X, Y, counted, **options)


def pairs_left_out() -> uv.LeavePairOutTest:
    return uv.LeavePairOutTest(X, Y, counted)


def permuted(**options: Any) -> uv.PermutationComplexityTest:
    return uv.PermutationComplexityTest(X, Y, counted, **options)


def ratio() -> uv.UStatisticTest:
    return uv.UStatisticTest(X, AMOUNTS, *TWO, loss="squared", contrast="ratio")


def series() -> uv.DieboldMarianoTest:
    return uv.DieboldMarianoTest.from_losses(rules())


def delong() -> uv.DeLongTest:
    return uv.DeLongTest.from_losses(rules("auc"))


def mcnemar() -> uv.McNemarTest:
    return uv.McNemarTest.from_losses(rules())


ROW = Refused

# fmt: off
OF_DATA = [
    ROW("y", "one class only (0)", "at least two", lambda: uv.NaiveTTest(X, 0 * Y, *TWO)),
    ROW("y", "1 missing values", "drop", lambda: uv.NaiveTTest(X, [None, *Y[1:]], *TWO)),
    ROW("y", "24 different whole numbers", "loss", lambda: uv.NaiveTTest(X, np.arange(24), *TWO)),
    ROW("y", "survival time", "survival(", lambda: uv.NaiveTTest(X, TIMES, *TWO)),
    ROW("y", "has 3", "merge classes", lambda: uv.InfluenceFunctionTest(*MANY, counted)),
    ROW("y", "class 1", "drop it", lambda: uv.PermutationComplexityTest(X, RARE, counted)),
    ROW("y", "constant (1.5)", "nothing to test",
        lambda: uv.PermutationComplexityTest(X, 0 * Y + 1.5, counted)),
    ROW("y", "label 1 once", "scipy.stats", lambda: uv.LeavePairOutTest(X, RARE, counted)),
    ROW("y", "got 3", "two classes", lambda: uv.LeavePairOutTest(*MANY, counted)),
    ROW("X", "24 responses", "same length", lambda: uv.NaiveTTest(X[1:], Y, *TWO)),
    ROW("X", "no columns", "at least one", lambda: uv.NaiveTTest(X[:, :0], Y, *TWO)),
    ROW("X", "nan at row 3", "impute", lambda: uv.NaiveTTest(holed(math.nan), Y, "lda", "qda")),
    ROW("X", "inf at row 3", "impute", lambda: uv.NaiveTTest(holed(math.inf), Y, "lda", "qda")),
    ROW("X", "1e+300", "other units", lambda: uv.NaiveTTest(holed(1e300), Y, "lda", "qda")),
    ROW("missing", "keep", "raise, drop", lambda: uv.NaiveTTest(X, Y, *TWO, missing="keep")),
    ROW("groups", "one group only", "two", lambda: ustatistic(groups=["a"] * 24)),
    ROW("groups", "1 missing values", "drop", lambda: ustatistic(groups=[None, *GROUPS[1:]])),
    ROW("groups", "shape (2,)", "for each of 24 rows", lambda: ustatistic(groups=["a", "b"])),
    ROW("group_weight", "patient", "group, row", lambda: ustatistic(group_weight="patient")),
    ROW("group_weight", "row", "pass groups", lambda: ustatistic(group_weight="row")),
    ROW("group_weight", "row", "pass groups", lambda: compared(group_weight="row")),
    ROW("pos_label", "ill", "missing", lambda: uv.CorrectedTTest(X, TEXT, *TWO, metric="f1")),
    ROW("pos_label", "dead", "labels", lambda: uv.CorrectedTTest(X, TEXT, *TWO, pos_label="dead")),
    ROW("weights", "9 values", "24 obs", lambda: uv.NaiveTTest(X, Y, *FITTED, weights=WEIGHTS[:9])),
    ROW("weights", "negative", "not all 0", lambda: uv.NaiveTTest(X, Y, *FITTED, weights=-WEIGHTS)),
    ROW("weights", "lda", "in fitting", lambda: uv.NaiveTTest(X, Y, *NAMED, weights=WEIGHTS)),
    ROW("weights", "auc", "mean",
        lambda: uv.NaiveTTest(X, Y, *FITTED, weights=WEIGHTS, loss="auc")),
    ROW("y", "is empty", "at least one", lambda: judged("mcc", [], {"a": []})),
    ROW("missing", "formula", "dropna",
        lambda: uv.NaiveTTest.from_formula("y ~ .", FRAME, counted, missing="drop")),
    ROW("event", "0 everywhere", "at least one event", lambda: uv.survival(TIMES.time, 0 * Y)),
    ROW("event", "1 missing values", "drop", lambda: uv.survival(TIMES.time, [None, *Y[1:]])),
    ROW("time", "24 values", "event", lambda: uv.survival(TIMES.time, Y[1:])),
    ROW("weights", "group_weight='group'", "group_weight='row'",
        lambda: uv.NaiveTTest(X, Y, *FITTED, weights=WEIGHTS, groups=GROUPS)),
    ROW("class", "has 2 groups", "at least 3 of each",
        lambda: uv.UStatisticTest(X, (GROUPS < 2) * 1, counted, groups=GROUPS, loss="auc")),
    ROW("class", "2 observations", "at least",
        lambda: uv.UStatisticTest(X, (X[:, 0] < np.sort(X[:, 0])[2]) * 1, counted, loss="auc")),
    ROW("event", "got 'dead', 'alive'", "pass a comparison",
        lambda: uv.survival([1, 2], ["dead", "alive"])),
    ROW("event", "missing", "pass 1", lambda: uv.survival([1, 2])),
    ROW("time", "1 values that are missing", "drop", lambda: uv.survival([1, math.nan], [1, 0])),
    ROW("time", "is empty", "at least one", lambda: uv.survival([], [])),
    ROW("time", "shape (2, 2)", "one dimension", lambda: uv.survival([[1, 2], [3, 4]], [1, 0])),
    ROW("class", "'observation' has 2 groups", "at least 3",
        lambda: uv.UStatisticTest(X, np.where(GROUPS < 2, "observation", "other"), counted,
            groups=GROUPS, loss="auc")),
    ROW("y", "has 3", "Hand and Till",
        lambda: uv.CorrectedTTest(*MANY, counted, groups=CLASSES.groups, loss="auc")),
    ROW("y", "finite numbers", "zero_one",
        lambda: uv.NaiveTTest(X, [math.inf, *AMOUNTS[1:]], *TWO)),
]

OF_LEARNERS = [
    ROW("learner", "logisitc", "did you mean 'logistic'", lambda: learner("logisitc")),
    ROW("learner", "zebra:2", "is unknown", lambda: learner("zebra:2")),
    ROW("learner", "svm:1", "pass 'svm'", lambda: learner("svm:1")),
    ROW("k", "knn:", "write 'knn:k'", lambda: learner("knn:")),
    ROW("k", "2.5", "an integer", lambda: learner("knn:2.5")),
    ROW("k", "got 0", "of at least 1", lambda: learner("knn:0")),
    ROW("learner", "3,4", "write 'knn:k'", lambda: learner("knn:3,4")),
    ROW("lam", "big", "a number", lambda: learner("ridge:big")),
    ROW("lam", "-1", "of at least 0", lambda: learner("ridge:-1")),
    ROW("lam", "0", "positive number", lambda: learner("lasso:0")),
    ROW("l1_ratio", "2", "at most 1", lambda: learner("elastic_net:0.1,2")),
    ROW("priors", "flat", "empirical or equal", lambda: learner("lda:flat")),
    ROW("ridge", "alpha=2", "write 'ridge:lam", lambda: learner("ridge:1,alpha=2")),
    ROW("degree", "polynomial", "write 'polynomial:degree", lambda: learner("polynomial")),
    ROW("learner", "lda", "ridge, knn", lambda: uv.CorrectedTTest(X, AMOUNTS, "lda", "qda")),
    ROW("learner", "y has 3", "merge",
        lambda: uv.CorrectedTTest(*MANY, "ridge:1", "knn:3", loss="zero_one")),
    ROW("learner", "ridge", "zero_one", lambda: uv.CorrectedTTest(X, Y, "ridge:1", loss="log")),
    ROW("learn_size", "knn:23", ">= 23", lambda: uv.CorrectedTTest(X, Y, "knn:23", "lda")),
    ROW("learner", "cox", "survival times", lambda: uv.CorrectedTTest(X, Y, "cox", "lda")),
    ROW("learner", "ridge", "cox", lambda: uv.UStatisticTest(X, TIMES, "ridge:1", metric="uno")),
    ROW("backend", "gpu", "auto, jax, sklearn", lambda: ustatistic(backend="gpu")),
    ROW("backend", "counted", "auto", lambda: ustatistic(backend="jax")),
    ROW("learner", "lasso_path:x", "50 penalties", lambda: learner("lasso_path:x")),
    ROW("penalize_intercept", "yes", "true or false",
        lambda: learner("ridge:1,penalize_intercept=yes")),
    ROW("learner", "polynomial:30", "raise lam",
        lambda: uv.UStatisticTest(X[:, :1], AMOUNTS, "polynomial:30")),
    ROW("learner", "lda", "varies", lambda: uv.CorrectedTTest(0 * X, Y, "lda", "qda")),
    ROW("learner", "needs learn_size >= 4", "use ridge",
        lambda: uv.UStatisticTest(X, Y, "lda", learn_size=2)),
    ROW("learner", "no score for each class", "lda, qda",
        lambda: uv.UStatisticTest(*MANY, "ridge:1", loss="auc")),
]

OF_QUESTIONS = [
    ROW("loss", "hinge", "use one of", lambda: ustatistic(loss="hinge"), f"{MADE} --loss hinge"),
    ROW("loss", "shape (3, 3)", "2 classes", lambda: ustatistic(loss=np.ones((3, 3)))),
    ROW("metric", "loss", "exclude each other", lambda: ustatistic(loss="zero_one", metric="f1")),
    ROW("metric", "f11", "did you mean 'f1'",
        lambda: ustatistic(metric="f11"), f"{MADE} --metric f11"),
    ROW("metric", "several", "pass one", lambda: ustatistic(metric=["f1", "mcc"])),
    ROW("metric", "r2", "numbers", lambda: uv.CrossValidationWaldTest(X, TEXT, *TWO, metric="r2")),
    ROW("scoring", "metric", "exclude", lambda: ustatistic(metric="f1", scoring="f1")),
    ROW("scoring", "f2", "use one of accuracy",
        lambda: uv.CorrectedTTest(X, Y, *TWO, scoring="f2")),
    ROW("alternative", "up", "two-sided",
        lambda: ustatistic(alternative="up"), f"{MADE} --alternative up"),
    ROW("null_value", "inf", "finite number", lambda: ustatistic(null_value=math.inf)),
    ROW("null_value", "2", "between 0 and 1",
        lambda: ustatistic(null_value=2).fit(), f"{MADE} --null-value 2"),
    ROW("null_value", "1.5", "at most 1", lambda: numbers(metric="r2", null_value=1.5).fit()),
    ROW("contrast", "odds", "difference", lambda: uv.UStatisticTest(X, Y, *TWO, contrast="odds")),
    ROW("contrast", "ratio", "pass other", lambda: ustatistic(contrast="ratio")),
    ROW("contrast", "error rates", "contrast='difference'",
        lambda: uv.UStatisticTest(X, Y, *TWO, contrast="ratio")),
    ROW("learn_size", "got 0", "use 11",
        lambda: ustatistic(learn_size=0), f"{MADE} --learn-size 0"),
    ROW("learn_size", "got 23", "use 11",
        lambda: ustatistic(learn_size=23), f"{MADE} --learn-size 23"),
    ROW("learn_size", "got 7.5", "an integer", lambda: ustatistic(learn_size=7.5)),
    ROW("learn_size", "got 1", "n - 4", lambda: ustatistic(learn_size=1, loss="auc")),
    ROW("learn_size", "got", "negatives first", lambda: ustatistic(learn_size="half", loss="auc")),
    ROW("learn_size", "0 of 12 positives", "use",
        lambda: ustatistic(learn_size=(3, 0), loss="auc")),
    ROW("learn_size", "(3, 4)", "one for each of the 3 classes",
        lambda: uv.UStatisticTest(*MANY, counted, loss="auc", learn_size=(3, 4))),
    ROW("n_folds", "81", "at least 81", lambda: made(design=81)),
    ROW("design", "ten", "number of folds", lambda: made(design="ten")),
    ROW("design", "one resample", "two", lambda: made(design=uv.designs.HoldOut(0.5))),
    ROW("design", "GB of memory", "fewer", lambda: made(design=uv.designs.RandomSplits(10**10))),
    ROW("n_folds", "got 1", "at least 2", lambda: uv.designs.KFold(1)),
    ROW("n_folds", "got True", "an integer", lambda: uv.designs.KFold(True)),
    ROW("n_repeats", "got 0", "at least 1", lambda: uv.designs.KFold(3, 0)),
    ROW("n_splits", "got 1", "at least 2", lambda: uv.designs.RandomSplits(1)),
    ROW("test_fraction", "got 1.0", "between 0 and 1", lambda: uv.designs.RandomSplits(3, 1.0)),
    ROW("test_fraction", "0.1", "of the type float", lambda: uv.designs.HoldOut("0.1")),
    ROW("test_fraction", "tests all", "smaller", lambda: made(design=uv.designs.HoldOut(0.99))),
    ROW("learn_size", "got 0", "at least 1", lambda: uv.designs.DisjointSets(0)),
    ROW("learn_size", "12", "at least 26",
        lambda: uv.evaluate(counted, X, Y, uv.designs.DisjointSets(12))),
    ROW("stratify", "yes", "True or False", lambda: uv.designs.KFold(3, stratify="yes")),
    ROW("shuffle", "stratify", "exclude", lambda: uv.designs.HoldOut(stratify=True, shuffle=False)),
    ROW("n_folds", "got 1", "use 10", lambda: uv.FoldCovarianceTest(X, Y, counted, n_folds=1)),
    ROW("estimator", "bootstrap", "use one of", lambda: covariance(estimator="bootstrap")),
    ROW("n_folds", "got 25", "24", lambda: covariance(n_folds=25)),
    ROW("n_folds", "got 1", "at least 2",
        lambda: uv.InfluenceFunctionTest(X, Y, counted, n_folds=1)),
    ROW("metric", "f2", "auc, error", lambda: uv.InfluenceFunctionTest(X, Y, counted, metric="f2")),
    ROW("n_folds", "13", "<= 12", lambda: influence(n_folds=13).fit()),
    ROW("class", "is in one group only (3)", "learnt from or tested",
        lambda: uv.UStatisticTest(X, (GROUPS == 3) * 1, counted, groups=GROUPS, loss="auc")),
    ROW("design", "learns from a part", "whole groups",
        lambda: made(design=model_selection.PredefinedSplit(FOLD), groups=np.arange(24) // 3)),
    ROW("splits", "go through time", "DieboldMariano",
        lambda: made(cv=model_selection.TimeSeriesSplit(4)).fit(rng=0)),
    ROW("stratify", "True", "labels",
        lambda: uv.CorrectedTTest(X, AMOUNTS, *TWO, design=uv.designs.KFold(3, stratify=True))),
    ROW("loss", "scoring", "exclude each other", lambda: made(loss="log", scoring="f1")),
    ROW("y", "needs class labels", "use 'squared'",
        lambda: uv.CorrectedTTest(X, AMOUNTS, *TWO, loss="zero_one")),
    ROW("metric", "y has 3", "name one", lambda: uv.UStatisticTest(*MANY, counted, metric="f1")),
    ROW("metric", "harrell", "needs survival times", lambda: ustatistic(metric="harrell")),
    ROW("metric", "average_precision", "use", lambda: ustatistic(metric="average_precision")),
    ROW("metric", "scoring", "exclude",
        lambda: uv.InfluenceFunctionTest(X, Y, counted, metric="error", scoring="roc_auc")),
    ROW("metric", "loss='auc'", "two different things",
        lambda: uv.InfluenceFunctionTest(X, Y, counted, loss="auc", metric="error")),
    ROW("null_value", "got 0", "positive",
        lambda: uv.UStatisticTest(X, Y, *TWO, loss="log", contrast="ratio", null_value=0)),
    ROW("contrast", "AUC", "mean loss",
        lambda: uv.UStatisticTest(X, Y, *TWO, loss="auc", contrast="ratio")),
    ROW("contrast", "f1", "about losses",
        lambda: uv.UStatisticTest(X, Y, *TWO, metric="f1", contrast="ratio")),
    ROW("null_value", "one learner", "FiveByTwoTTest", lambda: uv.FiveByTwoFTest(X, Y, counted)),
    ROW("learn_size", "(12, 3)", "use learn_size=(5, 5)",
        lambda: ustatistic(learn_size=(12, 3), loss="auc")),
    ROW("X", "has 2 observations", "at least 3",
        lambda: uv.FoldCovarianceTest(X[:2], [0, 1], counted, n_folds=2)),
    ROW("X", "has 3 observations", "at least 4", lambda: uv.UStatisticTest(X[:3], Y[:3], counted)),
    ROW("design", "5 splits", "HoldOut",
        lambda: uv.HoldOutTest(X, Y, counted, design=uv.designs.RandomSplits(5))),
    ROW("design", "one observation", "test more",
        lambda: uv.HoldOutTest(X, Y, counted, design=uv.designs.HoldOut(0.01))),
    ROW("design", "out of order", "TimeSeriesSplit",
        lambda: uv.DieboldMarianoTest(X, AMOUNTS, *TWO, design=5)),
    ROW("n_repeats", "2", "n_repeats=1", lambda: made(design=uv.designs.KFold(24, 2))),
    ROW("n_folds", "30", "at least 30 groups", lambda: made(design=30, groups=GROUPS)),
    ROW("n_folds", "got 30", "n = 12", lambda: covariance(n_folds=30, groups=GROUPS)),
    ROW("n_folds", "got 2", "at least 3", lambda: uv.designs.NestedKFold(2)),
    ROW("n_splits", "got 1", "at least 2", lambda: uv.designs.SplitHalves(1)),
    ROW("test_fraction", "nan", "between 0 and 1", lambda: uv.designs.HoldOut(math.nan)),
    ROW("test_fraction", "0.5", "smaller", lambda: made(design=uv.designs.SplitHalves(2, 1, 0.5))),
]

OF_FITS = [
    ROW("rng", "got str", "a numpy Generator", lambda: ustatistic().fit(rng="seed")),
    ROW("rng", "got -1", "not be negative", lambda: ustatistic().fit(rng=-1), ""),
    ROW("n_jobs", "0", "use 1", lambda: ustatistic().fit(n_jobs=0), ""),
    ROW("n_jobs", "got 1.5", "an integer", lambda: ustatistic().fit(n_jobs=1.5)),
    ROW("batch_size", "got 0", "at least 1", lambda: ustatistic().fit(batch_size=0)),
    ROW("n_pairs", "got 1", "at least 2", lambda: ustatistic().fit(1), f"{MADE} --n-pairs 1"),
    ROW("n_pairs", "many", "auto", lambda: ustatistic().fit("many"), f"{MADE} --n-pairs many"),
    ROW("n_pairs", "exact", "raise max_fits", lambda: ustatistic().fit("exact", max_fits=1000)),
    ROW("n_pairs", "627264 fits", "auto", lambda: ustatistic(loss="auc").fit("exact")),
    ROW("variance", "naive", "use one of",
        lambda: ustatistic().fit(variance="naive"), f"{MADE} --variance naive"),
    ROW("variance", "unbiased", "learn_size <= 11",
        lambda: ustatistic(learn_size=14).fit(variance="unbiased")),
    ROW("variance", "midpoint", "learn_size <= 12",
        lambda: ustatistic(learn_size=14).fit(variance="midpoint")),
    ROW("variance", "asymptotic", "loss='auc'",
        lambda: ustatistic(loss="auc").fit(variance="asymptotic")),
    ROW("variance", "few", "random pairs", lambda: ustatistic().fit("exact", "few")),
    ROW("n_pairs", "got 2", "at least 3", lambda: ustatistic().fit(2, "few")),
    ROW("interval", "hall", "few fits", lambda: ustatistic().fit(variance="few", interval="hall")),
    ROW("interval", "hall", "ratios", lambda: ratio().fit(interval="hall")),
    ROW("variance", "clipped", "ratios", lambda: ratio().fit(variance="clipped")),
    ROW("tol", "got 0", "use 0.05", lambda: ustatistic().fit(tol=0), f"{MADE} --tol 0"),
    ROW("max_fits", "5", "raise max_fits to 6",
        lambda: ustatistic().fit(variance="few", max_fits=5)),
    ROW("max_seconds", "n_pairs=50", "not apply", lambda: ustatistic().fit(50, max_seconds=9)),
    ROW("checkpoint", "got 3", "the name of a folder", lambda: ustatistic().fit(checkpoint=3)),
    ROW("checkpoint", "Generator", "pass an integer",
        lambda: ustatistic().fit(20, rng=np.random.default_rng(1), checkpoint="run.json")),
    ROW("horizon", "24", "too large", lambda: series().fit(24)),
    ROW("rope", "one learner", "null_value", lambda: uv.BayesianTTest(X, Y, counted).fit(0.01)),
    ROW("interval", "wilson", "one rule",
        lambda: uv.HoldOutTest.from_losses(rules()).fit(interval="wilson")),
    ROW("interval", "logit", "one learner", lambda: delong().fit(interval="logit")),
    ROW("n_repeats", "3", "leave-one-out", lambda: covariance(n_folds=24).fit(n_repeats=3)),
    ROW("n_repeats", "5", "repeated", lambda: influence().fit(5, "kfold")),
    ROW("variance", "adhoc_1", "use one of", lambda: influence().fit(variance="adhoc_1")),
    ROW("variance", "share", "bootstrap",
        lambda: influence().fit(scheme="bootstrap", variance="share")),
    ROW("max_fits", "3", "raise it to 34", lambda: influence(n_folds=2).fit(max_fits=3)),
    ROW("n_permutations", "labelings", "use", lambda: pairs_left_out().fit(n_permutations="exact")),
    ROW("n_permutations", "exact", "analytic", lambda: permuted().fit("exact")),
    ROW("n_permutations", "analytic", "squared", lambda: permuted().fit("analytic")),
    ROW("stop_after", "got 101", "use 10", lambda: permuted().fit(stop_after=101)),
    ROW("stop_after", "exact", "n_permutations", lambda: permuted().fit("exact", stop_after=5)),
    ROW("sampling", "rademacher", "groups", lambda: permuted(groups=GROUPS).fit(10, "rademacher")),
    ROW("variance", "within_fold", "all_pairs",
        lambda: uv.CrossValidationWaldTest(X, Y, counted, metric="f1").fit("within_fold")),
    ROW("variance", "within_fold", "fewer folds",
        lambda: uv.CrossValidationWaldTest(X, Y, counted, design=24).fit("within_fold")),
    ROW("scheme", "kfold", "monte_carlo",
        lambda: influence(groups=np.arange(24) // 3).fit(scheme="kfold")),
    ROW("n_folds", "25", "leave_one_out",
        lambda: influence(n_folds=25, metric="error").fit(scheme="kfold")),
    ROW("schemes", "got 'kfold'", "('repeated',)",
        lambda: influence().compare_variances(50, "kfold")),
    ROW("pvalue", "wmw", "permutation",
        lambda: uv.LeavePairOutTest(X, Y, counted, groups=GROUPS).fit("wmw")),
    ROW("stop_after", "5", "permutations", lambda: pairs_left_out().fit("wmw", stop_after=5)),
    ROW("interval", "hall", "metric='f1'", lambda: ustatistic(metric="f1").fit(interval="hall")),
    ROW("variance", "clipped", "use one of auto, midpoint",
        lambda: ustatistic(loss="auc").fit(variance="clipped")),
    ROW("variance", "midpoint", "at most half of each class",
        lambda: ustatistic(loss="auc", learn_size=18).fit(variance="midpoint")),
    ROW("variance", "few", "learn_size", lambda: ustatistic(learn_size=14).fit(variance="few")),
    ROW("kappa_profile", "AUC", "another loss", lambda: ustatistic(loss="auc").kappa_profile()),
    ROW("kappa_profile", "f1", "use a loss", lambda: ustatistic(metric="f1").kappa_profile()),
    ROW("n_pairs", "auto", "an integer", lambda: ustatistic().kappa_profile(n_pairs="auto")),
    ROW("n_pairs", "60", "raise max_fits to 120", lambda: ustatistic().fit(60, max_fits=50)),
]


def outside(option: Field[Any]) -> list[Any]:
    """Values just outside of what the type of an option declares."""
    kinds = get_args(option.type) or (option.type,)
    kinds = (option.type,) if get_origin(option.type) is Annotated else kinds
    values: list[Any] = ["other"]
    for kind, limits in (get_args(each) for each in kinds if get_origin(each) is Annotated):
        if not limits.ends:
            values += [limits.low, limits.high]
        elif kind is int:
            values += [int(limits.low) - 1, limits.low + 0.5, 10**400]
        else:
            values += [math.nextafter(limits.low, -math.inf), math.nan]
    return values


def option_row(cls: Any, option: Field[Any], value: Any) -> Refused:
    learners = TWO if cls.needs.compares else ONE
    remedy = "leave it out" if option.default is None else f"use {option.default!r}"
    remedy = remedy if "Annotated" in str(option.type) else "use one of"
    return Refused(
        option.name,
        f"{value!r:.50}",
        remedy,
        lambda: cls(X, Y, *learners).fit(**{option.name: value}),
    )


OUTSIDE = [
    option_row(cls, option, value)
    for cls in TESTS.values()
    for option in fields(cls.Options)
    if option.name not in (*Run.__annotations__, "checkpoint")
    for value in outside(option)
]
"""Every option of every test, with values just outside of its range."""

OF_LOSSES = [
    ROW("design", "neither learnt from", "tested",
        lambda: uv.InfluenceFunctionTest.from_losses(
            uv.evaluate("majority", X, Y, uv.designs.SplitHalves(2, 1), rng=0))),
    ROW("groups", "null distribution", "from data",
        lambda: uv.LeavePairOutTest.from_losses(
            uv.evaluate("lda", X, Y, 3, "auc", groups=GROUPS, rng=0))),
    ROW("design", "repeated 2 times", "may be",
        lambda: uv.McNemarTest(X, Y, *TWO, design=uv.designs.KFold(4, 2))),
    ROW("design", "between 2 and 12", "about one size",
        lambda: uv.CorrectedTTest(X, Y, *ONE,
            design=model_selection.PredefinedSplit(np.repeat([0, 1, 2], [2, 10, 12])))),
    ROW("group_weight", "f1", "rows count alike",
        lambda: uv.HoldOutTest.from_losses(judged("f1", groups=GROUPS), "a",
            group_weight="group")),
    ROW("learner", "tree", "one of a, b",
        lambda: uv.CorrectedTTest.from_losses(in_folds(), "tree")),
    ROW("learner", "'a'", "two different",
        lambda: uv.CorrectedTTest.from_losses(in_folds(), 0, "a")),
    ROW("losses", "3 learners", "name",
        lambda: uv.HoldOutTest.from_losses(judged("mcc", given=LABELS | {"c": Y}))),
    ROW("design", "K-fold", "not a", lambda: uv.FoldCovarianceTest.from_losses(drawn())),
    ROW("rng", "losses are given", "does not apply", lambda: mcnemar().fit(rng=0)),
    ROW("n_repeats", "3", "has 1",
        lambda: uv.FoldCovarianceTest.from_losses(in_folds(), 0).fit(n_repeats=3)),
    ROW("group_weight", "row", "pass groups",
        lambda: uv.HoldOutTest.from_losses(rules(), group_weight="row")),
    ROW("learners", "two different learners", "got",
        lambda: uv.DeLongTest.joint(rules("auc"), ["a"])),
    ROW("learners", "a sequence", "got", lambda: uv.DeLongTest.joint(rules("auc"), "a")),
    ROW("design", "4-fold", "KFold(2, n_repeats=5)",
        lambda: uv.FiveByTwoTTest.from_losses(in_folds())),
    ROW("design", "one draw", "several", lambda: uv.UStatisticTest.from_losses(in_folds(2))),
    ROW("design", "6 to 12 of 12", "the same number in every split",
        lambda: uv.UStatisticTest.from_losses(of_auc())),
    ROW("design", "one draw", "RandomSplits",
        lambda: uv.UStatisticTest.from_losses(in_folds(), 0, 1)),
    ROW("kappa_profile", "losses", "from data",
        lambda: uv.UStatisticTest.from_losses(drawn(), 0).kappa_profile()),
    ROW("checkpoint", "losses are given", "does not apply",
        lambda: uv.UStatisticTest.from_losses(drawn(), 0).fit(checkpoint="a.json")),
    ROW("variance", "asymptotic", "midpoint",
        lambda: uv.UStatisticTest.from_losses(drawn(), 0).fit(variance="asymptotic")),
    ROW("n_repeats", "7", "leave it out",
        lambda: uv.InfluenceFunctionTest.from_losses(in_folds(), 0).fit(7)),
    ROW("design", "every pair", "LeavePairOut", lambda: uv.LeavePairOutTest.from_losses(of_auc())),
    ROW("variance", "AUC", "leave it out",
        lambda: uv.CrossValidationWaldTest.from_losses(of_auc()).fit("within_fold")),
    ROW("design", "one resample", "two",
        lambda: uv.CorrectedTTest.from_losses(scores({"a": [0.5], "b": [0.75]}, design="splits"))),
    ROW("max_fits", "losses are given", "does not apply",
        lambda: uv.InfluenceFunctionTest.from_losses(in_folds(), 0).fit(max_fits=9)),
]

OF_COMPARISONS = [
    ROW("learners", "1 learner", "two", lambda: compared(learners=[counted])),
    ROW("test", "t_test", "use one of", lambda: compared(tests="t_test")),
    ROW("tests", "empty", "name at least one", lambda: compared(tests=[])),
    ROW("test", "leave_pair_out", "one learner", lambda: compared(tests="leave_pair_out")),
    ROW("correction", "tukey", "holm",
        lambda: compared(correction="tukey"), f"{PAIR} --correction tukey"),
    ROW("correction", "simultaneous", "corrected_t", lambda: compared(correction="simultaneous")),
    ROW("alternative", "lower", "less", lambda: compared(alternative="lower")),
    ROW("loss", "zero_one, delong: auc", "pass loss",
        lambda: compared(tests=["corrected_t", "delong"])),
    ROW("rng", "got -1", "not be negative", lambda: compared(rng=-1)),
    ROW("baseline", "svm", "use one of a, b", lambda: compared(baseline="svm")),
    ROW("max_fits", "11", "use max_fits=12", lambda: compared(tests="recommended", max_fits=11)),
    ROW("max_fits", "5", "20 at least", lambda: compared(max_fits=5)),
    ROW("max_fits", "max_seconds", "exclude", lambda: compared(max_fits=40, max_seconds=5)),
    ROW("metric", "names 'f1' twice", "f1", lambda: compared(metric=["f1", "f1"])),
    ROW("metric", "empty list", "name", lambda: compared(metric=[])),
    ROW("metric", "loss", "exclude each other", lambda: compared(metric="f1", loss="zero_one")),
    ROW("metric", "f1", "CrossValidationWaldTest",
        lambda: compared(metric="f1", tests="nested_cross_validation")),
    ROW("contrast", "corrected_t", "use the test", lambda: compared(contrast="ratio")),
    ROW("cv", "recommended", "name tests", lambda: compared(tests="recommended", cv=5)),
    ROW("learner", "'d'", "one of a, b", lambda: uv.compare_losses(rules(), baseline="d")),
    ROW("losses", "fixed rules", "learnt nothing",
        lambda: uv.compare_losses(rules(), "corrected_t")),
    ROW("losses", "one learner", "two", lambda: uv.compare_losses(scores({"a": SCORES["a"]}))),
    ROW("metric", "keep no predictions", "f1", lambda: uv.compare_losses(in_folds(), metric="f1")),
    ROW("learners", "a list", "at least one", lambda: selected(learners=[])),
    ROW("criterion", "aic", "permutation, loo",
        lambda: selected(criterion="aic"),
        "select small.csv --target y --learner lda --criterion aic"),
    ROW("criterion", "vc", "squared", lambda: selected(criterion="vc")),
    ROW("n_folds", "got 1", "between 2 and n = 24", lambda: selected(n_folds=1)),
    ROW("n_left_out", "got 25", "between 1 and n = 24", lambda: selected(n_left_out=25)),
    ROW("n_permutations", "got 0", "use 100", lambda: selected(n_permutations=0)),
    ROW("complexity", "finite numbers", "one for each learner", lambda: selected(complexity=[1])),
    ROW("learners", "empty", "at least one", lambda: uv.evaluate([], X, Y)),
    ROW("learners", "''", "different strings", lambda: uv.evaluate({"": counted}, X, Y)),
    ROW("max_bytes", "1e-08", "fewer", lambda: uv.evaluate(counted, X, Y, 4, max_bytes=10)),
    ROW("checkpoint", "got 3", "the name of a folder",
        lambda: uv.evaluate(counted, X, Y, 4, checkpoint=3)),
    ROW("correction", "simultaneous", "ratios",
        lambda: compared(tests="ustatistic", loss="squared", contrast="ratio",
            correction="simultaneous")),
    ROW("correction", "clipped", "midpoint",
        lambda: compared(tests=uv.TestSpec("ustatistic", fit={"variance": "clipped"}),
            correction="simultaneous")),
    ROW("n_pairs", "exact", "leave it out",
        lambda: compared(tests=uv.TestSpec("ustatistic", {"learn_size": 2}, {"n_pairs": "exact"}),
            correction="simultaneous")),
    ROW("correction", "weights", "holm",
        lambda: uv.compare(X, Y, FITTED, weights={"loss": WEIGHTS}, correction="simultaneous")),
    ROW("max_fits", "metrics", "call once",
        lambda: compared(tests="recommended", metric=["f1", "log"], max_fits=100)),
    ROW("design", "losses are given", "leave it out",
        lambda: uv.compare_losses(in_folds(), uv.TestSpec("naive_t", {"design": 5}))),
    ROW("n_folds", "49", "at least 49",
        lambda: compared(tests=uv.TestSpec("corrected_t", {"design": uv.designs.KFold(49)}))),
    ROW("criterion", "fpe", "does not exist",
        lambda: uv.select_model(X, AMOUNTS, ["knn:3"], "fpe", n_folds=4)),
    ROW("criterion", "rademacher", "groups",
        lambda: selected(criterion="rademacher", groups=GROUPS)),
]

OF_COLUMNS = [
    ROW("base", "'agee'", "which has a, b", lambda: gained(base=["agee"]),
        f"{GAINS} --base agee"),
    ROW("block", "'c'", "which has a, b", lambda: gained(blocks={"one": ["c"]}),
        f"{GAINS} --block one=c"),
    ROW("blocks", "column a is in", "call once",
        lambda: gained(blocks={"one": ["a"], "two": ["a"]})),
    ROW("base", "column a is in base", "call once", lambda: gained(blocks=["a"], base=["a"])),
    ROW("base", "all columns", "pass base", lambda: gained(blocks={"all": ["a", "b"]}),
        f"{GAINS} --block all=a,b"),
    ROW("block", "is empty", "leave it out", lambda: gained(blocks={"none": []})),
    ROW("blocks", "is empty", "at least one", lambda: gained(blocks={})),
    ROW("base", "has all columns", "leave out", lambda: gained(base=["a", "b"]),
        f"{GAINS} --base a,b"),
    ROW("block", "block 1 is there twice", "differ",
        lambda: gained(blocks={1: ["a"], "1": ["b"]}), f"{GAINS} --block 1=a --block 1=b"),
    ROW("fits", "got 9", "use 10", lambda: gained(learner="lda", fits=9), f"{GAINS} --fits 9"),
    ROW("learn_size", "got 12", "at most n/2 - 1 = 11", lambda: gained(learn_size=12),
        f"{GAINS} --learn-size 12"),
    ROW("copies", "got 5", "at least 19", lambda: gained(copies=5), f"{GAINS} --copies 5"),
    ROW("fits", "got 4", "leave it out", lambda: gained(fits=4)),
    ROW("fits", "got 50", "at least 96", lambda: gained(learner="lda", loss="auc", fits=50)),
    ROW("alternative", "up", "less", lambda: gained(alternative="up")),
    ROW("columns", "got 1.5", "names of columns", lambda: uv.learners.on_columns("lda", 1.5)),
    ROW("metric", "'f1'", "mean of a loss", lambda: gained(metric="f1", groups=GROUPS)),
    ROW("loss", "'auc'", "mean of a loss", lambda: gained(loss="auc", groups=GROUPS)),
    ROW("group_weight", "'row'", "leave it out",
        lambda: gained(groups=np.where(X[:, 0] > 0, 99, np.arange(24)), group_weight="row")),
    ROW("column", "'a'", "make_column_selector",
        lambda: gained(learner=make_pipeline(
            make_column_transformer((StandardScaler(), ["a", "b"])), LogisticRegression()))),
]

OF_PLANS = [
    ROW("width", "difference, ratio", "must be given", lambda: planned()),
    ROW("width", "difference", "one", lambda: planned(difference=0.1, width=0.2)),
    ROW("difference", "0", "must not be 0", lambda: planned(difference=0)),
    ROW("difference", "got 5", "below 1", lambda: planned(difference=5)),
    ROW("ratio", "got 1", "positive and not 1", lambda: planned(ratio=1)),
    ROW("ratio", "rmse", "use difference",
        lambda: uv.plan(X, AMOUNTS, *TWO, ratio=0.9, metric="rmse"),
        "plan numbers.csv --target y --learner ridge --other ridge:9 --ratio 0.9 --metric rmse"),
    ROW("difference", "two learners", "width", lambda: uv.plan(X, Y, counted, difference=0.1)),
    ROW("power", "0.01", "between", lambda: planned(difference=0.1, power=0.01)),
    ROW("n", "at least 24", "24", lambda: planned(difference=0.1, n=20)),
    ROW("width", "got 1", "below 1",
        lambda: uv.plan(X, Y, counted, width=1),
        "plan small.csv --target y --learner lda --width 1"),
    ROW("y", "missing", "pass", lambda: uv.plan(X, None, *TWO, width=0.1)),
    ROW("curve", "maybe", "True or False", lambda: planned(width=0.1, curve="maybe")),
    ROW("n", "got 1", "at least 2", lambda: uv.advise(1), "advise --n 1"),
    ROW("n_fits", "many", "an integer", lambda: uv.advise(60, "many")),
    ROW("n_fits", "11", "use at least 12", lambda: uv.advise(60, 11), "advise --n 60 --fits 11"),
    ROW("loss", "hinge", "use one of",
        lambda: uv.advise(60, loss="hinge"), "advise --n 60 --loss hinge"),
    ROW("learners", "3", "1 or 2", lambda: uv.advise(60, learners=3)),
    ROW("goal", "truth", "test, interval", lambda: uv.advise(60, goal="truth")),
    ROW("metric", "average_precision", "learners",
        lambda: uv.advise(60, metric="average_precision")),
    ROW("groups", "here", "does not apply",
        lambda: uv.plan(lambda rng, n: (X, Y), None, *TWO, width=0.1, groups=Y)),
    ROW("learner", "missing", "name one", lambda: uv.plan(X, Y, width=0.1)),
    ROW("alpha", "got 2", "use 0.05", lambda: planned(width=0.1, alpha=2)),
    ROW("width", "got -1", "above 0", lambda: planned(width=-1)),
    ROW("loss", "3 times the error rate", "zero_one",
        lambda: planned(width=0.1, loss=[[0, 3], [3, 0]])),
    ROW("losses", "of learners", "X and y", lambda: uv.plan(in_folds(), difference=0.1)),
    ROW("X", "result of a test", "X and y", lambda: uv.plan(RESULT, difference=0.1)),
    ROW("ratio", "fixed rules", "difference", lambda: uv.plan(rules(), ratio=0.9)),
    ROW("learn_size", "24 observations", "at most", lambda: planned(difference=0.1, learn_size=20)),
    ROW("kind", "curves", "this plan has", lambda: uv.plan(rules(), width=0.1).plot(kind="curves")),
    ROW("n", "2", "too few", lambda: uv.advise(2)),
]

OF_PREDICTIONS = [
    ROW("predictions", "empty", "at least one", lambda: judged("mcc", given={})),
    ROW("predictions", "the key 1", "different strings", lambda: judged("mcc", given={1: Y})),
    ROW("predictions", "9 values", "24", lambda: judged("mcc", given={"a": Y[:9]})),
    ROW("predictions", "1 values that are missing", "drop",
        lambda: judged("r2", AMOUNTS, {"a": holed(math.nan)[:, 0]})),
    ROW("predictions", "from", "0 and 1", lambda: judged("brier", given={"a": 75 * Y})),
    ROW("predictions", "strings", "numbers", lambda: judged("r2", AMOUNTS, {"a": TEXT})),
    ROW("predictions", "0.5", "labels", lambda: judged("f1", given={"a": np.full(24, 0.5)})),
    ROW("predictions", "contains 2", "f1", lambda: judged("f1", given={"a": np.arange(24) % 3})),
    ROW("metric", "nonsense", "use one of f1",
        lambda: judged("nonsense"), f"{ABOUT} --scores a --metric nonsense"),
    ROW("metric", "Acuracy", "did you mean 'accuracy'",
        lambda: judged("Acuracy"), f"{ABOUT} --scores a --metric Acuracy"),
    ROW("metric", "ece", "depends on bins", lambda: judged("ece")),
    ROW("metric", "f2_macro", "fbeta(2)",
        lambda: judged("f2_macro"), f"{ABOUT} --scores a --metric f2_macro"),
    ROW("beta", "fbeta(-1)", "above 0", lambda: judged("fbeta(-1)")),
    ROW("threshold", "net_benefit(1.2)", "between 0 and 1",
        lambda: judged("net_benefit(1.2)", given=CHANCES)),
    ROW("metric", "f1", "accuracy", lambda: judged("f1", 0 * Y, {"a": 0 * Y})),
    ROW("metric", "two classes", "merge",
        lambda: judged("average_precision", np.arange(24) % 3, RULES),
        "predictions rules.csv --target three --scores p --metric average_precision"),
    ROW("loss", "r2", "metric", lambda: uv.Losses.from_predictions(AMOUNTS, RULES, loss="r2")),
    ROW("pos_label", "'ill' and 'well'", "missing",
        lambda: judged("recall", TEXT, {"a": TEXT}),
        "predictions rules.csv --target word --scores guess --metric recall"),
    ROW("pos_label", "dead", "labels",
        lambda: judged("recall", TEXT, {"a": TEXT}, pos_label="dead")),
    ROW("sample_weight", "9 values", "24", lambda: rules(sample_weight=WEIGHTS[:9])),
    ROW("sample_weight", "negative", "not all 0", lambda: rules(sample_weight=-WEIGHTS)),
    ROW("sample_weight", "AUC", "means", lambda: rules("auc", sample_weight=WEIGHTS)),
    ROW("fold", "one fold only", "two", lambda: rules(fold=0 * Y)),
    ROW("fold", "23 observations", "24", lambda: rules(fold=FOLD[1:])),
    ROW("fold", "1 missing values", "drop", lambda: rules(fold=[None, *FOLD[1:]])),
    ROW("design", "learns from a part", "whole groups",
        lambda: rules(fold=FOLD, groups=np.arange(24) // 3)),
    ROW("metric", "average_precision", "biased",
        lambda: judged("average_precision", given=RULES, fold=FOLD)),
    ROW("y", "score", "uses scores directly",
        lambda: uv.Losses.from_predictions(Y, RULES, loss="score")),
    ROW("y", "true response", "score",
        lambda: uv.Losses.from_predictions(None, RULES, loss="squared")),
    ROW("metric", "f1", "make them with", lambda: rules("log").about("f1")),
    ROW("metric", "uno", "survival times", lambda: judged("uno", AMOUNTS, RULES)),
    ROW("metric", "survival", "harrell", lambda: survived(metric="f1")),
    ROW("event", "1 and 2", "make it 0 and 1", lambda: uv.survival(TIMES.time, TIMES.event + 1)),
    ROW("time", "-11", "subtract the start", lambda: uv.survival(-TIMES.time, TIMES.event)),
    ROW("correct", "'C', 'I'", "== 'C'", lambda: uv.Losses.from_correct({"a": ["C", "I"]})),
    ROW("correct", "0.5", "loss='score'", lambda: uv.Losses.from_correct({"a": [1, 0.5]})),
    ROW("correct", "1 missing values", "drop", lambda: uv.Losses.from_correct({"a": [1, 0, None]})),
    ROW("fold_scores", "strings", "numbers", lambda: scores({"a": ["x", "y"]})),
    ROW("fold_scores", "nan for split 1", "failed", lambda: scores({"a": [1, math.nan]})),
    ROW("fold_scores", "1 scores", "2", lambda: scores({"a": [1, 2], "b": [1]})),
    ROW("n_learn", "got 0", "at least 1", lambda: scores(n_learn=0)),
    ROW("n_test", "6 of 20", "correct", lambda: scores(n_learn=14)),
    ROW("design", "loo", "use one of kfold", lambda: scores(design="loo")),
    ROW("n_folds", "splits", "does not apply", lambda: scores(design="splits", n_folds=4)),
    ROW("greater_is_better", "huber", "True", lambda: scores(score="huber")),
    ROW("greater_is_better", "contradicts", "accuracy", lambda: scores(greater_is_better=False)),
    ROW("loss", "accuracy", "between 0 and 1",
        lambda: arrays(loss="accuracy", values=[[0, 2], [0, 0]], greater_is_better=True)),
    ROW("values", "NaN", "a finite number", lambda: arrays(values=[[0, math.nan], [0, 0]])),
    ROW("values", "from 0 to 2", "between", lambda: arrays(values=[[0, 2], [0, 0]])),
    ROW("loss", "zero_one", "smaller", lambda: arrays(loss="zero_one", greater_is_better=True)),
    ROW("greater_is_better", "got 'yes'", "True or False",
        lambda: arrays(loss="huber", greater_is_better="yes")),
    ROW("values", "shape", "(L, R, n)", lambda: arrays(values=np.zeros(2))),
    ROW("loss", "r2", "greater_is_better=True", lambda: arrays(loss="r2")),
    ROW("loss", "auc", "labels of two classes", lambda: arrays(loss="auc")),
    ROW("learners", "1 different names", "1", lambda: arrays(learners=["a", "b"])),
    ROW("loss", "metric", "exclude each other",
        lambda: uv.Losses.from_predictions(Y, LABELS, loss="log", metric="f1")),
    ROW("sample_weight", "f1", "leave it out", lambda: judged("f1", sample_weight=WEIGHTS)),
    ROW("metric", "needs class labels", "'r2'", lambda: judged("f1", AMOUNTS, RULES)),
    ROW("pos_label", "r2", "leave it out", lambda: judged("r2", AMOUNTS, RULES, pos_label=1)),
    ROW("pos_label", "uno", "leave it out", lambda: survived(metric="uno", pos_label=1)),
    ROW("predictions", "goes from", "probabilities", lambda: survived(metric="brier(3)")),
    ROW("kappa_linear", "order of the classes", "numbers",
        lambda: judged("kappa_linear", np.take(["low", "mid", "top"], np.arange(24) % 3),
            {"a": np.take(["low", "mid", "top"], FOLD % 3)})),
    ROW("metric", "log", "make the losses", lambda: judged("mcc").about("log")),
    ROW("fold", "got shape ()", "a row for each repeat", lambda: rules(fold=5)),
    ROW("max_fpr", "partial_auc(2)", "at most 1", lambda: judged("partial_auc(2)", given=RULES)),
    ROW("correct", "2", "1 and 0", lambda: uv.Losses.from_correct({"a": [1, 2]})),
    ROW("correct", "1 values", "2 are needed",
        lambda: uv.Losses.from_correct({"a": [1, 0], "b": [1]})),
    ROW("groups", "'id'", "which has 'a'",
        lambda: uv.Losses.from_correct({"a": [1, 0]}, groups="id")),
    ROW("n_folds", "repeated_kfold", "must be given", lambda: scores(design="repeated_kfold")),
    ROW("n_folds", "3", "scores of all folds", lambda: scores(design="repeated_kfold", n_folds=3)),
    ROW("score", "got 3", "name", lambda: scores(score=3)),
    ROW("values", "1", "never above 0",
        lambda: arrays(loss="neg_log_loss", values=[[0, 1], [1, 0]], greater_is_better=True)),
    ROW("y", "shape (2,)", "(3,)", lambda: arrays(y=[0, 1, 1])),
    ROW("loss", "roc_auc", "decision scores", lambda: arrays(loss="roc_auc")),
    ROW("split", "tests nothing", "0", lambda: arrays(learning=[[1, 1], [0, 1]])),
]
# fmt: on

RESULT = uv.HoldOutTest.from_losses(rules()).fit()
JOINT = uv.compare_losses(rules("auc"), ["delong"], correction="simultaneous")

LEDGER = uv.Ledger("none.jsonl")
ASK = "gate rules.csv --target y --ledger none.jsonl --margin"

# fmt: off
OF_LEDGERS = [
    ROW("loss", "AUC", "Take right-or-wrong answers",
        lambda: LEDGER.ask(rules("auc")), f"{ASK} 0 --scores p,q --loss auc"),
    ROW("loss", "log loss", "such as F1",
        lambda: LEDGER.ask(rules("log")), f"{ASK} 0 --scores p,q --loss log"),
    ROW("loss", "R2", "such as F1",
        lambda: LEDGER.ask(judged("r2", AMOUNTS, RULES)),
        "gate rules.csv --target x --scores p,q --metric r2 --margin 0 --ledger none.jsonl"),
    ROW("groups", "F1", "Take right-or-wrong answers",
        lambda: LEDGER.ask(judged("f1", groups=GROUPS)),
        f"{ASK} 0 --scores a,b --metric f1 --groups group"),
    ROW("margin", "got 0.02", "ask whether the new model is better",
        lambda: LEDGER.ask(rules(groups=GROUPS), margin=0.02),
        f"{ASK} 0.02 --scores a,b --groups group"),
    ROW("margin", "got 0.02", "ask whether the new model is better",
        lambda: LEDGER.ask(judged("f1"), margin=0.02), f"{ASK} 0.02 --scores a,b --metric f1"),
    ROW("margin", "got -0.1", "from 0 to 1",
        lambda: LEDGER.ask(rules(), margin=-0.1), f"{ASK} -0.1 --scores a,b"),
    ROW("stake", "got 0", "leave it out",
        lambda: LEDGER.ask(rules(), stake=0), f"{ASK} 0 --scores a,b --stake 0"),
    ROW("models", "in folds", "predictions for such rows", lambda: LEDGER.ask(in_folds())),
    ROW("ledger", "none.jsonl", "open one", lambda: LEDGER.ask(rules())),
    ROW("baseline", "a, b", "name the model in use", lambda: LEDGER.open(rules())),
    ROW("discordant", "got None", "between 0 and 1", lambda: LEDGER.show(0.1)),
    ROW("ledger", "is a folder", "name a file in it",
        lambda: uv.Ledger(".").show()),
    ROW("asks", "error rates", "difference",
        lambda: uv.plan(rules("auc"), difference=0.05, asks=3)),
]
# fmt: on

# fmt: off
OF_ANSWERS = [
    ROW("alpha", "got 1.5", "between 0 and 1",
        lambda: RESULT.conf_int(1.5), f"{ABOUT} --scores a,b --alpha 1.5"),
    ROW("margin", "got 0", "above 0",
        lambda: RESULT.noninferiority(0), "gate rules.csv --target y --scores a,b --margin 0"),
    ROW("margin", "3", "use a smaller one",
        lambda: RESULT.noninferiority(3), "gate rules.csv --target y --scores a,b --margin 3"),
    ROW("low", "got", "below high", lambda: RESULT.equivalence(0.1, -0.1)),
    ROW("low", "-inf", "finite number", lambda: RESULT.equivalence(-math.inf, 0.1)),
    ROW("equivalence", "0.05 alone", "pass both", lambda: RESULT.equivalence(0.05)),
    ROW("alpha", "0.5", "between 0 and 0.5", lambda: RESULT.noninferiority(0.1, alpha=0.5)),
    ROW("kind", "pie", "has", lambda: RESULT.plot(kind="pie")),
    ROW("test", "hold_out", "use one of delong", lambda: JOINT.of_test("hold_out")),
    ROW("correction", "simultaneous", "with", lambda: uv.compare_losses(rules()).best_set()),
    ROW("learner", "'d'", "one of a, b", lambda: rules().number_of("d")),
    ROW("confidence_level", "got 95", "use 0.95", lambda: RESULT.confidence_interval(95)),
    ROW("path", "a.txt", "must end in", lambda: RESULT.save_plot("a.txt")),
    ROW("path", "got 3", "name of a file", lambda: RESULT.save_plot(3)),
    ROW("ax", "got 'here'", "subplots", lambda: RESULT.plot(ax="here")),
    ROW("noninferiority", "one learner", "null_value",
        lambda: uv.UStatisticTest.from_losses(drawn(), 0).fit().noninferiority(0.1)),
    ROW("equivalence", "rope", "posterior",
        lambda: uv.BayesianTTest.from_losses(in_folds()).fit().equivalence(-0.1, 0.1)),
    ROW("equivalence", "an interval", "UStatisticTest",
        lambda: uv.FiveByTwoFTest.from_losses(five_by_two()).fit().equivalence(-0.1, 0.1)),
    ROW("margin", "got 0.9", "a ratio above 1", lambda: RATIO.noninferiority(0.9)),
    ROW("margin", "got True", "above 0", lambda: RESULT.noninferiority(True)),
    ROW("low", "-0.5", "use a larger one", lambda: RATIO.equivalence(-0.5, 1.2)),
    ROW("margin", "1.1", "use a smaller one", lambda: RATE.noninferiority(0.9)),
]
# fmt: on

EVERYWHERE = [
    *OF_DATA,
    *OF_LEARNERS,
    *OF_QUESTIONS,
    *OF_FITS,
    *OUTSIDE,
    *OF_LOSSES,
    *OF_COMPARISONS,
    *OF_COLUMNS,
    *OF_PLANS,
    *OF_PREDICTIONS,
    *OF_ANSWERS,
    *OF_LEDGERS,
]
"""What callers of Python and R ask, and where a row has a command, those of the shell."""

FRAME = pd.DataFrame(X, columns=["a", "b"]).assign(y=Y)
DAYS = np.arange(24).astype("datetime64[D]")
OF_FOLDS = {
    "test_score": np.full(4, 0.5),
    "indices": {
        "train": [np.flatnonzero(each) for each in LEARNT],
        "test": [np.flatnonzero(each) for each in TESTED],
    },
}
HALF = "a\ud800b"


def formula(text: Any, data: Any = FRAME) -> uv.CorrectedTTest:
    return uv.CorrectedTTest.from_formula(text, data, counted)


def sklearns(results: Any, **options: Any) -> uv.Losses:
    return uv.Losses.from_sklearn(results, **{"score": "accuracy"} | options)


def read(**change: Any) -> uv.TestResult:
    return uv.TestResult.from_dict(RESULT.to_dict() | change)


def without(*names: str) -> dict[str, Any]:
    """A saved result that has lost some of its parts."""
    return {name: each for name, each in RESULT.to_dict().items() if name not in names}


def repeated(n_rows: int = 48, **options: Any) -> uv.Losses:
    """Two repetitions of a cross-validation, one below the other."""
    rows = np.arange(n_rows)
    given: dict[str, Any] = {"y": Y[rows % 24], "fold": FOLD[rows % 24], "repeat": rows // 24}
    given |= options
    return uv.Losses.from_predictions(given.pop("y"), {"a": LABELS["b"][rows % 24]}, **given)


DESIGN = uv.designs.Design(LEARNT, TESTED)
WARDS = as_groups(np.arange(24) % 12, 24)


def losses_read(**change: Any) -> uv.Losses:
    return uv.Losses.from_dict(in_folds().to_dict() | change)


def roc(given: Any = None, **options: Any) -> Any:
    return uv.curves.roc(Y, {"a": X[:, 0]} if given is None else given, **options)


def made_of(learner: Any) -> uv.CorrectedTTest:
    return uv.CorrectedTTest(X, Y, learner, counted)


def stratified(strata: Any) -> uv.designs.Design:
    design = uv.designs.KFold(3, stratify=True)
    return design.draw(24, np.random.default_rng(0), None, strata)


# fmt: off
OF_FORMS = [
    ROW("X", "got 1", "X.reshape", lambda: uv.NaiveTTest(X[:, 0], Y, *TWO)),
    ROW("X", "'y ~ a'", "from_formula", lambda: uv.NaiveTTest("y ~ a", Y, *TWO)),
    ROW("X", "sex", "encode", lambda: uv.NaiveTTest(FRAME.assign(sex="f"), Y, "lda", "qda")),
    ROW("X", "2 masked", "drop", lambda: uv.NaiveTTest(np.ma.array(X, mask=X[0] == X), Y, *TWO)),
    ROW("y", "1 masked", "drop", lambda: uv.NaiveTTest(X, np.ma.array(Y, mask=RARE), *TWO)),
    ROW("X", "complex", "numbers", lambda: uv.NaiveTTest(X + 1j, Y, *TWO)),
    ROW("y", "dates or times", "convert", lambda: uv.NaiveTTest(X, DAYS, *TWO)),
    ROW("y", "durations as texts", "convert",
        lambda: uv.NaiveTTest(X, [f"{day} days" for day in range(24)], *TWO)),
    ROW("y", "another order", "y.loc[X.index]", lambda: uv.NaiveTTest(FRAME, FRAME.y[::-1], *TWO)),
    ROW("y", "ill", "a table with", lambda: uv.NaiveTTest(X, "ill", *TWO)),
    ROW("weights", "'W'", "a, b", lambda: uv.NaiveTTest(FRAME, "y", *FITTED, weights="W")),
    ROW("learner", "LogisticRegression", "pass an object", lambda: made_of(LogisticRegression)),
    ROW("learner", "KMeans", "neither a classifier nor a regressor", lambda: made_of(KMeans())),
    ROW("learner", "got 42", "a callable", lambda: made_of(42)),
    ROW("learner", "got 2", "a name", lambda: made_of({"a": "lda", "b": "qda"})),
    ROW("learners", "'a'", "name them apart",
        lambda: uv.NaiveTTest(X, Y, {"a": counted}, {"a": counted})),
    ROW("cv", "design", "exclude", lambda: made(cv=5, design=5)),
    ROW("cv", "scikit-learn's", "as design", lambda: made(cv=uv.designs.KFold(5))),
    ROW("design", "GroupKFold", "pass groups", lambda: made(cv=model_selection.GroupKFold(4))),
    ROW("scoring", "several", "one", lambda: made(scoring=["f1", "recall"])),
    ROW("scoring", "make_scorer", "scorer", lambda: made(scoring=lambda prediction: 1.0)),
    ROW("scoring", "sample_weight", "pass weights",
        lambda: made(scoring=make_scorer(f1_score, sample_weight=[1.0]))),
    ROW("weights", "'test'", "'fit', 'loss'", lambda: made(weights={"test": WEIGHTS})),
    ROW("design", "[1, 2]", "pairs of row numbers", lambda: made(design=[1, 2])),
    ROW("design", "tests observations", "learns from", lambda: made(design=[([0, 1], [1, 2])])),
    ROW("y", "missing a required", "NaiveTTest()", lambda: uv.NaiveTTest(X)),
    ROW("random_state", "no option", "rng=", lambda: ustatistic(random_state=1)),
    ROW("desing", "no option", "did you mean design", lambda: made(desing=3)),
    ROW("zzz", "no option", "it has", lambda: uv.evaluate("lda", X, Y, zzz=0)),
    ROW("sample_weight", "no option", "weights=", lambda: made(sample_weight=WEIGHTS)),
    ROW("formula", "a + b", "left-hand side", lambda: formula("a + b")),
    ROW("formula", "np.load", "cannot be called", lambda: formula("y ~ np.load('x')")),
    ROW("formula", "'c'", "not a column", lambda: formula("y ~ c")),
    ROW("formula", "got", "a string", lambda: formula(3)),
    ROW("data", "got dict", "DataFrame", lambda: formula("y ~ a", {"a": [1]})),
    ROW("labels", "got []", "a list of different classes", lambda: uv.metrics.f1(labels=[])),
    ROW("at", "got 0", "above 0", lambda: uv.metrics.brier(at=0)),
    ROW("times", "two numbers or more", "ascending", lambda: uv.metrics.integrated_brier([2, 1])),
    ROW("output", "rank", "number, prob",
        lambda: uv.metrics.Moments(np.subtract, np.sum, "own", output="rank")),
    ROW("function", "'own'", "must return",
        lambda: judged(uv.metrics.Cells(lambda table: table, "own"))),
    ROW("output", "labels", "label, number", lambda: uv.Loss("mine", np.subtract, "labels")),
    ROW("function", "'squared'", "callable", lambda: uv.Loss("mine", "squared", "number")),
    ROW("bounds", "(1.0, 0.0)", "in order",
        lambda: uv.Loss("mine", np.subtract, "number", bounds=(1.0, 0.0))),
    ROW("penalties", "2000", "at most", lambda: uv.learners.lasso_path(10**30)),
    ROW("lams", "got 1", "use 100", lambda: uv.learners.lasso_path(1)),
    ROW("ties", "exact", "efron, breslow", lambda: uv.learners.cox(ties="exact")),
    ROW("scale", "median", "sum, mean", lambda: uv.learners.ridge(1.0, scale="median")),
    ROW("max_iter", "got 0", "of at least 1", lambda: uv.learners.logistic(1.0, max_iter=0)),
    ROW("kernel", "cosine", "linear, rbf", lambda: uv.learners.kernel_ridge(1.0, kernel="cosine")),
    ROW("gamma", "got 0", "leave it out", lambda: uv.learners.kernel_ridge(1.0, gamma=0)),
    ROW("tie", "coin", "first, second", lambda: uv.learners.majority("coin")),
    ROW("matrix", "(2, 3)", "shape", lambda: uv.learners.smoother(np.ones((2, 3)))),
    ROW("learning", "bool", "array", lambda: uv.designs.Design(None, TESTED)),
    ROW("groups", "Groups of 24 rows", "must be", lambda: uv.designs.KFold(3).check(24, Y)),
    ROW("strata", "24 observations", "classes", lambda: stratified(X)),
    ROW("stratify", "True", "leave it", lambda: stratified(None)),
    ROW("time", "dates or times", "convert",
        lambda: uv.survival(pd.to_timedelta([1, 2], unit="D"), [1, 0])),
    ROW("time", "same index", "event.loc[time.index]",
        lambda: uv.survival(FRAME.a**2, FRAME.y[::-1])),
    ROW("time", "events already", "leave event out", lambda: uv.survival(TIMES, Y)),
    ROW("y", "different indices", "y.loc[X.index]",
        lambda: uv.NaiveTTest(FRAME, FRAME.y.set_axis(range(1, 25)), *TWO)),
    ROW("groups", "another order", "groups.loc[X.index]",
        lambda: uv.NaiveTTest(FRAME[["a", "b"]], Y, *TWO, groups=pd.Series(GROUPS)[::-1])),
    ROW("data", "'a'", "rename", lambda: formula("y ~ a", FRAME.rename(columns={"b": "a"}))),
    ROW("formula", "no features", "response ~ terms", lambda: formula("y ~ 1")),
    ROW("formula", "'C(y)'", "as a column", lambda: formula("C(y) ~ a")),
    ROW("formula", "column 1", "data.add_prefix",
        lambda: formula("y ~ .", FRAME.rename(columns={"b": 1}))),
    ROW("formula", "column ''", "rename",
        lambda: formula("y ~ log(``)", FRAME.rename(columns={"b": ""}))),
    ROW("design", "no splits", "at least one", lambda: made(design=[])),
    ROW("design", "StratifiedKFold", "cannot be used",
        lambda: uv.CorrectedTTest(X, AMOUNTS, *TWO, design=model_selection.StratifiedKFold(3))),
    ROW("design", "20 observations", "24",
        lambda: made(design=uv.designs.Design(LEARNT[:, :20], TESTED[:, :20]))),
    ROW("split", "row numbers", "0 to 3", lambda: uv.designs.Design.from_indices([([0], [4])], 4)),
    ROW("split", "learns from nothing", "1",
        lambda: uv.designs.Design.from_indices([([0], [1]), ([], [1])], 4)),
    ROW("learning", "shape (2,)", "0/1 matrix", lambda: arrays(learning=[0, 1])),
    ROW("learning", "(1, 2)", "same shape", lambda: arrays(learning=[[0, 1]], testing=np.eye(2))),
    ROW("design", "2.5", "number of folds", lambda: made(design=2.5)),
    ROW("design", "True", "number of folds", lambda: made(design=True)),
    ROW("split", "row numbers", "0 to 3", lambda: uv.designs.Design.from_indices([([0], [-1])], 4)),
    ROW("split", "row numbers", "0 to 3",
        lambda: uv.designs.Design.from_indices([([0.5], [1])], 4)),
    ROW("groups", "got Groups of 24", "9 rows", lambda: uv.designs.KFold(3).check(9, WARDS)),
    ROW("groups", "got Groups of 12", "24 groups", lambda: DESIGN.of_groups(WARDS)),
    ROW("n", "array", "an integer", lambda: planned(width=0.1, n=np.array(30.0))),
    ROW("path", "got array([0.])", "name of a file", lambda: uv.Ledger(np.zeros(1))),
]
# fmt: on


# fmt: off
OF_TABLES = [
    ROW("own", "no derivative", "differences",
        lambda: judged(uv.metrics.Cells(lambda table: abs(table[1, 1] - np.mean(Y * LABELS["a"])),
            "own"))),
    ROW("step", "returns 1", "shares",
        lambda: judged(uv.metrics.Cells(lambda table: float(table[1, 1] > 0.2), "step"))),
    ROW("limits", "5", "correct the limits",
        lambda: judged(uv.metrics.Cells(lambda table: 4 + table.trace(), "own", limits=(0, 1)))),
    ROW("predictions", "ndarray", "names to columns", lambda: judged("mcc", given=X)),
    ROW("predictions", "contains 6, 7", "labels of the same type",
        lambda: uv.Losses.from_predictions(Y, {"a": Y + 6}, loss=[[0, 1], [1, 0]])),
    ROW("predictions", "sum to", "1", lambda: judged("log", given={"a": np.c_[Y, Y]})),
    ROW("folder", ".", "name a file", lambda: uv.Losses.from_predictions(Y, ".")),
    ROW("fold", "shape (24,)", "repeats", lambda: rules(fold=np.stack([FOLD, FOLD]))),
    ROW("fold", "DataFrame", "one column", lambda: rules(fold=pd.DataFrame(FOLD))),
    ROW("repeat", "fold", "does not apply without", lambda: rules(repeat=FOLD)),
    ROW("predictions", "another order", "index",
        lambda: judged("mcc", FRAME.y, {"a": FRAME.y[::-1]})),
    ROW("learners", "surrogate", "decode",
        lambda: arrays(learners=[HALF, "b"], values=np.zeros((2, 2, 2)))),
    ROW("results", "empty", "pass the results", lambda: sklearns({}, n_obs=24)),
    ROW("results", "no indices", "pass cv=", lambda: sklearns({"a": [1.0]})),
    ROW("y", "response", "must contain", lambda: sklearns({"a": [1.0] * 5}, cv=5)),
    ROW("cv", "without a seed", "random_state",
        lambda: sklearns({"a": [1.0] * 4}, cv=model_selection.KFold(4, shuffle=True), y=Y)),
    ROW("score", "missing", "as in score='accuracy'",
        lambda: sklearns({"a": OF_FOLDS}, n_obs=24, score=None)),
    ROW("test_score", "[1]", "a key", lambda: sklearns({"a": OF_FOLDS}, n_obs=24, test_score=[1])),
    ROW("run_id", "None", "a name", lambda: uv.Losses.from_mlflow(None, predictions="a")),
    ROW("losses", "got dict", "uv.Losses", lambda: uv.CorrectedTTest.from_losses({})),
    ROW("group_weight", "array", "group, row",
        lambda: uv.DeLongTest.joint(rules("auc"), group_weight=np.ones(2))),
    ROW("test", "3", "use one of", lambda: uv.TestSpec(3)),
    ROW("folds", "no option", "it has design", lambda: uv.TestSpec("corrected_t", {"folds": 5})),
    ROW("loss", "comparison", "decides it", lambda: uv.TestSpec("corrected_t", {"loss": "log"})),
    ROW("rho", "no option", "it has none", lambda: uv.TestSpec("corrected_t", {}, {"rho": 0.1})),
    ROW("path", "got 3", "the name of a file", lambda: rules().save(3)),
    ROW("path", "a.csv", ".npz or .json", lambda: rules().save("a.csv")),
    ROW("max_bytes", "got 0", "positive integer", lambda: uv.Losses.load("a.npz", max_bytes=0)),
    ROW("own", "metric", "cannot be saved",
        lambda: judged(uv.metrics.Cells(lambda table: table[0, 0], "own")).save("a.json")),
    ROW("version", "99", "upgrade ucvtest", lambda: read(version=99)),
    ROW("estimate", "[1]", "another type", lambda: read(estimate=[1])),
    ROW("data", "TestResult.to_dict", "written by", lambda: uv.TestResult.from_dict({})),
    ROW("means", "numbers of shape", "must contain", lambda: losses_read(means=[[0.5]])),
    ROW("n_obs", "1000000000000000", "needs", lambda: losses_read(n_obs=10**15)),
    ROW("data", "losses", "written by", lambda: uv.Losses.from_dict([1, 2])),
    ROW("groups", "numbered", "first appear",
        lambda: uv.Losses.from_dict(rules().to_dict() | {"groups": [1, 0] * 12})),
    ROW("alpha", "got 0.7", "to 0.5", lambda: roc(alpha=0.7)),
    ROW("thresholds", "nan", "finite numbers", lambda: roc(thresholds=[0.1, math.nan])),
    ROW("y", "one class only", "two", lambda: uv.curves.roc(0 * Y, {"a": X[:, 0]})),
    ROW("predictions", "one or two", "in predictions", lambda: roc(RULES | {"c": X[:, 0]})),
    ROW("predictions", "difference", "use another name", lambda: roc({"difference": X[:, 0]})),
    ROW("bins", "got 0", "at least", lambda: uv.curves.calibration(Y, CHANCES, bins=0)),
    ROW("predictions", "missing", "pass", lambda: uv.curves.roc(Y)),
    ROW("pos_label", "losses", "known to", lambda: uv.curves.roc(rules("auc"), pos_label=0)),
    ROW("kind", "area", "this curve has", lambda: roc().plot(kind="area")),
    ROW("result", "got dict", "a TestResult", lambda: uv.cite({})),
    ROW("with_verdict", "array", "True or False", lambda: RESULT.summary(with_verdict=np.ones(2))),
    ROW("logs_to", "array", "name", lambda: uv.hooks.remove_logging(np.ones(2))),
    ROW("make_bar", "'bar'", "function of a description", lambda: uv.hooks.bars_by("bar")),
    ROW("message", "got 1", "text", lambda: uv.hooks.warn_caller(1)),
    ROW("precision", "got 0", "positive", lambda: uv.resamples_for_precision(0)),
    ROW("alpha", "'5%'", "between 0 and 1", lambda: uv.codes.critical_values("5%", 5, 5)),
    ROW("method", "exact", "wmw", lambda: uv.codes.critical_values(0.05, 5, 5, "exact")),
    ROW("n0", "[0]", "positive integers", lambda: uv.codes.critical_values(0.05, 0, 5)),
    ROW("n_errors", "got 1.5", "an integer", lambda: uv.codes.light_code_bounds(1.5, 8, 4)),
    ROW("data", "se, notes", "cut short", lambda: uv.TestResult.from_dict(without("se", "notes"))),
    ROW("margin", "no option", "alpha, high, low", lambda: RESULT.equivalence(margin=0.05)),
    ROW("n_errors", "n_errors = -1", "between 1 and n - 1",
        lambda: uv.codes.light_code_bounds(-1, 5, 2)),
    ROW("rng", "supremum", "leave them out", lambda: uv.codes.critical_values(0.05, 5, 5, rng=1)),
    ROW("n_simulations", "got 0", "positive",
        lambda: uv.codes.critical_values(0.05, 5, 5, "empirical", n_simulations=0)),
    ROW("groups", "shape", "numbers",
        lambda: uv.Losses.from_dict(rules().to_dict() | {"groups": ["p"] * 24})),
    ROW("cv", "every round", "scores of the splits",
        lambda: sklearns({"a": Y}, cv=model_selection.ShuffleSplit(3, random_state=0), y=Y)),
    ROW("results", "split0_test_accuracy", "pass test_score=",
        lambda: sklearns({"params": [{}]}, cv=2, y=Y)),
    ROW("repeat", "23 and 24 rows", "complete", lambda: repeated(47)),
    ROW("y", "differs between repetitions", "sort the table", lambda: repeated(y=[1, *Y[1:], *Y])),
    ROW("repeat", "has 2", "one for each row", lambda: repeated(repeat=[1, 2])),
    ROW("test", "array", "joint tests of all learners", lambda: JOINT.joint_test(np.ones(2))),
    ROW("test", "array", "together", lambda: JOINT.best_set(test=np.ones(2))),
    ROW("design", "learns from a part", "whole groups",
        lambda: losses_read(groups=[*np.arange(24) // 2])),
    ROW("hook", "logs_to", "must be",
        lambda: uv.hooks.replace_logging(SimpleNamespace(fitting=print, fitted=print))),
    ROW("hook", "got 1", "fitting and fitted", lambda: uv.hooks.replace_logging(1)),
    ROW("category", "int", "class of warnings", lambda: uv.hooks.warn_caller("a", int)),
]
# fmt: on

KERNELS = uv.kernels


def turned(n_sets: int) -> np.ndarray:
    """Learning sets of eight, so that every row is tested."""
    return np.stack([np.roll(np.arange(24) < 8, 11 * each) for each in range(n_sets)])


# fmt: off
OF_KERNELS = [
    ROW("repeats", "12 of 16 pairs", "26 repeats",
        lambda: KERNELS.influence.auc(np.zeros((10, 8)), np.tile([1, 1, 0, 0], (10, 2)),
            np.arange(8) < 4)),
    ROW("repeats", "12 of 24 observations", "repeats would do",
        lambda: KERNELS.influence.error(np.zeros((9, 24)), np.tile(np.arange(24) < 12, (9, 1)))),
    ROW("tested", "from 4 to 5", "one size",
        lambda: KERNELS.influence.error(np.zeros((2, 8)), [[1] * 4 + [0] * 4, [1] * 5 + [0] * 3])),
    ROW("counts", "integers", "zero or more",
        lambda: KERNELS.influence.error(np.zeros((2, 4)), np.eye(4)[:2], (1 - np.eye(4)[:2]) / 2)),
    ROW("scores", "10 learning sets", "at least 96",
        lambda: KERNELS.auc_ustatistic.from_scores(np.zeros((10, 24)), turned(10), Y)),
    ROW("exact", "2 rows", "learning sets once",
        lambda: KERNELS.auc_ustatistic.from_scores(np.zeros((2, 24)), turned(2), Y, exact=True)),
    ROW("pos_label", "for scores", "each class",
        lambda: KERNELS.auc_ustatistic.from_scores(np.zeros((200, 24)), turned(200), Y,
            pos_label=1)),
    ROW("D1", "outside the learning sets", "finite",
        lambda: KERNELS.ustatistic.from_pairs(np.nan * X.T, X.T, TESTED[:2], TESTED[2:])),
    ROW("clusters", "got 1", "draw more",
        lambda: KERNELS.ustatistic.from_pairs(X.T[:1], X.T[:1], TESTED[:1], TESTED[1:2])),
    ROW("scores", "(2, 3)", "shape (n, n)",
        lambda: KERNELS.leave_pair_out.errors(np.ones((2, 3)), [0, 1])),
    ROW("y", "0 and 1", "both", lambda: KERNELS.leave_pair_out.errors(np.eye(2), [1, 1])),
    ROW("groups", "hat matrix", "LeavePairOutTest",
        lambda: KERNELS.leave_pair_out.smoother_errors(np.eye(4) / 2, np.eye(4, dtype=bool)[:1],
            groups=[0, 0, 1, 1] )),
    ROW("e", "1 numbers", "finite",
        lambda: KERNELS.fold_covariance.moments([0, math.nan, 1], [0, 0, 1])),
    ROW("fold", "one fold only", "at least 2",
        lambda: KERNELS.fold_covariance.moments(np.zeros(3), np.zeros(3, int))),
    ROW("rho", "got 1", "below 1",
        lambda: KERNELS.fold_covariance.variance_given_rho(2.0, 1.0, n_obs=8, fold_size=2)),
    ROW("tested", "0 and 1", "only", lambda: KERNELS.influence.auc(X.T[:1], 2 * TESTED[:1], Y)),
    ROW("scores", "one shape", "tested", lambda: KERNELS.influence.auc(X.T, TESTED, Y)),
    ROW("fold_values", "1 NaN", "needs a value",
        lambda: KERNELS.influence.ad_hoc_variances([[0.1, math.nan]])),
    ROW("loss", "hinge", "squared",
        lambda: KERNELS.permutation.generalization([[1, 1]], [[1, 1]], [1, 1], "hinge")),
    ROW("loss", "zero_one", "class codes 0, 1",
        lambda: KERNELS.permutation.generalization([[-1, 1]], [[1, -1]], [-1, 1], "zero_one")),
    ROW("smoother", "(2, 3)", "(n, n)",
        lambda: KERNELS.permutation.effective_degrees(np.ones((2, 3)))),
    ROW("delta", "got 1", "between 0 and 1",
        lambda: KERNELS.permutation.error_bound(0.1, 0.1, 10, 1)),
    ROW("L1", "0 and 1 only", "L2",
        lambda: KERNELS.ustatistic.from_pairs(X.T, X.T, 2 * TESTED[:2], TESTED[2:])),
    ROW("L1", "disjoint", "row by row",
        lambda: KERNELS.ustatistic.from_pairs(X.T, X.T, TESTED[:2], TESTED[:2])),
    ROW("learnt", "0 and 1 only", "contain",
        lambda: KERNELS.auc_ustatistic.from_scores(X.T, 2 * TESTED[:2], Y)),
    ROW("scores", "cannot be made an array", "scores",
        lambda: KERNELS.auc_ustatistic.from_scores([1, [2]], TESTED, Y)),
    ROW("y", "24 observations", "0 and 1",
        lambda: KERNELS.auc_ustatistic.from_scores(X.T, TESTED[:2], Y + 5)),
    ROW("group_weight", "row", "groups",
        lambda: KERNELS.influence.error(np.eye(4), np.eye(4), group_weight="row")),
    ROW("lam", "determine the fit", "raise",
        lambda: uv.learners.hat_matrix(uv.learners.ridge(0.0), np.eye(3))),
    ROW("k", "got 0", "of at least 1", lambda: uv.learners.knn_leave_p_out(X, Y, 0, 3)),
    ROW("held_out", "(2,)", "(R, s)",
        lambda: uv.learners.held_out_predictions(np.eye(4) / 2, np.ones(4), [0, 1])),
]
# fmt: on

PYTHON_ALONE = [*OF_FORMS, *OF_TABLES, *OF_KERNELS]
"""What only callers of Python can ask."""


GIVEN = "rules.csv --target y --scores"
OF_DAYS = "predictions rules.csv --target days --scores"

IN_SHELL_ALONE = [
    ("FILE", "smal.csv", "small.csv", "compare smal.csv --target y --learner lda"),
    ("target", "z", "no such column", "compare small.csv --target z --learner lda"),
    ("target", "", "missing", "predictions rules.csv --scores a"),
    ("target", "correct", "leave it out", f"predictions {GIVEN} a --loss correct"),
    ("drop", "aa", "did you mean 'a'", f"{MADE} --drop aa"),
    ("drop", "y", "target", f"{MADE} --drop y"),
    ("FILE", "small.csv", "no column left", f"{MADE} --drop a,b"),
    ("groups", "hospital", "no such column", f"{MADE} --groups hospital"),
    ("groups", "y", "target", f"{MADE} --groups y"),
    ("group-weight", "row", "pass --groups", f"{MADE} --group-weight row"),
    ("scores", "y", "target", f"predictions {GIVEN} y"),
    ("scores", "a,a", "different columns", f"predictions {GIVEN} a,a"),
    ("scores", "a", "two columns", f"gate {GIVEN} a --margin 0.1"),
    ("fold", "y", "true response", f"predictions {GIVEN} a --fold y"),
    ("repeat", "", "without --fold", f"predictions {GIVEN} a --repeat fold"),
    ("sep", "ab", "one character", f"predictions {GIVEN} a --sep ab"),
    ("plot", "a.doc", ".png", f"{MADE} --plot a.doc"),
    ("report", "", "prints no number", f"{ASK} 0 --scores a,b --report a.html"),
    ("stake", "", "leave it out", f"gate {GIVEN} a,b --margin 0.1 --stake 0.3"),
    ("scores", "a,b", "alone", "ledger open none.jsonl rules.csv --target y --scores a,b"),
    ("report", "a.pdf", ".html", f"{MADE} --report a.pdf"),
    ("json", "none/a.json", "does not exist", f"{MADE} --json none/a.json"),
    ("alpha", "0.6", "below 0.5", f"gate {GIVEN} a,b --margin 0.1 --alpha 0.6"),
    ("margin", "", "add --other", f"{MADE} --margin 0.1"),
    ("margin", "five_by_two_f", "another --test", f"{PAIR} --margin 0.1 --test five_by_two_f"),
    ("event", "", "missing", "predictions rules.csv --target days --scores p --metric harrell"),
    ("event", "", "--metric harrell", f"{OF_DAYS} p --event died"),
    ("event", "days", "target", f"{OF_DAYS} p --event days --metric uno"),
    (
        "event",
        "x",
        "no such column",
        "predictions small.csv --target a --scores b --event x --metric uno",
    ),
    (
        "metric",
        "brier(3)",
        "--metric harrell or auc(3)",
        "predictions rules.csv --target days --scores x --event died --metric 'brier(3)'",
    ),
    ("pos-label", "r2", "leave it out", f"predictions {GIVEN} x --metric r2 --pos-label 1"),
    ("null-value", "", "one test", f"{PAIR} --tests corrected_t,naive_t --null-value 0.1"),
    ("tests", "", "--other", f"{MADE} --tests corrected_t"),
    ("tests", "", "exclude", f"{PAIR} --tests corrected_t --test naive_t"),
    ("test", "leave_pair_out", "leave out --other", f"{PAIR} --test leave_pair_out"),
    ("null-value", "", "leave_pair_out", f"{MADE} --test leave_pair_out --null-value 0.7"),
    ("folds", "", "--test permutation", f"{MADE} --test permutation --folds 5"),
    ("baseline", "", "second learner", f"{MADE} --test permutation --baseline lda"),
    ("alternative", "its own", "--test", f"{MADE} --test leave_pair_out --alternative less"),
    (
        "loss",
        "'squared'",
        "--loss zero_one",
        f"predictions {GIVEN} x --loss squared --test mcnemar",
    ),
    ("correction", "", "one p-value", f"{PAIR} --test corrected_t --correction fdr_bh"),
    ("baseline", "", "second learner", f"{PAIR} --test corrected_t --baseline lda"),
    ("contrast", "ratio", "--other", f"{MADE} --contrast ratio"),
    ("n-pairs", "", "ustatistic", f"{PAIR} --test corrected_t --n-pairs 10"),
    ("folds", "", "--test", f"{PAIR} --folds 5"),
    ("learn-size", "a,b", "whole number", f"{MADE} --learn-size a,b"),
    ("missing", "wrong", "--missing drop", f"predictions {GIVEN} p --loss brier --missing wrong"),
    ("metric", "--loss log", "pass one", f"predictions {GIVEN} p --loss log --metric f1"),
    (
        "FILE",
        "2 times",
        "take one repeat alone",
        f"predictions {GIVEN} a --metric f1 --fold fold --repeat repeat",
    ),
    ("repeats", "", "--repeats 1", f"{PAIR} --metric f1 --repeats 2 --test cross_validation_wald"),
    ("metric", "contains 2", "name one class", f"predictions {GIVEN} a,three --metric f1"),
    ("metric", "ucvtest predictions", "auc", f"{MADE} --metric average_precision"),
    (
        "FILE",
        "event contains 1 and 2",
        "make it 0 and 1",
        f"{OF_DAYS} p --event status --metric uno",
    ),
    ("null-value", "AUC can have", "change it", f"predictions {GIVEN} p --loss auc --null-value 2"),
    ("scoring", "--metric", "exclude each other", f"{PAIR} --metric f1 --scoring r2"),
    ("metric", "f1", "use --test", f"{PAIR} --metric f1 --test mcnemar"),
    ("metric", "several", "add --other", f"{MADE} --metric f1 --metric mcc"),
    (
        "metric",
        "r2",
        "needs numbers",
        "predictions rules.csv --target word --scores guess --metric r2",
    ),
    ("metric", "mcc", "leave it out", f"predictions {GIVEN} a --metric mcc --weight weight"),
    ("FILE", "y has 3", "as in 'f1", "predictions rules.csv --target three --scores a --metric f1"),
]
"""What the shell alone is asked: an option, its value, a remedy, and the command."""
