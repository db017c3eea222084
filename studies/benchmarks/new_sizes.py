"""What samples of new sizes cost one process: a loop over groups of rows, or a planning curve.

Each row is a process that compares two learners with all defaults, two classes and four normal
features, once for each number of observations from 30 to 400; JAX's cache of compilations is off.
One comparison of 35 observations comes first and is not counted. Seconds are processor time.
"Again" are the same calls a second time, when everything is compiled. Memory is the growth of the
resident set, with arrays of the last call still in it, and after `malloc_trim(0)`, which returns
freed memory to the system.

    python studies/benchmarks/new_sizes.py
    python studies/benchmarks/new_sizes.py --sizes 33 --pairs lda,nearest_centroid
"""

import ctypes
import gc

import jax
import numpy as np

import ucvtest as uv
from studies.benchmarks.bench import NO_CACHE, alone, memory, options, seconds, show

PAIRS = (
    "lda,nearest_centroid",
    "lda,knn:3",
    "lda,logistic:0.1",
    "lda,ridge:1.0",
    "lda,qda",
    "lda,gaussian_nb",
)

COLUMNS = ("learners", "sizes", "s", "again, s", "programs", "MB", "MB, trimmed")


def loop(learners: str, n_sizes: int) -> tuple[str, ...]:
    """A row: seconds, compiled programs and growth of memory of one loop in this process."""
    compiled = []

    def note(event: str, _: float, **details: str) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            compiled.append(details["fun_name"])

    def compare(n_obs: int) -> None:
        rng = np.random.default_rng(n_obs)
        y = np.arange(n_obs) % 2
        X = rng.normal(size=(n_obs, 4)) + 0.6 * y[:, None]
        uv.compare(X, y, learners.split(","), rng=0)

    def all_sizes() -> None:
        for n_obs in np.linspace(30, 400, n_sizes).round().astype(int):
            compare(int(n_obs))

    jax.monitoring.register_event_duration_secs_listener(note)
    compare(35)
    compiled.clear()
    before = memory("VmRSS")
    first, programs = seconds(all_sizes)[1], len(compiled)
    grown = memory("VmRSS") - before
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    trimmed = memory("VmRSS") - before
    again = seconds(all_sizes)[1]
    numbers = (f"{first:.1f}", f"{again:.1f}", str(programs), f"{grown:.0f}", f"{trimmed:.0f}")
    return (learners, str(n_sizes), *numbers)


def main() -> None:
    parser = options(__doc__, "one pair of learners, 5 sizes")
    parser.add_argument("--sizes", type=int, default=163, help="numbers of observations")
    parser.add_argument("--pairs", nargs="+", default=list(PAIRS))
    arguments = parser.parse_args()
    pairs, n_sizes = arguments.pairs, arguments.sizes
    if arguments.quick:
        pairs, n_sizes = pairs[:1], 5
    show(COLUMNS, (alone(loop, learners, n_sizes, **NO_CACHE) for learners in pairs))


if __name__ == "__main__":
    main()
