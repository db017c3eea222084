"""Does the test of two AUCs keep its level, and that of one? A simulation, not the paper's.

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
from studies import simulate

SHIFT = 0.823
LEVEL = 0.05
SETTINGS = {
    "paired, equal AUCs": [uv.learners.on_columns("lda", block) for block in ([0, 1], [2, 3])],
    "one AUC of 1/2": ["lda"],
}
VARIANCES = {
    "monte_carlo": ("influence", "term_1", "adhoc_monte_carlo"),
    "repeated": ("influence", "adhoc_1", "adhoc_2", "adhoc_3"),
}


def pvalues(
    setting: str, n: int, n_sets: int, n_repeats: dict[str, int]
) -> Iterator[dict[str, float]]:
    """p-values by scheme and variance, for one data set after the other."""
    rng = np.random.default_rng([n, len(setting)])
    learners = SETTINGS[setting]
    shift = SHIFT if len(learners) > 1 else 0.0
    for _ in range(n_sets):
        X, y = simulate.normal_classes(n, n, 4, shift, rng=rng)
        test = uv.InfluenceFunctionTest(X, y, *learners)
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
    parser.add_argument(
        "--in-a-class",
        type=int,
        nargs="+",
        default=[5, 10, 20, 60],
        help="observations, at least 5",
    )
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
    for n in (20,) if arguments.quick else arguments.in_a_class:
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
