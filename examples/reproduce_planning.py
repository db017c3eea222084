"""Does `uv.plan` predict what other sample sizes give? A simulation, not a paper's.

Pilots of 40 and 60 observations plan for 100, 200 and 400, with learning sets of 19 and 29. Beside
the predictions stand what was simulated at those sizes: the standard deviation of the estimate, the
mean standard error that the test reports, and how often it rejects. A second part asks how often
`result.equivalence` accepts at the very bounds, where it must not in more than 5%.

What was simulated is kept in a folder, so that the run goes on where it was stopped.

    python examples/reproduce_planning.py            # about 15 minutes of a processor
    python examples/reproduce_planning.py --quick    # a minute, for a look
    python examples/reproduce_planning.py --table    # from what was simulated before
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import ucvtest as uv
from ucvtest.designs.draws import draw_orders, learning_sets
from ucvtest.simulate.many_samples import ManySamples

Sampler = Callable[[np.random.Generator, int], tuple[np.ndarray, np.ndarray]]
Rows = Callable[..., Iterator[dict[str, Any]]]

PILOTS, TARGETS = (40, 60), (100, 200, 400)
SETS_OF_TRUTH = 150
PAIRS = {100: 300, 200: 300, 400: 500}
COMMITTED = Path(__file__).parent / "planning.csv"


@dataclass(frozen=True)
class Problem:
    """Learners and the population that samples are drawn from."""

    name: str
    sampler: Sampler
    learners: tuple[str, ...]
    loss: str = "zero_one"


def classes(shift: float, n_features: int = 5, share: float = 0.5, spread: float = 1.0) -> Sampler:
    """Two normal classes whose means differ in two features."""

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        y = (rng.random(n) < share).astype(int)
        X = rng.normal(size=(n, n_features))
        X[:, 0] += 2 * shift * y
        X[:, 1] = spread * X[:, 0] / 2 + X[:, 1] + shift * y
        return X, y

    return sampler


def regression(noise: Callable[[np.random.Generator, int], np.ndarray]) -> Sampler:
    """A linear regression on three of eight features."""

    def sampler(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.normal(size=(n, 8))
        return X, X[:, :3].sum(axis=1) / 2 + noise(rng, n)

    return sampler


def crossed(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two classes in opposite quadrants, which no line tells apart."""
    X = rng.normal(size=(n, 4))
    return X, (X[:, 0] * X[:, 1] + rng.normal(size=n) / 2 > 0).astype(int)


def quadratic(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Two normal classes, one of which is spread out more."""
    y = rng.integers(2, size=n)
    X = rng.normal(size=(n, 3)) * np.where(y, 2.0, 1.0)[:, None]
    return X + y[:, None] * [1.0, 0.5, 0.0], y


def three_classes(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Three normal classes whose features are correlated."""
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 4)) + rng.normal(size=(n, 1))
    X[:, 0] += 1.5 * y
    X[:, 1] -= y == 2
    return X, y


