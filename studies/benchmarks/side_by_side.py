"""Whole tests next to what people would use instead, in one run, and how their cost grows.

Both sides of a row get the same data and are timed in turn, three times, in processor seconds of
one thread; the smallest of each counts. mlxtend and R's pROC have rows where they are installed;
R runs afterwards and counts its own seconds.

    python studies/benchmarks/side_by_side.py
    python studies/benchmarks/side_by_side.py --slopes studies/benchmarks/slopes.png
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from threadpoolctl import threadpool_limits

import ucvtest as uv
from studies.benchmarks import bench

REPEATS = 3

P_ROC = """
suppressMessages(library(pROC))
rows <- read.csv(commandArgs(TRUE)[1])
times <- sapply(1:3, function(i) system.time(p <<- roc.test(
    roc(rows$y, rows$a, quiet = TRUE, direction = "<"),
    roc(rows$y, rows$b, quiet = TRUE, direction = "<"), method = "delong")$p.value)[["user.self"]])
cat(min(times), format(p, digits = 17))
"""


def sample(n: int = 200, p: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Two overlapping classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, p))
    return X, (X[:, 0] + rng.normal(size=n) > 0).astype(int)


def rules(n_learners: int, n_obs: int = 40) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Predictions of rules with error rates from 2 to 40%."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, n_obs)
    rates = np.linspace(0.02, 0.4, n_learners)
    wrong = rng.random((n_learners, n_obs)) < rates[:, None]
    return y, {f"rule {i}": np.where(row, 1 - y, y) for i, row in enumerate(wrong)}


def in_turn(*calls: Callable[[], Any]) -> tuple[list[float], list[Any]]:
    """The smallest processor seconds of each, and their results."""
    answers = [None] * len(calls)

    def kept(place: int) -> None:
        answers[place] = calls[place]()

    # The first call compiles.
    kept(0)
    works = (partial(kept, place) for place in range(len(calls)))
    return bench.in_turn(*works, repeats=REPEATS)[:, 1].tolist(), answers


def five_by_two() -> dict[str, Any] | None:
    """Ten fits of two learners, and the F test."""
    if find_spec("mlxtend") is None:
        return None
    from mlxtend.evaluate import combined_ftest_5x2cv

    X, y = sample()
    test = uv.FiveByTwoFTest(X, y, "lda", "nearest_centroid")
    seconds, _ = in_turn(
        lambda: test.fit(rng=0),
        lambda: combined_ftest_5x2cv(
            LinearDiscriminantAnalysis(), NearestCentroid(), X, y, random_seed=1
        ),
    )
    return row("5x2 cross-validated F test, n = 200", "mlxtend", seconds, None)


def all_mcnemar() -> dict[str, Any]:
    """McNemar's exact test of all pairs of 100 rules."""
    y, predictions = rules(100)
    losses = uv.Losses.from_predictions(y, predictions)

    def loop() -> np.ndarray:
        pvalues = []
        for first, second in combinations(predictions.values(), 2):
            wrong = [first != y, second != y]
            table = [
                [int((a & b).sum()) for b in (wrong[1], ~wrong[1])] for a in (wrong[0], ~wrong[0])
            ]
            pvalues.append(mcnemar(table, exact=True).pvalue)
        return multipletests(pvalues, method="holm")[1]

    seconds, (found, expected) = in_turn(
        lambda: uv.compare_losses(losses, "mcnemar").frame["pvalue_adjusted"], loop
    )
    return row(
        "McNemar's test of 4950 pairs of rules, Holm, with intervals",
        "statsmodels",
        seconds,
        float(np.abs(found - expected).max()),
    )


def all_t_tests() -> dict[str, Any]:
    """The paired t test of all pairs of 100 rules."""
    y, predictions = rules(100)
    losses = uv.Losses.from_predictions(y, predictions)
    errors = [(rule != y).astype(float) for rule in predictions.values()]

    def loop() -> np.ndarray:
        with np.errstate(invalid="ignore"):
            pvalues = [stats.ttest_rel(a, b).pvalue for a, b in combinations(errors, 2)]
        return multipletests(np.nan_to_num(pvalues, nan=1.0), method="holm")[1]

    seconds, (found, expected) = in_turn(
        lambda: uv.compare_losses(losses, "hold_out").frame["pvalue_adjusted"], loop
    )
    difference = float(np.nanmax(np.abs(found - expected)))
    return row("paired t test of 4950 pairs, Holm, with intervals", "SciPy", seconds, difference)


