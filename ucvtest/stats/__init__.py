"""Plain statistics on arrays, without JAX."""
