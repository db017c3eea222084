"""The coverage of intervals of a weighted error rate, and of Student's, which leaves 0 to 1.

Errors of one rule come at random, and weights are independent of them.

    python studies/intervals/weighted_errors.py            # half a minute
    python studies/intervals/weighted_errors.py --quick
"""

import argparse
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import ucvtest as uv

SIZES, RATES = (40, 100, 300), (0.05, 0.15, 0.4)
WEIGHTS = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "lognormal": lambda rng, n: np.exp(0.7 * rng.normal(size=n)),
}


def samples(n: int, rate: float, weights: str, n_samples: int) -> Iterator[dict[str, Any]]:
    """Whether each interval contains the rate, and its width."""
    for sample in range(n_samples):
        rng = np.random.default_rng([n, round(100 * rate), sample])
        wrong = (rng.random(n) < rate).astype(int)
        drawn = WEIGHTS[weights](rng, n)
        y = np.arange(n) % 2
        losses = uv.Losses.from_predictions(y, {"rule": (y + wrong) % 2}, sample_weight=drawn)
        found = uv.HoldOutTest.from_losses(losses, "rule").fit()
        half = stats.t.isf(0.025, n - 1) * found.se
        ends = {"ours": found.conf_int(), "t": (found.estimate - half, found.estimate + half)}
        for name, (low, high) in ends.items():
            yield {"interval": name, "covered": low <= rate <= high, "width": high - low}


def main() -> None:
    """Print coverage and mean width."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few samples")
    n_samples = 40 if parser.parse_args().quick else 1000
    rows = []
    for n, rate, weights in product(SIZES, RATES, WEIGHTS):
        found = pd.DataFrame(samples(n, rate, weights, n_samples)).groupby("interval")
        row = {"n": n, "rate": rate, "weights": weights}
        for name, part in found:
            row |= {
                f"{name}: covered": part["covered"].mean(),
                f"{name}: width": part["width"].mean(),
            }
        rows.append(row)
    print(pd.DataFrame(rows).round(3).to_string(index=False))


if __name__ == "__main__":
    main()
