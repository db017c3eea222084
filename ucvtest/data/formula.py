"""Response and features that a formula names in a data frame."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["read_formula"]


def read_formula(formula: str, data: "pd.DataFrame") -> "tuple[np.ndarray, pd.DataFrame]":
    """Response and features that a formula names.

    A response that is a plain column is taken from the data as it is, so that labels of any
    type stay labels.

    Raises
    ------
    ValueError
        If the formula cannot be read, names what the data lack, meets missing values, or
        has a response that is neither a column nor one numeric expression.
    """
    left, separator, right = formula.partition("~")
    response = left.strip()
    if not separator or not response:
        raise ValueError(f"formula={formula!r} has no left-hand side: write 'response ~ terms'")
    column = response.strip("`")
    # A dot stands for all other columns, so the response must not be among them.
    others = data.drop(columns=column, errors="ignore") if "." in right else data
    # With the intercept, so that factors lose their reference level; only then without it.
    features = _model_matrix(right, others, formula).drop(columns="Intercept", errors="ignore")
    if column in data.columns:
        return data[column].to_numpy(), features
    values = _model_matrix(f"{response} - 1", data, formula)
    if values.shape[1] != 1:
        # Columns of a factor, in formulaic's own order: which label is positive would be a guess.
        raise ValueError(
            f"formula={formula!r} has the response {response!r}, which is neither a column of the "
            "data nor one number for each row: add it to the data as a column"
        )
    return values.to_numpy(dtype=float)[:, 0], features


def _model_matrix(terms: str, data: "pd.DataFrame", formula: str) -> "pd.DataFrame":
    import pandas as pd
    from formulaic import model_matrix
    from formulaic.errors import FormulaicError

    try:
        # An empty context: formulas see the data and formulaic's functions, but not our variables.
        return pd.DataFrame(model_matrix(terms, data, context={}, na_action="raise"))
    except FormulaicError as error:
        raise ValueError(f"formula={formula!r} cannot be used: {error}") from error
    except ValueError as error:
        raise ValueError(
            f"formula={formula!r} cannot be used: {error} Drop or impute missing values first."
        ) from error
