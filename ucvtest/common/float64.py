"""The one place that turns on JAX's float64 mode, turns it off again, and knows the devices.

The user's global JAX configuration stays as it is. The mode is local to a
thread and to the ``with`` block, so a float64 JAX array that leaves the block
would be demoted silently by the next operation on it: everything that leaves
is converted to NumPy here.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial, wraps
from typing import Any, ParamSpec

import numpy as np

# While it is imported, JAX draws from NumPy's global generator (waiting times of its cluster
# code); put the user's state back. Packages with JAX code import this module first.
_state = np.random.get_state()  # noqa: NPY002
import jax  # noqa: E402

np.random.set_state(_state)  # noqa: NPY002

from ucvtest.common.fork_guard import refuse_fork  # noqa: E402

__all__ = ["count_devices", "in_float64", "jit", "jit_sums", "on_device", "to_device", "to_numpy"]

P = ParamSpec("P")

# Compiles in a fifth less time, and runs as fast: the expensive passes find nothing more to do in
# loops over batches.
_OPTIONS: dict[str, Any] = {"xla_llvm_disable_expensive_passes": True}
if jax.__version_info__ < (0, 11):
    # Unknown options are errors: XLA knows these from JAX 0.8 to 0.10, and promises nothing.
    # The first call takes two thirds of the time, later ones as long as with the new emitters.
    _OPTIONS |= {"xla_cpu_use_fusion_emitters": False}
# Compiles in half the time or less, and sums run as fast. Not for learners: their loops would take
# twice as long, and the last digit of a fit would depend on how far its system is padded.
_OPTIONS_OF_SUMS = _OPTIONS | {"xla_backend_optimization_level": 1}
if jax.__version_info__ < (0, 11):
    # By default half of each 512-bit vector unit stays idle; processors with narrower units are not
    # affected.
    _OPTIONS |= {"xla_cpu_prefer_vector_width": 512}
jit = partial(jax.jit, compiler_options=_OPTIONS)
jit_sums = partial(jax.jit, compiler_options=_OPTIONS_OF_SUMS)


def count_devices() -> int:
    """How many devices share the work: all of this process, or the one that the user chose."""
    refuse_fork()
    chosen = jax.config.jax_default_device  # type: ignore[attr-defined]
    return jax.local_device_count() if chosen is None else 1


def on_device(number: int) -> AbstractContextManager[Any]:
    """Let this thread compute on one of `count_devices` devices inside a ``with`` block."""
    if count_devices() == 1:
        return nullcontext()
    return jax.default_device(jax.local_devices()[number])


def to_numpy(tree: Any) -> Any:
    """Turn every array of a (nested) container of JAX arrays into a NumPy array."""
    return jax.tree_util.tree_map(np.asarray, tree)


def to_device(tree: Any) -> Any:
    """Turn every array of a (nested) container into a JAX array that keeps its 64 bits.

    For arrays that many calls share; use them only inside functions decorated with `in_float64`.
    They may share memory with the arrays given, which must not be changed afterwards.
    """
    refuse_fork()
    with jax.enable_x64(True):
        # Unlike jnp.asarray it compiles nothing.
        return jax.device_put(tree)


def in_float64(function: Callable[P, Any]) -> Callable[P, Any]:
    """Run a function that uses JAX in float64 and return its arrays as NumPy arrays.

    A JAX array that it stores somewhere instead of returning it keeps its 64 bits but must only be
    used inside another function decorated in the same way.
    """

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Any:
        refuse_fork()
        with jax.enable_x64(True):
            return to_numpy(function(*args, **kwargs))

    return wrapper
