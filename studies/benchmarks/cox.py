"""How much faster is a whole test of "cox" than the same test of scikit-survival's Cox model?

Both are learners of the same `UStatisticTest` of Harrell's concordance, with the same learning sets
and the same number of fits: draws, fits, predictions, pairs of patients and variances count on both
sides. "Default" is the number of fits with which the default call ends by itself. Times are normal
features' and exponential, a third of them censored. Compilation is left out, by a first call; the
estimates must agree.

    python studies/benchmarks/cox.py
"""

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ucvtest as uv
from studies.benchmarks.bench import in_turn, options, show

COLUMNS = ("n", "p", "pairs", "fits", "learner", "seconds", "processor seconds", "microseconds")
N_FEATURES, REPEATS = 5, 3


def draw_sample(n_obs: int) -> tuple[np.ndarray, Any]:
    """Features and times; about a third are censored."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_obs, N_FEATURES))
    event, end = rng.exponential(np.exp(-x[:, 0])), rng.exponential(2, size=n_obs)
    return x, uv.survival(np.minimum(event, end), event <= end)


def measure(n_obs: int, pairs: int | None) -> Iterator[tuple[Any, ...]]:
    """A row for each learner, and the ratios of their times."""
    from sksurv.linear_model import CoxPHSurvivalAnalysis

    results: dict[Any, uv.TestResult] = {}

    def fit(learner: Any) -> None:
        test = uv.UStatisticTest(*draw_sample(n_obs), learner, metric="harrell")
        results[learner] = test.fit(n_pairs=n_pairs, variance="jackknife", rng=0, progress=False)

    known, n_pairs = pairs or "default", pairs
    if n_pairs is None:
        default = uv.UStatisticTest(*draw_sample(n_obs), "cox", metric="harrell")
        n_pairs = default.fit(rng=0, progress=False).n_fits // 2
    # Compiles.
    fit("cox")
    estimator = CoxPHSurvivalAnalysis(ties="efron")
    ours = in_turn(lambda: fit("cox"), repeats=REPEATS)[0]
    theirs = in_turn(lambda: fit(estimator), repeats=1)[0]
    one, other = results["cox"], results[estimator]
    assert abs(one.estimate - other.estimate) < 1e-6
    assert one.n_fits == other.n_fits
    shared = (n_obs, N_FEATURES, known, other.n_fits)
    for learner, taken in (("cox", ours), ("scikit-survival", theirs)):
        micro = f"{1e6 * taken[1] / other.n_fits:.0f}"
        yield (*shared, learner, *(f"{value:.2f}" for value in taken), micro)
    yield (*shared, "times as long", *(f"{value:.0f}" for value in theirs / ours), "")


def main() -> None:
    quick = options(__doc__, "few fits").parse_args().quick
    try:
        import sksurv
    except ImportError:
        print("scikit-survival is missing: pip install scikit-survival")
        return
    warnings.simplefilter("ignore", uv.UcvtestWarning)
    print("scikit-survival", sksurv.__version__)
    with threadpool_limits(1):
        sizes = [(60, 20)] if quick else [(100, None), (100, 1500)]
        show(COLUMNS, (row for size in sizes for row in measure(*size)))


if __name__ == "__main__":
    main()
