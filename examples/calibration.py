"""How often is each test right? Coverage, size, width, cost and missing answers on 16 problems.

For every problem and sample size many samples are drawn, every test is run on each, and its 95%
interval is held against the true value of what that test estimates. Without arguments the study
is run at full size (about an hour and a half on one core), and the table in the package, the
picture and the section of the README are written anew. What is done is kept in the folder of
`--work`, so that a run that was stopped goes on where it was.
"""

import argparse
import time
from pathlib import Path

from calibrating.problems import SIZES, problems
from calibrating.simulation import CHUNK, GROUPS, run_chunk

SAMPLES = {40: 200, 60: 160, 100: 200, 200: 120, 500: 60}
"""Samples of each problem; half of them where learners are fitted one at a time."""


def run_samples(names, sizes, n_samples, groups, folder: Path) -> None:
    """All chunks of all cells, round by round, so that what is there at any time is balanced."""
    rounds = max(n_samples.values()) // CHUNK
    for chunk in range(rounds):
        for name in names:
            problem = problems()[name]
            for n_obs in sizes:
                wanted = n_samples[n_obs] if problem.jitted else n_samples[n_obs] // 2
                if n_obs not in problem.sizes or chunk * CHUNK >= wanted:
                    continue
                for group in groups:
                    start = time.perf_counter()
                    if run_chunk(problem, n_obs, chunk, group, folder):
                        seconds = time.perf_counter() - start
                        print(f"{name} n={n_obs} {group} {chunk}: {seconds:.1f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, default=Path("calibration-work"))
    parser.add_argument("--group", choices=GROUPS, action="append")
    parser.add_argument("--problem", action="append")
    arguments = parser.parse_args()
    names = arguments.problem or list(problems())
    run_samples(names, SIZES, SAMPLES, arguments.group or GROUPS, arguments.work)


if __name__ == "__main__":
    main()
