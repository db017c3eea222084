"""Learners that fit thousands of learning sets in one call, one family a module."""

import ucvtest.common.float64  # noqa: F401  (before any other module imports JAX: see there)
