"""What logging to MLflow costs: 20 tests into one run of a new SQLite store.

    python studies/benchmarks/mlflow_cost.py

prints the processor seconds of a test and of its logging, medians over the tests. Each test is run
once in each way before the next one, so that whatever else the machine does falls on all ways.
"""

import os
import tempfile
from statistics import median
from typing import Any

import mlflow
import numpy as np
from mlflow import MlflowClient

import ucvtest as uv
from studies.benchmarks.bench import options, seconds

N_TESTS = 20
WAYS: dict[str, dict[str, Any]] = {
    "not logged": {"disable": True},
    "logged": {},
    "logged without plots": {"log_plots": False},
}


def main() -> None:
    n_tests = 2 if options(__doc__, "two tests").parse_args().quick else N_TESTS
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    test = uv.UStatisticTest(
        rng.normal(size=(100, 10)) + 0.5 * y[:, None], y, "lda", "nearest_centroid"
    )
    test.fit(rng=0)  # compiles
    found: dict[str, list[float]] = {name: [] for name in WAYS}
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        MlflowClient().search_experiments()  # creates the tables
        with mlflow.start_run(run_name="cost"):
            for seed in range(n_tests):
                for name, way in WAYS.items():
                    uv.autolog(**{"spool_dir": f"{folder}/spool", "silent": True} | way)
                    found[name].append(seconds(lambda seed=seed: test.fit(rng=seed))[1])
        uv.autolog(disable=True)
        os.chdir("/")
    alone = median(found["not logged"])
    for name, values in found.items():
        extra = median(values) - alone
        print(f"{name}: {median(values):.2f} s, {extra:.2f} s of it logging ({extra / alone:.0%})")


if __name__ == "__main__":
    main()
