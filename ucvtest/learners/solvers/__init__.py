"""Linear algebra and optimisation behind the jitted learners."""
