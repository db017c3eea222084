"""Do simultaneous intervals contain all true values, and is the best learner in the best set?

Three kinds of problems, 10 learners each, and the first 3, 5 or all are compared:

equal           linear discriminant analysis on one of 10 blocks of two features, all equally
                informative, so that by symmetry all errors are the same;
one better      the same with one block that is more informative;
all different   different learning algorithms on the same six features.

Every data set is compared once, by `uv.compare(..., correction="simultaneous")`, whose intervals
are the stabilised ones. A pair without an answer counts as missed ("joint coverage"); "of those
answered" leaves it out, and "no answer" is the share of such pairs. The best set goes by the same
statistics as the intervals; "symmetric" is the set by differences over their standard
errors, and "contradicted" how often it contains a learner that a simultaneous interval shows
to be worse than another. "sets" are the data sets that best sets were compared in. Rows, one
for each data set, are kept as they come (`--rows`), and the script goes on where it was stopped;
`--table` writes the committed file studies/intervals/many_learners.csv.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

import ucvtest as uv
from ucvtest.learners.jitted.discriminant import LinearDiscriminant
from ucvtest.results.fields import quiet_interval
from ucvtest.results.simultaneous import JointEstimates
from ucvtest.stats.simultaneous import MultivariateT

ALPHA = 0.05
NUMBERS = (3, 5, 10)
SIZES = (60, 120)
KINDS = ("equal", "one better", "all different")
N_PAIRS = 400
N_DRAWS = 10_000


@dataclass(frozen=True)
class BlockDiscriminant(LinearDiscriminant):
    """Linear discriminant analysis on two of the features."""

    start: int = 0

    @property
    def name(self) -> str:
        """The features that it looks at."""
        return f"block {self.start // 2}"

    def prepare(self, sample):
        """Leave out the other features."""
        columns = sample.matrix[:, self.start : self.start + 2]
        return super().prepare(replace(sample, features=columns))


BLOCKS = [BlockDiscriminant(start=2 * block) for block in range(10)]
DIFFERENT = [
    "lda",
    "nearest_centroid",
    "gaussian_nb",
    "qda",
    "majority",
    "ridge:0.1",
    "ridge:1",
    "ridge:10",
    "ridge:100",
    "lda:equal",
]


def learners(kind: str) -> list:
    return DIFFERENT if kind == "all different" else BLOCKS


def sample(kind: str, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    y = rng.integers(0, 2, n)
    sign = 2 * y[:, None] - 1
    if kind == "all different":
        X = rng.standard_normal((n, 6)) * np.array([1, 1, 1, 1, 1, 2.5])
        X[:, 1] += 0.8 * X[:, 0]
        X[:, :3] += sign * np.array([0.6, 0.0, 0.4])
        return X, y
    shift = np.full(20, 0.42)
    if kind == "one better":
        shift[:2] = 0.75
    return sign * shift + rng.standard_normal((n, 20)), y


def truth(kind: str, n: int, n_samples: int) -> list[float]:
    """The expected errors at learning-set size n/2 - 1, from disjoint learning sets."""
    g, size = n // 2 - 1, 2000
    rng = np.random.default_rng([7, n, KINDS.index(kind)])
    found = []
    for _ in range(n_samples):
        X, y = sample(kind, size, rng)
        starts = range(0, size - g, g)
        splits = [
            (np.arange(k, k + g), np.r_[np.arange(k), np.arange(k + g, size)]) for k in starts
        ]
        found.append(uv.evaluate(learners(kind), X, y, splits, rng=0).means.mean(axis=1))
    means = np.mean(found, axis=0)
    # Symmetry: what differs by chance here does not differ.
    if kind != "all different":
        first = 1 if kind == "one better" else 0
        means[first:] = means[first:].mean()
    return means.tolist()


def analysed(kind: str, n: int, seed: int, errors: np.ndarray) -> dict:
    """The results of one data set."""
    rng = np.random.default_rng([n, KINDS.index(kind), seed])
    X, y = sample(kind, n, rng)
    test = uv.TestSpec("ustatistic", fit={"n_pairs": N_PAIRS})
    found = uv.compare(X, y, learners(kind), test, correction="simultaneous", rng=seed)
    (label,) = found.together
    row = {"kind": kind, "n": n, "seed": seed}
    for number in NUMBERS:
        part = of_first(found.together[label], found.of_test(label), number, errors)
        row |= {f"{number}: {name}": value for name, value in part}
    return row


def of_first(
    together: JointEstimates, results: Mapping, number: int, errors: np.ndarray
) -> Iterator[tuple[str, object]]:
    """The same for the first learners, as if no others had been compared."""
    names, real = together.learners[:number], errors[:number]
    part = JointEstimates(
        own={name: together.own[name] for name in names},
        se=together.se[:number, :number],
        covariance=together.covariance[:number, :number],
        df=together.df,
        seed=together.seed,
        statistics=together.statistics[:number, :number],
    )
    # Fewer draws than are usual, for thousands of samples.
    vars(part)["errors"] = MultivariateT(part.covariance, part.df, part.seed, N_DRAWS)
    # The set without stabilised statistics, which simultaneous intervals could contradict.
    straight = replace(part, statistics=None)
    vars(straight).update(errors=part.errors, _worst=part._worst)
    pairs = list(combinations(range(number), 2))
    first, other = np.array(pairs).T
    family = {(names[i], names[j]): results[names[i], names[j]] for i, j in pairs}
    real_apart = real[first] - real[other]
    answered = np.array([each.status == "ok" for each in family.values()])
    apart = np.array([each.estimate for each in family.values()])
    pvalues = np.array([each.pvalue for each in family.values()])
    holm = holm_adjusted(np.nan_to_num(pvalues, nan=1.0))
    adjusted = np.nan_to_num(part.adjusted(family), nan=1.0)
    own = np.array(part.own_intervals(ALPHA))
    chosen, kept, kept_straight = part.order[0], part.best_set(ALPHA), straight.best_set(ALPHA)
    by_holm = set(range(number)) - set(np.where(apart > 0, first, other)[holm <= ALPHA].tolist())
    best = [k for k in range(number) if real[k] <= real.min() + 1e-12]
    same = np.abs(real_apart) < 1e-12
    together_ends = part.intervals(family, ALPHA)
    low, high = np.array(together_ends).T
    worse = {names[k] for k in (*first[low > 0], *other[high < 0])}
    yield "missing", int((~answered).sum())
    for title, ends in (
        ("covered", together_ends),
        ("covered one by one", [quiet_interval(each, ALPHA) for each in family.values()]),
    ):
        low, high = np.array(ends).T
        held = (low <= real_apart) & (real_apart <= high)
        # Without an answer the true value is missed; otherwise all pairs count together.
        yield title, bool(held.all())
        yield f"{title}, answered", bool(held[answered].all())
    yield "width", part.critical(family, ALPHA).value / stats.t.isf(ALPHA / 2, part.df)
    yield "own covered", not ((own[:, 0] > real) | (own[:, 1] < real)).any()
    yield "chosen covered", bool(own[chosen, 0] <= real[chosen] <= own[chosen, 1])
    yield "wrong", bool((adjusted <= ALPHA)[same].any())
    yield "rejected", int((adjusted <= ALPHA).sum())
    yield "rejected, Holm", int((holm <= ALPHA).sum())
    yield "size", len(kept)
    yield "size, symmetric", len(kept_straight)
    yield "size, Holm", len(by_holm)
    yield "contradicted", not worse.isdisjoint(kept)
    yield "contradicted, symmetric", not worse.isdisjoint(kept_straight)
    yield "has best", [names[k] in kept for k in best]
    yield "has best, symmetric", [names[k] in kept_straight for k in best]
    yield "has best, Holm", [k in by_holm for k in best]


def holm_adjusted(pvalues: np.ndarray) -> np.ndarray:
    """Holm's p-values; those of statsmodels collect garbage, which takes longer than all else."""
    order = np.argsort(pvalues)
    found = np.empty(len(pvalues))
    steps = pvalues[order] * np.arange(len(pvalues), 0, -1)
    found[order] = np.minimum(1, np.maximum.accumulate(steps))
    return found