def leave_pair_out() -> dict[str, Any]:
    """The AUC of linear discriminant analysis without each pair."""
    X, y = sample(90)
    test = uv.LeavePairOutTest(X, y, "lda")

    def loop() -> float:
        right = []
        for i in np.flatnonzero(y == 1):
            for j in np.flatnonzero(y == 0):
                left = np.delete(np.arange(len(y)), [i, j])
                scores = LinearDiscriminantAnalysis().fit(X[left], y[left])
                right.append(np.subtract(*scores.decision_function(X[[i, j]])) > 0)
        return float(np.mean(right))

    seconds, (found, expected) = in_turn(lambda: test.fit("wmw").estimate, loop)
    return row("leave-pair-out AUC of LDA, n = 90", "scikit-learn loop", seconds, found - expected)


def delong() -> dict[str, Any] | None:
    """Two AUCs of the same 5000 observations; R's own seconds, without its start."""
    if shutil.which("Rscript") is None:
        return None
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 5000)
    scores = {"a": y + rng.normal(size=5000), "b": y + 1.02 * rng.normal(size=5000)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        pd.DataFrame({"y": y, **scores}).to_csv(path, index=False)
        answer = subprocess.run(
            ["Rscript", "-e", P_ROC, str(path)], capture_output=True, text=True, check=False
        )
    if answer.returncode:
        return None
    r_seconds, expected = map(float, answer.stdout.split())
    losses = uv.Losses.from_predictions(y, scores, loss="auc")
    test = uv.DeLongTest.from_losses(losses, "a", "b")
    (seconds,), (found,) = in_turn(lambda: test.fit().pvalue)
    return row("DeLong's test, n = 5000", "pROC", [seconds, r_seconds], found - expected)


def row(task: str, other: str, seconds: list[float], difference: float | None) -> dict[str, Any]:
    """A row of the table."""
    own, theirs = seconds
    return {
        "task": task,
        "ucvtest (s)": f"{own:.3g}",
        "instead": other,
        "its time (s)": f"{theirs:.3g}",
        "ratio": f"{theirs / own:.3g}",
        "largest difference": "other splits" if difference is None else f"{abs(difference):.0e}",
    }


def measure(quick: bool) -> pd.DataFrame:
    """One row for each task that can be run here."""
    tasks = (five_by_two, all_mcnemar, all_t_tests, leave_pair_out, delong)
    with threadpool_limits(1):
        rows = [task() for task in ((all_mcnemar,) if quick else tasks)]
    return pd.DataFrame([found for found in rows if found is not None])


def slopes() -> dict[str, tuple[list[int], list[float]]]:
    """Processor seconds of a comparison as one number grows, the others being fixed."""

    def of_data(n: int, p: int, n_pairs: int) -> float:
        test = uv.UStatisticTest(*sample(n, p), "lda", "nearest_centroid", learn_size=n // 2 - 2)
        return in_turn(lambda: test.fit(n_pairs=n_pairs, rng=0))[0][0]

    def of_learners(n_learners: int) -> float:
        losses = uv.Losses.from_predictions(*rules(n_learners))
        return in_turn(lambda: str(uv.compare_losses(losses, "hold_out").frame.shape))[0][0]

    sizes = {
        "observations": ([60, 120, 240, 480, 960], lambda n: of_data(n, 4, 2000)),
        "features": ([2, 4, 8, 16, 32], lambda p: of_data(120, p, 2000)),
        "pairs of learning sets": (
            [1000, 4000, 16_000, 64_000],
            lambda number: of_data(120, 4, number),
        ),
        "learners": ([10, 25, 50, 100, 200, 400], of_learners),
    }
    return {name: (values, [cost(v) for v in values]) for name, (values, cost) in sizes.items()}


def draw(path: Path) -> dict[str, float]:
    """Four pictures of the slopes, and the slopes between the last two points."""
    import matplotlib.pyplot as plt

    found, steepness = slopes(), {}
    _, panels = plt.subplots(1, 4, figsize=(11, 2.8), sharey=True, layout="constrained")
    for ax, (name, (values, seconds)) in zip(panels, found.items(), strict=True):
        ax.loglog(values, seconds, "o-", color="#1f4e79")
        steepness[name] = float(np.diff(np.log(seconds))[-1] / np.diff(np.log(values))[-1])
        ax.set_xticks([values[0], values[-1]], [str(values[0]), str(values[-1])])
        ax.set_xticks([], minor=True)
        ax.set_xlabel(name)
        ax.set_title(f"power {steepness[name]:.1f} at the end", fontsize="small")
    panels[0].set_ylabel("processor seconds")
    plt.savefig(path, dpi=110)
    return steepness


if __name__ == "__main__":
    parser = bench.options(__doc__, "one task")
    parser.add_argument("--slopes", type=Path, help="draw the slopes into this file instead")
    arguments = parser.parse_args()
    if arguments.slopes is None:
        print(measure(arguments.quick).to_markdown(index=False))
    else:
        print(draw(arguments.slopes))
