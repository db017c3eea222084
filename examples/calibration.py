"""How often is each test right? Coverage, size, width, cost and missing answers on 30 problems.

For every problem and sample size many samples are drawn, every test is run on each, and its 95%
interval is held against the true value of what that test estimates. Without arguments the study
is run at full size (some hours on one core), and the table in the package, the picture and the
section of the README are written anew. What is done is kept in the folder of `--work`, so that a
run that was stopped goes on where it was; `--report` makes the table of what is there, and keeps
the rows of the packaged table that have no samples. `--check` holds the packaged table against what
is promised of it. `--group auc` runs what is about the AUC alone.
"""

import argparse
import sys
import time
from itertools import product
from pathlib import Path

import pandas as pd
from calibrating.problems import Problem, problems
from calibrating.promises import promises_kept
from calibrating.report import draw_picture, readme_section, summarised, update_readme
from calibrating.simulation import CHUNK, GROUPS, rows_of_sample, run_chunk, true_values
from calibrating.table import (
    cells_of,
    renewed,
    table_of,
    write_table,
)

from ucvtest.advice.calibration import calibration_table, forget_table

ROOT = Path(__file__).resolve().parents[1]

SAMPLES = {40: 200, 60: 200, 100: 200, 200: 200, 500: 100}
FEWER = {200: 100, 500: 40}
"""Samples of each problem, and of those for tests with fits of their own, which take longest; half
of them where learners are slow to fit."""

CHEAP_SAMPLES = 300
"""Samples of each problem about the AUC, and for the U-statistic test where fits are quick."""

LARGE = ("equal", "medium")
"""Problems with as many samples of the largest size, which cost ten times those of 100."""

DRAWS = 100
"""How often four problems are held out to judge the advice."""

QUICK_SAMPLES = 4


def run_samples(
    names: list[str], groups: tuple[str, ...], folder: Path, only: tuple[int, ...] = ()
) -> None:
    """All chunks of all cells, round by round, so that what is there at any time is balanced."""
    for chunk in range(max(*SAMPLES.values(), CHEAP_SAMPLES) // CHUNK):
        for name, group in product(names, groups):
            problem = problems()[name]
            for n_obs in _sizes(problem, group):
                if chunk * CHUNK >= _wanted(problem, n_obs, group) or (only and n_obs not in only):
                    continue
                start = time.perf_counter()
                if run_chunk(problem, n_obs, chunk, group, folder):
                    seconds = time.perf_counter() - start
                    print(f"{name} n={n_obs} {group} {chunk}: {seconds:.1f} s", flush=True)


def _sizes(problem: Problem, group: str) -> tuple[int, ...]:
    if group == "auc":
        return problem.auc_sizes
    return problem.all_sizes if group == "ustatistic" else problem.sizes


def _wanted(problem: Problem, n_obs: int, group: str) -> int:
    if group == "auc":
        return CHEAP_SAMPLES
    if problem.loss == "auc":
        return 0
    if group in ("ustatistic", "further") and problem.quick:
        large = n_obs == max(SAMPLES) and problem.name not in LARGE
        return CHEAP_SAMPLES // 5 if large else CHEAP_SAMPLES
    if group == "losses" and problem.quick:
        return CHEAP_SAMPLES
    wanted = SAMPLES.get(n_obs, CHEAP_SAMPLES)
    if group == "own_fits":
        wanted = FEWER.get(n_obs, wanted)
    return wanted if problem.quick else wanted // 2


def report(names: list[str], folder: Path) -> None:
    """Write table, picture and README from the samples that are there, and rows from before."""
    new = pd.concat([table_of(problems()[name], folder) for name in names])
    write_table(renewed(calibration_table(), new), problems(), ROOT / "ucvtest" / "advice")
    forget_table()
    table = calibration_table()
    draw_picture(table, ROOT / "examples" / "images" / "calibration.png")
    update_readme(ROOT / "README.md", readme_section(table, DRAWS))


def quick() -> None:
    """Two problems, few samples, nothing written."""
    groups = [group for group in GROUPS if group != "auc"]
    for name in ("weak", "ridge"):
        problem = problems()[name]
        rows = pd.DataFrame(
            [
                row
                for number, group in product(range(QUICK_SAMPLES), groups)
                for row in rows_of_sample(problem, 40, number, group)
            ]
        ).assign(n_obs=40)
        truths = {size: true_values(problem, int(size)) for size in set(rows["learn_size"]) if size}
        known = {(size, 0, False): truth for size, truth in truths.items()}
        table = cells_of(problem, rows, known)
        print(f"{name}: {problem.words}; n = 40, {QUICK_SAMPLES} samples")
        print(summarised(table, "difference", fits_at=40).to_string(index=False))


def check() -> int:
    """Print every number that is promised beside its bound; 1 if one is beyond it."""
    found = promises_kept(calibration_table())
    print("\n".join(str(each) for each in found))
    return int(not all(each.kept for each in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="two problems, few samples")
    parser.add_argument("--work", type=Path, default=Path("calibration-work"))
    parser.add_argument("--group", choices=GROUPS, action="append", help="instead of all")
    parser.add_argument("--problem", choices=list(problems()), action="append")
    parser.add_argument("--n-obs", type=int, action="append", help="samples of this size alone")
    parser.add_argument("--report", action="store_true", help="no more samples, only the table")
    parser.add_argument(
        "--check", action="store_true", help="hold the packaged table against what is promised"
    )
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(check())
    if arguments.quick:
        quick()
        return
    names = arguments.problem or list(problems())
    if not arguments.report:
        only = tuple(arguments.n_obs or ())
        run_samples(names, tuple(arguments.group or GROUPS), arguments.work, only)
    if arguments.report or not (arguments.problem or arguments.group or arguments.n_obs):
        report(names, arguments.work)


if __name__ == "__main__":
    main()
