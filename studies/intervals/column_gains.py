"""Do intervals for gains of columns contain the true gains, and are irrelevant columns called?

Samples of problems with relevant and irrelevant blocks of columns, as `uv.columns` sees them. A
true gain is the mean over learning sets of the same size from other data. "many" is the default of
jitted learners (1000 fits), "few" that of others (20 fits). On the same samples, where fits are
cheap: the corrected t test of ten times ten folds, and the naive t test of ten folds. These are
about learning sets of nine tenths, and are judged by the true gains there; their simultaneous
intervals are Bonferroni's.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit
from sklearn.tree import DecisionTreeClassifier

import ucvtest as uv
from studies.coverage import Study, kept, mc_se

ROWS_OF_TRUTH, DRAWS_OF_TRUTH, SETS_OF_TRUTH = 2000, 24, 60
ROWS_IN_GROUP = 3

Draw = Callable[..., tuple[Any, Any]]


@dataclass(frozen=True)
class Problem:
    """Data, a learner, and blocks of columns with those that are irrelevant."""

    draw: Draw
    learner: Any
    blocks: Mapping[str, list[int]]
    irrelevant: frozenset[str]
    asked: Mapping[str, Any] = field(default_factory=dict)
    base: list[int] | None = None
    cheap: bool = True
    grouped: bool = False
    sizes: tuple[int, ...] = (100,)

    def learners(self, n_columns: int) -> dict[str, Any]:
        """Those that `uv.columns` compares, the first with each other one."""
        everything = range(n_columns)
        start = list(everything) if self.base is None else self.base
        seen = {"start": start} | {
            block: [k for k in everything if k not in own] if self.base is None else start + own
            for block, own in self.blocks.items()
        }
        return {name: uv.learners.on_columns(self.learner, own) for name, own in seen.items()}


def single(p: int) -> dict[str, list[int]]:
    return {f"x{k}": [k] for k in range(p)}


def others(p: int, *relevant: int) -> frozenset[str]:
    return frozenset(f"x{k}" for k in range(p) if k not in relevant)


def binary(rng: np.random.Generator, eta: np.ndarray) -> np.ndarray:
    return (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(int)


def logit(rng: np.random.Generator, n: int, p: int = 8) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, p))
    return X, binary(rng, 1.5 * X[:, 0] + 0.8 * X[:, 1])


def pair(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, 6))
    X[:, 1] = 0.95 * X[:, 0] + np.sqrt(1 - 0.95**2) * X[:, 1]
    return X, binary(rng, 0.9 * X[:, 0] + 0.9 * X[:, 1] + 0.8 * X[:, 2])


def linear(noise: str, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, 6))
    drawn = {
        "normal": lambda: rng.standard_normal(n),
        "tails": lambda: rng.standard_t(3, n) / 1.3,
        "skewed": lambda: (np.exp(rng.standard_normal(n)) - np.exp(0.5)) / 2.16,
    }
    return X, 0.8 * X[:, 0] + 0.35 * X[:, 1] + drawn[noise]()


def edge(size: int, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Least squares on normal rows: x1 neither gains nor costs anything at n/2 - 1 of `size` rows.

    x2 does so at nine tenths of them, x3 at four tenths.
    """

    def coefficient(g: int, p: int = 6) -> float:
        return float(np.sqrt((1 + p / (g - p - 2)) / (1 + (p - 1) / (g - p - 1)) - 1))

    X = rng.standard_normal((n, 6))
    sizes = (size // 2 - 1, size - -(-size // 10), int(0.4 * size))
    slopes = np.array([0.8, *map(coefficient, sizes), 0.0, 0.0])
    return X, X @ slopes + rng.standard_normal(n)


def breast(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Four real columns, two of them alike, and four of noise."""
    data, labels = load_breast_cancer(return_X_y=True)
    data = data[:, [20, 24, 21, 23]]
    data = (data - data.mean(axis=0)) / data.std(axis=0)
    rows = rng.integers(len(labels), size=n)
    return np.hstack([data[rows], rng.standard_normal((n, 4))]), labels[rows]


def omics(signal: float, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three clinical columns, and 50 others in five groups that are correlated."""
    clinical, factors = rng.standard_normal((n, 3)), rng.standard_normal((n, 5))
    more = np.repeat(factors, 10, axis=1) * 0.6 + 0.8 * rng.standard_normal((n, 50))
    eta = clinical[:, 0] + 0.5 * clinical[:, 1] + signal * (factors[:, 0] + factors[:, 1])
    return np.hstack([clinical, more]), binary(rng, eta)


def marker(effect: float, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, 5))
    return X, binary(rng, 0.8 * X[:, 0] + 0.5 * X[:, 1] + effect * X[:, 4])


def xor(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, 4))
    product = X[:, 0] * X[:, 1]
    return X, binary(rng, 4 * np.sign(product) * np.minimum(1, 2 * np.abs(product)))