PROBLEMS = {
    each.name: each
    for each in (
        Problem("medium", classes(0.6), ("lda", "nearest_centroid")),
        Problem("weak", classes(0.3), ("lda", "nearest_centroid")),
        Problem("neighbours", classes(0.8), ("knn:3", "lda")),
        Problem("unstable", classes(0.5), ("knn:1", "knn:7")),
        Problem("imbalanced", classes(0.8, share=0.25), ("lda", "gaussian_nb")),
        Problem("wide", classes(0.8, n_features=14), ("lda", "nearest_centroid")),
        Problem("one learner", classes(0.6), ("lda",)),
        Problem(
            "regression",
            regression(lambda rng, n: rng.normal(size=n)),
            ("ridge:0.01", "ridge:30"),
            "squared",
        ),
        Problem(
            "tails",
            regression(lambda rng, n: rng.standard_t(5, size=n)),
            ("ridge:0.01", "ridge:30"),
            "squared",
        ),
        Problem("no signal", classes(0.05), ("knn:3", "nearest_centroid")),
        Problem(
            "absolute",
            regression(lambda rng, n: rng.normal(size=n)),
            ("ridge:1", "knn:5"),
            "absolute",
        ),
        Problem("logistic", classes(0.5), ("logistic:1", "gaussian_nb")),
        Problem("crossed", crossed, ("knn:5", "lda")),
        Problem("quadratic", quadratic, ("qda", "lda")),
        Problem("three classes", three_classes, ("lda", "gaussian_nb")),
        Problem("dimensions", classes(0.8, n_features=30), ("nearest_centroid", "knn:5")),
        Problem("separate", classes(1.2), ("knn:1", "nearest_centroid")),
        Problem("one of neighbours", classes(0.5), ("knn:5",)),
        Problem(
            "smooth",
            regression(lambda rng, n: rng.normal(size=n)),
            ("ridge:1", "knn:7"),
            "squared",
        ),
    )
}
CHOSEN_ON = (
    "medium",
    "weak",
    "neighbours",
    "unstable",
    "imbalanced",
    "wide",
    "one learner",
    "regression",
    "tails",
    "no signal",
    "absolute",
    "quadratic",
)
"""Problems that the rule in ucvtest/planning/usual.py was chosen on: all others report on it.
"quadratic" was to be one of those, and came to the chosen ones when it showed a rule too bold."""

WHY = {
    "imbalanced": "v_1 is 3% of the mean square, less than is usual (4% and more)",
    "wide": "v_1 is 4 to 7% of the mean square, less than is usual at an agreement of .12 to .16",
    "quadratic": "v_1 is 40 to 70% of the mean square at an agreement of .2 to .3: J alone, whose "
    "noise is small here, would be right, and is believed only where M2 is as small as it is",
    "separate": "v_1 is more than is usual at an agreement of .1, as for quadratic",
    "three classes": "v_1 is more than is usual at an agreement of .1",
    "crossed": "v_1 is more than is usual, although losses hardly agree (.05)",
    "logistic": "learners differ in few observations, and agreement is known to .15 only",
    "regression": "J of squared losses has a long tail above, most pilots lie below its mean",
    "tails": "the same, more so: tails that a pilot has not drawn cannot be seen in it",
}
"""Where the median is off: from the bias, and the noise of J, that are printed beside."""

QUARTILES = 1.349
"""Quartiles of a normal distribution lie this many standard deviations apart."""

EQUIVALENCE = ("medium", "neighbours", "unstable", "regression")
"""The last one beside the three that are asked for: squared losses, whose intervals are harder."""


