"""Is one of two learners better, or was it luck? The case on the first page, by two tests.

The patients are the first 60 of the 442 in the diabetes data of scikit-learn, with ten measurements
each. The question is whether a patient's disease will be worse after a year than that of half of
the 442. Two learners answer it: linear discriminant analysis and naive Bayes.

The case was picked, not drawn: of five learners that were compared with linear discriminant
analysis on these 60 patients, naive Bayes is one for which the two tests disagree. All 442 patients
then tell which test is right. How often each test is wrong is a matter of many
cases: docs/validation/calibration.md.

Run with ``python examples/opening.py``; writes build/opening/opening.png.
"""

import argparse
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_diabetes

import ucvtest as uv

N_PATIENTS = 60
LEARNERS = ("lda", "gaussian_nb")
FOLDER = Path("build/opening")
GREY, BLUE, RED = "0.45", "#1f5fa8", "#b3261e"


def answers(quick: bool = False) -> tuple[uv.TestResult, uv.TestResult, list[float]]:
    """The usual t test, ours, and the difference that each is about, from all 442 patients."""
    X, progression = load_diabetes(return_X_y=True)
    y = (progression > np.median(progression)).astype(int)
    few_X, few_y = X[:N_PATIENTS], y[:N_PATIENTS]
    ten_times_ten_folds = uv.designs.KFold(10, n_repeats=10, stratify=True)
    usual = uv.NaiveTTest(few_X, few_y, *LEARNERS, design=ten_times_ten_folds).fit(rng=0)
    ours = uv.UStatisticTest(few_X, few_y, *LEARNERS).fit(rng=0)
    # The first test is about learning from the 54 patients of nine folds, the second from 29.
    n_pairs = 100 if quick else 2000
    truths = [
        uv.UStatisticTest(X, y, *LEARNERS, learn_size=size).fit(n_pairs=n_pairs, rng=0).estimate
        for size in (54, 29)
    ]
    return usual, ours, truths


def rates(result: uv.TestResult) -> str:
    """The error rates of both learners."""
    first, second = (result.diagnostics[f"estimate_{which}"] for which in ("learner", "other"))
    return f"{first:.0%} and {second:.0%}"


def draw(usual: uv.TestResult, ours: uv.TestResult, truths: list[float]) -> Figure:
    """Both intervals, and the truth next to each; narrow, so that a telephone shows the words."""
    figure = Figure(figsize=(5.4, 3.3), layout="constrained")
    axes = figure.subplots()
    words = (
        "usual t test: “better, p < 0.001”",
        f"ucvtest: “undecided, p = {ours.pvalue:.2f}”",
    )
    rows = zip((usual, ours), truths, words, (RED, BLUE), strict=True)
    for place, (result, truth, answer, color) in enumerate(rows):
        limits = [100 * limit for limit in result.conf_int()]
        axes.plot(limits, [-place, -place], color=color, linewidth=5, solid_capstyle="butt")
        axes.plot(100 * result.estimate, -place, "o", color=color, markersize=9)
        axes.plot(100 * truth, -place, "D", color="black", markersize=8, zorder=3)
        axes.text(-16, 0.2 - place, answer, color=color, va="bottom")
        axes.plot([100 * truth, 7], [-place, -0.5], color=GREY, linewidth=1, zorder=2)
    box = {"color": "white", "pad": 2}
    axes.text(9.8, -0.5, "the truth, from\nall 442 patients", ha="right", va="center", bbox=box)
    axes.axvline(0, ymax=0.8, color=GREY, linewidth=1, zorder=0)
    for place, text in ((-16, "← discriminant analysis better"), (10, "naive Bayes better →")):
        axes.text(place, 0.72, text, color=GREY, ha="left" if place < 0 else "right")
    axes.set(yticks=(), ylim=(-1.4, 0.85), xlim=(-16, 10))
    axes.set_xlabel("difference of the error rates in percentage points,\nwith 95% interval")
    axes.spines[["top", "right", "left"]].set_visible(False)
    return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a rough truth, for a first look")
    usual, ours, truths = answers(parser.parse_args().quick)
    for name, result, truth in zip(("Usual t test", "ucvtest"), (usual, ours), truths, strict=True):
        low, high = result.conf_int()
        print(f"{name}: error rates {rates(result)}")
        print(
            f"    difference {result.estimate:.1%}, 95% interval {low:.1%} to {high:.1%}, "
            f"p = {result.pvalue:.2g}; from all 442 patients {truth:.1%}"
        )
    FOLDER.mkdir(parents=True, exist_ok=True)
    picture = FOLDER / "opening.png"
    draw(usual, ours, truths).savefig(picture, dpi=150)
    print(f"Picture: {picture}")


if __name__ == "__main__":
    main()
