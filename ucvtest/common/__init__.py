"""Checks, exceptions and the float64 boundary, which every room may use."""
