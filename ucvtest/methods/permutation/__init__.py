"""Permutation complexity: tests, optimism and model selection."""
