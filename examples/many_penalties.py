"""Which of 100 lassos? The best set of a path of penalties on the colon data, with its seconds.

62 observations of 2000 genes (Alon et al. 1999): `../shared/data/colon.csv.gz`, or in the folder
that UCVTEST_DATA names. The data are not part of the package; without them nothing is done.

    python examples/many_penalties.py            # ten seconds; the first call compiles
    python examples/many_penalties.py --quick    # 10 penalties
"""

import argparse
import os
import time
from pathlib import Path

import pandas as pd

import ucvtest as uv

DATA = Path(os.environ.get("UCVTEST_DATA", "../shared/data")) / "colon.csv.gz"
N_PAIRS = 150
MOST_SECONDS = 10.0
"""What 100 penalties should take at most, on the clock."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="10 penalties and few learning sets")
    quick = parser.parse_args().quick
    if not DATA.exists():
        print(f"skipped: {DATA} does not exist (set UCVTEST_DATA)")
        return
    table = pd.read_csv(DATA)
    X, y = table.drop(columns="tumour").to_numpy(), table["tumour"].to_numpy()
    path = f"lasso_path:{10 if quick else 100}"
    test = uv.TestSpec("ustatistic", {"learn_size": 26}, {"n_pairs": 20 if quick else N_PAIRS})
    shared = {"correction": "simultaneous", "baseline": 0, "rng": 0}
    under = []
    for run in ("first call", "second call"):
        start, used = time.perf_counter(), time.process_time()
        found = uv.compare(X, y, [path], test, **shared)
        kept = found.best_set()
        seconds, used = time.perf_counter() - start, time.process_time() - used
        under.append(f"{run} {'yes' if seconds < MOST_SECONDS else 'no'}")
        print(f"{run}: {seconds:.1f} s, {used:.1f} s of processor time, {found.n_fits} fits")
    ends = f"{kept[0]} to {kept[-1]}"
    print(f"{len(kept)} of {len(found.learners)} penalties may be the best: {ends}")
    print(found.learner_frame().head(5).round(3).to_string(index=False))
    if not quick:
        print(f"in under {MOST_SECONDS:g} s: {', '.join(under)}")


if __name__ == "__main__":
    main()
