"""Response and features of a formula, from a data frame.

Formulas come from command lines and from notebooks of other people, and formulaic evaluates their
parts as Python code. This module therefore reads each part first. Only columns, numbers, arithmetic
and the functions listed below pass.
"""

import ast
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.data.rows import computed_from

if TYPE_CHECKING:
    import pandas as pd

FUNCTIONS = ("log", "exp", "sqrt", "abs", "C", "I", "Q", "scale", "center", "poly", "bs", "cs")
"""The functions that a formula may call; the first four also as np.log and so on."""

NUMPY = FUNCTIONS[:4]

INTERCEPT = ("1", "Intercept")
"""Names of columns that formulaic gives to the intercept, or mistakes for it."""

MAX_NUMBER = 100
"""The largest exponent, degree or number of degrees of freedom."""

MAX_TERMS = 10_000
"""The largest number of terms that the operators of a formula may produce."""

ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.UAdd)

# Python's spelling, for the count of terms; `a %in% b` has as many terms as `a / b`.
OPERATORS = {":": "@", "^": "**", "in": "/"}


def columns_named(options: Mapping[str, Any], data: "pd.DataFrame") -> dict[str, str]:
    """The columns of the data that `groups` and `weights` name, by argument."""
    return {
        name: options[name]
        for name in ("groups", "weights")
        if isinstance(options.get(name), str) and options[name] in getattr(data, "columns", ())
    }


def read_formula(
    formula: str, data: "pd.DataFrame", no_features: Iterable[str] = ()
) -> "tuple[np.ndarray, pd.DataFrame]":
    """Read the response and the features of a formula.

    A response that is a plain column is taken from the data unchanged, so that labels of any type
    stay labels. A dot stands for all other columns except `no_features`.

    Raises
    ------
    ValueError
        If the formula cannot be read, names a column that the data do not have, calls a function
        that is not in `FUNCTIONS`, meets missing values, or has a response that is neither a column
        nor one numeric expression.
    """
    import pandas as pd

    if not isinstance(formula, str):
        raise ValueError(f"formula must be a string, got {type(formula).__name__}")
    if not isinstance(data, pd.DataFrame):
        raise ValueError(f"data must be a pandas DataFrame, got {type(data).__name__}")
    if not data.columns.is_unique:
        repeated_name = data.columns[data.columns.duplicated()][0]
        raise ValueError(f"data has more than one column {repeated_name!r}: rename them")
    left_side, separator, right_side = formula.partition("~")
    response = left_side.strip()
    if not separator or not response:
        raise ValueError(f"formula={formula!r:.60} has no left-hand side: write 'response ~ terms'")
    column = response.strip("`")
    apart = [column, *no_features]
    other_columns = data.drop(columns=apart, errors="ignore") if "." in right_side else data
    # The intercept is removed last, so that factors have lost their reference level by then.
    features = _model_matrix(right_side, other_columns, formula).drop(
        columns="Intercept", errors="ignore"
    )
    if not features.shape[1]:
        raise ValueError(f"formula={formula!r:.60} has no features: write 'response ~ terms'")
    if column in data.columns:
        return data[column].to_numpy(), features
    values = _model_matrix(f"{response} - 1", data, formula)
    if values.shape[1] != 1:
        # Columns of a factor are in formulaic's order: the positive label would be a guess.
        raise ValueError(
            f"formula={formula!r:.60} has the response {response!r}, which is neither a column of "
            "the data nor one number for each row: add it to the data as a column"
        )
    return values.to_numpy(dtype=float)[:, 0], features


def _model_matrix(terms: str, data: "pd.DataFrame", formula: str) -> "pd.DataFrame":
    import pandas as pd
    from formulaic import model_matrix

    # Formulas see the data and formulaic's functions, but not our variables. These two functions
    # are missing in formulaic.
    context = {"sqrt": np.sqrt, "abs": np.abs}
    try:
        _check_terms(terms, data.columns.tolist())
        matrix = model_matrix(terms, data, context=context, na_action="raise")
        used = matrix.model_spec.required_variables
        return computed_from(data[[name for name in data if name in used]], pd.DataFrame(matrix))
    # Any error that Python, NumPy and formulaic raise over a user's code.
    except Exception as error:
        # formulaic repeats the formula in colour below its first line.
        reason, *_ = str(error).split("\n")
        remedy = " Drop or impute missing values first." if "null values" in reason else ""
        raise ValueError(f"formula={formula!r:.60} cannot be used: {reason}{remedy}") from None


def _check_terms(terms: str, names: list[Any]) -> None:
    """Refuse all parts of one side but columns, numbers, operators and listed functions."""
    from formulaic.parser.algos.tokenize import tokenize

    columns = [name for name in names if isinstance(name, str)]
    counted = []
    for token in tokenize(terms):
        token_text, kind = token.token, token.kind.value
        if kind == "name":
            _check_column(token_text, columns)
        elif kind == "python":
            _check_code(token_text, columns)
        elif kind == "value":
            if token_text != "." and not re.fullmatch(r"\d+\.?\d*|\.\d+", token_text):
                raise ValueError(f"{token_text} is not a number.")
        elif token_text not in ("(", ")", "in") and not re.fullmatch(r"[-+*/:^]+", token_text):
            raise ValueError(
                f"the operator {token_text!r:.60} is not known: use + - * / : ^ and %in%."
            )
        # Formulas cannot use these names of features, or would drop them as the intercept.
        features = names if token_text == "." else [token_text] if kind == "name" else []
        for name in features:
            if not isinstance(name, str):
                raise ValueError(
                    f"the column {name!r} has a name that is not a string: use "
                    "data.add_prefix('x')."
                )
            if name in INTERCEPT:
                raise ValueError(
                    f"the column {name!r} would be mistaken for the intercept: rename it."
                )
        operand = str(len(columns)) if token_text == "." else token_text if kind == "value" else "1"
        is_operator = kind in ("operator", "context")
        counted.append(OPERATORS.get(token_text, token_text) if is_operator else operand)
    # Sums may be of any length, even longer than Python can read.
    sums = not any(set(term) & set("*/:^@") for term in counted)
    n_terms = 1 if sums else _count_terms(_parsed(" ".join(counted), terms))
    if n_terms > MAX_TERMS:
        raise ValueError(
            f"it produces about {n_terms:.1g} terms, and at most {MAX_TERMS} are possible."
        )


