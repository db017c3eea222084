"""R conditions on their way through Python."""

from typing import Any

__all__ = ["RConditionError", "r_condition"]


class RConditionError(Exception):
    """An error inside an R function, with the R condition, which goes back to R as it is."""

    def __init__(self, condition: Any) -> None:
        super().__init__(str(condition[0][0]))
        self.condition = condition


def r_condition(error: BaseException | None) -> Any:
    """The R condition that an exception, or one it was raised from, carries; None if none does."""
    while error is not None and not isinstance(error, RConditionError):
        error = error.__cause__ or error.__context__
    return None if error is None else error.condition
