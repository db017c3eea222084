"""Errors of held-out observations in closed form: nothing is fitted again."""
