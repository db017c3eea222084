"""How much faster is a whole UStatisticTest than the same fits and predictions by scikit-learn?

Everything counts on our side: learning sets drawn, models fitted, losses, sums, variances and
their Monte-Carlo errors. scikit-learn, with one thread, only fits and predicts the observations
that it has not seen. Two classes, four normal features, n = 120, learning sets of 58. Both are
timed in turn; the ratio is that of the least durations, in elapsed time and in processor time.

The learner is given as the string "lda", and as the scikit-learn estimator that is translated.

    python studies/benchmarks/whole_test.py
"""

import warnings
from collections.abc import Iterator

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from threadpoolctl import threadpool_limits

import ucvtest as uv
from studies.benchmarks.bench import in_turn, options, show

N_OBS, LEARN_SIZE = 120, 58
COLUMNS = (
    *("learner", "n_pairs", "fits", "us a fit", "scikit-learn us", "ratio"),
    "ratio of processor time",
)


def measure(quick: bool) -> Iterator[tuple[str, ...]]:
    """Rows of the table: a long test, one that ends by itself, and the estimator as an object."""
    n_pairs, n_loop, repeats = (2_000, 20, 2) if quick else (50_000, 300, 15)
    # Normal data has no collinear columns; a warning about them would be about rounding.
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    y = np.arange(N_OBS) % 2
    X = rng.normal(size=(N_OBS, 4)) + 0.6 * y[:, None]
    member = np.arange(N_OBS) < LEARN_SIZE
    learning = np.random.default_rng(1).permuted(np.tile(member, (n_loop, 1)), axis=1)
    estimator = LinearDiscriminantAnalysis()

    @threadpool_limits.wrap(1)
    def loop() -> None:
        for member in learning:
            LinearDiscriminantAnalysis().fit(X[member], y[member]).predict(X[~member])

    for learner, pairs in (("lda", n_pairs), ("lda", "auto"), (estimator, n_pairs)):
        test = uv.UStatisticTest(X, y, learner, learn_size=LEARN_SIZE)

        def fit(test: uv.UStatisticTest = test, pairs: int | str = pairs) -> int:
            return test.fit(n_pairs=pairs, rng=0, progress=False).n_fits

        n_fits = fit()
        ours, theirs = in_turn(fit, loop, repeats=repeats) / [[n_fits], [n_loop]]
        name = "lda" if learner == "lda" else "the estimator"
        micro = f"{ours[0] * 1e6:.2f}", f"{theirs[0] * 1e6:.0f}"
        yield (name, str(pairs), str(n_fits), *micro, *(f"{r:.0f}" for r in theirs / ours))


if __name__ == "__main__":
    show(COLUMNS, measure(options(__doc__, "fewer fits").parse_args().quick))
