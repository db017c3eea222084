"""Sequential permutation p-values (Besag and Clifford 1991): level, and the fits that they save.

Under the null hypothesis the observed value is exchangeable with those of permuted labels, with or
without ties; elsewhere each labeling is as extreme with probability p. Draws end with the h-th that
is as extreme, or after P. Pure NumPy: some seconds.
"""

import argparse

import numpy as np
import pandas as pd

from ucvtest.stats.monte_carlo import SequentialPvalue

MOST, STOP_AFTER = 999, 10
LEVELS = (0.001, 0.01, 0.05, 0.1, 0.5)


def nulls(n_tests: int, n_values: int | None, rng: np.random.Generator) -> list[SequentialPvalue]:
    """Exchangeable values: continuous, or one of few."""
    found = []
    for _ in range(n_tests):
        size = MOST + 1
        values = rng.random(size) if n_values is None else rng.integers(n_values, size=size)
        found.append(SequentialPvalue.of(values[1:] <= values[0], STOP_AFTER))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="500 tests of each kind")
    n_tests = 500 if parser.parse_args().quick else 20_000
    rng = np.random.default_rng(0)
    rows = []
    for title, n_values in (("continuous", None), ("20 values", 20), ("3 values", 3)):
        found = nulls(n_tests, n_values, rng)
        pvalues = np.array([each.pvalue for each in found])
        row = {"null": title, "mean draws": np.mean([each.n_drawn for each in found])}
        row |= {f"p <= {level:g}": (pvalues <= level).mean() for level in LEVELS}
        rows.append(row)
    print(pd.DataFrame(rows).round(4).to_string(index=False))
    rows = []
    for p in (0.5, 0.1, 0.05, 0.01, 0.001):
        found = [SequentialPvalue.of(rng.random(MOST) < p, STOP_AFTER) for _ in range(n_tests)]
        draws = np.mean([each.n_drawn for each in found])
        rows.append({"p": p, "mean draws": draws, "saved": 1 - draws / MOST})
    print(f"\nat most {MOST} draws, until {STOP_AFTER} are as extreme:")
    print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
