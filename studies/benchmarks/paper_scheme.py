"""How many fits for the same Monte-Carlo error of the variance: the paper's scheme or ours?

Fuchs et al. (2013) estimate v-hat = sum_c alpha_c kappa_c - (1 - alpha_0) Theta^2 from a
U-statistic of its own for each kappa_c: N random pairs of sets S, S' with c observations in
common, one tested observation in each. `UStatisticTest` needs Theta^2 and the squared mean
only. The Monte-Carlo error of both falls with the square root of the number of fits, so one
run of each gives the ratio of fits at equal error.
"""

from math import comb
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from studies.benchmarks.bench import options, versions
from studies.data import DataMissing, data_set
from ucvtest.evaluation.evaluator import Evaluator


def small_problem() -> tuple[uv.UStatisticTest, str]:
    """Two classes, four normal features, n = 24."""
    rng = np.random.default_rng(0)
    y = np.arange(24) % 2
    X = rng.normal(size=(24, 4)) + y[:, None]
    test = uv.UStatisticTest(X, y, "nearest_centroid", "knn:1", learn_size=8)
    return test, "n = 24, g = 8, nearest centroid against 1-NN"


def colon_problem() -> tuple[uv.UStatisticTest, str]:
    """The paper's example."""
    data = data_set("colon")
    test = uv.UStatisticTest(
        data.iloc[:, 1:], data.iloc[:, 0], "lasso:0.08", "lasso:0.5", learn_size=26
    )
    return test, "colon, n = 62, g = 26, lasso 0.08 against 0.5"


def overlapping_splits(
    rng: np.random.Generator, n_pairs: int, n: int, m: int, c: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """L, t, L', t' of random S and S' with c observations in common."""
    orders = rng.permuted(np.tile(np.arange(n), (n_pairs, 1)), axis=1)
    found: list[np.ndarray] = []
    for members in (orders[:, :m], orders[:, m - c : 2 * m - c]):
        shuffled = rng.permuted(members, axis=1)
        learning = np.zeros((n_pairs, n), dtype=bool)
        np.put_along_axis(learning, shuffled[:, 1:], True, axis=1)
        found += [learning, shuffled[:, 0]]
    return found[0], found[1], found[2], found[3]


def paper_scheme(test: uv.UStatisticTest, n_pairs: int, seed: int) -> dict[str, float]:
    """v-hat, its Monte-Carlo standard error, and the fits that it took."""
    rng = np.random.default_rng(seed)
    n, m = test.sample.n_obs, test.learn_size + 1
    evaluators = [Evaluator(test.sample, learner, "label") for learner in test.learners]

    def differences(learning: np.ndarray, tested: np.ndarray) -> np.ndarray:
        testing = np.zeros_like(learning)
        testing[np.arange(len(tested)), tested] = True
        seeds = np.zeros(len(learning), dtype=int)
        labels = [e.predict(learning, testing, seeds).values[testing] for e in evaluators]
        wrong = [label != test.sample.target[tested] for label in labels]
        return wrong[0].astype(float) - wrong[1]

    value = variance = 0.0
    for c in range(m + 1):
        alpha = comb(m, c) * comb(n - m, m - c) / comb(n, m)
        weight = alpha - 1.0 if c == 0 else alpha
        first, t, second, u = overlapping_splits(rng, n_pairs, n, m, c)
        products = differences(first, t) * differences(second, u)
        value += weight * products.mean()
        variance += weight**2 * products.var(ddof=1) / n_pairs
    n_fits = 2 * len(evaluators) * n_pairs * (m + 1)
    return {"variance": value, "mc_se": float(np.sqrt(variance)), "fits": n_fits}


def ours(test: uv.UStatisticTest, n_pairs: int, seed: int) -> dict[str, float]:
    """The same from `UStatisticTest`."""
    result = test.fit(n_pairs=n_pairs, variance="unbiased", rng=seed)
    return {
        "variance": result.variance,
        "mc_se": result.diagnostics["mc_se_variance"],
        "fits": result.n_fits,
    }


def main() -> None:
    quick = options(__doc__, "the small problem, few fits").parse_args().quick
    print(f"{versions()}\n")
    problems: list[tuple[Any, int, int]] = [(small_problem(), 300 if quick else 20_000, 300)]
    if not quick:
        problems = [(small_problem(), 20_000, 20_000)]
        try:
            problems.append((colon_problem(), 300, 1500))
        except DataMissing as error:
            print(error)
    for (test, title), paper_pairs, our_pairs in problems:
        rows = {
            "paper": paper_scheme(test, paper_pairs, 1),
            "ucvtest": ours(test, our_pairs, 1),
        }
        work = {name: row["fits"] * row["mc_se"] ** 2 for name, row in rows.items()}
        print(title)
        print(pd.DataFrame(rows).T.to_string())
        print("fits for the same Monte-Carlo error: paper / ucvtest = ", end="")
        print(f"{work['paper'] / work['ucvtest']:.0f}")
        for_tenth = work["paper"] / (0.05 * rows["ucvtest"]["variance"]) ** 2
        print(f"paper's fits for an error of 5% of the variance: {for_tenth:.3g}\n")


if __name__ == "__main__":
    main()