def simulated(path: Path, n_sets: int, sizes: tuple[int, ...], n_samples: int) -> Iterator[dict]:
    """All rows, those that exist first; the cells take turns."""
    done = {}
    if path.exists():
        for line in path.read_text().splitlines():
            row = json.loads(line)
            done[row["kind"], row["n"], row["seed"]] = row
    truths = {}
    with path.open("a") as file:
        for seed in range(n_sets):
            for kind in KINDS:
                for n in sizes:
                    row = done.get((kind, n, seed))
                    if row is None:
                        if (kind, n) not in truths:
                            truths[kind, n] = np.array(truth(kind, n, n_samples))
                        row = analysed(kind, n, seed, truths[kind, n])
                        file.write(json.dumps(row) + "\n")
                        file.flush()
                    yield row


def table(rows: list[dict]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    lines = []
    for (kind, n), cell in frame.groupby(["kind", "n"], sort=False):
        for number in NUMBERS:
            part = {
                name.split(": ")[1]: cell[name] for name in cell if name.startswith(f"{number}: ")
            }
            # Rows that were kept from before have no stabilised sets.
            both = cell[f"{number}: contradicted"].notna()
            has, straight, holm = (
                np.array(part[f"has best{which}"][rows].tolist(), dtype=float)
                for which, rows in (("", both), (", symmetric", both), (", Holm", slice(None)))
            )
            lines.append(
                {
                    "problem": kind,
                    "n": n,
                    "learners": number,
                    "data sets": len(cell),
                    "joint coverage": part["covered"].mean(),
                    "of those answered": part["covered, answered"].mean(),
                    "one by one": part["covered one by one"].mean(),
                    "width": part["width"].mean(),
                    "wrongly rejected": part["wrong"].mean(),
                    "rejected": part["rejected"].mean(),
                    "Holm: rejected": part["rejected, Holm"].mean(),
                    "own coverage": part["own covered"].mean(),
                    "coverage of the chosen": part["chosen covered"].mean(),
                    "best in set": has.mean(axis=0).min(),
                    "size of set": part["size"].mean(),
                    "contradicted": part["contradicted"].mean(),
                    "sets": len(has),
                    "symmetric: best in set": straight.mean(axis=0).min(),
                    "symmetric: size": part["size, symmetric"][both].mean(),
                    "symmetric: contradicted": part["contradicted, symmetric"].mean(),
                    "Holm: best in set": holm.mean(axis=0).min(),
                    "Holm: size": part["size, Holm"].mean(),
                    "no answer": part["missing"].mean() * 2 / (number * (number - 1)),
                }
            )
    return pd.DataFrame(lines).round(4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 data sets of 60")
    parser.add_argument("--data-sets", type=int, default=500)
    parser.add_argument("--rows", type=Path, default=Path("build/many_learners.jsonl"))
    parser.add_argument("--table", type=Path, help="where the table is written as CSV")
    arguments = parser.parse_args()
    quick, start = arguments.quick, time.process_time()
    path = arguments.rows
    path.parent.mkdir(parents=True, exist_ok=True)
    if quick:
        path = path.with_suffix(".quick.jsonl")
        path.unlink(missing_ok=True)
    n_sets, sizes = (2, (60,)) if quick else (arguments.data_sets, SIZES)
    found = table(list(simulated(path, n_sets, sizes, 1 if quick else 12)))
    print(found.to_string(index=False))
    if arguments.table:
        found.to_csv(arguments.table, index=False)
    spread = 2.5 * np.sqrt(0.95 * 0.05 / n_sets)
    print(f"\n95% less 2.5 binomial standard errors: {0.95 - spread:.3f}")
    print(f"{time.process_time() - start:.0f} s of processor time")


if __name__ == "__main__":
    main()
