"""What logging to MLflow costs: 20 tests into one run of a new SQLite store.

    python examples/benchmarks/mlflow_cost.py

prints the seconds for each test without and with logging, and what the logging is made of.
"""

import os
import tempfile
import time
from statistics import median

import mlflow
import numpy as np
from mlflow import MlflowClient

import ucvtest as uv

N_TESTS = 20


def seconds_for_each(test: uv.UStatisticTest) -> list[float]:
    seconds = []
    for seed in range(N_TESTS):
        start = time.perf_counter()
        test.fit(rng=seed)
        seconds.append(time.perf_counter() - start)
    return seconds


def main() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(100) % 2
    X = rng.normal(size=(100, 10)) + 0.5 * y[:, None]
    test = uv.UStatisticTest(X, y, "lda", "nearest_centroid")
    test.fit(rng=0)  # compiles
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        MlflowClient().search_experiments()  # creates the tables
        alone = median(seconds_for_each(test))
        print(f"a test: {alone:.2f} s (median of {N_TESTS})")
        for plots in (True, False):
            uv.autolog(spool_dir=f"{folder}/spool", log_plots=plots, silent=True)
            with mlflow.start_run(run_name="cost"):
                logged = median(seconds_for_each(test))
            extra = logged - alone
            print(
                f"logging, log_plots={plots}: {extra:.2f} s more, {extra / logged:.0%} of the whole"
            )
        uv.autolog(disable=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