def clusters(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three rows of each group, which share half of the variance of columns and an effect."""
    shared = np.repeat(rng.standard_normal((n // ROWS_IN_GROUP, 6)), ROWS_IN_GROUP, axis=0)
    X = np.sqrt(0.5) * (shared + rng.standard_normal(shared.shape))
    own = np.repeat(rng.standard_normal(n // ROWS_IN_GROUP), ROWS_IN_GROUP)
    return X, binary(rng, 1.5 * X[:, 0] + 0.8 * X[:, 1] + own)


def survival(rng: np.random.Generator, n: int) -> tuple[np.ndarray, Any]:
    """Exponential times, a third of them censored."""
    X = rng.standard_normal((n, 5))
    times = rng.exponential(np.exp(-(0.8 * X[:, 0] + 0.4 * X[:, 1])))
    censored = rng.exponential(2.0, n)
    return X, uv.survival(np.minimum(times, censored), times <= censored)


def of_squares(draw: Draw, sizes: tuple[int, ...], *relevant: int) -> Problem:
    """Least squares on six columns."""
    asked = {"loss": "squared"}
    return Problem(draw, LinearRegression(), single(6), others(6, *relevant), asked, sizes=sizes)


def of_a_marker(effect: float, *irrelevant: str) -> Problem:
    """What one column adds to four."""
    return Problem(
        partial(marker, effect),
        "logistic:0.1",
        {"marker": [4]},
        frozenset(irrelevant),
        {"loss": "brier"},
        base=[0, 1, 2, 3],
    )


def of_omics(signal: float, *irrelevant: str) -> Problem:
    """Two blocks, of few columns and of many."""
    blocks = {"clinical": [0, 1, 2], "omics": list(range(3, 53))}
    return Problem(partial(omics, signal), RidgeClassifier(50.0), blocks, frozenset(irrelevant))


TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
FOREST = RandomForestClassifier(25, random_state=0)
FEW_COLUMNS, FOUR_COLUMNS = partial(logit, p=5), partial(logit, p=4)
OF_FIVE = (single(5), others(5, 0, 1))

PROBLEMS = {
    "skewed_ols": of_squares(partial(linear, "skewed"), (60, 100, 200), 0, 1),
    "logit_lda": Problem(logit, "lda", single(8), others(8, 0, 1), sizes=(60, 100, 200)),
    "linear_ols": of_squares(partial(linear, "normal"), (60, 200), 0, 1),
    "edge_ols": of_squares(edge, (60, 100, 200), 0, 1, 2, 3),
    "tails_ols": of_squares(partial(linear, "tails"), (100,), 0, 1),
    "pair_lda": Problem(pair, "lda", {**single(6), "x0+x1": [0, 1]}, others(6, 0, 1, 2)),
    "breast_lda": Problem(breast, "lda", single(8), others(8, 0, 1, 2, 3)),
    "omics_null": of_omics(0.0, "omics"),
    "omics_signal": of_omics(1.0),
    "xor_knn": Problem(xor, "knn:5", single(4), others(4, 0, 1), sizes=(60,)),
    "marker_null": of_a_marker(0.0, "marker"),
    "marker_half": of_a_marker(0.5),
    "auc_lda": Problem(FEW_COLUMNS, "lda", *OF_FIVE, {"loss": "auc"}, sizes=(60, 200)),
    "clusters_lda": Problem(
        clusters, "lda", single(6), others(6, 0, 1), grouped=True, sizes=(120, 300)
    ),
    "survival_cox": Problem(survival, "cox", *OF_FIVE, {"metric": "harrell"}, cheap=False),
    "tree": Problem(FEW_COLUMNS, TREE, *OF_FIVE, cheap=False, sizes=(60,)),
    "forest": Problem(
        FOUR_COLUMNS, FOREST, single(4), others(4, 0, 1), cheap=False, sizes=(60, 200)
    ),
}


def at(name: str, n: int) -> Problem:
    """The problem for samples of this size, on which the slopes of one problem depend."""
    problem = PROBLEMS[name]
    return replace(problem, draw=partial(edge, n)) if problem.draw is edge else problem


def groups_of(problem: Problem, n: int) -> np.ndarray | None:
    return np.repeat(np.arange(n // ROWS_IN_GROUP), ROWS_IN_GROUP) if problem.grouped else None


@kept
def true_gains(name: str, n: int, share: str) -> dict[str, float]:
    """By other data: means over learning sets of n/2 - 1 ("half") or nine tenths ("nine")."""
    problem, rng = at(name, n), np.random.default_rng([11, n])
    units = n // ROWS_IN_GROUP if problem.grouped else n
    g = units // 2 - 1 if share == "half" else units - -(-units // 10)
    means: dict[str, list[float]] = {}
    n_rows = 1500 if problem.asked.get("metric") else ROWS_OF_TRUTH
    for _ in range(DRAWS_OF_TRUTH):
        X, y = problem.draw(rng, n_rows - n_rows % ROWS_IN_GROUP)
        n_sets = 15 if name in ("tree", "forest", "survival_cox") else SETS_OF_TRUTH
        splitter = GroupShuffleSplit if problem.grouped else ShuffleSplit
        design = splitter(n_sets, train_size=g, random_state=int(rng.integers(2**31)))
        losses = uv.evaluate(
            *(problem.learners(X.shape[1]), X, y, design),
            **problem.asked,
            groups=groups_of(problem, len(X)),
        )
        for learner, mean in zip(losses.learners, losses.means.mean(axis=1), strict=True):
            means.setdefault(learner, []).append(float(mean))
    rises = bool({"auc", "harrell"} & {*map(str, problem.asked.values())})
    sign = (1 if problem.base is None else -1) * (-1 if rises else 1)
    start = np.mean(means.pop("start"))
    return {block: float(sign * (np.mean(values) - start)) for block, values in means.items()}


def sample(problem: str, n_obs: int, number: int) -> Iterator[tuple]:
    """What `uv.columns` and its competitors say of a sample."""
    case = at(problem, n_obs)
    rng = np.random.default_rng([7, n_obs, number, *map(ord, problem)])
    X, y = case.draw(rng, n_obs)
    groups, seed = groups_of(case, n_obs), int(rng.integers(2**31))
    blocks = case.blocks
    truth = true_gains(problem, n_obs, "half")
    several = [{**blocks}]
    if problem == "pair_lda":
        # Blocks must not overlap.
        several = [{k: v for k, v in blocks.items() if len(v) == 1}, {"x0+x1": [0, 1]}]
    for some in several:
        found = uv.columns(
            *(X, y, case.learner, some, case.base), **case.asked, groups=groups, rng=seed
        )
        method = "many" if found.n_fits // (1 + len(some)) > 100 else "few"
        rows = zip(found.frame.itertuples(), found.results.values(), strict=True)
        for row, result in rows:
            alone = sorted(found.sign * limit for limit in result.conf_int())
            yield (
                *(method, row.block, kind(case, row.block)),
                *(truth[row.block], row.gain, *alone, row.conf_low, row.conf_high),
            )
    if not case.cheap:
        return
    truth = true_gains(problem, n_obs, "nine")
    folds = {
        "corrected t, 10 x 10": uv.TestSpec("corrected_t", {"design": uv.designs.KFold(10, 10)}),
        "naive t, 10 folds": uv.TestSpec("naive_t", {"design": uv.designs.KFold(10)}),
    }
    try:
        compared = uv.compare(
            *(X, y, case.learners(X.shape[1]), folds),
            **case.asked,
            groups=groups,
            baseline=0,
            correction=None,
            rng=seed,
        )
    except ValueError:
        # A fold without a class.
        return
    for (method, first, second), result in compared.results.items():
        block = second if first == "start" else first
        sign = found.sign * (-1 if first == "start" else 1)
        of_all = 0.05 / len(blocks)
        yield (
            *(method, block, kind(case, block)),
            *(truth[block], sign * result.estimate),
            *sorted(sign * limit for limit in result.conf_int()),
            *sorted(sign * limit for limit in result.conf_int(of_all)),
        )


def kind(problem: Problem, block: str) -> str:
    return "irrelevant" if block in problem.irrelevant else "relevant"


VALUES = ("truth", "estimate", "low", "high", "low_all", "high_all")


def table(rows: pd.DataFrame) -> pd.DataFrame:
    """By cell and method: coverage, the worst block, all blocks at once, and calls.

    Coverage is that of the intervals that exist.
    """
    truth, _, low, high, low_all, high_all = (rows[name] for name in VALUES)
    irrelevant = rows["kind"] == "irrelevant"
    # Where no prediction uses a block, no interval can contain anything, or miss it.
    missing = low.isna()
    rows = rows.assign(
        missing=missing,
        covered=((low <= truth) & (truth <= high)).astype(float).mask(missing),
        covered_all=((low_all <= truth) & (truth <= high_all)).astype(float).mask(missing),
        helps=(low_all > 0) & irrelevant,
        # One-sided 5% for a column alone would be low; this is the two-sided interval's side.
        helps_alone=(low > 0).where(irrelevant),
        power=(low_all > 0).where(~irrelevant & (truth > 0.01)),
        width=(high - low).where(~irrelevant),
    )
    keys = ["problem", "n_obs", "method"]
    cells = rows.groupby(keys, sort=False)
    at_once = rows.groupby([*keys, "number"], sort=False)
    by_sample = at_once.agg(all_covered=("covered_all", "min"), any_called=("helps", "max"))
    of_samples = by_sample.groupby(keys, sort=False).mean()
    columns = rows.groupby([*keys, "block"], sort=False)["covered"].mean()
    made = cells.agg(samples=("number", "nunique"), coverage=("covered", "mean"))
    made["worst_column"] = columns.groupby(keys, sort=False).min()
    made["all_at_once"] = of_samples["all_covered"]
    made["missing"] = cells["missing"].mean()
    made["irrelevant_called"] = cells["helps_alone"].apply(lambda x: x.astype(float).mean())
    made["any_irrelevant_called"] = of_samples["any_called"]
    made["power"] = cells["power"].apply(lambda x: x.astype(float).mean())
    shares = made.columns.drop("samples")
    made[shares] = (100 * made[shares].astype(float)).round(1)
    made.insert(2, "mc_se", mc_se(made["worst_column"].clip(80, 99), made["samples"]).round(1))
    return made.assign(width=cells["width"].median().round(4)).reset_index()


def short(table: pd.DataFrame) -> pd.DataFrame:
    """By method over all cells."""
    methods = table.groupby("method", sort=False)
    means = ["coverage", "all_at_once", "missing", "irrelevant_called", "power"]
    made = methods[means].mean().round(1)
    made.insert(0, "cells", methods.size())
    made.insert(1, "samples", methods["samples"].sum())
    made["worst_column"] = methods["worst_column"].min()
    made["worst_at_once"] = methods["all_at_once"].min()
    made["most_called"] = methods["irrelevant_called"].max()
    made["most_any_called"] = methods["any_irrelevant_called"].max()
    return made.reset_index()


STUDY = Study(
    sample,
    ("method", "block", "kind"),
    [(name, n) for name, problem in PROBLEMS.items() for n in problem.sizes],
    samples=150,
    values=VALUES,
    table=table,
    short=short,
)

if __name__ == "__main__":
    STUDY.main()
