"""How much faster the jitted learners are than scikit-learn, in one run on this machine.

Time of one fit and the prediction of all observations that it has not seen, learning sets in
and labels out, float64. scikit-learn is run in a plain loop with one thread; the jitted
learners through the same evaluator as the tests, with all cores. Both are timed in turn, and
the least durations are compared; so are processor times of all cores, which other work on the
machine changes less. "First call" contains the
compilation. The largest difference is between the scores of both, relative to 1 + |score|.

    python studies/benchmarks/learners.py --quick
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from threadpoolctl import threadpool_limits

from studies.benchmarks.bench import in_turn, options, seconds, show
from ucvtest.data.sample import Sample, make_sample
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner


@dataclass(frozen=True)
class Case:
    """A jitted learner, what it is compared with, and on how much data."""

    learner: str
    estimator: Any
    n_obs: int
    n_features: int
    learn_size: int


CASES = (
    Case("lda", LinearDiscriminantAnalysis(), 120, 4, 58),
    Case("lda", LinearDiscriminantAnalysis(), 120, 20, 58),
    Case("qda", QuadraticDiscriminantAnalysis(), 120, 4, 58),
    Case("qda", QuadraticDiscriminantAnalysis(), 300, 20, 148),
    Case("nearest_centroid", NearestCentroid(), 120, 4, 58),
    Case("nearest_centroid", NearestCentroid(), 120, 20, 58),
    Case("gaussian_nb", GaussianNB(), 120, 4, 58),
    Case("gaussian_nb", GaussianNB(), 120, 20, 58),
    Case("knn:3", KNeighborsClassifier(3, algorithm="brute"), 200, 4, 100),
    Case("ridge:1.0", Ridge(1.0), 100, 20, 58),
    Case("ridge:1.0", Ridge(1.0), 62, 2000, 26),
    # Its Newton steps go on to full precision; scikit-learn's end at its default tolerance.
    Case(
        "logistic:1.0,standardize=false,scale=sum",
        LogisticRegression(solver="newton-cholesky"),
        n_obs=100,
        n_features=10,
        learn_size=50,
    ),
    Case("majority", DummyClassifier(), 120, 4, 58),
)

FULL = (10240, 200, 20)
"""Learning sets at a time, those of the plain loop, and repetitions: ten milliseconds of ours each,
so that some of them meet a machine with nothing else to do."""

COLUMNS = (
    *("learner", "n", "p", "us", "scikit-learn us", "ratio", "ratio of processor time"),
    *("first call s", "largest diff."),
)


def draw_sample(case: Case) -> Sample:
    """Two shifted normal classes with correlated features."""
    rng = np.random.default_rng(0)
    p = case.n_features
    y = np.arange(case.n_obs) % 2
    mixing = rng.normal(size=(p, p)) / np.sqrt(p) + np.eye(p)
    X = rng.normal(size=(case.n_obs, p)) @ mixing + 0.6 * y[:, None] * rng.normal(size=p)
    return make_sample(X, y, as_classes=True)


def draw_learning_sets(case: Case, n_sets: int) -> np.ndarray:
    """Random learning sets of one size."""
    member = np.arange(case.n_obs) < case.learn_size
    return np.random.default_rng(1).permuted(np.tile(member, (n_sets, 1)), axis=1)


def loop(case: Case, sample: Sample, learning: np.ndarray) -> None:
    """The plain loop over learning sets that the jitted learners replace."""
    for member in learning:
        case.estimator.fit(sample.matrix[member], sample.target[member])
        case.estimator.predict(sample.matrix[~member])


def largest_difference(case: Case, sample: Sample, learning: np.ndarray) -> float:
    """Largest relative difference of the scores, or share of other labels if there are none."""
    has_scores = hasattr(case.estimator, "decision_function") or isinstance(case.estimator, Ridge)
    output = "score" if has_scores and case.learner != "nearest_centroid" else "label"
    ours, theirs = (
        Evaluator(sample, as_learner(each), output)
        .predict(learning, ~learning, np.arange(len(learning)))
        .values
        for each in (case.learner, case.estimator)
    )
    return float(np.nanmax(np.abs(ours - theirs) / (1 + np.abs(theirs))))


def measure(case: Case, n_sets: int, n_loop: int, repeats: int) -> tuple[str, ...]:
    """One row of the table."""
    sample, learning = draw_sample(case), draw_learning_sets(case, n_sets)
    few, seeds = learning[:n_loop], np.arange(n_sets)
    testing = ~learning
    evaluator = Evaluator(sample, as_learner(case.learner), "label")
    first = seconds(lambda: evaluator.predict(few[:2], ~few[:2], seeds[:2]))[0]
    # As the tests do: class codes, and anything where nothing is tested.
    ours, theirs = in_turn(
        lambda: evaluator.predict_all(learning, testing, seeds),
        threadpool_limits.wrap(1)(lambda: loop(case, sample, few)),
        repeats=repeats,
    ) / [[n_sets], [n_loop]]
    return (
        case.learner,
        str(case.n_obs),
        str(case.n_features),
        f"{ours[0] * 1e6:.2f}",
        f"{theirs[0] * 1e6:.0f}",
        *(f"{ratio:.0f}" for ratio in theirs / ours),
        f"{first:.2f}",
        f"{largest_difference(case, sample, few):.0e}",
    )


def main() -> None:
    quick = options(__doc__, "fewer fits, in less than a minute").parse_args().quick
    n_sets, n_loop, repeats = (2048, 30, 2) if quick else FULL
    # Normal data has no collinear columns; a warning about them would be about rounding.
    warnings.simplefilter("ignore")
    print(f"{n_sets} learning sets at a time")
    show(COLUMNS, (measure(case, n_sets, n_loop, repeats) for case in CASES))


if __name__ == "__main__":
    main()
