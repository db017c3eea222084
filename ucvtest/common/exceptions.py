"""The warning that every warning of this package is a subclass of."""

__all__ = ["UcvtestWarning"]


class UcvtestWarning(UserWarning):
    """Base class of the package's warnings; filter on it to silence or raise them all."""