def truth(
    problem: Problem, pilot: int, n: int, n_samples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """Estimates from all samples of one size, all with the same learning sets."""
    rng = np.random.default_rng([seed, pilot, n])
    learning = learning_sets(draw_orders(rng, SETS_OF_TRUTH, n), 0, pilot // 2 - 1)
    many = ManySamples(
        problem.sampler, problem.learners, learning, ~learning, loss=problem.loss, rng=rng
    )
    for block in many.losses(n_samples):
        rows = block.sum(axis=2) / (~learning).sum(axis=1)
        for estimate, noise in zip(rows.mean(axis=1), rows.var(axis=1, ddof=1), strict=True):
            yield {"estimate": estimate, "mc": noise / SETS_OF_TRUTH}


def reported(
    problem: Problem, pilot: int, n: int, n_samples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """What the test reports from samples of one size, with its default interval."""
    for sample in range(n_samples):
        rng = np.random.default_rng([seed, pilot, n, sample])
        X, y = problem.sampler(rng, n)
        test = uv.UStatisticTest(
            X, y, *problem.learners, learn_size=pilot // 2 - 1, loss=problem.loss
        )
        found = test.fit(n_pairs=PAIRS[n], rng=sample)
        low, high = (math.nan, math.nan) if found.status != "ok" else found.conf_int()
        # Without the Monte-Carlo part, which more fits would take away.
        se = math.sqrt(max(found.variance, 0.0))
        yield {"se": se, "width": high - low, "pvalue": found.pvalue}


def plans(
    problem: Problem, pilot: int, difference: float, n_pilots: int, seed: int
) -> Iterator[dict[str, Any]]:
    """What plans from single pilots say of larger samples."""
    for sample in range(n_pilots):
        rng = np.random.default_rng([seed, pilot, sample])
        X, y = problem.sampler(rng, pilot)
        asked = {"difference": difference} if len(problem.learners) == 2 else {"width": 0.1}
        shared = {"loss": problem.loss, "n": TARGETS, "curve": False, "rng": sample}
        plan = uv.plan(X, y, *problem.learners, **asked, **shared)
        known = {name: plan.settings[name] for name in ("jackknife", "pair_effects")}
        told = plan.frame.set_index("n")
        yield known | {f"{name} {n}": told.at[n, name] for name in told for n in TARGETS}


def at_bounds(
    problem: Problem, theta: float, n_samples: int, seed: int
) -> Iterator[dict[str, Any]]:
    """p-values of both one-sided tests at the true difference, n = 40."""
    for sample in range(n_samples):
        rng = np.random.default_rng([seed, 40, sample])
        X, y = problem.sampler(rng, 40)
        test = uv.UStatisticTest(X, y, *problem.learners, learn_size=19, loss=problem.loss)
        result = test.fit(n_pairs=400, rng=sample)
        if result.status != "ok":
            yield {"low": 1.0, "high": 1.0}
            continue
        # Each hypothesis at its bound, the other bound far away.
        yield {
            "low": result.equivalence(theta, theta + 0.5).pvalue_low,
            "high": result.equivalence(theta - 0.5, theta).pvalue_high,
        }


@dataclass(frozen=True)
class Other:
    """Another question than a difference of mean losses: its sampler also returns groups."""

    name: str
    learners: tuple[str, ...]
    effect: dict[str, float]
    question: dict[str, Any]

    def sample(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray, dict]:
        """Features, responses, and groups by their argument."""
        if self.name == "groups":
            groups = np.repeat(np.arange(n), 2)
            y = np.repeat(rng.integers(2, size=n), 2)
            X = rng.normal(size=(2 * n, 4)) + rng.normal(size=(n, 4))[groups]
            X[:, 0] += 1.5 * y
            return X, y, {"groups": groups}
        if self.name == "ratio":
            X, y = regression(lambda rng, n: rng.normal(size=n))(rng, n)
            return X, y, {}
        y = np.arange(n) % 2
        X = rng.normal(size=(n, 4))
        X[:, 0] += 1.2 * y
        return X, y, {}


OTHERS = (
    Other("auc", ("lda", "nearest_centroid"), {"difference": 0.05}, {"loss": "auc"}),
    Other("ratio", ("ridge:0.01", "ridge:30"), {"ratio": 1.3}, {"loss": "squared"}),
    Other("groups", ("lda", "nearest_centroid"), {"difference": 0.05}, {}),
)
OTHER_SIZES = (40, 100)


def other_rows(each: Other, n_samples: int) -> Iterator[dict[str, Any]]:
    """What a plan from a pilot of 40 says of 100, and what another sample of 100 reports."""
    pilot, n = OTHER_SIZES
    size = (pilot // 4 - 1,) * 2 if each.name == "auc" else pilot // 2 - 1
    for sample in range(n_samples):
        rng = np.random.default_rng([9, sample])
        X, y, more = each.sample(rng, pilot)
        asked = {**each.question, **each.effect, **more, "learn_size": size}
        plan = uv.plan(X, y, *each.learners, **asked, n=n, curve=False, rng=sample)
        X, y, more = each.sample(rng, n)
        contrast = {"contrast": "ratio"} if "ratio" in each.effect else {}
        question = {**each.question, **contrast, **more, "learn_size": size}
        found = uv.UStatisticTest(X, y, *each.learners, **question).fit(n_pairs=600, rng=sample)
        estimate = math.log(found.estimate) if contrast else found.estimate
        yield {"predicted": plan.frame["se"][0], "reported": found.se, "estimate": estimate}


def of_others(folder: Path, n_samples: int) -> pd.DataFrame:
    """One row for the AUC, for ratios and for groups: small checks, no study."""
    rows = []
    for each in OTHERS:
        found = kept(folder / f"other {each.name}.csv", other_rows, each, n_samples)
        ratios = found["predicted"] / found["reported"].mean()
        row = {"question": each.name, "n_samples": len(found)}
        row |= {"sd": found["estimate"].std(ddof=1), "reported_se": found["reported"].mean()}
        rows.append(row | _ratios("se", ratios))
    return pd.DataFrame(rows)


def kept(path: Path, rows: Rows, *arguments: Any) -> pd.DataFrame:
    """Rows from a file, which is written whole where it does not exist."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(list(rows(*arguments))).to_csv(path.with_suffix(".part"), index=False)
        path.with_suffix(".part").rename(path)
        print(f"{path}", flush=True)
    return pd.read_csv(path)


def simulate(folder: Path, sizes: dict[str, int], names: Sequence[str]) -> None:
    """Everything that is not there yet, what matters most first."""
    cells = [(PROBLEMS[name], pilot) for name in names for pilot in PILOTS]
    theta = {}
    for problem, pilot in cells:
        for n in TARGETS:
            file = folder / f"truth {problem.name} {pilot} {n}.csv"
            found = kept(file, truth, problem, pilot, n, sizes["truth"], 1)
        theta[problem.name, pilot] = float(found["estimate"].mean())
    for problem, pilot in cells:
        file = folder / f"plans {problem.name} {pilot}.csv"
        difference = theta[problem.name, pilot]
        kept(file, plans, problem, pilot, difference, sizes["pilots"], 2)
    # Some at a time, so that all problems have as many.
    for part in range(sizes["parts"]):
        for problem, pilot in cells:
            for n in TARGETS:
                file = folder / f"default {problem.name} {pilot} {n} {part}.csv"
                kept(file, reported, problem, pilot, n, sizes["reported"], 100 + part)
        for name in (each for each in EQUIVALENCE if each in names):
            file = folder / f"equivalence {name}.csv"
            kept(file, at_bounds, PROBLEMS[name], theta[name, 40], sizes["equivalence"], 4)


def table(folder: Path, names: Sequence[str]) -> pd.DataFrame:
    """One row for each problem, pilot and target."""
    rows = []
    for problem in map(PROBLEMS.__getitem__, names):
        for pilot in PILOTS:
            told = pd.read_csv(folder / f"plans {problem.name} {pilot}.csv")
            for n in TARGETS:
                true = pd.read_csv(folder / f"truth {problem.name} {pilot} {n}.csv")
                sd = np.sqrt(true["estimate"].var(ddof=1) - true["mc"].mean())
                row = {"problem": problem.name, "chosen": problem.name in CHOSEN_ON}
                row |= {"pilot": pilot, "n": n, "n_pilots": len(told)}
                row |= {"n_truth": len(true), "true_sd": sd} | _ratios("sd", told[f"sd {n}"] / sd)
                files = sorted(folder.glob(f"default {problem.name} {pilot} {n} *.csv"))
                if files:
                    found = pd.concat(map(pd.read_csv, files))
                    se = found["se"].mean()
                    row |= {"n_samples": len(found), "reported_se": se}
                    row |= _ratios("se", told[f"se {n}"] / se)
                    ends = told[[f"se_low {n}", f"se_high {n}"]].to_numpy()
                    row["se_band"] = ((ends[:, 0] <= se) & (se <= ends[:, 1])).mean()
                    row["width_median"] = told[f"width {n}"].median() / found["width"].mean()
                    if len(problem.learners) == 2:
                        known = found["pvalue"].dropna()
                        row |= {"n_power": len(known), "power": (known <= 0.05).mean()}
                        row["predicted_power"] = told[f"power {n}"].mean()
                rows.append(row)
    return pd.DataFrame(rows)


def _ratios(name: str, ratios: pd.Series) -> dict[str, float]:
    """Predicted over simulated: median, quartiles, and how many are within 30%."""
    within = (np.abs(ratios - 1) <= 0.3).mean()
    low, median, high = np.quantile(ratios, [0.25, 0.5, 0.75])
    return {
        f"{name}_median": median,
        f"{name}_q1": low,
        f"{name}_q3": high,
        f"{name}_within": within,
    }


def by_problem(found: pd.DataFrame, folder: Path) -> pd.DataFrame:
    """Median ratios, and what the error of a single pilot consists of.

    Bias is the logarithm of the median ratio, noise the standard deviation of the logarithm between
    pilots by its quartiles, averaged over sizes; beside it that of the pilot's own J.
    """
    rows = []
    for name, part in found.groupby("problem", sort=False):
        known = pd.concat([pd.read_csv(folder / f"plans {name} {pilot}.csv") for pilot in PILOTS])[
            "jackknife"
        ]
        quartiles = np.log(known[known > 0].quantile([0.25, 0.75]))
        row = {"problem": name, "chosen": bool(part["chosen"].iloc[0])}
        for kind in ("sd", "se"):
            if f"{kind}_median" in part:
                median = part[f"{kind}_median"].median()
                noise = np.log(part[f"{kind}_q3"] / part[f"{kind}_q1"]).mean() / QUARTILES
                row |= {kind: median, f"{kind} within": part[f"{kind}_within"].mean()}
                row |= {f"{kind} bias": math.log(median), f"{kind} noise": noise}
        rows.append(row | {"noise of J": np.diff(quartiles)[0] / QUARTILES / 2})
    return pd.DataFrame(rows)


def sizes_at_bounds(folder: Path) -> pd.DataFrame:
    """How often each one-sided test rejects at its bound."""
    rows = []
    for name in EQUIVALENCE:
        path = folder / f"equivalence {name}.csv"
        if path.exists():
            found = pd.read_csv(path)
            limit = 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / len(found))
            share = {side: (found[side] <= 0.05).mean() for side in ("low", "high")}
            rows.append({"problem": name, "n_samples": len(found), **share, "limit": limit})
    return pd.DataFrame(rows)


FULL = {"truth": 250, "pilots": 40, "equivalence": 1000, "reported": 5, "parts": 4, "others": 12}
QUICK = {"truth": 40, "pilots": 4, "equivalence": 10, "reported": 3, "parts": 1, "others": 2}


def main() -> None:
    """Simulate, and print and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few samples, for a look")
    parser.add_argument("--table", action="store_true", help="only from what was simulated before")
    parser.add_argument("--folder", type=Path, default=Path("planning"))
    options = parser.parse_args()
    sizes = QUICK if options.quick else FULL
    folder, names = options.folder / ("quick" if options.quick else "full"), list(PROBLEMS)
    if options.quick:
        names = ["medium", "one learner"]
    if not options.table:
        simulate(folder, sizes, names)
    found = table(folder, names)
    print(found.round(3).to_string(index=False))
    each = by_problem(found, folder)
    print(each.round(3).to_string(index=False))
    for kind in (kind for kind in ("sd", "se") if kind in each):
        for chosen, part in each.groupby("chosen"):
            held = ((part[kind] >= 0.9) & (part[kind] <= 1.15)).sum()
            whom = "chosen on" if chosen else "not used"
            within = part[f"{kind} within"].mean()
            print(f"{kind}, {whom}: {held} of {len(part)} right, {within:.2f} of pilots in 30%")
    for name, why in WHY.items():
        if name in set(each["problem"]):
            print(f"{name}: {why}")
    print(of_others(folder, sizes["others"]).round(3).to_string(index=False))
    at_bound = sizes_at_bounds(folder).round(4)
    print(at_bound.to_string(index=False))
    if not options.quick:
        found.round(4).to_csv(COMMITTED, index=False)
        at_bound.to_csv(COMMITTED.with_name("planning_equivalence.csv"), index=False)


if __name__ == "__main__":
    main()
