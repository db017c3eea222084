"""Estimators, strings and callables as learners, and jitted ones in their place."""
