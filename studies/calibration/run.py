"""How often is each test right? Coverage, size, width, cost and missing answers on 57 problems.

For every problem and sample size many samples are drawn, every test is run on each, and its 95%
interval is compared with the true value of the estimand. Without arguments the whole study is run,
the AUCs among it, and the table in the package, the picture and the section of
docs/validation/calibration-tables.md are written again. Finished parts are kept in the folder of
`--work`, so that a run that was stopped goes on where it was; `--report` makes the table of these
parts, and lists the missing ones. Rows of the packaged table are replaced once the same number of
samples or more is there. `--check` compares the packaged table with its promises. `--metrics` alone
writes the rows about metrics such as F1 again, which are those of other studies
(`studies/calibration/metric_rows.py`).

The last run took 7.1 hours of the processor, and the run that the other rows are from 3.5. The
parts that are missing in the table, as `--report` lists them, would take some hours more: with n =
500 and a hundred features or more the U-statistic test takes half a minute a sample.
"""

import argparse
import sys
import time
from itertools import product
from pathlib import Path

import pandas as pd

from studies.calibration.metric_rows import write_metric_rows
from studies.calibration.plan import GROUPS, ROUNDS, chunks
from studies.calibration.problems import problems
from studies.calibration.promises import known_misses, promises_kept
from studies.calibration.report import draw_picture, page_section, summarised, update_page
from studies.calibration.simulation import rows_of_sample, run_chunks
from studies.calibration.table import cells_of, renewed, table_of, write_table
from studies.calibration.truth import true_values
from ucvtest.advice.calibration import calibration_table, forget_table

ROOT = Path(__file__).resolve().parents[2]
ADVICE = ROOT / "ucvtest" / "advice"

QUICK_SAMPLES = 2


def run_samples(
    names: list[str], groups: tuple[str, ...], folder: Path, only: tuple[int, ...] = ()
) -> None:
    """All that is not on file yet."""
    for of_round, name in product(ROUNDS, names):
        start = time.perf_counter()
        problem = problems()[name]
        run_chunks(problem, chunks(problem, of_round, groups, only), folder)
        print(f"{name}, round {of_round}: {time.perf_counter() - start:.1f} s", flush=True)


def report(folder: Path) -> None:
    """Write table, picture and the section of the page from the folder."""
    new = pd.concat([table_of(problem, folder) for problem in problems().values()])
    write_table(renewed(calibration_table(), new), problems(), ADVICE)
    write_metric_rows(ADVICE / "metrics.csv")
    forget_table()
    table = calibration_table()
    draw_picture(table, Path(__file__).with_name("calibration.png"))
    update_page(ROOT / "docs" / "validation" / "calibration-tables.md", page_section(table))


def quick() -> None:
    """One problem, few samples, nothing written."""
    groups = [group for group in GROUPS if group not in ("auc", "few_fits_auc")]
    problem = problems()["weak"]
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
    print(f"{problem.name}: {problem.words}; n = 40, {QUICK_SAMPLES} samples")
    print(summarised(table, "difference", fits_at=40).to_string(index=False))


def check() -> int:
    """Print every number that is promised next to its bound; 1 if one is off."""
    table = calibration_table()
    found = promises_kept(table)
    print("\n".join([*map(str, found), *known_misses(table)]))
    return int(not all(each.kept for each in found))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="one problem, few samples")
    parser.add_argument("--work", type=Path, default=Path("build/calibration"))
    parser.add_argument("--group", choices=GROUPS, action="append", help="instead of all")
    parser.add_argument("--problem", choices=list(problems()), action="append")
    parser.add_argument("--n-obs", type=int, action="append", help="samples of this size alone")
    parser.add_argument("--report", action="store_true", help="no more samples, only the table")
    parser.add_argument(
        "--check", action="store_true", help="compare the packaged table with its promises"
    )
    parser.add_argument("--metrics", action="store_true", help="write the rows about metrics")
    arguments = parser.parse_args()
    if arguments.check:
        sys.exit(check())
    if arguments.metrics:
        write_metric_rows(ADVICE / "metrics.csv")
        return
    if arguments.quick:
        quick()
        return
    if not arguments.report:
        names = arguments.problem or list(problems())
        only = tuple(arguments.n_obs or ())
        run_samples(names, tuple(arguments.group or GROUPS), arguments.work, only)
    if arguments.report or not (arguments.problem or arguments.group or arguments.n_obs):
        report(arguments.work)


if __name__ == "__main__":
    main()
