"""R conditions on their way through Python."""

from typing import Any

from ucvtest import UcvtestWarning


class RWarning(UcvtestWarning):
    """A warning that an R function gave, with R's message."""


class RConditionError(Exception):
    """An error inside an R function, with R's message.

    Parameters
    ----------
    message : str
    classes : tuple of str
        The classes of the R condition, most special first.
    condition : R value, optional
        The condition itself, which goes back as it is to an R session that Python runs in.
    """

    def __init__(self, message: str, classes: tuple[str, ...] = (), condition: Any = None) -> None:
        super().__init__(message)
        self.classes = classes
        self.condition = condition

    @classmethod
    def from_condition(cls, condition: Any) -> "RConditionError":
        """The exception for an R condition."""
        return cls(str(condition[0][0]), tuple(condition.rclass), condition)


def r_condition(error: BaseException | None) -> Any:
    """The R condition that an exception, or one it was raised from, carries; None if none does."""
    while error is not None and not isinstance(error, RConditionError):
        error = error.__cause__ or error.__context__
    return None if error is None else error.condition
