"""The coverage of intervals for the difference of two forecasts in short series.

Both forecasts are equally good 4 steps ahead, and their errors are sums of 4 successive shocks.

    python studies/intervals/forecasts.py            # a minute
    python studies/intervals/forecasts.py --quick
"""

import argparse
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv

HORIZON, SIZES = 4, (20, 30, 40)
BLOCK = 5
"""Successive rows in a group, one more than the horizon."""


def results(n: int, rng: np.random.Generator) -> Iterator[tuple[str, uv.TestResult]]:
    """The tests of the squared errors of one pair of forecasts."""
    shocks = rng.normal(size=(2, n + HORIZON - 1))
    first, second = sum(shocks[:, step : n + step] for step in range(HORIZON))
    rules = {"first": first, "second": second}
    losses = uv.Losses.from_predictions(np.zeros(n), rules, loss="squared")
    test = uv.DieboldMarianoTest.from_losses(losses)
    yield "autocovariances", test.fit(HORIZON)
    yield "Bartlett's weights", test.fit(HORIZON, variance="bartlett")
    blocks = np.arange(n) // BLOCK
    grouped = uv.Losses.from_predictions(np.zeros(n), rules, loss="squared", groups=blocks)
    yield f"blocks of {BLOCK}", uv.HoldOutTest.from_losses(grouped).fit()


def main() -> None:
    """Print the share of answers, and of intervals that contain 0 among them."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few samples")
    n_samples = 40 if parser.parse_args().quick else 2000
    rows: list[dict[str, Any]] = []
    for n in SIZES:
        rng = np.random.default_rng([n, HORIZON])
        for _ in range(n_samples):
            for name, result in results(n, rng):
                answered = result.status == "ok"
                covered = bool(result.pvalue >= 0.05) if answered else np.nan
                rows.append({"n": n, "variance": name, "answered": answered, "covered": covered})
    found = pd.DataFrame(rows).astype({"covered": float}).groupby(["n", "variance"]).mean()
    print((100 * found).round(1).to_string())


if __name__ == "__main__":
    main()
