"""Fits on a cluster: slow learners through joblib on Dask, here on two processes of this machine.

    pip install 'ucvtest[cluster]'
    python examples/cluster.py
    python examples/cluster.py --rounds 7       # one process and two workers in turn

On a real cluster name its scheduler, ``Client("tcp://scheduler:8786")``, and install ucvtest and
the learners' packages on the workers, one thread for each core (``dask worker --nthreads 1
--nworkers auto``): every worker limits BLAS to one thread, and a learner that would share out its
own work to the worker's core. The sample goes with every task, which contains several fits: data
sent once to one worker would be lost with it. Whatever does the fits, the numbers are those of one
process: seeds belong to fits, not to workers. A worker that dies costs the time of the fits that it
was doing; the last run below shows it.

Workers of Dask look a hundred times a second at what Python does, fifty times at whether they
still answer, and ten times at memory; fits in Python pay for it. The first is switched off here and
the second done once a second (on a real cluster by environment variables of the workers,
``DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED=False`` and
``DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL=1s``).

Jitted learners need none of this: they use all cores, and all devices, by themselves.
"""

import argparse
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import dask
import joblib
import numpy as np
from distributed import Client, LocalCluster
from sklearn.ensemble import RandomForestClassifier

import ucvtest as uv

SMALL = (40, 3, 4, 4)
"""Observations, trees, folds and repeats."""

LOOKING_SELDOM = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.tick.interval": "1s",
}
"""Less of what Dask's processes do while they fit, on the same cores."""


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


@contextmanager
def two_workers() -> Iterator[Client]:
    """Two processes of this machine with all imports done."""
    # Any free port for its HTTP server: others may use the usual one.
    with (
        dask.config.set(LOOKING_SELDOM),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        joblib.parallel_config(backend="dask"),
    ):
        evaluated(*SMALL)
        yield client


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a small forest on few folds")
    parser.add_argument("--rounds", type=int, default=1, help="the ratio's median of so many")
    arguments = parser.parse_args()
    size = SMALL if arguments.quick else (300, 100, 10, 12)
    ratios = []
    for left in reversed(range(arguments.rounds)):
        alone, seconds = evaluated(*size)
        print(f"one process: {seconds:.1f} s")
        with two_workers() as client:
            found, spent = evaluated(*size)
            report("two workers", found, alone, spent, seconds)
            ratios.append(seconds / spent)
            if left == 0:
                timer = kill_a_worker(client, 0.2 if arguments.quick else 2.0)
                found, spent = evaluated(*size)
                timer.join()
                report("two workers, one of them killed", found, alone, spent, seconds)
    if len(ratios) > 1:
        print(f"two workers: {np.median(ratios):.2f} times as quick in the median")


def report(name: str, found: np.ndarray, alone: np.ndarray, spent: float, seconds: float) -> None:
    """Say how long it took, and end if the numbers are not those of one process."""
    same = "the same numbers" if np.array_equal(found, alone) else "OTHER NUMBERS"
    print(f"{name}: {spent:.1f} s, {seconds / spent:.2f} times as quick, {same}", flush=True)
    if not np.array_equal(found, alone):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
