"""How long `simulate.fold_covariance` takes for the replications of Bengio and Grandvalet (2005).

Their experiment 5.2: 10 000 samples of 120 observations, each cut into ten folds.

    python studies/benchmarks/simulated_folds.py
"""

import argparse
import time

from studies import simulate
from studies.benchmarks.machine import versions


def seconds(n_replications: int) -> float:
    """Elapsed, the compilation included."""
    start = time.perf_counter()
    sampler = simulate.regression_sampler()
    simulate.fold_covariance(sampler, "ridge:0", 120, 10, n_replications, rng=0)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="100 replications")
    n_replications = 100 if parser.parse_args().quick else 10_000
    print(versions())
    print(f"{n_replications} replications: {seconds(n_replications):.1f} s")


if __name__ == "__main__":
    main()
