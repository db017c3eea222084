"""Coverage of intervals of metrics of one fixed rule with three to eight classes.

Two right and two wrong observations are few for each of many classes. The study compares their
interval with linearised values alone ("linearised") to the one that `HoldOutTest` has with more
than two classes ("half_jackknife"): the standard error is half-way to that of leaving observations
out, with Satterthwaite's degrees of freedom, and one class has one observation added in each of the
four cells of the class and the rest. Of a fixed rule the confusion matrix is multinomial, so that
thousands of samples are a few sums. Thirteen populations chose between the rules; ten others, drawn
by the same recipe, are reported. Where a metric had less than 94% the samples of the cell are drawn
again, four times as many: of hundreds of cells known to .7 points the worst is the unluckiest.

    python studies/intervals/several_classes.py
    python studies/intervals/several_classes.py --again
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from ucvtest.stats.linearised import two_right_two_wrong

TABLE = Path(__file__).with_suffix(".csv")
SIZES, LEAST_ROWS = (60, 120, 250), 5
ENOUGH = 0.94
STEP = 1e-5

Metric = Callable[[np.ndarray], np.ndarray]
"""From confusion matrices (..., C, C), true classes in rows, to values (...)."""


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """0 where both are."""
    return np.where(below > 1e-12, above / np.where(below > 1e-12, below, 1.0), 0.0)


def parts(table: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hits, rows and columns of each class, (..., C)."""
    return np.diagonal(table, axis1=-2, axis2=-1), table.sum(axis=-1), table.sum(axis=-2)


def f1s(table: np.ndarray) -> np.ndarray:
    hits, rows, columns = parts(table)
    return ratio(2 * hits, rows + columns)


def recalls(table: np.ndarray) -> np.ndarray:
    hits, rows, _ = parts(table)
    return ratio(hits, rows)


def precisions(table: np.ndarray) -> np.ndarray:
    hits, _, columns = parts(table)
    return ratio(hits, columns)


def jaccards(table: np.ndarray) -> np.ndarray:
    hits, rows, columns = parts(table)
    return ratio(hits, rows + columns - hits)


def weighted_f1(table: np.ndarray) -> np.ndarray:
    rows = table.sum(axis=-1)
    return (rows * f1s(table)).sum(axis=-1) / rows.sum(axis=-1)


def balanced_accuracy(table: np.ndarray) -> np.ndarray:
    there = table.sum(axis=-1) > 1e-12
    return recalls(table).sum(axis=-1) / there.sum(axis=-1)


def g_mean(table: np.ndarray) -> np.ndarray:
    there = table.sum(axis=-1) > 1e-12
    logs = np.log(np.maximum(np.where(there, recalls(table), 1.0), 1e-300))
    return np.exp(logs.sum(axis=-1) / there.sum(axis=-1))


def matthews(table: np.ndarray) -> np.ndarray:
    hits, rows, columns = parts(table / table.sum(axis=(-1, -2), keepdims=True))
    spread = (1 - (rows**2).sum(axis=-1)) * (1 - (columns**2).sum(axis=-1))
    return (hits.sum(axis=-1) - (rows * columns).sum(axis=-1)) / np.sqrt(spread)


def kappa(power: float | None) -> Metric:
    def found(table: np.ndarray) -> np.ndarray:
        table = table / table.sum(axis=(-1, -2), keepdims=True)
        _, rows, columns = parts(table)
        place = np.arange(table.shape[-1])
        apart = np.abs(place[:, None] - place)
        weights = (apart > 0) * 1.0 if power is None else apart**power
        by_chance = np.einsum("...i,ij,...j->...", rows, weights, columns)
        return 1 - (weights * table).sum(axis=(-1, -2)) / by_chance

    return found


METRICS: dict[str, Metric] = {
    "f1_macro": lambda table: f1s(table).mean(axis=-1),
    "f1_weighted": weighted_f1,
    "precision_macro": lambda table: precisions(table).mean(axis=-1),
    "jaccard_macro": lambda table: jaccards(table).mean(axis=-1),
    "balanced_accuracy": balanced_accuracy,
    "g_mean": g_mean,
    "mcc": matthews,
    "kappa": kappa(None),
    "kappa_linear": kappa(1.0),
    "kappa_quadratic": kappa(2.0),
}
OF_ONE: dict[str, Metric] = {
    "f1": lambda table: f1s(table)[..., -1],
    "precision": lambda table: precisions(table)[..., -1],
    "recall": lambda table: recalls(table)[..., -1],
}
"""Of the last class, the rarest one."""


