"""The one place that turns on JAX's float64 mode, turns it off again, and knows the devices.

The user's global JAX configuration stays as it is. The mode is local to a
thread and to the ``with`` block, so a float64 JAX array that leaves the block
would be demoted silently by the next operation on it: everything that leaves
is converted to NumPy here.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import cache, partial, wraps
from typing import Any, ParamSpec

import numpy as np

from ucvtest.common.exceptions import MissingPlatformError
from ucvtest.common.fork_guard import refuse_fork

P = ParamSpec("P")


class AbsentJax:
    """What stands for JAX where it cannot be imported: its parts can be named, but not used.

    Modules with JAX code define functions, and decorate them, as if it were there, so that all that
    computes without JAX works.
    """

    __version_info__ = (0,)

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __or__(self, other: Any) -> Any:
        return self

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Decorate a function; anything else is a computation, which is refused."""
        if arguments and callable(arguments[0]):
            return self
        raise self.refusal()

    def refusal(self) -> MissingPlatformError:
        """The error of whatever computes with JAX."""
        reason = " ".join(f"{type(self.error).__name__}: {self.error}".split())
        return MissingPlatformError(
            "this needs JAX, which cannot be imported here; without it there are tests of folds of "
            "learners of other packages, such as the corrected resampled t test, and tests of "
            f"predictions and losses that exist; the reason: {reason:.300}"
        )


# While it is imported, JAX draws from NumPy's global generator (waiting times of its cluster
# code); put the user's state back. All other modules have JAX from here.
_state = np.random.get_state()  # noqa: NPY002
try:
    import jax as jax
    import jax.custom_batching
    import jax.numpy
except Exception as error:  # Not only ImportError: a processor without AVX is a RuntimeError.
    jax = AbsentJax(error)  # type: ignore[assignment]
np.random.set_state(_state)  # noqa: NPY002
jnp = jax.numpy

# Compiles in a fifth less time, and runs as fast: the expensive passes find nothing more to do in
# loops over batches.
_OPTIONS: dict[str, Any] = {"xla_llvm_disable_expensive_passes": True}
if jax.__version_info__ < (0, 11):
    # Unknown options are errors: XLA knows these from JAX 0.8 to 0.10, and promises nothing.
    # The first call takes two thirds of the time, later ones as long as with the new emitters.
    _OPTIONS |= {"xla_cpu_use_fusion_emitters": False}
    # By default half of each 512-bit vector unit stays idle; processors with narrower units are not
    # affected.
    _OPTIONS |= {"xla_cpu_prefer_vector_width": 512}
jit = partial(jax.jit, compiler_options=_OPTIONS)


def count_devices() -> int:
    """How many devices share the work: all of this process, or the one that the user chose."""
    refuse_fork()
    check_platform()
    default_device = jax.config.jax_default_device  # type: ignore[attr-defined]
    return jax.local_device_count() if default_device is None else 1


def on_device(number: int) -> AbstractContextManager[Any]:
    """Let this thread compute on one of `count_devices` devices inside a ``with`` block."""
    if count_devices() == 1:
        return nullcontext()
    return jax.default_device(jax.local_devices()[number])


_OURS: dict[str, tuple[Any, Callable[[Any], AbstractContextManager[Any]]]] = {
    "jax_numpy_dtype_promotion": ("standard", jax.numpy_dtype_promotion),
    "jax_numpy_rank_promotion": ("allow", jax.numpy_rank_promotion),
    "jax_debug_nans": (False, jax.debug_nans),
    "jax_debug_infs": (False, jax.debug_infs),
    "jax_disable_jit": (False, jax.disable_jit),
    "jax_check_tracer_leaks": (False, jax.check_tracer_leaks),
}
"""Flags of JAX under which this package computes, whatever the user has set, and what sets each for
a ``with`` block."""

_DIRECTIONS = ("", "_host_to_device", "_device_to_device", "_device_to_host")
_GUARDS = tuple(f"jax_transfer_guard{direction}" for direction in _DIRECTIONS)


def _our_configuration() -> AbstractContextManager[Any]:
    """Float64, and the other flags as this package needs them, in this thread."""
    check_platform()
    config: Any = jax.config
    with ExitStack() as stack:
        stack.enter_context(jax.enable_x64(True))
        # Flags that are as they must be are left alone, which takes less time.
        for name, (value, scope) in _OURS.items():
            if getattr(config, name) not in (value, None):
                stack.enter_context(scope(value))
        if any(getattr(config, name) not in ("allow", None) for name in _GUARDS):
            stack.enter_context(jax.transfer_guard("allow"))
        return stack.pop_all()


@cache
def check_platform() -> None:
    """Refuse a platform that this machine does not have, and a machine without JAX."""
    if isinstance(jax, AbsentJax):
        raise jax.refusal()
    config: Any = jax.config
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as error:
        # If all requested platforms are skipped, JAX fails an assertion without a message.
        jax_message = f"; JAX says: {error}" if str(error) else ""
        raise MissingPlatformError(
            f"JAX cannot start (JAX_PLATFORMS, or jax.config.jax_platforms, is "
            f"{config.jax_platforms!r}): leave it out, or use 'cpu'{jax_message}"
        ) from error


def to_numpy(tree: Any) -> Any:
    """Turn every array of a (nested) container of JAX arrays into a NumPy array."""
    return jax.tree_util.tree_map(np.asarray, tree)


def to_device(tree: Any) -> Any:
    """Turn every array of a (nested) container into a JAX array that keeps its 64 bits.

    For arrays that many calls share; use them only inside functions decorated with `in_float64`.
    They may share memory with the arrays given, which must not be changed afterwards.
    """
    refuse_fork()
    with _our_configuration():
        # Unlike jnp.asarray it compiles nothing.
        return jax.device_put(tree)


def in_float64(jax_function: Callable[P, Any]) -> Callable[P, Any]:
    """Run a function that uses JAX in float64 and return its arrays as NumPy arrays.

    A JAX array that it stores somewhere instead of returning it keeps its 64 bits but must only be
    used inside another function decorated in the same way.
    """

    @wraps(jax_function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> Any:
        refuse_fork()
        with _our_configuration():
            return to_numpy(jax_function(*args, **kwargs))

    return wrapper
