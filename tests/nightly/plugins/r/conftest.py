"""The R package, freshly installed, and a session of R."""

from tests.full.plugins.r.conftest import r, r_environment

__all__ = ["r", "r_environment"]
