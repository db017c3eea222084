"""How often do 95% intervals of one rule's AUC contain it: on the logit scale, and as published?

Scores of two normal classes whose means are such that the AUC is known, and few observations of
each class. A data set whose classes do not overlap has no answer (its variance is 0); shares are
those of the others. "above 1" is how often the published interval ends beyond what an AUC can be.
"""

import argparse
from itertools import product

import numpy as np
import pandas as pd
from scipy import stats

import ucvtest as uv

AUCS = (0.6, 0.78, 0.9, 0.95, 0.98)
SIZES = ((7, 13), (10, 10), (10, 30), (20, 20), (40, 40), (100, 100))
"""Positive and negative observations."""

INTERVALS = ("logit", "wald")


def covered(auc: float, sizes: tuple[int, int], rng: np.random.Generator) -> dict[str, bool] | None:
    """What both intervals of one data set do; None where there is no answer."""
    y = np.repeat([1, 0], sizes)
    scores = rng.normal(size=len(y)) + np.sqrt(2) * stats.norm.ppf(auc) * y
    test = uv.DeLongTest.from_losses(uv.Losses.from_predictions(y, {"rule": scores}, loss="auc"))
    found = {}
    for name in INTERVALS:
        result = test.fit(interval=name)
        if result.status != "ok":
            return None
        low, high = result.conf_int()
        found[name] = low <= auc <= high
        found |= {f"{name}, below": auc < low, f"{name}, above": auc > high}
    return found | {"above 1": high > 1}


def cell(auc: float, sizes: tuple[int, int], n_sets: int) -> dict[str, float]:
    """A row of the table, in percent."""
    rng = np.random.default_rng([round(100 * auc), *sizes])
    found = [covered(auc, sizes, rng) for _ in range(n_sets)]
    answers = pd.DataFrame([each for each in found if each is not None]).mean()
    n_positive, n_negative = sizes
    named = {"AUC": auc, "positive": n_positive, "negative": n_negative}
    share = sum(each is not None for each in found) / n_sets
    return named | {"answers": 100 * share} | (100 * answers).to_dict()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="20 data sets of two cells")
    parser.add_argument("--data-sets", type=int, default=2000)
    arguments = parser.parse_args()
    cells = [(0.78, (20, 20)), (0.95, (7, 13))] if arguments.quick else product(AUCS, SIZES)
    n_sets = 20 if arguments.quick else arguments.data_sets
    table = pd.DataFrame([cell(auc, sizes, n_sets) for auc, sizes in cells])
    print(
        f"Coverage of 95% intervals and misses on either side, in percent; {n_sets} data sets a row"
    )
    print(table.to_string(index=False, float_format="{:.4g}".format))
    error = 100 * np.sqrt(0.95 * 0.05 / n_sets)
    print(f"Monte-Carlo standard error of a coverage of 95%: {error:.1f}")


if __name__ == "__main__":
    main()
