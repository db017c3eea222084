"""Checks, exceptions and the float64 boundary: what every room may use."""
