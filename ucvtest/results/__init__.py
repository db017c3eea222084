"""The result of a test: an immutable value that reads like a statsmodels result."""

from ucvtest.results.result import TestResult

__all__ = ["TestResult"]
