"""Jitted learners on two devices of one process, and in two processes of `jax.distributed`.

    python studies/benchmarks/devices.py

Three runs of the same tests: on one device; on two, which JAX makes of this machine's processor
here (``--xla_force_host_platform_device_count=2``; several accelerators need no flag), with batches
of fits dealt out to them; and in two processes that know each other by `jax.distributed`, each of
which uses its own devices for every second pair of learners. The numbers are the same to the last
bit.

On a cluster call ``jax.distributed.initialize()`` in every process, as its documentation says, give
every process the same data and the same `rng`, and put the results together as it is done here:
tests are plain computations of one process, and nothing of ucvtest waits for another one.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from itertools import combinations
from pathlib import Path

LEARNERS = ("lda", "nearest_centroid", "knn:3", "majority")
TWO_DEVICES = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2"}


def results(n_pairs: int, process: int, n_processes: int) -> dict[str, list[float]]:
    """Estimate and standard error of every pair of learners whose turn it is in this process."""
    import numpy as np

    import ucvtest as uv

    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 4)) + 0.5 * y[:, None]
    found = {}
    for pair in list(combinations(LEARNERS, 2))[process::n_processes]:
        result = uv.UStatisticTest(X, y, *pair).fit(n_pairs, rng=0)
        found[" - ".join(pair)] = [result.estimate, result.se]
    return found


def child(out: Path, n_pairs: int, process: int, n_processes: int, port: int) -> None:
    """One process: its results go to a file."""
    import jax

    if n_processes > 1:
        jax.distributed.initialize(f"127.0.0.1:{port}", n_processes, process)
        assert (jax.process_count(), jax.process_index()) == (n_processes, process)
    start = time.perf_counter()
    found = results(n_pairs, process, n_processes)
    seconds = time.perf_counter() - start
    devices = {"of this process": jax.local_device_count(), "of all": jax.device_count()}
    out.write_text(json.dumps({"devices": devices, "seconds": seconds, "found": found}))


def free_port() -> int:
    """A port of this machine at which the first process can wait for the others."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def run(n_pairs: int, n_processes: int = 1, **environment: str) -> dict[str, list[float]]:
    """The results of all processes together."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        outs = [Path(folder) / f"{process}.json" for process in range(n_processes)]
        words = [[str(n_pairs), str(process), str(n_processes)] for process in range(n_processes)]
        started = [
            subprocess.Popen(
                [sys.executable, __file__, "--child", str(out), *each, str(port)],
                env=os.environ | environment,
            )
            for out, each in zip(outs, words, strict=True)
        ]
        failed = [process.wait() for process in started]
        if any(failed):
            raise RuntimeError(f"processes ended with {failed}")
        told = [json.loads(out.read_text()) for out in outs]
    for process, each in enumerate(told):
        print(f"  process {process}: devices {each['devices']}, {each['seconds']:.1f} s")
    return {pair: values for each in told for pair, values in each["found"].items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="few learning sets")
    parser.add_argument("--child", nargs=5, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        out, *numbers = arguments.child
        child(Path(out), *map(int, numbers))
        return
    n_pairs = 1200 if arguments.quick else 20_000
    print("One device:")
    one = run(n_pairs)
    print("Two devices:")
    two = run(n_pairs, **TWO_DEVICES)
    print("Two processes:")
    processes = run(n_pairs, 2)
    assert one == two, "two devices give other numbers"
    assert one == processes, "two processes give other numbers"
    print(f"The same {2 * len(one)} numbers, to the last bit.")


if __name__ == "__main__":
    main()
