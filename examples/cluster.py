"""Fits on a cluster: slow learners through joblib on Dask, here on two processes of this machine.

    pip install 'ucvtest[cluster]'
    python examples/cluster.py

On a real cluster name its scheduler, ``Client("tcp://scheduler:8786")``, and install ucvtest and
the learners' packages on the workers, one thread for each core (``dask worker --nthreads 1
--nworkers auto``): every worker limits BLAS to one thread, and a learner that would share out its
own work to the worker's core. The sample goes with every task, which holds several fits: what is
sent once to one worker would be lost with it. Whatever does the fits, the numbers are those of one
process: seeds belong to fits, not to workers. A worker that dies costs the time of the fits that it
was doing; the third run below shows it.

Jitted learners need none of this: they use all cores, and all devices, by themselves.
"""

import argparse
import os
import signal
import threading
import time

import joblib
import numpy as np
from distributed import Client, LocalCluster
from sklearn.ensemble import RandomForestClassifier

import ucvtest as uv


def evaluated(n_obs: int, n_trees: int, n_folds: int, n_repeats: int) -> tuple[np.ndarray, float]:
    """Losses of a forest on repeated cross-validation, and seconds."""
    rng = np.random.default_rng(0)
    y = np.arange(n_obs) % 2
    X = rng.normal(size=(n_obs, 10)) + 0.4 * y[:, None]
    start = time.perf_counter()
    forest = RandomForestClassifier(n_trees)
    design = uv.designs.KFold(n_folds, n_repeats)
    losses = uv.evaluate({"forest": forest}, X, y, design, rng=0, progress=False)
    return losses.means, time.perf_counter() - start


def kill_a_worker(client: Client, after: float) -> threading.Timer:
    """End one of the worker processes in a while; its keeper starts another one."""
    victim = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(after, os.kill, (victim, signal.SIGKILL))
    timer.start()
    return timer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small forest on few folds")
    quick = parser.parse_args().quick
    small = (40, 3, 4, 4)
    size = small if quick else (300, 100, 10, 12)
    alone, seconds = evaluated(*size)
    print(f"one process: {seconds:.1f} s")
    # No dashboard: it would need a port that others may use.
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster, Client(cluster) as client:
        with joblib.parallel_config(backend="dask"):
            # Workers import what they need once.
            evaluated(*small)
        for killed in (False, True):
            timer = kill_a_worker(client, 0.2 if quick else 2.0) if killed else None
            with joblib.parallel_config(backend="dask"):
                found, spent = evaluated(*size)
            if timer is not None:
                timer.join()
            same = "the same numbers" if np.array_equal(found, alone) else "OTHER NUMBERS"
            name = "two workers, one of them killed" if killed else "two workers"
            print(f"{name}: {spent:.1f} s, {seconds / spent:.2f} times as quick, {same}")
            if not np.array_equal(found, alone):
                raise SystemExit(1)


if __name__ == "__main__":
    main()
