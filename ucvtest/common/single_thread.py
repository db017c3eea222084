"""BLAS on one thread: its others would go on spinning for a tenth of a second, in JAX's way."""

import sys
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _OneBlasThread:
    """Limits BLAS and OpenMP to one thread while anybody is inside.

    Fits in several threads may overlap in any order. Some libraries have one limit for the whole
    process, some one for each thread: the limits that were there before the first of them are
    set again by every thread that leaves.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._before: list[Any] = []
        self._libraries: ThreadpoolController | None = None
        self._n_modules = 0

    def __enter__(self) -> None:
        with self._lock:
            # Looked for only if a module has come or gone: a look reads all memory maps of the
            # process, which takes milliseconds where JAX has compiled much.
            n_modules = len(sys.modules)
            if self._libraries is None or n_modules != self._n_modules:
                self._libraries, self._n_modules = ThreadpoolController(), n_modules
            limited = self._libraries.limit(limits=1)
            # Only the first one sees the previous state.
            self._before.append(self._before[0] if self._before else limited)

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._before.pop().restore_original_limits()


ONE_BLAS_THREAD = _OneBlasThread()