def in_a_ring(shares: tuple[int, ...], right: float) -> np.ndarray:
    """The populations of metrics_of_rules.py: errors go to the classes next to the true one."""
    number, cells = len(shares), np.zeros((len(shares),) * 2)
    for true, share in enumerate(shares):
        cells[true, true] += share * right
        for step, part in ((-1, 0.4), (1, 0.4), (2, 0.2)):
            cells[true, (true + step) % number] += share * (1 - right) * part
    return cells / cells.sum()


def drawn(rng: np.random.Generator, number: int) -> tuple[str, np.ndarray]:
    """Classes in some proportion, the rarest last, and errors of some kind."""
    shares = np.maximum(rng.dirichlet(np.full(number, rng.choice([1.5, 4, 20]))), 0.03)
    shares = np.sort(shares / shares.sum())[::-1]
    kind = str(rng.choice(["ordinal", "random", "attracted"]))
    right = np.clip(rng.uniform(0.5, 0.93) + rng.normal(0, 0.08, number), 0.3, 0.97)
    if kind == "ordinal":
        place = np.arange(number)
        errors = np.exp(-np.abs(place[:, None] - place) * rng.uniform(0.7, 1.6))
    elif kind == "random":
        errors = rng.dirichlet(np.full(number, 0.7), size=number)
    else:
        errors = np.tile(shares, (number, 1))
    np.fill_diagonal(errors, 0)
    cells = errors / errors.sum(axis=1, keepdims=True) * (1 - right)[:, None]
    np.fill_diagonal(cells, right)
    return kind, shares[:, None] * cells


