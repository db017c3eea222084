"""Linear algebra and optimisation behind the jitted learners."""

import ucvtest.common.float64  # noqa: F401  (before any other module imports JAX: see there)
