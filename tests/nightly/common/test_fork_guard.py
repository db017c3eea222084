"""Forks where JAX was started by somebody else, and where this package was only imported."""

import pytest

from tests.full.common.test_fork_guard import REFUSED, printed

pytestmark = pytest.mark.seconds(60, reason="starts processes, which import for themselves")


def test_after_somebody_else_has_started_jax():
    first, second = printed("""
        import ucvtest.common.float64, jax.numpy as jnp
        jnp.ones(3).sum().block_until_ready()
        print(in_fork())
        print(run())
    """)
    assert first.startswith(REFUSED)
    assert second == "24"


def test_where_this_package_was_only_imported():
    (found,) = printed("""
        import jax.numpy as jnp
        jnp.ones(3).sum().block_until_ready()
        print(in_fork())
    """)
    assert found.startswith(REFUSED)
