"""Does `uv.plan` predict what other sample sizes give? A simulation, not a paper's.

Pilots of 40 and 60 observations plan for 100, 200 and 400, with learning sets of 19 and 29. Next
to the predictions are simulated values at those sizes: the standard deviation of the estimate, the
mean standard error that the test reports, and how often it rejects. A second part asks how often
`result.equivalence` accepts exactly at the bounds, where it must not in more than 5%.

Simulated results are kept in a folder, so that the run continues where it was stopped.

    python studies/planning/run.py            # about 15 minutes of a processor
    python studies/planning/run.py --quick    # one problem, for a look
    python studies/planning/run.py --table    # from earlier simulations
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from studies.coverage import written
from studies.planning.others import OTHER_SIZES, OTHERS, Other, other_rows
from studies.planning.problems import PROBLEMS
from studies.planning.simulation import PILOTS, TARGETS, at_bounds, plans, reported, truth
from studies.planning.tables import HIGHEST, LOWEST, by_problem, ratios, table

Rows = Callable[..., Iterator[dict[str, Any]]]

EQUIVALENCE = ("medium", "neighbours", "unstable", "regression")
"""The last one beside the three that are asked for: squared losses, whose intervals are harder."""


def kept(path: Path, rows: Rows, *arguments: Any) -> pd.DataFrame:
    """Rows from a file, which is written whole where it does not exist."""
    if not path.exists():
        written(pd.DataFrame(list(rows(*arguments))), path)
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
        kept(file, plans, problem, pilot, theta[problem.name, pilot], sizes["pilots"], 2)
        for n in TARGETS:
            file = folder / f"default {problem.name} {pilot} {n}.csv"
            kept(file, reported, problem, pilot, n, sizes["reported"], 100)
    for name in (each for each in EQUIVALENCE if each in names):
        file = folder / f"equivalence {name}.csv"
        kept(file, at_bounds, PROBLEMS[name], theta[name, 40], sizes["equivalence"], 4)


def of_others(folder: Path, n_samples: int, questions: Sequence[Other] = OTHERS) -> pd.DataFrame:
    """One row for each question about AUCs, groups and ratios.

    "of_jackknife" is the variance at 100 observations, had it fallen as 1/n only, over the mean of
    the pilots' J; "reported_over_sd" what the test itself makes of it there.
    """
    rows = []
    pilot, n = OTHER_SIZES
    for each in questions:
        found = kept(folder / f"other {each.name}.csv", other_rows, each, n_samples)
        sd = math.sqrt(max(found["estimate"].var(ddof=1) - found["mc"].mean(), 0.0))
        se, jackknife = found["reported"].mean(), found["jackknife"].mean()
        row = {"question": each.name, "chosen": each.chosen, "n_samples": len(found), "sd": sd}
        row |= {"reported_se": se, "reported_over_sd": se / sd if sd else math.nan}
        row |= {"of_jackknife": n * sd**2 / (pilot * jackknife)}
        row |= {"taken_at_least": each.least}
        rows.append(row | ratios("se", found["predicted"] / se))
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


FULL = {"truth": 250, "pilots": 40, "equivalence": 1000, "reported": 30, "others": 40}
QUICK = {"truth": 20, "pilots": 2, "equivalence": 4, "reported": 3, "others": 2}


def main() -> None:
    """Simulate, and print and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few samples, for a look")
    parser.add_argument("--table", action="store_true", help="only from earlier simulations")
    parser.add_argument("--folder", type=Path, default=Path("build/planning"))
    options = parser.parse_args()
    sizes = QUICK if options.quick else FULL
    folder, names = options.folder / ("quick" if options.quick else "full"), list(PROBLEMS)
    if options.quick:
        names = ["medium"]
    if not options.table:
        simulate(folder, sizes, names)
    found = table(folder, names)
    print(found.round(3).to_string(index=False))
    each = by_problem(found, folder)
    print(each.round(3).to_string(index=False))
    for kind in ("sd", "se"):
        for use, part in each.groupby("use", sort=False):
            held = part[kind].between(LOWEST, HIGHEST).sum()
            within = part[f"{kind}_within"].mean()
            error = math.sqrt((part["se_within_mc"] ** 2).sum()) / len(part)
            shown = f"{within:.3f} +- {error:.3f} of pilots in 30%"
            print(f"{kind}, {use}: {held} of {len(part)} right, {shown}")
    others = of_others(folder, sizes["others"], OTHERS[:1] if options.quick else OTHERS)
    print(others.round(3).to_string(index=False))
    tables = {"problems": each, "others": others, "planning": found}
    tables["equivalence"] = sizes_at_bounds(folder)
    print(tables["equivalence"].round(4).to_string(index=False))
    for name, made in tables.items() if not options.quick else ():
        made.to_csv(Path(__file__).with_name(f"{name}.csv"), index=False, float_format="%.5g")


if __name__ == "__main__":
    main()
