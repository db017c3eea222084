"""How many models that are not better does a gate promote in 100 generations on one holdout?

A model is right or wrong at each row. A candidate without a gain draws a share of the rows again,
with the error rate of its parent. A gain mends 10 and breaks 5 points of rows; each idea comes in
three variants. "Bits": candidates are bred from the current model, and nobody sees more than the
answers. "Leak": every estimate is shown, and candidates are bred from the best looking one.
"Screened": only candidates with z > 1.64 on 500 rows of the developer's own are asked about.

Levels and p-values are those of the package.
"""

import argparse
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd

from ucvtest.stats.exact import PairedCounts
from ucvtest.stats.stakes import LEAST_LEVEL, budget_left

TABLE = Path(__file__).with_suffix(".csv")
GENERATIONS, ALPHA, ACCURACY = 100, 0.05, 0.65
SHARE = {"bits": 0.3, "leak": 0.1}
"""The rows that a candidate without a gain draws again."""
GATES = {
    "plain 5%": (None, False),
    "Ladder": ("ladder", False),
    "Bonferroni 5%/100": ("bonferroni", False),
    "ledger, stake 0.05": (0.05, False),
    "ledger, stake 0.3, screened": (0.3, True),
}
"""The rule, or the stake of a ledger, and whether candidates are screened."""
SITUATIONS = (("bits", 0), ("bits", 5), ("leak", 0))


def passes(rule: object, only_new: int, only_old: int, n: int, budget: float) -> bool:
    """Whether a candidate passes that alone errs at `only_new` rows."""
    if rule == "ladder":
        gain = (only_old - only_new) / n
        return gain > np.sqrt(max((only_old + only_new) / n - gain**2, 0) / n)
    level = {None: ALPHA, "bonferroni": ALPHA / GENERATIONS}.get(rule)
    if level is None:
        level = float(rule) * budget
        if level < LEAST_LEVEL:
            return False
    return PairedCounts(only_new, only_old, n).pvalue(0, "less") <= level


def life(gate: str, n: int, situation: str, n_gains: int, rng: np.random.Generator) -> tuple:
    """False promotions, gains promoted, and asks."""
    rule, screened = GATES[gate]
    accuracy, budget, share = ACCURACY, ALPHA, SHARE[situation]
    current = rng.random(n) < accuracy
    parent, false, gains, n_asks = current, 0, set(), 0
    starts = np.linspace(8, GENERATIONS - 12, n_gains).astype(int)
    ideas = {start + variant: start for start in starts for variant in range(3)}
    for generation in range(GENERATIONS):
        draws, own = rng.random((2, n))
        is_gain = generation in ideas and ideas[generation] not in gains
        if is_gain:
            broken, mended = 0.05 / accuracy, 0.10 / (1 - accuracy)
            candidate = np.where(current, draws >= broken, draws < mended)
        else:
            source = current if situation == "bits" else parent
            candidate = np.where(draws < share, own < accuracy, source)
        if screened and rng.standard_normal() + is_gain * 0.05 * np.sqrt(500 / 0.15) < 1.64:
            continue
        n_asks += 1
        only_new, only_old = int((current & ~candidate).sum()), int((~current & candidate).sum())
        passed = passes(rule, only_new, only_old, n, budget)
        if isinstance(rule, float):
            budget = budget_left(budget, [(passed, rule)])
        if situation == "leak" and (passed or candidate.sum() > parent.sum()):
            parent = candidate
        if passed:
            current = candidate
            accuracy += 0.05 * is_gain
            false += not is_gain
            gains |= {ideas[generation]} if is_gain else set()
    return false, len(gains), n_asks


def draw(table: pd.DataFrame) -> None:
    """Projects with a false promotion, if only answers are known and nothing is better."""
    from matplotlib.figure import Figure

    shown = table[(table.situation == "bits") & (table.gains == 0) & (table.n == 500)][::-1]
    figure = Figure(figsize=(7, 2.6), layout="constrained")
    ax = figure.subplots()
    bars = ax.barh(shown["gate"], 100 * shown["with a false promotion"], color="#4477aa")
    # The dashed line would cross the numbers.
    ax.bar_label(bars, fmt="%.0f%%", padding=3, bbox={"fc": "white", "ec": "none", "pad": 1})
    ax.axvline(100 * ALPHA, color="#cc3311", linestyle="--", linewidth=1)
    ax.set(xlim=(0, 110), xlabel="projects with a false promotion in 100 generations (dashed: 5%)")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(TABLE.with_suffix(".png"), dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="3 lives instead of 300")
    parser.add_argument("--picture", action="store_true", help="only draw the committed table")
    arguments = parser.parse_args()
    if arguments.picture:
        draw(pd.read_csv(TABLE))
        return
    n_lives = 3 if arguments.quick else 300
    rows = []
    for (situation, n_gains), n, gate in product(SITUATIONS, (500, 1000), GATES):
        rng = np.random.default_rng([n, n_gains, len(situation), len(gate)])
        lives = np.array([life(gate, n, situation, n_gains, rng) for _ in range(n_lives)])
        share = (lives[:, 0] > 0).mean()
        rows.append(
            {
                "situation": situation,
                "gains": n_gains,
                "n": n,
                "gate": gate,
                "lives": n_lives,
                "with a false promotion": round(share, 3),
                "se": round(np.sqrt(share * (1 - share) / n_lives), 3),
                "false promotions": round(lives[:, 0].mean(), 2),
                "gains promoted": round(lives[:, 1].mean(), 2),
                "asks": round(lives[:, 2].mean(), 1),
            }
        )
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    if n_lives == 300:
        table.to_csv(TABLE, index=False)
        draw(table)


if __name__ == "__main__":
    main()
