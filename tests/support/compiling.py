"""How JAX compiles in tests: quickly here, as for users in the scripts that tests start."""

import os

# Each part of a program that is compiled on its own costs more than it saves.
QUICKLY = {
    "XLA_FLAGS": "--xla_backend_optimization_level=1 --xla_cpu_parallel_codegen_split_count=1",
    "JAX_DISABLE_MOST_OPTIMIZATIONS": "1",
}


def compile_quickly() -> None:
    """Spend no time on fast code, which small problems do not repay, unless told otherwise.

    It has to be called before JAX is used.
    """
    if not QUICKLY.keys() & os.environ.keys():
        os.environ.update(QUICKLY)


def quickly() -> dict[str, str]:
    """Settings with which another process compiles like this one, and finds its compilations."""
    return {name: os.environ[name] for name in QUICKLY if name in os.environ}


def environment_of_users() -> dict[str, str]:
    """That of this process, without what speeds up tests alone."""
    return {name: value for name, value in os.environ.items() if QUICKLY.get(name) != value}