def _parsed(code: str, user_code: str) -> ast.expr:
    try:
        return ast.parse(code.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise ValueError(f"{user_code.strip()!r} cannot be read.") from None


def _count_terms(node: ast.AST) -> float:
    """Number of terms from the operators; a Python expression has the numbers of its operands."""
    if isinstance(node, ast.UnaryOp):
        return _count_terms(node.operand)
    if not isinstance(node, ast.BinOp):
        return float(getattr(node, "value", 1)) or 1.0
    left_terms, right_terms = _count_terms(node.left), _count_terms(node.right)
    if isinstance(node.op, ast.Pow):
        return left_terms ** min(right_terms, MAX_NUMBER) if right_terms <= MAX_NUMBER else np.inf
    products = left_terms * right_terms if isinstance(node.op, (ast.Mult, ast.MatMult)) else 0
    return left_terms + right_terms + products


def _check_code(code: str, columns: list[str]) -> None:
    """Refuse code that is more than arithmetic and listed functions of columns and numbers."""
    quoted = re.findall("`([^`]*)`", code)
    for name in quoted:
        _check_column(name, columns)
        # formulaic would read a quote or a backslash in a name as part of the code around it, and
        # interprets the first letter of every name.
        if not name or set(name) & set("'\"\\"):
            raise ValueError(f"the column {name!r} cannot be used in a function: rename it.")
    _check_node(_parsed(re.sub("`[^`]*`", " _quoted ", code), code), [*columns, "_quoted"])


def _check_node(node: ast.AST, columns: list[str]) -> None:
    if isinstance(node, ast.Name):
        _check_column(node.id, columns)
    elif isinstance(node, ast.Call):
        _check_call(node, columns)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ARITHMETIC):
        if isinstance(node.op, ast.Pow):
            # 9**9**9**9 would take forever.
            if not any(isinstance(part, ast.Name) for part in ast.walk(node)):
                raise ValueError(f"{ast.unparse(node)!r} has no column: write the number itself.")
            constants = [x.value for x in ast.walk(node.right) if isinstance(x, ast.Constant)]
            if any(isinstance(value, int) and value > MAX_NUMBER for value in constants):
                raise ValueError(f"{ast.unparse(node)!r} has an exponent above {MAX_NUMBER}.")
        _check_node(node.left, columns)
        _check_node(node.right, columns)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ARITHMETIC):
        _check_node(node.operand, columns)
    elif not (isinstance(node, ast.Constant) and type(node.value) in (int, float)):
        raise ValueError(
            f"{ast.unparse(node)!r} is not allowed in a formula: use columns (in backticks if "
            "their names are not valid in Python), numbers, + - * / ** and the functions "
            f"{', '.join(FUNCTIONS)}."
        )


def _check_call(node: ast.Call, columns: list[str]) -> None:
    name = ast.unparse(node.func)
    if name.removeprefix("np.") not in (FUNCTIONS if name in FUNCTIONS else NUMPY):
        raise ValueError(
            f"{name!r} cannot be called in a formula: the functions are {', '.join(FUNCTIONS)}; "
            "add anything else to the data as a column."
        )
    if not node.args:
        raise ValueError(f"{name} needs an argument without a name.")
    first, *options = node.args
    if name == "Q":
        if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
            raise ValueError("Q needs the name of a column in quotes.")
        _check_column(first.value, columns)
    else:
        _check_node(first, columns)
    for keyword in node.keywords:
        # formulaic passes its own state by names with underscores.
        if keyword.arg is None or keyword.arg.startswith("_"):
            raise ValueError(f"{ast.unparse(keyword)!r} is not allowed in a formula.")
        options.append(keyword.value)
    # Options are constants, or lists of constants, of a reasonable size.
    for option in options:
        constants = option.elts if isinstance(option, (ast.List, ast.Tuple)) else [option]
        bare = [x.operand if isinstance(x, ast.UnaryOp) else x for x in constants]
        if not all(isinstance(constant, ast.Constant) for constant in bare):
            raise ValueError(f"{ast.unparse(option)!r} in {name} must be a number or a string.")
        size = getattr(option, "value", None)
        if name in ("poly", "bs", "cs") and type(size) is int and size > MAX_NUMBER:
            raise ValueError(f"{ast.unparse(option)} in {name} is too large: at most {MAX_NUMBER}.")


def _check_column(name: str, columns: list[str]) -> None:
    if name not in columns:
        near = get_close_matches(name, columns, n=1)
        meant = f": did you mean {near[0]!r}?" if near else "."
        raise ValueError(f"{name!r} is not a column of the data{meant}")