def populations() -> dict[str, tuple[bool, np.ndarray]]:
    """By name: whether it chose the rule, and the shares of its cells."""
    found = {
        "three": (True, in_a_ring((6, 3, 1), 0.75)),
        "five": (True, in_a_ring((1,) * 5, 0.7)),
        "eight_uneven": (True, in_a_ring((8, 6, 5, 4, 3, 2, 2, 2), 0.65)),
    }
    rng = np.random.default_rng(4848)
    for place in range(20):
        kind, cells = drawn(rng, 3 + place // 2 % 6)
        found[f"{kind}_{len(cells)}_{place}"] = place % 2 == 0, cells
    return found


def slopes_of(metric: Metric, table: np.ndarray, value: np.ndarray) -> tuple[np.ndarray, ...]:
    """Linearised values of cells less `value`, and the values without one row of each cell.

    `table` are numbers of rows (S, C, C).
    """
    rows = table.sum(axis=(-1, -2), keepdims=True)
    shares, gradient, without = table / rows, np.zeros(table.shape), np.zeros(table.shape)
    for cell in np.ndindex(table.shape[1:]):
        moved = np.zeros(table.shape[1:])
        moved[cell] = STEP
        gradient[:, *cell] = (metric(shares + moved) - metric(shares - moved)) / (2 * STEP)
        # If there is none, the result is never used.
        one = np.where(table[:, *cell] >= 1, 1.0, 0.0)
        moved = np.zeros(table.shape)
        moved[:, *cell] = one
        changed = metric((table - moved) / (rows - one[:, None, None]))
        without[:, *cell] = (rows[:, 0, 0] - 1) * (value - changed)
    return gradient - (shares * gradient).sum(axis=(-1, -2), keepdims=True), without


def intervals(
    metric: Metric, counts: np.ndarray, least: float, one: int | None = None
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Limits (S,) of samples with confusion matrices (S, C, C), by rule."""
    found, rules = {}, ("linearised", "half_jackknife")
    of_whole = _parts_of_rule(metric, counts, None)
    of_one = of_whole if one is None else _parts_of_rule(metric, counts, one)
    for rule, (value, added_square, mean, variances, df) in zip(
        rules, (of_whole, of_one), strict=True
    ):
        n, more = counts[0].sum(), counts[0].sum() + 4
        variance = variances[0]
        if rule == "half_jackknife":
            variance = np.sqrt(variances[0] * variances[1])
        spread = n**2 * variance + n * mean**2 + added_square
        reference = df if rule == "half_jackknife" else n - 1
        half = stdtrit(reference, 0.975) * np.sqrt(spread) / more
        found[rule] = np.maximum(value - half, least), np.minimum(value + half, 1.0)
    return found


def _parts_of_rule(metric: Metric, counts: np.ndarray, one: int | None) -> tuple[Any, ...]:
    """What intervals are made of, with rows added: arrays (S,), and two variances of means."""
    n, added = float(counts[0].sum()), two_right_two_wrong(np.ones(counts.shape[-2:], bool), one)
    table, shares = counts + added, counts / n
    value = metric(table / (n + added.sum()))
    slopes, without = slopes_of(metric, table, value)
    mean = (shares * slopes).sum(axis=(-1, -2))
    variances = [
        ((shares * each**2).sum(axis=(-1, -2)) - (shares * each).sum(axis=(-1, -2)) ** 2) / (n - 1)
        for each in (slopes, without)
    ]
    apart = slopes - mean[:, None, None]
    second, fourth = ((shares * apart**k).sum(axis=(-1, -2)) for k in (2, 4))
    varies = second > 1e-20 * (slopes**2).max(axis=(-1, -2))
    excess = np.where(varies, fourth / np.where(varies, second, 1.0) ** 2 - 1, 0.0)
    df = np.minimum(n - 1, 2 * n / np.maximum(excess, 1e-9))
    return value, (added * slopes**2).sum(axis=(-1, -2)), mean, np.maximum(variances, 0.0), df


def rows_of(name: str, n: int, samples: int, *others: int) -> list[dict[str, object]]:
    """A row for each metric and rule of a population; `others` make samples other ones."""
    chose, cells = populations()[name]
    place = list(populations()).index(name)
    rng = np.random.default_rng([48, place, n, *others])
    counts = rng.multinomial(n, cells.ravel(), size=samples).reshape(-1, *cells.shape) * 1.0
    counts = counts[(counts.sum(axis=2) > 0).sum(axis=1) > 1]
    found: list[dict[str, object]] = []
    for metric, function in {**METRICS, **OF_ONE}.items():
        signed = metric == "mcc" or metric.startswith("kappa")
        one = len(cells) - 1 if metric in OF_ONE else None
        truth = float(function(cells))
        limits = intervals(function, counts, -1.0 if signed else 0.0, one)
        for rule, (low, high) in limits.items():
            covered = float(np.mean((low <= truth) & (truth <= high)))
            found.append(
                {
                    "problem": name,
                    "chose": chose,
                    "n": n,
                    "rarest": round(float(cells.sum(axis=1).min()) * n, 1),
                    "metric": metric if one is None else f"{metric} of the rarest class",
                    "rule": rule,
                    "samples": len(counts),
                    "covered": round(covered, 4),
                    "se": round(float(np.sqrt(covered * (1 - covered) / len(counts))), 4),
                    "missed_above": round(float(np.mean(high < truth)), 4),
                    "width": round(float(np.mean(high - low)), 4),
                    "truth": round(truth, 4),
                }
            )
    return found


def cells_of_study() -> list[tuple[str, int]]:
    """Populations and sizes with five rows of the rarest class or more, on average."""
    return [
        (name, n)
        for n in SIZES
        for name, (_, cells) in populations().items()
        if cells.sum(axis=1).min() * n >= LEAST_ROWS
    ]


def drawn_again(table: pd.DataFrame, samples: int) -> pd.DataFrame:
    """The table, with other samples in the place of those of cells that had too little."""
    low = (table["rule"] == "half_jackknife") & (table["covered"] < ENOUGH)
    for name, n in dict.fromkeys(zip(table.loc[low, "problem"], table.loc[low, "n"], strict=True)):
        here = (table["problem"] == name) & (table["n"] == n)
        other = pd.DataFrame(rows_of(name, n, samples, 1), index=table.index[here])
        table = pd.concat([table[~here], other]).sort_index()
    return table


def in_short(table: pd.DataFrame) -> pd.DataFrame:
    """Mean and worst coverage, and mean widths over those of "linearised", of each half."""
    usual = table[table["rule"] == "linearised"].set_index(["problem", "n", "metric"])["width"]
    keys = pd.MultiIndex.from_frame(table[["problem", "n", "metric"]])
    table = table.assign(wider=table["width"].to_numpy() / usual.loc[keys].to_numpy())
    each = table.groupby(["chose", "rule", "metric"], sort=False)
    return each.agg(
        cells=("covered", "size"),
        mean=("covered", "mean"),
        worst=("covered", "min"),
        wider=("wider", "mean"),
    ).round(3)


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--samples", type=int, default=1000, help="of each population and size")
    parser.add_argument("--again", action="store_true", help="cells below .94, four times as many")
    parser.add_argument("--quick", action="store_true", help="one cell, nothing kept")
    arguments = parser.parse_args()
    if arguments.quick:
        print(pd.DataFrame(rows_of("three", 60, 50)).to_string(index=False))
        return
    if arguments.again:
        again = drawn_again(pd.read_csv(TABLE), 4 * arguments.samples)
        again.to_csv(TABLE, index=False)
    else:
        found: list[dict[str, object]] = []
        for name, n in cells_of_study():
            found += rows_of(name, n, arguments.samples)
            pd.DataFrame(found).to_csv(TABLE, index=False)
    print(in_short(pd.read_csv(TABLE)).to_string())


if __name__ == "__main__":
    main()
