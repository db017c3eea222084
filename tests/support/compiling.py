"""How JAX compiles in tests: quickly here, as for users in commands that tests start."""

import os

# At level 0 loops over small arrays take longer than level 1 takes to compile them; each part of a
# program that is compiled on its own costs more than it saves.
QUICKLY = "--xla_backend_optimization_level=1 --xla_cpu_parallel_codegen_split_count=1"


def compile_quickly() -> None:
    """Spend no time on fast code, which small problems do not repay, unless told otherwise.

    It has to be called before JAX is used.
    """
    os.environ.setdefault("XLA_FLAGS", QUICKLY)


def environment_of_users() -> dict[str, str]:
    """That of this process, without what speeds up tests alone."""
    kept = dict(os.environ)
    if kept.get("XLA_FLAGS") == QUICKLY:
        del kept["XLA_FLAGS"]
    return kept
