"""Does the test of two AUCs hold its level, and that of one? A simulation, not the paper's.

Paired: two features in each of two blocks, the blocks independent and equally informative; linear
discriminant analysis on the first block against the same on the second. The AUCs are equal
by symmetry. One learner: no feature informs, so that the AUC is 1/2. K = 5.
"""

import argparse
import time
from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy import stats

import ucvtest as uv

SHIFT = 0.823
LEVEL = 0.05
SETTINGS = {
    "paired, equal AUCs": ("first block", "second block"),
    "one AUC of 1/2": ("lda", None),
}
VARIANCES = {
    "monte_carlo": ("influence", "term_1", "adhoc_monte_carlo"),
    "repeated": ("influence", "adhoc_1", "adhoc_2", "adhoc_3"),
}


def lda_on(columns: slice):
    """Linear discriminant analysis on some of the columns."""

    def scores(X_train, y_train, X_test):
        X, new = X_train[:, columns], X_test[:, columns]
        positive = y_train == 1
        difference = X[positive].mean(axis=0) - X[~positive].mean(axis=0)
        centred = X - np.where(
            positive[:, None], X[positive].mean(axis=0), X[~positive].mean(axis=0)
        )
        return new @ np.linalg.solve(centred.T @ centred, difference)

    return scores


LEARNERS = {
    "first block": lda_on(slice(0, 2)),
    "second block": lda_on(slice(2, 4)),
    "lda": "lda",
    None: None,
}


def pvalues(
    setting: str, n: int, n_sets: int, n_repeats: dict[str, int]
) -> Iterator[dict[str, float]]:
    """p-values by scheme and variance, for one data set after the other."""
    rng = np.random.default_rng([n, len(setting)])
    paired = SETTINGS[setting][1] is not None
    learner, other = (LEARNERS[name] for name in SETTINGS[setting])
    for _ in range(n_sets):
        X, y = uv.simulate.normal_classes(n, n, 4, SHIFT if paired else 0.0, rng=rng)
        test = uv.InfluenceFunctionTest(X, y, learner, other)
        row = {}
        for scheme, names in VARIANCES.items():
            table = test.fit(n_repeats[scheme], scheme, rng=rng).tables["Variances"]
            found = dict(zip(table["variance"], table["pvalue"], strict=True))
            row |= {f"{scheme}, {name}": found[name] for name in names}
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="4 data sets, few repeats")
    parser.add_argument("--data-sets", type=int, default=400)
    arguments = parser.parse_args()
    n_sets = 4 if arguments.quick else arguments.data_sets
    n_repeats = (
        {"monte_carlo": 120, "repeated": 10}
        if arguments.quick
        else {
            "monte_carlo": 500,
            "repeated": 20,
        }
    )
    start = time.perf_counter()
    rows = []
    for n in (20,) if arguments.quick else (20, 60):
        for setting in SETTINGS:
            frame = pd.DataFrame(list(pvalues(setting, n, n_sets, n_repeats)))
            for name, values in frame.items():
                usable = values.dropna()
                rejected = int((usable <= LEVEL).sum())
                low, high = stats.binomtest(rejected, len(usable)).proportion_ci(method="exact")
                rows.append(
                    {
                        "setting": setting,
                        "in a class": n,
                        "variance": name,
                        "rejected": f"{rejected} of {len(usable)}",
                        "rate": f"{rejected / len(usable):.3f}",
                        "95% interval": f"{low:.3f} to {high:.3f}",
                    }
                )
    print(pd.DataFrame(rows).to_string(index=False))
    print(f"\nnominal level {LEVEL}, repeats {n_repeats}; {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
